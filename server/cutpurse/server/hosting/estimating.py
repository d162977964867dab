"""Estimates for the ladders of a running server, recomputed as they grow in a separate process.

That process reads the database, runs at low priority, and prints its estimates. Here they are checked and stored, all
those of a ladder at once. Matches, results and rankings never wait for it. If the process fails, hangs or prints
invalid output, the old estimates stay, the log says so, and the next try follows with backoff. This module knows no
arithmetic.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Final, Protocol, Self

from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.estimates.result_matrix import Grown, LadderEstimates, grown, put_estimates
from cutpurse.leaderboard.store import Store
from cutpurse.process.interpreter import module_command
from cutpurse.server.hosting.arena import Arena
from cutpurse.server.hosting.arena_stages import ArenaStage
from cutpurse.server.hosting.children import Children
from cutpurse.server.logs import Logger, traceback_locations

__all__ = ["EVERY_S", "FIRST", "LONGEST_WAIT_S", "PATIENCE_S", "REST", "Estimating", "JobSpawner", "is_due"]

NICE: Final = 15
LOOK_S: Final = 5.0  # seconds between checks for grown ladders: a query of 0.1 ms
EVERY_S: Final = 30.0  # minimum seconds between starts: spectators rarely refresh more often
REST: Final = 4.0  # rest after a computation, as a multiple of its duration: at most a fifth of a core is used
FIRST: Final = 10  # minimum boards of a ladder with estimates
STEP: Final = 50  # new boards that always justify a recomputation
SHARE: Final = 0.05  # smaller growth that also does, as a share: intervals become a fortieth narrower
# after ten times the expected time for a million matches of a thousand bots, it counts as hung
PATIENCE_S: Final = 1_800.0
FIRST_WAIT_S: Final = 60.0  # seconds after a failure; doubled each time
LONGEST_WAIT_S: Final = 3_600.0
NAME: Final = "estimates"


def is_due(ladder: Grown, at: datetime) -> bool:
    """Return whether a ladder has grown enough for new estimates; a frozen one gets them for its last boards, too."""
    more = ladder.boards - ladder.estimated
    if ladder.frozen is not None and at >= ladder.frozen:
        return more > 0
    return ladder.boards >= FIRST and more > 0 and more >= min(STEP, SHARE * ladder.estimated)


class JobSpawner(Protocol):
    """What runs the program once: `Children`."""

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str] | None = None, nice: int = 0
    ) -> int:
        """Start the program, and return its process ID."""

    def ended(self) -> dict[str, int]:
        """Return its exit code by name, if it has ended."""

    def said(self, name: str) -> str:
        """Return what it printed."""

    def stop(self) -> None:
        """End the program if it still runs."""


class Estimating:
    """The estimates of one run of a server; leaving the `with` block ends the process, if there is one."""

    def __init__(
        self,
        store: Store,
        log: Logger,
        processes: Callable[[Path], JobSpawner] = Children,
        utc: Callable[[], datetime] = lambda: datetime.now(UTC),
        is_own: Callable[[str], bool] = lambda ladder: True,
    ) -> None:
        """Set up without a process.

        Args:
            store: The leaderboard.
            log: The server's log.
            processes: Makes a spawner whose programs write their output to this folder.
            utc: Returns the time of day.
            is_own: Whether a ladder is estimated here, not at another arena.
        """
        self._is_own = is_own
        self._store = store
        self._log = log
        self._make = processes
        self._utc = utc
        # the process, and a private folder for its output
        self._running: tuple[JobSpawner, TemporaryDirectory[str]] | None = None
        self._asked: list[str] = []  # ladders that the process estimates
        self._began = self._next_at = -float("inf")
        self._wait_s = FIRST_WAIT_S
        self._keeping: asyncio.Task[None] | None = None

    def begin(self, arena: Arena) -> None:
        """Update the estimates as long as the arena is open; call this once it listens."""
        self._keeping = asyncio.get_running_loop().create_task(self._keep(arena))

    async def _keep(self, arena: Arena) -> None:
        loop = asyncio.get_running_loop()
        while arena.stage is ArenaStage.OPEN:
            try:
                await asyncio.to_thread(self.look, loop.time())
            except Exception as problem:
                self._log.error("estimating broke", error=type(problem).__name__, places=traceback_locations(problem))
            await asyncio.sleep(LOOK_S)

    def look(self, now: float) -> None:
        """Store what the process has printed, or start it if a ladder has grown.

        Waits for the store, so call it on a thread.
        """
        if self._running is not None:
            code = self._running[0].ended().get(NAME)
            if code is not None:
                self._take(code, self._running[0].said(NAME), now)
            elif now - self._began > PATIENCE_S:
                self._end()
                self._failed(now, why="it took too long")
        elif now >= self._next_at and (due := self._due()):
            self._start(due, now)

    def _due(self) -> list[str]:
        at = self._utc()
        return [one.ladder for one in self._store.run(grown) if is_due(one, at) and self._is_own(one.ladder)]

    def _start(self, ladders: list[str], now: float) -> None:
        database = self._store.database
        command = (*module_command("cutpurse.leaderboard.estimates.printed"), database.address, *ladders)
        try:
            folder = TemporaryDirectory(prefix="cutpurse-estimates-")
            self._running = self._make(Path(folder.name)), folder
            self._running[0].start(NAME, command, database.environment, NICE)
        except OSError as problem:
            self._end()
            self._failed(now, why=problem.strerror or type(problem).__name__)
        else:
            self._asked, self._began = ladders, now

    def _end(self) -> None:
        """End the process and delete its output."""
        if self._running is not None:
            processes, folder = self._running
            self._running = None
            processes.stop()
            folder.cleanup()

    def _take(self, code: int, said: str, now: float) -> None:
        """Store the output of a process that has ended."""
        self._end()
        if code:
            self._failed(now, why="it ended", exit_code=code)
            return
        try:
            found = [LadderEstimates.from_json(line) for line in said.splitlines()]
            if [one.ladder for one in found] != self._asked:
                raise ValueError("these are not the ladders that were asked for")
            for one in found:
                self._store.write(put_estimates, one, self._utc())
        except (ValueError, LeaderboardError) as problem:
            self._failed(now, why=str(problem)[:200])
            return
        self._log.debug("estimated", ladders=self._asked, seconds=round(now - self._began, 1))
        self._wait_s = FIRST_WAIT_S
        self._next_at = max(self._began + EVERY_S, now + REST * (now - self._began))

    def _failed(self, now: float, **facts: object) -> None:
        self._log.warning("no estimates", again_in_s=self._wait_s, **facts)
        self._next_at = now + self._wait_s
        self._wait_s = min(2 * self._wait_s, LONGEST_WAIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
