"""Matches with real records and clocks, for tests of awards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from cutpurse.games import game_named
from cutpurse.leaderboard.results import DecisionLog, Identity
from cutpurse.leaderboard.store import Store
from cutpurse.sdk.local import play
from tests.leaderboard.sample_results import result

__all__ = ["MATCHES", "put_matches", "record_line"]

MATCHES = ("ad0000aa", "ad0000ab", "ad0000ac")


@cache
def record_line(game: str, seats: int, seed: int) -> str:
    """Return the record of a match of `greedy` bots."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "played.jsonl"
        play(game, ["greedy"] * seats, seed=seed, record=path)
        return path.read_text(encoding="utf-8").strip()


def put_matches(store: Store, ladder: str, bots: Sequence[Identity], *, is_rated: bool = True) -> None:
    """Store three matches of greed for two; the slowest answers of the first bot took 9 ms, of the second 30 ms."""
    for seed, match in enumerate(MATCHES):
        line = record_line("greed", 2, seed)
        told = json.loads(line)
        rules = game_named("greed").words.version
        made = result(match, bots, told["result"]["scores"], ladder=ladder, record=line, rules=rules, is_rated=is_rated)
        places = told["result"]["places"]
        seats = [
            replace(seat, place=place, course=DecisionLog((*[number] * 9, slowest), ()))
            for number, (seat, place, slowest) in enumerate(zip(made.seats, places, (9, 30), strict=True))
        ]
        store.submit(replace(made, seats=tuple(seats))).result()
