"""Records of earlier rules versions of Bag-O-Loot: all are replayed but those of advanced play of version 1.

`records_of_rules_1.jsonl` was written by version 1: a standard game with wrong snitches, and one of advanced play.
`records_of_rules_2.jsonl` was written by version 2: a standard game that ends by stalemate, and one of advanced play.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.errors import RecordError
from cutpurse.engine.events import Happened
from cutpurse.engine.record import read_record, verified, verify
from cutpurse.games.bag_o_loot.cards import NO_MATCH
from cutpurse.games.bag_o_loot.rules import BagOLoot
from cutpurse.sdk.matches.match_file import check, read_matches

HERE = Path(__file__).parent
STANDARD, ADVANCED = (HERE / "records_of_rules_1.jsonl").read_text(encoding="utf-8").splitlines()
RULES_2 = (HERE / "records_of_rules_2.jsonl").read_text(encoding="utf-8").splitlines()


def altered(line: str, **fields: Any) -> str:
    """A record with other fields, and with the digest that fits them."""
    body = {**json.loads(line), **fields}
    del body["digest"], body["schema"]
    text = '{"schema":1,' + json.dumps(body, separators=(",", ":"), sort_keys=True)[1:-1]
    return f'{text},"digest":"{sha256(text.encode()).hexdigest()}"}}'


@pytest.mark.rule("BL-4.4")
def test_bl_4_4_a_standard_game_of_rules_1_is_replayed_with_free_wrong_snitches() -> None:
    assert read_record(STANDARD).rules == "1"
    held = verified(STANDARD, BagOLoot)
    settings = held.match.game.settings
    assert (settings.text("wrong_snitch"), settings.text("idle_price")) == ("free", "0")
    acts = [event.act for event in held.match.game.log or () if isinstance(event, Happened)]
    assert sum(act.verb == NO_MATCH for act in acts) > 3
    assert held.checked[-1].startswith("every seat and the spectator were told the same")


@pytest.mark.rule("BL-5.6")
@pytest.mark.parametrize("line", RULES_2)
def test_bl_5_6_a_record_of_rules_2_is_replayed_with_free_idle_turns(line: str) -> None:
    assert read_record(line).rules == "2"
    held = verified(line, BagOLoot)
    assert held.match.game.settings.text("idle_price") == "0"
    assert held.checked[-1].startswith("every seat and the spectator were told the same")


def test_a_price_of_idle_turns_in_a_record_of_rules_2_is_refused() -> None:
    with pytest.raises(RecordError, match="under version 2 of the rules of bag_o_loot"):
        verify(altered(RULES_2[0], settings={"rounds": "1", "idle_price": "1"}), BagOLoot)


def test_a_match_file_of_rules_1_is_checked_line_by_line() -> None:
    first, second = read_matches(f"{STANDARD}\n{ADVANCED}\n".encode())
    assert check(first).seats == ("ada", "bob", "eve")
    with pytest.raises(RecordError, match="version 1 of the rules of bag_o_loot; this is version 3"):
        check(second)


def test_a_standard_game_of_rules_1_passed_off_as_one_of_rules_2_is_found() -> None:
    with pytest.raises(RecordError):
        verify(altered(STANDARD, rules="2"), BagOLoot)


def test_advanced_play_of_rules_1_is_refused_by_name() -> None:
    with pytest.raises(RecordError) as refused:
        verify(ADVANCED, BagOLoot)
    assert str(refused.value) == (
        "the record was made under version 1 of the rules of bag_o_loot; this is version 3, "
        "which plays such a match otherwise: replay it with the cutpurse release that wrote it"
    )


@pytest.mark.parametrize("settings", [{"stalemate_turns": "3"}, {"wrong_snitch": "free"}, {"advanced": "true"}])
def test_settings_that_rules_1_did_not_have_are_refused(settings: dict[str, str]) -> None:
    with pytest.raises(RecordError, match="under version 1 of the rules of bag_o_loot"):
        verify(altered(STANDARD, settings=settings), BagOLoot)


def test_settings_that_are_no_texts_are_refused() -> None:
    with pytest.raises(RecordError, match="not all of its settings have a text as value"):
        verify(altered(STANDARD, settings={"advanced": True}), BagOLoot)
