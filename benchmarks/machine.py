"""What figures were taken on: the machine and its load."""

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
    """CPU seconds of all cores since the machine started.  all: idle ones too; busy: of every program, and stolen:
    those in which the host of a virtual machine ran something else.  Source: proc_stat(5).
    """

    all: float
    busy: float

    @classmethod
    def now(cls) -> Self | None:
        """As it is; None where the system does not tell."""
        try:
            first = STAT.read_text(encoding="ascii").partition("\n")[0]
        except OSError:
            return None
        # The two that follow are of guests, and in `user` already.
        user, nice, system, idle, waits, *interrupted_or_stolen = (
            int(word) / os.sysconf("SC_CLK_TCK") for word in first.split()[1:9]
        )
        busy = user + nice + system + sum(interrupted_or_stolen)
        return cls(busy + idle + waits, busy)

    def elsewhere(self, then: "MachineTime", ours: float) -> float:
        """The share of the time until `then` that neither was idle nor went into these CPU seconds of ours."""
        return max(0.0, then.busy - self.busy - ours) / (then.all - self.all) if then.all > self.all else 0.0


def machine() -> dict[str, object]:
    """The processor, its cores and the system."""
    return {"cpu": _cpu_model(), "cores": os.cpu_count(), "system": platform.platform()}


def machine_line(about: Mapping[str, object]) -> str:
    """The same in a line."""
    return f"{about['cpu']}, {about['cores']} cores, {about['system']}"


def _cpu_model() -> str:
    """What the processor calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()
