"""Bag-O-Loot: conventions, components and terms, and how a round is set up."""

from __future__ import annotations

from collections import Counter

import pytest

from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import SettingsError
from cutpurse.games.bag_o_loot.cards import CHALLENGE, COPIES, LOOTER, NUMBERS, SET, WORDS
from cutpurse.games.bag_o_loot.rules import (
    BagOLoot,
    BagOLootSettings,
    ChallengeTheBag,
    EndTheRound,
    ForfeitACard,
    MakeAPlay,
    SetUpARound,
    ShowTheFifthCard,
    TakeABag,
)
from tests.games.bag_o_loot.table import ADVANCED, at_table


# -- conventions
def test_bl_0_1_equal_copies_are_one_option_and_the_turn_goes_clockwise() -> None:
    story = at_table(["7 7 7", "1", "2"], {1: ["7 7"]})
    story.begin(MakeAPlay(0))
    assert story.offers(0) == ["open a set with 2 x Coin 7", "steal set 7 of seat 1 with Coin 7", "done"]
    story.says(0, "steal set 7 of seat 1 with Coin 7")
    story.says(0, "done")
    assert story.g.waiting() == [1]


@pytest.mark.parametrize(("drawn", "challenger"), [(0, 0), (1, 1)])
def test_bl_0_2_chance_draws_one_of_those_who_challenge_and_the_others_stay_secret(drawn: int, challenger: int) -> None:
    sets = {0: ["1 1"], 1: ["2 2"], 2: ["5 5 5 5"], 3: ["3 3"]}
    story = at_table(["1", "2", "5 9", "3"], sets, settings=ADVANCED, chance=[drawn])
    story.begin(MakeAPlay(2))
    story.says(2, "bag set 10 of seat 2 with Coin 9")
    story.says(2, "done")
    assert story.question() == "challenge_the_bag"
    assert story.g.waiting() == [0, 1, 3]
    before = len(story.told(1))
    story.says(1, "challenge bag 10 of seat 2")
    story.says(3, "pass")
    assert story.told(1)[before:] == []
    story.says(0, "challenge bag 10 of seat 2")
    assert [zone.number for zone in story.g.bluff_bag[challenger]] == [10]
    silent = 1 - challenger
    assert [line for line in story.told(2)[before:-1] if f"seat {silent}" in line or "seat 3" in line] == []
    assert f"seat {challenger} challenges bag 10 of seat 2" in story.told(2)


@pytest.mark.rule("BL-0.2")
def test_bl_0_2_all_who_challenge_are_drawn_equally_often() -> None:
    caught: Counter[int | None] = Counter()
    for deal in range(600):
        game = BagOLoot.new(4, match_key("challengers", deal), ADVANCED)
        for seat in (0, 2, 3):
            game.count_zone(game.make(SET, seat), 0, 1)
        bag = game.make(game.bag_kind, 1)
        game.move(game.hand[1].cards[0], game.hand[1], game.middle)
        ChallengeTheBag(1, bag.number).closed(game, dict.fromkeys((0, 2, 3), Option(CHALLENGE, zone=bag.number)))
        step = game.agenda[-1]
        assert isinstance(step, ShowTheFifthCard)
        caught[step.challenger] += 1
    assert set(caught) == {0, 2, 3}
    assert min(caught.values()) > 150  # 200 each on average, more than four standard deviations away


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
        ([0, 5, 0, 9], {}, 2),  # with two bags seat 2 has twenty
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
