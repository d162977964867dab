"""Chapter 7: who sees what, and what is known of what is not seen."""

from __future__ import annotations

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.imagine import imagine
from cutpurse.games.stolen_treasure.cards import BLACK_SPOT, LAST_TREASURE
from cutpurse.games.stolen_treasure.rules import StolenTreasure
from tests.games.stolen_treasure.tale import Tale, begin, lay, lying, nobody_answers, wager


def test_st_7_1_an_entry_goes_when_its_face_leaves_openly() -> None:
    story = begin(lay(), "draw from treasure pile 1", "draw from treasure pile 2")
    hand = story.g.treasure_hand[0]
    assert story.known(hand, 1) == ("emerald diamond", "")
    for seat in (1, 2):
        story.says(seat, "end the turn")
    story.says(0, "bury Diamond")
    assert story.known(hand, 1) == ("emerald", "")


def test_st_7_1_all_entries_of_a_kind_turn_uncertain_when_a_card_leaves_unseen() -> None:
    story = lay(["", "", "ruby@1"], ["", "", "skulduggery hook"], chance=[0])
    begin(story, "draw from treasure pile 1", "draw from treasure pile 2")
    story.says(1, "end the turn")
    story.says(2, "play Skulduggery on seat 0")
    nobody_answers(story)
    story.says(2, "take a treasure card out of the hand of seat 0")
    story.says(2, "give Ruby to seat 0")
    hand, thief = story.g.treasure_hand[0], story.g.treasure_hand[2]
    assert lying(story)["treasure_hand 0"] == "ruby@11 diamond@9"
    assert story.known(hand, 1) == ("", "emerald diamond")
    assert story.known(hand, 2) == ("ruby diamond", "")  # thief and victim know both cards
    assert story.known(thief, 0) == ("emerald", "")
    assert story.known(thief, 1) == story.known(thief, None) == ("", "emerald diamond")


def test_st_7_1_what_leaves_one_kind_does_not_blur_the_other_and_an_empty_hand_is_forgotten() -> None:
    story = lay(["", "", ""], ["hook", "", "hook"], chance=[0])
    begin(story, "draw from treasure pile 1", "end the turn")
    story.says(1, "end the turn")
    story.says(2, "play Hook on seat 0")
    nobody_answers(story)
    story.says(2, "take a piracy card out of the hand of seat 0")
    assert story.known(story.g.treasure_hand[0], 1) == ("diamond", "")
    story = lay(["", "", ""], ["", "", "hook"], chance=[0])
    begin(story, "draw from treasure pile 1", "end the turn")
    story.says(1, "end the turn")
    story.says(2, "play Hook on seat 0")
    nobody_answers(story)
    story.says(2, "take a treasure card out of the hand of seat 0")
    assert story.known(story.g.treasure_hand[0], 1) == ("", "")


def test_st_7_1_what_was_known_moves_with_swapped_hands_and_the_kraken_clears_it() -> None:
    story = lay(["", "ruby@1"], ["spyglass", "yarr", "the_kraken"])
    begin(story, "draw from treasure pile 1", "play Spyglass on seat 1")
    nobody_answers(story)
    mine, theirs = story.g.treasure_hand[:2]
    assert story.known(theirs, 2) == ("diamond", "")
    assert story.known(theirs, 0) == ("diamond", "")
    assert story.known(mine, 1) == ("ruby", "")
    assert story.known(mine, 2) == ("", "")
    assert story.known(story.g.piracy_hand[0], 1) == ("yarr", "")
    story.says(1, "end the turn")
    story.says(2, "play The Kraken")
    nobody_answers(story)
    for viewer in (0, 1, 2, None):
        assert [story.known(hand, viewer) for hand in (mine, theirs) if hand.owner != viewer] == [("", "")] * (
            1 if viewer in (0, 1) else 2
        )


def test_st_7_1_staked_treasure_is_known_where_it_goes() -> None:
    story = wager(lay(["ruby@1", "emerald@1 silver_coin@1"], chance=[0]), 0, 1, "Ruby")
    story.says(1, "lay Emerald")
    story.says(1, "lay no more")
    nobody_answers(story)
    assert story.known(story.g.treasure_hand[0], 2) == ("ruby emerald", "")


def test_st_7_1_a_victim_of_yo_ho_ho_knows_what_he_lost_and_the_others_only_how_many() -> None:
    hands = ["", "silver_coin@1 ruby@2", "emerald@1"]
    story = nobody_answers(begin(lay(hands, ["yo_ho_ho"], chance=[0, 0, 0]), "play YO HO HO!"))
    loot = story.g.treasure_hand[0]
    assert story.known(loot, 1) == ("silver_coin ruby", "")
    assert story.known(loot, 2) == ("emerald", "")
    assert story.known(loot, None) == ("", "")


def test_what_skulduggery_moves_is_told_with_its_face_to_the_two_only() -> None:
    story = lay(["ruby@1", "emerald@1"], ["skulduggery"], chance=[0])
    nobody_answers(begin(story, "play Skulduggery on seat 1"))
    story.says(0, "take a treasure card out of the hand of seat 1")
    assert [story.seen(story.g.taken, viewer) for viewer in (0, 1, 2, None)] == ["emerald", "emerald", "?", "?"]
    story.says(0, "give Ruby to seat 1")
    assert "seat 0 gives Ruby to seat 1" in story.told(1)
    assert "seat 0 gives card face down to seat 1" in story.told(2)
    assert "card face down: from treasure hand of seat 1 to taken cards" in story.told(2)


# -- ST-7.2: the imagined states


def rich(negative: str = "", piracy: str = "the_black_spot") -> Tale:
    """Seat 1 has buried 1500 and has not won."""
    story = lay(["ruby@1", negative], ["hook", piracy + " yarr"], ["", "diamond nobles_trove emerald gold_dubloons"])
    return deal_the_rest(story)


def deal_the_rest(story: Tale) -> Tale:
    """All that does not lie on the table becomes a pile of treasure and one of piracy."""
    g = story.g
    rest = g.box(g.n, g.settings)
    for pile in (g.treasure_pile_1, g.treasure_pile_2, g.piracy_pile):
        pile.cards.clear()
    for zone in g.zones():
        for card in zone.cards:
            rest.remove(card)
    g.treasure_pile_1.cards = [card for card in rest if card <= LAST_TREASURE]
    g.piracy_pile.cards = [card for card in rest if card > LAST_TREASURE]
    return story


@pytest.mark.parametrize(("negative", "piracy"), [("", "the_black_spot"), ("barnacle@1", "hook")])
def test_st_7_2_who_has_buried_enough_and_not_won_has_the_spot_or_bad_treasure(negative: str, piracy: str) -> None:
    story = begin(rich(negative, piracy))
    assert story.g.is_plausible()
    reasons = set()
    for k in range(40):
        g = imagine(story.g.view(0), Chance(match_key("imagine", k)))
        assert isinstance(g, StolenTreasure)
        assert g.is_plausible()
        assert g.view(0).to_bytes() == story.g.view(0).to_bytes()
        assert g.has_the_spot(1) or g.score(1) < 1500
        reasons.add(g.has_the_spot(1))
    assert reasons == ({True} if not negative else {True, False})


def test_st_7_2_a_state_without_a_reason_is_not_plausible() -> None:
    story = begin(rich(piracy="hook"))
    assert not story.g.is_plausible()
    story.g.treasure_hand[1].put(story.g.words.card_named("peg_leg"), 0, (1,))
    assert story.g.is_plausible()


def test_st_7_2_bad_treasure_that_is_staked_was_a_reason() -> None:
    story = lay(["ruby@1", "barnacle@1"], buried=["", "diamond nobles_trove emerald gold_dubloons"])
    wager(story, 1, 0, "Barnacle")
    assert story.question() == "match_the_stake"
    assert story.g.is_plausible()


def test_st_7_2_nothing_is_inferred_in_the_middle_of_an_effect() -> None:
    """The Spot is bombed away; the win comes only when all bombs have fallen."""
    hands = ["bombs_away", "the_black_spot hook hook", "hook hook hook"]
    story = begin(lay(piracy=hands, buried=["", "diamond nobles_trove emerald gold_dubloons"]), "play Bombs Away")
    nobody_answers(story)
    story.says(1, "discard The Black Spot")
    assert story.g.is_plausible()
    story.says(1, "discard Hook")
    assert story.g.is_plausible()
    story.says(2, "discard Hook")
    story.says(2, "discard Hook")
    assert story.g.won == [0, 1, 0]


@pytest.mark.parametrize(
    ("laid", "kept", "most"),
    [
        ("Silver coin", "barnacle@1 hairy_chest@1", 0),
        ("Silver coin", "barnacle@1 hairy_chest@1 peg_leg@1 bad_voodoo@1", 0),
        ("Barnacle", "barnacle@1 bad_voodoo@1 bad_voodoo@1", -100),
    ],
    ids=["some hands", "few hands", "the best of bad treasure"],
)
def test_st_7_2_a_match_below_the_stake_was_all_he_had(laid: str, kept: str, most: int) -> None:
    """Hardly any hand that is drawn at random is so bad."""
    first = laid.lower().replace(" ", "_")
    story = wager(lay(["diamond@1", f"{first}@1 {kept}"]), 0, 1, "Diamond")
    deal_the_rest(story)
    story.says(1, f"lay {laid}")
    story.says(1, "lay no more")
    assert story.question() == "any_parley"
    for k in range(40):
        g = imagine(story.g.view(0), Chance(match_key("imagine", k)))
        assert isinstance(g, StolenTreasure)
        assert g.is_plausible()
        hand = g.treasure_hand[1].cards
        assert (len(hand), hand) == (len(kept.split()), sorted(hand))
        assert all(g.value[card] <= most for card in hand)
    story.g.treasure_hand[1].put(story.g.words.card_named("ruby"), 0, (1,))
    assert not story.g.is_plausible()


def test_st_7_2_who_has_laid_bad_treasure_holds_what_makes_up_for_it() -> None:
    """Against 700 with 200 below nothing: two cards of 900, which one pair in 500 is."""
    story = wager(lay(["diamond@1 sapphire@1", "bad_voodoo@1 nobles_trove@1 emerald@1"]), 0, 1, "Diamond", "Sapphire")
    deal_the_rest(story)
    story.says(1, "lay Bad Voodoo")
    for k in range(40):
        g = imagine(story.g.view(0), Chance(match_key("imagine", k)))
        assert isinstance(g, StolenTreasure)
        assert g.is_plausible()
        assert [g.words.cards[card - 1].name for card in g.treasure_hand[1].cards] == ["nobles_trove", "emerald"]
        assert g.options(1) == story.g.options(1)


def test_st_7_2_while_a_match_is_laid_it_must_still_be_possible() -> None:
    story = wager(lay(["ruby@1", "silver_coin@1 sapphire@1 gold_dubloons@1"]), 0, 1, "Ruby")
    story.says(1, "lay Silver coin")
    assert story.g.is_plausible()
    story = wager(lay(["ruby@1", "silver_coin@1 barnacle@1 emerald@1"]), 0, 1, "Ruby")
    story.says(1, "lay Barnacle")
    assert story.g.is_plausible()
    story.g.treasure_hand[1].cards.clear()
    story.g.treasure_hand[1].columns = [[]]
    story.lay(story.g.treasure_hand[1], "peg_leg@1")
    assert not story.g.is_plausible()


@pytest.mark.parametrize("laid", ["", "Gold Dubloons"])
def test_st_7_2_a_hand_to_match_with_also_explains_why_its_holder_has_not_won(laid: str) -> None:
    """He cannot hold The Spot, and has 300 too much, for which hardly any random hand is bad enough."""
    hands = ["silver_coin@1", "gold_dubloons@1 bad_voodoo@1 bad_voodoo@1"]
    buried = ["", "diamond nobles_trove emerald gold_dubloons ruby"]
    story = wager(lay(hands, ["the_black_spot hook", "yarr"], buried), 0, 1, "Silver coin")
    deal_the_rest(story)
    if laid:
        story.says(1, f"lay {laid}")
    assert story.question() == "match_the_stake"
    assert story.g.is_plausible()
    for k in range(40):
        g = imagine(story.g.view(0), Chance(match_key("imagine", k)))
        assert isinstance(g, StolenTreasure)
        assert g.is_plausible()
        assert g.score(1) < 1500
        assert g.view(0).to_bytes() == story.g.view(0).to_bytes()


def test_st_1_4_an_imagined_card_lies_among_its_kind() -> None:
    story = lay(["ruby@1 silver_coin@1", "emerald@1 diamond@1"], ["skulduggery hook", "yarr parley"], chance=[0])
    deal_the_rest(story)
    nobody_answers(begin(story, "play Skulduggery on seat 1"))
    story.says(0, "take a treasure card out of the hand of seat 1")
    for viewer in (1, 2, None):
        for k in range(20):
            g = imagine(story.g.view(viewer), Chance(match_key("imagine", k)))
            assert isinstance(g, StolenTreasure)
            assert g.taken.cards[0] <= LAST_TREASURE
            for zone in (*g.treasure_hand, g.treasure_pile_1, g.treasure_pile_2):
                assert all(card <= LAST_TREASURE for card in zone.cards)
            for zone in (*g.piracy_hand, g.piracy_pile):
                assert all(LAST_TREASURE < card <= BLACK_SPOT for card in zone.cards)
