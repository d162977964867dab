"""What readers and people on the page cost the bots of a league, and how long people wait.

    python -m benchmarks.page_load [--readers 500] [--people 100] [--bots 200] [--seconds 60] [--thinks 4]

A real `cutpurse serve` with a database, web page, house bots and metrics plays Greed with `--bots` connected bots. Each
answers about once a second. One window of `--seconds` is measured with the bots alone, and one with readers and
people. Three fifths of the readers watch a live match, the others open a page every ten seconds. A person chooses
every `--thinks` seconds, in one of the five games against house bots.

A bot's latency runs from an answer to the next question of the match, in one process of clients. It includes what house
bots take in between. A click's runs from the answer to the next view of the table. If the opponents take longer, the
page shows that they play after a pause of 250 ms.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.arena.child import Child
from benchmarks.arena.summary import nearest_rank, turnarounds
from benchmarks.machine import machine, machine_line
from benchmarks.page_load.people import HOUSE
from benchmarks.page_load.processes import DECISIONS, cpu_s, metric_sum, page_of, running, wait_for_line

__all__ = ["main"]

GAME: Final = "greed"
SEATS: Final = 4
MATCHES: Final = 5  # finished ones that readers open
LOOK_S: Final = 0.5
SETTLES_S: Final = 5.0
PATIENCE_S: Final = 60.0  # for all readers and people to arrive


@dataclass(frozen=True, slots=True)
class LoadWindow:
    """The figures of a window.

    Attributes:
        bot_decisions_s: Decisions per second of the connected bots.
        decisions_s: Decisions per second of all bots and people.
        latency_ms: Median and 99th percentile of the connected bots' latency.
        server_load: CPU seconds per second of the server.
        page_load: CPU seconds per second of the page.
    """

    bot_decisions_s: float
    decisions_s: float
    latency_ms: tuple[float, float]
    server_load: float
    page_load: float

    def __str__(self) -> str:
        """Format the figures in one line."""
        half, most = self.latency_ms
        return (
            f"{self.bot_decisions_s:6.1f} decisions/s of connected bots, latency p50 {half:.1f} ms, p99 {most:.1f} ms; "
            f"{self.decisions_s:.0f} decisions/s in all; server {100 * self.server_load:.0f} % of a core, "
            f"page {100 * self.page_load:.0f} %"
        )


def measured(metrics: str, server: int, bots: Child, others: Sequence[Child], seconds: float) -> tuple[LoadWindow, Any]:
    """Measure for `seconds`; return the figures, and what the other processes observed meanwhile."""
    page = page_of(server)
    began, decisions, cpu, page_cpu = time.monotonic(), metric_sum(metrics, DECISIONS), cpu_s(server), cpu_s(page)
    for child in (bots, *others):
        child.tell("listen", seconds=seconds)
    observed, *rest = [child.answer() for child in (bots, *others)]
    took = time.monotonic() - began
    pairs = turnarounds(*([(event[0], event[1]) for event in observed[what]] for what in ("answered", "asked")))
    window = LoadWindow(
        bot_decisions_s=len(observed["answered"]) / seconds,
        decisions_s=(metric_sum(metrics, DECISIONS) - decisions) / took,
        latency_ms=(pairs.ms(50), pairs.ms(99)),
        server_load=(cpu_s(server) - cpu) / took,
        page_load=(cpu_s(page) - page_cpu) / took,
    )
    return window, rest


def run(options: argparse.Namespace) -> None:
    """Measure and print."""
    print(machine_line(machine()))
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        log = folder / "server.log"
        command = [sys.executable, "-m", "cutpurse.cli", "serve", "--db", str(folder / "league.db")]
        command += ["--address", "127.0.0.1:0", "--web", "127.0.0.1:0", "--metrics", "127.0.0.1:0"]
        command += ["--house", ",".join(HOUSE), "--people", str(options.people)]
        command += ["--people-per-address", str(options.people), "--log-level", "warning", "--drain", "0"]
        pid = stack.enter_context(running(*command, log=log)).pid
        address = wait_for_line(log, r"bots dial in at (\S+);")
        page, metrics = wait_for_line(log, r"page is at (\S+?)/?\s"), wait_for_line(log, r"metrics at (\S+)")
        addresses = played_addresses(page, address, folder)
        bots = stack.enter_context(Child("benchmarks.arena.raw_bots"))
        bots.ask("dial", first=0, count=options.bots, address=address, games=[GAME])
        bots.ask("play")
        wait(SETTLES_S)
        alone, _ = measured(metrics, pid, bots, (), options.seconds)
        print(f"bots alone: {alone}", flush=True)
        readers = stack.enter_context(Child("benchmarks.page_load.readers"))
        people = stack.enter_context(Child("benchmarks.page_load.people"))
        readers.tell(
            "arrive", page=page, ladder=GAME, addresses=addresses, count=options.readers, patience_s=PATIENCE_S
        )
        people.tell("sit_down", page=page, count=options.people, thinks_s=options.thinks, patience_s=PATIENCE_S)
        print(f"arrived: {readers.answer()}, {people.answer()}", flush=True)
        wait(SETTLES_S)
        beside, (read, played) = measured(metrics, pid, bots, (readers, people), options.seconds)
        print(f"with {options.readers} readers and {options.people} people: {beside}")
    print(
        f"with to without: {beside.bot_decisions_s / alone.bot_decisions_s:.3f} of the decisions of connected bots, "
        f"p99 {beside.latency_ms[1] - alone.latency_ms[1]:+.1f} ms"
    )
    print(f"people: {times(played['took_s'], 'clicks')}, {played['matches']} matches ended, {errors(played)}")
    print(
        f"readers: {times(read['took_s'], 'pages')}, {read['streams']} live matches with "
        f"{read['events'] / options.seconds:.0f} events/s, {errors(read)}"
    )


def played_addresses(page: str, address: str, folder: Path) -> list[str]:
    """Let some bots play quick matches; return the pages that readers open: of the league, and of these matches."""
    matches: list[str] = []
    with ExitStack() as stack:
        for number in range(SEATS):
            words = ("bot", "run", "random", "--server", address, "--name", f"quick{number}", "--ladder", GAME)
            log = folder / f"quick{number}.log"
            stack.enter_context(running(sys.executable, "-m", "cutpurse.cli", *words, "--quiet", log=log))
        ends_at = time.monotonic() + PATIENCE_S
        while len(matches) < MATCHES:
            if time.monotonic() > ends_at:
                raise SystemExit("the bots do not play")
            wait(LOOK_S)
            with urllib.request.urlopen(f"{page}/api/v1/matches?ladder={GAME}", timeout=PATIENCE_S) as answer:
                matches = [f"/matches/{row['match']}" for row in json.load(answer)["matches"][:MATCHES]]
    league = ["/", "/ladders", f"/ladders/{GAME}", "/matches", "/bots", f"/rules/{GAME}"]
    replays = [f"{match}/replay" for match in matches]
    moments = [f"{match}/replay/moments?seat=&first=0" for match in matches]
    return [*league, *matches, *replays, *moments]


def times(took_s: Sequence[float], noun: str) -> str:
    """Format the number and the percentiles of times."""
    if not took_s:
        return f"no {noun}"
    p50, p95, p99 = (1e3 * nearest_rank(took_s, percent) for percent in (50, 95, 99))
    return f"{len(took_s)} {noun}, p50 {p50:.0f} ms, p95 {p95:.0f} ms, p99 {p99:.0f} ms"


def errors(observed: dict[str, Any]) -> str:
    """Format the number of errors, and the first ones."""
    texts = observed["errors"]
    return f"{len(texts)} errors" + "".join([f"; {text}" for text in texts[:3]])


def wait(seconds: float) -> None:
    """Let the league play on for `seconds`."""
    threading.Event().wait(seconds)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.page_load", description="what readers and people cost")
    parser.add_argument("--readers", type=int, default=500)
    parser.add_argument("--people", type=int, default=100)
    parser.add_argument("--bots", type=int, default=200, help="connected bots, each with a decision a second")
    parser.add_argument("--seconds", type=float, default=60.0, help="length of each of the two windows")
    parser.add_argument("--thinks", type=float, default=4.0, help="seconds between two choices of a person, on average")
    run(parser.parse_args(arguments))


if __name__ == "__main__":
    main()
