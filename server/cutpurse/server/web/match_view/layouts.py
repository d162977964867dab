"""Optional hints for drawing each game.

A game without an entry in `LAYOUTS` is drawn by `USUAL`. This module knows no view and no HTML.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from cutpurse.engine.words import CardKind, Unit, Visibility, ZoneKind

__all__ = ["LAYOUTS", "USUAL", "Layout", "layout_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The hints for drawing one game, by the names of its zones, verbs, counters and cards.

    A card's tone and emblem are looked up by its name, then "special:2", then "sort:value", then its sort.

    Attributes:
        fans: Zones whose cards overlap like a hand of cards.
        stacks: Zones that show only their top card, besides the table's ordered zones.
        rows: Ordered zones of the table that show all their cards.
        worth: Zones that show the total value of their cards.
        points: Points of a zone, by kind, whatever lies in it.
        points_a_card: Zones in which each card is a point.
        badges: Zones of a seat that shrink to a badge while nothing happens to them, besides those made in play.
        is_money: Whether card values are money, not points.
        index: Text in the corner of a card: its number (COUNT), its value, or its initials (None).
        marks: Card traits that are shown as symbols.
        tones: Names of colours.
        emblems: Names of symbols.
        small: Numbers on cards that are shown only in the card's tooltip.
        steals: Verbs that take from another seat, or try to.
        turns: Counters that change when a turn begins.
        silent: Counters that only the rules need.
        of_series: Counters that say something only in a match of several games (setting `mode`).
    """

    fans: frozenset[str] = frozenset({"hand"})
    stacks: frozenset[str] = frozenset()
    rows: frozenset[str] = frozenset()
    worth: frozenset[str] = frozenset()
    points: Mapping[str, int] = field(default_factory=dict)
    points_a_card: frozenset[str] = frozenset()
    badges: frozenset[str] = frozenset()
    is_money: bool = False
    index: Unit | None = Unit.COUNT
    marks: tuple[str, ...] = ()
    tones: Mapping[str, str] = field(default_factory=dict)
    emblems: Mapping[str, str] = field(default_factory=dict)
    small: frozenset[str] = frozenset()
    steals: frozenset[str] = frozenset()
    turns: tuple[str, ...] = ("game", "round", "turns", "turn")
    silent: frozenset[str] = frozenset()
    of_series: frozenset[str] = frozenset()

    def style(self, kind: ZoneKind) -> str:
        """Return the drawing style of a kind of zone: "fan", "stack" or "spread"."""
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
        tones={"crook": "dark"},
        emblems={"crook": "crook", "special:1": "plus", "special:2": "eye", "special:3": "swap"},
        steals=frozenset({"raid", "take", "look"}),
        of_series=frozenset({"game", "points", "wins"}),
    ),
    "steal_and_plunder": Layout(
        rows=frozenset({"battle", "start_draw"}),
        stacks=frozenset({"spent"}),
        fans=frozenset({"hand", "pack", "plundered", "offshore", "taxed"}),
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
        badges=frozenset({"buried"}),
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
        fans=frozenset({"hand"}),
        stacks=frozenset({"pile"}),
        small=frozenset({"since_round", "play", "until_round"}),
        index=None,
        marks=("gun", "car", "key", "bottle", "heart", "wrench"),
        tones={"thug": "red", "holding": "blue", "action": "yellow"},
        emblems={"thug": "hat", "holding": "house", "action": "bolt"},
        steals=frozenset({"lose"}),
        turns=("round",),
    ),
    "bag_o_loot": Layout(
        rows=frozenset({"middle"}),
        fans=frozenset({"hand", "set", "bag", "bag_open", "bluff_bag"}),
        points={"bag": 10, "bag_open": 10, "bluff_bag": 10},
        points_a_card=frozenset({"set"}),
        tones={"looter": "dark"},
        emblems={"looter": "crook", "coin": "coin"},
        steals=frozenset({"steal", "pinch", "snitch", "give", "challenge", "take_bag", "take_sets"}),
        silent=frozenset({"plays", "bag_plays", "ditches", "idle_turns"}),
    ),
}


def layout_of(game: str) -> Layout:
    """Return the layout hints for a game."""
    return LAYOUTS.get(game, USUAL)
