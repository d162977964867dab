"""Tables that are stepped together go on as each would alone."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.learn import REWARDS, IllegalNumber, Space
from cutpurse.learn.batch import Batch, Ended
from cutpurse.learn.choice_table import ChoiceTable
from cutpurse.learn.table_block import TableBlock
from tests.properties.random_play import EVERY_GAME


def tables_of(batch: Batch) -> list[ChoiceTable]:
    assert isinstance(batch.source, TableBlock)
    return batch.source.tables


def lowest_of(batch: Batch) -> list[int]:
    return [int(number) for number in batch.mask.argmax(axis=1)]


@pytest.mark.parametrize("name", EVERY_GAME)
def test_every_row_is_that_of_the_seat_that_is_asked(name: str) -> None:
    batch = Batch(name, tables=5, seed=3)
    for _ in range(12):
        for number, table in enumerate(tables_of(batch)):
            view = table.game.view(table.seat)
            planes, numbers = batch.space.observe(view)
            assert table.game.waiting()[0] == table.seat == batch.seat[number]
            assert (batch.planes[number] == planes).all()
            assert (batch.numbers[number] == numbers).all()
            assert (batch.mask[number] == batch.space.mask(view, table.game.options(table.seat))).all()
        batch.step(lowest_of(batch))


def alone(name: str, seed: int, number: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Play a match with the lowest numbers without any table of this package.

    Returns:
        Places and scores.
    """
    space = Space(name)
    game = GAMES[name].new(key=match_key(seed, number))
    while waiting := game.waiting():
        seat = waiting[0]
        options, view = game.options(seat), game.view(seat)
        numbers = space.option_numbers(view, options)
        game.choose(seat, options[numbers.index(min(numbers))])
    return tuple(game.places()), tuple(game.scores())


def test_matches_are_those_of_the_run_and_end_with_their_rewards() -> None:
    batch = Batch("greed", tables=3, seed=11)
    ended: list[Ended] = []
    while len(ended) < 5:
        ended += batch.step(np.array(lowest_of(batch)))
    for match in ended:
        assert (match.places, match.scores) == alone("greed", 11, match.match)
        assert match.rewards == REWARDS["place"](match.places, match.scores)
        assert match.learners == (True,) * 4
    assert len({match.match for match in ended}) == len(ended)
    assert [match.match % 3 for match in ended] == [match.table for match in ended]
    assert {number % 3 for number in batch.match.tolist()} == {0, 1, 2}


def test_a_learner_beside_opponents_is_asked_alone() -> None:
    batch = Batch("stolen_treasure", tables=2, seed=1, opponents=["greedy", "random", "random"], reward="first")
    ended: list[Ended] = []
    while not ended:
        assert [table.seat_of(0) for table in tables_of(batch)] == batch.seat.tolist()
        ended += batch.step(lowest_of(batch))
    assert ended[0].learners.count(True) == 1
    assert sum(ended[0].rewards) == pytest.approx(1)


@pytest.mark.parametrize(
    ("name", "places", "scores", "rewards"),
    [
        ("place", (1, 2, 3, 4), (9, 5, 3, 1), (1, 1 / 3, -1 / 3, -1)),
        ("place", (2, 1, 2, 4), (5, 9, 5, 1), (0, 1, 0, -1)),
        ("place", (1, 1), (4, 4), (0, 0)),
        ("first", (1, 3, 1, 4), (9, 2, 9, 1), (0.5, 0, 0.5, 0)),
        ("first+place", (1, 2, 3, 4), (9, 5, 3, 1), (1, 1 / 3, 1 / 6, 0)),
        ("first+place", (1, 3, 1, 4), (9, 2, 9, 1), (2 / 3, 1 / 6, 2 / 3, 0)),
        ("score", (1, 2), (9, 4), (2.5, -2.5)),
    ],
)
def test_rewards(name: str, places: tuple[int, ...], scores: tuple[int, ...], rewards: tuple[float, ...]) -> None:
    assert REWARDS[name](places, scores) == pytest.approx(rewards)


def test_a_number_that_is_not_offered_names_the_table_and_nothing_goes_on() -> None:
    batch = Batch("greed", tables=3, seed=2)
    views = [table.view for table in tables_of(batch)]
    actions = lowest_of(batch)
    actions[1] = int((batch.mask[1] == 0).argmax())
    line = f"table 1: number {actions[1]} is not offered now; there are: {lowest_of(batch)[1]} "
    with pytest.raises(IllegalNumber, match=f"^{re.escape(line)}"):
        batch.step(actions)
    with pytest.raises(ValueError, match=r"^table 2: 193 is no number of greed with 4 seats, which has 0 to 192$"):
        batch.step([*lowest_of(batch)[:2], 193])
    assert [table.view for table in tables_of(batch)] == views


def test_impossible_batches_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^0 tables cannot be stepped; at least 1 can$"):
        Batch("greed", tables=0)
    with pytest.raises(UsageError, match=r"^1 numbers for 2 tables: give one for each$"):
        Batch("greed", tables=2).step([0])
