"""Knock-outs: brackets of 2 to 64 with byes, two lives in double elimination, the reset duel, and the ranks."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from cutpurse.leaderboard.formats.brackets import (
    DOUBLE_ELIMINATION,
    ELIMINATION,
    Duel,
    Lane,
    boards_needed,
    duel_after,
    knockout_duels,
    knockout_ranks,
    max_duels,
)


def played_out(count: int, chance: random.Random | None = None, form: str = DOUBLE_ELIMINATION) -> list[Duel]:
    """Play a knock-out in which the better seed always wins, or each with the same chance."""
    results: dict[int, list[str]] = {}
    while due := [duel for duel in knockout_duels(form, count, 1, results) if duel.is_due]:
        for duel in due:
            first, second = duel.seats(0)
            is_first = first < second if chance is None else chance.random() < 0.5
            results[duel.number] = ["10" if is_first else "01"]
    return knockout_duels(form, count, 1, results)


@pytest.mark.parametrize("count", [*range(2, 18), 31, 32, 33, 63, 64])
def test_everybody_but_the_winner_loses_twice(count: int) -> None:
    chance = random.Random(count)
    resets = 0
    for _ in range(8):
        duels = played_out(count, chance)
        assert [duel.number for duel in duels] == list(range(len(duels)))
        assert all(duel.is_over for duel in duels)
        losses = Counter(duel.loser for duel in duels if not duel.is_bye)
        (winner,) = {*range(count)} - {bot for bot, lost in losses.items() if lost == 2}
        resets += losses[winner]
        played = sum(not duel.is_bye for duel in duels)
        assert played == 2 * count - 2 + losses[winner] <= max_duels(DOUBLE_ELIMINATION, count)
        ranks = knockout_ranks(duels, count)
        assert [bot for bot, one in enumerate(ranks) if not one.is_out] == [winner]
        assert sorted(one.rank for one in ranks)[:2] == [1, 2]
        assert duels[-1].lane is Lane.FINAL
        assert ranks[winner].rank == 1
        assert duels[-1].winner == winner
        firsts = [duel for duel in duels if duel.lane in (Lane.WINNERS, Lane.MAIN) and duel.round == 0]
        byes = [duel.bots[0] for duel in firsts if duel.is_bye]
        assert sorted(bot for bot in byes if bot is not None) == list(range(len(byes))), "the best seeds rest"
    assert 0 < resets < 8, "some grand finals are won from below"


@pytest.mark.parametrize("count", [3, 4, 5, 8, 13, 16, 33, 64])
def test_the_best_seeds_meet_in_the_grand_final_once(count: int) -> None:
    duels = played_out(count)
    (final,) = [duel for duel in duels if duel.lane is Lane.FINAL]
    assert (final.bots, final.winner) == ((0, 1), 0)
    assert [one.rank for one in knockout_ranks(duels, count)[:3]] == [1, 2, 3]


def test_a_bracket_of_three_has_a_bye_above_and_below() -> None:
    duels = knockout_duels(DOUBLE_ELIMINATION, 3, 1, {})
    assert [(duel.lane, duel.round, duel.slot, duel.bots, duel.is_bye) for duel in duels] == [
        (Lane.WINNERS, 0, 0, (0, None), True),
        (Lane.WINNERS, 0, 1, (1, 2), False),
        (Lane.WINNERS, 1, 0, (0, None), False),
        (Lane.LOSERS, 0, 0, (None, None), True),
        (Lane.LOSERS, 1, 0, (None, None), False),
        (Lane.FINAL, 0, 0, (None, None), False),
    ]
    assert not duels[3].is_over, "who has this bye is not known yet"
    duels = knockout_duels(DOUBLE_ELIMINATION, 3, 1, {1: ["01"]})
    assert (duels[2].bots, duels[3].bots, duels[3].is_over) == ((0, 2), (1, None), True)
    duels = knockout_duels(DOUBLE_ELIMINATION, 3, 1, {1: ["01"], 2: ["01"], 4: ["10"], 5: ["01"]})
    assert (duels[5].bots, duels[5].winner) == ((2, 1), 1)
    assert (duels[6].bots, duels[6].lane, duels[6].round, duels[6].is_due) == ((2, 1), Lane.FINAL, 1, True)
    assert [(one.rank, one.is_out) for one in knockout_ranks(duels, 3)] == [(3, True), (1, False), (1, False)]
    won = knockout_duels(DOUBLE_ELIMINATION, 3, 1, {1: ["01"], 2: ["01"], 4: ["10"], 5: ["01"], 6: ["10"]})
    assert [one.rank for one in knockout_ranks(won, 3)] == [3, 2, 1]


@pytest.mark.parametrize("count", [16, 32, 64])
def test_bots_that_met_do_not_meet_again_in_the_first_rounds_below(count: int) -> None:
    chance = random.Random(0)
    for _ in range(10):
        met = set()
        for duel in played_out(count, chance):
            pair = frozenset(bot for bot in duel.bots if bot is not None)
            assert duel.lane is not Lane.LOSERS or duel.round > 2 or pair not in met
            met.add(pair)


@pytest.mark.parametrize(
    ("results", "needed"), [([], 3), (["10"], 2), (["10", "01"], 2), (["=="], 3), (["10", "10"], 1), (["10"] * 3, 0)]
)
def test_the_boards_that_a_duel_of_five_needs_at_least(results: list[str], needed: int) -> None:
    duel = duel_after(Duel(0, 0, (0, 1)), results, 5)
    assert boards_needed(duel, 5) == needed
    for _ in range(needed):
        assert not duel.is_over
        results = [*results, "10"]
        duel = duel_after(duel, results, 5)
    assert duel.is_over


def test_a_tied_duel_is_won_by_the_better_seed_where_somebody_must_go_on() -> None:
    assert duel_after(Duel(0, 0, (3, 1)), ["=="], 1).winner == 1
    assert duel_after(Duel(0, 0, (3, 1)), ["=="], 1, has_winner=False).winner is None
    assert [duel.lane for duel in played_out(4, form=ELIMINATION)] == [Lane.MAIN] * 3
