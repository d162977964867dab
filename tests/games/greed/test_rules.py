"""Greed, rule by rule, told at the table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pytest

from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import SettingsError
from cutpurse.games.greed.cards import CROOK, NUMBER, SYMBOL, WORDS
from cutpurse.games.greed.rules import (
    CheckForAWinner,
    ChooseAVictim,
    DrawACard,
    EndTheGame,
    GoOnOrStop,
    Greed,
    GreedSettings,
    LookAtAHand,
    PlayACard,
    RefillYourHand,
    SetUp,
    StopStealing,
    SwapTwoForThree,
    TakeACard,
    TakeATurn,
    TradeANumberIn,
)
from tests.games.story import Story


def at_table(
    hand: Sequence[str],
    collection: Sequence[str] | None = None,
    *,
    deck: str = "",
    discard: str = "",
    middle: str = "",
    settings: Mapping[str, object] | None = None,
    chance: Sequence[int] = (),
    **counters: int | list[int],
) -> Story[Greed]:
    """A story with these hands (the crooks known to all, as they are) and collections."""
    zones = {"deck": deck, "discard": discard, "middle": middle, "collection": collection or [""] * len(hand)}
    story = Story(Greed, len(hand), zones, settings, chance, **counters)
    for zone, cards in zip(story.g.hand, hand, strict=True):
        for card in cards.split():
            story.lay(zone, card, seers=story.g.everyone if card == "crook" else None)
    return story


# -- the examples of the rule book
@pytest.mark.rule("GR-3.1")
def test_gr_3_1_example_a_played_three_joins_the_collection() -> None:
    story = at_table(["crook 3 5", "crook 1"], ["2", ""])
    story.begin(PlayACard(0))
    assert story.offers(0) == ["play 3", "play 5"]
    story.says(0, "play 3")
    assert story.table() == {"hand 0": "crook 5", "hand 1": "crook 1", "collection 0": "2 3"}


def test_gr_3_7_example_two_crook_seven_then_stop() -> None:
    story = at_table(["crook", "crook 2 4 7"], ["1", "5"], chance=[1, 0, 1])
    story.begin(DrawACard(0, 1))
    story.says(0, "draw once more")
    story.says(0, "draw once more")
    assert story.table()["middle"] == "2 crook 7"
    story.says(0, "stop")
    assert story.offers(0) == ["pass", "take 5 from the collection of seat 1"]
    assert story.table()["collection 0"] == "1 2 7"
    story.says(0, "take 5 from the collection of seat 1")
    assert story.table() == {"hand 0": "crook", "hand 1": "crook 4", "collection 0": "1 2 5 7"}


def test_gr_3_6_example_four_five_four_is_too_greedy() -> None:
    story = at_table(["crook", "crook 4 4 5"], ["1", ""], chance=[1, 2, 1])
    story.begin(DrawACard(0, 1))
    story.says(0, "draw once more")
    story.says(0, "draw once more")
    assert story.table() == {"hand 0": "crook", "hand 1": "crook 4 4 5", "collection 0": "1"}
    assert story.question() == ""


# -- conventions
@pytest.mark.rule("GR-0.1")
def test_gr_0_1_equal_copies_are_one_option_and_seats_go_clockwise() -> None:
    story = at_table(["crook 3 3 3p", "crook 1", "crook 1"], turns=1)
    story.begin(PlayACard(0), ChooseAVictim(0))
    assert story.offers(0) == ["play 3", "play 3 with +1"]
    story.says(0, "play 3")
    assert story.offers(0) == ["raid the hand of seat 1", "raid the hand of seat 2"]
    assert story.g.next_seat(2) == 0


def test_gr_0_2_an_empty_pile_is_renewed_from_the_discards_and_then_nothing_comes() -> None:
    story = at_table(["crook", "crook"], deck="1", discard="2 3")
    story.begin()
    story.g.draw(story.g.hand[0], 2)
    assert story.table() == {"hand 0": "crook 1 3", "hand 1": "crook", "deck": "2"}
    story.g.draw(story.g.hand[0], 5)
    assert story.table() == {"hand 0": "crook 1 2 3", "hand 1": "crook"}


def test_gr_0_2_two_who_must_refill_share_four_cards_in_order() -> None:
    story = at_table(["crook", "crook"], deck="4 3 2 1", turns=1)
    story.begin(RefillYourHand(0, 1))
    assert story.table() == {"hand 0": "crook 1 2 3 4", "hand 1": "crook"}


def test_gr_0_3_what_leaves_a_hand_openly_is_no_longer_known_to_be_there() -> None:
    story = at_table(["crook", "crook 4 4 5"], chance=[1, 2, 1, 1])
    story.begin(DrawACard(0, 1), GoOnOrStop(0, 1))
    story.says(0, "draw once more")
    story.says(0, "draw once more")
    assert story.known(story.g.hand[1], 0) == ("crook 4 4 5", "")
    assert story.known(story.g.hand[1], None) == ("crook 4 4 5", "")
    story.says(0, "draw once more")
    assert story.known(story.g.hand[1], 0) == ("crook 4 5", "")


@pytest.mark.rule("GR-0.4")
def test_gr_0_4_the_safe_options() -> None:
    story = at_table(["crook 2 5 6", "crook 1", "crook 1"], ["5 6 6", "5 5 6 6 7", ""], turns=1)
    story.begin(PlayACard(0))
    assert story.safe(0) == "play 6"
    story.begin(ChooseAVictim(0))
    assert story.safe(0) == "raid the hand of seat 1"
    story.begin(GoOnOrStop(0, 1))
    assert story.safe(0) == "stop"
    story.begin(TakeACard(0, 1))
    assert story.safe(0) == "take 6 from the collection of seat 1"
    for step in (LookAtAHand(0), SwapTwoForThree(0), TradeANumberIn(0)):
        story.begin(step)
        assert story.safe(0) == "pass"


def test_gr_0_4_equal_sets_are_decided_by_the_lowest_number() -> None:
    story = at_table(["crook 2 5", "crook"], ["", "3 6"])
    story.begin(PlayACard(0))
    assert story.safe(0) == "play 2"
    story.begin(TakeACard(0, 1))
    assert story.safe(0) == "take 3 from the collection of seat 1"


# -- the box and the set-up
@pytest.mark.rule("GR-1.1", "GR-1.2")
@pytest.mark.parametrize("seats", range(2, 6))
def test_gr_1_1_fourteen_of_each_number_and_gr_1_2_a_crook_each(seats: int) -> None:
    box = Greed.box(seats, GreedSettings())
    assert box.count(CROOK) == seats
    assert Counter(NUMBER[card] for card in box if card != CROOK) == dict.fromkeys(range(1, 8), 14)


@pytest.mark.rule("GR-1.3")
@pytest.mark.parametrize(("specials", "copies"), [("none", 0), ("standard", 1), ("rich", 2)])
def test_gr_1_3_symbols_are_even_over_numbers_and_kinds(specials: str, copies: int) -> None:
    box = Greed.box(4, GreedSettings(specials=specials))
    symbols = Counter((NUMBER[card], SYMBOL[card]) for card in box if SYMBOL[card])
    assert symbols == ({(n, s): copies for n in range(1, 8) for s in (1, 2, 3)} if copies else {})


@pytest.mark.rule("GR-1.4")
@pytest.mark.parametrize("seats", [0, 1, 6])
def test_gr_1_4_other_numbers_of_players_are_refused(seats: int) -> None:
    with pytest.raises(SettingsError, match=f"Greed is for 2 to 5 players, not {seats}"):
        Greed.new(seats)


@pytest.mark.rule("GR-2.1", "GR-2.2", "GR-2.4", "GR-2.5")
@pytest.mark.parametrize("seats", range(2, 6))
def test_gr_2_1_hands_collections_and_pile_after_the_set_up(seats: int) -> None:
    g = Greed.new(seats, match_key("greed", seats), {"first_seat": 1})
    for seat in range(seats):
        assert len(g.hand[seat].cards) == 8
        assert g.hand[seat].cards.count(CROOK) == 1
        assert len(g.collection[seat].cards) == (seat - 1) % seats + 1
        assert g.collection[seat].cards == sorted(g.collection[seat].cards)
    assert not g.discard.cards
    assert len(g.deck.cards) == 98 - 7 * seats - seats * (seats + 1) // 2
    assert sorted(card for zone in g.zones() for card in zone.cards) == sorted(g.box(seats, g.settings))


@pytest.mark.rule("GR-2.3")
def test_gr_2_3_the_first_player_is_drawn_or_set() -> None:
    assert {Greed.new(4, match_key("first", i)).waiting()[0] for i in range(40)} == {0, 1, 2, 3}
    assert Greed.new(4, match_key("first", 0), {"first_seat": "2"}).waiting() == [2]
    with pytest.raises(SettingsError, match="first_seat cannot be 4 with 4 players; it can be: random, 0 to 3"):
        Greed.new(4, settings={"first_seat": 4})


@pytest.mark.rule("GR-2.4")
def test_gr_2_4_symbols_in_the_first_collections_do_nothing() -> None:
    story = at_table(["", ""])
    story.script.left = [0]
    g = story.g
    g.agenda[:] = [SetUp(0)]
    g.settle()
    assert [type(step).__name__ for step in g.agenda] == ["ChooseAVictim", "PlayACard"]
    assert sum(SYMBOL[card] > 0 for zone in g.collection for card in zone.cards) > 0


# -- the turn
def test_gr_3_1_the_crook_is_never_played_and_a_played_symbol_does_nothing() -> None:
    story = at_table(["crook 3s", "crook 1"], ["1 2", ""], deck="1 1 1", turns=1)
    story.begin(PlayACard(0))
    assert story.offers(0) == ["play 3 with two for three"]
    story.says(0, "play 3 with two for three")
    assert story.table() == {"hand 0": "crook", "hand 1": "crook 1", "collection 0": "1 2 3s", "deck": "1 1 1"}


def test_gr_3_2_who_holds_only_the_crook_draws_seven_first() -> None:
    story = at_table(["crook", "crook 1"], deck="7 7 6 6 5 5 4 4")
    story.begin(TakeATurn(0))
    assert story.question() == "play_a_card"
    assert story.table()["hand 0"] == "crook 4 4 5 5 6 6 7"


def test_gr_3_2_with_nothing_to_draw_the_play_is_skipped() -> None:
    story = at_table(["crook", "crook 1"])
    story.begin(TakeATurn(0))
    assert story.question() == "choose_a_victim"


def test_gr_3_3_one_of_the_others_must_be_raided() -> None:
    story = at_table(["crook", "crook", "crook 2"], chance=[1], turns=1)
    story.begin(ChooseAVictim(1))
    assert story.offers(1) == ["raid the hand of seat 2", "raid the hand of seat 0"]
    story.says(1, "raid the hand of seat 2")
    assert story.table()["middle"] == "2"


def test_gr_3_4_chance_picks_the_card_and_all_see_it() -> None:
    story = at_table(["crook", "crook 2 5 6"], chance=[2])
    story.begin(DrawACard(0, 1))
    assert story.table()["middle"] == "5"
    assert story.told(None)[0] == "5: from hand of seat 1 to middle"


def test_gr_3_5_the_crook_has_no_number_and_triggers_nothing() -> None:
    story = at_table(["crook", "crook 2"], chance=[0, 0])
    story.begin(DrawACard(0, 1))
    assert story.offers(0) == ["stop", "draw once more"]
    assert story.g.view(1).pending[-1].seat == 1
    story.says(0, "draw once more")  # the last card: the end; with a number the crook would have clashed with none
    assert story.table() == {"hand 0": "crook", "hand 1": "crook", "collection 0": "2"}


@pytest.mark.parametrize("symbol", "pls")
def test_gr_3_6_the_symbol_of_the_busting_card_does_nothing(symbol: str) -> None:
    story = at_table(["crook", f"crook 4 4{symbol} 6"], ["1 1 4", "4"], deck="7 7 7", chance=[1, 1])
    story.begin(DrawACard(0, 1))
    story.says(0, "draw once more")
    assert story.question() == ""
    assert story.table()["hand 1"] == f"crook 4 4{symbol} 6"
    assert story.table()["collection 0"] == "1 1 4"


def test_gr_3_6_what_earlier_symbols_brought_stays_and_a_drawn_crook_returns() -> None:
    story = at_table(["crook", "crook 4p 4 6"], ["1 4", ""], deck="7", chance=[2, 0, 0])
    story.begin(DrawACard(0, 1))
    story.says(0, "draw once more")
    assert story.table()["middle"] == "4p crook"
    story.says(0, "draw once more")
    assert story.table() == {"hand 0": "crook", "hand 1": "crook 4 4p 6", "collection 0": "1 4 7"}


def test_gr_3_7_the_crook_may_be_declined_and_returns_known_to_all() -> None:
    story = at_table(["crook", "2", "crook"], ["", "5", ""], middle="3 crook")
    story.begin(StopStealing(0, 1))
    story.says(0, "pass")
    assert story.table() == {"hand 0": "crook", "hand 1": "crook 2", "hand 2": "crook"} | {
        "collection 0": "3",
        "collection 1": "5",
    }
    assert story.known(story.g.hand[1], 2) == ("crook", "")


def test_gr_3_7_with_an_empty_collection_the_crook_takes_nothing() -> None:
    story = at_table(["crook", "2"], middle="3 crook")
    story.begin(StopStealing(0, 1))
    assert story.question() == ""
    assert story.table() == {"hand 0": "crook", "hand 1": "crook 2", "collection 0": "3"}


def test_gr_3_8_who_has_drawn_the_whole_hand_must_stop() -> None:
    story = at_table(["crook", "crook 2"], ["", "7"], chance=[1, 0])
    story.begin(DrawACard(0, 1))
    story.says(0, "draw once more")
    assert story.question() == "take_a_card"
    assert story.table()["collection 0"] == "2"


def test_gr_3_8_the_look_of_the_last_card_still_works() -> None:
    story = at_table(["crook", "2l", "crook 5"], chance=[0])
    story.begin(DrawACard(0, 1))
    assert story.question() == "look_at_a_hand"
    assert story.g.view(2).pending[-1].seat == 1  # the raid is still under way
    story.says(0, "look into the hand of seat 2")
    assert story.table()["collection 0"] == "2l"


def test_gr_3_9_plus_one_goes_round_from_the_raider_to_all_who_collect_the_number() -> None:
    story = at_table(["crook", "crook 4p", "crook"], ["4", "4 5", "6"], deck="3 2 1", chance=[1])
    story.begin(DrawACard(0, 1))
    assert story.table() == {
        "hand 0": "crook",
        "hand 1": "crook",
        "hand 2": "crook",
        "middle": "4p",
        "collection 0": "1 4",
        "collection 1": "2 4 5",
        "collection 2": "6",
        "deck": "3",
    }


def test_gr_3_9_the_card_in_the_middle_does_not_count_and_drawn_cards_trigger_nothing() -> None:
    story = at_table(["crook", "crook 4p", "crook"], ["", "", "4"], deck="4p 4p", chance=[1])
    story.begin(DrawACard(0, 1))
    assert story.table()["collection 2"] == "4 4p"
    assert "collection 0" not in story.table()


def test_gr_3_10_only_the_looker_sees_the_hand_and_all_see_whose() -> None:
    story = at_table(["crook", "crook 4l 5", "crook 6 7"], chance=[1])
    story.begin(DrawACard(0, 1))
    assert story.offers(0) == ["pass", "look into the hand of seat 1", "look into the hand of seat 2"]
    story.says(0, "look into the hand of seat 1")
    assert story.known(story.g.hand[1], 0) == ("crook 5", "")
    assert story.known(story.g.hand[1], 2) == ("crook", "")
    assert story.told(2)[-3:-1] == [
        "seat 0 looks into the hand of seat 1",
        "seat 0 sees hand of seat 1: 2 x card face down",
    ]
    assert "seat 0 sees hand of seat 1: Crook, 5" in story.told(0)


def test_gr_3_10_nobody_may_be_named() -> None:
    story = at_table(["crook", "crook 5"])
    story.begin(LookAtAHand(0))
    story.says(0, "pass")
    assert story.known(story.g.hand[1], 0) == ("crook", "")


def test_gr_3_11_both_cards_are_put_away_before_three_are_drawn() -> None:
    story = at_table(["crook", "crook 4s"], ["1 2", ""], chance=[1])
    story.begin(DrawACard(0, 1))
    assert story.offers(0) == ["pass", "put away 1", "put away 2"]
    story.says(0, "put away 1")
    assert story.offers(0) == ["put away 2"]
    story.says(0, "put away 2")  # both come back through the renewed pile, and there is no third
    assert story.table() == {"hand 0": "crook", "hand 1": "crook", "middle": "4s", "collection 0": "1 2"}


def test_gr_3_11_needs_two_collected_cards() -> None:
    story = at_table(["crook", "crook 4s"], ["1", ""], chance=[1])
    story.begin(DrawACard(0, 1))
    assert story.question() == "go_on_or_stop"


def test_gr_3_12_with_only_the_crook_left_seven_are_drawn_and_nothing_is_traded() -> None:
    story = at_table(["crook", "crook 1"], ["3", ""], deck="7 6 5 4 3 2 1 1", turns=1)
    story.begin(RefillYourHand(0, 1))
    assert story.question() == ""
    assert story.table()["hand 0"] == "crook 1 1 2 3 4 5 6"


def test_gr_3_13_the_victim_refills_before_a_number_is_traded_in() -> None:
    story = at_table(["crook 1", "crook"], ["3", ""], deck="7 6 5 4 3 2 1 1")
    story.begin(RefillYourHand(0, 1))
    assert story.question() == "trade_a_number_in"
    assert story.table()["hand 1"] == "crook 1 1 2 3 4 5 6"


def test_gr_3_14_all_cards_of_one_number_go_and_the_hand_is_filled_to_eight() -> None:
    story = at_table(["crook 1 1", "crook 1"], ["3 3p 5", ""], deck="7 7 7 6 6 6 6 6")
    story.begin(RefillYourHand(0, 1))
    assert story.offers(0) == ["pass", "discard every 3 and refill", "discard every 5 and refill"]
    story.says(0, "discard every 3 and refill")
    assert story.table() == {
        "hand 0": "crook 1 1 6 6 6 6 6",
        "hand 1": "crook 1",
        "collection 0": "5",
        "discard": "3 3p",
        "deck": "7 7 7",
    }


def test_gr_3_14_with_only_the_crook_left_nothing_is_traded_even_if_none_could_be_drawn() -> None:
    story = at_table(["crook", "crook 1"], ["3", ""])
    story.begin(RefillYourHand(0, 1))
    assert story.question() == ""


def test_gr_3_15_six_at_the_end_of_the_own_turn_win() -> None:
    story = at_table(["crook", "crook"], ["5 5 5 5 5 5p", "1 1"], turns=3)
    story.begin(CheckForAWinner(0))
    assert story.g.waiting() == []
    assert (story.g.scores(), story.g.places()) == ([6, 2], [1, 2])
    assert story.told(None)[-1] == "the end: 6, 2"


def test_gr_3_15_a_sixth_card_on_anothers_turn_must_be_kept_until_the_own_turn() -> None:
    story = at_table(["crook 1", "crook 2 3p", "crook 7"], ["", "", "3 3 3 3 3"], deck="6 6 3", chance=[2, 0], turns=1)
    story.begin(DrawACard(0, 1), CheckForAWinner(0))
    assert story.table()["collection 2"] == "3 3 3 3 3 3"
    story.says(0, "stop")
    assert story.question() == "play_a_card"  # nobody has won
    story.g.agenda[:] = []
    story.script.left = [0]
    story.begin(DrawACard(1, 2))  # a crook, which takes the sixth before the turn of seat 2
    story.says(1, "stop")
    story.says(1, "take 3 from the collection of seat 2")
    assert story.g.winner == 0
    story.begin(CheckForAWinner(2))
    assert story.g.winner == 0


def test_gr_3_15_the_very_set_of_six_may_be_traded_away() -> None:
    story = at_table(["crook 1", "crook 1"], ["5 5 5 5 5 5", ""], turns=1)
    story.begin(RefillYourHand(0, 1), CheckForAWinner(0))
    story.says(0, "discard every 5 and refill")
    assert story.g.winner == 0
    assert story.question() != ""


# -- two players
def test_gr_4_1_the_pile_is_raided_without_symbols_and_a_bust_goes_to_the_discards() -> None:
    story = at_table(["crook 1", "crook 1"], ["2 2 5", "5"], deck="7 5 6 5p", turns=1)
    story.begin(ChooseAVictim(0))
    assert story.offers(0) == ["raid the hand of seat 1", "draw from the pile"]
    story.says(0, "draw from the pile")
    assert story.table()["collection 0"] == "2 2 5"
    story.says(0, "draw once more")
    story.says(0, "draw once more")
    assert story.question() == "trade_a_number_in"
    assert story.table()["discard"] == "5p 6 5"


def test_gr_4_1_what_was_drawn_from_the_pile_is_collected_and_an_empty_pile_ends_it() -> None:
    story = at_table(["crook 1", "crook"], deck="6 5p", turns=1)
    story.begin(ChooseAVictim(0))
    story.says(0, "draw from the pile")
    story.says(0, "draw once more")
    assert story.table() == {"hand 0": "crook 1", "hand 1": "crook", "collection 0": "5p 6"}
    assert story.question() == "trade_a_number_in"  # and the other player, no victim, was not refilled


def test_gr_4_1_the_pile_is_offered_only_if_there_is_one_and_the_setting_is_on() -> None:
    for deck, on, offered in (("", True, 1), ("1", True, 2), ("1", False, 1)):
        story = at_table(["crook 1", "crook 1"], deck=deck, settings={"two_player_pile": on}, turns=1)
        story.begin(ChooseAVictim(0))
        assert len(story.offers(0)) == offered
    story = at_table(["crook 1", "crook 1", "crook"], deck="1", turns=1)
    story.begin(ChooseAVictim(0))
    assert len(story.offers(0)) == 2


# -- tournament and the end without a winner
def test_gr_5_1_seven_for_the_winner_the_longest_set_for_the_others_and_the_next_seat_begins() -> None:
    story = at_table(
        ["crook", "crook"], ["5 5 5 5 5 5", "1 1 1 1 1 1 1 2"], settings={"mode": "tournament"}, winner=1, first=1
    )
    story.begin(EndTheGame(0))
    assert story.g.points == [7, 7]
    assert story.g.wins == [1, 0]
    assert (story.g.game, story.g.first, story.g.waiting()) == (1, 2, [1])


@pytest.mark.rule("GR-5.1", "GR-5.2")
def test_gr_5_2_after_as_many_games_as_players_points_then_wins_decide() -> None:
    story = at_table(
        ["crook", "crook"], ["5 5 5 5 5 5", "1 2"], settings={"mode": "tournament"}, winner=1, first=2, game=1,
        points=[2, 8], wins=[0, 1],
    )  # fmt: skip
    story.begin(EndTheGame(0))
    assert story.g.waiting() == []
    assert story.g.scores() == [9, 9]
    assert story.g.places() == [1, 1]
    story.g.wins = [2, 1]
    assert story.g.places() == [1, 2]


def test_gr_6_1_after_the_last_round_the_longest_sets_decide() -> None:
    story = at_table(["crook", "crook", "crook"], ["1 1 2", "3 3 4 4", "5 6 6"], settings={"max_rounds": 20}, turns=60)
    story.begin(CheckForAWinner(2))
    assert story.g.waiting() == []
    assert story.g.places() == [2, 1, 2]
    story.g.turns = 59
    story.begin(CheckForAWinner(1))
    assert story.g.waiting() != []


def test_gr_6_1_in_a_tournament_who_leads_alone_gets_the_seven() -> None:
    for collection, points, wins in (
        (["1 1 2", "3 3", "4"], [7, 2, 1], [1, 0, 0]),
        (["1 1 2", "3 3 4", "4"], [2, 2, 1], [0, 0, 0]),
    ):
        story = at_table(
            ["crook"] * 3, collection, settings={"mode": "tournament", "max_rounds": 20}, turns=60, first=1
        )
        story.begin(CheckForAWinner(2))
        assert (story.g.points, story.g.wins) == (points, wins)


@pytest.mark.rule("GR-6.2")
def test_gr_6_2_a_raid_of_a_whole_hand_draws_eight_at_most() -> None:
    story = at_table(["crook", "crook 1 2 3 4 5 6 7"], chance=[0] * 8)
    story.begin(DrawACard(0, 1))
    for _ in range(7):
        story.says(0, "draw once more") if story.question() == "go_on_or_stop" else None
    assert story.table() == {"hand 0": "crook", "hand 1": "crook", "collection 0": "1 2 3 4 5 6 7"}


def test_gr_1_1_the_words_of_the_cards_say_what_they_are() -> None:
    titles = {card.name: card.title for card in WORDS.cards}
    assert titles["crook"] == "Crook"
    assert titles["5s"] == "5 with two for three"
    assert len(titles) == 29
