"""The parts of a server while it runs: begun, guarded, and ended in order."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.server.hosting.part import Part
from cutpurse.server.logs import Logger

__all__ = ["RunningParts"]

AGAIN_S: Final = 1.0  # until a part that broke runs again


class RunningParts:
    """The parts that are on, by name."""

    def __init__(
        self,
        parts: Mapping[str, Part],
        log: Logger,
        broke: Callable[..., object],
        *,
        again_s: float = AGAIN_S,
    ) -> None:
        """Set up; `begin` runs them.

        Args:
            parts: The parts.
            log: The server's log.
            broke: Logs an error, with its event and facts.
            again_s: Seconds until a part that broke runs again.
        """
        self._parts, self._log, self._broke, self._again_s = parts, log, broke, again_s
        self._tasks: list[asyncio.Task[None]] = []

    async def begin(self) -> None:
        """Begin each part, then run all; if one cannot begin, none runs."""
        loop = asyncio.get_running_loop()
        for part in self._parts.values():
            await asyncio.to_thread(part.begin, loop)
        self._tasks = [asyncio.create_task(self._run(name, part), name=name) for name, part in self._parts.items()]

    def drain(self) -> None:
        """Let each part begin nothing new."""
        for name, part in self._parts.items():
            try:
                part.drain()
            except Exception as problem:  # the others and the matches still end
                self._broke("part broke", problem, part=name)

    async def end(self) -> None:
        """Cancel what runs, and wait for its end."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, name: str, part: Part) -> None:
        while True:
            try:
                await part.run()
            except LeaderboardError as problem:  # the database does not answer; nothing was lost
                self._log.warning("part waits", part=name, text=str(problem))
            except Exception as problem:
                self._broke("part broke", problem, part=name)
            else:
                return
            await asyncio.sleep(self._again_s)
