"""Honest bots: the SDK's own session in virtual time, driven as by its client.

Such a bot thinks for a moment, answers its decisions, and reconnects when its stream is lost. It knows nothing of the
world's faults.
"""

from __future__ import annotations

from math import inf
from random import Random
from typing import TYPE_CHECKING, Any

from cutpurse.leaderboard.results import Identity
from cutpurse.server.errors import CallStatus
from cutpurse.wire.client_session import Ask, ClientSession, Finish, Illegal, OwnerNotice
from cutpurse.wire.errors import ServerRefused
from tests.simulation.network import Call

if TYPE_CHECKING:
    from tests.simulation.world import World

__all__ = ["Bot"]

_WELCOME_S = 10.0  # the client's timeout for Welcome
_BACKOFF_S = (0.2, 2.0)
_AGAIN_S = 1.0  # delay until its owner restarts it after it has given up
_FINAL = frozenset(
    {
        "PROTOCOL_VERSION",
        "RULES_VERSION",
        "HELLO",
        "NOT_FOUND",
        "SETTINGS",
        "BAD_MESSAGE",
        "SUPERSEDED",
        "FROZEN",
        "PAUSED",
        "NOT_YOURS",
    }
)


class Bot:
    """The process of one bot."""

    is_honest = True

    def __init__(self, world: World, name: str, owner: str, tables: int, thinks_s: float, reads_after_s: float) -> None:
        self.name = name
        self.owner = owner
        self.tables = tables
        self.finished: list[str] = []  # matches whose end it received
        self.given_up: list[str] = []  # reasons of restarts
        self.is_home = False  # it has left, and nothing is open
        self._world = world
        self._course = world.course
        self._thinks_s = thinks_s
        self._slow_s = reads_after_s
        self._call: Call | None = None
        self._attempts = 0
        self._is_leaving = False
        self._wanted = tables
        self._welcome_by = inf
        self._chance_of_nonces = Random(name)  # the same in every run
        self.session = self._new()

    def _new(self) -> ClientSession:
        """Create the session of a new process, with the owner's settings as before."""
        session = ClientSession(self.name, "1", max_tables=self.tables, entropy=self._chance_of_nonces.randbytes)
        session.want_tables(self._wanted)
        session.leaving = self._is_leaving
        return session

    @property
    def identity(self) -> Identity:
        """Identity of the bot."""
        return Identity(self.owner, self.name, "1")

    @property
    def is_there(self) -> bool:
        """Whether it has a stream and was admitted."""
        return self._call is not None and self._call.answered > 0

    def reads_after_s(self) -> float:
        return self._slow_s

    # -- its streams
    def connect(self) -> None:
        """Open a stream."""
        if self.is_home:
            return
        self._welcome_by = self._course.now + _WELCOME_S
        self._call = call = self._world.dial(self)
        call.send(self.session.opening())
        self._listen(call)

    def _listen(self, call: Call) -> None:
        """Give the stream up if the server is silent for too long, else check again later."""
        if call is not self._call or call.is_over:
            return
        until = self.session.silent_at or self._welcome_by
        if self._course.now >= until:
            call.cancel()
            self._lost(None)
        else:
            self._course.after(max(0.01, until - self._course.now), lambda: self._listen(call))

    def on_end(self, call: Call, how: CallStatus) -> None:
        if call is self._call:
            self._lost(how)

    def _lost(self, how: CallStatus | None) -> None:
        session = self.session
        self._call = None
        session.lost()
        if session.done():
            self.is_home = True
            return
        reason = how.reason if how is not None else ""
        wait_s = self._backoff_s()
        if reason == "RESUME_EXPIRED" and session.can_resume:
            session.forget()
            session.leaving = self._is_leaving
            wait_s = 0.0
        elif reason in _FINAL:
            self.given_up.append(reason)
            self.session = self._new()
            wait_s = _AGAIN_S
        elif how is not None and (said := session.come_back_s if how.retry_s is None else how.retry_s) is not None:
            wait_s = max(wait_s, said)
        if session.leaving and not session.tables:
            wait_s = 0.0
        self._course.after(wait_s, self.connect)

    def _backoff_s(self) -> float:
        first, longest = _BACKOFF_S
        doubled = min(longest, first * 2.0 ** min(self._attempts, 16))
        self._attempts += 1
        return doubled * (0.5 + self._course.random.random() / 2)

    # -- messages
    def on_envelope(self, call: Call, data: bytes) -> None:
        if call is not self._call:
            return
        try:
            for todo in self.session.receive(data, self._course.now):
                self._do(todo)
        except ServerRefused as problem:
            self._world.fails(f"{self.name} cannot understand the server: {problem}")
        self._attempts = 0
        self._send()

    def _do(self, todo: Any) -> None:
        if isinstance(todo, Ask):
            options = len(todo.decision.options)
            option = int(self._course.random.random() * options)
            table, number = todo.table, todo.decision.decision
            self._course.after(
                self._course.random.random() * self._thinks_s, lambda: self._answer(table, number, option)
            )
        elif isinstance(todo, Finish):
            if todo.table.match in self.finished:
                self._world.fails(f"{self.name} hears the end of match {todo.table.match} twice")
            self.finished.append(todo.table.match)
        elif isinstance(todo, Illegal):
            self._world.fails(f"{self.name} was told that a right answer is illegal, in match {todo.table.match}")
        elif isinstance(todo, OwnerNotice) and "WARNING" in todo.text:
            self._world.fails(f"{self.name}: {todo.text}")

    def _answer(self, table: Any, number: int, option: int) -> None:
        if table.is_open(number):
            self.session.answer(table, number, option)
            self._send()

    def _send(self) -> None:
        call = self._call
        while call is not None and (envelope := self.session.next_envelope()) is not None:
            call.send(envelope)

    # -- its owner
    def hurry(self) -> None:
        """Stop thinking and reading slowly."""
        self._thinks_s, self._slow_s = 0.01, 0.0

    def want(self, tables: int) -> None:
        """Set the number of simultaneous matches."""
        self._wanted = tables
        self.session.want_tables(tables)
        self._send()

    def leave(self) -> None:
        """Finish the open matches, then leave."""
        self._is_leaving = True
        self.hurry()
        self.session.leave()
        self._slow_s = 0.0
        self._send()
        if self._call is None and self.session.done():
            self.is_home = True
