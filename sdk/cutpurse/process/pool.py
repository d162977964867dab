"""Work shared by several processes, with results in order.

Each worker has its own pipe to the main process, and shares nothing with other workers. So a worker that dies holds no
lock that others wait for, and its death is noticed. (A `ProcessPoolExecutor` hangs if a worker is killed while it sends
results.) A new worker takes over the unfinished batches of a dead one. Only a batch that ends two workers ends the run.
This module knows no match: tasks are numbered from 0, or come one by one, and must be picklable.
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
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.process.child_processes import ends_new_children, kill_descendants
from cutpurse.process.interpreter import forget_safe_path, safe_path
from cutpurse.process.lifetime import a_run
from cutpurse.process.signals import set_handler
from cutpurse.process.terminal import ignore_closed_stderr

__all__ = [
    "BatchLost",
    "Describe",
    "begin_worker",
    "check_jobs",
    "in_order",
    "interrupts_held",
    "next_size",
    "number_tasks",
    "pickle_exception",
    "pickle_work",
]

Describe = Callable[[Any], str]  # names some tasks in an error: a range of numbers, or a list

AHEAD: Final = 4  # batches per job sent ahead: enough to keep workers busy, few enough to stop quickly
BATCH_S: Final = 0.25  # intended duration of a batch: sending it costs little, and results arrive steadily
GROWS: Final = 4  # largest growth factor from one batch to the next
SPARE_S: Final = 1.0  # workers get a second batch in advance while batches take less than this
GRACE_S: Final = 3.0  # for a worker to end the programs of its bots and then itself
LOOK_S: Final = 1.0  # interval of checks for dead workers: a process that a bot started may keep the pipe open
TRIES: Final = 2  # processes that a batch may end before the run ends: memory may have run out by chance, once


def check_jobs(jobs: int) -> None:
    """Check the number of processes.  Raises UsageError if it is out of range."""
    if not 1 <= jobs <= 256:
        raise UsageError(f"{jobs} jobs cannot be had; 1 to 256 can")


class BatchLost(CutpurseError):
    """A batch has no results, since each process that worked on it has died."""


def number_tasks(tasks: str, numbers: range) -> str:
    """Name some tasks: "matches 40 to 79"."""
    return f"{tasks} {numbers.start}" + (f" to {numbers.stop - 1}" if len(numbers) > 1 else "")


_Done = tuple["list[Any] | None", float, "Exception | None"]  # results, their seconds, the exception


class _Batch:
    """Some of the tasks, and their results."""

    def __init__(self, tasks: Sequence[Any]) -> None:
        self.tasks = tasks
        self.results: list[Any] | None = None
        self.seconds = 0.0
        self.problem: Exception | None = None  # raised instead of results
        self.deaths = 0  # of processes that worked on it

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
        self.process: BaseProcess = context.Process(target=_serve, args=(there, is_told_safe_path))
        self.process.start()
        there.close()
        self.given: deque[_Batch] = deque()
        self._send(work)  # not an argument: sending those to a process that dies at once may block

    def give(self, batch: _Batch) -> None:
        """Send a batch."""
        self.given.append(batch)
        self._send(batch.tasks)

    def take(self) -> bool:
        """Receive the results of the oldest batch.  Returns False if there are none, as the process has died."""
        try:
            came = self.connection.recv()
        except (EOFError, OSError):
            return False
        batch = self.given.popleft()
        batch.results, batch.seconds, batch.problem = came
        return True

    def is_dead(self) -> bool:
        """Return whether the process has died, and all its results were received."""
        return self.process.exitcode is not None and not self.connection.poll()

    def bury(self) -> str:
        """Wait for the end of a dying process, and describe it."""
        self.process.join(GRACE_S)
        if self.process.exitcode is None and self.process.pid is not None:  # its pipe is closed, and it runs on
            kill_descendants(self.process.pid)
            self.process.kill()
        self.process.join()
        self.connection.close()
        code = self.process.exitcode or 0
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def _send(self, message: object) -> None:
        with suppress(OSError):  # of a process that has died: `take` notices it
            self.connection.send(message)


def in_order(
    work: Callable[[Any], list[Any]],
    tasks: int | Iterator[Any],
    jobs: int,
    describe: Describe,
    beat: Callable[[], None] = lambda: None,
) -> Generator[Any, None, None]:
    """Yield what `work` returns for the tasks, in order, computed in batches by worker processes.

    A batch whose process dies is done once more, in a new process. If that one dies too, the results before the batch
    are yielded, and then the run ends. A caller that stops iterating, or is interrupted, waits for no batch: the
    workers are terminated.

    Args:
        work: Called with a range of numbers or a list of tasks; sent once to each process. It returns any number of
            results.
        tasks: Number of tasks, which are the numbers from 0; or the tasks, which are taken as processes get free.
        jobs: Number of processes.
        describe: Names the tasks of a batch in errors.
        beat: Called about once a second, also while there are no results.

    Raises:
        UsageError: If `work` cannot be pickled, as with some bots.
        BatchLost: If two processes died of a batch.
        Exception: What `work` raises, or the iterator of tasks.
    """
    workers = _Workers(pickle_work(work), jobs, describe)
    upcoming = _Upcoming(tasks, jobs)
    given: deque[_Batch] = deque()
    size, deep, is_over = 1, 1, False
    try:
        while True:
            while len(given) < AHEAD * jobs and workers.have_room(deep) and (some := upcoming.take(size)):
                given.append(_Batch(some))
                workers.give(given[-1])
            if not given:
                break
            workers.take_all(LOOK_S if given[0].done() is None else 0.0)
            beat()
            if (results := given[0].done()) is not None:
                done = given.popleft()
                size = next_size(len(done.tasks), done.seconds, BATCH_S)
                deep = 2 if done.seconds < SPARE_S else 1
                yield from results
        is_over = True
    finally:
        workers.end(at_once=not is_over)


class _Upcoming:
    """The tasks that no process has yet."""

    def __init__(self, tasks: int | Iterator[Any], jobs: int) -> None:
        self._left = range(tasks) if isinstance(tasks, int) else tasks
        self._jobs = jobs

    def take(self, size: int) -> Sequence[Any]:
        """Return the next tasks, at most `size`, fewer near an end that is known; none when all are taken."""
        if not isinstance(self._left, range):
            return list(islice(self._left, size))
        size = min(size, max(1, len(self._left) // (2 * self._jobs)))  # so that all workers are busy to the end
        some, self._left = self._left[:size], self._left[size:]
        return some


def pickle_work(work: object) -> bytes:
    """Return the work as bytes for other processes.  Raises UsageError if that cannot be done, as with some bots."""
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as problem:
        raise UsageError(f"a bot cannot be sent to another process, so leave jobs at 1: {problem}") from None


def next_size(tasks: int, seconds: float, batch_s: float) -> int:
    """Return the number of tasks for the next batch to take `batch_s`, after one of `tasks` took `seconds`."""
    return max(1, min(GROWS * tasks, round(tasks * batch_s / max(seconds, 1e-9))))


class _Workers:
    """The worker processes of a run."""

    def __init__(self, work: bytes, jobs: int, describe: Describe) -> None:
        self._workers: list[_Worker] = []
        self._work = work
        self._jobs = jobs
        self._describe = describe

    def have_room(self, deep: int) -> bool:
        """Return whether a worker has fewer than `deep` batches, or a new one may be started."""
        return len(self._workers) < self._jobs or any(len(worker.given) < deep for worker in self._workers)

    def give(self, batch: _Batch) -> None:
        """Give a batch to the worker with the fewest, or to a new one if all are busy."""
        worker = min(self._workers, key=lambda candidate: len(candidate.given), default=None)
        if worker is None or (worker.given and len(self._workers) < self._jobs):
            worker = self._start()
        worker.give(batch)

    def take_all(self, seconds: float) -> None:
        """Receive the results that arrive within some seconds, and replace workers that have died."""
        by_connection = {worker.connection: worker for worker in self._workers}
        came = wait(list(by_connection), seconds)
        dead = [worker for connection in came if not (worker := by_connection[connection]).take()]  # type: ignore[index]  # only connections were passed
        if seconds and not came:
            dead = [worker for worker in self._workers if worker.is_dead()]
        for worker in dead:
            self._replace(worker)

    def end(self, at_once: bool) -> None:
        """End the workers; with `at_once`, even in the middle of a batch."""
        for worker in self._workers:
            if at_once:
                worker.process.terminate()
            worker.connection.close()  # makes the worker end
        at_last = time.monotonic() + GRACE_S
        try:
            for worker in self._workers:
                worker.process.join(max(0.0, at_last - time.monotonic()) if at_once else None)
        finally:  # also if the wait is interrupted
            for worker in self._workers:
                if worker.process.pid is not None:
                    kill_descendants(worker.process.pid)
                worker.process.kill()
                worker.process.join()

    def _start(self) -> _Worker:
        with interrupts_held(), safe_path() as is_told:  # inherited by the process
            worker = _Worker(self._work, is_told)
            self._workers.append(worker)
        return worker

    def _replace(self, worker: _Worker) -> None:
        """Give the unfinished batches of a dead worker to a new one; a batch that has ended too many is lost."""
        self._workers.remove(worker)
        how = worker.bury()
        if not worker.given:
            return
        batch = worker.given[0]
        batch.deaths += 1
        if batch.deaths == TRIES:
            worker.given.popleft()
            what = self._describe(batch.tasks)
            batch.problem = BatchLost(
                f"{what}: the process that played them died, and so did the next one, which {how}; a bot did it, or "
                "memory ran out"
            )
        if worker.given:
            new = self._start()
            for batch in worker.given:
                new.give(batch)


@contextmanager
def interrupts_held() -> Iterator[None]:
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
def _serve(connection: Connection, was_told_safe_path: bool) -> None:
    """Run batches until the connection is closed."""
    try:
        begin_worker(was_told_safe_path)
        if hasattr(os, "register_at_fork"):  # else what a bot forks keeps the pipe open after the death of this process
            os.register_at_fork(after_in_child=connection.close)
        sent = connection.recv()
        # A run of its own, since an exiting interpreter has no threads left to end what it started.
        with ends_new_children(), ignore_closed_stderr(), a_run():
            work: Callable[[Any], list[Any]] | None = None
            while True:
                batch = connection.recv()
                try:
                    work = work or pickle.loads(sent)
                    began = time.perf_counter()
                    done: _Done = work(batch), time.perf_counter() - began, None
                except Exception as problem:
                    done = None, 0.0, pickle_exception(problem)
                connection.send(done)
    except (EOFError, OSError, KeyboardInterrupt):
        pass  # the main process needs no more results


def pickle_exception(problem: Exception) -> Exception:
    """Attach the traceback, which pickling loses; convert an exception that cannot be pickled to text."""
    problem.add_note("".join(traceback.format_exception(problem)))
    try:
        pickle.loads(pickle.dumps(problem))
    except Exception:
        return RuntimeError(f"{type(problem).__name__}: {problem}")
    return problem


def begin_worker(was_told_safe_path: bool) -> None:
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
