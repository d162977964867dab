"""The rules of tournaments on a server: brackets with byes, duels that end early, ties, and bots that are away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from cutpurse.leaderboard.formats.brackets import DOUBLE_ELIMINATION, ELIMINATION, Duel, Lane
from cutpurse.leaderboard.formats.duels import ROUND_ROBIN, Duels, Standing
from cutpurse.leaderboard.results import Identity
from cutpurse.server.parts.events.tournament_rules import TournamentPlan


def plan(count: int, format_: str = ELIMINATION, best_of: int = 1) -> TournamentPlan:
    return TournamentPlan(
        "duel", format_, best_of, tuple(Identity("ann", f"bot{number}", "1") for number in range(count))
    )


def after(wanted: TournamentPlan, results: Mapping[int, Sequence[str]]) -> Duels:
    return Duels(wanted.format, len(wanted.bots), wanted.best_of, results)


def duels_of(wanted: TournamentPlan, results: Mapping[int, Sequence[str]]) -> list[Duel]:
    """The duels after these boards, which are the same if the boards come one by one, in another order of duels."""
    duels, folded = after(wanted, results), after(wanted, {})
    for number, boards in sorted(results.items(), reverse=wanted.format == ROUND_ROBIN):
        for board in boards:
            folded.after(number, board)
    assert folded.all == duels.all
    assert folded.table() == duels.table()
    assert duels.orders() == [duel for duel in duels.all if duel.is_due]
    return duels.all


def standings_of(wanted: TournamentPlan, results: Mapping[int, Sequence[str]]) -> list[Standing]:
    return after(wanted, results).table()


def played_out(wanted: TournamentPlan) -> dict[int, list[str]]:
    """Play a tournament in which the better seed always wins."""
    results: dict[int, list[str]] = {}
    while due := [duel for duel in duels_of(wanted, results) if duel.is_due]:
        for duel in due:
            first, second = duel.seats(0)
            results.setdefault(duel.number, []).append("10" if first < second else "01")
    return results


@pytest.mark.parametrize("count", [*range(2, 18), 31, 32, 33, 63, 64])
def test_a_bracket_of_any_size_ends_with_the_best_seed(count: int) -> None:
    wanted = plan(count)
    first_round = [duel for duel in duels_of(wanted, {}) if duel.round == 0]
    byes = [duel.bots[0] for duel in first_round if duel.is_bye]
    assert sorted(byes, key=lambda bot: bot or 0) == list(range(2 * len(first_round) - count)), "the best seeds rest"
    results = played_out(wanted)
    duels = duels_of(wanted, results)
    assert len(results) == wanted.max_duels == count - 1
    assert sum(not duel.is_bye for duel in duels) == count - 1
    final = duels[-1]
    assert (final.bots, final.winner) == ((0, 1), 0), "the two best seeds meet in the final only"
    standings = standings_of(wanted, results)
    assert [one.bot for one in standings[:2]] == [0, 1]
    assert [one.rank for one in standings[:2]] == [1, 2]
    assert not standings[0].is_out
    assert all(one.is_out for one in standings[1:])
    assert sum(one.won for one in standings) == count - 1


def test_the_ranks_of_a_bracket_of_five() -> None:
    wanted = plan(5)
    duels = duels_of(wanted, {})
    assert [(duel.bots, duel.is_bye) for duel in duels if duel.round == 0] == [
        ((0, None), True),
        ((3, 4), False),
        ((1, None), True),
        ((2, None), True),
    ]
    assert [duel.bots for duel in duels if duel.round == 1] == [(0, None), (1, 2)]
    ranks = [(one.bot, one.rank) for one in standings_of(wanted, played_out(wanted))]
    assert ranks == [(0, 1), (1, 2), (2, 3), (3, 3), (4, 5)]


@pytest.mark.parametrize(
    ("results", "points", "is_over", "winner"),
    [
        ([], (0, 0), False, None),
        (["10"], (1, 0), False, None),
        (["10", "10"], (2, 0), True, 0),
        (["01", "01"], (0, 2), True, 1),
        (["10", "==", "=="], (2, 1), True, 0),
        (["10", "=="], (1.5, 0.5), False, None),
        (["10", "01", "=="], (1.5, 1.5), True, 0),
        (["00", "00", "00"], (0, 0), True, 0),
        (["00", "01"], (0, 1), False, None),
        (["01", "01", "10"], (0, 2), True, 1),
    ],
)
def test_a_duel_of_three_ends_when_it_is_decided(
    results: Sequence[str], points: tuple[float, float], is_over: bool, winner: int | None
) -> None:
    (duel,) = duels_of(plan(2, best_of=3), {0: results})
    assert (duel.points, duel.is_over, duel.winner) == (points, is_over, winner)
    assert duel.is_due is not is_over
    assert (duel.seats(0), duel.seats(1), duel.seats(2)) == ((0, 1), (1, 0), (0, 1))


def test_a_round_robin_counts_duels_then_points_and_equals_share_a_rank() -> None:
    wanted = plan(3, ROUND_ROBIN, best_of=2)
    results: Mapping[int, Sequence[str]] = {0: ["10", "01"], 1: ["10", "10"], 2: ["10", "=="]}
    duels = duels_of(wanted, results)
    assert [duel.bots for duel in duels] == [(0, 1), (0, 2), (1, 2)]
    assert [(duel.is_over, duel.winner) for duel in duels] == [(True, None), (True, 0), (True, 1)]
    assert [(one.bot, one.rank, one.won, one.points) for one in standings_of(wanted, results)] == [
        (0, 1, 1.5, 3.0),
        (1, 2, 1.5, 2.5),
        (2, 3, 0.0, 0.5),
    ]
    assert [one.rank for one in standings_of(wanted, {})] == [1, 1, 1]


def test_the_plan_of_a_double_elimination_has_the_duels_of_both_brackets() -> None:
    wanted = plan(5, DOUBLE_ELIMINATION, best_of=3)
    assert (wanted.max_duels, TournamentPlan.from_text(wanted.text)) == (9, wanted)
    results = {number: [result, result] for number, [result] in played_out(plan(5, DOUBLE_ELIMINATION)).items()}
    duels = duels_of(wanted, results)
    assert [(duel.lane, duel.winner) for duel in duels[-2:]] == [(Lane.LOSERS, 1), (Lane.FINAL, 0)]
    standings = standings_of(wanted, results)
    assert [(one.bot, one.rank, one.is_out) for one in standings[:3]] == [(0, 1, False), (1, 2, True), (2, 3, True)]
    assert sum(one.won for one in standings) == 8


def test_a_plan_is_named_by_all_that_is_fixed() -> None:
    wanted = plan(4, best_of=3)
    assert TournamentPlan.from_text(wanted.text) == wanted
    text = '{"best_of":1,"bots":[["ann","bot0","1"],["ann","bot1","1"]],"format":"elimination","ladder":"duel"}'
    assert plan(2).text == text, "a plan that was shown before an upgrade is started after it"
    others = [plan(4), plan(4, ROUND_ROBIN, 3), plan(5, best_of=3), TournamentPlan("else", ELIMINATION, 3, wanted.bots)]
    others.append(TournamentPlan("duel", ELIMINATION, 3, wanted.bots[::-1]))
    assert len({wanted.digest, *(other.digest for other in others)}) == 6
