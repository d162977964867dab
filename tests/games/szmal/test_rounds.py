"""Sections 1 to 6 of the sheet: set-up, the phases of a round, how long effects last, cash, and the end."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cutpurse.engine.chance import match_key
from cutpurse.games.szmal.cards import GUN, KEY, NEXT_TURN, THIS_TURN
from cutpurse.games.szmal.rules import BOX, BeginARound, EndTheTurn, Szmal
from tests.games.szmal.table import Gang


def begins_round(story: Gang) -> Gang:
    """The next round begins, with the piles as they lie."""
    story.begin(BeginARound(-1))
    return story


# -- material and set-up
def test_sz_1_3_cash_is_always_a_multiple_of_five_thousand() -> None:
    game, random = Szmal.new(3, match_key("multiples", 0)), Random(1)
    seen = set()
    while waiting := game.waiting():
        for seat in waiting:
            game.choose(seat, random.choice(game.options(seat)))
            seen |= set(game.cash)
    assert len(seen) > 5
    assert all(cash % 5_000 == 0 for cash in seen)


def test_sz_1_4_cash_and_markers_never_run_out() -> None:
    story = Gang(cash=[2_000_000, 0], holdings=["8@60", ""]).plays((0, 24), (0, 38))
    story.says(0, "put markers on 8: 2")
    assert story.g.cash == [2_020_000, 0]
    assert story.table()["holdings 0"] == "8@62"


@pytest.mark.rule("SZ-2.1", "SZ-2.2", "SZ-2.3")
@pytest.mark.parametrize(("seats", "deck"), [(2, 56), (3, 44), (4, 32), (5, 20)])
def test_sz_2_1_twelve_cards_each_and_the_rest_is_the_deck(seats: int, deck: int) -> None:
    game = Szmal.new(seats, match_key("set up", seats))
    assert [len(zone.cards) for zone in game.draft] == [12] * seats
    assert len(game.deck.cards) == deck
    assert sorted(card for zone in game.zones() for card in zone.cards) == list(range(1, 81))
    assert game.cash == [0] * seats
    assert [len(zone.cards) for zone in (*game.hand, *game.thugs, *game.holdings, game.discard)] == [0] * (
        3 * seats + 1
    )


@pytest.mark.rule("SZ-2.2")
def test_sz_2_2_the_discards_never_return_to_the_deck() -> None:
    story = Gang(deck="2", discard="3 4 5", thugs=["61", ""]).plays((0, 65))
    assert story.table() == {"discard": "3 4 5", "hand 0": "2", "thugs 0": "61 65"}


def test_sz_2_4_the_left_neighbour_gets_the_pile() -> None:
    story = begins_round(Gang(3, pile=["2 3", "4 5", "20 26"], round=0))
    for seat, card in ((2, 20), (0, 2), (1, 4)):
        story.says(seat, f"pick {card}")
    assert [story.seen(zone, seat) for seat, zone in enumerate(story.g.draft)] == ["26", "3", "5"]


# -- the phases
def test_sz_3_0_twelve_picks_and_ten_plays() -> None:
    game = Szmal.new(4, match_key("phases", 0))
    asked = []
    while waiting := game.waiting():
        name = game.question.name
        if name in ("pick_a_card", "choose_a_card"):
            asked.append((game.round, name))
        for seat in waiting:
            game.choose(seat, game.safe_option(seat, game.options(seat)))
    picks = [(number, "pick_a_card") for number in range(1, 13)]
    plays = [(number, "choose_a_card") for number in range(3, 13)]
    assert asked == sorted(picks + plays, key=lambda told: (told[0], told[1] == "choose_a_card"))


def test_sz_3_1_all_pick_at_once_and_pass_the_rest_on() -> None:
    story = begins_round(Gang(pile=["2 3 4", "20 26 27"], hand=["5", "8"], round=0))
    assert story.g.waiting() == [0, 1]
    assert story.offers(0) == ["pick 2", "pick 3", "pick 4"]
    story.says(0, "pick 3")
    assert story.g.waiting() == [1]
    assert story.table() == {"hand 0": "5", "draft 0": "2 3 4", "hand 1": "8", "draft 1": "20 26 27"}  # sealed
    story.says(1, "pick 20")
    assert story.g.round == 2
    assert story.table() == {"hand 0": "3 5", "draft 0": "26 27", "hand 1": "8 20", "draft 1": "2 4"}


def test_sz_3_1_a_pile_is_not_looked_at_before_the_next_pick() -> None:
    story = begins_round(Gang(pile=["2 3 4", "20 26 27"], round=2))
    story.says(0, "pick 3")
    story.says(1, "pick 20")
    assert story.question() == "choose_a_card"
    assert story.table()["pile 0"] == "26 27"
    assert story.seen(story.g.pile[0], 0) == ""
    assert story.known(story.g.pile[0], 0) == ("", "")
    assert story.known(story.g.pile[0], 1) == ("26 27", "")


def test_sz_3_2_any_hand_card_is_put_face_down_and_all_are_revealed_together() -> None:
    story = begins_round(Gang(pile=["18", "30"], hand=["57", "8"], round=5))
    story.says(0, "pick 18")
    story.says(1, "pick 30")
    assert story.offers(0) == ["choose 18", "choose 57"]  # neither can be paid; nobody may pass
    story.says(0, "choose 18")
    assert story.table() == {"hand 0": "18 57", "hand 1": "8 30"}
    story.says(1, "choose 8")
    assert story.table() == {"discard": "8 18", "hand 0": "57", "hand 1": "30"}


def test_sz_3_3_the_rule_books_order_of_21_25_and_43() -> None:
    story = begins_round(Gang(3, pile=["43", "21", "25"], thugs=["1", "22", ""], holdings=["8", "", ""]))
    for seat, card in enumerate((43, 21, 25)):
        story.says(seat, f"pick {card}")
    for seat, card in enumerate((43, 21, 25)):
        story.says(seat, f"choose {card}")
    assert [(*act.cards, act.actor) for act in story.g.view().pending] == [(43, 0), (25, 2), (21, 1)]
    assert story.table()["resolving 2"] == "25"
    story.says(1, "give up 22")
    assert story.table() == {
        "discard": "22",
        "thugs 0": "1",
        "holdings 0": "8@0",
        "kept 0": "43",
        "thugs 1": "21",
        "thugs 2": "25",
    }


def test_sz_3_3_1_the_decision_is_made_when_the_card_is_resolved() -> None:
    story = Gang(cash=[0, 0]).plays((1, 34), (0, 7))
    assert story.offers(0) == ["pass", "pay $10,000"]
    story.says(0, "pass")
    assert (story.g.cash, story.table()) == ([10_000, 30_000], {"discard": "34 7"})


def test_sz_3_3_1_no_part_payment_and_no_debts() -> None:
    assert Gang(cash=[5_000, 0]).plays((0, 7)).table() == {"discard": "7"}


@pytest.mark.rule("SZ-3.3.1")
@pytest.mark.parametrize(("card", "price"), [(7, 0), (13, 0), (10, 5_000), (18, 20_000)])
def test_sz_3_3_1_savings_of_52_and_66_add_up_and_nothing_is_paid_without_a_question(card: int, price: int) -> None:
    story = Gang(thugs=["66", ""], holdings=["52", ""], cash=[20_000, 0]).plays((0, card))
    if price:
        story.says(0, f"pay ${price:,}")
    assert story.g.waiting() == []
    assert story.g.cash == [20_000 - price + 5_000, 0]  # 52 pays for another Holding
    assert str(card) in story.table()["holdings 0"]


def test_sz_3_3_1_what_is_given_up_is_lost_at_once_and_a_hand_card_is_not() -> None:
    story = Gang(thugs=["62", ""], holdings=["45", ""], cash=[0, 0], hand=["2", ""]).plays((0, 27))
    story.says(0, "discard 2")
    assert (story.g.cash, story.table()["holdings 0"]) == ([30_000, 0], "45@0")
    story.plays((0, 71))
    story.says(0, "give up 62")
    assert (story.g.cash, story.table()["holdings 0"]) == ([50_000, 0], "45@2")


def test_sz_3_3_2_the_card_itself_does_not_count_for_its_need() -> None:
    story = Gang(thugs=["22", ""]).plays((0, 42))
    assert story.table() == {"discard": "42", "thugs 0": "22"}


@pytest.mark.rule("SZ-3.3.2")
def test_sz_3_3_2_a_card_that_failed_was_not_played() -> None:
    story = Gang(informs=[1, 0], shakedowns=[1, 0], thugs=["", "70"], holdings=["", "17"])
    story.plays((1, 30), (1, 35), (1, 61))
    story.says(1, "pass")
    assert (story.g.cash, story.g.plays) == ([0, 0], 0)
    assert story.table() == {"discard": "30 35 61", "thugs 1": "70", "holdings 1": "17@0"}


def test_sz_3_3_3_normal_markers_of_the_rule_books_example() -> None:
    story = Gang(holdings=["11 12", ""], cash=[10_000, 0]).plays((0, 8))
    story.says(0, "pay $10,000")
    assert story.table() == {"holdings 0": "8@4 11@0 12@0"}


def test_sz_3_3_4_triggers_of_the_play_in_ascending_order() -> None:
    story = Gang(thugs=["42 61", ""], holdings=["44 52", ""], extra_markers=[5, 0], informs=[0, 1], shakedowns=[0, 1])
    story.plays((0, 46), (0, 25), (0, 28))
    assert story.table()["holdings 0"] == "44@0 46@5 52@0"
    assert story.g.cash == [5_000 + 15_000 + 20_000, 20_000]


def test_sz_3_3_4_the_neighbours_money_comes_before_the_text() -> None:
    assert Gang(shakedowns=[0, 1]).plays((0, 76)).g.cash == [0, 0]  # 10,000 gained, and lost again


def test_sz_3_3_5_a_text_is_compulsory() -> None:
    assert "pass" not in Gang(holdings=["8 9", ""]).plays((0, 38)).offers(0)


def test_sz_3_3_6_triggers_after_an_action_in_ascending_order() -> None:
    story = Gang(thugs=["70 71", ""], holdings=["17", ""], repeats=[1, 0])
    story.plays((0, 75))
    told = [text for text in story.told(None) if "markers" in text or "hand" in text or "cash of seat 0" in text]
    assert told == [
        "markers of Holdings of seat 0: 1",
        "Arson!: from card to be resolved of seat 0 to hand of seat 0",
        "cash of seat 0: 5,000",
        "cash of seat 0: 15,000",
    ]


@pytest.mark.rule("SZ-3.3.7")
def test_sz_3_3_7_an_action_for_next_turn_is_kept_until_its_end_and_shows_nothing() -> None:
    story = Gang(thugs=["25", ""]).plays((0, 79), (0, 34))
    assert story.table() == {"discard": "34", "thugs 0": "25", "kept 0": "79"}
    assert story.ends_turn().table()["kept 0"] == "79"
    assert story.ends_turn().table() == {"discard": "34 79", "thugs 0": "25"}


def test_sz_3_3_8_extra_plays_come_after_all_revealed_cards_and_before_each_turn() -> None:
    story = begins_round(Gang(pile=["22", "34"], hand=["28", ""], thugs=["6", ""], extra_plays=[1, 0]))
    story.says(0, "pick 22")
    story.says(1, "pick 34")
    story.says(0, "choose 28")
    story.says(1, "choose 34")
    assert story.question() == "play_an_extra_card"
    assert story.g.cash == [20_000, 30_000]  # 28 by the car of 6, and 34
    story.says(0, "play 22")
    assert story.table() == {"discard": "28 34", "thugs 0": "6 22"}
    assert story.g.round == 8
    assert story.g.cash == [30_000, 30_000]  # 6 found more than 0


def test_sz_3_4_each_turn_abilities_in_ascending_order_over_all_players() -> None:
    """6 comes before 10, which pays its owner; 16 of the other player before 69."""
    story = Gang(thugs=["6 69", ""], holdings=["10 8 9", "16"]).each_turn()
    assert story.g.cash == [10_000 + 5_000 + 5_000, 5_000]
    told = [text for text in story.told(None) if "cash" in text]
    assert told == [
        "cash of seat 0: 10,000",
        "cash of seat 0: 15,000",
        "cash of seat 1: 5,000",
        "cash of seat 0: 20,000",
    ]


def test_sz_3_4_a_card_of_this_round_counts() -> None:
    story = begins_round(Gang(pile=["6", "53"]))
    for seat, card in ((0, 6), (1, 53)):
        story.says(seat, f"pick {card}")
    for seat, card in ((0, 6), (1, 53)):
        story.says(seat, f"choose {card}")
    assert story.g.cash == [10_000, 0]


def test_sz_3_5_1_losses_in_ascending_order_each_sealed() -> None:
    story = Gang(
        thugs=["22", "23 24"],
        holdings=["8 9", "10 11"],
        losses_79=[1, 0],
        losses_5=[1, 0],
        losses_73=[0, 1],
        losses_40=[1, 0],
    ).losses()
    due = [act.cards[0] for act in story.g.view().pending]
    assert due == [79, 73, 40, 5]  # the last is what is asked
    story.says(1, "lose 11")
    assert story.g.waiting() == [0]
    assert "discard" not in story.table()
    story.says(0, "lose 8")
    assert story.g.waiting() == [1]  # 40 of seat 0
    story.says(1, "lose 23")
    story.says(1, "lose 24")  # 73: everybody
    story.says(0, "lose 22")
    assert story.offers(1) == ["lose 10"]  # 79 of seat 0
    story.says(1, "lose 10")
    assert story.table() == {"discard": "8 11 23 22 24 10", "holdings 0": "9@0"}


def test_sz_3_5_1_45_and_62_react_to_losses() -> None:
    story = Gang(thugs=["62", ""], holdings=["45 8", ""], losses_5=[0, 1], losses_73=[0, 1]).losses()
    story.says(0, "lose 8")
    story.says(0, "lose 62")
    assert (story.g.cash, story.table()["holdings 0"]) == ([20_000, 0], "45@4")


@pytest.mark.rule("SZ-3.5.2")
def test_sz_3_5_2_effects_for_the_turn_are_over() -> None:
    names = ("watching", "informs", "shakedowns", "extra_markers", "free_costs", "free_needs", "repeats", "doublings")
    effects: dict[str, Any] = {name: [1, 0] for name in names}
    story = Gang(kept=["43@6 78@7", ""], **effects)
    story.ends_turn()
    assert story.table() == {"discard": "43", "kept 0": "78"}
    assert story.counters() == {"round": 7}


# -- how long effects last
def test_sz_4_1_lasting_text_works_again_and_plain_text_once() -> None:
    story = Gang(thugs=["22 70", ""]).plays((0, 75))
    assert story.g.cash == [5_000, 0]
    assert story.plays((0, 75)).g.cash == [10_000, 0]


def test_sz_4_2_plain_text_of_thugs_is_what_55_redoes() -> None:
    """All Thugs with plain text, but for 53 and 54, and all without; symbols and deck are there to tell."""
    plain = [number for number, card in enumerate(BOX) if card.sort == "thug" and has_plain_text(number)]
    assert plain == [1, 22, 23, 24, 25, 53, 54, 57, 63, 64, 65, 67, 68, 72, 76, 77]
    lasting = [6, 24, 42, 61, 62, 66, 69, 70, 71]
    hooks = ("on_play", "after_action", "on_leaving", "saves", "each_turn", "end_of_game")
    found = [n for n, card in enumerate(BOX) if card.sort == "thug" and any(hook in vars(type(card)) for hook in hooks)]
    assert found == lasting


def has_plain_text(number: int) -> bool:
    return bool({"take_effect", "carry_out"} & set(vars(type(BOX[number]))))


@pytest.mark.rule("SZ-4.3")
def test_sz_4_3_next_turn_effects_do_not_need_their_thug_but_for_72() -> None:
    story = Gang().plays((0, 63), (0, 72), (0, 35))
    story.says(0, "give up 63")
    story.ends_turn()
    assert (story.g.free_costs, story.g.symbols(0, GUN)) == ([1, 0], 1)
    other = Gang().plays((0, 72), (0, 35))
    other.says(0, "give up 72")
    assert (other.ends_turn().g.symbols(0, GUN), other.g.symbols(0, KEY)) == (0, 0)


@pytest.mark.rule("SZ-4.4")
def test_sz_4_3_every_effect_that_was_set_up_holds_for_a_turn_and_ends() -> None:
    names = [name for name, _ in NEXT_TURN]
    begun: dict[str, Any] = {name: [0, n] for n, (_, name) in enumerate(NEXT_TURN, 1)}
    game = Gang(**begun, watching=[1, 1], informs=[1, 1], shakedowns=[1, 1]).g
    EndTheTurn(-1).run(game)
    assert [getattr(game, name) for name in names] == [[0, n] for n in range(1, len(names) + 1)]
    assert not any(any(getattr(game, name)) for name in (*THIS_TURN, *begun))
    EndTheTurn(-1).run(game)
    assert not any(any(getattr(game, name)) for name in names)


def test_sz_4_4_effects_of_round_12_never_happen() -> None:
    story = Gang(thugs=["25", ""], holdings=["7@2", "9"], round=12).plays((0, 79), (0, 78)).losses()
    assert story.g.waiting() == []
    story.ends_turn()
    assert story.g.waiting() == []
    assert story.g.cash == [10_000, 0]  # 7, not doubled
    assert story.table()["holdings 1"] == "9@0"


@pytest.mark.rule("SZ-4.4")
def test_sz_4_4_effects_of_round_11_happen_in_round_12() -> None:
    story = Gang(thugs=["25", ""], holdings=["", "9"], round=11).plays((0, 79)).ends_turn()
    story.g.round = 12
    story.losses().says(1, "lose 9")
    assert story.table()["discard"] == "9"


def test_sz_4_5_rest_of_turn_effects_see_nothing_earlier() -> None:
    story = Gang().plays((1, 34), (0, 2), (0, 1), (1, 36))
    assert story.g.cash == [10_000 + 10_000 + 10_000 + 15_000, 45_000]


# -- cash
def test_sz_5_1_nobody_pays_an_opponent() -> None:
    assert Gang(cash=[0, 40_000]).plays((0, 76), (0, 2)).g.cash == [10_000, 30_000]


def test_sz_5_2_cash_never_falls_below_zero() -> None:
    assert Gang(cash=[0, 5_000]).plays((0, 76)).g.cash == [0, 0]


def test_sz_5_3_losses_are_neither_doubled_nor_copied() -> None:
    story = Gang(cash=[50_000, 50_000], doublings=[0, 1], watching=[1, 0]).plays((0, 76))
    assert story.g.cash == [50_000, 40_000]


def test_sz_5_4_doubled_then_added_then_copied_and_doubled_again() -> None:
    story = Gang(3, watching=[1, 0, 0], doublings=[1, 1, 0]).plays((1, 22))
    assert story.g.cash == [40_000, 20_000, 0]


# -- the end
def test_sz_6_1_end_of_game_abilities_in_ascending_order() -> None:
    story = Gang(thugs=["24 22", "25"], holdings=["7@1", "13"], doublings=[0, 0], round=12).ends_turn()
    assert story.g.cash == [0, 0]  # 7 gives 5,000, of which 24 takes all; 13 gives nothing
    story = Gang(thugs=["24", ""], holdings=["12 13", "7@1"], round=12).ends_turn()
    assert story.table()["holdings 0"] == "12@1 13@0"
    assert story.g.cash == [0, 5_000]  # 13 gives 20,000 before 24 takes 25,000


def test_sz_6_2_cash_and_ten_thousand_a_marker_and_ties_share() -> None:
    story = Gang(4, cash=[50_000, 20_000, 0, 0], holdings=["8@2", "9@5", "10@1", "11@1"], round=12)
    story.ends_turn()
    assert story.g.scores() == [70_000, 70_000, 10_000, 10_000]
    assert story.g.places() == [1, 1, 3, 3]
    assert story.told(None)[-1] == "the end: 70,000, 70,000, 10,000, 10,000"


def test_sz_6_3_cards_in_hand_are_worth_nothing() -> None:
    assert Gang(hand=["18 24 22", ""], round=12).ends_turn().g.scores() == [0, 0]
