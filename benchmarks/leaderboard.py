"""The speed of the leaderboard: matches stored and rated per second, and the latency of queries.

    .venv/bin/python benchmarks/leaderboard.py [--matches 100000] [--folder DIR] [--db postgresql://...]

A match has four seats, of 200 versions, and a record of 10 KB. At most 512 results wait at once. Rates are per second
of wall time and per CPU second of the process. The figure of a query is the median of 200, in CPU time. The database is
created in a temporary folder of DIR, whose disk determines the time of a commit; or it is an empty one in PostgreSQL,
whose own CPU time is not counted.
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from cutpurse.leaderboard.ratings import TrueSkill, rate
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import Deal, FinishedMatch, FinishedSeat, Identity, StoreOutcome
from cutpurse.leaderboard.store import Store

__all__ = ["main"]

LADDER = "greed-main"
VERSIONS = 200
RECORD_BYTES = 10_240
IN_FLIGHT = 512
RATING = TrueSkill(draw_probability=0.05)


def record(rng: random.Random) -> str:
    """Return a text similar to a real record: choices of a few verbs with a few fields."""
    parts = []
    size = 0
    while size < RECORD_BYTES:
        verb = rng.choice(("play", "raid", "stop", "go_on"))
        part = f'[{rng.randrange(4)},"{verb}",{{"cards":["{rng.randrange(60)}"]}}],'
        parts.append(part)
        size += len(part)
    return "".join(parts)[:RECORD_BYTES]


def results(count: int, players: list[Identity]) -> list[Callable[[], FinishedMatch]]:
    """Return `count` functions that each create a result."""
    rng = random.Random(5)
    records = [record(rng) for _ in range(50)]
    now = datetime(2026, 11, 21, tzinfo=UTC)

    def make(number: int) -> FinishedMatch:
        mine = random.Random(number)
        scores = [mine.randint(0, 20) for _ in range(4)]
        seats = tuple(
            FinishedSeat(player, 1 + sum(other > score for other in scores), score, "normal", 0, 900)
            for player, score in zip(mine.sample(players, 4), scores, strict=True)
        )
        seed = number.to_bytes(32)
        deal = Deal(f"b{number:08}", seed, seed, f'{{"board":"b{number}"}}'.encode())
        line = records[number % 50]
        return FinishedMatch(f"m{number:08}", LADDER, "1", deal, now, now, 115, seats, lambda: line)

    return [lambda number=number: make(number) for number in range(count)]  # type: ignore[misc]


def fill(store: Store, count: int) -> tuple[float, float]:
    """Submit `count` results; return the seconds of wall time and of CPU time."""
    makers = results(count, [Identity(f"owner {n % 50}", f"bot {n}", "1") for n in range(VERSIONS)])
    waiting: deque[Future[StoreOutcome]] = deque()
    begin, cpu = time.perf_counter(), time.process_time()
    for make in makers:
        waiting.append(store.submit(make()))
        if len(waiting) >= IN_FLIGHT:
            waiting.popleft().result()
    while waiting:
        waiting.popleft().result()
    return time.perf_counter() - begin, time.process_time() - cpu


def one_at_a_time(store: Store, count: int) -> float:
    """Return the median of the seconds that a single result takes."""
    makers = results(count, [Identity("owner 0", f"late {n}", "1") for n in range(8)])
    took = []
    for number, make in enumerate(makers):
        made = make()
        late = replace(made, match=f"late {number}", deal=made.deal._replace(board=f"late {number}"))
        begin = time.perf_counter()
        store.submit(late).result()
        took.append(time.perf_counter() - begin)
    return statistics.median(took)


def median_ms(ask: Callable[[], object], times: int = 200) -> float:
    """Return the median CPU milliseconds of a query."""
    took = []
    for _ in range(times):
        begin = time.process_time()
        ask()
        took.append(time.process_time() - begin)
    return 1000 * statistics.median(took)


def rates_a_second(seats: int) -> float:
    rng = random.Random(seats)
    skills = [RATING.newcomer] * seats
    count = 1200 // seats
    begin = time.process_time()
    for _ in range(count):
        rate([1 + n for n in rng.sample(range(seats), seats)], skills, RATING)
    return count / (time.process_time() - begin)


def _size(store: Store, folder: Path) -> int:
    """Return the bytes of the database."""
    with store.reading() as connection:
        if connection.dialect.name == "postgresql":
            return int(connection.exec_driver_sql("SELECT pg_database_size(current_database())").scalar_one())
    return sum(file.stat().st_size for file in folder.iterdir())


def main() -> None:
    """Measure and print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--matches", type=int, default=100_000)
    arguments.add_argument("--folder", type=Path)
    arguments.add_argument("--db")
    asked = arguments.parse_args()
    print(f"Python {sys.version.split()[0]}, {'PostgreSQL' if asked.db else f'SQLite {sqlite3.sqlite_version}'}")
    for seats in (2, 4, 8):
        print(f"rate, {seats} seats                    {rates_a_second(seats):10,.0f} matches a CPU second")
    with tempfile.TemporaryDirectory(dir=asked.folder) as place, Store(asked.db or Path(place) / "ladder.db") as store:
        store.ensure_ladder(LADDER, game="greed", seats=4, rating=RATING)
        took, cpu = fill(store, asked.matches)
        size = _size(store, Path(place))
        print(f"stored and rated                 {asked.matches / took:10,.0f} matches a second, of {asked.matches:,}")
        print(f"                                 {asked.matches / cpu:10,.0f} matches a CPU second")
        print(f"the database                     {size / asked.matches:10,.0f} bytes a match")
        print(f"a result alone                   {1000 * one_at_a_time(store, 200):10.2f} ms until it is acknowledged")
        bots = [ranking.bot for ranking in store.rankings(LADDER)]
        owner = {ranking.bot: ranking.owner for ranking in store.rankings(LADDER)}
        for what, ask in (
            ("rankings of 208 bots", lambda: store.rankings(LADDER)),
            ("newest 20 matches", lambda: store.matches(LADDER, limit=20)),
            ("newest 20 matches of a bot", lambda: store.matches(owner=owner[bots[0]], bot=bots[0], limit=20)),
            ("a match", lambda: store.match("m00000077")),
            ("a record", lambda: store.record("m00000077")),
        ):
            print(f"{what:32} {median_ms(ask):10.2f} CPU ms")
        begin, cpu = time.perf_counter(), time.process_time()
        (check,) = recompute(store)
        took, cpu = time.perf_counter() - begin, time.process_time() - cpu
        print(f"recompute                        {check.boards / took:10,.0f} matches a second")
        print(f"                                 {check.boards / cpu:10,.0f} matches a CPU second")
        print(f"                                 {'equal to the bit' if check.equal else check.differences[0]}")


if __name__ == "__main__":
    main()
