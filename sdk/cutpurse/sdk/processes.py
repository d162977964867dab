"""Work that several processes share, with its results in order.

This module knows no match: what it is given is numbered from 0, and can be sent to another process.
"""

from __future__ import annotations

import multiprocessing
import pickle
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, Final

from cutpurse.engine.errors import CutpurseError, UsageError

__all__ = ["LARGEST_BATCH", "check_jobs", "in_order"]

BATCHES_A_JOB: Final = 8  # enough that no process idles at the end, few enough that sending costs nothing
LARGEST_BATCH: Final = 50  # matches, so that progress is told now and then


def check_jobs(jobs: int) -> None:
    """Raises UsageError unless that many processes can be had."""
    if not 1 <= jobs <= 256:
        raise UsageError(f"{jobs} jobs cannot be had; 1 to 256 can")


def in_order(
    work: Callable[[range], list[Any]], tasks: int, jobs: int, largest: int = LARGEST_BATCH
) -> Generator[Any, None, None]:
    """What `work` gives for the numbers 0 to tasks - 1, in that order, done in batches by other processes.

    Raises UsageError for bots that cannot be sent there, CutpurseError if a process dies.
    """
    try:
        pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise UsageError(f"a bot cannot be sent to another process, so leave jobs at 1: {problem}") from None
    size = max(1, min(largest, tasks // (jobs * BATCHES_A_JOB)))
    batches = [range(first, min(first + size, tasks)) for first in range(0, tasks, size)]
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin_worker)
    try:
        with _interrupts_held():  # the processes are started here, and inherit it
            batches_done = pool.map(work, batches)
        for results in batches_done:
            yield from results
    except BrokenProcessPool:
        raise CutpurseError("a process that played matches has died: a bot ended it, or memory ran out") from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Ctrl-C goes to all processes of a terminal; it is the business of the one that plays, not of its workers.

    Those started in this block inherit that it is blocked; here it is only put off until the block is left.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # where signals cannot be set
        return
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: held.append(number))
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if hasattr(signal, "pthread_sigmask") else None
    try:
        yield
    finally:
        if blocked is not None:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        signal.signal(signal.SIGINT, before)
        if held and callable(before):
            before(signal.SIGINT, None)


def _begin_worker() -> None:
    """In a new process: what bots print must not mix with results."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Windows it is not inherited
    sys.stdout = sys.stderr
