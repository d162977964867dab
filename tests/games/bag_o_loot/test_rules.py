"""Bag-O-Loot, rule by rule, told at the table.

Sets and bags are numbered as they are made, after the three zones of the table and the hands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.errors import SettingsError
from cutpurse.engine.zones import Zone
from cutpurse.games.bag_o_loot.cards import BLUFF_BAG, COPIES, LOOTER, NUMBERS, SET, WORDS
from cutpurse.games.bag_o_loot.rules import (
    LONGEST_ROUND,
    BagOLoot,
    BagOLootSettings,
    EndTheRound,
    ForfeitACard,
    MakeAPlay,
    SetUpARound,
    TakeABag,
    TakeATurn,
)
from tests.games.story import Story

ADVANCED: dict[str, object] = {"advanced": True}
ONE_ROUND: dict[str, object] = {"rounds": 1}


def at_table(
    hand: Sequence[str],
    sets: Mapping[int, Sequence[str]] | None = None,
    bags: Mapping[int, Sequence[str]] | None = None,
    *,
    draw_pile: str = "",
    ditched: str = "",
    settings: Mapping[str, object] | None = None,
    chance: Sequence[int] = (),
    **counters: int | list[int],
) -> Story[BagOLoot]:
    """A story with these hands, and these sets and bags before the seats that own them; the sets are made first."""
    story = Story(
        BagOLoot, len(hand), {"draw_pile": draw_pile, "ditched": ditched, "hand": hand}, settings, chance, **counters
    )
    for seat, own in (sets or {}).items():
        for cards in own:
            lay(story, story.g.make(SET, seat), cards)
    for seat, own in (bags or {}).items():
        for cards in own:
            lay(story, story.g.make(story.g.bag_kind, seat), cards)
    return story


def lay(story: Story[BagOLoot], zone: Zone, cards: str) -> None:
    """A set or bag, in the order the cards were laid; of a bag with a bluff nobody knows any card."""
    story.lay(zone, cards, seers=0 if zone.kind is BLUFF_BAG else None)
    if zone.counters:
        zone.counters[0] = next(int(card) for card in cards.split() if card != "looter")


# -- conventions
def test_bl_0_1_equal_copies_are_one_option_and_the_turn_goes_clockwise() -> None:
    story = at_table(["7 7 7", "1", "2"], {1: ["7 7"]})
    story.begin(MakeAPlay(0))
    assert story.offers(0) == ["open a set with 2 x Coin 7", "steal set 7 of seat 1 with Coin 7", "done"]
    story.says(0, "steal set 7 of seat 1 with Coin 7")
    story.says(0, "done")
    assert story.g.waiting() == [1]


def test_bl_0_2_the_first_clockwise_of_those_who_challenge_acts_and_the_others_stay_secret() -> None:
    story = at_table(["1", "2", "5 9", "3"], {0: ["1 1"], 1: ["2 2"], 2: ["5 5 5 5"], 3: ["3 3"]}, settings=ADVANCED)
    story.begin(MakeAPlay(2))
    story.says(2, "bag set 10 of seat 2 with Coin 9")
    assert story.question() == "challenge_the_bag"
    assert story.g.waiting() == [0, 1, 3]
    before = len(story.told(1))
    story.says(1, "challenge bag 10 of seat 2")
    story.says(3, "pass")
    assert story.told(1)[before:] == []
    story.says(0, "challenge bag 10 of seat 2")
    assert [zone.number for zone in story.g.bluff_bag[0]] == [10]  # seat 3 passed, seat 1 sits further round the table
    assert [line for line in story.told(2)[before:] if "seat 1" in line or "seat 3" in line] == []
    assert "seat 0 challenges bag 10 of seat 0" in story.told(2)


def test_bl_0_2_left_of_the_challenged_player_comes_before_seat_0() -> None:
    story = at_table(["1", "5 9", "3"], {0: ["1 1"], 1: ["5 5 5 5"], 2: ["3 3"]}, settings=ADVANCED)
    story.begin(MakeAPlay(1))
    story.says(1, "bag set 8 of seat 1 with Coin 9")
    story.says(0, "challenge bag 8 of seat 1")
    story.says(2, "challenge bag 8 of seat 1")
    assert [zone.number for zone in story.g.bluff_bag[2]] == [8]


def test_bl_0_3_a_looter_seen_entering_a_hand_is_known_until_a_card_leaves_unseen() -> None:
    story = at_table(["7 3", "9", "4"], {1: ["7 looter"]}, chance=[0])
    story.begin(MakeAPlay(0))
    story.says(0, "pinch a looter from set 7 of seat 1 with Coin 7")
    hand = story.g.hand[0]
    assert [story.known(hand, viewer) for viewer in (1, 2, None)] == [("looter", "")] * 3
    story.begin(ForfeitACard(0))
    story.says(0, "let seat 1 pull a random card of your hand")
    assert story.table()["hand 1"] == "3 9"
    assert story.known(hand, 1) == ("looter", "")  # who pulled the card saw that it was another
    assert story.known(hand, 2) == ("", "looter")
    assert story.known(story.g.hand[1], 0) == ("3", "")
    story.g.move(LOOTER, hand, story.g.set[1][0])
    assert story.known(hand, 2) == ("", "")


def test_bl_0_3_a_known_card_laid_openly_is_known_no_more_and_one_laid_face_down_makes_unsure() -> None:
    story = at_table(["", "1"], {0: ["2 2 2 2"], 1: ["3 3"]}, settings=ADVANCED)
    story.lay(story.g.hand[0], "3 9 looter", seers=story.g.everyone)
    story.begin(MakeAPlay(0))
    story.says(0, "steal set 7 of seat 1 with Coin 3")
    assert story.known(story.g.hand[0], 1) == ("9 looter", "")
    story.says(0, "bag set 6 of seat 0 with Coin 9")
    assert story.known(story.g.hand[0], 1) == ("", "9 looter")


def test_bl_0_4_the_safe_answers() -> None:
    story = at_table(["7 7", "1", "2"], chance=[0])
    story.begin(MakeAPlay(0))
    assert story.safe(0) == "done"
    story.says(0, "done")
    assert story.safe(0) == "let seat 1 pull a random card of your hand"


@pytest.mark.rule("BL-0.4")
@pytest.mark.parametrize(
    ("total", "sets", "owner"),
    [
        ([0, 5, 0, 9], {}, 2),  # with his two bags seat 2 has twenty
        ([0, 5, 9, 20], {}, 3),
        ([0, 5, 9, 19], {}, 2),  # seat 3 has as many points and sits further round the table
        ([0, 5, 9, 19], {3: ["1 1"]}, 3),
        ([0, 50, 9, 9], {}, 2),  # seat 1 leads and has no bag
    ],
)
def test_bl_0_4_for_going_out_the_safe_answer_is_the_oldest_bag_of_who_has_most_points(
    total: list[int], sets: dict[int, list[str]], owner: int
) -> None:
    bags = {0: ["1 1 1 1 1"], 2: ["2 2 2 2 2", "3 3 3 3 3"], 3: ["4 4 4 4 4"]}
    story = at_table(["", "1", "2", "3"], sets, bags, total=total)
    story.begin(TakeABag(0))
    assert story.safe(0) == f"take bag {story.g.bag[owner][0].number} of seat {owner}"


# -- components and terms
def test_bl_1_1_five_coins_of_sixteen_numbers_and_five_looters() -> None:
    box = BagOLoot.box(4, BagOLootSettings())
    assert Counter(box) == Counter({**dict.fromkeys(NUMBERS, COPIES), LOOTER: 5})
    assert len(box) == 85
    assert [WORDS.cards[card - 1].value for card in NUMBERS] == list(range(1, 17))


@pytest.mark.rule("BL-1.2")
@pytest.mark.parametrize(
    ("seats", "highest", "looters", "cards", "pile"),
    [(2, 12, 3, 63, 47), (3, 14, 4, 74, 50), (4, 16, 5, 85, 53), (5, 16, 5, 85, 45), (8, 16, 5, 85, 21)],
)
def test_bl_1_2_the_deck_by_number_of_players(seats: int, highest: int, looters: int, cards: int, pile: int) -> None:
    box = BagOLoot.box(seats, BagOLootSettings())
    assert len(box) == cards
    assert box.count(LOOTER) == looters
    assert max(card for card in box if card != LOOTER) == highest
    story = at_table([""] * seats)
    story.begin(SetUpARound(0))
    assert len(story.g.draw_pile.cards) == pile - 1  # the first player has drawn


@pytest.mark.rule("BL-1.3")
@pytest.mark.parametrize("seats", [1, 9])
def test_bl_1_3_two_to_eight_players(seats: int) -> None:
    with pytest.raises(SettingsError, match="2 to 8 players"):
        BagOLoot.new(seats)
    assert BagOLoot.new(2).waiting()
    assert BagOLoot.new(8).waiting()


@pytest.mark.rule("BL-2.1", "BL-2.2")
def test_bl_2_2_a_set_needs_a_coin_and_looters_alone_are_none() -> None:
    story = at_table(["3 looter looter", "1"])
    story.begin(MakeAPlay(0))
    assert story.offers(0) == ["open a set with Coin 3, Looter", "done"]
    story.says(0, "open a set with Coin 3, Looter")
    assert story.table() == {"hand 0": "looter", "hand 1": "1", "set 6 of 0": "3 looter"}
    assert story.g.set[0][0].counters == [3]


def test_bl_2_2_the_number_of_a_set_stays_when_looters_join_it() -> None:
    story = at_table(["8 looter", "1"], {1: ["8 looter looter"]})
    story.begin(MakeAPlay(0))
    story.says(0, "steal set 6 of seat 1 with Looter")
    assert story.table()["set 6 of 0"] == "8 looter looter looter"
    assert story.g.set[0][0].counters == [8]
    assert "bag set 6 of seat 0 with Coin 8" in story.offers(0)


def test_bl_2_3_a_bag_is_five_cards_face_down_before_its_owner() -> None:
    story = at_table(["7 3", "1"], {0: ["7 7 7 looter"]})
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 7")
    assert story.table() == {"hand 0": "3", "hand 1": "1", "bag 6 of 0": "7 7 7 7 looter"}
    picture = story.g.view(1).of("bag", 0)[0]
    assert (picture.size, picture.cards, picture.known, picture.counters) == (5, (), (), ())


def test_bl_2_4_a_looter_matches_every_set_but_is_no_coin() -> None:
    story = at_table(["looter 9", "1"], {1: ["5 looter"]}, {1: ["6 6 6 6 looter"]})
    story.begin(MakeAPlay(0))
    assert story.offers(0) == [
        "open a set with Coin 9, Looter",
        "steal set 6 of seat 1 with Looter",
        "snitch on bag 7 of seat 1 with Coin 9",
        "done",
    ]


def test_bl_2_5_two_sets_of_one_number_lie_side_by_side_and_each_is_named() -> None:
    story = at_table(["4 4 4 9", "1"], {0: ["4 looter"]})
    story.begin(MakeAPlay(0))
    story.says(0, "open a set with 2 x Coin 4")
    assert story.offers(0) == [
        "add Coin 4 to set 6 of seat 0",
        "pinch a looter from set 6 of seat 0 with Coin 4",
        "add Coin 4 to set 7 of seat 0",
        "done",
    ]
    story.says(0, "add Coin 4 to set 7 of seat 0")
    assert story.table() == {"hand 0": "9", "hand 1": "1", "set 6 of 0": "4 looter", "set 7 of 0": "4 4 4"}


# -- the match, and the set-up of a round
@pytest.mark.rule("BL-3.1")
@pytest.mark.parametrize(
    ("given", "rounds"), [({}, 3), ({"rounds": "players"}, 3), ({"rounds": 1}, 1), ({"rounds": 5}, 5)]
)
def test_bl_3_1_as_many_rounds_as_agreed_by_default_one_for_each_player(given: dict[str, object], rounds: int) -> None:
    story = at_table(["", "", ""], settings=given, round=rounds - 1, dealer=1)
    story.begin(EndTheRound(0))
    assert story.g.round == rounds
    story.begin(EndTheRound(0))
    assert story.g.waiting() == []
    assert story.told(None)[-1].startswith("the end")


def test_bl_3_1_an_impossible_number_of_rounds_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(SettingsError, match="it can be: players, 1 to 20"):
        BagOLoot.new(4, settings={"rounds": 21})


def test_bl_3_2_the_first_dealer_is_random_and_the_deal_passes_to_the_left() -> None:
    story = at_table(["", "", ""], chance=[2])
    story.g.begin()
    story.g.settle()
    assert story.counters() == {"round": 1, "dealer": 3, "turn_of": 1, "turns": 1}
    story.begin(EndTheRound(1))
    assert story.counters() == {"round": 2, "dealer": 1, "turn_of": 2, "turns": 1}


def test_bl_3_3_eight_cards_each_the_rest_is_the_pile_and_the_left_of_the_dealer_begins() -> None:
    story = at_table(["", ""])
    story.begin(SetUpARound(0))
    assert story.table()["hand 0"] == "10 10 11 11 12 12 12 looter"
    assert story.table()["hand 1"] == "10 10 11 11 11 12 12 looter looter"  # eight and the draw of the first turn
    assert len(story.g.draw_pile.cards) == 63 - 17
    assert story.g.waiting() == [1]


def test_bl_3_3_the_cards_dealt_are_seen_by_their_owner_only() -> None:
    story = at_table(["", "", ""])
    story.begin(SetUpARound(2))
    view = story.g.view(1)
    assert [len(zone.cards) for seat in range(3) for zone in view.of("hand", seat)] == [0, 8, 0]
    assert view.of("draw_pile")[0].cards == ()


# -- the turn
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


def test_bl_4_4_a_wrong_snitch_gives_the_coin_back_known_to_all_and_ends_the_turn_without_a_forfeit() -> None:
    story = at_table(["3 6", "2", "1"], bags={1: ["5 5 5 looter looter"]})
    story.begin(MakeAPlay(0))
    story.says(0, "snitch on bag 7 of seat 1 with Coin 6")
    assert story.table() == {"hand 0": "3 6", "hand 1": "2", "hand 2": "1", "bag 7 of 1": "5 5 5 looter looter"}
    assert story.g.waiting() == [1]
    assert story.question() == "make_a_play"
    assert [story.known(story.g.hand[0], viewer) for viewer in (1, 2, None)] == [("6", "")] * 3
    assert story.told(2)[1:] == [
        "seat 0 snitches on bag 7 of seat 1 with Coin 6",
        "Coin 6: from hand of seat 0 to middle",
        "no match in bag 7 of seat 1: the turn of seat 0 is over",
        "Coin 6: from middle to hand of seat 0",
        "asked make_a_play: seat 1",
    ]


def test_bl_4_4_a_coin_shown_twice_is_one_card() -> None:
    story = at_table(["3 6", "2"], bags={1: ["5 5 5 looter looter"]})
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
    story = at_table(["4", "2"], bags={1: ["9 9 9 9 9"]}, settings=ONE_ROUND, round=1, chance=[0, 0, 0])
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
    assert story.g.total == [0, 10]
    assert "nobody has played for two turns each: the round is over" in story.told(None)


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


# -- advanced play
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
    story.says(0, "bag set 6 of seat 1 with Coin 6")  # nobody else owns anything now: no challenge
    bag = story.g.bluff_bag[0][0]
    assert story.table()["bluff_bag 6 of 0"] == "5 5 5 looter 6"
    assert bag.counters == [5]
    assert [story.seen(bag, viewer) for viewer in (0, 1, None)] == ["? ? ? ? 6", "? ? ? ? ?", "? ? ? ? ?"]
    assert story.told(1)[1:] == [
        "seat 0 bags bag 6 of seat 0 with card face down",
        "bag 6 lies before seat 0",
        "card face down: from hand of seat 0 to middle",
        "card face down: from middle to bag 6 of seat 0",
        "asked make_a_play: seat 0",
    ]
    assert "seat 0 bags bag 6 of seat 0 with Coin 6" in story.told(0)


def test_bl_6_2_a_bag_keeps_its_number_and_its_secret_when_it_changes_hands() -> None:
    story = at_table(["5 6 6", "2 2", "1"], {0: ["5 5 5 5"]}, settings=ADVANCED | ONE_ROUND, round=1)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 7 of seat 0 with Coin 6")
    story.begin(TakeABag(1))
    bag = story.g.bluff_bag[0][0]
    story.says(1, "take bag 7 of seat 0")
    assert bag.owner == 1
    assert bag.counters == [5]
    assert [story.seen(bag, viewer) for viewer in (0, 1, 2)] == ["? ? ? ? 6", "? ? ? ? ?", "? ? ? ? ?"]


def test_bl_6_3_a_bluff_on_anothers_set_is_caught_and_the_turn_goes_on() -> None:
    story = at_table(["5 6 1", "2", "3"], {1: ["5 5 5 5", "2 2"], 2: ["3 3"]}, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 7 of seat 1 with Coin 6")
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
    assert "bag 7 of seat 1 is a bluff of seat 0" in story.told(2)
    assert "seat 1 sees middle: card face down" in story.told(2)
    assert "seat 1 sees middle: Coin 6" in story.told(1)
    assert story.g.waiting() == [0]
    assert story.g.bag_plays == 1
    story.says(0, "done")
    assert story.g.waiting() == [1]  # the bag play counts: no forfeit


def test_bl_6_3_after_a_caught_bluff_the_bag_play_is_used_up() -> None:
    story = at_table(["5 6 1", "2"], {0: ["5 5 5 5", "6 6 6 6"], 1: ["2 2"]}, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 1")
    story.says(1, "challenge bag 6 of seat 0")
    assert not [offer for offer in story.offers(0) if offer.startswith("bag")]


def test_bl_6_3_genuine_and_the_challenger_has_only_open_sets() -> None:
    story = at_table(["5 6", "2"], {0: ["5 5 5 5"], 1: ["2 2", "3 looter"]}, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 5")
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


def test_bl_6_3_a_looter_is_genuine_and_the_reward_may_be_one_bag() -> None:
    bags = {1: ["9 9 9 9 8", "8 8 8 8 8"]}
    story = at_table(["looter 6", "2", "1"], {0: ["5 5 5 5"], 1: ["2 2"]}, bags, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 7 of seat 0 with Looter")
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
    assert story.g.waiting() == [0]
    assert story.question() == "make_a_play"


def test_bl_6_3_what_is_announced_while_a_bag_can_be_challenged() -> None:
    story = at_table(["5 6", "2"], {0: ["5 5 5 5"], 1: ["2 2"]}, settings=ADVANCED)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 6")
    view = story.g.view(1)
    (pending,) = view.pending
    assert (pending.actor, pending.zone, pending.cards) == (0, 6, (0,))
    assert story.seen(story.g.middle, 0) == "6"
    assert story.seen(story.g.middle, 1) == "?"
    assert story.safe(1) == "pass"


def test_bl_6_3_options_and_polls_do_not_tell_a_bluff_from_a_genuine_bag() -> None:
    seen = []
    for fifth in ("5", "6"):
        story = at_table([f"{fifth} 9", "2"], {0: ["5 5 5 5"], 1: ["2 2"]}, settings=ADVANCED)
        story.begin(MakeAPlay(0))
        story.says(0, f"bag set 6 of seat 0 with Coin {fifth}")
        before = story.g.view(1).to_bytes(), story.told(1), story.offers(1)
        story.says(1, "pass")
        seen.append((before, story.g.view(1).to_bytes(), story.told(1)))
    assert seen[0] == seen[1]


def test_bl_6_4_an_unchallenged_bluff_counts_and_all_bags_are_opened_at_the_end_of_the_round() -> None:
    story = at_table(["6 6 9", "2"], {0: ["5 5 5 5"], 1: ["2 2"]}, settings=ADVANCED | ONE_ROUND, round=1)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 9")
    story.all_pass()
    story.says(0, "open a set with 2 x Coin 6")
    assert story.question() == ""
    assert story.g.total == [12, 2]
    assert story.seen(story.g.bluff_bag[0][0], 1) == "5 5 5 5 9"
    assert "everybody sees bag 6 of seat 0: 4 x Coin 5, Coin 9" in story.told(None)


def test_bl_6_5_going_out_on_a_caught_bluff_ends_the_round_without_a_bonus() -> None:
    bags = {1: ["9 9 9 9 9"]}
    story = at_table(["6", "2"], {0: ["5 5 5 5"]}, bags, settings=ADVANCED | ONE_ROUND, round=1)
    story.begin(MakeAPlay(0))
    story.says(0, "bag set 6 of seat 0 with Coin 6")
    assert story.question() == "challenge_the_bag"  # before going out takes effect
    story.says(1, "challenge bag 6 of seat 0")
    assert story.question() == ""
    assert story.table() == {"hand 1": "2", "bluff_bag 7 of 1": "9 9 9 9 9", "bluff_bag 6 of 1": "5 5 5 5 6"}
    assert story.g.total == [0, 20]


@pytest.mark.rule("BL-6.5")
@pytest.mark.parametrize("answer", ["pass", "challenge bag 6 of seat 0"])
def test_bl_6_5_going_out_with_a_bag_play_that_stands_brings_the_bonus(answer: str) -> None:
    bags = {1: ["9 9 9 9 9", "8 8 8 8 8"]}
    story = at_table(["5", "2"], {0: ["5 5 5 5"]}, bags, settings=ADVANCED | ONE_ROUND, round=1)
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
    settings = {"advanced": True, "ditch_per_turn": "0"}
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


def test_bl_6_6_the_setting_allows_one_or_unlimited() -> None:
    with pytest.raises(SettingsError, match="unlimited, 0 to 1"):
        BagOLoot.new(4, settings={"ditch_per_turn": 2})


# -- why it ends, and who sees what
@pytest.mark.rule("BL-7.1")
@pytest.mark.parametrize("settings", [{}, ADVANCED, {"advanced": True, "ditch_per_turn": 0}])
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
        assert 8 < most < LONGEST_ROUND / 10


def test_bl_7_1_a_round_beyond_its_bound_is_an_error() -> None:
    story = at_table(["1", "2"], turns=LONGEST_ROUND - 1)
    with pytest.raises(AssertionError):
        story.begin(TakeATurn(0))


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
    assert "Coin 7: from hand of seat 0 to bag 6 of seat 0" in story.told(1)


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
    bag = story.g.bluff_bag[0][0]
    assert story.seen(bag, 0) == "7 7 7 looter 6"
    assert story.seen(bag, 1) == "7 7 7 looter ?"
