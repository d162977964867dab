"""The machine of a measurement, and its load."""

import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

__all__ = ["MachineTime", "machine", "machine_line"]

STAT = Path("/proc/stat")


@dataclass(frozen=True, slots=True)
class MachineTime:
    """CPU seconds of all cores since the machine started.

    `all` includes idle time. `busy` is the time of all programs, and stolen time, in which the host of a virtual
    machine ran something else. Source: proc_stat(5).
    """

    all: float
    busy: float

    @classmethod
    def now(cls) -> Self | None:
        """Return the current values; None if the system does not provide them."""
        try:
            first = STAT.read_text(encoding="ascii").partition("\n")[0]
        except OSError:
            return None
        # The two values that follow are of guests, and part of `user` already.
        user, nice, system, idle, waits, *interrupted_or_stolen = (
            int(word) / os.sysconf("SC_CLK_TCK") for word in first.split()[1:9]
        )
        busy = user + nice + system + sum(interrupted_or_stolen)
        return cls(busy + idle + waits, busy)

    def elsewhere(self, then: "MachineTime", ours: float) -> float:
        """Return the share of CPU time until `then` that was neither idle nor part of our `ours` CPU seconds."""
        return max(0.0, then.busy - self.busy - ours) / (then.all - self.all) if then.all > self.all else 0.0


def machine() -> dict[str, object]:
    """Describe the processor, its cores and the system."""
    return {"cpu": _cpu_model(), "cores": os.cpu_count(), "system": platform.platform()}


def machine_line(about: Mapping[str, object]) -> str:
    """Format `machine()` as a line."""
    return f"{about['cpu']}, {about['cores']} cores, {about['system']}"


def _cpu_model() -> str:
    """Return the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()
