"""The rounds of each format: how many boards they have, who meets, who goes on, and who is ranked with whom."""

from __future__ import annotations

import pytest

from cutpurse.lab.tournament.formats import Rounds, rounds_of
from cutpurse.lab.tournament.knockout import Knockout
from cutpurse.lab.tournament.tournament_file import Entrant, Format, Tournament
from cutpurse.lab.tournament.tournament_results import PlayedBoard
from cutpurse.leaderboard.formats.pairings import Field
from tests.lab.boards import board


def rounds(
    kind: str,
    bots: int,
    seats: int = 2,
    deals: int = 1,
    challenger: int = 0,
    fill: tuple[int, ...] = (),
    **numbers: int,
) -> Rounds:
    entrants = tuple(Entrant(f"bot {bot}", "random") for bot in range(bots))
    form = Format(kind, numbers, challenger, fill)
    return rounds_of(Tournament("cup", "greed", seats, {}, "seed", "plain", deals, entrants, form))


def play(fields: list[Field], best: list[int], first: int = 0) -> list[PlayedBoard]:
    """Boards on which whoever comes earlier in `best` is ahead."""
    played = []
    for number, field in enumerate(fields, first):
        order = sorted(field, key=best.index)
        played.append(board(number, {bot: order.index(bot) + 1 for bot in field}))
    return played


def test_in_a_round_robin_everybody_meets_everybody_on_each_deal() -> None:
    once = rounds("round_robin", 4, deals=3, meetings=2)
    fields = once.fields(0, [])
    assert (once.count(), once.size(0), once.said(0)) == (1, 36, "36 boards")
    pairs = [tuple(sorted(field)) for field in fields]
    assert {pair: pairs.count(pair) for pair in pairs} == {(a, b): 6 for a in range(4) for b in range(a + 1, 4)}
    played = play(fields, [0, 1, 2, 3])
    assert once.stages(played) == [((0, 1, 2, 3), played)]
    assert not once.byes(played)


def test_in_a_gauntlet_everybody_meets_the_challenger_alone() -> None:
    fields = rounds("gauntlet", 4, challenger=2, meetings=1).fields(0, [])
    assert sorted(tuple(sorted(field)) for field in fields) == [(0, 2), (1, 2), (2, 3)]


def test_a_swiss_round_is_told_and_has_a_table_for_all_who_fill_one() -> None:
    swiss = rounds("swiss", 5, deals=3, rounds=4)
    assert (swiss.count(), swiss.size(0), swiss.size(3)) == (4, 6, 6)
    assert swiss.said(0) == "round 1: 6 boards, 1 rest; who meets: by seeding"
    assert swiss.said(2) == "round 3: 6 boards, 1 rest; who meets: by points, as few as possible for a second time"
    assert rounds("swiss", 4, rounds=4).said(0) == "round 1: 2 boards; who meets: by seeding"


def test_in_a_swiss_tournament_those_who_stand_alike_meet_and_everybody_rests_once() -> None:
    swiss = rounds("swiss", 5, deals=2, rounds=5)
    best = [3, 0, 4, 1, 2]
    played: list[PlayedBoard] = []
    for number in range(5):
        fields = swiss.fields(number, played)
        assert fields[::2] == fields[1::2], "each field plays both deals"
        assert swiss.byes(played).total() == number
        played += play(fields, best, len(played))
        assert swiss.byes([*played[:-1]]).total() == number, "a round that goes on counts no rest"
    assert swiss.byes(played) == dict.fromkeys(range(5), 1)
    assert swiss.stages(played) == [((0, 1, 2, 3, 4), played)]


def test_who_rested_stands_in_a_swiss_tournament_as_with_the_mean_of_a_table() -> None:
    """Two deals a round: the winners have 2 points, who rested has 1, the losers none."""
    swiss = rounds("swiss", 7, deals=2, rounds=3)
    fields = swiss.fields(0, [])
    (rested,) = set(range(7)) - {bot for field in fields for bot in field}
    best = sorted(range(7), key=lambda bot: (bot != rested, bot))
    played = play(fields, best)
    winners = {min(field, key=best.index) for field in fields}
    (met,) = {field for field in swiss.fields(1, played) if rested in field}
    assert set(met) - {rested} == {max(winners)}, "the third of three winners meets who comes next"


def test_of_each_group_the_first_by_points_a_board_reach_the_final() -> None:
    cup = rounds("groups", 9, deals=2, groups=3, advance=2, meetings=1, final_meetings=2)
    fields = cup.fields(0, [])
    assert (cup.count(), cup.size(0), len(fields), cup.size(1)) == (2, 18, 18, 60)
    assert cup.said(0) == "3 groups: 18 boards"
    assert cup.said(1) == "final of the first 2 of each group: 60 boards"
    groups = {frozenset(other for field in fields if bot in field for other in field) for bot in range(9)}
    assert sorted(map(len, groups)) == [3, 3, 3]

    best = [8, 7, 6, 5, 4, 3, 2, 1, 0]
    played = play(fields, best)
    finalists = tuple(sorted(bot for group in groups for bot in sorted(group, key=best.index)[:2]))
    final = cup.fields(1, played)
    assert {bot for field in final for bot in field} == set(finalists)
    assert len(final) == 60

    everybody, others = tuple(range(9)), tuple(sorted(set(range(9)) - set(finalists)))
    assert cup.stages(played[:-1]) == [(everybody, played[:-1])]
    assert cup.stages(played) == [(finalists, played), (others, played)]
    finals = play(final[:5], best, len(played))
    assert cup.stages([*played, *finals]) == [(finalists, finals), (others, played)]
    assert not cup.byes([*played, *finals])


@pytest.mark.parametrize("kind", ["elimination", "double_elimination"])
@pytest.mark.parametrize("best_of", [1, 3, 5])
def test_a_knock_out_plays_boards_until_nobody_is_due(kind: str, best_of: int) -> None:
    cup = rounds(kind, 7, seats=3, fill=(3,), best_of=best_of)
    assert isinstance(cup, Knockout)
    best = [3, 4, 5, 6, 2, 1, 0]
    played: list[PlayedBoard] = []
    for number in range(cup.count()):
        fields = cup.fields(number, played)
        if not fields:
            break
        assert len(fields) <= cup.size(number)
        assert all(field[2] == 3 for field in fields), "the filling bot sits with both"
        for end in range(len(fields)):
            part = [*played, *play(fields, best, len(played))[:end]]
            assert not all(duel.is_over for duel in cup.duels(part)), "a table can be shown within a round"
        played += play(fields, best, len(played))
    assert len(played) == (5 if kind == "elimination" else 10) * (best_of + 1) // 2 <= cup.boards()
    assert cup.stages(played) == [((0, 1, 2, 4, 5, 6), played)]
    ranks = cup.ranks(played)
    assert ranks is not None
    assert [bot for bot in ranks if ranks[bot] == 1] == [4], "the filling bot was ahead of all, and does not compete"
    assert 3 not in ranks
    assert [cup.said(number) for number in (1, 2)] == ["", ""]


def test_a_knock_out_says_how_much_is_played_at_most() -> None:
    cup = rounds("double_elimination", 4, best_of=3)
    assert cup.said(0) == "at most 7 duels, best of 3 boards: 21 boards at most"
    assert rounds("elimination", 4, best_of=1).said(0) == "at most 3 duels, a board each: 3 boards at most"
    assert cup.fields(0, []) == [(0, 3), (0, 3), (1, 2), (1, 2)], "as many boards as each needs at least"
