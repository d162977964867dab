"""Matches of a league as the overall table reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cutpurse.leaderboard.statistics.overall import PlacedMatch
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.text import printable

__all__ = ["placed_matches"]


def placed_matches(matches: Iterable[ladder_pb2.MatchShown]) -> Iterator[PlacedMatch]:
    """Yield the rated matches; all versions of a bot are one bot."""
    for match in matches:
        if match.rated_number and len(match.seats) > 1:
            bots = tuple(_name(seat.bot) for seat in match.seats)
            yield PlacedMatch(match.ladder, bots, tuple(seat.place for seat in match.seats))


def _name(bot: ladder_pb2.BotName) -> str:
    name = printable(bot.bot, 64)
    return f"{printable(bot.owner, 64)}/{name}" if bot.owner else name
