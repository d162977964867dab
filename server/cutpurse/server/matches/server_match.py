"""A table: one match with its clocks, put into the words of the wire for each of its seats.

A session holds one `SeatAt` for every table at which its bot sits, and nothing else of the match; the table tells the
session that there is something to send, and the session fetches it when it has room in an envelope. So a decision is
encoded once, at the moment it is sent, and its clock starts then.

If the rules break down in the middle of a match, the match is void, and what went wrong is told by a number and by
places in the code only: no text of an exception leaves this module, since it may name a hidden card. This module knows
no stream, no store and no other table; moments are handed in.
"""

from __future__ import annotations

import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import inf
from pathlib import PurePath
from typing import Final, Protocol

from cutpurse.engine.clocks import AnswerOutcome, OutcomeKind, TimedMatch
from cutpurse.engine.commitment import board_key
from cutpurse.engine.match import CORRECTIONS, FAULTS, EndCause, Match, MatchResult, OpenDecision
from cutpurse.leaderboard.results import DecisionFault, DecisionLog
from cutpurse.sdk.wire.catalogue import settings_on_the_wire
from cutpurse.sdk.wire.encode import MatchEncoder
from cutpurse.sdk.wire.phrase_cache import PhraseCache
from cutpurse.sdk.wire.wire_format import uint_field
from cutpurse.server.finished_match import Deal, FinishedMatch, FinishedSeat, Identity
from cutpurse.server.invariants import check_ended, check_seats
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.matchmaking import PairableBot
from cutpurse.server.matches.seat_notes import SeatNotes
from cutpurse.v1 import arena_pb2

__all__ = ["Incident", "TableSession", "SeatAt", "ServerMatch", "incident_of"]

_TABLE: Final = arena_pb2.MatchStarted.TABLE_FIELD_NUMBER
_SEAT: Final = arena_pb2.MatchStarted.SEAT_FIELD_NUMBER
_STALE: Final = AnswerOutcome(OutcomeKind.STALE)
_CAUSES: Final = {cause: getattr(arena_pb2, f"END_CAUSE_{cause.name}") for cause in EndCause}


class SeatAt(Protocol):
    """One seat at one table, as its session sees it. Nothing that a bot can send makes a method raise."""

    number: int  # of the table within the session, which gives it when it sits down: from 1, never twice

    @property
    def incident(self) -> str:
        """The number to quote if the platform broke down in this match; empty otherwise."""

    def started(self) -> bytes:
        """Body of MatchStarted."""

    def has_decision(self) -> bool:
        """Whether the seat is asked something."""

    def decision(self, now: float) -> bytes | None:
        """Body of the open OpenDecision with what happened since the last one, or None if the seat is asked nothing.

        Counts as handed over now. Asked for again, as after a resume, it holds the same events.
        """

    def answer(self, decision: int, option: int | None, now: float) -> AnswerOutcome:
        """Take an answer to a decision, which is numbered from 0 here and from 1 on the wire.

        Nobody is told what follows until `go_on` is called, at once or after the answers at other tables.
        """

    def give_up(self, decision: int, reason: str, now: float, whole_match: bool = False) -> AnswerOutcome:
        """Note that the bot's own code failed at a decision, or for the whole match; else as `answer`."""

    def go_on(self) -> None:
        """Whoever is asked next is told, and whoever keeps the time."""

    def note(self, decision: int, text: str, most_bytes: int) -> bool:
        """Something for the log of the seat, of which so many bytes are kept.  Whether this was kept, or a part of it.

        The decision is numbered from 1, as on the wire; 0 is before the first. Nothing is kept of what is said about
        one that was not put yet, or once the match is over.
        """

    def connected(self) -> None:
        """Note that the session has a stream again."""

    def disconnected(self) -> None:
        """Note that the session's stream is gone."""

    def ended(self) -> bytes | None:
        """Body of MatchEnded once the match is over and its result is stored; None before."""


class TableSession(PairableBot, Protocol):
    """A session, as its tables and the lobby see it. No method may raise, or call back before it has returned."""

    @property
    def wants_events(self) -> bool:
        """Whether it is told with each decision what happened since the last."""

    @property
    def wants_agenda(self) -> bool:
        """Whether observations hold what the rules still have in store."""

    def sit(self, seat: SeatAt) -> None:
        """Give its bot a seat: the seat gets its number, and the bot has one free table less. It is not told yet.

        The table is free again when the session says so to the lobby, at the earliest once `seat.ended()` is sent.
        """

    def begin(self, seat: SeatAt) -> None:
        """Tell its bot that the match of this seat begins."""

    def rise(self, seat: SeatAt) -> None:
        """Take back a seat whose match never began, and of which the bot was not told."""

    def ready(self, seat: SeatAt) -> None:
        """There is something new to send for this seat: a decision, or the end."""

    def opened(self, seat: SeatAt, body: bytes) -> None:
        """All matches of the board of this seat are over: a body of BoardOpened, for a bot that was told its end."""

    def tell(self, reason: str, text: str) -> None:
        """Tell its bot of trouble that ends nothing.  reason: a name of ErrorReason without its prefix."""


@dataclass(frozen=True, slots=True)
class Incident:
    """The platform broke down in a match: what may be logged of it."""

    number: str
    match: str
    error: str  # the type of the exception
    places: tuple[str, ...]  # in the code, as FILE:LINE FUNCTION, the innermost last


def incident_of(problem: BaseException, number: str, match: str) -> Incident:
    """Return what may be logged of an exception: where it came from, not what it says."""
    frames = traceback.extract_tb(problem.__traceback__)
    places = (f"{'/'.join(PurePath(frame.filename).parts[-2:])}:{frame.lineno} {frame.name}" for frame in frames)
    return Incident(number, match, type(problem).__name__, tuple(places))


class _MatchSeat:
    """See `SeatAt`."""

    __slots__ = ("_first", "_sent", "_table", "_told", "notes", "number", "player", "seat")

    def __init__(self, table: ServerMatch, seat: int, player: TableSession) -> None:
        self.number = 0
        self.seat = seat
        self.player = player
        self.notes: SeatNotes | None = None  # of a bot that has sent some
        self._table = table
        self._sent = -1  # the decision that was sent last
        self._first = 0  # number of the first event that was sent with it
        self._told = 0  # events sent so far

    @property
    def incident(self) -> str:
        return self._table.incident.number if self._table.incident is not None else ""

    def started(self) -> bytes:
        return self._table.started(self.seat, self.number)

    def has_decision(self) -> bool:
        return self._table.decision_of(self.seat) is not None

    def decision(self, now: float) -> bytes | None:
        table, seat = self._table, self.seat
        asked = table.match.open.get(seat)
        if asked is None or table.incident is not None:
            return None
        try:
            return self._decision(asked, now)
        except Exception as problem:
            table.broke(problem)
            table.go_on()
            return None

    def _decision(self, asked: OpenDecision, now: float) -> bytes:
        table, seat, number = self._table, self.seat, asked.number
        game, player, encoder = table.match.game, self.player, table.encoder
        first, told, log = self._first, self._told, game.log
        if number != self._sent and log is not None:
            first, told = told, len(log)
        base_left_ms, bank_left_ms = table.timed.handed_over(seat, number, now)
        body = encoder.decision(
            self.number,
            number,
            asked.ask,
            asked.options,
            encoder.observation_of(game, seat, player.wants_agenda),
            encoder.events(7, log[first:told], seat) if log is not None and player.wants_events else b"",
            first,
            base_left_ms,
            bank_left_ms,
            table.match.safe_option(seat),
        )
        self._sent, self._first, self._told = number, first, told
        return body

    def answer(self, decision: int, option: int | None, now: float) -> AnswerOutcome:
        table = self._table
        if table.incident is not None:
            return _STALE
        try:
            return table.timed.answer(self.seat, decision, option, now)
        except Exception as problem:
            table.broke(problem)
            return _STALE

    def give_up(self, decision: int, reason: str, now: float, whole_match: bool = False) -> AnswerOutcome:
        table = self._table
        if table.incident is not None:
            return _STALE
        try:
            return table.timed.give_up(self.seat, decision, reason, now, whole_match)
        except Exception as problem:
            table.broke(problem)
            return _STALE

    def go_on(self) -> None:
        self._table.go_on()

    def note(self, decision: int, text: str, most_bytes: int) -> bool:
        table = self._table
        if table.over or decision > table.match.asked(self.seat):
            return False
        if self.notes is None:
            self.notes = SeatNotes(most_bytes)
        return self.notes.take(decision, text)

    def connected(self) -> None:
        self._table.timed.connected(self.seat)
        if self.notes is not None:
            self.notes.connected()

    def disconnected(self) -> None:
        self._table.timed.disconnected(self.seat)

    def ended(self) -> bytes | None:
        return self._table.ended(self.seat, self.number, self._told, self.player.wants_events)


class ServerMatch:
    """One match. Whoever drives it calls `tick` when `next_event_at` says so, and `close` once the result is stored."""

    def __init__(
        self,
        ladder: Ladder,
        name: str,
        deal: Deal,
        players: Sequence[TableSession],
        now: float,
        moved: Callable[[ServerMatch], None],
        incident_number: Callable[[], str],
        phrases: PhraseCache,
        *,
        requested_by: str = "",
        reason: str = "",
        tables: tuple[tuple[Identity, ...], ...] = (),
    ) -> None:
        """Deals; raises what the rules raise, and SeatTaken. Nobody is told before `begin`.

        `name` is that of the match, `phrases` are those of the ladder's game and number of seats. `moved` is called
        when the match is over, and whenever `next_event_at` may be before `look_by`. requested_by: the owner who asked
        for this match, which then is not rated. reason: why these bots meet. tables: who sits in each match of its
        board, if that has more than this one.
        """
        self.ladder = ladder
        self.name = name
        self.deal = deal
        self.incident: Incident | None = None
        self.began = now
        self.look_by = inf  # whoever drives it has made sure that he calls `tick` then
        self.requested_by = requested_by
        self.reason = reason
        self.tables = tables
        # Called after each change of the game, and once when it closes. They must not raise.
        self.on_moved: list[Callable[[ServerMatch], None]] = []
        check_seats(players)
        rules, control = ladder.rules, ladder.control
        names = [player.identity.recorded for player in players]
        key = board_key(deal.seed, deal.params)
        # Also where nobody reads events: the record of the match has their digests.
        self.match = Match(rules, names, key, ladder.settings, log=True, hold_polls=True, ask_all=True)
        self.timed = TimedMatch(self.match, control, now)
        self.encoder = MatchEncoder(rules, self.match.game.settings, len(players), phrases)
        self.seats = tuple(
            _MatchSeat(self, seat, player) for seat, player in enumerate(players)
        )  # none once it is closed
        self._identities = tuple(player.identity for player in players)
        self._moved = moved
        self._incident_number = incident_number
        self._beginning = b""  # as seats are told of it, once it was
        self._ending: FinishedMatch | None = None
        self._is_rated = False
        self.is_begun = False
        self._is_seated = False
        self._is_opened = False  # what was dealt is told
        self._sealed_seats: tuple[_MatchSeat, ...] = ()  # of those who were told the end without it

    # -- what is to be sent
    def seat(self) -> None:
        """Seat the bots, which are not told of it yet."""
        self._is_seated = True
        for seat in self.seats:
            seat.player.sit(seat)

    def begin(self, now: float) -> None:
        """Tell the bots that the match begins; the clocks have stood still since it was dealt."""
        self.is_begun = True
        self.timed.credit(max(0.0, now - self.began))
        self.began = now
        for seat in self.seats:
            seat.player.begin(seat)
        self.go_on()

    def go_on(self) -> None:
        """Tell whoever is asked something new, and whoever keeps the time."""
        seats = self.seats
        for decision in self.timed.opened():
            seat = seats[decision.seat]
            seat.player.ready(seat)
        for tell in self.on_moved:
            tell(self)
        # Mostly there is nothing new for whoever keeps the time, and to work the moment out takes longer than all else.
        if not self.match.open or self.timed.none_ends_before < self.look_by or self.incident is not None:
            self._moved(self)

    def decision_of(self, seat: int) -> OpenDecision | None:
        """Return the open decision of a seat."""
        return self.match.decision(seat) if self.incident is None else None

    def started(self, seat: int, number: int) -> bytes:
        """MatchStarted for a seat, to whose session this table has this number."""
        if not self._beginning:
            self._beginning = self._begins()
        return uint_field(_TABLE, number) + self._beginning + uint_field(_SEAT, seat)

    def _begins(self) -> bytes:
        """MatchStarted without what differs from seat to seat."""
        ladder, control = self.ladder, self.ladder.control
        return arena_pb2.MatchStarted(
            match=self.name,
            game=ladder.game,
            rules_version=ladder.rules.words.version,
            catalogue_digest=self.encoder.digest,
            settings=settings_on_the_wire(self.match.game.settings),
            seats=[arena_pb2.SeatTaken(bot=who.bot, version=who.version, owner=who.owner) for who in self._identities],
            clock=arena_pb2.Clock(
                base_ms=control.base_ms,
                bank_ms=control.bank_ms,
                grace_ms=control.grace_ms,
                corrections=CORRECTIONS,
                max_faults=FAULTS,
                poll_floor_ms=control.poll_floor_ms,
                handover_ms=control.handover_ms,
            ),
            commitment=self.deal.commitment,
            board=self.deal.board,
            ladder="" if self.requested_by else ladder.name,
        ).SerializeToString()

    def ended(self, seat: int, number: int, told: int, wants_events: bool) -> bytes | None:
        """MatchEnded for a seat that was told of the first `told` events; None before `close`."""
        ending = self._ending
        if ending is None:
            return None
        body = arena_pb2.MatchEnded(
            table=number,
            first_event=told,
            seats=[
                arena_pb2.SeatOutcome(place=one.place, score=one.score, end_cause=_CAUSES[one.end_cause])
                for one in ending.seats
            ],
            voided=ending.void is not None,
            rated=self._is_rated,
            opening=self._opening() if self._is_opened else None,
        ).SerializeToString()
        # What a broken game has told may be wrong, and may be what breaks it.
        if wants_events and self.incident is None and self.match.game.log is not None:
            body += self.encoder.events(3, self.match.game.log[told:], seat)
        return body

    # -- the course of time
    @property
    def over(self) -> bool:
        """Whether there is a result."""
        return self.incident is not None or self.match.over

    def next_event_at(self) -> float | None:
        """When `tick` may have something to do, whatever is fetched before; None once the match is over."""
        return self.timed.next_poll_at() if self.incident is None else None

    def tick(self, now: float) -> None:
        """Close what is late."""
        if self.over:
            return
        try:
            self.timed.tick(now)
        except Exception as problem:
            self.broke(problem)
        self.go_on()

    def credit(self, seconds: float) -> None:
        """Credit a stall of the server to every clock."""
        self.timed.credit(seconds)

    def void(self, cause: EndCause) -> None:
        """End the match, counting for nothing."""
        if self.over:
            return
        try:
            self.timed.void(cause)
        except Exception as problem:
            self.broke(problem)
        if self.is_begun:
            self.go_on()
        else:  # nobody was told that it was to begin
            self._moved(self)

    def broke(self, problem: Exception) -> None:
        """End the match because the rules, or the code around them, broke down; withdraw its decisions."""
        if self.incident is None:
            self.incident = incident_of(problem, self._incident_number(), self.name)

    # -- how it ends
    def finish(self, started: datetime, finished: datetime) -> FinishedMatch:
        """Return the result of a match that is over."""
        faults = Counter(fault.seat for fault in self.match.faults)
        result = self._result()
        void = next((cause for cause in result.end_causes if cause.is_void), None)
        seats = len(self.seats)
        places = result.places if void is None else (0,) * seats
        scores = result.scores if void is None else (0,) * seats
        return FinishedMatch(
            match=self.name,
            ladder=self.ladder.name,
            game=self.ladder.game,
            rules_version=self.ladder.rules.words.version,
            settings=self.ladder.settings,
            deal=self.deal,
            started=started,
            finished=finished,
            seats=tuple(
                FinishedSeat(
                    player=seat.player.identity,
                    place=place,
                    score=score,
                    end_cause=end_cause,
                    faults=faults[seat.seat],
                    thinking_ms=self.timed.thinking_ms(seat.seat),
                    course=self._course(seat.seat),
                    notes=seat.notes.kept() if seat.notes is not None else (),
                    dropped_bytes=seat.notes.dropped_bytes if seat.notes is not None else 0,
                )
                for seat, place, score, end_cause in zip(self.seats, places, scores, result.end_causes, strict=True)
            ),
            decisions=len(self.match.choices),
            void=void,
            played=self.match,
            is_rated=not self.requested_by,
            requested_by=self.requested_by,
            reason=self.reason,
            tables=self.tables,
        )

    def _course(self, seat: int) -> DecisionLog:
        faults = [
            DecisionFault(fault.number + 1, fault.place, fault.cause.value, fault.reason)
            for fault in self.match.faults
            if fault.seat == seat
        ]
        return DecisionLog(tuple(self.timed.thinking_times(seat)), tuple(faults))

    def _result(self) -> MatchResult:
        if self.incident is None:
            try:
                result = self.timed.result()
                check_ended(self.match, result)
                return result
            except Exception as problem:
                self.broke(problem)
        return MatchResult((), (), (EndCause.VOID_SERVER,) * len(self.seats))

    def close(self, ending: FinishedMatch, is_rated: bool, is_opened: bool = True) -> None:
        """Notify every seat, now that the result is settled.

        is_opened: and what was dealt; else others play with the same cards, and it is told later by `unseal`.
        """
        self._ending, self._is_rated, self._is_opened = ending, is_rated, is_opened
        # Sessions hold the seats until their bots have heard of it, and a seat its table. Were the table to hold them
        # too, what is over would wait for the garbage collector, which would have to look at all that is not.
        seats, self.seats = self.seats, ()
        if not is_opened and self.is_begun:
            self._sealed_seats = seats
        for seat in seats if self._is_seated else ():
            if self.is_begun:
                seat.player.ready(seat)
            else:
                seat.player.rise(seat)
        hooks, self.on_moved = self.on_moved, []
        for tell in hooks:
            tell(self)

    def unseal(self, is_rated: bool) -> None:
        """All matches of the board are over: those who were told the end of this one are told what was dealt."""
        self._is_rated, self._is_opened = is_rated, True
        body = arena_pb2.BoardOpened(
            match=self.name, board=self.deal.board, opening=self._opening(), rated=is_rated
        ).SerializeToString()
        seats, self._sealed_seats = self._sealed_seats, ()
        for seat in seats:
            seat.player.opened(seat, body)

    def _opening(self) -> arena_pb2.Opening:
        return arena_pb2.Opening(seed=self.deal.seed, params=self.deal.params)
