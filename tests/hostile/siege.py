"""The siege: every kind of hostile client at once, beside honest bots, newcomers and readers of the page.

    python -m tests.hostile.siege --minutes 60 --seed 1

`make siege MINUTES=60` does the same. `cutpurse serve` runs with a page, tokens and submissions. Each kind of
`attackers.py` is a process with its own address, and another attacker is a submitted bot. Attackers run at the lowest
priority, because real ones compute on machines of their own. Every ten minutes the server is stopped for ten seconds,
while the page is polled.

A line for every five minutes has the resources of server and page, and the size of the log. It also has the waits of
honest bots, newcomers and readers, except while the server was stopped. At the end come the slopes over the second
half. The exit code is 0, or 1 with a list of errors.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import signal
import statistics
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, Final

import grpc

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.runners.choosing import runner_named
from cutpurse.v1 import arena_pb2
from tests.hostile.attackers import KINDS, SUBMITTED, SUBMITTED_FILES
from tests.hostile.child import HASTY
from tests.leaderboard.sample_results import add_version, random_result
from tests.parts.submissions.desks import bot_folder
from tests.roots import CHECKOUT
from tests.server.raw_bot import Ended, RawBot

__all__ = ["EVERY_KIND", "HANDED_IN", "STOPPED", "Figures", "Plan", "Siege", "slopes", "verdict"]

HANDED_IN: Final = "handed-in"  # the submitted bot, which the server itself runs
STOPPED: Final = "stopped"  # stops of the server
EVERY_KIND: Final = (*KINDS, HANDED_IN, STOPPED)
PATIENT: Final = TimeControl(base_ms=30_000, bank_ms=30_000)  # longer than the server is stopped
LADDERS: Final = (
    Ladder("steady", "greed", 2, control=PATIENT),
    Ladder("rough", "greed", 2, control=HASTY),
    Ladder("archive", "greed", 4),  # for downloads
    Ladder("desk", "greed", 2, control=PATIENT),  # for the submitted bot
)
HONEST: Final = {"ann": "steady", "bob": "steady", "cid": "desk"}  # bots by owner, with their ladders
NEWCOMER: Final = "newcomer"
LOOK_S: Final = 1.0
ASKS_S: Final = 2.0  # between two newcomers, and between two readers of the page
PATIENCE_S: Final = 20.0  # maximum wait of both
START_S: Final = 60.0
ATTACKER_NICE: Final = 19  # real attackers compute on machines of their own
STOP_S: Final = 10.0
AFTER_S: Final = 5.0  # time to catch up after a stop
MIB: Final = 1 << 20
LONG_MINUTES: Final = 30.0  # minimum run for a judgement of slopes
MOST_AN_HOUR: Final = {  # maximum growth per hour, at the rate of the second half
    "server_mib": 16.0,
    "server_fds": 50.0,
    "page_mib": 16.0,
    "page_fds": 50.0,
    "turn_p99_ms": 100.0,
    "welcome_ms": 100.0,
    "home_ms": 100.0,
    "log_mib": 0.5,
}
MOST: Final = {"server_fds": 2_000.0, "log_mib": 1.0, "home_ms": 1_000.0, "welcome_ms": 1_000.0}  # maximum in any line
TROUBLE: Final = ("match broke down", "stream broke", "lobby broke", "result not stored", "Traceback")


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a run."""

    minutes: float = 60.0
    seed: int = 1
    line_minutes: float = 5.0  # between two lines of the table
    stop_minutes: float = 10.0  # between two stops of the server
    samples: int = 3_000  # matches to download
    kinds: Sequence[str] = EVERY_KIND


@dataclass(slots=True)
class Figures:
    """A line of the table: the figures of the minutes up to `minute`. Memory and descriptors are medians."""

    minute: float
    server_mib: float = 0.0
    server_fds: float = 0.0
    page_mib: float = 0.0
    page_fds: float = 0.0
    log_mib: float = 0.0  # per minute
    turns: float = 0.0  # turns of honest bots per second
    turn_p50_ms: float = 0.0
    turn_p99_ms: float = 0.0
    welcome_ms: float = 0.0  # median wait of newcomers
    home_ms: float = 0.0  # median wait of readers of the home page


@dataclass(slots=True)
class _Span:
    """The samples of a line; a wait is its start and its duration."""

    began: float
    log_bytes: int
    held: list[Mapping[str, float]] = field(default_factory=list)
    turns: list[tuple[float, float]] = field(default_factory=list)
    welcomes: list[tuple[float, float]] = field(default_factory=list)
    homes: list[tuple[float, float]] = field(default_factory=list)


class Siege:
    """One run in its own folder, whose path must be short enough for sockets."""

    def __init__(self, plan: Plan, folder: Path) -> None:
        self.plan = plan
        self.folder = folder
        self.rows: list[Figures] = []
        self.wrong: Counter[str] = Counter()  # errors, with their number
        self.done: Counter[str] = Counter()  # number of actions by kind
        self.ended: Counter[str] = Counter()  # seats of honest bots in finished matches, by end cause
        self.left_out: dict[str, str] = {}  # kinds that do not work on this machine, with the reason
        self.news = asyncio.Event()  # set when one of these has changed
        self._kinds = set(plan.kinds)
        self._is_enough = asyncio.Event()
        self._stops: list[tuple[float, float]] = []  # start and end of each stop of the server
        self._tokens: dict[str, str] = {}

    async def run(self) -> None:
        """Run the whole plan."""
        self._prepare()
        await self._start_server()
        try:
            if HANDED_IN in self._kinds:
                await self._hands_in()
            self._span = _Span(time.monotonic(), self._log_bytes())
            await self._besiege()
            await self._stop_server()
        finally:
            await _kill(self.server)
        self.wrong.update(verdict(self.rows) if self.rows else ())
        log = self.log.read_text(encoding="utf-8", errors="replace")
        self.wrong.update({f"the log says {text!r}": log.count(text) for text in TROUBLE if text in log})
        faulty = {f"honest bots: {cause}": count for cause, count in self.ended.items() if cause != "normal"}
        self.wrong.update(faulty)
        if not self.ended["normal"]:
            self.wrong["honest bots finished no match"] += 1

    def end(self) -> None:
        """End the run early."""
        self._is_enough.set()

    async def _besiege(self) -> None:
        """Start all clients at once, and print lines until the time is over."""
        doing: list[Coroutine[Any, Any, None]] = [self._hold(), self._newcomers(), self._readers()]
        doing += [self._honest(owner, ladder) for owner, ladder in HONEST.items()]
        doing += [self._attacks(kind) for kind in KINDS if kind in self._kinds]
        if STOPPED in self._kinds:
            doing.append(self._stops_the_server())
        tasks = [asyncio.create_task(one) for one in doing]
        over = [asyncio.create_task(self._is_enough.wait()), asyncio.create_task(self.server.wait())]
        try:
            began = time.monotonic()
            ends_at = began + 60 * self.plan.minutes
            while (left := ends_at - time.monotonic()) > 0 and not any(one.done() for one in over):
                line_s = min(60 * self.plan.line_minutes, left)
                await asyncio.wait(over, timeout=line_s, return_when=asyncio.FIRST_COMPLETED)
                self._end_line((time.monotonic() - began) / 60)
        finally:
            for task in (*tasks, *over):
                task.cancel()
            ends = await asyncio.gather(*tasks, *over, return_exceptions=True)
        broke = [end for end in ends if isinstance(end, Exception) and not _is_cut_off(end)]
        self.wrong.update(f"the siege broke: {end!r}" for end in broke)

    # -- the server
    def _prepare(self) -> None:
        """Create the database: ladders, results to download, and a token for each client."""
        with Store(self.folder / "league.db") as store:
            for ladder in LADDERS:
                store.write(ensure_ladder, ladder.kept)
            versions = [add_version(store, "class", f"bot_{number}", "1") for number in range(12)]
            results = (
                replace(random_result(number, versions), ladder="archive") for number in range(self.plan.samples)
            )
            for stored in [store.submit(result) for result in results]:
                stored.result()
            owners = [NewToken(owner) for owner in (*HONEST, NEWCOMER, HANDED_IN, *KINDS)]
            for token, row in store.write(create_tokens, owners, datetime.now(UTC)):
                self._tokens[row.owner] = token.reveal()

    async def _start_server(self) -> None:
        """Start the server, and wait for the addresses of arena and page."""
        words = ["serve", "--db", "league.db", "--address", "127.0.0.1:0", "--web", "127.0.0.1:0", "--drain", "1"]
        if HANDED_IN in self._kinds:
            if why := runner_named("bubblewrap").missing():
                self.left_out[HANDED_IN] = why
                self._kinds.remove(HANDED_IN)
            else:
                words += ["--submissions", "bubblewrap"]
        self.log = self.folder / "server.log"
        with self.log.open("wb") as log:
            self.server = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "cutpurse.cli", *words), stdout=log, stderr=log, cwd=self.folder
            )
        try:
            async with asyncio.timeout(START_S):
                self.address = await self._said(r"bots dial in at (\S+);")
                self.page = await self._said(r"the page is at http://(\S+)/")
        except BaseException:
            await _kill(self.server)
            raise

    async def _said(self, pattern: str) -> str:
        while (found := re.search(pattern, said := self.log.read_text(encoding="utf-8"))) is None:
            if self.server.returncode is not None:
                raise RuntimeError(f"the server did not start: {said[-2_000:]}")
            await asyncio.sleep(LOOK_S / 10)
        return found[1]

    async def _stop_server(self) -> None:
        if self.server.returncode is not None:
            self.wrong[f"the server died: exit code {self.server.returncode}"] += 1
            return
        self.server.send_signal(signal.SIGTERM)
        try:
            code = await asyncio.wait_for(self.server.wait(), START_S)
        except TimeoutError:
            self.wrong["the server did not end when it was told to"] += 1
            return
        if code != 0:
            self.wrong[f"the server ended with exit code {code}"] += 1

    def _log_bytes(self) -> int:
        return self.log.stat().st_size

    async def _hold(self) -> None:
        """Sample memory and descriptors of server and page, again and again."""
        page = 0
        while True:
            await asyncio.sleep(LOOK_S)
            found = _child_with(self.server.pid, b"--socket")
            if page and found != page:
                self.wrong["the page's process has ended"] += 1
            page = found
            held = {f"server_{name}": count for name, count in _holds(self.server.pid).items()}
            held |= {f"page_{name}": count for name, count in _holds(page).items()} if page else {}
            self._span.held.append(held)

    async def _stops_the_server(self) -> None:
        """Stop the server for seconds, again and again, first after half the interval, and poll the page meanwhile."""
        wait_s = 30 * self.plan.stop_minutes
        while True:
            await asyncio.sleep(wait_s)
            wait_s = 60 * self.plan.stop_minutes
            began = time.monotonic()
            self._stops.append((began, float("inf")))
            self.server.send_signal(signal.SIGSTOP)
            try:
                while time.monotonic() < began + STOP_S:
                    if (status := await self._read("/healthz", STOP_S / 2)) != 200:
                        self.wrong[f"/healthz of the page while the server is stopped: {status or 'no answer'}"] += 1
                    await asyncio.sleep(LOOK_S)
            finally:
                self.server.send_signal(signal.SIGCONT)
                self._stops[-1] = (began, time.monotonic())
            self.done[STOPPED] += 1

    def _stood_still(self, began: float, ended: float) -> bool:
        """Return whether the server was stopped, or catching up, within this span."""
        return any(began < end + AFTER_S and ended > start for start, end in self._stops)

    # -- the clients
    async def _start(self, name: str, module: str, *words: str, owner: str, nice: int = 0) -> Process:
        with (self.folder / f"{name}.err").open("ab") as talk:
            return await asyncio.create_subprocess_exec(
                *("nice", "-n", str(nice), sys.executable, "-m", module, *words),
                stdout=PIPE,
                stderr=talk,
                cwd=CHECKOUT,
                env={**os.environ, "CUTPURSE_TOKEN": self._tokens[owner], "CUTPURSE_SERVER": self.address},
            )

    async def _follow(self, process: Process, hear: Callable[[bytes], None], what: str) -> None:
        """Process each line of a process that should never end; kill it at the end."""
        assert process.stdout is not None
        try:
            async for line in process.stdout:
                hear(line)
            self.wrong[f"{what} has ended with {await process.wait()}"] += 1
        finally:
            await _kill(process)

    async def _honest(self, owner: str, ladder: str) -> None:
        def hear(line: bytes) -> None:
            told = json.loads(line)
            self.news.set()
            if "ended" in told:
                self.ended[told["ended"]] += 1
            elif ladder == "steady":
                self._span.turns.append((told["at"], told["turn_s"]))

        words = (self.address, f"{ladder}_{owner}", ladder)
        bot = await self._start(owner, "tests.hostile.honest", *words, owner=owner)
        await self._follow(bot, hear, f"the honest bot of {owner}")

    async def _attacks(self, kind: str) -> None:
        def hear(line: bytes) -> None:
            self.news.set()
            self.done[kind] = int(line)

        words = (kind, self.address, self.page, str(self.plan.seed))
        attacker = await self._start(kind, "tests.hostile.attackers", *words, owner=kind, nice=ATTACKER_NICE)
        await self._follow(attacker, hear, f"the attacker {kind}")

    async def _hands_in(self) -> None:
        """Submit the bot that turns hostile once it plays; from then on the server runs it."""
        folder = bot_folder(self.folder, SUBMITTED, files=SUBMITTED_FILES)
        words = ("bot", "submit", str(folder), "--ladder", "desk")
        submitting = await self._start(HANDED_IN, "cutpurse.cli", *words, owner=HANDED_IN)
        try:
            await submitting.communicate()
        finally:
            await _kill(submitting)
        if submitting.returncode == 0:
            self.done[HANDED_IN] += 1
        else:
            why = (self.folder / f"{HANDED_IN}.err").read_text(encoding="utf-8")
            self.wrong[f"the bot could not be handed in: {why[-500:]}"] += 1

    async def _newcomers(self) -> None:
        """Connect as a new bot, again and again, and wait for Welcome."""
        number = 0
        while True:
            await asyncio.sleep(ASKS_S)
            number, began = number + 1, time.monotonic()
            try:
                async with asyncio.timeout(PATIENCE_S), RawBot(self.address, self._tokens[NEWCOMER]) as bot:
                    hello = arena_pb2.Hello(protocol_major=1, bot=f"new_{number % 20}")
                    await bot.send(hello=hello, max_tables=0)  # so that it gets no match
                    await bot.read()
                    self._span.welcomes.append((began, time.monotonic() - began))
                    await bot.send(leaving=True)
            except (Ended, TimeoutError) as problem:
                waited = time.monotonic() - began
                self._span.welcomes.append((began, waited))
                if not self._stood_still(began, began + waited):
                    why = f"no answer in {PATIENCE_S:g} s" if waited >= PATIENCE_S else f"{problem!s:.120}"
                    self.wrong[f"a newcomer was not let in: {why}"] += 1

    async def _readers(self) -> None:
        """Read the home page and open its event stream, again and again."""
        while True:
            await asyncio.sleep(ASKS_S)
            began = time.monotonic()
            status = await self._read("/", PATIENCE_S)
            self._span.homes.append((began, time.monotonic() - began))
            stream = await self._read("/events/home", PATIENCE_S, len(b"HTTP/1.1 200"))
            if not self._stood_still(began, time.monotonic()):
                for what, answered in (("the first page", status), ("its stream", stream)):
                    if answered != 200:
                        self.wrong[f"{what}: {answered or 'no answer'}"] += 1

    async def _read(self, path: str, patience_s: float, size: int = -1) -> int:
        """Read a page, or its first bytes; return its status, 0 without an answer in time."""
        host, _, port = self.page.rpartition(":")
        asked = f"GET {path} HTTP/1.1\r\nHost: {self.page}\r\nConnection: close\r\n\r\n"
        answer = b""
        with contextlib.suppress(OSError, TimeoutError, EOFError):
            async with asyncio.timeout(patience_s):
                reader, writer = await asyncio.open_connection(host, int(port))
                try:
                    writer.write(asked.encode())
                    answer = await (reader.read() if size < 0 else reader.readexactly(size))
                finally:
                    writer.close()
        return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/") else 0

    # -- the table
    def _end_line(self, minute: float) -> None:
        """Compute the line of the samples since the last line, and print it."""
        span, now = self._span, time.monotonic()
        self._span = _Span(now, self._log_bytes())
        row = Figures(minute)
        for name in ("server_mib", "server_fds", "page_mib", "page_fds"):
            setattr(row, name, statistics.median([one[name] for one in span.held if name in one] or [0.0]))
        row.log_mib = (self._span.log_bytes - span.log_bytes) / MIB / ((now - span.began) / 60)
        turns, welcomes, homes = map(self._waits, (span.turns, span.welcomes, span.homes))
        row.turns = len(turns) / (now - span.began)
        row.turn_p50_ms, row.turn_p99_ms = _quantile(turns, 0.5), _quantile(turns, 0.99)
        row.welcome_ms, row.home_ms = _quantile(welcomes, 0.5), _quantile(homes, 0.5)
        if not self.rows:
            _say(TITLE)
        self.rows.append(row)
        _say(_line(row))

    def _waits(self, samples: Sequence[tuple[float, float]]) -> list[float]:
        """Return waits in milliseconds, except those during a stop."""
        return [1_000 * wait for began, wait in samples if not self._stood_still(began, began + wait)]


TITLE: Final = (
    "minute | server MiB   fds | page MiB  fds | log MiB/min | turns/s  p50 ms  p99 ms | welcome ms | first page ms"
)


def _line(row: Figures) -> str:
    return (
        f"{row.minute:6.1f} | {row.server_mib:10.1f} {row.server_fds:5.0f} | {row.page_mib:8.1f} {row.page_fds:4.0f} | "
        f"{row.log_mib:11.3f} | {row.turns:7.1f} {row.turn_p50_ms:7.1f} {row.turn_p99_ms:7.1f} | "
        f"{row.welcome_ms:10.1f} | {row.home_ms:13.1f}"
    )


def slopes(rows: Sequence[Figures]) -> dict[str, float]:
    """Compute the growth of each figure per hour by least squares over the second half of the lines."""
    half = rows[len(rows) // 2 :]
    if len(half) < 2:
        return {}
    hours = [row.minute / 60 for row in half]
    return {
        name: statistics.linear_regression(hours, [getattr(row, name) for row in half]).slope for name in MOST_AN_HOUR
    }


def verdict(rows: Sequence[Figures]) -> list[str]:
    """List figures above their maximum, and in a long enough run those that grow too fast."""
    wrong = []
    for name, most in MOST.items():
        worst = max(rows, key=attrgetter(name))
        if getattr(worst, name) > most:
            wrong.append(f"{name} is {getattr(worst, name):.1f} at minute {worst.minute:.0f}; {most:g} may be")
    if rows[-1].minute >= LONG_MINUTES:
        rises = slopes(rows)
        wrong += [
            f"{name} rises by {rises[name]:.1f} an hour; {most:g} may be"
            for name, most in MOST_AN_HOUR.items()
            if rises[name] > most
        ]
    return wrong


def _is_cut_off(end: Exception) -> bool:
    """Return whether a call ended because the siege is over: gRPC may raise that instead of a cancellation."""
    return isinstance(end, grpc.aio.AioRpcError) and end.code() is grpc.StatusCode.CANCELLED


def _holds(pid: int) -> dict[str, float]:
    """Return memory and descriptors of a process; nothing if it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return {"mib": pages * os.sysconf("SC_PAGE_SIZE") / MIB, "fds": len(list(Path(f"/proc/{pid}/fd").iterdir()))}
    except OSError:
        return {}


def _child_with(pid: int, word: bytes) -> int:
    """Return the child of a process whose command has this word; 0 if there is none."""
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text(encoding="ascii").split():
                if word in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0"):
                    return int(child)
    return 0


def _quantile(waits: Sequence[float], share: float) -> float:
    return sorted(waits)[min(len(waits) - 1, int(share * len(waits)))] if waits else 0.0


async def _kill(process: Process) -> None:
    if process.returncode is None:
        process.kill()
        await process.wait()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Run the command, and return its exit code."""
    usual = Plan()
    parser = argparse.ArgumentParser(description="Attack a server in every way at once, beside honest bots.")
    parser.add_argument("--minutes", type=float, default=usual.minutes)
    parser.add_argument("--seed", type=int, default=usual.seed)
    parser.add_argument("--line-minutes", type=float, default=usual.line_minutes)
    parser.add_argument("--stop-minutes", type=float, default=usual.stop_minutes)
    parser.add_argument("--only", nargs="+", choices=EVERY_KIND, default=EVERY_KIND, metavar="KIND")
    words = parser.parse_args()
    plan = Plan(words.minutes, words.seed, words.line_minutes, words.stop_minutes, kinds=words.only)
    folder = Path(tempfile.mkdtemp(prefix="siege-"))
    _say(f"{', '.join(plan.kinds)} for {plan.minutes:g} minutes, seed {plan.seed}; in {folder}")
    siege = Siege(plan, folder)
    asyncio.run(siege.run())
    for kind, why in siege.left_out.items():
        _say(f"left out: {kind}: {why}")
    _say(f"done by each: {dict(siege.done)}")
    _say(f"seats of honest bots that ended: {dict(siege.ended)}")
    _say("an hour's rise: " + ", ".join(f"{name} {rise:+.1f}" for name, rise in slopes(siege.rows).items()))
    for text, count in siege.wrong.items():
        _say(f"WRONG: {text}" + (f" ({count} times)" if count > 1 else ""))
    _say("all is well" if not siege.wrong else f"{len(siege.wrong)} things are wrong")
    return 1 if siege.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
