"""What a run of matches has started, and what must be ended with it, however the run ends.

    with a_run():
        ...  # something calls end_with_the_run(stop)

A process that plays a share of a run has one of its own; one that is left in the middle ends it when it exits. This
module knows nothing of what is ended.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["a_run", "end_with_the_run"]

_ends: Final[list[Callable[[], None]]] = []
_runs: Final[list[None]] = []  # one for each that goes on: a run may be part of another


def end_with_the_run(end: Callable[[], None]) -> None:
    """`end` is called once, when the outermost run that goes on is over, or else when the process exits."""
    if not _ends:
        atexit.register(_end)  # each time anew, since what is registered last is called first
    _ends.append(end)


@contextmanager
def a_run() -> Iterator[None]:
    """Around a run of matches."""
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
