"""Wait for what another process does, of which no event comes here: look again and again, at the one place for it.

No test sleeps. What happens in the process of the tests is waited for by its event, its task or a clock that the test
sets; what a file, a process or a server tells only when it is asked is looked at by these functions.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Final

__all__ = ["PATIENCE_S", "looks", "until", "until_so"]

PATIENCE_S: Final = 90.0
_LOOK_S: Final = 0.02


def until(is_so: Callable[[], bool], what: str, patience_s: float = PATIENCE_S) -> None:
    """Look until it is so; fail, saying what was waited for, if that takes too long."""
    ends_at, nothing = time.monotonic() + patience_s, threading.Event()
    while not is_so():
        assert time.monotonic() < ends_at, f"{what}: not within {patience_s:g} s"
        nothing.wait(_LOOK_S)


async def until_so(is_so: Callable[[], bool]) -> None:
    """Look until it is so, while the event loop goes on; the time limit of the test is that of the wait."""
    async for _ in looks():
        if is_so():
            return


async def looks() -> AsyncIterator[None]:
    """Say when to look, without end."""
    while True:
        yield
        await asyncio.sleep(_LOOK_S)
