"""What is imagined to lie in bags that a seat cannot see into."""

from __future__ import annotations

from collections import Counter

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.imagine import imagine
from cutpurse.engine.words import FACE_DOWN
from cutpurse.games.bag_o_loot.cards import LOOTER
from cutpurse.games.bag_o_loot.hidden_bags import fill_closed_bags, fill_fifth_cards, fill_numbered_bags
from cutpurse.games.bag_o_loot.rules import BagOLoot

SEEDS = range(20)


def closed(bags: int, cards: int = 5) -> list[list[int]]:
    return [[FACE_DOWN] * cards for _ in range(bags)]


@pytest.mark.rule("BL-2.2", "BL-2.3")
@pytest.mark.parametrize(
    ("bags", "unseen"),
    [
        (1, [3, LOOTER, LOOTER, LOOTER, LOOTER]),
        (2, [3, 3, 3, 3, 3, 4, 4, 4, LOOTER, LOOTER]),  # no looter to spare for the first bag
        (2, [3, 3, 3, 3, 4, 4, 4, 4, 9, LOOTER, LOOTER]),
        (2, [3, 3, 3, 3, 3, LOOTER, LOOTER, LOOTER, LOOTER, LOOTER]),  # both of one number
        (3, [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 5, 5, 5, 5, 6, 6, 7, LOOTER]),
    ],
)
def test_bl_2_3_closed_bags_are_filled_whenever_they_can_be(bags: int, unseen: list[int]) -> None:
    for seed in SEEDS:
        filled, left = closed(bags), unseen[:]
        fill_closed_bags(filled, left, Chance(match_key("closed", seed)))
        for bag in filled:
            coins = [card for card in bag if card != LOOTER]
            assert len(bag) == 5
            assert coins
            assert len(set(coins)) == 1
        assert Counter(card for bag in filled for card in bag) + Counter(left) == Counter(unseen)


def test_bl_2_3_every_filling_that_is_possible_comes_up() -> None:
    fillings = set()
    for seed in range(300):
        filled, left = closed(1), [3, 3, 3, 3, 3, 4, 4, 4, LOOTER, LOOTER]
        fill_closed_bags(filled, left, Chance(match_key("some", seed)))
        fillings.add((filled[0].count(3), filled[0].count(4)))
    assert fillings == {(5, 0), (4, 0), (3, 0), (0, 3)}


def test_bl_2_3_cards_that_cannot_fill_the_bags_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot fill"):
        fill_closed_bags(closed(1), [3, 3, 3, 3, 4, 5, 6], Chance(match_key("no", 0)))


def test_bl_6_2_four_cards_of_a_numbered_bag_fit_its_number() -> None:
    for seed in SEEDS:
        bags = [([FACE_DOWN] * 4 + [9], 3), ([FACE_DOWN] * 5, 4), ([FACE_DOWN] * 4, 3)]
        unseen = [3, 3, 3, 3, 3, 4, 4, 4, 4, 9, 9, LOOTER, LOOTER, LOOTER]
        fill_numbered_bags(bags, unseen, Chance(match_key("numbered", seed)))
        for bag, number in bags:
            assert number in bag[:4]
            assert set(bag[:4]) <= {number, LOOTER}
        assert bags[0][0][4] == 9
        assert bags[1][0][4] == FACE_DOWN
        assert len(unseen) == 2


def test_bl_6_2_a_coin_is_left_for_each_bag_of_a_number() -> None:
    for seed in SEEDS:
        bags = [([FACE_DOWN] * 4, 3), ([FACE_DOWN] * 4, 3), ([FACE_DOWN] * 4, 4)]
        fill_numbered_bags(bags, [3, 3, 3, 4] + [LOOTER] * 9, Chance(match_key("coins", seed)))
        assert [number in bag for bag, number in bags] == [True] * 3


def test_bl_6_2_a_fifth_card_is_sometimes_genuine_and_sometimes_left_to_be_anything() -> None:
    fifths = set()
    for seed in range(60):
        bag, unseen = [3, 3, 3, LOOTER, FACE_DOWN], [3, 5, 6, LOOTER]
        fill_fifth_cards([(bag, 3)], unseen, Chance(match_key("fifth", seed)))
        fifths.add(bag[4])
        assert len(unseen) == (4 if bag[4] == FACE_DOWN else 3)
    assert fifths == {3, LOOTER, FACE_DOWN}


@pytest.mark.rule("BL-6.2", "BL-8.2")
@pytest.mark.parametrize(
    "settings", [{}, {"advanced": True}, {"bag_faces": "open"}, {"advanced": True, "bag_faces": "open"}]
)
@pytest.mark.parametrize("seats", [2, 4])
def test_bl_8_2_what_is_imagined_agrees_with_every_view(seats: int, settings: dict[str, object]) -> None:
    pick = Chance(match_key("imagine", seats))
    game = BagOLoot.new(seats, match_key("real", seats), {"rounds": 4, **settings})
    box = Counter(game.box(seats, game.settings))
    bags = 0
    while waiting := game.waiting():
        for seat in waiting:
            options = game.options(seat)
            if pick.below(4) == 0:
                for viewer in (seat, game.next_seat(seat), None):
                    other = imagine(game.view(viewer), pick)
                    assert isinstance(other, BagOLoot)
                    assert other.view(viewer) == game.view(viewer)
                    assert viewer != seat or other.options(seat) == options
                    assert Counter(card for zone in other.zones() for card in zone.cards) == box
                    for bag in [bag for side in other.bag for bag in side]:
                        assert len(set(bag.cards) - {LOOTER}) == 1
                        bags += 1
                    for bag in [bag for side in other.bluff_bag for bag in side]:
                        assert set(bag.cards[:4]) | {LOOTER} == {bag.counters[0], LOOTER}
                        bags += 1
            game.choose(seat, options[pick.below(len(options)) if pick.below(2) else 0])
    assert (bags > 0) is (settings != {"bag_faces": "open"})


@pytest.mark.rule("BL-6.3")
def test_bl_6_3_the_fifth_card_is_imagined_genuine_about_every_other_time_while_its_turn_goes_on() -> None:
    pick = Chance(match_key("the fifth card waits", 0))
    game = BagOLoot.new(3, match_key("real", 3), {"advanced": True, "rounds": 20})
    while not (game.middle.cards and game.question.name == "make_a_play"):
        for seat in game.waiting():
            options = game.options(seat)
            game.choose(seat, options[pick.below(len(options))])
    viewer = game.next_seat(game.turn_of - 1)
    number = game.bluff_bag[game.turn_of - 1][-1].counters[0]
    genuine = 0
    for _ in range(200):
        other = imagine(game.view(viewer), pick)
        assert isinstance(other, BagOLoot)
        genuine += other.middle.cards[0] in (number, LOOTER)
    assert 70 < genuine < 150  # a card of the unseen ones would fit about every tenth time
