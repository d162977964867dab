"""What the sender of notices costs the bots that play meanwhile.

    python -m benchmarks.notice_latency [--notices 10000] [--receivers 20] [--bots 200] [--seconds 10] [--rounds 5]

Each window has a new `cutpurse serve --notify webhook` with a new database, and `--bots` connected bots that answer
about once a second. Windows take turns: one without receivers, and one in which `--notices` notices wait for
`--receivers` webhooks from the start. Each of these is down half of the time, by chance for a second at a time.

A bot's latency runs from an answer to the next question of the match, both in one process of clients. The last lines
are of all windows together, and the ratios of the windows of a round.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from os import getloadavg
from pathlib import Path
from statistics import median
from typing import Final

from sqlalchemy import create_engine

from benchmarks.arena.arena_bench import versions
from benchmarks.arena.child import Child
from benchmarks.arena.summary import Turnarounds, turnarounds
from benchmarks.machine import machine, machine_line
from benchmarks.spectators import DECISIONS, cpu_s, figure, running, told
from cutpurse.leaderboard.notices.notice import test_of as notice_of
from cutpurse.leaderboard.notices.outbox import queue_notices
from cutpurse.leaderboard.notices.receivers import MAX_RECEIVERS, WEBHOOK, NewReceiver
from cutpurse.leaderboard.owner_registry import NewToken
from cutpurse.leaderboard.store import Store
from cutpurse.server.limits import ServerLimits

__all__ = ["main"]

GAME: Final = "greed"
OWNERS: Final = 4  # a match has four seats, and bots of one owner never meet
SETTLES_S: Final = 3.0  # from the first question until the answers of a window are spread
WAITING: Final = "cutpurse_notices_waiting"
DELIVERED: Final = "cutpurse_notices_delivered_total"
FAILED: Final = "cutpurse_notices_failed_total"
FAULTS: Final = "cutpurse_faults_total"


@dataclass(frozen=True, slots=True)
class NoticeWindow:
    """The figures of a window.

    Attributes:
        latency: From an answer to the next question of the match.
        decisions: Decisions of all bots.
        server_us: CPU microseconds of the server per decision.
        delivered: Notices that arrived meanwhile.
        failed: Deliveries that failed meanwhile.
        waiting: Notices that waited at the end.
        faults: Faults of bots.
    """

    latency: Turnarounds
    decisions: int
    server_us: float
    delivered: int
    failed: int
    waiting: int
    faults: int

    def __str__(self) -> str:
        """Format the figures in one line."""
        return (
            f"p50 {self.latency.ms(50):.2f} ms, p99 {self.latency.ms(99):.2f} ms of {len(self.latency.took):,}; "
            f"server {self.server_us:.0f} us of CPU a decision, {self.faults} faults; "
            f"{self.delivered} notices delivered, {self.failed} failed, {self.waiting:,} wait"
        )


# -- receivers
def is_down(path: str, second: int) -> bool:
    """Return whether the receiver at this path answers nothing good in this second."""
    return random.Random(f"{path} {second}").random() < 0.5


@contextmanager
def failing_webhooks() -> Iterator[str]:
    """Answer webhooks on a thread, and yield their address; each path is down half of the time."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_response_only(503 if is_down(self.path, int(time.monotonic())) else 204)
            self.end_headers()

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def prepare(database: Path, webhooks: str, receivers: int, notices: int) -> list[str]:
    """Create a database in which notices wait for receivers; return a token of each owner."""
    now = datetime.now(UTC)
    names = [f"owner{number}" for number in range(OWNERS)]
    heard: dict[str, int] = dict.fromkeys(names, 0)  # receivers of each owner
    with Store(database) as store:
        tokens = [token.reveal() for token, _ in store.create_tokens([NewToken(name) for name in names], now)]
        for number in range(receivers):
            owner = names[number % OWNERS]
            heard[owner] += 1
            store.add_receiver(NewReceiver(owner, WEBHOOK, f"{webhooks}/{number}", b"key"), now)
    if receivers:
        engine = create_engine(f"sqlite:///{database}")
        with engine.begin() as connection:
            for owner, count in heard.items():
                own = range(notices * count // receivers // max(1, count))  # each goes to all receivers of its owner
                queue_notices(connection, [replace(notice_of(now, number), owner=owner) for number in own])
        engine.dispose()
    return tokens


# -- measuring
def measure(bots: int, seconds: float, receivers: int, notices: int) -> NoticeWindow:
    """Start a server and bots, and measure one window.  Raises SystemExit if the server does not start."""
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        database, log = folder / "league.db", folder / "server.log"
        webhooks = stack.enter_context(failing_webhooks())
        tokens = prepare(database, webhooks, receivers, notices)
        command = [sys.executable, "-m", "cutpurse.cli", "serve", "--db", str(database), "--game", GAME]
        command += ["--address", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--drain", "0", "--log-level", "warning"]
        command += ["--notify", WEBHOOK, "--notify-network", "127.0.0.0/8"]
        server = stack.enter_context(running(*command, log=log)).pid
        address, metrics = told(log, r"bots dial in at (\S+);"), told(log, r"metrics at (\S+)")
        clients = stack.enter_context(Child("benchmarks.arena.raw_bots"))
        for number, token in enumerate(tokens):
            first, end = [bots * part // OWNERS for part in (number, number + 1)]
            clients.ask("dial", first=first, count=end - first, address=address, games=[GAME], token=token)
        clients.ask("play")
        clients.ask("listen", seconds=SETTLES_S)
        counted = (DECISIONS, DELIVERED, FAILED, FAULTS)
        before, cpu = [figure(metrics, name) for name in counted], cpu_s(server)
        found = clients.ask("listen", seconds=seconds)
        used = cpu_s(server) - cpu
        decisions, delivered, failed, faults = [
            int(figure(metrics, name) - earlier) for name, earlier in zip(counted, before, strict=True)
        ]
        latency = turnarounds(*([(match, at) for match, at in found[what]] for what in ("answered", "asked")))
        if not latency.took:
            raise SystemExit("no bot was asked anything: measure for longer")
        server_us = 1e6 * used / max(1, decisions)
        return NoticeWindow(latency, decisions, server_us, delivered, failed, int(figure(metrics, WAITING)), faults)


def run(bots: int, seconds: float, rounds: int, receivers: int, notices: int) -> None:
    """Measure and print."""
    print(f"{machine_line(machine())}; {', '.join(f'{name} {number}' for name, number in versions().items())}")
    windows: dict[str, list[NoticeWindow]] = {"without receivers": [], "while notices are sent": []}
    without, beside = windows.values()
    for number in range(rounds):
        print(f"round {number + 1}, load average {getloadavg()[0]:.1f}")
        for (name, done), wanted in zip(windows.items(), (0, receivers), strict=True):
            done.append(measure(bots, seconds, wanted, notices))
            print(f"  {name:22} {done[-1]}", flush=True)
    for name, done in windows.items():
        latency = Turnarounds([took for window in done for took in window.latency.took])
        cpu = median(window.server_us for window in done)
        print(f"{name:22} p50 {latency.ms(50):.2f} ms, p99 {latency.ms(99):.2f} ms, {cpu:.0f} us of CPU a decision")
    for percent in (50, 99):
        ratios = [two.latency.ms(percent) / one.latency.ms(percent) for one, two in zip(without, beside, strict=True)]
        print(f"p{percent}, with to without: {median(ratios):.3f} (from {min(ratios):.3f} to {max(ratios):.3f})")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.notice_latency", description="what sending notices costs the bots"
    )
    parser.add_argument("--notices", type=int, default=10_000, help="that wait at the start [default: 10000]")
    parser.add_argument("--receivers", type=int, default=20, help="webhooks, down half of the time [default: 20]")
    parser.add_argument("--bots", type=int, default=200, help="each with a decision a second [default: 200]")
    parser.add_argument("--seconds", type=float, default=10.0, help="length of a window [default: 10]")
    parser.add_argument("--rounds", type=int, default=5, help="of two windows each [default: 5]")
    wanted = parser.parse_args(arguments)
    if wanted.rounds < 1 or wanted.notices < wanted.receivers or not 1 <= wanted.receivers <= OWNERS * MAX_RECEIVERS:
        parser.error(f"a round, 1 to {OWNERS * MAX_RECEIVERS} receivers, and a notice for each of them")
    if not OWNERS <= wanted.bots <= OWNERS * ServerLimits().sessions_per_owner:
        parser.error(f"from {OWNERS} to {OWNERS * ServerLimits().sessions_per_owner} bots")
    run(wanted.bots, wanted.seconds, wanted.rounds, wanted.receivers, wanted.notices)


if __name__ == "__main__":
    main()
