"""A match on the server, with its clocks, encoded for each of its seats.

A session holds one `SeatAt` for each match of its bot and knows nothing else of the match. The match notifies the
session that there is something to send, and the session fetches it when an envelope has room. So a decision is encoded
once, when it is sent, and its clock starts then.

If the rules raise an error in a match, the match is void. The error is reported by its number and by places in the code
only. No text of an exception leaves this module, since it may name a hidden card.

While the nonces of the deal are missing (`deal_nonces.py`), the bots know the match, but there is no decision to fetch.
The cards are then dealt anew from the key with the nonces; nobody was shown those that lay there before.

This module knows no stream, no store and no other match; times are passed in.
"""

from __future__ import annotations

import json
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from math import inf
from pathlib import PurePath
from typing import Final, Protocol

from cutpurse.engine.clocks import AnswerOutcome, OutcomeKind, TimedMatch
from cutpurse.engine.commitment import board_key
from cutpurse.engine.match import CORRECTIONS, FAULTS, EndCause, Match, MatchResult, OpenDecision
from cutpurse.engine.record import write_record
from cutpurse.leaderboard.results import (
    Deal,
    DecisionFault,
    DecisionLog,
    DecisionUsage,
    FinishedMatch,
    FinishedSeat,
    Identity,
    no_record,
)
from cutpurse.server.invariants import check_ended, check_seats
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.deal_nonces import WAITS_S, DealNonces
from cutpurse.server.matches.deals import opening_to_proto
from cutpurse.server.matches.match_stages import BEGUN, MATCH_STAGES, MatchEvent, MatchStage
from cutpurse.server.matches.matchmaking import PairableBot
from cutpurse.server.matches.seat_notes import SeatNotes
from cutpurse.server.matches.start_position import StartPosition
from cutpurse.server.state_table import next_state
from cutpurse.v1 import arena_pb2
from cutpurse.wire.catalogue import settings_on_the_wire
from cutpurse.wire.encode import DECISION_EVENTS, ENDED_EVENTS, MatchEncoder
from cutpurse.wire.hidden_names import hidden_seat
from cutpurse.wire.phrase_cache import PhraseCache
from cutpurse.wire.wire_format import uint_field

__all__ = ["Incident", "MatchPlan", "TableSession", "SeatAt", "ServerMatch", "incident_of"]

MAX_DELAY_S: Final = 1.0  # in total, of a machine that runs bots of the match
_TABLE: Final = arena_pb2.MatchStarted.TABLE_FIELD_NUMBER
_SEAT: Final = arena_pb2.MatchStarted.SEAT_FIELD_NUMBER
_NONCE_MS: Final = arena_pb2.MatchStarted.NONCE_MS_FIELD_NUMBER
_STALE: Final = AnswerOutcome(OutcomeKind.STALE)
_UNKNOWN: Final = AnswerOutcome(OutcomeKind.UNKNOWN_DECISION)
_CAUSES: Final = {cause.value: getattr(arena_pb2, f"END_CAUSE_{cause.name}") for cause in EndCause}
# for bots and spectators whose program may not know the newest cause
_CAUSES_BEFORE_OUTAGES: Final = {**_CAUSES, EndCause.VOID_OUTAGE.value: arena_pb2.END_CAUSE_VOID_OPERATOR}


class SeatAt(Protocol):
    """One seat in one match, as its session sees it. No method raises, whatever a bot sends."""

    number: int  # number of the table within the session, which assigns it: from 1, never reused

    @property
    def incident(self) -> str:
        """The incident number if the server failed in this match; empty otherwise."""

    def started(self) -> bytes:
        """Return the body of MatchStarted."""

    def has_decision(self) -> bool:
        """Return whether the seat has an open decision."""

    def decision(self, now: float) -> bytes | None:
        """Return the body of the open decision with the events since the previous one; None if there is none.

        The decision counts as handed over at `now`. A repeated call, as after a resume, returns the same events.
        """

    def answer(self, decision: int, option: int | None, now: float) -> AnswerOutcome:
        """Accept an answer to a decision, numbered from 0 here and from 1 on the wire.

        No bot is notified of the consequences before `go_on`, which follows at once or after the answers in other
        matches.
        """

    def give_up(self, decision: int, reason: str, now: float, whole_match: bool = False) -> AnswerOutcome:
        """Note that the bot's own code failed at a decision, or for the whole match; otherwise as `answer`."""

    def nonce(self, nonce: bytes, now: float) -> AnswerOutcome:
        """Accept a nonce for the deal, read at `now`; the last one that is missing lets the match go on."""

    def go_on(self) -> None:
        """Notify the bots with new decisions, and the timekeeper."""

    def note(self, decision: int, text: str, most_bytes: int) -> bool:
        """Store a note in the log of the seat.

        Notes on decisions that are not open yet, and notes after the end of the match, are not stored.

        Args:
            decision: Number from 1, as on the wire; 0 means before the first.
            text: The note.
            most_bytes: Maximum bytes to store for the seat.

        Returns:
            Whether all or part of the note was stored.
        """

    def report(self, usage: DecisionUsage) -> None:
        """Store what the bot used for a decision; a later report of the same decision replaces it.

        Reports on decisions that are not open yet, and reports after the end of the match, are not stored. An outage at
        an open decision voids the match, if the ladder's terms and the owner's limit allow it.
        """

    def connected(self) -> None:
        """Note that the session has a stream again."""

    def disconnected(self) -> None:
        """Note that the session lost its stream."""

    def ended(self) -> bytes | None:
        """Return the body of MatchEnded once the match is over and its result is stored; None before."""


class TableSession(PairableBot, Protocol):
    """A session, as its matches and the lobby see it. No method may raise, or call back before it returns."""

    @property
    def wants_events(self) -> bool:
        """Whether each decision carries the events since the previous one."""

    @property
    def wants_agenda(self) -> bool:
        """Whether observations include the agenda."""

    @property
    def sends_usage(self) -> bool:
        """Whether its bot reports what it used, and so knows the end cause VOID_OUTAGE."""

    @property
    def sends_nonces(self) -> bool:
        """Whether its bot adds a nonce to a deal; not if the server runs it."""

    @property
    def is_for_tests(self) -> bool:
        """Whether it is online for version tests alone, and so is not paired on its ladders."""

    def sit(self, seat: SeatAt) -> None:
        """Give its bot a seat: number the seat and take one free table. The bot is not notified yet.

        The session reports the table as free to the lobby, at the earliest once `seat.ended()` is sent.
        """

    def begin(self, seat: SeatAt) -> None:
        """Notify its bot that the match of this seat begins."""

    def rise(self, seat: SeatAt) -> None:
        """Take back a seat whose match never began; its bot was never notified."""

    def ready(self, seat: SeatAt) -> None:
        """Note that this seat has something new to send: a decision or the end."""

    def opened(self, seat: SeatAt, body: bytes) -> None:
        """Send a body of BoardOpened: all matches of the seat's board are over, after its own end was sent."""

    def tell(self, reason: str, text: str) -> None:
        """Notify its bot of an error that does not end the session.  `reason` is an ErrorReason without its prefix."""


@dataclass(frozen=True, slots=True)
class Incident:
    """A failure of the server in a match, as far as it may be logged."""

    number: str
    match: str
    error: str  # the type of the exception
    places: tuple[str, ...]  # places in the code, as FILE:LINE FUNCTION, innermost last


def incident_of(problem: BaseException, number: str, match: str) -> Incident:
    """Return what may be logged of an exception: its type and where it was raised, but not its text."""
    frames = traceback.extract_tb(problem.__traceback__)
    places = (f"{'/'.join(PurePath(frame.filename).parts[-2:])}:{frame.lineno} {frame.name}" for frame in frames)
    return Incident(number, match, type(problem).__name__, tuple(places))


class _MatchSeat:
    """One seat of a `ServerMatch`, see `SeatAt`."""

    __slots__ = ("_first", "_sent", "_table", "_told", "notes", "number", "player", "seat", "usages")

    def __init__(self, table: ServerMatch, seat: int, player: TableSession) -> None:
        self.number = 0
        self.seat = seat
        self.player = player
        self.notes: SeatNotes | None = None  # None until the bot sends a note
        self.usages: dict[int, DecisionUsage] = {}  # by decision, from 1
        self._table = table
        self._sent = -1  # the latest decision sent
        self._first = 0  # number of the first event sent with it
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
        open_decision = table.match.open.get(seat)
        if open_decision is None or table.incident is not None or not table.is_dealt:
            return None
        try:
            return self._decision(open_decision, now)
        except Exception as problem:
            table.broke(problem)
            table.go_on()
            return None

    def _decision(self, open_decision: OpenDecision, now: float) -> bytes:
        table, seat, number = self._table, self.seat, open_decision.number
        game, player, encoder = table.match.game, self.player, table.encoder
        first, event_count, log = self._first, self._told, game.log
        if number != self._sent and log is not None:
            first, event_count = event_count, len(log)
        base_left_ms, bank_left_ms = table.timed.handed_over(seat, number, now)
        body = encoder.decision(
            self.number,
            number,
            open_decision.ask,
            open_decision.options,
            encoder.observation_of(game, seat, player.wants_agenda),
            encoder.events(DECISION_EVENTS, log[first:event_count], seat)
            if log is not None and player.wants_events
            else b"",
            first,
            base_left_ms,
            bank_left_ms,
            table.match.safe_option(seat),
        )
        self._sent, self._first, self._told = number, first, event_count
        return body

    def answer(self, decision: int, option: int | None, now: float) -> AnswerOutcome:
        table = self._table
        if table.incident is not None:
            return _STALE
        if not table.is_dealt:
            return _UNKNOWN
        try:
            return table.timed.answer(self.seat, decision, option, now)
        except Exception as problem:
            table.broke(problem)
            return _STALE

    def give_up(self, decision: int, reason: str, now: float, whole_match: bool = False) -> AnswerOutcome:
        table = self._table
        if table.incident is not None:
            return _STALE
        if not table.is_dealt:
            return _UNKNOWN
        try:
            return table.timed.give_up(self.seat, decision, reason, now, whole_match)
        except Exception as problem:
            table.broke(problem)
            return _STALE

    def nonce(self, nonce: bytes, now: float) -> AnswerOutcome:
        return self._table.nonce(self.seat, nonce, now)

    def go_on(self) -> None:
        self._table.go_on()

    def note(self, decision: int, text: str, most_bytes: int) -> bool:
        table = self._table
        if table.over or decision > (table.match.asked(self.seat) if table.is_dealt else 0):
            return False
        if self.notes is None:
            self.notes = SeatNotes(most_bytes)
        return self.notes.take(decision, text)

    def report(self, usage: DecisionUsage) -> None:
        table = self._table
        if table.is_dealt and not table.over and 1 <= usage.decision <= table.match.asked(self.seat):
            self.usages[usage.decision] = usage
            if usage.fallback == "outage":
                table.outage(self.seat, usage.decision)

    def connected(self) -> None:
        self._table.timed.connected(self.seat)
        if self.notes is not None:
            self.notes.connected()

    def disconnected(self) -> None:
        self._table.timed.disconnected(self.seat)

    def ended(self) -> bytes | None:
        return self._table.ended(self.seat, self.number, self._told, self.player.wants_events, self.player.sends_usage)


def _seat_taken(identity: Identity) -> arena_pb2.SeatTaken:
    return arena_pb2.SeatTaken(bot=identity.bot, version=identity.version, owner=identity.owner)


@dataclass(frozen=True, slots=True)
class MatchPlan:
    """A match to be played.

    Attributes:
        ladder: The ladder whose rules and clocks apply.
        name: The match ID.
        deal: The deal of its board.
        requested_by: Owner who requested the match, which is then not rated.
        reason: Why these bots meet.
        board_matches: Number of matches on its board.
        position: Position to play on from; None for a new deal.
        nonces: Nonces of its board; None if no seat is to add one.
        hides_names: Whether its bots do not learn whom they play against.
    """

    ladder: Ladder
    name: str
    deal: Deal
    requested_by: str = ""
    reason: str = ""
    board_matches: int = 1
    position: StartPosition | None = None
    nonces: DealNonces | None = None
    hides_names: bool = False


class ServerMatch:
    """One match, driven by the event loop.

    The loop calls `tick` at `next_event_at`, and `close` once the result is stored.
    """

    def __init__(
        self,
        plan: MatchPlan,
        players: Sequence[TableSession],
        now: float,
        moved: Callable[[ServerMatch], None],
        incident_number: Callable[[], str],
        phrases: PhraseCache,
        take_outage: Callable[[str, Identity], bool] = lambda ladder, bot: False,
    ) -> None:
        """Deal the match. No bot is notified before `begin`.

        Raises what the rules raise.

        Args:
            plan: What is to be played.
            players: The sessions by seat.
            now: Seconds on the lobby's clock.
            moved: Called when the match is over, and whenever `next_event_at` may be before `look_by`.
            incident_number: Returns a new incident number.
            phrases: Phrase cache of the ladder's game and number of seats.
            take_outage: Returns whether an outage of a bot's model may void a match on a ladder, and counts it.

        Raises:
            SeatTaken: If a bot would sit in two seats.
        """
        ladder, deal = plan.ladder, plan.deal
        self.ladder = ladder
        self.name = plan.name
        self.deal = deal
        self.is_dealt = plan.nonces is None  # whether the cards are those that are played
        self._nonces = plan.nonces
        self._tell_dealt: Callable[[], None] | None = None
        self.board: str = json.loads(deal.params)["board"]  # as its bots know it
        self.incident: Incident | None = None
        self.began = now
        self.delayed_s = 0.0  # in total, see `delay`
        self.look_by = inf  # the time at which the event loop is sure to call `tick`
        self.requested_by = plan.requested_by
        self.reason = plan.reason
        self.board_matches = plan.board_matches
        self._hides_names = plan.hides_names
        # Called after each change of the game, and once when the match closes. They must not raise.
        self.on_moved: list[Callable[[ServerMatch], None]] = []
        check_seats(players)
        self._names = [player.identity.recorded for player in players]
        self._deal_cards(now, plan.position)
        self.encoder = MatchEncoder(ladder.rules, self.match.game.settings, len(players), phrases)
        self.seats = tuple(_MatchSeat(self, seat, player) for seat, player in enumerate(players))  # empty after `close`
        self._identities = tuple(player.identity for player in players)
        self._moved = moved
        self._incident_number = incident_number
        self._take_outage = take_outage
        self._beginning = b""  # MatchStarted without the parts of a seat, or hidden names, once encoded
        self._ending: FinishedMatch | None = None
        self._is_rated = False
        self._stage = MatchStage.DEALT
        self._sealed_seats: tuple[_MatchSeat, ...] = ()  # seats that know the end, but not the deal

    def _deal_cards(self, now: float, position: StartPosition | None = None) -> None:
        """Deal the cards from the key of the board.  Raises what the rules raise."""
        rules, deal = self.ladder.rules, self.deal
        key = board_key(deal.seed, deal.params, deal.by_seat)
        # The event log is needed even if no bot wants events: the record contains digests of them.
        start = None if position is None else position.imagined(key)
        settings = self.ladder.settings
        self.match = Match(rules, self._names, key, settings, log=True, hold_polls=True, ask_all=True, position=start)
        # A record begins with a deal, so a match from a position has none.
        self._make_record = partial(write_record, self.match) if start is None else no_record
        self.timed = TimedMatch(self.match, self.ladder.control, now)

    def _happened(self, event: MatchEvent) -> None:
        self._stage = next_state(MATCH_STAGES, self._stage, event)

    @property
    def is_begun(self) -> bool:
        """Whether its bots know the match, and it waits for no nonces any more."""
        return self._stage in BEGUN

    # -- to send
    def seat(self) -> None:
        """Seat the bots, without notifying them."""
        self._happened(MatchEvent.SEAT)
        for seat in self.seats:
            seat.player.sit(seat)

    def begin(self, now: float, tell_dealt: Callable[[], None] = lambda: None) -> None:
        """Notify the bots that the match begins, once the nonces of its board are settled or else before.

        Args:
            now: Seconds on the lobby's clock; the clocks did not run since the deal.
            tell_dealt: Called when the cards are dealt, before any bot is notified of a decision.
        """
        nonces, self._tell_dealt = self._nonces, tell_dealt
        if nonces is not None and not nonces.match:
            nonces.ask(self.name, [seat.player.sends_nonces for seat in self.seats], now)
        if nonces is None or nonces.is_settled:
            self._begin(now, is_known=False)
            return
        self._happened(MatchEvent.ASK)
        for seat in self.seats:
            seat.player.begin(seat)
        nonces.on_settled.append(self._settled)
        self._moved(self)

    def _settled(self, now: float) -> None:
        """Begin to play, since the nonces of the board are settled."""
        if not self.over:
            self._begin(now, is_known=True)

    def _begin(self, now: float, *, is_known: bool) -> None:
        """Deal the cards that are played, and notify the bots; `is_known` says whether they know of the match."""
        self._happened(MatchEvent.BEGIN)
        self.timed.credit(max(0.0, now - self.began))
        self.began = now
        try:
            self._add_nonces(now)
        except Exception as problem:
            self.broke(problem)
        tell_dealt, self._tell_dealt = self._tell_dealt, None
        if self.incident is None and tell_dealt is not None:
            tell_dealt()
        if not is_known:
            for seat in self.seats:
                seat.player.begin(seat)
        self.go_on()

    def _add_nonces(self, now: float) -> None:
        """Deal anew if the nonces change the key.  Raises what the rules raise."""
        nonces = None if self._nonces is None else self._nonces.settled
        self.is_dealt = True
        if nonces is None:
            return
        self.deal = self.deal._replace(nonces=nonces)
        before = self.timed
        self._deal_cards(now)
        for seat in self.seats:
            if before.is_away(seat.seat):
                self.timed.disconnected(seat.seat)

    def nonce(self, seat: int, nonce: bytes, now: float) -> AnswerOutcome:
        """Accept the nonce of a seat for the deal of the board."""
        if self.over:
            return _STALE
        return _UNKNOWN if self._nonces is None else self._nonces.take(self.name, seat, nonce, now)

    def go_on(self) -> None:
        """Notify the bots with new decisions, and the timekeeper."""
        seats = self.seats
        for decision in self.timed.opened():
            seat = seats[decision.seat]
            seat.player.ready(seat)
        for tell in self.on_moved:
            tell(self)
        # The timekeeper mostly has no news, and computing the time takes longer than everything else here.
        if not self.match.open or self.timed.none_ends_before < self.look_by or self.incident is not None:
            self._moved(self)

    def decision_of(self, seat: int) -> OpenDecision | None:
        """Return the open decision of a seat."""
        return self.match.decision(seat) if self.incident is None and self.is_dealt else None

    def started(self, seat: int, number: int) -> bytes:
        """Return MatchStarted for a seat.  `number` is the table's number in the session."""
        if not self._beginning:
            self._beginning = self._begins()
        asks = not self.over and self._nonces is not None and self._nonces.awaits(self.name, seat)
        wait = uint_field(_NONCE_MS, round(WAITS_S * 1_000)) if asks else b""
        seats = self._seats_for(seat) if self._hides_names else b""
        return uint_field(_TABLE, number) + self._beginning + uint_field(_SEAT, seat) + seats + wait

    def _seats_for(self, seat: int) -> bytes:
        """Encode the bots of all seats for MatchStarted, with the name of this seat's bot only."""
        seats = [arena_pb2.SeatTaken(bot=hidden_seat(number)) for number in range(len(self._identities))]
        seats[seat] = _seat_taken(self._identities[seat])
        return arena_pb2.MatchStarted(seats=seats).SerializeToString()

    def _begins(self) -> bytes:
        """Encode the part of MatchStarted that all seats share."""
        ladder, control = self.ladder, self.ladder.control
        return arena_pb2.MatchStarted(
            match=self.name,
            game=ladder.game,
            rules_version=ladder.rules.words.version,
            catalogue_digest=self.encoder.digest,
            settings=settings_on_the_wire(self.match.game.settings),
            seats=() if self._hides_names else map(_seat_taken, self._identities),
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
            board=self.board,
            # A bot that knew of a version test, which has two matches on a board, could play differently in it.
            ladder="" if self.requested_by and self.board_matches == 1 else ladder.name,
        ).SerializeToString()

    def ended(self, seat: int, number: int, told: int, wants_events: bool, knows_outages: bool = False) -> bytes | None:
        """Return MatchEnded for a seat, with the number of events it has received; None before `close`."""
        ending = self._ending
        if ending is None:
            return None
        causes = _CAUSES if knows_outages else _CAUSES_BEFORE_OUTAGES
        body = arena_pb2.MatchEnded(
            table=number,
            first_event=told,
            seats=[
                arena_pb2.SeatOutcome(place=one.place or 0, score=one.score or 0, end_cause=causes[one.end_cause])
                for one in ending.seats
            ],
            voided=ending.is_void,
            rated=self._is_rated,
            opening=self._opening() if self._stage is MatchStage.OVER else None,
        ).SerializeToString()
        # Events of a broken game may be wrong, or may themselves raise.
        if wants_events and self.is_dealt and self.incident is None and self.match.game.log is not None:
            body += self.encoder.events(ENDED_EVENTS, self.match.game.log[told:], seat)
        return body

    # -- driving
    @property
    def over(self) -> bool:
        """Whether there is a result."""
        return self.incident is not None or self.match.over

    def next_event_at(self) -> float | None:
        """Return when `tick` is next due, whatever is fetched before; None once the match is over."""
        if self.over:
            return None
        if self._stage is MatchStage.ASKED and self._nonces is not None:
            return self._nonces.until
        return self.timed.next_poll_at()

    def tick(self, now: float) -> None:
        """Close late decisions."""
        if self.over:
            return
        if self._stage is MatchStage.ASKED and self._nonces is not None:
            self._nonces.tick(now)
            if self._stage is MatchStage.ASKED:
                self._moved(self)
            return
        try:
            self.timed.tick(now)
        except Exception as problem:
            self.broke(problem)
        self.go_on()

    def credit(self, seconds: float) -> None:
        """Credit a stall of the server, in seconds, to every clock; before the match begins none runs."""
        if self.is_begun:
            self.timed.credit(seconds)
        elif self._stage is MatchStage.ASKED and self._nonces is not None and self._nonces.match == self.name:
            self._nonces.credit(seconds)

    def delay(self, seconds: float) -> bool:
        """Credit a delay of some of its bots that is not their own, as of the machine that runs them.

        All clocks stand still, so that no seat can think longer than the others. Beyond MAX_DELAY_S in total the match
        is void.

        Returns:
            Whether that made it void.
        """
        if self.over:
            return False
        self.credit(seconds)
        self.delayed_s += seconds
        if self.delayed_s <= MAX_DELAY_S:
            return False
        self.void(EndCause.VOID_SERVER)
        return True

    def void(self, cause: EndCause) -> None:
        """Void the match, so that it counts for nothing."""
        if self.over:
            return
        try:
            self.timed.void(cause)
        except Exception as problem:
            self.broke(problem)
        if self.is_begun:
            self.go_on()
        else:  # its bots were never notified, or only asked for nonces
            self._moved(self)

    def outage(self, seat: int, decision: int) -> None:
        """Void the match because a bot's model cannot be reached at its open decision, numbered from 1, if it may."""
        open_decision = self.match.open.get(seat)
        if not self.ladder.terms.voids_outages or open_decision is None or open_decision.number + 1 != decision:
            return
        if self._take_outage(self.ladder.name, self._identities[seat]):
            self.void(EndCause.VOID_OUTAGE)

    def broke(self, problem: Exception) -> None:
        """End the match because the rules, or the code around them, failed; withdraw its decisions."""
        if self.incident is None:
            self.incident = incident_of(problem, self._incident_number(), self.name)

    # -- the end
    def finish(self, started: datetime, finished: datetime) -> FinishedMatch:
        """Return the result of a match that is over."""
        faults = Counter(fault.seat for fault in self.match.faults)
        result = self._result()
        void = next((cause for cause in result.end_causes if cause.is_void), None)
        unknown = (None,) * len(self.seats)
        places, scores = (result.places, result.scores) if void is None else (unknown, unknown)
        return FinishedMatch(
            match=self.name,
            ladder=self.ladder.name,
            rules=self.ladder.rules.words.version,
            deal=self.deal,
            started=started,
            finished=finished,
            seats=tuple(
                FinishedSeat(
                    player=seat.player.identity,
                    place=place,
                    score=score,
                    end_cause=end_cause.value,
                    faults=faults[seat.seat],
                    thinking_ms=self.timed.thinking_ms(seat.seat),
                    course=self._course(seat.seat),
                    notes=seat.notes.kept() if seat.notes is not None else (),
                    dropped_bytes=seat.notes.dropped_bytes if seat.notes is not None else 0,
                )
                for seat, place, score, end_cause in zip(self.seats, places, scores, result.end_causes, strict=True)
            ),
            decisions=len(self.match.choices),
            make_record=self._make_record if self.is_dealt else no_record,
            void_cause=void.value if void is not None else None,
            is_rated=not self.requested_by,
            requested_by=self.requested_by,
            reason=self.reason,
            board_matches=self.board_matches,
        )

    def _course(self, seat: int) -> DecisionLog:
        faults = [
            DecisionFault(fault.number + 1, fault.place, fault.cause.value, fault.reason)
            for fault in self.match.faults
            if fault.seat == seat
        ]
        usages = self.seats[seat].usages
        return DecisionLog(
            tuple(self.timed.thinking_times(seat)), tuple(faults), tuple(usages[number] for number in sorted(usages))
        )

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

        Args:
            ending: The result.
            is_rated: Whether it is rated.
            is_opened: Whether to reveal the deal; if other matches still play it, `unseal` reveals it later.
        """
        before = self._stage
        self._happened(MatchEvent.CLOSE if is_opened else MatchEvent.CLOSE_SEALED)
        self._ending, self._is_rated = ending, is_rated
        self._nonces = self._tell_dealt = None  # they may lead back here
        # Sessions hold the seats until their bots have the end, and a seat holds its match. If the match held the seats
        # too, finished matches would form cycles and wait for the garbage collector.
        seats, self.seats = self.seats, ()
        if self._stage is MatchStage.SEALED:
            self._sealed_seats = seats
        for seat in seats:
            if before in (MatchStage.PLAYING, MatchStage.ASKED):
                seat.player.ready(seat)
            elif before is MatchStage.SEATED:
                seat.player.rise(seat)
        hooks, self.on_moved = self.on_moved, []
        for tell in hooks:
            tell(self)

    def unseal(self, is_rated: bool) -> None:
        """Reveal the deal to the seats that know the end of this match, since all matches of the board are over."""
        self._happened(MatchEvent.UNSEAL)
        self._is_rated = is_rated
        body = arena_pb2.BoardOpened(
            match=self.name, board=self.board, opening=self._opening(), rated=is_rated
        ).SerializeToString()
        seats, self._sealed_seats = self._sealed_seats, ()
        for seat in seats:
            seat.player.opened(seat, body)

    def _opening(self) -> arena_pb2.Opening:
        return opening_to_proto(self.deal)
