"""Signals that end a command: as with Ctrl-C, it closes what it opened and ends what it started.

Commands that end differently, such as `serve` and `bot run`, handle the signals themselves. This module knows no
command.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from types import FrameType
from typing import Any, Final, TypeVar

__all__ = ["HANGUP", "ends", "interrupt_on_signal", "run_until_signalled", "set_handler"]

T = TypeVar("T")
HANGUP: Final[signal.Signals | None] = getattr(signal, "SIGHUP", None)  # missing on Windows
SAME_S: Final = 1.0  # a second signal within this time is ignored: `timeout` and a closed terminal send it twice
_handlers: Final[dict[int, Any]] = {}  # by signal, the handler that this process has set


def set_handler(number: int, handler: Callable[[int, FrameType | None], None]) -> Any:
    """Set a handler that forked processes do not inherit, and return the previous one."""
    before = signal.signal(number, handler)
    _handlers[number] = handler
    return before


def _forget_handlers() -> None:
    """Restore default signal handling in a forked process: it has no event loop, and no match to finish.

    A handler that a bot has set stays.
    """
    for number, handler in _handlers.items():
        if signal.getsignal(number) == handler:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    if _handlers:
        signal.set_wakeup_fd(-1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_handlers)


def ends() -> list[signal.Signals]:
    """Return the signals that end a command: SIGTERM, and SIGHUP unless it is ignored, as under `nohup`."""
    heard = [signal.SIGTERM]
    if HANGUP is not None and signal.getsignal(HANGUP) != signal.SIG_IGN:
        heard.append(HANGUP)
    return heard


def interrupt_on_signal(clock: Callable[[], float] = time.monotonic) -> None:
    """Raise KeyboardInterrupt at the first of these signals. Call this in the main thread.

    A later signal ends the process, since a bot's code may have caught the first one. So does the first signal while an
    event loop runs, where an exception could appear at any point; code with a loop handles the signals itself.
    """
    told: list[float] = []

    def hear(number: int, frame: FrameType | None) -> None:
        if told and clock() - told[0] < SAME_S:
            return
        if told or _has_loop():
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        told.append(clock())
        raise KeyboardInterrupt

    for number in ends():
        set_handler(number, hear)


def run_until_signalled(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine as `asyncio.run` does; a signal cancels it and raises KeyboardInterrupt, as Ctrl-C does.

    As with `asyncio.run`, only the main thread handles signals; in another thread, the caller must end it.
    """
    import asyncio  # imported late, to start commands faster

    async def heard() -> T:
        this = asyncio.current_task()
        assert this is not None
        if threading.current_thread() is threading.main_thread():
            with suppress(NotImplementedError):  # the loop of Windows supports no signal handlers
                for number in ends():
                    asyncio.get_running_loop().add_signal_handler(number, this.cancel)
                    _handlers[number] = signal.getsignal(number)
        return await main

    try:
        return asyncio.run(heard())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _has_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
