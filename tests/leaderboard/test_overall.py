"""The overall table: planted strengths are found, intervals hold, and each ladder counts alike."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

import pytest

pytest.importorskip("choix")

from cutpurse.leaderboard.statistics.overall import MEAN, SCALE, OverallRow, PlacedMatch, overall_table


def played(seed: int, sizes: Sequence[tuple[int, int]], bots: int = 6) -> tuple[list[float], list[PlacedMatch]]:
    """Draw strengths, and matches of ladders with these numbers of matches and seats by the model of Plackett-Luce."""
    chance = random.Random(seed)
    drawn = [chance.gauss(0, 0.6) for _ in range(bots)]
    strengths = [one - sum(drawn) / bots for one in drawn]
    matches = []
    for number, (count, seats) in enumerate(sizes):
        for _ in range(count):
            seated = chance.sample(range(bots), seats)
            order = sorted(seated, key=lambda bot: math.log(-math.log(chance.random())) - strengths[bot])
            places = tuple(order.index(bot) + 1 for bot in seated)
            matches.append(PlacedMatch(f"ladder{number}", tuple(f"bot{bot}" for bot in seated), places))
    return strengths, matches


def by_bot(rows: Sequence[OverallRow]) -> dict[str, OverallRow]:
    return {row.bot: row for row in rows}


def test_the_intervals_hold_the_planted_strengths_in_95_of_100() -> None:
    inside = total = 0
    for seed in range(25):
        strengths, matches = played(seed, [(80, 2), (30, 4), (40, 3)])
        for row in overall_table(matches):
            true = MEAN + SCALE * strengths[int(row.bot.removeprefix("bot"))]
            inside += row.low <= true <= row.high
            total += 1
    assert total == 150
    assert inside >= 138, "95 % less three standard errors"


def test_the_interval_shrinks_with_the_matches() -> None:
    widths = []
    for count in (50, 800):
        rows = overall_table(played(1, [(count, 3)])[1])
        widths.append(sum(row.high - row.low for row in rows))
    assert 3 < widths[0] / widths[1] < 5, "four times narrower after sixteen times as many"


def test_each_ladder_counts_alike() -> None:
    often = [PlacedMatch("often", ("ann", "bob"), (1, 2))] * 90 + [PlacedMatch("often", ("ann", "bob"), (2, 1))] * 10
    seldom = [PlacedMatch("seldom", ("ann", "bob"), (2, 1))] * 9 + [PlacedMatch("seldom", ("ann", "bob"), (1, 2))]
    rows = by_bot(overall_table([*often, *seldom]))
    assert rows["ann"].elo == pytest.approx(rows["bob"].elo, abs=0.1)
    assert dict(rows["ann"].matches) == {"often": 100, "seldom": 10}


def test_shared_places_and_a_bot_in_several_seats() -> None:
    tied = [PlacedMatch("a", ("ann", "bob"), (1, 1))] * 5
    assert [row.elo for row in overall_table(tied)] == pytest.approx([MEAN, MEAN])
    rows = by_bot(overall_table([PlacedMatch("a", ("ann", "ann", "bob"), (1, 2, 3))] * 5))
    assert rows["ann"].elo > MEAN > rows["bob"].elo
    with pytest.raises(ValueError, match="no two bots"):
        overall_table([PlacedMatch("a", ("ann", "ann"), (1, 2))])


def test_who_is_not_on_every_ladder_or_always_wins_has_a_rating_and_a_wide_interval() -> None:
    _, matches = played(3, [(60, 3), (60, 2)])
    matches += [PlacedMatch("ladder0", ("cid", "bot0"), (1, 2))] * 3
    rows = overall_table(matches)
    assert rows[-1].bot == "cid"
    assert [row.rank for row in rows] == [1, 2, 3, 4, 5, 6, None]
    widths = {row.bot: row.high - row.low for row in rows}
    assert max(widths, key=lambda bot: widths[bot]) == "cid"
    assert all(math.isfinite(width) for width in widths.values())
