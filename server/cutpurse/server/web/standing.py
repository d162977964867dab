"""What a ranking says, in words and shares: how sure it is who leads, and against whom a result was expected.

This module knows no page and asks nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import erf, sqrt
from typing import Final

from cutpurse.sdk.league import shown
from cutpurse.v1 import ladder_pb2

__all__ = ["Lead", "lead_of", "middle", "spread"]

_WIDTH: Final = 2 * 1.96  # standard deviations between low and high
_CLEAR, _LIKELY = 0.95, 0.75
_NAME: Final = 24  # signs of a name in a sentence


@dataclass(frozen=True, slots=True)
class Lead:
    """How sure it is that the first of a ranking is the best.

    level: "clear", "likely", "open" or "alone"; text: the same for people.
    """

    level: str
    text: str


def middle(one: ladder_pb2.Ranking) -> float:
    """What is believed most."""
    return (one.low + one.high) / 2


def spread(one: ladder_pb2.Ranking) -> float:
    """How far off that may be: one standard deviation."""
    return max((one.high - one.low) / _WIDTH, 1e-9)


def lead_of(rankings: Sequence[ladder_pb2.Ranking]) -> Lead | None:
    """Of the first; None where there is none.

    By the places that an estimate leaves to it, and where there is no estimate yet by how likely it is better than each
    other one: they may be wrong alone, so the least of these counts.
    """
    if not rankings:
        return None
    first, *others = rankings
    if not others:
        return Lead("alone", "nobody to compare it with yet")
    if first.worst:
        if first.worst == 1:
            return Lead("clear", "surely the best (95 %)")
        level = "likely" if first.worst <= max(2, len(rankings) // 5) else "open"
        return Lead(level, f"one of the best {first.worst} (95 %)")
    rival, least = min(((one, _better(first, one)) for one in others), key=lambda pair: pair[1])
    if least >= _CLEAR:
        return Lead("clear", f"ahead of everybody with {_percent(least)}")
    name = shown(ladder_pb2.BotName(owner=rival.bot.owner, bot=rival.bot.bot))
    name = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
    if least >= _LIKELY:
        return Lead("likely", f"ahead of {name} with {_percent(least)}")
    return Lead("open", f"too close to call: {name} may be the better one ({_percent(1 - least)})")


def _better(one: ladder_pb2.Ranking, other: ladder_pb2.Ranking) -> float:
    """How likely one is better than another."""
    apart = (middle(one) - middle(other)) / sqrt(spread(one) ** 2 + spread(other) ** 2)
    return (1 + erf(apart / sqrt(2))) / 2


def _percent(share: float) -> str:
    return f"{min(max(round(100 * share), 1), 99)} %"
