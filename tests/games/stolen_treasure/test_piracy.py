"""Chapter 3.3: the piracy cards, Yarr! and Pirate's Code."""

from __future__ import annotations

import pytest

from cutpurse.engine.text import act_text
from tests.games.stolen_treasure.tale import Tale, begin, lay, lying, nobody_answers, wager

CODE = "play Pirate's Code and name seat"


def plays(offers: list[str]) -> list[str]:
    return [offer for offer in offers if offer.startswith("play")]


def polled(story: Tale, *yes: int) -> Tale:
    """These seats play Yarr! in the poll that is open, the others pass."""
    assert story.question() == "any_yarr"
    for seat in story.g.waiting():
        story.says(seat, "play Yarr!" if seat in yes else "pass")
    return story


def pending(story: Tale) -> list[str]:
    return [act_text(story.g, act) for act in story.g.view().pending]


# -- ST-3.9


def test_st_3_9_the_card_is_shown_and_its_target_named() -> None:
    story = begin(lay(piracy=["hook"]), "play Hook on seat 2")
    assert lying(story) == {"in_play": "hook"}
    assert pending(story) == ["seat 0 plays Hook on seat 2"]
    assert "seat 0 plays Hook on seat 2" in story.told(1)


@pytest.mark.parametrize(
    ("card", "offers"),
    [
        ("spyglass", ["play Spyglass on seat 1", "play Spyglass on seat 2"]),
        ("hook", ["play Hook on seat 1", "play Hook on seat 2"]),
        ("skulduggery", []),
        ("x_marks_the_spot", []),
        ("yo_ho_ho", ["play YO HO HO!"]),
        ("the_kraken", ["play The Kraken"]),
        ("bombs_away", ["play Bombs Away"]),
        ("plunder", ["play Plunder"]),
        ("pirates_code", []),
        ("yarr", []),
        ("parley", []),
        ("the_black_spot", []),
    ],
)
def test_st_3_9_eight_cards_are_played_in_turn_where_their_first_target_allows(card: str, offers: list[str]) -> None:
    assert plays(begin(lay(piracy=[card])).offers(0)) == offers


def test_st_3_9_skulduggery_wants_a_hand_card_and_x_marks_a_buried_one() -> None:
    story = begin(lay(["", "ruby@1", ""], ["skulduggery", "", "hook"], seats=4))
    assert plays(story.offers(0)) == ["play Skulduggery on seat 1", "play Skulduggery on seat 2"]
    story = begin(lay(["", "ruby@1"], ["x_marks_the_spot"], ["ruby", "", "ruby"]))
    assert plays(story.offers(0)) == ["play X Marks The Spot on seat 2"]


def test_st_3_9_plunder_wants_a_treasure_to_draw() -> None:
    assert plays(begin(lay(piracy=["plunder"], piles=("", "", "hook"))).offers(0)) == []
    assert plays(begin(lay(piracy=["plunder"], piles=("", "", ""), discards=("ruby", ""))).offers(0)) == [
        "play Plunder"
    ]


# -- ST-3.10: Yarr!


def test_st_3_10_a_yarr_stops_a_card_which_has_cost_its_action() -> None:
    story = polled(begin(lay(["ruby@1"], ["the_kraken", "yarr"]), "play The Kraken"), 1)
    assert pending(story) == ["seat 0 plays The Kraken", "seat 1 plays Yarr!"]
    polled(story)
    assert lying(story) == {"treasure_hand 0": "ruby@1", "piracy_discards": "the_kraken yarr"}
    assert (story.question(), story.g.actions_left) == ("take_an_action", 1)


def test_st_3_10_yarr_on_yarr_lets_the_card_stand() -> None:
    story = begin(lay(["ruby@1"], ["the_kraken yarr", "yarr"], piles=("", "", "")), "play The Kraken")
    polled(polled(polled(story, 1), 0))
    assert story.table() == {"treasure_pile_1": "ruby", "piracy_discards": "the_kraken yarr yarr"}


def test_st_3_10_yarr_on_yarr_on_yarr_nullifies() -> None:
    story = begin(lay(["ruby@1"], ["the_kraken yarr", "yarr", "yarr"]), "play The Kraken")
    polled(polled(polled(polled(story, 1), 0), 2))
    assert lying(story) == {"treasure_hand 0": "ruby@1", "piracy_discards": "the_kraken yarr yarr yarr"}


@pytest.mark.parametrize("number", range(6))
def test_st_3_10_an_odd_number_nullifies_an_even_one_does_not(number: int) -> None:
    piracy = ["the_kraken yarr yarr", "yarr yarr yarr"]
    story = begin(lay(["ruby@1"], piracy, seats=2, piles=("", "", "")), "play The Kraken")
    for k in range(number):
        polled(story, 1 - k % 2)
    polled(story)
    assert ("treasure_hand 0" in story.table()) == (number % 2 == 1)
    assert story.table()["piracy_discards"] == " ".join(["the_kraken", *["yarr"] * number])


def test_st_3_10_a_third_player_saves_the_victim() -> None:
    story = begin(
        lay(piracy=["x_marks_the_spot", "", "yarr"], buried=["", "diamond"]), "play X Marks The Spot on seat 1"
    )
    assert story.g.waiting() == [1, 2]
    polled(polled(story, 2))
    assert lying(story) == {"buried 1": "diamond", "piracy_discards": "x_marks_the_spot yarr"}


def test_st_3_10_everyone_but_who_showed_the_card_is_asked_and_the_first_from_his_left_acts() -> None:
    story = begin(lay(piracy=["yarr", "yarr", "yarr", "bombs_away"], seats=4), "play Bombs Away", seat=3)
    assert story.g.waiting() == [0, 1, 2]
    polled(story, 1, 2)
    assert story.g.waiting() == [0, 2, 3]
    assert lying(story) == {"in_play": "bombs_away yarr", "piracy_hand 0": "yarr", "piracy_hand 2": "yarr"}
    polled(story, 0, 2)  # from the left of seat 1: seat 2 comes before seat 0
    assert lying(story) == {"in_play": "bombs_away yarr yarr", "piracy_hand 0": "yarr"}


def test_st_3_10_after_the_window_only_the_code_can_be_stopped() -> None:
    story = begin(lay(piracy=["hook", "pirates_code", "yarr"]), "play Hook on seat 1")
    polled(story)
    assert story.question() == "divert_or_suffer"
    story.says(1, f"{CODE} 2")
    polled(polled(story, 2))
    assert story.question() == "divert_or_suffer"
    assert story.g.waiting() == [1]


# -- ST-3.11 to ST-3.13: Pirate's Code


def test_st_3_11_a_code_gives_the_instance_a_new_target_and_the_loot_stays_with_the_first_player() -> None:
    story = begin(lay(piracy=["x_marks_the_spot", "pirates_code"], buried=["", "diamond", "ruby"]))
    polled(begin_with(story, "play X Marks The Spot on seat 1"))
    assert story.offers(1) == ["pass", f"{CODE} 2", f"{CODE} 0"]
    story.says(1, f"{CODE} 2")
    polled(story)
    assert (story.question(), story.g.waiting()) == ("divert_or_suffer", [2])
    story.says(2, "pass")
    story.says(0, "dig up Ruby of seat 2")
    assert lying(story) == {
        "treasure_hand 0": "ruby@9",
        "buried 1": "diamond",
        "piracy_discards": "x_marks_the_spot pirates_code",
    }


def begin_with(story: Tale, answer: str) -> Tale:
    story.says(story.g.waiting()[0], answer)
    return story


def test_st_3_11_a_chain_of_codes_from_a_to_b_to_c_to_a() -> None:
    piracy = ["hook", "pirates_code", "pirates_code", "pirates_code"]
    story = begin(lay(piracy=piracy, seats=4), "play Hook on seat 1")
    polled(story)
    for seat, to in ((1, 2), (2, 3), (3, 1)):
        assert story.g.waiting() == [seat]
        story.says(seat, f"{CODE} {to}")
        polled(story)
    assert story.offers(1) == ["pass"]
    story.says(1, "pass")
    assert story.g.skip_next == [0, 1, 0, 0]
    assert lying(story) == {"piracy_discards": "hook pirates_code pirates_code pirates_code"}


def test_st_3_11_yarr_against_a_code_then_a_second_code() -> None:
    story = begin(lay(piracy=["hook", "pirates_code pirates_code", "yarr"]), "play Hook on seat 1")
    polled(story)
    story.says(1, f"{CODE} 2")
    assert pending(story) == [
        "seat 0 plays Hook on seat 1",
        "Hook falls upon seat 1",
        "seat 1 plays Pirate's Code and names seat 2",
    ]
    polled(polled(story, 2))
    story.says(1, f"{CODE} 2")
    polled(story)
    story.says(2, "pass")
    assert story.g.skip_next == [0, 0, 1]
    assert lying(story) == {"piracy_discards": "hook pirates_code yarr pirates_code"}


def test_st_3_11_three_bombs_on_one_player_who_passes_one_on() -> None:
    """Seat 3 plays; seats 0 and 1 send theirs to seat 2, who has one Code and suffers two of three."""
    piracy = ["pirates_code", "pirates_code", "pirates_code hook hook hook hook hook", "bombs_away", "parley parley"]
    story = begin(lay(piracy=piracy, seats=5), "play Bombs Away", seat=3)
    polled(story)
    assert story.g.waiting() == [4]
    story.says(4, "pass")
    story.says(0, f"{CODE} 2")
    polled(story)
    story.says(2, "pass")
    story.says(1, f"{CODE} 2")
    polled(story)
    story.says(2, f"{CODE} 1")
    polled(story)
    story.says(1, "pass")
    story.says(2, "pass")
    assert story.question() == "discard_piracy"
    for _ in range(4):
        story.says(2, "discard Hook")
    assert lying(story) == {
        "piracy_hand 2": "hook",
        "piracy_discards": "parley parley hook hook hook hook bombs_away pirates_code pirates_code pirates_code",
    }


def test_st_3_11_every_instance_is_announced_the_one_asked_about_last() -> None:
    piracy = ["", "bombs_away", "pirates_code"]
    story = begin(lay(piracy=piracy, seats=4), "play Bombs Away", seat=1)
    polled(story)
    assert pending(story) == [
        "seat 1 plays Bombs Away",
        "Bombs Away falls upon seat 0",
        "Bombs Away falls upon seat 3",
        "Bombs Away falls upon seat 2",
    ]
    story.says(2, f"{CODE} 3")
    polled(story)
    story.says(3, "pass")
    assert pending(story) == [
        "seat 1 plays Bombs Away",
        "Bombs Away falls upon seat 3",
        "Bombs Away falls upon seat 0",
        "Bombs Away falls upon seat 3",
    ]


def test_st_3_11_instances_are_carried_out_clockwise_after_all_redirections() -> None:
    hands = ["", "hook hook hook", "bombs_away", "parley parley parley"]
    story = begin(lay(piracy=hands, seats=4), "play Bombs Away", seat=2)
    polled(story)
    for seat in (3, 0, 1):
        assert story.g.waiting() == [seat]
        assert "piracy_discards" not in story.table()
        story.says(seat, "pass")
    assert story.g.waiting() == [3]
    story.says(3, "discard Parley")
    story.says(3, "discard Parley")
    assert story.g.waiting() == [1]


@pytest.mark.parametrize("card", ["The Kraken", "Plunder"])
def test_st_3_11_neither_the_kraken_nor_plunder_is_answered_by_a_code(card: str) -> None:
    story = begin(lay(piracy=["the_kraken plunder", "pirates_code"]), f"play {card}")
    polled(story)
    assert story.question() == ("choose_a_pile" if card == "Plunder" else "take_an_action")


def test_st_3_11_no_code_answers_yarr_code_or_parley() -> None:
    story = begin(lay(piracy=["hook", "pirates_code pirates_code", "yarr pirates_code"]), "play Hook on seat 1")
    assert story.offers(1) == ["pass"]  # to a card just shown only Yarr! is an answer
    polled(story)
    story.says(1, f"{CODE} 2")
    assert story.offers(2) == ["pass", "play Yarr!"]
    polled(story, 2)
    assert story.offers(1) == ["pass"]
    story = wager(lay(["ruby@1", "ruby@1"], ["parley", "pirates_code"]), 0, 1, "Ruby")
    begin_with(begin_with(story, "lay Ruby"), "lay no more")
    story.says(0, "play Parley to lose to seat 1")
    story.says(1, "pass")
    assert (story.question(), story.offers(1)) == ("any_yarr", ["pass"])


def test_st_3_12_an_instance_on_the_active_player_steals_swaps_and_gives_nothing() -> None:
    for card in ("spyglass", "skulduggery", "x_marks_the_spot", "hook"):
        title = {"spyglass": "Spyglass", "skulduggery": "Skulduggery", "hook": "Hook"}.get(card, "X Marks The Spot")
        hands = ["silver_coin@1", "ruby@1"]
        story = begin(lay(hands, [card, "pirates_code"], ["diamond", "emerald"]), f"play {title} on seat 1")
        polled(story)
        story.says(1, f"{CODE} 0")
        polled(story)
        story.says(0, "pass")
        assert lying(story) == {
            "treasure_hand 0": "silver_coin@1",
            "treasure_hand 1": "ruby@1",
            "buried 0": "diamond",
            "buried 1": "emerald",
            "piracy_discards": f"{card} pirates_code",
        }
        assert story.g.skip_next == [int(card == "hook"), 0, 0]
        assert story.question() == "take_an_action"


def test_st_3_12_yo_ho_ho_on_its_player_takes_nothing() -> None:
    hands = ["silver_coin@1", "ruby@1", "emerald@1"]
    story = begin(lay(hands, ["yo_ho_ho", "pirates_code"], chance=[0]), "play YO HO HO!")
    polled(story)
    story.says(1, f"{CODE} 0")
    polled(story)
    story.says(0, "pass")
    story.says(2, "pass")
    assert lying(story)["treasure_hand 0"] == "silver_coin@1 emerald@9"
    assert lying(story)["treasure_hand 1"] == "ruby@1"


def test_st_3_12_bombs_hit_their_own_player_who_may_pass_them_on() -> None:
    story = begin(lay(piracy=["bombs_away hook hook hook", "pirates_code"], seats=2), "play Bombs Away")
    polled(story)
    story.says(1, f"{CODE} 0")
    polled(story)
    story.says(0, "pass")
    story.says(0, "discard Hook")
    story.says(0, "discard Hook")
    assert lying(story) == {"piracy_hand 0": "hook", "piracy_discards": "hook hook bombs_away pirates_code"}
    story = begin(lay(piracy=["hook pirates_code", "pirates_code"]), "play Hook on seat 1")
    polled(story)
    story.says(1, f"{CODE} 0")
    polled(story)
    story.says(0, f"{CODE} 2")
    polled(story)
    story.says(2, "pass")
    assert story.g.skip_next == [0, 0, 1]


def test_st_3_13_a_code_may_name_a_player_on_whom_the_effect_does_nothing() -> None:
    story = begin(
        lay(piracy=["x_marks_the_spot", "pirates_code"], buried=["", "ruby"]), "play X Marks The Spot on seat 1"
    )
    polled(story)
    story.says(1, f"{CODE} 2")
    polled(story)
    story.says(2, "pass")
    assert lying(story) == {"buried 1": "ruby", "piracy_discards": "x_marks_the_spot pirates_code"}


# -- ST-3.14 to ST-3.22: the effects


def test_st_3_14_plunder_draws_two_each_from_a_pile_chosen_after_the_one_before() -> None:
    story = begin(lay(piracy=["plunder"], piles=("silver_coin ruby", "emerald", "")), "play Plunder")
    polled(story)
    assert story.offers(0) == ["draw from treasure pile 1", "draw from treasure pile 2"]
    story.says(0, "draw from treasure pile 2")
    assert story.known(story.g.treasure_hand[0], 1) == ("emerald", "")
    assert story.offers(0) == ["draw from treasure pile 1"]
    story.says(0, "draw from treasure pile 1")
    assert story.table() == {
        "treasure_pile_1": "silver_coin",
        "treasure_hand 0": "ruby@9 emerald@9",
        "piracy_discards": "plunder",
    }
    assert story.g.actions_left == 1


def test_st_3_15_spyglass_swaps_whole_hands_and_all_treasure_is_new() -> None:
    hands = ["silver_coin@1 ruby@2", "diamond@3"]
    story = begin(lay(hands, ["spyglass yarr", "hook the_black_spot"], ["emerald"]), "play Spyglass on seat 1")
    nobody_answers(story)
    assert lying(story) == {
        "treasure_hand 0": "diamond@9",
        "treasure_hand 1": "silver_coin@9 ruby@9",
        "piracy_hand 0": "hook the_black_spot",
        "piracy_hand 1": "yarr",
        "buried 0": "emerald",
        "piracy_discards": "spyglass",
    }


def test_st_3_15_empty_hands_are_swapped_too() -> None:
    story = nobody_answers(begin(lay(["", "diamond@3"], ["spyglass"]), "play Spyglass on seat 1"))
    assert lying(story) == {"treasure_hand 0": "diamond@9", "piracy_discards": "spyglass"}


def test_st_3_16_skulduggery_takes_a_random_card_of_a_named_kind_and_gives_one() -> None:
    hands = ["silver_coin@1 silver_coin@5", "ruby@3 diamond@4"]
    story = begin(lay(hands, ["skulduggery hook", "yarr parley"], chance=[1]), "play Skulduggery on seat 1")
    nobody_answers(story)
    assert story.offers(0) == [
        "take a treasure card out of the hand of seat 1",
        "take a piracy card out of the hand of seat 1",
    ]
    story.says(0, "take a treasure card out of the hand of seat 1")
    assert lying(story)["taken"] == "diamond"
    assert story.offers(0) == [
        "give Silver coin to seat 1 (place 0)",
        "give Silver coin to seat 1 (place 1)",
        "give Hook to seat 1",
    ]
    story.says(0, "give Silver coin to seat 1 (place 1)")
    assert lying(story) == {
        "treasure_hand 0": "silver_coin@1 diamond@9",
        "treasure_hand 1": "silver_coin@9 ruby@3",
        "piracy_hand 0": "hook",
        "piracy_hand 1": "yarr parley",
        "piracy_discards": "skulduggery",
    }


def test_st_3_16_piracy_is_taken_and_given_in_the_same_way() -> None:
    story = begin(lay(["", ""], ["skulduggery yarr hook", "yarr parley"], chance=[0]), "play Skulduggery on seat 1")
    nobody_answers(story)
    assert story.offers(0) == ["take a piracy card out of the hand of seat 1"]
    story.says(0, "take a piracy card out of the hand of seat 1")
    assert story.offers(0) == ["give Hook to seat 1", "give Yarr! to seat 1"]  # this Yarr! is another copy
    story.says(0, "give Yarr! to seat 1")
    assert lying(story) == {
        "piracy_hand 0": "hook yarr",
        "piracy_hand 1": "yarr parley",
        "piracy_discards": "skulduggery",
    }


def test_st_3_16_without_another_card_nothing_is_given() -> None:
    story = begin(lay(["", "ruby@3"], ["skulduggery"], chance=[0]), "play Skulduggery on seat 1")
    nobody_answers(story)
    story.says(0, "take a treasure card out of the hand of seat 1")
    assert lying(story) == {"treasure_hand 0": "ruby@9", "piracy_discards": "skulduggery"}
    assert story.question() == "take_an_action"


def test_st_3_16_if_nothing_can_be_taken_nothing_is_given() -> None:
    story = begin(lay(["ruby@1"], ["skulduggery", "pirates_code"]), "play Skulduggery on seat 1")
    polled(story)
    story.says(1, f"{CODE} 2")
    nobody_answers(story)
    assert lying(story) == {"treasure_hand 0": "ruby@1", "piracy_discards": "skulduggery pirates_code"}


def test_st_3_17_x_marks_takes_one_buried_card_of_any_value() -> None:
    story = lay(piracy=["x_marks_the_spot"], buried=["", "silver_coin silver_coin barnacle diamond"])
    nobody_answers(begin(story, "play X Marks The Spot on seat 1"))
    assert story.offers(0) == [f"dig up {card} of seat 1" for card in ("Silver coin", "Diamond", "Barnacle")]
    story.says(0, "dig up Diamond of seat 1")
    assert lying(story) == {
        "treasure_hand 0": "diamond@9",
        "buried 1": "silver_coin silver_coin barnacle",
        "piracy_discards": "x_marks_the_spot",
    }
    assert story.g.buried_total == [0, 0, 0]
    assert story.known(story.g.treasure_hand[0], None) == ("diamond", "")


def test_st_3_18_yo_ho_ho_takes_two_random_treasures_of_each_or_fewer() -> None:
    hands = ["peg_leg@1", "silver_coin@1 ruby@2 diamond@3", "emerald@1", ""]
    story = begin(lay(hands, ["yo_ho_ho", "", "", "hook"], seats=4, chance=[2, 0, 0]), "play YO HO HO!")
    nobody_answers(story)
    assert lying(story) == {
        "treasure_hand 0": "silver_coin@9 emerald@9 diamond@9 peg_leg@1",
        "treasure_hand 1": "ruby@2",
        "piracy_hand 3": "hook",
        "piracy_discards": "yo_ho_ho",
    }
    moved = [line for line in story.told(0) if "from treasure hand" in line]
    assert moved == [
        "Diamond: from treasure hand of seat 1 to treasure hand of seat 0",
        "Silver coin: from treasure hand of seat 1 to treasure hand of seat 0",
        "Emerald: from treasure hand of seat 2 to treasure hand of seat 0",
    ]


def test_st_3_19_hook_takes_a_random_card_and_the_next_turn() -> None:
    hands = ["silver_coin@1", "ruby@3"]
    story = begin(lay(hands, ["hook", "yarr parley"], chance=[1]), "play Hook on seat 1")
    nobody_answers(story)
    story.says(0, "take a piracy card out of the hand of seat 1")
    assert lying(story) == {
        "treasure_hand 0": "silver_coin@1",
        "treasure_hand 1": "ruby@3",
        "piracy_hand 0": "parley",
        "piracy_hand 1": "yarr",
        "piracy_discards": "hook",
    }
    assert story.g.skip_next == [0, 1, 0]


def test_st_3_19_hooked_treasure_is_new() -> None:
    story = nobody_answers(begin(lay(["", "ruby@3"], ["hook"], chance=[0]), "play Hook on seat 1"))
    story.says(0, "take a treasure card out of the hand of seat 1")
    assert lying(story) == {"treasure_hand 0": "ruby@9", "piracy_discards": "hook"}


def test_st_3_19_of_an_empty_hand_only_the_turn_is_lost() -> None:
    story = nobody_answers(begin(lay(["ruby@1"], ["hook"]), "play Hook on seat 2"))
    assert (story.question(), story.g.skip_next) == ("take_an_action", [0, 0, 1])


def test_st_3_20_the_kraken_returns_all_hand_treasure_and_the_odd_card_goes_to_the_first_pile() -> None:
    hands = ["peg_leg@1", "silver_coin@1 ruby@2", "diamond@3"]
    story = lay(hands, ["the_kraken"], ["", "emerald"], piles=("sapphire", "barnacle bad_voodoo", ""))
    story.lay(story.g.treasure_discards, "hairy_chest")
    nobody_answers(begin(story, "play The Kraken"))
    assert story.table() == {
        "treasure_pile_1": "sapphire peg_leg silver_coin ruby",
        "treasure_pile_2": "bad_voodoo barnacle diamond",
        "treasure_discards": "hairy_chest",
        "buried 1": "emerald",
        "piracy_discards": "the_kraken",
    }


def test_st_3_20_the_returned_cards_are_not_shown() -> None:
    story = lay(["", "silver_coin@1 ruby@2"], ["the_kraken"])
    nobody_answers(begin(story, "play The Kraken"))
    assert "2 x card face down: from treasure hand of seat 1 to treasure pile 1" in story.told(0)
    assert "Silver coin, Ruby: from treasure hand of seat 1 to treasure pile 1" in story.told(1)


def test_st_3_21_each_target_discards_two_piracy_cards_of_his_choice_or_all() -> None:
    hands = ["bombs_away hook", "yarr parley the_black_spot", "hook yarr", "plunder"]
    story = begin(lay(["", "ruby@1"], hands, seats=4), "play Bombs Away")
    nobody_answers(story)
    assert story.offers(1) == ["discard Yarr!", "discard Parley", "discard The Black Spot"]
    story.says(1, "discard The Black Spot")
    story.says(1, "discard Yarr!")
    assert lying(story) == {
        "treasure_hand 1": "ruby@1",
        "piracy_hand 0": "hook",
        "piracy_hand 1": "parley",
        "piracy_discards": "the_black_spot yarr hook yarr plunder bombs_away",
    }


def test_st_3_21_three_bombs_on_one_player_take_three_times_two() -> None:
    hands = ["bombs_away", "pirates_code", "hook hook hook hook hook hook hook", "pirates_code"]
    story = begin(lay(piracy=hands, seats=4), "play Bombs Away")
    polled(story)
    story.says(1, f"{CODE} 2")
    polled(story)
    story.says(2, "pass")
    story.says(2, "pass")
    story.says(3, f"{CODE} 2")
    polled(story)
    story.says(2, "pass")
    for _ in range(6):
        story.says(2, "discard Hook")
    assert lying(story)["piracy_hand 2"] == "hook"


@pytest.mark.parametrize(
    ("card", "picks", "left"),
    [
        ("Hook", (0, 0), {"treasure_hand 0": "ruby@9", "piracy_hand 1": "yarr parley"}),
        ("Hook", (1, 0), {"piracy_hand 0": "yarr", "treasure_hand 1": "ruby@3", "piracy_hand 1": "parley"}),
        ("Hook", (2, 1), {"piracy_hand 0": "parley", "treasure_hand 1": "ruby@3", "piracy_hand 1": "yarr"}),
        ("Skulduggery", (0, 0), {"treasure_hand 0": "ruby@9", "piracy_hand 1": "yarr parley"}),
        ("Skulduggery", (1, 1), {"piracy_hand 0": "parley", "treasure_hand 1": "ruby@3", "piracy_hand 1": "yarr"}),
    ],
)
@pytest.mark.rule("ST-6.3")
def test_st_3_22_true_random_theft_takes_from_the_whole_hand(
    card: str, picks: tuple[int, int], left: dict[str, str]
) -> None:
    """The first number says which of the three cards, and so the kind; the second which of that kind."""
    settings = {"true_random_theft": True}
    story = lay(["", "ruby@3"], [card.lower(), "yarr parley"], settings=settings, chance=picks)
    nobody_answers(begin(story, f"play {card} on seat 1"))
    assert story.question() == "take_an_action"
    assert lying(story) == left | {"piracy_discards": card.lower()}
