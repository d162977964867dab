"""The finished matches of a ladder as tables for the search for pairs.

A match counts if the ladder paired it: neither void, nor requested, nor of a version test. This module knows no server:
matches and records are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.games import game_named
from cutpurse.lab.pairs.aims import Aim, aims_of_record
from cutpurse.lab.pairs.played_table import PairedBot, PairedVersion, PlayedTable
from cutpurse.leaderboard.statistics.place_points import place_points
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import LOCAL

__all__ = ["HOUSE", "house_bots", "ladder_tables"]

HOUSE: Final = "house"
"""The owner of a server's house bots."""


def ladder_tables(
    matches: Iterable[ladder_pb2.MatchShown], match_file: Callable[[str], bytes] | None
) -> Iterator[PlayedTable]:
    """Yield the tables of matches.

    Args:
        matches: Finished matches.
        match_file: Returns the file of a match by its ID. None: only places are compared.
    """
    for match in matches:
        if match.void_cause or match.requested_by or match.board_kind == ladder_pb2.BOARD_KIND_TEST:
            continue
        players = tuple(_player(seat.bot) for seat in match.seats)
        points = place_points([seat.place for seat in match.seats])
        aims = [] if match_file is None else _aims(match_file(match.match))
        yield PlayedTable(players, points, aims, match.match)


def house_bots(tables: Iterable[PlayedTable]) -> set[PairedBot]:
    """Return the house bots at these tables."""
    return {player.of for table in tables for player in table.players if player.owner == HOUSE}


def _player(bot: ladder_pb2.BotName) -> PairedVersion:
    """Return the player of a bot. On a server without tokens, nobody knows whose it is."""
    return PairedVersion("" if bot.owner == LOCAL else bot.owner, bot.bot, bot.version)


def _aims(content: bytes) -> list[Aim]:
    """Count the aims of a match file; none without a record, or with one of other rules."""
    try:
        for filed in read_matches(content):
            record = filed.record()
            return aims_of_record(record, game_named(record.game))
    except UsageError:  # a RecordError, or a game that is not installed here
        pass
    return []
