"""Processes of our own that run Python: they find modules where we do, and never in the folder they are started in.

Python looks there first for `python -m` and for processes that are spawned, and a bot's author may well have a
`random.py` or a `types.py` in it. This module knows no bot.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["forget_safe_path", "module_command", "safe_path"]

VARIABLE: Final = "PYTHONSAFEPATH"


def module_command(module: str) -> tuple[str, ...]:
    """The beginning of a command that runs a module of ours; its arguments come after it."""
    return sys.executable, "-P", "-m", module


@contextmanager
def safe_path() -> Iterator[bool]:
    """Around the start of processes that `multiprocessing` spawns; whether it had to be told to them."""
    if VARIABLE in os.environ:
        yield False
        return
    os.environ[VARIABLE] = "1"
    try:
        yield True
    finally:
        del os.environ[VARIABLE]


def forget_safe_path() -> None:
    """In a process that was told so: what it starts itself, as the programs of bots, is none of our business."""
    os.environ.pop(VARIABLE, None)
