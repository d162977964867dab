"""Calls that are cut off at each of their moments: whoever waits, watches, asks or hands in leaves nothing behind."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from types import SimpleNamespace
from typing import Any, TypeAlias, cast

import grpc
import pytest

from cutpurse.leaderboard.results import Identity
from cutpurse.server.access.entrance import AuthInterceptor
from cutpurse.server.access.owners import Grant, OpenGuard, TokenRefused
from cutpurse.server.counts import Counts
from cutpurse.server.league.ladder_service import PIECE, LadderService, RunningLeague
from cutpurse.server.logs import logger
from cutpurse.server.parts.submissions.submission_service import SubmissionService
from cutpurse.server.watching.watch_service import WatchService
from cutpurse.v1 import ladder_pb2, submission_pb2
from tests.server.moments import MOST, Call, end_at_every_moment
from tests.server.test_watching import Hall

ANN = Grant("ann", "token-of-ann", ("play",))


class AnnsGuard(OpenGuard):
    """Lets in one owner."""

    def enter(self, metadata: object, peer: str, scope: str, now: float) -> Grant:
        return ANN

    def recognise(self, metadata: object, peer: str, now: float) -> Grant:
        return ANN


class LateGuard(AnnsGuard):
    """Refuses everybody late."""

    def enter(self, metadata: object, peer: str, scope: str, now: float) -> Grant:
        raise TokenRefused("TOKEN_INVALID", "no", is_late=True)


Method: TypeAlias = Callable[[bytes, Any], Coroutine[Any, Any, object]]


class Turns(ThreadPoolExecutor):
    """In place of threads: what is to be done is begun some turns of the loop later, and done some turns after that."""

    def __init__(self) -> None:
        super().__init__(1)  # which starts none before it is asked
        self.open = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **more: Any) -> Future[Any]:
        answer: Future[Any] = Future()
        call_soon = asyncio.get_running_loop().call_soon

        def end() -> None:
            self.open -= 1
            try:
                answer.set_result(fn(*args, **more))
            except Exception as problem:
                answer.set_exception(problem)

        def begin() -> None:
            if answer.set_running_or_notify_cancel():
                self.open += 1
                call_soon(call_soon, end)

        call_soon(call_soon, begin)
        return answer


class Asked:
    """A call of a service, cancelled as gRPC does when its caller has gone, or ended by `end`.

    said: what he sends, one a turn.
    """

    def __init__(
        self,
        answer: Callable[[Call], Coroutine[Any, Any, object]],
        is_clear: Callable[[], bool],
        *said: bytes,
        end: Callable[[], object] | None = None,
    ) -> None:
        self.call = Call()
        self.task = self.call.run(answer(self.call))
        self._is_clear = is_clear
        self._end = end or self.task.cancel
        self._said = [*said, grpc.aio.EOF]
        self._loop = asyncio.get_running_loop()
        self._loop.call_soon(self._say)

    def _say(self) -> None:
        self.call.say(self._said.pop(0))
        if self._said:
            self._loop.call_soon(self._say)

    async def course(self) -> None:
        await asyncio.wait([self.task])

    def end(self) -> None:
        self._end()

    def check(self) -> None:
        assert self.task.done()
        assert self._is_clear()


async def test_who_is_held_up_and_goes_keeps_no_place() -> None:
    log = logger(sys.stderr, "error")

    def scene() -> Asked:
        door = AuthInterceptor(LateGuard(), log, Counts())
        return Asked(lambda call: door.enter(cast("Any", call), "play"), lambda: not door._held)

    assert await end_at_every_moment(scene) == MOST  # until the caller hears of it, seconds later


@pytest.mark.parametrize("is_stopped", [False, True])
@pytest.mark.parametrize("what", ["match", "ladder"])
async def test_who_watches_and_goes_leaves_nothing_that_is_looked_at(what: str, is_stopped: bool) -> None:
    hall = Hall("greed", matches=None, delay_s=0.0)
    hall.bots()
    watching, loop = hall.watching, asyncio.get_running_loop()
    log = logger(sys.stderr, "error")
    ended = set()

    def scene() -> Asked:
        table = hall.begin()
        watch = WatchService(
            watching,
            AuthInterceptor(AnnsGuard(), log, Counts()),
            log,
            is_good=lambda token: True,
            utc=lambda: datetime.now(UTC),
            incident_number=lambda: "1",
        )
        watching.begin(clock=lambda: hall.world.now, due=lambda: None, incident_number=lambda: "1")

        def play_on(turns: int = 15) -> None:
            for _ in range(4):
                hall.world.step()
            if turns:
                loop.call_soon(play_on, turns - 1)

        def is_clear() -> bool:
            ended.add(asked.call.status.code if asked.call.status is not None else None)
            hooks = [one.table.on_moved for one in hall.world.lobby.open_matches()]
            left = (watching.watchers, watching._sources, watching._shows, watching._waiting)
            return left == (0, {}, {}, {}) and not any([*hooks, table.on_moved])

        loop.call_soon(play_on)
        named = ladder_pb2.WatchMatchRequest(match=table.name)
        request = (named if what == "match" else ladder_pb2.WatchMatchRequest(ladder="it")).SerializeToString()
        asked = Asked(
            lambda call: watch.watch(request, cast("Any", call)), is_clear, end=watch.close if is_stopped else None
        )
        return asked

    await end_at_every_moment(scene, 20)
    assert (grpc.StatusCode.UNAVAILABLE in ended) == is_stopped


async def test_whoever_watches_from_the_turn_on_in_which_the_server_stops_is_told_so() -> None:
    """Without it gRPC would end the call a second later without a reason, and the server would wait as long."""
    log = logger(sys.stderr, "error")
    watching = Hall("greed").watching
    entrance = AuthInterceptor(AnnsGuard(), log, Counts())
    watch = WatchService(
        watching,
        entrance,
        log,
        is_good=lambda token: True,
        utc=lambda: datetime.now(UTC),
        incident_number=lambda: "1",
    )
    call = Call()
    accepted = call.run(watch.watch(ladder_pb2.WatchMatchRequest(ladder="it").SerializeToString(), cast("Any", call)))
    watch.close()
    await asyncio.wait([accepted], timeout=240)
    assert accepted.done()
    assert (call.status.code, call.status.details) == (grpc.StatusCode.UNAVAILABLE, "the server is stopping")
    assert (watching.watchers, call.written) == (0, [])


def league(turns: Turns) -> LadderService:
    """One whose every answer takes some turns."""
    lobby = SimpleNamespace(
        here=lambda: (),
        open_matches=lambda: (),
        unstored_matches=lambda: (),
        requested=lambda name: "",
        lifted=lambda identity: None,
        why_not_ready=lambda bot, ladder, is_requested: "",
    )
    steering = SimpleNamespace(lift=lambda asked, caller: Identity("ann", "sneak", "1"))
    answers = SimpleNamespace(
        match_file=lambda asked, caller: bytes(4 * PIECE),
        bot=lambda identity, caller, presence: ladder_pb2.BotShown(),
    )
    log = logger(sys.stderr, "error")
    service = LadderService(
        RunningLeague(cast("Any", answers), cast("Any", steering), cast("Any", lobby)),
        AuthInterceptor(AnnsGuard(), log, Counts()),
        log,
        incident_number=lambda: "1",
    )
    service._threads = turns
    return service


def reading(service: LadderService) -> Method:
    told = ladder_pb2.ListLaddersResponse()
    return cast("Method", service._reading("ListLadders", ladder_pb2.ListLaddersRequest, lambda *_: told))


def steering(service: LadderService) -> Method:
    return cast("Method", service._writing("LiftPause", service._lift, "play"))


def fetching(service: LadderService) -> Method:
    return service.get_record


@pytest.mark.parametrize("method", [reading, steering, fetching])
async def test_who_asks_a_league_and_goes_is_no_caller_any_more(method: Callable[[LadderService], Method]) -> None:
    def scene() -> Asked:
        turns = Turns()
        service = league(turns)
        return Asked(
            lambda call: method(service)(b"", call),
            lambda: (service._calls, service._steered, turns.open) == (Counter(), set(), 0),
        )

    assert await end_at_every_moment(scene) > 5


async def test_an_upload_that_is_cut_off_is_forgotten_or_handed_in_as_a_whole() -> None:
    content = bytes(range(100))
    head = submission_pb2.SubmissionHead(size=len(content), sha256=sha256(content).digest())
    said = [submission_pb2.SubmitRequest(head=head).SerializeToString()]
    said += [submission_pb2.SubmitRequest(piece=content[at : at + 25]).SerializeToString() for at in range(0, 100, 25)]
    handed_in: list[bytes] = []
    desk = SimpleNamespace(
        look=lambda content: SimpleNamespace(name="sneak", version="1", games=()),
        check_ladders=lambda ladders: None,
        plays_one=lambda ladders: False,
        hand_in=lambda owner, manifest, content, ladders: handed_in.append(content),
        shown=lambda entry: submission_pb2.SubmissionShown(),
    )
    ladders = SimpleNamespace(ladders=lambda owner: {}, check_submitted=lambda identity, wanted, forgets: None)
    log = logger(sys.stderr, "error")

    def scene() -> Asked:
        service = SubmissionService(
            cast("Any", desk),
            cast("Any", ladders),
            AuthInterceptor(AnnsGuard(), log, Counts()),
            log,
            is_open=lambda: True,
            is_run_elsewhere=lambda identity: False,
            incident_number=lambda: "1",
        )
        service._threads = turns = Turns()
        left = (service._sending, service._calls, service._readers)
        return Asked(
            lambda call: service.submit(None, cast("Any", call)),
            lambda: (*left, turns.open) == (Counter(), Counter(), set(), 0),
            *said,
        )

    moments = await end_at_every_moment(scene)
    assert moments > 15
    assert {*handed_in} == {content}
    assert 2 < len(handed_in) < 2 * moments
