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
from typing import Any

from cutpurse.sdk.online.client import Client
from cutpurse.sdk.signals import HANGUP, ends, set_handler
from cutpurse.sdk.terminal import format_count, print_message

__all__ = ["leave_on_signal"]

_there: list[Callable[[], None]] = []  # makes each bot of this process leave
_before: dict[int, Any] = {}  # the earlier handlers, by signal
_woken = ExitStack()  # closes the wake-up socket


@contextmanager
def leave_on_signal(client: Client) -> Iterator[None]:
    """Within the block, leave at the first signal; a second signal does what it did before.

    A second SIGHUP is ignored, since a shell and the system both send one when a terminal closes. Any other signal
    counts as a second one. An ignored SIGHUP stays ignored, as under `nohup`.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # other threads cannot set signal handlers
        return
    loop = asyncio.get_running_loop()

    def leave() -> None:
        if tables := len(client.session.tables):
            what = format_count(tables, "match is", "matches are")
            print_message(f"leaving: {what} played to the end; once more, and it goes at once")
        client.leave()

    def tell() -> None:
        loop.call_soon_threadsafe(leave)

    if not _there:
        _woken.enter_context(_wakes(loop))
        _before.update((one, set_handler(one, _told)) for one in (signal.SIGINT, *ends()))
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
    """Within the block, let any signal wake the loop, so that Python handlers run at once."""
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


def _told(number: int, frame: object) -> None:
    for heard in _before if number == HANGUP else [number]:
        if heard != HANGUP:
            signal.signal(heard, _before[heard])
    for tell in [*_there]:
        tell()
