"""A person at a table: the open decision, the answers from the browser, the gentle clock, and who is listening.

Where the time runs out, or the person is away or has left, the safe option is taken, so that nobody waits. This module
knows no HTTP; the session with the server is handed in.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol, TypeAlias

from markupsafe import escape

from cutpurse.engine.errors import CutpurseError
from cutpurse.server.people import built_in_bot
from cutpurse.server.web.language.speaking import gettext, gettext_noop, language, speaking
from cutpurse.server.web.match_view.drawing import lines_of, rendered
from cutpurse.server.web.seat.moment import SeatPicture
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.client_session import Ask, Begin, ClientSession, ClientTable, Finish, Illegal, OwnerNotice, Todo

__all__ = ["MatchSession", "AnswerRefused", "BrowserNews", "CarryOut", "DelayedCall", "Person", "LoopTime"]

MARGIN_S: Final = 1.0  # before the end of the clock, in which the safe option is sent
AWAY_S: Final = 120.0  # without an open page, after which a person counts as away
LINE_AWAY_S: Final = 60.0  # the same, while in line for a rated match
MOST_MISSED: Final = 2  # decisions in a row for which the time ran out, after which a person counts as away
PAUSE_S: Final = 0.25  # until a table without a question is shown, as the next question often comes at once
MOST_UNREAD: Final = 16  # events; then a browser that does not read is dropped
OVER: Final = "over"  # kind of the last event
RECENT: Final = 16  # answer times from which the time of an answer without a choice is drawn
FIRST_LONE_S: Final = 3.0  # the same, before the person has answered
LONE_SHARE: Final = 0.5  # of the base time that such an answer waits at most
CLOSED: Final = '<p class="waits"><a href="/play">{}</a></p>'
TOO_SLOW: Final = gettext_noop("Your time ran out, so the safe option was taken for you.")
MISSED: Final = gettext_noop(
    "Your time ran out twice, so safe options are taken at once. Load this page again to go on."
)
WAS_AWAY: Final = gettext_noop("You were away, so the safe option was taken for you.")


CarryOut: TypeAlias = Callable[[Todo, float], None]


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
    """A server-sent event for the person's browser: its kind and its data."""

    kind: str
    text: str


@dataclass(slots=True)
class _Open:
    """The open decision, which has more than one option."""

    message: arena_pb2.Decision
    at: float  # time of arrival


class Person:
    """A person in a seat, from the request for a match to its end."""

    def __init__(
        self, game: str, connect: Callable[[CarryOut], MatchSession], timing: LoopTime, rated_on: str = ""
    ) -> None:
        """Set up a person who waits for a match.

        Args:
            game: Game to play.
            connect: Creates the session, from the function that carries out what the server asks for.
            timing: The event loop, or what passes the time in a test.
            rated_on: Ladder whose pairing gives a rated match; empty if an unrated one is requested.
        """
        self.game: Final = game
        self.rated_on: Final = rated_on
        self.language: Final = language()  # of the request that took the seat; the table stays in it
        self.problem = ""  # why the match does not go on here
        self.has_left = False
        self.meets_people = bool(rated_on)  # others would see from the time which decisions leave no choice
        self._arena = connect(self._do)
        self._timing = timing
        self._table: ClientTable | None = None
        self._picture: SeatPicture | None = None
        self._open: _Open | None = None
        self._last = (0, "")  # number of the last decision that was closed, and how
        self._is_over = False
        self._note = ""
        self._is_recorded = True  # whether the match will have a record
        self._times: deque[float] = deque(maxlen=RECENT)  # of the person's answers
        self._waiting = (gettext("Your table is being set."), "")
        self._missed = 0  # decisions in a row for which the time ran out
        self._number = 0  # of the last event for browsers
        self._listeners: set[asyncio.Queue[BrowserNews | None]] = set()
        self._seen_at = timing.time()
        self._timer: DelayedCall | None = None
        self._pausing: DelayedCall | None = None
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
        return gettext("It is your turn.") if self._open is not None else gettext("The others play.")

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
        asked = _count_of(number)
        if asked is None:
            raise AnswerRefused(gettext("This answer names no decision; use the buttons of the table."))
        if self._open is None or asked != self._open.message.decision:
            raise AnswerRefused(self._why_closed(asked))
        chosen, count = _count_of(option), len(self._open.message.options)
        if chosen is None or chosen >= count:
            text = gettext(
                "%(option)s is none of the options; they have the numbers 0 to %(last)s.",
                option=_short(option),
                last=count - 1,
            )
            raise AnswerRefused(text)
        self._note = ""
        self._times.append(self._timing.time() - self._open.at)
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
        for listener in self._listeners:
            listener.put_nowait(None)

    # -- to the browser
    def html(self) -> str:
        """Draw the moment as HTML."""
        with speaking(self.language):
            return self._html()

    def _html(self) -> str:
        if self._picture is None:
            return CLOSED.format(escape(gettext("Choose again"))) if self.problem else self._waiting[1]
        number = self._open.message.decision if self._open is not None else 0
        base_s, bank_s = self._left_s()
        clock_ms = int(max(0.0, base_s) * 1_000), int(bank_s * 1_000)
        return self._picture.html(number, clock_ms, self._note, is_recorded=self._is_recorded)

    def _news(self) -> list[BrowserNews]:
        status = json.dumps({"text": self.status, "trouble": bool(self.problem)})
        news = [BrowserNews("status", status)]
        if lines := lines_of(self.html()):
            news.append(BrowserNews("whole", json.dumps({"number": self._number, "lines": lines})))
        if self.is_over:
            news.append(BrowserNews(OVER, "{}"))
        return news

    async def listen(self) -> AsyncGenerator[BrowserNews, None]:
        """Yield the moment, and each one after it, until the match is over or the browser does not read."""
        queue: asyncio.Queue[BrowserNews | None] = asyncio.Queue()
        self._listeners.add(queue)
        for news in self._news():
            queue.put_nowait(news)
        try:
            while (news_or_end := await queue.get()) is not None:
                yield news_or_end
                if news_or_end.kind == OVER:
                    return
        finally:
            self._listeners.discard(queue)
            self.see()
            self._tick()  # from now on the person may be away

    def _show(self) -> None:
        if self._pausing is not None:
            self._pausing.cancel()
            self._pausing = None
        self._number += 1
        if self._listeners:
            news = self._news()
            for listener in self._listeners:
                for one in news if listener.qsize() <= MOST_UNREAD else [None]:
                    listener.put_nowait(one)

    # -- from the server
    def _do(self, todo: Todo, now: float) -> None:
        with speaking(self.language):
            self._carry_out(todo)

    def _carry_out(self, todo: Todo) -> None:
        match todo:
            case Begin(table):
                self._table = table
                self._picture = SeatPicture(table, _players(table, has_owners=bool(self.rated_on)), self.rated_on)
            case OwnerNotice(text) if self.rated_on and self._table is None:
                self.wait(text, self._waiting[1])
            case Ask(_, decision, at):
                self._ask(decision, at)
            case Illegal(table, number, left) if left:
                self._arena.session.answer(table, number, 0)
            case Finish(_, result, events, first):
                self._close()
                self._is_over = True
                assert self._picture is not None
                self._picture.end(result, events(), first)
                self._show()

    def _ask(self, decision: arena_pb2.Decision, at: float) -> None:
        assert self._picture is not None
        assert self._table is not None
        self._close()
        self._picture.ask(decision)
        if not self._picture.choices:  # the only option
            delay_s = self._lone_s(decision)
            if delay_s > 0:
                self._timing.call_later(delay_s, partial(self._answer_lone, decision.decision))
            else:
                self._arena.session.answer(self._table, decision.decision, 0)
            return
        self._open = _Open(decision, at)
        if self._may_wait_s() > 0:
            self._show()
        self._tick()

    def _lone_s(self, decision: arena_pb2.Decision) -> float:
        """Return how long the answer to a decision without a choice waits: as one of the person's recent answers.

        Else other people could see from the time who has a choice, and so who holds what. House bots study no times.
        """
        if not self.meets_people or self._is_away():
            return 0.0
        drawn_s = random.SystemRandom().choice(self._times or [FIRST_LONE_S])
        return min(drawn_s, LONE_SHARE * decision.base_left_ms / 1_000)

    def _answer_lone(self, number: int) -> None:
        assert self._table is not None
        if self._table.is_open(number):
            self._arena.session.answer(self._table, number, 0)
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
        self._close()
        self._last = number, how
        with speaking(self.language):
            self._picture.answered()
        self._arena.session.answer(self._table, number, option)
        self._arena.wake()
        if self._pausing is not None:
            self._pausing.cancel()
        self._pausing = self._timing.call_later(PAUSE_S, self._show)

    def _close(self) -> None:
        self._open = None
        self._stop_timer()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


def _players(table: ClientTable, *, has_owners: bool) -> list[str]:
    """Return how the players are called at the table, by seat: "you", "greedy", "person-2".

    On a ladder they have their owners: "ann/sneak", "bob/person".
    """
    names = [name if has_owners else built_in_bot(name.rpartition("/")[2]) for name in table.names]
    names[table.seat] = gettext("you")
    return names


def _count_of(text: str) -> int | None:
    """Return the number that a browser sent; None if it is no number of a few digits."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 9 else None


def _short(text: str) -> str:
    return repr("".join(one if one.isprintable() else " " for one in text[:40]))
