"""Work that several processes share, with its results in order.

This module knows no match: what it is given is numbered from 0, and can be sent to another process.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.process import BaseProcess
from typing import Any, Final

from cutpurse.engine.errors import CutpurseError, UsageError

__all__ = ["check_jobs", "in_order"]

AHEAD: Final = 4  # batches a job that are given out: enough that none waits for work, few enough to be left at once
BATCH_S: Final = 0.25  # that a batch should take: sending it costs little then, and results come as they are made
GROWS: Final = 4  # times, at most, that a batch may be as large as one before it
GRACE_S: Final = 3.0  # for a process that is told to end: it ends the programs of its bots, and they have some of that

_told_to_end: Final[list[None]] = []


def check_jobs(jobs: int) -> None:
    """Raises UsageError unless that many processes can be had."""
    if not 1 <= jobs <= 256:
        raise UsageError(f"{jobs} jobs cannot be had; 1 to 256 can")


def in_order(work: Callable[[range], list[Any]], tasks: int, jobs: int) -> Generator[Any, None, None]:
    """What `work` gives for the numbers 0 to tasks - 1, in that order, done in batches by other processes.

    Whoever stops asking, or is interrupted, waits for none of them: they are told to end, and ended.

    Raises UsageError for bots that cannot be sent there, CutpurseError if a process dies.
    """
    try:
        pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise UsageError(f"a bot cannot be sent to another process, so leave jobs at 1: {problem}") from None
    pool = ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _begin_worker)
    given: deque[Future[tuple[list[Any], float]]] = deque()
    workers: set[BaseProcess] = set()
    first, size, is_over = 0, 1, False
    try:
        while given or first < tasks:
            with _interrupts_held():  # processes are started here, and inherit it
                others = set(multiprocessing.active_children())
                while first < tasks and len(given) < AHEAD * jobs:
                    most = max(1, (tasks - first) // (2 * jobs))  # so that all of them have work to the end
                    batch = range(first, min(first + min(size, most), tasks))
                    given.append(pool.submit(_timed, work, batch))
                    first = batch.stop
                workers |= set(multiprocessing.active_children()) - others
            results, seconds = given.popleft().result()
            size = max(1, min(GROWS * len(results), round(len(results) * BATCH_S / max(seconds, 1e-9))))
            yield from results
        is_over = True
    except BrokenProcessPool:
        raise CutpurseError("a process that played matches has died: a bot ended it, or memory ran out") from None
    finally:
        if not is_over:
            _end(pool, workers)
        pool.shutdown()


def _end(pool: ProcessPoolExecutor, workers: Collection[BaseProcess]) -> None:
    """End them in the middle of their work."""
    for worker in workers:
        worker.terminate()
    pool.shutdown(wait=False, cancel_futures=True)
    at_last = time.monotonic() + GRACE_S
    try:
        for worker in workers:
            worker.join(max(0.0, at_last - time.monotonic()))
    finally:  # also if somebody does not want to wait so long
        for worker in workers:
            worker.kill()


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


# -- in another process
def _timed(work: Callable[[range], list[Any]], batch: range) -> tuple[list[Any], float]:
    """What came of a batch, and how many seconds it took."""
    if _told_to_end:
        raise KeyboardInterrupt
    began = time.perf_counter()
    return work(batch), time.perf_counter() - began


def _begin_worker() -> None:
    """In a new process: what bots print must not mix with results, and it ends when it is told to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Windows it is not inherited
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    sys.stdout = sys.stderr


def _leave(*_: object) -> None:
    """Break off what is being played, and take up nothing more."""
    _told_to_end.append(None)
    raise KeyboardInterrupt  # which no match takes for a fault of its bot


def _leave_with(parent: BaseProcess | None) -> None:
    """Nobody wants the results of a process that is gone, however it went."""
    if parent is not None:
        parent.join()
        os._exit(1)
