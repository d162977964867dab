"""The chaos test: bots and connections fail all the time, and the server must not be affected.

    python -m tests.faults.chaos --minutes 60 --bots 200 --seed 1

There is a server (`chaos_server`), bots of the SDK in a few processes (`chaos_bots`), and a proxy between each bot and
the server (`proxy`). At random times by the seed, connections are cut, also in the middle of a message, held in one
direction, swallowed, or ended at one side before the other. Processes of bots are stopped for seconds, or killed and
started again. The server rightly pauses a bot that was killed in three of its matches, and the test lifts the pause. A
line per minute shows the server's status. The exit code is 0, or 1 with a list of errors.

**False timeouts** are found with the bots' own logs. Each faulted decision needs an explanation: the bot was killed,
its connection or process failed while the decision was open, or its log says that it thought too long. Otherwise it is
a false timeout.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import sqlite3
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import ServerUnreachable
from cutpurse.wire.league import league_at
from tests.faults.proxy import DOWN, UP, Hurt, Proxy
from tests.roots import CHECKOUT

__all__ = ["Plan", "Verdict", "chaos", "main"]

BOTS_A_PROCESS: Final = 25
LIFTS_S: Final = 5.0  # between checks for paused bots
DIALS_S: Final = 4.0  # maximum absence of an interrupted bot, including delays between attempts
LEAST_DECISIONS: Final = 100  # of a run, however slow the machine is
SLACK_S: Final = 0.5  # tolerance beyond thinking time and outages
GHOST_S: Final = 120.0  # maximum duration of a match with a killed bot
HANDOVER_S: Final = 1.0  # of the default clock
LONG_MINUTES: Final = 10.0  # minimum run for a judgement of the number of open resources
WARM_MINUTES: Final = 30.0  # minimum run for a judgement of memory, which grows until the longest matches were seen
GROWTH_AN_HOUR: Final = 16 << 20  # maximum growth of the server's memory in bytes per hour, over the second half
GROWTH_LEAST: Final = 4 << 20
TROUBLE: Final = ("match broke down", "stream broke", "lobby broke", "result not stored", "Traceback")


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run."""

    minutes: float = 60.0
    bots: int = 200
    seed: int = 1
    think_ms: tuple[int, int] = (50, 150)
    line_every_s: float = 0.5  # on average, over all bots
    stop_every_s: float = 15.0
    kill_every_s: float = 30.0
    drain_s: float = 60.0  # for open matches at the end; matches still open then are rightly void


@dataclass(slots=True)
class Verdict:
    """The result of a run: `wrong` is empty if there is no error."""

    wrong: list[str] = field(default_factory=list)
    status: list[Mapping[str, Any]] = field(default_factory=list)
    hurts: Counter[str] = field(default_factory=Counter)
    closed: Counter[str] = field(default_factory=Counter)  # faulted decisions by explanation
    lifted: int = 0  # lifted pauses


@dataclass(slots=True)
class _Herd:
    """A process of bots."""

    number: int
    names: list[str]
    process: Process | None = None
    is_killed: bool = False  # killed by the test, and not started again yet


class Chaos:
    """One run in its own folder."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.chance = Random(plan.seed)
        self.verdict = Verdict()
        self.names = [f"bot{number}" for number in range(plan.bots)]
        self.proxies: dict[str, Proxy] = {}
        self.herds = [
            _Herd(number, self.names[first : first + BOTS_A_PROCESS])
            for number, first in enumerate(range(0, plan.bots, BOTS_A_PROCESS))
        ]
        self.outages: dict[str, list[tuple[float, float]]] = {name: [] for name in self.names}
        self.kills: dict[str, list[tuple[float, float]]] = {name: [] for name in self.names}
        self.faults: list[dict[str, Any]] = []
        self._hurting: set[asyncio.Task[None]] = set()

    # -- the processes
    async def start_server(self) -> str:
        """Start the server, and follow its status lines."""
        self.server = await self._start("chaos_server", str(self.folder), str(self.plan.drain_s), stdout=PIPE)
        assert self.server.stdout is not None
        address: str = json.loads(await self.server.stdout.readline())["address"]
        self.following = asyncio.create_task(self._follow(self.server.stdout))
        return address

    async def _follow(self, lines: asyncio.StreamReader) -> None:
        async for line in lines:
            told = json.loads(line)
            if "status" in told:
                self.verdict.status.append(told["status"])
            elif "fault" in told:
                self.faults.append(told["fault"])

    async def start_bots(self, herd: _Herd) -> None:
        """Start a process of bots."""
        least, most = self.plan.think_ms
        book, address = self.folder / f"book{herd.number}.jsonl", f"unix:{self.folder}/{{}}.sock"
        herd.process = await self._start("chaos_bots", str(book), str(least), str(most), "1", "", address, *herd.names)

    async def _start(self, module: str, *words: str, stdout: int | None = None) -> Process:
        with (self.folder / f"{module}.err").open("ab") as talk:
            return await asyncio.create_subprocess_exec(
                sys.executable, "-m", f"tests.faults.{module}", *words, stdout=stdout, stderr=talk, cwd=CHECKOUT
            )

    # -- the failures
    async def hurt_lines(self) -> None:
        """Let one connection after the other fail, without end."""
        while True:
            await asyncio.sleep(self.chance.expovariate(1 / self.plan.line_every_s))
            name = self.chance.choice(self.names)
            hurt, way = self.chance.choice(list(Hurt)), self.chance.choice((UP, DOWN))
            seconds, count = self.chance.uniform(0.1, 3.0), self.chance.randrange(5_000)
            task = asyncio.create_task(self._hurt(name, hurt, way, seconds, count))
            self._hurting.add(task)
            task.add_done_callback(self._hurting.discard)

    async def _hurt(self, name: str, how: Hurt, way: int, seconds: float, count: int) -> None:
        line = self.proxies[name].line
        if line is None:
            return
        self.verdict.hurts[how.value] += 1
        began = time.monotonic()
        try:
            await line.hurt(how, way, seconds, count)
        finally:
            if how is Hurt.CUT_AT_BYTE:
                began = time.monotonic()  # the connection was good until then
            self.outages[name].append((began, time.monotonic() + DIALS_S))

    async def stop_processes(self) -> None:
        """Stop a process of bots for some seconds, again and again."""
        while True:
            await asyncio.sleep(self.chance.expovariate(1 / self.plan.stop_every_s))
            herd, seconds = self.chance.choice(self.herds), self.chance.uniform(0.5, 4.0)
            if herd.process is None or herd.process.returncode is not None:
                continue
            self.verdict.hurts["process stopped"] += 1
            began, process = time.monotonic(), herd.process
            process.send_signal(signal.SIGSTOP)
            try:
                await asyncio.sleep(seconds)
            finally:  # also if the end of the run interrupts it
                for name in herd.names:
                    self.outages[name].append((began, time.monotonic() + 1.0))
                with contextlib.suppress(ProcessLookupError):  # killed meanwhile
                    process.send_signal(signal.SIGCONT)

    async def kill_processes(self) -> None:
        """Kill a process of bots and start it again, again and again."""
        while True:
            await asyncio.sleep(self.chance.expovariate(1 / self.plan.kill_every_s))
            herd, seconds = self.chance.choice(self.herds), self.chance.uniform(0.0, 3.0)
            if herd.process is None or herd.process.returncode is not None:
                continue
            self.verdict.hurts["process killed"] += 1
            began = time.monotonic()
            herd.is_killed = True
            herd.process.kill()
            try:
                await herd.process.wait()
                await asyncio.sleep(seconds)
                await self.start_bots(herd)
                herd.is_killed = False
            finally:
                # Matches of the lost session continue without the bot.
                for name in herd.names:
                    self.kills[name].append((began, time.monotonic()))

    async def lift_pauses(self, address: str) -> None:
        """Lift all pauses, again and again, because the test kills the bots itself."""
        while True:
            await asyncio.sleep(LIFTS_S)
            with contextlib.suppress(ServerUnreachable):  # it is busy, or has died, which the verdict finds
                self.verdict.lifted += await asyncio.to_thread(_lift_pauses, address)

    # -- the course of it
    async def run(self) -> Verdict:
        """Run the whole plan."""
        async with contextlib.AsyncExitStack() as stack:
            address = await self.start_server()
            stack.push_async_callback(_kill, self.server)
            for name in self.names:
                self.proxies[name] = await stack.enter_async_context(Proxy(self.folder / f"{name}.sock", address))
            for herd in self.herds:
                await self.start_bots(herd)
                stack.push_async_callback(self._kill_bots, herd)
            pains = [
                asyncio.create_task(pain())
                for pain in (
                    self.hurt_lines,
                    self.stop_processes,
                    self.kill_processes,
                    partial(self.lift_pauses, address),
                )
            ]
            try:
                await self._watch()
            finally:
                for pain in pains:
                    pain.cancel()
                ends = await asyncio.gather(*pains, *self._hurting, return_exceptions=True)  # wait for all recoveries
                self.verdict.wrong += [f"the chaos broke: {end!r}" for end in ends if isinstance(end, Exception)]
                for herd in self.herds:
                    if herd.process is not None and herd.process.returncode is None:
                        herd.process.send_signal(signal.SIGCONT)
            self._ask_the_living()
            await self._stop_server()
        self._judge()
        return self.verdict

    async def _kill_bots(self, herd: _Herd) -> None:
        await _kill(herd.process)  # the process that runs at that time

    async def _watch(self) -> None:
        """Print a status line every minute while the server runs, until enough was played to judge."""
        ends_at = time.monotonic() + 60 * self.plan.minutes
        minute = 0
        while self.server.returncode is None:
            left = ends_at - time.monotonic()
            if left <= 0 and self.verdict.status and self.verdict.status[-1]["decisions"] > LEAST_DECISIONS:
                break
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.server.wait(), min(60.0, max(left, 1.0)))
            minute += 1
            if self.verdict.status:
                _say(f"{minute:3} min  {_line(self.verdict.status)}  hurts {sum(self.verdict.hurts.values())}")

    def _ask_the_living(self) -> None:
        for herd in self.herds:
            if not herd.is_killed and (herd.process is None or herd.process.returncode is not None):
                self.verdict.wrong.append(f"process {herd.number} of bots has ended")

    async def _stop_server(self) -> None:
        if self.server.returncode is not None:
            self.verdict.wrong.append(f"the server died: exit code {self.server.returncode}")
            return
        if self.verdict.status and (voids := self.verdict.status[-1]["voids"]):
            self.verdict.wrong.append(f"{voids} matches are void")
        self.server.send_signal(signal.SIGTERM)
        try:
            code = await asyncio.wait_for(self.server.wait(), self.plan.drain_s + 240.0)
        except TimeoutError:
            self.verdict.wrong.append("the server did not end when it was told to")
            return
        await self.following
        if code != 0:
            self.verdict.wrong.append(f"the server ended with exit code {code}")

    # -- the verdict
    def _judge(self) -> None:
        wrong, status = self.verdict.wrong, self.verdict.status
        books = list(self._books())
        wrong += [f"{line['bot']} stopped: {line['stopped']}" for line in books if "stopped" in line]
        log = (self.folder / "server.log").read_text(encoding="utf-8")
        wrong += [f"the server's log says {text!r} {log.count(text)} times" for text in TROUBLE if text in log]
        wrong += self._wrong_with_the_database(books)
        self._explain(books)
        if not status or status[-1]["decisions"] == 0:
            wrong.append("nothing was played")
        if self.plan.minutes >= LONG_MINUTES:
            wrong += _growth(status)

    def _books(self) -> Iterable[dict[str, Any]]:
        for file in sorted(self.folder.glob("book*.jsonl")):
            for line in file.read_text(encoding="utf-8").splitlines():
                with contextlib.suppress(ValueError):  # a line cut off by a kill, and continued by the next process
                    yield json.loads(line)

    def _wrong_with_the_database(self, books: Sequence[Mapping[str, Any]]) -> list[str]:
        with contextlib.closing(sqlite3.connect(self.folder / "chaos.db")) as connection:
            stored = dict(connection.execute("SELECT id, void_cause FROM matches").fetchall())
            (rows,) = connection.execute("SELECT count(*) FROM matches").fetchone()
        ends = Counter((line["bot"], line["match"]) for line in books if "ended" in line)
        told = {line["match"]: line["rated"] for line in books if "ended" in line}
        wrong = [f"{rows - len(stored)} matches are stored twice"] if rows != len(stored) else []
        wrong += [
            f"{bot} heard {count} times that match {match} is over" for (bot, match), count in ends.items() if count > 1
        ]
        wrong += [f"match {match} was told as over and is not stored" for match in told if match not in stored]
        wrong += [
            f"match {match} was told as rated and is void"
            for match, rated in told.items()
            if rated and stored.get(match)
        ]
        return wrong + self._recomputed()

    def _recomputed(self) -> list[str]:
        """List where stored ratings differ from those that follow from the results."""
        with Store(self.folder / "chaos.db") as store:
            return [f"ladder {one.ladder}: {text}" for one in recompute(store) for text in one.differences]

    def _explain(self, books: Sequence[Mapping[str, Any]]) -> None:
        """Check that every faulted decision has a reason on the bot's side; else it is a false timeout."""
        asked = {(line["bot"], line["match"], line["decision"]): line for line in books if "asked" in line}
        for fault in self.faults:
            reason = self._reason(fault, asked.get((fault["bot"], fault["match"], fault["decision"])))
            self.verdict.closed[reason or "FALSE"] += 1
            if reason is None:
                self.verdict.wrong.append(f"false time-out: {fault}")

    def _reason(self, fault: Mapping[str, Any], line: Mapping[str, Any] | None) -> str | None:
        bot, at = fault["bot"], fault["at"]
        allowed_s = int(fault["reason"].removeprefix("no answer in ").removesuffix(" ms")) / 1_000
        began = at - allowed_s - HANDOVER_S
        for killed_at, back_at in self.kills[bot]:
            # The bot may have logged an answer that it could not send.
            was_away = line is None or line["answered"] + SLACK_S > killed_at
            was_away |= any(start < killed_at and end > line["answered"] for start, end in self.outages[bot] if line)
            if was_away and killed_at < at < back_at + GHOST_S:
                return "killed"  # its match continues without the bot
        away_s = _covered([(max(began, start), min(at, end)) for start, end in self.outages[bot]])
        thinks_s = self.plan.think_ms[1] / 1_000
        if away_s + thinks_s + SLACK_S >= allowed_s:
            return "interrupted"
        if line is not None and line["answered"] - line["asked"] > allowed_s:
            return "thought too long"
        return None


def _lift_pauses(address: str) -> int:
    """Lift all pauses, and return their number."""
    with league_at(address) as league:
        paused = [shown.bot for shown in league.ListBots(ladder_pb2.ListBotsRequest()).bots if shown.paused_ms]
        for bot in paused:
            league.LiftPause(ladder_pb2.LiftPauseRequest(bot=bot))
    return len(paused)


def _covered(spans: Iterable[tuple[float, float]]) -> float:
    """Return the seconds covered by at least one of the spans."""
    total, until = 0.0, float("-inf")
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, until))
        until = max(until, end)
    return total


def _growth(status: Sequence[Mapping[str, Any]]) -> list[str]:
    """List what grew over the second half of the status lines."""
    half = status[len(status) // 2 :]
    quarter = max(1, len(half) // 4)

    def grew(what: str) -> tuple[float, float]:
        return (
            statistics.median(one[what] for one in half[:quarter]),
            statistics.median(one[what] for one in half[-quarter:]),
        )

    wrong = []
    before, after = grew("rss")
    bound = max(GROWTH_LEAST, GROWTH_AN_HOUR * len(half) / 3_600)
    if len(status) >= 60 * WARM_MINUTES and after - before > bound:
        wrong.append(
            f"memory grew by {(after - before) / 2**20:.1f} MiB over the second half; {bound / 2**20:.1f} may be"
        )
    for what in ("tasks", "fds", "sessions", "streams"):
        before, after = grew(what)
        if after > 1.2 * before + 10:
            wrong.append(f"{what} grew from {before:g} to {after:g} over the second half")
    return wrong


def _line(status: Sequence[Mapping[str, Any]]) -> str:
    now = status[-1]
    lag = max(one["lag_ms"] for one in status[-60:])
    causes = ", ".join(f"{cause} {count}" for cause, count in sorted(now["causes"].items()))
    return (
        f"matches {now['matches']}  decisions {now['decisions']}  tables {now['tables']}  "
        f"sessions {now['connected']}/{now['sessions']}  streams {now['streams']}  tasks {now['tasks']}  "
        f"fds {now['fds']}  rss {now['rss'] / 2**20:.1f} MiB  lag {lag} ms  cpu {now['cpu_s']:.0f} s  ({causes})"
    )


async def _kill(process: Process | None) -> None:
    """End a process, and wait until it has ended: else its remains fail a later test."""
    if process is not None and process.returncode is None:
        process.kill()
        await process.wait()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


async def chaos(plan: Plan, folder: Path) -> Verdict:
    """Run the plan in an empty folder, whose path must be short enough for sockets."""
    return await Chaos(plan, folder).run()


def main() -> int:
    """Run the command, and return its exit code."""
    usual = Plan()
    parser = argparse.ArgumentParser(
        description="Hurt bots and their connections, and see what the server makes of it."
    )
    parser.add_argument("--minutes", type=float, default=usual.minutes)
    parser.add_argument("--bots", type=int, default=usual.bots)
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--think-ms", type=int, nargs=2, default=usual.think_ms, metavar=("LEAST", "MOST"))
    words = parser.parse_args()
    plan = Plan(words.minutes, words.bots, words.seed, tuple(words.think_ms))
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    _say(f"{plan.bots} bots for {plan.minutes:g} minutes, seed {plan.seed}; in {folder}")
    verdict = asyncio.run(chaos(plan, folder))
    _say(f"hurt: {dict(verdict.hurts)}; pauses lifted: {verdict.lifted}")
    _say(f"decisions closed by the server, by what explains them: {dict(verdict.closed)}")
    for text in verdict.wrong:
        _say(f"WRONG: {text}")
    _say("all is well" if not verdict.wrong else f"{len(verdict.wrong)} things are wrong")
    return 1 if verdict.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
