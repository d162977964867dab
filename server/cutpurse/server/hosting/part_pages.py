"""The monitoring pages of a place or a worker: liveness, and a few figures in the Prometheus format.

It lives as long as its event loop answers. This module knows no place and no worker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from http import HTTPStatus
from typing import Final

from prometheus_client import CollectorRegistry, Gauge, ProcessCollector, generate_latest

from cutpurse.server.hosting.metrics import TEXT_FORMAT
from cutpurse.server.hosting.monitoring import Answer, Page

__all__ = ["part_pages"]

WAIT_S: Final = 1.0  # seconds for the event loop to answer


def part_pages(
    loop: asyncio.AbstractEventLoop, figures: Mapping[str, str], read: Callable[[], Mapping[str, float]]
) -> Mapping[str, Page]:
    """Return the pages by path, for `Monitoring`.

    Args:
        loop: The event loop of the place or worker.
        figures: The figures, each with its description.
        read: Returns the current figures, on the event loop.
    """
    registry = CollectorRegistry()
    gauges = {name: Gauge(f"cutpurse_{name}", text, registry=registry) for name, text in figures.items()}
    ProcessCollector(registry=registry)

    async def ask() -> bool:
        answer: Future[Mapping[str, float]] = Future()
        try:
            loop.call_soon_threadsafe(lambda: answer.set_result(read()))
            current = await asyncio.wait_for(asyncio.wrap_future(answer), WAIT_S)
        except (TimeoutError, RuntimeError):  # it stalls, or is closed
            return False
        for name, value in current.items():
            gauges[name].set(value)
        return True

    async def alive() -> Answer:
        if await ask():
            return Answer(HTTPStatus.OK, b"ok\n")
        return Answer(HTTPStatus.SERVICE_UNAVAILABLE, b"the event loop does not answer\n")

    async def metrics() -> Answer:
        await ask()  # if it does not answer, the previous figures are shown
        return Answer(HTTPStatus.OK, generate_latest(registry), TEXT_FORMAT)

    return {"/metrics": metrics, "/healthz": alive}
