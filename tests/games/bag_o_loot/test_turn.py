"""Bag-O-Loot: the turn, what is played and snitched in it, and what it costs to play nothing."""

from __future__ import annotations

from cutpurse.games.bag_o_loot.rules import (
    MakeAPlay,
    TakeABag,
    TakeATurn,
)
from tests.games.bag_o_loot.table import ADVANCED, at_table


def test_bl_4_1_a_turn_begins_with_a_card_from_the_pile() -> None:
    story = at_table(["1 1", "2"], draw_pile="5 9")
    story.begin(TakeATurn(0))
    assert story.table() == {"hand 0": "1 1 9", "hand 1": "2", "draw_pile": "5"}
    assert story.told(1)[0] == "card face down: from draw pile to hand of seat 0"


def test_bl_4_1_without_a_pile_there_is_no_draw_and_the_ditched_cards_stay() -> None:
    story = at_table(["1 1", "2"], ditched="4 5", settings=ADVANCED)
    story.begin(TakeATurn(0))
    assert story.table() == {"hand 0": "1 1", "hand 1": "2", "ditched": "4 5"}


def test_bl_4_1_there_is_no_hand_limit() -> None:
    many = " ".join(f"{number} {number}" for number in range(1, 13))
    story = at_table([many, "1"], draw_pile="1")
    story.begin(TakeATurn(0))
    story.says(0, "open a set with 2 x Coin 12")
    assert len(story.g.hand[0].cards) == 23


def test_bl_4_2_any_number_of_plays_in_any_order_until_done() -> None:
    story = at_table(["2 2 3 3 3 4 5 9", "1"], {0: ["4 4"], 1: ["5 5 5"]})
    story.begin(MakeAPlay(0))
    for play in (
        "open a set with 2 x Coin 3",
        "add Coin 4 to set 6 of seat 0",
        "steal set 7 of seat 1 with Coin 5",
        "open a set with 2 x Coin 2",
        "add Coin 3 to set 8 of seat 0",
        "done",
    ):
        story.says(0, play)
    assert story.table() == {
        "hand 0": "9",
        "hand 1": "1",
        "set 6 of 0": "4 4 4",
        "set 8 of 0": "3 3 3",
        "set 7 of 0": "5 5 5 5",
        "set 9 of 0": "2 2",
    }
    assert story.g.waiting() == [1]
    assert story.g.turn_of == 2


def test_bl_4_2_coin_and_looter_opened_pinched_by_another_who_builds_with_the_looter() -> None:
    story = at_table(["7 looter 1", "7 8", "2"], {1: ["3 3"]})
    story.begin(MakeAPlay(0))
    story.says(0, "open a set with Coin 7, Looter")
    story.says(0, "done")
    story.says(1, "pinch a looter from set 8 of seat 0 with Coin 7")
    assert story.table()["set 8 of 0"] == "7 7"
    story.says(1, "add Looter to set 7 of seat 1")
    assert story.table() == {
        "hand 0": "1",
        "hand 1": "8",
        "hand 2": "2",
        "set 8 of 0": "7 7",
        "set 7 of 1": "3 3 looter",
    }


def test_bl_4_2_a_pinch_in_ones_own_set_is_allowed_and_no_set_changes_its_owner() -> None:
    story = at_table(["7 1", "2"], {0: ["7 7 looter looter"]})
    story.begin(MakeAPlay(0))
    story.says(0, "pinch a looter from set 6 of seat 0 with Coin 7")
    assert story.table() == {"hand 0": "1 looter", "hand 1": "2", "set 6 of 0": "7 7 7 looter"}
    assert [event for event in story.g.log or [] if type(event).__name__ == "Placed"] == []


def test_bl_4_2_a_second_bag_play_in_a_turn_is_refused_but_not_in_the_next() -> None:
    story = at_table(["5 6 1", "2"], {0: ["5 5 5 5"], 1: ["6 6 6 looter"]}, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 5")
    assert story.offers(0) == ["pinch a looter from set 7 of seat 1 with Coin 6", "done"]
    story.says(0, "done")
    story.says(1, "done")
    story.says(1, "let seat 0 pull a random card of your hand")
    assert "bag set 7 of seat 1 with Coin 6" in story.offers(0)


def test_bl_4_2_a_snitch_after_another_play_is_refused() -> None:
    story = at_table(["5 5 6", "2"], bags={1: ["6 6 6 6 looter"]})
    story.begin(MakeAPlay(0))
    assert "snitch on bag 6 of seat 1 with Coin 6" in story.offers(0)
    story.says(0, "open a set with 2 x Coin 5")
    assert story.offers(0) == ["done"]


def test_bl_4_3_a_looter_may_steal_and_a_set_of_four_is_taken_by_a_bag_play() -> None:
    story = at_table(["looter 8 1", "2"], {1: ["5 5", "8 8 8 8"]})
    story.begin(MakeAPlay(0))
    assert story.offers(0) == [
        "open a set with Coin 1, Looter",
        "open a set with Coin 8, Looter",
        "steal set 6 of seat 1 with Looter",
        "bag set 7 of seat 1 with Coin 8",
        "bag set 7 of seat 1 with Looter",
        "done",
    ]
    story.says(0, "steal set 6 of seat 1 with Looter")
    story.says(0, "bag set 7 of seat 1 with Coin 8")
    assert story.table() == {"hand 0": "1", "hand 1": "2", "set 6 of 0": "5 5 looter", "bag 7 of 0": "8 8 8 8 8"}


def test_bl_4_3_five_of_a_kind_are_opened_built_to_four_and_bagged() -> None:
    story = at_table(["9 9 9 9 9 1", "2"])
    story.begin(MakeAPlay(0))
    story.says(0, "open a set with 2 x Coin 9")
    story.says(0, "add Coin 9 to set 6 of seat 0")
    story.says(0, "add Coin 9 to set 6 of seat 0")
    assert story.offers(0) == ["bag set 6 of seat 0 with Coin 9", "done"]
    story.says(0, "bag set 6 of seat 0 with Coin 9")
    assert story.table() == {"hand 0": "1", "hand 1": "2", "bag 6 of 0": "9 9 9 9 9"}


def test_bl_4_4_a_right_snitch_swaps_the_coin_for_a_looter_and_the_turn_goes_on() -> None:
    story = at_table(["3 6", "2", "1"], bags={1: ["6 6 6 looter looter"]})
    story.begin(MakeAPlay(0))
    story.says(0, "snitch on bag 7 of seat 1 with Coin 6")
    assert story.table() == {"hand 0": "3 looter", "hand 1": "2", "hand 2": "1", "bag 7 of 1": "6 6 6 6 looter"}
    assert story.offers(0) == ["open a set with Coin 3, Looter", "done"]
    assert story.known(story.g.hand[0], 2) == ("looter", "")
    assert story.told(2)[2:-1] == [
        "Coin 6: from hand of seat 0 to middle",
        "Coin 6: from middle to bag 7 of seat 1",
        "Looter: from bag 7 of seat 1 to hand of seat 0",
    ]
    story.says(0, "done")
    assert story.g.waiting() == [1]  # the snitch was a play: no forfeit


def test_bl_4_4_a_right_snitch_in_ones_own_bag() -> None:
    story = at_table(["3 6", "2"], bags={0: ["6 6 6 6 looter"]})
    story.begin(MakeAPlay(0))
    story.says(0, "snitch on bag 6 of seat 0 with Coin 6")
    assert story.table() == {"hand 0": "3 looter", "hand 1": "2", "bag 6 of 0": "6 6 6 6 6"}


def test_bl_4_4_a_wrong_snitch_gives_the_coin_back_known_to_all_and_the_forfeit_is_due() -> None:
    story = at_table(["3 6", "2", "1"], bags={1: ["5 5 5 looter looter"]}, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "snitch on bag 7 of seat 1 with Coin 6")
    assert story.question() == "forfeit_a_card"
    assert story.g.waiting() == [0]
    assert [story.known(story.g.hand[0], viewer) for viewer in (1, 2, None)] == [("6", "")] * 3
    assert story.told(2)[1:] == [
        "seat 0 snitches on bag 7 of seat 1 with Coin 6",
        "Coin 6: from hand of seat 0 to middle",
        "no match in bag 7 of seat 1: the turn of seat 0 is over",
        "Coin 6: from middle to hand of seat 0",
        "asked forfeit_a_card: seat 0",
    ]
    story.says(0, "let seat 2 pull a random card of your hand")
    assert story.table() == {"hand 0": "6", "hand 1": "2", "hand 2": "1 3", "bag 7 of 1": "5 5 5 looter looter"}
    assert story.g.waiting() == [1]
    assert story.question() == "make_a_play"


def test_bl_4_4_with_the_setting_free_a_wrong_snitch_ends_the_turn_without_a_forfeit() -> None:
    story = at_table(["3 6", "2", "1"], bags={1: ["5 5 5 looter looter"]}, settings={"wrong_snitch": "free"})
    story.begin(MakeAPlay(0))
    story.says(0, "snitch on bag 7 of seat 1 with Coin 6")
    assert story.table() == {"hand 0": "3 6", "hand 1": "2", "hand 2": "1", "bag 7 of 1": "5 5 5 looter looter"}
    assert story.g.waiting() == [1]
    assert story.question() == "make_a_play"


def test_bl_4_5_the_last_card_is_forfeited_after_a_wrong_snitch_and_that_is_not_going_out() -> None:
    story = at_table(["6", "2"], bags={1: ["5 5 5 looter looter"]}, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "snitch on bag 6 of seat 1 with Coin 6")
    story.says(0, "let seat 1 pull a random card of your hand")
    assert story.table() == {"hand 1": "2 6", "bag 6 of 1": "5 5 5 looter looter"}
    assert story.question() == "make_a_play"


def test_bl_4_4_a_coin_shown_twice_is_one_card() -> None:
    story = at_table(["3 6", "2"], bags={1: ["5 5 5 looter looter"]}, settings={"wrong_snitch": "free"})
    for _ in range(2):
        story.begin(MakeAPlay(0))
        story.says(0, "snitch on bag 6 of seat 1 with Coin 6")
    assert story.known(story.g.hand[0], 1) == ("6", "")


def test_bl_4_4_snitches_are_offered_with_every_coin_on_every_bag() -> None:
    worlds = []
    for inside in ("5 5 5 looter looter", "3 3 3 3 looter"):
        story = at_table(["3 6 6", "2"], bags={0: ["1 1 1 1 1"], 1: [inside]})
        story.begin(MakeAPlay(0))
        worlds.append(story)
    assert worlds[0].offers(0) == worlds[1].offers(0)
    assert [offer for offer in worlds[0].offers(0) if "snitch" in offer] == [
        "snitch on bag 6 of seat 0 with Coin 3",
        "snitch on bag 6 of seat 0 with Coin 6",
        "snitch on bag 7 of seat 1 with Coin 3",
        "snitch on bag 7 of seat 1 with Coin 6",
    ]
    assert worlds[0].g.view(0) == worlds[1].g.view(0)


def test_bl_4_5_who_is_done_without_a_play_lets_another_pull_a_card_who_still_draws() -> None:
    story = at_table(["3 3 6", "2", "1"], draw_pile="9 8", chance=[2])
    story.begin(MakeAPlay(0))
    story.says(0, "done")
    assert story.offers(0) == [
        "let seat 1 pull a random card of your hand",
        "let seat 2 pull a random card of your hand",
    ]
    story.says(0, "let seat 1 pull a random card of your hand")
    assert story.table() == {"hand 0": "3 3", "hand 1": "2 6 8", "hand 2": "1", "draw_pile": "9"}
    assert story.told(2)[3:5] == [
        "seat 0 lets seat 1 pull a card",
        "card face down: from hand of seat 0 to hand of seat 1",
    ]
    assert "Coin 6: from hand of seat 0 to hand of seat 1" in story.told(0)
    assert "Coin 6: from hand of seat 0 to hand of seat 1" in story.told(1)


def test_bl_4_5_with_no_card_nothing_is_given() -> None:
    story = at_table(["", "2"])
    story.begin(MakeAPlay(0))
    assert story.offers(0) == ["done"]
    story.says(0, "done")
    assert story.table() == {"hand 1": "2"}
    assert story.g.waiting() == [1]


def test_bl_4_2_a_theft_is_told_with_the_owner_before_it() -> None:
    story = at_table(["5 6", "2"], {1: ["5 5 looter"]})
    story.begin(MakeAPlay(0))
    story.says(0, "steal set 6 of seat 1 with Coin 5")
    assert story.told(None)[1:4] == [
        "seat 0 steals set 6 of seat 1 with Coin 5",
        "Coin 5: from hand of seat 0 to set 6 of seat 1",
        "set 6 lies before seat 0",
    ]


def test_bl_5_2_a_bag_that_is_taken_is_told_with_the_owner_before_it() -> None:
    story = at_table(["", "2"], bags={1: ["9 9 9 9 9"]}, settings={"rounds": 2}, round=1)
    story.begin(TakeABag(0))
    story.says(0, "take bag 6 of seat 1")
    assert "seat 0 takes bag 6 of seat 1" in story.told(None)
