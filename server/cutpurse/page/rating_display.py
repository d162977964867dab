"""The certainty of a ranking in words: how sure it is that the first bot is the best.

This module knows no page and no league.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot
from statistics import NormalDist
from typing import Final

from cutpurse.page.language.speaking import gettext
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import format_bot_name

__all__ = ["Lead", "better", "lead_of", "percent", "placed", "rating_ends"]

_WIDTH: Final = 2 * 1.96  # standard deviations between the ends of a 95 % interval
_CLEAR, _LIKELY = 0.95, 0.75
_NAME: Final = 24  # maximum characters of a name in a sentence


@dataclass(frozen=True, slots=True)
class Lead:
    """The certainty that the first bot of a ranking is the best."""

    level: str  # "clear", "likely", "open" or "alone"
    text: str  # sentence for people


def placed(rankings: Sequence[ladder_pb2.Ranking]) -> list[ladder_pb2.Ranking]:
    """List the bots that have a place, the best first."""
    return [ranking for ranking in rankings if ranking.place]


def rating_ends(rankings: Sequence[ladder_pb2.Ranking]) -> list[float]:
    """List both ends of the interval of every bot that has a rating."""
    return [end for ranking in rankings if ranking.HasField("rating") for end in (ranking.low, ranking.high)]


def lead_of(rankings: Sequence[ladder_pb2.Ranking]) -> Lead | None:
    """Return how sure it is that the first placed bot is the best; None if no bot is placed, or none has a rating.

    The estimate's range of places decides. A list of every version has no such range. There the smallest probability
    that the first is better than one of the others decides.
    """
    rankings = placed(rankings)
    if not rankings or not rankings[0].HasField("rating"):
        return None
    first, *others = rankings
    if not others:
        return Lead("alone", gettext("nobody to compare it with yet"))
    if first.worst:
        if first.worst == 1:
            return Lead("clear", gettext("surely the best (95 %%)"))
        level = "likely" if first.worst <= max(2, len(rankings) // 5) else "open"
        return Lead(level, gettext("one of the best %(number)s (95 %%)", number=first.worst))
    rival, least = min(((other, better(first, other)) for other in others), key=lambda pair: pair[1])
    if least >= _CLEAR:
        return Lead("clear", gettext("ahead of everybody with %(percent)s", percent=percent(least)))
    name = format_bot_name(ladder_pb2.BotName(owner=rival.bot.owner, bot=rival.bot.bot))
    name = name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"
    if least >= _LIKELY:
        return Lead("likely", gettext("ahead of %(bot)s with %(percent)s", bot=name, percent=percent(least)))
    chance = percent(1 - least)
    return Lead(
        "open", gettext("too close to call: %(bot)s may be the better one (%(percent)s)", bot=name, percent=chance)
    )


def _deviation(ranking: ladder_pb2.Ranking) -> float:
    """Return the standard deviation of a rating, from its 95 % interval."""
    return max((ranking.high - ranking.low) / _WIDTH, 1e-9)


def better(ranking: ladder_pb2.Ranking, other: ladder_pb2.Ranking) -> float:
    """Return the probability that `ranking` is better than `other`."""
    return NormalDist(0, hypot(_deviation(ranking), _deviation(other))).cdf(ranking.rating - other.rating)


def percent(share: float) -> str:
    """Format a probability; never as 0 % or 100 %, because an estimate is never certain."""
    return f"{min(max(round(100 * share), 1), 99)} %"
