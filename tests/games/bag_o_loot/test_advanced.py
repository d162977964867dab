"""Bag-O-Loot: advanced play, with bags that bluff, challenges and ditched cards."""

from __future__ import annotations

import pytest

from cutpurse.engine.errors import SettingsError
from cutpurse.games.bag_o_loot.rules import (
    BagOLoot,
    MakeAPlay,
    TakeABag,
)
from tests.games.bag_o_loot.table import ADVANCED, ONE_ROUND, at_table


def test_bl_6_1_in_advanced_play_there_is_no_pinch_and_no_snitch() -> None:
    story = at_table(["5 6", "2"], {1: ["5 5 looter"]}, {1: ["9 9 9 9 9"]}, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    assert story.offers(0) == ["steal set 6 of seat 1 with Coin 5", "done"]


def test_bl_6_2_the_fifth_card_may_be_any_and_only_who_laid_it_sees_it() -> None:
    story = at_table(["5 6 looter", "2"], {1: ["5 5 5 looter"]}, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    assert [offer for offer in story.offers(0) if offer.startswith("bag")] == [
        "bag set 6 of seat 1 with Coin 5",
        "bag set 6 of seat 1 with Coin 6",
        "bag set 6 of seat 1 with Looter",
    ]
    story.says(0, "bag set 6 of seat 1 with Coin 6")
    bag = story.g.bluff_bag[0][0]
    assert story.table()["bluff_bag 6 of 0"] == "5 5 5 looter"
    assert [story.seen(story.g.middle, viewer) for viewer in (0, 1, None)] == ["6", "?", "?"]
    story.says(0, "done")  # nobody else owns anything now: no challenge
    assert story.table()["bluff_bag 6 of 0"] == "5 5 5 looter 6"
    assert bag.counters == [5]
    assert [story.seen(bag, viewer) for viewer in (0, 1, None)] == ["? ? ? ? 6", "? ? ? ? ?", "? ? ? ? ?"]
    assert story.told(1)[1:] == [
        "seat 0 bags set 6 of seat 1 with card face down",
        "bag 6 lies before seat 0",
        "card face down: from hand of seat 0 to middle",
        "asked make_a_play: seat 0",
        "seat 0 is done",
        "card face down: from middle to bag 6 of seat 0",
        "asked make_a_play: seat 1",
    ]
    assert "seat 0 bags set 6 of seat 1 with Coin 6" in story.told(0)


def test_bl_6_2_a_bag_keeps_its_number_and_its_secret_when_it_changes_hands() -> None:
    story = at_table(["5 6 6", "2 2", "1"], {0: ["5 5 5 5"]}, settings=ADVANCED | ONE_ROUND, round=1)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 7 of seat 0 with Coin 6")
    story.says(0, "done")
    story.begin(TakeABag(1))
    bag = story.g.bluff_bag[0][0]
    story.says(1, "take bag 7 of seat 0")
    assert bag.owner == 1
    assert bag.counters == [5]
    assert [story.seen(bag, viewer) for viewer in (0, 1, 2)] == ["? ? ? ? 6", "? ? ? ? ?", "? ? ? ? ?"]


def test_bl_6_3_a_bluff_on_anothers_set_is_caught_when_the_turn_is_over() -> None:
    story = at_table(["5 6 1", "2", "3"], {1: ["5 5 5 5", "2 2"], 2: ["3 3"]}, settings=ADVANCED, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 7 of seat 1 with Coin 6")
    assert story.question() == "make_a_play"
    story.says(0, "done")
    assert story.question() == "challenge_the_bag"
    assert story.g.waiting() == [1, 2]
    story.says(1, "challenge bag 7 of seat 0")
    story.says(2, "pass")
    bag = story.g.bluff_bag[1][0]
    assert story.table() == {
        "hand 0": "1 5",
        "hand 1": "2",
        "hand 2": "3",
        "set 8 of 1": "2 2",
        "set 9 of 2": "3 3",
        "bluff_bag 7 of 1": "5 5 5 5 6",
    }
    assert [story.seen(bag, viewer) for viewer in (0, 1, 2)] == ["? ? ? ? 6", "? ? ? ? 6", "? ? ? ? ?"]
    assert "bag 7 of seat 0 is a bluff of seat 0" in story.told(2)
    assert "seat 1 sees middle: card face down" in story.told(2)
    assert "seat 1 sees middle: Coin 6" in story.told(1)
    assert story.g.waiting() == [1]  # the bag play counts, caught or not: no forfeit
    assert story.question() == "make_a_play"


def test_bl_6_3_what_was_played_after_a_bluff_that_is_caught_is_kept() -> None:
    sets = {0: ["5 5 5 5"], 1: ["2 2", "3 3"]}
    story = at_table(["1 2 5 7 7", "9"], sets, draw_pile="8", settings=ADVANCED, chance=[0])
    story.begin(MakeAPlay(0))
    for play in (
        "bag set 6 of seat 0 with Coin 1",
        "steal set 7 of seat 1 with Coin 2",
        "open a set with 2 x Coin 7",
        "ditch Coin 5 on bag 6 of seat 0",  # its number is on show, whatever the fifth card is
        "done",
    ):
        story.says(0, play)
    story.says(1, "challenge bag 6 of seat 0")
    assert story.table() == {
        "hand 0": "8",
        "hand 1": "9",
        "ditched": "5",
        "set 7 of 0": "2 2 2",
        "set 9 of 0": "7 7",
        "set 8 of 1": "3 3",
        "bluff_bag 6 of 1": "5 5 5 5 1",
    }


def test_bl_6_3_a_second_bag_play_is_refused_while_the_first_bag_waits() -> None:
    story = at_table(["5 6 1", "2"], {0: ["5 5 5 5", "6 6 6 6"], 1: ["2 2"]}, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 1")
    assert not [offer for offer in story.offers(0) if offer.startswith("bag")]


def test_bl_6_3_who_has_lost_the_last_set_in_the_turn_of_the_bag_is_not_asked() -> None:
    story = at_table(["2 6 9", "2", "3"], {0: ["5 5 5 5"], 1: ["2 2"], 2: ["3 3"]}, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 7 of seat 0 with Coin 6")
    story.says(0, "steal set 8 of seat 1 with Coin 2")
    story.says(0, "done")
    assert story.g.waiting() == [2]


def test_bl_6_3_genuine_and_the_challenger_has_only_open_sets() -> None:
    story = at_table(["5 6", "2"], {0: ["5 5 5 5"], 1: ["2 2", "3 looter"]}, settings=ADVANCED, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 5")
    story.says(0, "done")
    story.says(1, "challenge bag 6 of seat 0")
    assert story.question() == "take_your_reward"
    assert story.offers(0) == ["take all open sets of seat 1"]
    assert story.safe(0) == "take all open sets of seat 1"
    story.says(0, "take all open sets of seat 1")
    assert story.table() == {
        "hand 0": "6",
        "hand 1": "2",
        "set 7 of 0": "2 2",
        "set 8 of 0": "3 looter",
        "bluff_bag 6 of 0": "5 5 5 5 5",
    }
    assert "bag 6 of seat 0 is genuine" in story.told(None)
    assert story.question() == "make_a_play"
    assert story.g.waiting() == [1]


def test_bl_6_3_a_looter_is_genuine_and_the_reward_may_be_one_bag() -> None:
    bags = {1: ["9 9 9 9 8", "8 8 8 8 8"]}
    story = at_table(["looter 6", "2", "1"], {0: ["5 5 5 5"], 1: ["2 2"]}, bags, settings=ADVANCED, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 7 of seat 0 with Looter")
    story.says(0, "done")
    assert story.g.waiting() == [1]  # seat 2 owns nothing
    story.says(1, "challenge bag 7 of seat 0")
    assert story.offers(0) == ["take bag 9 of seat 1", "take bag 10 of seat 1", "take all open sets of seat 1"]
    assert story.safe(0) == "take bag 9 of seat 1"
    story.says(0, "take bag 10 of seat 1")
    assert [zone.number for zone in story.g.bluff_bag[0]] == [7, 10]
    assert story.table()["set 8 of 1"] == "2 2"
    assert story.seen(story.g.bluff_bag[0][0], 1) == "? ? ? ? looter"


def test_bl_6_3_nobody_who_owns_something_nobody_is_asked() -> None:
    story = at_table(["5 6", "2", "3"], {1: ["5 5 5 5"]}, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 7 of seat 1 with Coin 5")  # the set just completed is no longer seat 1's
    story.says(0, "done")
    assert story.g.waiting() == [1]
    assert story.question() == "make_a_play"


def test_bl_6_3_what_is_announced_while_a_bag_can_be_challenged() -> None:
    story = at_table(["5 6", "2"], {0: ["5 5 5 5"], 1: ["2 2"]}, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 6")
    for _ in ("while the turn goes on", "while it is challenged"):
        (pending,) = story.g.view(1).pending
        assert (pending.actor, pending.zone, pending.cards) == (0, 6, (0,))
        assert story.seen(story.g.middle, 0) == "6"
        assert story.seen(story.g.middle, 1) == "?"
        if story.question() == "make_a_play":
            story.says(0, "done")
    assert story.question() == "challenge_the_bag"
    assert story.safe(1) == "pass"


def test_bl_6_3_options_and_polls_do_not_tell_a_bluff_from_a_genuine_bag() -> None:
    seen = []
    for fifth in ("5", "6"):
        story = at_table([f"{fifth} 9", "2"], {0: ["5 5 5 5"], 1: ["2 2"]}, settings=ADVANCED)
        story.begin(MakeAPlay(0))
        story.says(0, f"bag set 6 of seat 0 with Coin {fifth}")
        story.says(0, "done")
        before = story.g.view(1).to_bytes(), story.told(1), story.offers(1)
        story.says(1, "pass")
        seen.append((before, story.g.view(1).to_bytes(), story.told(1)))
    assert seen[0] == seen[1]


def test_bl_6_4_an_unchallenged_bluff_counts_and_all_bags_are_opened_at_the_end_of_the_round() -> None:
    story = at_table(["6 6 9", "2"], {0: ["5 5 5 5"], 1: ["2 2"]}, settings=ADVANCED | ONE_ROUND, round=1)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 9")
    story.says(0, "open a set with 2 x Coin 6")  # the last cards: the turn is over, and the challenge comes first
    assert story.question() == "challenge_the_bag"
    assert "seat 0 goes out" not in story.told(None)
    story.all_pass()
    assert story.question() == ""
    assert "seat 0 goes out" in story.told(None)
    assert story.g.total == [12, 2]
    assert story.seen(story.g.bluff_bag[0][0], 1) == "5 5 5 5 9"
    assert "everybody sees bag 6 of seat 0: 4 x Coin 5, Coin 9" in story.told(None)


@pytest.mark.rule("BL-6.5")
@pytest.mark.parametrize(("hand", "last_play"), [("6", ""), ("6 7 7", "open a set with 2 x Coin 7")])
def test_bl_6_5_who_goes_out_with_a_caught_bluff_takes_a_bag_but_not_that_one(hand: str, last_play: str) -> None:
    bags = {1: ["9 9 9 9 9"], 2: ["8 8 8 8 8"]}
    settings = ADVANCED | ONE_ROUND
    story = at_table([hand, "2", "3"], {0: ["5 5 5 5"]}, bags, settings=settings, round=1, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 7 of seat 0 with Coin 6")
    if last_play:
        story.says(0, last_play)
    story.says(1, "challenge bag 7 of seat 0")
    story.says(2, "pass")
    assert story.question() == "take_a_bag"
    assert story.offers(0) == ["take bag 8 of seat 1", "take bag 9 of seat 2"]
    assert story.safe(0) == "take bag 8 of seat 1"  # the caught bag counts for its new owner
    story.says(0, "take bag 9 of seat 2")
    assert story.g.total == [10 + (2 if last_play else 0), 20, 0]


def test_bl_6_5_a_caught_bag_that_is_the_only_one_of_the_others_brings_no_bonus() -> None:
    settings = ADVANCED | ONE_ROUND
    story = at_table(["6", "2"], {0: ["5 5 5 5"], 1: ["2 2"]}, settings=settings, round=1, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 6")
    story.says(1, "challenge bag 6 of seat 0")
    assert story.question() == ""
    assert story.g.total == [0, 12]


@pytest.mark.rule("BL-6.5")
@pytest.mark.parametrize("answer", ["pass", "challenge bag 6 of seat 0"])
def test_bl_6_5_going_out_with_a_bag_play_that_stands_brings_the_bonus(answer: str) -> None:
    bags = {1: ["9 9 9 9 9", "8 8 8 8 8"]}
    story = at_table(["5", "2"], {0: ["5 5 5 5"]}, bags, settings=ADVANCED | ONE_ROUND, round=1, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 5")
    story.says(1, answer)
    if answer != "pass":
        assert story.question() == "take_your_reward"
        story.says(0, "take bag 7 of seat 1")
    assert story.question() == "take_a_bag"
    story.says(0, "take bag 8 of seat 1")
    assert story.g.total == ([20, 10] if answer == "pass" else [30, 0])


def test_bl_6_6_a_coin_of_a_bags_number_is_ditched_for_a_card_once_a_turn() -> None:
    bags = {1: ["5 5 5 looter 7", "6 6 6 6 6"]}
    story = at_table(["5 5 7 looter", "2"], bags=bags, draw_pile="9 8", settings=ADVANCED)
    story.begin(MakeAPlay(0))
    assert [offer for offer in story.offers(0) if "ditch" in offer] == ["ditch Coin 5 on bag 6 of seat 1"]
    story.says(0, "ditch Coin 5 on bag 6 of seat 1")
    assert story.table() == {
        "hand 0": "5 7 8 looter",
        "hand 1": "2",
        "draw_pile": "9",
        "ditched": "5",
        "bluff_bag 6 of 1": "5 5 5 looter 7",
        "bluff_bag 7 of 1": "6 6 6 6 6",
    }
    assert not [offer for offer in story.offers(0) if "ditch" in offer]
    story.says(0, "done")
    assert story.g.waiting() == [1]  # it was a play: no forfeit
    assert story.seen(story.g.ditched, 1) == "5"


def test_bl_6_6_unlimited_ditches() -> None:
    settings = {"advanced": True, "ditch_per_turn": "unlimited"}
    story = at_table(["5 5 7", "2"], bags={1: ["5 5 5 looter 7"]}, draw_pile="9 8", settings=settings)
    story.begin(MakeAPlay(0))
    story.says(0, "ditch Coin 5 on bag 6 of seat 1")
    story.says(0, "ditch Coin 5 on bag 6 of seat 1")
    assert story.table()["ditched"] == "5 5"
    assert story.table()["hand 0"] == "7 8 9"


def test_bl_6_6_a_ditch_with_an_empty_pile_may_go_out_and_with_a_pile_it_does_not() -> None:
    for pile, out in (("", True), ("9", False)):
        settings = ADVANCED | ONE_ROUND
        story = at_table(["5", "2"], bags={0: ["5 5 5 looter 7"]}, draw_pile=pile, settings=settings, round=1)
        story.begin(MakeAPlay(0))
        story.says(0, "ditch Coin 5 on bag 6 of seat 0")
        assert (story.question() == "") is out
        assert story.table()["ditched"] == "5"


def test_bl_6_6_the_setting_0_forbids_ditching() -> None:
    settings = {"advanced": True, "ditch_per_turn": 0}
    story = at_table(["5 5 7", "2"], bags={1: ["5 5 5 looter 7"]}, draw_pile="9 8", settings=settings)
    story.begin(MakeAPlay(0))
    assert story.offers(0) == ["open a set with 2 x Coin 5", "done"]
    assert story.g.settings.changed() == {"advanced": "true", "ditch_per_turn": "0"}


def test_bl_6_6_the_setting_allows_none_one_or_unlimited() -> None:
    with pytest.raises(SettingsError, match="unlimited, 0 to 1"):
        BagOLoot.new(4, settings={"ditch_per_turn": 2})
