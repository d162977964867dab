"""The Power cards of Steal & Plunder: chapters 4.3 and 4.4 of the sheet."""

from __future__ import annotations

import pytest

from cutpurse.engine.zones import TABLE
from tests.games.steal_and_plunder.table import Table, money


def test_sp_4_15_the_auditor_sees_the_hand_and_takes_any_card() -> None:
    table = Table(
        ["forensic_audit bribe_money", "copper_wire gold_bar plunder", "steal"], ["!bribe_money bribe_money", "", ""]
    )
    table.turn_of(0)
    table.says(0, "play Forensic Audit on the hand of seat 1")
    (audit,) = table.g.view(2).pending
    assert (audit.actor, audit.seat) == (0, 1)
    assert table.offers(0) == [
        "take Copper Wire from the hand of seat 1",
        "take Gold Bar from the hand of seat 1",
        "take Plunder from the hand of seat 1",
    ]
    table.says(0, "take Plunder from the hand of seat 1")
    assert table.table() == {
        "hand 0": "bribe_money plunder",
        "hand 1": "copper_wire gold_bar",
        "hand 2": "steal",
        "spent": "forensic_audit",
        f"pack {table.first} of 0": "bribe_money bribe_money",
    }
    for viewer, card in ((0, "Plunder"), (1, "Plunder"), (2, "card face down"), (None, "card face down")):
        assert f"seat 0 takes {card} from the hand of seat 1" in table.told(viewer)
    assert table.known(table.g.hand[0], 1) == ("plunder", "")
    assert table.known(table.g.hand[1], 0) == ("copper_wire gold_bar", "")


def test_sp_4_15_the_others_learn_nothing_of_an_audit() -> None:
    worlds = []
    for hand, taken in (("copper_wire gold_bar", "Gold Bar"), ("steal fake_perfume", "Steal")):
        table = Table(["forensic_audit bribe_money", hand, "steal"], ["!bribe_money bribe_money", "", ""])
        table.turn_of(0)
        table.says(0, "play Forensic Audit on the hand of seat 1")
        middle = [table.g.view(viewer).to_bytes() for viewer in (2, None)]
        table.says(0, f"take {taken} from the hand of seat 1")
        after = [table.g.view(viewer).to_bytes() for viewer in (2, None)]
        worlds.append((middle, after, table.told(2), table.told(None)))
    assert worlds[0] == worlds[1]


def test_sp_4_15_by_a_setting_only_a_card_of_the_highest_value() -> None:
    table = Table(
        ["forensic_audit", "copper_wire fake_perfume liberated_livestock plunder", ""],
        ["!bribe_money bribe_money", "", ""],
        settings={"audit_pick": "highest_value"},
    )
    table.turn_of(0)
    table.says(0, "play Forensic Audit on the hand of seat 1")
    assert table.offers(0) == [
        "take Fake Perfume from the hand of seat 1",
        "take Liberated Livestock from the hand of seat 1",
    ]


def test_sp_4_16_a_full_hand_stays_at_five() -> None:
    table = Table(
        ["forensic_audit copper_wire copper_wire copper_wire copper_wire", "gold_bar", ""],
        ["!bribe_money bribe_money", "", ""],
    )
    table.turn_of(0)
    table.says(0, "play Forensic Audit on the hand of seat 1")
    table.says(0, "take Gold Bar from the hand of seat 1")
    assert [len(hand.cards) for hand in table.g.hand] == [5, 0, 0]


@pytest.mark.parametrize(
    ("card", "offer", "zone", "owner"),
    [
        ("steal", "play Steal on the open pack of seat 1", "spent", TABLE),
        ("plunder", "play Plunder on the open pack of seat 1", "spent", TABLE),
        ("forensic_audit", "play Forensic Audit on the hand of seat 1", "spent", TABLE),
        ("flee_the_country", "play Flee the Country on your own stack", "cover", 0),
        ("tax_audit", "play Tax Audit on all that seat 1 has", "cover", 1),
    ],
)
def test_sp_4_17_where_used_power_cards_lie(card: str, offer: str, zone: str, owner: int) -> None:
    table = Table(
        [card + " bribe_money", "gold_bar copper_wire", ""],
        ["!fake_perfume fake_perfume", "!fake_perfume fake_perfume | copper_wire copper_wire", ""],
    )
    table.turn_of(0)
    table.says(0, offer)
    (seen,) = table.g.view(2).of(zone, owner)
    assert table.names(seen.cards) == card


@pytest.mark.parametrize("card", ["steal", "plunder", "flee_the_country", "tax_audit"])
def test_sp_4_23_nobody_can_counter_a_power_card(card: str) -> None:
    table = Table(
        [card, "copper_wire gold_bar", ""],
        [
            "!liberated_livestock liberated_livestock",
            "!liberated_livestock liberated_livestock | copper_wire copper_wire",
            "",
        ],
    )
    table.turn_of(0)
    table.says(0, table.offers(0)[0])
    assert table.question() == "take_a_turn"
    assert table.g.waiting() == [1]


def test_sp_4_18_a_pack_taken_with_steal_is_open_and_can_be_lost_again() -> None:
    table = Table(
        ["steal bribe_money", "steal", "copper_wire"],
        [
            "!liberated_livestock liberated_livestock",
            "!liberated_livestock liberated_livestock | gold_bar? copper_wire",
            "!liberated_livestock liberated_livestock",
        ],
    )
    pack = table.g.pack[1][-1].number
    table.turn_of(0)
    table.says(0, "play Steal on the open pack of seat 1")
    assert table.stack(0) == ["liberated_livestock liberated_livestock", "gold_bar copper_wire"]
    assert table.knowers(pack) == [0, 1]
    table.says(1, "play Steal on the open pack of seat 0")
    assert table.stack(1) == ["liberated_livestock liberated_livestock", "gold_bar copper_wire"]
    assert table.offers(2) == ["discard Copper Wire", "attack the open pack of seat 1 with Copper Wire"]
    taken = [line for line in table.told(None) if line.startswith(("seat", "pack"))]
    assert taken == [
        "seat 0 plays Steal on the open pack of seat 1",
        f"pack {pack} lies before seat 0",
        "seat 1 plays Steal on the open pack of seat 0",
        f"pack {pack} lies before seat 1",
    ]


def test_sp_4_18_neither_steal_nor_plunder_takes_ones_own_pack() -> None:
    table = Table(
        ["steal plunder bribe_money", "", ""],
        ["!liberated_livestock liberated_livestock | copper_wire copper_wire", "", ""],
    )
    table.turn_of(0)
    assert table.offers(0) == ["discard Bribe Money"]


def test_sp_4_19_a_plundered_pack_cannot_be_stolen_but_it_can_be_taxed() -> None:
    table = Table(
        ["plunder bribe_money", "copper_wire steal plunder", "tax_audit"],
        [
            "!bribe_money bribe_money",
            "!liberated_livestock liberated_livestock | gold_bar? copper_wire",
            "!liberated_livestock liberated_livestock",
        ],
    )
    pack = table.g.pack[1][-1].number
    table.turn_of(0)
    table.says(0, "play Plunder on the open pack of seat 1")
    assert table.table()[f"plundered {pack} of 0"] == "gold_bar copper_wire"
    assert table.knowers(pack) == [0, 1], "turning it face down hides nothing, and shows nothing"
    assert table.g.scores()[0] == money(100 + 350)
    assert table.offers(1) == ["discard Copper Wire"]
    table.says(1, "discard Copper Wire")
    table.says(2, "play Tax Audit on all that seat 0 has")
    lying = table.table()
    assert lying[f"taxed {pack} of 0"] == "gold_bar copper_wire"
    assert lying[f"taxed {table.first} of 0"] == "bribe_money bribe_money"
    assert table.g.scores()[0] == money(225)


def test_sp_3_5_sp_4_20_flee_takes_stack_and_plundered_packs_abroad_safe_from_theft_and_tax() -> None:
    table = Table(
        ["flee_the_country copper_wire copper_wire", "copper_wire tax_audit steal", ""],
        ["!bribe_money bribe_money | gold_bar? copper_wire", "!liberated_livestock liberated_livestock", ""],
        plundered=["fake_perfume fake_perfume", "", ""],
    )
    table.turn_of(0)
    table.says(0, "play Flee the Country on your own stack")
    first = table.first
    assert table.table() == {
        "hand 0": "copper_wire copper_wire",
        "hand 1": "copper_wire steal tax_audit",
        "cover 0": "flee_the_country",
        f"pack {first + 2} of 1": "liberated_livestock liberated_livestock",
        f"offshore {first} of 0": "bribe_money bribe_money",
        f"offshore {first + 1} of 0": "gold_bar copper_wire",
        f"offshore {first + 3} of 0": "fake_perfume fake_perfume",
    }
    assert table.knowers(first + 1) == [0]
    assert table.offers(1) == ["discard Copper Wire"], "nothing to attack, steal or tax"
    assert table.g.locked_in == [1, 1, 0]
    assert table.g.scores()[0] == money(100 + 350 + 200)


def test_sp_4_20_after_fleeing_the_lowest_pack_is_not_locked_and_its_partner_is_hidden() -> None:
    table = Table(
        ["flee_the_country copper_wire copper_wire", "copper_wire tax_audit", "bribe_money"],
        [
            "!bribe_money bribe_money",
            "!liberated_livestock liberated_livestock",
            "!liberated_livestock liberated_livestock",
        ],
    )
    table.turn_of(0)
    table.says(0, "play Flee the Country on your own stack")
    table.says(1, "discard Copper Wire")
    table.says(2, "discard Bribe Money")
    table.says(0, "form a pack of 2 x Copper Wire")
    assert table.seen_by_all(0) == ["? copper_wire"]
    table.says(1, "play Tax Audit on all that seat 0 has")
    assert table.table()[f"offshore {table.first} of 0"] == "bribe_money bribe_money", "Tax takes the new stack only"
    assert table.g.scores()[0] == money(100 + 50)


def test_sp_4_20_the_new_stack_can_be_stolen() -> None:
    table = Table(
        ["bribe_money", "copper_wire", ""],
        ["copper_wire copper_wire", "!liberated_livestock liberated_livestock", ""],
        offshore=["!bribe_money bribe_money", "", ""],
    )
    table.turn_of(1)
    assert "attack the open pack of seat 0 with Copper Wire" in table.offers(1)


def test_sp_4_21_tax_takes_all_but_offshore_packs_and_halves_them_for_good() -> None:
    table = Table(
        ["tax_audit steal", "copper_wire flee_the_country", "fake_perfume steal"],
        [
            "!liberated_livestock liberated_livestock",
            "!bribe_money bribe_money | gold_bar? copper_wire",
            "!liberated_livestock liberated_livestock",
        ],
        plundered=["", "fake_perfume fake_perfume", ""],
        offshore=["", "copper_wire copper_wire", ""],
    )
    table.turn_of(0)
    table.says(0, "play Tax Audit on all that seat 1 has")
    first = table.first
    assert table.table() == {
        "hand 0": "steal",
        "hand 1": "copper_wire flee_the_country",
        "hand 2": "fake_perfume steal",
        "cover 1": "tax_audit",
        f"pack {first} of 0": "liberated_livestock liberated_livestock",
        f"pack {first + 3} of 2": "liberated_livestock liberated_livestock",
        f"taxed {first + 1} of 1": "bribe_money bribe_money",
        f"taxed {first + 2} of 1": "gold_bar copper_wire",
        f"taxed {first + 4} of 1": "fake_perfume fake_perfume",
        f"offshore {first + 5} of 1": "copper_wire copper_wire",
    }
    assert table.knowers(first + 2) == [1]
    assert table.offers(1) == ["discard Copper Wire"], "a taxed stack does not flee"
    table.says(1, "discard Copper Wire")
    assert table.offers(2) == ["discard Fake Perfume"], "a taxed stack is not stolen"
    assert table.g.scores()[1] == money((100 + 350 + 200) // 2 + 100)


def test_sp_4_21_after_a_tax_audit_flee_covers_only_what_came_later() -> None:
    table = Table(
        ["flee_the_country", "", ""],
        ["copper_wire copper_wire", "", ""],
        taxed=["!bribe_money bribe_money", "", ""],
    )
    table.turn_of(0)
    table.says(0, "play Flee the Country on your own stack")
    lying = table.table()
    assert lying[f"offshore {table.first} of 0"] == "copper_wire copper_wire"
    assert lying[f"taxed {table.first + 1} of 0"] == "bribe_money bribe_money"


def test_sp_4_21_a_tax_audit_on_the_locked_pack_alone() -> None:
    table = Table(
        ["tax_audit", "copper_wire gold_bar", ""],
        ["!liberated_livestock liberated_livestock", "!copper_wire copper_wire", ""],
    )
    table.turn_of(0)
    table.says(0, "play Tax Audit on all that seat 1 has")
    assert table.table()[f"taxed {table.first + 1} of 1"] == "copper_wire copper_wire"
    table.says(1, "form a pack of Copper Wire, Gold Bar")
    assert [pack.counters for pack in table.g.pack[1]] == [[0]], "the lock belongs to the first pack of the game"


def test_sp_4_22_ones_own_stack_cannot_be_taxed() -> None:
    table = Table(["tax_audit copper_wire", "", "copper_wire"], ["!liberated_livestock liberated_livestock", "", ""])
    table.turn_of(0)
    assert table.offers(0) == ["discard Copper Wire"]


def test_sp_4_24_without_cards_in_hand_one_is_attacked_plundered_and_taxed() -> None:
    table = Table(
        ["copper_wire plunder tax_audit", "", ""],
        [
            "!liberated_livestock liberated_livestock",
            "!liberated_livestock liberated_livestock | copper_wire copper_wire",
            "",
        ],
    )
    table.turn_of(0)
    assert table.offers(0) == [
        "discard Copper Wire",
        "attack the open pack of seat 1 with Copper Wire",
        "play Plunder on the open pack of seat 1",
        "play Tax Audit on all that seat 1 has",
    ]


def test_sp_4_15_who_holds_no_card_cannot_be_audited() -> None:
    table = Table(["forensic_audit", "", "steal"], ["!liberated_livestock liberated_livestock", "", ""])
    table.turn_of(0)
    assert table.offers(0) == ["play Forensic Audit on the hand of seat 2"]


@pytest.mark.parametrize(("setting", "knowers"), [("false", [0]), ("true", [0, 1, 2])])
def test_sp_7_1_by_a_setting_offshore_packs_are_shown(setting: str, knowers: list[int]) -> None:
    table = Table(
        ["flee_the_country bribe_money", "", "steal"],
        ["!bribe_money bribe_money | gold_bar? copper_wire", "", ""],
        settings={"offshore_open": setting},
    )
    table.turn_of(0)
    table.says(0, "play Flee the Country on your own stack")
    assert table.knowers(table.first + 1) == knowers


@pytest.mark.parametrize(
    ("hand", "safe"),
    [
        ("copper_wire copper_wire pre_approved_tenders gold_bar steal", "discard Copper Wire"),
        ("bribe_money redistributed_diesel gold_bar", "discard Redistributed Diesel"),
        ("gold_bar cryptocurrency_coin fake_perfume", "discard Fake Perfume"),
        ("steal tax_audit", "play Steal on the open pack of seat 1"),
        ("tax_audit forensic_audit", "play Forensic Audit on the hand of seat 0"),
    ],
)
def test_sp_0_4_the_safe_answer_of_a_turn(hand: str, safe: str) -> None:
    table = Table(
        ["gold_bar", "gold_bar", hand, "gold_bar"],
        [
            "!bribe_money bribe_money",
            "!bribe_money bribe_money | copper_wire copper_wire",
            "!bribe_money bribe_money",
            "!bribe_money bribe_money | copper_wire copper_wire",
        ],
        discard="copper_wire",
    )
    table.turn_of(2)
    assert table.safe(2) == safe


def test_sp_0_4_the_safe_answer_of_an_audit_is_the_highest_value_in_the_order_of_the_box() -> None:
    table = Table(
        ["forensic_audit", "steal liberated_livestock fake_perfume copper_wire", ""],
        ["!bribe_money bribe_money", "", ""],
    )
    table.turn_of(0)
    table.says(0, "play Forensic Audit on the hand of seat 1")
    assert table.safe(0) == "take Fake Perfume from the hand of seat 1"
