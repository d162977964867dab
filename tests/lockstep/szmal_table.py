"""The table of the second implementation of Szmal: the effects of cards without decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cutpurse.games.szmal.rules import Szmal
from tests.lockstep.driver import Told
from tests.lockstep.szmal_cards import (
    CARDS,
    DISCARD_A_CARD,
    GIVE_UP_A_HOLDING,
    GIVE_UP_A_THUG,
    TAKE_BACK_A_HOLDING,
    Card,
)

__all__ = ["FOR_NEXT_TURN", "FOR_THIS_TURN", "ROUNDS", "Table"]

ROUNDS = 12  # SZ-3.0

# Constant gains by card texts: the amount, and the cards.
SAME_GAINS = {
    10_000: (2, 3, 22, 80),
    15_000: (36,),
    20_000: (24, 44),
    25_000: (20, 30, 32, 35),
    30_000: (27, 34),
    45_000: (29,),
}
GAINS = {card: amount for amount, cards in SAME_GAINS.items() for card in cards}

# SZ-4.5: effects for the rest of the turn, by the card that makes them.
FOR_THIS_TURN = {1: "watching", 2: "informs", 3: "shakedowns"}
# SZ-4.3: effects for the whole next turn; that of 72 is stored with its Thug.
FOR_NEXT_TURN = {
    5: "losses_5",
    40: "losses_40",
    41: "extra_markers",
    43: "extra_markers",
    63: "free_costs",
    64: "free_needs",
    67: "extra_plays",
    68: "repeats",
    73: "losses_73",
    78: "doublings",
    79: "losses_79",
}


def sole_leader(values: Sequence[int]) -> int | None:
    """SZ-7.15. Return the index of the sole leader, None if the lead is shared."""
    best = max(values)
    return values.index(best) if values.count(best) == 1 else None


@dataclass
class Thug:
    """A Thug in a Territory."""

    counts_as: int  # itself, or the card that 54 copies
    since_round: int
    nth_play: int
    armed: int = 0  # how often it also shows the symbols that 72 gives it
    armed_next: int = 0

    def row(self) -> tuple[int, ...]:
        return self.counts_as, self.since_round, self.nth_play, self.armed, self.armed_next


class Table:
    """The table, and its changes without decisions."""

    def __init__(self, game: Szmal) -> None:
        """SZ-2.1 to SZ-2.3. Copy the engine's deal."""
        self.game, self.seats = game, game.n
        self.deck = game.deck.cards[:]
        self.draft_pile = [zone.cards[:] for zone in game.draft]
        assert [len(pile) for pile in self.draft_pile] == [12] * game.n
        assert sorted(sum(self.draft_pile, self.deck)) == list(CARDS)
        self.hand = [list[int]() for _ in range(game.n)]
        self.thugs = [dict[int, Thug]() for _ in range(game.n)]
        self.holdings = [dict[int, int]() for _ in range(game.n)]  # the markers on each
        self.kept = [dict[int, int]() for _ in range(game.n)]  # Actions, with the round after which each is discarded
        self.discarded: list[int] = []
        self.cash = [0] * game.n
        self.this_turn = [Counter[str]() for _ in range(game.n)]
        self.next_turn = [Counter[str]() for _ in range(game.n)]
        self.round = self.plays = 0

    def opponents(self, seat: int) -> list[int]:
        return [other for other in range(self.seats) if other != seat]

    # -- cash
    def gain(self, seat: int, amount: int) -> None:
        """SZ-5.4. Double a gain, then add it; seats that watch this neighbour copy it (SZ-7.19)."""
        if amount == 0:
            return
        amount *= 2 ** self.this_turn[seat]["doublings"]
        self.cash[seat] += amount
        watcher = (seat - 1) % self.seats
        for _ in range(self.this_turn[watcher]["watching"]):
            self.gain(watcher, amount)

    def lose(self, seat: int, amount: int) -> None:
        """SZ-5.2, SZ-5.3. Lose cash."""
        self.cash[seat] = max(0, self.cash[seat] - amount)

    # -- Territories
    def shown(self, seat: int, symbol: str) -> int:
        """SZ-1.2. Count a symbol in a Territory, including those that 72 adds for a turn."""
        count = sum(CARDS[card].symbols[symbol] for card in self.holdings[seat])
        for thug in self.thugs[seat].values():
            count += CARDS[thug.counts_as].symbols[symbol]
            if symbol in ("gun", "key"):
                count += thug.armed
        return count

    def in_play(self, seat: int, number: int) -> list[int]:
        """List the cards of a Territory with the lasting text of `number`: itself, and its copy by 54 (SZ-7.4)."""
        copies = [card for card, thug in self.thugs[seat].items() if thug.counts_as == number]
        return copies + [number] * (number in self.holdings[seat])

    def most_markers(self, seats: Iterable[int]) -> int:
        """Return the largest number of markers on a Holding of these seats."""
        return max((markers for seat in seats for markers in self.holdings[seat].values()), default=0)

    def leave(self, seat: int, card: int) -> int:
        """SZ-3.3.1. Remove a card, with the reactions of 45 and 62; return the markers that were on it."""
        markers, was = 0, card
        if card in self.thugs[seat]:
            was = self.thugs[seat].pop(card).counts_as
        else:
            markers = self.holdings[seat].pop(card)
        if 45 in self.holdings[seat]:
            self.holdings[seat][45] += 2
        if was == 62:
            self.gain(seat, 20_000)
        return markers

    def enter(self, seat: int, number: int) -> None:
        """SZ-3.3.3. Put a card into the Territory; 12 gets its markers at the end (SZ-7.14)."""
        card = CARDS[number]
        if card.sort == "Thug":
            self.thugs[seat][number] = Thug(number, self.round, self.plays)
        elif card.sort == "Holding":
            normal = sum(1 + self.shown(seat, symbol) for symbol in card.symbols.elements())
            self.holdings[seat][number] = 0 if number == 12 else normal

    # -- Costs and Needs
    def price(self, seat: int, card: Card) -> int:
        """SZ-3.3.1. Return the Cost in cash, minus the savings by 52 and 66."""
        saved = 5_000 * len(self.in_play(seat, 66))
        if card.sort == "Holding":
            saved += 5_000 * len(self.in_play(seat, 52))
        return max(0, card.price - saved)

    def ways_to_pay(self, seat: int, card: Card) -> list[Told]:
        """SZ-3.3.1. List the ways to pay the Cost of a played card, which is in no Territory and no hand now."""
        ways: list[Told] = []
        price = self.price(seat, card)
        if card.price and self.cash[seat] >= price:
            ways.append(("pay", (), price))
        if GIVE_UP_A_THUG in card.costs:
            ways += [("give_up", (thug,), 0) for thug in self.thugs[seat]]
        if GIVE_UP_A_HOLDING in card.costs:
            ways += [("give_up", (holding,), 0) for holding in self.holdings[seat]]
        if TAKE_BACK_A_HOLDING in card.costs:
            ways += [("take_back", (holding,), 0) for holding in self.holdings[seat]]
        if DISCARD_A_CARD in card.costs:
            ways += [("discard", (other,), 0) for other in self.hand[seat]]
        return ways

    def has_needs(self, seat: int, card: Card) -> bool:
        """SZ-3.3.2. Return whether the Needs are met; 20 needs strictly the fewest Thugs (SZ-7.15)."""
        thugs = len(self.thugs[seat])
        if card.needs_fewest_thugs and any(len(self.thugs[other]) <= thugs for other in self.opponents(seat)):
            return False
        has = {"Thug": thugs, "Holding": len(self.holdings[seat])}
        if any(has.get(thing, self.shown(seat, thing)) < count for thing, count in card.needs.items()):
            return False
        return self.cash[seat] >= card.needs_cash

    # -- SZ-3.3.4 and SZ-3.3.6
    def triggers_of_the_play(self, seat: int, number: int) -> None:
        """SZ-3.3.4. Apply 41, 42 and 43, which add up; then 44, 52 and 61."""
        sort = CARDS[number].sort
        neighbours = {(seat + 1) % self.seats, (seat - 1) % self.seats}  # SZ-7.18: one, with two players
        for neighbour in neighbours:
            if sort == "Action":
                self.gain(neighbour, 10_000 * self.this_turn[neighbour]["informs"])
            elif sort == "Thug":
                self.gain(neighbour, 10_000 * self.this_turn[neighbour]["shakedowns"])
        if sort == "Holding":
            holdings = self.holdings[seat]
            holdings[number] += self.this_turn[seat]["extra_markers"] + len(self.in_play(seat, 42))
            if 44 in holdings and number != 45:  # SZ-7.12, SZ-7.13
                holdings[number] = max(0, holdings[number] - 1)
            if 52 in holdings and number != 52:
                self.gain(seat, 5_000)
        if sort == "Thug":
            for card in self.in_play(seat, 61):
                if card != number:
                    self.gain(seat, 15_000)

    def triggers_after_an_action(self, seat: int, number: int) -> None:
        """SZ-3.3.6, SZ-3.3.7. Apply the triggers after an Action; a card that 36 returned returns once (SZ-7.9)."""
        if 17 in self.holdings[seat]:
            self.holdings[seat][17] += 1
        if self.this_turn[seat]["repeats"] and number not in self.hand[seat]:
            self.hand[seat].append(number)
        for _ in self.in_play(seat, 70):
            self.gain(seat, 5_000)
        for _ in self.in_play(seat, 71):
            self.gain(seat, 5_000 * self.shown(seat, "gun"))
        if number in self.hand[seat]:
            return
        if CARDS[number].works_next_turn:
            self.kept[seat][number] = self.round + 1
        else:
            self.discarded.append(number)

    # -- SZ-3.3.5: texts without decisions
    def gained(self, seat: int, number: int, paid: int) -> int:
        """Return a text's gain for its player; the player and the card itself count (SZ-7.16, SZ-7.17)."""
        if number in GAINS:
            return GAINS[number]
        gun, car, key, bottle, heart, wrench = (
            self.shown(seat, symbol) for symbol in ("gun", "car", "key", "bottle", "heart", "wrench")
        )
        amounts = {
            4: 15_000 * paid,
            5: 5_000 * self.most_markers([seat]),
            23: 5_000 * gun,
            25: 10_000 * bottle,
            26: 10_000 * len(self.thugs[seat]),
            28: 10_000 * sum(1 for shown in (gun, car, key) if shown),
            31: 10_000 * (key + wrench),
            33: 10_000 * (car + heart),
            57: 5_000 * self.most_markers(range(self.seats)),
            60: 5_000 * max(len(holdings) for holdings in self.holdings),
            73: 5_000 * max(len(thugs) for thugs in self.thugs),
            74: 10_000 if car else 0,
        }
        return amounts.get(number, 0)

    def strike_opponents(self, seat: int, number: int) -> None:
        """SZ-7.20. Apply a text's gains and losses to the opponents."""
        for other in self.opponents(seat):
            losses = {
                74: 10_000 if self.shown(seat, "gun") else 0,
                75: 10_000 * len(self.thugs[seat]),
                76: 10_000,
                77: 5_000 * len(self.holdings[other]),
            }
            self.lose(other, losses.get(number, 0))
            if number == 34:
                self.gain(other, 10_000)
            if number in (58, 59):
                for card, markers in self.holdings[other].items():
                    if markers and card != 45:  # SZ-7.13
                        self.holdings[other][card] = markers - 1

    def lay_markers(self, seat: int, number: int) -> None:
        """Lay the markers of a text that names their places."""
        holdings = self.holdings[seat]
        on_itself = {11: 2, 15: self.shown(seat, "car"), 18: 5, 37: len(holdings)}
        if number in on_itself:
            holdings[number] += on_itself[number]
        for card, markers in holdings.items():
            named = {39: True, 40: markers <= 1, 50: not CARDS[card].symbols}
            if named.get(number):
                holdings[card] += 1

    def set_up_effects(self, seat: int, card: int, number: int, paid: int) -> None:
        """SZ-4.5, SZ-4.3. Set up effects of a text for this and the next turn; 41 and 43 add up (SZ-7.11)."""
        if number in FOR_THIS_TURN:
            self.this_turn[seat][FOR_THIS_TURN[number]] += 1
        if number in FOR_NEXT_TURN:
            times = {41: paid + 2, 43: 3}.get(number, 1)
            self.next_turn[seat][FOR_NEXT_TURN[number]] += times
        if number == 72:  # SZ-7.5: as a copy, 54 arms itself
            self.thugs[seat][card].armed_next += 1

    def fill_the_hand(self, seat: int, number: int) -> None:
        """Put cards into the hand by a text: from the deck (SZ-2.2), or 36 itself (SZ-7.10)."""
        key = self.shown(seat, "key")
        drawn = {65: key, 74: min(1, key)}.get(number, 0)
        for _ in range(min(drawn, len(self.deck))):
            self.hand[seat].append(self.deck.pop())
        if number == 36 and self.cash[seat] < 50_000:
            self.hand[seat].append(36)

    # -- the end of a turn and of the game
    def each_turn(self, seat: int, number: int) -> None:
        """SZ-3.4. Apply the each-turn text of one card; the owner of 10 and 19 does not matter (SZ-7.15)."""
        if number in (10, 19):
            holdings = [len(cards) for cards in self.holdings]
            hearts = [self.shown(other, "heart") for other in range(self.seats)]
            leader = sole_leader(holdings if number == 10 else hearts)
            if leader is not None:
                self.gain(leader, 5_000)
            return
        shown = [self.shown(other, symbol) for other in range(self.seats) for symbol in ("bottle", "heart")]
        amounts = {
            6: 10_000 if self.cash[seat] == 0 else 0,
            16: 5_000 if len(self.holdings[seat]) <= 2 and len(self.thugs[seat]) <= 2 else 0,
            46: 0 if any(shown) else 10_000,
            49: 5_000 if self.holdings[seat].get(49, 0) >= 3 else 0,
            69: 5_000,
        }
        self.gain(seat, amounts[number])

    def end_the_turn(self) -> None:
        """SZ-3.5.2. End the turn; no effect outlasts round 12 (SZ-4.4)."""
        is_last = self.round == ROUNDS
        for seat in range(self.seats):
            self.this_turn[seat] = Counter() if is_last else self.next_turn[seat]
            self.next_turn[seat] = Counter()
            for thug in self.thugs[seat].values():
                thug.armed, thug.armed_next = 0 if is_last else thug.armed_next, 0
            over = [card for card, until in self.kept[seat].items() if until == self.round]
            for card in over:
                del self.kept[seat][card]
            self.discarded += over

    def end_of_the_game(self) -> None:
        """SZ-6.1. Apply the effects at the end of the game."""
        for seat in range(self.seats):
            self.gain(seat, 5_000 * self.holdings[seat].get(7, 0))
        for seat in range(self.seats):
            if 12 in self.holdings[seat]:
                self.holdings[seat][12] += self.shown(seat, "wrench")
        leader = sole_leader([len(thugs) for thugs in self.thugs])
        if leader is not None and 13 in self.holdings[leader]:
            self.gain(leader, 20_000)
        for seat in range(self.seats):
            for _ in self.in_play(seat, 24):
                self.lose(seat, 25_000)
