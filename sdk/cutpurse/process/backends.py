"""The choice of where the tasks of a run are computed: processes of this machine, or Ray."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any, Final

from cutpurse.engine.errors import UsageError
from cutpurse.process import pool as processes
from cutpurse.process.pool import Describe, check_jobs

__all__ = ["check_backend", "in_order", "is_in_this_process"]

RAY: Final = "ray"


def check_backend(on: str | None, jobs: int) -> None:
    """Check the place to compute and the number of processes.

    Args:
        on: None for processes of this machine, "ray" for Ray on this machine, or `ray://HOST:PORT`.
        jobs: Number of processes.

    Raises:
        UsageError: If one is unknown or out of range, or a number of processes is given for a cluster.
    """
    check_jobs(jobs)
    if on is None or on == RAY:
        return
    from cutpurse.process.ray_cluster import check_address

    check_address(on)
    if jobs != 1:
        raise UsageError(f"{on} has as many processes as its nodes have processors: leave out {jobs} jobs")


def is_in_this_process(on: str | None, jobs: int) -> bool:
    """Return whether a run needs no other process."""
    return on is None and jobs == 1


def in_order(
    work: Callable[[range], list[Any]],
    tasks: int,
    jobs: int,
    describe: Describe,
    on: str | None,
    beat: Callable[[], None] = lambda: None,
) -> Generator[Any, None, None]:
    """Yield what `work` returns for the numbers 0 to tasks - 1, in order; see `processes.in_order`."""
    if on is None:
        return processes.in_order(work, tasks, jobs, describe, beat)
    from cutpurse.process import ray_cluster

    return ray_cluster.in_order(work, tasks, jobs, describe, None if on == RAY else on, beat)
