"""Programs for tests of `exec:`, and whether processes are still there."""

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
    """A program without our SDK, as it is named on the command line."""
    return f"exec:{shlex.join([sys.executable, str(RAW), *([fault] if fault else [])])}"


def pids_in(talk: str) -> list[int]:
    """The process numbers that programs have said on stderr."""
    return [int(pid) for pid in re.findall(r": pid (\d+)$", talk, re.MULTILINE)]


def is_alive(pid: int) -> bool:
    """Whether a process runs; a zombie does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until_gone(pids: Iterable[int]) -> None:
    """A signal takes its time; the test's own time limit is the limit."""
    left = list(pids)
    while left := [pid for pid in left if is_alive(pid)]:
        os.sched_yield()
