"""Work shared by the processes of Ray, on this machine or on a cluster, with results in order.

Ray does the batches of a lost process or node again. Only Ray knows which nodes there are; this module knows no match.
"""

from __future__ import annotations

import logging
import os
import platform
import signal
import socket
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.process.lifetime import a_run
from cutpurse.process.pool import BatchLost, Describe, next_size, pickle_exception, pickle_work
from cutpurse.process.terminal import print_message
from cutpurse.wire.errors import NotFound, ServerUnreachable, needs
from cutpurse.wire.version import VERSION

__all__ = ["PORT", "check_address", "in_order"]

PORT: Final = 10001  # where a cluster listens by default
SCHEME: Final = "ray://"
BATCH_S: Final = 1.0  # intended duration of a batch: Ray takes about 12 ms for one
AHEAD: Final = 3  # batches per processor sent ahead
RETRIES: Final = 3  # of a batch whose process or node was lost: nodes come and go
CONNECT_S: Final = 5.0


def check_address(address: str) -> tuple[str, int]:
    """Return host and port of `ray://HOST:PORT`.  Raises UsageError for anything else."""
    host, _, port = address.removeprefix(SCHEME).partition(":")
    if not address.startswith(SCHEME) or not host or not (port or str(PORT)).isdecimal():
        raise UsageError(f"{address} is no place to play; ray and ray://HOST:PORT are")
    return host, int(port or PORT)


def in_order(
    work: Callable[[range], list[Any]],
    tasks: int,
    jobs: int,
    describe: Describe,
    address: str | None,
    beat: Callable[[], None] = lambda: None,
) -> Generator[Any, None, None]:
    """Yield what `work` returns for the numbers 0 to tasks - 1, in order, computed in batches by Ray.

    Args:
        work: Called with a range of numbers; sent once. It returns any number of results.
        tasks: Number of tasks.
        jobs: Number of processes, if Ray is started here.
        describe: Names the tasks of a batch in errors.
        address: `ray://HOST:PORT` of a cluster. None starts Ray on this machine.
        beat: Called about once a second, also while there are no results.

    Raises:
        ExtraMissing: If Ray is not installed.
        UsageError: If `work` cannot be pickled, or a node has other versions.
        ServerUnreachable: If no cluster answers.
        BatchLost: If Ray gave up on a batch.
        Exception: What `work` raises.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # it would report to its makers
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "error")  # of what its C++ part writes to stderr
    with needs("ray"), _without_warnings():
        import ray
    sent = pickle_work(work)
    with _connected(address, jobs) as processors:
        run = ray.remote(num_cpus=1, max_retries=RETRIES)(_run_batch)
        common = ray.put(sent)
        waiting: deque[tuple[range, Any]] = deque()
        first, size = 0, 1
        try:
            while waiting or first < tasks:
                while first < tasks and len(waiting) < AHEAD * processors:
                    most = max(1, (tasks - first) // (2 * processors))  # so that all are busy to the end
                    numbers = range(first, min(first + min(size, most), tasks))
                    waiting.append((numbers, run.remote(common, numbers, str(Path.cwd()), _versions())))
                    first = numbers.stop
                numbers, batch = waiting.popleft()
                try:
                    while not ray.wait([batch], timeout=BATCH_S)[0]:
                        beat()
                    results, seconds, problem = ray.get(batch)
                except (ray.exceptions.RayError, ConnectionError) as lost:
                    is_raised_there = isinstance(lost, ray.exceptions.RayTaskError)  # the last line has the exception
                    why = str(lost).strip().splitlines()[-1] if is_raised_there else _first_line(lost)
                    raise BatchLost(f"{describe(numbers)}: Ray has lost them: {why}") from None
                if problem is not None:
                    raise problem
                size = next_size(len(numbers), seconds, BATCH_S)
                yield from results
        finally:
            with suppress(Exception):  # of a cluster that is gone
                for _, batch in waiting:
                    ray.cancel(batch, force=True)


@contextmanager
def _connected(address: str | None, jobs: int) -> Iterator[int]:
    """Connect to a cluster, or start Ray here, and yield the number of processors."""
    import ray

    if ray.is_initialized():  # by the caller's own program
        yield _processors()
        return
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
    with _handlers_kept(), _without_warnings():
        if address is None:
            _start(jobs, quiet)
        else:
            _connect(address, quiet)
    try:
        yield _processors()
    finally:
        ray.shutdown()


def _start(jobs: int, quiet: dict[str, Any]) -> None:
    import ray

    print_message("starting Ray on this machine")  # takes from 5 s to half a minute
    try:
        ray.init("local", num_cpus=jobs, include_dashboard=False, _node_ip_address="127.0.0.1", **quiet)
    except Exception as problem:  # Ray raises no narrower one
        raise CutpurseError(f"Ray does not start on this machine: {_first_line(problem)}") from None


def _connect(address: str, quiet: dict[str, Any]) -> None:
    import ray

    host, port = check_address(address)
    try:
        socket.create_connection((host, port), CONNECT_S).close()  # Ray itself would try for half a minute
        ray.init(f"{SCHEME}{host}:{port}", **quiet)
    except (OSError, ConnectionError) as problem:
        raise ServerUnreachable(f"no Ray cluster answers at {address}: {_first_line(problem)}") from None
    except RuntimeError as problem:  # such as other versions
        raise CutpurseError(f"the Ray cluster at {address} cannot be used: {_first_line(problem)}") from None


def _processors() -> int:
    import ray

    return max(1, int(ray.cluster_resources().get("CPU", 0)))


@contextmanager
def _handlers_kept() -> Iterator[None]:
    """Keep this process's handler of SIGTERM, which Ray replaces."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Keep back what Ray and its libraries warn of; what fails is raised."""
    logging.getLogger("ray").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _first_line(problem: BaseException) -> str:
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    return lines[0] if lines else type(problem).__name__


def _versions() -> dict[str, str]:
    """Return the versions that all nodes must have."""
    return {"cutpurse": VERSION, "Python": ".".join(platform.python_version_tuple()[:2])}


# -- in a process of Ray
def _run_batch(
    sent: bytes, numbers: range, folder: str, versions: dict[str, str]
) -> tuple[list[Any] | None, float, Exception | None]:
    """Return the results of a batch, their seconds, and the exception raised instead."""
    try:
        if versions != (mine := _versions()):
            raise UsageError(f"the node {socket.gethostname()} has {_listed(mine)}, and {_listed(versions)} is needed")
        with suppress(OSError):  # then a bot's file is not found, unless its path is absolute
            os.chdir(folder)
        with a_run():
            work = _loaded(sent)
            began = time.perf_counter()
            return work(numbers), time.perf_counter() - began, None
    except NotFound as problem:
        return None, 0.0, NotFound(f"on the node {socket.gethostname()}: {problem}")
    except Exception as problem:
        return None, 0.0, pickle_exception(problem)


@lru_cache(maxsize=1)
def _loaded(sent: bytes) -> Callable[[range], list[Any]]:
    """Load the work, and with it the bots, once in each process."""
    import pickle

    work: Callable[[range], list[Any]] = pickle.loads(sent)
    return work


def _listed(versions: dict[str, str]) -> str:
    return " and ".join(f"{name} {version}" for name, version in versions.items())
