"""The processes that a bot has started: how to find them, and end them with the bot.

On Linux they are found in /proc, with all their descendants. Elsewhere only those that `multiprocessing` knows are
found. This module knows no bot.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from cutpurse.process.own_time import OwnTime

__all__ = [
    "GRACE_S",
    "descendants",
    "end_new_children",
    "ends_new_children",
    "kill",
    "kill_descendants",
    "wait_for_end",
]

GRACE_S: Final = 1.0  # between SIGTERM and SIGKILL
POLL_S: Final = 0.01
_PROC: Final = Path("/proc")
_TRACKER: Final = b"multiprocessing.resource_tracker"  # ends by itself, after the semaphores that it must remove


def descendants(pid: int) -> list[int]:
    """Return the processes that `pid` and its descendants have started, parents first."""
    if not (_PROC / str(pid) / "task").is_dir():
        return _known_to_multiprocessing() if pid == os.getpid() else []
    processes = [pid]
    for process in processes:
        processes += _children(process)
    return [process for process in processes[1:] if not _is_tracker(process)]


def end_new_children(before: Collection[int] = ()) -> None:
    """End this process's descendants except `before`: with SIGTERM, and with SIGKILL after GRACE_S seconds."""
    new = [pid for pid in descendants(os.getpid()) if pid not in before]
    for pid in new:
        _send(pid, signal.SIGTERM)
    wait_for_end(new, GRACE_S)
    kill({*new, *descendants(os.getpid())} - {*before})


def wait_for_end(processes: Collection[int], seconds: float) -> list[int]:
    """Wait at most `seconds` of our own time for these processes to end, and return those that still run."""
    own = OwnTime()
    deadline = own() + seconds
    while (running := [pid for pid in processes if _is_running(pid)]) and own() < deadline:
        time.sleep(POLL_S)
    return running


def kill(processes: Collection[int]) -> None:
    """Kill these processes."""
    for pid in processes:
        _send(pid, getattr(signal, "SIGKILL", signal.SIGTERM))


@contextmanager
def ends_new_children() -> Iterator[None]:
    """End the processes started within the block when it is left."""
    before = descendants(os.getpid())
    try:
        yield
    finally:
        end_new_children(before)


def kill_descendants(pid: int) -> None:
    """Kill what another process has started; call this before that process itself ends."""
    kill(descendants(pid))


def _children(pid: int) -> list[int]:
    children: list[int] = []
    with suppress(OSError):  # it may end at any moment
        for task in (_PROC / str(pid) / "task").iterdir():
            children += map(int, (task / "children").read_text().split())
    return children


def _known_to_multiprocessing() -> list[int]:
    multiprocessing = sys.modules.get("multiprocessing")  # if it is not loaded, it has started nothing
    return [child.pid for child in multiprocessing.active_children()] if multiprocessing is not None else []


def _is_tracker(pid: int) -> bool:
    try:
        return _TRACKER in (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return False


def _is_running(pid: int) -> bool:
    """Return whether a process exists and is not just waiting to be reaped."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return not _PROC.is_dir() and pid in _known_to_multiprocessing()


def _send(pid: int, number: int) -> None:
    with suppress(OSError):
        os.kill(pid, number)
