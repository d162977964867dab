"""An arena under attack, seen from outside: its process, its honest bots, and the check after an attack.

`Besieged` starts both processes. `unharmed` is the check that follows every attack. A new honest bot is admitted within
a second. The honest bots lost no decision and still play. Tasks, streams, sessions, descriptors and memory are back to
normal. No secret is in the log or in what attackers received.
"""

from __future__ import annotations

import base64
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutpurse.games import GAMES
from cutpurse.v1 import arena_pb2
from tests.hostile.peer import Caller, Peer
from tests.hostile.witness import NAMES
from tests.roots import CHECKOUT

__all__ = ["MORE_KIB", "Besieged", "Harmed"]

MORE_KIB = 16 * 1024  # maximum memory growth of the arena by an attack
LET_IN_S = 1.0  # maximum wait of an honest newcomer for its Welcome
ATTEMPTS = 20  # only one must be in time, because the machine may be busy
ALL_BACK_S = 240.0  # maximum wait until tasks, streams and descriptors are back
ANSWERS_S = 280.0
IDLE_TASKS = 12  # maximum tasks of an arena with two bots; it has about eight
MORE = {"tasks": 3, "streams": 0, "sessions": 0, "fds": 2}  # tolerance, because storing results needs some at times
WORDS = tuple(
    {word.lower() for card in GAMES["greed"].words.cards for word in (card.name, card.title) if len(word) > 3}
)


class Harmed(AssertionError):
    """The error if the arena, or an honest bot, was harmed."""


class _Child:
    """A child process that answers each line with a line of JSON."""

    def __init__(self, errors: Path, module: str, *arguments: str) -> None:
        """Start a module; `errors` is the file for its stderr."""
        with errors.open("wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-W", "error", "-m", module, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=CHECKOUT,
                env={**os.environ, "GRPC_VERBOSITY": "NONE"},  # as `cutpurse serve` has it
            )
        self._rest = b""

    def line(self) -> str:
        """Return the next printed line.  Raises Harmed if the process has ended or hangs."""
        assert self.process.stdout is not None
        until = time.monotonic() + ANSWERS_S
        while b"\n" not in self._rest:
            readable, _, _ = select.select([self.process.stdout], [], [], max(0.0, until - time.monotonic()))
            more = self.process.stdout.read1() if readable else b""  # type: ignore[attr-defined]
            if not more:
                what = f"ended with {self.process.wait(5)}" if readable else "does not answer"
                raise Harmed(f"{self.process.args!r}: the process {what}")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode()

    def ask(self, **question: object) -> Any:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(question).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # `line` raises the error
        return json.loads(self.line())

    def close(self) -> int:
        """Let the process end, and return its exit code."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            return self.process.wait(ANSWERS_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()
        finally:
            self.process.stdout.close()


@dataclass(frozen=True)
class Look:
    """The state of the arena at one time."""

    status: dict[str, int]
    decisions: int  # of the honest bots
    log_size: int


class Besieged:
    """An arena in its own process, with honest bots in another; call `close` at the end."""

    def __init__(self, folder: Path, *, honest: bool = True, **limits: object) -> None:
        self.log_file = folder / "log"
        self.errors_file = folder / "errors"
        self._child = _Child(self.errors_file, "tests.hostile.child", str(folder), json.dumps(limits))
        self.address = self._child.line()
        self._witness = _Child(folder / "witness", "tests.hostile.witness", self.address) if honest else None
        self._probes = 0
        self.pid = self._child.process.pid

    def close(self) -> None:
        """End both processes.  Raises Harmed if the arena does not end with exit code 0."""
        if self._witness is not None:
            self._witness.close()
        code = self._child.close()
        if code != 0:
            raise Harmed(f"the arena ended with {code}")

    # -- questions
    def status(self) -> dict[str, int]:
        """Return counts, memory, and the longest stall of the event loop since the last call."""
        answer: dict[str, int] = self._child.ask(ask="status")
        return answer

    def honest(self, decisions: int = 0) -> dict[str, int]:
        """Return the honest bots' counts after `decisions` decisions.  Raises Harmed if the bots are stuck."""
        return self._witness.ask(decisions=decisions) if self._witness is not None else {}

    def sessions(self) -> dict[str, dict[str, str]]:
        """Return ID and secret of every session, by name of the bot."""
        return {one["bot"]: one for one in self._child.ask(ask="sessions")}

    def results(self) -> list[dict[str, Any]]:
        """Return every seat of every finished match."""
        answer: list[dict[str, Any]] = self._child.ask(ask="results")
        return answer

    def log(self, since: int = 0) -> list[str]:
        """Return the lines of the log from byte `since` on."""
        return self.log_file.read_bytes()[since:].decode().splitlines()

    # -- the check
    def warm_up(self) -> None:
        """Serve some bots, so that later lazy loading and allocation do not look like leaks."""
        for number in range(60):
            with Caller(self.address) as bot:
                bot.hello(f"early_{number}")
                bot.next()
        self.honest(20)
        here = 0 if self._witness is None else 2
        self.settle({"tasks": IDLE_TASKS, "streams": here, "sessions": here, "fds": 40})

    def look(self) -> Look:
        """Return the state of the arena before an attack."""
        return Look(self.status(), self.honest().get("decisions", 0), len(self.log_file.read_bytes()))

    def welcome_s(self) -> float:
        """Return the seconds from connecting to Welcome for an honest newcomer.  Raises Harmed if there is none."""
        self._probes += 1
        before = time.monotonic()
        with Caller(self.address) as bot:
            hello = arena_pb2.Hello(protocol_major=1, bot=f"newcomer_{self._probes}")
            bot.say(arena_pb2.PlayRequest(hello=hello, max_tables=0))  # so that it gets no match
            envelope = bot.next()
            took = time.monotonic() - before
            bot.say(arena_pb2.PlayRequest(received=bot.had, leaving=True))
            if envelope is None or not envelope.HasField("welcome"):
                raise Harmed(f"a newcomer was not let in: {bot.ended or 'no answer'}")
        return took

    def settle(self, most: dict[str, int], within_s: float = ALL_BACK_S) -> None:
        """Wait until all counts are back within limits.  Raises Harmed if they stay above."""
        above = self._child.ask(ask="settled", most=most, within_s=within_s)
        if above:
            raise Harmed(f"not back after {within_s:g} s: {above}, but there may be {most}")

    def unharmed(self, before: Look, attackers: Iterable[Peer] = (), *, more_kib: int = MORE_KIB) -> dict[str, int]:
        """Check the arena after an attack, as the module's docstring says, and return its status.  Raises Harmed."""
        waits = [self.welcome_s()]
        while min(waits) > LET_IN_S and len(waits) < ATTEMPTS:
            waits.append(self.welcome_s())
        if min(waits) > LET_IN_S:
            raise Harmed(f"an honest newcomer waited {waits} s for his Welcome")
        self._honest_lost_nothing(before)
        self.settle({name: before.status[name] + more for name, more in MORE.items()})
        after = self.status()
        if after["rss_kib"] > before.status["rss_kib"] + more_kib:
            raise Harmed(f"memory is not back: {before.status['rss_kib']} KiB before, {after['rss_kib']} KiB after")
        self._no_secret(before.log_size, list(attackers))
        return after

    def _honest_lost_nothing(self, before: Look) -> None:
        seen = self.honest(before.decisions + 1)
        wrong = {name: seen.get(name, 0) for name in ("refusals", "problems", "not normal") if seen.get(name, 0)}
        seats = [seat for seat in self.results() if seat["bot"] in NAMES]
        late = [seat for seat in seats if seat["faults"] or seat["cause"] != "normal"]
        if wrong or late:
            raise Harmed(f"honest bots were harmed: {wrong} {late[:3]}")

    def _no_secret(self, log_from: int, attackers: Sequence[Peer]) -> None:
        lines = self.log(log_from)
        broke = [line for line in lines if '"level": "error"' in line]
        if broke:
            raise Harmed(f"the log tells of a fault: {broke[:3]}")
        seeds = [bytes.fromhex(one) for one in self._child.ask(ask="seeds")]
        held = [bytes.fromhex(one["secret"]) for name, one in self.sessions().items() if name in NAMES]
        text = "\n".join(lines) + self.errors_file.read_text()
        for secret in seeds + held:
            if any(form in text for form in (secret.hex(), base64.b64encode(secret).decode()[:-1], repr(secret)[2:-1])):
                raise Harmed("the log holds a secret")
        told = text.lower()
        named = [word for word in WORDS if f" {word} " in told or f'"{word}"' in told]
        if named:
            raise Harmed(f"the log names cards: {named}")
        for peer in attackers:
            opened = set(peer.mine) if isinstance(peer, Caller) else set()
            data = bytes(peer.received)
            if any(one in data or one.hex().encode() in data for one in seeds + held if one not in opened):
                raise Harmed("an attacker was sent a secret that is not his")
