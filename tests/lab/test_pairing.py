"""Who meets whom: nobody twice where it can be avoided, all as often as was said, and the same again each time."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutpurse.leaderboard.formats.pairings import gauntlet, groups, meetings_of, round_robin, swiss_round


@given(st.integers(2, 12), st.integers(2, 8), st.integers(1, 3))
def test_in_a_round_robin_each_two_meet_so_often_at_least(bots: int, seats: int, meetings: int) -> None:
    seats = min(seats, bots)
    fields = round_robin(range(bots), seats, meetings)
    assert all(len(set(field)) == seats for field in fields)
    met = meetings_of(fields)
    assert min(met[pair] for pair in combinations(range(bots), 2)) >= meetings
    assert fields == round_robin(range(bots), seats, meetings)


@pytest.mark.parametrize(("bots", "seats"), [(6, 2), (5, 3), (6, 4), (4, 4)])
def test_every_field_once_is_a_round_robin_in_which_all_meet_equally_often(bots: int, seats: int) -> None:
    meetings = comb(bots - 2, seats - 2)
    fields = round_robin(range(bots), seats, meetings)
    assert sorted(fields) == [*combinations(range(bots), seats)]
    assert set(meetings_of(fields).values()) == {meetings}


def test_a_round_robin_of_many_is_not_much_longer_than_it_has_to_be() -> None:
    """At 4 seats each of 12 bots needs 4 boards to meet 11 others, so 12 boards are the least."""
    assert 12 <= len(round_robin(range(12), 4, 1)) <= 16
    assert comb(64, 2) / comb(4, 2) <= len(round_robin(range(64), 4, 1)) <= 1.4 * comb(64, 2) / comb(4, 2)


@given(st.integers(1, 11), st.integers(2, 8), st.integers(1, 3))
def test_in_a_gauntlet_the_challenger_meets_each_of_the_others(others: int, seats: int, meetings: int) -> None:
    seats = min(seats, others + 1)
    fields = gauntlet(99, range(others), seats, meetings)
    assert all(field[0] == 99 and len(set(field)) == seats for field in fields)
    met = Counter(bot for field in fields for bot in field[1:])
    assert min(met[bot] for bot in range(others)) >= meetings
    assert max(met.values()) - min(met.values()) <= 1


def test_groups_are_drawn_like_a_snake() -> None:
    assert groups(range(8), 3) == [(0, 5, 6), (1, 4, 7), (2, 3)]


@given(st.integers(4, 24), st.integers(2, 4), st.integers(1, 6), st.integers(0, 99))
def test_in_a_swiss_tournament_rests_are_shared_and_all_others_play(
    bots: int, seats: int, rounds: int, seed: int
) -> None:
    chance = random.Random(seed)
    met: Counter[tuple[int, ...]] = Counter()
    byes: Counter[int] = Counter()
    for _ in range(rounds):
        standing = list(range(bots))
        chance.shuffle(standing)
        fields, resting = swiss_round(standing, seats, met, byes)
        assert sorted([*resting, *(bot for field in fields for bot in field)]) == list(range(bots))
        assert len(resting) == bots % seats
        assert all(len(field) == seats for field in fields)
        met += meetings_of(fields)
        byes.update(resting)
        assert max(byes.values(), default=0) - min(byes[bot] for bot in range(bots)) <= 1


def test_in_a_swiss_tournament_nobody_meets_twice_while_that_can_be() -> None:
    """Eight bots, two seats, seven rounds: everybody meets everybody, though each round follows the standing."""
    met: Counter[tuple[int, ...]] = Counter()
    for _ in range(7):
        fields, _ = swiss_round(range(8), 2, met, {})
        met += meetings_of(fields)
    assert set(met.values()) == {1}
    assert len(met) == comb(8, 2)


def test_those_who_stand_alike_meet() -> None:
    fields, _ = swiss_round([3, 1, 0, 2, 5, 4], 2, {(1, 3): 1}, {})
    assert fields == [(3, 0), (1, 2), (5, 4)]
    fields, resting = swiss_round([3, 1, 0, 2, 4], 2, {}, {4: 1})
    assert (fields, resting) == ([(3, 1), (0, 4)], (2,))


def test_so_many_that_no_perfect_round_is_looked_for() -> None:
    fields, resting = swiss_round(range(1_001), 4, {}, {})
    assert (len(fields), resting) == (250, (1_000,))
