"""Live updates of pages as server-sent events, rendered once for all listeners.

Each topic with listeners has one task, which renders the topic once a second and sends it when it has changed. A topic
without listeners costs nothing. A slow listener skips outdated events and gets the newest one. This module knows no
page.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from sse_starlette.event import ServerSentEvent
from sse_starlette.sse import EventSourceResponse
from starlette.concurrency import run_in_threadpool

from cutpurse.engine.errors import CutpurseError
from cutpurse.page.language.languages import Language
from cutpurse.page.language.speaking import gettext, language, speaking
from cutpurse.page.stream_shares import StreamShares
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused

__all__ = ["EventBroadcaster"]

LOOK_S: Final = 1.0
PING_S: Final = 15.0  # between two comments, which make proxies keep a quiet stream open
RETRY_MS: Final = 3_000  # until a browser reconnects


@dataclass
class _Topic:
    """A topic with listeners: its last event and the task that renders it."""

    render: Callable[[], str]
    listeners: set[asyncio.Queue[bytes | None]] = field(default_factory=set)
    told: bytes = b""
    looking: asyncio.Task[None] | None = None


class EventBroadcaster:
    """The topics of an app. Use it on one event loop only."""

    def __init__(self, shares: StreamShares | None = None, *, look_s: float = LOOK_S, ping_s: float = PING_S) -> None:
        """Create a broadcaster without topics.

        Args:
            shares: Limits the open streams; shared with streams of other kinds.
            look_s: Seconds between two renderings of a topic.
            ping_s: Seconds between two comments.
        """
        self._shares = StreamShares() if shares is None else shares
        self._look_s, self._ping_s = look_s, ping_s
        self._topics: dict[tuple[str, Language], _Topic] = {}
        self._is_closed = False

    @property
    def listeners(self) -> int:
        """Number of listeners."""
        return sum(len(topic.listeners) for topic in self._topics.values())

    def response(self, name: str, render: Callable[[], str], visitor: str = "") -> EventSourceResponse:
        """Return a response that streams the events of a topic.

        Args:
            name: Name of the topic.
            render: Renders the topic's fragment; called on another thread, once for all its listeners of a language.
            visitor: Visitor who listens, see `visitor_of`.

        Raises:
            ServerRefused: If there are too many streams, or after `close`.
        """
        self._shares.check(visitor)
        if self._is_closed:
            raise ServerRefused(gettext("the page is stopping"))
        return EventSourceResponse(self._events(name, language(), render, visitor), ping=self._ping_s, sep="\n")

    def close(self) -> None:
        """End all streams, and refuse new ones."""
        self._is_closed = True
        for topic in self._topics.values():
            for queue in topic.listeners:
                _put(queue, None)

    async def _events(
        self, name: str, spoken: Language, render: Callable[[], str], visitor: str
    ) -> AsyncGenerator[bytes, None]:
        key = name, spoken
        topic = self._topics.setdefault(key, _Topic(render))
        queue: asyncio.Queue[bytes | None] = asyncio.Queue(1)
        topic.listeners.add(queue)
        if topic.told:
            queue.put_nowait(topic.told)
        if topic.looking is None:
            with speaking(spoken):  # the task inherits it
                topic.looking = asyncio.create_task(self._look(topic))
        try:
            with self._shares.turn(visitor, partial(_put, queue, None)):
                yield ServerSentEvent(retry=RETRY_MS, sep="\n").encode()
                while (event := await queue.get()) is not None:
                    yield event
        finally:
            topic.listeners.discard(queue)
            if not topic.listeners and self._topics.get(key) is topic:
                del self._topics[key]
                topic.looking.cancel()

    async def _look(self, topic: _Topic) -> None:
        while True:
            try:
                event = _event("changed", await run_in_threadpool(topic.render))
            except (NotFound, NotAuthorised):  # the ladder was deleted, is private now, or its results are hidden
                event = _event("gone", "")
            except CutpurseError:  # the page then warns that its content may be outdated
                event = _event("away", "")
            except Exception:
                logging.getLogger(__name__).exception("news broke")
                event = _event("away", "")
            if event != topic.told:
                topic.told = event
                for queue in topic.listeners:
                    _put(queue, event)
            await asyncio.sleep(self._look_s)


def _put(queue: asyncio.Queue[bytes | None], event: bytes | None) -> None:
    """Put an event into a queue of length 1, in place of one that was not read."""
    if queue.full():
        queue.get_nowait()
    queue.put_nowait(event)


def _event(name: str, text: str) -> bytes:
    """Encode an event once for all its listeners."""
    return ServerSentEvent(text, event=name, sep="\n").encode()
