"""The state of Stolen Treasure: its settings, what lies on the table, and what rules ask of it; it knows no step."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.acts import distinct
from cutpurse.engine.agenda import Option
from cutpurse.engine.game import Game
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings, choice, flag, number, table
from cutpurse.engine.zones import Zone
from cutpurse.games.stolen_treasure.cards import (
    BLACK_SPOT,
    COPIES,
    FIRST_PIRACY,
    LAST_TREASURE,
    MAX_PLAYERS,
    PIRACY_PILE,
    TREASURE_PILE_1,
    TREASURE_PILE_2,
    VALUES,
    WORDS,
)

__all__ = ["PIRACY", "RANDOM", "TREASURE", "StolenTreasureSettings", "StolenTreasureState"]

TREASURE: Final = [card for card in range(FIRST_PIRACY) for _ in range(COPIES[card])]
PIRACY: Final = [card for card in range(FIRST_PIRACY, len(COPIES)) for _ in range(COPIES[card])]
"""ST-1.1, ST-1.3. The 50 treasure cards and the 45 piracy cards."""
HIGHEST_VALUE: Final = 5000
"""ST-1.2. The highest value that a setting may give, and with a minus the lowest; so the sums of stakes stay few."""
RANDOM: Final = -1  # in place of the first seat


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class StolenTreasureSettings(Settings):
    """ST-1.2, ST-2.2, ST-2.3, ST-3.5, ST-3.22, ST-3.26, ST-5.3, ST-6.1, ST-6.2, ST-6.3. The variants."""

    target: int = number(
        1500, 500, 5000, step=50, text="the score that wins", rule="ST-6.2", by_seats={5: 1200, 6: 1000}
    )
    hand_limit: str = choice("off", "7", text="cards that a hand may hold after an action", rule="ST-6.1")
    true_random_theft: bool = flag(False, text="theft does not name a kind of card", rule="ST-6.3")
    wager_method: str = choice("coin", "die", "rps", text="what decides a wager", rule="ST-3.26")
    bury_delay: str = choice("next_turn", "full_round", text="when a new treasure may be buried", rule="ST-3.5")
    start_treasure: int = number(0, 0, 3, text="treasure cards dealt to each player", rule="ST-2.2")
    start_piracy: int = number(0, 0, 3, text="piracy cards dealt to each player", rule="ST-2.2")
    first_seat: int = number(RANDOM, 0, MAX_PLAYERS - 1, names={"random": RANDOM}, text="who begins", rule="ST-2.3")
    max_rounds: int = number(100, 20, 500, text="rounds after which the highest score wins", rule="ST-5.3")
    values: tuple[tuple[str, int], ...] = table(
        tuple(card.name for card in WORDS.cards[:LAST_TREASURE]), text="values of treasure cards", rule="ST-1.2"
    )

    def problem(self, seats: int) -> str:
        if self.first_seat >= seats:
            allowed = f"random, 0 to {seats - 1}"
            return f"setting first_seat cannot be {self.first_seat} with {seats} players; it can be: {allowed}"
        for name, value in self.values:
            if abs(value) > HIGHEST_VALUE:
                allowed = f"-{HIGHEST_VALUE} to {HIGHEST_VALUE} for each name"
                return f"setting values cannot be '{name}:{value}'; it can be: {allowed}"
        return ""


@mypyc_attr(allow_interpreted_subclasses=True)
class StolenTreasureState(Game[StolenTreasureSettings]):
    """ST-0.1, ST-0.2. Seats go clockwise; a card is its face, and equal copies with equal `since` are one option."""

    __slots__ = ("value", *WORDS.attributes())
    words = WORDS
    settings_type = StolenTreasureSettings
    shared = ("value",)

    treasure_pile_1: Zone
    treasure_pile_2: Zone
    piracy_pile: Zone
    treasure_discards: Zone
    piracy_discards: Zone
    in_play: Zone
    taken: Zone
    treasure_hand: list[Zone]
    piracy_hand: list[Zone]
    buried: list[Zone]
    stake: list[Zone]
    turn: int
    actions_left: int
    skip_next: list[int]
    buried_total: list[int]
    won: list[int]

    def prepare(self) -> None:
        """ST-1.1, ST-1.2. Set what each card is worth, which follows from the settings."""
        self.value = self.values(self.settings)

    @classmethod
    def values(cls, settings: StolenTreasureSettings) -> list[int]:
        """ST-1.2. Return the value of each card as ST-1.1 lists it, or that of the setting."""
        values = VALUES[:]
        for name, value in settings.values:
            values[WORDS.card_named(name)] = value
        return values

    @classmethod
    def box(cls, seats: int, settings: StolenTreasureSettings) -> list[int]:
        """ST-1.1, ST-1.3. Return the 50 treasure and the 45 piracy cards."""
        return TREASURE + PIRACY

    # -- drawing and burying
    def shuffle_and_cut(self) -> None:
        """ST-2.1, ST-3.4, ST-3.20. Shuffle the first treasure pile, and make half of it the second."""
        self.shuffle(self.treasure_pile_1)
        self.deal(self.treasure_pile_1, self.treasure_pile_2, len(self.treasure_pile_1.cards) // 2)

    def treasure_to_draw(self) -> list[int]:
        """ST-3.4. List the treasure piles that can be drawn from: empty ones only if their discards would fill them."""
        piles = [pile.number for pile in (self.treasure_pile_1, self.treasure_pile_2) if pile.cards]
        if piles:
            return piles
        return [TREASURE_PILE_1, TREASURE_PILE_2][: len(self.treasure_discards.cards)]  # a single card goes to T1

    def draw(self, seat: int, pile_number: int) -> None:
        """ST-3.3, ST-3.4, ST-3.6. Draw the top card: treasure is shown to all, piracy is taken unseen."""
        pile = self.zone(pile_number)
        if pile_number == PIRACY_PILE:
            if not pile.cards:
                self.move_all(self.piracy_discards, pile)
                self.shuffle(pile)
            self.move_top(pile, self.piracy_hand[seat])
        else:
            if not pile.cards:
                self.move_all(self.treasure_discards, self.treasure_pile_1)
                self.shuffle_and_cut()
            self.move_top(pile, self.treasure_hand[seat], shown=self.everyone, columns=(self.turn,))

    def bury(self, seat: int, option: Option) -> None:
        """ST-3.5, ST-5.1. Bury the treasure that an option names; the sum of all buried cards is public."""
        self.move_treasure(option, self.treasure_hand[seat], self.buried[seat])
        self.add("buried_total", self.value[option.cards[0]], seat)

    # -- hands
    def hand_size(self, seat: int) -> int:
        """ST-1.4. Count the cards in a hand, of both kinds; everybody sees this number."""
        return len(self.treasure_hand[seat].cards) + len(self.piracy_hand[seat].cards)

    def since(self, zone: Zone) -> list[int]:
        """ST-0.5. Return the turn in which each treasure card of a hand came to its player."""
        assert zone.columns is not None
        return zone.columns[0]

    def hand_options(self, verb: int, seat: int, target: int | None = None) -> list[Option]:
        """ST-0.2. Offer each card in a seat's hand, treasure first."""
        treasure = self.treasure_options(verb, self.treasure_hand[seat], target)
        return treasure + self.card_options(verb, self.piracy_hand[seat], target)

    def card_options(self, verb: int, zone: Zone, target: int | None = None) -> list[Option]:
        """ST-0.2. Offer each card in a zone without `since`; equal copies are one option."""
        return [Option(verb, (card,), seat=target) for card in distinct(zone.cards)]

    def treasure_options(self, verb: int, hand: Zone, target: int | None = None) -> list[Option]:
        """ST-0.2. Offer each card in a treasure hand; equal copies are one option.

        Copies that differ in `since` are one option for each turn, which names the place of the first such copy.
        """
        options: list[Option] = []
        cards, since = hand.cards, self.since(hand)
        for place, card in enumerate(cards):  # copies lie side by side, the oldest first
            if place and cards[place - 1] == card and since[place - 1] == since[place]:
                continue  # equal to the copy before
            first, copies = cards.index(card), cards.count(card)
            if since[first] == since[first + copies - 1]:
                options.append(Option(verb, (card,), seat=target))
            else:
                options.append(Option(verb, (card,), seat=target, places=(place,)))
        return options

    def place_of(self, option: Option, hand: Zone) -> int:
        """ST-0.2. Return the place in a treasure hand of the copy that an option names."""
        return option.places[0] if option.places else hand.cards.index(option.cards[0])

    def move_treasure(self, option: Option, hand: Zone, to: Zone, columns: tuple[int, ...] | None = None) -> None:
        """ST-0.2. Move the copy that an option names out of a treasure hand."""
        self.move_at(self.place_of(option, hand), hand, to, columns=columns)

    def lowest_treasure(self, options: list[Option]) -> Option:
        """ST-0.6. Return the option with the lowest treasure; the first option if all name piracy."""
        treasure = [option for option in options if option.cards[0] <= LAST_TREASURE]
        return min(treasure, key=lambda option: self.value[option.cards[0]]) if treasure else options[0]

    # -- scoring
    def value_of(self, cards: Iterable[int]) -> int:
        """Add up the values of cards."""
        total = 0
        for card in cards:
            total += self.value[card]
        return total

    def score(self, seat: int) -> int:
        """ST-5.1, ST-3.8. Add the negative treasure in the hand to the buried sum; good treasure there is nothing."""
        score = self.buried_total[seat]
        for card in self.treasure_hand[seat].cards:
            if self.value[card] < 0:
                score += self.value[card]
        return score

    def has_the_spot(self, seat: int) -> bool:
        """ST-4.1. Tell whether a seat holds The Black Spot, and so cannot win."""
        return BLACK_SPOT in self.piracy_hand[seat].cards

    def scores(self) -> list[int]:
        return [self.score(seat) for seat in range(self.n)]

    def standing(self, seat: int) -> tuple[int, ...]:
        """ST-5.3. Order the seats: winners first, then by score."""
        return self.won[seat], self.score(seat)
