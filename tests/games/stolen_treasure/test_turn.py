"""Chapters 3 to 3.2: the turn, drawing and burying."""

from __future__ import annotations

import pytest

from tests.games.stolen_treasure.tale import begin, lay, lying, nobody_answers


def buries(offers: list[str]) -> list[str]:
    return [offer for offer in offers if offer.startswith("bury")]


def test_st_3_1_two_actions_in_any_mix_then_the_next_player() -> None:
    story = begin(lay(["ruby@1"]), "draw from treasure pile 1")
    assert (story.g.waiting(), story.g.actions_left) == ([0], 1)
    story.says(0, "bury Ruby")
    assert (story.g.waiting(), story.g.actions_left, story.g.turn) == ([1], 2, 10)


def test_st_3_1_the_same_action_may_be_taken_twice() -> None:
    story = begin(lay(["ruby@1 silver_coin@1"]), "bury Ruby", "bury Silver coin")
    assert lying(story) == {"buried 0": "silver_coin ruby"}
    assert story.g.waiting() == [1]


@pytest.mark.parametrize("actions", [0, 1])
def test_st_3_1_a_turn_may_end_earlier(actions: int) -> None:
    story = begin(lay(), *["draw from piracy pile"] * actions, "end the turn")
    assert story.g.waiting() == [1]


def test_st_3_1_an_action_is_finished_before_the_next_and_answers_are_no_actions() -> None:
    story = begin(lay(piracy=["the_kraken the_kraken", "yarr"]), "play The Kraken")
    assert story.question() == "any_yarr"
    story.says(1, "play Yarr!")
    story.says(2, "pass")
    nobody_answers(story)
    assert (story.question(), story.g.waiting(), story.g.actions_left) == ("take_an_action", [0], 1)
    story.says(0, "play The Kraken")
    nobody_answers(story)
    assert (story.g.waiting(), story.g.actions_left) == ([1], 2)


def test_st_3_2_a_skipped_turn_is_lost_once_and_counted() -> None:
    story = begin(lay(skip_next=[0, 1, 0]), "end the turn")
    assert (story.g.waiting(), story.g.turn, story.g.skip_next) == ([2], 11, [0, 0, 0])
    assert "seat 1 loses this turn" in story.told(None)
    story.says(2, "end the turn")
    story.says(0, "end the turn")
    assert story.g.waiting() == [1]


def test_st_3_2_two_hooks_before_one_turn_skip_only_that_one() -> None:
    story = begin(lay(piracy=["hook hook"]), "play Hook on seat 1")
    nobody_answers(story)
    story.says(0, "play Hook on seat 1")
    nobody_answers(story)
    assert (story.g.waiting(), story.g.skip_next) == ([2], [0, 0, 0])
    story.says(2, "end the turn")
    story.says(0, "end the turn")
    assert story.g.waiting() == [1]


def test_st_3_2_who_is_to_be_skipped_still_answers() -> None:
    story = begin(lay(piracy=["bombs_away", "yarr pirates_code"], skip_next=[0, 1, 0]), "play Bombs Away")
    assert story.offers(1) == ["pass", "play Yarr!"]
    story.all_pass()
    assert story.offers(1)[0:2] == ["pass", "play Pirate's Code and name seat 2"]


def test_st_3_3_treasure_is_drawn_openly_and_piracy_unseen() -> None:
    story = begin(lay(piles=("ruby silver_coin", "emerald", "hook yarr")))
    assert story.offers(0) == [
        *("draw from treasure pile 1", "draw from treasure pile 2", "draw from piracy pile", "end the turn"),
    ]
    story.says(0, "draw from treasure pile 1")
    story.says(0, "draw from piracy pile")
    assert story.table() == {
        "treasure_pile_1": "ruby",
        "treasure_pile_2": "emerald",
        "piracy_pile": "hook",
        "treasure_hand 0": "silver_coin@9",
        "piracy_hand 0": "yarr",
    }
    for viewer in (1, 2, None):
        assert story.known(story.g.treasure_hand[0], viewer) == ("silver_coin", "")
        assert story.known(story.g.piracy_hand[0], viewer) == ("", "")


def test_st_3_4_an_empty_piracy_pile_is_renewed_when_a_card_must_be_drawn() -> None:
    story = begin(lay(piles=("", "", "hook"), discards=("", "yarr parley")), "draw from piracy pile")
    assert story.table() == {"piracy_hand 0": "hook", "piracy_discards": "yarr parley"}
    story.says(0, "draw from piracy pile")
    assert story.table() == {"piracy_hand 0": "hook parley", "piracy_pile": "yarr"}


def test_st_3_4_an_empty_treasure_pile_is_no_choice_while_the_other_has_cards() -> None:
    story = begin(lay(piles=("", "ruby", ""), discards=("diamond emerald", "")))
    assert story.offers(0) == ["draw from treasure pile 2", "end the turn"]


def test_st_3_4_treasure_discards_are_cut_with_the_odd_card_to_the_first() -> None:
    story = begin(lay(piles=("", "", ""), discards=("diamond emerald ruby", "")))
    assert story.offers(0)[:2] == ["draw from treasure pile 1", "draw from treasure pile 2"]
    story.says(0, "draw from treasure pile 2")
    assert story.table() == {"treasure_pile_1": "diamond emerald", "treasure_hand 0": "ruby@9"}


def test_st_3_4_a_single_discard_makes_a_first_pile_only() -> None:
    story = begin(lay(piles=("", "", ""), discards=("diamond", "")))
    assert story.offers(0) == ["draw from treasure pile 1", "end the turn"]
    story.says(0, "draw from treasure pile 1")
    assert story.table() == {"treasure_hand 0": "diamond@9"}


def test_st_3_4_without_discards_nothing_can_be_drawn() -> None:
    story = begin(lay(piracy=["plunder"], piles=("", "", "")))
    assert story.offers(0) == ["end the turn"]


def test_st_3_5_treasure_is_buried_openly_and_counted() -> None:
    story = begin(lay(["ruby@8 silver_coin@1"], buried=["sapphire"]), "bury Ruby")
    assert lying(story) == {"treasure_hand 0": "silver_coin@1", "buried 0": "sapphire ruby"}
    assert story.g.buried_total == [500, 0, 0]
    assert "Ruby: from treasure hand of seat 0 to buried treasure of seat 0" in story.told(2)


def test_st_3_5_not_in_the_turn_in_which_it_came() -> None:
    story = begin(lay(), "draw from treasure pile 1")
    assert buries(story.offers(0)) == []
    for seat in (0, 1, 2):
        story.says(seat, "end the turn")
    assert buries(story.offers(0)) == ["bury Diamond"]


def test_st_3_5_what_came_on_anothers_turn_is_buried_on_the_next_own() -> None:
    story = lay(["ruby@1"], ["skulduggery", "hook"], chance=[0])
    nobody_answers(begin(story, "play Skulduggery on seat 1"))
    if story.question() == "name_a_kind":
        story.says(0, "take a piracy card out of the hand of seat 1")
    story.says(0, "give Ruby to seat 1")
    assert lying(story)["treasure_hand 1"] == "ruby@9"
    story.says(0, "end the turn")
    assert buries(story.offers(1)) == ["bury Ruby"]


@pytest.mark.parametrize(("since", "able"), [(9, False), (8, False), (7, False), (6, True), (1, True)])
def test_st_3_5_full_round_wants_as_many_turns_as_there_are_players(since: int, able: bool) -> None:
    story = begin(lay([f"ruby@{since}"], settings={"bury_delay": "full_round"}))
    assert buries(story.offers(0)) == (["bury Ruby"] if able else [])


def test_st_3_6_since_is_the_turn_in_which_a_card_is_drawn() -> None:
    story = begin(lay(piracy=["plunder"]), "draw from treasure pile 2", "play Plunder")
    nobody_answers(story)
    assert lying(story) == {"treasure_hand 0": "emerald@9", "in_play": "plunder"}
    story.says(0, "draw from treasure pile 1")
    assert lying(story) == {"treasure_hand 0": "emerald@9 diamond@9", "piracy_discards": "plunder"}


def test_st_3_7_what_is_buried_is_neither_staked_nor_taken_back() -> None:
    story = begin(lay(["", "ruby@1"], buried=["diamond"]))
    assert [o for o in story.offers(0) if not o.startswith("draw")] == ["end the turn"]


def test_st_3_8_negative_treasure_may_be_buried_and_counts_there() -> None:
    story = begin(lay(["barnacle@1"], buried=["ruby"]), "bury Barnacle")
    assert lying(story) == {"buried 0": "ruby barnacle"}
    assert (story.g.buried_total[0], story.g.score(0)) == (200, 200)
