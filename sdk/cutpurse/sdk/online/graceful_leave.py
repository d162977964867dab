"""Bots that leave politely when their process is told to end: by Ctrl-C, by the signal that ends a service, or by that
of a terminal that is closed.

Several bots may play in one process and go in any order, so the signals are theirs together: taken when the first
comes, given back when the last has gone. A signal that comes to another thread than the loop's, or while the loop is
just about to wait, interrupts nothing: it is written to a socket as well, which wakes the loop. This module knows no
stream.
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

_there: list[Callable[[], None]] = []  # how each bot of this process is told to leave
_before: dict[int, Any] = {}  # what these signals did before
_woken = ExitStack()  # the loop by signals, as long as they are taken


@contextmanager
def leave_on_signal(client: Client) -> Iterator[None]:
    """Within this block the first such signal makes the bot leave; a second one does as it always does.

    A second SIGHUP does nothing: a shell and the system both send it when a terminal is closed; any other signal is the
    second one to it. Where it is ignored, as under `nohup`, that stays so.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # where signals cannot be set
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
    """Within this block any signal wakes the loop, so that what Python does about it is done at once."""
    here, there = socket.socketpair()
    with here, there:
        here.setblocking(False)
        there.setblocking(False)
        try:
            loop.add_reader(here, here.recv, 4096)
        except NotImplementedError:  # Windows, whose loop sees to it by itself
            yield
            return
        before = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
        if before != -1:
            signal.set_wakeup_fd(before)  # the loop has handlers of its own, and is woken for them
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
