"""Imagined worlds come up as often as they should: drawn with fixed seeds, and held against what is counted here.

A share of so many draws lies within five standard errors of its probability, so that a right draw hardly ever fails
with another seed, and one that is some percent off always does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from itertools import permutations, product
from math import comb, sqrt
from random import Random

import pytest

from cutpurse.engine.card_assignment import fit, weighted
from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.clues import Spread
from cutpurse.engine.imagine import Worlds, _has_a_way, imagine, share_knowledge
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN
from cutpurse.games import GAMES
from cutpurse.games.steal_and_plunder.cards import FITS, POWERS
from cutpurse.games.steal_and_plunder.rules import StealAndPlunder
from cutpurse.games.stolen_treasure.cards import BLACK_SPOT, LAST_TREASURE
from cutpurse.games.stolen_treasure.rules import StolenTreasure
from tests.engine.toy import CROWN, MOON, STAR, SUN, empty_table
from tests.properties.random_play import EVERY_TABLE, RandomGame, answer_at_random

DRAWS = 4000
ERRORS = 5


def check_shares(drawn: Mapping[Hashable, int], expected: Mapping[Hashable, float]) -> None:
    """`expected` are probabilities, `drawn` how often each came up in DRAWS draws."""
    assert not drawn.keys() - expected.keys()
    for what, share in expected.items():
        error = sqrt(share * (1 - share) / DRAWS)
        count = drawn.get(what, 0)
        assert abs(count / DRAWS - share) <= ERRORS * error + 1e-9, f"{what}: {count} times, not {share * DRAWS:.0f}"


def shares(ways: Counter[Hashable]) -> dict[Hashable, float]:
    return {what: count / ways.total() for what, count in ways.items()}


def unseen(view: View) -> list[int]:
    """The cards that the viewer neither sees nor knows."""
    left = Counter(view.rules.box(view.seats, view.settings))
    for zone in view.zones:
        left.subtract(card for card in (*zone.cards, *zone.known) if card != FACE_DOWN)
    return list(left.elements())


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_many_states_of_a_view_are_those_drawn_one_by_one(name: str, seats: int) -> None:
    """Each of them is played on before the next is drawn, which must not change it."""
    play, random = RandomGame(GAMES[name], seats, 1), Random(1)
    for step, game in enumerate(play.play(play.begin())):
        if step % 23 == 0:
            view = game.view(random.choice([*range(seats), None]))
            alone, together, worlds = Chance(bytes(32)), Chance(bytes(32)), Worlds(view)
            for _ in range(3):
                state, again = worlds.draw(together), imagine(view, alone)
                assert state.save() == again.save()
                assert [state.view(seat) for seat in range(seats)] == [again.view(seat) for seat in range(seats)]
                for _ in range(20):
                    if state.waiting():
                        state.choose(*answer_at_random(state, random))
            assert together.below(1000) == alone.below(1000)
        if step > 200:
            return


def test_a_view_with_more_hidden_places_than_cards_is_refused() -> None:
    game = empty_table()
    game.enter([SUN, MOON], game.deck)
    view = game.view(0)
    with pytest.raises(ValueError, match=r"^\d+ unseen cards are to fill 2 places$"):
        Worlds(view)


def test_cards_that_fit_are_dealt_in_every_way_equally_often() -> None:
    able = [frozenset(faces) for faces in ((1, 9), (2, 9), (1, 9), (1, 2, 3, 9))]
    cards = [1, 1, 2, 9, 9, 3]
    ways = Counter[Hashable](
        deal for deal in permutations(cards, 4) if all(card in faces for card, faces in zip(deal, able, strict=True))
    )
    rng, drawn = Chance(bytes(32)), Counter[Hashable]()
    for _ in range(DRAWS):
        left = cards[:]
        rng.shuffle(left)
        deal = fit(able, left, rng)
        assert sorted([*deal, *left]) == sorted(cards)
        drawn[tuple(deal)] += 1
    check_shares(drawn, shares(ways))


def test_cards_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="cannot lie"):
        fit([frozenset((1, 2))] * 2 + [frozenset((2, 3))], [1, 2, 4, 4], Chance(bytes(32)))


def test_a_choice_is_as_likely_as_it_weighs_beyond_what_fits_into_a_word() -> None:
    rng = Chance(bytes(32))
    drawn = Counter[Hashable](weighted([("a", 10**30), ("b", 0), ("c", 3 * 10**30)], rng) for _ in range(DRAWS))
    check_shares(drawn, {"a": 0.25, "c": 0.75})


def hidden_partners(game: StealAndPlunder) -> list[int]:
    """The numbers of the packs of which seat 0 does not see a card."""
    return [zone.number for zone in game.view(0).zones if zone.kind.many and FACE_DOWN in zone.cards]


def test_sp_7_2_partners_are_as_likely_as_in_a_shuffle_that_agrees_with_all_packs() -> None:
    game = StealAndPlunder.new(4, match_key("partners", 1))
    while len(hidden_partners(game)) < 4:
        seat = game.waiting()[0]
        game.choose(seat, game.options(seat)[0])  # a pair, if there is one
    view = game.view(0)
    packs = hidden_partners(game)
    industries = [view.zone(number).cards[-1] for number in packs]
    copies = list(enumerate(unseen(view)))  # each a card of its own
    fits = [[copy for copy in copies if copy[1] in FITS[industry]] for industry in industries]
    ways = [Counter[Hashable]() for _ in packs]
    for deal in product(*fits):
        if len(set(deal)) == len(deal):
            for counts, (_, card) in zip(ways, deal, strict=True):
                counts[card] += 1
    rng = Chance(bytes(32))
    drawn = [Counter[Hashable]() for _ in packs]
    for _ in range(DRAWS):
        zones = {zone.number: zone for zone in imagine(view, rng).zones()}
        for counts, number in zip(drawn, packs, strict=True):
            counts[zones[number].cards[view.zone(number).cards.index(FACE_DOWN)]] += 1
    for counts, possible in zip(drawn, ways, strict=True):
        check_shares(counts, shares(possible))


def test_sp_7_2_a_betrayed_hand_has_as_many_power_cards_as_hands_that_have_so_many() -> None:
    game = StealAndPlunder.new(3, match_key("betrayed", 1))
    game.sure_powers = [0, 2, 1]
    view = game.view(0)
    left = unseen(view)
    powers = sum(card in POWERS for card in left)
    ways = Counter[Hashable]()
    for one, other in product(range(2, 6), range(1, 6)):
        others = len(left) - powers
        ways[one, other] = (
            comb(powers, one) * comb(others, 5 - one) * comb(powers - one, other) * comb(others - 5 + one, 5 - other)
        )
    rng, drawn = Chance(bytes(32)), Counter[Hashable]()
    for _ in range(DRAWS):
        state = imagine(view, rng)
        assert isinstance(state, StealAndPlunder)
        drawn[tuple([sum(card in POWERS for card in state.hand[seat].cards) for seat in (1, 2)])] += 1
    check_shares(drawn, shares(ways))


def test_st_7_2_a_reason_is_as_likely_as_among_hands_that_have_one() -> None:
    """Seat 1 has buried enough without a win, and holds two treasure cards and two piracy cards."""
    game = StolenTreasure.new(2, match_key("reason", 1), {"start_piracy": 2, "first_seat": 0})
    for _ in range(3):
        game.move(game.treasure_pile_1.cards[-1], game.treasure_pile_1, game.treasure_hand[1], columns=(0,))
    game.buried_total[1] = game.settings.target
    view = game.view(0)
    left = unseen(view)
    treasure = [card for card in left if card <= LAST_TREASURE]
    piracy = len(left) - len(treasure)
    assert BLACK_SPOT in left
    bad = [card for card in treasure if game.value[card] < 0]
    good_hands = comb(len(treasure) - len(bad), 3) / comb(len(treasure), 3)
    spot = 2 / piracy
    reason = 1 - good_hands * (1 - spot)
    rng, drawn = Chance(bytes(32)), Counter[Hashable]()
    for _ in range(DRAWS):
        state = imagine(view, rng)
        assert isinstance(state, StolenTreasure)
        is_bad = any(state.value[card] < 0 for card in state.treasure_hand[1].cards)
        drawn[state.has_the_spot(1), is_bad] += 1
    check_shares(
        drawn,
        {
            (True, False): spot * good_hands / reason,
            (True, True): spot * (1 - good_hands) / reason,
            (False, True): (1 - spot) * (1 - good_hands) / reason,
        },
    )


def where_it_lies(view: View, zones: list[int], card: int) -> Counter[Hashable]:
    """In which of these zones a card lies in imagined worlds, and how often."""
    rng, drawn = Chance(bytes(32)), Counter[Hashable]()
    for _ in range(DRAWS):
        state = imagine(view, rng)
        drawn[next(number for number in zones if card in state.zone(number).cards)] += 1
    return drawn


def test_a_card_that_left_unseen_is_equally_likely_to_be_any_of_its_hand() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON, CROWN], toy.hand[0], shown=toy.everyone)
    toy.enter([STAR] * 4, toy.hand[1])
    toy.enter([SUN] * 3 + [MOON] * 3, toy.deck)
    toy.move(SUN, toy.hand[0], toy.hand[1])
    here, there = toy.hand[0].number, toy.hand[1].number
    check_shares(where_it_lies(toy.view(2), [here, there], CROWN), {here: 2 / 3, there: 1 / 3})


def test_a_spread_with_unknown_cards_is_laid_in_every_way_equally_often() -> None:
    toy = empty_table()
    toy.enter([CROWN], toy.hand[0], shown=toy.everyone)
    toy.enter([STAR] * 3, toy.hand[0])
    toy.enter([SUN] * 4 + [MOON] * 4 + [STAR], toy.deck)
    toy.move(STAR, toy.hand[0], toy.hand[1])
    here, there = toy.hand[0].number, toy.hand[1].number
    check_shares(where_it_lies(toy.view(2), [here, there], CROWN), {here: 3 / 4, there: 1 / 4})


def test_possibilities_are_as_likely_as_they_have_ways() -> None:
    """Of hands of two known cards each, one card went from the first to the second, and one from there to the third."""
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    toy.enter([STAR, CROWN], toy.hand[1], shown=toy.everyone)
    toy.enter([SUN] * 3 + [MOON] * 3 + [STAR] * 3, toy.deck)
    toy.move(SUN, toy.hand[0], toy.hand[1])
    toy.move(STAR, toy.hand[1], toy.blind)
    (possibilities,) = toy.view(None).clues
    assert len(possibilities) == 2  # what went on is what had come, or one of the two that were there
    zones = [toy.hand[1].number, toy.blind.number]
    check_shares(where_it_lies(toy.view(None), zones, CROWN), {zones[0]: 2 / 3, zones[1]: 1 / 3})


# -- what others may know
def test_others_know_of_a_hand_what_the_viewer_knows() -> None:
    """In Stolen Treasure all see each treasure card drawn, so the assumption is the truth."""
    game = StolenTreasure.new(4, match_key("shared", 1))
    for _ in range(60):
        seat = game.waiting()[0]
        game.choose(seat, game.options(seat)[0])  # draw treasure
    view = game.view(0)
    state = imagine(view, Chance(bytes(32)))
    hands = [hand.number for hand in game.treasure_hand]
    assert all(len(view.zone(hand).known) == view.zone(hand).size > 0 for hand in hands[1:])
    assert not any(state.view(1).zone(hand).known for hand in hands)
    share_knowledge(state, view, Chance(bytes(32)))
    for viewer in range(4):
        assert [state.view(viewer).zone(hand).known for hand in hands] == [
            game.view(viewer).zone(hand).known for hand in hands
        ]
    assert state.view(0) == view


def test_others_know_as_large_a_share_of_my_cards_as_i_know_of_theirs() -> None:
    game = empty_table(3)
    game.enter([STAR] * 4, game.hand[0])
    game.enter([SUN, MOON], game.hand[1])
    game.enter([SUN, MOON], game.hand[2])
    game.enter([SUN, SUN, MOON, MOON, CROWN], game.deck)
    game.show(game.hand[1], seats=(0,))
    view = game.view(0)
    assert [len(view.of("hand", seat)[0].known) for seat in (1, 2)] == [2, 0]
    rng, drawn = Chance(bytes(32)), Counter[Hashable]()
    for _ in range(DRAWS):
        state = imagine(view, rng)
        share_knowledge(state, view, rng)
        assert state.view(0) == view
        assert state.view(2).of("hand", 1)[0].known == (SUN, MOON)
        drawn[len(state.view(1).of("hand", 0)[0].known)] += 1
    check_shares(drawn, {count: comb(4, count) / 2**4 for count in range(5)})


@pytest.mark.parametrize(
    ("faces", "unknown", "can_lie"),
    [
        ((1, 2), 0, True),  # more cards than places: one lies elsewhere, either of them
        ((1, LAST_TREASURE + 1), 0, True),
        ((LAST_TREASURE + 1, LAST_TREASURE + 2), 0, False),
        ((LAST_TREASURE + 1,), 1, True),  # the unknown card lies there
        ((1,), 0, True),
        ((LAST_TREASURE + 1,), 0, False),
    ],
)
def test_cards_of_a_clue_that_have_no_place_lie_elsewhere(faces: tuple[int, ...], unknown: int, can_lie: bool) -> None:
    game = StolenTreasure.new(2, match_key("reason", 1), {})
    spread = Spread(faces, unknown, ((game.treasure_hand[0].number, 1),))
    assert _has_a_way(game, spread) is can_lie
