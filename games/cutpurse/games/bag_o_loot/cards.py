"""The box of Bag-O-Loot, and the words for what lies on the table."""

from __future__ import annotations

from typing import Final, NamedTuple

from cutpurse.engine.words import Counter, Unit, Visibility, Words

__all__ = [
    "BAG",
    "BAG_OPEN",
    "BLUFF",
    "BLUFF_BAG",
    "BUILD",
    "CHALLENGE",
    "COPIES",
    "DECKS",
    "DITCH",
    "DONE",
    "GENUINE",
    "GIVE",
    "GO_OUT",
    "LOOTER",
    "MAKE_BAG",
    "NO_MATCH",
    "NUMBERS",
    "OPEN",
    "PINCH",
    "SET",
    "SNITCH",
    "STALEMATE",
    "STEAL",
    "TAKE_BAG",
    "TAKE_SETS",
    "WORDS",
    "Deck",
]

WORDS: Final = Words("bag_o_loot", "Bag-O-Loot", "BL", "3", seats=range(2, 9))
"""BL-1.3. Two to eight players."""

NUMBERS: Final = range(1, 17)
COPIES: Final = 5
"""BL-1.1. Coins of the numbers 1 to 16, five of each, and five looters."""

for _n in NUMBERS:
    _coin = WORDS.card(f"{_n}", f"Coin {_n}", "Five of a number make a bag.", "coin", _n, {"number": _n}, rule="BL-1.1")
    assert _coin == _n  # so the number of a coin is that of its card, and the looter comes last in a sorted zone

LOOTER: Final = WORDS.card("looter", "Looter", "Wild: stands for any coin in a set.", "looter", rule="BL-2.1")
"""BL-2.1. A coin has a number; a looter is wild."""


class Deck(NamedTuple):
    """The cards of a round: the coins up to a number, and looters."""

    highest: int
    looters: int


_FULL: Final = Deck(16, 5)
DECKS: Final = {2: Deck(12, 3), 3: Deck(14, 4), 4: _FULL, 5: _FULL, 6: _FULL, 7: _FULL, 8: _FULL}
"""BL-1.2. The deck by number of players: two play without the numbers from 13 on, three without 15 and 16."""

_NUMBER: Final = Counter("number", "the number of its coins")
WORDS.zone(
    "draw_pile",
    "draw pile",
    "A turn begins with a card from here.",
    Visibility.NOBODY,
    per_seat=False,
    ordered=True,
    remembers=False,
)
WORDS.zone("ditched", "ditched cards", "Out of this round.", Visibility.ALL, per_seat=False, ordered=True)
WORDS.zone(
    "middle",
    "middle",
    "The coin shown in a snitch; the face-down fifth card of a bag while it can be challenged.",
    Visibility.MIXED,
    per_seat=False,
    ordered=True,
)
HAND: Final = WORDS.zone("hand", "hand", "Playing the last card of it is going out.", Visibility.OWNER)
"""BL-0.3. Others know the cards that they saw entering a hand; a card that leaves unseen makes them unsure."""
SET: Final = WORDS.zone(
    "set",
    "set",
    "Two to four cards of one number, looters among them; a fifth makes a bag.",
    Visibility.ALL,
    many=True,
    counters=(_NUMBER,),
)
"""BL-2.2, BL-2.5. Face up before its owner; its coin fixes its number for good; two of one number stay two."""
BAG: Final = WORDS.zone(
    "bag", "bag", "Five cards, face down for everybody.", Visibility.NOBODY, many=True, remembers=False
)
"""BL-2.3, BL-8.2. A completed set, face down for its owner too; all saw its cards when it was made."""
BAG_OPEN: Final = WORDS.zone(
    "bag_open", "bag", "Five cards that stay visible.", Visibility.ALL, many=True, counters=(_NUMBER,)
)
"""BL-8.2. The bag of the setting `bag_faces` = `open`."""
BLUFF_BAG: Final = WORDS.zone(
    "bluff_bag",
    "bag",
    "Advanced play: its number is on show; the last of its cards was laid face down and may be anything.",
    Visibility.MIXED,
    ordered=True,
    many=True,
    remembers=False,
    counters=(_NUMBER,),
)
"""BL-6.2, BL-6.3. The player who laid the fifth card and the challenger see it, also when the owner changes."""

WORDS.table_counter("round", "which round is on, from 1")
WORDS.table_counter("dealer", "who has dealt this round", Unit.SEAT)
WORDS.table_counter("turn_of", "whose turn it is", Unit.SEAT)
WORDS.table_counter("turns", "turns begun in this round")
WORDS.table_counter("idle_turns", "turns in a row, this one included, that began without a draw pile and saw no play")
WORDS.table_counter("plays", "plays made in this turn")
WORDS.table_counter("bag_plays", "bag plays made in this turn")
WORDS.table_counter("ditches", "cards ditched in this turn")
WORDS.seat_counter("fine", "points that idle turns have cost in this round", Unit.POINTS)
WORDS.seat_counter("total", "points of the rounds counted so far", Unit.POINTS)

OPEN: Final = WORDS.verb("open", "{actor} opens a set with {cards}", "open a set with {cards}", "BL-4.2")
BUILD: Final = WORDS.verb("build", "{actor} adds {cards} to {zone}", "add {cards} to {zone}", "BL-4.2")
STEAL: Final = WORDS.verb("steal", "{actor} steals {zone} with {cards}", "steal {zone} with {cards}", "BL-4.2")
MAKE_BAG: Final = WORDS.verb("bag", "{actor} bags {zone} with {cards}", "bag {zone} with {cards}", "BL-4.2")
PINCH: Final = WORDS.verb(
    "pinch", "{actor} pinches a looter from {zone} with {cards}", "pinch a looter from {zone} with {cards}", "BL-4.2"
)
SNITCH: Final = WORDS.verb(
    "snitch", "{actor} snitches on {zone} with {cards}", "snitch on {zone} with {cards}", "BL-4.4"
)
DITCH: Final = WORDS.verb("ditch", "{actor} ditches {cards} on {zone}", "ditch {cards} on {zone}", "BL-6.6")
DONE: Final = WORDS.verb("done", "{actor} is done", "done", "BL-4.2")
GIVE: Final = WORDS.verb(
    "give", "{actor} lets {seat} pull a card", "let {seat} pull a random card of your hand", "BL-4.5"
)
CHALLENGE: Final = WORDS.verb("challenge", "{actor} challenges {zone}", "challenge {zone}", "BL-6.3")
TAKE_BAG: Final = WORDS.verb("take_bag", "{actor} takes {zone}", "take {zone}", "BL-5.2")
TAKE_SETS: Final = WORDS.verb(
    "take_sets", "{actor} takes all open sets of {seat}", "take all open sets of {seat}", "BL-6.3"
)
NO_MATCH: Final = WORDS.verb("no_match", "no match in {zone}: the turn of {actor} is over", rule="BL-4.4")
BLUFF: Final = WORDS.verb("bluff", "{zone} is a bluff of {actor}", rule="BL-6.3")
GENUINE: Final = WORDS.verb("genuine", "{zone} is genuine", rule="BL-6.3")
GO_OUT: Final = WORDS.verb("go_out", "{actor} goes out", rule="BL-5.1")
STALEMATE: Final = WORDS.verb("stalemate", "nobody plays any more: the round is over", rule="BL-5.3")

# For learning agents: what the sentences of the verbs do not say.
WORDS.shape(OPEN, cards=2)
WORDS.shape(BUILD, STEAL, PINCH, own=True, zones=(SET,))
WORDS.shape(MAKE_BAG, zones=(SET,))
WORDS.shape(SNITCH, zones=(BAG, BAG_OPEN))
WORDS.shape(DITCH, own=True, zones=(BLUFF_BAG,))
WORDS.shape(CHALLENGE, zones=(BLUFF_BAG,))
WORDS.shape(TAKE_BAG, zones=(BAG, BAG_OPEN, BLUFF_BAG))
WORDS.place(SET, most=COPIES, numbers=NUMBERS[-1])
WORDS.place(BAG, BAG_OPEN, most=20)  # 85 cards make 17 bags at most
WORDS.place(BLUFF_BAG, most=COPIES, numbers=NUMBERS[-1], by_age=16)
WORDS.step_fields(seats=("challenger",), zones=("zone", "caught"))
