"""Tuning: the search over planted values, the boards of candidates, and what a journal goes on from."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from cutpurse.engine.errors import BotFault, UsageError
from cutpurse.lab.tuning.candidate_board import CandidateBoard
from cutpurse.lab.tuning.parameters import Values, bot_with, read_parameters, start_values
from cutpurse.lab.tuning.plot import plot_lines, plot_svg
from cutpurse.lab.tuning.run import Tuned, Tuning, TuningBudget, tune
from cutpurse.lab.tuning.search import BLOCK, Searcher, next_deals
from cutpurse.lab.tuning.tuning_log import TuningJournal
from cutpurse.leaderboard.statistics.sprt import Verdict
from cutpurse.sdk.bot import load_bot

# Plays like greedy, and at random the more often the further `nerve` is from 0.4; `colour` does nothing.
PLANTED = """
from cutpurse.bots.greedy_bot import GreedyBot

class Bot:
    def __init__(self, nerve=0.9, colour="red"):
        self.wrong = min(1.0, 3 * abs(nerve - 0.4))
        self.greedy = GreedyBot()

    def start(self, match):
        self.chance = match.chance

    def choose(self, view, decision):
        is_wrong, option = self.chance.random() < self.wrong, self.chance.randrange(decision.count)
        return decision.options[option] if is_wrong else self.greedy.choose(view, decision)
"""
BEST = 0.4


@pytest.fixture
def bot(tmp_path: Path) -> str:
    file = tmp_path / "planted.py"
    file.write_text(PLANTED)
    return str(file)


def tuning(bot: str, *params: str, game: str = "greed", seats: int | None = 2) -> Tuning:
    return Tuning(game, bot, tuple(read_parameters(params)), ("greedy",), seats)


def test_the_search_finds_a_planted_value_among_lucky_ones() -> None:
    """Boards as noisy as those of a game: 0.25 around a peak that loses 0.04 within a tenth of the range."""
    near = 0
    for seed in range(5):
        chance = random.Random(seed)
        searcher = Searcher(read_parameters(["nerve=0.0..1.0"]), (0.9,), seed)
        played = 0
        while played < 50 * BLOCK:
            candidates = searcher.propose() if played < 35 * BLOCK else searcher.finalists()
            for values in candidates if played else searcher.first_round():
                for deal in next_deals(searcher.played.get(values)):
                    points = 0.7 - 0.4 * abs(float(values[0]) - BEST) + chance.gauss(0, 0.25)
                    searcher.add(CandidateBoard(values, deal, points, ""))
                    played += 1
        near += abs(float(searcher.best()[0]) - BEST) <= 0.1
    assert near >= 4


def test_a_lucky_candidate_with_few_boards_does_not_beat_a_proven_one() -> None:
    searcher = Searcher(read_parameters(["x=0..1000"]), (0,), 0)
    for deal in range(40):
        searcher.add(CandidateBoard((100,), deal, 0.6, ""))
    for deal in range(2):
        searcher.add(CandidateBoard((900,), deal, 0.7, ""))
    assert searcher.best() == (100,)
    searcher.add(CandidateBoard((100,), 40, 0.6, "", failure="crashed"))
    assert searcher.best() == (900,)


def test_choices_and_whole_numbers_are_searched_too() -> None:
    parameters = read_parameters(["depth=1..3", "style=bold|shy|7|true", "x=-0.5..2"])
    assert [list(parameter.values)[:4] for parameter in parameters] == [
        [1, 2, 3],
        ["bold", "shy", 7, True],
        [-0.5, -0.475, -0.45, -0.425],
    ]
    searcher = Searcher(parameters, (9, "shy", 0.123), 0)  # a start outside the range
    rounds = searcher.first_round()
    assert rounds[0] == (9, "shy", 0.123)
    assert len(rounds) == 1 + 3 + 3 + 3
    for at, values in enumerate(rounds):
        searcher.add(CandidateBoard(values, 0, at / 20, ""))
    proposed = searcher.propose()
    assert proposed
    assert all(
        value in parameter.values for values in proposed for value, parameter in zip(values, parameters, strict=True)
    )
    assert proposed == searcher.propose()  # the same boards give the same candidates


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ([], "name a parameter of the bot with --param, as NAME=1..8"),
        (["depth"], "a parameter is given as NAME=1..8"),
        (["=1..8"], "a parameter is given as"),
        (["depth="], "a parameter is given as"),
        (["depth=8..1"], "the range is empty, since 1 is not more than 8"),
        (["depth=3..3"], "the range is empty"),
        (["depth=a..8"], "the ends of a range are two numbers"),
        (["depth=nan..8"], "the ends of a range are two numbers"),
        (["depth=1.."], "the ends of a range are two numbers"),
        (["depth=1..9999999"], "more than 1,000,000 whole numbers"),
        (["depth=5"], "choices are two or more different values"),
        (["depth=5|5"], "choices are two or more different values"),
        (["depth=1..8", "depth=1..9"], "--param depth is given twice"),
    ],
)
def test_each_mistake_in_a_parameter_is_named(given: Sequence[str], text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_parameters(given)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ("depth=1..8", "has no parameter 'depth'; it has: nerve, colour"),
        ("colour=1..8", "the default of colour, which has to be a number"),
    ],
)
def test_a_parameter_that_the_bot_lacks_is_named(bot: str, given: str, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        start_values(load_bot(bot), read_parameters([given]))


def test_a_bot_without_parameters_says_so() -> None:
    with pytest.raises(UsageError, match="its __init__ has none"):
        start_values(load_bot("greedy"), read_parameters(["depth=1..8"]))


def test_a_bot_gets_its_values_in_other_processes_too(bot: str) -> None:
    import pickle

    parameters = read_parameters(["nerve=0.0..1.0"])
    maker = bot_with(load_bot(bot), parameters, (0.4,))
    assert maker.make().wrong == 0
    assert pickle.loads(pickle.dumps(maker)).make().wrong == 0
    assert maker.name == f"{bot}(nerve=0.4)"


def test_a_bot_that_does_nothing_with_its_number_is_named(bot: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the bot does nothing with colour: it played the same moves on 8 deals"):
        tune(tuning(bot, "colour=red|blue"), TuningBudget(boards=80), tmp_path / "journal")


def test_a_bot_that_fails_with_its_own_values_ends_the_tuning(tmp_path: Path) -> None:
    file = tmp_path / "broken.py"
    file.write_text(
        "class Bot:\n    def __init__(self, x=1):\n        1 / 0\n    def choose(self, view, decision): ...\n"
    )
    with pytest.raises(BotFault, match=r"the bot fails with its own values: .*ZeroDivisionError"):
        tune(tuning(str(file), "x=1..2"), TuningBudget(boards=80), tmp_path / "journal")


def test_a_budget_that_is_too_small_is_refused_before_and_after_the_first_deals(bot: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"a budget of 71 boards is too small: .* take 72"):
        tune(tuning(bot, "nerve=0.0..1.0"), TuningBudget(boards=71), tmp_path / "journal")
    moments = iter(range(10_000_000))
    with pytest.raises(UsageError, match=r"a budget of 20 s is too small: .* take 72 boards, about"):
        tune(
            tuning(bot, "nerve=0.0..1.0"), TuningBudget(seconds=20), tmp_path / "j", clock=lambda: float(next(moments))
        )


def test_a_run_that_is_cut_off_anywhere_goes_on_to_the_same_result(bot: str, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    task, budget = tuning(bot, "nerve=0.0..1.0"), TuningBudget(boards=90)
    result = tune(task, budget, whole)
    lines = whole.read_bytes().splitlines(keepends=True)
    for number, kept in enumerate((1, 2, 20, len(lines) - 1)):
        cut = tmp_path / f"cut{number}"
        cut.write_bytes(b"".join(lines[:kept]) + lines[kept][:7])  # as kill -9 leaves it
        again = tune(task, budget, cut)
        assert again.best == result.best
        assert {values: played.points for values, played in again.searcher.played.items()} == {
            values: played.points for values, played in result.searcher.played.items()
        }
    with pytest.raises(UsageError, match="is of another tuning: parameters differ"):
        tune(tuning(bot, "nerve=0.0..0.9"), budget, whole)
    with TuningJournal(whole), pytest.raises(UsageError, match="is in use: this tuning is being run by another"):
        tune(task, budget, whole)


def test_the_plots_show_every_candidate() -> None:
    parameters = read_parameters(["depth=1..3", "style=<b>|shy"])
    searcher = Searcher(parameters, (1, "shy"), 0)
    candidates: list[Values] = [(1, "shy"), (2, "<b>"), (2, "shy")]
    for values in candidates:
        searcher.add(CandidateBoard(values, 0, 0.5, ""))
    assert plot_lines(parameters[0], 0, searcher.played)[1:] == [
        f"{'1':<20} {'#' * 15:<30} 0.500, 1 board",
        f"{'2':<20} {'#' * 15:<30} 0.500, 2 boards",
    ]
    picture = plot_svg(parameters, searcher.played, (1, "shy"), (2, "<b>"))
    assert picture.count("<circle") == 6
    assert "&lt;b&gt;" in picture


def planted_value(bot: str, game: str, seats: int, boards: int, journal: Path) -> Tuned:
    return tune(tuning(bot, "nerve=0.0..1.0", game=game, seats=seats), TuningBudget(boards=boards), journal)


@pytest.mark.full
@pytest.mark.parametrize("game", ["greed", "szmal"])
def test_a_planted_value_is_found_within_a_tenth(bot: str, game: str, tmp_path: Path) -> None:
    tuned = planted_value(bot, game, 2, 500, tmp_path / "journal")
    assert abs(float(tuned.best[0]) - BEST) <= 0.1
    assert tuned.compared is not None
    assert tuned.compared.result.verdict is Verdict.BETTER
