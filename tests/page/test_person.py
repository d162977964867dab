"""A person at a table, with the time handed in: answers, the clock, being away, leaving, and who listens."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest

from cutpurse.check.local_match import match_started
from cutpurse.engine.errors import CutpurseError
from cutpurse.engine.match import EndCause, MatchResult
from cutpurse.games import GAMES
from cutpurse.page.match_view.drawing import rendered
from cutpurse.page.seat import moment
from cutpurse.page.seat.person import (
    AWAY_S,
    CATCH_UP_S,
    LINE_AWAY_S,
    MARGIN_S,
    PAUSE_S,
    WAITS,
    AnswerRefused,
    CarryOut,
    Person,
)
from cutpurse.page.seat.shared_drawing import MAX_LISTENERS, Listener
from cutpurse.sdk.matches.watching import WatchBegin, WatchUpdate
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.answer_times import AnswerTimes
from cutpurse.wire.client_session import Ask, Begin, Finish, OwnerNotice
from cutpurse.wire.client_table import ClientTable, table_of
from cutpurse.wire.errors import ServerRefused
from cutpurse.wire.numbering import numbering_of
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

    def __init__(self, rated_on: str = "", game: str = "greed") -> None:
        self.time = Time()
        sessions: list[Session] = []

        def connect(carry: CarryOut) -> Session:
            sessions.append(Session(carry))
            return sessions[0]

        times = AnswerTimes(WAITS, lambda: 0.0)
        self.person = Person(game, connect, self.time, rated_on, times)
        (self.arena,) = sessions
        _, _, self.message, info = WiredMatch(game).put()
        self.message.base_left_ms, self.message.bank_left_ms = 90_000, 60_000
        names = ("house/people.greedy",) * info.seats
        self.table = table_of(match_started(game, info.settings, names, info.seat, "m" * 32))
        assert len(self.message.options) > 1

    def begin(self) -> Seated:
        self.arena.carry(Begin(self.table), self.time.now)
        return self

    def ask(self, number: int = 1) -> Seated:
        message = arena_pb2.Decision()
        message.CopyFrom(self.message)
        message.decision = self.table.asked = number
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
    async with aclosing(seated.person.listen(Listener())) as moments:
        await news(moments, 2)  # the person looks at the page, so they are not away
        seated.time.pass_by(150 - MARGIN_S - 0.01)
        assert seated.arena.answers == []
        seated.time.pass_by(0.02)
        assert seated.arena.answers == [(4, seated.message.safe_option)]
        assert "Your time ran out" in await seated.person.html()
        with pytest.raises(AnswerRefused, match=r"^Decision 4 is closed: the safe option was taken\.$"):
            seated.person.answer("4", "0")


async def test_who_is_away_is_not_waited_for_until_they_are_back() -> None:
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
    assert "You were away" in await seated.person.html()
    seated.person.answer("7", "1")
    assert "You were away" not in await seated.person.html()


def test_who_leaves_costs_the_others_nothing() -> None:
    seated = Seated().begin().ask(4)
    seated.person.leave()
    seated.ask(5)
    assert seated.arena.answers == [(4, seated.message.safe_option), (5, seated.message.safe_option)]


async def news(moments: AsyncGenerator[Any, None], count: int) -> list[Any]:
    return [await anext(moments) for _ in range(count)]


async def test_a_browser_gets_the_table_first_and_then_each_change() -> None:
    seated = Seated().begin().ask(4)
    async with aclosing(seated.person.listen(Listener())) as moments:
        status, whole = await news(moments, 2)
        assert (status.kind, json.loads(status.text)) == ("status", {"text": "It is your turn.", "trouble": False})
        assert whole.kind == "whole"
        assert "\n".join(json.loads(whole.text)["lines"]) == await seated.person.html()
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
        assert kinds == ["status", "step", "over"]
    with pytest.raises(AnswerRefused, match=r"^The match is over: nothing is asked any more\.$"):
        seated.person.answer("5", "0")
    assert "You " in await seated.person.html()


async def test_a_browser_that_comes_back_gets_the_table_as_it_is() -> None:
    seated = Seated().begin().ask(4)
    seated.time.pass_by(60)
    async with aclosing(seated.person.listen(Listener())) as moments:
        _, whole = await news(moments, 2)
    assert 'data-base-ms="30000" data-bank-ms="60000"' in whole.text.replace("\\", "")


async def test_a_browser_that_does_not_read_gets_the_newest_table_only() -> None:
    seated = Seated().begin()
    async with aclosing(seated.person.listen(Listener())) as moments:
        await news(moments, 1)
        for number in range(1, 20):
            seated.ask(number)
        seated.person.close()
        read = [one async for one in moments]
    assert [one.kind for one in read] == ["whole"]  # the rest of what was being sent


@pytest.fixture
def drawings(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list to which each drawing of a table adds the number of its decision."""
    numbers: list[int] = []

    def count(template: str, **values: Any) -> str:
        numbers.append(values["number"])
        return rendered(template, **values)

    monkeypatch.setattr(moment, "rendered", count)
    return numbers


async def test_each_state_is_drawn_once_for_all_who_look(drawings: list[int]) -> None:
    seated = Seated().begin()
    seated.ask(1)
    async with AsyncExitStack() as opened:
        several = [
            await opened.enter_async_context(aclosing(seated.person.listen(Listener()))) for _ in range(MAX_LISTENERS)
        ]
        told = await asyncio.gather(*(news(moments, 2) for moments in several))
        pages = await asyncio.gather(*(seated.person.html() for _ in range(50)))
        assert drawings == [1]
        assert len(set(pages)) == 1
        assert len({whole.text for _, whole in told}) == 1
        seated.time.pass_by(30)
        assert 'data-base-ms="60000" data-bank-ms="60000"' in await seated.person.html()
        assert "60 s for this decision" in await seated.person.html()
        assert drawings == [1]
        seated.person.answer("1", "0")
        seated.ask(2)
        await asyncio.gather(*(news(moments, 2) for moments in several))
        assert 'value="2"' in await seated.person.html()
    assert drawings == [1, 2]


async def test_a_state_that_nobody_looks_at_is_not_drawn(drawings: list[int]) -> None:
    seated = Seated().begin()
    for number in range(1, 9):
        seated.ask(number)
        seated.person.answer(str(number), "0")
        seated.time.pass_by(PAUSE_S)
    assert drawings == []


async def test_the_loop_goes_on_while_a_table_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    is_drawing, may_end = threading.Event(), threading.Event()

    def draw(template: str, **values: Any) -> str:
        is_drawing.set()
        may_end.wait()
        return rendered(template, **values)

    monkeypatch.setattr(moment, "rendered", draw)
    seated = Seated().begin().ask(1)
    loading = asyncio.create_task(seated.person.html())
    await asyncio.to_thread(is_drawing.wait)
    assert not loading.done()
    seated.person.answer("1", "0")  # while it is drawn, the state is outdated
    seated.ask(2)
    may_end.set()
    assert 'value="2"' in await loading


async def test_a_new_window_ends_the_oldest() -> None:
    seated = Seated().begin().ask(1)
    async with AsyncExitStack() as opened:
        several = [
            await opened.enter_async_context(aclosing(seated.person.listen(Listener())))
            for _ in range(MAX_LISTENERS + 1)
        ]
        for moments in several:
            await news(moments, 2)
        status, over = [one async for one in several[0]]
        assert "This table is open in newer windows" in status.text
        assert over.kind == "over"
        seated.person.answer("1", "0")
        seated.ask(2)
        for moments in several[1:]:
            _, whole = await news(moments, 2)
            assert 'value=\\"2\\"' in whole.text
    assert not seated.person.is_over


async def test_a_match_that_cannot_be_played_is_told() -> None:
    seated = Seated()
    seated.arena.problem = ServerRefused("its bots did not have a free table at the same time")
    task = asyncio.ensure_future(seated.person.play(["people/person-1"]))
    await task
    assert seated.person.is_over
    assert seated.person.status == ("Your match does not go on: its bots did not have a free table at the same time.")


@pytest.mark.parametrize("does", ["has no choice", "answers", "leaves"])
def test_among_people_every_answer_in_a_window_takes_as_long(does: str) -> None:
    """Else the others would see from the time who has a choice."""
    seated = Seated(game="stolen_treasure")
    seated.person.meets_people = True
    seated.message.ask = numbering_of(GAMES["stolen_treasure"]).ask_names.index("any_yarr") + 1
    if does == "has no choice":
        del seated.message.options[1:]
    seated.begin().ask(1)
    seated.time.pass_by(1.0)
    if does == "answers":
        seated.person.answer("1", "0")
    elif does == "leaves":
        seated.person.leave()
    seated.time.pass_by(WAITS.first_s - 1.1)
    assert seated.arena.answers == []
    seated.time.pass_by(0.2)
    assert [number for number, _ in seated.arena.answers] == [1]


def test_among_people_a_turn_without_a_choice_takes_as_long_as_other_turns() -> None:
    seated = Seated()
    seated.person.meets_people = True
    seated.begin()
    for number in (1, 2):
        seated.ask(number)
        seated.time.pass_by(5.0)
        seated.person.answer(str(number), "0")
    del seated.message.options[1:]
    seated.ask(3)
    seated.time.pass_by(4.9)
    assert len(seated.arena.answers) == 2
    seated.time.pass_by(0.2)
    assert seated.arena.answers[-1] == (3, 0)


def test_among_bots_a_decision_without_a_choice_is_answered_at_once() -> None:
    seated = Seated().begin()
    del seated.message.options[1:]
    seated.ask(1)
    assert seated.arena.answers == [(1, 0)]


async def test_a_person_who_waits_is_shown_how_far_the_table_is_and_why_it_ends() -> None:
    person = Seated().person
    person.wait("Two are here.", "<p>Two</p>")
    assert (person.status, await person.html()) == ("Two are here.", "<p>Two</p>")
    person.call_off("the table is closed")
    assert person.is_over
    assert person.status == "Your match does not go on: the table is closed."
    assert "Choose again" in await person.html()


def test_a_match_that_has_begun_is_not_called_off() -> None:
    seated = Seated().begin().ask()
    seated.person.call_off("the table is closed")
    assert not seated.person.is_over


async def test_after_two_decisions_without_an_answer_nobody_waits_until_the_person_is_back() -> None:
    seated = Seated().begin()
    seated.message.bank_left_ms = 0
    async with aclosing(seated.person.listen(Listener())) as moments:
        await news(moments, 2)  # the page is open, and nobody sits before it
        for number in (4, 5):
            seated.ask(number)
            seated.time.pass_by(90)
        assert [number for number, _ in seated.arena.answers] == [4, 5]
        assert "Load this page again to go on." in await seated.person.html()
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
    async with aclosing(seated.person.listen(Listener())) as moments:
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


async def test_at_a_rated_table_times_show_no_choice_and_players_have_owners() -> None:
    seated = Seated("duel").begin()
    seated.ask(1)
    assert "house/people.greedy" in await seated.person.html()
    seated.time.pass_by(5.0)
    seated.person.answer("1", "0")
    del seated.message.options[1:]
    seated.ask(2)
    assert seated.arena.answers == [(1, 0)]
    seated.end()
    assert 'href="/ladders/duel/play"' in await seated.person.html()
    assert 'href="/ladders/duel"' in await seated.person.html()


class Followed(Seated):
    """A person whose seat is watched, at a match that goes on by first options until the person is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.wired = WiredMatch("greed")
        self.first = 0

    def see(self) -> None:
        """The watch begins."""
        view = self.wired.match.game.view(self.table.seat)
        self.arena.carry(WatchBegin(self.table, self.table.names, self.table.seat, 0, view), self.time.now)

    def move(self, *, is_told: bool = True) -> bool:
        """Let the others make a choice, which the watch may tell; return False if the person is asked instead."""
        asked = self.wired.match.decision()
        assert asked is not None
        if asked.seat == self.table.seat:
            return False
        self.wired.match.answer(asked.seat, asked.number, 0)
        if is_told:
            self.tell()
        return True

    def tell(self) -> None:
        """Tell by the watch what has happened since."""
        game, seat = self.wired.match.game, self.table.seat
        log = game.log or []
        events = tuple([event.to(seat) for event in log[self.first :]])
        self.arena.carry(WatchUpdate(self.table, 0, self.first, events, game.view(seat)), self.time.now)
        self.first = len(log)

    def put(self) -> int:
        """Ask the person by the stream; return the number of the decision."""
        _, _, message, _ = self.wired.put()
        message.base_left_ms, message.bank_left_ms = 90_000, 60_000
        self.table.asked = message.decision
        self.arena.carry(Ask(self.table, message, self.time.now), self.time.now)
        return int(message.decision)

    def choose(self, number: int) -> None:
        """Let the person answer, and the match go on."""
        self.person.answer(str(number), "0")
        asked = self.wired.match.decision()
        assert asked is not None
        self.wired.match.answer(self.table.seat, asked.number, 0)


async def steps_of(seated: Seated, play: Callable[[], None]) -> list[list[str]]:
    """Return the lines of the table at each step that a browser is sent while something is played."""
    shown: list[list[str]] = []
    async with aclosing(seated.person.listen(Listener())) as moments:
        first = await news(moments, 2)
        lines = json.loads(first[-1].text)["lines"]
        play()
        step = first[-1]
        while seated.person._drawing.step > (step.step or 0):
            _, step = await news(moments, 2)
            change = json.loads(step.text)["lines"]
            lines = [line for one in change for line in ([one] if isinstance(one, str) else lines[one[0] : one[1]])]
            shown.append(lines)
    return shown


async def test_a_person_sees_each_choice_of_the_others_before_the_question() -> None:
    seated = Followed()
    seated.begin()
    seated.see()  # the table is there before anything is asked
    number = seated.put()
    seated.tell()
    seated.time.pass_by(CATCH_UP_S)
    seated.choose(number)
    while (asked := seated.wired.match.decision()) is not None and asked.seat == seated.table.seat:
        seated.tell()
        seated.choose(seated.put())
    moves = 0

    def play() -> None:
        nonlocal moves, number
        seated.tell()
        while seated.move():
            moves += 1
        number = seated.put()

    shown = await steps_of(seated, play)
    assert moves > 1
    assert len(shown) == 1 + moves + 1  # own choice, theirs, and the question
    assert [f'value="{number}"' in "".join(lines) for lines in shown] == [False] * (1 + moves) + [True]
    captions = ["".join(lines).partition('<div class="caption"')[2].partition("</div>")[0] for lines in shown]
    assert len(set(captions)) == 1 + moves  # each choice is an act; the question is none


async def test_a_question_waits_for_the_moves_before_it_but_not_for_long() -> None:
    seated = Followed()
    seated.begin()
    seated.see()
    number = seated.put()
    assert 'name="decision"' not in await seated.person.html()
    seated.time.pass_by(CATCH_UP_S / 2)
    seated.tell()
    assert f'value="{number}"' in await seated.person.html()
    seated.choose(number)
    while seated.move(is_told=False):
        pass
    number = seated.put()
    assert f'value="{number}"' not in await seated.person.html()
    seated.time.pass_by(CATCH_UP_S)
    html = await seated.person.html()
    assert f'value="{number}"' in html
    seated.tell()  # too late: it is known already
    assert await seated.person.html() == html


async def test_nothing_is_lost_and_nothing_told_twice_while_the_watch_is_away() -> None:
    """The story is that of a person whose seat is not watched at all."""
    stories = []
    for is_watched in (True, False):
        seated = Followed()
        seated.begin()
        if is_watched:
            seated.see()
        for turn in range(4):
            moved = 0
            while seated.move(is_told=is_watched and turn != 2):
                moved += 1
                if turn == 3 and moved == 1:
                    seated.first = len(seated.wired.match.game.log or [])  # a gap
            number = seated.put()
            seated.time.pass_by(CATCH_UP_S)
            html = await seated.person.html()
            seated.choose(number)
        stories.append(html[html.index('class="turns"') :])
    assert stories[0] == stories[1]
