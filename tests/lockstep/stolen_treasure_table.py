"""The second implementation of Stolen Treasure: the box, the position of its cards, and their moves."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from cutpurse.engine.zones import Zone
from cutpurse.games.stolen_treasure.cards import WORDS
from cutpurse.games.stolen_treasure.rules import StolenTreasure

TREASURE = {
    "silver_coin": (10, 50),
    "gold_dubloons": (8, 100),
    "gold_bullion": (5, 150),
    "pirates_booty": (3, 250),
    "merchants_haul": (2, 350),
    "nobles_trove": (1, 500),
    "sapphire": (4, 200),
    "ruby": (3, 300),
    "emerald": (2, 400),
    "diamond": (1, 500),
    "hairy_chest": (1, 0),
    "peg_leg": (2, -50),
    "old_billys_boot": (2, -50),
    "barnacle": (4, -100),
    "bad_voodoo": (2, -200),
}
"""ST-1.1, ST-1.2: copies and value."""
PIRACY = {
    "plunder": 5,
    "spyglass": 2,
    "skulduggery": 5,
    "x_marks_the_spot": 5,
    "yo_ho_ho": 1,
    "hook": 3,
    "the_kraken": 3,
    "bombs_away": 5,
    "pirates_code": 5,
    "yarr": 5,
    "parley": 5,
    "the_black_spot": 1,
}
"""ST-1.3: copies."""
NUMBERS = {card.name: number for number, card in enumerate(WORDS.cards, 1)}
"""Of cards, by name: chance picks a place in a hand that lies in their order."""
VERBS = {verb.number: verb.name for verb in WORDS.verbs}
PLUNDER, SPYGLASS, SKULDUGGERY, X_MARKS_THE_SPOT, YO_HO_HO, HOOK, KRAKEN, BOMBS_AWAY, CODE, YARR, PARLEY, BLACK_SPOT = (
    NUMBERS[name] for name in PIRACY
)
T1, T2, P = "treasure_pile_1", "treasure_pile_2", "piracy_pile"
Copy: TypeAlias = tuple[int, int]  # a treasure card in a hand, and its `since`


def held(zone: Zone) -> list[Copy]:
    """Return the treasure of a zone, each card with its `since`."""
    assert zone.columns is not None
    return list(zip(zone.cards, zone.columns[0], strict=True))


class Table:
    """All cards of a match, and their owners."""

    def __init__(self, game: StolenTreasure) -> None:
        self.game, self.seats, self.settings = game, game.n, game.settings
        changed = dict(game.settings.values)
        self.value = {NUMBERS[name]: changed.get(name, value) for name, (_, value) in TREASURE.items()}
        self.turn, self.actions_left, self.least = 0, 0, 0
        self.skipped, self.won = [False] * game.n, [False] * game.n
        self.deal()

    def deal(self) -> None:
        """ST-2.1, ST-2.2, ST-2.3. Copy the engine's deal, and count the box."""
        game = self.game
        self.chance = game.chance.fork()
        piles = game.treasure_pile_1, game.treasure_pile_2, game.piracy_pile
        self.piles = {zone.kind.name: zone.cards[:] for zone in piles}
        self.treasure = [held(zone) for zone in game.treasure_hand]
        self.piracy = [zone.cards[:] for zone in game.piracy_hand]
        self.treasure_discards, self.piracy_discards, self.in_play = list[int](), list[int](), list[int]()
        self.buried: list[list[int]] = [[] for _ in range(self.seats)]
        self.stakes: list[list[Copy]] = [[] for _ in range(self.seats)]
        self.first = game.waiting()[0]
        assert self.first == self.settings.first_seat or self.settings.first_seat == -1
        dealt = self.seats * self.settings.start_treasure
        assert [len(self.piles[pile]) for pile in (T1, T2)] == [25 - (dealt + 1) // 2, 25 - dealt // 2]
        for treasure, piracy in zip(self.treasure, self.piracy, strict=True):
            assert [since for _, since in treasure] == [-self.seats] * self.settings.start_treasure
            assert len(piracy) == self.settings.start_piracy
        treasures = [card for hand in self.treasure for card, _ in hand] + self.piles[T1] + self.piles[T2]
        box = sum([copies * [NUMBERS[name]] for name, (copies, _) in TREASURE.items()], list[int]())
        assert sorted(treasures) == sorted(box)
        box = sum([copies * [NUMBERS[name]] for name, copies in PIRACY.items()], list[int]())
        assert sorted(sum(self.piracy, self.piles[P])) == sorted(box)

    def others(self, seat: int) -> list[int]:
        """ST-0.1. List the other seats, clockwise from the left of a seat."""
        return [(seat + turn) % self.seats for turn in range(1, self.seats)]

    def worth(self, copies: Iterable[Copy]) -> int:
        return sum(self.value[card] for card, _ in copies)

    def score(self, seat: int) -> int:
        """ST-5.1, ST-3.8. Compute the score of a seat."""
        bad = sum(min(0, self.value[card]) for card, _ in self.treasure[seat])
        return bad + sum(self.value[card] for card in self.buried[seat])

    def size(self, seat: int) -> int:
        """Return the number of cards in a seat's hand."""
        return len(self.treasure[seat]) + len(self.piracy[seat])

    def gain(self, seat: int, *cards: int) -> None:
        """ST-3.6. Add treasure to a hand; it is new there."""
        self.treasure[seat] += [(card, self.turn) for card in cards]

    def treasure_to_draw(self) -> list[str]:
        """ST-3.4. List the piles to draw from; the first discard would go to T1."""
        return [pile for pile in (T1, T2) if self.piles[pile]] or [T1, T2][: len(self.treasure_discards)]

    def cut(self, cards: list[int]) -> None:
        """ST-2.1, ST-3.4, ST-3.20. Shuffle and cut; the odd card goes to T1.  The engine deals T2 off the top."""
        self.chance.shuffle(cards)
        half = len(cards) // 2
        self.piles[T1], self.piles[T2] = cards[: len(cards) - half], cards[::-1][:half]

    def draw(self, seat: int, pile: str) -> None:
        """ST-3.3, ST-3.4. Draw a card from a pile."""
        if pile == P and not self.piles[P]:
            self.piles[P], self.piracy_discards = self.piracy_discards, []
            self.chance.shuffle(self.piles[P])
        elif not self.piles[pile]:
            discards, self.treasure_discards = self.treasure_discards, []
            self.cut(discards)
        card = self.piles[pile].pop()
        if pile == P:
            self.piracy[seat].append(card)
        else:
            self.gain(seat, card)

    def random_treasure(self, seat: int) -> int:
        """Remove a random treasure from a hand, and return it."""
        self.treasure[seat].sort()
        card, _ = self.treasure[seat].pop(self.chance.below(len(self.treasure[seat])))
        return card

    def random_piracy(self, seat: int) -> int:
        self.piracy[seat].sort()
        return self.piracy[seat].pop(self.chance.below(len(self.piracy[seat])))
