"""The end, the count and what all can infer in Steal & Plunder: chapters 5, 6 and 7 of the sheet."""

from __future__ import annotations

from collections import Counter

import pytest

from cutpurse.engine.chance import Chance
from cutpurse.engine.words import FACE_DOWN
from cutpurse.engine.zones import bit
from cutpurse.games.steal_and_plunder.cards import POWERS, STEAL_CARD, WORDS
from cutpurse.games.steal_and_plunder.rules import EndTheGame, StealAndPlunder
from tests.games.steal_and_plunder.table import Table, money

WIRE, DIESEL, BAR = (WORDS.card_named(name) for name in ("copper_wire", "redistributed_diesel", "gold_bar"))


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def test_sp_5_1_the_game_ends_with_deck_and_hands_empty_and_without_a_reload() -> None:
    table = Table(
        ["copper_wire", "", "bribe_money"], ["!bribe_money bribe_money", "!gold_bar copper_wire", ""], reload_token=2
    )
    table.turn_of(0)
    table.says(0, "discard Copper Wire")
    table.says(2, "discard Bribe Money")
    assert table.g.waiting() == []
    assert (table.g.reload_token, table.g.round) == (2, 1)
    assert table.told(None)[-1] == "the end: 100,000, 350,000, 0"


def test_sp_5_1_the_last_card_of_an_audited_player_is_played_by_the_auditor() -> None:
    table = Table(["forensic_audit", "gold_bar", ""], ["!bribe_money bribe_money", "", ""])
    table.turn_of(0)
    table.says(0, "play Forensic Audit on the hand of seat 1")
    table.says(0, "take Gold Bar from the hand of seat 1")
    assert table.g.waiting() == [0], "seats 1 and 2 are skipped, and the deck is empty"
    table.says(0, "discard Gold Bar")
    assert table.g.waiting() == []


def test_sp_5_1_a_hand_of_power_cards_is_burned_to_the_end() -> None:
    table = Table(["steal steal", "", ""], ["!bribe_money bribe_money", "", ""])
    table.turn_of(0)
    table.says(0, "give up Steal without effect")
    table.says(0, "give up Steal without effect")
    assert table.g.waiting() == []
    assert table.names(table.g.spent.cards) == "steal steal"


def test_sp_5_1_the_game_goes_on_while_the_deck_has_cards() -> None:
    table = Table(["copper_wire copper_wire", "", ""], deck="gold_bar")
    table.turn_of(0)
    table.says(0, "form a pack of 2 x Copper Wire")
    assert table.table()["hand 0"] == "gold_bar"
    assert table.g.waiting() == [0]


def test_sp_5_2_all_packs_count_and_the_taxed_ones_half() -> None:
    table = Table(
        ["gold_bar", "", ""],
        ["!copper_wire copper_wire | gold_bar fake_perfume", "", ""],
        plundered=["blood_diamond copper_wire", "", ""],
        offshore=["minibus_taxi_routes minibus_taxi_routes", "", ""],
        taxed=["cryptocurrency_coin fake_perfume | copper_wire copper_wire copper_wire", "next_election_ballots", ""],
    )
    assert table.g.scores() == [money(100 + 400 + 550 + 300) + money(350 + 150) // 2, money(75), 0]


def test_sp_5_2_a_taxed_half_is_exact() -> None:
    table = Table(["", "", ""], taxed=["copper_wire copper_wire copper_wire", "", ""])
    assert table.g.scores()[0] * 2 == money(150)


def test_all_packs_are_opened_at_the_end() -> None:
    table = Table(["copper_wire", "", ""], ["!bribe_money bribe_money | gold_bar? copper_wire", "", ""])
    table.turn_of(0)
    assert table.seen_by_all(0)[1] == "? copper_wire"
    table.says(0, "discard Copper Wire")
    assert table.seen_by_all(0)[1] == "gold_bar copper_wire"


def test_sp_5_3_in_a_single_game_the_highest_score_wins_and_equal_ones_share() -> None:
    table = Table(["", "", ""], ["!copper_wire copper_wire", "!gold_bar copper_wire", "!bribe_money bribe_money"])
    table.begin(EndTheGame(-1))
    assert (table.g.scores(), table.g.places()) == ([money(100), money(350), money(100)], [2, 1, 2])
    assert table.g.waiting() == []
    assert StealAndPlunder.new(3).settings.mode == "single"


def series(totals: list[int], stacks: list[str], **settings: object) -> Table:
    """A game of a series is over; the next would be begun with the first card of the deck as discard."""
    table = Table(
        ["", "", ""],
        stacks,
        settings={"mode": "series", **settings},
        chance=[0],
        total=totals,
        start_token=2,
        reload_token=3,
        game=1,
    )
    table.begin(EndTheGame(-1))
    return table


def test_sp_5_4_totals_add_up_and_the_series_goes_on_below_the_target() -> None:
    table = series([money(900), money(9_000), 0], ["gold_bar copper_wire", "fake_perfume fake_perfume", ""])
    assert table.g.total == table.g.scores() == [money(1_250), money(9_200), 0]
    assert table.g.game == 2
    assert table.g.waiting() == [2]
    assert table.g.locked_in == [0, 0, 0]


def test_sp_2_2_start_moves_on_and_reload_begins_again_with_it() -> None:
    table = series([0, 0, 0], ["gold_bar copper_wire", "", ""])
    assert (table.g.start_token, table.g.reload_token, table.g.round) == (3, 3, 1)
    assert table.table()["hand 2"] == "plunder forensic_audit forensic_audit flee_the_country tax_audit"


def test_sp_5_4_the_highest_total_wins_after_the_target() -> None:
    table = series([money(9_900), money(10_200), 0], ["gold_bar fake_perfume", "", ""])
    assert table.g.scores() == [money(10_300), money(10_200), 0]
    assert (table.g.waiting(), table.g.places()) == ([], [1, 2, 3])


def test_sp_5_4_equal_highest_totals_play_one_more_game() -> None:
    table = series([money(9_900), money(10_300), 0], ["gold_bar fake_perfume", "", ""])
    assert table.g.total == [money(10_300), money(10_300), 0]
    assert table.g.waiting() == [2]


def test_sp_5_4_after_the_last_game_equal_totals_share() -> None:
    table = series([money(9_900), money(10_300), 0], ["gold_bar fake_perfume", "", ""], max_games=2)
    assert (table.g.waiting(), table.g.places()) == ([], [1, 1, 3])


def test_sp_5_4_the_target_can_be_set_and_the_games_are_bounded() -> None:
    table = series([money(900), 0, 0], ["copper_wire copper_wire", "", ""], target=1_000_000)
    assert table.g.waiting() == []
    table = series([0, 0, 0], ["copper_wire copper_wire", "", ""], max_games=2)
    assert table.g.waiting() == []


def test_sp_5_4_a_whole_series_is_played_to_its_end() -> None:
    game = StealAndPlunder.new(3, key(9), {"mode": "series", "target": 5_000_000})
    starts: list[int] = []
    while seats := game.waiting():
        if not starts or len(starts) <= game.game:
            starts.append(game.start_token - 1)
        options = game.options(seats[0])
        game.choose(seats[0], options[0])
    assert game.game == len(starts) >= 2
    assert starts == [(starts[0] + k) % 3 for k in range(len(starts))]
    assert max(game.total) >= 5_000_000


@pytest.mark.parametrize("seats", [3, 4, 5, 6])
def test_sp_6_1_every_turn_lowers_deck_and_hands_and_so_a_game_has_at_most_100(seats: int) -> None:
    for number in range(4):
        game = StealAndPlunder.new(seats, key(number))
        chance = Chance(key(number + 100))
        turns, last = 0, 101
        while game.waiting():
            seat = game.waiting()[0]
            if game.turns > turns:
                turns = game.turns
                left = len(game.deck.cards) + sum(len(hand.cards) for hand in game.hand)
                assert left < last
                last = left
            options = game.options(seat)
            game.choose(seat, options[chance.below(len(options))])
        assert turns <= 100


def test_sp_6_1_who_only_discards_needs_no_more_than_100_turns() -> None:
    game = StealAndPlunder.new(4, key(1))
    while seats := game.waiting():
        game.choose(seats[0], game.safe_option(seats[0], game.options(seats[0])))
    assert game.turns <= 100


def test_sp_7_2_a_hidden_partner_is_of_the_industry_or_a_wild() -> None:
    table = Table(["copper_wire", "", ""], ["!bribe_money bribe_money | gold_bar? copper_wire", "", ""])
    pack = table.g.pack[0][1]
    allowed = [card for card in range(1, len(WORDS.cards) + 1) if table.g.may_lie(pack, card)]
    assert table.names(allowed) == "copper_wire cryptocurrency_coin gold_bar blood_diamond"
    assert table.g.is_plausible()
    pack.cards[0] = DIESEL
    assert not table.g.is_plausible()


def test_sp_7_2_after_a_burn_all_know_the_rest_to_be_power_cards() -> None:
    table = Table(
        ["steal tax_audit", "copper_wire gold_bar forensic_audit", "copper_wire"],
        ["", "!bribe_money bribe_money", ""],
        deck="fake_perfume " * 6,
    )
    table.turn_of(0)
    table.says(0, "give up Steal without effect")
    assert table.g.view(1).seat_counter("sure_powers", 0) == 1
    hand = table.g.hand[0]
    assert [table.g.may_lie(hand, card) for card in (WIRE, BAR, STEAL_CARD)] == [False, False, True]
    table.says(1, "discard Copper Wire")
    table.says(2, "discard Copper Wire")
    assert table.names(hand.cards) == "fake_perfume fake_perfume fake_perfume fake_perfume tax_audit"
    assert table.g.may_lie(hand, WIRE), "the cards drawn since can be any"
    assert table.g.is_plausible()
    hand.cards[:] = [WIRE, WIRE]
    assert not table.g.is_plausible()


def test_sp_7_2_a_power_card_that_all_know_of_is_played_or_taken() -> None:
    table = Table(
        ["steal steal tax_audit", "forensic_audit copper_wire", "bribe_money"],
        ["", "!bribe_money bribe_money", ""],
        discard="steal",
    )
    table.turn_of(0)
    table.says(0, "give up Steal without effect")
    assert table.g.sure_powers == [2, 0, 0]
    table.says(1, "play Forensic Audit on the hand of seat 0")
    table.says(1, "take Tax Audit from the hand of seat 0")
    assert table.g.sure_powers == [1, 1, 0], "from a hand of Power cards only a Power card is taken"
    table.says(2, "discard Bribe Money")
    table.says(0, "give up Steal without effect")
    assert table.g.sure_powers == [0, 1, 0]


def test_sp_7_2_a_power_card_played_may_be_the_known_one() -> None:
    table = Table(
        ["steal tax_audit copper_wire", "gold_bar", ""],
        ["!bribe_money bribe_money", "!bribe_money bribe_money | copper_wire copper_wire", ""],
        sure_powers=[2, 0, 0],
    )
    table.turn_of(0)
    table.says(0, "play Steal on the open pack of seat 1")
    assert table.g.sure_powers == [1, 0, 0]
    assert "sure powers of seat 0: 1" in table.told(None)


def test_sp_7_2_an_unknown_card_taken_may_be_the_power_card() -> None:
    table = Table(
        ["steal copper_wire", "forensic_audit", ""], ["", "!bribe_money bribe_money", ""], sure_powers=[1, 0, 0]
    )
    table.turn_of(1)
    table.says(1, "play Forensic Audit on the hand of seat 0")
    table.says(1, "take Copper Wire from the hand of seat 0")
    assert table.g.sure_powers == [0, 0, 0]


def hide_from(game: StealAndPlunder, viewer: int) -> list[int]:
    """Turn face down what a viewer does not see; the cards that this hides, sorted."""
    unseen: list[int] = []
    for zone in game.zones():
        for place, card in enumerate(zone.cards):
            mask = zone.masks[place] if zone.masks is not None else zone.sees
            if not mask & bit(viewer):
                unseen.append(card)
                zone.cards[place] = FACE_DOWN
    return sorted(unseen)


def test_sp_7_2_imagined_partners_always_fit_and_none_is_left_without_one() -> None:
    for number in range(40):
        game = StealAndPlunder.new(4, key(number))
        chance = Chance(key(number + 500))
        for _ in range(70):
            seat = game.waiting()[0] if game.waiting() else -1
            if seat < 0:
                break
            options = game.options(seat)
            game.choose(seat, options[chance.below(len(options))])
        else:
            partners = [pack.cards[0] for pack in game.all_packs() if (pack.masks or [15])[0] & 15 != 15]
            unseen = hide_from(game, 0)
            before = Counter(unseen)
            hidden = sum(FACE_DOWN in pack.cards for pack in game.all_packs())
            assert hidden <= len(partners)
            game.imagine_zones(unseen, chance)
            assert not any(FACE_DOWN in pack.cards for pack in game.all_packs())
            assert sum(before.values()) - len(unseen) == hidden
            assert not Counter(unseen) - before
            assert game.is_plausible()


def test_sp_7_2_imagine_keeps_wilds_for_packs_whose_twins_are_all_seen() -> None:
    for number in range(20):
        table = Table(["", "", ""], ["", "gold_bar? copper_wire | fake_perfume? fake_perfume", ""])
        game = table.g
        unseen = hide_from(game, 0)
        game.imagine_zones(unseen, Chance(key(number)))
        assert table.stack(1) == ["gold_bar copper_wire", "fake_perfume fake_perfume"], "no Copper Wire is unseen"


def test_sp_7_2_imagine_puts_power_cards_where_a_burn_has_shown_them() -> None:
    table = Table(["gold_bar", "steal copper_wire", "bribe_money tax_audit"], deck="copper_wire", sure_powers=[0, 1, 0])
    game = table.g
    unseen = hide_from(game, 0)
    game.imagine_zones(unseen, Chance(key(1)))
    assert any(card in POWERS for card in game.hand[1].cards)
    assert FACE_DOWN not in game.hand[1].cards
    assert FACE_DOWN in game.hand[2].cards
    assert len(unseen) == 3
