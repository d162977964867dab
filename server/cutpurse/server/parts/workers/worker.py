"""A worker: it takes matches from the queue, plays them, and hands back their records.

The deal of a match is handed out once. So a match that this worker takes is played by this worker or by nobody: if the
worker is lost, the match is void. The queue's loop ends with its connection and is started again here, while the
matches at hand go on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.parts.workers.match_player import MatchPlayer, ReportedMatch
from cutpurse.server.parts.workers.match_queue import MatchQueue
from cutpurse.server.parts.workers.match_report import write_report
from cutpurse.server.parts.workers.match_task import MatchTask
from cutpurse.server.parts.workers.work import MAX_REPORT_BYTES
from cutpurse.server.parts.workers.worker_database import WorkerDatabase
from cutpurse.wire.version import VERSION

__all__ = ["OtherVersion", "PutBack", "Worker"]

FIRST_WAIT_S: Final = 0.5  # before the queue's loop is started again; doubled each time
LONGEST_WAIT_S: Final = 10.0


class PutBack(Exception):
    """The reason why a match is left to other workers."""


class OtherVersion(PutBack):
    """The league needs workers of another version, which the text names."""


class Worker:
    """A worker; `run` returns when `drain` was called and no match is at hand."""

    def __init__(
        self, database: WorkerDatabase, queue: MatchQueue, player: MatchPlayer, log: Logger, say: Callable[[str], None]
    ) -> None:
        """Set up the worker.

        Args:
            database: The league's database.
            queue: Delivers matches.
            player: Plays them.
            log: The worker's log.
            say: Tells the operator what happens.
        """
        self._database = database
        self._queue = queue
        self._player = player
        self._log = log
        self._say = say
        self._code = VERSION
        self._at_hand: dict[str, asyncio.Task[None]] = {}
        self._is_draining = False
        self._given_up = asyncio.Event()
        self._other_version = ""
        self.played = 0  # matches handed back

    @property
    def count(self) -> int:
        """Number of matches at hand."""
        return len(self._at_hand)

    def drain(self) -> None:
        """Take no more matches, and end when those at hand are over."""
        self._is_draining = True
        self._queue.drain()

    def give_up(self) -> None:
        """End the matches at hand, which are void."""
        self._given_up.set()

    async def run(self, slots: int) -> None:
        """Take and play matches, at most `slots` at a time.

        Raises:
            OtherVersion: If the league's server has another version.
        """
        wait_s = FIRST_WAIT_S
        try:
            while not self._is_draining:
                try:
                    await self._queue.take(self._take, self._at_hand.keys, slots)
                except OSError as problem:
                    self._log.warning("queue not reached", text=str(problem).strip(), again_in_s=wait_s)
                    await asyncio.sleep(wait_s)
                    wait_s = min(2 * wait_s, LONGEST_WAIT_S)
                else:
                    wait_s = FIRST_WAIT_S
            while self._at_hand:
                await asyncio.wait([*self._at_hand.values()])
        finally:
            for task in self._at_hand.values():
                task.cancel()
            await asyncio.gather(*self._at_hand.values(), return_exceptions=True)
        if self._other_version:
            raise OtherVersion(self._other_version)

    async def _take(self, match: str) -> None:
        """Play a match that was delivered, or wait for its end if it is at hand."""
        if match not in self._at_hand:
            if self._is_draining:
                raise PutBack("this worker ends")
            taken = await self._database.take(match, self._code)
            match taken.outcome:
                case "taken" | "yours" if match not in self._at_hand:
                    self._begin(MatchTask.from_json(taken.task), taken.seed)
                case "lost":
                    self._log.warning("match lost", match=match, why="another worker had it, and is gone")
                case "other version":
                    self._other_version = taken.task
                    self.drain()
                    raise OtherVersion(taken.task)
        if (task := self._at_hand.get(match)) is not None:
            await asyncio.shield(task)

    def _begin(self, task: MatchTask, seed: bytes) -> None:
        playing = asyncio.get_running_loop().create_task(self._play(task, seed))
        self._at_hand[task.match] = playing
        playing.add_done_callback(lambda done: self._at_hand.pop(task.match, None))

    async def _play(self, task: MatchTask, seed: bytes) -> None:
        self._log.info("match taken", match=task.match, ladder=task.ladder, bots=[bot.shown for bot in task.players])

        async def hand_back(played: ReportedMatch) -> bool:
            report = write_report(played.result, played.not_started, played.why)
            if len(report) > MAX_REPORT_BYTES:
                self._log.error("report too long", match=task.match, bytes=len(report), most=MAX_REPORT_BYTES)
                report = write_report(task.void(seed, played.result.finished))
            is_accepted = await self._database.hand_back(task.match, report)
            self.played += is_accepted
            how = "void" if played.result.is_void else "played"
            self._say(f"match {task.match[:8]} on {task.ladder} {how if is_accepted else 'declared lost'}")
            return is_accepted

        try:
            await self._player.play(task, seed, hand_back, self._given_up)
        except Exception as problem:
            self._log.error(
                "match broke down", match=task.match, error=type(problem).__name__, places=traceback_locations(problem)
            )
            await hand_back(ReportedMatch(task.void(seed, task.started)))
