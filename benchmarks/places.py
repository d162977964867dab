"""The time that a place adds to a decision, and what happens to matches whose places are killed.

    python -m benchmarks.places [--rounds 3] [--decisions 3000] [--runner process]
    python -m benchmarks.places --minutes 60 [--bots 60] [--bot search] [--tables 1] [--kill-every 75]

The first: from the server's question to the answer of a bot, there and back. Two bots that answer at once play each
other, in turn on the server itself and at a place on the same machine, which dials in over TLS. Times are wall time, so
the machine should be idle. The second: bots play on two places, which are killed in turn; see `lost_places`.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import statistics
import sys
import tempfile
from pathlib import Path

from benchmarks.accepted_bots import accept_bots
from benchmarks.lost_places import KILL_EVERY_S, lose_places
from benchmarks.machine import machine, machine_line
from benchmarks.running_places import PlaceProcess, certificate_of, issue_certificate
from cutpurse.server.counts import Histogram
from cutpurse.server.hosting.open_arena import OpenArena, open_arena
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from cutpurse.server.runners.port import runner_named

__all__ = ["main", "measure"]

BOTS = ("ann", "bob")
PATIENCE_S = 300.0
BOT = """
from cutpurse.sdk.run import run

class Bot:
    reads_events = False

    def choose(self, view, decision):
        return 0

raise SystemExit(run(Bot, "greed", quiet=True))
"""


class Times(Histogram):
    """A histogram that keeps each value."""

    def __init__(self) -> None:
        super().__init__(())
        self.values: list[float] = []

    def add(self, *values: float) -> None:
        """Keep values."""
        self.values += values


async def measure(at_place: bool, decisions: int, runner: str) -> list[float]:
    """Return the seconds of this many decisions, after as many matches as begin meanwhile have warmed up the bots."""
    with tempfile.TemporaryDirectory(prefix="cut-") as name:
        folder = Path(name)
        issue_certificate(folder)
        ladder = Ladder("duel", "greed", 2)
        accept_bots(folder, ladder, dict.fromkeys(BOTS, BOT))
        with open_arena(
            "127.0.0.1:0",
            folder / "league.db",
            [ladder],
            logger(io.StringIO()),
            certificate=certificate_of(folder),
            submissions=runner_named(runner),
            has_places=at_place,
        ) as opened:
            address = await opened.arena.start()
            place = PlaceProcess(folder, address, runner, "lab1", cores=2)
            try:
                if at_place:
                    place.start()
                return await _times(opened, decisions)
            finally:
                place.kill()
                await opened.arena.stop()


async def _times(opened: OpenArena, decisions: int) -> list[float]:
    times = opened.lobby.counts.thinking = Times()
    async with asyncio.timeout(PATIENCE_S):
        warm = 0
        while not warm or len(times.values) < warm + decisions:
            await asyncio.sleep(0.1)
            warm = warm or len(times.values)
    return times.values[warm:]


def main(arguments: list[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.places", description="what a place adds to a decision")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--decisions", type=int, default=3_000, help="decisions a row and round")
    parser.add_argument("--runner", default="process", help="process, bubblewrap or container")
    parser.add_argument("--minutes", type=float, help="instead, kill places in turn for so long")
    parser.add_argument("--bots", type=int, default=60, help="number of bots, with --minutes [default: 60]")
    parser.add_argument("--bot", default="search", help="built-in bot, with --minutes [default: search]")
    parser.add_argument("--tables", type=int, help="matches of a bot at a time, with --minutes [default: many]")
    parser.add_argument(
        "--kill-every", type=float, default=KILL_EVERY_S, help=f"seconds, with --minutes [default: {KILL_EVERY_S:g}]"
    )
    given = parser.parse_args(arguments)
    if given.minutes:
        print(f"{machine_line(machine())}; {given.runner}, {given.bots} bots {given.bot} on two places")
        report = asyncio.run(
            lose_places(given.minutes, given.bots, given.runner, given.kill_every, given.bot, given.tables)
        )
        print("\n".join(report.lines))
        return 0
    rows: dict[str, list[tuple[float, float, float]]] = {"on the server": [], "at a place": []}
    for _ in range(given.rounds):
        for name, found in rows.items():
            times = asyncio.run(measure(name == "at a place", given.decisions, given.runner))
            percents = statistics.quantiles(times, n=100)
            found.append((1_000 * percents[49], 1_000 * percents[89], 1_000 * percents[98]))
    print(f"{machine_line(machine())}; {given.runner}, {given.rounds} rounds of {given.decisions:,} decisions")
    print(f"{'ms a decision':<20}{'p50':>8}{'p90':>8}{'p99':>8}")
    medians = {name: [statistics.median(column) for column in zip(*found, strict=True)] for name, found in rows.items()}
    here, there = medians.values()
    medians["added by a place"] = [two - one for one, two in zip(here, there, strict=True)]
    for name, values in medians.items():
        print(f"{name:<20}" + "".join(f"{value:>8.2f}" for value in values))
    return 0


if __name__ == "__main__":
    sys.exit(main())
