"""A person at a table, with the time handed in: answers, the clock, being away, leaving, and who listens."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from cutpurse.engine.errors import CutpurseError
from cutpurse.engine.match import EndCause, MatchResult
from cutpurse.server.web.seat.person import AWAY_S, LINE_AWAY_S, MARGIN_S, PAUSE_S, AnswerRefused, CarryOut, Person
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.client_session import Ask, Begin, ClientTable, Finish, OwnerNotice
from cutpurse.wire.errors import ServerRefused
from tests.web.test_seat_moment import table_at
from tests.wire.test_asked import WiredMatch


class Time:
    """A clock that the test sets; what is due happens then."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.calls: list[Later] = []

    def time(self) -> float:
        return self.now

    def call_later(self, delay: float, callback: Callable[[], object], /) -> Later:
        call = Later(self.now + delay, callback)
        self.calls.append(call)
        return call

    def pass_by(self, seconds: float) -> None:
        end = self.now + seconds
        while due := [call for call in self.calls if call.at <= end and not call.is_off]:
            call = min(due, key=lambda one: one.at)
            self.calls.remove(call)
            self.now = max(self.now, call.at)
            call.callback()
        self.now = end


class Later:
    """A call that is due at a time."""

    def __init__(self, at: float, callback: Callable[[], object]) -> None:
        self.at, self.callback, self.is_off = at, callback, False

    def cancel(self) -> None:
        self.is_off = True


class Session:
    """In place of the session with the server: it notes the answers."""

    def __init__(self, carry: CarryOut) -> None:
        self.carry = carry
        self.session: Any = self
        self.answers: list[tuple[int, int]] = []
        self.problem: CutpurseError | None = None
        self.leaves = 0

    def answer(self, table: ClientTable, decision: int, option: int) -> None:
        self.answers.append((decision, option))

    def leave(self) -> None:
        self.leaves += 1

    def wake(self) -> None: ...

    async def run(
        self, bots: Sequence[str], seed: bytes | None = None, position: ladder_pb2.StartPosition | None = None
    ) -> None:
        if self.problem is not None:
            raise self.problem


class Seated:
    """A person in the seat that is asked first at a table of Greed."""

    def __init__(self, rated_on: str = "") -> None:
        self.time = Time()
        sessions: list[Session] = []

        def connect(carry: CarryOut) -> Session:
            sessions.append(Session(carry))
            return sessions[0]

        self.person = Person("greed", connect, self.time, rated_on)
        (self.arena,) = sessions
        _, _, self.message, info = WiredMatch("greed").put()
        self.message.base_left_ms, self.message.bank_left_ms = 90_000, 60_000
        self.table = table_at("greed", info, ("house/people.greedy",) * info.seats)
        assert len(self.message.options) > 1

    def begin(self) -> Seated:
        self.arena.carry(Begin(self.table), self.time.now)
        return self

    def ask(self, number: int = 1) -> Seated:
        message = arena_pb2.Decision()
        message.CopyFrom(self.message)
        message.decision = number
        self.arena.carry(Ask(self.table, message, self.time.now), self.time.now)
        return self

    def end(self) -> None:
        seats = self.table.info.seats
        places = tuple(range(1, seats + 1))
        result = MatchResult(tuple(range(seats, 0, -1)), places, (EndCause.NORMAL,) * seats)
        self.arena.carry(Finish(self.table, result, list, self.message.first_event + 99, False), self.time.now)


def test_an_answer_goes_to_the_server_once() -> None:
    seated = Seated().begin().ask(7)
    seated.person.answer("7", "1")
    assert seated.arena.answers == [(7, 1)]
    with pytest.raises(AnswerRefused, match=r"^Decision 7 is closed: it is answered\.$"):
        seated.person.answer("7", "0")
    assert seated.arena.answers == [(7, 1)]


@pytest.mark.parametrize(
    ("number", "option", "line"),
    [
        ("3", "0", "Decision 3 is not open any more."),
        ("5", "0", "Decision 5 is closed: it is answered."),
        ("8", "0", "Decision 8 is not open."),
        ("7", "99", "'99' is none of the options; they have the numbers 0 to 1."),
        ("7", "-1", "'-1' is none of the options; they have the numbers 0 to 1."),
        ("7", "stop, please\n", "'stop, please ' is none of the options; they have the numbers 0 to 1."),
        ("7", "\N{ARABIC-INDIC DIGIT ONE}", "'\N{ARABIC-INDIC DIGIT ONE}' is none of the options; "),
        ("7", "1" * 5_000, f"'{'1' * 40}' is none of the options; "),
        ("7", "", "'' is none of the options; "),
        ("seven", "0", "This answer names no decision; use the buttons of the table."),
        ("", "0", "This answer names no decision; use the buttons of the table."),
    ],
)
def test_what_is_no_answer_is_refused_in_one_line(number: str, option: str, line: str) -> None:
    seated = Seated().begin().ask(5)
    seated.person.answer("5", "0")
    del seated.message.options[2:]
    seated.ask(7)
    with pytest.raises(AnswerRefused, match=f"^{re.escape(line)}"):
        seated.person.answer(number, option)
    assert seated.arena.answers == [(5, 0)]


def test_a_decision_with_one_option_is_answered_without_the_person() -> None:
    seated = Seated().begin()
    del seated.message.options[1:]
    seated.message.safe_option = 0
    seated.ask(3)
    assert seated.arena.answers == [(3, 0)]
    assert seated.person.status == "The others play."


async def test_where_the_time_runs_out_the_safe_option_is_taken() -> None:
    seated = Seated().begin().ask(4)
    async with aclosing(seated.person.listen()) as moments:
        await news(moments, 2)  # the person looks at the page, so they are not away
        seated.time.pass_by(150 - MARGIN_S - 0.01)
        assert seated.arena.answers == []
        seated.time.pass_by(0.02)
        assert seated.arena.answers == [(4, seated.message.safe_option)]
        assert "Your time ran out" in seated.person.html()
        with pytest.raises(AnswerRefused, match=r"^Decision 4 is closed: the safe option was taken\.$"):
            seated.person.answer("4", "0")


def test_who_is_away_is_not_waited_for_until_they_are_back() -> None:
    seated = Seated().begin()
    seated.message.bank_left_ms = 900_000
    seated.ask(4)
    seated.time.pass_by(AWAY_S - 0.01)
    seated.person.see()
    seated.time.pass_by(AWAY_S - 0.01)
    assert seated.arena.answers == []
    seated.time.pass_by(0.02)
    safe = seated.message.safe_option
    assert seated.arena.answers == [(4, safe)]
    seated.ask(5).ask(6)
    assert seated.arena.answers == [(4, safe), (5, safe), (6, safe)]
    seated.person.see()
    seated.ask(7)
    assert len(seated.arena.answers) == 3
    assert "You were away" in seated.person.html()
    seated.person.answer("7", "1")
    assert "You were away" not in seated.person.html()


def test_who_leaves_costs_the_others_nothing() -> None:
    seated = Seated().begin().ask(4)
    seated.person.leave()
    seated.ask(5)
    assert seated.arena.answers == [(4, seated.message.safe_option), (5, seated.message.safe_option)]


async def news(moments: AsyncGenerator[Any, None], count: int) -> list[Any]:
    return [await anext(moments) for _ in range(count)]


async def test_a_browser_gets_the_table_first_and_then_each_change() -> None:
    seated = Seated().begin().ask(4)
    async with aclosing(seated.person.listen()) as moments:
        status, whole = await news(moments, 2)
        assert (status.kind, json.loads(status.text)) == ("status", {"text": "It is your turn.", "trouble": False})
        assert whole.kind == "whole"
        assert "\n".join(json.loads(whole.text)["lines"]) == seated.person.html()
        seated.person.answer("4", "0")
        seated.ask(5)  # at once: then no table without a question is shown between
        status, whole = await news(moments, 2)
        assert 'value="5"' in whole.text.replace("\\", "")
        seated.person.answer("5", "0")
        seated.time.pass_by(PAUSE_S)
        status, whole = await news(moments, 2)
        assert "The others play" in status.text
        seated.end()
        kinds = [one.kind for one in await news(moments, 3)]
        assert kinds == ["status", "whole", "over"]
    with pytest.raises(AnswerRefused, match=r"^The match is over: nothing is asked any more\.$"):
        seated.person.answer("5", "0")
    assert "You " in seated.person.html()


async def test_a_browser_that_comes_back_gets_the_table_as_it_is() -> None:
    seated = Seated().begin().ask(4)
    seated.time.pass_by(60)
    async with aclosing(seated.person.listen()) as moments:
        _, whole = await news(moments, 2)
    assert 'data-base-ms="30000" data-bank-ms="60000"' in whole.text.replace("\\", "")


async def test_a_browser_that_does_not_read_is_let_go() -> None:
    seated = Seated().begin()
    async with aclosing(seated.person.listen()) as moments:
        await news(moments, 1)
        for number in range(1, 20):
            seated.ask(number)
        read = [one.kind async for one in moments]
    assert 0 < len(read) < 30


async def test_a_match_that_cannot_be_played_is_told() -> None:
    seated = Seated()
    seated.arena.problem = ServerRefused("its bots did not have a free table at the same time")
    task = asyncio.ensure_future(seated.person.play(["people/person-1"]))
    await task
    assert seated.person.is_over
    assert seated.person.status == ("Your match does not go on: its bots did not have a free table at the same time.")


def test_among_people_a_decision_without_a_choice_takes_as_long_as_an_answer() -> None:
    """Else the others would see from the time which decisions leave no choice."""
    seated = Seated().begin()
    seated.person.meets_people = True
    seated.ask(1)
    seated.time.pass_by(5.0)
    seated.person.answer("1", "0")
    del seated.message.options[1:]
    seated.ask(2)
    seated.table.asked = 2
    seated.time.pass_by(4.9)
    assert seated.arena.answers == [(1, 0)]
    seated.time.pass_by(0.2)
    assert seated.arena.answers == [(1, 0), (2, 0)]


def test_among_bots_a_decision_without_a_choice_is_answered_at_once() -> None:
    seated = Seated().begin()
    del seated.message.options[1:]
    seated.ask(1)
    assert seated.arena.answers == [(1, 0)]


def test_a_person_who_waits_is_shown_how_far_the_table_is_and_why_it_ends() -> None:
    person = Seated().person
    person.wait("Two are here.", "<p>Two</p>")
    assert (person.status, person.html()) == ("Two are here.", "<p>Two</p>")
    person.call_off("the table is closed")
    assert person.is_over
    assert person.status == "Your match does not go on: the table is closed."
    assert "Choose again" in person.html()


def test_a_match_that_has_begun_is_not_called_off() -> None:
    seated = Seated().begin().ask()
    seated.person.call_off("the table is closed")
    assert not seated.person.is_over


async def test_after_two_decisions_without_an_answer_nobody_waits_until_the_person_is_back() -> None:
    seated = Seated().begin()
    seated.message.bank_left_ms = 0
    async with aclosing(seated.person.listen()) as moments:
        await news(moments, 2)  # the page is open, and nobody sits before it
        for number in (4, 5):
            seated.ask(number)
            seated.time.pass_by(90)
        assert [number for number, _ in seated.arena.answers] == [4, 5]
        assert "Load this page again to go on." in seated.person.html()
        seated.ask(6)
        assert [number for number, _ in seated.arena.answers] == [4, 5, 6]
        seated.person.come_back()
        seated.ask(7)
        seated.time.pass_by(10)
        seated.person.answer("7", "0")
    assert seated.arena.answers[-1] == (7, 0)


async def test_who_is_away_is_in_line_no_more() -> None:
    seated = Seated("duel")
    assert seated.person.status == "You are in line for a match."
    async with aclosing(seated.person.listen()) as moments:
        await news(moments, 2)
        seated.time.pass_by(10 * LINE_AWAY_S)
        assert seated.arena.leaves == 0
    seated.time.pass_by(LINE_AWAY_S - 0.01)
    assert seated.arena.leaves == 0
    seated.time.pass_by(LINE_AWAY_S)
    assert seated.arena.leaves == 1
    assert seated.person.status == "Your match does not go on: you were away, so you are not in line any more."
    seated.begin().ask(1)  # paired at the same moment: the others do not wait
    assert seated.arena.answers == [(1, seated.message.safe_option)]


def test_who_leaves_the_line_gets_no_match() -> None:
    seated = Seated("duel")
    seated.person.leave()
    assert seated.arena.leaves == 1


def test_what_the_server_says_is_shown_in_line_and_not_at_the_table() -> None:
    seated = Seated("duel")
    line = "the server says: ladder duel is frozen: no match starts there"
    seated.arena.carry(OwnerNotice(line), seated.time.now)
    assert seated.person.status == line
    seated.begin().ask(1)
    seated.arena.carry(OwnerNotice(line), seated.time.now)
    assert seated.person.status == "It is your turn."


def test_at_a_rated_table_times_show_no_choice_and_players_have_owners() -> None:
    seated = Seated("duel").begin()
    seated.ask(1)
    assert "house/people.greedy" in seated.person.html()
    seated.time.pass_by(5.0)
    seated.person.answer("1", "0")
    del seated.message.options[1:]
    seated.ask(2)
    assert seated.arena.answers == [(1, 0)]
    seated.end()
    assert 'href="/ladders/duel/play"' in seated.person.html()
    assert 'href="/ladders/duel"' in seated.person.html()
