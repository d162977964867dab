"""Chapters 0 to 2: conventions, the box and the set-up."""

from __future__ import annotations

from collections import Counter

import pytest

from cutpurse.engine.chance import match_key
from cutpurse.engine.errors import SettingsError
from cutpurse.games.stolen_treasure.rules import StolenTreasure
from cutpurse.games.stolen_treasure.state import StolenTreasureSettings
from tests.games.stolen_treasure.tale import begin, lay, lying, nobody_answers, wager

TREASURE = [
    *(("silver_coin", 10, 50), ("gold_dubloons", 8, 100), ("gold_bullion", 5, 150), ("pirates_booty", 3, 250)),
    *(("merchants_haul", 2, 350), ("nobles_trove", 1, 500), ("sapphire", 4, 200), ("ruby", 3, 300)),
    *(("emerald", 2, 400), ("diamond", 1, 500), ("hairy_chest", 1, 0), ("peg_leg", 2, -50)),
    *(("old_billys_boot", 2, -50), ("barnacle", 4, -100), ("bad_voodoo", 2, -200)),
]
PIRACY = [
    *(("plunder", 5), ("spyglass", 2), ("skulduggery", 5), ("x_marks_the_spot", 5), ("yo_ho_ho", 1), ("hook", 3)),
    *(("the_kraken", 3), ("bombs_away", 5), ("pirates_code", 5), ("yarr", 5), ("parley", 5), ("the_black_spot", 1)),
]


def named_box() -> Counter[str]:
    """How many of each card there are, by name."""
    box = StolenTreasure.box(4, StolenTreasureSettings())
    return Counter(StolenTreasure.words.cards[card - 1].name for card in box)


def test_st_1_1_fifty_treasure_cards_are_worth_6000() -> None:
    words, box = StolenTreasure.words, named_box()
    treasure = [card for card in words.cards if card.sort == "treasure"]
    assert [(card.name, box[card.name], card.value) for card in treasure] == TREASURE
    assert sum(box[card.name] for card in treasure) == 50
    assert sum(box[card.name] * card.value for card in treasure) == 6000


def test_st_1_2_four_kinds_are_negative_and_the_hairy_chest_is_an_ordinary_nought() -> None:
    negative = {card.name for card in StolenTreasure.words.cards if card.value < 0}
    assert negative == {"peg_leg", "old_billys_boot", "barnacle", "bad_voodoo"}
    story = begin(lay(["hairy_chest@3", "silver_coin@3"]))
    assert story.offers(0)[3:] == ["bury Hairy Chest", "wager against seat 1", "end the turn"]
    story.says(0, "bury Hairy Chest")
    assert lying(story)["buried 0"] == "hairy_chest"
    assert story.g.scores() == [0, 0, 0]


def test_st_1_2_the_setting_values_replaces_values_by_name() -> None:
    settings = {"values": "silver_coin:70,ruby:-300"}
    story = lay(["ruby@1 diamond@1"], buried=["silver_coin silver_coin gold_bullion"], settings=settings)
    assert story.g.score(0) == 70 + 70 + 150 - 300
    assert story.g.fork().score(0) == story.g.score(0) == StolenTreasure.load(story.g.save()).score(0)


@pytest.mark.parametrize(
    ("settings", "allowed"),
    [
        ({"values": "gold:10"}, "silver_coin"),
        ({"values": "ruby:5001"}, "-5000 to 5000"),
        ({"values": "ruby:-5001"}, "-5000 to 5000"),
        ({"target": 1510}, "500 to 5000 in steps of 50"),
        ({"target": 450}, "500 to 5000"),
        ({"hand_limit": 6}, "off, 7"),
        ({"true_random_theft": "maybe"}, "true, false"),
        ({"wager_method": "cards"}, "coin, die, rps"),
        ({"bury_delay": "never"}, "next_turn, full_round"),
        ({"start_treasure": 4}, "0 to 3"),
        ({"start_piracy": 4}, "0 to 3"),
        ({"first_seat": 3}, "random, 0 to 2"),
        ({"max_rounds": 19}, "20 to 500"),
        ({"max_rounds": 501}, "20 to 500"),
    ],
)
def test_a_setting_that_cannot_be_is_refused_with_what_can(settings: dict[str, object], allowed: str) -> None:
    with pytest.raises(SettingsError, match=allowed):
        StolenTreasure.new(3, settings=settings)


def test_st_1_3_the_45_piracy_cards() -> None:
    words, box = StolenTreasure.words, named_box()
    piracy = [card for card in words.cards if card.sort == "piracy"]
    assert [(card.name, box[card.name]) for card in piracy] == PIRACY
    assert sum(box[card.name] for card in piracy) == 45


def test_st_1_4_everybody_sees_how_many_cards_of_each_kind_a_hand_holds() -> None:
    story = lay(["", "ruby@1 barnacle@2"], ["", "hook hook yarr"])
    for viewer in (0, 2, None):
        view = story.g.view(viewer)
        hands = view.of("treasure_hand", 1) + view.of("piracy_hand", 1)
        assert [(hand.size, hand.cards, hand.columns) for hand in hands] == [(2, (), ()), (3, (), ())]


def test_st_1_5_two_to_six_play() -> None:
    for seats in range(2, 7):
        assert StolenTreasure.new(seats).n == seats
    for seats in (1, 7):
        with pytest.raises(SettingsError, match="2 to 6"):
            StolenTreasure.new(seats)


@pytest.mark.parametrize("seats", range(2, 7))
def test_st_2_1_two_shuffled_piles_of_25_and_one_of_45(seats: int) -> None:
    g = StolenTreasure.new(seats, match_key("st", 1))
    other = StolenTreasure.new(seats, match_key("st", 2))
    piles = [g.treasure_pile_1.cards, g.treasure_pile_2.cards, g.piracy_pile.cards]
    assert [len(pile) for pile in piles] == [25, 25, 45]
    assert sorted(piles[0] + piles[1]) + sorted(piles[2]) == StolenTreasure.box(seats, g.settings)
    assert piles != [other.treasure_pile_1.cards, other.treasure_pile_2.cards, other.piracy_pile.cards]
    assert piles[2] != sorted(piles[2])
    assert [zone.kind.name for zone in g.zones() if zone.cards] == ["treasure_pile_1", "treasure_pile_2", "piracy_pile"]


@pytest.mark.parametrize("delay", ["next_turn", "full_round"])
def test_st_2_2_dealt_treasure_is_open_and_may_be_buried_in_the_first_turn(delay: str) -> None:
    settings = {"start_treasure": 3, "start_piracy": 2, "bury_delay": delay, "first_seat": 1}
    g = StolenTreasure.new(4, match_key("st", 3), settings)
    for seat in range(4):
        hand = g.treasure_hand[seat]
        assert (len(hand.cards), hand.columns) == (3, [[-4, -4, -4]])
        assert len(g.piracy_hand[seat].cards) == 2
        view = g.view(3 if seat != 3 else 0)
        assert view.zone(hand.number).known == tuple(hand.cards)
        assert view.zone(g.piracy_hand[seat].number).known == ()
    assert [len(zone.cards) for zone in g.fixed[:3]] == [19, 19, 37]
    bury = g.words.verb_named("bury")
    assert {o.cards[0] for o in g.options(1) if o.verb == bury} == set(g.treasure_hand[1].cards)


def test_st_2_2_hands_are_empty_without_these_settings() -> None:
    assert StolenTreasure.new(6).hand_size(5) == 0


def test_st_2_3_a_random_seat_begins_or_the_one_that_is_named() -> None:
    assert {StolenTreasure.new(3, match_key("st", k)).waiting()[0] for k in range(40)} == {0, 1, 2}
    assert {StolenTreasure.new(3, match_key("st", k), {"first_seat": 2}).waiting()[0] for k in range(9)} == {2}


def test_st_2_3_turns_go_clockwise() -> None:
    story = begin(lay(), "end the turn", seat=1)
    asked = []
    for _ in range(4):
        asked += story.g.waiting()
        story.says(asked[-1], "end the turn")
    assert asked == [2, 0, 1, 2]


def test_st_0_1_one_stream_of_chance_decides_everything() -> None:
    def play(key: bytes) -> dict[str, object]:
        g = StolenTreasure.new(4, key)
        for step in range(150):
            if not g.waiting():
                break
            seat = g.waiting()[0]
            options = g.options(seat)
            g.choose(seat, options[step * 7 % len(options)])
        saved = g.save()
        saved.pop("chance")
        return saved

    assert play(match_key("st", 5)) == play(match_key("st", 5))
    assert play(match_key("st", 5)) != play(match_key("st", 6))


def test_st_0_2_equal_copies_are_one_option_and_copies_of_different_age_are_told_apart() -> None:
    story = begin(lay(["silver_coin@1 silver_coin@1 silver_coin@4 ruby@2 ruby@2"]))
    assert [o for o in story.offers(0) if o.startswith("bury")] == [
        *("bury Silver coin (place 0)", "bury Silver coin (place 2)", "bury Ruby"),
    ]
    story.says(0, "bury Silver coin (place 2)")
    assert lying(story)["treasure_hand 0"] == "silver_coin@1 silver_coin@1 ruby@2 ruby@2"


def test_st_0_2_a_hidden_card_has_no_face_outside() -> None:
    story = begin(lay(piracy=["", "hook"], piles=("ruby", "", "yarr")), "draw from piracy pile", seat=2)
    assert story.told(0)[:2] == [
        "asked take_an_action: seat 2",
        "seat 2 draws from piracy pile",
    ]
    assert "card face down: from piracy pile to piracy hand of seat 2" in story.told(None)
    assert "Yarr!: from piracy pile to piracy hand of seat 2" in story.told(2)
    assert story.g.view(0).of("piracy_pile")[0].cards == ()


def test_st_0_3_answers_of_a_poll_are_sealed_and_dropped_ones_stay_in_hand() -> None:
    story = begin(lay(piracy=["bombs_away", "yarr", "yarr"]), "play Bombs Away")
    assert story.g.waiting() == [1, 2]
    before = story.g.view(1).to_bytes(), story.told(1)
    story.says(2, "play Yarr!")
    assert (story.g.view(1).to_bytes(), story.told(1)) == before
    story.says(1, "play Yarr!")
    # Seat 1 sits first from the left of the player; the other answer is dropped, and all are asked about the Yarr!.
    assert lying(story) == {"in_play": "bombs_away yarr", "piracy_hand 2": "yarr"}
    assert story.g.waiting() == [0, 2]
    assert "seat 2 plays Yarr!" not in story.told(1)


def test_st_0_3_no_event_tells_a_free_no_from_a_forced_one() -> None:
    told = []
    for hand in ("yarr", "hook"):
        story = nobody_answers(begin(lay(piracy=["bombs_away", hand]), "play Bombs Away"))
        bomb = "Yarr!" if hand == "yarr" else "Hook"
        told.append([line.replace(bomb, "x") for line in story.told(2)])
    assert told[0] == told[1]


def test_st_0_4_as_much_as_possible_is_done() -> None:
    story = begin(lay(piracy=["plunder"], piles=("ruby", "", "")), "play Plunder")
    nobody_answers(story)
    story.says(0, "draw from treasure pile 1")
    assert lying(story) == {"treasure_hand 0": "ruby@9", "piracy_discards": "plunder"}
    assert story.question() == "take_an_action"


def test_st_0_5_skipped_turns_are_counted_and_treasure_tells_since_when() -> None:
    story = begin(lay(skip_next=[0, 1, 0]), "end the turn")
    assert (story.g.turn, story.g.waiting()) == (11, [2])
    story.says(2, "draw from treasure pile 1")
    assert lying(story) == {"treasure_hand 2": "diamond@11"}


def test_st_0_6_a_turn_ends_and_polls_are_passed() -> None:
    story = begin(lay(["silver_coin@1"], ["bombs_away", "yarr pirates_code", "parley"]))
    assert story.safe(0) == "end the turn"
    story.says(0, "play Bombs Away")
    assert story.safe(1) == "pass"
    story.all_pass()
    assert (story.question(), story.safe(1)) == ("divert_or_suffer", "pass")


def test_st_0_6_other_picks_are_the_first_offered() -> None:
    story = nobody_answers(begin(lay(["", "ruby@1"], ["hook", "yarr"]), "play Hook on seat 1"))
    assert story.safe(0) == story.offers(0)[0] == "take a treasure card out of the hand of seat 1"
    story = nobody_answers(
        begin(lay(buried=["", "ruby silver_coin"], piracy=["x_marks_the_spot"]), "play X Marks The Spot on seat 1")
    )
    assert story.safe(0) == story.offers(0)[0] == "dig up Silver coin of seat 1"
    story = nobody_answers(begin(lay(piracy=["plunder"]), "play Plunder"))
    assert story.safe(0) == story.offers(0)[0] == "draw from treasure pile 1"
    story = nobody_answers(wager(lay(["ruby@1", "ruby@1"], settings={"wager_method": "rps"}), 0, 1, "Ruby"))
    story.says(1, "lay Ruby")
    story.says(1, "lay no more")
    assert (nobody_answers(story).question(), story.safe(0)) == ("show_a_sign", "show rock")


def test_st_0_6_bombs_and_the_limit_cost_the_lowest_treasure_first_then_the_first_piracy() -> None:
    story = nobody_answers(begin(lay(piracy=["bombs_away", "yarr hook parley"]), "play Bombs Away"))
    assert story.safe(1) == "discard Hook"
    hand = "silver_coin@1 diamond@1 barnacle@1 barnacle@4 peg_leg@2 ruby@2"
    story = begin(lay([hand], ["hook"], settings={"hand_limit": 7}), "draw from piracy pile")
    assert story.safe(0) == "discard Barnacle (place 4)"
    story = begin(lay(piracy=["hook hook hook parley yarr yarr yarr"], settings={"hand_limit": 7}))
    story.says(0, "draw from piracy pile")
    assert story.safe(0) == "discard Plunder"


def test_st_0_6_a_gift_is_the_lowest_treasure_and_piracy_only_without_one() -> None:
    for treasure, gift in (
        ("ruby@1 peg_leg@2 old_billys_boot@1", "give Peg Leg to seat 1"),
        ("", "give Hook to seat 1"),
    ):
        story = lay([treasure, "emerald@1"], ["skulduggery hook yarr"], chance=[0])
        nobody_answers(begin(story, "play Skulduggery on seat 1"))
        story.says(0, "take a treasure card out of the hand of seat 1")
        assert story.safe(0) == gift


@pytest.mark.parametrize(
    ("stake", "hand", "laid", "safe"),
    [
        ("Ruby", "silver_coin@1 gold_dubloons@1 sapphire@1 diamond@1", "", "gold_dubloons sapphire"),
        ("Ruby", "gold_dubloons@1 gold_dubloons@2 sapphire@1 ruby@1", "", "ruby"),
        ("Ruby", "diamond@1 emerald@1 barnacle@1", "", "emerald barnacle"),
        ("Ruby", "gold_dubloons@1 diamond@1 silver_coin@1", "gold_dubloons", "diamond"),
        ("Diamond", "silver_coin@1 hairy_chest@1 gold_dubloons@2 peg_leg@1", "", "silver_coin gold_dubloons"),
        ("Diamond", "hairy_chest@1 peg_leg@1", "", "hairy_chest"),
        ("Diamond", "barnacle@1 peg_leg@1 old_billys_boot@1", "", "peg_leg"),
        ("Silver coin", "diamond@1", "", "diamond"),
        ("Ruby", "emerald@1 sapphire@1 gold_dubloons@1 gold_dubloons@5", "", "gold_dubloons sapphire"),
        ("Ruby", "emerald@1 silver_coin@1 barnacle@1", "emerald", "barnacle"),
    ],
)
def test_st_0_6_a_match_is_the_lowest_legal_sum_filled_up(stake: str, hand: str, laid: str, safe: str) -> None:
    story = wager(lay(["ruby@1 diamond@1 silver_coin@1", hand]), 0, 1, stake)
    for card in laid.split():
        story.says(1, "lay " + story.g.words.cards[story.g.words.card_named(card) - 1].title)
    while story.question() == "match_the_stake":
        story.says(1, story.safe(1))
    order = [name for name, _, _ in TREASURE]
    assert story.names(story.g.stake[1].cards) == " ".join(sorted(f"{laid} {safe}".split(), key=order.index))


def test_st_0_6_of_equal_copies_the_match_takes_the_earlier() -> None:
    story = wager(lay(["gold_dubloons@1", "gold_dubloons@7 gold_dubloons@2"]), 0, 1, "Gold Dubloons")
    assert story.safe(1) == "lay Gold Dubloons (place 0)"
    story.says(1, story.safe(1))
    assert lying(story)["stake 1"] == "gold_dubloons@2"


def test_st_0_6_a_stake_begun_stands_as_it_lies() -> None:
    story = begin(lay(["ruby@1 diamond@1", "ruby@1"]), "wager against seat 1")
    assert story.safe(0) == "stake Ruby"
    story.says(0, "stake Diamond")
    assert story.safe(0) == "lay no more"
