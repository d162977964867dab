"""The cost of the sandbox: time from a bot's start to its first answer, time per decision, and memory.

    python -m benchmarks.sandbox [--rounds 5] [--bots 50]

The same bots run in turn as plain programs and in the sandbox: a Python bot of the SDK, and the JavaScript bot if Node
and its packages are installed. They play private matches over a unix socket, and answer at once. Times are wall time,
so the machine should be idle; a row is the median of all rounds.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.machine import machine, machine_line
from cutpurse.process.child import Child
from cutpurse.process.program_command import environment_for
from cutpurse.sdk import program
from cutpurse.sdk.local import play
from cutpurse.server.runners.port import ProgramSpec, ResourceLimits, Running, runner_named
from cutpurse.server.runners.process_usage import descendants
from cutpurse.server.runners.runtimes import python_runtime
from cutpurse.wire.local_arena import Host
from cutpurse.wire.server_address import PROTO_VARIABLE, SERVER_VARIABLE, UNIX

__all__ = ["Bot", "Sandboxed", "bots", "main", "measured"]

CHECKOUT = Path(__file__).resolve().parent.parent
GAME = "greed"
MOST_S = 120.0  # maximum wait until a bot connects
PYTHON_BOT = """
from cutpurse.sdk.run import run
class Bot:
    reads_events = False
    def choose(self, view, decision):
        return 0
raise SystemExit(run(Bot, name="python", quiet=True))
"""


@dataclass(frozen=True)
class Bot:
    """A bot to measure: its folder, and its command in it."""

    name: str
    folder: Path
    command: tuple[str, ...]


class Sandboxed:
    """A substitute for `Child` of local play that uses a runner."""

    def __init__(
        self,
        bot: Bot,
        runner: str,
        limits: ResourceLimits,
        environment: Mapping[str, str],
        on_end: Callable[[], None] = lambda: None,
    ) -> None:
        self.bot = bot
        self.root = Path(tempfile.mkdtemp(prefix="cutpurse-bench-"))
        arena = self.root / "arena"
        arena.mkdir()
        os.link(environment[SERVER_VARIABLE].removeprefix(UNIX), arena / "bot.sock")
        (arena / "bot.sock").chmod(0o666)
        protos = environment.get(PROTO_VARIABLE)
        task = ProgramSpec(
            name=bot.name,
            folder=bot.folder,
            command=bot.command,
            talk=self.root / "talk",
            arena=arena,
            environment={name: value for name, value in environment.items() if name != SERVER_VARIABLE},
            limits=limits,
            runtimes=(*python_runtime(), *([Path(protos)] if protos and not _is_shown(Path(protos)) else [])),
        )
        began = time.perf_counter()
        self.running: Running = runner_named(runner).start(task)
        self.start_s = time.perf_counter() - began

    @property
    def code(self) -> int | None:
        """Exit code, None while the program runs."""
        ended = self.running.ended()
        return None if ended is None else ended.code or 0

    def how_it_ended(self) -> str:
        """Describe how the program ended."""
        ended = self.running.ended()
        return "still runs" if ended is None else ended.text

    def last_words(self) -> str:
        """Return the last lines of the program's output."""
        return " | ".join(self.running.talk().splitlines()[-3:])

    def stop(self, grace_s: float = 2.0) -> bool:
        """Stop the program, and remove its folder."""
        self.running.stop(grace_s)
        shutil.rmtree(self.root, ignore_errors=True)
        return True


def _is_shown(folder: Path) -> bool:
    return any(folder.is_relative_to(runtime) for runtime in python_runtime())


@dataclass
class Timed:
    """A seat of a private match that measures the time of its program."""

    inner: Any
    began: float
    first_s: float = 0.0
    decisions_s: list[float] = field(default_factory=list)

    async def start(self, match: Any) -> None:
        await self.inner.start(match)

    async def choose(self, view: Any, decision: Any) -> int:
        asked = time.perf_counter()
        answer: int = await self.inner.choose(view, decision)
        self.decisions_s.append(time.perf_counter() - asked)
        self.first_s = self.first_s or time.perf_counter() - self.began
        return answer

    async def end(self, result: Any) -> None:
        await self.inner.end(result)


@dataclass(frozen=True)
class Measured:
    """The seconds of one run: until the first answer, per decision (the median), and of the sandbox's start alone."""

    first_s: float
    decision_s: float
    decisions: int
    start_s: float = 0.0
    peak_bytes: int = 0


def bots(root: Path) -> list[Bot]:
    """List the bots that can run on this machine."""
    folder = root / "python-bot"
    folder.mkdir(exist_ok=True)
    (folder / "bot.py").write_text(PYTHON_BOT, encoding="utf-8")
    found = [Bot("Python", folder, ("python", "bot.py"))]
    javascript = CHECKOUT / "sample_bots" / "javascript"
    if shutil.which("node") and (javascript / "node_modules").is_dir():
        found.append(Bot("Node", javascript, ("node", "bot.mjs")))
    return found


def measured(bot: Bot, runner: str | None, matches: int = 3, limits: ResourceLimits | None = None) -> Measured:
    """Let a bot play matches against itself; without a runner it is a plain program, as in local play.

    Raises RuntimeError if the bot does not play them to the end.
    """
    children: list[Any] = []
    seats: list[Timed] = []

    def child(name: str, command: Sequence[str], environment: Mapping[str, str], on_end: Any) -> Any:
        if runner is None:
            plain = (_found(bot.command[0]), str(bot.folder / bot.command[1]))
            made: Any = Child(name, plain, environment, on_end, quiet=True)
        else:
            made = Sandboxed(bot, runner, limits or ResourceLimits(cpu_cores=2.0), environment, on_end)
        children.append(made)
        return made

    spec = f"exec:{sys.executable} {bot.folder / bot.command[-1]}"
    began = time.perf_counter()

    def seat() -> Timed:
        seats.append(Timed(program.ProgramBot(spec), began))
        return seats[-1]

    with patch.object(program, "Child", child), patch.object(program, "DIAL_IN_S", MOST_S):
        played = play(GAME, [seat, seat, "first_option"], matches=matches)
        use = [one.running.use() for one in children if isinstance(one, Sandboxed)]
        program.end_programs()
    if played.failures:
        raise RuntimeError(f"{bot.name} in {runner}: {played.failures[0]}")
    took = [seconds for one in seats for seconds in one.decisions_s]
    return Measured(
        min(one.first_s for one in seats if one.first_s),
        statistics.median(took),
        len(took),
        max((one.start_s for one in children if isinstance(one, Sandboxed)), default=0.0),
        max((one.peak_bytes for one in use), default=0),
    )


def _found(command: str) -> str:
    return sys.executable if command == "python" else shutil.which(command) or command


async def crowd(bot: Bot, count: int) -> tuple[float, list[int], list[int]]:
    """Run `count` bots at once; return the seconds until all are connected, and their peak and proportional memory."""
    async with AsyncExitStack() as stack:
        hosts = [await stack.enter_async_context(Host()) for _ in range(count)]
        began = time.perf_counter()
        made = []
        try:
            for host in hosts:
                environment = environment_for(host.address)
                made.append(
                    await asyncio.to_thread(Sandboxed, bot, "bubblewrap", ResourceLimits(cpu_cores=2.0), environment)
                )
            for host, one in zip(hosts, made, strict=True):
                if await host.bot(MOST_S, lambda one=one: one.code is None) is None:  # type: ignore[misc]
                    raise RuntimeError(f"{bot.name}: {one.how_it_ended()}; {one.last_words()}")
            took_s = time.perf_counter() - began
            peaks = [one.running.use().peak_bytes for one in made]
            own = [sum(_share_bytes(pid) for pid in descendants(one.running.pid)) for one in made]
        finally:
            for one in made:
                await asyncio.to_thread(one.stop, 0.0)
    return took_s, peaks, own


def _share_bytes(pid: int) -> int:
    """Return the proportional set size of a process: its memory, with its share of common pages."""
    try:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) << 10
    except OSError:
        pass
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sandbox", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="of each row (5)")
    parser.add_argument("--bots", type=int, default=50, help="that run at once (50)")
    parser.add_argument("--matches", type=int, default=3, help="of a round (3)")
    options = parser.parse_args(arguments)
    if (why := runner_named("bubblewrap").missing()) is not None:
        print(f"no sandbox here: {why}", file=sys.stderr)
        return 1
    print(machine_line(machine()))
    print(f"load before: {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory(prefix="cutpurse-bench-") as folder:
        Path(folder).chmod(0o755)
        found = bots(Path(folder))
        print("| bot | run | sandbox made, ms | first answer, ms | a decision, ms | decisions | most memory, MiB |")
        print("|---|---|---|---|---|---|---|")
        for bot in found:
            rows: dict[str | None, list[Measured]] = {None: [], "bubblewrap": []}
            for _ in range(options.rounds):
                for runner, row in rows.items():
                    row.append(measured(bot, runner, options.matches))
            for runner, row in rows.items():
                print(_line(bot.name, runner or "plain", row), flush=True)
        print()
        for bot in found:
            took_s, peaks, own = asyncio.run(crowd(bot, options.bots))
            most, share = (statistics.median(each) / 2**20 for each in (peaks, own))
            print(
                f"{options.bots} {bot.name} bots in sandboxes at once: all dialled in after {took_s:.1f} s; "
                f"memory each: at most {most:.0f} MiB, its share of what is shared included {share:.0f} MiB",
                flush=True,
            )
    return 0


def _line(bot: str, run: str, row: Sequence[Measured]) -> str:
    def median(values: Sequence[float]) -> float:
        return statistics.median(values)

    start = f"{1e3 * median([one.start_s for one in row]):.0f}" if row[0].start_s else ""
    peak = f"{median([one.peak_bytes for one in row]) / 2**20:.0f}" if row[0].peak_bytes else ""
    return (
        f"| {bot} | {run} | {start} | {1e3 * median([one.first_s for one in row]):.0f} "
        f"| {1e3 * median([one.decision_s for one in row]):.2f} | {sum(one.decisions for one in row)} | {peak} |"
    )


if __name__ == "__main__":
    sys.exit(main())
