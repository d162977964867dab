"""Bag-O-Loot: how a round ends and what it counts, who has won, and why it all ends."""

from __future__ import annotations

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.games.bag_o_loot.rules import (
    LONGEST_ROUND,
    BagOLoot,
    EndTheRound,
    MakeAPlay,
    TakeATurn,
)
from tests.games.bag_o_loot.table import ADVANCED, ONE_ROUND, at_table


# -- the end of a round
def test_bl_5_1_the_round_is_over_at_once_when_a_play_empties_the_hand() -> None:
    story = at_table(["4 4", "2 2 3"], {1: ["5 5 5"]}, settings=ONE_ROUND, round=1)
    story.begin(MakeAPlay(0))
    story.says(0, "open a set with 2 x Coin 4")
    assert story.question() == ""
    assert story.table() == {"hand 1": "2 2 3", "set 6 of 1": "5 5 5", "set 7 of 0": "4 4"}
    assert story.g.total == [2, 3]
    assert "seat 0 goes out" in story.told(1)


def test_bl_5_1_giving_the_last_card_away_is_not_going_out() -> None:
    story = at_table(["4", "2"], draw_pile="9 8", chance=[0, 0])
    story.begin(MakeAPlay(0))
    story.says(0, "done")
    story.says(0, "let seat 1 pull a random card of your hand")
    assert story.table() == {"hand 1": "2 4 8", "draw_pile": "9"}
    story.says(1, "done")
    story.says(1, "let seat 0 pull a random card of your hand")
    assert story.table() == {"hand 0": "2 9", "hand 1": "4 8"}  # and goes on drawing
    assert story.g.waiting() == [0]


def test_bl_5_2_who_goes_out_takes_a_bag_of_another_player_of_his_choice() -> None:
    bags = {0: ["1 1 1 1 1"], 1: ["2 2 2 2 2", "3 3 3 3 3"], 2: ["4 4 4 4 4"]}
    story = at_table(["5 5", "6", "7"], bags=bags, settings=ONE_ROUND, round=1)
    story.begin(MakeAPlay(0))
    story.says(0, "open a set with 2 x Coin 5")
    assert story.offers(0) == ["take bag 8 of seat 1", "take bag 9 of seat 1", "take bag 10 of seat 2"]
    story.says(0, "take bag 9 of seat 1")
    assert story.table() == {
        "hand 1": "6",
        "hand 2": "7",
        "set 11 of 0": "5 5",
        "bag 7 of 0": "1 1 1 1 1",
        "bag 9 of 0": "3 3 3 3 3",
        "bag 8 of 1": "2 2 2 2 2",
        "bag 10 of 2": "4 4 4 4 4",
    }
    assert story.g.total == [22, 10, 10]


def test_bl_5_2_without_a_bag_of_another_player_nothing_is_taken() -> None:
    story = at_table(["5 5", "6"], bags={0: ["1 1 1 1 1"]}, settings=ONE_ROUND, round=1)
    story.begin(MakeAPlay(0))
    story.says(0, "open a set with 2 x Coin 5")
    assert story.question() == ""
    assert story.g.total == [12, 0]


def test_bl_5_3_two_turns_each_without_a_play_and_without_a_pile_end_the_round_without_a_bonus() -> None:
    settings = ONE_ROUND | {"wrong_snitch": "free"}
    story = at_table(["4", "2"], bags={1: ["9 9 9 9 9"]}, settings=settings, round=1, chance=[0, 0, 0])
    story.begin(TakeATurn(0))
    story.says(0, "snitch on bag 6 of seat 1 with Coin 4")
    story.says(1, "done")
    story.says(1, "let seat 0 pull a random card of your hand")
    story.says(0, "done")
    story.says(0, "let seat 1 pull a random card of your hand")
    assert story.question() == "make_a_play"
    assert story.g.idle_turns == 4
    story.says(1, "done")
    story.says(1, "let seat 0 pull a random card of your hand")
    assert story.question() == ""
    assert story.table() == {"hand 0": "2 4", "bag 6 of 1": "9 9 9 9 9"}
    assert story.g.total == [-2, 8]  # BL-5.6
    assert "nobody plays any more: the round is over" in story.told(None)


@pytest.mark.rule("BL-5.3")
@pytest.mark.parametrize(("given", "turns"), [({}, 2), ({"stalemate_turns": 1}, 1), ({"stalemate_turns": 5}, 5)])
def test_bl_5_3_a_setting_says_how_many_idle_turns_of_each_player_end_a_round(
    given: dict[str, object], turns: int
) -> None:
    story = at_table(["4", "2"], settings=ONE_ROUND | given, round=1, chance=[0] * 2 * turns)
    story.begin(TakeATurn(0))
    for turn in range(2 * turns):
        assert story.question() == "make_a_play"
        story.says(turn % 2, "done")
        story.says(turn % 2, f"let seat {1 - turn % 2} pull a random card of your hand")
    assert story.question() == ""


def test_bl_5_3_a_play_begins_the_count_anew_and_a_pile_prevents_it() -> None:
    story = at_table(["4 4 1", "2"], idle_turns=2)
    story.begin(TakeATurn(0))
    assert story.g.idle_turns == 3
    story.says(0, "open a set with 2 x Coin 4")
    assert story.g.idle_turns == 0
    story = at_table(["4", "2"], draw_pile="9 8 7 6 5", chance=[0] * 4)
    story.begin(TakeATurn(0))
    for seat in (0, 1, 0, 1):
        story.says(seat, "done")
        story.says(seat, f"let seat {1 - seat} pull a random card of your hand")
    assert story.g.idle_turns == 0
    assert story.question() == "make_a_play"


def test_bl_5_4_a_bag_counts_ten_a_card_in_an_open_set_one_and_the_hand_nothing() -> None:
    story = at_table(
        ["1 1 1", "2", ""],
        {0: ["5 looter looter", "6 6"], 1: ["7 7 7 7"]},
        {0: ["9 9 9 9 9"], 1: ["8 8 8 looter looter", "3 3 3 3 looter"]},
        settings=ONE_ROUND,
        round=1,
        total=[4, 0, 7],
    )
    story.begin(EndTheRound(0))
    assert story.g.total == [19, 24, 7]
    assert story.told(None)[-1] == "the end: 19, 24, 7"


def test_bl_5_5_the_highest_total_wins_and_equal_totals_share() -> None:
    story = at_table(["", "", ""], settings=ONE_ROUND, round=1, total=[5, 9, 9])
    story.begin(EndTheRound(0))
    assert story.question() == ""
    assert story.g.scores() == [5, 9, 9]
    assert story.g.places() == [3, 1, 1]


@pytest.mark.rule("BL-5.5")
@pytest.mark.parametrize(
    ("total", "round_", "goes_on"),
    [([9, 9, 5], 1, True), ([9, 9, 5], 3, True), ([9, 9, 5], 4, False), ([9, 8, 8], 1, False)],
)
def test_bl_5_5_tie_break_rounds_while_the_lead_is_shared_at_most_three(
    total: list[int], round_: int, goes_on: bool
) -> None:
    settings = {"rounds": 1, "tie_break_round": True}
    story = at_table(["", "", ""], settings=settings, round=round_, dealer=1, total=total)
    story.begin(EndTheRound(0))
    assert (story.g.round == round_ + 1) is goes_on
    assert bool(story.g.waiting()) is goes_on


@pytest.mark.rule("BL-5.6")
@pytest.mark.parametrize(("given", "price"), [({}, 1), ({"idle_price": 0}, 0), ({"idle_price": 5}, 5)])
def test_bl_5_6_each_idle_turn_is_fined_and_the_round_counts_the_fines(given: dict[str, object], price: int) -> None:
    story = at_table(["4 4 1", "2"], settings=ONE_ROUND | given, round=1, chance=[0] * 5)
    story.begin(TakeATurn(0))
    story.says(0, "open a set with 2 x Coin 4")  # so this turn is not idle
    story.says(0, "done")
    for seat in (1, 0, 1, 0):
        story.says(seat, "done")
        story.says(seat, f"let seat {1 - seat} pull a random card of your hand")
    assert story.question() == ""
    assert story.g.fine == [2 * price, 2 * price]
    assert story.g.total == [2 - 2 * price, -2 * price]


def test_bl_5_6_a_turn_with_a_pile_is_not_fined_nor_is_the_next_round() -> None:
    story = at_table(["4", "2"], draw_pile="9 8", round=1, fine=[3, 0], chance=[0] * 200)
    story.begin(TakeATurn(0))
    story.says(0, "done")
    story.says(0, "let seat 1 pull a random card of your hand")
    assert story.g.fine == [3, 0]
    story.begin(EndTheRound(0))
    assert (story.g.total, story.g.fine) == ([-3, 0], [0, 0])


@pytest.mark.rule("BL-5.4")
def test_bl_5_6_scores_now_have_what_the_round_would_count_less_the_fines() -> None:
    bags = {0: ["1 1 1 1 1"]}
    story = at_table(["4", "2"], {1: ["5 5 5"]}, bags=bags, round=1, fine=[3, 0], total=[7, 20], chance=[0] * 200)
    story.begin(MakeAPlay(0))
    expected = [7 + 10 - 3, 20 + 3]
    assert (story.g.scores_now(), story.g.scores()) == (expected, [7, 20])
    story.begin(EndTheRound(0))
    assert (story.g.round, story.g.scores_now(), story.g.scores()) == (2, expected, expected)


def test_bl_5_5_after_the_last_round_scores_now_are_the_scores_though_the_cards_still_lie_there() -> None:
    story = at_table(["4", "2"], {1: ["5 5 5"]}, settings=ONE_ROUND, round=1)
    story.begin(EndTheRound(0))
    assert story.g.worth(1) == 3
    assert story.g.scores_now() == story.g.scores() == [0, 3]


@pytest.mark.rule("BL-7.1")
@pytest.mark.parametrize("settings", [{}, ADVANCED, {"advanced": True, "ditch_per_turn": "unlimited"}])
@pytest.mark.parametrize("seats", [2, 5])
def test_bl_7_1_rounds_end_far_below_their_bound(seats: int, settings: dict[str, object]) -> None:
    for match in range(3):
        game = BagOLoot.new(seats, match_key("bound", match), settings)
        pick = Chance(match_key("pick", match))
        most = 0
        while waiting := game.waiting():
            for seat in waiting:
                options = game.options(seat)
                game.choose(seat, options[pick.below(len(options))])
            most = max(most, game.turns)
        assert game.round == seats
        assert 8 < most < 300


def test_bl_7_1_a_round_beyond_its_bound_is_an_error() -> None:
    story = at_table(["1", "2"], turns=LONGEST_ROUND - 1)
    with pytest.raises(AssertionError):
        story.begin(TakeATurn(0))
