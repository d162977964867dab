"""The styles of the fast house bots, from matches that are played here: the same for everybody who asks.

This module knows no server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from cutpurse.engine.record import read_record
from cutpurse.games import game_named
from cutpurse.lab.style.style_counts import SeatCounts, counts_of_record
from cutpurse.sdk.local import play

__all__ = ["HOUSE_BOTS", "HOUSE_MATCHES", "house_styles"]

HOUSE_BOTS: Final = ("greedy", "random", "first_option")  # those that answer within milliseconds
HOUSE_MATCHES: Final = 12  # of each
OTHERS: Final = ("random", "greedy")  # in the other seats, in turn


def house_styles(
    game: str, seats: int, settings: Mapping[str, object], beat: Callable[[], None] = lambda: None
) -> dict[str, list[SeatCounts]]:
    """Play some matches of each house bot and return its counts by match."""
    rules = game_named(game)
    styles: dict[str, list[SeatCounts]] = {}
    for bot in HOUSE_BOTS:
        bots = [bot, *islice(cycle(OTHERS), seats - 1)]
        with TemporaryDirectory() as folder:
            file = Path(folder) / "matches.jsonl"
            run = play(game, bots, matches=HOUSE_MATCHES, seed="style", settings=settings, record=file)
            lines = file.read_text(encoding="utf-8").splitlines()
        styles[bot] = []
        for row, line in zip(run.rows, lines, strict=True):
            styles[bot].append(counts_of_record(read_record(line), rules)[row.seats[0]])
            beat()
    return styles
