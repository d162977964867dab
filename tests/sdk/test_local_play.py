"""Matches played here: seats rotate, seeds repeat, processes do not matter, and a failing bot stops nobody."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from functools import partial
from itertools import permutations, product
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import UsageError
from cutpurse.engine.match import EndCause
from cutpurse.engine.record import read_record, verify
from cutpurse.games import GAMES
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.local import LocalMatch, RunCutShort, play
from cutpurse.wire.errors import NotFound
from tests.sdk.bot_files import CRASHES, FIRST, ILLEGAL, Array, Broken, bot_file

NEVER_WORKS = str(Path(__file__).with_name("never_works.py"))


@pytest.mark.parametrize("game", list(GAMES))
def test_the_results_do_not_depend_on_the_number_of_processes(game: str, tmp_path: Path) -> None:
    bots = ["random", bot_file(tmp_path, FIRST), "random", "random"]
    runs = [
        play(game, bots, matches=6, seed=4, jobs=jobs, record=tmp_path / f"{jobs}.jsonl")
        for jobs in ((1, 2) if game == "greed" else (1, 1))
    ]
    assert runs[0].rows == runs[1].rows
    assert runs[0].seats == runs[1].seats
    assert not runs[0].failures


def test_records_are_the_same_in_any_number_of_processes_and_verify(tmp_path: Path) -> None:
    for jobs in (1, 2):
        play("greed", ["random"] * 3, matches=5, seed=9, jobs=jobs, record=tmp_path / f"{jobs}")
    text = (tmp_path / "1").read_text(encoding="utf-8")
    assert text == (tmp_path / "2").read_text(encoding="utf-8")
    lines = text.splitlines()
    assert [read_record(line).key for line in lines] == [match_key(9, i) for i in range(5)]
    assert all(len(verify(line, GAMES["greed"])) == 4 for line in lines)


def test_seats_and_neighbours_change_and_are_even_after_a_block() -> None:
    sat: list[tuple[str, int]] = []

    def sits(name: str) -> type:
        class Sits:
            def start(self, match: MatchInfo) -> None:
                sat.append((name, match.seat))

            def choose(self, view: Any, decision: Any) -> int:
                return 0

        return Sits

    played = play("greed", [sits("a"), sits("b"), sits("c")], matches=6)
    by_seat = [[name for name, _ in sat[first : first + 3]] for first in range(0, 18, 3)]
    assert all([seat for _, seat in sat[first : first + 3]] == [0, 1, 2] for first in range(0, 18, 3))
    for row, names in zip(played.rows, by_seat, strict=True):
        assert [names[seat] for seat in row.seats] == ["a", "b", "c"]  # the row says where each bot sat
    assert Counter((name, seat) for names in by_seat for seat, name in enumerate(names)) == dict.fromkeys(
        product("abc", range(3)), 2
    )
    left = Counter((names[seat - 1], name) for names in by_seat for seat, name in enumerate(names))
    assert left == dict.fromkeys(permutations("abc", 2), 3)
    other = play("greed", ["random"] * 3, matches=6, seed=1)
    assert [row.seats for row in other.rows] != [row.seats for row in played.rows]  # the seed draws them


def test_a_bot_is_made_anew_for_each_match_and_told_of_its_end() -> None:
    made: list[Any] = []

    class Counts:
        def __init__(self) -> None:
            made.append(self)
            self.results: list[Any] = []

        def choose(self, view: Any, decision: Any) -> int:
            return 0

        def end(self, result: Any) -> None:
            self.results.append(result)

    played = play("greed", [Counts, "random"], matches=3)
    assert len(made) == 3
    assert [bot.results[0].places[row.seats[0]] for bot, row in zip(made, played.rows, strict=True)] == [
        row.places[0] for row in played.rows
    ]


def test_the_same_seed_is_the_same_run_and_another_is_not() -> None:
    one, again, other = (play("greed", ["random"] * 3, matches=3, seed=seed).rows for seed in (1, "1", 2))
    assert one == again != other


def test_a_bot_that_raises_is_played_on_and_reported_once(tmp_path: Path) -> None:
    path = bot_file(tmp_path, CRASHES)
    played = play("greed", [path, "random", "random"], matches=2, seed=1)
    (failure,) = played.failures
    assert (failure.bot, failure.match, failure.ask, failure.cause) == (0, 0, "play_a_card", EndCause.CRASHED)
    assert failure.reason == f"{path}:4: KeyError: 'no plan'"
    assert "Traceback" in failure.trace
    assert failure.text() == (
        f"bot {path} crashed in match 0, seat {played.rows[0].seats[0]}, "
        f"decision {failure.decision} (play_a_card): "
        f"{path}:4: KeyError: 'no plan'"
    )
    assert [row.end_causes for row in played.rows] == [("crashed", "normal", "normal")] * 2
    assert played.faults == (6, 0, 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("view.hand", "'GreedView' object has no attribute 'hand'; players have it, as view.me.hand"),
        ("view.me.middle", "'GreedPlayer' object has no attribute 'middle'; the table has it, view.middle"),
        ("view.me.hnad", "'GreedPlayer' object has no attribute 'hnad'; did you mean 'hand'?"),
        ("decision.option", "'Decision' object has no attribute 'option'; did you mean 'options'?"),
        (
            "decision.options[0].gold",
            (
                "'Option' object has no attribute 'gold'; "
                "it has: actor, card, cards, index, is_pass, number, owner, places"
            ),
        ),
        ("view.me.hand.append(1)", "'Pile' object has no attribute 'append'; it has: "),
        ("[].hnad", "'list' object has no attribute 'hnad'"),
    ],
)
def test_a_name_that_there_is_not_is_told_with_what_there_is(words: str, said: str, tmp_path: Path) -> None:
    path = bot_file(tmp_path, f"class Bot:\n    def choose(self, view, decision):\n        return {words}\n")
    (failure,) = play("greed", [path, "random"]).failures
    begins = f"{path}:3: AttributeError: {said}"
    assert failure.reason.startswith(begins) if "; it has: " in said else failure.reason == begins


def test_illegal_answers_are_asked_again_and_then_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = bot_file(tmp_path, ILLEGAL)
    played = play("greed", [path, "random"], seed=1)
    (failure,) = played.failures
    assert failure.cause is EndCause.ILLEGAL
    assert "has options 0-" in failure.reason
    assert played.rows[0].end_causes == ("illegal", "normal")
    assert capsys.readouterr().out.count("talking") == 9  # three questions, each put three times


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda options: None, "None (is a `return` missing?)"),
        (lambda options: options[0].verb, "'play' (return one of decision.options, or its index)"),
        (lambda options: True, "True (return one of decision.options, or its index)"),
        (lambda options: options[0].card, "the card 1 (return the option that has it)"),
        (lambda options: 99, "99"),
        (lambda options: 10**5_000, "something (int) that cannot be shown"),
    ],
)
def test_an_illegal_answer_is_told_with_what_was_perhaps_forgotten(answer: Any, said: str) -> None:
    class Forgets:
        def choose(self, view: Any, decision: Any) -> Any:
            return answer(decision.options) if decision.ask == "play_a_card" else 0

    (failure,) = play("greed", [Forgets, "random"], seed=1).failures
    assert failure.reason.startswith("decision 0 of seat 0 (play_a_card) has options 0-")
    assert failure.reason.partition("; it answered ")[2] == said


def test_an_option_of_another_decision_is_told_as_one() -> None:
    class Remembers:
        first: Any = None

        def choose(self, view: Any, decision: Any) -> Any:
            self.first = self.first or decision.options[0]
            return self.first

    (failure,) = play("greed", [Remembers, "random"], seed=1).failures
    assert failure.reason.endswith("; it answered <Option 'play 1'> (an option of another decision)")


def test_a_bot_may_put_an_illegal_answer_right() -> None:
    class Thinks:
        asked = -1

        def choose(self, view: Any, decision: Any) -> int:
            again = decision.number == self.asked
            self.asked = decision.number
            return 0 if again else -1

    played = play("greed", [Thinks, "random"])
    assert not played.failures
    assert played.rows[0].end_causes == ("normal", "normal")


def test_a_number_of_another_type_is_an_index() -> None:
    class Number:
        def __index__(self) -> int:
            return 1

    class Bot:
        def choose(self, view: Any, decision: Any) -> Any:
            return Number() if len(decision.options) > 1 else None

    assert not play("greed", [Bot, "random"]).failures


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Array(), "array([[0], [1]])"),
        ((Array(),), "(array([[0], [1]]),)"),
        (Broken(), "something (Broken) that cannot be shown"),
        ("a\nb" * 500, repr("a\nb" * 500)[:200]),
    ],
)
def test_an_answer_of_whatever_kind_is_illegal_and_the_run_goes_on(answer: object, told: str) -> None:
    class Bot:
        def choose(self, view: Any, decision: Any) -> Any:
            return answer

    played = play("greed", [Bot, "random"], matches=2)
    assert played.faults == (6, 0)
    assert f"; it answered {told}" in played.failures[0].reason


def test_what_a_bot_raises_need_not_be_fit_to_be_shown() -> None:
    class Bot:
        def choose(self, view: Any, decision: Any) -> Any:
            raise Broken

    played = play("greed", [Bot, "random"])
    assert played.faults == (3, 0)
    assert played.failures[0].reason.endswith("Broken: it cannot be shown")


def test_what_is_no_bot_is_refused_before_a_match() -> None:
    class Bot:
        def choose(self, view: Any, decision: Any) -> int:
            return 0

    class NoBot:
        pass

    for bots, said in (
        ([Bot(), "random"], "nothing that makes a new bot for each match; hand in the class, Bot"),
        ([3, "random"], "bot 3 is no name, no file"),
        ([NoBot, "random"], "class NoBot has no method choose"),
        ("random", "bots are a list of them, not 'random'"),
    ):
        with pytest.raises(UsageError, match=said):
            play("greed", bots)  # type: ignore[arg-type]  # that is what is refused
    assert not play("greed", [partial(Bot), Bot]).failures


def test_a_bot_that_cannot_be_sent_to_another_process_is_refused() -> None:
    class Local:
        def choose(self, view: Any, decision: Any) -> int:
            return 0

    with pytest.raises(UsageError, match="cannot be sent to another process"):
        play("greed", [Local, "random"], matches=2, jobs=2)


def test_a_bot_that_ends_its_process_ends_the_run(tmp_path: Path) -> None:
    path = bot_file(tmp_path, "import os\nclass Bot:\n    def choose(self, view, decision):\n        os._exit(1)\n")
    with pytest.raises(
        RunCutShort, match=r"greed, match.* \(seed 0; .*/my_bot.py, random\): .* ended with exit code 1"
    ) as cut:
        play("greed", [path, "random"], matches=2, jobs=2)
    assert cut.value.so_far.matches == 0


@pytest.mark.parametrize("method", ["__init__", "start"])
def test_a_bot_that_cannot_begin_is_played_on(method: str) -> None:
    def fails(self: Any, *_: object) -> None:
        raise RuntimeError("not today")

    bot = type("Bot", (), {method: fails, "choose": lambda self, view, decision: 0})
    played = play("greed", [bot, "random"])
    assert played.failures[0].cause is EndCause.CRASHED
    assert played.failures[0].reason.endswith("RuntimeError: not today")
    assert played.rows[0].end_causes == ("crashed", "normal")


def test_a_bot_that_fails_at_the_end_changes_no_result() -> None:
    class Ends:
        def choose(self, view: Any, decision: Any) -> int:
            return 0

        def end(self, result: Any) -> None:
            raise RuntimeError("bad loser")

    played = play("greed", [Ends, "random"])
    assert played.failures[0].decision is None
    assert "in end: " in played.failures[0].text()
    assert played.rows[0].end_causes == ("normal", "normal")


@pytest.mark.parametrize("jobs", [1, 2])
def test_the_progress_begins_with_no_match_and_goes_on_while_a_match_takes_long(jobs: int) -> None:
    calls: list[tuple[int, int]] = []
    played = play("greed", ["random"] * 2, matches=3, jobs=jobs, progress=lambda *call: calls.append(call))
    assert (list(dict.fromkeys(calls)), calls) == ([(0, 3), (1, 3), (2, 3), (3, 3)], sorted(calls))
    if jobs == 1:
        assert len(calls) > played.decisions


def test_a_run_that_keeps_no_rows_counts_the_same_up() -> None:
    told: list[LocalMatch] = []
    kept = play("greed", ["random"] * 3, matches=5, seed=2)
    run = play("greed", ["random"] * 3, matches=5, seed=2, on_match=told.append, keep_rows=False)
    assert replace(run, seconds=0.0, rows=kept.rows) == replace(kept, seconds=0.0)
    assert (run.rows, tuple(told)) == ((), kept.rows)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"game": "gred"}, "no game is called 'gred'"),
        ({"bots": ["random"]}, "Greed is for 2 to 5 players, not 1"),
        ({"matches": 0}, "0 matches cannot be played"),
        ({"jobs": 0}, "0 jobs cannot be had"),
        ({"settings": {"mode": "x"}}, "setting mode cannot be 'x'"),
        ({"jobs": 2, "watch": print}, "in one process only"),
    ],
)
def test_what_cannot_be_played_is_refused(change: dict[str, Any], said: str) -> None:
    arguments: dict[str, Any] = {"game": "greed", "bots": ["random", "random"]} | change
    with pytest.raises(UsageError, match=said):
        play(**arguments)


def test_a_record_needs_a_place_that_exists(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="cannot be written"):
        play("greed", ["random"] * 2, record=tmp_path / "nowhere" / "run.jsonl")


@pytest.mark.parametrize("others", [["random"], ["random", "random", "random"]])
def test_a_bot_that_never_works_comes_last_in_every_match(others: list[str]) -> None:
    played = play("greed", [NEVER_WORKS, *others], matches=60, seed="q")
    assert {row.places[0] for row in played.rows} == {1 + len(others)}
    assert {row.end_causes[0] for row in played.rows} == {"crashed"}
    assert max(row.scores[0] - min(row.scores[1:]) for row in played.rows) > 0, "its score is what its cards made"
    assert (played.seats[0].taken_over, played.seats[0].first_places) == (60, 0)
    assert all(seat.taken_over == 0 for seat in played.seats[1:])


@pytest.mark.parametrize("fails", ["in __init__", "in start"])
def test_a_bot_that_cannot_start_is_taken_over_from_the_beginning(fails: str) -> None:
    class Fails:
        def __init__(self) -> None:
            if fails == "in __init__":
                raise OSError("no model")

        def start(self, match: MatchInfo) -> None:
            raise OSError("no model")

        def choose(self, view: Any, decision: Any) -> int:
            raise AssertionError

    played = play("greed", ["random", Fails, "random"], matches=4)
    assert {row.places[1] for row in played.rows} == {3}
    (failure,) = played.failures
    assert (failure.decision, failure.ask) == (None, "when it was started")
    assert played.faults == (0, 4, 0), "one for each match"
    assert re.search(r"crashed in match 0, seat 1, when it was started: .*OSError: no model", failure.text())


@pytest.mark.parametrize("given_up", [1, 2, 3])
def test_a_bot_with_one_or_two_faults_keeps_its_place(given_up: int) -> None:
    class Fails:
        def start(self, match: MatchInfo) -> None:
            self.left = given_up

        def choose(self, view: Any, decision: Any) -> Any:
            if self.left:
                self.left -= 1
                raise RuntimeError
            return decision.safe

    played = play("greed", [Fails, "random"], matches=20)
    if given_up == 3:
        assert {row.end_causes[0] for row in played.rows} == {"crashed"}
        assert {row.places[0] for row in played.rows} == {2}
    else:
        assert {row.end_causes[0] for row in played.rows} == {"normal"}
        for row in played.rows:
            assert row.places[0] == (1 if row.scores[0] >= row.scores[1] else 2)
