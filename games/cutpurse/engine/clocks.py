"""A match with clocks: who has how much time, what is late, and when a window may close.

Its driver, a server with its streams or a test with a list of moments, hands every moment in: a float of seconds on
one clock that never goes back. This module reads no clock, sleeps nowhere and knows no network. Durations are given in
whole milliseconds and counted in whole microseconds, so that nothing is lost by adding up.

    timed = TimedMatch(Match(rules, seats, key, hold_polls=True), TimeControl(), now)
    for decision in timed.opened():
        ...  # write it to its seat's stream
        timed.handed_over(decision.seat, decision.number, now)
    outcome = timed.answer(seat, number, option, now)  # now: when the reader had the bytes
    closed = timed.tick(now)  # at the latest at timed.next_event_at()

**How time is counted.** The clock of a decision starts when it is handed over to its stream, or `handover_ms` after it
was put if it has not been by then: a bot that does not read stops nobody. It stops at the moment handed in with the
answer; what lies between is the thinking time. The first `grace_ms` of it are given for the network and never counted.
The rest is taken from the base, which every decision has anew, and what goes beyond from the bank, which a seat has for
the whole match. So an answer is in time if

    thinking time <= base_ms + what is left of the bank + grace_ms

(equality is in time), and it costs the bank max(0, thinking time - grace_ms - base_ms), never more than is left. A
decision whose time is over has cost all that was left. A correction of an illegal answer runs on the same clock.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from itertools import accumulate, pairwise
from typing import Final, NamedTuple

from cutpurse.engine.errors import IllegalAnswer, SettingsError
from cutpurse.engine.match import EndCause, Match, MatchResult, OpenDecision
from cutpurse.engine.settings import Settings, number

__all__ = ["PEOPLE_CLOCK", "Closed", "AnswerOutcome", "OutcomeKind", "TimeControl", "TimedMatch"]

_MS: Final = 1_000  # microseconds
# A decision is closed this long after its last moment, so that an answer that was read at that moment finds it open.
_AFTERWARDS: Final = 1 * _MS


@dataclass(frozen=True, slots=True)
class TimeControl(Settings):
    """How much time there is, in ms.  Raises SettingsError for a value that is not allowed, naming what is."""

    base_ms: int = number(1_000, 1, 3_600_000, text="for each decision", rule="")
    bank_ms: int = number(10_000, 0, 86_400_000, text="beyond the base, for the whole match", rule="")
    grace_ms: int = number(150, 0, 60_000, text="of each decision, for the network: never counted", rule="")
    poll_floor_ms: int = number(25, 0, 10_000, text="that a window lasts at least, whoever is asked", rule="")
    handover_ms: int = number(1_000, 0, 60_000, text="after which a decision's clock starts though not sent", rule="")

    def __post_init__(self) -> None:
        kinds = self.kinds()
        for field in fields(self):
            value, kind = getattr(self, field.name), kinds[field.name]
            if type(value) is not int or not (kind.least or 0) <= value <= (kind.most or 0):
                raise SettingsError(f"setting {field.name} cannot be {value!r:.40}; it can be: {kind.allowed()}")


PEOPLE_CLOCK: Final = TimeControl(base_ms=90_000, bank_ms=900_000, grace_ms=1_000)
"""The default clock of a ladder that people play on."""


class OutcomeKind(Enum):
    """What became of an answer."""

    ACCEPTED = "accepted"
    ILLEGAL = "illegal"  # and may be corrected, on the same clock
    ILLEGAL_CLOSED = "illegal_closed"  # once too often: the safe option was taken
    TOO_LATE = "too_late"
    ALREADY_DECIDED = "already_decided"  # the seat itself has: by an answer, by giving up, by illegal answers
    STALE = "stale"  # the match was voided while the decision was open
    UNKNOWN_DECISION = "unknown_decision"  # never put to this seat


@dataclass(frozen=True, slots=True)
class AnswerOutcome:
    """What became of an answer, and what helps to do better."""

    kind: OutcomeKind
    corrections_left: int = 0  # if illegal: how often it may still be answered
    options_count: int = 0  # if illegal: answers are 0 to one less than this
    late_by_ms: int = 0  # if too late, rounded up; 0: read in time, but handed in after the decision was closed
    problem: str = ""  # if illegal, in words: what was possible


_ACCEPTED: Final = AnswerOutcome(OutcomeKind.ACCEPTED)
_ALREADY_DECIDED: Final = AnswerOutcome(OutcomeKind.ALREADY_DECIDED)
_STALE: Final = AnswerOutcome(OutcomeKind.STALE)
_UNKNOWN: Final = AnswerOutcome(OutcomeKind.UNKNOWN_DECISION)


class Closed(NamedTuple):
    """A decision whose time was over: the safe option was taken, and it counts as a fault."""

    seat: int
    number: int
    cause: EndCause  # TIMEOUT, or DISCONNECTED if the seat was away


class _Clock:
    """The clock of an open decision, in microseconds."""

    __slots__ = ("allowed", "deadline", "decision", "is_handed_over", "number", "refused", "repeats")

    def __init__(self, decision: OpenDecision, deadline: int, allowed: int) -> None:
        """Start the clock of a decision; `deadline` is the last moment at which an answer is in time."""
        self.decision = decision
        self.number = decision.number
        self.deadline = deadline
        self.allowed = allowed
        self.is_handed_over = False
        # Answers that were not offered; those that came on an earlier stream, whose refusal may be lost with it.
        self.refused: tuple[int | None, ...] = ()
        self.repeats: tuple[int | None, ...] = ()

    def thought(self, now: int) -> int:
        """Compute the thinking time until now, from 0 to what is allowed."""
        left = self.deadline - now
        if left < 0:
            return self.allowed
        return self.allowed - left if left < self.allowed else 0


class TimedMatch:
    """A match with clocks, see the module's docstring; `match` may be read, never answered directly.

    Nothing that a bot can send raises. Moments may be handed in slightly out of order, as several readers have them:
    each answer is judged by its own.
    """

    def __init__(self, match: Match, control: TimeControl, now: float) -> None:
        """Take over a match that was just made; it needs `hold_polls` if its windows have a floor."""
        self.match = match
        self.control = control
        seats = len(match.seats)
        self._base_ms = control.base_ms
        self._base, self._grace = control.base_ms * _MS, control.grace_ms * _MS
        self._poll_floor = control.poll_floor_ms * _MS
        self._handover = control.handover_ms * _MS
        self._now = _us(now)  # the latest moment that was handed in
        self._clocks: list[_Clock | None] = [None] * seats
        self._bank = [control.bank_ms * _MS] * seats
        self._thought: list[list[int]] = [[] for _ in range(seats)]  # of each decision that is closed
        self._away = [False] * seats
        # By seat and number, the decisions that are over: the deadline that passed, None where the seat decided itself.
        self._over: list[list[int | None]] = [[] for _ in range(seats)]
        self._opened: list[OpenDecision] = []
        self._questions = 0
        self._floor = self._now  # before this moment the window that is open may not close
        # No time of a decision that is open ends sooner, in seconds, be it handed over whenever.
        self.none_ends_before = 0.0
        self._go_on()

    # -- what there is to send
    def opened(self) -> list[OpenDecision]:
        """Return the decisions that opened since the last call, by seat."""
        opened = self._opened
        if opened:
            self._opened = []
            still = self.match.open
            for decision in opened:
                if still.get(decision.seat) is not decision:  # nobody has asked since, and it is over already
                    return [other for other in opened if still.get(other.seat) is other]
        return opened

    def handed_over(self, seat: int, number: int, now: float) -> tuple[int, int]:
        """Start the clock of a decision that was given to its seat's stream.  Returns what `time_left` says.

        Again, as after a resume, changes nothing, nor does it if the decision is not open (any more): (0, 0).
        """
        clock = self._clocks[seat] if 0 <= seat < len(self._clocks) else None
        if clock is None or clock.number != number:
            return 0, 0
        if clock.is_handed_over:
            return self.time_left(seat, now)
        clock.is_handed_over = True
        sooner = clock.deadline - clock.allowed - round(now * 1e6)  # than without
        if not 0 <= sooner <= self._handover:
            clock.deadline -= self._handover if sooner > 0 else 0
            return self.time_left(seat, now)
        clock.deadline -= sooner  # so nothing has been thought until now
        return self._base_ms, self._bank[seat] // _MS

    def time_left(self, seat: int, now: float) -> tuple[int, int]:
        """Compute what a seat has left of its base time and of its time bank, in whole ms, rounded down.

        All of both while the grace has not been used up; of the base all where nothing is open.
        """
        base, bank, clock = self._base, self._bank[seat], self._clocks[seat]
        if clock is not None and (counted := clock.thought(_us(now)) - self._grace) > 0:
            bank -= max(0, counted - base)
            base = max(0, base - counted)
        return base // _MS, bank // _MS

    # -- what comes from the seats
    def answer(self, seat: int, number: int, option: int | None, now: float) -> AnswerOutcome:
        """Take an answer, an option by its place, that was read at this moment; None: an answer that names none.

        A late one changes nothing: the decision is closed by the `tick` that is due. Nor does one that was refused as
        illegal on an earlier stream of this seat: a bot that never read so sends it again, and no correction is lost.
        """
        at = round(now * 1e6)
        clock = self._clocks[seat] if 0 <= seat < len(self._clocks) else None
        if clock is None or clock.number != number:
            return self._not_open(seat, number, at)
        if at > clock.deadline:
            return _late(at, clock.deadline)
        if clock.repeats and option in clock.repeats:
            left = self.match.corrections_left(seat)
            return AnswerOutcome(OutcomeKind.ILLEGAL, left, len(clock.decision.options))
        outcome = _ACCEPTED
        try:
            self.match.answer(seat, number, option)  # type: ignore[arg-type]  # None is not offered, as it should be
        except IllegalAnswer as problem:
            left = self.match.corrections_left(seat) if self.match.open.get(seat) is clock.decision else 0
            kind = OutcomeKind.ILLEGAL if left else OutcomeKind.ILLEGAL_CLOSED
            outcome = AnswerOutcome(kind, left, len(clock.decision.options), problem=str(problem))
            if left:
                clock.refused += (option,)
                return outcome
        self._stop(clock, at)
        self._go_on(at)
        return outcome

    def give_up(self, seat: int, number: int, reason: str, now: float, whole_match: bool = False) -> AnswerOutcome:
        """Take the safe option because the bot's own code failed; accepted, it counts as a fault.

        With `whole_match` the bot cannot play on in this match: its seat is taken over at once.
        """
        at = _us(now)
        clock = self._clock(seat, number)
        if clock is None:
            return self._not_open(seat, number, at)
        if at > clock.deadline:
            return _late(at, clock.deadline)
        if whole_match:
            self.match.take_over(seat, EndCause.CRASHED, reason)
        else:
            self.match.give_up(seat, number, reason)
        self._stop(clock, at)
        self._go_on(at)
        return _ACCEPTED

    def disconnected(self, seat: int) -> None:
        """Note that the seat's stream is gone. Its clocks run on, and its first late decision takes the seat over."""
        self._away[seat] = True

    def is_away(self, seat: int) -> bool:
        """Return whether the seat has no stream."""
        return self._away[seat]

    def connected(self, seat: int) -> None:
        """Note that the seat has a stream again, or another one."""
        self._away[seat] = False
        clock = self._clocks[seat]
        if clock is not None:
            clock.repeats = clock.refused

    # -- the course of time
    def tick(self, now: float) -> list[Closed]:
        """Close what is late and release a window whose floor is over.  Tells which decisions were closed.

        Hand in what the readers have before: an answer in time counts until its decision is closed here.
        """
        at = _us(now)
        late = [clock for clock in self._clocks if clock is not None and at > clock.deadline]
        closed = []
        for clock in sorted(late, key=lambda clock: clock.deadline):  # of the same deadline, the lower seat first
            seat, number = clock.decision.seat, clock.number
            cause = EndCause.DISCONNECTED if self._away[seat] else EndCause.TIMEOUT
            self.match.fault(seat, number, cause, f"no answer in {clock.allowed // _MS} ms")
            self._stop(clock, at, is_late=True)
            closed.append(Closed(seat, number, cause))
        self._go_on(at)
        return closed

    def next_event_at(self) -> float | None:
        """Return when `tick` has something to do unless answers come before; None when the match is over.

        For a decision this is a millisecond after its last moment: an answer that was read just then is still taken.
        """
        if self.match.held:
            return self._floor / 1e6
        deadlines = [clock.deadline for clock in self._clocks if clock is not None]
        return (min(deadlines) + _AFTERWARDS) / 1e6 if deadlines else None

    def next_poll_at(self) -> float | None:
        """Return when to ask again; None when the match is over.

        Not after `next_event_at`, also if what is open is handed over in the meantime, which makes its time end sooner.
        """
        match = self.match
        if match.held:
            return self._floor / 1e6
        soonest = None
        for seat in match.open:
            clock = self._clocks[seat]
            if clock is not None:
                deadline = clock.deadline
                if not clock.is_handed_over and (sooner := self._now + clock.allowed) < deadline:
                    deadline = sooner
                if soonest is None or deadline < soonest:
                    soonest = deadline
        return None if soonest is None else (soonest + _AFTERWARDS) / 1e6

    def credit(self, seconds: float) -> None:
        """Move every clock by the time for which the platform itself stood still, so that no bot pays for it."""
        if seconds < 0:
            raise ValueError(f"a clock is never moved back: credit {seconds}")
        for clock in self._clocks:
            if clock is not None:
                clock.deadline += _us(seconds)
        self._floor += _us(seconds)

    # -- how it ends
    @property
    def over(self) -> bool:
        """Whether there is a result."""
        return self.match.over

    def void(self, cause: EndCause) -> None:
        """End the match at once, see `Match.void`."""
        self.match.void(cause)
        self._clocks = [None] * len(self._clocks)

    def result(self) -> MatchResult:
        """Return how the match ended.  Raises WrongDecision while it goes on."""
        return self.match.result()

    def thinking_ms(self, seat: int) -> int:
        """Return how long a seat has thought over its closed decisions, network included, in milliseconds."""
        return sum(self._thought[seat]) // _MS

    def thinking_times(self, seat: int) -> list[int]:
        """Return how long a seat has thought over each of its closed decisions, in their order, in whole ms.

        Rounded so that they add up to `thinking_ms`: each is up to a millisecond more or less than it was.
        """
        ends = [end // _MS for end in accumulate(self._thought[seat])]
        return [end - before for before, end in pairwise([0, *ends])]

    def all_thinking_times_s(self) -> list[float]:
        """List the thinking times of all seats in seconds, decision by decision."""
        return [thought / 1e6 for seat in self._thought for thought in seat]

    # -- within
    def _clock(self, seat: int, number: int) -> _Clock | None:
        """Return the clock of this decision, if it is open."""
        clock = self._clocks[seat] if 0 <= seat < len(self._clocks) else None
        return clock if clock is not None and clock.number == number else None

    def _not_open(self, seat: int, number: int, at: int) -> AnswerOutcome:
        if not 0 <= seat < len(self._over) or number < 0:
            return _UNKNOWN
        over = self._over[seat]
        if number < len(over):
            deadline = over[number]
            return _ALREADY_DECIDED if deadline is None else _late(at, deadline)
        return _STALE if number < self.match.asked(seat) else _UNKNOWN

    def _stop(self, clock: _Clock, at: int, is_late: bool = False) -> None:
        """Close the decision of this clock."""
        seat = clock.decision.seat
        thought = clock.thought(at)
        self._clocks[seat] = None
        self._thought[seat].append(thought)
        if (beyond := thought - self._grace - self._base) > 0:
            self._bank[seat] -= beyond
        self._over[seat].append(clock.deadline if is_late else None)

    def _go_on(self, at: int = 0) -> None:
        """Start the clocks of what was put, and release windows whose floor is over."""
        match = self.match
        if at > self._now:
            self._now = at
        while True:
            if match.questions != self._questions:
                self._questions = match.questions
                now = self._now
                self._floor = now + self._poll_floor
                shortest = 0
                for seat, decision in match.open.items():
                    allowed = self._base + self._bank[seat] + self._grace
                    if not shortest or allowed < shortest:
                        shortest = allowed
                    self._clocks[seat] = _Clock(decision, now + self._handover + allowed, allowed)
                    self._opened.append(decision)
                self.none_ends_before = (now + shortest) / 1e6
            if not match.held or self._now < self._floor:
                return
            match.release()


def _us(seconds: float) -> int:
    return round(seconds * 1e6)


def _late(at: int, deadline: int) -> AnswerOutcome:
    return AnswerOutcome(OutcomeKind.TOO_LATE, late_by_ms=max(0, -(-(at - deadline) // _MS)))
