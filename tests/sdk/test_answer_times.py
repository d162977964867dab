"""Questions with one option: answered for the bot, in the time that its other answers take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest

from cutpurse.sdk import bot_calls
from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.bot_calls import Flow
from cutpurse.sdk.online.answer_times import DEFAULT_S, ENOUGH, RECENT, AnswerTimes
from cutpurse.sdk.online.bot_pool import SHARE_OF_BASE, RemoteBots
from cutpurse.sdk.online.concurrency import ConcurrencyControl
from cutpurse.sdk.online.thinking import Kind, Thinker
from tests.sdk.arena import Meeting
from tests.sdk.test_session import Script, sent

ASK = ("greed", "go_on_or_stop", False)
WINDOW = ("stolen_treasure", "any_yarr", True)
OTHER_WINDOW = ("stolen_treasure", "any_parley", True)


# -- what is drawn
def test_a_bot_without_answers_takes_the_default_time() -> None:
    assert AnswerTimes().draw(*WINDOW) == DEFAULT_S


@pytest.mark.parametrize(
    ("added", "drawn"),
    [
        ([(ASK, 1, 3.0)], 3.0),  # anything, while there is nothing else
        ([(ASK, 9, 3.0), (OTHER_WINDOW, ENOUGH, 2.0)], 2.0),  # windows of the game
        ([(ASK, 9, 3.0), (OTHER_WINDOW, 9, 2.0), (WINDOW, ENOUGH, 1.0)], 1.0),  # the same question
        ([(ASK, RECENT, 3.0), (WINDOW, ENOUGH - 1, 3.0)], 3.0),  # too few
    ],
)
def test_the_time_comes_from_the_answers_that_are_most_alike(
    added: list[tuple[tuple[str, str, bool], int, float]], drawn: float
) -> None:
    times = AnswerTimes(lambda: 0.0)
    for ask, count, seconds in added:
        for _ in range(count):
            times.add(*ask, seconds)
    assert times.draw(*WINDOW) == drawn


def test_old_answers_are_forgotten() -> None:
    times = AnswerTimes()
    for seconds in (5.0, 1.0):
        for _ in range(RECENT):
            times.add(*WINDOW, seconds)
    assert times.draw(*WINDOW) == 1.0


def test_times_between_two_neighbours_are_drawn_and_none_beyond() -> None:
    for share, drawn in ((0.0, 1.0), (0.5, 1.5), (0.999999, 2.0)):
        times = AnswerTimes(lambda share=share: share)  # type: ignore[misc]  # a default that is no parameter
        for number in range(ENOUGH):
            times.add(*WINDOW, 1.0 + number / (ENOUGH - 1))
        assert times.draw(*WINDOW) == pytest.approx(drawn, abs=1e-5)


# -- what a bot's side does with it
THINKS_S = 0.1


class Clock:
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Inline:
    """In place of the bot's thread: turns are carried out at once."""

    def in_event_loop(self, kind: Kind) -> bool:
        return True

    def did(self, kind: Kind, seconds: float) -> None:
        pass

    def do(self, match: str, kind: Kind, flow: Flow[Any], done: Callable[[Any, float], None]) -> None:
        done(bot_calls.without_a_loop(flow), 0.0)


class Played:
    """A match against a script of the server, answer by answer."""

    def __init__(self, hides_time: bool, base_left_ms: int = 1_000, reads_events: bool = True) -> None:
        played = self
        self.counts: list[int] = []  # options of the decisions that the bot was asked
        self.numbers: list[int] = []
        self.events: list[int] = []  # numbers of those that the bot had
        self.waits: list[tuple[int, float]] = []  # before answers with one option: decisions asked until then, seconds
        self.lone = 0
        clock = Clock()
        later: list[tuple[float, Callable[[], None]]] = []

        class Bot:
            def choose(self, view: Any, decision: Any) -> int:
                clock.now += THINKS_S
                played.counts.append(decision.count)
                played.numbers.append(decision.number)
                if reads_events:
                    played.events += [event.number for event in view.events]
                return len(played.counts) % int(decision.count)

        if reads_events:
            Bot.event = lambda self, event: None  # type: ignore[attr-defined]  # a method that has nothing to do
        meeting = Meeting(1, "stolen_treasure", 3, 0, "bot")
        self.meeting = meeting
        script = Script(meeting, events=reads_events)
        bots = RemoteBots(
            BotMaker("bot", Bot),
            script.session,
            cast("Thinker", Inline()),
            ConcurrencyControl(),
            self.says,
            lambda match: None,
            lambda: None,
            clock=clock,
            hides_time=hides_time,
            later=lambda seconds, call: later.append((seconds, call)),
        )
        for todo in script.deal():
            bots.do(todo)
        while (decision := meeting.match.decision(0)) is not None:
            if len(decision.options) == 1:
                self.lone += 1
            if later:
                ((seconds, call),) = later
                later.clear()
                assert len(decision.options) == 1
                self.waits.append((len(self.counts), seconds))
                clock.now += seconds
                call()
            envelope = sent(script.session)
            assert envelope is not None
            (answer,) = envelope.answers
            meeting.match.answer(0, answer.decision - 1, answer.option)
            meeting.play_others()
            following = meeting.decision()
            if following is not None:
                following.base_left_ms = base_left_ms
                for todo in script.say(clock.now, decisions=[following]):
                    bots.do(todo)

    def says(self, text: str) -> None:
        raise AssertionError(text)


def test_a_bot_is_not_asked_where_there_is_one_option_and_waits_as_long_as_it_thinks() -> None:
    played = Played(hides_time=True)
    assert played.lone > 10
    assert min(played.counts) > 1
    assert played.numbers == list(range(len(played.counts)))
    assert len(played.waits) == played.lone
    for asked, seconds in played.waits:
        assert seconds == pytest.approx(THINKS_S if asked else DEFAULT_S)


def test_a_bot_that_does_not_hide_its_time_answers_at_once() -> None:
    played = Played(hides_time=False)
    assert played.lone > 10
    assert played.waits == []


def test_an_answer_with_one_option_stays_well_within_its_base_time() -> None:
    played = Played(hides_time=True, base_left_ms=50)
    assert {round(seconds, 6) for _, seconds in played.waits[1:]} == {round(SHARE_OF_BASE * 0.05, 6)}


def test_events_of_decisions_that_the_bot_was_not_asked_come_with_the_next() -> None:
    played = Played(hides_time=True)
    assert len(played.events) > 100
    assert played.events == list(range(len(played.events)))


def test_a_bot_without_events_keeps_no_decisions_for_them() -> None:
    assert Played(hides_time=True, reads_events=False).events == []
