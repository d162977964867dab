"""A call of Play that is ended at each of its moments, in every way in which one can end."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any, cast

import grpc
import pytest

from cutpurse.server.access.entrance import AuthInterceptor
from cutpurse.server.access.owners import Grant, OpenGuard
from cutpurse.server.logs import logger
from cutpurse.server.streams.arena_service import ArenaService
from cutpurse.v1 import arena_pb2
from tests.server.moments import Call, end_at_every_moment
from tests.server.session.house import House

TABLES, QUESTIONS, MATCHES = 2, 1, 2
ANN = Grant("ann", "token-of-ann", ("play",))


class AnnsGuard(OpenGuard):
    """Lets in one owner, who is counted."""

    def enter(self, metadata: object, peer: str, scope: str, now: float) -> Grant:
        return ANN


class Bot:
    """At the other end of a call: it acknowledges and answers what it is told, and leaves when it has played enough."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self.ends_left = MATCHES
        self.welcome = arena_pb2.Welcome()
        call.on_written = self.hear

    def hello(self, resume: arena_pb2.Resume | None = None) -> Bot:
        hello = arena_pb2.Hello(protocol_major=1, bot="sneak", max_tables=TABLES, resume=resume)
        self._say(arena_pb2.PlayRequest(hello=hello))
        return self

    def hear(self, message: bytes) -> None:
        told = arena_pb2.PlayResponse.FromString(message)
        if told.HasField("welcome"):
            self.welcome = told.welcome
        self.ends_left -= len(told.ends)
        answers = [arena_pb2.Answer(table=one.table, decision=one.decision, option=0) for one in told.decisions]
        self._say(arena_pb2.PlayRequest(received=told.envelope, answers=answers, leaving=self.ends_left <= 0))

    def _say(self, request: arena_pb2.PlayRequest) -> None:
        """Two turns later: what is read may be read as the call ends, and before it or after."""
        loop, said = asyncio.get_running_loop(), request.SerializeToString()
        loop.call_soon(loop.call_soon, self.call.say, said)


class Stage:
    """A server and a bot that dials in and plays; if its call ends too soon it comes back, and leaves in the end."""

    def __init__(self, end: Callable[[Stage], object]) -> None:
        self._end = end
        self.house = House()
        self.lobby = self.house.lobby
        self.lobby.length = QUESTIONS
        self.lobby.wake = self._wake
        self.counts = self.house.sessions.counts
        log = logger(sys.stderr, "info")
        self.service = ArenaService(
            self.house.sessions,
            log,
            entrance=AuthInterceptor(AnnsGuard(), log, self.counts),
            alive=lambda now: None,
            moved=lambda: None,
            incident_number=lambda: "1",
        )

        self.bot = self.dial()

    def _wake(self) -> None:
        asyncio.get_running_loop().call_soon(self.lobby.tick, 0.0)

    async def course(self) -> None:
        bot = self.bot
        await asyncio.wait([self.task])
        if bot.welcome.session and bot.ends_left > 0:
            self.dial(arena_pb2.Resume(session=bot.welcome.session, secret=bot.welcome.resume_secret))
            await asyncio.wait([self.task])

    def dial(self, resume: arena_pb2.Resume | None = None) -> Bot:
        """A call of the bot begins."""
        self.call = Call()
        self.task = self.call.run(self.service.play(None, cast("Any", self.call)))
        return Bot(self.call).hello(resume)

    def end(self) -> None:
        self._end(self)

    def check(self) -> None:
        assert self.task.done()
        assert (self.service.streams, self.service._streams_of) == (0, Counter())
        assert (self.house.sessions.connected, self.counts.connected, self.lobby.there) == (0, 0, [])


def cancelled(stage: Stage) -> None:
    """As gRPC does when the bot is gone."""
    stage.task.cancel()


def closed_by_the_bot(stage: Stage) -> None:
    stage.call.say(grpc.aio.EOF)


def taken_over(stage: Stage) -> None:
    """By another stream of the same bot, of which nobody waits for the end."""
    stage.dial()


def cancelled_and_taken_over(stage: Stage) -> None:
    stage.task.cancel()
    stage.dial()


def stopped(stage: Stage) -> None:
    stage.house.sessions.drain(0.0, 0.0)
    stage.house.sessions.close(0.0)


def revoked(stage: Stage) -> None:
    stage.house.bad.add(ANN.token)
    stage.house.sessions.check_tokens(0.0)


@pytest.mark.parametrize("end", [cancelled, closed_by_the_bot, taken_over, cancelled_and_taken_over, stopped, revoked])
async def test_a_call_of_play_that_ends_at_any_moment_leaves_nothing(
    end: Callable[[Stage], object], capfd: pytest.CaptureFixture[str]
) -> None:
    moments = await end_at_every_moment(lambda: Stage(end))
    assert moments > 10
    said = capfd.readouterr().err
    assert said.count("stream opened") == said.count("stream ended")
