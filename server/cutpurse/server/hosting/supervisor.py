"""Programs that a server keeps running for itself: started again when they end, after a while that grows.

They go behind everybody else for the processor, and end with the server. This module knows none of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import TracebackType
from typing import Final, Protocol, Self

from cutpurse.server.hosting.arena import Arena
from cutpurse.server.hosting.children import Children
from cutpurse.server.logs import Logger, traceback_locations

__all__ = ["FIRST_WAIT_S", "LIVED_S", "LONGEST_WAIT_S", "Supervisor", "ServiceSpawner", "ServiceSpec"]

NICE: Final = 10
LOOK_S: Final = 0.5  # between looks at whether all of them live
FIRST_WAIT_S: Final = 1.0  # until one that has ended is started again; doubled each time
LONGEST_WAIT_S: Final = 60.0
LIVED_S: Final = 60.0  # who lived so long is started again as for the first time


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """What is run, what is added to its environment, and which open files it is handed, by their numbers."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    files: tuple[int, ...] = ()


class ServiceSpawner(Protocol):
    """What runs the programs: `Children`."""

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], nice: int, files: Sequence[int]
    ) -> int:
        """Start one."""

    def ended(self) -> dict[str, int]:
        """Those that have ended, with their exit codes."""

    def forget(self, name: str) -> None:
        """One that has ended is not told of any more."""


@dataclass(slots=True)
class _ServiceState:
    """How it goes with one of them: when it was started, or is to be; the other is infinite."""

    start_at: float
    started: float = inf
    wait_s: float = FIRST_WAIT_S


class Supervisor:
    """Some programs of one run of a server; leaving the `with` block ends all of them."""

    def __init__(
        self,
        names: Sequence[str],
        program: Callable[[str, str], ServiceSpec],
        log: Logger,
        *,
        noun: str,
        processes: ServiceSpawner | None = None,
        is_heard: bool = False,
    ) -> None:
        """program: what is run under a name, of a server at an address.

        noun: what such a program is called in the log: "house bot". is_heard: what they say on stderr goes to that of
        the server; else it is lost.
        """
        self._program = program
        self._children = Children(None, is_heard=is_heard)
        self._processes = self._children if processes is None else processes
        self._courses = {name: _ServiceState(-inf) for name in names}
        self._log = log
        self._noun = noun
        self._fact = noun.rpartition(" ")[2]
        self._keeping: asyncio.Task[None] | None = None

    def begin(self, arena: Arena) -> None:
        """Start them, and keep them running as long as the arena is open; to be called when it listens."""
        self._keeping = asyncio.get_running_loop().create_task(self._keep(arena))

    async def _keep(self, arena: Arena) -> None:
        loop = asyncio.get_running_loop()
        while arena.stage == "open":
            try:
                self.look(arena.house_address, loop.time())
            except Exception as problem:
                self._log.error(
                    "keeping broke", what=self._noun, error=type(problem).__name__, places=traceback_locations(problem)
                )
            await asyncio.sleep(LOOK_S)

    def look(self, address: str, now: float) -> None:
        """Start those whose time has come, and note those that have ended."""
        for name, code in self._processes.ended().items():
            self._processes.forget(name)
            self._again(name, now, exit_code=code)
        for name, course in self._courses.items():
            if now >= course.start_at:
                self._start(name, address, now)

    def _start(self, name: str, address: str, now: float) -> None:
        course, program = self._courses[name], self._program(name, address)
        course.start_at, course.started = inf, now
        try:
            pid = self._processes.start(name, program.command, program.environment, NICE, program.files)
        except OSError as problem:
            self._again(name, now, problem=problem.strerror or type(problem).__name__)
        else:
            self._log.info(f"{self._noun} started", **{self._fact: name}, pid=pid)

    def _again(self, name: str, now: float, **facts: object) -> None:
        """Restart a program that is gone, the sooner the longer it lived."""
        course = self._courses[name]
        if now - course.started >= LIVED_S:
            course.wait_s = FIRST_WAIT_S
        self._log.warning(f"{self._noun} ended", **{self._fact: name}, again_in_s=course.wait_s, **facts)
        course.start_at, course.started = now + course.wait_s, inf
        course.wait_s = min(2 * course.wait_s, LONGEST_WAIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._children.stop()
