"""One stream of a session, without I/O: envelopes from and to the bot, and how the stream ends.

The rules of arena.proto for a stream are here and nowhere else. `arena_service` has the real stream. It passes in what
was read and when, in seconds on one monotonic clock. It calls `next_envelope` after each `wake`, and ends the stream
once `closed` is set. This module reads no clock, awaits nothing and knows no game.

At most one envelope is unacknowledged; everything that becomes ready meanwhile is collected for the next one. So a
stream needs no timer per decision, and a bot that does not read costs one envelope. A decision is encoded when its
envelope is made, and counts as handed over then.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from google.protobuf.message import DecodeError

from cutpurse.engine.clocks import AnswerOutcome, OutcomeKind
from cutpurse.engine.commitment import NONCE_BYTES
from cutpurse.leaderboard.results import DecisionUsage
from cutpurse.server.counts import Counts
from cutpurse.server.errors import LEFT, REASONS, CallStatus, call_status, incident, legible
from cutpurse.server.invariants import ReasonUnknown, SeatTaken, check_queue_limit
from cutpurse.server.limits import ServerLimits, TokenBucket
from cutpurse.server.matches.server_match import SeatAt
from cutpurse.server.streams.server_session import ServerSession, SessionTable
from cutpurse.server.streams.session_stages import SessionStage
from cutpurse.server.streams.table_stages import TableEvent, TableStage
from cutpurse.v1 import arena_pb2
from cutpurse.wire.usage import clean_model, fallback_of, usage_problem
from cutpurse.wire.wire_format import LOW, field, frame, frames, uint_field, uints

__all__ = ["Link"]

# Field numbers of PlayResponse.
_ENVELOPE: Final = arena_pb2.PlayResponse.ENVELOPE_FIELD_NUMBER
_WELCOME: Final = arena_pb2.PlayResponse.WELCOME_FIELD_NUMBER
_ACCEPTED: Final = arena_pb2.PlayResponse.ACCEPTED_FIELD_NUMBER
_REFUSALS: Final = arena_pb2.PlayResponse.REFUSALS_FIELD_NUMBER
_STARTS: Final = arena_pb2.PlayResponse.STARTS_FIELD_NUMBER
_DECISIONS: Final = arena_pb2.PlayResponse.DECISIONS_FIELD_NUMBER
_ENDS: Final = arena_pb2.PlayResponse.ENDS_FIELD_NUMBER
_DRAIN: Final = arena_pb2.PlayResponse.DRAIN_FIELD_NUMBER
_PROBLEMS: Final = arena_pb2.PlayResponse.PROBLEMS_FIELD_NUMBER
_BOARDS: Final = arena_pb2.PlayResponse.BOARDS_FIELD_NUMBER
_DECISION_FRAME: Final = frames(_DECISIONS)  # tag and length of a decision, by its length

_REASON_LENGTH: Final = 200  # maximum characters of GiveUp.reason, as in the protocol
_OPENINGS_AT_ONCE: Final = 8  # per envelope: with many seats and settings each has some thousand bytes
_MOST_OPENINGS: Final = 64  # maximum waiting openings
_MOST_PROBLEMS: Final = 64  # maximum waiting problems; more of them would tell a bot nothing new

_IS_ACCEPTED: Final = OutcomeKind.ACCEPTED
# Found faster than in the enums.
_SEATED, _BEGUN, _ENDED = TableStage.SEATED, TableStage.BEGUN, TableStage.ENDED
_WELCOMED: Final = SessionStage.WELCOMED
_REFUSED: Final = {
    OutcomeKind.ILLEGAL: arena_pb2.REFUSAL_REASON_ILLEGAL,
    OutcomeKind.ILLEGAL_CLOSED: arena_pb2.REFUSAL_REASON_ILLEGAL,
    OutcomeKind.TOO_LATE: arena_pb2.REFUSAL_REASON_TOO_LATE,
    OutcomeKind.ALREADY_DECIDED: arena_pb2.REFUSAL_REASON_ALREADY_DECIDED,
    OutcomeKind.STALE: arena_pb2.REFUSAL_REASON_STALE,
    OutcomeKind.UNKNOWN_DECISION: arena_pb2.REFUSAL_REASON_UNKNOWN_DECISION,
}
_STALE: Final = AnswerOutcome(OutcomeKind.STALE)
_UNKNOWN: Final = AnswerOutcome(OutcomeKind.UNKNOWN_DECISION)


class Link:
    """One stream of a session."""

    def __init__(
        self,
        session: ServerSession,
        limits: ServerLimits,
        welcome: arena_pb2.Welcome,
        wake: Callable[[], None],
        now: float,
        counts: Counts | None = None,
    ) -> None:
        """Attach a new stream to `session`.

        `receive` and `next_envelope` raise SeatTaken if the session has another link and this one was not closed.

        Args:
            session: The session.
            limits: The server's limits.
            welcome: The first message to the bot.
            wake: Called when `next_envelope` or `closed` should be checked, maybe too often. `receive` can make
                `next_event_at` sooner without a wake.
            now: Seconds on one monotonic clock.
            counts: Counters to update; new ones by default.
        """
        self.session = session
        self.wake = wake
        self.closed: CallStatus | None = None
        self._limits = limits
        self._counts = counts or Counts()
        self._paced = TokenBucket(limits.envelopes_per_second, limits.envelopes_at_once, now)
        self._sent = 0  # number of the latest envelope to the bot
        self._sent_at = now
        self._stalled_s = 0.0  # stall time of the server since then
        self._is_unread = False  # the latest envelope is not acknowledged
        self._is_unwritten = False  # nor accepted by the stream
        self._ends: list[int] = []  # tables whose ends it contains
        self._welcome = welcome.SerializeToString()
        self._accepted: list[int] = []
        self._accepted_at = now  # time of the first of them
        self._refusals: list[bytes] = []
        self._problems: list[bytes] = []
        self._openings: list[bytes] = []  # encoded BoardOpened messages
        self._drain = b""
        self._parting = LEFT if session.leaving else None  # status to end with once all matches are over
        self._strikes_left = limits.strikes
        self._counts.connected += 1
        session.connect(self)

    @property
    def refusals(self) -> int:
        """Number of refusals that wait for the next envelope."""
        return len(self._refusals)

    # -- from the bot
    def receive(self, envelope: bytes, now: float) -> float:
        """Process an envelope that was read at `now`.

        Returns:
            Seconds for which nothing more should be read.
        """
        self._counts.envelopes_in += 1
        pause = self._paced.take(now)
        if self.closed is not None:
            return pause
        if self.session.link is not self:
            raise SeatTaken
        try:
            request = arena_pb2.PlayRequest.FromString(envelope)
        except DecodeError:
            self.strike("an envelope is not a PlayRequest", now)
            return pause
        if request.received > self._sent:
            said, sent = request.received, self._sent
            self.strike(f"PlayRequest.received is {said}, but {sent} was the last envelope sent on this stream", now)
        elif request.HasField("hello"):
            self.strike("Hello may come in the first envelope of a stream only", now)
        else:
            if self._is_unread and request.received == self._sent:
                self._acknowledged()
            self.take(request, now)
        return self._paced.wait_s

    def take(self, request: arena_pb2.PlayRequest, now: float) -> None:
        """Process what an envelope says about tables, including the first one of the stream."""
        if request.nonces:
            self._take_nonces(request, now)
        if request.notes:  # before the answers: one of those may end the match, and the notes before it still count
            self._take_notes(request, now)
        if request.usages:
            self._take_usages(request, now)
        if request.answers:
            self._take_answers(request, now)
        if request.give_ups:
            self._take_give_ups(request, now)
        if request.leaving or request.HasField("max_tables"):
            self._take_tables(request)
        self._go_on(now)

    def strike(self, text: str, now: float) -> None:
        """Count an offence of the bot; the last strike ends the stream."""
        self._strikes_left -= 1
        if self._strikes_left > 0:
            self.tell("BAD_MESSAGE", text, strikes_left=self._strikes_left)
        else:
            self.close(call_status("BAD_MESSAGE", f"{text}; it was the last of {self._limits.strikes} strikes"), now)

    def _acknowledged(self) -> None:
        self._is_unread = False
        if self.session.stage is _WELCOMED:
            self.session.met()
        if self._ends:
            self.session.end_heard(self._ends)
            self._ends = []

    def _take_answers(self, request: arena_pb2.PlayRequest, now: float) -> None:
        """Accept all answers, then let their matches go on: doing one thing many times is quicker."""
        places, accepted, counts = self.session.places, self._accepted, self._counts
        seats: list[SeatAt] = []
        try:
            for answer in request.answers:
                table = answer.table
                place = places.get(table)
                if place is None or place.stage is _SEATED:
                    outcome = self._nowhere(table)
                else:
                    seat = place.seat
                    seats.append(seat)
                    option = answer.option if answer.HasField("option") else None
                    outcome = seat.answer(answer.decision - 1, option, now)
                if outcome.kind is _IS_ACCEPTED:
                    if not accepted:
                        self._accepted_at = now
                    accepted.append(table)
                    counts.accepted += 1
                elif not self._refuse(table, answer.decision, outcome, now, _told(table, answer.decision, outcome)):
                    break
        finally:  # whatever fails here, the other bots in these matches get their decisions
            for seat in seats:
                seat.go_on()

    def _take_give_ups(self, request: arena_pb2.PlayRequest, now: float) -> None:
        for given_up in request.give_ups:
            table = given_up.table
            seat = self.session.seat_at(table)
            if seat is None:
                outcome = self._nowhere(table)
            else:
                reason = legible(given_up.reason, _REASON_LENGTH)
                outcome = seat.give_up(given_up.decision - 1, reason, now, given_up.whole_match)
                seat.go_on()
            if outcome.kind is _IS_ACCEPTED:
                if not self._accepted:
                    self._accepted_at = now
                self._accepted.append(table)
                self._counts.accepted += 1
            elif not self._refuse(table, given_up.decision, outcome, now, _told(table, given_up.decision, outcome)):
                return

    def _take_nonces(self, request: arena_pb2.PlayRequest, now: float) -> None:
        for given in request.nonces:
            table = given.table
            seat = self.session.seat_at(table)
            outcome = self._nowhere(table) if seat is None else seat.nonce(given.nonce, now)
            is_accepted = outcome.kind is _IS_ACCEPTED
            if not is_accepted and not self._refuse(
                table, 0, outcome, now, _told_of_nonce(table, given.nonce, outcome)
            ):
                return

    def _take_notes(self, request: arena_pb2.PlayRequest, now: float) -> None:
        """Store notes, which are never refused. Beyond one per answer, an unstored note costs as much as an envelope.

        An envelope can hold 30,000 notes. Their cost is limited to the burst of the token bucket, since otherwise the
        stream would not be read again for a long time.
        """
        session, most = self.session, self._limits.note_bytes if self.session.sends_notes else 0
        passed_over = 0
        for note in request.notes:
            seat = session.seat_at(note.table)
            if seat is None or not most or not seat.note(note.decision, note.text, most):
                passed_over += 1
        unasked = passed_over - len(request.answers) - len(request.give_ups)
        if unasked > 0:
            self._paced.take(now, min(unasked, self._limits.envelopes_at_once))

    def _take_usages(self, request: arena_pb2.PlayRequest, now: float) -> None:
        """Store what the bot used for its decisions. Beyond one per answer, each costs as much as an envelope.

        A usage out of bounds is not stored, and the bot is notified.
        """
        unasked = len(request.usages) - len(request.answers) - len(request.give_ups)
        if unasked > 0:
            self._paced.take(now, min(unasked, self._limits.envelopes_at_once))
        if not self.session.sends_usage:
            return
        for usage in request.usages:
            seat = self.session.seat_at(usage.table)
            if seat is None:
                continue
            if problem := usage_problem(usage.input_tokens, usage.output_tokens, usage.cost_micros):
                self.tell("BAD_MESSAGE", f"decision {usage.decision}: {problem}; it is not stored", usage.table)
                continue
            seat.report(
                DecisionUsage(
                    usage.decision,
                    usage.input_tokens,
                    usage.output_tokens,
                    usage.cost_micros,
                    clean_model(usage.model),
                    fallback_of(usage.fallback),
                )
            )

    def _nowhere(self, table: int) -> AnswerOutcome:
        """Return the outcome of an answer at a table where the bot does not sit (any more)."""
        return _STALE if self.session.knew_table(table) else _UNKNOWN

    def _refuse(self, table: int, decision: int, outcome: AnswerOutcome, now: float, text: str) -> bool:
        """Store a refusal for the next envelope; return False if the bot left too many unread."""
        if len(self._refusals) >= self._limits.most_unread:
            self.strike(f"{self._limits.most_unread} refused answers are unread; read and acknowledge envelopes", now)
            return False
        self._counts.refused[outcome.kind.value] += 1
        self._paced.take(now)  # one envelope may hold thousands of answers, and each costs as much as an envelope
        refusal = arena_pb2.Refusal(
            table=table,
            decision=decision,
            reason=_REFUSED[outcome.kind],
            corrections_left=outcome.corrections_left,
            options_count=outcome.options_count,
            late_by_ms=min(outcome.late_by_ms, 0xFFFFFFFF),
            text=text,
        )
        self._refusals.append(field(_REFUSALS, refusal.SerializeToString()))
        return True

    def _take_tables(self, request: arena_pb2.PlayRequest) -> None:
        session = self.session
        wanted = request.max_tables if request.HasField("max_tables") else session.max_tables
        session.set_tables(min(wanted, session.introduction.most_tables), session.leaving or request.leaving)
        if session.leaving:
            self._parting = LEFT

    # -- to the bot
    def ready(self) -> None:
        """Note that a table has something to send; wake at once unless an envelope is unacknowledged."""
        if not self._is_unread:  # otherwise its acknowledgement wakes
            self.wake()

    def next_envelope(self, now: float) -> bytes | None:
        """Return the envelope to send now, or None; pass it to the stream at once.

        There is none while the previous one is unacknowledged, when nothing is ready, or when the stream is to end.
        """
        if self.closed is not None or self._is_unread:
            return None
        session = self.session
        if session.link is not self:
            raise SeatTaken
        parts: list[bytes] = []
        if self._welcome:
            parts.append(field(_WELCOME, self._welcome))
        freed = self._gather(parts, now) if session.ready_places else 0
        parts += self._refusals
        if self._openings:
            parts += self._openings[:_OPENINGS_AT_ONCE]
            del self._openings[:_OPENINGS_AT_ONCE]
        if self._drain:
            parts.append(field(_DRAIN, self._drain))
        parts += self._problems
        if not parts and not self._is_due(now):
            return None
        if self._accepted:
            parts.append(field(_ACCEPTED, uints(self._accepted)))
            self._accepted.clear()
        self._welcome = self._drain = b""
        self._refusals.clear()
        self._problems.clear()
        self._sent += 1
        self._counts.envelopes_out += 1
        self._sent_at, self._stalled_s = now, 0.0
        self._is_unread = self._is_unwritten = True
        if freed:
            session.tables_freed()
        return uint_field(_ENVELOPE, self._sent) + b"".join(parts)

    def written(self) -> None:
        """Note that the stream has accepted the latest envelope."""
        self._is_unwritten = False

    def _is_due(self, now: float) -> bool:
        """Return whether an envelope is due even though nothing in it needs an answer."""
        due = self._due_at()
        return now >= due

    def _due_at(self) -> float:
        limits = self._limits
        due = self._sent_at + limits.heartbeat_ms / 1_000
        if self._accepted:
            due = min(due, self._accepted_at + limits.accepted_ms / 1_000)
        return due

    def _gather(self, parts: list[bytes], now: float) -> int:
        """Add ready starts, decisions and ends, as far as the envelope has room.

        Returns the number of ends.
        """
        session = self.session
        ready, session.ready_places = session.ready_places, {}
        room = self._limits.envelope_bytes
        decisions = ends = 0
        told = 0  # sent of `ready`
        for place in ready.values():
            if room <= 0:
                break
            told += 1
            seat = place.seat
            if place.stage is _BEGUN:
                place.happened(TableEvent.SEND_START)
                started = field(_STARTS, seat.started())
                room -= len(started)
                parts.append(started)
            decision = seat.decision(now)
            if decision is not None:
                length = len(decision)
                room -= length
                decisions += 1
                parts += (_DECISION_FRAME[length] if length < LOW else frame(_DECISIONS, length), decision)
                continue
            ends += self._tell_end(parts, place)
        if told < len(ready):
            left = list(ready.items())[told:]
            session.ready_places = {**dict(left), **session.ready_places}
        if decisions:
            self._paced.allow(decisions + 1)
        return ends

    def _tell_end(self, parts: list[bytes], place: SessionTable) -> bool:
        seat = place.seat
        ended = None if place.stage is _ENDED else seat.ended()
        if ended is None:
            return False
        if seat.incident:
            self.tell("INCIDENT", incident(seat.incident).text, seat.number)
        self.session.end_told(place)
        self._ends.append(seat.number)
        parts.append(field(_ENDS, ended))
        return True

    def tell(self, reason: str, text: str, table: int = 0, strikes_left: int = 0) -> None:
        """Queue an error for the bot; the stream goes on.

        Args:
            reason: An ErrorReason without its prefix.
            text: The error, in one line.
            table: The table concerned; 0 for none.
            strikes_left: Strikes left before the stream ends; 0 if the error is no strike.

        Raises:
            ReasonUnknown: If there is no such reason.
        """
        if reason not in REASONS:
            raise ReasonUnknown
        problem = arena_pb2.Problem(
            reason=arena_pb2.ErrorReason.Value(f"ERROR_REASON_{reason}"),
            table=table,
            text=text,
            strikes_left=strikes_left,
        )
        body = field(_PROBLEMS, problem.SerializeToString())
        if len(self._problems) < _MOST_PROBLEMS and body not in self._problems:
            self._problems.append(body)
            self._counts.problems[reason] += 1
            self.wake()

    def open_board(self, body: bytes) -> None:
        """Queue the opening of a board's commitment; drop it if too many wait."""
        if len(self._openings) < _MOST_OPENINGS:
            self._openings.append(field(_BOARDS, body))
            self.ready()

    def drain(self, time_left_ms: int, reconnect_after_ms: int) -> None:
        """Announce that the server stops, and end the stream once no match is open."""
        text = "the server is stopping; open matches go on for the time left, then come back"
        drain = arena_pb2.Drain(time_left_ms=time_left_ms, reconnect_after_ms=reconnect_after_ms, text=text)
        self._drain = drain.SerializeToString()
        if self._parting is None:
            self._parting = call_status("DRAINING", "the server is stopping", reconnect_after_ms / 1_000)
        self.wake()

    def check_queues(self) -> None:
        """Check that not too much waits for this bot.

        Raises:
            QueueOverflow: If too much does.
        """
        check_queue_limit(len(self._refusals), self._limits.most_unread)
        check_queue_limit(len(self._problems), _MOST_PROBLEMS)
        check_queue_limit(len(self._openings), _MOST_OPENINGS)

    # -- time, and the end
    def next_event_at(self) -> float | None:
        """Return when `tick` is due if nothing else happens; None when the stream is to end."""
        if self.closed is not None:
            return None
        return self._silent_at() if self._is_unread or self._is_unwritten else self._due_at()

    def tick(self, now: float) -> None:
        """End the stream if the bot was silent for too long; otherwise wake, as an envelope may be due."""
        if not self._is_unread and not self._is_unwritten:
            self.wake()
        elif now >= self._silent_at():
            seconds = 2 * self._limits.heartbeat_ms / 1_000
            # a bot that acknowledges an envelope before it was read guesses its number
            what = "acknowledged" if self._is_unread else "read"
            text = f"envelope {self._sent} was not {what} for {seconds:g} s{self._untold()}"
            self.close(call_status("SILENT", text), now)

    def _untold(self) -> str:
        """Return the first waiting error as the end of a text, since it may be the reason."""
        if not self._problems:
            return ""
        return f"; before that: {arena_pb2.PlayResponse.FromString(self._problems[0]).problems[0].text}"

    def credit(self, seconds: float) -> None:
        """Give the bot more time after a stall of the server, in seconds."""
        self._stalled_s += seconds

    def close(self, ending: CallStatus, now: float) -> None:
        """End the stream and detach the session; the first reason counts."""
        if self.closed is None:
            self.closed = ending
            self._counts.connected -= 1
            self.session.disconnect(self, now)
            self.wake()

    def lost(self, now: float) -> None:
        """Note that the stream is gone, whichever side ended it."""
        self.close(LEFT, now)

    def _silent_at(self) -> float:
        return self._sent_at + 2 * self._limits.heartbeat_ms / 1_000 + self._stalled_s

    def _go_on(self, now: float) -> None:
        """Wake after an envelope if there is something to send, or end the stream if it is due to end."""
        if self._is_unread:
            return
        session = self.session
        if session.ready_places or self._refusals or self._problems or self._drain or self._openings:
            self.wake()
        elif self._parting is not None and not session.places:
            self.close(self._parting, now)


def _told(table: int, decision: int, outcome: AnswerOutcome) -> str:
    """Describe a refusal, using only what this seat received or sent."""
    where = f"table {table}, decision {decision}"
    match outcome.kind:
        case OutcomeKind.ILLEGAL:
            left = outcome.corrections_left
            return f"{where}: answer with an option from 0 to {outcome.options_count - 1}; {left} more may be tried"
        case OutcomeKind.ILLEGAL_CLOSED:
            return f"{where}: options were 0 to {outcome.options_count - 1}; the safe option was taken"
        case OutcomeKind.TOO_LATE:
            return f"{where}: {outcome.late_by_ms} ms too late; the safe option was taken"
        case OutcomeKind.ALREADY_DECIDED:
            return f"{where}: already decided"
        case OutcomeKind.STALE:
            return f"{where}: over, as the match is, or the seat is played on"
        case _:
            return f"{where}: there is no such decision in this session (yet)"


def _told_of_nonce(table: int, nonce: bytes, outcome: AnswerOutcome) -> str:
    """Describe why a nonce does not count."""
    match outcome.kind:
        case OutcomeKind.ILLEGAL_CLOSED:
            return f"table {table}: a nonce has {NONCE_BYTES} bytes, this one {len(nonce)}; the deal is made without it"
        case OutcomeKind.TOO_LATE:
            return f"table {table}: the nonce came {outcome.late_by_ms} ms too late; the deal is made without it"
        case OutcomeKind.ALREADY_DECIDED:
            return f"table {table}: a nonce was sent before; only the first one is read"
        case OutcomeKind.STALE:
            return f"table {table}: the match is over"
        case _:
            return f"table {table}: the server asks for no nonce there"
