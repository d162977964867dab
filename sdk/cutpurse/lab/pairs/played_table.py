"""A finished match as the tests of pairs need it: who sat where, with how many place points, and who aimed at whom.

This module knows no ladder, no record and no statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cutpurse.lab.pairs.aims import Aim

__all__ = ["BotPair", "PairedBot", "PlayedTable", "PairedVersion", "pair_of"]


class PairedBot(NamedTuple):
    """A bot of an owner, all versions together."""

    owner: str
    bot: str


class PairedVersion(NamedTuple):
    """A version of a bot."""

    owner: str
    bot: str
    version: str

    @property
    def of(self) -> PairedBot:
        """The bot."""
        return PairedBot(self.owner, self.bot)


@dataclass(frozen=True, slots=True)
class PlayedTable:
    """A finished match.

    Attributes:
        players: The version in each seat.
        points: Place points of each seat, from 1 for the best to 0 for the last.
        aims: Whom the seats aimed at; empty if the record was not read.
        match: ID of the match on its server; empty in local play.
    """

    players: tuple[PairedVersion, ...]
    points: Sequence[float]
    aims: Sequence[Aim] = ()
    match: str = ""


BotPair = tuple[PairedBot, PairedBot]


def pair_of(first: PairedBot, other: PairedBot) -> BotPair:
    """Return a pair in the order of names."""
    return (first, other) if first <= other else (other, first)
