"""Cleanup after a run of matches, however it ends.

    with a_run():
        ...  # some code calls end_with_the_run(stop)

A process that plays a part of a run has a run of its own. If it is interrupted, the cleanup happens when it exits. This
module knows nothing about what is ended.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["a_run", "end_with_the_run"]

_ends: Final[list[Callable[[], None]]] = []
_runs: Final[list[None]] = []  # one entry per open run: a run may be part of another


def end_with_the_run(end: Callable[[], None]) -> None:
    """Call `end` once, when the outermost open run is over, or else when the process exits."""
    if not _ends:
        atexit.register(_end)  # registered late, since the last registered function is called first
    _ends.append(end)


@contextmanager
def a_run() -> Iterator[None]:
    """Call the registered functions when the outermost block is left."""
    _runs.append(None)
    try:
        yield
    finally:
        _runs.pop()
        if not _runs:
            _end()


def _end() -> None:
    atexit.unregister(_end)
    while _ends:
        _ends.pop()()
