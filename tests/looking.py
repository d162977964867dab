"""Polling: waiting for something in another process that sends no event to the tests.

No test sleeps. For events in their own process, tests wait for an event, a task or a clock that the test sets. These
functions are only for files, processes and servers that must be polled.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

__all__ = ["PATIENCE_S", "looks", "until", "until_so"]

PATIENCE_S: Final = 240.0  # less than a test may take; a busy machine may be ten times as slow
_LONGEST_S: Final = 280.0  # in an event loop: less than a test may take, so that a failure names the line that waits
_LOOK_S: Final = 0.02  # between the first looks
_SELDOM_S: Final = 0.1  # and between those of a long wait
_SHARE: Final = 0.05  # of the wait so far: a look may cost a call to a server, so a long wait looks less often


def until(is_so: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    """Poll until `is_so` returns True; fail, naming `what`, after `patience_s` seconds."""
    began_at, nothing = time.monotonic(), threading.Event()
    while not is_so():
        waited_s = time.monotonic() - began_at
        assert waited_s < patience_s, f"{what}: not within {patience_s:g} s"
        nothing.wait(_pause_s(waited_s))


async def until_so(is_so: Callable[[], bool]) -> None:
    """Poll until `is_so` returns True, without blocking the event loop; fail as `looks` does."""
    async for _ in looks():
        if is_so():
            return


async def looks() -> AsyncIterator[None]:
    """Yield at each look; fail after nearly the time that a test may take."""
    began_at = time.monotonic()
    while (waited_s := time.monotonic() - began_at) < _LONGEST_S:
        yield
        await asyncio.sleep(_pause_s(waited_s))
    raise AssertionError(f"not within {_LONGEST_S:g} s")


def _pause_s(waited_s: float) -> float:
    """Return the seconds until the next look."""
    return min(max(_LOOK_S, waited_s * _SHARE), _SELDOM_S)
