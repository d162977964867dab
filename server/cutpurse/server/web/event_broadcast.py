"""What changes on a page while it is looked at: rendered once for all who look, and sent as server-sent events.

For each topic that somebody listens to, one task looks once a second and tells all when something is new; a topic that
nobody listens to costs nothing. A slow listener misses what has become old meanwhile, and nothing else. This module
knows no page.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Send

from cutpurse.engine.errors import CutpurseError
from cutpurse.sdk.errors import NotFound, ServerRefused
from cutpurse.server.web.stream_shares import StreamShares

__all__ = ["EventBroadcaster"]

LOOK_S: Final = 1.0
SILENCE_S: Final = 15.0  # after which a word is said, so that nobody on the way takes the stream for dead


@dataclass
class _Topic:
    """What is told of one thing, to whom."""

    render: Callable[[], str]
    listeners: set[asyncio.Queue[str | None]] = field(default_factory=set)
    told: str = ""
    looking: asyncio.Task[None] | None = None


class EventBroadcaster:
    """The topics of an app; for one event loop."""

    def __init__(
        self, shares: StreamShares | None = None, *, look_s: float = LOOK_S, silence_s: float = SILENCE_S
    ) -> None:
        """shares: which listeners there may be, those of other streams among them."""
        self._shares = StreamShares() if shares is None else shares
        self._look_s, self._silence_s = look_s, silence_s
        self._topics: dict[str, _Topic] = {}
        self._is_closed = False

    @property
    def listeners(self) -> int:
        """How many listen."""
        return sum(len(topic.listeners) for topic in self._topics.values())

    def response(self, name: str, render: Callable[[], str], visitor: str = "") -> StreamingResponse:
        """Answer a listener to a topic with its stream.  Raises ServerRefused if there are too many, or after `close`.

        render: gives the fragment; called on another thread, and for all listeners of this name alike.
        visitor: who listens.
        """
        self._shares.check(visitor)
        if self._is_closed:
            raise ServerRefused("the page is stopping")
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return _Telling(self._told(name, render, visitor), headers)

    def close(self) -> None:
        """Nothing more is told: every answer comes to its end."""
        self._is_closed = True
        for topic in self._topics.values():
            for queue in topic.listeners:
                _put(queue, None)

    async def _told(self, name: str, render: Callable[[], str], visitor: str) -> AsyncGenerator[str, None]:
        topic = self._topics.setdefault(name, _Topic(render))
        queue: asyncio.Queue[str | None] = asyncio.Queue(1)
        topic.listeners.add(queue)
        if topic.told:
            queue.put_nowait(topic.told)
        if topic.looking is None:
            topic.looking = asyncio.create_task(self._look(topic))
        try:
            with self._shares.turn(visitor, partial(_put, queue, None)):
                yield "retry: 3000\n\n"
                while True:
                    try:
                        event = await asyncio.wait_for(queue.get(), self._silence_s)
                    except TimeoutError:
                        event = ": still here\n\n"
                    if event is None:
                        return
                    yield event
        finally:
            topic.listeners.discard(queue)
            if not topic.listeners and self._topics.get(name) is topic:
                del self._topics[name]
                topic.looking.cancel()

    async def _look(self, topic: _Topic) -> None:
        while True:
            try:
                event = _event("changed", await run_in_threadpool(topic.render))
            except NotFound:  # a ladder that was deleted, or is private by now
                event = _event("gone", "")
            except CutpurseError:  # whoever looks at the page is told that what it shows may be old
                event = _event("away", "")
            except Exception:
                logging.getLogger(__name__).exception("news broke")
                event = _event("away", "")
            if event != topic.told:
                topic.told = event
                for queue in topic.listeners:
                    _put(queue, event)
            await asyncio.sleep(self._look_s)


def _put(queue: asyncio.Queue[str | None], event: str | None) -> None:
    """In place of what was not read yet."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(event)


class _Telling(StreamingResponse):
    """Whoever goes while he is sent something listens no more: else he would until Python next looks for garbage."""

    def __init__(self, told: AsyncGenerator[str, None], headers: Mapping[str, str]) -> None:
        super().__init__(told, media_type="text/event-stream", headers=headers)
        self._told = told

    async def stream_response(self, send: Send) -> None:
        """See `StreamingResponse`."""
        async with aclosing(self._told):
            await super().stream_response(send)


def _event(name: str, text: str) -> str:
    """Encode a text as an event; its line ends become those of the format."""
    data = "".join([f"data: {line}\n" for line in text.splitlines() or [""]])
    return f"event: {name}\n{data}\n"
