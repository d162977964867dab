"""Chapters 4 to 6: The Black Spot, winning and the house rules."""

from __future__ import annotations

import pytest

from tests.games.stolen_treasure.tale import Tale, begin, lay, lying, nobody_answers, wager

RICH = "diamond nobles_trove emerald"  # 1400


def winners(story: Tale) -> list[int]:
    return [seat for seat, won in enumerate(story.g.won) if won]


def test_st_4_1_who_holds_the_spot_cannot_win() -> None:
    story = begin(lay(["gold_dubloons@1"], ["the_black_spot"], [RICH]), "bury Gold Dubloons")
    assert story.g.scores()[0] == 1500
    assert story.question() == "take_an_action"
    assert story.offers(0)[3:] == ["end the turn"]  # neither played nor thrown off at will


def test_st_4_1_freed_of_the_spot_he_wins() -> None:
    story = begin(lay(["gold_dubloons@1"], ["the_black_spot", "bombs_away"], [RICH]), "play Bombs Away", seat=1)
    nobody_answers(story)
    assert lying(story)["piracy_discards"] == "the_black_spot bombs_away"
    story.says(1, "end the turn")
    story.says(2, "end the turn")
    story.says(0, "bury Gold Dubloons")
    assert winners(story) == [0]


def test_st_4_1_the_spot_goes_by_skulduggery_hook_and_spyglass() -> None:
    story = nobody_answers(
        begin(lay(["", "ruby@1"], ["skulduggery the_black_spot"], chance=[0]), "play Skulduggery on seat 1")
    )
    story.says(0, "take a treasure card out of the hand of seat 1")
    story.says(0, "give The Black Spot to seat 1")
    assert lying(story)["piracy_hand 1"] == "the_black_spot"
    for card in ("Skulduggery", "Hook"):
        story = lay(["ruby@1"], [card.lower(), "the_black_spot"], chance=[0])
        nobody_answers(begin(story, f"play {card} on seat 1"))
        story.says(0, "take a piracy card out of the hand of seat 1")
        assert "the_black_spot" in (lying(story).get("taken"), lying(story).get("piracy_hand 0"))
    story = nobody_answers(begin(lay(piracy=["spyglass the_black_spot", "yarr"]), "play Spyglass on seat 1"))
    assert lying(story) == {
        "piracy_hand 0": "yarr",
        "piracy_hand 1": "the_black_spot",
        "piracy_discards": "spyglass",
    }


def test_st_4_1_discarded_it_comes_back_with_the_next_shuffle_of_the_discards() -> None:
    story = begin(lay(piles=("", "", ""), discards=("", "hook the_black_spot")), "draw from piracy pile")
    assert story.table() == {"piracy_pile": "hook", "piracy_hand 0": "the_black_spot"}


def test_st_4_1_holding_it_is_hidden_from_who_did_not_see_it_come() -> None:
    views = []
    for card in ("the_black_spot", "hook"):
        story = begin(lay(piracy=["", "yarr"], piles=("", "", card)), "draw from piracy pile")
        views.append((story.g.view(1).to_bytes(), story.g.view(None).to_bytes(), story.told(1)))
    assert views[0] == views[1]


def test_st_5_1_the_score_is_what_is_buried_and_what_is_negative_in_hand() -> None:
    story = lay(["diamond@1 barnacle@2 hairy_chest@1", "bad_voodoo@1"], buried=["ruby peg_leg", "", "emerald"])
    assert story.g.scores() == [300 - 50 - 100, -200, 400]


def test_st_5_2_a_win_comes_by_itself_and_the_hand_is_shown() -> None:
    hands = ["gold_dubloons@1 silver_coin@2"]
    story = begin(lay(hands, ["yarr", "hook"], [RICH, "ruby"]), "bury Gold Dubloons")
    assert (winners(story), story.g.waiting(), story.g.places()) == ([0], [], [1, 2, 3])
    for viewer in (1, 2, None):
        assert story.known(story.g.treasure_hand[0], viewer) == ("silver_coin", "")
        assert story.known(story.g.piracy_hand[0], viewer) == ("yarr", "")
    assert story.known(story.g.piracy_hand[1], 0) == ("", "")
    assert story.told(None)[-1] == "the end: 1,500, 300, 0"


def test_st_5_2_negative_treasure_in_hand_keeps_from_winning() -> None:
    story = begin(lay(["gold_dubloons@1 peg_leg@9"], buried=[RICH]), "bury Gold Dubloons")
    assert (winners(story), story.question()) == ([], "take_an_action")


def test_st_5_2_a_kraken_makes_another_player_win() -> None:
    hands = ["", "barnacle@1"]
    story = begin(lay(hands, ["the_kraken"], ["", RICH + " gold_dubloons"]), "play The Kraken")
    nobody_answers(story)
    assert (winners(story), story.g.places()) == ([1], [2, 1, 2])


@pytest.mark.parametrize(
    ("active", "buried", "winner"),
    [
        (0, ["", RICH + " gold_dubloons", RICH + " sapphire"], 2),  # the highest score
        (2, ["diamond nobles_trove ruby sapphire", RICH + " gold_dubloons", ""], 0),  # equal: first clockwise
        (1, [RICH + " gold_dubloons", "", "diamond nobles_trove ruby sapphire"], 2),
        (1, [RICH + " sapphire", RICH + " gold_dubloons", ""], 1),  # the active player
    ],
)
def test_st_5_2_of_several_the_active_player_then_the_best_then_the_next(
    active: int, buried: list[str], winner: int
) -> None:
    piracy = ["", "", ""]
    piracy[active] = "the_kraken"
    story = lay(["barnacle@1", "barnacle@1 barnacle@1", "bad_voodoo@1"], piracy, buried)
    nobody_answers(begin(story, "play The Kraken", seat=active))
    assert winners(story) == [winner]


@pytest.mark.parametrize(
    ("buried", "piracy", "won", "places"),
    [
        (["ruby", "diamond", "emerald"], ["", "", ""], [1], [3, 1, 2]),
        (["ruby", "diamond", "emerald"], ["", "the_black_spot", ""], [2], [3, 2, 1]),
        (["ruby sapphire", "diamond", ""], ["", "", ""], [0], [1, 2, 3]),
        (["diamond", "nobles_trove", ""], ["", "", ""], [0, 1], [1, 1, 3]),
        (["", "", ""], ["the_black_spot", "", ""], [1, 2], [3, 1, 1]),
    ],
)
def test_st_5_3_after_the_last_round_the_best_without_the_spot_wins(
    buried: list[str], piracy: list[str], won: list[int], places: list[int]
) -> None:
    story = lay(piracy=piracy, buried=buried, settings={"max_rounds": 20}, turn=60)
    begin(story, "end the turn", seat=2)
    assert (story.g.waiting(), winners(story), story.g.places()) == ([], won, places)


def test_st_5_3_the_game_goes_on_to_the_end_of_the_round() -> None:
    story = begin(lay(settings={"max_rounds": 20}, turn=59), "end the turn", seat=1)
    assert (story.g.turn, story.g.waiting()) == (60, [2])


def test_st_5_3_a_skipped_turn_may_be_the_last() -> None:
    story = begin(lay(buried=["ruby"], settings={"max_rounds": 20}, turn=59, skip_next=[0, 0, 1]))
    story.says(0, "end the turn")
    assert story.g.waiting() == [1]
    story = lay(buried=["ruby"], settings={"max_rounds": 20}, turn=59, skip_next=[0, 0, 1])
    assert winners(begin(story, "end the turn", seat=1)) == [0]


def test_st_6_1_a_hand_over_seven_is_discarded_down_after_the_action() -> None:
    hand, piracy = "silver_coin@1 silver_coin@2 barnacle@3 ruby@4", "hook the_black_spot yarr"
    story = begin(lay([hand], [piracy], settings={"hand_limit": 7}), "draw from treasure pile 1")
    assert story.question() == "discard_to_the_limit"
    assert story.offers(0) == [
        *("discard Silver coin (place 0)", "discard Silver coin (place 1)", "discard Ruby", "discard Diamond"),
        *("discard Barnacle", "discard Hook", "discard Yarr!", "discard The Black Spot"),
    ]
    story.says(0, "discard The Black Spot")
    assert (story.question(), lying(story)["piracy_discards"]) == ("take_an_action", "the_black_spot")
    story.says(0, "draw from treasure pile 2")
    story.says(0, "discard Silver coin (place 1)")
    assert lying(story) == {
        "treasure_hand 0": "silver_coin@1 ruby@4 emerald@9 diamond@9 barnacle@3",
        "piracy_hand 0": "hook yarr",
        "treasure_discards": "silver_coin",
        "piracy_discards": "the_black_spot",
    }


def test_st_6_1_without_the_setting_a_hand_may_grow() -> None:
    story = begin(lay(["ruby@1 ruby@1 ruby@1 sapphire@1 sapphire@1 sapphire@1 sapphire@1"]), "draw from piracy pile")
    assert (story.question(), story.g.hand_size(0)) == ("take_an_action", 8)


def test_st_6_1_the_limit_hits_a_wagers_winner_who_is_not_the_active_player() -> None:
    hands = ["silver_coin@1 ruby@1", "ruby@2 hairy_chest@1 peg_leg@1 barnacle@1 barnacle@1 bad_voodoo@1 sapphire@1"]
    story = wager(lay(hands, settings={"hand_limit": 7}, chance=[1]), 0, 1, "Ruby", "Silver coin")
    story.says(1, "lay Ruby")
    story.says(1, "lay Sapphire")
    story.says(1, "lay no more")
    nobody_answers(story)
    assert (story.question(), story.g.waiting()) == ("discard_to_the_limit", [1])
    story.says(1, "discard Bad Voodoo")
    assert story.question() == "discard_to_the_limit"
    story.says(1, "discard Barnacle")
    assert (story.question(), story.g.waiting()) == ("take_an_action", [0])
    assert lying(story) == {
        "treasure_hand 1": "silver_coin@9 sapphire@1 ruby@2 ruby@9 hairy_chest@1 peg_leg@1 barnacle@1",
        "treasure_discards": "bad_voodoo barnacle",
    }


def test_st_6_1_the_active_player_first_then_clockwise_and_before_the_check_for_a_winner() -> None:
    full = "hook hook hook parley parley parley yarr"
    piracy = [full + " yarr", full, full + " yarr"]
    story = lay(["", "gold_dubloons@1 barnacle@1"], piracy, ["", RICH], settings={"hand_limit": 7})
    begin(story, "bury Gold Dubloons", seat=1)
    assert story.g.waiting() == [1]
    story.says(1, "discard Barnacle")
    assert (story.g.score(1), winners(story), story.g.waiting()) == (1500, [], [2])
    story.says(2, "discard Hook")
    assert (winners(story), story.g.waiting()) == ([], [0])
    story.says(0, "discard Hook")
    assert winners(story) == [1]


@pytest.mark.parametrize(("target", "won"), [(500, [0]), (550, [])])
def test_st_6_2_the_target_is_a_setting(target: int, won: list[int]) -> None:
    assert winners(begin(lay(["diamond@1"], settings={"target": target}), "bury Diamond")) == won


def test_st_6_3_by_default_a_kind_is_named() -> None:
    story = nobody_answers(begin(lay(["", "ruby@3"], ["hook", "yarr"]), "play Hook on seat 1"))
    assert story.question() == "name_a_kind"
