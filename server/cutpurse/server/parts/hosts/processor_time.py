"""The processor time that the bots of a place should have had and did not get, read from Linux.

There are two kinds. *Stolen* is time in which this whole machine, or the control groups around the place, got no
processor: steal of the hypervisor (/proc/stat), and throttling by a quota (cpu.stat). *Crowded* is time in which bots
waited (/proc/pressure/cpu), but only so far as other programs used cores that are for bots. Bots can cause neither: a
bot that is throttled by its own limit waits as well, but the cores that it used are its own. What the system does not
tell counts as none.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

__all__ = ["LEAST_SHARE", "LostTime", "ProcessorTime"]

LEAST_SHARE: Final = 0.1  # of a window; less is within the difference that places may have anyway
TICKS_PER_S: Final = os.sysconf("SC_CLK_TCK")
STEAL: Final = 7  # column of a cpu line in /proc/stat
BUSY: Final = (0, 1, 2, 5, 6)  # columns: user, nice, system, irq, softirq


@dataclass(frozen=True, slots=True)
class LostTime:
    """Seconds that bots lost."""

    stolen_s: float
    crowded_s: float


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the system has counted so far, in seconds."""

    at: float
    steal_s: tuple[float, ...]  # by core
    busy_s: float  # of all cores
    throttled_s: float
    waited_s: float
    own_s: float  # CPU time of this process


class ProcessorTime:
    """The processor time lost from one call of `take` to the next."""

    def __init__(
        self,
        cores: float,
        root: Path = Path("/"),
        clock: Callable[[], float] = time.monotonic,
        own_s: Callable[[], float] = time.process_time,
    ) -> None:
        """Start counting.

        Args:
            cores: Cores for bots.
            root: Folder with `proc` and `sys`.
            clock: Returns monotonic seconds.
            own_s: Returns the CPU time of this process.
        """
        self._cores = cores
        self._root = root
        self._clock = clock
        self._own_s = own_s
        self._groups = _quota_files(root)
        self._last = self._read()
        self._bots_s = 0.0

    def take(self, bots_s: float) -> LostTime:
        """Return what the bots lost since the last call.

        Args:
            bots_s: CPU time of all bots since the start, those that have ended included.
        """
        last, now = self._last, self._read()
        bots_s, self._bots_s, self._last = max(0.0, bots_s - self._bots_s), bots_s, now
        window_s = now.at - last.at
        if window_s <= 0:
            return LostTime(0.0, 0.0)
        pairs = zip(last.steal_s, now.steal_s, strict=False)  # a core may come or go
        steal_s = max((after - before for before, after in pairs), default=0.0)
        stolen_s = steal_s + now.throttled_s - last.throttled_s
        others_s = now.busy_s - last.busy_s - (now.own_s - last.own_s) - bots_s
        free_cores = len(now.steal_s) - self._cores
        taken_share = min(1.0, max(0.0, others_s / window_s - free_cores) / self._cores)
        crowded_s = min(now.waited_s - last.waited_s, taken_share * window_s)
        least_s = LEAST_SHARE * window_s
        return LostTime(*(min(lost_s, window_s) if lost_s >= least_s else 0.0 for lost_s in (stolen_s, crowded_s)))

    def _read(self) -> _Reading:
        cores = [
            [int(count) / TICKS_PER_S for count in words[1:]]
            for line in self._lines("proc/stat")
            if (words := line.split()) and words[0].startswith("cpu") and words[0] != "cpu"
        ]
        return _Reading(
            self._clock(),
            tuple(counts[STEAL] for counts in cores),
            sum(counts[column] for counts in cores for column in BUSY),
            sum(self._throttled_s(file) for file in self._groups),
            self._waited_s(),
            self._own_s(),
        )

    def _throttled_s(self, file: Path) -> float:
        for line in _lines(file):
            match line.split():
                case ["throttled_usec", count]:  # version 2 of control groups
                    return int(count) / 1e6
                case ["throttled_time", count]:  # version 1
                    return int(count) / 1e9
        return 0.0

    def _waited_s(self) -> float:
        for line in self._lines("proc/pressure/cpu"):
            if line.startswith("some "):
                return int(line.rpartition("total=")[2]) / 1e6
        return 0.0

    def _lines(self, name: str) -> list[str]:
        return _lines(self._root / name)


def _quota_files(root: Path) -> list[Path]:
    """Return the counters of the control groups around this process, which may have a quota."""
    for line in _lines(root / "proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers == "" or "cpu" in controllers.split(","):
            base = root / "sys/fs/cgroup" / ("" if controllers == "" else "cpu")
            group = base / path.lstrip("/")
            folders = [group, *group.parents[: len(group.parts) - len(base.parts)]]
            if files := [folder / "cpu.stat" for folder in folders if (folder / "cpu.stat").exists()]:
                return files
    return []


def _lines(file: Path) -> list[str]:
    with suppress(OSError):
        return file.read_text(encoding="ascii", errors="replace").splitlines()
    return []
