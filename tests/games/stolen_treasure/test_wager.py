"""Chapter 3.4: the wager."""

from __future__ import annotations

import pytest

from cutpurse.engine.agenda import Act
from cutpurse.engine.text import act_text
from tests.games.stolen_treasure.tale import Tale, begin, lay, lying, nobody_answers, wager


def matched(story: Tale, seat: int, *cards: str) -> Tale:
    """The opponent lays these cards, named as in options, and no more."""
    for card in cards:
        story.says(seat, f"lay {card}")
    if story.question() == "match_the_stake":
        story.says(seat, "lay no more")
    return story


def rubies(*piracy: str, chance: tuple[int, ...] = (), method: str = "coin") -> Tale:
    """A ruby of turn 2 is staked against a ruby of turn 4, and both lie."""
    story = lay(["ruby@2", "ruby@4"], piracy, settings={"wager_method": method}, chance=chance)
    return matched(wager(story, 0, 1, "Ruby"), 1, "Ruby")


WON = {"treasure_hand 0": "ruby@2 ruby@9"}
LOST = {"treasure_hand 1": "ruby@4 ruby@9"}


def test_st_3_23_any_number_of_hand_treasure_is_staked_face_up() -> None:
    story = begin(lay(["silver_coin@1 silver_coin@4 barnacle@1 ruby@9", "ruby@1", ""], ["", "", "hook"]))
    assert [o for o in story.offers(0) if o.startswith("wager")] == ["wager against seat 1"]
    story.says(0, "wager against seat 1")
    assert story.offers(0) == [
        *("stake Silver coin (place 0)", "stake Silver coin (place 1)", "stake Ruby", "stake Barnacle"),
    ]
    story.says(0, "stake Silver coin (place 1)")
    story.says(0, "stake Ruby")
    assert story.offers(0) == ["lay no more", "stake Silver coin", "stake Barnacle"]
    story.says(0, "lay no more")
    assert lying(story) == {
        "treasure_hand 0": "silver_coin@1 barnacle@1",
        "treasure_hand 1": "ruby@1",
        "piracy_hand 2": "hook",
        "stake 0": "silver_coin@4 ruby@9",
    }
    assert story.seen(story.g.stake[0], 2) == "silver_coin ruby"
    assert [act_text(story.g, act) for act in story.g.view(2).pending] == [
        "seat 0 wagers against seat 1",
        "seat 1 has to match 350 of seat 0",
    ]


def test_st_3_23_without_treasure_nobody_wagers() -> None:
    story = begin(lay(["", "ruby@1"]))
    assert not [o for o in story.offers(0) if o.startswith("wager")]


def test_st_3_23_the_wager_itself_is_not_answered() -> None:
    story = wager(lay(["ruby@2", "ruby@4"], ["", "yarr pirates_code", "yarr"]), 0, 1, "Ruby")
    assert (story.question(), story.g.waiting()) == ("match_the_stake", [1])


@pytest.mark.parametrize(("stake", "number"), [("hairy_chest", 0), ("barnacle", -100)])
def test_st_3_23_the_sum_may_be_zero_or_negative(stake: str, number: int) -> None:
    story = wager(lay([f"{stake}@1", "barnacle@1 ruby@1"]), 0, 1, stake.replace("_", " ").title())
    assert story.g.question.act() == Act(story.g.words.verb_named("match"), seat=1, number=number, actor=0)


@pytest.mark.parametrize(
    ("stake", "hand", "offers"),
    [
        # A set that reaches the stake, whichever he likes.
        ("Ruby", "silver_coin ruby emerald barnacle", ["Silver coin", "Ruby", "Emerald", "Barnacle"]),
        # The barnacle would leave only 250 within reach.
        ("Ruby", "silver_coin ruby barnacle", ["Silver coin", "Ruby"]),
        # Nothing reaches it: all positive cards, zeros at will.
        ("Diamond", "silver_coin ruby barnacle hairy_chest", ["Silver coin", "Ruby", "Hairy Chest"]),
        ("Diamond", "barnacle hairy_chest", ["Hairy Chest"]),
        # Only negative cards: one of the least negative.
        ("Diamond", "barnacle peg_leg old_billys_boot bad_voodoo", ["Peg Leg", "Old Billy's Boot"]),
        ("Barnacle", "bad_voodoo bad_voodoo", ["Bad Voodoo"]),
        # The only way is to overshoot.
        ("Silver coin", "diamond", ["Diamond"]),
        ("Barnacle", "barnacle peg_leg bad_voodoo", ["Peg Leg", "Barnacle"]),
    ],
)
def test_st_3_24_a_card_is_offered_while_a_legal_set_stays_within_reach(
    stake: str, hand: str, offers: list[str]
) -> None:
    mine = "silver_coin@1 ruby@1 diamond@1 barnacle@1"
    story = wager(lay([mine, " ".join(f"{card}@1" for card in hand.split())]), 0, 1, stake)
    assert story.offers(1) == [f"lay {card}" for card in offers]


def test_st_3_24_to_stop_is_offered_on_a_legal_set_only() -> None:
    story = wager(lay(["ruby@1", "gold_dubloons@1 sapphire@1 silver_coin@1 barnacle@1"]), 0, 1, "Ruby")
    story.says(1, "lay Gold Dubloons")
    assert story.offers(1) == ["lay Silver coin", "lay Sapphire"]
    story.says(1, "lay Sapphire")
    assert story.offers(1) == ["lay no more", "lay Silver coin"]
    story.says(1, "lay Silver coin")
    assert story.offers(1) == ["lay no more"]  # a barnacle would bring it under the stake


def test_st_3_24_a_forced_maximum_takes_all_positive_cards() -> None:
    story = wager(lay(["diamond@1", "silver_coin@1 sapphire@1 hairy_chest@1 barnacle@1"]), 0, 1, "Diamond")
    story.says(1, "lay Silver coin")
    assert story.offers(1) == ["lay Sapphire", "lay Hairy Chest"]
    story.says(1, "lay Sapphire")
    assert story.offers(1) == ["lay no more", "lay Hairy Chest"]


def test_st_3_24_a_lone_barnacle_against_bad_voodoo_only() -> None:
    story = wager(lay(["barnacle@1", "bad_voodoo@1 bad_voodoo@2"], chance=[1]), 0, 1, "Barnacle")
    assert story.offers(1) == ["lay Bad Voodoo (place 0)", "lay Bad Voodoo (place 1)"]
    story.says(1, "lay Bad Voodoo (place 1)")
    assert story.offers(1) == ["lay no more"]
    story.says(1, "lay no more")
    nobody_answers(story)
    assert lying(story) == {"treasure_hand 1": "barnacle@9 bad_voodoo@1 bad_voodoo@2"}


def test_st_3_24_copies_of_different_age_are_told_apart() -> None:
    story = wager(lay(["ruby@1", "silver_coin@3 silver_coin@7 ruby@1"]), 0, 1, "Ruby")
    assert story.offers(1) == ["lay Silver coin (place 0)", "lay Silver coin (place 1)", "lay Ruby"]
    story.says(1, "lay Silver coin (place 1)")
    assert lying(story)["stake 1"] == "silver_coin@7"


def test_st_3_25_a_parley_loses_at_once_and_the_other_takes_everything() -> None:
    story = rubies("parley")
    assert (story.question(), story.g.waiting()) == ("any_parley", [0, 1])
    story.says(0, "play Parley to lose to seat 1")
    story.says(1, "pass")
    nobody_answers(story)
    assert lying(story) == LOST | {"piracy_discards": "parley"}
    assert (story.question(), story.g.actions_left) == ("take_an_action", 1)


def test_st_3_25_the_opponent_may_parley_too_but_nobody_else() -> None:
    story = rubies("", "parley", "parley")
    assert story.g.waiting() == [0, 1]
    story.says(0, "pass")
    story.says(1, "play Parley to lose to seat 0")
    nobody_answers(story)
    assert lying(story) == WON | {"piracy_discards": "parley", "piracy_hand 2": "parley"}


def test_st_3_25_if_both_want_parley_the_active_player_loses() -> None:
    story = lay(["ruby@4", "ruby@2"], ["parley", "parley"])
    matched(wager(story, 1, 0, "Ruby"), 0, "Ruby")
    story.says(0, "play Parley to lose to seat 1")
    story.says(1, "play Parley to lose to seat 0")
    nobody_answers(story)
    assert lying(story) == {
        "treasure_hand 0": "ruby@4 ruby@9",
        "piracy_hand 0": "parley",
        "piracy_discards": "parley",
    }


def test_st_3_25_a_third_player_may_stop_a_parley_and_the_poll_is_repeated() -> None:
    story = rubies("parley", "parley", "yarr yarr", chance=(0,))
    story.says(0, "play Parley to lose to seat 1")
    story.says(1, "pass")
    assert (story.question(), story.g.waiting()) == ("any_yarr", [1, 2])
    story.says(1, "pass")
    story.says(2, "play Yarr!")
    story.all_pass()
    assert (story.question(), story.offers(0)) == ("any_parley", ["pass"])
    story.says(0, "pass")
    story.says(1, "play Parley to lose to seat 0")
    story.says(0, "pass")
    story.says(2, "play Yarr!")
    story.all_pass()
    assert story.question() == "any_parley"
    nobody_answers(story)
    assert lying(story) == WON | {"piracy_discards": "parley yarr parley yarr"}


def test_st_3_25_a_yarr_on_the_yarr_lets_the_parley_stand() -> None:
    story = rubies("parley yarr", "", "yarr")
    story.says(0, "play Parley to lose to seat 1")
    story.says(1, "pass")
    story.says(1, "pass")
    story.says(2, "play Yarr!")
    story.says(0, "play Yarr!")
    story.says(1, "pass")
    nobody_answers(story)
    assert lying(story) == LOST | {"piracy_discards": "parley yarr yarr"}


@pytest.mark.parametrize(("fall", "left"), [(0, WON), (1, LOST)])
def test_st_3_26_a_fair_coin_decides(fall: int, left: dict[str, str]) -> None:
    story = nobody_answers(rubies(chance=(fall,)))
    assert lying(story) == left
    assert f"the coin falls for seat {fall}" in story.told(None)


@pytest.mark.parametrize(
    ("rolls", "left"),
    [((5, 0), WON), ((2, 3), LOST), ((3, 3, 0, 0, 1, 0), WON), ((4, 4) * 20 + (0, 1), LOST)],
)
def test_st_3_26_dice_are_rolled_until_one_is_higher(rolls: tuple[int, ...], left: dict[str, str]) -> None:
    story = nobody_answers(rubies(chance=rolls, method="die"))
    assert lying(story) == left
    rolled = [line for line in story.told(2) if "rolls" in line]
    assert rolled == [f"seat {k % 2} rolls {roll + 1}" for k, roll in enumerate(rolls)]
    assert story.script.left == []


def test_st_3_26_after_twenty_ties_thrown_again_the_coin_decides() -> None:
    story = nobody_answers(rubies(chance=(4, 4) * 21 + (1,), method="die"))
    assert lying(story) == LOST
    assert "the coin falls for seat 1" in story.told(2)
    assert story.script.left == []


@pytest.mark.parametrize(
    ("mine", "other", "left"),
    [
        *(("rock", "scissors", WON), ("paper", "rock", WON), ("scissors", "paper", WON)),
        *(("scissors", "rock", LOST), ("rock", "paper", LOST), ("paper", "scissors", LOST)),
    ],
)
def test_st_3_26_hand_signs_are_sealed_and_shown_at_once(mine: str, other: str, left: dict[str, str]) -> None:
    story = nobody_answers(rubies(method="rps"))
    assert (story.question(), story.g.waiting()) == ("show_a_sign", [0, 1])
    before = story.g.view(0).to_bytes(), story.told(0)
    story.says(1, f"show {other}")
    assert (story.g.view(0).to_bytes(), story.told(0)) == before
    story.says(0, f"show {mine}")
    assert lying(story) == left
    assert {f"seat 0 shows {mine}", f"seat 1 shows {other}"} <= set(story.told(2))


def test_st_3_26_after_five_ties_shown_again_the_coin_decides() -> None:
    story = nobody_answers(rubies(method="rps", chance=(0,)))
    for _ in range(6):
        assert story.question() == "show_a_sign"
        story.says(0, "show rock")
        story.says(1, "show rock")
    assert lying(story) == WON
    assert "the coin falls for seat 0" in story.told(2)


@pytest.mark.rule("ST-3.6")
def test_st_3_27_the_winner_takes_all_and_keeps_the_age_of_his_own() -> None:
    hands = ["silver_coin@1 silver_coin@5 barnacle@2 diamond@1", "silver_coin@3 peg_leg@4"]
    story = wager(lay(hands, chance=[0]), 0, 1, "Silver coin (place 1)", "Barnacle")
    matched(story, 1, "Peg Leg")
    nobody_answers(story)
    assert lying(story) == {
        "treasure_hand 0": "silver_coin@1 silver_coin@5 diamond@1 peg_leg@9 barnacle@2",
        "treasure_hand 1": "silver_coin@3",
    }


def test_st_3_27_the_opponent_may_win_and_bury_his_gain_on_his_next_turn() -> None:
    story = nobody_answers(rubies(chance=(1,)))
    story.says(0, "end the turn")
    assert "bury Ruby (place 0)" in story.offers(1)
    assert "bury Ruby (place 1)" in story.offers(1)
