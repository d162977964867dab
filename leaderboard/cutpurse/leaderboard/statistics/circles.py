"""Circles among bots: A is ahead of B, B of C, and C of A; from head-to-head results.

A share is the part of the matches of two bots in which the first finished before the second; a shared place counts
half. Its interval is Wilson's ("Probable inference, the law of succession, and statistical inference", 1927), for
independent matches. Shared places make it too wide, never too narrow. With many pairs some seem decided by chance, so
the interval of each of m pairs has the level 1 - 0.05 / m (Bonferroni): all of them hold at once with 95 %. A circle is
sure if all its three shares are above one half by their intervals, so bots without any circle have a sure one at most 5
times in 100.

This module imports nothing of the project.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

__all__ = ["Circle", "Edge", "Encounter", "edges_of", "sure_circles"]

ERROR: Final = 0.05  # chance that any of the intervals does not hold


@dataclass(frozen=True, slots=True)
class Encounter:
    """The results of two bots, each a number from 0: common matches, those in which `bot` was ahead, shared places."""

    bot: int
    other: int
    matches: int
    ahead: int
    level: int

    @property
    def share(self) -> float:
        """The share of `bot`; one half before the first match."""
        return (self.ahead + self.level / 2) / self.matches if self.matches else 0.5


@dataclass(frozen=True, slots=True)
class Edge:
    """A pair that met: `bot` is ahead of `other` with `share`, at least one half; `low` and `high` are its interval."""

    bot: int
    other: int
    matches: int
    share: float
    low: float
    high: float

    @property
    def is_sure(self) -> bool:
        """Whether the share is above one half by its interval."""
        return self.low > 0.5


@dataclass(frozen=True, slots=True)
class Circle:
    """Three pairs in which each bot is ahead of the next, and the last of the first; the lowest number is first."""

    edges: tuple[Edge, Edge, Edge]

    @property
    def bots(self) -> tuple[int, ...]:
        """The three bots, each ahead of the next."""
        return tuple(edge.bot for edge in self.edges)

    @property
    def strength(self) -> float:
        """The lower end of the interval of the weakest pair."""
        return min(edge.low for edge in self.edges)


def edges_of(encounters: Iterable[Encounter]) -> list[Edge]:
    """Return an edge for each pair that met, from the bot that was ahead more often; intervals hold for all at once."""
    met = [encounter for encounter in encounters if encounter.matches]
    if not met:
        return []
    errors = NormalDist().inv_cdf(1 - ERROR / (2 * len(met)))
    return [_edge(encounter, errors) for encounter in met]


def sure_circles(edges: Sequence[Edge]) -> list[Circle]:
    """Return the sure circles, the strongest first."""
    beaten: dict[int, dict[int, Edge]] = {}
    for edge in edges:
        if edge.is_sure:
            beaten.setdefault(edge.bot, {})[edge.other] = edge
    circles = [
        Circle((first, second, third))
        for bot, its in beaten.items()
        for other, first in its.items()
        if bot < other
        for last, second in beaten.get(other, {}).items()
        if bot < last and (third := beaten.get(last, {}).get(bot)) is not None
    ]
    return sorted(circles, key=lambda circle: (-circle.strength, circle.bots))


def _edge(encounter: Encounter, errors: float) -> Edge:
    share, matches = encounter.share, encounter.matches
    bot, other = encounter.bot, encounter.other
    if share < 0.5:
        share, bot, other = 1 - share, other, bot
    low, high = _wilson(share, matches, errors)
    return Edge(bot, other, matches, share, low, high)


def _wilson(share: float, matches: int, errors: float) -> tuple[float, float]:
    """Return the interval of a share, `errors` standard errors to either side."""
    square = errors * errors
    middle = (share + square / (2 * matches)) / (1 + square / matches)
    reach = errors / (1 + square / matches) * math.sqrt(share * (1 - share) / matches + square / (4 * matches**2))
    return max(middle - reach, 0.0), min(middle + reach, 1.0)
