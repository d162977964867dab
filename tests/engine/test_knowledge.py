"""Card knowledge: what can be proved is known, and nothing more. Each rule of the mechanism once, then the three cases.

The reasoner in `tests/properties` is the check for whole games.
"""

from __future__ import annotations

from collections import Counter

from cutpurse.engine.chance import Chance
from cutpurse.engine.clues import Clue, Spread, ways
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import imagine
from cutpurse.engine.table import MOST_COPIED
from cutpurse.engine.zones import Zone
from cutpurse.games.stolen_treasure.rules import StolenTreasure
from tests.engine.toy import CROWN, MOON, OPEN_PACK, PACK, STAR, SUN, Toy, empty_table
from tests.games.stolen_treasure.tale import begin, lay, nobody_answers

WORLDS = 200


def known(toy: Toy, zone: Zone, viewer: int | None) -> tuple[list[int], list[int]]:
    """What a viewer knows to lie in a zone, and what may lie there."""
    picture = toy.view(viewer).zone(zone.number)
    return list(picture.known), list(picture.maybe)


def test_a_card_out_of_equal_known_cards_is_known_where_it_goes() -> None:
    toy = empty_table()
    toy.enter([SUN, SUN, SUN], toy.hand[0], shown=toy.everyone)
    toy.move(SUN, toy.hand[0], toy.hand[1])
    assert known(toy, toy.hand[0], 2) == ([SUN, SUN], [])
    assert known(toy, toy.hand[1], 2) == ([SUN], [])
    assert toy.view(2).clues == ()


def test_a_card_out_of_known_cards_is_one_of_them_until_it_is_seen() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON, STAR], toy.hand[0], shown=toy.everyone)
    toy.move(MOON, toy.hand[0], toy.hand[1])
    assert known(toy, toy.hand[0], 2) == ([], [SUN, MOON, STAR])
    assert known(toy, toy.hand[1], 2) == ([], [SUN, MOON, STAR])
    assert known(toy, toy.hand[0], 1) == ([SUN, STAR], [])
    toy.move(MOON, toy.hand[1], toy.table)
    assert known(toy, toy.hand[0], 2) == ([SUN, STAR], []), "the rest of the hand is settled"


def test_a_face_with_more_copies_than_places_elsewhere_is_certain() -> None:
    toy = empty_table()
    toy.enter([SUN, SUN, MOON], toy.hand[0], shown=toy.everyone)
    toy.move(MOON, toy.hand[0], toy.hand[1])
    assert known(toy, toy.hand[0], 2) == ([SUN], [SUN, MOON])


def test_a_zone_that_is_emptied_card_by_card_has_all_its_cards_elsewhere() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    toy.enter([STAR], toy.hand[1])
    for card in (MOON, SUN):
        toy.move(card, toy.hand[0], toy.hand[1])
    assert known(toy, toy.hand[1], 2) == ([SUN, MOON], [])


def test_another_copy_may_have_been_the_card_that_was_seen() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    toy.enter([SUN], toy.hand[1])
    toy.move(MOON, toy.hand[0], toy.hand[1])
    toy.move(SUN, toy.hand[1], toy.table)  # that one was there before
    assert known(toy, toy.hand[0], 2) == ([], [SUN, MOON])


def test_no_other_copy_can_be_the_card_that_was_seen_if_all_are_accounted_for() -> None:
    toy = empty_table()
    toy.enter([SUN] * 3, toy.table)
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    toy.enter([STAR], toy.hand[1])
    toy.move(SUN, toy.hand[0], toy.hand[1])
    toy.move(SUN, toy.hand[1], toy.table)
    assert known(toy, toy.hand[0], 2) == ([MOON], [])


def test_a_copy_in_the_hand_of_one_seat_tells_the_others_nothing() -> None:
    toy = empty_table()
    toy.enter([SUN, SUN], toy.table)
    toy.enter([SUN], toy.hand[2])
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    toy.enter([STAR], toy.hand[1])
    toy.move(SUN, toy.hand[0], toy.hand[1])
    toy.move(SUN, toy.hand[1], toy.table)
    assert known(toy, toy.hand[0], 2) == ([MOON], []), "no other copy can have been there"
    assert known(toy, toy.hand[0], None) == ([], [SUN, MOON])


def test_a_card_that_is_none_of_the_clues_leaves_less_room_for_theirs() -> None:
    toy = empty_table()
    toy.enter([SUN, STAR], toy.hand[0], shown=toy.everyone)
    toy.enter([MOON], toy.hand[1])
    toy.move(SUN, toy.hand[0], toy.hand[1])
    toy.move(SUN, toy.hand[1], toy.hand[2])  # to spectators this can be the other card, too
    assert known(toy, toy.hand[1], None) == ([], [SUN, STAR])
    toy.move(MOON, toy.hand[1], toy.table)
    places = (toy.hand[0].number, 1), (toy.hand[2].number, 1)
    assert toy.view(None).clues == (((Spread((SUN, STAR), 0, places),),),), "the other hand is empty"


def test_a_card_that_goes_into_a_deck_leaves_the_rest_uncertain_for_good() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON, STAR], toy.hand[0], shown=toy.everyone)
    toy.move(MOON, toy.hand[0], toy.deck)
    assert known(toy, toy.hand[0], 2) == ([], [SUN, MOON, STAR])
    assert known(toy, toy.deck, 2) == ([], []), "a deck is not remembered"
    assert toy.view(2).clues == (((Spread((SUN, MOON, STAR), 0, ((toy.hand[0].number, 2),)),),),)


def test_a_hidden_card_of_a_pack_is_known_if_it_can_be_nothing_else() -> None:
    toy = empty_table()
    toy.enter([SUN, SUN], toy.hand[0], shown=toy.everyone)
    pack = toy.make(PACK, 0)
    toy.move(SUN, toy.hand[0], pack)
    lay_the_rest(toy, [toy.deck])
    assert toy.view(2).zone(pack.number).values()[4:7] == ((0,), (SUN,), ())
    assert imagine(toy.view(2), Chance(bytes(32))).zone(pack.number).cards == [SUN]
    toy.show(pack)
    assert toy.view(2).zone(pack.number).values()[4:7] == ((SUN,), (), ())


def test_what_is_turned_face_up_settles_the_clues_on_it() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    pack = toy.make(PACK, 0)
    toy.move(SUN, toy.hand[0], pack)
    early = toy.fork()
    assert known(early, early.hand[0], 2) == ([], [SUN, MOON])
    for game in (early, toy):  # the second works the move off when the pack lies open already
        game.place(game.zone(pack.number), OPEN_PACK, 1)
        assert known(game, game.hand[0], 2) == ([MOON], [])


def test_exchanged_zones_take_their_clues_along() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    toy.enter([STAR], toy.hand[1])
    toy.move(SUN, toy.hand[0], toy.blind)
    toy.exchange(toy.hand[0], toy.hand[1])
    assert known(toy, toy.hand[1], 2) == ([], [SUN, MOON])
    assert known(toy, toy.hand[0], 2) == ([], [])
    assert known(toy, toy.blind, 1) == ([SUN], []), "seat 1 now sees which card was left"


def test_a_fork_works_the_knowledge_log_off_for_itself() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON, STAR], toy.hand[0], shown=toy.everyone)
    toy.move(MOON, toy.hand[0], toy.hand[1])
    fork = toy.fork()
    fork.move(MOON, fork.hand[1], fork.table)
    assert toy.notes == fork.notes[: len(toy.notes)], "the fork has the log of its origin, and what happened since"
    assert known(fork, fork.hand[0], 2) == ([SUN, STAR], [])
    assert not fork.notes
    assert toy.notes
    assert known(toy, toy.hand[0], 2) == ([], [SUN, MOON, STAR])


def test_a_fork_does_not_copy_a_long_knowledge_log() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON], toy.hand[0], shown=toy.everyone)
    for _ in range(MOST_COPIED // 4 + 1):
        toy.move(MOON, toy.hand[0], toy.hand[1])
        toy.move(MOON, toy.hand[1], toy.hand[0])
    assert len(toy.notes) > MOST_COPIED
    fork = toy.fork()
    assert not toy.notes
    assert not fork.notes
    assert known(fork, fork.hand[0], 2) == known(toy, toy.hand[0], 2) == ([SUN, MOON], [])


def test_clues_are_saved_and_forked() -> None:
    toy = empty_table()
    toy.enter([SUN, MOON, STAR], toy.hand[0], shown=toy.everyone)
    toy.move(MOON, toy.hand[0], toy.hand[1])
    for other in (toy.fork(), Toy.load(toy.save())):
        assert other.view(2) == toy.view(2)
        other.move(MOON, other.hand[1], other.table)
        assert known(other, other.hand[0], 2) == ([SUN, STAR], [])
    assert known(toy, toy.hand[0], 2) == ([], [SUN, MOON, STAR])


def test_it_does_not_matter_when_somebody_looks() -> None:
    seldom, often = empty_table(), empty_table()
    for toy in (seldom, often):
        for card, src, dst in ((SUN, 0, 1), (CROWN, 1, 2), (MOON, 0, 2), (SUN, 1, 0)):
            if not toy.hand[0].cards and not toy.hand[1].cards:
                toy.enter([SUN, MOON, STAR], toy.hand[0], shown=toy.everyone)
                toy.enter([CROWN, STAR], toy.hand[1], shown=toy.everyone)
            toy.move(card, toy.hand[src], toy.hand[dst])
            if toy is often:
                toy.view(None)
    assert [often.view(viewer) for viewer in (0, 1, 2, None)] == [seldom.view(viewer) for viewer in (0, 1, 2, None)]


def test_ways_are_those_of_the_cards_to_their_places() -> None:
    assert ways((Spread((SUN, MOON, STAR), 0, ((1, 2), (2, 1))),)) == 3
    assert ways((Spread((SUN,), 4, ((1, 3), (2, 1))), Spread((MOON, STAR), 0, ((1, 1), (2, 1))))) == 20 * 2


def test_a_clue_says_what_is_certain_and_what_may_be() -> None:
    clue = Clue(1, ((Spread((SUN, SUN, MOON), 0, ((1, 2), (2, 1))),), (Spread((SUN,), 0, ((1, 1),)),)))
    assert (clue.bounds(1), clue.bounds(2)) == (((SUN,), (SUN, MOON)), ((), (SUN, MOON)))
    assert (clue.count(1), clue.count(3)) == (None, 0)


# -- the cases
def test_yo_ho_ho_that_takes_a_whole_known_hand_is_known_to_all() -> None:
    story = lay(["", "", ""], ["yo_ho_ho"], chance=[0, 0])
    g = story.g
    for name in ("ruby", "emerald"):
        card = g.words.card_named(name)
        g.enter([card], g.treasure_hand[1], shown=g.everyone)
    nobody_answers(begin(story, "play YO HO HO!"))
    for viewer in (2, None):
        assert story.known(g.treasure_hand[0], viewer) == ("ruby emerald", "")
    check_worlds(story.g, 2)


def test_hook_on_a_hand_whose_only_card_is_a_known_ruby_is_known_to_all() -> None:
    story = lay(["", "", ""], ["hook"], chance=[0])
    g = story.g
    g.enter([g.words.card_named("ruby")], g.treasure_hand[1], shown=g.everyone)
    nobody_answers(begin(story, "play Hook on seat 1"))
    story.says(0, "take a treasure card out of the hand of seat 1")
    assert story.known(g.treasure_hand[0], 2) == ("ruby", "")
    check_worlds(story.g, 2)


def lay_the_rest(game: Game, piles: list[Zone]) -> None:
    """Let the cards of the box that lie nowhere lie in the first of these piles where they may."""
    rest = Counter(game.box(game.n, game.settings))
    rest.subtract(card for zone in game.zones() for card in zone.cards)
    for card in sorted(rest.elements()):
        game.enter([card], next(pile for pile in piles if game.may_lie(pile, card)))


def check_worlds(game: StolenTreasure, viewer: int) -> None:
    """The thief's hand is right in every world that the viewer imagines."""
    lay_the_rest(game, [game.treasure_pile_1, game.piracy_pile])
    view, rng = game.view(viewer), Chance(bytes(32))
    hand = game.treasure_hand[0]
    for _ in range(WORLDS):
        assert imagine(view, rng).zone(hand.number).cards == hand.cards
