"""Signals that end a command: as with Ctrl-C, it closes what it opened and ends what it started.

Commands that end differently, such as `serve` and `bot run`, handle the signals themselves. This module knows no
command.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from types import FrameType
from typing import Any, Final, TypeVar

from cutpurse.process.child_processes import descendants

__all__ = [
    "HANGUP",
    "command_begins",
    "end_quietly",
    "ends",
    "interrupt_on_signal",
    "run_async",
    "run_until_signalled",
    "set_handler",
]

T = TypeVar("T")
HANGUP: Final[signal.Signals | None] = getattr(signal, "SIGHUP", None)  # missing on Windows
REPEAT_S: Final = 0.05  # until a lost interrupt is repeated
SAME_S: Final = 1.0  # a second signal within this time is ignored: `timeout` and a closed terminal send it twice
_handlers: Final[dict[int, Any]] = {}  # by signal, the handler that this process has set
_quiet: Final[list[signal.Signals]] = []  # signals that `end_quietly` has changed
_IMPORTING: Final = "<frozen importlib._bootstrap>"


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


def end_quietly() -> None:
    """Let Ctrl-C end this process at once, as SIGTERM does by default, while it has nothing open yet or any more.

    As an exception, it would become a traceback or be lost while modules are imported.
    """
    if signal.getsignal(signal.SIGINT) in (signal.default_int_handler, signal.SIG_DFL):  # else it is ignored
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _quiet.append(signal.SIGINT)


def command_begins() -> None:
    """Let signals interrupt the command that begins, if `end_quietly` was called before."""
    if _quiet:
        _quiet.clear()
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if hasattr(signal, "pthread_kill"):  # missing on Windows
            sys.unraisablehook = _repeat_interrupt
        interrupt_on_signal()


def _repeat_interrupt(unraisable: sys.UnraisableHookArgs) -> None:
    """Interrupt again where Python would only print that it ignored the interrupt, as in a callback of an import."""
    if unraisable.exc_type is KeyboardInterrupt:
        main_thread = threading.main_thread().ident
        repeat = threading.Timer(
            REPEAT_S, signal.pthread_kill, (main_thread, signal.SIGINT)
        )  # now it would be lost too
        repeat.daemon = True
        repeat.start()
    else:
        sys.__unraisablehook__(unraisable)


def interrupt_on_signal(clock: Callable[[], float] = time.monotonic) -> None:
    """Raise KeyboardInterrupt at the first of these signals. Call this in the main thread.

    A later signal ends the process, since a bot's code may have caught the first one. So does the first signal while an
    event loop runs, where an exception could appear at any point; code with a loop handles the signals itself. And so
    does the first signal while a process that has started no thread and no process imports a module.
    """
    signalled_at: list[float] = []

    def hear(number: int, frame: FrameType | None) -> None:
        if signalled_at and clock() - signalled_at[0] < SAME_S:
            return
        if signalled_at or _has_loop() or (_imports(frame) and _is_alone()):
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        signalled_at.append(clock())
        raise KeyboardInterrupt

    for number in ends():
        set_handler(number, hear)


def run_async(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine as `asyncio.run` does; signals wait until its event loop runs.

    An exception before that leaves half a loop and a coroutine that nobody awaits, and Python reports both on stderr.
    """
    import asyncio  # imported late, to start commands faster

    async def begin() -> T:
        _block(before)
        return await main()

    before = _block({signal.SIGINT, *ends()})
    try:
        return asyncio.run(begin())
    finally:
        _block(before)


def _block(signals: Iterable[int]) -> Iterable[int]:
    """Let these signals wait, and no others; return those that waited until now."""
    if not hasattr(signal, "pthread_sigmask"):  # missing on Windows
        return ()
    return signal.pthread_sigmask(signal.SIG_SETMASK, signals)


def run_until_signalled(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine as `run_async` does; a signal cancels it and raises KeyboardInterrupt, as Ctrl-C does.

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
        return await main()

    try:
        return run_async(heard)
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None


def _has_loop() -> bool:
    running_loop = getattr(sys.modules.get("asyncio.events"), "_get_running_loop", None)  # it may be half imported
    return running_loop is not None and running_loop() is not None


def _imports(frame: FrameType | None) -> bool:
    """Return whether a module is being imported in this frame or below."""
    while frame is not None and frame.f_code.co_filename != _IMPORTING:
        frame = frame.f_back
    return frame is not None


def _is_alone() -> bool:
    return threading.active_count() == 1 and not descendants(os.getpid())
