"""Conventions, components and set-up of Steal & Plunder: chapters 0, 1 and 2 of the sheet."""

from __future__ import annotations

from collections import Counter

import pytest

from cutpurse.engine.errors import SettingsError
from cutpurse.engine.zones import TABLE
from cutpurse.games.steal_and_plunder.cards import COPIES, POWERS, VALUE, WEALTH, WILDS, WORDS
from cutpurse.games.steal_and_plunder.rules import DrawForTheStart, SetUp, StealAndPlunder
from tests.games.steal_and_plunder.table import Table, money


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def test_sp_0_1_turns_go_clockwise_and_one_key_is_one_game() -> None:
    table = Table(["copper_wire gold_bar", "gold_bar gold_bar", "gold_bar gold_bar"], start_token=2)
    table.turn_of(1)
    for seat in (1, 2, 0):
        assert table.g.waiting() == [seat]
        table.says(seat, "discard Gold Bar")
    assert StealAndPlunder.new(5, key(3)).save() == StealAndPlunder.new(5, key(3)).save()
    assert StealAndPlunder.new(5, key(3)).save() != StealAndPlunder.new(5, key(4)).save()


def test_sp_0_2_hidden_cards_are_a_number_and_equal_cards_one_option() -> None:
    table = Table(["copper_wire copper_wire", "gold_bar steal", ""], deck="fake_perfume gold_bar")
    table.turn_of(0)
    assert table.offers(0) == ["form a pack of 2 x Copper Wire", "discard Copper Wire"]
    view = table.g.view(0)
    (theirs,), (deck,) = view.of("hand", 1), view.of("deck")
    assert (theirs.size, theirs.cards, deck.size, deck.cards) == (2, (), 2, ())


def test_sp_0_5_what_the_others_know_of_an_audited_hand() -> None:
    table = Table(
        ["forensic_audit gold_bar", "copper_wire copper_wire gold_bar gold_bar fake_perfume", "copper_wire"],
        ["!bribe_money bribe_money", "!fake_perfume fake_perfume", ""],
    )
    hand = table.g.hand[1]
    table.turn_of(0)
    table.says(0, "play Forensic Audit on the hand of seat 1")
    assert table.known(hand, 0) == ("copper_wire copper_wire fake_perfume gold_bar gold_bar", "")
    table.says(0, "take Fake Perfume from the hand of seat 1")
    assert table.known(hand, 0) == ("copper_wire copper_wire gold_bar gold_bar", "")
    assert table.known(table.g.hand[0], 1) == ("fake_perfume", "")
    assert table.known(hand, 2) == table.known(hand, None) == ("", "")
    table.says(1, "discard Gold Bar")
    assert table.known(hand, 0) == ("copper_wire copper_wire gold_bar", "")
    table.says(2, "discard Copper Wire")
    table.says(0, "discard Fake Perfume")
    assert table.known(table.g.hand[0], 1) == ("", "")
    table.says(1, "form a pack of Copper Wire, Gold Bar")
    assert table.known(hand, 0) == ("", "copper_wire gold_bar"), "one card left unseen, so nothing is certain any more"
    table.says(0, "discard Gold Bar")
    table.says(1, "discard Copper Wire")
    assert table.known(hand, 0) == ("", ""), "an empty hand holds no secrets"


def test_sp_1_1_the_box() -> None:
    assert {WORDS.cards[card - 1].name: (copies, VALUE[card]) for card, copies in COPIES.items()} == {
        "redistributed_diesel": (10, money(50)),
        "counterfeit_cigarettes": (10, money(50)),
        "copper_wire": (10, money(50)),
        "bribe_money": (10, money(50)),
        "cash_in_the_couch": (8, money(100)),
        "fake_perfume": (8, money(100)),
        "liberated_livestock": (8, money(100)),
        "minibus_taxi_routes": (6, money(150)),
        "next_election_ballots": (6, money(150)),
        "pre_approved_tenders": (6, money(200)),
        "cryptocurrency_coin": (6, money(250)),
        "gold_bar": (4, money(300)),
        "blood_diamond": (2, money(500)),
        "steal": (2, 0),
        "plunder": (1, 0),
        "forensic_audit": (2, 0),
        "flee_the_country": (1, 0),
        "tax_audit": (1, 0),
    }
    box = StealAndPlunder.box(4, StealAndPlunder.settings_type())
    assert [sum(card in sort for card in box) for sort in (WEALTH, WILDS, POWERS)] == [82, 12, 7]
    assert (len(box), sum(VALUE[card] for card in box)) == (101, money(11_100))


def test_sp_1_2_the_same_colour_is_not_enough() -> None:
    table = Table(
        ["copper_wire bribe_money", "", "steal"],
        ["!fake_perfume fake_perfume", "", "!bribe_money bribe_money | redistributed_diesel redistributed_diesel"],
        discard="counterfeit_cigarettes",
    )
    table.turn_of(0)
    assert table.offers(0) == ["discard Copper Wire", "discard Bribe Money"], "four yellow industries"


def test_sp_1_3_any_wild_beats_any_other() -> None:
    table = Table(
        ["blood_diamond", "cryptocurrency_coin", ""],
        ["!bribe_money bribe_money", "!bribe_money bribe_money | copper_wire copper_wire", ""],
    )
    table.turn_of(0)
    table.says(0, "attack the open pack of seat 1 with Blood Diamond")
    table.says(1, "add Cryptocurrency Coin")
    table.says(0, "concede")
    assert table.stack(1) == ["bribe_money bribe_money", "copper_wire blood_diamond cryptocurrency_coin copper_wire"]


def test_sp_1_4_both_tokens_lie_before_the_first_player() -> None:
    game = StealAndPlunder.new(4, key(1))
    assert game.start_token == game.reload_token == game.waiting()[0] + 1
    view = game.view(None)
    assert view.counter("start_token") == view.counter("reload_token") == game.start_token


@pytest.mark.parametrize("seats", [2, 7])
def test_sp_1_5_three_to_six_players(seats: int) -> None:
    with pytest.raises(SettingsError, match=f"Steal & Plunder is for 3 to 6 players, not {seats}"):
        StealAndPlunder.new(seats)


# Without a shuffle the deck lies in the order of the box: 10 each of the yellow industries, and so on.
DIESEL, DIAMOND, STEAL = 0, 92, 94


def test_sp_2_1_the_highest_card_begins_and_power_cards_count_nothing() -> None:
    table = Table(["", "", ""], chance=[STEAL, DIESEL, DIESEL])
    table.g.log = []
    table.g.begin()
    assert table.g.agenda == [DrawForTheStart(TABLE, (0, 1, 2))]
    table.g.agenda.pop().run(table.g)
    assert table.g.agenda == [DrawForTheStart(TABLE, (1, 2))], "Steal is worth less than two of Diesel, which are tied"
    assert table.names(table.g.start_draw.cards) == "steal redistributed_diesel redistributed_diesel"
    assert "seat 1 draws Redistributed Diesel for the start" in table.told(None)


def test_sp_2_1_tied_players_draw_again_among_themselves() -> None:
    table = Table(["", "", ""], deck="copper_wire gold_bar steal fake_perfume fake_perfume", chance=[0, 2, 2, 1, 0, 0])
    table.begin(DrawForTheStart(TABLE, (0, 1, 2)))
    told = [line for line in table.told(None) if "draws" in line]
    assert told == [
        "seat 0 draws Copper Wire for the start",
        "seat 1 draws Fake Perfume for the start",
        "seat 2 draws Fake Perfume for the start",
        "seat 1 draws Steal for the start",
        "seat 2 draws Gold Bar for the start",
    ]


def test_sp_2_1_a_deck_too_short_takes_the_drawn_cards_back() -> None:
    table = Table(["", "", ""], deck="copper_wire fake_perfume fake_perfume", chance=[0, 0, 0, 0, 0])
    table.g.agenda[:] = [DrawForTheStart(TABLE, (0, 1, 2))]
    table.g.agenda.pop().run(table.g)
    assert table.g.agenda == [DrawForTheStart(TABLE, (1, 2))]
    assert not table.g.deck.cards
    table.g.agenda.pop().run(table.g)
    assert table.names(table.g.start_draw.cards) == "copper_wire fake_perfume"
    assert table.g.agenda == [SetUp(2)]


def test_sp_2_1_by_chance_the_show_is_left_out() -> None:
    table = Table(["", "", ""], settings={"start_method": "random"}, chance=[2, 0])
    table.g.begin()
    assert table.g.agenda == [SetUp(2)]
    seats = Counter(StealAndPlunder.new(3, key(k), {"start_method": "random"}).waiting()[0] for k in range(60))
    assert set(seats) == {0, 1, 2}


def test_sp_2_3_five_cards_each_from_the_start_holder_on_and_the_drawn_cards_are_back() -> None:
    table = Table(["", "", ""], chance=[0, 0, DIAMOND - 2, 0])
    table.g.begin()
    table.g.settle()
    lying = table.table()
    assert lying["hand 2"] == "plunder forensic_audit forensic_audit flee_the_country tax_audit"
    assert lying["hand 0"] == "gold_bar blood_diamond blood_diamond steal steal"
    assert lying["hand 1"] == "cryptocurrency_coin cryptocurrency_coin gold_bar gold_bar gold_bar"
    assert (table.g.start_token, len(table.g.deck.cards), "start_draw" in lying) == (3, 85, False)


def test_sp_2_4_the_first_discard_is_no_power_card_and_may_be_a_wild() -> None:
    firsts = Counter(StealAndPlunder.new(3, key(k)).discard.cards[0] for k in range(300))
    assert not any(card in POWERS for card in firsts)
    assert any(card in WILDS for card in firsts)
    games = [StealAndPlunder.new(3, key(k)) for k in range(30)]
    assert all((len(g.deck.cards), len(g.discard.cards)) == (101 - 15 - 1, 1) for g in games)


def test_sp_2_4_every_card_that_is_no_power_card_is_as_likely() -> None:
    table = Table(["", "", ""], chance=[81])
    table.begin(SetUp(0))
    assert table.names(table.g.discard.cards) == "pre_approved_tenders", "the last of the 86 left that is no Wild"
    assert table.script.left == []


def test_sp_2_4_a_wild_as_first_discard_is_taken_by_the_start_holder() -> None:
    table = Table(["fake_perfume copper_wire", "", ""], discard="gold_bar")
    table.turn_of(0)
    table.says(0, "form a pack of the top discard and Fake Perfume")
    assert table.table() == {"hand 0": "copper_wire", f"pack {table.first} of 0": "gold_bar fake_perfume"}


@pytest.mark.parametrize("out", ["redistributed_diesel", "counterfeit_cigarettes", "copper_wire", "bribe_money"])
def test_sp_2_5_the_small_deck(out: str) -> None:
    game = StealAndPlunder.new(3, key(1), {"small_deck": True, "removed_yellow": out})
    cards = [card for zone in game.zones() for card in zone.cards]
    assert (len(cards), sum(VALUE[card] for card in cards)) == (85, money(9_400))
    assert WORDS.card_named("pre_approved_tenders") not in cards
    assert WORDS.card_named(out) not in cards


def test_sp_2_5_the_small_deck_is_for_three_and_off_by_default() -> None:
    with pytest.raises(SettingsError, match="setting small_deck cannot be true with 4 players; it can be: false"):
        StealAndPlunder.new(4, settings={"small_deck": "true"})
    assert sum(len(zone.cards) for zone in StealAndPlunder.new(3).zones()) == 101
    default = StealAndPlunder.settings_type()
    assert default.text("removed_yellow") == "bribe_money"


@pytest.mark.parametrize(
    ("setting", "value", "allowed"),
    [
        ("mode", "league", "single, series"),
        ("target", 10_025_000, "1000000 to 50000000 in steps of 50000"),
        ("max_games", 51, "1 to 50"),
        ("removed_yellow", "fake_perfume", "bribe_money, redistributed_diesel, counterfeit_cigarettes, copper_wire"),
        ("start_method", "oldest", "draw, random"),
        ("strict_first_pack_order", "maybe", "true, false"),
        ("hand_wild_on_discard", "maybe", "true, false"),
        ("audit_pick", "lowest", "choice, highest_value"),
        ("offshore_open", "maybe", "true, false"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_what_can_be(setting: str, value: object, allowed: str) -> None:
    with pytest.raises(SettingsError) as refused:
        StealAndPlunder.new(3, settings={setting: value})
    assert str(refused.value) == f"setting {setting} cannot be {str(value)!r}; it can be: {allowed}"
