"""The table: points are place points, intervals hold, and the same boards give the same table."""

from __future__ import annotations

import random

from cutpurse.sdk.tournament.results import PlayedBoard, PlayedMatch
from cutpurse.sdk.tournament.standings import head_to_head, table_of, totals
from tests.sdk.tournament.boards import board


def test_points_are_the_mean_of_place_points() -> None:
    boards = [board(0, {0: 1, 1: 2, 2: 3}, 5), board(1, {0: 1, 1: 1, 2: 3}, 7, {2: 4})]
    rows = table_of([((0, 1, 2), boards)], {}, "x")
    assert [(row.bot, row.rank, row.points, row.boards, row.wins, row.mean_score, row.faults) for row in rows] == [
        (0, 1, 0.875, 2, 2, 6.0, 0),
        (1, 2, 0.625, 2, 1, 6.0, 0),
        (2, 3, 0.0, 2, 0, 6.0, 4),
    ]
    assert totals(boards) == {0: 1.75, 1: 1.25, 2: 0.0}


def test_a_board_counts_once_however_many_matches_it_has() -> None:
    matches = tuple(
        PlayedMatch(bots, places, (0, 0), ("normal", "normal")) for bots, places in (((0, 1), (1, 2)), ((1, 0), (1, 2)))
    )
    boards = [PlayedBoard(0, (0, 1), matches, {}), board(1, {0: 1, 1: 2})]
    assert totals(boards) == {0: 1.5, 1: 0.5}
    (row, _) = table_of([((0, 1), boards)], {}, "x")
    assert (row.boards, row.matches, row.wins) == (2, 3, 2)


def test_equals_share_a_rank_and_bots_of_an_earlier_stage_rank_before_the_others() -> None:
    first = [board(0, {0: 1, 1: 2}), board(1, {2: 1, 3: 1})]
    rows = table_of([((2, 3), first[1:]), ((0, 1), first[:1])], {}, "x")
    assert [(row.bot, row.rank) for row in rows] == [(2, 1), (3, 1), (0, 3), (1, 4)]


def test_a_rest_counts_as_the_mean_of_a_table() -> None:
    (best, *_) = table_of([((0, 1, 2), [board(0, {0: 1, 1: 2})])], {2: 1}, "x")
    rows = {row.bot: row for row in table_of([((0, 1, 2), [board(0, {0: 1, 1: 2})])], {2: 1}, "x")}
    assert best.bot == 0
    assert (rows[2].points, rows[2].rank, rows[2].low, rows[2].boards) == (0.5, 2, None, 0)


def test_a_rest_counts_as_many_boards_as_the_others_played_meanwhile() -> None:
    """Rounds of 3 deals; bot 2 has won one and rested one: 3 points and 3 halves for 6 boards."""
    boards = [
        *(board(number, {2: 1, 0: 2}) for number in range(3)),
        *(board(number, {0: 1, 1: 2}) for number in (3, 4)),
    ]
    rows = {row.bot: row for row in table_of([((0, 1, 2), boards)], {2: 1, 1: 1}, "x", deals=3)}
    assert (rows[2].points, rows[2].boards, rows[2].byes) == (0.75, 3, 1)
    assert (rows[0].points, rows[1].points) == (0.4, 0.3)


def test_too_few_boards_have_no_interval() -> None:
    rows = table_of([((0, 1), [board(0, {0: 1, 1: 2})])], {}, "x")
    assert [(row.low, row.high, row.best, row.worst) for row in rows] == [(None,) * 4] * 2


def test_a_draw_without_a_board_of_a_bot_is_no_draw_in_which_it_lost() -> None:
    """A gauntlet, two boards against each: 0 beats all others, so each mean is certain."""
    boards = [board(2 * other + again, {0: 1, other: 2}) for other in range(1, 7) for again in range(2)]
    rows = table_of([(range(7), boards)], {}, "x")
    assert [(row.bot, row.points, row.low, row.high) for row in rows] == [
        (0, 1.0, 1.0, 1.0),
        *[(other, 0.0, 0.0, 0.0) for other in range(1, 7)],
    ]
    turned = [board(2 * other + again, {0: 2, other: 1}) for other in range(1, 7) for again in range(2)]
    rows = table_of([(range(7), turned)], {}, "x")
    assert [(row.bot, row.low, row.high, row.best, row.worst) for row in rows] == [
        *[(other, 1.0, 1.0, 1, 1) for other in range(1, 7)],
        (0, 0.0, 0.0, 7, 7),
    ]


def test_the_intervals_hold() -> None:
    """Bots of known strength: the interval of the mean holds it in 95 of 100 tournaments, give or take chance."""
    chance, held, tries = random.Random(5), 0, 100
    strengths = [0.0, 0.3, 0.6, 0.9]
    truth = _mean_points(strengths, random.Random(6), 20_000)
    for run in range(tries):
        boards = [board(number, _places(strengths, chance)) for number in range(60)]
        for row in table_of([(range(4), boards)], {}, str(run)):
            assert row.low is not None
            assert row.high is not None
            held += row.low <= truth[row.bot] <= row.high
    assert 0.92 <= held / (4 * tries) <= 0.97


def test_the_same_boards_give_the_same_table() -> None:
    chance = random.Random(3)
    boards = [board(number, _places([0.0, 0.5, 1.0], chance)) for number in range(40)]
    assert table_of([(range(3), boards)], {}, "x") == table_of([(range(3), boards)], {}, "x")
    assert table_of([(range(3), boards)], {}, "x") != table_of([(range(3), boards)], {}, "y")


def test_who_was_ahead_of_whom() -> None:
    (first, second, third) = head_to_head([board(0, {0: 1, 2: 1, 1: 3}), board(1, {1: 1, 0: 2})])
    assert (first.bot, first.other, first.matches, first.ahead, first.level) == (0, 1, 2, 1, 0)
    assert (second.bot, second.other, second.matches, second.ahead, second.level) == (0, 2, 1, 0, 1)
    assert (third.bot, third.other, third.matches, third.ahead, third.level) == (1, 2, 1, 0, 0)


def _places(strengths: list[float], chance: random.Random) -> dict[int, int]:
    shown = {bot: strength + chance.gauss(0, 1) for bot, strength in enumerate(strengths)}
    return {bot: place for place, bot in enumerate(sorted(shown, key=lambda bot: -shown[bot]), 1)}


def _mean_points(strengths: list[float], chance: random.Random, boards: int) -> list[float]:
    won = [0.0] * len(strengths)
    for _ in range(boards):
        for bot, place in _places(strengths, chance).items():
            won[bot] += (len(strengths) - place) / (len(strengths) - 1) / boards
    return won
