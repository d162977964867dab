"""Programs in any language as bots in local play: `exec:node bot.mjs`.

The program is started with CUTPURSE_SERVER in its environment and connects to that address, as to any server. Each
match is a table on its stream. The program looks like any other bot: its faults are raised in `choose`. It is started
once per run, and again only if it accepts fewer matches than it has seats. This module knows no run of matches.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

from cutpurse.check.local_match import CONTROL, DIAL_IN_S, match_ended, match_started, when_asked_too_long_s
from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.events import Event
from cutpurse.engine.match import CORRECTIONS, MatchResult
from cutpurse.games import game_named
from cutpurse.process.child import Child
from cutpurse.process.lifetime import end_with_the_run
from cutpurse.process.own_time import OwnTime
from cutpurse.process.program_command import PROGRAM, command_of, environment_for
from cutpurse.sdk.flows import Flow, without_a_loop
from cutpurse.v1 import arena_pb2
from cutpurse.wire.encode import DECISION_EVENTS, ENDED_EVENTS, MatchEncoder
from cutpurse.wire.errors import ProgramFailed, ProgramGone, ProgramNotStarted
from cutpurse.wire.server_address import SERVER_VARIABLE

__all__ = [
    "ProgramBot",
    "end_programs",
]


class HostedProgram:
    """A running program, and the host that it connects to."""

    def __init__(self, spec: str) -> None:
        self.spec = spec
        self.command = command_of(spec)
        self.failed = ""  # why it cannot play; empty while it can
        self.child: Child | None = None
        self.seated = 0  # number of open matches
        self.host: Any = None  # Any: a `Host`; gRPC is imported only when a program is started
        self._ready: asyncio.Task[None] | None = None

    async def dialled_in(self) -> Any:
        """Return the program's `Guest`; start the program if necessary.

        Raises:
            ProgramNotStarted: If it has never connected.
            ProgramGone: If it has ended or is leaving; the text is always the same.
        """
        if self._ready is None:
            self._ready = asyncio.create_task(self._begin())
        await asyncio.shield(self._ready)
        if self.host.guest is None:
            try:
                self.check()
            except ProgramGone as problem:
                raise ProgramNotStarted(str(problem)) from None
        self.check()
        guest = self.host.guest
        if guest is None or guest.leaving:
            self._fail("it has said that it is leaving")
        return guest

    def _fail(self, why: str) -> None:
        self.failed = f"{self.spec}: {why}"
        self.check()

    def check(self) -> None:
        """Check that the program runs.  Raises ProgramGone if it has failed or ended."""
        if not self.failed and self.child is not None and self.child.code is not None:
            words = self.child.last_words()
            said = f"; its last words: {words}" if words else ""
            self.failed = f"{self.spec}: the program {self.child.how_it_ended()}{said}"
        if self.failed:
            raise ProgramGone(self.failed)

    async def _begin(self) -> None:
        from cutpurse.check.local_arena import Host

        self.host = await Host(clock=OwnTime()).__aenter__()
        poke = partial(asyncio.get_running_loop().call_soon_threadsafe, self.host.changed)
        name = self.spec.removeprefix(PROGRAM)
        try:
            self.child = Child(name, self.command, environment_for(self.host.address), partial(_in_time, poke))
        except OSError as problem:
            self.failed = f"{self.spec} cannot be run: {problem.strerror}"
            return
        child = self.child
        guest = await self.host.bot(DIAL_IN_S, lambda: child.code is None and not self.host.refused)
        if guest is not None or child.code is not None:
            return  # `check` reports the end of the program
        if self.host.refused:
            self.failed = f"{self.spec}: its Hello was refused: {self.host.refused[0]}"
            return
        words = child.last_words()
        self.failed = (
            f"{self.spec} has not dialled in to ${SERVER_VARIABLE}, which is {self.host.address}, in {DIAL_IN_S:g} s; "
            f"its last words: {words or 'none'}"
        )

    async def close(self) -> None:
        """Void the open matches, end the program, and stop the host."""
        if self._ready is not None:
            self._ready.cancel()
            await asyncio.wait([self._ready])
        if self.host is not None and (guest := self.host.guest) is not None:
            for table in guest.tables.values():
                if table.ended is None:
                    guest.end(table, arena_pb2.MatchEnded(table=table.number, voided=True).SerializeToString())
        if self.child is not None:
            await asyncio.get_running_loop().run_in_executor(None, self.child.stop)
        if self.host is not None:
            await self.host.__aexit__(None, None, None)


class ProgramBot:
    """A program's seat in one match."""

    def __init__(self, spec: str, control: TimeControl | None = None) -> None:
        """Prepare the seat; the program has as much time as `control` says, by default CONTROL for each decision."""
        self.spec = spec
        self._control = control
        self._events: list[Event] = []  # since the last decision
        self._first_event = 0
        self._number = -1  # of the last decision
        self._wrong = 0  # illegal answers to it

    async def start(self, match: Any) -> None:
        """Start a match for the program.

        Raises:
            ProgramNotStarted: If the program has never connected.
            ProgramFailed: If it has ended since, or does not play this game.
        """
        rules = game_named(match.game)
        self.program, guest = await _program(self.spec)
        games = [game_played.game for game_played in guest.hello.games]
        if games and match.game not in games:
            raise ProgramFailed(f"{self.spec}: its Hello does not name {match.game}, only {', '.join(games)}")
        seats = len(match.seats)
        self.settings = rules.check(seats, match.settings)
        self.encoder = MatchEncoder(rules, self.settings, seats)
        name = f"{match.chance.getrandbits(64):016x}"
        self.guest = guest
        control = self._control or CONTROL
        self.table = guest.start(match_started(match.game, self.settings, match.seats, match.seat, name, control))
        self.program.seated += 1

    def event(self, event: Any) -> None:
        """Store an event; it is sent with the next decision, or at the end."""
        if not self._events:
            self._first_event = event.number
        self._events.append(event.raw)

    async def choose(self, view: Any, decision: Any) -> int:
        """Return the program's answer.

        Raises:
            ProgramFailed: If it gave up the decision, or did not answer in time.
            ProgramGone: If no answer will come in this match.
        """
        guest, table = self.guest, self.table
        if decision.number != self._number:
            self._number, self._wrong = decision.number, 0
            guest.ask(table, decision.number + 1, self._body(view, decision))
        allowed_s = when_asked_too_long_s()
        if self._control is not None:
            allowed_s = max(0.0, decision.base_left_s) + decision.bank_left_s + self._control.grace_ms / 1_000
        reply = await guest.until(lambda: table.reply or self._trouble(), allowed_s)
        if reply is None:
            guest.give_no_more_time(table)
            raise ProgramFailed(f"{self.spec}: no answer in {allowed_s:g} s")
        if isinstance(reply, str):
            self.program.check()
            raise ProgramGone(f"{self.spec}: {reply}")
        if isinstance(reply, arena_pb2.GiveUp):
            guest.accept(table)
            kind, what = (ProgramGone, " the match") if reply.whole_match else (ProgramFailed, "")
            raise kind(f"{self.spec}: it gave up{what}: {' '.join(reply.reason.split())[:200]}")
        option = reply.option if reply.HasField("option") else -1
        if 0 <= option < decision.count:
            guest.accept(table)
            return option
        self._wrong += 1
        guest.refuse(
            table,
            arena_pb2.REFUSAL_REASON_ILLEGAL,
            corrections_left=max(0, CORRECTIONS + 1 - self._wrong),
            options_count=decision.count,
            text=f"there are options 0 to {decision.count - 1}",
        )
        return option

    def _body(self, view: Any, decision: Any) -> bytes:
        """Encode the decision."""
        hello = self.guest.hello
        events, self._events = self._events, []
        body = self.encoder.decision(
            table=self.table.number,
            number=decision.number,
            ask=decision.ask,
            options=[option.raw for option in decision.options],
            observation=self.encoder.observation(view.raw, "agenda" in hello.features),
            events=self.encoder.events(DECISION_EVENTS, events, view.raw.viewer) if hello.events else b"",
            first_event=self._first_event,
            base_left_ms=CONTROL.base_ms if self._control is None else max(0, round(decision.base_left_s * 1_000)),
            bank_left_ms=CONTROL.bank_ms if self._control is None else round(decision.bank_left_s * 1_000),
            safe_option=decision.safe.index,
        )
        self._first_event += len(events)
        return body

    def _trouble(self) -> str | None:
        """Return the reason why no answer will come, if there is one."""
        child = self.program.child
        if child is not None and child.code is not None:
            return "the program has ended"
        if self.guest.is_forgotten:
            return "it has said Hello again without Resume, so its open matches are lost"
        return None

    async def end(self, result: MatchResult) -> None:
        """End the match without waiting for anything."""
        self.program.seated -= 1
        events = self._events if self.guest.hello.events else ()
        encoded = self.encoder.events(ENDED_EVENTS, events, 0)
        self.guest.end(self.table, match_ended(self.table.number, result, self._first_event, encoded))


# -- the programs of this process, by spec
_running: Final[dict[str, list[HostedProgram]]] = {}


async def _program(spec: str) -> tuple[HostedProgram, Any]:
    """Return a program with room for another seat, and its guest; start a new one if there is none."""
    programs = _running.setdefault(spec, [])
    for program in programs:
        guest = await program.dialled_in()
        if program.seated < max(1, guest.most_wanted):
            return program, guest
    program = HostedProgram(spec)
    if not any(_running.values()):
        end_with_the_run(end_programs)
    programs.append(program)
    return program, await program.dialled_in()


def end_programs() -> None:
    """End every program that was started in this process."""
    programs = [program for same in _running.values() for program in same]
    _running.clear()
    if programs:
        without_a_loop(_closing(programs))


def _closing(programs: Sequence[HostedProgram]) -> Flow[None]:
    yield _closed(programs)


async def _closed(programs: Sequence[HostedProgram]) -> None:
    await asyncio.gather(*[program.close() for program in programs])


def _in_time(poke: Any) -> None:
    try:
        poke()
    except RuntimeError:  # the loop is closed, so nothing waits
        pass
