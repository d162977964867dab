"""The thirty Actions, each by at least one story that fails without what it does."""

from __future__ import annotations

import pytest

from tests.games.szmal.table import Gang


@pytest.mark.parametrize(
    ("card", "thugs", "holdings", "gain"),
    [
        pytest.param(20, "", "", 25_000, marks=pytest.mark.rule("SZ-card-20")),
        pytest.param(26, "22 25 1", "8 9", 30_000, marks=pytest.mark.rule("SZ-card-26")),
        pytest.param(28, "", "8", 0, marks=pytest.mark.rule("SZ-card-28")),
        pytest.param(28, "22 76 61", "", 20_000, marks=pytest.mark.rule("SZ-card-28")),
        pytest.param(28, "21", "", 30_000, marks=pytest.mark.rule("SZ-card-28")),
        pytest.param(30, "21", "", 25_000, marks=pytest.mark.rule("SZ-card-30")),
        pytest.param(31, "61 1 22", "8 9 11", 50_000, marks=pytest.mark.rule("SZ-card-31")),
        pytest.param(32, "25", "11", 25_000, marks=pytest.mark.rule("SZ-card-32")),
        pytest.param(33, "42 25", "9 14 11", 50_000, marks=pytest.mark.rule("SZ-card-33")),
        pytest.param(36, "", "", 15_000, marks=pytest.mark.rule("SZ-card-36")),
        pytest.param(60, "", "8 9", 15_000, marks=pytest.mark.rule("SZ-card-60")),  # the opponent has three
        pytest.param(60, "", "8 9 11 12", 20_000, marks=pytest.mark.rule("SZ-card-60")),
        pytest.param(73, "22", "", 15_000, marks=pytest.mark.rule("SZ-card-73")),  # the opponent has three
        pytest.param(73, "22 23 24 25", "", 20_000, marks=pytest.mark.rule("SZ-card-73")),
        pytest.param(80, "", "", 10_000, marks=pytest.mark.rule("SZ-card-80")),
    ],
)
def test_gains(card: int, thugs: str, holdings: str, gain: int) -> None:
    story = Gang(thugs=[thugs, "63 64 65"], holdings=[holdings, "16 17 18"]).plays((0, card))
    assert story.g.cash == [gain, 0]
    assert story.g.waiting() == []


def test_sz_card_2_a_neighbours_action_pays_ten_thousand() -> None:
    story = Gang(3).plays((0, 2), (1, 28), (2, 38), (1, 25))
    assert story.g.cash == [30_000, 0, 0]


def test_sz_card_3_a_neighbours_thug_pays_ten_thousand() -> None:
    story = Gang(3).plays((0, 3), (1, 25), (2, 6), (1, 38))
    assert story.g.cash == [30_000, 0, 0]


def test_sz_card_4_each_marker_of_the_holding_given_up_pays() -> None:
    story = Gang(holdings=["8@3 9@1", ""]).plays((0, 4))
    assert story.offers(0) == ["pass", "give up 8", "give up 9"]
    story.says(0, "give up 8")
    assert story.g.cash == [45_000, 0]
    assert story.table() == {"discard": "8 4", "holdings 0": "9@1"}


def test_sz_card_5_the_best_holding_pays_and_everybody_loses_one_a_turn_later() -> None:
    story = Gang(thugs=["1", ""], holdings=["8@2 9@4", "7@6"]).plays((0, 5))
    assert story.g.cash == [20_000, 0]
    assert story.losses().g.waiting() == []  # not this turn
    assert story.ends_turn().losses().g.waiting() == [0, 1]
    assert story.offers(0) == ["lose 8", "lose 9"]
    story.says(0, "lose 8")
    story.says(1, "lose 7")
    assert story.table() == {"discard": "8 7", "thugs 0": "1", "holdings 0": "9@4", "kept 0": "5"}


def test_sz_card_20_a_shared_lead_of_fewest_thugs_is_not_enough() -> None:
    story = Gang(3, thugs=["22", "23", "24 25"]).plays((0, 20))
    assert (story.g.cash, story.table()["discard"]) == ([0, 0, 0], "20")


def test_sz_card_27_another_card_of_the_hand_is_discarded() -> None:
    story = Gang(hand=["3 22", ""]).plays((0, 27))
    assert story.offers(0) == ["pass", "discard 3", "discard 22"]
    story.says(0, "discard 22")
    assert story.g.cash == [30_000, 0]
    assert story.table() == {"discard": "22 27", "hand 0": "3"}


def test_sz_card_27_with_an_empty_hand_it_fails() -> None:
    story = Gang().plays((0, 27))
    assert (story.g.cash, story.table()) == ([0, 0], {"discard": "27"})


@pytest.mark.parametrize(("cash", "after"), [(85_000, 85_000), (90_000, 135_000)])
def test_sz_card_29_ninety_thousand_are_needed_and_kept(cash: int, after: int) -> None:
    assert Gang(cash=[cash, 0]).plays((0, 29)).g.cash == [after, 0]


def test_sz_card_34_the_others_gain_too() -> None:
    assert Gang(3).plays((1, 34)).g.cash == [10_000, 30_000, 10_000]


def test_sz_card_35_a_thug_is_given_up() -> None:
    story = Gang(thugs=["22 25", ""], holdings=["8", ""]).plays((0, 35))
    assert story.offers(0) == ["pass", "give up 22", "give up 25"]
    story.says(0, "give up 25")
    assert story.g.cash == [25_000, 0]
    assert story.table() == {"discard": "25 35", "thugs 0": "22", "holdings 0": "8@0"}


@pytest.mark.parametrize(
    ("cash", "table"), [(30_000, {"hand 0": "36"}), (35_000, {"discard": "36"}), (40_000, {"discard": "36"})]
)
def test_sz_card_36_below_fifty_thousand_it_returns(cash: int, table: dict[str, str]) -> None:
    story = Gang(cash=[cash, 0]).plays((0, 36))
    assert (story.g.cash, story.table()) == ([cash + 15_000, 0], table)


def test_sz_card_38_two_markers_on_a_holding_of_choice() -> None:
    story = Gang(holdings=["8 9@1", "10"]).plays((0, 38))
    assert story.offers(0) == ["put markers on 8: 2", "put markers on 9: 2"]
    story.says(0, "put markers on 9: 2")
    assert story.table() == {"discard": "38", "holdings 0": "8@0 9@3", "holdings 1": "10@0"}


def test_sz_card_39_a_marker_on_each_own_holding() -> None:
    story = Gang(holdings=["8 9@1 45@2", "10"]).plays((0, 39))
    assert story.table()["holdings 0"] == "8@1 9@2 45@3"
    assert story.table()["holdings 1"] == "10@0"


def test_sz_card_40_poor_holdings_get_a_marker_and_opponents_lose_a_thug_a_turn_later() -> None:
    story = Gang(3, thugs=["22", "23 24", ""], holdings=["8 9@1 11@2", "10", ""]).plays((0, 40))
    assert story.table()["holdings 0"] == "8@1 9@2 11@2"
    assert story.table()["holdings 1"] == "10@0"
    assert story.table()["kept 0"] == "40"
    assert story.ends_turn().losses().g.waiting() == [1]
    story.says(1, "lose 24")
    assert story.table()["thugs 0"] == "22"
    assert story.table()["thugs 1"] == "23"


def test_sz_card_41_next_turn_holdings_get_the_markers_taken_back_and_two_more() -> None:
    story = Gang(holdings=["8@3 9@1", ""]).plays((0, 41))
    assert story.offers(0) == ["pass", "take back 8", "take back 9"]
    story.says(0, "take back 8")
    assert story.table() == {"hand 0": "8", "holdings 0": "9@1", "kept 0": "41"}
    story.plays((0, 44))  # this turn: nothing
    assert story.table()["holdings 0"] == "9@1 44@0"
    story.ends_turn().plays((0, 46), (0, 55))  # less one by 44
    assert story.table()["holdings 0"] == "9@1 44@0 46@4 55@4"


def test_sz_card_43_next_turn_holdings_get_three_extra_markers() -> None:
    story = Gang(thugs=["1", ""], holdings=["16", ""]).plays((0, 43), (0, 46))
    assert story.table()["holdings 0"] == "16@0 46@0"
    assert story.table()["kept 0"] == "43"
    story.ends_turn().plays((0, 55))
    assert story.table()["holdings 0"] == "16@0 46@0 55@3"
    story.ends_turn()
    assert story.table()["discard"] == "43"
    assert story.g.extra_markers == [0, 0]


def test_sz_card_56_as_many_markers_as_the_best_opposing_holding_has() -> None:
    """The rule book's example: the opponent's best has four."""
    story = Gang(holdings=["16 9@6", "10@4 11@2"]).plays((0, 56))
    assert story.offers(0) == ["put markers on 9: 4", "put markers on 16: 4"]
    story.says(0, "put markers on 16: 4")
    assert story.table() == {"discard": "56", "holdings 0": "9@6 16@4", "holdings 1": "10@4 11@2"}


def test_sz_card_59_each_opponent_removes_a_marker_from_each_holding() -> None:
    story = Gang(3, thugs=["22", "", ""], holdings=["8@2", "9@2 10@0", "45@3 11@1"]).plays((0, 59))
    table = story.table()
    assert (table["holdings 0"], table["holdings 1"], table["holdings 2"]) == ("8@2", "9@1 10@0", "11@0 45@3")


def test_sz_card_73_everybody_loses_a_thug_a_turn_later() -> None:
    story = Gang(3, thugs=["22 23", "24", ""]).plays((0, 73)).ends_turn().losses()
    assert story.g.waiting() == [0, 1]
    story.says(1, "lose 24")
    story.says(0, "lose 23")
    assert story.table() == {"discard": "23 24", "thugs 0": "22", "kept 0": "73"}


@pytest.mark.parametrize(
    ("thugs", "cash", "hand"),
    [("25", [40_000, 30_000], ""), ("22", [30_000, 20_000], ""), ("1", [30_000, 30_000], "7"), ("6 22 65", None, "7")],
)
def test_sz_card_74_car_gun_and_key(thugs: str, cash: list[int] | None, hand: str) -> None:
    story = Gang(thugs=[thugs, ""], cash=[30_000, 30_000], deck="8 7").plays((0, 74))
    assert story.g.cash == (cash or [40_000, 20_000])
    assert story.table().get("hand 0", "") == hand


def test_sz_card_75_each_opponent_loses_for_each_thug_of_the_player() -> None:
    story = Gang(3, thugs=["22 25", "23", ""], cash=[50_000, 50_000, 15_000]).plays((0, 75))
    assert story.g.cash == [50_000, 30_000, 0]


def test_sz_card_78_next_turn_gains_are_doubled() -> None:
    story = Gang().plays((0, 78), (0, 22))
    assert story.g.cash == [10_000, 0]
    assert story.table() == {"thugs 0": "22", "kept 0": "78"}
    story.ends_turn().plays((0, 24), (1, 34))
    assert story.g.cash == [10_000 + 40_000 + 20_000, 30_000]
    assert story.ends_turn().plays((0, 76)).g.doublings == [0, 0]


def test_sz_card_78_two_effects_make_four_times() -> None:
    assert Gang(doublings=[2, 0]).plays((0, 22)).g.cash == [40_000, 0]


def test_sz_card_79_opponents_lose_a_holding_a_turn_later() -> None:
    story = Gang(thugs=["25", ""], holdings=["8", "9@2 10"]).plays((0, 79)).ends_turn().losses()
    assert story.g.waiting() == [1]
    assert story.offers(1) == ["lose 9", "lose 10"]
    story.says(1, "lose 9")
    assert story.table() == {
        "discard": "9",
        "thugs 0": "25",
        "holdings 0": "8@0",
        "holdings 1": "10@0",
        "kept 0": "79",
    }


def test_sz_card_80_cash_then_a_marker_then_another_card() -> None:
    story = Gang(hand=["22 27", ""], holdings=["8 9", ""]).plays((0, 80))
    assert (story.g.cash, story.question()) == ([10_000, 0], "put_markers")
    story.says(0, "put markers on 8: 1")
    assert story.offers(0) == ["pass", "play 22", "play 27"]
    story.says(0, "play 22")
    assert story.g.cash == [20_000, 0]
    assert story.table() == {"discard": "80", "hand 0": "27", "thugs 0": "22", "holdings 0": "8@1 9@0"}


@pytest.mark.parametrize(
    ("card", "meets", "misses"),
    [
        pytest.param(5, "1", "22", marks=pytest.mark.rule("SZ-card-5")),
        pytest.param(26, "/8 9", "/8", marks=pytest.mark.rule("SZ-card-26")),
        pytest.param(30, "23 25", "23 22", marks=pytest.mark.rule("SZ-card-30")),
        pytest.param(32, "25/11", "25/9", marks=pytest.mark.rule("SZ-card-32")),
        pytest.param(39, "/9", "/8", marks=pytest.mark.rule("SZ-card-39")),
        pytest.param(43, "1/8", "1/11", marks=pytest.mark.rule("SZ-card-43")),
        pytest.param(56, "/12", "/11", marks=pytest.mark.rule("SZ-card-56")),
        pytest.param(59, "22", "25", marks=pytest.mark.rule("SZ-card-59")),
        pytest.param(73, "22", "25", marks=pytest.mark.rule("SZ-card-73")),
        pytest.param(79, "25", "22", marks=pytest.mark.rule("SZ-card-79")),
    ],
)
def test_needs(card: int, meets: str, misses: str) -> None:
    for told, met in ((meets, True), (misses, False)):
        thugs, _, holdings = told.partition("/")
        story = Gang(thugs=[thugs, "21"], holdings=[holdings, "7@1"]).plays((0, card))
        if story.question() == "put_markers":
            story.says(0, story.offers(0)[0])
        assert story.g.plays == (1 if met else 0)
        lies = "kept 0" if met and card in (5, 43, 73, 79) else "discard"
        assert story.table()[lies] == str(card)
