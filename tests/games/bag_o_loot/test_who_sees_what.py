"""Bag-O-Loot: what is told of a bag, and for how long it is seen."""

from __future__ import annotations

from cutpurse.games.bag_o_loot.rules import (
    MakeAPlay,
    TakeABag,
)
from tests.games.bag_o_loot.table import ONE_ROUND, at_table


def test_bl_8_1_a_bag_stays_the_same_bag_when_it_changes_its_owner() -> None:
    story = at_table(["", "2", "3"], bags={1: ["9 9 9 9 9", "8 8 8 8 looter"]}, settings=ONE_ROUND, round=1)
    story.begin(TakeABag(0))
    story.says(0, "take bag 8 of seat 1")
    assert [zone.number for zone in story.g.view(2).of("bag", 0)] == [8]
    assert [zone.number for zone in story.g.view(2).of("bag", 1)] == [7]
    assert "bag 8 lies before seat 0" in story.told(2)


def test_bl_8_2_a_bag_is_told_once_and_then_face_down_for_all_its_owner_too() -> None:
    story = at_table(["7 3", "1"], {1: ["7 7 7 looter"]})
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 1 with Coin 7")
    bag = story.g.bag[0][0]
    assert [story.seen(bag, viewer) for viewer in (0, 1, None)] == ["", "", ""]
    assert [story.known(bag, viewer) for viewer in (0, 1, None)] == [("", "")] * 3
    assert "Coin 7: from hand of seat 0 to set 6 of seat 1" in story.told(1)


def test_bl_8_2_open_bags_stay_visible() -> None:
    story = at_table(["7 3", "7"], {1: ["7 7 looter looter"]}, settings={"bag_faces": "open"}, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 1 with Coin 7")
    bag = story.g.bag_open[0][0]
    assert [story.seen(bag, viewer) for viewer in (0, 1, None)] == ["7 7 7 looter looter"] * 3
    assert bag.counters == [7]
    story.says(0, "done")
    story.says(1, "snitch on bag 6 of seat 0 with Coin 7")
    assert story.seen(bag, None) == "7 7 7 7 looter"


def test_bl_8_2_in_advanced_play_open_bags_hide_their_fifth_card() -> None:
    settings = {"advanced": True, "bag_faces": "open"}
    story = at_table(["6 3", "1"], {1: ["7 7 7 looter"]}, settings=settings)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 1 with Coin 6")
    story.says(0, "done")
    bag = story.g.bluff_bag[0][0]
    assert story.seen(bag, 0) == "7 7 7 looter 6"
    assert story.seen(bag, 1) == "7 7 7 looter ?"
