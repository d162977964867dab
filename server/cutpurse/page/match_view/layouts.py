"""Optional hints for drawing each game.

A game without an entry in `LAYOUTS` is drawn by `USUAL`. This module knows no view and no HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cutpurse.engine.words import CardKind, Unit, Visibility, ZoneKind

__all__ = ["BREAKS", "LAYOUTS", "USUAL", "Layout", "layout_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The hints for drawing one game, by the names of its zones, verbs, counters and cards.

    A card's tone and emblem are looked up by its name, then "special:2", then "sort:value", then its sort.
    """

    fans: frozenset[str] = frozenset({"hand"})  # zones whose cards overlap like a hand of cards
    stacks: frozenset[str] = frozenset()  # zones that show only their top card, besides the table's ordered zones
    rows: frozenset[str] = frozenset()  # ordered zones of the table that show all their cards
    worth: frozenset[str] = frozenset()  # zones that show the total value of their cards
    points: Mapping[str, int] = field(default_factory=dict)  # points of a zone, by kind, whatever lies in it
    points_a_card: frozenset[str] = frozenset()  # zones in which each card is a point
    # zones that show what wins the game, with the drawing of each: `rack` (a column of cards for each number),
    # `territory` (name tags), `lots` (tiles) or `packs` (overlapping cards with their sum)
    drawings: Mapping[str, str] = field(default_factory=dict)
    # symbols of zones and of numbers on zones, which stand for their names
    icons: Mapping[str, str] = field(default_factory=dict)
    # symbols that a card shows besides those printed on it, by the number on it that counts them
    shows: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    is_money: bool = False  # whether card values are money, not points
    # text in the corner of a card: its number (COUNT) or its value; None for cards that people know by name
    index: Unit | None = Unit.COUNT
    marks: tuple[str, ...] = ()  # card traits that are shown as symbols
    tones: Mapping[str, str] = field(default_factory=dict)  # names of colours
    emblems: Mapping[str, str] = field(default_factory=dict)  # names of symbols
    small: frozenset[str] = frozenset()  # numbers on cards that are shown only in the card's tooltip
    steals: frozenset[str] = frozenset()  # verbs that take from another seat, or try to
    turns: tuple[str, ...] = ("game", "round", "turns", "turn")  # counters that change when a turn begins
    silent: frozenset[str] = frozenset()  # counters that only the rules need
    # counters that say something only in a match of several games (setting `mode`)
    of_series: frozenset[str] = frozenset()

    def style(self, kind: ZoneKind) -> str:
        """Return the drawing style of a kind of zone: one of `drawings`, "fan", "stack" or "spread"."""
        if kind.name in self.drawings:
            return self.drawings[kind.name]
        if kind.name in self.fans:
            return "fan"
        if kind.name in self.stacks or (kind.ordered and not kind.per_seat and kind.name not in self.rows):
            return "stack"
        return "stack" if kind.visibility is Visibility.NOBODY else "spread"

    def tone(self, card: CardKind) -> str:
        """Return the name of a card's colour."""
        return _looked_up(self.tones, card) or f"n{card.traits.get('number', 0) % 17}"

    def emblem(self, card: CardKind) -> str:
        """Return the name of a card's symbol; empty if it has none."""
        return _looked_up(self.emblems, card) or ""


def _looked_up(table: Mapping[str, str], card: CardKind) -> str | None:
    special = card.traits.get("special", 0)
    for key in (card.name, f"special:{special}" if special else "", f"{card.sort}:{card.value}", card.sort):
        if key in table:
            return table[key]
    return None


USUAL: Final = Layout()
LAYOUTS: Final[Mapping[str, Layout]] = {
    "greed": Layout(
        rows=frozenset({"middle"}),
        drawings={"collection": "rack"},
        tones={"crook": "dark"},
        emblems={"crook": "crook", "special:1": "plus", "special:2": "eye", "special:3": "swap"},
        steals=frozenset({"raid", "take", "look"}),
        of_series=frozenset({"game", "points", "wins"}),
    ),
    "steal_and_plunder": Layout(
        rows=frozenset({"battle", "start_draw"}),
        stacks=frozenset({"spent"}),
        drawings=dict.fromkeys(("pack", "plundered", "offshore", "taxed"), "packs"),
        icons={"plundered": "sack", "offshore": "plane", "taxed": "percent", "locked": "lock"},
        worth=frozenset({"pack", "plundered", "offshore", "taxed"}),
        is_money=True,
        index=Unit.MONEY,
        tones={
            "wealth:50000": "yellow",
            "wealth:100000": "blue",
            "wealth:150000": "red",
            "wealth:200000": "green",
            "wild": "violet",
            "power": "dark",
        },
        emblems={
            "redistributed_diesel": "drop",
            "counterfeit_cigarettes": "smoke",
            "copper_wire": "coil",
            "bribe_money": "note",
            "cash_in_the_couch": "couch",
            "fake_perfume": "bottle",
            "liberated_livestock": "cow",
            "minibus_taxi_routes": "car",
            "next_election_ballots": "ballot",
            "pre_approved_tenders": "stamp",
            "cryptocurrency_coin": "coin",
            "gold_bar": "bar",
            "blood_diamond": "gem",
            "steal": "hand",
            "plunder": "sack",
            "forensic_audit": "eye",
            "flee_the_country": "plane",
            "tax_audit": "percent",
        },
        steals=frozenset(
            {"attack", "power_steal", "power_plunder", "power_audit", "power_tax", "contribute", "win", "take"}
        ),
        silent=frozenset({"locked_in"}),
        of_series=frozenset({"game", "total"}),
    ),
    "stolen_treasure": Layout(
        rows=frozenset({"in_play", "taken"}),
        fans=frozenset({"treasure_hand", "piracy_hand"}),
        worth=frozenset({"buried"}),
        drawings={"buried": "packs"},
        small=frozenset({"since"}),
        silent=frozenset({"buried_total"}),
        index=Unit.POINTS,
        tones={
            "sapphire": "blue",
            "ruby": "red",
            "emerald": "green",
            "diamond": "n9",
            "treasure:0": "grime",
            "treasure:-50": "grime",
            "treasure:-100": "grime",
            "treasure:-200": "grime",
            "treasure": "yellow",
            "piracy": "dark",
        },
        emblems={
            "sapphire": "gem",
            "ruby": "gem",
            "emerald": "gem",
            "diamond": "gem",
            "silver_coin": "coin",
            "gold_dubloons": "coin",
            "gold_bullion": "bar",
            "pirates_booty": "sack",
            "treasure:0": "skull",
            "treasure:-50": "skull",
            "treasure:-100": "skull",
            "treasure:-200": "skull",
            "treasure": "chest",
            "spyglass": "eye",
            "hook": "hook",
            "x_marks_the_spot": "cross",
            "plunder": "sack",
            "skulduggery": "hand",
            "the_kraken": "wave",
            "bombs_away": "bomb",
            "yarr": "bolt",
            "the_black_spot": "spot",
            "piracy": "sword",
        },
        steals=frozenset({"wager", "take_treasure", "take_piracy", "take", "surrender"}),
    ),
    "szmal": Layout(
        drawings={"thugs": "territory", "holdings": "territory"},
        shows={"armed": ("gun", "key")},
        stacks=frozenset({"pile"}),
        small=frozenset({"since_round", "play", "until_round"}),
        index=None,
        marks=("gun", "car", "key", "bottle", "heart", "wrench"),
        tones={"thug": "red", "holding": "blue", "action": "yellow"},
        emblems={"thug": "hat", "holding": "house", "action": "bolt"},
        steals=frozenset({"lose"}),
        silent=frozenset({f"{when}losses_{card}" for when in ("", "next_") for card in (5, 40, 73, 79)}),
        turns=("round",),
    ),
    "bag_o_loot": Layout(
        rows=frozenset({"middle"}),
        drawings=dict.fromkeys(("set", "bag", "bag_open", "bluff_bag"), "lots"),
        points={"bag": 10, "bag_open": 10, "bluff_bag": 10},
        points_a_card=frozenset({"set"}),
        tones={"looter": "dark"},
        emblems={"looter": "crook", "coin": "coin"},
        steals=frozenset({"steal", "pinch", "snitch", "give", "challenge", "take_bag", "take_sets"}),
        silent=frozenset({"plays", "bag_plays", "ditches", "idle_turns"}),
    ),
}


# Where the long words of titles may break, in the page's languages.
_BREAKS: Final = (
    "Redistri-buted Counter-feit Crypto-currency Head-quarters Skul-duggery Poly-cephalus Cheese-cloth "
    "Ver-brechens Adels-schatz Krypto-münze Museums-raub Ver-zwickter Meister-plan Blut-diamant Gold-dublonen "
    "Abge-kartete Schrott-platz Stimm-zettel Unter-schlupf Kupfer-draht Hafen-kneipe Steuer-prüfung Massage-salon "
    "Liqui-dieren Abge-zweigter Piraten-kodex Trottel-treff Haupt-quartier Vandalis-mus Silber-münze Sonder-prüfung "
    "Bettler-mahl Piraten-beute Kaufmanns-gut Schmier-geld Himmel-fahrts Niepo-konany Krypto-waluta "
    "Gener-ous Vi-cious Water-front Rubber-face Napo-leon Vandal-ism Smug-gling Pick-pocket Hide-out Protec-tion"
)
BREAKS: Final = tuple(_BREAKS.split())


def layout_of(game: str) -> Layout:
    """Return the layout hints for a game."""
    return LAYOUTS.get(game, USUAL)
