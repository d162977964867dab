"""Rulings and proposed numbers are marked in the code as on the sheets, and `cutpurse rules` prints the marks."""

from __future__ import annotations

import pytest

from cutpurse.games import GAMES
from cutpurse.games.origins import RULES, SETTINGS
from cutpurse.games.rule_book import rule_book, rules_markdown
from scripts.rule_origins import MODULE, module_text, origin
from tests.test_rule_numbers import defined


def test_the_marks_are_those_of_the_sheets() -> None:
    written = MODULE.read_text(encoding="utf-8")
    assert written == module_text(), "a sheet has changed: run `python scripts/rule_origins.py`"


@pytest.mark.parametrize(
    ("marks", "expected"),
    [
        (["rule book"], ""),
        (["source: CYA"], ""),
        (["ruling"], "ruling"),
        (["ruling: the refill takes for granted that it stays"], "ruling"),
        (["rule book", "ruling"], "partly ruling"),
        (["source: Java program; the place of 71: ruling"], "partly ruling"),
        (["rule book", "ruling: value"], "proposed"),
    ],
)
def test_an_origin_follows_from_the_marks(marks: list[str], expected: str) -> None:
    assert origin(marks) == expected


def test_the_marks_name_rules_and_settings_that_there_are() -> None:
    assert set(RULES) <= {number for game in GAMES for number in defined(game)}
    for game, marks in SETTINGS.items():
        assert set(marks) <= set(GAMES[game].settings_type.kinds())


@pytest.mark.parametrize("name", GAMES)
def test_every_card_names_a_rule_of_its_sheet(name: str) -> None:
    assert {card.rule for card in GAMES[name].words.cards} <= defined(name)


@pytest.mark.parametrize("name", GAMES)
def test_the_printed_rules_mark_each_ruling(name: str) -> None:
    book, printed = rule_book(GAMES[name]), " ".join(rules_markdown(GAMES[name]).split())
    for step in book["steps"]:
        for rule in step["rules"]:
            marked = f"{rule} ({RULES[rule]})" if rule in RULES else rule
            assert f"{marked}." in printed or f"{marked}," in printed
    for setting, said in book["settings"].items():
        mark = f", {said['origin']}" if said["origin"] else ""
        assert f"`{setting}` ({said['rule']}{mark})" in printed


def test_proposed_numbers_are_called_proposed() -> None:
    printed = rules_markdown(GAMES["stolen_treasure"])
    assert "`target` (ST-6.2, proposed)" in printed
    assert "by number of players: 1500 with 2 to 4, 1200\n  with 5, 1000 with 6 unless set" in printed
    assert "ST-1.1 (proposed)" in printed
    ruby = next(line for line in printed.splitlines() if line.split()[:1] == ["Ruby"])
    assert ruby.split()[:4] == ["Ruby", "treasure", "3", "300*"]
    assert "`values` (ST-1.2, proposed): values of treasure cards; as listed unless set" in printed
    assert "as printed" not in printed  # no print of the cards is public
    assert "`specials` (GR-1.3, proposed)" in rules_markdown(GAMES["greed"])


@pytest.mark.parametrize("name", GAMES)
def test_every_card_is_printed_with_its_type_symbols_and_cost(name: str) -> None:
    book = rule_book(GAMES[name])
    printed = " ".join(rules_markdown(GAMES[name]).split())
    for card, kind in zip(book["cards"], GAMES[name].words.cards, strict=True):
        assert card["sort"] == kind.sort != ""
        assert card["title"] in printed
        assert card["facts"] == {heading: fact for heading, fact in kind.facts.items() if fact}


def test_a_card_of_szmal_has_symbols_cost_and_need() -> None:
    cards = {card["name"]: card["facts"] for card in rule_book(GAMES["szmal"])["cards"]}
    assert cards["king_richard_the_third"] == {
        "symbols": "gun, car, key",
        "cost": "give up a Thug or give up a Holding or $10,000",
    }
    assert cards["krazy_kat_club"] == {"symbols": "bottle, heart", "need": "gun, gun"}
    lines = rules_markdown(GAMES["szmal"]).splitlines()
    row = next(line for line in lines if line.split()[:3] == ["Krazy", "Kat", "Club"])
    assert row.split()[3:8] == ["holding", "1", "47", "bottle,", "heart"]
    assert "Need: gun, gun." in row


def test_a_setting_says_where_it_has_an_effect() -> None:
    printed = rules_markdown(GAMES["greed"])
    assert "`two_player_pile` (GR-4.1)" in printed
    assert "Has an effect only with 2 players" in printed
    assert "Has an effect only with mode=series" in rules_markdown(GAMES["steal_and_plunder"])
