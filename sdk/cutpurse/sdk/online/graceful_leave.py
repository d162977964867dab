"""Bots that finish their matches when their process gets SIGINT, SIGTERM or the SIGHUP of a closed terminal.

Several bots may play in one process and end in any order, so they share the signal handlers. The first bot sets them,
the last one restores the earlier ones. A signal that arrives in another thread, or just before the loop waits,
interrupts nothing. So it also writes to a socket, which wakes the loop. This module knows no stream.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

from cutpurse.process.signals import HANGUP, ends, set_handler
from cutpurse.process.terminal import print_message
from cutpurse.wire.text import format_count

__all__ = ["leave_on_signal"]

_there: list[Callable[[], None]] = []  # makes each bot of this process leave
_before: dict[int, Any] = {}  # the earlier handlers, by signal
_woken = ExitStack()  # closes the wake-up socket


class Leaves(Protocol):
    """A bot that can leave its server."""

    @property
    def open_matches(self) -> int:
        """Number of its open matches."""

    def leave(self) -> None:
        """Finish the open matches, then stop."""


@contextmanager
def leave_on_signal(client: Leaves) -> Iterator[None]:
    """Leave at the first signal within the block; a second signal does what it did before.

    A second SIGHUP is ignored, since a shell and the system both send one when a terminal closes. Any other signal
    counts as a second one. An ignored SIGHUP stays ignored, as under `nohup`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # other threads cannot set signal handlers
        return
    loop = asyncio.get_running_loop()

    def leave() -> None:
        if tables := client.open_matches:
            what = format_count(tables, "match is", "matches are")
            print_message(f"leaving: {what} played to the end; once more, and it goes at once")
        client.leave()

    def tell() -> None:
        loop.call_soon_threadsafe(leave)

    if not _there:
        _woken.enter_context(_wakes(loop))
        _before.update((signum, set_handler(signum, _leave)) for signum in (signal.SIGINT, *ends()))
    _there.append(tell)
    try:
        yield
    finally:
        _there.remove(tell)
        if not _there:
            for number, handler in _before.items():
                signal.signal(number, handler)
            _before.clear()
            _woken.close()


@contextmanager
def _wakes(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Let any signal within the block wake the loop, so that Python handlers run at once."""
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        there.setblocking(False)
        try:
            loop.add_reader(here, here.recv, 4096)
        except NotImplementedError:  # the loop of Windows wakes by itself
            yield
            return
        before = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
        if before != -1:
            signal.set_wakeup_fd(before)  # the loop has its own handlers and wakes for them
        try:
            yield
        finally:
            if before == -1:
                signal.set_wakeup_fd(-1)
            loop.remove_reader(here)


def _leave(number: int, frame: object) -> None:
    for heard in _before if number == HANGUP else [number]:
        if heard != HANGUP:
            signal.signal(heard, _before[heard])
    for tell in [*_there]:
        tell()
