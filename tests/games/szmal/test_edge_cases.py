"""Section 7 of the sheet, case by case, with the cases it asks to be tested."""

from __future__ import annotations

from random import Random

import pytest

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.imagine import imagine
from cutpurse.engine.match import Match
from cutpurse.games.szmal.cards import CAR, GUN, KEY
from cutpurse.games.szmal.rules import BOX, BeginARound, Szmal
from tests.games.szmal.table import Gang


# -- Costs and Needs ignored
def test_sz_7_1_with_costs_ignored_4_pays_nothing_and_41_returns_nothing() -> None:
    story = Gang(holdings=["8@3", ""], free_costs=[1, 0]).plays((0, 4), (0, 41))
    assert story.g.cash == [0, 0]
    assert story.table() == {"discard": "4", "holdings 0": "8@3", "kept 0": "41"}
    assert story.ends_turn().g.extra_markers == [2, 0]


@pytest.mark.rule("SZ-7.1")
@pytest.mark.parametrize(("card", "gain"), [(27, 30_000), (35, 25_000), (57, 15_000)])
def test_sz_7_1_with_costs_ignored_texts_have_their_full_effect(card: int, gain: int) -> None:
    story = Gang(thugs=["25", ""], holdings=["8@3", ""], hand=["2", ""], free_costs=[1, 0]).plays((0, card))
    assert (story.g.waiting(), story.g.cash) == ([], [gain, 0])
    table = story.table()
    assert (table["hand 0"], table["holdings 0"], "25" in table["thugs 0"]) == ("2", "8@3", True)


def test_sz_7_1_with_costs_ignored_58_and_71_stay_and_work() -> None:
    story = Gang(holdings=["", "8@3"], free_costs=[1, 0]).plays((0, 58), (0, 71), (0, 38))
    assert story.table()["holdings 1"] == "8@2"
    story.says(0, "put markers on 58: 2")
    assert story.g.cash == [5_000, 0]


@pytest.mark.rule("SZ-7.2")
@pytest.mark.parametrize(("card", "gain"), [(20, 25_000), (26, 10_000), (29, 45_000), (30, 25_000)])
def test_sz_7_2_with_needs_ignored_all_work(card: int, gain: int) -> None:
    assert Gang(thugs=["25", ""], free_needs=[1, 0]).plays((0, card)).g.cash == [gain, 0]


def test_sz_7_2_56_and_38_without_an_own_holding_do_nothing() -> None:
    story = Gang(holdings=["", "8@3"], free_needs=[1, 0]).plays((0, 56), (0, 38))
    assert (story.g.waiting(), story.g.plays) == ([], 2)
    assert story.table() == {"discard": "56 38", "holdings 1": "8@3"}


# -- 53 and 54
@pytest.mark.rule("SZ-7.3")
@pytest.mark.parametrize("found", [57, 71, 21, 42])
def test_sz_7_3_a_thug_found_by_53_has_no_cost_and_no_need(found: int) -> None:
    story = Gang(thugs=["25", ""], holdings=["8@1", ""], deck=f"{found} 2").plays((0, 53))
    assert story.g.waiting() == []
    assert story.table()["thugs 0"] == " ".join(str(card) for card in sorted((25, 53, found)))
    assert story.table()["discard"] == "2"


def test_sz_7_3_54_found_by_53_copies_it_until_the_deck_is_empty() -> None:
    story = Gang(deck="2 3 8 54 9").plays((0, 53))
    assert story.offers(0) == ["copy 53"]
    story.says(0, "copy 53")
    assert story.table() == {"discard": "9 8 3 2", "thugs 0": "53 54=53"}


def test_sz_7_3_54_found_by_53_copies_it_and_finds_another_thug() -> None:
    story = Gang(3, deck="2 22 54 9", shakedowns=[0, 0, 1], thugs=["61", "", ""]).plays((0, 53))
    story.says(0, "copy 53")
    assert story.table() == {"deck": "2", "discard": "9", "thugs 0": "22 53 54=53 61"}
    assert story.g.cash == [3 * 15_000 + 10_000, 0, 30_000]  # three Thugs were played, and seen to be


def test_sz_7_4_the_triggers_of_its_arrival_come_before_54_is_a_copy() -> None:
    story = Gang(thugs=["61 72", ""], shakedowns=[0, 1]).plays((0, 54))
    assert story.g.cash == [15_000, 10_000]
    assert story.question() == "copy_a_thug"


def test_sz_7_4_54_takes_the_printed_symbols_only() -> None:
    story = Gang().plays((0, 72)).ends_turn()
    assert [story.g.symbols(0, symbol) for symbol in (GUN, CAR, KEY)] == [1, 1, 1]
    story.plays((0, 54))
    story.says(0, "copy 72")
    assert [story.g.symbols(0, symbol) for symbol in (GUN, CAR, KEY)] == [1, 2, 1]


def test_sz_7_4_a_copy_has_the_copied_number_in_every_order() -> None:
    """16 would pay first if 54 were 54: then it would find 5,000."""
    assert Gang(thugs=["54=6", ""], holdings=["16", ""]).each_turn().g.cash == [15_000, 0]


def test_sz_7_4_a_copy_outlives_the_original_and_off_the_table_is_54_again() -> None:
    story = Gang(thugs=["70", ""]).plays((0, 54))
    story.says(0, "copy 70")
    story.plays((0, 35))
    story.says(0, "give up 70")
    assert story.g.cash == [25_000 + 5_000, 0]
    story.plays((0, 35))
    story.says(0, "give up 54")
    assert story.table() == {"discard": "70 35 54 35"}
    assert story.g.cash == [55_000, 0]


def test_sz_7_4_a_blank_54_stays_blank_also_when_55_redoes_it() -> None:
    story = Gang(free_needs=[1, 0]).plays((0, 54))
    assert story.table() == {"thugs 0": "54"}
    story.ends_turn().plays((0, 22), (0, 55))
    assert story.g.waiting() == []
    assert story.table() == {"thugs 0": "22 54", "holdings 0": "55@0"}
    assert story.g.cash == [10_000, 0]


def test_sz_7_5_a_copy_of_24_gains_now_and_loses_another_time_at_the_end() -> None:
    story = Gang(thugs=["24", ""], cash=[40_000, 0], round=12).plays((0, 54))
    story.says(0, "copy 24")
    assert story.g.cash == [60_000, 0]
    assert story.ends_turn().g.cash == [10_000, 0]


def test_sz_7_5_a_copy_of_62_pays_when_lost() -> None:
    story = Gang(thugs=["54=62", ""], losses_73=[0, 1]).losses()
    story.says(0, "lose 54")
    assert (story.g.cash, story.table()) == ([20_000, 0], {"discard": "54"})


def test_sz_7_5_a_copy_of_72_gets_its_own_gun_and_key() -> None:
    story = Gang(thugs=["72", ""]).plays((0, 54))
    story.says(0, "copy 72")
    assert [story.g.symbols(0, symbol) for symbol in (GUN, CAR, KEY)] == [0, 2, 0]
    story.ends_turn()
    assert [story.g.symbols(0, symbol) for symbol in (GUN, CAR, KEY)] == [1, 2, 1]


def test_sz_7_5_a_copy_of_61_does_not_reward_itself() -> None:
    story = Gang(thugs=["61", ""]).plays((0, 54))
    story.says(0, "copy 61")
    assert story.g.cash == [15_000, 0]  # the original rewards it
    assert story.plays((0, 25)).g.cash == [45_000, 0]


@pytest.mark.rule("SZ-7.5")
def test_sz_7_5_copies_of_42_66_70_and_71_are_added_to_the_original() -> None:
    assert Gang(thugs=["42 54=42", ""]).plays((0, 46)).table()["holdings 0"] == "46@2"
    assert Gang(thugs=["66 54=66", ""]).plays((0, 7)).table()["holdings 0"] == "7@1"
    assert Gang(thugs=["70 54=70", ""]).plays((0, 75)).g.cash == [10_000, 0]
    assert Gang(thugs=["71 54=71", ""]).plays((0, 75)).g.cash == [20_000, 0]


# -- 55, 67, 80, 68, 36, 41
def test_sz_7_6_55_costs_nothing_again_and_sets_up_next_turn_again() -> None:
    story = Gang(thugs=["1 57 63 64 67 68 72", ""], holdings=["8@2", ""]).plays((0, 55), (1, 22))
    assert story.g.waiting() == []
    assert story.g.cash == [10_000 + 10_000, 10_000]  # 57, and 1 watches
    counters = story.counters()
    assert [counters[f"next_{name}"] for name in ("free_costs", "free_needs", "extra_plays", "repeats")] == [[1, 0]] * 4
    assert story.ends_turn().g.symbols(0, KEY) == 4  # 1, 67, 68 and 72


@pytest.mark.rule("SZ-7.6")
@pytest.mark.parametrize(("played", "hand", "found"), [("65 53", "22", "25"), ("53 65", "25", "22")])
def test_sz_7_6_55_redoes_thugs_in_the_order_they_were_played(played: str, hand: str, found: str) -> None:
    story = Gang(thugs=["", ""], deck="25 22")
    for place, card in enumerate(played.split()):
        story.g.thugs[0].put(int(card), story.g.everyone, (int(card), 3 + place, 7 + place, 0, 0))
    story.plays((0, 55))
    assert story.table()["hand 0"] == hand
    assert found in story.table()["thugs 0"].split()


def test_sz_7_6_the_thug_of_a_redone_53_is_not_redone() -> None:
    story = Gang(thugs=["53", ""], deck="22").plays((0, 55))
    assert story.g.cash == [10_000, 0]
    assert story.table() == {"thugs 0": "22 53", "holdings 0": "55@0"}


def test_sz_7_6_a_copy_is_redone_as_what_it_copies() -> None:
    assert Gang(thugs=["54=22 66", ""]).plays((0, 55)).g.cash == [10_000, 0]


def test_sz_7_7_an_empty_hand_plays_nothing() -> None:
    story = Gang(extra_plays=[2, 0]).extra_cards()
    assert (story.g.waiting(), story.g.extra_plays) == ([], [0, 0])


def test_sz_7_7_the_extra_card_has_its_cost_and_need() -> None:
    story = Gang(hand=["30 57", ""], holdings=["8", ""], extra_plays=[2, 0]).extra_cards()
    story.says(0, "play 57")
    assert story.offers(0) == ["pass", "give up 8"]
    story.says(0, "pass")
    story.says(0, "play 30")
    assert story.table() == {"discard": "57 30", "holdings 0": "8@0"}


def test_sz_7_7_two_effects_are_two_extra_cards() -> None:
    story = Gang(hand=["22 25 65", ""], deck="2 3", thugs=["67", ""]).plays((0, 54))
    story.says(0, "copy 67")
    story.plays((0, 55)).ends_turn().extra_cards()  # 55 redoes 67, but not the 54 of this turn
    story.says(0, "play 65")
    assert story.offers(0) == ["play 2", "play 3", "play 22", "play 25"]
    story.says(0, "play 22")
    assert story.g.waiting() == []


def test_sz_7_8_the_extra_card_of_80_is_resolved_before_the_triggers_after_80() -> None:
    """36 returns at 45,000; after the 5,000 of 70 for 80 it would not."""
    story = Gang(thugs=["70", ""], hand=["36", ""], cash=[20_000, 0]).plays((0, 80))
    assert story.offers(0) == ["pass", "play 36"]
    story.says(0, "play 36")
    assert story.g.cash == [20_000 + 10_000 + 15_000 + 5_000 + 5_000, 0]
    assert story.table() == {"discard": "80", "hand 0": "36", "thugs 0": "70"}


def test_sz_7_8_80_may_be_followed_by_nothing_and_asks_nothing_of_an_empty_hand() -> None:
    story = Gang(hand=["36", ""]).plays((0, 80))
    story.says(0, "pass")
    assert story.table() == {"discard": "80", "hand 0": "36"}
    assert Gang().plays((0, 80)).g.waiting() == []


def test_sz_7_9_68_returns_78_and_its_effect_still_comes() -> None:
    story = Gang(repeats=[1, 0]).plays((0, 78))
    assert story.table() == {"hand 0": "78"}
    assert story.ends_turn().g.doublings == [1, 0]


def test_sz_7_9_36_and_68_are_one_return() -> None:
    assert Gang(repeats=[1, 0]).plays((0, 36)).table() == {"hand 0": "36"}


def test_sz_7_10_36_compares_before_what_comes_after_an_action() -> None:
    story = Gang(thugs=["70", ""], cash=[30_000, 0]).plays((0, 36))
    assert (story.g.cash, story.table()["hand 0"]) == ([50_000, 0], "36")


def test_sz_7_10_36_compares_after_what_doubled_its_gain() -> None:
    assert Gang(cash=[20_000, 0], doublings=[1, 0]).plays((0, 36)).table() == {"discard": "36"}


def test_sz_7_10_36_under_68_at_exactly_fifty_thousand_returns_by_68() -> None:
    story = Gang(cash=[35_000, 0], repeats=[1, 0]).plays((0, 36))
    told = story.told(None)
    assert story.table() == {"hand 0": "36"}
    assert told.index("cash of seat 0: 50,000") < next(i for i, text in enumerate(told) if "to hand" in text)
    assert Gang(cash=[35_000, 0]).plays((0, 36)).table() == {"discard": "36"}


def test_sz_7_11_the_holding_taken_back_may_be_replayed_at_once_without_the_bonus() -> None:
    story = Gang(holdings=["46@3", ""], extra_plays=[1, 0]).plays((0, 41))
    story.says(0, "take back 46")
    story.extra_cards().says(0, "play 46")
    assert story.table() == {"holdings 0": "46@0", "kept 0": "41"}


def test_sz_7_11_41_42_43_and_44_add_up_for_every_holding_of_next_turn() -> None:
    story = Gang(thugs=["42 1", ""], holdings=["12@3 44 8", ""]).plays((0, 43), (0, 41))
    story.says(0, "take back 12")
    story.ends_turn().plays((0, 46), (0, 50))
    assert story.table()["holdings 0"] == "8@0 44@1 46@9 50@9"  # 5 + 1 + 3 - 1 each; then 50 gives one to all three


# -- markers
def test_sz_7_12_44_comes_after_other_markers_and_before_the_holdings_own_text() -> None:
    story = Gang(thugs=["25", ""], holdings=["44", ""]).plays((0, 15), (0, 46))
    assert story.table()["holdings 0"] == "15@1 44@0 46@0"  # 1 - 1, then one for the car


def test_sz_7_13_no_effect_takes_markers_from_45() -> None:
    story = Gang(holdings=["44", "45@2"], extra_markers=[0, 1], thugs=["22", ""]).plays((0, 59), (1, 44))
    assert story.table()["holdings 1"] == "44@0 45@2"
    assert Gang(holdings=["44", ""], extra_markers=[3, 0]).plays((0, 45)).table()["holdings 0"] == "44@0 45@3"


def test_sz_7_13_4_and_41_count_the_markers_of_45() -> None:
    story = Gang(holdings=["45@3", ""]).plays((0, 4))
    story.says(0, "give up 45")
    assert (story.g.cash, story.table()) == ([45_000, 0], {"discard": "45 4"})
    story = Gang(holdings=["45@3", ""]).plays((0, 41))
    story.says(0, "take back 45")
    assert story.ends_turn().g.extra_markers == [5, 0]


def test_sz_7_13_45_beside_58_gets_two_when_another_is_given_up() -> None:
    story = Gang(holdings=["45 8", "45"]).plays((0, 58))
    story.says(0, "give up 8")
    assert story.table() == {"discard": "8", "holdings 0": "45@2 58@1", "holdings 1": "45@0"}


def test_sz_7_14_all_wrenches_count_for_12_and_44_takes_none() -> None:
    story = Gang(holdings=["12 44 8 9", "7"], round=12).ends_turn()
    assert story.table()["holdings 0"] == "8@0 9@0 12@3 44@0"


@pytest.mark.rule("SZ-7.15")
@pytest.mark.parametrize(("thugs", "cash"), [(["", "22"], 25_000), (["22", "23"], 0), (["22", ""], 0)])
def test_sz_7_15_20_wants_strictly_the_fewest(thugs: list[str], cash: int) -> None:
    assert Gang(thugs=thugs).plays((0, 20)).g.cash == [cash, 0]


def test_sz_7_15_10_pays_the_sole_leader_whoever_owns_it() -> None:
    assert Gang(3, holdings=["10", "8 9", "7"]).each_turn().g.cash == [0, 5_000, 0]
    assert Gang(3, holdings=["10 8", "11 9", "7"]).each_turn().g.cash == [0, 0, 0]


def test_sz_7_16_the_most_anywhere_and_of_opponents_only() -> None:
    assert Gang(thugs=["22", "23"]).plays((0, 73)).g.cash == [5_000, 0]
    assert Gang(holdings=["8", "9"]).plays((0, 60)).g.cash == [5_000, 0]
    story = Gang(holdings=["16@7 8", "9@2"]).plays((0, 56))
    story.says(0, "put markers on 8: 2")
    assert story.table()["holdings 0"] == "8@2 16@7"


def test_sz_7_17_cards_count_themselves() -> None:
    story = Gang(thugs=["63 25", ""], free_needs=[1, 0], deck="2 3").plays((0, 37), (0, 23), (0, 65), (0, 50))
    assert story.table()["holdings 0"] == "37@2 50@1"
    assert story.g.cash == [10_000, 0]
    assert story.table()["hand 0"] == "2 3"  # the keys of 23 and 65
    assert Gang(holdings=["16 37 50", ""]).each_turn().g.cash == [0, 0]


@pytest.mark.rule("SZ-7.18")
@pytest.mark.parametrize(
    ("seats", "cash"), [(2, [0, 10_000]), (3, [0, 10_000, 0]), (4, [0, 10_000, 0, 0]), (5, [0, 10_000, 0, 0, 0])]
)
def test_sz_7_18_a_neighbour_is_rewarded_once(seats: int, cash: list[int]) -> None:
    informs = [0, 1] + [0] * (seats - 2)
    assert Gang(seats, informs=informs).plays((0, 38)).g.cash == cash


@pytest.mark.rule("SZ-7.18")
def test_sz_7_18_with_four_players_who_sits_opposite_is_no_neighbour() -> None:
    assert Gang(4, informs=[0, 0, 1, 0]).plays((0, 38)).g.cash == [0, 0, 0, 0]
    assert Gang(4, informs=[0, 0, 0, 1]).plays((0, 38)).g.cash == [0, 0, 0, 10_000]
    assert Gang(3, informs=[0, 0, 1]).plays((0, 38)).g.cash == [0, 0, 10_000]


def test_sz_7_18_extra_plays_and_the_thug_of_53_count() -> None:
    story = Gang(shakedowns=[0, 1], informs=[0, 1], extra_plays=[1, 0], hand=["38", ""], deck="6").plays((0, 53))
    assert story.g.cash == [0, 20_000]
    story.extra_cards().says(0, "play 38")
    assert story.g.cash == [0, 30_000]


def test_sz_7_19_1_watches_the_left_neighbour() -> None:
    assert Gang(3, watching=[1, 0, 0]).plays((1, 22), (2, 24)).g.cash == [10_000, 10_000, 20_000]
    assert Gang(watching=[0, 1]).plays((0, 22)).g.cash == [10_000, 10_000]


def test_sz_7_20_holdings_without_markers_are_left_alone() -> None:
    story = Gang(thugs=["22", ""], holdings=["", "8 9@1"]).plays((0, 59))
    assert story.table()["holdings 1"] == "8@0 9@0"
    assert Gang(thugs=["", "22"], cash=[0, 20_000]).plays((0, 75)).g.cash == [0, 20_000]
    assert Gang(holdings=["8 9", ""], cash=[0, 20_000]).plays((0, 77)).g.cash == [0, 20_000]


@pytest.mark.rule("SZ-7.21")
@pytest.mark.parametrize(("card", "cash"), [(38, 0), (80, 10_000)])
def test_sz_7_21_without_a_holding_that_part_is_skipped(card: int, cash: int) -> None:
    story = Gang(holdings=["", "8"]).plays((0, card))
    assert (story.g.waiting(), story.g.cash) == ([], [cash, 0])


# -- who sees what
def test_sz_7_22_territories_are_open_and_hands_are_not() -> None:
    story = Gang(
        thugs=["54=22", ""], holdings=["8@2", ""], kept=["43@7", ""], hand=["2 3", ""], deck="5 6", discard="9"
    )
    g = story.g
    for viewer in (1, None):
        assert story.seen(g.thugs[0], viewer) == "54"
        assert g.view(viewer).zone(g.thugs[0].number).columns[0] == (22,)
        assert g.view(viewer).zone(g.holdings[0].number).columns[0] == (2,)
        assert (story.seen(g.kept[0], viewer), story.seen(g.discard, viewer)) == ("43", "9")
        assert (story.seen(g.hand[0], viewer), story.seen(g.deck, viewer)) == ("", "")
        assert g.view(viewer).zone(g.hand[0].number).size == 2
    assert story.seen(g.hand[0], 0) == "2 3"


def test_sz_7_22_cards_drawn_are_seen_by_who_draws_them_and_a_card_given_up_by_all() -> None:
    story = Gang(deck="8", hand=["9", ""]).plays((0, 65), (0, 27))
    assert "Chinatown: from deck to hand of seat 0" in story.told(0)
    assert "card face down: from deck to hand of seat 0" in story.told(1)
    story.says(0, "discard 9")
    assert "Daisy's Cookies: from hand of seat 0 to discard pile" in story.told(None)


def test_sz_7_22_picks_are_hidden() -> None:
    story = Gang(pile=["2 3", "8 9"], round=0)
    story.begin(BeginARound(-1))
    story.says(0, "pick 2")
    story.says(1, "pick 9")
    assert "Inform!: from draft pile in hand of seat 0 to hand of seat 0" in story.told(0)
    assert "card face down: from draft pile in hand of seat 0 to hand of seat 0" in story.told(1)


@pytest.mark.rule("SZ-7.23")
@pytest.mark.parametrize("returns", [36, 68, 41])
def test_sz_7_23_a_card_that_returned_openly_is_known_until_it_is_seen_to_leave(returns: int) -> None:
    story = Gang(hand=["2", ""], holdings=["46", ""], repeats=[int(returns == 68), 0])
    story.plays((0, {36: 36, 68: 34, 41: 41}[returns]))
    if returns == 41:
        story.says(0, "take back 46")
    back = {36: "36", 68: "34", 41: "46"}[returns]
    assert story.known(story.g.hand[0], 1) == (back, "")
    assert story.known(story.g.hand[0], None) == (back, "")
    story.g.extra_plays, story.g.repeats, story.g.cash = [1, 0], [0, 0], [90_000, 0]
    story.extra_cards().says(0, f"play {back}")
    assert story.table()["hand 0"] == "2"
    assert story.known(story.g.hand[0], 1) == ("", "")


def test_sz_7_23_a_pile_passed_on_is_known_until_a_card_leaves_it_unseen() -> None:
    story = Gang(3, pile=["2 3 4 5", "8 9 10 11", "20 26 27 28"], round=0)
    story.begin(BeginARound(-1))
    for seat, card in enumerate((2, 8, 20)):
        story.says(seat, f"pick {card}")
    assert story.known(story.g.draft[1], 0) == ("3 4 5", "")
    assert story.known(story.g.draft[1], 2) == ("", "")
    assert story.known(story.g.draft[1], None) == ("", "")
    for seat, card in ((0, 26), (1, 3), (2, 9)):
        story.says(seat, f"pick {card}")
    assert story.known(story.g.hand[0], 2) == ("", "26 27 28")
    assert story.known(story.g.draft[2], 0) == ("", "3 4 5")
    assert story.known(story.g.draft[2], 1) == ("4 5", "")
    assert story.known(story.g.draft[1], 0) == ("27 28", "")


@pytest.mark.rule("SZ-7.23")
@pytest.mark.parametrize("seats", [2, 3, 5])
def test_sz_7_23_an_imagined_pile_is_some_of_what_was_passed_on(seats: int) -> None:
    random, rng = Random(seats), Chance(match_key("imagined", seats))
    game = Szmal.new(seats, match_key("piles", seats))
    piles = 0
    while waiting := game.waiting():
        if game.question.name == "pick_a_card":
            state, view = imagine(game.view(0), rng), game.view(0)
            assert state.view(0) == view
            assert isinstance(state, Szmal)
            for seat in range(1, seats):
                picture = view.of("draft", seat)[0]
                if picture.maybe:
                    piles += 1
                    assert set(state.draft[seat].cards) <= {*picture.known, *picture.maybe}
                    gone = set(picture.maybe) - set(state.draft[seat].cards)
                    in_hands = [sum(card in state.hand[other].cards for card in gone) for other in range(1, seat)]
                    assert max(in_hands) <= 1
                    assert sum(in_hands) == len(gone)
        for seat in waiting:
            game.choose(seat, random.choice(game.options(seat)))
    assert piles >= (3 if seats > 2 else 0)


# -- answers nobody gives
def test_sz_7_24_the_lowest_number_and_nothing_that_is_optional() -> None:
    story = Gang(cash=[20_000, 0], hand=["22 3", ""], holdings=["9 8", ""]).plays((0, 21))
    assert story.safe(0) == "pass"
    story.plays((0, 80))
    assert story.safe(0) == "put markers on 8: 1"
    story.says(0, "put markers on 8: 1")
    assert story.safe(0) == "pass"
    story.g.extra_plays = [1, 0]
    assert story.extra_cards().safe(0) == "play 3"
    losing = Gang(holdings=["9 8", ""], losses_5=[0, 1]).losses()
    assert losing.safe(0) == "lose 8"
    picking = Gang(pile=["20 4", "3 2"], round=5)
    picking.begin(BeginARound(-1))
    assert (picking.safe(0), picking.safe(1)) == ("pick 4", "pick 2")
    picking.says(0, "pick 20")
    picking.says(1, "pick 2")
    copying = Gang(thugs=["25 22", ""]).plays((0, 54))
    assert copying.safe(0) == "copy 22"


def test_sz_7_25_a_single_answer_is_given_by_the_engine() -> None:
    match = Match(Szmal, ["a", "b", "c"], match_key("single", 0))
    asked = 0
    while decision := match.decision():
        asked += 1
        assert len(decision.options) > 1
        match.answer(decision.seat, decision.number, len(decision.options) - 1)
    assert asked > 60
    assert match.game.round == 12  # type: ignore[attr-defined]  # it is Szmal


def test_sz_7_26_a_game_has_fewer_than_two_thousand_plays() -> None:
    story = Gang(plays=1_998).plays((0, 22))
    assert story.g.plays == 1_999
    with pytest.raises(AssertionError, match="2000 plays"):
        story.plays((0, 25))


def test_every_thug_can_be_copied() -> None:
    for number, card in enumerate(BOX):
        if card.sort == "thug" and number != 54:
            story = Gang(thugs=[str(number), ""], deck="2 3").plays((0, 54))
            story.says(0, f"copy {number}")
            assert f"54={number}" in story.table()["thugs 0"].split()
