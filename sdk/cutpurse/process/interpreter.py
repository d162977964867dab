"""Child processes that run Python and never import modules from their working folder.

By default `python -m` and spawned processes search that folder first, and a bot's author may have a `random.py` in it.
This module knows no bot.
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
    """Return the beginning of a command that runs one of our modules; its arguments follow."""
    return sys.executable, "-P", "-m", module


@contextmanager
def safe_path() -> Iterator[bool]:
    """Set PYTHONSAFEPATH for the processes that `multiprocessing` spawns within the block.

    Yields whether the variable was not set before, so that the process has to remove it (`forget_safe_path`).
    """
    if VARIABLE in os.environ:
        yield False
        return
    os.environ[VARIABLE] = "1"
    try:
        yield True
    finally:
        del os.environ[VARIABLE]


def forget_safe_path() -> None:
    """Remove the variable in a spawned process, so that programs it starts don't inherit it."""
    os.environ.pop(VARIABLE, None)
