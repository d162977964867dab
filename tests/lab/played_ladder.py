"""Matches of planted and honest bots, played in this process, as tables for the search for pairs.

Four bots drawn at random sit at each table, in random seats. Each match is recorded and its record is replayed, as
`cutpurse ladder pairs` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import Final

from cutpurse.engine.chance import match_key
from cutpurse.engine.match import Match
from cutpurse.engine.record import read_record, write_record
from cutpurse.games import game_named
from cutpurse.lab.pairs.aims import aims_of_record
from cutpurse.lab.pairs.played_table import PairedBot, PairedVersion, PlayedTable
from cutpurse.leaderboard.statistics.place_points import place_points
from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.playing.seating import play_match

__all__ = ["SEATS", "bot_of", "played_tables", "player_of"]

SEATS: Final = 4
SETTINGS: Final = {"bag_o_loot": {"rounds": 1}}  # a fourth of the time


def player_of(name: str) -> PairedVersion:
    """Return the player of a bot: each has an owner of its own."""
    return PairedVersion(f"owner of {name}", name, "1")


def played_tables(game: str, makers: Sequence[BotMaker], matches: int, seed: str) -> Iterator[PlayedTable]:
    """Play matches and yield their tables.

    Raises:
        AssertionError: If a bot fails.
    """
    rules = game_named(game)
    draw = Random(f"{seed}/{game}/tables")
    for number in range(matches):
        seated = draw.sample(list(makers), SEATS)
        names = [maker.name for maker in seated]
        match = Match(rules, names, match_key(f"{seed}/{game}", number), SETTINGS.get(game, {}), log=True)
        result, failed, _ = play_match(match, seated)
        assert not failed, failed
        aims = aims_of_record(read_record(write_record(match)), rules)
        yield PlayedTable(tuple(map(player_of, names)), place_points(result.places), aims)


def bot_of(name: str) -> PairedBot:
    """Return the bot of this name."""
    return player_of(name).of
