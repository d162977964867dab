"""The box of Steal & Plunder, and the words for what lies on the table."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.words import Counter, Unit, Visibility, Words, ZoneKind

__all__ = [
    "ATTACK",
    "AUDIT",
    "BURN",
    "CONCEDE",
    "CONTRIBUTE",
    "COPIES",
    "DISCARD",
    "DRAW",
    "FITS",
    "FLEE",
    "FLEE_THE_COUNTRY",
    "FORENSIC_AUDIT",
    "FORM",
    "FORM_WITH_DISCARD",
    "HAND_SIZE",
    "LOCKED",
    "OFFSHORE",
    "PACK",
    "PLUNDER",
    "PLUNDERED",
    "PLUNDER_CARD",
    "POWERS",
    "RELOAD",
    "SMALL_DECK_LEAVES_OUT",
    "START",
    "STEAL",
    "STEAL_CARD",
    "TAKE",
    "TAX",
    "TAXED",
    "TAX_AUDIT",
    "VALUE",
    "WEALTH",
    "WILDS",
    "WIN",
    "WORDS",
    "YELLOW",
]

WORDS: Final = Words("steal_and_plunder", "Steal & Plunder", "SP", "1", seats=range(3, 7))
"""SP-1.5. Three to six players."""

VALUE: Final[list[int]] = [0]  # by card, in Rand; index 0 is no card
COPIES: Final[dict[int, int]] = {}
"""SP-1.1. How many of each card are in the box: 82 Wealth, 12 Wild and 7 Power cards, worth 11 100k together."""


def _cards(sort: str, copies: int, value: int, *cards: tuple[str, str, str]) -> range:
    """Add faces with the same number of copies and the same value; return their card numbers.

    The text of a Wealth card begins with its colour.
    """
    for name, title, text in cards:
        facts = {"colour": text.partition(".")[0].lower()} if sort == "wealth" else {}
        card = WORDS.card(name, title, text, sort, value, facts=facts, rule="SP-1.1")
        VALUE.append(value)
        COPIES[card] = copies
    return range(len(VALUE) - len(cards), len(VALUE))


YELLOW: Final = _cards(
    "wealth",
    10,
    50_000,
    ("redistributed_diesel", "Redistributed Diesel", "Yellow. It left the depot by another gate."),
    ("counterfeit_cigarettes", "Counterfeit Cigarettes", "Yellow. Cheaper than the stamp would be."),
    ("copper_wire", "Copper Wire", "Yellow. The trains stand still meanwhile."),
    ("bribe_money", "Bribe Money", "Yellow. A handshake with something in it."),
)
_BLUE: Final = _cards(
    "wealth",
    8,
    100_000,
    ("cash_in_the_couch", "Cash in the Couch", "Blue. Nobody sits on it."),
    ("fake_perfume", "Fake Perfume", "Blue. The bottle is real."),
    ("liberated_livestock", "Liberated Livestock", "Blue. The fence was open, more or less."),
)
_RED: Final = _cards(
    "wealth",
    6,
    150_000,
    ("minibus_taxi_routes", "Minibus Taxi Routes", "Red. One road, one owner."),
    ("next_election_ballots", "Next Election Ballots", "Red. Filled in well ahead."),
)
_GREEN: Final = _cards(
    "wealth",
    6,
    200_000,
    ("pre_approved_tenders", "Pre-Approved Tenders", "Green. The winner was known before the call."),
)
WEALTH: Final = frozenset(range(YELLOW.start, _GREEN.stop))
"""SP-1.2. The ten Wealth cards are the ten industries; two of them match only if they are the same."""

_WILD_TEXT: Final = "Goes with any industry, in a pack and in a battle."
_COIN: Final = _cards("wild", 6, 250_000, ("cryptocurrency_coin", "Cryptocurrency Coin", _WILD_TEXT))
_GOLD: Final = _cards("wild", 4, 300_000, ("gold_bar", "Gold Bar", _WILD_TEXT))
_DIAMOND: Final = _cards("wild", 2, 500_000, ("blood_diamond", "Blood Diamond", _WILD_TEXT))
WILDS: Final = frozenset(range(_COIN.start, _DIAMOND.stop))
"""SP-1.3. All Wilds are equally strong in play; only the count and the draw for the start look at their value."""

FITS: Final[dict[int, frozenset[int]]] = {industry: frozenset((industry, *WILDS)) for industry in WEALTH}
"""SP-1.2, SP-1.3. By industry: what goes with it in a pack and in a battle."""

STEAL_CARD: Final = _cards("power", 2, 0, ("steal", "Steal", "Take an open pack. It can be stolen again."))[0]
PLUNDER_CARD: Final = _cards("power", 1, 0, ("plunder", "Plunder", "Take an open pack, safe from thieves for good."))[0]
FORENSIC_AUDIT: Final = _cards(
    "power", 2, 0, ("forensic_audit", "Forensic Audit", "See an opponent's hand and take a card of it.")
)[0]
FLEE_THE_COUNTRY: Final = _cards(
    "power", 1, 0, ("flee_the_country", "Flee the Country", "All you have gathered is safe from thieves and taxes.")
)[0]
TAX_AUDIT: Final = _cards(
    "power", 1, 0, ("tax_audit", "Tax Audit", "All that an opponent has gathered and not sent abroad counts half.")
)[0]
POWERS: Final = frozenset(range(STEAL_CARD, TAX_AUDIT + 1))
"""SP-1.1. Seven Power cards of five kinds, worth nothing in the count."""

SMALL_DECK_LEAVES_OUT: Final = _GREEN[0]
"""SP-2.5. The Tenders stay out of the small deck, besides one yellow industry."""

HAND_SIZE: Final = 5
"""SP-2.3, SP-4.16, SP-4.25. Five cards are dealt, every Reload fills the hand to five, and it never holds more."""

WORDS.zone("deck", "draw deck", "Drawn from its top.", Visibility.NOBODY, per_seat=False, ordered=True, remembers=False)
WORDS.zone("discard", "discard pile", "Its top card can make a pack.", Visibility.ALL, per_seat=False, ordered=True)
WORDS.zone("spent", "spent cards", "Power cards that have been used.", Visibility.ALL, per_seat=False)
WORDS.zone("battle", "battle", "Cards laid beside the attacked pack.", Visibility.ALL, per_seat=False, ordered=True)
WORDS.zone("start_draw", "starting draw", "The first game only.", Visibility.ALL, per_seat=False, ordered=True)
HAND: Final = WORDS.zone("hand", "hand", "Up to five cards.", Visibility.OWNER)
"""SP-0.2, SP-0.5. A hidden card is a number of cards; what others saw of a hand is remembered and forgotten with it."""
COVER: Final = WORDS.zone("cover", "cover", "Flee the Country or Tax Audit, on what it covers.", Visibility.ALL)
"""SP-4.17. Where these two stay; the other Power cards lie among the spent ones."""

LOCKED: Final = 0  # index among the counters of a pack
_LOCKED: Final = (Counter("locked", "the first pack of a player's game, which cannot be stolen", Unit.FLAG),)


def _packs(name: str, title: str, text: str) -> ZoneKind:
    return WORDS.zone(
        name, title, text, Visibility.MIXED, ordered=True, many=True, holder_learns=True, counters=_LOCKED
    )


PACK: Final = _packs(
    "pack", "pack", "In the stack; the top one is open unless it is locked. A Wealth card lies on top."
)
"""SP-3.3, SP-3.4. The last pack of a side is the top of its stack; a hidden partner lies at the bottom of its pack."""
PLUNDERED: Final = _packs("plundered", "plundered pack", "Beside the stack, safe from thieves.")
OFFSHORE: Final = _packs("offshore", "offshore pack", "Under Flee the Country, safe from thieves and taxes.")
TAXED: Final = _packs("taxed", "taxed pack", "Under a Tax Audit: it counts half and stays where it is.")

WORDS.table_counter("game", "which game of the series is on, from 0")
WORDS.table_counter("round", "which round of the game is on, from 1")
WORDS.table_counter("turns", "turns begun in this game")
START: Final = WORDS.table_counter("start_token", "who holds the Start token and begins each round", Unit.SEAT)
RELOAD: Final = WORDS.table_counter("reload_token", "who holds the Reload token and fills their hand first", Unit.SEAT)
"""SP-1.4. The two tokens."""
WORDS.seat_counter("locked_in", "has laid the first pack of this game", Unit.FLAG)
WORDS.seat_counter("sure_powers", "number of surely known Power cards in this hand, as a burn has shown")
WORDS.seat_counter("total", "money of the games that are over", Unit.MONEY)

FORM: Final = WORDS.verb("form_pack", "{actor} forms a pack of {cards}", "form a pack of {cards}", "SP-3.1")
FORM_WITH_DISCARD: Final = WORDS.verb(
    "form_pack_discard",
    "{actor} forms a pack of the top discard and {cards}",
    "form a pack of the top discard and {cards}",
    "SP-4.5",
)
DISCARD: Final = WORDS.verb("discard", "{actor} discards {cards}", "discard {cards}", "SP-4.7")
ATTACK: Final = WORDS.verb(
    "attack",
    "{actor} attacks the open pack of {seat} with {cards}",
    "attack the open pack of {seat} with {cards}",
    "SP-4.26",
)
STEAL: Final = WORDS.verb(
    "power_steal",
    "{actor} plays {cards} on the open pack of {seat}",
    "play {cards} on the open pack of {seat}",
    "SP-4.18",
)
PLUNDER: Final = WORDS.verb(
    "power_plunder",
    "{actor} plays {cards} on the open pack of {seat}",
    "play {cards} on the open pack of {seat}",
    "SP-4.19",
)
AUDIT: Final = WORDS.verb(
    "power_audit", "{actor} plays {cards} on the hand of {seat}", "play {cards} on the hand of {seat}", "SP-4.15"
)
FLEE: Final = WORDS.verb(
    "power_flee", "{actor} plays {cards}: all gathered goes abroad", "play {cards} on your own stack", "SP-4.20"
)
TAX: Final = WORDS.verb(
    "power_tax", "{actor} plays {cards} on all that {seat} has", "play {cards} on all that {seat} has", "SP-4.21"
)
BURN: Final = WORDS.verb("burn", "{actor} gives up {cards} without effect", "give up {cards} without effect", "SP-4.10")
CONTRIBUTE: Final = WORDS.verb("contribute", "{actor} adds {cards} to the battle", "add {cards}", "SP-4.26")
CONCEDE: Final = WORDS.verb("concede", "{actor} concedes", "concede", "SP-4.26")
WIN: Final = WORDS.verb("win", "{actor} wins the battle for the pack of {seat}", rule="SP-4.26")
TAKE: Final = WORDS.verb(
    "take", "{actor} takes {cards} from the hand of {seat}", "take {cards} from the hand of {seat}", "SP-4.15"
)
DRAW: Final = WORDS.verb("draw_for_start", "{actor} draws {cards} for the start", rule="SP-2.1")

# For learning agents: what the sentences of the verbs do not say.
WORDS.shape(FORM, cards=2)
WORDS.place(PACK, OFFSHORE, TAXED, most=16)
WORDS.place(PLUNDERED, most=4)
WORDS.step_fields(seats=("owner", "thief", "target"), zones=("pack",))
