"""A call that ends at the moment at which its first envelope is read."""

from __future__ import annotations

import asyncio
import sys
from typing import Any, cast

import pytest
from grpc import aio

from cutpurse.server.access.entrance import AuthInterceptor
from cutpurse.server.access.owners import OpenGuard
from cutpurse.server.counts import Counts
from cutpurse.server.logs import logger
from cutpurse.server.streams.arena_service import ArenaService
from cutpurse.v1 import arena_pb2
from tests.server.session.house import House


class OneCall:
    """The server's end of a call, as far as a stream needs one; what is read comes when a test says so."""

    def __init__(self) -> None:
        self.comes: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.is_read = asyncio.Event()
        self.written: list[bytes] = []

    async def read(self) -> Any:
        self.is_read.set()
        return aio.EOF if self.comes.done() else await self.comes

    async def write(self, envelope: bytes) -> None:
        self.written.append(envelope)

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        return ()

    def peer(self) -> str:
        return "ipv4:127.0.0.1:1"


@pytest.mark.parametrize("is_first", ["the cancelling", "the envelope"])
async def test_a_call_that_is_cancelled_as_its_hello_is_read_leaves_no_bot_behind(
    house: House, is_first: str, capfd: pytest.CaptureFixture[str]
) -> None:
    log = logger(sys.stderr, "info")
    counts = Counts()
    service = ArenaService(
        house.sessions,
        log,
        entrance=AuthInterceptor(OpenGuard(), log, counts),
        alive=lambda now: None,
        moved=lambda: None,
        incident_number=lambda: "1",
    )
    call = OneCall()
    running = asyncio.create_task(service.play(None, cast("Any", call)))
    await call.is_read.wait()
    hello = arena_pb2.PlayRequest(hello=arena_pb2.Hello(protocol_major=1, bot="ann")).SerializeToString()
    for what in ("cancel", "set") if is_first == "the cancelling" else ("set", "cancel"):
        if what == "cancel":
            running.cancel()
        else:
            call.comes.set_result(hello)
    with pytest.raises(asyncio.CancelledError):
        await running
    for _ in range(5):  # whatever still runs
        await asyncio.sleep(0)
    assert not any(session.is_connected for session in house.sessions._by_id.values())
    said = capfd.readouterr().err
    assert said.count("stream opened") == said.count("stream ended")


@pytest.mark.parametrize("comes_back", [False, True])
def test_a_bot_that_the_lobby_cannot_let_in_for_a_fault_of_ours_is_not_taken_for_there(
    house: House, comes_back: bool
) -> None:
    def break_down() -> None:
        raise RuntimeError("can't start new thread")

    resume = house.dial().welcomed().lose() if comes_back else None
    house.lobby.wake = break_down
    with pytest.raises(RuntimeError, match="can't start new thread"):
        house.dial(resume=resume)
    assert (house.sessions.connected, house.sessions.counts.connected, house.lobby.there) == (0, 0, [])
    house.sessions.tick(house.now + house.limits.resume_window_ms / 1_000 + 1.0)
    assert len(house.sessions) == 0
