"""Who is there, which matches are played, and what becomes of their results.

Whoever drives a lobby lets bots in with `enter` and calls `tick` at the latest at `next_event_at`, and whenever `wake`
was called. In `tick`, and only there, matches are started, late decisions closed, and stored results told. A match is
told as over only once its result is stored (`storing.py`); while a result could not be stored, no match is started. So
while the store is slow, tables fill up and nothing is lost; while it is broken, nothing is played that could not be
kept.

Ladders may be added and their terms changed while it runs. Matches that somebody asks for (`requests.py`) come before
those of the ladders.

This module knows no stream, no clock, no chance and no database: moments, bytes of entropy and the store are handed in.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from heapq import heappop, heappush
from math import inf
from typing import Final, cast

from cutpurse.engine.chance import KEY_BYTES, Chance
from cutpurse.engine.match import EndCause
from cutpurse.sdk.wire.phrases import Phrases
from cutpurse.server.attendance import Attendance
from cutpurse.server.boards import Board, Boards
from cutpurse.server.books import Plays
from cutpurse.server.counts import Counts
from cutpurse.server.deals import dealt, dealt_for_all
from cutpurse.server.errors import Refused, legible
from cutpurse.server.invariants import QueueOver, within
from cutpurse.server.ladders import Ladder
from cutpurse.server.pairing import Pairing, Seating
from cutpurse.server.requests import WAITS_S, MatchRequest, Requested, Requests, seats_for
from cutpurse.server.results import Announced, FinishedMatch, Identity, Kept, ResultStore
from cutpurse.server.storing import RETRY_S, Log, Storing
from cutpurse.server.table import Incident, Player, Table, incident_of

__all__ = ["BotHere", "Lobby", "Log", "MatchRequest", "OpenMatch"]

LOOK_S: Final = 1.0  # between looks at how much waits
MOST_TABLES: Final = 4_096  # matches at once
MOST_STARTS: Final = 16  # matches in one tick: to deal takes a millisecond, and bots wait meanwhile
AT_ONCE: Final = 0.0  # a moment that is always due


@dataclass(frozen=True, slots=True)
class BotHere:
    """A bot that is there.  tables: at how many it sits; ladders: that it is paired on, none while it is paused."""

    identity: Identity
    tables: int
    ladders: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenMatch:
    """A match that is being played.  requested_by: the owner who asked for it; empty: it is the ladder's."""

    name: str
    ladder: Ladder
    started: datetime
    seats: tuple[Identity, ...]
    requested_by: str
    table: Table


@dataclass(slots=True, eq=False)
class _Open:
    """A match that is being played, or whose result is being stored."""

    table: Table
    players: tuple[Plays, ...]
    seating: Seating
    started: datetime
    seats: tuple[Identity, ...]
    board: Board | None = None  # if there are other matches on it
    due: float = inf  # the moment under which it waits in the lobby's queue
    is_over: bool = False


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
        # Called when a match begins, before its bots are told. They must not raise.
        self.on_started: list[Callable[[OpenMatch], None]] = []
        # What is known of a match besides, before it is stored: what its bots used, where that is measured.
        self.measured: Callable[[FinishedMatch], FinishedMatch] = lambda result: result
        self._phrases: dict[str, Phrases] = {}  # by ladder
        self._pairing = Pairing(ladders, Chance(entropy(KEY_BYTES)))
        self._attendance = Attendance(self._pairing, store, paused, self._woken)
        self._requests = Requests()
        self._boards = Boards()
        self._store = store
        self._entropy = entropy
        self._utc = utc
        self._log = log
        self._most_tables = most_tables
        self._open: dict[str, _Open] = {}  # by the name of the match
        # A heap of moments and matches; those that are not `due` then any more are passed over. Names, not matches: a
        # moment may be half a minute away, and a match that is over is not to be kept for it.
        self._queue: list[tuple[float, str]] = []
        self._is_changed = False  # since matches were last sought
        self._is_draining = False
        self.counts = counts or Counts()
        self._storing: Storing[_Open] = Storing(store, self, self.counts, log)
        self._look_at = 0.0  # when the queues are looked at next

    # -- ladders
    def ladders(self, owner: str = "") -> Mapping[str, Sequence[str]]:
        """The names of the ladders of each game that can be played here, as far as they are there for this owner."""
        return self._attendance.ladders(owner)

    def ladder_named(self, name: str) -> Ladder | None:
        """The ladder of this name, as its terms are now."""
        return self._pairing.ladder_named(name)

    def set_ladder(self, ladder: Ladder) -> None:
        """Add a ladder, or put its new terms in force; open matches go on.

        Raises ValueError if there is one of this name of which more than the terms differ.
        """
        self._pairing.set_ladder(ladder)
        self._seek()

    # -- who is there
    def check(self, identity: Identity, wanted: Mapping[str, Sequence[str]], forgets: bool = False) -> None:
        """Whether a bot that wants to play these ladders of these games may come in.

        wanted: () is every ladder of a game; empty is every game. forgets: it keeps nothing from one match to the next.
        Raises Refused: PAUSED, NOT_YOURS, FROZEN or FULL.
        """
        self._attendance.check(identity, wanted, self._utc(), forgets)

    def enter(self, session: Player) -> None:
        """A bot is there, anew or again."""
        self._attendance.enter(session)
        self._seek()

    def leave(self, session: Player) -> None:
        """A bot is gone, and gets no new match. It keeps its open tables, and is told of them."""
        self._attendance.leave(session)
        self._seek()

    def changed(self, session: Player) -> None:
        """A bot has more or fewer free tables than before."""
        self._pairing.changed(session)
        self._seek()

    def lifted(self, identity: Identity) -> None:
        """A version that was paused may play again."""
        self._storing.forgive(identity)
        self._attendance.lift(identity)
        self._seek()

    def here(self) -> list[BotHere]:
        """All bots that have a stream."""
        sits = Counter(identity for entry in self._open.values() if not entry.is_over for identity in entry.seats)
        return [
            BotHere(identity, sits[identity], self._pairing.ladders_of(player))
            for identity, player in self._attendance.here.items()
        ]

    def open_matches(self) -> list[OpenMatch]:
        """The matches that are being played, in the order in which they began."""
        return [_shown(name, entry) for name, entry in self._open.items() if not entry.is_over]

    # -- matches on request
    def request(self, wanted: MatchRequest, now: float) -> str:
        """Have a match played that is not rated, as soon as each of its bots has a free table.  Returns its name.

        House bots take the seats for which nobody was chosen. Bots of one owner may meet in it. A ladder that is frozen
        lends its rules all the same. Raises Refused: NOT_FOUND for a ladder or a bot that is not there, PAUSED, FULL,
        SETTINGS for seats or a seed that cannot be, and DRAINING.
        """
        if self._is_draining:
            raise Refused("DRAINING", "the server is stopping and begins no match")
        ladder = self._pairing.ladder_named(wanted.ladder)
        if ladder is None:
            names = ", ".join(sorted(name for names in self.ladders(wanted.by).values() for name in names))
            raise Refused("NOT_FOUND", f"no ladder is called '{legible(wanted.ladder, 40)}'; there are: {names}")
        seats = seats_for(wanted, ladder, self._attendance.here, self._attendance.is_paused)
        name = self._entropy(16).hex()
        self._requests.ask(Requested(name, ladder, seats, wanted.seed, wanted.by, now + WAITS_S))
        self._seek()
        return name

    def is_paused(self, identity: Identity) -> bool:
        """Whether this version gets no match; on any thread."""
        return self._attendance.is_paused(identity)

    def requested(self, name: str) -> str:
        """What became of a request: "waiting", "open", or "dropped: " and why; empty if it is over, or not known."""
        return self._requests.told(name)

    # -- how it is going
    @property
    def tables(self) -> int:
        """Matches that are being played, or whose results are being stored."""
        return len(self._open)

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
        return not self._open and self._pairing.is_complete

    @property
    def is_idle(self) -> bool:
        """Whether nothing is being played or stored."""
        return not self._open and not self._storing.is_behind and not self._boards.is_waiting

    # -- the course of time
    def tick(self, now: float) -> None:
        """Do what is due: tell stored results, close late decisions, start matches."""
        self._attendance.take()
        self._storing.take(now)
        due = []
        while self._queue and self._queue[0][0] <= now:
            at, name = heappop(self._queue)
            entry = self._open.get(name)
            if entry is not None and entry.due == at:
                entry.due = inf
                due.append(entry)
        for entry in due:
            entry.table.tick(now)
        self._storing.retry(now)
        self._give_up(now)
        if self._may_start:
            self._start_matches(now)
        self._check_queues(now)

    def next_event_at(self) -> float | None:
        """When `tick` has something to do though nothing else happens; a moment of 0 is at once."""
        if self._storing.has_answers or self._attendance.has_news or (self._is_changed and self._may_start):
            return AT_ONCE
        moments = [self._storing.next_event_at] if self._storing.next_event_at < inf else []
        while self._queue:
            at, name = self._queue[0]
            entry = self._open.get(name)
            if entry is not None and entry.due == at:
                moments.append(at)
                break
            heappop(self._queue)
        if self._may_start and len(self._open) < self._most_tables:  # else whatever is due waits for a table to close
            moments += [at for at in (self._pairing.next_event_at(), self._requests.next_event_at()) if at is not None]
        if (at_last := self._boards.next_event_at()) is not None:
            moments.append(at_last)
        return min(moments, default=None)

    def _check_queues(self, now: float) -> None:
        """What waits is no more than may wait; looked at once a second, and told once."""
        if now < self._look_at:
            return
        self._look_at = now + LOOK_S
        try:
            within(len(self._open), self._most_tables)
            within(self._storing.unstored, self._most_tables)
            within(self._storing.answers, self._most_tables)
        except QueueOver as problem:
            self._look_at = inf
            self._log.error("lobby broke", **asdict(incident_of(problem, self.incident_number(), "")))

    def credit(self, seconds: float) -> None:
        """The server itself stood still for so long: no bot is to pay for it."""
        for entry in self._open.values():
            entry.table.credit(seconds)

    def drain(self, now: float) -> None:
        """No match is started from now on; those that are open go on."""
        self._is_draining = True
        self._give_up(now)

    def void_all(self) -> None:
        """End every match that is still being played; by the server's fault they count for nothing."""
        for entry in list(self._open.values()):
            entry.table.void(EndCause.VOID_SERVER)

    @property
    def _may_start(self) -> bool:
        return not self._is_draining and not self._storing.is_behind

    def _woken(self) -> None:
        """The store has told something, on its thread."""
        self.wake()

    def _seek(self) -> None:
        if not self._is_changed:
            self._is_changed = True
            self.wake()

    # -- a match begins
    def _start_matches(self, now: float) -> None:
        at = self._utc()
        shut = {ladder.name for ladder in self._pairing.ladders if ladder.is_frozen(at)}
        for _ in range(min(MOST_STARTS, self._most_tables - len(self._open))):
            if not self._start_next(now, shut):
                break
        else:
            self._is_changed = len(self._open) < self._most_tables
            return
        self._is_changed = False

    def _start_next(self, now: float, shut: Container[str]) -> bool:
        """Start a match of a board that was dealt, one that was asked for, or else deal for a ladder.

        Whether there was any. Of a board of several matches they start one by one with the next calls.
        """
        begun = self._boards.next(self._attendance.here)
        if begun is not None:
            board, at, there = begun
            self._begin(board, at, now, there)
            return True
        asked = self._requests.next(self._attendance.here, now, self._boards.reserved)
        self._pairing.keep(self._requests.reserved)
        if asked is not None:
            requested, players = asked
            self._start(Seating(requested.ladder, (tuple(players),), f"{requested.by} asked for it"), now, requested)
            return True
        seating = self._pairing.next(now, shut)
        if seating is None:
            return False
        if len(seating.tables) == 1:
            self._start(seating, now, None)
        else:
            self._deal(seating, now)
        return True

    def _start(self, seating: Seating, now: float, requested: Requested | None) -> None:
        ladder, reason = seating.ladder, seating.reason
        players = cast("tuple[Player, ...]", seating.players)
        seats = tuple(player.identity for player in players)
        name, by, seed = (
            (self._entropy(16).hex(), "", None) if requested is None else (requested.name, requested.by, requested.seed)
        )
        try:
            deal = dealt(ladder, name, seats, self._entropy, seed)
            table = Table(
                ladder,
                name,
                deal,
                players,
                now,
                self._moved,
                self.incident_number,
                self._phrases_of(ladder),
                requested_by=by,
                reason=reason,
            )
        except Exception as problem:
            incident = incident_of(problem, self.incident_number(), name)
            self._tell(incident)
            if requested is not None:
                self._requests.drop(name, f"the server made a fault, number {incident.number}")
            else:
                self._pairing.ended(seating, 0.0, is_void=True)
                self._pairing.postpone(ladder, now + RETRY_S)
            return
        if by:
            self._pairing.sat(players)
        entry = _Open(table, players, seating, self._utc(), seats)
        rules = ladder.rules.words.version
        self._store.announce(Announced(name, ladder.name, rules, deal, entry.started, seats, by, reason))
        self._opened(entry)

    # -- several on one board
    def _deal(self, seating: Seating, now: float) -> None:
        """A board of several matches begins: all of them are announced, and none has begun."""
        ladder, utc = seating.ladder, self._utc()
        tables = tuple(tuple(player.identity for player in table) for table in seating.tables)
        matches = tuple(self._entropy(16).hex() for _ in tables)
        deal = dealt_for_all(ladder, dict(zip(matches, tables, strict=True)), self._entropy)
        rules = ladder.rules.words.version
        for name, seats in zip(matches, tables, strict=True):
            self._store.announce(
                Announced(name, ladder.name, rules, deal, utc, seats, reason=seating.reason, tables=tables)
            )
        self._boards.dealt(Board(seating, deal, matches, now))
        self._log.info("board dealt", board=deal.board, ladder=ladder.name, kind=ladder.boards, matches=list(matches))

    def _begin(self, board: Board, at: int, now: float, there: tuple[Plays, ...] | None = None) -> None:
        """A match of a board begins with those who are there for it; None: it is void before it was played."""
        seating, name = board.seating, board.matches[at]
        ladder, players = seating.ladder, cast("tuple[Player, ...]", there or seating.tables[at])
        if there is not None:  # some may have come anew since they were chosen
            self._pairing.rose(seating.tables[at])
            self._pairing.sat(there)
        tables = tuple(tuple(player.identity for player in table) for table in seating.tables)
        try:
            table = Table(
                ladder,
                name,
                board.deal,
                players,
                now,
                self._moved,
                self.incident_number,
                self._phrases_of(ladder),
                reason=seating.reason,
                tables=tables,
            )
        except Exception as problem:
            self._tell(incident_of(problem, self.incident_number(), name))
            self._pairing.rose(players)
            self._pairing.postpone(ladder, now + RETRY_S)
            self._ended_on(board, None, now, is_void=True)
            if board.is_over:
                board.open()
            return
        entry = _Open(table, players, seating, self._utc(), tables[at], board)
        if there is not None:
            self._opened(entry)
        else:
            self._open[name] = entry
            table.void(EndCause.VOID_SERVER)

    def _give_up(self, now: float) -> None:
        """Boards that cannot be played to their end: what has not begun of them is void."""
        if not self._boards.is_waiting:
            return
        for board, at in self._boards.given_up(now, self._attendance.is_paused, self._is_draining):
            self._begin(board, at, now)

    def _ended_on(self, board: Board, table: Table | None, now: float, is_void: bool) -> None:
        """A match of a board is over, and with the last of them the board."""
        board.ended(table, now, is_void)
        if board.is_over:
            self._boards.over(board)
            self._pairing.closed(board.seating, now - board.began, board.is_void)
            self._log.info("board ended", board=board.deal.board, is_void=board.is_void)

    # --
    def _opened(self, entry: _Open) -> None:
        """A match was dealt and announced: its bots sit down."""
        table, ladder = entry.table, entry.seating.ladder
        name, reason = table.name, table.reason
        self._open[name] = entry
        self.counts.matches_started[ladder.name] += 1
        self._log.info("match started", match=name, ladder=ladder.name, bots=list(table.match.seats), reason=reason)
        shown = _shown(name, entry)
        for tell in self.on_started:
            tell(shown)
        table.open()
        for player in entry.players:
            self._pairing.changed(player)

    def _phrases_of(self, ladder: Ladder) -> Phrases:
        """The phrases that all matches of a ladder share."""
        phrases = self._phrases.get(ladder.name)
        if phrases is None:
            phrases = self._phrases[ladder.name] = Phrases(ladder.rules, ladder.seats)
        return phrases

    # -- a match goes on
    def _moved(self, table: Table) -> None:
        entry = self._open.get(table.name)
        if entry is None or entry.is_over:  # somebody answers too late, or fetches the end
            return
        at = table.next_event_at()
        if at is None:
            entry.is_over, entry.due = True, inf
            self._finish(entry)
        elif at < entry.due:
            is_first = not self._queue or at < self._queue[0][0]
            entry.due = at
            heappush(self._queue, (at, table.name))
            if is_first:
                self.wake()

    # -- a match ends
    def _finish(self, entry: _Open) -> None:
        table = entry.table
        result = self.measured(table.finish(entry.started, self._utc()))
        if table.incident is not None:
            self._tell(table.incident)
        self._count(table)
        self._storing.submit(entry, result)

    def _count(self, table: Table) -> None:
        counts = self.counts
        counts.storing += 1
        for fault in table.match.faults:
            counts.faults[fault.cause.value] += 1
        for seconds in table.timed.thinking_times():
            counts.thinking.add(seconds)

    # -- what became of its result (`Settles`)
    def is_untold(self, entry: _Open) -> bool:
        """Whether nobody was told yet how this match ended."""
        return entry.table.name in self._open

    def follows(self, result: FinishedMatch, kept: Kept) -> None:
        """What followed from a rated match: other ratings, and maybe a pause."""
        self._pairing.rated(result.ladder, kept.changes)
        for identity in kept.paused:
            self._attendance.pause(identity)
            self._requests.forget(identity, f"{identity.shown} is paused")
            self._log.info("bot paused", owner=identity.owner, bot=identity.bot, version=identity.version)

    def tell_ended(self, entry: _Open, result: FinishedMatch, now: float) -> None:
        """It is settled how this match ended: everybody is told."""
        table = entry.table
        del self._open[table.name]
        self.counts.storing -= 1
        ended = self.counts.matches_finished if result.void is None else self.counts.matches_void
        ended[result.ladder] += 1
        is_void, board = result.void is not None, entry.board
        if board is not None:
            self._pairing.rose(entry.players)
            self._ended_on(board, table, now, is_void)
        elif result.is_rated:
            self._pairing.ended(entry.seating, now - table.began, is_void)
        else:
            self._pairing.rose(entry.players)
            self._requests.ended(table.name)
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
        self._seek()

    def stores_again(self) -> None:
        """The store takes results again: matches may begin."""
        self._seek()

    def incident_number(self) -> str:
        """A new number for a fault of the server."""
        self.counts.incidents += 1
        return self._entropy(4).hex()

    def _tell(self, incident: Incident) -> None:
        self._log.error("match broke down", **asdict(incident))


def _shown(name: str, entry: _Open) -> OpenMatch:
    table = entry.table
    return OpenMatch(name, table.ladder, entry.started, entry.seats, table.requested_by, table)
