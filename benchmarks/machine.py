"""What figures were taken on: the machine and its load."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path

__all__ = ["machine", "machine_line"]


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
