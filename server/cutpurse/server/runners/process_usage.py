"""What a process and its descendants have used, as /proc tells: where no control group counts it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from cutpurse.server.runners.port import ResourceUse

__all__ = ["children", "descendants", "use_of"]

PROC: Final = Path("/proc")
MOST: Final = 4_096  # processes that are looked at


def children(pid: int) -> list[int]:
    """List the living processes that this one started; empty if the system does not tell."""
    found: list[int] = []
    with suppress(OSError):
        for thread in (PROC / str(pid) / "task").iterdir():
            with suppress(OSError):
                found += [int(word) for word in (thread / "children").read_text(encoding="ascii").split()]
    return found


def descendants(pid: int) -> list[int]:
    """List this process, and all below it."""
    found = [pid]
    for one in found:
        if len(found) > MOST:
            break
        found += children(one)
    return found


def use_of(pid: int) -> ResourceUse:
    """Of this one and all below it, and of those below it that have ended. Shared memory counts for each."""
    ticks = peak = 0
    for one in descendants(pid):
        with suppress(OSError, ValueError, IndexError):
            fields = (PROC / str(one) / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            ticks += sum(int(field) for field in fields[11:15])  # of itself, and of children that were waited for
            peak += _resident_kib(one) << 10
    return ResourceUse(ticks / os.sysconf("SC_CLK_TCK") if ticks else 0.0, peak)


def _resident_kib(pid: int) -> int:
    for line in (PROC / str(pid) / "status").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    return 0
