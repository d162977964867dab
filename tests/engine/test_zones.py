"""Cards in one place, who sees them, and what viewers know of them: each rule of card knowledge once."""

from __future__ import annotations

import json

import pytest

from cutpurse.engine.words import FACE_DOWN, Visibility, Words
from cutpurse.engine.zones import Zone, ZoneView, bit
from tests.engine.toy import BLIND, CLOSED, CROWN, MOON, OPEN_PACK, PACK, STAR, SUN, Toy, empty_table

SPECTATOR = 3


def seen(toy: Toy, zone: Zone, viewer: int) -> ZoneView:
    return toy.view(None if viewer == toy.n else viewer).zone(zone.number)


def known(toy: Toy, zone: Zone) -> list[tuple[list[int], list[int]]]:
    """What seats 0, 1, 2 and the spectator know of a zone: sure and maybe."""
    pictures = [seen(toy, zone, viewer) for viewer in range(toy.n + 1)]
    return [(list(picture.known), list(picture.maybe)) for picture in pictures]


NOTHING: tuple[list[int], list[int]] = ([], [])


def test_only_the_owner_sees_a_hand_and_nobody_a_deck() -> None:
    toy = empty_table()
    toy.enter([STAR, SUN], toy.hand[1])
    toy.enter([MOON], toy.deck)
    assert [seen(toy, toy.hand[1], viewer).cards for viewer in range(4)] == [(), (SUN, STAR), (), ()]
    assert [seen(toy, toy.hand[1], viewer).size for viewer in range(4)] == [2, 2, 2, 2]
    assert [seen(toy, toy.deck, viewer).cards for viewer in range(4)] == [(), (), (), ()]


def test_an_unordered_zone_is_sorted_whenever_cards_came_and_an_ordered_one_is_not() -> None:
    toy = empty_table()
    toy.enter([STAR, SUN, MOON, SUN], toy.hand[0])
    toy.enter([STAR, SUN, MOON, SUN], toy.table)
    assert toy.hand[0].cards == [SUN, SUN, MOON, STAR]
    assert toy.table.cards == [STAR, SUN, MOON, SUN]


def test_a_card_that_enters_openly_is_remembered_by_whoever_saw_it() -> None:
    toy = empty_table()
    toy.enter([SUN], toy.table)
    toy.enter([MOON], toy.hand[0])
    toy.move(SUN, toy.table, toy.hand[1])
    toy.move(MOON, toy.hand[0], toy.hand[1])
    assert known(toy, toy.hand[1]) == [([SUN, MOON], []), NOTHING, ([SUN], []), ([SUN], [])]


def test_a_card_seen_to_leave_is_a_certain_one_before_an_uncertain_one() -> None:
    toy = empty_table()
    toy.enter([SUN], toy.hand[1], shown=toy.everyone)
    toy.enter([STAR, STAR], toy.hand[1])
    toy.move(STAR, toy.hand[1], toy.hand[2])  # seats 0 and the spectator do not see which
    toy.enter([SUN], toy.hand[1], shown=toy.everyone)
    assert known(toy, toy.hand[1])[0] == ([SUN], [SUN])
    toy.move(SUN, toy.hand[1], toy.table)
    assert known(toy, toy.hand[1])[0] == ([], [SUN])
    toy.enter([MOON], toy.hand[1])
    toy.enter([SUN], toy.hand[1])
    toy.move(SUN, toy.hand[1], toy.table)
    assert known(toy, toy.hand[1])[0] == ([], [SUN]), "it may have been the one that nobody saw come"


def test_a_card_that_leaves_unseen_makes_all_entries_uncertain_for_those_who_did_not_see_it() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    toy.move(SUN, toy.hand[0], toy.hand[1])
    assert known(toy, toy.hand[0]) == [NOTHING, ([MOON], []), ([], [SUN, MOON]), ([], [SUN, MOON])]
    assert known(toy, toy.hand[1])[0] == ([SUN], []), "who gave a card knows where it is"


def test_an_emptied_zone_holds_no_secrets() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    toy.move(SUN, toy.hand[0], toy.hand[1])
    toy.move(MOON, toy.hand[0], toy.hand[1])
    toy.enter([STAR], toy.hand[0])
    assert known(toy, toy.hand[0]) == [NOTHING] * 4


def test_a_look_replaces_what_was_known() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    toy.enter([STAR], toy.hand[0])
    toy.move(SUN, toy.hand[0], toy.hand[1])
    toy.show(toy.hand[0], [2])
    assert known(toy, toy.hand[0]) == [NOTHING, ([MOON], []), ([MOON, STAR], []), ([], [SUN, MOON])]
    toy.show(toy.hand[0])
    assert known(toy, toy.hand[0])[1:] == [([MOON, STAR], [])] * 3


def test_all_cards_at_once_take_along_what_was_known_of_them() -> None:
    toy = empty_table()
    toy.enter([SUN], toy.hand[0], shown=toy.everyone)
    toy.enter([STAR], toy.hand[0])
    toy.move_all(toy.hand[0], toy.blind)
    assert known(toy, toy.blind) == [([SUN, STAR], []), ([SUN], []), ([SUN], []), ([SUN], [])]
    assert known(toy, toy.hand[0]) == [NOTHING] * 4
    toy.move_all(toy.blind, toy.deck)
    assert known(toy, toy.deck) == [NOTHING] * 4, "the deck is not remembered"
    assert toy.deck.cards == [SUN, STAR]


def test_two_hands_exchanged_are_known_to_who_gave_them() -> None:
    toy = empty_table()
    toy.enter([SUN], toy.hand[0], shown=toy.everyone)
    toy.enter([MOON], toy.hand[0])
    toy.enter([STAR], toy.hand[1])
    toy.exchange(toy.hand[0], toy.hand[1])
    assert (toy.hand[0].cards, toy.hand[1].cards) == ([STAR], [SUN, MOON])
    assert known(toy, toy.hand[0]) == [NOTHING, ([STAR], []), NOTHING, NOTHING]
    assert known(toy, toy.hand[1]) == [([SUN, MOON], []), NOTHING, ([SUN], []), ([SUN], [])]


def test_a_pack_hides_one_card_from_those_who_never_held_it() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0])
    pack = toy.make(PACK, 0)
    toy.move(SUN, toy.hand[0], pack)
    toy.move(MOON, toy.hand[0], pack, shown=toy.everyone)
    assert [seen(toy, pack, viewer).cards for viewer in range(4)] == [
        (SUN, MOON),
        (FACE_DOWN, MOON),
        (FACE_DOWN, MOON),
        (FACE_DOWN, MOON),
    ]
    toy.place(pack, PACK, 2)
    assert [seen(toy, pack, viewer).cards[0] for viewer in range(4)] == [SUN, FACE_DOWN, SUN, FACE_DOWN]
    assert (toy.pack[0], toy.pack[2]) == ([], [pack])
    toy.show(pack)
    assert {seen(toy, pack, viewer).cards for viewer in range(4)} == {(SUN, MOON)}


def test_a_card_keeps_who_saw_it_when_it_leaves_a_pack() -> None:
    toy = empty_table()
    toy.enter([SUN], toy.hand[0])
    pack = toy.make(PACK, 0)
    toy.move(SUN, toy.hand[0], pack)
    toy.move_top(pack, toy.hand[1])
    assert known(toy, toy.hand[1]) == [([SUN], []), NOTHING, NOTHING, NOTHING]
    toy.drop(pack)
    assert toy.pack == [[], [], []]


def test_a_zone_keeps_its_number_and_counters_where_it_goes() -> None:
    toy = empty_table()
    first, second = toy.make(PACK, 1), toy.make(PACK, 1)
    toy.enter([SUN], first)
    toy.count_zone(first, 0, 5)
    number = first.number
    toy.place(first, PACK, 1)
    assert [zone.number for zone in toy.pack[1]] == [second.number, number], "the last is the top"
    toy.place(first, PACK, 0)
    assert (toy.zone(number), toy.zone(number).counters) == (first, [5])
    with pytest.raises(KeyError):
        toy.zone(99)


def test_what_all_saw_is_known_when_it_is_turned_over_as_another_kind() -> None:
    toy = empty_table()
    pack = toy.make(OPEN_PACK, 1)
    toy.enter([SUN, MOON], pack)
    toy.place(pack, CLOSED, 0)
    assert [seen(toy, pack, viewer).cards for viewer in range(4)] == [()] * 4
    assert known(toy, pack) == [([SUN, MOON], [])] * 4
    toy.place(pack, OPEN_PACK, 2)
    assert [seen(toy, pack, viewer).cards for viewer in range(4)] == [(SUN, MOON)] * 4
    assert known(toy, pack) == [NOTHING] * 4
    toy.place(pack, PACK, 2)
    assert pack.masks == [toy.everyone] * 2


def test_a_zone_with_cards_is_not_dropped_and_only_kinds_with_many_are_made() -> None:
    toy = empty_table()
    pack = toy.make(PACK, 0)
    toy.enter([SUN], pack)
    with pytest.raises(AssertionError, match="dropped with cards"):
        toy.drop(pack)
    with pytest.raises(AssertionError, match="many=True"):
        toy.make(BLIND, 0)


def test_columns_lie_on_their_card_and_move_along() -> None:
    toy = empty_table()
    toy.enter([SUN], toy.table)
    toy.move(SUN, toy.table, toy.purse[0], columns=(7,))
    toy.enter([SUN, MOON], toy.purse[0])
    toy.count_card(toy.purse[0], 2, 0, 4)
    assert (toy.purse[0].cards, toy.purse[0].columns) == ([SUN, SUN, MOON], [[0, 7, 4]])
    toy.move_at(1, toy.purse[0], toy.purse[1])
    toy.move_at(1, toy.purse[0], toy.purse[1], columns=(1,))
    assert (toy.purse[1].cards, toy.purse[1].columns) == ([SUN, MOON], [[7, 1]])
    assert seen(toy, toy.purse[1], 1).columns == ((7, 1),)
    assert seen(toy, toy.purse[1], 0).columns == ()
    toy.move_all(toy.purse[1], toy.table)
    assert toy.table.cards == [SUN, MOON]


def test_a_random_card_goes_by_place() -> None:
    toy = empty_table(3, 1)
    toy.enter([SUN, MOON, CROWN], toy.hand[0])
    assert toy.move_random(toy.hand[0], toy.hand[1]) == MOON


def test_a_new_deal_clears_the_table() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    pack = toy.make(PACK, 0)
    toy.enter([STAR], pack)
    toy.enter([STAR], toy.purse[1])
    toy.open_deal(2)
    assert toy.chance.deal == 2
    assert all((zone.cards, zone.runs, zone.clues) == ([], (), ()) for zone in toy.zones())
    assert toy.pack == [[], [], []]
    toy.enter([STAR], toy.hand[0])
    assert known(toy, toy.hand[0]) == [NOTHING] * 4
    assert toy.make(PACK, 0).number > pack.number, "a number is used once in a match"


def test_a_picture_is_kept_until_the_zone_changes() -> None:
    toy = empty_table()
    toy.enter([SUN], toy.hand[0])
    before = seen(toy, toy.hand[0], 1)
    assert seen(toy, toy.hand[0], 1) is before
    fork = toy.fork()
    fork.enter([MOON], fork.hand[0])
    assert seen(fork, fork.hand[0], 1).size == 2
    assert seen(toy, toy.hand[0], 1) is before
    toy.enter([MOON], toy.hand[0])
    assert (before.size, seen(toy, toy.hand[0], 1).size) == (1, 2)


def test_everything_about_a_zone_is_saved() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=bit(2))
    toy.move(SUN, toy.hand[0], toy.hand[1], shown=bit(SPECTATOR))
    pack = toy.make(PACK, 2)
    toy.enter([STAR], pack, shown=bit(0))
    toy.count_zone(pack, 0, 3)
    toy.enter([CROWN], toy.purse[1])
    toy.count_card(toy.purse[1], 0, 0, 8)
    loaded = Toy.load(json.loads(json.dumps(toy.save())))
    assert loaded.save() == toy.save()
    assert [loaded.view(viewer) for viewer in (0, 1, 2, None)] == [toy.view(viewer) for viewer in (0, 1, 2, None)]


def test_a_kind_of_mixed_visibility_needs_an_order() -> None:
    with pytest.raises(ValueError, match="mixed visibility needs an order"):
        Words("no", "No", "NO", "1", range(2, 3)).zone("bad", "bad", "", Visibility.MIXED)
