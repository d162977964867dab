"""What a machine of n cores carries as a part of a league on several machines, reckoned.

    python -m benchmarks.capacity

The first table divides cores by CPU seconds that were measured elsewhere; each figure below names where. The second is
a queueing model, by simulation: workers that take matches, whose length varies, and that are lost at random. The third
shares ladders of uneven size among servers. Nothing here was measured on more than two cores.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["CORES", "carried", "part_rows", "play_on_workers"]

CORES = (2, 4, 8, 16)
BUSY = 0.7  # of a core that is planned for, so that a decision does not wait for others

# benchmarks/results/performance.md: greedy, 64 tables; and what storing and rating adds (64.4 to 44.7)
DECISION_CPU_S = 79.4e-6 * 64.4 / 44.7
# benchmarks/results/leaderboard.md: matches stored and rated per CPU second, PostgreSQL
STORED_PER_CPU_S = 1_050
# docs/explanation/performance.md: fifty Python bots start in 5 s on two cores
START_CPU_S = 5 * 2 / 50
BOT_CORES = 0.5  # limit of a submitted bot, docs/how-to/run_submitted_bots.md
MATCH_S = 20.0  # of four bots that search, an assumption


def part_rows() -> list[tuple[str, str, list[int]]]:
    """Return each part, its unit, and how much of it a machine of each of `CORES` carries."""
    loop = BUSY / DECISION_CPU_S
    return [
        ("server", "decisions a second, a server for two cores", [_rounded(loop * (n // 2), 100) for n in CORES]),
        ("store", "matches a second, in one thread of a server", [_rounded(BUSY * STORED_PER_CPU_S, 10)] * len(CORES)),
        ("place", "bots that think all the time", [round((n - 1) / BOT_CORES) for n in CORES]),
        ("worker", "matches of four bots an hour", [_rounded(_matches_an_hour(n), 10) for n in CORES]),
    ]


def _rounded(figure: float, to: int) -> int:
    return round(figure / to) * to


def _matches_an_hour(cores: int, seats: int = 4) -> float:
    """One bot of a match thinks at a time, so that a match uses the limit of one bot, and each start of a process."""
    cpu_s = MATCH_S * BOT_CORES + seats * START_CPU_S
    return 3_600 * cores * BUSY / cpu_s


@dataclass
class _Worker:
    free: int
    process: int = 0  # counts how often it was lost


def play_on_workers(
    count: int, slots: int, ahead: float, *, match_s: float = MATCH_S, hours: float = 0.5, seed: int = 1
) -> tuple[float, float, float]:
    """Simulate workers that take matches from a queue.

    Args:
        count: Number of workers; each is lost once in 24 hours.
        slots: Matches that each plays at a time.
        ahead: Matches dealt at a time, as a multiple of all slots.
        match_s: Mean length of a match.
        hours: Simulated time.
        seed: Seed of the run.

    Returns:
        Matches a second, the share of slots in use, and the mean wait of a dealt match in seconds.
    """
    rng, end = random.Random(seed), hours * 3_600
    workers = [_Worker(slots) for _ in range(count)]
    dealt = [0.0] * round(count * slots * ahead)  # when each waiting match was dealt; a heap
    events = [(rng.expovariate(1 / 86_400), number, -1) for number in range(count)]  # -1: the worker is lost
    heapq.heapify(events)
    busy_s, waited_s, taken, done = 0.0, 0.0, 0, 0

    def fill(now: float, number: int) -> None:
        nonlocal busy_s, waited_s, taken
        worker = workers[number]
        while worker.free and dealt:
            began = now + rng.random() * 0.5  # the next look at the queue
            waited_s += began - heapq.heappop(dealt)
            took = 2.0 + rng.lognormvariate(0, 0.6) * match_s / 1.197  # the mean of that law is 1.197
            worker.free, taken = worker.free - 1, taken + 1
            busy_s += min(took, max(0.0, end - began))
            heapq.heappush(events, (began + took, number, worker.process))

    for number in range(count):
        fill(0.0, number)
    while events:
        now, number, process = heapq.heappop(events)
        if now > end:
            break
        worker = workers[number]
        if process == -1:
            for _ in range(slots - worker.free):
                heapq.heappush(dealt, now + 30.0)  # void once its heartbeat is missed; others are dealt
            worker.process, worker.free = worker.process + 1, slots
            heapq.heappush(events, (now + rng.expovariate(1 / 86_400), number, -1))
        elif process == worker.process:
            worker.free, done = worker.free + 1, done + 1
            heapq.heappush(dealt, now)  # the next one is dealt at once
        fill(now, number)
        for other in rng.sample(range(count), min(3, count)):
            fill(now, other)
    return done / end, busy_s / (count * slots * end), waited_s / max(1, taken)


def carried(ladders: int, exponent: float, servers: int, asked: float = 100_000.0, most: float = 15_000.0) -> float:
    """Return how many servers' worth of decisions are carried, if a ladder is never split.

    Args:
        ladders: Number of ladders; the sizes follow a power law.
        exponent: Exponent of that law; 0 means even sizes.
        servers: Number of servers.
        asked: Decisions a second of all ladders.
        most: Decisions a second that a server carries.
    """
    weights = [1 / (number + 1) ** exponent for number in range(ladders)]
    loads: list[float] = [0.0] * servers
    for weight in sorted(weights, reverse=True):  # the largest first, each to the server with the least
        loads[loads.index(min(loads))] += asked * weight / sum(weights)
    return sum(min(load, most) for load in loads) / most


def _line(cells: Sequence[object], widths: Sequence[int]) -> str:
    return "  ".join(f"{cell!s:>{width}}" for cell, width in zip(cells, widths, strict=True))


def main() -> None:
    """Print the three tables."""
    widths = (8, 44, *(8 for _ in CORES))
    print(_line(("part", "a machine carries, with cores:", *CORES), widths))
    for part, unit, row in part_rows():
        print(_line((part, unit, *(f"{figure:,}" for figure in row)), widths))
    print("\nworkers  slots  dealt ahead  matches/s   busy  wait s")
    for count, slots, ahead in ((1, 4, 1.0), (10, 4, 1.0), (100, 4, 1.0), (100, 4, 1.25)):
        rate, busy, wait = play_on_workers(count, slots, ahead)
        print(f"{count:7}  {slots:5}  {ahead:11.2f}  {rate:9.2f}  {busy:5.0%}  {wait:6.1f}")
    print("\nladders  sizes   servers  carried, in servers")
    for ladders, exponent in ((5, 0.0), (5, 0.5), (20, 1.0), (60, 1.0)):
        for servers in (2, 8):
            sizes = f"1/n^{exponent:g}"
            print(f"{ladders:7}  {sizes:6}  {servers:7}  {carried(ladders, exponent, servers):8.1f}")


if __name__ == "__main__":
    main()
