"""A step of a rating as `cutpurse ladder history` tells it: as a row, and in words why it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cutpurse.sdk.commands.asking import bot_row, iso, skill_row

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2

__all__ = ["step_row", "why"]

_OUTCOMES: Final = {1: "ahead", 0: "level", -1: "behind"}
_WORDS: Final = {1: "ahead of", 0: "level with", -1: "behind"}


def step_row(step: ladder_pb2.RatingStep) -> dict[str, Any]:
    """For a JSON document."""
    return {
        "number": step.number,
        "match": step.match,
        "finished": iso(step.finished_ms),
        "version": step.version,
        "place": step.place,
        "before": skill_row(step, "before"),
        "after": skill_row(step, "after"),
        "matches": list(step.matches),
        "opponents": [
            {
                **bot_row(one.bot),
                "before": skill_row(one, "before"),
                "likely": one.likely,
                "outcome": _OUTCOMES.get(one.outcome, "unknown"),
            }
            for one in step.opponents
        ],
    }


def why(step: ladder_pb2.RatingStep) -> str:
    """For people: by how much a rating moved, and against whom; first those of whom that was expected least."""
    from cutpurse.sdk.league import shown

    change = step.after.mu - step.before.mu
    opponents = sorted(step.opponents, key=lambda one: (-one.outcome, one.likely if one.outcome > 0 else -one.likely))
    met = ", ".join(
        f"{_WORDS.get(one.outcome, 'with')} {shown(one.bot)} ({100 * one.likely:.0f} % likely ahead)"
        for one in opponents
    )
    return f"{change:+.2f} for {_ordinal(step.place)} of {len(step.opponents) + 1}{': ' if met else ''}{met}"


def _ordinal(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"
