"""The battle for a pack in Steal & Plunder: chapter 4.2 of the sheet."""

from __future__ import annotations

import pytest

from tests.games.steal_and_plunder.table import Table


def a_battle(owner: str, *, deck: str = "") -> Table:
    """Seat 0 has attacked the Copper Wire of seat 1, which hides a Gold Bar, with a Copper Wire."""
    table = Table(
        ["copper_wire copper_wire gold_bar fake_perfume", owner, "steal"],
        ["!bribe_money bribe_money", "!fake_perfume fake_perfume | gold_bar? copper_wire", "!bribe_money bribe_money"],
        deck=deck,
    )
    table.turn_of(0)
    table.says(0, "attack the open pack of seat 1 with Copper Wire")
    return table


def test_sp_4_26_the_attacker_lays_a_card_and_the_owner_answers() -> None:
    table = a_battle("copper_wire gold_bar fake_perfume steal")
    assert table.question() == "answer_the_theft"
    assert table.offers(1) == ["concede", "add Copper Wire", "add Gold Bar"]
    assert table.names(table.g.battle.cards) == "copper_wire"
    (battle,) = table.g.view(2).pending
    assert (battle.actor, battle.seat, battle.zone, table.names(battle.cards)) == (0, 1, table.first + 2, "copper_wire")


def test_sp_4_26_a_chain_that_the_attacker_wins() -> None:
    table = a_battle("copper_wire blood_diamond steal")
    table.says(1, "add Copper Wire")
    table.says(0, "add Copper Wire")
    table.says(1, "add Blood Diamond")
    table.says(0, "add Gold Bar")
    table.says(1, "concede")
    assert table.table() == {
        "hand 0": "fake_perfume",
        "hand 1": "steal",
        "hand 2": "steal",
        f"pack {table.first} of 0": "bribe_money bribe_money",
        f"pack {table.first + 2} of 0": (
            "gold_bar copper_wire copper_wire copper_wire blood_diamond gold_bar copper_wire"
        ),
        f"pack {table.first + 1} of 1": "fake_perfume fake_perfume",
        f"pack {table.first + 3} of 2": "bribe_money bribe_money",
    }
    assert "seat 0 wins the battle for the pack of seat 1" in table.told(2)


def test_sp_4_26_the_owner_wins_and_the_pack_stays_where_it_is() -> None:
    table = a_battle("gold_bar steal")
    table.says(1, "add Gold Bar")
    table.says(0, "concede")
    assert table.stack(0) == ["bribe_money bribe_money"]
    assert table.stack(1) == ["fake_perfume fake_perfume", "gold_bar copper_wire gold_bar copper_wire"]
    assert (table.names(table.g.battle.cards), table.g.waiting()) == ("", [1])


def test_sp_4_11_only_the_two_take_part_and_only_their_hands_limit_it() -> None:
    table = Table(
        ["copper_wire copper_wire copper_wire gold_bar", "copper_wire copper_wire gold_bar", "copper_wire gold_bar"],
        ["!bribe_money bribe_money", "!bribe_money bribe_money | copper_wire copper_wire", "!bribe_money bribe_money"],
    )
    table.turn_of(0)
    table.says(0, "attack the open pack of seat 1 with Copper Wire")
    for seat, card in ((1, "Copper Wire"), (0, "Copper Wire"), (1, "Copper Wire"), (0, "Copper Wire"), (1, "Gold Bar")):
        assert table.g.waiting() == [seat]
        table.says(seat, f"add {card}")
    table.says(0, "add Gold Bar")
    assert table.offers(1) == ["concede"], "his hand is empty"
    table.says(1, "concede")
    assert len(table.g.pack[0][-1].cards) == 2 + 7


def test_sp_4_12_nothing_is_drawn_in_or_after_a_battle() -> None:
    table = a_battle("gold_bar", deck="fake_perfume fake_perfume")
    table.says(1, "add Gold Bar")
    table.says(0, "concede")
    assert [len(hand.cards) for hand in table.g.hand] == [3, 0, 1]
    assert len(table.g.deck.cards) == 2


@pytest.mark.parametrize(
    ("answers", "pack"),
    [
        ([], "gold_bar copper_wire copper_wire"),
        (["Gold Bar"], "gold_bar copper_wire gold_bar copper_wire"),
        (["Gold Bar", "Copper Wire"], "gold_bar copper_wire copper_wire gold_bar copper_wire"),
    ],
)
def test_sp_4_13_a_wealth_card_lies_on_top_and_battle_cards_stay_public(answers: list[str], pack: str) -> None:
    table = a_battle("gold_bar steal")
    for turn, card in enumerate(answers):
        table.says(1 - turn % 2, f"add {card}")
    table.says(table.g.waiting()[0], "concede")
    holder = 1 if len(answers) == 1 else 0
    assert table.stack(holder)[-1] == pack
    assert table.seen_by_all(holder)[-1] == "?" + pack.removeprefix("gold_bar"), "only the partner is still hidden"


def test_sp_4_13_wilds_alone_slide_under_the_wealth_card() -> None:
    table = Table(
        ["gold_bar", "blood_diamond", "steal"],
        ["!bribe_money bribe_money", "!bribe_money bribe_money | copper_wire? copper_wire", ""],
    )
    table.turn_of(0)
    table.says(0, "attack the open pack of seat 1 with Gold Bar")
    table.says(1, "add Blood Diamond")
    table.says(0, "concede")
    assert table.stack(1)[-1] == "copper_wire gold_bar blood_diamond copper_wire"
    assert table.seen_by_all(1)[-1] == "? gold_bar blood_diamond copper_wire"


def test_sp_4_14_a_stolen_pack_is_open_at_once_also_to_its_victim() -> None:
    table = a_battle("copper_wire gold_bar")
    table.says(1, "concede")
    assert "attack the open pack of seat 0 with Copper Wire" in table.offers(1)
    table.says(1, "attack the open pack of seat 0 with Copper Wire")
    table.says(0, "concede")
    assert table.stack(1)[-1] == "gold_bar copper_wire copper_wire copper_wire"


def test_sp_4_14_who_ever_held_a_pack_knows_its_partner_and_the_others_do_not() -> None:
    table = Table(
        ["copper_wire bribe_money", "fake_perfume fake_perfume", "copper_wire bribe_money", "steal"],
        [
            "!bribe_money bribe_money",
            "!bribe_money bribe_money | gold_bar? copper_wire",
            "!bribe_money bribe_money",
            "!bribe_money bribe_money",
        ],
    )
    pack = table.g.pack[1][-1].number
    table.turn_of(0)
    table.says(0, "attack the open pack of seat 1 with Copper Wire")
    table.says(1, "concede")
    assert table.knowers(pack) == [0, 1]
    table.says(1, "discard Fake Perfume")
    table.says(2, "attack the open pack of seat 0 with Copper Wire")
    table.says(0, "concede")
    assert table.knowers(pack) == [0, 1, 2]
    assert table.seen_by_all(2)[-1] == "? copper_wire copper_wire copper_wire"


def test_sp_4_24_an_attack_on_an_empty_hand_succeeds() -> None:
    table = a_battle("")
    assert table.offers(1) == ["concede"]
    table.says(1, "concede")
    assert table.stack(0)[-1] == "gold_bar copper_wire copper_wire"
    assert table.g.waiting() == [2]


def test_sp_0_3_who_cannot_defend_is_asked_and_concedes_like_one_who_will_not() -> None:
    worlds = []
    for owner in ("blood_diamond copper_wire", "fake_perfume steal"):
        table = a_battle(owner)
        assert table.g.waiting() == [1]
        views = [table.g.view(viewer).to_bytes() for viewer in (0, 2, None)]
        table.says(1, "concede")
        views += [table.g.view(viewer).to_bytes() for viewer in (0, 2, None)]
        worlds.append((views, table.told(0), table.told(2), table.told(None)))
    assert worlds[0] == worlds[1]
    assert "seat 1 concedes" in worlds[0][1]


def test_sp_0_4_the_safe_answer_to_a_theft_is_to_concede() -> None:
    assert a_battle("gold_bar copper_wire").safe(1) == "concede"
