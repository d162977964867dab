"""The state of Steal & Plunder: its settings, what lies on the table, and what rules ask of it; it knows no step."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Final

from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import fill
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings, choice, flag, number
from cutpurse.engine.words import FACE_DOWN
from cutpurse.engine.zones import TABLE, Zone
from cutpurse.games.steal_and_plunder.cards import (
    COPIES,
    FITS,
    LOCKED,
    PACK,
    POWERS,
    SMALL_DECK_LEAVES_OUT,
    VALUE,
    WORDS,
    YELLOW,
)
from cutpurse.games.steal_and_plunder.hidden_hands import draw_betrayed_hands, powers_among

__all__ = ["LONGEST_GAME", "StealAndPlunderSettings", "StealAndPlunderState", "value_of"]

SMALL_DECK_SEATS: Final = 3
"""SP-2.5. Only three players may leave cards out."""
LONGEST_GAME: Final = 100
"""SP-6.1. Each turn lowers the cards of deck and hands together, and these are at most 100."""

BOX: Final = [card for card, copies in COPIES.items() for _ in range(copies)]
"""SP-1.1. All 101 cards."""


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class StealAndPlunderSettings(Settings):
    """SP-2.1, SP-2.5, SP-4.4, SP-4.5, SP-4.15, SP-5.3, SP-5.4, SP-7.1. The variants of Steal & Plunder."""

    mode: str = choice("single", "series", text="one game, or games until a total is reached", rule="SP-5.4")
    target: int = number(
        10_000_000,
        1_000_000,
        50_000_000,
        step=50_000,
        text="the total that ends a series",
        rule="SP-5.4",
        only_with=("mode", "series"),
    )
    max_games: int = number(
        15, 1, 50, text="games after which a series ends anyhow", rule="SP-5.4", only_with=("mode", "series")
    )
    small_deck: bool = flag(False, text="three players leave two industries in the box", rule="SP-2.5")
    removed_yellow: str = choice(
        "bribe_money",
        *[WORDS.cards[card - 1].name for card in YELLOW if WORDS.cards[card - 1].name != "bribe_money"],
        text="which yellow industry the small deck leaves out",
        rule="SP-2.5",
        only_with=("small_deck", "true"),
    )
    start_method: str = choice("draw", "random", text="how the first player is found", rule="SP-2.1")
    strict_first_pack_order: bool = flag(
        True, text="with a pair in hand the first pack cannot be made with the discard", rule="SP-4.4"
    )
    hand_wild_on_discard: bool = flag(
        False, text="a Wild of the hand makes a pack with a Wealth card on the discard pile", rule="SP-4.5"
    )
    audit_pick: str = choice("choice", "highest_value", text="which card a Forensic Audit takes", rule="SP-4.15")
    offshore_open: bool = flag(False, text="packs are shown to all when they go abroad", rule="SP-7.1")

    def problem(self, seats: int) -> str:
        if self.small_deck and seats != SMALL_DECK_SEATS:
            return f"setting small_deck cannot be true with {seats} players; it can be: false"
        return ""


@mypyc_attr(allow_interpreted_subclasses=True)
class StealAndPlunderState(Game[StealAndPlunderSettings]):
    """SP-0.1. Seats go clockwise, and all chance is one stream."""

    __slots__ = WORDS.attributes()
    words = WORDS
    settings_type = StealAndPlunderSettings

    deck: Zone
    discard: Zone
    spent: Zone
    battle: Zone
    start_draw: Zone
    hand: list[Zone]
    cover: list[Zone]
    pack: list[list[Zone]]
    plundered: list[list[Zone]]
    offshore: list[list[Zone]]
    taxed: list[list[Zone]]
    game: int
    round: int
    turns: int
    start_token: int
    reload_token: int
    locked_in: list[int]
    sure_powers: list[int]
    total: list[int]

    @classmethod
    def box(cls, seats: int, settings: StealAndPlunderSettings) -> list[int]:
        """SP-1.1, SP-2.5. Return all 101 cards, or the 85 of the small deck."""
        if not settings.small_deck:
            return BOX[:]
        left_out = SMALL_DECK_LEAVES_OUT, WORDS.card_named(settings.removed_yellow)
        return [card for card in BOX if card not in left_out]

    @classmethod
    def max_decisions(cls, seats: int, settings: StealAndPlunderSettings) -> int:
        """SP-6.1. Count two answers for each card that leaves deck and hands.

        A turn takes off a card, and has an action and one answer that ends it; any other answer lays a card to a
        battle.
        """
        games = settings.max_games if settings.mode == "series" else 1
        return games * 2 * LONGEST_GAME

    def open_pack(self, seat: int) -> Zone | None:
        """SP-3.3. Return the top pack of a stack, unless it is the locked one or the stack is empty."""
        stack = self.pack[seat]
        if not stack or stack[-1].counters[LOCKED]:
            return None
        return stack[-1]

    def open_packs_of_others(self, seat: int) -> list[Zone]:
        """SP-3.3, SP-4.2. List the open packs of the other seats, that of the lowest seat first."""
        packs = [self.open_pack(other) for other in range(self.n) if other != seat]
        return [pack for pack in packs if pack is not None]

    def gathered(self, seat: int) -> list[Zone]:
        """SP-3.5. List the stack and the plundered packs, which Flee the Country and Tax Audit take together."""
        return self.pack[seat] + self.plundered[seat]

    def all_packs(self) -> list[Zone]:
        """List every pack on the table, wherever it lies."""
        return [*chain(*self.pack, *self.plundered, *self.offshore, *self.taxed)]

    def lay_a_pack(self, seat: int) -> Zone:
        """SP-3.2, SP-3.3. Lay an empty pack on top of a stack; a player's first is locked, and the player locked in."""
        pack = self.make(PACK, seat)
        if not self.locked_in[seat]:
            self.count("locked_in", 1, seat)
            self.count_zone(pack, LOCKED, 1)
        return pack

    def play_a_power(self, seat: int, card: int, to: Zone) -> None:
        """SP-4.2, SP-4.17, SP-4.23. Play a Power card openly; nothing can counter it."""
        self.move(card, self.hand[seat], to)
        if self.sure_powers[seat]:
            self.add("sure_powers", -1, seat)

    def scores(self) -> list[int]:
        """SP-5.3, SP-5.4. Return the money of the game; in a series the totals."""
        if self.settings.mode == "series":
            return self.total[:]
        return [self.money_of(seat) for seat in range(self.n)]

    def money_of(self, seat: int) -> int:
        """SP-5.2. Count what a seat has in this game, in Rand; taxed packs count half, which is exact."""
        untaxed = self.pack[seat] + self.plundered[seat] + self.offshore[seat]
        return value_of(untaxed) + value_of(self.taxed[seat]) // 2

    def may_lie(self, zone: Zone, card: int) -> bool:
        """SP-7.2. Keep a hidden partner with its industry; after a burn the rest of a hand is Power cards."""
        if zone.kind.many:
            return card in FITS[zone.cards[-1]]
        if zone.owner != TABLE and self.sure_powers[zone.owner] == len(zone.cards):
            return card in POWERS
        return True

    def imagine_zones(self, unseen: list[int], chance: Chance) -> None:
        """SP-7.2. Fill hidden partners first, then the hands that by a burn surely hold some Power cards."""
        fill(self, self.all_packs(), unseen, chance)
        betrayed: list[Zone] = []
        hands: list[tuple[list[int], int]] = []
        for sure, hand in zip(self.sure_powers, self.hand, strict=True):
            hidden_powers = sure - powers_among(hand.cards)
            if hidden_powers > 0:
                betrayed.append(hand)
                hands.append((hand.cards, hidden_powers))
        if betrayed:
            for hand, drawn in zip(betrayed, draw_betrayed_hands(hands, unseen, chance), strict=True):
                hand.cards = sorted([card for card in hand.cards if card != FACE_DOWN] + drawn)
                for card in drawn:
                    unseen.remove(card)

    def is_plausible(self) -> bool:
        """SP-7.2. Check that every pack is of one industry, and that no hand has fewer Power cards than all know of."""
        for pack in self.all_packs():
            if any(card not in FITS[pack.cards[-1]] for card in pack.cards):
                return False
        hands = [hand.cards for hand in self.hand]
        return all(sure <= powers_among(cards) for sure, cards in zip(self.sure_powers, hands, strict=True))


def value_of(packs: list[Zone]) -> int:
    """SP-5.2. Add up the values of all cards in these packs, in Rand."""
    return sum([VALUE[card] for pack in packs for card in pack.cards])
