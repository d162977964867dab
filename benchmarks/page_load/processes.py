"""The processes of a league on this machine, and their figures: logs, metrics, CPU time."""

from __future__ import annotations

import os
import re
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

__all__ = ["DECISIONS", "cpu_s", "metric_sum", "page_of", "running", "wait_for_line"]

PATIENCE_S: Final = 60.0
LOOK_S: Final = 0.05
DECISIONS: Final = "cutpurse_answers_accepted_total"


@contextmanager
def running(*words: str, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run a command for the length of the block."""
    with log.open("wb") as file, subprocess.Popen(words, stdout=file, stderr=file, stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.terminate()


def wait_for_line(log: Path, pattern: str) -> str:
    """Wait for a pattern in a process's log, and return its first group."""
    ends_at = time.monotonic() + PATIENCE_S
    while time.monotonic() < ends_at:
        if match := re.search(pattern, log.read_text(encoding="utf-8")):
            return match[1]
        time.sleep(LOOK_S)
    raise SystemExit(f"{log.name} never said {pattern}: {log.read_text(encoding='utf-8')[-500:]}")


def metric_sum(metrics: str, name: str) -> float:
    """Return the sum of a metric over its labels."""
    with urllib.request.urlopen(metrics, timeout=PATIENCE_S) as answer:
        lines = answer.read().decode().splitlines()
    values = [float(line.rpartition(" ")[2]) for line in lines if re.match(rf"{name}(\{{| )", line)]
    if not values:
        raise SystemExit(f"the server has no figure {name}")
    return sum(values)


def cpu_s(pid: int) -> float:
    """Return the CPU time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def page_of(server: int) -> int:
    """Return the process ID of the page, a child of the server."""
    children = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="utf-8").split()
    for child in map(int, children):
        if b"web" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0"):
            return child
    raise SystemExit("the server has no page")
