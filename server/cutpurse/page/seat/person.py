"""A person at a table: the open decision, the answers from the browser, the gentle clock, and who is listening.

Where the time runs out, or the person is away or has left, the safe option is taken, so that nobody waits. This module
knows no HTTP; the session with the server is handed in.
"""

from __future__ import annotations

import json
import random
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeAlias

from markupsafe import escape

from cutpurse.engine.errors import CutpurseError
from cutpurse.engine.events import Event
from cutpurse.engine.match import MatchResult
from cutpurse.leaderboard.tokens import HOUSE, PEOPLE
from cutpurse.page.forms import count_of
from cutpurse.page.language.speaking import gettext, gettext_noop, language, speaking
from cutpurse.page.match_view.drawing import changes, rendered
from cutpurse.page.seat.moment import SeatPicture, with_clock
from cutpurse.page.seat.shared_drawing import Drawing, Listener, Listeners, SharedDrawing
from cutpurse.sdk.matches.watching import WatchBegin, Watched, WatchUpdate
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.answer_times import AnswerTimes, MatchTimes, WaitLimits
from cutpurse.wire.client_session import Ask, Begin, ClientSession, Finish, Illegal, OwnerNotice, Todo
from cutpurse.wire.client_table import ClientTable
from cutpurse.wire.decode import ask_of, read_decision
from cutpurse.wire.person_names import built_in_bot

__all__ = [
    "CATCH_UP_S",
    "WAITS",
    "MatchSession",
    "AnswerRefused",
    "BrowserNews",
    "CarryOut",
    "DelayedCall",
    "Person",
    "LoopTime",
    "person_times",
]

MARGIN_S: Final = 1.0  # before the end of the clock, in which the safe option is sent
AWAY_S: Final = 120.0  # without an open page, after which a person counts as away
LINE_AWAY_S: Final = 60.0  # the same, while in line for a rated match
MOST_MISSED: Final = 2  # decisions in a row for which the time ran out, after which a person counts as away
CATCH_UP_S: Final = 0.5  # until a question is put although moves before it have not come one by one
PAUSE_S: Final = 0.25  # until a table without a question is shown, as the next question often comes at once
OVER: Final = "over"  # kind of the last event
WAITS: Final = WaitLimits(first_s=3.0, most_s=6.0, share=0.5)  # of answers, so that time does not tell who had a choice
CLOSED: Final = '<p class="waits"><a href="/play">{}</a></p>'
TOO_SLOW: Final = gettext_noop("Your time ran out, so the safe option was taken for you.")
MISSED: Final = gettext_noop(
    "Your time ran out twice, so safe options are taken at once. Load this page again to go on."
)
ELSEWHERE: Final = gettext_noop("This table is open in newer windows; load this page again to follow it here.")
WAS_AWAY: Final = gettext_noop("You were away, so the safe option was taken for you.")


CarryOut: TypeAlias = Callable[[Todo | Watched, float], None]


class MatchSession(Protocol):
    """The session with the server: a `PersonSession`."""

    session: ClientSession

    def wake(self) -> None:
        """Send what is ready."""

    async def run(
        self, bots: Sequence[str], seed: bytes | None = None, position: ladder_pb2.StartPosition | None = None
    ) -> None:
        """Play one match with these bots by seat, or one that is requested elsewhere.  Raises CutpurseError."""


class LoopTime(Protocol):
    """An event loop, as far as it keeps the time."""

    def time(self) -> float:
        """Return seconds."""

    def call_later(self, delay: float, callback: Callable[[], object], /) -> DelayedCall:
        """Call a function after some seconds."""


class DelayedCall(Protocol):
    """A call that may be cancelled."""

    def cancel(self) -> None:
        """Cancel the call."""


class AnswerRefused(Exception):
    """An answer that is not taken; the text says why, in one line."""


@dataclass(frozen=True, slots=True)
class BrowserNews:
    """A server-sent event for the person's browser: its kind, its data, and the step that it shows, if any."""

    kind: str
    text: str
    step: int | None = None


@dataclass(slots=True)
class _Open:
    """The open decision, which has more than one option."""

    message: arena_pb2.Decision
    at: float  # time of arrival
    ask: str
    wait_s: float  # before which it is not answered


class Person:
    """A person in a seat, from the request for a match to its end."""

    def __init__(
        self,
        game: str,
        connect: Callable[[CarryOut], MatchSession],
        timing: LoopTime,
        rated_on: str = "",
        times: AnswerTimes | None = None,
        name: str = "",
    ) -> None:
        """Set up a person who waits for a match.

        Args:
            game: Game to play.
            connect: Creates the session, from the function that carries out what the server asks for.
            timing: The event loop, or what passes the time in a test.
            rated_on: Ladder whose pairing gives a rated match; empty if an unrated one is requested.
            times: The person's answer times in earlier matches.
            name: The person's name at the table; empty if they gave none.
        """
        self.game: Final = game
        self.name: Final = name
        self.rated_on: Final = rated_on
        self.language: Final = language()  # of the request that took the seat; the table stays in it
        self.problem = ""  # why the match does not go on here
        self.has_left = False
        self.meets_people = bool(rated_on)  # others would see from the time which decisions leave no choice
        self.people_names: Mapping[str, str] = {}  # of the people at the table, by the bot that each plays as
        self._arena = connect(self._do)
        self._timing = timing
        self._table: ClientTable | None = None
        self._picture: SeatPicture | None = None
        self._open: _Open | None = None
        self._last = (0, "")  # number of the last decision that was closed, and how
        self._is_over = False
        self._note = ""
        self._is_recorded = True  # whether the match will have a record
        self._answer_times = times or person_times()
        self._times: MatchTimes | None = None  # None: answers do not wait
        self._waiting = (gettext("Your table is being set."), "")
        self._missed = 0  # decisions in a row for which the time ran out
        self._drawing = SharedDrawing(self.language, self._draw)
        self._listeners = Listeners()
        self._seen_at = timing.time()
        self._timer: DelayedCall | None = None
        self._pausing: DelayedCall | None = None
        self._is_watched = False  # whether what the others do comes by itself
        self._unput: list[Ask] = []  # questions that wait for the moves before them; the last one may be open
        self._unended: tuple[MatchResult, list[Event], int] | None = None  # the end, which waits for them, too
        self._catching_up: DelayedCall | None = None
        if rated_on:
            self._waiting = (gettext("You are in line for a match."), rendered("in_line.html", ladder=rated_on))
            self._watch_line()

    async def play(
        self, bots: Sequence[str], seed: bytes | None = None, position: ladder_pb2.StartPosition | None = None
    ) -> None:
        """Play one match with these bots by seat; without bots, one that another person requests.

        With a position, the match goes on from there. Never raises for a match that cannot be played.
        """
        self._is_recorded = position is None
        try:
            await self._arena.run(bots, seed, position)
        except (CutpurseError, ValueError) as problem:
            self.problem = str(problem)
        finally:
            self._close()
            self._put_end()
            if not self._is_over and not self.problem:
                self.problem = gettext("the page is stopping")
            self._show()

    def wait(self, status: str, html: str) -> None:
        """Show this until the match begins."""
        self._waiting = status, html
        self._show()

    def call_off(self, why: str) -> None:
        """End the wait for a match that will not begin; one that has begun goes on."""
        if self._table is None and not self.is_over:
            self.problem = why
            self._show()

    @property
    def has_begun(self) -> bool:
        """Whether the match has begun."""
        return self._table is not None

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be asked."""
        return self._is_over or bool(self.problem)

    @property
    def status(self) -> str:
        """Where the match is, in a sentence."""
        with speaking(self.language):
            return self._status()

    def _status(self) -> str:
        if self.problem:
            return gettext("Your match does not go on: %(why)s.", why=self.problem)
        if self._is_over:
            return gettext("The match is over.")
        if self._picture is None:
            return self._waiting[0]
        return gettext("It is your turn.") if self._open is not None else self._picture.thinking()

    # -- from the browser
    def see(self) -> None:
        """Note that the person is there."""
        self._seen_at = self._timing.time()

    def come_back(self) -> None:
        """Note that the person has loaded the table."""
        self.see()
        self._missed = 0

    def answer(self, number: str, option: str) -> None:
        """Answer the open decision.

        Args:
            number: Number of the decision, as the browser sent it.
            option: Index of the option, as the browser sent it.

        Raises:
            AnswerRefused: If it is not open, or the option is not offered.
        """
        self.come_back()
        asked = count_of(number)
        if asked is None:
            raise AnswerRefused(gettext("This answer names no decision; use the buttons of the table."))
        if self._open is None or asked != self._open.message.decision:
            raise AnswerRefused(self._why_closed(asked))
        chosen, count = count_of(option), len(self._open.message.options)
        if chosen is None or chosen >= count:
            text = gettext(
                "%(option)s is none of the options; they have the numbers 0 to %(last)s.",
                option=_short(option),
                last=count - 1,
            )
            raise AnswerRefused(text)
        self._note = ""
        if self._times is not None:
            self._times.add(self._open.ask, self._timing.time() - self._open.at, self._open.wait_s)
        self._take(chosen, gettext("it is answered"))

    def _why_closed(self, number: int) -> str:
        last, how = self._last
        if self.is_over:
            return gettext("The match is over: nothing is asked any more.")
        if number == last:
            return gettext("Decision %(decision)s is closed: %(why)s.", decision=str(number), why=how)
        if number < last:
            return gettext("Decision %(decision)s is not open any more.", decision=str(number))
        return gettext("Decision %(decision)s is not open.", decision=str(number))

    def leave(self) -> None:
        """Leave the table for good: the safe option is taken from now on, and the others play to the end."""
        self.has_left = True
        self._tick()
        if self.rated_on and self._table is None:
            self._arena.session.leave()
            self._arena.wake()

    def _watch_line(self) -> None:
        """Give up the place in line once the person is away, so that no rated match begins without them."""
        if self._table is not None or self.is_over or self.has_left:
            return
        left_s = self._seen_at + LINE_AWAY_S - self._timing.time()
        if self._listeners or left_s > 0:
            self._timing.call_later(LINE_AWAY_S if self._listeners else left_s, self._watch_line)
            return
        with speaking(self.language):
            self.call_off(gettext("you were away, so you are not in line any more"))
        self.leave()

    def close(self) -> None:
        """End all listeners."""
        self._listeners.end()

    # -- to the browser
    async def html(self) -> str:
        """Draw the present state as HTML."""
        while True:
            drawing = self._drawing.present
            lines = await drawing.lines()
            if drawing is self._drawing.present:
                return with_clock("\n".join(lines), *self._left_s())

    def _draw(self) -> tuple[str, Callable[[], str]]:
        """Return the status, and a function that draws the present state."""
        if self._picture is None:
            html = CLOSED.format(escape(gettext("Choose again"))) if self.problem else self._waiting[1]
            return self.status, lambda: html
        number = self._open.message.decision if self._open is not None else 0
        return self.status, self._picture.drawing(number, self._note, is_recorded=self._is_recorded)

    async def listen(self, listener: Listener, after: int | None = None) -> AsyncGenerator[BrowserNews, None]:
        """Yield the present state and each later step, until the match is over or others listen.

        Args:
            listener: The stream.
            after: Step that the browser showed last, before its stream was lost; None for a new page.
        """
        self._listeners.add(listener)
        step = self._drawing.step if after is None else after
        lines: list[str] = []
        drawings: Sequence[Drawing] = self._drawing.after(step) or [self._drawing.present]
        try:
            while not listener.is_ended:
                for drawing in drawings:
                    before, lines = lines, await drawing.lines()
                    step = drawing.number
                    yield _status_news(drawing.status, is_trouble=bool(self.problem))
                    if lines or before:
                        yield self._step_news(step, before, lines)
                if self.is_over and step == self._drawing.step:
                    yield BrowserNews(OVER, "{}")
                    return
                await listener.wait()
                drawings = self._drawing.after(step)
            if listener not in self._listeners:  # so that the browser does not come back at once
                with speaking(self.language):
                    status = _status_news(gettext(ELSEWHERE), is_trouble=True)
                yield status
                yield BrowserNews(OVER, "{}")
        finally:
            self._listeners.remove(listener)
            self.see()
            self._tick()  # from now on the person may be away

    def _step_news(self, step: int, before: Sequence[str], lines: Sequence[str]) -> BrowserNews:
        """Encode a step: all lines, or the change from those before; with the time left, in ms."""
        kind, change = ("step", changes(before, lines)) if before else ("whole", lines)
        base_ms, bank_ms = (int(max(0.0, left_s) * 1_000) for left_s in self._left_s())
        data = {"number": step, "lines": change, "base_ms": base_ms, "bank_ms": bank_ms}
        return BrowserNews(kind, with_clock(json.dumps(data), *self._left_s()), step)

    def _show(self) -> None:
        if self._pausing is not None:
            self._pausing.cancel()
            self._pausing = None
        self._drawing.add(is_heard=bool(self._listeners))
        self._listeners.wake()

    # -- from the server
    def _do(self, todo: Todo | Watched, now: float) -> None:
        self._drawing.change()
        with speaking(self.language):
            self._carry_out(todo)

    def _carry_out(self, todo: Todo | Watched) -> None:
        match todo:
            case Begin(table):
                self._table = table
                if self.meets_people:
                    self._times = self._answer_times.begin(table.game)
                words = table.info.rules.words
                self._picture = SeatPicture(words, table.seat, self._players(table), table.match, self.rated_on)
            case OwnerNotice(text) if self.rated_on and self._table is None:
                self.wait(text, self._waiting[1])
            case Ask():
                self._ask(todo)
            case Illegal(table, number, left) if left:
                self._arena.session.answer(table, number, 0)
            case Finish(_, result, events, first):
                self._close()
                self._unended = result, events(), first
                self._catch_up()
            case WatchBegin() | WatchUpdate():
                self._see_moves(todo)

    def _players(self, table: ClientTable) -> list[str]:
        """Return how the players are called at the table, by seat: "you", "greedy", "Ann", "person-2", "ann/sneak".

        On a ladder they have their owners: "ann/sneak", "bob/person".
        """
        names = [*table.names]
        if not self.rated_on:
            names = [self._name_of(*name.rpartition("/")[::2]) or name for name in names]
        names[table.seat] = gettext("you")
        return names

    def _name_of(self, owner: str, bot: str) -> str:
        """Return how a house bot or a person is called at an unrated table; empty for a bot of the league."""
        if owner == HOUSE:
            return built_in_bot(bot)
        return self.people_names.get(bot, bot) if owner == PEOPLE else ""

    def _see_moves(self, update: WatchBegin | WatchUpdate) -> None:
        """Show what the others did, and the question or the end that waited for it."""
        assert self._picture is not None
        self._is_watched = True
        if isinstance(update, WatchBegin):
            is_new = self._picture.see(update.view)
        else:
            is_new = self._picture.update(update.view, update.events, update.first_event)
        if is_new:
            self._show()
        self._catch_up()

    def _ask(self, question: Ask) -> None:
        self._close()
        decision = question.decision
        if len(decision.options) < 2:
            self._unput.append(question)
            if not self._is_watched:
                self._put_questions()
            self._send(decision.decision, 0, self._wait_s(question, has_choice=False))
            return
        self._unput.append(question)
        self._catch_up()

    def _wait_s(self, question: Ask, *, has_choice: bool) -> float:
        """Return the seconds before which a decision is not answered."""
        assert self._table is not None
        if self._times is None or self._is_away():
            return 0.0
        ask = ask_of(question.decision.ask, self._table.info.rules)
        return self._times.wait_s(ask, has_choice, question.decision.base_left_ms / 1_000)

    def _catch_up(self) -> None:
        """Put the open question, or show the end, once the moves before it were shown; or else soon."""
        assert self._picture is not None
        if self._unended is not None:
            _, events, first = self._unended
            is_ready, put = self._picture.end_number >= first + len(events), self._put_end
        elif self._unput and len(self._unput[-1].decision.options) > 1:
            decision = self._unput[-1].decision
            is_ready = self._picture.end_number >= decision.first_event + len(decision.events)
            put = self._put_questions
        else:
            return
        if is_ready or not self._is_watched:
            put()
        elif self._catching_up is None:
            self._catching_up = self._timing.call_later(CATCH_UP_S, put)

    def _put_questions(self) -> None:
        """Show the events of the questions that came; open the last one, if it leaves a choice."""
        self._stop_catching_up()
        assert self._picture is not None
        assert self._table is not None
        unput, self._unput = self._unput, []
        with speaking(self.language):
            for question in unput:
                self._picture.ask(*read_decision(question.decision, self._table.info))
        if not unput or not self._picture.choices:
            return
        question = unput[-1]
        wait_s = self._wait_s(question, has_choice=True)
        ask = ask_of(question.decision.ask, self._table.info.rules)
        self._open = _Open(question.decision, question.at, ask, wait_s)
        if self._may_wait_s() > 0:
            self._show()
        self._tick()

    def _put_end(self) -> None:
        """Show the end, if the match has ended."""
        self._stop_catching_up()
        if self._unended is None or self._is_over:
            return
        assert self._picture is not None
        assert self._table is not None
        self._is_over = True
        self._drawing.change()
        with speaking(self.language):
            for question in self._unput:
                self._picture.ask(*read_decision(question.decision, self._table.info))
            self._picture.end(*self._unended)
        self._show()

    def _stop_catching_up(self) -> None:
        if self._catching_up is not None:
            self._catching_up.cancel()
            self._catching_up = None

    def _send(self, number: int, option: int, delay_s: float) -> None:
        """Answer a decision now or later: else other people could see from the time who has a choice.

        House bots study no times.
        """
        if delay_s > 0:
            self._timing.call_later(delay_s, partial(self._send, number, option, 0.0))
            return
        assert self._table is not None
        if self._table.is_open(number):
            self._arena.session.answer(self._table, number, option)
            self._arena.wake()

    # -- the clock
    def _left_s(self) -> tuple[float, float]:
        """Return the base time and the bank that are left, in seconds; both 0 without an open decision."""
        if self._open is None:
            return 0.0, 0.0
        passed_s = self._timing.time() - self._open.at
        base_s = self._open.message.base_left_ms / 1_000 - passed_s
        return base_s, max(0.0, self._open.message.bank_left_ms / 1_000 + min(0.0, base_s))

    def _may_wait_s(self) -> float:
        """Return how long the open decision may still wait for the person."""
        if self._is_away():
            return 0.0
        away_in_s = float("inf") if self._listeners else self._seen_at + AWAY_S - self._timing.time()
        base_s, bank_s = self._left_s()
        return min(max(0.0, base_s) + bank_s - MARGIN_S, away_in_s)

    def _is_away(self) -> bool:
        """Return whether the person has left, missed several decisions, or had no page open for a while."""
        return (
            self.has_left
            or self._missed >= MOST_MISSED
            or (not self._listeners and self._timing.time() >= self._seen_at + AWAY_S)
        )

    def _tick(self) -> None:
        """Take the safe option if the person may not be waited for any longer, else look again later."""
        self._stop_timer()
        if self._open is None:
            return
        wait_s = self._may_wait_s()
        if wait_s > 0:
            self._timer = self._timing.call_later(min(wait_s, AWAY_S), self._tick)
            return
        is_slow = sum(self._left_s()) <= MARGIN_S
        self._missed += is_slow
        self._note = gettext(TOO_SLOW) if is_slow else gettext(WAS_AWAY)
        if self._missed >= MOST_MISSED:
            self._note = gettext(MISSED)
        self._take(self._open.message.safe_option, gettext("the safe option was taken"))

    def _take(self, option: int, how: str) -> None:
        assert self._open is not None
        assert self._table is not None
        assert self._picture is not None
        number = self._open.message.decision
        delay_s = self._open.at + self._open.wait_s - self._timing.time()
        self._close()
        self._last = number, how
        self._drawing.change()
        with speaking(self.language):
            self._picture.answered()
        self._send(number, option, delay_s)
        if self._pausing is not None:
            self._pausing.cancel()
        self._pausing = self._timing.call_later(PAUSE_S, self._show)

    def _close(self) -> None:
        self._open = None
        self._stop_timer()
        self._stop_catching_up()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _status_news(text: str, *, is_trouble: bool) -> BrowserNews:
    return BrowserNews("status", json.dumps({"text": text, "trouble": is_trouble}))


def person_times() -> AnswerTimes:
    """Return the answer times of a person who has not played yet."""
    return AnswerTimes(WAITS, random.SystemRandom().random)


def _short(text: str) -> str:
    return repr("".join(character if character.isprintable() else " " for character in text[:40]))
