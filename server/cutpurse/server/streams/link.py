"""One stream of a session, without I/O: envelopes from the bot in, envelopes to the bot out, and how it ends.

The rules of arena.proto for a stream live here and nowhere else. Whoever has the real stream hands in what was read
and when (seconds on one monotonic clock), asks `next_envelope` whenever `wake` was called, and ends the stream when
`closed` says how. This module reads no clock, awaits nothing and knows no game.

At most one envelope is unacknowledged; what becomes ready meanwhile gathers. So a stream needs no timer for each
decision, and a bot that does not read costs one envelope. A decision is encoded when its envelope is made: that moment
is its hand-over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from google.protobuf.message import DecodeError

from cutpurse.engine.clocks import AnswerOutcome, OutcomeKind
from cutpurse.sdk.wire.wire_format import LOW, field, frame, frames, uints, varint
from cutpurse.server.counts import Counts
from cutpurse.server.errors import LEFT, REASONS, CallStatus, call_status, incident, legible
from cutpurse.server.invariants import ReasonUnknown, SeatTaken, check_queue_limit
from cutpurse.server.limits import ServerLimits, TokenBucket
from cutpurse.server.matches.server_match import SeatAt
from cutpurse.server.streams.server_session import ServerSession, SessionTable
from cutpurse.v1 import arena_pb2

__all__ = ["Link"]

# Fields of PlayResponse.
_WELCOME: Final = 2
_ACCEPTED: Final = 3
_REFUSALS: Final = 4
_STARTS: Final = 5
_DECISIONS: Final = frames(6)
_ENDS: Final = 7
_DRAIN: Final = 8
_PROBLEMS: Final = 9
_BOARDS: Final = 12

_REASON_LENGTH: Final = 200  # characters of GiveUp.reason, as the protocol promises
_OPENINGS_AT_ONCE: Final = 8  # in an envelope: with many seats and settings each has some thousand bytes
_MOST_OPENINGS: Final = 64  # that wait to be told
_MOST_PROBLEMS: Final = 64  # that wait to be told; more of them would tell a bot nothing new

_IS_ACCEPTED: Final = OutcomeKind.ACCEPTED
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
    """One stream of a session.

    wake is called when `next_envelope` or `closed` should be looked at; it may be called too often. What was received
    can make `next_event_at` sooner without a wake. closed is how the stream must end, None while it goes on.

    `receive` and `next_envelope` raise SeatTaken if the session has another link and this one was not closed.
    """

    def __init__(
        self,
        session: ServerSession,
        limits: ServerLimits,
        welcome: arena_pb2.Welcome,
        wake: Callable[[], None],
        now: float,
        counts: Counts | None = None,
    ) -> None:
        self.session = session
        self.wake = wake
        self.closed: CallStatus | None = None
        self._limits = limits
        self._counts = counts or Counts()
        self._paced = TokenBucket(limits.envelopes_per_second, limits.envelopes_at_once, now)
        self._sent = 0  # the number of the last envelope to the bot
        self._sent_at = now
        self._stalled_s = 0.0  # since then, by the server's own fault
        self._is_unread = False  # that envelope has not been acknowledged
        self._is_unwritten = False  # nor even taken by the stream
        self._ends: list[int] = []  # tables whose ends it told
        self._welcome = welcome.SerializeToString()
        self._accepted: list[int] = []
        self._accepted_at = now  # the first of them
        self._refusals: list[bytes] = []
        self._problems: list[bytes] = []
        self._openings: list[bytes] = []  # of boards
        self._drain = b""
        self._parting = LEFT if session.leaving else None  # how the stream ends when all tables are over
        self._strikes_left = limits.strikes
        self._counts.connected += 1
        session.connect(self)

    @property
    def refusals(self) -> int:
        """Refusals that wait for the next envelope."""
        return len(self._refusals)

    # -- from the bot
    def receive(self, envelope: bytes, now: float) -> float:
        """Take an envelope that was read at this moment.  Returns for how many seconds nothing more should be read."""
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
        """Take what an envelope says about tables, also the first of the stream."""
        if request.notes:  # before the answers: one of them may end its match, and what was said about it is to count
            self._take_notes(request, now)
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
        if not self.session.is_met:
            self.session.met()
        if self._ends:
            self.session.end_heard(self._ends)
            self._ends = []

    def _take_answers(self, request: arena_pb2.PlayRequest, now: float) -> None:
        """First all answers are taken, then all tables go on: it is quicker to do one thing many times."""
        places, accepted, counts = self.session.places, self._accepted, self._counts
        seats: list[SeatAt] = []
        try:
            for answer in request.answers:
                table = answer.table
                place = places.get(table)
                if place is None or not place.is_begun:
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
                elif not self._refuse(table, answer.decision, outcome, now):
                    break
        finally:  # whatever breaks here, the others at these tables are asked
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
            elif not self._refuse(table, given_up.decision, outcome, now):
                return

    def _take_notes(self, request: arena_pb2.PlayRequest, now: float) -> None:
        """Take notes, which are never refused. Beyond one per answer, an unstored note costs as much as an envelope.

        An envelope holds 30,000 of them; it costs no more than may come at once, or its stream would be read no more.
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

    def _nowhere(self, table: int) -> AnswerOutcome:
        """Handle an answer at a table where the bot does not sit (any more)."""
        return _STALE if self.session.knew_table(table) else _UNKNOWN

    def _refuse(self, table: int, decision: int, outcome: AnswerOutcome, now: float) -> bool:
        """Keep a refusal for the next envelope.  False if the bot has left too many unread."""
        if len(self._refusals) >= self._limits.most_unread:
            self.strike(f"{self._limits.most_unread} refused answers are unread; read and acknowledge envelopes", now)
            return False
        self._counts.refused[outcome.kind.value] += 1
        self._paced.take(now)  # one envelope may hold thousands, and each costs as much as an envelope
        refusal = arena_pb2.Refusal(
            table=table,
            decision=decision,
            reason=_REFUSED[outcome.kind],
            corrections_left=outcome.corrections_left,
            options_count=outcome.options_count,
            late_by_ms=min(outcome.late_by_ms, 0xFFFFFFFF),
            text=_told(table, decision, outcome),
        )
        self._refusals.append(field(_REFUSALS, refusal.SerializeToString()))
        return True

    def _take_tables(self, request: arena_pb2.PlayRequest) -> None:
        session = self.session
        wanted = request.max_tables if request.HasField("max_tables") else session.max_tables
        session.set_tables(
            min(wanted, self._limits.most_tables, session.introduction.most_tables), session.leaving or request.leaving
        )
        if session.leaving:
            self._parting = LEFT

    # -- to the bot
    def ready(self) -> None:
        """Note that a table of the session has something to send: at once, unless an envelope is unread."""
        if not self._is_unread:  # else its acknowledgement wakes
            self.wake()

    def next_envelope(self, now: float) -> bytes | None:
        """Return the envelope to send now, if there is one; give it to the stream at once.

        None while the last is not acknowledged, when nothing is ready, and when the stream is to end.
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
        return b"\x08" + varint(self._sent) + b"".join(parts)

    def written(self) -> None:
        """Note that the stream has taken the last envelope."""
        self._is_unwritten = False

    def _is_due(self, now: float) -> bool:
        """Whether an envelope is due though nothing in it needs an answer."""
        due = self._due_at()
        return now >= due

    def _due_at(self) -> float:
        limits = self._limits
        due = self._sent_at + limits.heartbeat_ms / 1_000
        if self._accepted:
            due = min(due, self._accepted_at + limits.accepted_ms / 1_000)
        return due

    def _gather(self, parts: list[bytes], now: float) -> int:
        """Add starts, decisions and ends that are ready, as far as an envelope holds.  Returns how many ends."""
        session = self.session
        ready, session.ready_places = session.ready_places, {}
        room = self._limits.envelope_bytes
        decisions = ends = 0
        told = 0  # of `ready`
        for place in ready.values():
            if room <= 0:
                break
            told += 1
            seat = place.seat
            if not place.is_start_told:
                place.is_start_told = True
                started = field(_STARTS, seat.started())
                room -= len(started)
                parts.append(started)
            decision = seat.decision(now)
            if decision is not None:
                length = len(decision)
                room -= length
                decisions += 1
                parts += (_DECISIONS[length] if length < LOW else frame(6, length), decision)
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
        ended = None if place.is_end_told else seat.ended()
        if ended is None:
            return False
        if seat.incident:
            self.tell("INCIDENT", incident(seat.incident).text, seat.number)
        self.session.end_told(place)
        self._ends.append(seat.number)
        parts.append(field(_ENDS, ended))
        return True

    def tell(self, reason: str, text: str, table: int = 0, strikes_left: int = 0) -> None:
        """Tell the bot of trouble; the stream goes on.  reason: a name of ErrorReason without its prefix.

        Raises ReasonUnknown for any other.
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
        """Queue what was dealt on a board; drop it if too much of that waits already."""
        if len(self._openings) < _MOST_OPENINGS:
            self._openings.append(field(_BOARDS, body))
            self.ready()

    def drain(self, time_left_ms: int, reconnect_after_ms: int) -> None:
        """Say that the server is about to stop, and end the stream once no table is open."""
        text = "the server is stopping; open matches go on for the time left, then come back"
        drain = arena_pb2.Drain(time_left_ms=time_left_ms, reconnect_after_ms=reconnect_after_ms, text=text)
        self._drain = drain.SerializeToString()
        if self._parting is None:
            self._parting = call_status("DRAINING", "the server is stopping", reconnect_after_ms / 1_000)
        self.wake()

    def check_queues(self) -> None:
        """Check that not too much waits for this bot.  Raises QueueOverflow."""
        check_queue_limit(len(self._refusals), self._limits.most_unread)
        check_queue_limit(len(self._problems), _MOST_PROBLEMS)
        check_queue_limit(len(self._openings), _MOST_OPENINGS)

    # -- time, and the end
    def next_event_at(self) -> float | None:
        """When `tick` is due, if nothing happens before; None when the stream is to end."""
        if self.closed is not None:
            return None
        return self._silent_at() if self._is_unread or self._is_unwritten else self._due_at()

    def tick(self, now: float) -> None:
        """Let time pass: end the stream if the bot was silent for too long; else an envelope may be due."""
        if not self._is_unread and not self._is_unwritten:
            self.wake()
        elif now >= self._silent_at():
            seconds = 2 * self._limits.heartbeat_ms / 1_000
            what = "acknowledged" if self._is_unread else "read"  # who acknowledges unread is guessing its number
            text = f"envelope {self._sent} was not {what} for {seconds:g} s{self._untold()}"
            self.close(call_status("SILENT", text), now)

    def _untold(self) -> str:
        """Return the first waiting problem as the end of a text: it may well be the reason."""
        if not self._problems:
            return ""
        return f"; before that: {arena_pb2.PlayResponse.FromString(self._problems[0]).problems[0].text}"

    def credit(self, seconds: float) -> None:
        """Give the bot more time, since the server itself stalled."""
        self._stalled_s += seconds

    def close(self, ending: CallStatus, now: float) -> None:
        """End the stream; the first reason counts. The session is without a stream from now on."""
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
        """After an envelope: is there something to send, or is the stream at its end?"""
        if self._is_unread:
            return
        session = self.session
        if session.ready_places or self._refusals or self._problems or self._drain or self._openings:
            self.wake()
        elif self._parting is not None and not session.places:
            self.close(self._parting, now)


def _told(table: int, decision: int, outcome: AnswerOutcome) -> str:
    """Describe a refusal, from nothing but what this seat heard or sent."""
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
