"""Work that several processes share, with its results in order.

Each process has a pipe of its own to whoever plays, and nothing else in common with the others: so one that dies, at
whatever moment, holds no lock that they wait for, and is noticed. (A `ProcessPoolExecutor` waits for ever if one is
ended while it hands over its results.) This module knows no match: what it is given is numbered from 0, and can be sent
to another process.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.sdk.child_processes import ends_new_children, kill_descendants
from cutpurse.sdk.playing.interpreter import forget_safe_path, safe_path
from cutpurse.sdk.playing.lifetime import a_run
from cutpurse.sdk.signals import set_handler
from cutpurse.sdk.terminal import ignore_closed_stderr

__all__ = ["check_jobs", "in_order"]

AHEAD: Final = 4  # batches a job that are given out: enough that none waits for work, few enough to be left at once
BATCH_S: Final = 0.25  # that a batch should take: sending it costs little then, and results come as they are made
GROWS: Final = 4  # times, at most, that a batch may be as large as one before it
SPARE_S: Final = 1.0  # a process whose batches take less has the next one at hand; longer ones go to who is free first
GRACE_S: Final = 3.0  # for a process that is told to end: it ends the programs of its bots, and they have some of that
LOOK_S: Final = 1.0  # how often it is asked who is still alive: what a bot has started may hold a pipe open after it


def check_jobs(jobs: int) -> None:
    """Raises UsageError unless that many processes can be had."""
    if not 1 <= jobs <= 256:
        raise UsageError(f"{jobs} jobs cannot be had; 1 to 256 can")


_Done = tuple["list[Any] | None", float, "Exception | None"]  # results, the seconds that they took, or what was raised


class _Batch:
    """Some of the work, and what came of it."""

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers
        self.results: list[Any] | None = None
        self.seconds = 0.0
        self.problem: Exception | None = None  # in place of results

    def done(self) -> list[Any] | None:
        """Its results, None while there are none.  Raises what was raised there."""
        if self.problem is not None:
            raise self.problem
        return self.results


class _Worker:
    """Another process, and what it has been given, oldest first."""

    def __init__(self, work: bytes, is_told_safe_path: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, there = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(there, work, is_told_safe_path))
        self.process.start()
        there.close()
        self.given: deque[_Batch] = deque()

    def give(self, batch: _Batch) -> None:
        """Raises CutpurseError if it has died."""
        try:
            self.connection.send(batch.numbers)
        except OSError:
            raise self.died() from None
        self.given.append(batch)

    def take(self) -> None:
        """What came of the oldest batch.  Raises CutpurseError if it has died."""
        try:
            came = self.connection.recv()
        except (EOFError, OSError):
            raise self.died() from None
        batch = self.given.popleft()
        batch.results, batch.seconds, batch.problem = came

    def died(self) -> CutpurseError:
        """What is to be said of it."""
        self.process.join(GRACE_S)
        code = self.process.exitcode or 0
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return CutpurseError(f"a process that played matches has died: it {how}; a bot did it, or memory ran out")


def in_order(work: Callable[[range], list[Any]], tasks: int, jobs: int) -> Generator[Any, None, None]:
    """What `work` gives for the numbers 0 to tasks - 1, in that order, done in batches by other processes.

    `work` is sent to each process once. Whoever stops asking, or is interrupted, waits for none of them: they are told
    to end, and ended.

    Raises UsageError for bots that cannot be sent there, CutpurseError if a process dies, and what `work` raises.
    """
    try:
        sent = pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise UsageError(f"a bot cannot be sent to another process, so leave jobs at 1: {problem}") from None
    workers: list[_Worker] = []
    given: deque[_Batch] = deque()
    first, size, deep, is_over = 0, 1, 1, False
    try:
        while given or first < tasks:
            while first < tasks and len(given) < AHEAD * jobs and (worker := _free(workers, sent, jobs, deep)):
                most = max(1, (tasks - first) // (2 * jobs))  # so that all of them have work to the end
                given.append(_Batch(range(first, min(first + min(size, most), tasks))))
                first = given[-1].numbers.stop
                worker.give(given[-1])
            _take_all(workers, LOOK_S if given[0].done() is None else 0.0)
            if (results := given[0].done()) is not None:
                seconds = given.popleft().seconds
                size = max(1, min(GROWS * len(results), round(len(results) * BATCH_S / max(seconds, 1e-9))))
                deep = 2 if seconds < SPARE_S else 1
                yield from results
        is_over = True
    finally:
        _end(workers, at_once=not is_over)


def _free(workers: list[_Worker], work: bytes, jobs: int, deep: int) -> _Worker | None:
    """Who gets the next batch, a new process if all have one; None: nobody, now.  Nobody has more than `deep`."""
    worker = min(workers, key=lambda one: len(one.given), default=None)
    if len(workers) < jobs and (worker is None or worker.given):
        with _interrupts_held(), safe_path() as is_told:  # which the process inherits
            worker = _Worker(work, is_told)
            workers.append(worker)
    return worker if worker is not None and len(worker.given) < deep else None


def _take_all(workers: Sequence[_Worker], seconds: float) -> None:
    """What has come, within so many seconds.  Raises CutpurseError if a process has died."""
    busy = {worker.connection: worker for worker in workers if worker.given}
    came = wait(list(busy), seconds)
    for connection in came:
        busy[connection].take()  # type: ignore[index]  # what was asked for is what comes
    dead = [worker for worker in workers if seconds and not came and worker.process.exitcode is not None]
    if dead:
        raise dead[0].died()


def _end(workers: Sequence[_Worker], at_once: bool) -> None:
    """They have no more to do.  at_once: also if they are in the middle of something."""
    for worker in workers:
        if at_once:
            worker.process.terminate()
        worker.connection.close()  # it then ends by itself
    at_last = time.monotonic() + GRACE_S
    try:
        for worker in workers:
            worker.process.join(max(0.0, at_last - time.monotonic()) if at_once else None)
    finally:  # also if somebody does not want to wait so long
        for worker in workers:
            if worker.process.pid is not None:
                kill_descendants(worker.process.pid)
            worker.process.kill()
            worker.process.join()


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
def _serve(connection: Connection, sent: bytes, was_told_safe_path: bool) -> None:
    """Do what comes, until nothing more does."""
    try:
        _begin(was_told_safe_path)
        # A run of its own, since an interpreter that exits has no more threads with which to end what it started.
        with ends_new_children(), ignore_closed_stderr(), a_run():
            work: Callable[[range], list[Any]] | None = None
            while True:
                batch = connection.recv()
                try:
                    work = work or pickle.loads(sent)
                    began = time.perf_counter()
                    done: _Done = work(batch), time.perf_counter() - began, None
                except Exception as problem:
                    done = None, 0.0, _to_be_sent(problem)
                connection.send(done)
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # nobody wants more, or the rest


def _to_be_sent(problem: Exception) -> Exception:
    """With its traceback, which gets lost on the way; in words if it cannot be sent."""
    problem.add_note("".join(traceback.format_exception(problem)))
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:
        return RuntimeError(f"{type(problem).__name__}: {problem}")
    return problem


def _begin(was_told_safe_path: bool) -> None:
    """In a new process: what bots print must not mix with results, and it ends when it is told to."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Windows it is not inherited
    set_handler(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    sys.stdout = sys.stderr
    if was_told_safe_path:
        forget_safe_path()


def _leave(*_: object) -> None:
    """Break off what is being played."""
    raise KeyboardInterrupt  # which no match takes for a fault of its bot


def _leave_with(parent: BaseProcess | None) -> None:
    """Nobody wants the results of a process that is gone, however it went."""
    if parent is not None:
        parent.join()
        os._exit(1)
