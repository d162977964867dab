"""The box of Stolen Treasure, and the words for its zones, its counters and what players do."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.words import Counter, Unit, Visibility, Words

__all__ = [
    "BEFALL",
    "BLACK_SPOT",
    "BOMBS_AWAY",
    "BURY",
    "CODE",
    "COIN",
    "COPIES",
    "DISCARD",
    "DIVERT",
    "DONE",
    "DRAW",
    "END_TURN",
    "FIRST_PIRACY",
    "GIVE",
    "HOOK",
    "KRAKEN",
    "LAST_IN_TURN",
    "LAST_TREASURE",
    "LAY",
    "MATCH",
    "MAX_PLAYERS",
    "NOBODY",
    "NULLIFY",
    "ON_ONE_OPPONENT",
    "PAPER",
    "PARLEY",
    "PIRACY_PILE",
    "PLAY",
    "PLAY_ON",
    "PLUNDER",
    "ROCK",
    "ROLL",
    "SCISSORS",
    "SKIPPED",
    "SKULDUGGERY",
    "SPYGLASS",
    "STAKE",
    "SURRENDER",
    "TAKE",
    "TAKEN",
    "TAKE_PIRACY",
    "TAKE_TREASURE",
    "TREASURE_PILE_1",
    "TREASURE_PILE_2",
    "TREASURE_ZONES",
    "VALUES",
    "WAGER",
    "WORDS",
    "X_MARKS_THE_SPOT",
    "YARR",
    "YO_HO_HO",
]

WORDS: Final = Words("stolen_treasure", "Stolen Treasure", "ST", "1", seats=range(2, 7))
"""ST-1.5. Two to six players, best with four."""
MAX_PLAYERS: Final = WORDS.seats[-1]
NOBODY: Final = -1  # in place of a target

COPIES: Final[list[int]] = [0]  # by card
VALUES: Final[list[int]] = [0]  # by card, as this project proposes: no list is public; 0 for piracy

_TREASURE: Final = (
    ("silver_coin", "Silver coin", 10, 50),
    ("gold_dubloons", "Gold Dubloons", 8, 100),
    ("gold_bullion", "Gold Bullion", 5, 150),
    ("pirates_booty", "Pirate's Booty", 3, 250),
    ("merchants_haul", "Merchant's Haul", 2, 350),
    ("nobles_trove", "Noble's Trove", 1, 500),
    ("sapphire", "Sapphire", 4, 200),
    ("ruby", "Ruby", 3, 300),
    ("emerald", "Emerald", 2, 400),
    ("diamond", "Diamond", 1, 500),
    ("hairy_chest", "Hairy Chest", 1, 0),
    ("peg_leg", "Peg Leg", 2, -50),
    ("old_billys_boot", "Old Billy's Boot", 2, -50),
    ("barnacle", "Barnacle", 4, -100),
    ("bad_voodoo", "Bad Voodoo", 2, -200),
)
"""ST-1.1, ST-1.2. Name, title, copies and value of the 50 treasure cards; four kinds are negative, one is worth 0."""

for _name, _title, _copies, _value in _TREASURE:
    if _value > 0:
        _text = f"Worth {_value} once it is buried."
    elif _value < 0:
        _text = f"Counts {_value}, in the hand and buried."
    else:
        _text = "Worth nothing; it can be buried and staked like any treasure."
    WORDS.card(_name, _title, _text, "treasure", _value, proposed=("value",), rule="ST-1.1")
    COPIES.append(_copies)
    VALUES.append(_value)

LAST_TREASURE: Final = len(_TREASURE)
FIRST_PIRACY: Final = LAST_TREASURE + 1


def _piracy(name: str, title: str, copies: int, target: str, when: str, text: str) -> int:
    """ST-1.3. Declare a piracy card with its copies, its target and its timing."""
    COPIES.append(copies)
    VALUES.append(0)
    return WORDS.card(name, title, text, "piracy", facts={"target": target, "when": when}, rule="ST-1.3")


PLUNDER: Final = _piracy("plunder", "Plunder", 5, "its player", "in turn", "Draw two treasure cards.")
SPYGLASS: Final = _piracy("spyglass", "Spyglass", 2, "one opponent", "in turn", "Swap all hand cards with an opponent.")
SKULDUGGERY: Final = _piracy(
    "skulduggery",
    "Skulduggery",
    5,
    "one opponent",
    "in turn",
    "Take a random card out of an opponent's hand, then give that player another card.",
)
X_MARKS_THE_SPOT: Final = _piracy(
    "x_marks_the_spot",
    "X Marks The Spot",
    5,
    "one opponent",
    "in turn",
    "Dig up one buried card of an opponent and take it into your hand.",
)
YO_HO_HO: Final = _piracy(
    "yo_ho_ho",
    "YO HO HO!",
    1,
    "all opponents",
    "in turn",
    "Take two random treasure cards out of the hand of every opponent.",
)
HOOK: Final = _piracy(
    "hook",
    "Hook",
    3,
    "one opponent",
    "in turn",
    "Take a random card out of an opponent's hand; that player's next turn is lost.",
)
KRAKEN: Final = _piracy(
    "the_kraken", "The Kraken", 3, "everyone", "in turn", "All treasure in all hands is shuffled back into the piles."
)
BOMBS_AWAY: Final = _piracy(
    "bombs_away", "Bombs Away", 5, "all opponents", "in turn", "Every opponent discards two piracy cards."
)
LAST_IN_TURN: Final = BOMBS_AWAY
"""ST-3.9. The eight above are played in turn; the others answer something, or are never played."""
ON_ONE_OPPONENT: Final = (SPYGLASS, SKULDUGGERY, X_MARKS_THE_SPOT, HOOK)
"""ST-1.3, ST-3.9. Those of the eight that name one opponent as their target."""
CODE: Final = _piracy(
    "pirates_code",
    "Pirate's Code",
    5,
    "one opponent",
    "in response",
    "When a card is played against you: name another player whom it hits instead.",
)
YARR: Final = _piracy(
    "yarr", "Yarr!", 5, "a card being played", "interrupt", "When a piracy card is played: it has no effect."
)
PARLEY: Final = _piracy(
    "parley",
    "Parley",
    5,
    "its player's own wager",
    "interrupt",
    "When both stakes of your wager lie: lose the wager at once.",
)
BLACK_SPOT: Final = _piracy(
    "the_black_spot",
    "The Black Spot",
    1,
    "its holder",
    "never played",
    "Its holder cannot win. It is never played.",
)
"""ST-1.3. The 45 piracy cards, above and here, in the order of the sheet."""

SINCE: Final = Counter("since", "the turn in which it came to this player", since="turn")

_T1 = WORDS.zone(
    "treasure_pile_1", "treasure pile 1", "", Visibility.NOBODY, per_seat=False, ordered=True, remembers=False
)
_T2 = WORDS.zone(
    "treasure_pile_2", "treasure pile 2", "", Visibility.NOBODY, per_seat=False, ordered=True, remembers=False
)
_P = WORDS.zone("piracy_pile", "piracy pile", "", Visibility.NOBODY, per_seat=False, ordered=True, remembers=False)
WORDS.zone(
    "treasure_discards",
    "treasure discards",
    "Become new piles when both are empty.",
    Visibility.ALL,
    per_seat=False,
    ordered=True,
)
WORDS.zone(
    "piracy_discards",
    "piracy discards",
    "Become a new pile when it is empty.",
    Visibility.ALL,
    per_seat=False,
    ordered=True,
)
WORDS.zone(
    "in_play", "cards in play", "What this action has played so far.", Visibility.ALL, per_seat=False, ordered=True
)
TAKEN: Final = WORDS.zone(
    "taken",
    "taken cards",
    "What Skulduggery took, until a card is given for it.",
    Visibility.MIXED,
    per_seat=False,
    ordered=True,
)
_HAND = WORDS.zone(
    "treasure_hand", "treasure hand", "Treasure to bury or to stake.", Visibility.OWNER, columns=(SINCE,)
)
"""ST-1.4, ST-7.1. Treasure and piracy have different backs, so each hand is two zones, and everybody sees their sizes.
What leaves one of them changes nothing of what a viewer knows about the other.
"""
WORDS.zone("piracy_hand", "piracy hand", "Piracy to play.", Visibility.OWNER)
WORDS.zone("buried", "buried treasure", "What counts.", Visibility.ALL)
WORDS.zone("stake", "stake", "What is wagered now.", Visibility.ALL, columns=(SINCE,))
TREASURE_ZONES: Final = (_T1, _T2, _HAND)
TREASURE_PILE_1: Final = _T1.number  # a zone of the table has the number of its kind
TREASURE_PILE_2: Final = _T2.number
PIRACY_PILE: Final = _P.number

WORDS.table_counter("turn", "turns begun, skipped ones too")
WORDS.table_counter("actions_left", "actions the player whose turn it is may still take")
WORDS.seat_counter("skip_next", "whether the next turn is lost", Unit.FLAG)
WORDS.seat_counter("buried_total", "the value of all buried cards", Unit.POINTS)
WORDS.seat_counter("won", "whether this seat has won", Unit.FLAG)

DRAW: Final = WORDS.verb("draw", "{actor} draws from {zone}", "draw from {zone}", "ST-3.3")
BURY: Final = WORDS.verb("bury", "{actor} buries {cards}", "bury {cards}", "ST-3.5")
PLAY: Final = WORDS.verb("play", "{actor} plays {cards}", "play {cards}", "ST-3.9")
PLAY_ON: Final = WORDS.verb("play_on", "{actor} plays {cards} on {seat}", "play {cards} on {seat}", "ST-3.9")
WAGER: Final = WORDS.verb("wager", "{actor} wagers against {seat}", "wager against {seat}", "ST-3.23")
END_TURN: Final = WORDS.verb("end_turn", "{actor} ends the turn", "end the turn", "ST-3.1")
SKIPPED: Final = WORDS.verb("skipped", "{actor} loses this turn", rule="ST-3.2")
NULLIFY: Final = WORDS.verb("nullify", "{actor} plays {cards}", "play {cards}", "ST-3.10")
DIVERT: Final = WORDS.verb(
    "divert", "{actor} plays {cards} and names {seat}", "play {cards} and name {seat}", "ST-3.11"
)
BEFALL: Final = WORDS.verb("befall", "{cards} falls upon {seat}", rule="ST-3.11")
TAKE_TREASURE: Final = WORDS.verb(
    "take_treasure",
    "{actor} takes a treasure card out of the hand of {seat}",
    "take a treasure card out of the hand of {seat}",
    "ST-3.16",
)
TAKE_PIRACY: Final = WORDS.verb(
    "take_piracy",
    "{actor} takes a piracy card out of the hand of {seat}",
    "take a piracy card out of the hand of {seat}",
    "ST-3.16",
)
GIVE: Final = WORDS.verb("give", "{actor} gives {cards} to {seat}", "give {cards} to {seat}", "ST-3.16")
TAKE: Final = WORDS.verb("take", "{actor} digs up {cards} of {seat}", "dig up {cards} of {seat}", "ST-3.17")
DISCARD: Final = WORDS.verb("discard", "{actor} discards {cards}", "discard {cards}", "ST-3.21")
STAKE: Final = WORDS.verb("stake", "{actor} stakes {cards}", "stake {cards}", "ST-3.23")
MATCH: Final = WORDS.verb("match", "{seat} has to match {number} of {actor}", rule="ST-3.24")
LAY: Final = WORDS.verb("lay", "{actor} lays {cards}", "lay {cards}", "ST-3.24")
DONE: Final = WORDS.verb("done", "{actor} lays no more", "lay no more", "ST-3.24")
SURRENDER: Final = WORDS.verb(
    "surrender", "{actor} plays {cards} to lose to {seat}", "play {cards} to lose to {seat}", "ST-3.25"
)
COIN: Final = WORDS.verb("coin", "the coin falls for {seat}", rule="ST-3.26")
ROLL: Final = WORDS.verb("roll", "{actor} rolls {number}", rule="ST-3.26")
ROCK: Final = WORDS.verb("rock", "{actor} shows rock", "show rock", "ST-3.26")
PAPER: Final = WORDS.verb("paper", "{actor} shows paper", "show paper", "ST-3.26")
SCISSORS: Final = WORDS.verb("scissors", "{actor} shows scissors", "show scissors", "ST-3.26")

# For learning agents: what the sentences of the verbs do not say.
WORDS.shape(DRAW, zones=(_T1, _T2, _P))
WORDS.shape(BURY, GIVE, DISCARD, STAKE, LAY, copies=_HAND)
WORDS.step_fields(seats=("target", "active", "to", "opponent", "winner", "loser"))
