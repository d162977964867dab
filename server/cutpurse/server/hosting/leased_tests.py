"""The version tests of the ladders that an arena has leased, as its database has them.

A test runs where its ladder is played. When an arena takes a ladder, it goes on with the tests there, from their stored
boards. When it loses the ladder, its lobby forgets them. A test that was stopped at another arena runs no more here.
This module knows no stream and no SQL.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.server.league.version_testing import VersionTesting
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.matches.lobby import Lobby

__all__ = ["FOLLOW_S", "LeasedTests"]

FOLLOW_S: Final = 2.0  # between two looks at what the database has


class LeasedTests:
    """The version tests of one arena among several. Use it on one event loop."""

    def __init__(
        self, testing: VersionTesting, lobby: Lobby, epoch_of: Callable[[str], int | None], log: Logger
    ) -> None:
        """Set up; `begin` starts it.

        Args:
            testing: Knows the stored tests.
            lobby: Where boards are dealt.
            epoch_of: Returns the epoch in which this arena plays a ladder; None if it does not.
            log: The server's log.
        """
        self._testing = testing
        self._lobby = lobby
        self._epoch_of = epoch_of
        self._log = log
        self._task: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """Follow the database from now on."""
        self._task = asyncio.get_running_loop().create_task(self._run())

    def close(self) -> None:
        """Follow it no more; the tests go on at the arena that takes their ladders."""
        if self._task is not None:
            self._task.cancel()

    async def _run(self) -> None:
        while True:
            try:
                await self.look()
            except LeaderboardError as problem:  # the database does not answer; nothing was lost
                self._log.warning("version tests wait", text=str(problem))
            except Exception as problem:
                self._log.error(
                    "version tests broke", error=type(problem).__name__, places=traceback_locations(problem)
                )
            await asyncio.sleep(FOLLOW_S)

    async def look(self) -> None:
        """Let those tests run that the database has for the ladders of this arena, and no others.

        Raises:
            LeaderboardError: If the database cannot be read.
        """
        tests = self._lobby.tests
        before = tests.running  # one that is started during the look is not in the list
        entries = await asyncio.to_thread(self._testing.unfinished)
        stored = {entry.id for entry in entries}
        for gone in before:
            if gone not in stored:
                self._lobby.stop_test(gone)
        for entry in entries:
            epoch = self._epoch_of(entry.ladder)
            if epoch is None or tests.is_running(entry.id):
                continue
            test = await asyncio.to_thread(self._testing.resumed, entry)
            if self._epoch_of(entry.ladder) == epoch:  # otherwise another arena has played boards meanwhile
                self._lobby.start_test(test)
                self._log.info("version test goes on", test=entry.id, ladder=entry.ladder, boards=test.state.boards)
