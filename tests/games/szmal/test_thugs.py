"""The twenty-five Thugs, each by at least one story that fails without what it does."""

from __future__ import annotations

import pytest

from cutpurse.games.szmal.cards import CAR, GUN, KEY
from tests.games.szmal.table import Gang


@pytest.mark.parametrize(
    ("card", "thugs", "holdings", "gain"),
    [
        pytest.param(22, "", "", 10_000, marks=pytest.mark.rule("SZ-card-22")),
        pytest.param(23, "22 57", "", 20_000, marks=pytest.mark.rule("SZ-card-23")),
        pytest.param(24, "", "", 20_000, marks=pytest.mark.rule("SZ-card-24")),
        pytest.param(25, "", "8 11 9", 20_000, marks=pytest.mark.rule("SZ-card-25")),  # the rule book's two symbols
        pytest.param(61, "21", "", 0, marks=pytest.mark.rule("SZ-card-61")),  # not for itself
    ],
)
def test_gains(card: int, thugs: str, holdings: str, gain: int) -> None:
    story = Gang(thugs=[thugs, ""], holdings=[holdings, ""]).plays((0, card))
    assert story.g.cash == [gain, 0]
    assert str(card) in story.table()["thugs 0"].split()


def test_sz_card_1_every_later_gain_of_the_left_neighbour_is_copied() -> None:
    story = Gang(3).plays((1, 22), (0, 1), (1, 24), (2, 36))
    assert story.g.cash == [20_000, 30_000, 15_000]
    story.ends_turn().plays((1, 76))
    assert story.g.watching == [0, 0, 0]


@pytest.mark.parametrize(("cash", "after"), [(0, 10_000), (5_000, 5_000)])
def test_sz_card_6_who_has_nothing_gains_each_turn(cash: int, after: int) -> None:
    assert Gang(thugs=["6", ""], cash=[cash, 0]).each_turn().g.cash == [after, 0]


def test_sz_card_21_a_thug_a_holding_or_cash() -> None:
    def story() -> Gang:
        return Gang(thugs=["22", ""], holdings=["8@2", ""], cash=[15_000, 0]).plays((0, 21))

    assert story().offers(0) == ["pass", "pay $10,000", "give up 22", "give up 8"]
    by_cash, by_thug, by_holding, declined = story(), story(), story(), story()
    by_cash.says(0, "pay $10,000")
    by_thug.says(0, "give up 22")
    by_holding.says(0, "give up 8")
    declined.says(0, "pass")
    assert (by_cash.g.cash, by_cash.table()) == ([5_000, 0], {"thugs 0": "21 22", "holdings 0": "8@2"})
    assert (by_thug.g.cash, by_thug.table()) == (
        [15_000, 0],
        {"discard": "22", "thugs 0": "21", "holdings 0": "8@2"},
    )
    assert by_holding.table() == {"discard": "8", "thugs 0": "21 22"}
    assert declined.table() == {"discard": "21", "thugs 0": "22", "holdings 0": "8@2"}


def test_sz_card_21_with_66_its_cash_is_five_thousand() -> None:
    story = Gang(thugs=["66", ""], cash=[5_000, 0]).plays((0, 21))
    assert story.offers(0) == ["pass", "pay $5,000", "give up 66"]


def test_sz_card_24_at_the_end_it_costs_twenty_five_thousand_if_in_play() -> None:
    story = Gang(thugs=["24", ""], discard="", cash=[60_000, 60_000]).counts_up()
    assert story.g.cash == [35_000, 60_000]


@pytest.mark.rule("SZ-card-42")
@pytest.mark.parametrize(("thugs", "plays"), [("22", 0), ("22 23", 1)])
def test_sz_card_42_needs_two_thugs(thugs: str, plays: int) -> None:
    assert Gang(thugs=[thugs, ""]).plays((0, 42)).g.plays == plays


def test_sz_card_42_each_holding_played_gets_one_extra_marker() -> None:
    story = Gang(thugs=["42", ""], holdings=["9", ""], cash=[0, 0]).plays((0, 46), (1, 45))
    assert story.table()["holdings 0"] == "9@0 46@1"
    assert story.table()["holdings 1"] == "45@0"


def test_sz_card_53_the_next_thug_of_the_deck_is_played_without_cost_or_need() -> None:
    story = Gang(deck="3 61 8 2").plays((0, 53))
    assert story.table() == {"deck": "3", "discard": "2 8", "thugs 0": "53 61"}
    assert story.g.plays == 2


def test_sz_card_53_a_deck_without_thugs_gives_nothing() -> None:
    story = Gang(deck="8 2").plays((0, 53))
    assert story.table() == {"discard": "2 8", "thugs 0": "53"}


def test_sz_card_54_copies_a_thug_and_carries_out_its_text() -> None:
    story = Gang(thugs=["23 66", ""]).plays((0, 54))
    assert story.offers(0) == ["copy 23", "copy 66"]
    story.says(0, "copy 23")
    assert story.table() == {"thugs 0": "23 54=23 66"}
    assert story.g.cash == [10_000, 0]  # two guns now
    assert [story.g.symbols(0, symbol) for symbol in (GUN, CAR, KEY)] == [2, 1, 2]


def test_sz_card_54_needs_a_thug() -> None:
    assert Gang().plays((0, 54)).table() == {"discard": "54"}


def test_sz_card_57_the_best_holding_left_pays() -> None:
    story = Gang(holdings=["8@5 9@2", "10@3"]).plays((0, 57))
    assert story.offers(0) == ["pass", "give up 8", "give up 9"]
    story.says(0, "give up 8")
    assert story.g.cash == [15_000, 0]
    assert story.table() == {"discard": "8", "thugs 0": "57", "holdings 0": "9@2", "holdings 1": "10@3"}


@pytest.mark.rule("SZ-card-61")
@pytest.mark.parametrize(("thugs", "plays"), [("22", 0), ("22 25", 1)])
def test_sz_card_61_needs_gun_and_car(thugs: str, plays: int) -> None:
    assert Gang(thugs=[thugs, ""]).plays((0, 61)).g.plays == plays


def test_sz_card_61_another_thug_pays_fifteen_thousand() -> None:
    story = Gang(thugs=["61", ""]).plays((0, 25), (0, 28), (1, 6))
    assert story.g.cash == [15_000 + 20_000, 0]


def test_sz_card_62_pays_when_it_leaves_as_a_cost_and_as_a_loss() -> None:
    as_cost = Gang(thugs=["62", ""]).plays((0, 35))
    as_cost.says(0, "give up 62")
    assert as_cost.g.cash == [45_000, 0]
    as_loss = Gang(thugs=["62 22", ""], losses_73=[0, 1]).losses()
    as_loss.says(0, "lose 62")
    assert as_loss.g.cash == [20_000, 0]
    other = Gang(thugs=["62 22", ""], losses_73=[0, 1]).losses()
    other.says(0, "lose 22")
    assert other.g.cash == [0, 0]


def test_sz_card_63_next_turn_costs_are_ignored() -> None:
    story = Gang().plays((0, 63), (0, 18))
    assert story.table() == {"discard": "18", "thugs 0": "63"}
    story.ends_turn().plays((0, 8), (1, 9))
    assert story.table() == {"discard": "18 9", "thugs 0": "63", "holdings 0": "8@2"}
    assert story.ends_turn().g.free_costs == [0, 0]


def test_sz_card_64_next_turn_needs_are_ignored() -> None:
    story = Gang().plays((0, 64), (0, 30))
    assert story.g.cash == [0, 0]
    story.ends_turn().plays((0, 32), (1, 47))
    assert story.g.cash == [25_000, 0]
    assert story.table() == {"discard": "30 32 47", "thugs 0": "64"}


@pytest.mark.rule("SZ-card-65")
@pytest.mark.parametrize(("deck", "hand", "left"), [("2 3 4 5", "3 4 5", "2"), ("2", "2", "")])
def test_sz_card_65_a_card_for_each_key(deck: str, hand: str, left: str) -> None:
    story = Gang(thugs=["61", ""], deck=deck).plays((0, 65))
    assert (story.table()["hand 0"], story.table().get("deck", "")) == (hand, left)
    assert story.g.cash == [15_000, 0]  # 61


def test_sz_card_66_cash_costs_are_five_thousand_lower() -> None:
    story = Gang(thugs=["66", ""], cash=[10_000, 30_000]).plays((0, 11), (1, 19))
    assert story.offers(0) == ["pass", "pay $10,000"]
    story.says(0, "pay $10,000")
    assert story.offers(1) == ["pass", "pay $15,000"]


def test_sz_card_67_next_turn_an_extra_card_after_all_others() -> None:
    story = Gang(hand=["22 25", ""]).plays((0, 67))
    assert story.extra_cards().g.waiting() == []
    story.ends_turn().extra_cards()
    assert story.offers(0) == ["play 22", "play 25"]
    story.says(0, "play 22")
    assert story.g.waiting() == []
    assert story.table() == {"hand 0": "25", "thugs 0": "22 67"}
    assert story.g.cash == [10_000, 0]


def test_sz_card_68_next_turn_actions_return_to_the_hand() -> None:
    story = Gang().plays((0, 68), (0, 28)).ends_turn().plays((0, 34), (1, 36))
    assert story.table() == {"discard": "28", "hand 0": "34", "hand 1": "36", "thugs 0": "68"}
    story.ends_turn().plays((0, 80))
    assert story.g.repeats == [0, 0]


def test_sz_card_68_a_card_that_failed_does_not_return() -> None:
    assert Gang(repeats=[1, 0]).plays((0, 30)).table() == {"discard": "30"}


def test_sz_card_69_five_thousand_each_turn() -> None:
    story = Gang(holdings=["8 9", "7"]).plays((0, 69), (1, 53)).each_turn()
    assert story.g.cash == [5_000, 0]
    assert Gang(holdings=["8", ""]).plays((0, 69)).table() == {"discard": "69", "holdings 0": "8@0"}


def test_sz_card_70_five_thousand_after_each_action() -> None:
    story = Gang(thugs=["70", ""]).plays((0, 28), (0, 30), (0, 6), (1, 75))
    assert story.g.cash == [15_000, 0]  # 28 gives ten for the gun; 30 was not played


def test_sz_card_71_five_thousand_for_each_gun_after_each_action() -> None:
    story = Gang(thugs=["22 57", ""]).plays((0, 71))
    assert story.offers(0) == ["pass", "give up 22", "give up 57"]
    story.says(0, "give up 22")
    story.plays((0, 75), (0, 25))
    assert story.g.cash == [15_000, 0]
    assert story.table() == {"discard": "22 75", "thugs 0": "25 57 71"}


def test_sz_card_72_next_turn_it_also_shows_a_gun_and_a_key() -> None:
    story = Gang().plays((0, 72))

    def shown() -> list[int]:
        return [story.g.symbols(0, symbol) for symbol in (GUN, CAR, KEY)]

    assert shown() == [0, 1, 0]
    story.ends_turn()
    assert shown() == [1, 1, 1]
    assert story.plays((0, 30)).g.cash == [25_000, 0]
    story.ends_turn()
    assert shown() == [0, 1, 0]


def test_sz_card_76_each_opponent_loses_ten_thousand() -> None:
    assert Gang(3, cash=[5_000, 5_000, 30_000]).plays((0, 76)).g.cash == [5_000, 0, 20_000]


def test_sz_card_77_each_opponent_loses_for_each_holding_he_has() -> None:
    story = Gang(3, holdings=["8 9", "10", "11 12 13"], cash=[50_000, 50_000, 50_000]).plays((0, 77))
    assert story.g.cash == [50_000, 45_000, 35_000]
