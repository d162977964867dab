"""Answer times, which do not tell who had a choice: what is drawn, what is stored, and how bots use it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from cutpurse.sdk.bot import BotMaker
from cutpurse.sdk.flows import Flow, without_a_loop
from cutpurse.sdk.online.bot_pool import RemoteBots
from cutpurse.sdk.online.concurrency import ConcurrencyControl
from cutpurse.sdk.online.stored_times import StoredTimes
from cutpurse.sdk.online.thinking import Kind, Thinker
from cutpurse.wire.answer_times import ENOUGH, FOR_BOTS, RECENT, AnswerTimes, WaitLimits
from cutpurse.wire.client_session import Begin
from tests.sdk.arena import Meeting
from tests.wire.test_session import Script, sent

GAME, WINDOW, TURN = "stolen_treasure", "any_yarr", "take_an_action"
WINDOWS = {WINDOW, "any_parley", "divert_or_suffer"}
BASE_S = 10.0
FIRST_S, _, SHARE = FOR_BOTS


def times_with(*added: tuple[str, int, float], share: float = 0.0) -> AnswerTimes:
    """Times with these answers of an earlier match: question, number and seconds."""
    times = AnswerTimes(chance=lambda: share)
    for ask, count, seconds in added:
        for _ in range(count):
            times.add(GAME, ask, seconds, is_shown=ask == TURN)
    return times


# -- windows
@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_without_enough_answers_both_kinds_wait_for_the_same_slow_time(share: float) -> None:
    times = times_with((WINDOW, ENOUGH - 1, 0.1), share=share).begin(GAME)
    waits = [times.wait_s(WINDOW, has_choice, BASE_S) for has_choice in (True, False)]
    assert waits == [pytest.approx(FIRST_S * (1 + share / 2))] * 2


def test_with_enough_answers_real_ones_are_sent_at_once_and_others_are_like_them() -> None:
    times = times_with((TURN, RECENT, 3.0), (WINDOW, ENOUGH, 0.1), ("any_parley", ENOUGH - 1, 2.0)).begin(GAME)
    assert times.wait_s(WINDOW, True, BASE_S) == 0.0
    assert times.wait_s(WINDOW, False, BASE_S) == 0.1
    assert times.wait_s("any_parley", True, BASE_S) == times.wait_s("any_parley", False, BASE_S) > FIRST_S


def test_what_a_match_teaches_about_windows_counts_from_the_next_one_on() -> None:
    """Else a seat with more choices would learn sooner, and show that it did."""
    bot = AnswerTimes(chance=lambda: 0.0)
    times = bot.begin(GAME)
    for _ in range(RECENT):
        times.add(WINDOW, 0.1, FIRST_S)
    assert times.wait_s(WINDOW, True, BASE_S) == times.wait_s(WINDOW, False, BASE_S) == FIRST_S
    assert bot.begin(GAME).wait_s(WINDOW, False, BASE_S) == 0.1


@pytest.mark.parametrize(
    ("ask", "seconds", "waited_s", "lower_s"),
    [
        (WINDOW, 0.24, 0.25, FIRST_S),  # hidden, so nothing may follow from it
        (WINDOW, 0.40, 0.25, 0.5),
        (TURN, 0.40, 0.0, 0.5),
        (TURN, 0.10, 0.0, FIRST_S),
        (TURN, 60.0, 0.0, SHARE * BASE_S / 1.5),  # still within the base time
    ],
)
def test_the_slow_time_follows_what_everybody_saw(ask: str, seconds: float, waited_s: float, lower_s: float) -> None:
    times = AnswerTimes(chance=lambda: 0.0).begin(GAME)
    times.add(ask, seconds, waited_s)
    assert times.wait_s(WINDOW, False, BASE_S) == pytest.approx(lower_s)
    assert times.wait_s(WINDOW, True, BASE_S) == pytest.approx(lower_s)


def test_the_slow_time_of_a_person_has_a_limit() -> None:
    times = AnswerTimes(WaitLimits(3.0, 6.0, 0.5), lambda: 0.0).begin(GAME)
    times.add(TURN, 60.0, 0.0)
    assert times.wait_s(WINDOW, True, 90.0) == 6.0


# -- other questions
def test_a_turn_with_a_choice_is_answered_as_soon_as_it_is_ready() -> None:
    assert AnswerTimes().begin(GAME).wait_s(TURN, True, BASE_S) == 0.0


@pytest.mark.parametrize(
    ("added", "drawn"),
    [
        ([], FIRST_S),
        ([(TURN, 2, 3.0)], 3.0),
        ([(TURN, 9, 3.0), ("stake_treasure", 1, 4.0)], 3.0),
        ([(TURN, 9, 3.0), ("stake_treasure", 2, 1.0)], 1.0),
        ([(TURN, 9, 3.0), (WINDOW, 9, 1.0)], 3.0),
        ([(TURN, 2, 60.0)], SHARE * BASE_S),
    ],
)
def test_a_turn_without_a_choice_is_like_those_that_are_most_alike(
    added: list[tuple[str, int, float]], drawn: float
) -> None:
    times = times_with(*added).begin(GAME)
    assert times.wait_s("stake_treasure", False, BASE_S) == pytest.approx(drawn)


def test_old_answers_are_forgotten() -> None:
    times = times_with((WINDOW, RECENT, 5.0), (WINDOW, RECENT, 1.0)).begin(GAME)
    assert times.wait_s(WINDOW, False, BASE_S) == 1.0


@pytest.mark.parametrize(("share", "drawn"), [(0.5, 1.5), (0.0, 1.0 - 0.5 / 15), (1.0, 2.0 + 0.5 / 15)])
def test_times_between_two_neighbours_are_drawn_and_few_beyond(share: float, drawn: float) -> None:
    added = [(WINDOW, 1, 1.0 + number / (ENOUGH - 1)) for number in range(ENOUGH)]
    assert times_with(*added, share=share).begin(GAME).wait_s(WINDOW, False, BASE_S) == pytest.approx(drawn)


# -- the file
@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the bot `ann`, version 2."""
    monkeypatch.setenv("CUTPURSE_ANSWER_TIMES", str(tmp_path / "times"))
    return tmp_path / "times" / "ann-2.json"


def learned(code: Path) -> StoredTimes:
    """A bot that learned one window, and has stored it."""
    times = StoredTimes("ann", "2", str(code))
    for _ in range(ENOUGH):
        times.add(GAME, WINDOW, 0.1, is_shown=False)
    times.save()
    return times


def test_times_survive_the_process_of_the_same_code(stored: Path, tmp_path: Path) -> None:
    code = tmp_path / "ann.py"
    code.write_text("first")
    first = learned(code)
    assert StoredTimes("ann", "2", str(code)).by_question == first.by_question
    assert StoredTimes("ann", "3", str(code)).by_question == {}
    code.write_text("second")
    assert StoredTimes("ann", "2", str(code)).by_question == {}
    assert [path.name for path in stored.parent.iterdir()] == ["ann-2.json"]


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\xff\x00",
        b"[" * 100_000,
        b"[]",
        b"9" * 5_000,
        b'{"code": "", "seconds": 7}',
        b'{"code": "", "seconds": {"stolen_treasure": [], "no game": {"any_yarr": [1.0]}}}',
        b'{"code": "", "seconds": {"stolen_treasure": {"any_yarr": [true, -1, 1e999, NaN, "1", 1e9, null]}}}',
        b'{"code": "", "seconds": {"stolen_treasure": {"any_yarr": {"a": 1}}}}',
        b'{"code": "", "seconds": {}}' + b" " * (1 << 20),
    ],
)
def test_a_broken_file_is_ignored_and_replaced(text: bytes, stored: Path, tmp_path: Path) -> None:
    stored.parent.mkdir()
    stored.write_bytes(text)
    times = learned(tmp_path / "no code")
    assert list(times.by_question) == [(GAME, WINDOW)]
    assert StoredTimes("ann", "2", "").by_question == times.by_question


def test_without_a_folder_nothing_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CUTPURSE_ANSWER_TIMES", "")
    learned(tmp_path / "no code")
    monkeypatch.setenv("CUTPURSE_ANSWER_TIMES", str(tmp_path / "file" / "below"))
    (tmp_path / "file").touch()
    learned(tmp_path / "no code")
    monkeypatch.delenv("CUTPURSE_ANSWER_TIMES")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", lambda: Path("~nobody").expanduser())
    learned(tmp_path / "no code")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


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
        done(without_a_loop(flow), 0.0)


class Played:
    """A match against a script of the server, answer by answer."""

    def __init__(
        self, hides_time: bool, base_left_ms: int = 1_000, reads_events: bool = True, is_local: bool = False
    ) -> None:
        played = self
        self.counts: list[int] = []  # options of the decisions that the bot was asked
        self.numbers: list[int] = []
        self.events: list[int] = []  # numbers of those that the bot had
        self.sent: dict[tuple[bool, bool], list[float]] = {}  # by whether it is a window, and has a choice: seconds
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
            times=AnswerTimes(chance=lambda: 0.0),
            later=lambda seconds, call: later.append((seconds, call)),
        )
        came = clock.now
        for todo in script.deal():
            if isinstance(todo, Begin) and is_local:
                todo.table.commitment = b""
            bots.do(todo)
        while (decision := meeting.match.decision(0)) is not None:
            if later:
                ((seconds, call),) = later
                later.clear()
                clock.now += seconds
                call()
            kind = decision.ask in WINDOWS, len(decision.options) > 1
            self.sent.setdefault(kind, []).append(round(clock.now - came, 6))
            envelope = sent(script.session)
            assert envelope is not None
            (answer,) = envelope.answers
            meeting.match.answer(0, answer.decision - 1, answer.option)
            meeting.play_others()
            following = meeting.decision()
            if following is not None:
                following.base_left_ms = base_left_ms
                came = clock.now
                for todo in script.say(clock.now, decisions=[following]):
                    bots.do(todo)

    def says(self, text: str) -> None:
        raise AssertionError(text)


def test_a_bot_is_not_asked_where_there_is_one_option() -> None:
    played = Played(hides_time=True)
    assert min(played.counts) > 1
    assert played.numbers == list(range(len(played.counts)))


def test_all_windows_are_answered_alike_and_turns_as_the_bot_thinks() -> None:
    sent_after = Played(hides_time=True).sent
    assert {kind: set(seconds) for kind, seconds in sent_after.items()} == {
        (True, True): {FIRST_S},
        (True, False): {FIRST_S},
        (False, True): {THINKS_S},
        (False, False): {THINKS_S},
    }


@pytest.mark.parametrize(("hides_time", "is_local"), [(False, False), (True, True)])
def test_a_bot_that_does_not_hide_its_time_answers_at_once_and_any_bot_in_a_local_match(
    hides_time: bool, is_local: bool
) -> None:
    sent_after = Played(hides_time, is_local=is_local).sent
    assert {choice for _, choice in sent_after} == {True, False}
    assert all(set(seconds) == {THINKS_S * choice} for (_, choice), seconds in sent_after.items())


def test_an_answer_that_waits_stays_well_within_its_base_time() -> None:
    sent_after = Played(hides_time=True, base_left_ms=300).sent
    assert set(sent_after[True, True]) == set(sent_after[True, False]) == {round(SHARE * 0.3 / 1.5, 6)}


def test_events_of_decisions_that_the_bot_was_not_asked_come_with_the_next() -> None:
    played = Played(hides_time=True)
    assert len(played.events) > 100
    assert played.events == list(range(len(played.events)))


def test_a_bot_without_events_keeps_no_decisions_for_them() -> None:
    assert Played(hides_time=True, reads_events=False).events == []
