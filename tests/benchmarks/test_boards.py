"""What boards of several matches save: matches of the real games, ratios of known luck, the program."""

import json
from random import Random
from statistics import fmean

import pytest

from benchmarks.boards import __main__ as program
from benchmarks.boards.initial_parameters import fit_to
from benchmarks.boards.play import COMPANIES, Board, boards, outcomes, points_of
from benchmarks.boards.players import Searching, bot_of
from benchmarks.boards.variances import savings
from cutpurse.games import GAMES
from cutpurse.leaderboard.ratings import TrueSkill


@pytest.mark.parametrize("game", GAMES)
def test_on_a_board_each_bot_has_each_seat_once_and_all_of_it_is_played_the_same_again(game: str) -> None:
    played = list(boards(game, "wide", 5, "a"))
    assert played == list(boards(game, "wide", 5, "a"))
    assert played != list(boards(game, "wide", 5, "b"))
    assert sorted(bot for board in played for bot in board.bots) == sorted(COMPANIES["wide"] * 4)
    for board in played:
        assert [sorted(seats) for seats in board.seats] == [[0, 1, 2, 3]] * 4
        assert [sorted(taken) for taken in zip(*board.seats, strict=True)] == [[0, 1, 2, 3]] * 4
        assert [sum(points) for points in board.points] == pytest.approx([2.0] * 4)


def test_the_more_of_its_decisions_are_greedy_the_better_a_bot_is() -> None:
    means = savings(list(boards("greed", "wide", 100, "strong")), "strong").mean
    assert means[0.0] + 0.1 < means[0.5] < means[1.0] - 0.1


def test_bots_that_search_have_luck_of_their_own() -> None:
    one, again, other = (bot_of(4.0, luck).make() for luck in ("a", "a", "b"))
    assert isinstance(one, Searching)
    assert one.playouts == 4
    assert one.luck.random() == again.luck.random() != other.luck.random()


def test_points_are_the_share_of_those_behind_and_half_of_those_level() -> None:
    assert points_of([1, 2, 2, 4]) == pytest.approx([1, 0.5, 0.5, 0])


def of_known_luck(cards: float, count: int) -> list[Board]:
    """Boards of bots of four strengths, of whose luck that share of the variance is in the cards."""
    chance = Random(f"{cards}")
    bots = (0.0, 1.0, 2.0, 3.0)
    found = []
    for _ in range(count):
        deal = [chance.gauss(0, cards**0.5) for _ in range(4)]
        seats = [tuple((bot + turn) % 4 for bot in range(4)) for turn in range(4)]
        points = []
        for seated in seats:
            shown = [bots[bot] + deal[seat] + chance.gauss(0, (1 - cards) ** 0.5) for bot, seat in enumerate(seated)]
            points.append(tuple(one - fmean(shown) for one in shown))
        found.append(Board(bots, tuple(seats), tuple(points)))
    return found


@pytest.mark.parametrize("cards", [0.0, 0.5, 0.8])
def test_luck_that_is_known_is_found(cards: float) -> None:
    found = savings(of_known_luck(cards, 1_000), "known")
    for estimate, right in (
        (found.cards, cards),
        (found.rotation, 1 / (1 - cards)),
        (found.duplicate, 0.75 / (1 - cards)),
        (found.by_strength[2.0], 1 / (1 - cards)),
    ):
        assert estimate.value == pytest.approx(right, rel=0.12, abs=0.04)
        assert estimate.low < estimate.value < estimate.high
        assert estimate.high - estimate.low < 0.3 * max(1.0, right)
    assert found.mean[3.0] - found.mean[0.0] == pytest.approx(3.0, abs=0.1)
    assert found.sd == pytest.approx(0.75**0.5, abs=0.03)
    assert found.matches == 4_000
    assert found.cards.matches < 4_000  # an interval of -+ 0.05 is reached


def test_an_interval_is_as_wide_as_runs_are_apart() -> None:
    runs = [savings(of_known_luck(0.5, 1_200)[at : at + 60], "apart") for at in range(0, 1_200, 60)]
    held = sum(one.rotation.low <= 2.0 <= one.rotation.high for one in runs)
    assert 15 <= held <= 20
    with pytest.raises(ValueError, match="2 boards are too few"):
        savings(list(boards("greed", "wide", 2, "few")), "few")


def test_numbers_are_fitted_to_play_and_judged_by_other_play() -> None:
    found = fit_to("greed", 100, TrueSkill(draw_probability=0.02), "fit")
    assert found.found.beta > 25 / 6
    assert found.fitted < found.library
    assert found.as_begun < found.library
    first, again = (list(outcomes("greed", [0.0, 0.3, 0.6, 0.9, 1.0], 5, "one")) for _ in range(2))
    assert first == again
    assert all(len(set(outcome.players)) == 4 for outcome in first)


def test_the_program_prints_the_same_tables_and_document_again(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--games", "greed", "--companies", "wide", "--matches", "100", "--fit", "100"]
    shown = []
    for flags in ([], ["--json"], ["--json"]):
        assert program.main([*few, *flags]) == 0
        shown.append(capsys.readouterr())
    assert "greed, wide" in shown[0].out
    assert "25 boards" in shown[0].err
    assert shown[1].out == shown[2].out
    found = json.loads(shown[1].out)
    assert found["boards"][0]["matches"] == 100
    assert found["fits"]["greed"]["found"]["beta"] > 0


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--games", "whist"], "no whist; there are steal_and_plunder"),
        (["--companies", "good"], "no good; there are wide, near, search"),
        (["--matches", "3"], "at least 100 matches"),
    ],
)
def test_the_program_says_what_cannot_be_measured(
    flags: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        program.main(flags)
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
