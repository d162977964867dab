"""Packs, the turn and the Reload of Steal & Plunder: chapters 3, 4.1 and 4.5 of the sheet."""

from __future__ import annotations

import pytest

from cutpurse.games.steal_and_plunder.rules import BeginATurn, ReloadTheHands
from tests.games.steal_and_plunder.table import Table


def test_sp_3_1_a_pack_is_a_pair_of_twins_or_one_wealth_card_and_one_wild() -> None:
    table = Table(["copper_wire copper_wire copper_wire gold_bar blood_diamond", "", ""])
    table.turn_of(0)
    forming = [offer for offer in table.offers(0) if offer.startswith("form")]
    assert forming == [
        "form a pack of 2 x Copper Wire",
        "form a pack of Copper Wire, Gold Bar",
        "form a pack of Copper Wire, Blood Diamond",
    ]


def test_sp_3_2_the_first_pack_is_shown_locked_and_cannot_be_stolen() -> None:
    table = Table(
        ["copper_wire gold_bar fake_perfume", "copper_wire steal plunder", ""], ["", "!bribe_money bribe_money", ""]
    )
    table.turn_of(0)
    table.says(0, "form a pack of Copper Wire, Gold Bar")
    pack = table.g.pack[0][0]
    assert (pack.counters, table.g.locked_in) == ([1], [1, 1, 0])
    assert table.seen_by_all(0) == ["gold_bar copper_wire"]
    assert "seat 0 forms a pack of Copper Wire, Gold Bar" in table.told(2)
    assert table.offers(1) == ["discard Copper Wire"], "nothing of seat 0 is open"


def test_sp_3_3_only_the_top_pack_is_open_and_those_below_open_again() -> None:
    table = Table(
        ["steal steal copper_wire fake_perfume", "copper_wire", "copper_wire"],
        ["!gold_bar bribe_money", "!bribe_money bribe_money | fake_perfume fake_perfume | copper_wire copper_wire", ""],
    )
    table.turn_of(0)
    assert [offer for offer in table.offers(0) if offer.startswith("attack")] == [
        "attack the open pack of seat 1 with Copper Wire"
    ]
    table.says(0, "play Steal on the open pack of seat 1")
    assert table.stack(0) == ["gold_bar bribe_money", "copper_wire copper_wire"]
    table.says(1, "discard Copper Wire")
    table.says(2, "discard Copper Wire")
    assert [offer for offer in table.offers(0) if offer.startswith("attack")] == [
        "attack the open pack of seat 1 with Fake Perfume"
    ]
    table.says(0, "play Steal on the open pack of seat 1")
    assert not [offer for offer in table.offers(0) if "seat 1" in offer], "down to the locked pack"


@pytest.mark.parametrize("partner", ["copper_wire", "gold_bar"])
def test_sp_3_4_the_partner_is_hidden_whether_it_is_the_twin_or_a_wild(partner: str) -> None:
    table = Table([f"copper_wire {partner} bribe_money", "steal", "steal"], ["!bribe_money bribe_money", "", ""])
    table.turn_of(0)
    packs = {
        "copper_wire": "form a pack of 2 x Copper Wire",
        "gold_bar": "form a pack of Copper Wire, Gold Bar",
    }
    table.says(0, packs[partner])
    assert table.stack(0) == ["bribe_money bribe_money", f"{partner} copper_wire"]
    assert table.seen_by_all(0) == ["bribe_money bribe_money", "? copper_wire"]
    assert table.knowers(table.first + 1) == [0]
    assert "seat 0 forms a pack of Copper Wire, card face down" in table.told(1)


def test_sp_3_4_twin_and_wild_look_alike_to_everybody_else() -> None:
    worlds = []
    for partner, offer in (("copper_wire", "2 x Copper Wire"), ("gold_bar", "Copper Wire, Gold Bar")):
        table = Table([f"copper_wire {partner}", "bribe_money", "steal"], ["!bribe_money bribe_money", "", ""])
        table.turn_of(0)
        table.says(0, f"form a pack of {offer}")
        worlds.append([(table.g.view(viewer).to_bytes(), table.told(viewer)) for viewer in (1, 2, None)])
    assert worlds[0] == worlds[1]


def test_sp_4_1_who_holds_no_card_is_skipped() -> None:
    table = Table(["copper_wire bribe_money", "", "fake_perfume"], deck="gold_bar gold_bar gold_bar")
    table.turn_of(0)
    table.says(0, "discard Copper Wire")
    assert table.g.waiting() == [2]


def test_sp_4_1_a_round_begins_with_the_start_holder_who_may_be_skipped_too() -> None:
    table = Table(["copper_wire", "copper_wire", ""], start_token=3, reload_token=1)
    table.turn_of(1)
    table.says(1, "discard Copper Wire")
    assert table.counters() == {"round": 2, "turns": 2, "start_token": 3, "reload_token": 2}
    assert table.g.waiting() == [0]


def test_sp_4_2_the_table_of_actions_and_one_of_them_ends_the_turn() -> None:
    table = Table(
        ["copper_wire copper_wire gold_bar steal plunder", "copper_wire", "gold_bar"],
        [
            "!bribe_money bribe_money",
            "!bribe_money bribe_money | copper_wire copper_wire",
            "!bribe_money bribe_money | fake_perfume fake_perfume",
        ],
        discard="copper_wire",
    )
    table.turn_of(0)
    assert table.offers(0) == [
        "form a pack of 2 x Copper Wire",
        "form a pack of Copper Wire, Gold Bar",
        "form a pack of the top discard and Copper Wire",
        "discard Copper Wire",
        "discard Gold Bar",
        "attack the open pack of seat 1 with Copper Wire",
        "attack the open pack of seat 1 with Gold Bar",
        "attack the open pack of seat 2 with Gold Bar",
        "play Steal on the open pack of seat 1",
        "play Steal on the open pack of seat 2",
        "play Plunder on the open pack of seat 1",
        "play Plunder on the open pack of seat 2",
    ]
    table.says(0, "play Plunder on the open pack of seat 1")
    assert table.g.waiting() == [1]


def test_sp_4_2_the_other_power_cards() -> None:
    table = Table(
        ["forensic_audit flee_the_country tax_audit", "copper_wire", ""],
        ["!bribe_money bribe_money", "", "!fake_perfume fake_perfume"],
    )
    table.turn_of(0)
    assert table.offers(0) == [
        "play Forensic Audit on the hand of seat 1",
        "play Flee the Country on your own stack",
        "play Tax Audit on all that seat 2 has",
    ]


def test_sp_4_3_before_the_first_pack_one_only_forms_and_discards() -> None:
    table = Table(
        ["copper_wire gold_bar steal forensic_audit tax_audit", "bribe_money", ""],
        ["", "!bribe_money bribe_money | copper_wire copper_wire", ""],
    )
    table.turn_of(0)
    assert table.offers(0) == ["form a pack of Copper Wire, Gold Bar", "discard Copper Wire", "discard Gold Bar"]


@pytest.mark.parametrize(("strict", "offered"), [("true", False), ("false", True)])
def test_sp_4_4_a_pair_in_hand_goes_before_the_discard_pile(strict: str, offered: bool) -> None:
    settings = {"strict_first_pack_order": strict}
    table = Table(["copper_wire copper_wire fake_perfume", "", ""], discard="fake_perfume", settings=settings)
    table.turn_of(0)
    assert ("form a pack of the top discard and Fake Perfume" in table.offers(0)) is offered


@pytest.mark.parametrize("laid", ["", "!bribe_money bribe_money"])
def test_sp_4_4_who_has_no_pair_or_has_his_first_pack_may_use_the_discard_pile(laid: str) -> None:
    hand = "copper_wire copper_wire fake_perfume" if laid else "copper_wire fake_perfume"
    table = Table([hand, "", ""], [laid, "", ""], discard="fake_perfume")
    table.turn_of(0)
    assert "form a pack of the top discard and Fake Perfume" in table.offers(0)


def test_sp_4_4_the_first_pack_of_the_discard_is_locked_too() -> None:
    table = Table(["fake_perfume gold_bar steal", "", ""], discard="copper_wire fake_perfume")
    table.turn_of(0)
    assert table.offers(0)[0] == "form a pack of Fake Perfume, Gold Bar"
    table = Table(["fake_perfume steal", "", ""], discard="copper_wire fake_perfume")
    table.turn_of(0)
    table.says(0, "form a pack of the top discard and Fake Perfume")
    assert table.g.pack[0][0].counters == [1]
    assert table.seen_by_all(0) == ["fake_perfume fake_perfume"]


@pytest.mark.parametrize(("setting", "offered"), [("false", False), ("true", True)])
def test_sp_4_5_a_wild_of_the_hand_joins_the_discard_only_by_a_setting(setting: str, offered: bool) -> None:
    table = Table(
        ["gold_bar copper_wire", "", ""],
        ["!bribe_money bribe_money", "", ""],
        discard="copper_wire",
        settings={"hand_wild_on_discard": setting},
    )
    table.turn_of(0)
    joined = "form a pack of the top discard and "
    assert joined + "Copper Wire" in table.offers(0)
    assert (joined + "Gold Bar" in table.offers(0)) is offered


def test_sp_4_5_by_default_all_know_what_joins_the_discard() -> None:
    table = Table(["copper_wire bribe_money", "", ""], ["!bribe_money bribe_money", "", ""], discard="copper_wire")
    table.turn_of(0)
    table.says(0, "form a pack of the top discard and Copper Wire")
    assert table.seen_by_all(0) == ["bribe_money bribe_money", "copper_wire copper_wire"]


def test_sp_4_5_with_the_setting_nobody_knows_what_lies_under_the_discard() -> None:
    worlds = []
    for partner, title in (("gold_bar", "Gold Bar"), ("copper_wire", "Copper Wire")):
        table = Table(
            [f"{partner} bribe_money", "fake_perfume", ""],
            ["!bribe_money bribe_money", "", ""],
            discard="copper_wire",
            settings={"hand_wild_on_discard": True},
        )
        table.turn_of(0)
        table.says(0, f"form a pack of the top discard and {title}")
        assert table.stack(0)[1] == f"{partner} copper_wire"
        assert table.seen_by_all(0)[1] == "? copper_wire"
        worlds.append([(table.g.view(viewer).to_bytes(), table.told(viewer)) for viewer in (1, 2, None)])
    assert worlds[0] == worlds[1]


@pytest.mark.parametrize(("laid", "top"), [("", "copper_wire"), ("!bribe_money bribe_money", "gold_bar")])
def test_sp_4_5_with_the_setting_a_first_pack_and_a_taken_wild_are_still_public(laid: str, top: str) -> None:
    table = Table(
        ["copper_wire bribe_money", "fake_perfume", ""],
        [laid, "", ""],
        discard=top,
        settings={"hand_wild_on_discard": True},
    )
    table.turn_of(0)
    table.says(0, "form a pack of the top discard and Copper Wire")
    assert table.seen_by_all(0)[-1] == f"{top} copper_wire"


def test_sp_4_6_a_wild_on_the_discard_pile_is_taken_with_any_wealth_card_but_no_wild() -> None:
    table = Table(
        ["copper_wire fake_perfume gold_bar", "", ""],
        ["!bribe_money bribe_money", "", ""],
        discard="gold_bar",
        settings={"hand_wild_on_discard": True},
    )
    table.turn_of(0)
    assert [offer for offer in table.offers(0) if "top discard" in offer] == [
        "form a pack of the top discard and Copper Wire",
        "form a pack of the top discard and Fake Perfume",
    ]
    table.says(0, "form a pack of the top discard and Fake Perfume")
    assert table.seen_by_all(0) == ["bribe_money bribe_money", "gold_bar fake_perfume"]


def test_sp_4_7_wilds_may_be_discarded_and_power_cards_never() -> None:
    table = Table(["gold_bar steal copper_wire", "copper_wire", ""], deck="bribe_money fake_perfume")
    table.turn_of(0)
    assert [offer for offer in table.offers(0) if offer.startswith("discard")] == [
        "discard Copper Wire",
        "discard Gold Bar",
    ]
    table.says(0, "discard Gold Bar")
    lying = table.table()
    assert (lying["discard"], lying["hand 0"]) == ("gold_bar", "copper_wire fake_perfume steal")
    assert (table.g.waiting(), lying["deck"]) == ([1], "bribe_money"), "one card is drawn at once"
    assert "Fake Perfume" not in "".join(table.told(1))


def test_sp_4_8_the_card_below_is_the_new_top_and_an_empty_pile_stays_empty() -> None:
    table = Table(["fake_perfume", "copper_wire", "copper_wire copper_wire"], discard="copper_wire fake_perfume")
    table.turn_of(0)
    table.says(0, "form a pack of the top discard and Fake Perfume")
    table.says(1, "form a pack of the top discard and Copper Wire")
    assert table.offers(2) == ["form a pack of 2 x Copper Wire", "discard Copper Wire"]
    table.says(2, "discard Copper Wire")
    assert table.names(table.g.discard.cards) == "copper_wire"


def test_sp_4_9_with_an_empty_deck_one_discards_without_drawing_even_if_one_could_play() -> None:
    table = Table(["copper_wire copper_wire", "fake_perfume", ""], discard="gold_bar")
    table.turn_of(0)
    assert "pass" not in table.offers(0)
    table.says(0, "discard Copper Wire")
    assert table.table() == {"hand 0": "copper_wire", "hand 1": "fake_perfume", "discard": "gold_bar copper_wire"}


def test_sp_4_10_a_power_card_is_burned_only_if_nothing_else_can_be_done() -> None:
    table = Table(["steal plunder", "steal", ""], ["!bribe_money bribe_money", "!bribe_money bribe_money", ""])
    table.turn_of(0)
    assert table.offers(0) == ["give up Steal without effect", "give up Plunder without effect"]
    table.says(0, "give up Plunder without effect")
    assert table.names(table.g.spent.cards) == "plunder"
    assert table.g.sure_powers == [1, 0, 0]
    table = Table(["steal copper_wire", "steal", ""], ["!bribe_money bribe_money", "!bribe_money bribe_money", ""])
    table.turn_of(0)
    assert table.offers(0) == ["discard Copper Wire"]


def test_sp_4_10_before_the_first_pack_a_hand_of_power_cards_burns() -> None:
    table = Table(
        ["steal tax_audit", "copper_wire", ""], ["", "!bribe_money bribe_money | copper_wire copper_wire", ""]
    )
    table.turn_of(0)
    assert table.offers(0) == ["give up Steal without effect", "give up Tax Audit without effect"]


def test_sp_4_25_all_fill_up_to_five_from_the_reload_holder_on() -> None:
    table = Table(
        ["copper_wire", "copper_wire copper_wire", "copper_wire copper_wire copper_wire copper_wire"],
        deck="fake_perfume bribe_money bribe_money gold_bar gold_bar gold_bar",
        reload_token=2,
    )
    table.begin(ReloadTheHands(1))
    assert table.table() == {
        "hand 1": "copper_wire copper_wire gold_bar gold_bar gold_bar",
        "hand 2": "copper_wire copper_wire copper_wire copper_wire bribe_money",
        "hand 0": "copper_wire bribe_money fake_perfume",
    }
    assert (table.g.reload_token, table.g.round) == (3, 2)
    assert table.g.waiting() == [0], "the round begins with the Start holder"


def test_sp_4_25_the_deck_runs_dry_in_the_middle_and_discards_are_never_shuffled_back() -> None:
    table = Table(["copper_wire", "copper_wire", ""], deck="gold_bar gold_bar", discard="fake_perfume", reload_token=3)
    table.begin(ReloadTheHands(2))
    assert table.table() == {
        "hand 2": "gold_bar gold_bar",
        "hand 0": "copper_wire",
        "hand 1": "copper_wire",
        "discard": "fake_perfume",
    }
    assert table.g.reload_token == 1


def test_sp_4_25_a_round_of_play_is_followed_by_the_reload() -> None:
    table = Table(["copper_wire copper_wire", "gold_bar", "gold_bar"], deck="bribe_money " * 20)
    table.begin(BeginATurn(0))
    table.says(0, "form a pack of 2 x Copper Wire")
    assert table.g.hand[0].cards == []
    table.says(1, "discard Gold Bar")
    table.says(2, "discard Gold Bar")
    assert [len(hand.cards) for hand in table.g.hand] == [5, 5, 5]
