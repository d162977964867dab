"""Bots that leave politely when their process is told to end: by Ctrl-C, or by the signal that ends a service.

Several bots may play in one process and go in any order, so the signals are theirs together: taken when the first
comes, given back when the last has gone. This module knows no stream.
"""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from cutpurse.sdk.client import Client
from cutpurse.sdk.terminal import say

__all__ = ["leaves_when_told"]

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_there: list[Callable[[], None]] = []  # how each bot of this process is told to leave
_before: dict[int, Any] = {}  # what these signals did before


@contextmanager
def leaves_when_told(client: Client) -> Iterator[None]:
    """Within this block the first such signal makes the bot leave; a second one does as it always does."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where signals cannot be set
        return
    loop = asyncio.get_running_loop()

    def leave() -> None:
        if tables := len(client.session.tables):
            what = "1 match is" if tables == 1 else f"{tables} matches are"
            say(f"leaving: {what} played to the end; once more, and it goes at once")
        client.leave()

    def tell() -> None:
        loop.call_soon_threadsafe(leave)

    if not _there:
        _before.update((one, signal.signal(one, _told)) for one in _SIGNALS)
    _there.append(tell)
    try:
        yield
    finally:
        _there.remove(tell)
        if not _there:
            for number, handler in _before.items():
                signal.signal(number, handler)
            _before.clear()


def _told(number: int, frame: object) -> None:
    signal.signal(number, _before[number])
    for tell in [*_there]:
        tell()
