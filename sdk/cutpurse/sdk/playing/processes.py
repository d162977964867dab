"""Work shared by several processes, with results in order.

Each worker has its own pipe to the main process, and shares nothing with other workers. So a worker that dies holds no
lock that others wait for, and its death is noticed. (A `ProcessPoolExecutor` hangs if a worker is killed while it sends
results.) This module knows no match: tasks are numbered from 0, and must be picklable.
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

AHEAD: Final = 4  # batches per job sent ahead: enough to keep workers busy, few enough to stop quickly
BATCH_S: Final = 0.25  # intended duration of a batch: sending it costs little, and results arrive steadily
GROWS: Final = 4  # largest growth factor from one batch to the next
SPARE_S: Final = 1.0  # workers get a second batch in advance while batches take less than this
GRACE_S: Final = 3.0  # for a worker to end the programs of its bots and then itself
LOOK_S: Final = 1.0  # interval of checks for dead workers: a process that a bot started may keep the pipe open


def check_jobs(jobs: int) -> None:
    """Check the number of processes.  Raises UsageError if it is out of range."""
    if not 1 <= jobs <= 256:
        raise UsageError(f"{jobs} jobs cannot be had; 1 to 256 can")


_Done = tuple["list[Any] | None", float, "Exception | None"]  # results, their seconds, the exception


class _Batch:
    """Some of the tasks, and their results."""

    def __init__(self, numbers: range) -> None:
        self.numbers = numbers
        self.results: list[Any] | None = None
        self.seconds = 0.0
        self.problem: Exception | None = None  # raised instead of results

    def done(self) -> list[Any] | None:
        """Return the results; None while there are none.  Raises what the task raised."""
        if self.problem is not None:
            raise self.problem
        return self.results


class _Worker:
    """A worker process, and its unfinished batches, oldest first."""

    def __init__(self, work: bytes, is_told_safe_path: bool) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, there = context.Pipe()
        self.process: BaseProcess = context.Process(target=_serve, args=(there, work, is_told_safe_path))
        self.process.start()
        there.close()
        self.given: deque[_Batch] = deque()

    def give(self, batch: _Batch) -> None:
        """Send a batch.  Raises CutpurseError if the process has died."""
        try:
            self.connection.send(batch.numbers)
        except OSError:
            raise self.died() from None
        self.given.append(batch)

    def take(self) -> None:
        """Receive the results of the oldest batch.  Raises CutpurseError if the process has died."""
        try:
            came = self.connection.recv()
        except (EOFError, OSError):
            raise self.died() from None
        batch = self.given.popleft()
        batch.results, batch.seconds, batch.problem = came

    def died(self) -> CutpurseError:
        """Return the error that describes the death of the process."""
        self.process.join(GRACE_S)
        code = self.process.exitcode or 0
        how = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return CutpurseError(f"a process that played matches has died: it {how}; a bot did it, or memory ran out")


def in_order(work: Callable[[range], list[Any]], tasks: int, jobs: int) -> Generator[Any, None, None]:
    """Yield what `work` returns for the numbers 0 to tasks - 1, in order, computed in batches by worker processes.

    A caller that stops iterating, or is interrupted, waits for no batch: the workers are terminated.

    Args:
        work: Called with a range of numbers; sent once to each process.
        tasks: Number of tasks.
        jobs: Number of processes.

    Raises:
        UsageError: If `work` cannot be pickled, as with some bots.
        CutpurseError: If a process dies.
        Exception: What `work` raises.
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
                most = max(1, (tasks - first) // (2 * jobs))  # so that all workers are busy to the end
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
    """Return the worker for the next batch, a new one if all are busy; None if each has `deep` batches."""
    worker = min(workers, key=lambda one: len(one.given), default=None)
    if len(workers) < jobs and (worker is None or worker.given):
        with _interrupts_held(), safe_path() as is_told:  # inherited by the process
            worker = _Worker(work, is_told)
            workers.append(worker)
    return worker if worker is not None and len(worker.given) < deep else None


def _take_all(workers: Sequence[_Worker], seconds: float) -> None:
    """Receive the results that arrive within some seconds.  Raises CutpurseError if a process has died."""
    busy = {worker.connection: worker for worker in workers if worker.given}
    came = wait(list(busy), seconds)
    for connection in came:
        busy[connection].take()  # type: ignore[index]  # only connections were passed
    dead = [worker for worker in workers if seconds and not came and worker.process.exitcode is not None]
    if dead:
        raise dead[0].died()


def _end(workers: Sequence[_Worker], at_once: bool) -> None:
    """End the workers; with `at_once`, even in the middle of a batch."""
    for worker in workers:
        if at_once:
            worker.process.terminate()
        worker.connection.close()  # makes the worker end
    at_last = time.monotonic() + GRACE_S
    try:
        for worker in workers:
            worker.process.join(max(0.0, at_last - time.monotonic()) if at_once else None)
    finally:  # also if the wait is interrupted
        for worker in workers:
            if worker.process.pid is not None:
                kill_descendants(worker.process.pid)
            worker.process.kill()
            worker.process.join()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Block SIGINT for processes started within the block; in this process, delay it to the end of the block.

    Ctrl-C reaches all processes of a terminal, but only the main process must handle it.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # other threads cannot set signal handlers
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
    """Run batches until the connection is closed."""
    try:
        _begin(was_told_safe_path)
        # A run of its own, since an exiting interpreter has no threads left to end what it started.
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
        pass  # the main process needs no more results


def _to_be_sent(problem: Exception) -> Exception:
    """Attach the traceback, which pickling loses; convert an exception that cannot be pickled to text."""
    problem.add_note("".join(traceback.format_exception(problem)))
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:
        return RuntimeError(f"{type(problem).__name__}: {problem}")
    return problem


def _begin(was_told_safe_path: bool) -> None:
    """Prepare a worker process: redirect prints, handle signals and watch the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Windows does not inherit it
    set_handler(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with, args=(multiprocessing.parent_process(),), daemon=True).start()
    sys.stdout = sys.stderr
    if was_told_safe_path:
        forget_safe_path()


def _leave(*_: object) -> None:
    """Interrupt the current batch."""
    raise KeyboardInterrupt  # not caught as a bot's fault


def _leave_with(parent: BaseProcess | None) -> None:
    """Exit when the parent is gone, since its results are no longer needed."""
    if parent is not None:
        parent.join()
        os._exit(1)
