"""Programs for tests of `exec:`, and checks of their processes."""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Iterable
from pathlib import Path

__all__ = ["RAW", "is_alive", "pids_in", "raw_bot", "wait_until_gone"]

RAW = Path(__file__).with_name("raw_bot.py")


def raw_bot(fault: str = "") -> str:
    """Return the command-line name of a bot without our SDK."""
    return f"exec:{shlex.join([sys.executable, str(RAW), *([fault] if fault else [])])}"


def pids_in(talk: str) -> list[int]:
    """Return the process IDs that programs have printed on stderr."""
    return [int(pid) for pid in re.findall(r": pid (\d+)$", talk, re.MULTILINE)]


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until_gone(pids: Iterable[int]) -> None:
    """Wait until processes have ended; only the test's own time limit ends the wait."""
    left = list(pids)
    while left := [pid for pid in left if is_alive(pid)]:
        os.sched_yield()
