"""A database with a match of house bots at every table: each game with each number of seats it may have."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.games import GAMES
from cutpurse.leaderboard.ladders import NewLadder, ensure_ladder
from cutpurse.leaderboard.results import FinishedSeat
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.local import play
from tests.leaderboard.sample_results import RATING, add_version, result
from tests.properties.random_play import EVERY_GAME

__all__ = ["TABLES", "match_at", "tables_file"]

TABLES: Final = tuple([(game, seats) for game in EVERY_GAME for seats in GAMES[game].words.seats])
FAULTS_EVERY: Final = 9  # decisions of the first seat
NAMES: Final = ("neon", "magpie", "old fox", "robber 12", "a", "longfingers", "Señor Saco", "seat 3")


class Careless(GreedyBot):
    """The greedy bot, but it fails at every ninth decision."""

    def __init__(self) -> None:
        super().__init__()
        self.decisions = 0

    def choose(self, view: Any, decision: Decision) -> Option:
        self.decisions += 1
        if self.decisions % FAULTS_EVERY == 0:
            raise ValueError("careless")
        return super().choose(view, decision)


def match_at(game: str, seats: int) -> str:
    """Return the name of the match of a game for a number of seats."""
    return f"{game}{seats}".encode().hex().ljust(32, "0")[-32:]


def tables_file(path: Path, tables: Sequence[tuple[str, int]] = TABLES) -> Path:
    """Create the database; Bag-O-Loot is played for one round, because eight would take thousands of decisions."""
    with Store(path) as store:
        versions = [add_version(store, "house", name, "1") for name in NAMES]
        for game, seats in tables:
            rules = GAMES[game]
            settings: dict[str, object] = {"rounds": "1"} if game == "bag_o_loot" else {}
            ladder = f"{game}-{seats}"
            store.write(ensure_ladder, NewLadder(ladder, game=game, seats=seats, rating=RATING, settings=settings))
            played = path.with_suffix(".jsonl")
            play(game, [Careless, *["greedy"] * (seats - 1)], seed=seats, settings=settings, record=played)
            record = played.read_text(encoding="utf-8").strip()
            told = json.loads(record)
            ends = zip(versions, told["result"]["places"], told["result"]["scores"], strict=False)
            sat = tuple([FinishedSeat(version, place, score, "normal") for version, place, score in ends])
            decisions = len(told["choices"])
            made = result(
                match_at(game, seats),
                [],
                seats=sat,
                ladder=ladder,
                rules=rules.words.version,
                record=record,
                decisions=decisions,
            )
            store.submit(made).result()
    return path
