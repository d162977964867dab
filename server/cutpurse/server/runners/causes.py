"""The reasons why programs end, and the checks of their limits, shared by all runners."""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping
from typing import Final, Protocol

from cutpurse.server.runners.disk_quota import DiskQuota
from cutpurse.server.runners.port import Cause, ResourceLimits

__all__ = ["REFUSED_MOST", "UsageCounters", "cause_of", "text_of", "too_much"]

REFUSED_MOST: Final = 300  # refused processes above which a program counts as a fork bomb


class UsageCounters(Protocol):
    """The counters of a program that the system keeps: a `Group`, or the statistics of a container engine."""

    def out_of_memory(self) -> int:
        """Return the number of processes killed for lack of memory."""

    def refused(self) -> int:
        """Return how often a new process was refused because there were too many."""


def too_much(
    limits: ResourceLimits,
    lived_s: Callable[[], float],
    cpu_s: Callable[[], float],
    counted: UsageCounters | None,
    watched: DiskQuota | None,
) -> Cause | None:
    """Return the limit that a running program has exceeded, or None.

    Args:
        limits: Limits of the program.
        lived_s: Returns its own time in seconds; called only if that is limited.
        cpu_s: Returns its CPU time in seconds; called only if that is limited.
        counted: Counters of the system, if any.
        watched: Quota of its folder, if it may write there.
    """
    if limits.wall_s is not None and lived_s() >= limits.wall_s:
        return "time"
    if limits.cpu_s is not None and cpu_s() >= limits.cpu_s:
        return "processor"
    if counted is not None and counted.out_of_memory():
        return "memory"
    if counted is not None and counted.refused() > REFUSED_MOST:
        return "processes"
    if watched is not None and watched.is_too_much():
        return "disk"
    return None


def cause_of(code: int, number: int, counted: UsageCounters | None) -> Cause:
    """Return why a program ended by itself or by the kernel; `number` is the signal that ended it, or 0."""
    if code and counted is not None:
        if counted.out_of_memory():
            return "memory"
        if counted.refused():
            return "processes"
    if number == getattr(signal, "SIGXCPU", 0):
        return "processor"
    return "signal" if number else "exited"


def text_of(cause: Cause, limits: ResourceLimits, code: int, number: int) -> str:
    """Describe why a program ended, in one line for its owner."""
    return _TEXTS[cause](limits, code, number)


def _named(number: int) -> str:
    try:
        return f"signal {number} ({signal.Signals(number).name})"
    except ValueError:
        return f"signal {number}"


def _exited(limits: ResourceLimits, code: int, number: int) -> str:
    if code in (126, 127):
        return f"its command could not be run: it is not there, or cannot be executed (exit code {code})"
    return f"it ended by itself, with exit code {code}"


_TEXTS: Final[Mapping[Cause, Callable[[ResourceLimits, int, int], str]]] = {
    "exited": _exited,
    "signal": lambda limits, code, number: f"it was ended by {_named(number)}",
    "memory": lambda limits, code, number: f"it wanted more memory than its {limits.memory_bytes >> 20} MiB",
    "processor": lambda limits, code, number: f"it used up its {limits.cpu_s or 0:g} s of the processor",
    "time": lambda limits, code, number: f"it took longer than its {limits.wall_s or 0:g} s",
    "processes": lambda limits, code, number: f"it wanted more than its {limits.processes} processes and threads",
    "disk": lambda limits, code, number: f"it wrote more than its {limits.file_bytes >> 20} MiB, or too many files",
    "stopped": lambda limits, code, number: "it was stopped",
    "lost": lambda limits, code, number: "the machine that ran it was lost",
    "deadly": lambda limits, code, number: "the machines that ran it were lost soon after its start",
}
