"""The signals that tell a command to end: as by Ctrl-C, what it opened is closed, and what it started is ended.

Those that end otherwise, as `serve` and `bot run`, hear them by themselves. This module knows no command.
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
HANGUP: Final[signal.Signals | None] = getattr(signal, "SIGHUP", None)  # which Windows has not
SAME_S: Final = 1.0  # for so long a second signal is the first one: `timeout` and a closed terminal send it twice
_handlers: Final[dict[int, Any]] = {}  # by signal, the handler that this process has set for itself


def set_handler(number: int, handler: Callable[[int, FrameType | None], None]) -> Any:
    """Set a handler that processes forked from this one do not keep, and return the one before."""
    before = signal.signal(number, handler)
    _handlers[number] = handler
    return before


def _forget_handlers() -> None:
    """Let signals do in a forked process what they do in any: it has no event loop, and no match to play to its end.

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
    """SIGTERM, and SIGHUP of a terminal that is closed, unless it is ignored, as under `nohup`."""
    heard = [signal.SIGTERM]
    if HANGUP is not None and signal.getsignal(HANGUP) != signal.SIG_IGN:
        heard.append(HANGUP)
    return heard


def interrupt_on_signal(clock: Callable[[], float] = time.monotonic) -> None:
    """From now on the first of these signals is KeyboardInterrupt in the main thread, which alone may call this.

    A later one ends the process, since the code of a bot may have caught the first. So does the first while a loop
    runs: it would come up in the middle of it, and what has a loop says itself how to end that.
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
    """As `asyncio.run`, and these signals end it as Ctrl-C does: `main` is cancelled, then KeyboardInterrupt raised.

    As Ctrl-C with `asyncio.run`, they are heard in the main thread alone: in another, whoever began it ends it.
    """
    import asyncio  # which no command begins with

    async def heard() -> T:
        this = asyncio.current_task()
        assert this is not None
        if threading.current_thread() is threading.main_thread():
            with suppress(NotImplementedError):  # Windows, whose loop hears none of them
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
