"""One match on a worker: an arena of its own, with the same lobby, clocks and sessions as on a server.

The arena listens on a socket that only this match's bots are given. It pairs nobody: its one match was paired and dealt
by the server. The result is handed back before the bots are notified of the end, so that nothing is reported that is
not stored. This module knows no queue and no database.
"""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, TypeVar

from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import FinishedMatch, Identity, MatchAnnouncement, StoreOutcome
from cutpurse.process.own_time import OwnTime
from cutpurse.server.access.owners import BAD, Grant, TokenRefused
from cutpurse.server.hosting.arena import Arena, ArenaServices, Listening
from cutpurse.server.logs import Logger
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.match_start import AssignedMatch
from cutpurse.server.matches.server_match import MatchPlan
from cutpurse.server.parts.submissions.process_tokens import ProcessTokens
from cutpurse.server.parts.submissions.resource_meters import ResourceMeters
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.workers.bot_files import BotFiles
from cutpurse.server.parts.workers.match_task import MatchTask
from cutpurse.server.parts.workers.seated_bots import NotStarted, SeatedBots
from cutpurse.server.runners.port import Runner

__all__ = ["MatchPlayer", "ReportedMatch"]

START_S: Final = 60.0  # of own time (see `OwnTime`) for all bots of a match to connect
LOOK_S: Final = 0.05  # seconds between looks at bots that have not connected yet

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class ReportedMatch:
    """A match to hand back.

    Attributes:
        result: The result; void if a bot did not start.
        not_started: Index of the seat whose bot did not start; None if all did, or the machine was too busy.
        why: Why it did not start.
    """

    result: FinishedMatch
    not_started: int | None = None
    why: str = ""


class MatchPlayer:
    """Plays matches, any number at a time."""

    def __init__(self, runner: Runner, storage: Storage, files: BotFiles, log: Logger) -> None:
        """Play with bots that this runner runs, in these folders."""
        self._runner = runner
        self._storage = storage
        self._files = files
        self._log = log
        self._count = 0

    async def play(
        self,
        task: MatchTask,
        seed: bytes,
        hand_back: Callable[[ReportedMatch], Awaitable[bool]],
        given_up: asyncio.Event,
    ) -> None:
        """Play a match to its end.

        Args:
            task: The match.
            seed: Seed of its deal.
            hand_back: Hands the result back; returns whether it was accepted.
            given_up: Set when the match is to end at once, and is void.
        """
        self._count += 1
        with tempfile.TemporaryDirectory(prefix="cutpurse-") as folder:  # of mode 0700
            socket = Path(folder) / "server.sock"
            store = _OneResult()
            ladder = task.as_ladder()
            lobby = Lobby([ladder], store, entropy=secrets.token_bytes, utc=_utc, log=self._log)
            tokens = ProcessTokens(_NobodyElse())
            bots = SeatedBots(f"match-{self._count}", socket, self._runner, self._storage, tokens, self._log)
            ResourceMeters(bots.uses).listen(lobby.hooks)
            arena = Arena(Listening(f"unix:{socket}"), lobby, self._log, services=ArenaServices(tokens))
            await arena.start()
            try:
                deal, hides_names = task.deal(seed), task.hides_names
                plan = MatchPlan(ladder, task.match, deal, reason=task.reason, hides_names=hides_names)
                lobby.assign(AssignedMatch(plan, task.players))
                played = await self._played(task, seed, store, bots, given_up)
                is_accepted = await hand_back(played)
                store.settle(is_accepted)
            finally:
                try:
                    await bots.stop()
                finally:
                    await arena.stop()

    async def _played(
        self, task: MatchTask, seed: bytes, store: _OneResult, bots: SeatedBots, given_up: asyncio.Event
    ) -> ReportedMatch:
        """Start the bots, and wait for the result."""
        starting = asyncio.gather(*(self._start(number, task, bots) for number in range(len(task.seats))))
        own_time = OwnTime()
        began, until = own_time.mark(), own_time() + START_S
        try:
            for number, why in enumerate(await starting):
                if why:
                    return ReportedMatch(task.void(seed, _utc()), number, why)
            while not (store.has_begun or given_up.is_set()):
                if (ended := bots.ended()) is not None:
                    player, how = ended
                    return ReportedMatch(task.void(seed, _utc()), task.players.index(player), f"it ended: {how}")
                if own_time() >= until:
                    if busy := own_time.why_busy(began):
                        self._log.warning("match not started", match=task.match, why=busy)
                        return ReportedMatch(task.void(seed, _utc()))
                    missing = next(n for n, player in enumerate(task.players) if player not in store.seen)
                    why = f"it did not connect within {START_S:g} s"
                    return ReportedMatch(task.void(seed, _utc()), missing, why)
                await asyncio.sleep(LOOK_S)
        finally:
            starting.cancel()
        finished = asyncio.wrap_future(store.finished)
        ends = asyncio.ensure_future(given_up.wait())
        await asyncio.wait((finished, ends), return_when=asyncio.FIRST_COMPLETED)
        ends.cancel()
        return ReportedMatch(finished.result() if finished.done() else task.void(seed, _utc()))

    async def _start(self, number: int, task: MatchTask, bots: SeatedBots) -> str:
        """Start a bot; return why it did not start, empty if it did."""
        seat = task.seats[number]
        try:
            await bots.start(number, seat, self._files)
        except NotStarted as problem:
            self._log.warning("bot not started", bot=seat.player.shown, why=str(problem))
            return str(problem)
        return ""


class _OneResult:
    """The `ResultStore` of one match: it keeps the result until that is handed back."""

    def __init__(self) -> None:
        self.has_begun = False
        self.seen: set[Identity] = set()  # bots that have connected
        self.finished: Future[FinishedMatch] = Future()
        self._settled: Future[StoreOutcome] = Future()

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        """Note that the match begins; the server has stored its announcement."""
        self.has_begun = True
        return _done(None)

    def standings(self, player: Identity, seen: datetime) -> Future[Mapping[str, tuple[Skill, int]]]:
        """Note that a bot has connected; no skill is needed where nobody is paired."""
        self.seen.add(player)
        return _done({})

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        """Take the result; the future is done once it is handed back."""
        if not self.finished.done():
            self.finished.set_result(result)
        return self._settled

    def settle(self, is_accepted: bool) -> None:
        """Answer the lobby."""
        if self._settled.done():
            return
        if is_accepted:
            self._settled.set_result(StoreOutcome())
        else:
            self._settled.set_exception(StoreError("the match was declared lost"))


def _done(answer: Answer) -> Future[Answer]:
    future: Future[Answer] = Future()
    future.set_result(answer)
    return future


class _NobodyElse:
    """A guard that admits nobody, behind `ProcessTokens`."""

    def enter(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, scope: str, now: float) -> Grant:
        """Refuse every call."""
        raise TokenRefused("TOKEN_INVALID", BAD)

    def recognise(self, metadata: Iterable[tuple[str, str | bytes]], peer: str, now: float) -> Grant | None:
        """Recognise nobody."""
        return None

    def is_good(self, token: str) -> bool:
        """Return False: no token is good."""
        return False

    def look(self, now: float) -> bool:
        """Return False: nothing changes."""
        return False

    def close(self) -> None:
        """Do nothing."""


def _utc() -> datetime:
    return datetime.now(UTC)
