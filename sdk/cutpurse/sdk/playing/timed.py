"""A local match by the clocks of a server.

On a server all bots of a window think at the same time; here they are asked one after another. So the match has a time
of its own: each answer comes as long after its question as the bot has thought, and answers count in that order. A bot
whose decision was closed thinks on. Its next decision waits until it has finished, while the clock runs; a
decision that is closed by then is not put to it at all: so does the SDK on a server.

The time of a program includes the way to its process and back. This module reads no clock but that of `MatchClock`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import heappop, heappush
from typing import Any

from cutpurse.engine.clocks import OutcomeKind, TimeControl, TimedMatch
from cutpurse.engine.match import EndCause, Match, MatchResult, OpenDecision
from cutpurse.engine.view import View
from cutpurse.process.own_time import waited_s
from cutpurse.process.program_command import PROGRAM
from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.decision import Decision, option_of
from cutpurse.sdk.playing.match_clock import MatchClock, Thought
from cutpurse.sdk.playing.seating import FailureParts, MatchBots, play_match
from cutpurse.sdk.views.base import GameView
from cutpurse.wire.errors import ProgramGone

__all__ = ["play_timed"]


@dataclass(eq=False)
class _TimedDecision:
    """A decision of a bot: to be put to it, or its answer on the way."""

    open_decision: OpenDecision
    begun: float  # when its clock started
    place: int = 0  # index of the choice in the match and its record, known when it is closed
    view: GameView[Any] | None = None  # None until the bot was asked
    decision: Decision | None = None
    is_answered: bool = False
    answer: object = None
    problem: BaseException | None = None  # what the bot raised instead
    thought_s: float = 0.0  # corrections included
    waited_s: float = 0.0


def play_timed(
    match: Match,
    makers: Sequence[BotMaker],
    clock: MatchClock | None,
    watch: Callable[[Match], None] | None = None,
    before: Sequence[View] = (),
) -> tuple[MatchResult, list[tuple[int, FailureParts]], int, list[Thought]]:
    """Let bots play a match to its end, by a clock if one is given; the match then holds its windows.

    Args:
        match: The match.
        makers: Its bots, by seat.
        clock: The clock.
        watch: Called when it begins and whenever something happens.
        before: For a match from a position, the view of each seat there.

    Returns:
        The result, the failures by seat, the number of decisions, and the time of each of them if there is a clock.

    Raises:
        ProgramNotStarted: If a program has never connected.
    """
    if clock is None:
        return *play_match(match, makers, watch, before), []
    bots = MatchBots(match, [_on_clock(maker, clock.control) for maker in makers], before)
    table = _TimedTable(bots, clock)
    if watch is not None:
        watch(match)
    while not table.timed.over:
        table.go_on()
        if watch is not None:
            watch(match)
    result = match.result()
    bots.end(result)
    return result, bots.failed, table.decisions, table.thoughts


def _on_clock(maker: BotMaker, control: TimeControl) -> BotMaker:
    """Return the maker of a bot; a program is informed of the clock as by a server."""
    if not maker.spec.startswith(PROGRAM):
        return maker
    from cutpurse.sdk.program import ProgramBot  # needs gRPC's messages

    return replace(maker, make=partial(ProgramBot, maker.spec, control))


class _TimedTable:
    """A match, its bots and its clocks."""

    def __init__(self, bots: MatchBots, clock: MatchClock) -> None:
        self.bots = bots
        self.clock = clock
        self.timed = TimedMatch(bots.match, clock.control, 0.0)
        self.thoughts: list[Thought] = []
        self.decisions = 0
        self._now = 0.0
        self._free_at = [0.0] * len(bots.makers)  # by seat, when its bot has finished thinking
        self._turns: dict[tuple[int, int], _TimedDecision] = {}  # open ones, by seat and number
        self._queue: list[tuple[float, int, int]] = []  # what comes next of each open turn: moment, seat, number

    def go_on(self) -> None:
        """Let the next thing happen: a decision is put, an answer comes, or a time is over."""
        for open_decision in self.timed.opened():
            self.timed.handed_over(open_decision.seat, open_decision.number, self._now)
            self._turns[open_decision.seat, open_decision.number] = _TimedDecision(open_decision, self._now)
            self.decisions += 1
            self._then(max(self._now, self._free_at[open_decision.seat]), open_decision)
        due = self.timed.next_event_at()
        if due is not None and (not self._queue or due < self._queue[0][0]):
            self._now = max(self._now, due)
            self._tick()
            return
        moment, seat, number = heappop(self._queue)
        turn = self._turns.get((seat, number))
        if turn is None:  # closed since
            return
        self._now = max(self._now, moment)
        if turn.is_answered:
            self._take(turn, moment)
        else:
            self._ask(turn)

    def _then(self, moment: float, open_decision: OpenDecision) -> None:
        heappush(self._queue, (moment, open_decision.seat, open_decision.number))

    def _ask(self, turn: _TimedDecision) -> None:
        """Put a decision to its bot, for the first time or to be corrected; the answer comes when it has thought."""
        seat, clock = turn.open_decision.seat, self.clock.now
        again = turn.decision is not None
        if turn.view is None or turn.decision is None:
            turn.view, turn.decision = self.bots.put(turn.open_decision)
        base_s, bank_s = (left_ms / 1_000 for left_ms in self.timed.time_left(seat, self._now))
        waited, began = waited_s(), clock()

        def time_left() -> tuple[float, float]:
            left_s = base_s - (clock() - began)
            return left_s, max(0.0, bank_s + min(0.0, left_s))

        turn.decision.keep_time(time_left)
        turn.problem = None
        try:
            turn.answer = self.bots.choose(seat, turn.view, turn.decision, again)
        except (Exception, SystemExit) as problem:
            turn.problem = problem
        seconds = max(0.0, clock() - began)
        turn.thought_s += seconds
        turn.waited_s += min(seconds, waited_s() - waited)
        turn.is_answered = True
        self._free_at[seat] = self._now + seconds
        self._then(self._free_at[seat], turn.open_decision)

    def _take(self, turn: _TimedDecision, moment: float) -> None:
        """Hand an answer in; one that is too late is left to the tick that is due."""
        seat, number, problem = turn.open_decision.seat, turn.open_decision.number, turn.problem
        turn.place = len(self.bots.match.choices)
        if problem is not None:
            is_gone = isinstance(problem, ProgramGone)
            outcome = self.timed.give_up(seat, number, str(problem), moment, whole_match=is_gone)
            if outcome.kind is OutcomeKind.ACCEPTED:
                self.bots.crashed(seat, turn.place, turn.open_decision.ask, problem)
                self._close(turn)
            return
        option = option_of(turn.answer)
        outcome = self.timed.answer(seat, number, option, moment)  # type: ignore[arg-type]  # bots may answer anything
        if outcome.kind is OutcomeKind.ILLEGAL:
            turn.is_answered = False
            self._then(moment, turn.open_decision)
        elif outcome.kind is OutcomeKind.ILLEGAL_CLOSED:
            assert turn.decision is not None
            self.bots.illegal(turn.open_decision, turn.place, turn.decision, turn.answer)
            self._close(turn)
        elif outcome.kind is OutcomeKind.ACCEPTED:
            self._close(turn)

    def _tick(self) -> None:
        """Close what is late."""
        for closed in self.timed.tick(self._now):
            turn = self._turns[closed.seat, closed.number]
            fault = next(
                fault
                for fault in reversed(self.bots.match.faults)
                if (fault.seat, fault.number) == (closed.seat, closed.number)
            )
            after_s = max(self._free_at[closed.seat], self._now) - turn.begun
            turn.place = fault.place
            since = f"it came after {after_s * 1_000:.0f} ms"
            if turn.decision is None:
                since = "the bot still thought about an earlier decision"
            parts = (closed.seat, fault.place, turn.open_decision.ask, EndCause.TIMEOUT, f"{fault.reason}: {since}", "")
            self.bots.failed.append((closed.seat, parts))
            self._close(turn)

    def _close(self, turn: _TimedDecision) -> None:
        del self._turns[turn.open_decision.seat, turn.open_decision.number]
        if turn.decision is not None:
            self.thoughts.append(Thought(turn.thought_s, turn.open_decision.seat, turn.place, turn.waited_s))
