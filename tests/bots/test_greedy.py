"""The greedy bot: what it answers where the right answer is clear, how often it wins, and that it never fails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from cutpurse.bots.greedy_bot import ANSWERS, GreedyBot
from cutpurse.bots.random_bot import RandomBot
from cutpurse.engine.agenda import PASS, Choice, Poll
from cutpurse.engine.game import Game
from cutpurse.engine.words import ZoneKind
from cutpurse.engine.zones import Zone, bit
from cutpurse.games import GAMES
from cutpurse.games.bag_o_loot.cards import SET
from cutpurse.games.bag_o_loot.rules import BagOLoot, ForfeitACard, MakeAPlay, TakeABag
from cutpurse.games.greed.rules import ChooseAVictim, GoOnOrStop, Greed, PlayACard, SwapTwoForThree, TakeACard
from cutpurse.games.szmal.playing import Resolve
from cutpurse.games.szmal.rules import ChooseACard, LoseACard, PickACard, Szmal
from cutpurse.sdk.cards import Card
from cutpurse.sdk.decision import Decision
from cutpurse.sdk.local import LocalRun, play
from cutpurse.sdk.views import VIEWS
from cutpurse.sdk.views.stolen_treasure import StolenTreasureView
from tests.games.steal_and_plunder.table import Table
from tests.games.stolen_treasure.tale import begin, lay, nobody_answers, wager
from tests.games.story import Story

SEATS = 4
TABLE = -1


def answer(story: Story[Any], seat: int = 0) -> str:
    """What the bot says at this seat, in words."""
    g = story.g
    options = g.options(seat)
    view = VIEWS[g.words.game](g.view(seat))
    decision = Decision(0, g.question.name, options, lambda: g.safe_option(seat, options), view)
    return GreedyBot().choose(view, decision).text


def questions(rules: type[Game]) -> set[str]:
    """The name of every question that the modules of a game define."""
    found, classes = set(), [Choice, Poll]
    while classes:
        step = classes.pop()
        classes += step.__subclasses__()
        if step.__module__.startswith(rules.__module__.removesuffix("rules")):
            found.add(step.name)
    return found


# -- Greed
def raid(middle: str, *, hand: str, collection: str = "", theirs: str = "", unseen: str = "") -> Story[Greed]:
    """Seat 0 raids seat 1, of whose hand it knows these cards; others are unseen."""
    story = Story(Greed, 3, {"middle": middle, "collection": [collection, theirs, ""]})
    story.lay(story.g.hand[1], hand, seers=bit(0))
    story.lay(story.g.hand[1], unseen)
    story.begin(GoOnOrStop(0, 1))
    return story


def test_greed_lengthens_its_longest_set() -> None:
    story = Story(Greed, 3, {"hand": ["crook 3 5 7 7", "crook", "crook"], "collection": ["3 5 5", "", ""]})
    story.begin(PlayACard(0))
    assert answer(story) == "play 5"


def test_greed_stops_when_a_bust_is_more_likely_than_not() -> None:
    assert answer(raid("1 2 3", hand="1 2 4")) == "stop"


def test_greed_goes_on_while_nothing_can_go_wrong() -> None:
    assert answer(raid("1 2 3", hand="4 5 6")) == "draw once more"


def test_greed_goes_on_from_a_poor_middle_when_a_bust_is_unlikely() -> None:
    assert answer(raid("2", hand="crook", unseen="1 3 4 5 6 7")) == "draw once more"


def test_greed_stops_when_the_middle_makes_its_sixth_card() -> None:
    assert answer(raid("4", hand="5 6", collection="4 4 4 4 4")) == "stop"


def test_greed_stops_when_the_crook_takes_its_sixth_card() -> None:
    assert answer(raid("crook", hand="5 6", collection="4 4 4 4 4", theirs="4")) == "stop"


def test_greed_raids_the_hand_that_it_knows_to_be_good() -> None:
    story = Story(Greed, 3, {"collection": ["4 4 4", "", ""]})
    for seat, cards in ((1, "crook 1 2"), (2, "crook 4 4")):
        story.lay(story.g.hand[seat], cards, seers=bit(0))
    story.begin(ChooseAVictim(0))
    assert answer(story) == "raid the hand of seat 2"


def test_greed_takes_what_wins_and_then_what_hurts_most() -> None:
    story = Story(Greed, 3, {"collection": ["3 3 3 3 3 1", "3 7 7 7 7 7", ""]})
    story.begin(TakeACard(0, 1))
    assert answer(story) == "take 3 from the collection of seat 1"
    story = Story(Greed, 3, {"collection": ["3 1", "3 7 7 7 7 7", ""]})
    story.begin(TakeACard(0, 1))
    assert answer(story) == "take 7 from the collection of seat 1"


def test_greed_swaps_lone_cards_and_never_its_best_set() -> None:
    story = Story(Greed, 3, {"collection": ["3 3 3 1 2", "", ""], "deck": "1 1 1"})
    story.begin(SwapTwoForThree(0))
    assert answer(story) == "put away 1"
    story = Story(Greed, 3, {"collection": ["3 3 3 1", "", ""], "deck": "1 1 1"})
    story.begin(SwapTwoForThree(0))
    assert answer(story) == "pass"


# -- Bag-O-Loot
def loot(hand: str, *sets: tuple[int, str], settings: Mapping[str, object] | None = None, plays: int = 0) -> Story[Any]:
    """Seat 0 makes a play; sets lie before the seats that own them."""
    story = Story(BagOLoot, 3, {"hand": [hand, "16", "16"], "draw_pile": "15 15"}, settings, plays=plays)
    for seat, cards in sets:
        lay_set(story, seat, cards)
    story.begin(MakeAPlay(0))
    return story


def lay_set(story: Story[Any], seat: int, cards: str, kind: ZoneKind = SET) -> Zone:
    """A set or bag before a seat, named for its first card."""
    zone: Zone = story.g.make(kind, seat)
    story.lay(zone, cards)
    if zone.counters:
        zone.counters[0] = int(cards.split(maxsplit=1)[0])
    return zone


def test_bag_o_loot_bags_a_set_of_four_whoever_owns_it() -> None:
    assert answer(loot("5 9", (0, "5 5 5 5"))).startswith("bag set")
    assert answer(loot("5 9 9", (1, "5 5 5 5"))).startswith("bag set")


def test_bag_o_loot_bags_with_a_coin_before_a_looter_and_another_s_set_before_its_own() -> None:
    assert answer(loot("5 9 looter", (0, "5 5 5 5"))).endswith("with Coin 5")
    story = loot("5 9 12", (0, "5 5 5 5"), (1, "9 9 9 9"))
    assert "of seat 1 with Coin 9" in answer(story)


def test_bag_o_loot_steals_what_it_can_finish_at_once() -> None:
    assert answer(loot("5 5 5 9 9 11", (1, "5 5"), (2, "9 9"))).endswith("with Coin 5")


def test_bag_o_loot_pinches_a_looter() -> None:
    assert answer(loot("5 9", (1, "5 5 looter"))).startswith("pinch a looter")


@pytest.mark.parametrize(("settings", "expected"), [({"bag_faces": "open"}, "snitch on"), ({}, "open a set")])
def test_bag_o_loot_snitches_at_once_only_on_a_bag_that_it_sees(settings: dict[str, object], expected: str) -> None:
    story = loot("5 9 9 looter looter looter", settings=settings)
    lay_set(story, 1, "5 5 5 looter looter", story.g.bag_kind)
    story.begin(MakeAPlay(0))
    assert answer(story).startswith(expected)


def test_bag_o_loot_guesses_a_closed_bag_rather_than_forfeit_another_guess_each_turn() -> None:
    story = loot("5 9 12")
    lay_set(story, 1, "5 5 5 looter looter", story.g.bag_kind)
    guesses = set()
    for turn in range(3):
        story.g.turns = 3 * turn  # of three players
        story.begin(MakeAPlay(0))
        guesses.add(answer(story))
    assert guesses == {f"snitch on bag 7 of seat 1 with Coin {number}" for number in (5, 9, 12)}
    story.g.plays = 1
    story.begin(MakeAPlay(0))
    assert answer(story) == "done"


def test_bag_o_loot_lays_down_nothing_that_others_may_steal() -> None:
    assert answer(loot("9 9 9 12 13 14", (0, "12 12"), (1, "13 13 13"))) == "done"


def test_bag_o_loot_bluffs_with_any_four_that_match_in_every_other_round() -> None:
    for owner in (0, 1):
        story = loot("5 9 9", (owner, "7 7 7 7"), (1, "12 12"), settings={"advanced": True})
        assert answer(story) == f"bag set 7 of seat {owner} with Coin 5"
        story.g.turns = story.g.n
        story.begin(MakeAPlay(0))
        assert "with Coin 5" not in answer(story)
    assert answer(loot("5 9 9", (1, "7 7 7 7"))) == "done", "the fifth card lies open in the standard game"
    assert answer(loot("5 7 7 7 7", settings={"advanced": True})) == "open a set with 2 x Coin 7"
    assert answer(loot("7 7 7 7", settings={"advanced": True})) == "open a set with 2 x Coin 7"  # to go out


def test_bag_o_loot_does_not_bluff_while_the_draw_pile_is_high() -> None:
    for left, expected in ((15, "bag set 7 of seat 1 with Coin 5"), (16, "done")):
        story = loot("5 9", (1, "7 7 7 7"), settings={"advanced": True})
        lay_set(story, 0, "12 12")
        story.g.draw_pile.cards[:] = [15] * left
        story.begin(MakeAPlay(0))
        assert answer(story) == expected


def test_bag_o_loot_bluffs_in_every_round_while_nobody_can_challenge() -> None:
    for others, expected in (((), "bag set 7 of seat 0 with Coin 5"), (((1, "12 12"),), "done")):
        story = loot("5 9", (0, "7 7 7 7"), *others, settings={"advanced": True})
        story.g.turns = story.g.n
        story.begin(MakeAPlay(0))
        assert answer(story) == expected


def test_bag_o_loot_opens_a_set_to_be_able_to_challenge() -> None:
    hand, other = "3 9 9 9 8 8", (1, "12 12")
    assert answer(loot(hand, other, settings={"advanced": True})) == "open a set with 2 x Coin 8"
    assert answer(loot(hand, other, (0, "2 2"), settings={"advanced": True})) == "done"
    assert answer(loot(hand, other)) == "done"


def test_bag_o_loot_goes_out_when_every_card_has_a_place() -> None:
    assert answer(loot("9 9", plays=1)) == "open a set with 2 x Coin 9"
    assert answer(loot("9 9 3", plays=1)) == "done"


def test_bag_o_loot_lays_one_pair_or_card_a_turn_after_a_round_of_idle_turns() -> None:
    def at_the_end(hand: str, *sets: tuple[int, str], idle_turns: int = 3, plays: int = 0) -> str:
        story = loot(hand, *sets, plays=plays)
        story.g.draw_pile.cards.clear()
        story.g.idle_turns = idle_turns  # of three players
        story.begin(MakeAPlay(0))
        return answer(story)

    hand = "1 2 9 9 12 12 12"
    assert at_the_end(hand, idle_turns=2) == "done"
    assert at_the_end(hand) == "open a set with 2 x Coin 12", "it has most of these"
    assert at_the_end(hand, plays=1) == "done"
    assert at_the_end("1 2 5 9 9", (1, "5 5")) == "open a set with 2 x Coin 9"
    assert at_the_end("1 2 3 5 looter", (1, "5 5")) == "steal set 7 of seat 1 with Coin 5", "it saves the looter"
    assert answer(loot(hand)) == "done", "a draw pile is left"


def test_bag_o_loot_challenges_every_bag() -> None:
    story = Story(BagOLoot, 2, {"hand": ["looter looter looter 7", "1 2"]}, {"advanced": True})
    lay_set(story, 1, "7 7 7 7")
    lay_set(story, 0, "9 9")
    story.begin(MakeAPlay(1))
    story.says(1, next(offer for offer in story.offers(1) if offer.endswith("with Coin 1")))
    story.says(1, "done")
    assert answer(story).startswith("challenge")


def test_bag_o_loot_gives_to_the_smallest_hand_then_to_the_poor_and_takes_from_the_rich() -> None:
    story = Story(BagOLoot, 3, {"hand": ["3 4", "5", "6 6"]}, total=[0, 30, 20])
    story.begin(ForfeitACard(0))
    assert answer(story) == "let seat 1 pull a random card of your hand"
    story = Story(BagOLoot, 3, {"hand": ["3 4", "5", "6"]}, total=[0, 30, 20])
    story.begin(ForfeitACard(0))
    assert answer(story) == "let seat 2 pull a random card of your hand"
    for seat in (1, 2):
        lay_set(story, seat, "8 8 8 8 8", story.g.bag_kind)
    story.begin(TakeABag(0))
    assert answer(story).endswith("of seat 1")


# -- Steal & Plunder
def test_steal_and_plunder_forms_the_dearest_pack() -> None:
    table = Table(["copper_wire copper_wire minibus_taxi_routes minibus_taxi_routes", "steal", "steal"])
    table.turn_of(0)
    assert answer(table) == "form a pack of 2 x Minibus Taxi Routes"


def test_steal_and_plunder_attacks_before_it_lays_a_pack_that_can_wait() -> None:
    table = Table(
        ["bribe_money bribe_money copper_wire", "fake_perfume", "fake_perfume"],
        ["!bribe_money bribe_money", "!bribe_money bribe_money | copper_wire copper_wire", "!bribe_money bribe_money"],
    )
    table.turn_of(0)
    assert answer(table) == "attack the open pack of seat 1 with Copper Wire"


def test_steal_and_plunder_steals_the_dearest_open_pack() -> None:
    stacks = [
        "!bribe_money bribe_money",
        "!bribe_money bribe_money | copper_wire copper_wire",
        "!bribe_money bribe_money | pre_approved_tenders pre_approved_tenders",
    ]
    table = Table(["steal copper_wire copper_wire", "fake_perfume", "fake_perfume"], stacks)
    table.turn_of(0)
    assert answer(table) == "play Steal on the open pack of seat 2"


def theft(hand: str, stolen: str = "fake_perfume fake_perfume") -> Table:
    """Seat 1 has attacked this pack of seat 0, who holds these cards."""
    industry = stolen.rsplit(maxsplit=1)[-1]
    table = Table([hand, industry, "steal"], [f"!copper_wire copper_wire | {stolen}", "!bribe_money bribe_money", ""])
    table.turn_of(1)
    table.says(1, next(offer for offer in table.offers(1) if offer.startswith("attack the open pack of seat 0")))
    return table


def test_steal_and_plunder_defends_with_the_cheapest_card_that_fits() -> None:
    assert answer(theft("gold_bar fake_perfume steal")) == "add Fake Perfume"
    assert answer(theft("gold_bar cryptocurrency_coin steal")) == "add Cryptocurrency Coin"


def test_steal_and_plunder_concedes_what_is_not_worth_a_diamond() -> None:
    assert answer(theft("blood_diamond steal", "copper_wire copper_wire")) == "concede"
    assert answer(theft("blood_diamond steal", "gold_bar pre_approved_tenders")) == "add Blood Diamond"


def test_steal_and_plunder_discards_the_cheapest_lone_card() -> None:
    table = Table(["pre_approved_tenders fake_perfume copper_wire", "steal", "steal"], deck="steal")
    table.turn_of(0)
    assert answer(table) == "discard Copper Wire"


def test_steal_and_plunder_takes_the_best_card_in_an_audit() -> None:
    table = Table(["forensic_audit copper_wire", "gold_bar copper_wire", "steal"], ["!bribe_money bribe_money", "", ""])
    table.turn_of(0)
    assert answer(table) == "play Forensic Audit on the hand of seat 1"
    table.says(0, answer(table))
    assert answer(table) == "take Gold Bar from the hand of seat 1"


# -- Stolen Treasure
def test_stolen_treasure_buries_the_best_treasure() -> None:
    story = begin(lay(["silver_coin@1 diamond@1 ruby@1", "silver_coin@1"]))
    assert answer(story) == "bury Diamond"


def test_stolen_treasure_buries_what_wins() -> None:
    story = begin(lay(["gold_dubloons@1 bad_voodoo@1"], ["x_marks_the_spot"], ["diamond emerald", "diamond"]))
    assert answer(story) != "bury Gold Dubloons"
    winning = ["diamond nobles_trove emerald"]
    story = begin(lay(["gold_dubloons@1"], ["x_marks_the_spot"], [*winning, "diamond ruby ruby"]))
    assert answer(story) == "bury Gold Dubloons"


def test_stolen_treasure_looks_once_for_what_may_be_drawn_from_each_pile(monkeypatch: pytest.MonkeyPatch) -> None:
    story = begin(lay(["silver_coin@9", "ruby@1"], ["plunder hook"], seats=2))
    looks: list[StolenTreasureView] = []

    def look(view: StolenTreasureView) -> Counter[Card]:
        looks.append(view)
        return Counter()

    monkeypatch.setattr(StolenTreasureView, "unseen", property(look))
    assert [option.partition(" ")[0] for option in story.offers(0)].count("draw") == 3  # two for treasure
    answer(story)
    assert len(looks) == 2  # for treasure, which Plunder asks for too, and for piracy


def test_stolen_treasure_digs_up_the_best() -> None:
    story = begin(lay(["silver_coin@9"], ["x_marks_the_spot"], ["", "silver_coin", "silver_coin diamond"]))
    assert answer(story) == "play X Marks The Spot on seat 2"
    story.says(0, answer(story))
    assert answer(nobody_answers(story)) == "dig up Diamond of seat 2"


def test_stolen_treasure_stops_what_is_done_to_it_and_nothing_else() -> None:
    story = begin(lay(["", "ruby@1", "ruby@1"], ["hook", "yarr", "yarr"]), "play Hook on seat 1")
    assert answer(story, 1) == "play Yarr!"
    assert answer(story, 2) == "pass"


def test_stolen_treasure_saves_its_own_card_from_a_yarr() -> None:
    story = begin(lay(["", "ruby@1", ""], ["hook yarr", "yarr", "yarr"]), "play Hook on seat 1")
    story.says(1, "play Yarr!")
    story.says(2, "pass")
    assert answer(story, 0) == "play Yarr!"
    assert answer(story, 2) == "pass"


def test_stolen_treasure_sends_what_befalls_it_to_the_leader() -> None:
    hands = ["hook", "pirates_code", "", ""]
    story = lay(["", "ruby@1", "", ""], hands, ["ruby", "", "silver_coin", "diamond"], seats=4)
    begin(story, "play Hook on seat 1")
    while story.question() == "any_yarr":
        story.all_pass()
    assert answer(story, 1) == "play Pirate's Code and name seat 3"


def test_stolen_treasure_stakes_its_worst_and_matches_with_the_least() -> None:
    story = begin(lay(["barnacle@1 diamond@9", "emerald@1"], ["", ""]), "wager against seat 1")
    assert answer(story) == "stake Barnacle"
    story = wager(lay(["gold_dubloons@1", "silver_coin@1 gold_bullion@1 diamond@1"]), 0, 1, "Gold Dubloons")
    assert answer(story, 1) == "lay Gold Bullion"


def test_stolen_treasure_gets_rid_of_the_black_spot() -> None:
    story = begin(lay(["ruby@9", "ruby@1"], ["skulduggery the_black_spot"], chance=[0]))
    assert answer(story) == "play Skulduggery on seat 1"
    story.says(0, answer(story))
    nobody_answers(story)
    story.says(0, "take a treasure card out of the hand of seat 1")
    assert answer(story) == "give The Black Spot to seat 1"


# -- Szmal
def gang(hand: str = "", **zones: str) -> Story[Szmal]:
    """Seat 0 in round 6, with these cards."""
    own = {name: [cards, "", ""] for name, cards in zones.items()}
    return Story(Szmal, 3, {"hand": [hand, "", ""], **own}, round=6)


CIRCUS, INSIDER, FLUSH, RITZ, BOTTLE_AND_WRENCH = (
    "circus_of_crime",
    "insider_trading",
    "dickie_flush_diamond",
    "the_ritz",
    "chinatown",
)


def test_szmal_plays_no_card_whose_cost_or_need_is_out_of_reach() -> None:
    story = gang(f"{CIRCUS} {INSIDER} {FLUSH} {RITZ}")
    story.begin(ChooseACard(TABLE))
    assert answer(story) == 'choose Dickie "Flush" Diamond'


def test_szmal_plays_the_ritz_when_it_can_pay() -> None:
    story = gang(f"{FLUSH} {RITZ}")
    story.g.cash[0] = 30_000
    story.begin(ChooseACard(TABLE))
    assert answer(story) == "choose The Ritz"


def test_szmal_picks_what_pays_most() -> None:
    story = Story(Szmal, 3, {"draft": [f"{INSIDER} sucker_convention {CIRCUS}", "", ""]}, round=2)
    story.begin(PickACard(TABLE))
    assert answer(story) == "pick Sucker convention!"


def test_szmal_pays_a_cost_with_what_is_worth_least() -> None:
    story = gang(resolving="king_richard_the_third", thugs="halloween_jack_paris@62@3@1@0@0", holdings="the_ritz@6@4")
    story.begin(Resolve(0, 21))
    assert answer(story) == 'give up "Halloween" Jack Paris'


def test_szmal_loses_the_holding_with_the_fewest_markers() -> None:
    story = gang(holdings="the_ritz@6@4 chinatown@2@4")
    story.begin(LoseACard(1, 79))
    assert answer(story) == "lose Chinatown"


# -- strength
def against_random(game: str, matches: int) -> LocalRun:
    """The greedy bot against three that play at random, the seats rotating."""
    return play(game, [GreedyBot, RandomBot, RandomBot, RandomBot], matches=matches, seed="strength")


@pytest.mark.full
@pytest.mark.parametrize("game", GAMES)
def test_greedy_wins_most_matches_against_three_random_bots(game: str) -> None:
    """At random it would win ten of 40. One that wins 80 in 100 wins fewer than 24 of 40 once in 1,000 runs."""
    played = against_random(game, 40)
    assert played.failures == ()
    assert played.seats[0].first_places >= 24


@pytest.mark.soak
@pytest.mark.parametrize("game", GAMES)
def test_greedy_wins_three_of_four_matches_of_a_thousand(game: str) -> None:
    played = against_random(game, 1000)
    assert played.failures == ()
    assert played.seats[0].first_places >= 750


# -- never a fault
SETTINGS: Mapping[str, list[dict[str, object]]] = {
    "steal_and_plunder": [
        {},
        {"mode": "series", "target": 2_000_000, "hand_wild_on_discard": True, "offshore_open": True},
        {"strict_first_pack_order": False, "audit_pick": "highest_value", "start_method": "random"},
    ],
    "stolen_treasure": [
        {},
        {"hand_limit": "7", "true_random_theft": True, "wager_method": "rps", "max_rounds": 20},
        {"bury_delay": "full_round", "wager_method": "die", "start_treasure": 3, "start_piracy": 3, "max_rounds": 20},
        {"values": "silver_coin:-300,ruby:5000,diamond:0", "max_rounds": 20},
    ],
    "szmal": [{}],
    "greed": [{}, {"mode": "tournament", "specials": "rich"}, {"specials": "none", "two_player_pile": False}],
    "bag_o_loot": [
        {},
        {"rounds": 1, "advanced": True, "ditch_per_turn": "unlimited"},
        {"rounds": 1, "advanced": True, "bag_faces": "open"},
        {"rounds": 1, "bag_faces": "open", "tie_break_round": True},
    ],
}


@pytest.mark.parametrize(
    ("game", "seats"), [(game, seats) for game, rules in GAMES.items() for seats in rules.words.seats]
)
def test_greedy_never_fails(game: str, seats: int, soak: bool) -> None:
    """Among its like or among random bots, which bring about what it would not: in turn, by settings and players."""
    companies = ([GreedyBot] * seats, [GreedyBot] + [RandomBot] * (seats - 1))
    for turn, settings in enumerate(SETTINGS[game], start=seats):
        if seats != 2:
            settings = {name: value for name, value in settings.items() if name != "two_player_pile"}
        for bots in companies if soak else [companies[turn % 2]]:
            played = play(game, bots, matches=50 if soak else 1, seed="faults", settings=settings)
            assert [failure.text() for failure in played.failures] == []


@pytest.mark.parametrize("game", GAMES)
def test_greedy_has_an_answer_of_its_own_to_every_question(game: str) -> None:
    """But for the signs of a wager, which are all alike, and no question is misspelt."""
    assert questions(GAMES[game]) - set(ANSWERS[game]) == ({"show_a_sign"} if game == "stolen_treasure" else set())
    assert set(ANSWERS[game]) <= questions(GAMES[game])


def test_an_unknown_question_gets_the_safe_answer() -> None:
    story = Story(Greed, 2, {"hand": ["crook 1 2", "crook"], "collection": ["2", ""]})
    story.begin(PlayACard(0))
    view = VIEWS["greed"](story.g.view(0))
    options = story.g.options(0)
    decision = Decision(0, "a_question_of_a_later_version", options, lambda: options[1], view)
    assert GreedyBot().choose(view, decision).raw == options[1] != PASS
