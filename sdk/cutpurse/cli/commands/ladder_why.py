"""A step of a pairing skill for `cutpurse ladder history`: as a row, and explained in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from cutpurse.cli.league_options import bot_row, iso, skill_row

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2

__all__ = ["rating_row", "step_row", "why"]

_OUTCOMES: Final = {1: "ahead", 0: "level", -1: "behind"}


def step_row(step: ladder_pb2.RatingStep) -> dict[str, Any]:
    """Return a step for a JSON document."""
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
                **bot_row(opponent.bot),
                "before": skill_row(opponent, "before"),
                "likely": opponent.likely,
                "outcome": _OUTCOMES.get(opponent.outcome, "unknown"),
            }
            for opponent in step.opponents
        ],
    }


def rating_row(point: ladder_pb2.RatingPoint) -> dict[str, Any]:
    """Return a version's rating for a JSON document."""
    return {
        "boards": point.boards,
        "version": point.version,
        "rating": point.rating,
        "low": point.low,
        "high": point.high,
    }


def why(step: ladder_pb2.RatingStep) -> str:
    """Describe how much a pairing skill changed, and against whom; the least expected outcomes come first."""
    change = step.after.mu - step.before.mu
    opponents = sorted(
        step.opponents,
        key=lambda opponent: (-opponent.outcome, opponent.likely if opponent.outcome > 0 else -opponent.likely),
    )
    met = ", ".join(map(_met, opponents))
    return f"{change:+.2f} for {_ordinal(step.place)} of {len(opponents) + 1}{': ' if met else ''}{met}"


def _met(opponent: ladder_pb2.StepOpponent) -> str:
    """Describe the outcome against an opponent, and how likely it was; for a tie, how likely being ahead was."""
    from cutpurse.wire.league import format_bot_name

    if opponent.outcome > 0:
        return f"ahead of {format_bot_name(opponent.bot)} ({100 * opponent.likely:.0f} % likely)"
    if opponent.outcome < 0:
        return f"behind {format_bot_name(opponent.bot)} ({100 - 100 * opponent.likely:.0f} % likely)"
    return f"level with {format_bot_name(opponent.bot)} ({100 * opponent.likely:.0f} % likely to be ahead)"


def _ordinal(number: int) -> str:
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"
