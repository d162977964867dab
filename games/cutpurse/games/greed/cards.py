"""The box of Greed, and the words for what lies on the table."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.words import Unit, Visibility, Words

__all__ = [
    "BUST",
    "COLLECTION",
    "CROOK",
    "GO_ON",
    "HAND_ZONE",
    "LOOK",
    "LOOK_AT",
    "LOWEST",
    "NUMBER",
    "NUMBERS",
    "NUMBER_CARDS",
    "PLAIN",
    "PLAY",
    "PLUS_ONE",
    "RAID",
    "RAID_PILE",
    "STOP",
    "SWAP",
    "SWAP_AWAY",
    "SYMBOL",
    "TAKE",
    "TRADE",
    "WORDS",
]

WORDS: Final = Words("greed", "Greed", "GR", "1", seats=range(2, 6), value_title="number")

NUMBERS: Final = range(1, 8)
COPIES: Final = 14
"""GR-1.1. 98 number cards: 1 to 7, fourteen of each."""

CROOK: Final = WORDS.card(
    "crook", "Crook", "Drawn in a raid that stops, it lets the raider take a card.", "crook", rule="GR-1.2"
)
"""GR-1.2. One crook for each player; the others stay in the box."""

PLAIN, PLUS_ONE, LOOK, SWAP = range(4)
_SYMBOLS = (
    ("", "", ""),
    ("p", " with +1", "All who collect this number draw a card into their collection."),
    ("l", " with an eye", "The raider may look at a hand."),
    ("s", " with two for three", "The raider may put away two collected cards and draw three."),
)
SPECIALS: Final = {"none": 0, "standard": 1, "rich": 2}
"""GR-1.3. Of each number so many cards carry each of the three symbols, at most one symbol a card."""

NUMBER: Final[list[int]] = [0, 0]  # by card: its number; 0 for what has none
SYMBOL: Final[list[int]] = [0, 0]  # by card: PLAIN, PLUS_ONE, LOOK or SWAP
FACES: Final[dict[tuple[int, int], int]] = {}  # card by number and symbol
for _n in NUMBERS:
    for _s, (_short, _title, _text) in enumerate(_SYMBOLS):
        FACES[_n, _s] = WORDS.card(
            f"{_n}{_short}",
            f"{_n}{_title}",
            _text,
            "number",
            _n,
            {"number": _n, "special": _s},
            {"symbol": _title.removeprefix(" with ")},
            proposed=("copies",),
            rule="GR-1.3",
        )
        NUMBER.append(_n)
        SYMBOL.append(_s)
LOWEST: Final = [0, *[FACES[n, PLAIN] for n in NUMBERS], len(NUMBER)]  # by number: its lowest card; then above them all


def _number_cards(special: int) -> list[int]:
    cards: list[int] = []
    for n in NUMBERS:
        cards += [FACES[n, PLAIN]] * (COPIES - 3 * special)
        for symbol in (PLUS_ONE, LOOK, SWAP):
            cards += [FACES[n, symbol]] * special
    return cards


NUMBER_CARDS: Final = {specials: _number_cards(special) for specials, special in SPECIALS.items()}
"""GR-1.1, GR-1.3. All number cards of the box, by the setting."""

WORDS.zone("deck", "draw pile", "Drawn from its top.", Visibility.NOBODY, per_seat=False, ordered=True, remembers=False)
WORDS.zone("discard", "discard pile", "Becomes a new draw pile.", Visibility.ALL, per_seat=False, ordered=True)
WORDS.zone("middle", "middle", "What this raid has drawn.", Visibility.ALL, per_seat=False, ordered=True)
HAND_ZONE: Final = WORDS.zone("hand", "hand", "Cards to play, and to be raided.", Visibility.OWNER)
"""GR-0.3. Every card leaves a hand openly, so what a viewer has learned of one is certain until it leaves."""
COLLECTION: Final = WORDS.zone("collection", "collection", "Six of a number here win.", Visibility.ALL)

WORDS.table_counter("game", "which game of the tournament is on, from 0")
WORDS.table_counter("turns", "turns begun in this game")
WORDS.table_counter("first", "who began this game", Unit.SEAT)
WORDS.table_counter("winner", "who has won this game", Unit.SEAT)
WORDS.seat_counter("points", "points of the tournament", Unit.POINTS)
WORDS.seat_counter("wins", "games of the tournament won")

PLAY: Final = WORDS.verb("play", "{actor} plays {cards}", "play {cards}", "GR-3.1")
RAID: Final = WORDS.verb("raid", "{actor} raids the hand of {seat}", "raid the hand of {seat}", "GR-3.3")
RAID_PILE: Final = WORDS.verb("raid_pile", "{actor} draws from the pile", "draw from the pile", "GR-4.1")
GO_ON: Final = WORDS.verb("go_on", "{actor} goes on", "draw once more", "GR-3.5")
STOP: Final = WORDS.verb("stop", "{actor} stops", "stop", "GR-3.7")
LOOK_AT: Final = WORDS.verb("look", "{actor} looks into the hand of {seat}", "look into the hand of {seat}", "GR-3.10")
SWAP_AWAY: Final = WORDS.verb("swap", "{actor} puts away {cards}", "put away {cards}", "GR-3.11")
TAKE: Final = WORDS.verb(
    "take",
    "{actor} takes {cards} from the collection of {seat}",
    "take {cards} from the collection of {seat}",
    "GR-3.7",
)
TRADE: Final = WORDS.verb("trade", "{actor} discards every {number}", "discard every {number} and refill", "GR-3.14")
BUST: Final = WORDS.verb("bust", "{actor} was too greedy: all goes back", rule="GR-3.6")

# For learning agents: what the sentences of the verbs do not say.
WORDS.shape(TRADE, numbers=NUMBERS)
WORDS.step_fields(seats=("victim",))
