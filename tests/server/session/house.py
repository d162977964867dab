"""A server without streams and bots without a network, for tests that describe a conversation in lines."""

from __future__ import annotations

import itertools

import pytest

from cutpurse.server.access.owners import ANYBODY, Grant
from cutpurse.server.errors import CallRefused, CallStatus
from cutpurse.server.limits import ServerLimits
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.sessions import Sessions
from cutpurse.v1 import arena_pb2
from tests.server.toys import ToyLobby, ToySeat

__all__ = ["CODES", "SERVER", "House", "Peer", "told"]

CODES = {
    "OK": 0,
    "INVALID_ARGUMENT": 3,
    "NOT_FOUND": 5,
    "FAILED_PRECONDITION": 9,
    "ABORTED": 10,
    "UNAVAILABLE": 14,
    "UNAUTHENTICATED": 16,
}
SERVER = "cutpurse test"


class House:
    """A server without streams: its sessions, and a clock that only the test moves."""

    def __init__(self, limits: ServerLimits | None = None) -> None:
        self.lobby = ToyLobby()
        self.limits = limits or ServerLimits()
        counter = itertools.count(1)
        self.bad: set[str] = set()  # invalid tokens
        self.sessions = Sessions(
            self.lobby,
            self.limits,
            SERVER,
            entropy=lambda size: next(counter).to_bytes(size),
            is_good=lambda token: token not in self.bad,
        )
        self.now = 100.0

    def dial(self, bot: str = "ann", grant: Grant = ANYBODY, **hello: object) -> Peer:
        """Let a bot connect and send Hello."""
        return Peer(self, bot, hello, grant)

    def refusal(self, **hello: object) -> CallStatus:
        """Return the status with which a Hello is refused."""
        with pytest.raises(CallRefused) as refused:
            self.dial(**hello)  # type: ignore[arg-type]
        return refused.value.ending


class Peer:
    """A bot's end of one stream, which acknowledges nothing by itself."""

    def __init__(self, house: House, bot: str, hello: dict[str, object], grant: Grant) -> None:
        self.house = house
        self.wakes = 0
        said = arena_pb2.Hello(**{"protocol_major": 1, "bot": bot, **hello})  # type: ignore[arg-type]
        self.link: Link = house.sessions.admit(arena_pb2.PlayRequest(hello=said), self._wake, house.now, grant)
        self.session = self.link.session
        self.received = 0

    def _wake(self) -> None:
        self.wakes += 1

    def read(self) -> arena_pb2.PlayResponse | None:
        """Read the next envelope, if there is one."""
        envelope = self.link.next_envelope(self.house.now)
        if envelope is None:
            return None
        self.link.written()
        response = arena_pb2.PlayResponse.FromString(envelope)
        assert response.envelope == self.received + 1
        self.received = response.envelope
        return response

    def expect(self, *lines: str) -> None:
        """Check that the next envelope is described by these lines; without lines, that there is none."""
        response = self.read()
        assert ([] if response is None else told(response)) == list(lines)
        assert (response is None) == (not lines)

    def say(self, *, received: int | None = None, **fields: object) -> float:
        """Send an envelope; by default it acknowledges everything that was read."""
        request = arena_pb2.PlayRequest(received=self.received if received is None else received, **fields)  # type: ignore[arg-type]
        return self.link.receive(request.SerializeToString(), self.house.now)

    def answer(self, *answers: tuple[int, int, int | None], received: int | None = None) -> None:
        """Answer decisions: table, decision, option."""
        self.say(answers=[arena_pb2.Answer(table=t, decision=d, option=o) for t, d, o in answers], received=received)

    def welcomed(self) -> Peer:
        """Read Welcome and acknowledge it."""
        response = self.read()
        assert response is not None
        assert response.HasField("welcome")
        self.say()
        return self

    def tables(self, count: int) -> list[ToySeat]:
        """Start `count` matches without decisions, and acknowledge them."""
        seats = [ToySeat(self.session).sit() for _ in range(count)]
        self.expect(*(f"start {seat.number}" for seat in seats))
        self.say()
        return seats

    def ended(self) -> tuple[str, str]:
        """Return code and reason of the stream's end."""
        closed = self.link.closed
        assert closed is not None
        assert self.link.next_envelope(self.house.now) is None
        return next(name for name, code in CODES.items() if code == closed.code), closed.reason

    def lose(self) -> arena_pb2.Resume:
        """Lose the stream; return the Resume with which a Hello can continue."""
        self.house.sessions.lost(self.link, self.house.now)
        return arena_pb2.Resume(session=self.session.id, secret=self.session.secret)


def told(response: arena_pb2.PlayResponse) -> list[str]:
    """Describe an envelope, one line per item; an empty one is a heartbeat."""
    lines = ["welcome"] if response.HasField("welcome") else []
    lines += [f"accepted {table}" for table in response.accepted]
    for refusal in response.refusals:
        name = arena_pb2.RefusalReason.Name(refusal.reason).removeprefix("REFUSAL_REASON_")
        lines.append(f"refused {refusal.table}#{refusal.decision} {name} {refusal.corrections_left}")
    lines += [f"start {start.table}" for start in response.starts]
    lines += [f"ask {asked.table}#{asked.decision}" for asked in response.decisions]
    lines += [f"end {ended.table}" for ended in response.ends]
    lines += ["drain"] if response.HasField("drain") else []
    for problem in response.problems:
        name = arena_pb2.ErrorReason.Name(problem.reason).removeprefix("ERROR_REASON_")
        lines.append(f"problem {name} {problem.strikes_left}")
    return lines or ["heartbeat"]
