"""The time that a machine gives a process, so that no program is blamed for a busy machine.

A limit in seconds of own time ends a program that sleeps as a clock would, and one that computes by what it used. While
the program waits for a processor, own time almost stands still. On Linux the scheduler counts that wait for each thread
(/proc/PID/task/TID/schedstat). Elsewhere the load average tells how much of the time a process gets.

This module knows no program.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

__all__ = ["NO_PROCESS", "Mark", "OwnTime", "load_share", "waited_s"]

NO_PROCESS: Final = 0  # a process that this machine does not show: only the load average counts
SLOWEST: Final = 20.0  # own time passes at least at a twentieth of the speed of the clock, so that every wait ends
LOOK_S: Final = 0.05  # between two readings; each takes about a millisecond
LONGEST_SLICE_S: Final = 0.25  # that a waiting thread is credited before the scheduler has counted its wait
_PROC: Final = Path("/proc")


class _Thread(NamedTuple):
    """What the scheduler has counted for a thread, in seconds."""

    ran_s: float
    waited_s: float
    is_waiting: bool  # now, for a processor


_NEW: Final = _Thread(0.0, 0.0, False)


class Mark(NamedTuple):
    """A moment, for `OwnTime.was_busy` and `why_busy`."""

    at: float
    withheld_s: float
    forced_s: float


def load_share() -> float:
    """Return the share of a processor that the load average leaves to each process; 1 if it is unknown."""
    with suppress(AttributeError, OSError):
        return min(1.0, (os.cpu_count() or 1) / max(os.getloadavg()[0], 0.01))
    return 1.0


def waited_s(thread: bytes = b"/proc/thread-self") -> float:
    """Return the seconds that this thread has waited for a processor so far; always 0 where the system does not tell.

    Args:
        thread: Folder of the thread in the files of Linux.
    """
    try:
        return int(_content(thread + b"/schedstat").split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return 0.0


class OwnTime:
    """A clock of a process and all that it has started: it stands almost still while they wait for a processor."""

    def __init__(
        self,
        pid: int | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
        proc: Path = _PROC,
        share: Callable[[], float] = load_share,
    ) -> None:
        """Start the clock.

        Args:
            pid: The process. Default: this one.
            clock: Returns monotonic seconds.
            proc: Folder with the files of Linux.
            share: Returns the share of a processor that each process gets, for systems without these files.
        """
        self._pid = os.getpid() if pid is None else pid
        self._clock = clock
        self._proc = bytes(proc)
        self._share = share
        self._at = self._now = clock()
        self._withheld_s = 0.0
        self._forced_s = 0.0  # own time that passed only because every wait must end
        self._threads = self._read()

    def __call__(self) -> float:
        """Return the own time, which never decreases."""
        now = self._clock()
        if now - self._at >= LOOK_S:
            self._pass(now - self._at)
            self._at = now
        self._now = max(self._now, now - self._withheld_s)
        return self._now

    def pauses(self, seconds: float) -> Iterator[float]:
        """Yield lengths of pauses to make until this many seconds of own time have passed."""
        until = self() + seconds
        while (left_s := until - self()) > 0:
            yield min(left_s, LOOK_S)

    def mark(self) -> Mark:
        """Return this moment."""
        self()
        return Mark(self._clock(), self._withheld_s, self._forced_s)

    def was_busy(self, since: Mark) -> bool:
        """Return whether the machine withheld a processor for at least half of the time."""
        now = self.mark()
        return now.withheld_s - since.withheld_s >= (now.at - since.at) / 2

    def why_busy(self, since: Mark) -> str:
        """Describe how busy the machine was; empty unless it is to blame for most of the own time that has passed."""
        now = self.mark()
        elapsed_s, withheld_s = now.at - since.at, now.withheld_s - since.withheld_s
        if not self.was_busy(since) or now.forced_s - since.forced_s < (elapsed_s - withheld_s) / 2:
            return ""
        return f"the machine was busy: it gave no processor for {withheld_s:.1f} of {elapsed_s:.1f} s"

    def _pass(self, gap_s: float) -> None:
        """Account for the time since the last reading."""
        before, self._threads = self._threads, self._read()
        if self._threads:
            own_s = self._own_s(before, gap_s)
        else:
            own_s = gap_s * self._share()
            self._forced_s += own_s  # a guess
        least_s = gap_s / SLOWEST
        self._forced_s += max(0.0, least_s - own_s)
        self._withheld_s += gap_s - max(own_s, least_s)

    def _own_s(self, before: dict[bytes, _Thread], gap_s: float) -> float:
        """Return the part of the time in which the threads computed, or slept of themselves."""
        ran_s = waited_s = 0.0
        slice_s = min(gap_s, LONGEST_SLICE_S)
        for number, thread in self._threads.items():
            last = before.get(number, _NEW)
            ran_s += thread.ran_s - last.ran_s
            uncounted_s = slice_s - (thread.ran_s - last.ran_s) if thread.is_waiting else 0.0
            waited_s += max(thread.waited_s - last.waited_s, uncounted_s)
        return min(gap_s, max(0.0, gap_s - waited_s, ran_s))

    def _read(self) -> dict[bytes, _Thread]:
        """Read the threads of the process and its descendants; none if it has ended, or the system does not tell."""
        threads: dict[bytes, _Thread] = {}
        processes = [str(self._pid).encode()]
        for process in processes:
            with suppress(OSError):  # it may end at any moment
                tasks = b"%b/%b/task" % (self._proc, process)
                for task in os.scandir(tasks):
                    with suppress(OSError, ValueError, IndexError):
                        threads[task.name] = _read_thread(task.path)
                        processes += _content(task.path + b"/children").split()
        reader = b"%d" % threading.get_native_id()
        if reader in threads:
            threads[reader] = threads[reader]._replace(is_waiting=False)
        return threads


def _read_thread(folder: bytes) -> _Thread:
    ran_ns, waited_ns, _ = _content(folder + b"/schedstat").split()
    state = _content(folder + b"/stat").rpartition(b")")[2].split()[0]
    return _Thread(int(ran_ns) / 1e9, int(waited_ns) / 1e9, state == b"R")


def _content(file: bytes) -> bytes:
    """Read a file of /proc, at half the cost of `Path.read_bytes`: there are many, many times a second."""
    descriptor = os.open(file, os.O_RDONLY)
    try:
        return os.read(descriptor, 65_536)
    finally:
        os.close(descriptor)
