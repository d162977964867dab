"""Who is there, when matches are begun and looked at, and what becomes of their results.

Whoever drives a lobby lets bots in with `enter` and calls `tick` at the latest at `next_event_at`, and whenever `wake`
was called. In `tick`, and only there, matches are started, late decisions closed, and stored results told. A match is
told as over only once its result is stored (`storing.py`); while a result could not be stored, no match is started. So
while the store is slow, tables fill up and nothing is lost; while it is broken, nothing is played that could not be
kept.

Ladders may be added and their terms changed while it runs. Matches that somebody asks for (`requests.py`) come before
those of the ladders. How a match or a board begins and is given up is in `match_start.py`, those that are being played
are in `open_matches.py`.

This module knows no stream, no clock, no chance and no database: moments, bytes of entropy and the store are handed in.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from math import inf
from typing import Final

from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.engine.errors import did_you_mean
from cutpurse.server.counts import Counts
from cutpurse.server.errors import CallRefused, legible
from cutpurse.server.finished_match import FinishedMatch, Identity, ResultStore, StoreOutcome
from cutpurse.server.invariants import QueueOverflow, check_queue_limit
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.admission import BotAdmission
from cutpurse.server.matches.match_start import Dealing
from cutpurse.server.matches.matchmaking import Pairing
from cutpurse.server.matches.open_matches import OpenMatch, OpenMatches, TrackedMatch, Unstored, shown
from cutpurse.server.matches.requests import WAITS_S, MatchRequest, PendingRequest, Requests, seats_for
from cutpurse.server.matches.server_match import ServerMatch, TableSession, incident_of
from cutpurse.server.matches.storing import Log, Storing

__all__ = ["OnlineBot", "Lobby", "Log", "MatchRequest", "OpenMatch"]

LOOK_S: Final = 1.0  # between looks at how much waits
MOST_TABLES: Final = 4_096  # matches at once
AT_ONCE: Final = 0.0  # a moment that is always due


@dataclass(frozen=True, slots=True)
class OnlineBot:
    """A bot that is there.  tables: at how many it sits; ladders: that it is paired on, none while it is paused."""

    identity: Identity
    tables: int
    ladders: tuple[str, ...]


class Lobby:
    """See the module's docstring. `wake` is set by whoever drives it; it may be called on any thread."""

    def __init__(
        self,
        ladders: Iterable[Ladder],
        store: ResultStore,
        *,
        entropy: Callable[[int], bytes],
        utc: Callable[[], datetime],
        log: Log,
        most_tables: int = MOST_TABLES,
        counts: Counts | None = None,
        paused: Iterable[Identity] = (),
    ) -> None:
        """`entropy` gives so many unforeseeable bytes, `utc` the time of day for the store and for ladders that freeze.

        paused: versions that get no match. Raises ValueError if two ladders have the same name.
        """
        self.wake: Callable[[], None] = lambda: None
        # What is known of a match besides, before it is stored: what its bots used, where that is measured.
        self.measured: Callable[[FinishedMatch], FinishedMatch] = lambda result: result
        self._pairing = Pairing(ladders, Chance(entropy(KEY_BYTES)))
        self._attendance = BotAdmission(self._pairing, store, paused, self._woken)
        self._requests = Requests()
        self._store = store
        self._entropy = entropy
        self._utc = utc
        self._log = log
        self._most_tables = most_tables
        self._withdrawn: deque[Identity] = deque()  # since the last `tick`
        self._is_changed = False  # since matches were last sought
        self._is_draining = False
        self.counts = counts or Counts()
        self._storing: Storing[TrackedMatch] = Storing(store, self, self.counts, log)
        self._matches = OpenMatches(self._finish, self._woken)
        self._dealing = Dealing(
            self._pairing,
            self._attendance,
            self._requests,
            self._matches,
            store,
            entropy=entropy,
            utc=utc,
            log=log,
            counts=self.counts,
            incident_number=self.incident_number,
            wake=self._woken,
        )
        # Called when a match begins, before its bots are told. They must not raise.
        self.on_started = self._dealing.on_started
        # Called when a ladder has new terms or is gone, with its name. They must not raise.
        self.on_terms: list[Callable[[str], None]] = []
        self._look_at = 0.0  # when the queues are looked at next
        self._terms_at = AT_ONCE  # when terms are looked at next: they were changed, or a ladder freezes then

    # -- ladders
    def ladders(self, owner: str = "") -> Mapping[str, Sequence[str]]:
        """List the ladders of each game by name, without those that this owner cannot see."""
        return self._attendance.ladders(owner)

    def ladder_named(self, name: str) -> Ladder | None:
        """Return the ladder of this name with its current terms."""
        return self._pairing.ladder_named(name)

    def set_ladder(self, ladder: Ladder) -> None:
        """Add a ladder, or put its new terms in force; open matches go on.

        Raises ValueError if there is one of this name of which more than the terms differ.
        """
        self._pairing.set_ladder(ladder)
        self._terms_changed(ladder.name)

    def remove_ladder(self, name: str) -> None:
        """Remove a ladder, with its bots and the matches requested there.

        Raises CallRefused if a match is being played there; its result needs the ladder.
        """
        try:
            if self._requests.is_open_on(name):
                raise ValueError(f"a match is being played on ladder {name}")
            self._pairing.remove_ladder(name)
        except ValueError as problem:
            raise CallRefused("BAD_MESSAGE", f"{problem}, and a ladder that has a match is kept") from None
        self._requests.forget_ladder(name, f"ladder {name} was deleted")
        self._dealing.forget_ladder(name)
        self._terms_changed(name)

    def _terms_changed(self, ladder: str) -> None:
        self._terms_at = AT_ONCE
        for hook in self.on_terms:
            hook(ladder)
        self._seek()

    # -- who is there
    def check(self, identity: Identity, wanted: Mapping[str, Sequence[str]], forgets: bool = False) -> None:
        """Whether a bot that wants to play these ladders of these games may come in.

        wanted: () is every ladder of a game; empty is every game. forgets: it keeps nothing from one match to the next.
        Raises CallRefused: PAUSED, NOT_YOURS, FROZEN or FULL.
        """
        self._attendance.check(identity, wanted, self._utc(), forgets)

    def enter(self, session: TableSession) -> None:
        """Admit a bot, for the first time or again."""
        self._attendance.enter(session, self._utc())
        self._seek()

    def leave(self, session: TableSession) -> None:
        """Remove a bot: it gets no new match. It keeps its open tables, and is notified of them."""
        self._attendance.leave(session)
        self._seek()

    def changed(self, session: TableSession) -> None:
        """Note that a bot has more or fewer free tables."""
        if self._pairing.changed(session):
            self._seek()

    def lifted(self, identity: Identity) -> None:
        """Let a paused version play again."""
        self._storing.forgive(identity)
        self._attendance.lift(identity)
        self._seek()

    def withdrawn(self, identity: Identity) -> None:
        """Note that a hosted version runs no more, so that no match waits for it; thread-safe."""
        self._withdrawn.append(identity)
        self._woken()

    def here(self) -> list[OnlineBot]:
        """All bots that have a stream."""
        sits = Counter(identity for entry in self._matches.played() for identity in entry.seats)
        return [
            OnlineBot(identity, sits[identity], self._pairing.ladders_of(player))
            for identity, player in self._attendance.here.items()
        ]

    def open_matches(self) -> list[OpenMatch]:
        """List the open matches in the order in which they began."""
        return [shown(entry) for entry in self._matches.played() if entry.table.is_begun]

    def unstored_matches(self) -> list[Unstored]:
        """Those that are over, and whose results are not stored yet; also the void ones, which were told before."""
        told = [
            Unstored(one.match, ladder, one.started, tuple(seat.player for seat in one.seats), one.requested_by)
            for one in self._storing.told()
            if (ladder := self._pairing.ladder_named(one.ladder)) is not None
        ]
        return [*self._matches.unstored(), *told]

    # -- matches on request
    def request(self, wanted: MatchRequest, now: float) -> str:
        """Have a match played that is not rated, as soon as each of its bots has a free table.  Returns its name.

        House bots take the seats for which nobody was chosen. Bots of one owner may meet in it. A ladder that is frozen
        lends its rules all the same. Raises CallRefused: NOT_FOUND for a ladder or a bot that is not there, PAUSED,
        NOT_YOURS for a bot that does not play at others' request, FULL, DRAINING, SETTINGS for seats or a seed that
        cannot be.
        """
        if self._is_draining:
            raise CallRefused("DRAINING", "the server is stopping and begins no match")
        ladder = self._pairing.ladder_named(wanted.ladder)
        if ladder is None:
            names = sorted(name for names in self.ladders(wanted.by).values() for name in names)
            called = f"'{legible(wanted.ladder, 40)}'{did_you_mean(wanted.ladder, names)}"
            raise CallRefused("NOT_FOUND", f"no ladder is called {called}; there are: {', '.join(names)}")
        seats = seats_for(wanted, ladder, self._attendance.here, self._attendance.is_paused)
        name = self._entropy(16).hex()
        until = now + WAITS_S
        self._requests.ask(PendingRequest(name, ladder, seats, wanted.seed, wanted.by, until, wanted.is_by_admin))
        self._seek()
        return name

    def is_paused(self, identity: Identity) -> bool:
        """Whether this version gets no match; on any thread."""
        return self._attendance.is_paused(identity)

    def requested(self, name: str) -> str:
        """Return the state of a request: "waiting", "open", or "dropped: " and why; empty if it is over or unknown."""
        told = self._requests.told(name)
        return "waiting" if told == "open" and not self._matches.is_begun(name) else told

    # -- how it is going
    @property
    def tables(self) -> int:
        """Matches that are being played, or whose results are being stored."""
        return len(self._matches)

    @property
    def unstored(self) -> int:
        """Void results that the store has not taken yet; no match is started while there are any."""
        return self._storing.unstored

    @property
    def is_storing(self) -> bool:
        """Whether the store takes results, as far as is known."""
        return not self._storing.is_behind

    @property
    def is_complete(self) -> bool:
        """Whether every ladder has had all the matches that are wanted of it, and all of them are over."""
        return not self._matches and self._pairing.is_complete

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being played or stored."""
        return not self._matches and not self._storing.is_behind and not self._dealing.is_waiting

    # -- the course of time
    def tick(self, now: float) -> None:
        """Do what is due: tell stored results, close late decisions, start matches."""
        self._attendance.take()
        self._storing.take(now)
        self._matches.tick(now)
        self._storing.retry(now)
        while self._withdrawn:
            self._dealing.withdrawn(self._withdrawn.popleft())
        self._dealing.give_up(now, self._is_draining)
        if self._may_start:
            has_more = self._dealing.start(now, self._most_tables - len(self._matches))
            self._is_changed = has_more and len(self._matches) < self._most_tables
        self._dealing.begin_announced(now, self._is_draining)
        self._look_at_terms(now)
        self._check_queues(now)

    def next_event_at(self) -> float | None:
        """When `tick` has something to do though nothing else happens; a moment of 0 is at once."""
        if self._storing.has_answers or self._dealing.has_announced or self._attendance.has_news or self._withdrawn:
            return AT_ONCE
        if self._is_changed and self._may_start:
            return AT_ONCE
        moments = [at for at in (self._storing.next_event_at, self._terms_at) if at < inf]
        if (at_first := self._matches.next_event_at()) is not None:
            moments.append(at_first)
        if (
            self._may_start and len(self._matches) < self._most_tables
        ):  # else whatever is due waits for a table to close
            moments += [at for at in (self._pairing.next_event_at(), self._requests.next_event_at()) if at is not None]
        if (at_last := self._dealing.next_event_at()) is not None:
            moments.append(at_last)
        return min(moments, default=None)

    def _look_at_terms(self, now: float) -> None:
        """For whom no match begins any more is told why: looked at when terms change, and when a ladder freezes."""
        if now < self._terms_at:
            return
        at = self._utc()
        self._attendance.reload_terms(at)
        frozen = [ladder.terms.frozen for ladder in self._pairing.ladders]
        left = [(moment - at).total_seconds() for moment in frozen if moment is not None and moment > at]
        self._terms_at = now + min(left, default=inf)

    def _check_queues(self, now: float) -> None:
        """Check once a second that no queue is too long, and log it once."""
        if now < self._look_at:
            return
        self._look_at = now + LOOK_S
        try:
            check_queue_limit(len(self._matches), self._most_tables)
            check_queue_limit(self._storing.unstored, self._most_tables)
            check_queue_limit(self._storing.answers, self._most_tables)
        except QueueOverflow as problem:
            self._look_at = inf
            self._log.error("lobby broke", **asdict(incident_of(problem, self.incident_number(), "")))

    def credit(self, seconds: float) -> None:
        """Credit a stall of the server to every clock."""
        self._matches.credit(seconds)

    def drain(self, now: float) -> None:
        """No match is started from now on; those that are open go on."""
        self._is_draining = True
        self._dealing.give_up(now, is_stopping=True)

    def void_all(self) -> None:
        """End every match that is still being played; by the server's fault they count for nothing."""
        self._matches.void_all()

    @property
    def _may_start(self) -> bool:
        return not self._is_draining and not self._storing.is_behind

    def _woken(self) -> None:
        """There is something to do; on any thread."""
        self.wake()

    def _seek(self) -> None:
        if not self._is_changed:
            self._is_changed = True
            self.wake()

    # -- a match ends
    def _finish(self, entry: TrackedMatch) -> None:
        table = entry.table
        result = self.measured(table.finish(entry.started, self._utc()))
        if table.incident is not None:
            self._log.error("match broke down", **asdict(table.incident))
        self._count(table)
        self._storing.submit(entry, result)

    def _count(self, table: ServerMatch) -> None:
        counts = self.counts
        counts.storing += 1
        for fault in table.match.faults:
            counts.faults[fault.cause.value] += 1
        counts.thinking.add(*table.timed.all_thinking_times_s())

    # -- what became of its result (`Settles`)
    def needs_notification(self, entry: TrackedMatch) -> bool:
        """Whether nobody was told yet how this match ended."""
        return entry.table.name in self._matches

    def apply_rating_changes(self, result: FinishedMatch, kept: StoreOutcome) -> None:
        """Apply what a rated match changed: pairing skills, and maybe a pause."""
        self._pairing.rated(result.ladder, kept.changes)
        for identity in kept.paused:
            self._attendance.pause(identity)
            self._requests.forget(identity, f"{identity.shown} is paused")
            self._log.info("bot paused", owner=identity.owner, bot=identity.bot, version=identity.version)

    def tell_ended(self, entry: TrackedMatch, result: FinishedMatch, now: float) -> None:
        """Notify everybody how this match ended, now that it is settled."""
        table = entry.table
        self._matches.remove(table.name)
        self.counts.storing -= 1
        ended = self.counts.matches_finished if result.void is None else self.counts.matches_void
        ended[result.ladder] += 1
        is_void, board = result.void is not None, entry.board
        self._dealing.ended(entry, now, is_rated=result.is_rated, is_void=is_void)
        is_opened = board is None or board.is_over
        self._log.info(
            "match ended",
            match=result.match,
            ladder=result.ladder,
            places=[seat.place for seat in result.seats] if is_opened else [],
            end_causes=[seat.end_cause.value for seat in result.seats],
            void=result.void.value if result.void is not None else None,
        )
        if board is None:
            table.close(result, is_rated=result.is_rated and not is_void)
        else:
            table.close(result, is_rated=is_opened and not board.is_void, is_opened=is_opened)
            if is_opened:
                board.open()
        if not table.is_begun:  # no session will say that its bot has the table again
            for player in entry.players:
                self._pairing.changed(player)
        self._seek()

    def store_recovered(self) -> None:
        """Let matches begin again, since the store takes results."""
        self._seek()

    def incident_number(self) -> str:
        """Make a new incident number."""
        self.counts.incidents += 1
        return self._entropy(4).hex()
