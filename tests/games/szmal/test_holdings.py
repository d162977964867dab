"""The twenty-five Holdings, each by at least one story that fails without what it does."""

from __future__ import annotations

import pytest

from tests.games.szmal.table import Gang


@pytest.mark.parametrize(
    ("card", "thugs", "holdings", "price", "markers"),
    [
        pytest.param(7, "", "", 10_000, 1, marks=pytest.mark.rule("SZ-card-7")),
        pytest.param(7, "", "8 9 11", 10_000, 3, marks=pytest.mark.rule("SZ-card-7")),
        pytest.param(8, "", "", 10_000, 2, marks=pytest.mark.rule("SZ-card-8")),
        pytest.param(8, "", "11 16", 10_000, 4, marks=pytest.mark.rule("SZ-card-8")),  # the rule book's example
        pytest.param(9, "", "10 14 7", 10_000, 5, marks=pytest.mark.rule("SZ-card-9")),
        pytest.param(10, "", "9", 15_000, 2, marks=pytest.mark.rule("SZ-card-10")),
        pytest.param(11, "", "", 15_000, 3, marks=pytest.mark.rule("SZ-card-11")),
        pytest.param(11, "", "8 14", 15_000, 5, marks=pytest.mark.rule("SZ-card-11")),
        pytest.param(12, "", "8 9", 10_000, 0, marks=pytest.mark.rule("SZ-card-12")),
        pytest.param(13, "", "9", 5_000, 2, marks=pytest.mark.rule("SZ-card-13")),
        pytest.param(14, "", "8 9 11", 10_000, 5, marks=pytest.mark.rule("SZ-card-14")),
        pytest.param(15, "", "", 0, 1, marks=pytest.mark.rule("SZ-card-15")),
        pytest.param(15, "25 21 22", "8", 0, 4, marks=pytest.mark.rule("SZ-card-15")),
        pytest.param(16, "", "", 10_000, 1, marks=pytest.mark.rule("SZ-card-16")),
        pytest.param(17, "", "11", 20_000, 2, marks=pytest.mark.rule("SZ-card-17")),
        pytest.param(18, "", "", 30_000, 6, marks=pytest.mark.rule("SZ-card-18")),
        pytest.param(19, "", "9 14", 15_000, 3, marks=pytest.mark.rule("SZ-card-19")),
        pytest.param(37, "23", "8 9", 0, 3, marks=pytest.mark.rule("SZ-card-37")),
        pytest.param(47, "22 23", "11 9", 0, 4, marks=pytest.mark.rule("SZ-card-47")),
        pytest.param(48, "21 25", "16 9", 0, 5, marks=pytest.mark.rule("SZ-card-48")),
        pytest.param(49, "25", "9", 0, 2, marks=pytest.mark.rule("SZ-card-49")),
        pytest.param(51, "61", "8 12", 0, 5, marks=pytest.mark.rule("SZ-card-51")),
        pytest.param(44, "", "8", 0, 0, marks=pytest.mark.rule("SZ-card-44")),
        pytest.param(52, "", "8", 0, 0, marks=pytest.mark.rule("SZ-card-52")),
    ],
)
def test_price_and_markers(card: int, thugs: str, holdings: str, price: int, markers: int) -> None:
    story = Gang(thugs=[thugs, ""], holdings=[holdings, "7 8 9 11"], cash=[100_000, 0]).plays((0, card))
    if price:
        assert story.offers(0) == ["pass", f"pay ${price:,}"]
        story.says(0, f"pay ${price:,}")
    gain = 20_000 if card == 44 else 0
    assert story.g.cash == [100_000 - price + gain, 0]
    assert f"{card}@{markers}" in story.table()["holdings 0"].split()


@pytest.mark.parametrize(
    ("card", "misses"),
    [
        pytest.param(37, "22", marks=pytest.mark.rule("SZ-card-37")),
        pytest.param(47, "22", marks=pytest.mark.rule("SZ-card-47")),
        pytest.param(48, "25", marks=pytest.mark.rule("SZ-card-48")),
        pytest.param(49, "22", marks=pytest.mark.rule("SZ-card-49")),
        pytest.param(51, "1", marks=pytest.mark.rule("SZ-card-51")),
    ],
)
def test_a_need_that_is_not_met(card: int, misses: str) -> None:
    story = Gang(thugs=[misses, "21 42"]).plays((0, card))
    assert story.table() == {"discard": str(card), "thugs 0": misses, "thugs 1": "21 42"}


def test_sz_card_7_at_the_end_five_thousand_for_each_marker() -> None:
    story = Gang(holdings=["7@3 8@5", ""]).counts_up()
    assert story.g.cash == [15_000, 0]
    assert story.g.scores() == [95_000, 0]


@pytest.mark.rule("SZ-card-10")
@pytest.mark.parametrize(
    ("holdings", "cash"), [(["10 8", "9"], [5_000, 0]), (["10", "9 8"], [0, 5_000]), (["10 8", "9 7"], [0, 0])]
)
def test_sz_card_10_the_sole_leader_in_holdings_gains(holdings: list[str], cash: list[int]) -> None:
    assert Gang(holdings=holdings).each_turn().g.cash == cash


def test_sz_card_12_its_markers_come_at_the_end() -> None:
    story = Gang(holdings=["12@1 8 9 11", "16"]).counts_up()
    assert story.table()["holdings 0"] == "8@0 9@0 11@0 12@4"


@pytest.mark.rule("SZ-card-13")
@pytest.mark.parametrize(("thugs", "cash"), [(["22 23", "25"], 20_000), (["22", "25"], 0), (["", "25"], 0)])
def test_sz_card_13_at_the_end_the_most_thugs_pay(thugs: list[str], cash: int) -> None:
    story = Gang(thugs=thugs, holdings=["13", ""]).counts_up()
    assert story.g.cash == [cash, 0]


@pytest.mark.rule("SZ-card-16")
@pytest.mark.parametrize(
    ("thugs", "holdings", "cash"),
    [("22 23", "16 8", 5_000), ("22 23 25", "16", 0), ("", "16 8 9", 0)],
)
def test_sz_card_16_at_most_two_of_each(thugs: str, holdings: str, cash: int) -> None:
    assert Gang(thugs=[thugs, ""], holdings=[holdings, ""]).each_turn().g.cash == [cash, 0]


def test_sz_card_17_a_marker_after_each_action() -> None:
    story = Gang(holdings=["17@1", "11"]).plays((0, 28), (0, 30), (1, 28), (0, 25), (0, 34))
    assert story.table()["holdings 0"] == "17@3"


@pytest.mark.rule("SZ-card-19")
@pytest.mark.parametrize(
    ("holdings", "cash"), [(["19 9", "14"], [5_000, 0]), (["19", "14 9"], [0, 5_000]), (["19", "14"], [0, 0])]
)
def test_sz_card_19_the_sole_leader_in_hearts_gains(holdings: list[str], cash: list[int]) -> None:
    assert Gang(holdings=holdings).each_turn().g.cash == cash


def test_sz_card_44_each_holding_played_loses_a_marker_if_it_has_any() -> None:
    story = Gang(holdings=["44", ""], cash=[0, 0]).plays((0, 15), (0, 50))
    assert story.table()["holdings 0"] == "15@0 44@1 50@1"  # 50 comes with none and then gives both one
    assert Gang(extra_markers=[3, 0]).plays((0, 44)).table() == {"holdings 0": "44@2"}


def test_sz_card_45_two_markers_when_a_card_leaves() -> None:
    story = Gang(thugs=["22", ""], holdings=["45 8", ""]).plays((0, 35))
    story.says(0, "give up 22")
    assert story.table()["holdings 0"] == "8@0 45@2"
    story.plays((0, 4))
    story.says(0, "give up 8")
    assert story.table()["holdings 0"] == "45@4"


@pytest.mark.rule("SZ-card-46")
@pytest.mark.parametrize(
    ("holdings", "cash"), [(["46 12", "7"], 10_000), (["46", "11"], 0), (["46 9", ""], 0), (["46", "14"], 0)]
)
def test_sz_card_46_no_bottle_and_no_heart_anywhere(holdings: list[str], cash: int) -> None:
    assert Gang(holdings=holdings).each_turn().g.cash == [cash, 0]


@pytest.mark.rule("SZ-card-49")
@pytest.mark.parametrize(("markers", "cash"), [(2, 0), (3, 5_000), (4, 5_000)])
def test_sz_card_49_three_markers_pay_each_turn(markers: int, cash: int) -> None:
    assert Gang(holdings=[f"49@{markers}", ""]).each_turn().g.cash == [cash, 0]


def test_sz_card_50_a_marker_on_each_own_holding_without_symbols() -> None:
    story = Gang(holdings=["8@1 37@2 46", "55"]).plays((0, 50))
    assert story.table() == {"holdings 0": "8@1 37@3 46@1 50@1", "holdings 1": "55@0"}


def test_sz_card_52_holdings_cost_less_and_pay() -> None:
    story = Gang(thugs=["", ""], holdings=["52", ""], cash=[10_000, 10_000]).plays((0, 11), (0, 21), (1, 9))
    assert story.offers(0) == ["pass", "pay $10,000"]
    story.says(0, "pay $10,000")
    assert story.g.cash == [5_000, 10_000]
    assert story.offers(0) == ["pass", "give up 11", "give up 52"]  # a Thug costs as much as ever
    story.says(0, "pass")
    assert story.offers(1) == ["pass", "pay $10,000"]


def test_sz_card_55_thugs_of_earlier_turns_once_more() -> None:
    story = Gang(thugs=["22 24 70", "76"]).plays((0, 23), (0, 55))
    assert story.g.cash == [20_000 + 30_000, 0]  # 23 was played this turn: only its own four guns
    assert story.table()["holdings 0"] == "55@0"


def test_sz_card_58_a_holding_is_given_up_and_opponents_lose_markers() -> None:
    story = Gang(holdings=["8@3 16@1", "9@2 10@0"]).plays((0, 58))
    assert story.offers(0) == ["pass", "give up 8", "give up 16"]
    story.says(0, "give up 8")
    assert story.table() == {"discard": "8", "holdings 0": "16@1 58@2", "holdings 1": "9@1 10@0"}
