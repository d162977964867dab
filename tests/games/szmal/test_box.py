"""The eighty cards are those of the sheet: name, sort, symbols, Cost and Need, read from the sheet itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cutpurse.engine.errors import SettingsError
from cutpurse.games.szmal.cards import NUMBERS, SYMBOLS, WORDS, Cost, Need
from cutpurse.games.szmal.rules import BOX, Szmal

SHEET = (Path(__file__).resolve().parents[3] / "docs" / "reference" / "rules" / "szmal.md").read_text(encoding="utf-8")
LINE = re.compile(
    r"^- \*\*SZ-card-(\d+)\*\* (.+?(?:!|(?=\.)))\.? (Action|Thug|Holding)(?:; ([a-z, ]+))?\. ?(.*)$", re.MULTILINE
)
COSTS = {
    "give up a Thug": Cost(thug=True),
    "give up a Holding": Cost(holding=True),
    "give up a Thug, or give up a Holding, or 10,000": Cost(thug=True, holding=True, cash=10_000),
    "discard another card from your hand": Cost(hand_card=True),
    "take one of your Holdings back into your hand": Cost(take_back=True),
}
NEEDS = {
    "two Holdings": Need(holdings=2),
    "two Thugs": Need(thugs=2),
    "one Thug": Need(thugs=1),
    "90,000 in cash, which you keep": Need(cash=90_000),
    "fewer Thugs than each other player": Need(fewest_thugs=True),
}


def symbols(phrase: str) -> tuple[int, ...]:
    """The symbols of a phrase such as "gun, car" or "two keys"."""
    shown: list[int] = []
    for part in phrase.split(", "):
        if part not in ("", "no symbol"):
            word = part.removeprefix("two ")
            number = SYMBOLS.index(word.removesuffix("s") if word != part else word)
            shown += [number] * (2 if word != part else 1)
    return tuple(shown)


def cost(phrase: str) -> Cost:
    return COSTS.get(phrase) or Cost(int(phrase.replace(",", "")))


ROWS = {int(row[0]): row[1:] for row in LINE.findall(SHEET)}


def test_every_card_of_the_sheet_is_read() -> None:
    assert sorted(ROWS) == list(NUMBERS)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_card_is_printed_as_the_sheet_says(number: int) -> None:
    title, sort, shows, rest = ROWS[number]
    card = BOX[number]
    assert (card.number, card.title, card.sort) == (number, title, sort.lower())
    assert sorted(card.shows) == sorted(symbols(shows))
    paid = re.match(r"Cost: ([^.]+)\.", rest)
    needed = re.match(r"Need: ([^.]+)\.", rest)
    assert card.cost == (cost(paid[1]) if paid else None)
    assert card.need == ((NEEDS.get(needed[1]) or Need(symbols(needed[1]))) if needed else None)


@pytest.mark.parametrize(
    ("ability", "numbers"),
    [
        ("saves", (52, 66)),  # SZ-3.3.1
        ("on_leaving", (45, 62)),  # SZ-3.3.1
        ("on_play", (42, 44, 52, 61)),  # SZ-3.3.4
        ("after_action", (17, 70, 71)),  # SZ-3.3.6, beside 68
        ("each_turn", (6, 10, 16, 19, 46, 49, 69)),  # SZ-3.4
        ("end_of_game", (7, 12, 13, 24)),  # SZ-6.1
    ],
)
def test_the_cards_with_an_ability_are_those_that_the_sheet_names(ability: str, numbers: tuple[int, ...]) -> None:
    assert numbers == tuple(number for number in NUMBERS if ability in vars(type(BOX[number])))


def test_sz_1_1_thirty_actions_and_twenty_five_of_each_other_sort() -> None:
    sorts = [card.sort for card in BOX[1:]]
    assert (sorts.count("action"), sorts.count("thug"), sorts.count("holding")) == (30, 25, 25)
    assert Szmal.box(4, Szmal.check(4, {})) == list(range(1, 81))


def test_sz_1_2_ten_of_each_symbol_of_thugs_and_eight_of_each_of_holdings() -> None:
    totals = [sum(card.shows.count(symbol) for card in BOX) for symbol in range(6)]
    assert totals == [10, 10, 10, 8, 8, 8]
    for card in BOX[1:]:
        allowed = {"action": (), "thug": (0, 1, 2), "holding": (3, 4, 5)}[card.sort]
        assert set(card.shows) <= set(allowed)


@pytest.mark.rule("SZ-1.5")
@pytest.mark.parametrize("seats", [1, 6])
def test_sz_1_5_two_to_five_players(seats: int) -> None:
    with pytest.raises(SettingsError, match="2 to 5 players"):
        Szmal.new(seats)


def test_there_are_no_settings() -> None:
    with pytest.raises(SettingsError, match="there are: none"):
        Szmal.new(4, settings={"rounds": "10"})


def test_a_card_tells_cost_or_need_and_text() -> None:
    told = WORDS.cards[20]
    assert (told.name, told.title, told.sort, told.value) == (
        "king_richard_the_third",
        '"King" Richard the Third',
        "thug",
        21,
    )
    assert told.text == "Cost: give up a Thug or give up a Holding or $10,000. No text."
    assert told.traits == {"gun": 1, "car": 1, "key": 1, "cost_cash": 10_000, "cost_thug": 1, "cost_holding": 1}
    assert WORDS.cards[28].text == "Need: $90,000. Gain $45,000."
    assert WORDS.cards[53].traits == {"need_thugs": 1}
    assert len({card.name for card in WORDS.cards}) == len(WORDS.cards) == 80
