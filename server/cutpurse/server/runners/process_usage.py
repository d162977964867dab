"""The resource usage of a process and its descendants from /proc, for hosts without control groups."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from cutpurse.server.runners.port import ResourceUse

__all__ = ["children", "descendants", "use_of"]

PROC: Final = Path("/proc")
MOST: Final = 4_096  # maximum processes to read


def children(pid: int) -> list[int]:
    """List the running child processes of a process; empty if the system does not report them."""
    pids: list[int] = []
    with suppress(OSError):
        for thread in (PROC / str(pid) / "task").iterdir():
            with suppress(OSError):
                pids += [int(word) for word in (thread / "children").read_text(encoding="ascii").split()]
    return pids


def descendants(pid: int) -> list[int]:
    """List a process and all its running descendants."""
    pids = [pid]
    for parent in pids:
        if len(pids) > MOST:
            break
        pids += children(parent)
    return pids


def use_of(pid: int) -> ResourceUse:
    """Add up the usage of a process and its descendants, including ended ones that were waited for.

    Memory is the present sum, and shared memory counts once per process.
    """
    ticks = peak = 0
    for process in descendants(pid):
        with suppress(OSError, ValueError, IndexError):
            fields = (
                (PROC / str(process) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            )
            ticks += sum(int(field) for field in fields[11:15])  # its own, and of children that were waited for
            peak += _resident_kib(process) << 10
    return ResourceUse(ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0, peak)


def _resident_kib(pid: int) -> int:
    for line in (PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0
