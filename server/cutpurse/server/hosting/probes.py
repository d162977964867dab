"""The monitoring pages of an arena: liveness, readiness and metrics.

Liveness is about the process alone: a failure means that a restart would help. So a full disk or a drain makes a server
not ready, but never dead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Final

from cutpurse.server.hosting.arena_stages import ArenaStage
from cutpurse.server.hosting.metrics import TEXT_FORMAT, Metrics
from cutpurse.server.hosting.monitoring import Answer, Page
from cutpurse.server.hosting.open_arena import OpenArena

__all__ = ["not_alive", "not_ready", "pages"]

STANDS_STILL_S: Final = 1.0  # seconds without activity of the event loop, which shows some every 50 ms
WAIT_S: Final = 0.5  # seconds to wait for current metrics; after that the previous ones are shown


def not_alive(opened: OpenArena) -> str:
    """Return why the server counts as dead; empty if it lives."""
    silent_s = opened.arena.seconds_since_heartbeat
    return f"the event loop has stood still for {silent_s:.1f} s" if silent_s > STANDS_STILL_S else ""


def not_ready(opened: OpenArena) -> str:
    """Return why no new bot should connect; empty if it may."""
    if opened.arena.stage is ArenaStage.STARTING:
        return "the server does not listen yet"
    if opened.arena.stage is not ArenaStage.OPEN:
        return "the server is stopping and accepts no bots"
    if not opened.lobby.is_storing:
        return "results cannot be stored, and no match is started until they can"
    return not_alive(opened)


def pages(opened: OpenArena) -> Mapping[str, Page]:
    """Return the pages by path, for `Monitoring`."""
    metrics = Metrics(opened)

    async def figures() -> Answer:
        with suppress(TimeoutError, RuntimeError):  # the event loop stalls, or does not run
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
