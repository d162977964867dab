"""The table: points are place points, intervals hold, and the same boards give the same table."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from cutpurse.lab.tournament.tournament_results import PlayedBoard, TournamentMatch, digest_of_boards
from cutpurse.lab.tournament.tournament_table import AdjustedPoints, head_to_head, table_of, totals
from tests.lab.boards import board


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
        TournamentMatch(bots, places, (0, 0), ("normal", "normal"))
        for bots, places in (((0, 1), (1, 2)), ((1, 0), (1, 2)))
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
    """A bot that wins five boards of five may be no better: nothing is said of what is not sure."""
    for few in (1, 5):
        rows = table_of([((0, 1), [board(number, {0: 1, 1: 2}) for number in range(few)])], {}, "x")
        assert [(row.low, row.high, row.best, row.worst) for row in rows] == [(None,) * 4] * 2
    boards = [board(number, {0: 1, 1: 2}) for number in range(6)]
    rows = table_of([((0, 1, 2), [*boards, board(6, {0: 1, 2: 2})])], {}, "x")
    assert [(row.bot, row.best, row.worst) for row in rows] == [(0, 1, 2), (1, 2, 3), (2, None, None)]


@pytest.mark.parametrize(("bots", "boards"), [(2, 6), (4, 6), (4, 10), (4, 40), (6, 15)])
def test_equal_bots_are_told_apart_in_few_tables(bots: int, boards: int) -> None:
    """All bots are equal: a pair is called apart, by points or ranks, in 5 of 100 tables at most, but for chance."""
    chance, apart, tries = random.Random(f"{bots}/{boards}"), 0, 100
    for run in range(tries):
        played = [board(number, _places([0.0] * bots, chance)) for number in range(boards)]
        rows = table_of([(range(bots), played)], {}, str(run))
        ends = [(row.low or 0, row.high or 0, row.best or 0, row.worst or 0) for row in rows]
        assert all(all(row) or row[0] == 0 for row in ends)
        apart += any(one[0] > other[1] or one[3] < other[2] for one in ends for other in ends)
    assert apart <= 11  # more than that has a probability of 0.4 % at 5 of 100


def test_a_draw_without_a_board_of_a_bot_is_no_draw_in_which_it_lost() -> None:
    """A gauntlet, six boards against each: 0 beats all others, so each mean is certain. Some draws miss a bot."""
    boards = [board(6 * other + again, {0: 1, other: 2}) for other in range(1, 21) for again in range(6)]
    rows = table_of([(range(21), boards)], {}, "x")
    assert [(row.bot, row.points, row.low, row.high) for row in rows] == [
        (0, 1.0, 1.0, 1.0),
        *[(other, 0.0, 0.0, 0.0) for other in range(1, 21)],
    ]
    turned = [board(6 * other + again, {0: 2, other: 1}) for other in range(1, 21) for again in range(6)]
    rows = table_of([(range(21), turned)], {}, "x")
    assert [(row.bot, row.low, row.high, row.best, row.worst) for row in rows] == [
        *[(other, 1.0, 1.0, 1, 1) for other in range(1, 21)],
        (0, 0.0, 0.0, 21, 21),
    ]


def test_the_intervals_hold() -> None:
    """Bots of known strength: all intervals of a table hold in 95 of 100 tournaments, give or take chance."""
    chance, held, ranked, tries = random.Random(5), 0, 0, 100
    strengths = [0.0, 0.3, 0.6, 0.9]
    truth = _mean_points(strengths, random.Random(6), 20_000)
    for run in range(tries):
        boards = [board(number, _places(strengths, chance)) for number in range(60)]
        rows = table_of([(range(4), boards)], {}, str(run))
        held += all(
            row.low <= truth[row.bot] <= row.high for row in rows if row.low is not None and row.high is not None
        )
        ranked += all(row.best <= 4 - row.bot <= row.worst for row in rows if row.best and row.worst)
        assert all(None not in (row.low, row.high, row.best, row.worst) for row in rows)
    assert 0.90 <= held / tries <= 0.99
    assert ranked / tries >= 0.95


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


def with_luck(number: int, lucks: dict[int, float], places: dict[int, int]) -> PlayedBoard:
    plain = board(number, places)
    (match,) = plain.matches
    return replace(plain, matches=(replace(match, luck=tuple(lucks[bot] for bot in match.bots)),))


def test_points_without_luck_stand_beside_the_points_and_decide_no_rank() -> None:
    """Bot 0 wins each board, by luck that changes from board to board; without it, both are worth 0.5 on each."""
    boards = [with_luck(number, {0: 0.5, 1: -0.5}, {0: 1, 1: 2}) for number in range(8)]
    first, second = table_of([((0, 1), boards)], {}, "x")
    assert (first.bot, first.rank, first.points, second.rank) == (0, 1, 1.0, 2)
    assert first.adjusted == second.adjusted == AdjustedPoints(0.5, 0.5, 0.5)
    few = table_of([((0, 1), boards[:5])], {}, "x")
    assert [row.adjusted for row in few] == [AdjustedPoints(0.5, None, None)] * 2
    partly = table_of([((0, 1), [*boards, board(8, {0: 1, 1: 2})])], {}, "x")
    assert [row.adjusted for row in partly] == [None, None]


def test_an_interval_without_luck_may_leave_the_points_that_are_possible() -> None:
    boards = [with_luck(number, {0: -0.5 * (number % 2), 1: 0.5 * (number % 2)}, {0: 1, 1: 2}) for number in range(12)]
    (row, _) = table_of([((0, 1), boards)], {}, "x")
    assert row.high == 1.0
    assert row.adjusted is not None
    assert row.adjusted.points == 1.25
    assert row.adjusted.low is not None
    assert row.adjusted.high is not None
    assert row.adjusted.low < 1.25 < row.adjusted.high
    assert row.adjusted.high > 1.3


def test_luck_changes_no_digest_and_is_read_back() -> None:
    lucky, plain = with_luck(0, {0: 0.25, 1: -0.25}, {0: 1, 1: 2}), board(0, {0: 1, 1: 2})
    assert digest_of_boards([lucky]) == digest_of_boards([plain])
    assert PlayedBoard.from_json(lucky.as_json()) == lucky
    assert plain.adjusted_points() == {}
    for luck in ([0.1], [0.1, "x"], [0.1, float("nan")]):
        altered = lucky.as_json()
        altered["matches"][0]["luck"] = luck
        with pytest.raises(ValueError, match="is not the luck of 2 seats"):
            PlayedBoard.from_json(altered)
