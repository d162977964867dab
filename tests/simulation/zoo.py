"""Hostile bots of several kinds, which send raw bytes and follow no rule of the protocol.

Each behaves well for some of the time, so that it is admitted and plays matches, where it can do harm.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from cutpurse.server.errors import CallStatus
from cutpurse.v1 import arena_pb2
from tests.simulation.network import Call

if TYPE_CHECKING:
    from tests.simulation.world import World

__all__ = ["Villain"]


class Villain:
    """A hostile bot of one of the kinds of `faults.HOSTILE`."""

    is_honest = False

    def __init__(self, world: World, name: str, kind: str, tables: int) -> None:
        self.name = name
        self.owner = name
        self.kind = kind
        self.tables = tables
        self._world = world
        self._course = world.course
        self._random = world.course.random
        self._call: Call | None = None
        self._other: Call | None = None  # the second call of the kind with two
        self._session = ("", b"")
        self._received: dict[int, int] = {}  # by call
        self._sent: list[bytes] = []  # on all calls
        self._is_away = False
        self._is_deaf = False

    def reads_after_s(self) -> float:
        return inf if self._is_deaf else 0.0

    def _luck(self, share: float) -> bool:
        return self._random.random() < share

    # -- its streams
    def connect(self) -> None:
        """Open a call; the thief tries to take over another bot's session."""
        if self._is_away:
            return
        self._call = self._dial()
        if self.kind == "double":
            self._course.after(self._random.random(), self._dial_again)

    def _dial_again(self) -> None:
        if not self._is_away:
            self._other = self._dial()

    def _dial(self) -> Call:
        self._is_deaf = False
        call = self._world.dial(self)
        if self.kind == "garbage" and self._luck(0.1):
            self._send(call, self._random.randbytes(20))
            return call
        hello = arena_pb2.Hello(protocol_major=1, bot=self.name, max_tables=self.tables, events=self._luck(0.5))
        if self._session[0] and self._luck(0.6):
            hello.resume.session, hello.resume.secret = self._session
        if self.kind == "thief" and self._luck(0.7):
            hello.resume.session = self._world.watch.session_of_another(self.name)
            hello.resume.secret = self._random.randbytes(32) if self._luck(0.7) else self._session[1]
        self._send(call, arena_pb2.PlayRequest(hello=hello).SerializeToString())
        return call

    def on_end(self, call: Call, how: CallStatus) -> None:
        if call is self._other:
            self._other = None
        elif call is self._call and not self._is_away:
            self._call = None
            self._course.after(0.1 + self._random.random(), self.connect)

    def vanish(self) -> None:
        """Leave permanently."""
        self._is_away = True
        for call in (self._call, self._other):
            if call is not None:
                call.cut(0.0, 0.0)

    def _send(self, call: Call, data: bytes) -> None:
        if len(self._sent) < 40:
            self._sent.append(data)
        call.send(data)

    # -- reactions to messages
    def on_envelope(self, call: Call, data: bytes) -> None:
        if self._is_away:
            return
        envelope = arena_pb2.PlayResponse.FromString(data)
        if envelope.HasField("welcome"):
            self._session = envelope.welcome.session, envelope.welcome.resume_secret
        self._received[call.number] = envelope.envelope
        if self.kind == "silent" and self._luck(0.3):
            return
        if self.kind == "deaf" and self._luck(0.1):
            self._is_deaf = True
        request = arena_pb2.PlayRequest(received=envelope.envelope)
        if self.kind == "leaver" and self._luck(0.2):
            self._fidget(request)
        for refusal in envelope.refusals:
            if refusal.corrections_left:
                request.answers.add(table=refusal.table, decision=refusal.decision, option=0)
        self._send(call, request.SerializeToString())
        for decision in envelope.decisions:
            self._asked(call, decision)
        self._misbehave(call)

    def _fidget(self, request: arena_pb2.PlayRequest) -> None:
        if self._luck(0.3):
            request.leaving = True
        else:
            request.max_tables = int(self._random.random() * 4)

    def _asked(self, call: Call, decision: arena_pb2.Decision) -> None:
        table, number, options = decision.table, decision.decision, len(decision.options)
        request = arena_pb2.PlayRequest(received=self._received[call.number])
        answer = arena_pb2.Answer(table=table, decision=number, option=int(self._random.random() * options))
        after = self._random.random() * 0.05
        kind = self.kind
        if kind == "silent" and self._luck(0.5):
            return
        if kind == "late" and self._luck(0.5):
            after = self._random.random() * 1.5 * self._world.most_thinking_s
        if kind == "illegal" and self._luck(0.5):
            self._make_illegal(answer, options)
        if kind == "crossing" and self._luck(0.5):
            answer.table = max(0, table + int(self._random.random() * 5) - 2)
            answer.decision = max(0, number + int(self._random.random() * 5) - 2)
        if kind == "gives_up" and self._luck(0.5):
            request.give_ups.add(table=table, decision=number, reason="it \x07 failed " * 30)
        else:
            request.answers.append(answer)
        if self._luck(0.1) or kind == "flood":
            request.answers.append(answer)
        self._course.after(after, lambda: self._say(call, request))
        if self._other is not None and kind == "double":
            other = self._other
            rival = arena_pb2.PlayRequest(received=self._received.get(other.number, 0))
            rival.answers.add(table=table, decision=number, option=int(self._random.random() * options))
            self._course.after(after * self._random.random() * 2, lambda: self._say(other, rival))

    def _make_illegal(self, answer: arena_pb2.Answer, options: int) -> None:
        if self._luck(0.3):
            answer.ClearField("option")
        else:
            answer.option = options + int(self._random.random() * 1_000)

    def _say(self, call: Call, request: arena_pb2.PlayRequest) -> None:
        if not self._is_away:
            request.received = min(request.received or 0, self._received.get(call.number, 0))
            self._send(call, request.SerializeToString())

    def _misbehave(self, call: Call) -> None:
        if self.kind == "flood":
            received = arena_pb2.PlayRequest(received=self._received[call.number]).SerializeToString()
            for _ in range(int(self._random.random() * 12)):
                self._send(call, received)
        elif self.kind == "replay" and self._luck(0.5):
            self._send(call, self._random.choice(self._sent))
        elif self.kind == "garbage" and self._luck(0.2):
            ahead = arena_pb2.PlayRequest(received=1_000_000).SerializeToString()
            self._send(call, self._random.choice((self._random.randbytes(9), ahead, self._sent[0])))
        elif self.kind in ("leaver", "thief", "replay") and self._luck(0.05):
            call.cancel()
            if call is self._call:
                self._call = None
                self._course.after(0.1 + self._random.random(), self.connect)
