"""The bots of a session: creates a bot per match, asks it, and passes its answers to the session.

A decision with one option is answered here: the bot is not called, and its thread stays free. Such answers take as long
as real ones, and some real ones wait for that, see `answer_times`, unless the bot opts out or the match is a local one.

A failing bot stops neither its other matches nor the connection: the decision is given up, and the position of the
error is printed. This module knows no stream.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from time import monotonic, perf_counter
from typing import Any, Final, NamedTuple, TypeVar

from cutpurse.engine.agenda import Act
from cutpurse.engine.events import Event
from cutpurse.engine.match import MatchResult
from cutpurse.process.terminal import paint
from cutpurse.sdk import bot_calls
from cutpurse.sdk.bot import BotMaker, MatchInfo, bot_chance, where_it_failed
from cutpurse.sdk.decision import Decision, illegal_text, offered_text, option_of
from cutpurse.sdk.flows import Flow, without_a_loop
from cutpurse.sdk.notes import NoteBuffer, about
from cutpurse.sdk.online.concurrency import ConcurrencyControl
from cutpurse.sdk.online.question_types import asked, leading_to, time_left
from cutpurse.sdk.online.thinking import Kind, Thinker
from cutpurse.sdk.views import VIEWS
from cutpurse.sdk.views.base import GameView
from cutpurse.v1 import arena_pb2
from cutpurse.wire.answer_times import AnswerTimes, MatchTimes
from cutpurse.wire.client_session import (
    MOST_FINISHED,
    Ask,
    Begin,
    ClientSession,
    Finish,
    Illegal,
    Opened,
    OwnerNotice,
    Todo,
    Welcomed,
)
from cutpurse.wire.client_table import ClientTable
from cutpurse.wire.decode import TableInfo, ask_of, events_of
from cutpurse.wire.errors import IN_END, ServerRefused

__all__ = ["PlayedMatch", "RemoteBots"]


SOONEST_S: Final = 0.001  # the event loop cannot wait for less, so such an answer is sent at once

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlayedMatch:
    """A finished match on a server, from the seat of one bot; a void match has no places and scores.

    Attributes:
        commitment: The commitment to the deal, sent before the first card: 32 bytes as hex. It must equal the one that
            `cutpurse match verify` prints for the match file.
        nonce: What the bot added to the deal: 32 bytes as hex; empty if it added none or the server did not count it.
        opened: Whether the deal was opened. It is False while other matches with the same cards go on; until then it is
            also unknown whether the match is rated.
    """

    match: str
    game: str
    ladder: str
    seat: int
    seats: tuple[str, ...]  # bot names by seat
    result: MatchResult
    rated: bool
    commitment: str
    opened: bool = True
    nonce: str = ""

    @property
    def voided(self) -> bool:
        """Whether the match is void."""
        return not self.result.places

    def text(self) -> str:
        """Format the result in one line: "match 3f2a greed seat 2: place 1 of 4, score 37"."""
        cause = self.result.end_causes[self.seat]
        if self.voided:
            how = f"void ({cause.value})"
        else:
            how = f"place {self.result.places[self.seat]} of {len(self.seats)}, score {self.result.scores[self.seat]:,}"
            how += f", taken over: {cause.value}" if cause.is_taken_over else ""
        return f"match {self.match[:8]} {self.game} seat {self.seat}: {how}"


@dataclass(slots=True)
class _BotSeat:
    """A bot in a match."""

    table: ClientTable
    times: MatchTimes | None  # None: answers do not wait
    bot: Any = None
    view: GameView[Any] | None = None  # of the last decision
    decision: Decision | None = None
    message: arena_pb2.Decision | None = None  # of that decision
    number: int = 0  # of that decision, on the wire
    at: float = 0.0  # time when that decision arrived
    wait_s: float = 0.0  # before which it is not answered
    count: int = 0  # decisions that the bot was asked
    skipped: list[arena_pb2.Decision] = field(
        default_factory=list
    )  # decisions with one option, whose events the bot has not received
    answer: object = None
    notes: NoteBuffer = field(default_factory=NoteBuffer)


@dataclass(slots=True)
class _Answered:
    answer: object
    option: int | None
    notes: str


class _Failed(NamedTuple):
    where: str
    trace: str
    notes: str


def _later(seconds: float, call: Callable[[], None]) -> object:
    return asyncio.get_running_loop().call_later(seconds, call)


class _TooLate:
    """The outcome of a decision that the bot was not asked, since the next one was already there."""


@dataclass
class RemoteBots:
    """All matches of one bot in a session."""

    maker: BotMaker
    session: ClientSession
    thinker: Thinker
    pace: ConcurrencyControl
    say: Callable[[str], None]
    on_match: Callable[[PlayedMatch], None]
    wake: Callable[[], None]  # called when there is something to send
    debug: bool = False  # print full tracebacks
    sends_prints: bool = False  # attach what the bot prints to its answers
    faults: int = 0  # exceptions in the bot's methods, and illegal answers
    seats: dict[int, _BotSeat] = field(default_factory=dict)  # by table number
    on_opened: Callable[[PlayedMatch], None] = lambda match: None  # called when a deal is opened later
    sealed: dict[str, PlayedMatch] = field(default_factory=dict)  # finished matches whose deal is not opened yet
    clock: Callable[[], float] = monotonic  # the clock of the session's times
    hides_time: bool = True  # let time not tell who had a choice
    times: AnswerTimes = field(default_factory=AnswerTimes)
    later: Callable[[float, Callable[[], None]], object] = _later  # calls a function after some seconds

    def do(self, todo: Todo) -> None:
        """Carry out what the session asks for, now or later."""
        if type(todo) is Ask:  # the most frequent case
            self._ask(self.seats[todo.table.number], todo.decision, todo.at)
            return
        match todo:
            case Begin(table):
                self._begin(table)
            case Finish():
                self._finish(todo)
            case Opened(match, rated):
                played = self.sealed.pop(match, None)
                if played is not None:
                    self.on_opened(replace(played, rated=rated, opened=True))
            case Illegal(table, number, left):
                self._illegal(self.seats[table.number], number, left)
            case Welcomed(lost=lost):
                self.pace.granted(todo.most_tables)
                self._forget(lost)
            case OwnerNotice(text, late):
                self.say(text)
                if late:
                    self.pace.late()

    def _forget(self, tables: Iterable[ClientTable]) -> None:
        for table in tables:
            self.seats.pop(table.number, None)

    # -- a match begins
    def _begin(self, table: ClientTable) -> None:
        times = self.times.begin(table.game) if self.hides_time and table.commitment else None  # else it is local
        seat = self.seats[table.number] = _BotSeat(table, times)
        self.pace.started(table.base_s)
        self.thinker.do(table.match, Kind.BEGIN, self._heard(seat, self._made(seat)), self._begun)

    def _made(self, seat: _BotSeat) -> Flow[_Failed | None]:
        table = seat.table
        chance = bot_chance(table.match.encode(), table.seat)
        settings = table.info.settings.changed()
        info = MatchInfo(table.game, table.seat, table.names, settings, chance, table.match)
        try:
            seat.bot = yield from bot_calls.start_bot(self.maker, info)
        except (Exception, SystemExit) as problem:
            seat.bot = bot_calls.Unable(problem)
        table.before = seat.notes.take()
        return None

    def _heard(self, seat: _BotSeat, flow: Flow[T]) -> Flow[T]:
        """Return the flow; if prints are sent, collect what the bot prints in it."""
        return _about_it(seat.notes, flow) if self.sends_prints else flow

    def _begun(self, _: object, seconds: float) -> None:
        pass

    # -- a decision
    def _ask(self, seat: _BotSeat, message: arena_pb2.Decision, at: float) -> None:
        try:
            if len(message.options) == 1:
                self._ask_lone(seat, message, at)
                return
            skipped, seat.skipped = seat.skipped, []
            info, events = seat.table.info, self.session.events
            seat.view, seat.decision = asked(message, info, events, seat.message, seat.count, skipped)
        except ValueError as problem:
            raise ServerRefused(str(problem)) from None
        seat.number, seat.message, seat.at = message.decision, message, at
        seat.count += 1
        seat.wait_s = self._wait_s(seat, message, seat.decision.ask)
        seat.decision.keep_time(lambda: time_left(message, self.clock() - at))
        if self.session.keeps_notes:
            seat.decision.keep_notes(seat.notes)
        self._put(seat, again=False)

    def _ask_lone(self, seat: _BotSeat, message: arena_pb2.Decision, at: float) -> None:
        """Answer a decision with one option for the bot, now or later.  Raises ValueError for an unknown question."""
        table = seat.table
        ask = ask_of(message.ask, table.info.rules)
        if self.session.events:
            seat.skipped.append(message)
        self._send(at + self._wait_s(seat, message, ask), partial(self._answer_lone, table, message.decision))

    def _wait_s(self, seat: _BotSeat, message: arena_pb2.Decision, ask: str) -> float:
        """Return the seconds after its arrival at which a decision is answered, or before which it is not."""
        if seat.times is None:
            return 0.0
        base_s, _ = time_left(message, 0.0)
        return seat.times.wait_s(ask, len(message.options) > 1, base_s)

    def _send(self, at: float, answer: Callable[[], None]) -> None:
        """Queue an answer, at this time or now."""
        wait_s = at - self.clock()
        if wait_s < SOONEST_S:
            self._send_now(answer)
        else:
            self.later(wait_s, partial(self._send_now, answer))

    def _send_now(self, answer: Callable[[], None]) -> None:
        answer()
        self.wake()

    def _answer_lone(self, table: ClientTable, number: int) -> None:
        if table.is_open(number):
            self.session.answer(table, number, 0)

    def _put(self, seat: _BotSeat, again: bool) -> None:
        view, decision, number = seat.view, seat.decision, seat.number
        assert view is not None
        assert decision is not None
        if self.thinker.in_event_loop(Kind.DECIDE):
            began = perf_counter()
            outcome = self._asked_here(seat, view, decision, number, again)
            seconds = perf_counter() - began
            self.thinker.did(Kind.DECIDE, seconds)
            self._answered(seat, decision, number, outcome, seconds)
        else:
            flow = self._heard(seat, self._choice_of(seat, view, decision, number, again))
            self.thinker.do(seat.table.match, Kind.DECIDE, flow, partial(self._answered, seat, decision, number))

    def _choice_of(
        self, seat: _BotSeat, view: GameView[Any], decision: Decision, number: int, again: bool
    ) -> Flow[_Answered | _Failed | _TooLate]:
        try:
            if not seat.table.is_open(number):
                yield from bot_calls.deliver_events(seat.bot, view)
                return _TooLate()
            answer = yield from bot_calls.ask_bot(seat.bot, view, decision, again)
            return _Answered(answer, _index(answer, decision), seat.notes.take())
        except (Exception, SystemExit) as problem:
            return self._failed(problem, seat.notes.take())

    def _asked_here(
        self, seat: _BotSeat, view: GameView[Any], decision: Decision, number: int, again: bool
    ) -> _Answered | _Failed | _TooLate:
        """Run `_asked` without a loop, some microseconds faster."""
        if self.sends_prints:
            return without_a_loop(self._heard(seat, self._choice_of(seat, view, decision, number, again)))
        try:
            if not seat.table.is_open(number):
                without_a_loop(bot_calls.deliver_events(seat.bot, view))
                return _TooLate()
            answer = bot_calls.ask_bot_sync(seat.bot, view, decision, again)
            return _Answered(answer, _index(answer, decision), seat.notes.take())
        except (Exception, SystemExit) as problem:
            return self._failed(problem, seat.notes.take())

    def _failed(self, problem: BaseException, notes: str) -> _Failed:
        trace = "".join(traceback.format_exception(problem))
        return _Failed(where_it_failed(problem, self.maker.file), trace, notes)

    def _answered(
        self, seat: _BotSeat, decision: Decision, number: int, outcome: _Answered | _Failed | _TooLate, seconds: float
    ) -> None:
        table = seat.table
        match outcome:
            case _Answered():
                seat.answer = outcome.answer
                answer = partial(self.session.answer, table, number, outcome.option, outcome.notes, decision.usage)
            case _Failed(where, trace, notes):
                self.faults += 1
                is_unable = isinstance(seat.bot, bot_calls.Unable)
                answer = partial(
                    self.session.give_up, table, number, where, notes, decision.usage, whole_match=is_unable
                )
                self._tell_failure(seat, f"decision {number} ({decision.ask})", where + _offered(decision), trace)
            case _TooLate():
                self.pace.late()
                if not table.over:
                    self.say(f"{self._at(seat)}: decision {number} was over before the bot could be asked")
                self.wake()
                return
        self.pace.decided(seconds)
        if number == seat.number and seat.times is not None:
            seat.times.add(decision.ask, self.clock() - seat.at, seat.wait_s)
            self._send(seat.at + seat.wait_s, answer)
        else:
            self._send_now(answer)

    def _illegal(self, seat: _BotSeat, number: int, left: int) -> None:
        """Let the bot correct its answer to decision `number`, if corrections are left."""
        if number != seat.number:  # a decision with one option, which has no other answer
            if left:
                self._send_now(partial(self._answer_lone, seat.table, number))
            return
        decision = seat.decision
        assert decision is not None
        if left:
            then = f"it may be corrected {left} more times" if left > 1 else "it may be corrected once more"
        else:
            then = "the safe option was taken"
            self.faults += 1
        self._say_fault(
            f"{self._at(seat)} answered illegally: decision {number} ({decision.ask}) "
            f"{illegal_text(decision, seat.answer)}; {then}"
        )
        if left:
            self._put(seat, again=True)

    # -- a match ends
    def _finish(self, finish: Finish) -> None:
        table = finish.table
        seat = self.seats.pop(table.number)
        self.thinker.do(table.match, Kind.END, self._ended(seat, finish), partial(self._over, seat))
        played = PlayedMatch(
            table.match,
            table.game,
            table.ladder,
            table.seat,
            table.names,
            finish.result,
            finish.rated,
            table.commitment.hex(),
            finish.opened,
            table.nonce.hex(),
        )
        if not played.opened:
            self.sealed[played.match] = played
            if len(self.sealed) > MOST_FINISHED:
                del self.sealed[next(iter(self.sealed))]
        self.on_match(played)

    def _ended(self, seat: _BotSeat, finish: Finish) -> Flow[_Failed | None]:
        info = seat.table.info
        seen = seat.view or bot_calls.empty_view(info.rules, info.settings, info.seats, info.seat)
        skipped = leading_to(finish.first_event, seat.skipped)
        first = skipped[0].first_event if skipped else finish.first_event
        events = partial(_last_events, skipped, finish, info)
        view = VIEWS[seat.table.game](lambda: seen.raw, events, first, lambda: seen.raw)
        try:
            yield from bot_calls.end_match(seat.bot, view, finish.result)
        except (Exception, SystemExit) as problem:
            return self._failed(problem, "")
        return None

    def _over(self, seat: _BotSeat, failed: _Failed | None, seconds: float) -> None:
        if failed is not None:
            self.faults += 1
            self._say_fault(f"{self._at(seat)} {IN_END}{failed.where}")
            self._tell_trace(failed.trace)

    # -- messages
    def _at(self, seat: _BotSeat) -> str:
        table = seat.table
        return f"bot {self.maker.name} in match {table.match[:8]} ({table.game}, seat {table.seat})"

    def _tell_failure(self, seat: _BotSeat, when: str, what: str, trace: str) -> None:
        self._say_fault(f"{self._at(seat)} crashed, {when}: {what}")
        self._tell_trace(trace)

    def _say_fault(self, text: str) -> None:
        self.say(paint(text, "bad", sys.stderr))

    def _tell_trace(self, trace: str) -> None:
        if self.debug:
            self.say(trace.rstrip())


def _last_events(skipped: list[arena_pb2.Decision], finish: Finish, info: TableInfo) -> list[Event]:
    """Return the events from the bot's last decision to the end of the match."""
    events: list[Event] = []
    for message in skipped:
        events += events_of(message, info)
    return [*events, *finish.events()]


def _offered(decision: Decision) -> str:
    """Describe the options of a failed decision, or return nothing if they cannot be decoded."""
    try:
        return f"; offered were {offered_text(decision)}"
    except ValueError:
        return ""


def _about_it(notes: NoteBuffer, flow: Flow[T]) -> Flow[T]:
    with about(notes):
        return (yield from flow)


def _index(answer: object, decision: Decision) -> int | None:
    """Convert an answer to the index of an option, or keep a number; return None for anything else."""
    if type(answer) is int:
        return answer
    raw = option_of(answer)
    if isinstance(raw, Act):
        return next((option.index for option in decision.options if option.raw == raw), None)
    return raw if isinstance(raw, int) and not isinstance(raw, bool) else None
