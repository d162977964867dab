"""The runner of events: it takes up those that the database has, looks at each, and guards it from errors of others.

What is due for an event, its kind knows: tournaments, version tests and seasons. An error in an event is logged and
does not stop the others. Where several arenas share a league, each plays the events on its ladders: it looks at the
database every `FOLLOW_S`, takes up what others have started or left, and drops what was stopped elsewhere.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, Protocol

from cutpurse.leaderboard import events
from cutpurse.leaderboard.errors import LeaderboardError
from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.store import Store
from cutpurse.server.logs import Logger, traceback_locations

__all__ = ["EventKind", "EventRunner"]

AGAIN_S: Final = 5.0  # after an error
FOLLOW_S: Final = 2.0  # between two looks at the events that the database has, if there are other arenas


class EventKind(Protocol):
    """A kind of events, as they are played on the event loop."""

    form: str  # in the database
    noun: str  # in the log, as "tournament"
    look_s: float  # between two looks at its events
    woken: asyncio.Event  # set when an event has something to do at once

    @property
    def running(self) -> Collection[str]:
        """The events that are played here."""

    async def look(self, event: str) -> None:
        """Do what is due for an event."""

    def load(self, entry: EventEntry) -> Any:
        """Return what `take` needs of a stored event; None if it cannot be played; waits for the database."""

    def forget_lost(self, event: str) -> None:
        """Play an event no more if this arena has lost its ladder."""

    def take(self, loaded: Any, epoch: int) -> None:
        """Play a stored event from now on, with its ladder of this epoch."""

    async def drop(self, event: str) -> None:
        """Play an event no more, since it has ended in the database."""


class EventRunner:
    """The events that a server plays. Use it on one event loop."""

    def __init__(
        self,
        store: Store,
        kinds: Sequence[EventKind],
        log: Logger,
        epoch_of: Callable[[str], int | None] | None = None,
    ) -> None:
        """Set up; `run` plays.

        Args:
            store: Where events are stored.
            kinds: The kinds of events.
            log: The server's log.
            epoch_of: Returns the epoch in which this arena plays a ladder; None if it does not. Default: this server
                is alone, and plays all.
        """
        self._store, self._log = store, log
        self._kinds = {kind.form: kind for kind in kinds}
        self._is_alone = epoch_of is None
        self._epoch_of = epoch_of or (lambda ladder: 0)
        self._stopped: set[str] = set()  # a look at the database that began earlier may still have them

    async def run(self) -> None:
        """Go on with the events of an earlier server, and play those that are started, until cancelled."""
        await asyncio.gather(*(self._play(kind) for kind in self._kinds.values()))

    async def start(self, entry: EventEntry) -> None:
        """Play an event that was stored just now; if another arena has its ladder, that one finds it."""
        kind = self._kinds[entry.form]
        await self._take_up(kind, entry)
        kind.woken.set()

    async def stop(self, entry: EventEntry) -> None:
        """Play no more of an event that was stopped in the database."""
        self._stopped.add(entry.id)
        await self._kinds[entry.form].drop(entry.id)

    async def follow(self, kind: EventKind) -> None:
        """Play the events that the database has for the ladders of this arena, and no others.

        Raises:
            LeaderboardError: If the database cannot be read.
        """
        before = [] if self._is_alone else list(kind.running)  # without one that is started during the look
        entries = await asyncio.to_thread(self._store.run, events.entries, [kind.form], only_running=True)
        stored = {entry.id for entry in entries}
        for event in before:
            if event not in stored:
                await kind.drop(event)
        for entry in reversed(entries):
            if await self._take_up(kind, entry):
                self._log.info(f"{kind.noun} goes on", id=entry.id, ladder=entry.ladder)

    async def _take_up(self, kind: EventKind, entry: EventEntry) -> bool:
        """Play a stored event, if this arena has its ladder and does not play it yet; return whether it does now."""
        epoch = self._epoch_of(entry.ladder)
        if epoch is None or not self._may_take(kind, entry.id):
            return False
        loaded = await asyncio.to_thread(kind.load, entry)
        # Otherwise another arena has played boards meanwhile, or it was started or stopped here.
        if loaded is None or self._epoch_of(entry.ladder) != epoch or not self._may_take(kind, entry.id):
            return False
        kind.take(loaded, epoch)
        return True

    def _may_take(self, kind: EventKind, event: str) -> bool:
        kind.forget_lost(event)
        return event not in kind.running and event not in self._stopped

    async def _play(self, kind: EventKind) -> None:
        clock, follow = asyncio.get_running_loop().time, partial(self.follow, kind)
        while not await self._guarded(kind, follow):
            await asyncio.sleep(AGAIN_S)
        follow_at = clock() + FOLLOW_S
        while True:
            kind.woken.clear()
            if not kind.running:
                with suppress(TimeoutError):  # with other arenas, an event may be started there
                    await asyncio.wait_for(kind.woken.wait(), None if self._is_alone else FOLLOW_S)
            done = [await self._guarded(kind, partial(kind.look, event)) for event in list(kind.running)]
            if not self._is_alone and clock() >= follow_at:
                done.append(await self._guarded(kind, follow))
                follow_at = clock() + FOLLOW_S
            await asyncio.sleep(kind.look_s if all(done) else AGAIN_S)

    async def _guarded(self, kind: EventKind, work: Callable[[], Awaitable[None]]) -> bool:
        """Await `work`; log its error and return False, so that other events go on."""
        try:
            await work()
        except LeaderboardError as problem:  # the database does not answer; nothing was lost
            self._log.warning(f"{kind.noun}s wait", text=str(problem))
        except Exception as problem:
            self._log.error(f"{kind.noun}s broke", error=type(problem).__name__, places=traceback_locations(problem))
        else:
            return True
        return False
