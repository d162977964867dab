"""What whoever watches an arena is shown: whether it lives, whether bots should come, and its figures.

Liveness is about the process alone: red means that starting it anew would help. So a full disk or a drain makes a
server not ready, and never dead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from cutpurse.server.hosting.metrics import TEXT_FORMAT, Metrics
from cutpurse.server.hosting.monitoring import Answer, Page
from cutpurse.server.hosting.open_arena import OpenArena

__all__ = ["not_alive", "not_ready", "pages"]

STANDS_STILL_S: Final = 1.0  # without a sign of life of the event loop, which gives one every 50 ms
WAIT_S: Final = 0.5  # for figures of this moment; else those of the last time are shown


def not_alive(opened: OpenArena) -> str:
    """Why the server must be taken for dead; empty if it lives."""
    silent_s = opened.arena.seconds_since_heartbeat
    return f"the event loop has stood still for {silent_s:.1f} s" if silent_s > STANDS_STILL_S else ""


def not_ready(opened: OpenArena) -> str:
    """Why no new bot should come; empty if they may."""
    if opened.arena.stage == "starting":
        return "the server does not listen yet"
    if opened.arena.stage != "open":
        return "the server is stopping and lets nobody in"
    if not opened.lobby.is_storing:
        return "results cannot be stored, and no match is started until they can"
    return not_alive(opened)


def pages(opened: OpenArena) -> Mapping[str, Page]:
    """By path, for `Monitoring`."""
    metrics = Metrics(opened)

    async def figures() -> Answer:
        with suppress(TimeoutError, RuntimeError):  # it stands still, or does not run
            await asyncio.wait_for(asyncio.wrap_future(opened.arena.ask(metrics.take)), WAIT_S)
        return Answer(HTTPStatus.OK, metrics.text(), TEXT_FORMAT)

    return {
        "/metrics": figures,
        "/healthz": _probe(lambda: not_alive(opened)),
        "/readyz": _probe(lambda: not_ready(opened)),
    }


def _probe(trouble: Callable[[], str]) -> Page:
    async def page() -> Answer:
        why = trouble()
        return Answer(HTTPStatus.SERVICE_UNAVAILABLE if why else HTTPStatus.OK, f"{why or 'ok'}\n".encode())

    return page
