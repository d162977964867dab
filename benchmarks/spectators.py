"""The cost of many people watching one match on the web page.

    python -m benchmarks.spectators [--readers 200] [--seconds 20] [--rounds 3] [--bot random] [--game greed]

A real `cutpurse serve` with a database, web page and metrics, and bots in their own processes, play one ladder. Windows
of `--seconds` are measured in turn: without readers, and with `--readers` streams of the page's live match, which
another process holds. A window counts the decisions in the server's metrics, and the bytes that readers received. The
readers' process has the lowest priority, because real readers run on other machines.

The last lines are the medians, and the ratios of neighbouring windows, which the documentation quotes: of decisions per
second, and of the server's CPU time per decision, which depends less on other load of the machine.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from benchmarks.machine import machine, machine_line

__all__ = ["main"]

BOTS: Final = 4
PATIENCE_S: Final = 60.0
SETTLES_S: Final = 3.0  # wait after readers have connected or left
LOOK_S: Final = 0.05
DECISIONS: Final = "cutpurse_answers_accepted_total"
LOWEST: Final = 19  # priority of the readers' process


# -- processes
@contextmanager
def running(*words: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command for the length of the block."""
    with log.open("wb") as file, subprocess.Popen(words, stdout=file, stderr=file, stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.terminate()


def told(log: Path, pattern: str) -> str:
    """Wait for a pattern in a process's log, and return its first group."""
    ends_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends_at:
        if found := re.search(pattern, log.read_text(encoding="utf-8")):
            return found[1]
        time.sleep(LOOK_S)
    raise SystemExit(f"{log.name} never said {pattern}: {log.read_text(encoding='utf-8')[-500:]}")


def figure(metrics: str, name: str) -> float:
    """Return the sum of a metric over its labels."""
    with urllib.request.urlopen(metrics, timeout=PATIENCE_S) as answer:
        lines = answer.read().decode().splitlines()
    values = [float(line.rpartition(" ")[2]) for line in lines if re.match(rf"{name}(\{{| )", line)]
    if not values:
        raise SystemExit(f"the server has no figure {name}")
    return sum(values)


# -- readers
async def read(page: str, ladder: str, readers: int) -> None:
    """Hold `readers` streams; print a line each second with the number of open streams and the received bytes."""
    sent, open_ = [0], [0]

    async def one() -> None:
        where = urlsplit(page)
        while True:
            stream, out = await asyncio.open_connection(where.hostname, where.port)
            out.write(f"GET /events/live?ladder={ladder} HTTP/1.1\r\nHost: {where.netloc}\r\n\r\n".encode())
            head = await stream.readuntil(b"\r\n\r\n")
            if b" 200 " not in head.splitlines()[0]:
                raise SystemExit(f"the page refused: {head!r:.200}")
            open_[0] += 1
            while piece := await stream.read(65_536):
                sent[0] += len(piece)
            open_[0] -= 1
            out.close()

    tasks = [asyncio.create_task(one()) for _ in range(readers)]
    while not any(task.done() for task in tasks):
        print(f"{open_[0]} {sent[0]}", flush=True)
        await asyncio.sleep(0.5)
    await asyncio.gather(*tasks)


@contextmanager
def readers_of(page: str, ladder: str, readers: int, folder: Path) -> Iterator[Path]:
    """Run a process with `readers` readers; yield its log once all are connected."""
    log = folder / "readers.log"
    words = ["nice", f"-n{LOWEST}", sys.executable, "-m", "benchmarks.spectators", "--hold", page]
    with running(*words, "--game", ladder, "--readers", str(readers), log=log):
        told(log, rf"(?m)^({readers} \d+)$")
        yield log


def sent_to(log: Path) -> int:
    """Return the bytes that the readers have received so far."""
    return int(log.read_text(encoding="utf-8").rstrip("\n").rpartition("\n")[2].split()[1])


# -- measuring
class Window(NamedTuple):
    """The figures of a window: decisions per second, CPU time of the server per decision, and CPU load of the page."""

    decisions_s: float
    server_us: float
    page_share: float


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def page_of(server: int) -> int:
    """Return the process ID of the page, a child of the server."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="utf-8").split()
    for child in map(int, children):
        if b"web" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0"):
            return child
    raise SystemExit("the server has no page")


def measured(metrics: str, server: int, seconds: float) -> Window:
    """Measure the arena for `seconds`."""
    page = page_of(server)
    began, decisions, cpu, page_cpu = time.monotonic(), figure(metrics, DECISIONS), cpu_s(server), cpu_s(page)
    time.sleep(seconds)
    took = time.monotonic() - began
    done = figure(metrics, DECISIONS) - decisions
    return Window(done / took, 1e6 * (cpu_s(server) - cpu) / max(1, done), (cpu_s(page) - page_cpu) / took)


def run(readers: int, seconds: float, rounds: int, bot: str, game: str) -> None:
    """Measure and print."""
    print(machine_line(machine()))
    alone: list[Window] = []
    watched: list[Window] = []
    bytes_s: list[float] = []
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        cli = (sys.executable, "-m", "cutpurse.cli")
        server = folder / "server.log"
        places = ("--address", "127.0.0.1:0", "--web", "127.0.0.1:0", "--metrics", "127.0.0.1:0", "--watch-delay", "0")
        command = (*cli, "serve", *places, "--db", str(folder / "league.db"))
        pid = stack.enter_context(running(*command, log=server)).pid
        address = told(server, r"bots dial in at (\S+);")
        page, metrics = told(server, r"page is at (\S+?)/?\s"), told(server, r"metrics at (\S+)")
        for number in range(BOTS):
            words = ("bot", "run", bot, "--server", address, "--name", f"bot{number}", "--game", game, "--quiet")
            stack.enter_context(running(*cli, *words, log=folder / f"bot{number}.log"))
        until_played(metrics)
        for round_ in range(rounds):
            time.sleep(SETTLES_S)
            alone.append(measured(metrics, pid, seconds))
            with readers_of(page, game, readers, folder) as log:
                time.sleep(SETTLES_S)
                before = sent_to(log)
                watched.append(measured(metrics, pid, seconds))
                bytes_s.append((sent_to(log) - before) / seconds)
            print(
                f"round {round_ + 1}: {alone[-1].decisions_s:,.0f} decisions/s alone, {watched[-1].decisions_s:,.0f} "
                f"with {readers} readers, who were sent {bytes_s[-1] / 1024:,.0f} KiB/s",
                flush=True,
            )
    for name_, windows in (("without a reader", alone), (f"with {readers} readers", watched)):
        print(
            f"{name_:18s} {median(one.decisions_s for one in windows):7,.0f} decisions/s, "
            f"{median(one.server_us for one in windows):5.0f} us of the server's CPU each; "
            f"the page has {100 * median(one.page_share for one in windows):.0f} % of a core"
        )
    for what, field in (("decisions a second", 0), ("the server's CPU a decision", 1)):
        ratios = [mine[field] / other[field] for mine, other in zip(watched, alone, strict=True)]
        print(f"{what}, with to without: {median(ratios):.3f} (from {min(ratios):.3f} to {max(ratios):.3f})")


def until_played(metrics: str) -> None:
    """Wait until the bots play."""
    ends_at = time.monotonic() + PATIENCE_S
    while figure(metrics, DECISIONS) < 100:
        if time.monotonic() > ends_at:
            raise SystemExit("the bots do not play")
        time.sleep(LOOK_S)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--readers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--bot", default="random")
    parser.add_argument("--game", default="greed")
    parser.add_argument("--hold", metavar="PAGE", help=argparse.SUPPRESS)
    wanted = parser.parse_args(arguments)
    if wanted.hold:
        asyncio.run(read(wanted.hold, wanted.game, wanted.readers))
        return
    run(wanted.readers, wanted.seconds, wanted.rounds, wanted.bot, wanted.game)


if __name__ == "__main__":
    main()
