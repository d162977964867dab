"""What pages are told while the server does not answer: what it said last, and nobody waits long for that."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from cutpurse.page import last_known
from cutpurse.page.last_known import RETRY_S, LastKnown
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.errors import NotFound, ServerUnreachable

FIRST, SECOND = (ladder_pb2.ListMatchesResponse(next=number) for number in (1, 2))


class Server:
    """Answers, is away, or hangs until the test is over."""

    def __init__(self) -> None:
        self.now = 0.0
        self.calls = 0
        self.answer: ladder_pb2.ListMatchesResponse | Exception = FIRST
        self.hangs = False
        self.is_over = threading.Event()
        self.last = LastKnown(lambda: self.now, lambda: round(1_000 * self.now) + 1, wait_s=0.01)

    def get(self, question: object = "matches", *, falls_back: bool = True) -> ladder_pb2.ListMatchesResponse:
        return self.last.get(question, lambda: self.last.call(self._ask), falls_back=falls_back)

    def _ask(self) -> ladder_pb2.ListMatchesResponse:
        self.calls += 1
        if self.hangs:
            assert self.is_over.wait(240)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.is_over.set()


@pytest.mark.parametrize("hangs", [False, True])
def test_while_the_server_is_away_the_last_answer_is_told_and_since_when(server: Server, hangs: bool) -> None:
    server.now = 5.0
    assert (server.get(), server.last.away_since_ms) == (FIRST, 0)
    server.now, server.hangs, server.answer = 7.0, hangs, ServerUnreachable("it does not answer")
    assert (server.get(), server.last.away_since_ms) == (FIRST, 5_001)
    server.now, server.hangs, server.answer = 7.0 + RETRY_S, False, SECOND
    server.is_over.set()
    assert (server.get(), server.last.away_since_ms) == (SECOND, 0)


def test_a_server_that_is_away_is_tried_once_a_second_and_nobody_else_waits(server: Server) -> None:
    server.get()
    server.answer = ServerUnreachable("it does not answer")
    for _ in range(100):
        assert server.get() == FIRST
        with pytest.raises(ServerUnreachable):
            server.get("another")  # of which nothing is known
        with pytest.raises(ServerUnreachable):
            server.get(falls_back=False)
    assert server.calls == 2
    server.now += RETRY_S
    server.get()
    server.get()
    assert server.calls == 3


def test_a_refusal_is_an_answer(server: Server) -> None:
    server.get()
    server.answer = NotFound("the ladder is private now")
    with pytest.raises(NotFound):
        server.get()
    assert server.last.away_since_ms == 0
    server.answer = ServerUnreachable("it does not answer")
    with pytest.raises(ServerUnreachable):  # the answer of before is not shown again
        server.get()


def test_an_answer_that_nobody_falls_back_on_is_not_kept(server: Server) -> None:
    server.get(falls_back=False)
    server.answer = ServerUnreachable("it does not answer")
    with pytest.raises(ServerUnreachable):
        server.get()


def test_no_more_is_known_than_may_be(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    server.answer = ladder_pb2.ListMatchesResponse(matches=[ladder_pb2.MatchShown(match="m" * 100)])
    monkeypatch.setattr(last_known, "MAX_BYTES", 10 * server.answer.ByteSize())
    for number in (*range(10), 0, 10):
        server.get(number)
    server.answer = ServerUnreachable("it does not answer")
    server.get(0)
    server.get(10)
    with pytest.raises(ServerUnreachable):
        server.get(1)  # the one that was asked for longest ago
