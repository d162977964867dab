"""The supervisor: it keeps programs of a server running, and restarts them with backoff.

They run at low priority and end with the server. This module does not know what they are.
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
LOOK_S: Final = 0.5  # seconds between checks that all of them run
FIRST_WAIT_S: Final = 1.0  # seconds until an ended program is restarted; doubled each time
LONGEST_WAIT_S: Final = 60.0
LIVED_S: Final = 60.0  # after running for this time, the backoff starts anew


@dataclass(frozen=True, slots=True)
class ServiceSpec:
    """A program: its command, additions to its environment, and open file descriptors to pass."""

    command: tuple[str, ...]
    environment: Mapping[str, str]
    files: tuple[int, ...] = ()


class ServiceSpawner(Protocol):
    """What runs the programs: `Children`."""

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], nice: int, files: Sequence[int]
    ) -> int:
        """Start a program, and return its process ID."""

    def ended(self) -> dict[str, int]:
        """Return the exit codes of ended programs by name."""

    def forget(self, name: str) -> None:
        """Forget a program that has ended."""


@dataclass(slots=True)
class _ServiceState:
    """When a program was started or is to be started; the other time is infinite."""

    start_at: float
    started: float = inf
    wait_s: float = FIRST_WAIT_S


class Supervisor:
    """The supervised programs of one run of a server; leaving the `with` block ends all of them."""

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
        """Set up the programs; `begin` starts them.

        Args:
            names: Their names.
            program: Returns the program with this name for the server at this address.
            log: The server's log.
            noun: What the log calls such a program, for example "house bot".
            processes: Runs the programs; `Children` by default.
            is_heard: Pass stderr of the programs to stderr of the server; otherwise it is discarded.
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
        """Start the programs, and keep them running as long as the arena is open; call this once it listens."""
        keeping = self.keep(arena.is_open, lambda: arena.house_address)
        self._keeping = asyncio.get_running_loop().create_task(keeping)

    async def keep(self, is_open: Callable[[], bool], address: Callable[[], str]) -> None:
        """Keep the programs running as long as the server at `address` is open."""
        loop = asyncio.get_running_loop()
        while is_open():
            try:
                self.look(address(), loop.time())
            except Exception as problem:
                self._log.error(
                    "keeping broke", what=self._noun, error=type(problem).__name__, places=traceback_locations(problem)
                )
            await asyncio.sleep(LOOK_S)

    def look(self, address: str, now: float) -> None:
        """Start the programs that are due, and note those that have ended."""
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
        """Schedule the restart of a program that has ended, with backoff."""
        course = self._courses[name]
        if now - course.started >= LIVED_S:
            course.wait_s = FIRST_WAIT_S
        self._log.warning(f"{self._noun} ended", **{self._fact: name}, again_in_s=course.wait_s, **facts)
        course.start_at, course.started = now + course.wait_s, inf
        course.wait_s = min(2 * course.wait_s, LONGEST_WAIT_S)

    def stop(self) -> None:
        """End all programs."""
        self._children.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
