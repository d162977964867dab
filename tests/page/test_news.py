"""What changes is rendered once for all who look, and nobody who is slow holds up another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from starlette.types import Message

from cutpurse.page.event_broadcast import EventBroadcaster
from cutpurse.page.stream_shares import StreamShares
from cutpurse.wire.errors import NotFound, ServerRefused, ServerUnreachable


class Told:
    """What is rendered: as often as it is looked at, and what a test says."""

    def __init__(self) -> None:
        self.text = "first"
        self.looks = 0
        self.problem: Exception | None = None

    def __call__(self) -> str:
        self.looks += 1
        if self.problem is not None:
            raise self.problem
        return self.text


def listening(news: EventBroadcaster, told: Told, name: str = "topic") -> AsyncIterator[Any]:
    return aiter(news.response(name, told).body_iterator)


async def next_event(stream: AsyncIterator[Any]) -> str:
    """Past the words that hold the connection."""
    async with asyncio.timeout(240):
        async for piece in stream:
            if piece.startswith(b"event:"):
                return str(piece, "utf-8")
    raise AssertionError("the stream ended")


async def test_all_who_listen_are_told_the_same_by_one_look() -> None:
    news, told = EventBroadcaster(look_s=0.01), Told()
    streams = [listening(news, told) for _ in range(20)]
    first = await asyncio.gather(*(next_event(stream) for stream in streams))
    assert set(first) == {"event: changed\ndata: first\n\n"}
    looks = told.looks
    told.text = "second\n<b>line</b>"
    second = await asyncio.gather(*(next_event(stream) for stream in streams))
    assert set(second) == {"event: changed\ndata: second\ndata: <b>line</b>\n\n"}
    assert told.looks - looks < 20
    assert news.listeners == 20
    for stream in streams:
        await stream.aclose()  # type: ignore[attr-defined]
    assert news.listeners == 0
    async with asyncio.timeout(240):
        while len(asyncio.all_tasks()) > 1:  # nobody looks any more
            await asyncio.sleep(0)


async def test_who_is_slow_misses_what_is_old_and_holds_up_nobody() -> None:
    news, told = EventBroadcaster(look_s=0.001), Told()
    slow, quick = listening(news, told), listening(news, told)
    assert await anext(slow) == b"retry: 3000\n\n"  # from now on it listens, and does not read
    for number in range(5):
        told.text = str(number)
        while await next_event(quick) != f"event: changed\ndata: {number}\n\n":
            pass
    assert await next_event(slow) == "event: changed\ndata: 4\n\n"


async def test_who_comes_later_is_told_at_once_what_is_so() -> None:
    news, told = EventBroadcaster(look_s=3_600), Told()
    first = listening(news, told)
    await next_event(first)
    assert await next_event(listening(news, told)) == "event: changed\ndata: first\n\n"
    assert told.looks == 1


@pytest.mark.parametrize(
    ("problem", "kind"),
    [
        (ServerUnreachable("gone"), "away"),
        (ValueError("a fault of ours"), "away"),
        (NotFound("there is no ladder 'it'"), "gone"),
    ],
)
async def test_what_is_not_told_any_more_is_told_as_such_until_it_is(problem: Exception, kind: str) -> None:
    news, told = EventBroadcaster(look_s=0.01), Told()
    stream = listening(news, told)
    await next_event(stream)
    told.problem = problem
    assert await next_event(stream) == f"event: {kind}\ndata: \n\n"
    told.problem = None
    assert await next_event(stream) == "event: changed\ndata: first\n\n"


async def test_a_quiet_stream_is_kept_alive() -> None:
    """By comments, until the browser leaves."""
    news, pieces, is_gone = EventBroadcaster(look_s=3_600, ping_s=0.01), list[bytes](), asyncio.Event()
    changed = b"event: changed\ndata: first\n\n"

    async def receive() -> Message:
        await is_gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        pieces.append(message.get("body", b""))
        if pieces[-1].startswith(b": ") and changed in pieces:
            is_gone.set()

    async with asyncio.timeout(240):
        await news.response("topic", Told())({"type": "http", "method": "GET"}, receive, send)
    assert pieces.count(changed) == 1
    assert news.listeners == 0


async def test_more_than_so_many_are_refused() -> None:
    news, told = EventBroadcaster(StreamShares(2)), Told()
    streams = [listening(news, told) for _ in range(2)]
    for stream in streams:
        await anext(stream)
    with pytest.raises(ServerRefused):
        news.response("topic", told)
    await streams[0].aclose()  # type: ignore[attr-defined]
    news.response("topic", told)


async def test_where_there_is_no_room_the_oldest_stream_of_who_has_most_makes_room_for_another_visitor() -> None:
    news, told = EventBroadcaster(StreamShares(3), look_s=3_600), Told()

    def of(visitor: str) -> AsyncIterator[Any]:
        return aiter(news.response("topic", told, visitor).body_iterator)

    crowd = [of("10.0.0.7") for _ in range(3)]
    for stream in crowd:
        await anext(stream)
    other = of("10.0.0.8")
    await anext(other)
    assert [piece async for piece in crowd[0]] == []  # it has ended
    assert news.listeners == 3
    with pytest.raises(ServerRefused):
        news.response("topic", told, "10.0.0.7")
    with pytest.raises(ServerRefused):  # two of three are not two more than one
        news.response("topic", told, "10.0.0.8")
    third = of("10.0.0.9")
    await anext(third)
    assert [piece async for piece in crowd[1]] == []
    for stream in (crowd[2], other, third):
        await stream.aclose()  # type: ignore[attr-defined]
