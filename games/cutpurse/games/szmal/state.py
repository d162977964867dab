"""The state of Szmal: what every player has, what a card is, and what its text can do.

The cards themselves are in `actions`, `thugs` and `holdings`; this module knows none of them, and no step.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from cutpurse.engine.agenda import Option
from cutpurse.engine.game import Game
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings
from cutpurse.engine.zones import Zone
from cutpurse.games.szmal.cards import (
    ARMED,
    CASH,
    COUNTS_AS,
    DISCARD,
    FAIL,
    GIVE_UP,
    GUN,
    KEY,
    MARKERS,
    NEXT_ARMED,
    PAY,
    SYMBOLS,
    TAKE_BACK,
    WORDS,
    Cost,
    Need,
    column,
)

__all__ = ["Action", "Holding", "SzmalCard", "SzmalState", "Thug"]

MARKER: Final = 10_000
"""SZ-6.2. What a marker is worth at the end."""
LASTING: Final = frozenset({"saves", "on_play", "after_action", "on_leaving", "each_turn", "end_of_game"})
"""SZ-4.2. The methods of a card that are lasting text."""


class SzmalCard:
    """SZ-4.1. A card: what is printed on it, what its text does once, and what it does while in play.

    A method that a card does not define does nothing. `seat` is always the owner of the card.
    """

    rule: ClassVar[str] = "SZ-card-0"  # that of the blank card
    title: ClassVar[str] = ""
    sort: ClassVar[str] = ""
    shows: ClassVar[tuple[int, ...]] = ()
    cost: ClassVar[Cost | None] = None
    need: ClassVar[Need | None] = None
    text: ClassVar[str] = ""
    works_next_turn: ClassVar[bool] = False  # an Action that is kept until then
    markers_stay: ClassVar[bool] = False  # no effect takes markers from it
    takes: ClassVar[str] = ""  # the sort of card that its delayed loss takes
    takes_of_owner: ClassVar[bool] = False  # its owner loses one too

    def __init__(self) -> None:
        self.number = int(self.rule.removeprefix("SZ-card-"))
        self.abilities = LASTING.intersection(vars(type(self)))

    # -- text that is carried out once
    def carry_out(self, g: SzmalState, seat: int, card: int, paid: int) -> None:
        """Carry out the text once.

        Args:
            g: The game.
            seat: The owner.
            card: The card that carries it out: this one, or 54 as its copy.
            paid: Number of markers on the Holding that was given up for it.
        """
        self.take_effect(g, seat)

    def take_effect(self, g: SzmalState, seat: int) -> None:
        """Carry out the text once; for a text that needs neither `card` nor `paid`."""

    def normal_markers(self, g: SzmalState, seat: int) -> int:
        """Count the markers that a Holding enters with.

        SZ-3.3.3. One for each symbol on it, and one for every such symbol on the owner's other cards.
        """
        markers = len(self.shows)
        for symbol in self.shows:
            markers += g.symbols(seat, symbol)
        return markers

    # -- lasting text
    def saves(self, g: SzmalState, played: int) -> int:
        """SZ-3.3.1. Return by how many dollars this lowers the cash Cost of a card of its owner."""
        return 0

    def on_play(self, g: SzmalState, seat: int, played: int, this: int) -> None:
        """SZ-3.3.4. React to a card that its owner plays; `this` is the card in play that has the text."""

    def after_action(self, g: SzmalState, seat: int) -> None:
        """SZ-3.3.6. React to an Action of its owner that has been carried out."""

    def on_leaving(self, g: SzmalState, seat: int, leaving: int, this: int) -> None:
        """SZ-3.3.1. React to a card that has left its owner's Territory; `this` as for `on_play`."""

    def each_turn(self, g: SzmalState, seat: int) -> None:
        """SZ-3.4. Carry out the each-turn ability."""

    def end_of_game(self, g: SzmalState, seat: int) -> None:
        """SZ-6.1. Carry out the ability at the end of the game."""

    # -- what is printed on it
    def name(self) -> str:
        """Return the title in snake_case."""
        return re.sub(r"[^a-z0-9]+", "_", self.title.lower().replace("'", "")).strip("_")

    def full_text(self) -> str:
        """Return Cost or Need, and the text, in one line."""
        text = " ".join(self.text.split())
        return ". ".join([str(part) for part in (self.cost, self.need) if part] + [text])

    def facts(self) -> dict[str, str]:
        """Return symbols, Cost and Need in words."""
        symbols = ", ".join(SYMBOLS[symbol] for symbol in self.shows)
        cost = str(self.cost).removeprefix("Cost: ") if self.cost else ""
        need = str(self.need).removeprefix("Need: ") if self.need else ""
        return {"symbols": symbols, "cost": cost, "need": need}

    def traits(self) -> dict[str, int]:
        """Return symbols, Cost and Need in numbers."""
        traits = {SYMBOLS[symbol]: self.shows.count(symbol) for symbol in self.shows}
        if cost := self.cost:
            named = {"cash": cost.cash, "thug": cost.thug, "holding": cost.holding, "hand_card": cost.hand_card}
            named["take_back"] = cost.take_back
            traits |= {f"cost_{name}": int(amount) for name, amount in named.items() if amount}
        if need := self.need:
            named = {SYMBOLS[symbol]: need.shows.count(symbol) for symbol in need.shows}
            named |= {"thugs": need.thugs, "holdings": need.holdings, "cash": need.cash}
            named["fewest_thugs"] = need.fewest_thugs
            traits |= {f"need_{name}": int(amount) for name, amount in named.items() if amount}
        return traits


class Action(SzmalCard):
    """A card that is discarded once it has been carried out."""

    sort = "action"


class Thug(SzmalCard):
    """A card that stays in the Territory and shows guns, cars and keys."""

    sort = "thug"


class Holding(SzmalCard):
    """A card that stays in the Territory, shows bottles, hearts and wrenches, and carries markers."""

    sort = "holding"


@mypyc_attr(allow_interpreted_subclasses=True)
class SzmalState(Game[Settings]):
    """What lies on the table, and what rules and texts of cards do with it.

    SZ-1.4, SZ-2.4. Cash and markers never run out; seats go to the left in ascending order.
    """

    __slots__ = ("cards", *WORDS.attributes())
    words = WORDS
    settings_type = Settings  # the game is played in one way
    shared = ("cards",)

    cards: list[SzmalCard]  # SZ-1.1. By number; at 0 the blank one

    deck: Zone
    discard: Zone
    hand: list[Zone]
    pile: list[Zone]
    draft: list[Zone]
    resolving: list[Zone]
    thugs: list[Zone]
    holdings: list[Zone]
    kept: list[Zone]
    round: int
    plays: int
    cash: list[int]
    # SZ-4.5. Effects for the rest of this turn.
    watching: list[int]
    informs: list[int]
    shakedowns: list[int]
    # SZ-4.3. Effects that were set up last turn.
    extra_markers: list[int]
    free_costs: list[int]
    free_needs: list[int]
    extra_plays: list[int]
    repeats: list[int]
    doublings: list[int]
    losses_5: list[int]
    losses_40: list[int]
    losses_73: list[int]
    losses_79: list[int]
    # SZ-4.3. Effects for the next turn.
    next_extra_markers: list[int]
    next_free_costs: list[int]
    next_free_needs: list[int]
    next_extra_plays: list[int]
    next_repeats: list[int]
    next_doublings: list[int]
    next_losses_5: list[int]
    next_losses_40: list[int]
    next_losses_73: list[int]
    next_losses_79: list[int]

    # -- section 1 and the queries of section 7: what lies in a Territory
    def in_play(self, seat: int, ability: str) -> list[tuple[int, int]]:
        """List which numbers with an ability a Territory has, in ascending order, each with the card that has it.

        SZ-7.4. The card is 54 if that is a copy of the Thug with the number.
        """
        thugs, cards = self.thugs[seat], self.cards
        texts = [(card, card) for card in self.holdings[seat].cards if ability in cards[card].abilities]
        for number, card in zip(column(thugs, COUNTS_AS), thugs.cards, strict=True):
            if ability in cards[number].abilities:
                texts.append((number, card))
        return sorted(texts)

    def in_all_play(self, ability: str) -> list[tuple[int, int]]:
        """SZ-3.4, SZ-6.1. List which numbers with an ability are in play, in ascending order, each with the owner."""
        return sorted([(number, seat) for seat in range(self.n) for number, _ in self.in_play(seat, ability)])

    def symbols(self, seat: int, symbol: int) -> int:
        """SZ-1.2. Count how often a Territory shows a symbol.

        SZ-7.4. 54 shows what is printed on the Thug that it copies. SZ-4.3. An armed 72 also shows a gun and a key.
        """
        thugs = self.thugs[seat]
        count = 0
        for number in column(thugs, COUNTS_AS) + self.holdings[seat].cards:
            count += self.cards[number].shows.count(symbol)
        if symbol in (GUN, KEY):
            count += sum(column(thugs, ARMED))
        return count

    def markers(self, seat: int, card: int) -> int:
        """Count the markers on a Holding."""
        holdings = self.holdings[seat]
        return column(holdings, MARKERS)[holdings.cards.index(card)]

    def most_markers(self, seats: Iterable[int]) -> int:
        """Return the most markers on a Holding of these seats; 0 if there is none."""
        return max([0, *[markers for seat in seats for markers in column(self.holdings[seat], MARKERS)]])

    def add_markers(self, seat: int, card: int, markers: int) -> None:
        """Put markers on a Holding, or take them away if the number is negative.

        SZ-7.12, SZ-7.20. A Holding never has fewer than none. SZ-7.13. No effect takes those of 45.
        """
        holdings = self.holdings[seat]
        index = holdings.cards.index(card)
        before = column(holdings, MARKERS)[index]
        after = before if markers < 0 and self.cards[card].markers_stay else max(0, before + markers)
        if after != before:
            self.count_card(holdings, index, MARKERS, after)

    def remove_markers_of_opponents(self, seat: int) -> None:
        """SZ-7.20. Take a marker from each Holding of each opponent that has any."""
        for other in self.opponents(seat):
            for card in self.holdings[other].cards:
                self.add_markers(other, card, -1)

    def sole_leader(self, values: Sequence[int]) -> int | None:
        """SZ-7.15. Find the seat that alone has the highest value; None if the lead is shared."""
        best = max(values)
        return values.index(best) if values.count(best) == 1 else None

    def neighbours(self, seat: int) -> list[int]:
        """SZ-7.18. List the left and the right neighbour; of two players, the only opponent once."""
        left, right = self.next_seat(seat), (seat - 1) % self.n
        return [left] if left == right else [left, right]

    # -- section 2: the deck
    def draw(self, seat: int, cards: int) -> None:
        """SZ-2.2. Draw from the deck into the hand; an empty deck gives nothing."""
        for _ in range(min(cards, len(self.deck.cards))):
            self.move_top(self.deck, self.hand[seat])

    # -- section 3: Cost and Need
    def price(self, seat: int, card: int) -> int:
        """SZ-3.3.1. Compute the cash Cost, lowered by 52 and 66, added up, not below $0."""
        cost = self.cards[card].cost
        price = cost.cash if cost else 0
        for number, _ in self.in_play(seat, "saves"):
            price -= self.cards[number].saves(self, card)
        return max(0, price)

    def ways_to_pay(self, seat: int, card: int) -> list[Option]:
        """SZ-3.3.1. List every way in which the owner can pay the Cost of a card, in full."""
        cost = self.cards[card].cost
        assert cost is not None
        ways = []
        if cost.cash and self.cash[seat] >= (price := self.price(seat, card)):
            ways.append(Option(PAY, number=price))
        if cost.thug:
            ways += [Option(GIVE_UP, (lost,)) for lost in self.thugs[seat].cards]
        if cost.holding:
            ways += [Option(GIVE_UP, (lost,)) for lost in self.holdings[seat].cards]
        if cost.take_back:
            ways += [Option(TAKE_BACK, (lost,)) for lost in self.holdings[seat].cards]
        if cost.hand_card:
            ways += [Option(DISCARD, (lost,)) for lost in self.hand[seat].cards]
        return ways

    def meets(self, seat: int, need: Need) -> bool:
        """SZ-3.3.2. Check a Need; SZ-7.15: the fewest Thugs are strictly the fewest."""
        for symbol in need.shows:
            if self.symbols(seat, symbol) < need.shows.count(symbol):
                return False
        thugs = len(self.thugs[seat].cards)
        if need.fewest_thugs and any(len(self.thugs[other].cards) <= thugs for other in self.opponents(seat)):
            return False
        return thugs >= need.thugs and len(self.holdings[seat].cards) >= need.holdings and self.cash[seat] >= need.cash

    def leave(self, seat: int, card: int, to: Zone) -> int:
        """Move a card out of a Territory.

        SZ-3.3.1. 45 and 62 react at once, and the markers return to the supply; SZ-7.13: those on 45 too.

        Returns:
            Number of markers that lay on it.
        """
        reacting = self.in_play(seat, "on_leaving")  # before the move: 62 reacts to its own leaving
        markers = 0
        if self.cards[card].sort == "thug":
            self.move(card, self.thugs[seat], to)
        else:
            markers = self.markers(seat, card)
            self.move(card, self.holdings[seat], to)
        for number, this in reacting:
            self.cards[number].on_leaving(self, seat, card, this)
        return markers

    def fail(self, seat: int, card: int) -> None:
        """SZ-3.3.2. Discard a card whose Cost is not paid or whose Need is not met: it was not played."""
        self.tell(FAIL, (card,), actor=seat)
        self.move(card, self.resolving[seat], self.discard)

    # -- section 4: effects that last
    def for_next_turn(self, seat: int, effect: tuple[str, str], amount: int = 1) -> None:
        """SZ-4.3. Set up an effect for the whole of the next turn."""
        _, counter = effect
        self.add(counter, amount, seat)

    def arm_next_turn(self, seat: int, card: int) -> None:
        """SZ-4.3. Let this Thug also show a gun and a key next turn, if it is still in play."""
        thugs = self.thugs[seat]
        index = thugs.cards.index(card)
        self.count_card(thugs, index, NEXT_ARMED, column(thugs, NEXT_ARMED)[index] + 1)

    def set_effect(self, counter: str, values: list[int]) -> None:
        """Set the counter of an effect for every seat; a value that stays is no event."""
        before = self.by_seat(counter)
        if before == values:
            return
        for seat, value in enumerate(values):
            if before[seat] != value:
                self.count(counter, value, seat)

    # -- section 5: cash
    def gain(self, seat: int, amount: int) -> None:
        """SZ-5.1, SZ-5.3, SZ-5.4. Gain from the bank: doubled first, then added, then copied for the watcher (card 1).

        SZ-7.19. The watcher sits to the right.
        """
        if amount == 0:
            return
        received = amount * 2 ** self.doublings[seat]
        self.add(CASH, received, seat)
        watcher = (seat - 1) % self.n
        for _ in range(self.watching[watcher]):
            self.gain(watcher, received)

    def lose(self, seat: int, amount: int) -> None:
        """SZ-5.1, SZ-5.2, SZ-5.3. Pay to the bank, at most all they have; nothing doubles or copies a loss."""
        if lost := min(amount, self.cash[seat]):
            self.add(CASH, -lost, seat)

    # -- section 6: the score
    def scores(self) -> list[int]:
        """SZ-6.2, SZ-6.3. Count cash and markers in play; cards in hand are worth nothing. The highest score wins."""
        markers = [sum(column(holdings, MARKERS)) for holdings in self.holdings]
        return [cash + MARKER * number for cash, number in zip(self.cash, markers, strict=True)]
