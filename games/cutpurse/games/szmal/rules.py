"""The rules of Szmal, one class a paragraph of `docs/reference/rules/szmal.md`, in the order of play.

How one card is played is in `playing`. What each card does is in `actions`, `thugs` and `holdings`; they call the
methods of `Szmal`, which know no card.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from cutpurse.engine.agenda import Act, Choice, Fields, Option, Poll, Step
from cutpurse.engine.game import Game
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings
from cutpurse.engine.zones import TABLE, Zone
from cutpurse.games.szmal.box import CARDS  # as `box` has filled them
from cutpurse.games.szmal.cards import (
    ARMED,
    CHOOSE,
    COUNTS_AS,
    DISCARD,
    FAIL,
    GIVE_UP,
    GUN,
    KEY,
    LOSE,
    MARKERS,
    NEXT_ARMED,
    NEXT_TURN,
    NUMBERS,
    PAY,
    PICK,
    PLAY,
    SET_UP,
    TAKE_BACK,
    THIS_TURN,
    UNTIL_ROUND,
    WORDS,
    column,
)
from cutpurse.games.szmal.playing import Resolve

__all__ = ["Szmal"]

ROUNDS: Final = 12
"""SZ-3.0. Twelve rounds."""
FIRST_PLAY: Final = 3
"""SZ-3.0. The first round in which cards are played."""
PILE: Final = 12
"""SZ-2.1. Cards of a draft pile at first."""
SAVING: Final = (52, 66)
"""SZ-3.3.1. The cards that lower cash Costs."""
ON_LEAVING: Final = (45, 62)
"""SZ-3.3.1. The cards that react when a card leaves their Territory."""
EACH_TURN: Final = (6, 10, 16, 19, 46, 49, 69)
"""SZ-3.4. The cards with an each-turn ability."""
END_OF_GAME: Final = (7, 12, 13, 24)
"""SZ-6.1. The cards with an end-of-game ability."""
MARKER: Final = 10_000
"""SZ-6.2. What a marker is worth at the end."""
MAX_PLAYS_OF_SEAT: Final = 400
"""SZ-7.26. The cards that a seat plays from the hand are fewer than this."""


@mypyc_attr(allow_interpreted_subclasses=True)
class Szmal(Game[Settings]):
    """SZ-1.4, SZ-2.4. Cash and markers never run out; seats go to the left in ascending order."""

    __slots__ = WORDS.attributes()
    words = WORDS
    settings_type = Settings  # the game is played in one way

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

    @classmethod
    def box(cls, seats: int, settings: Settings) -> list[int]:
        """SZ-1.1. Return all eighty cards."""
        return list(NUMBERS)

    @classmethod
    def max_decisions(cls, seats: int, settings: Settings) -> int:
        """SZ-3.0, SZ-7.26. Count the picks and choices of all rounds, and the answers that a played card brings.

        These are which extra card it is, how its Cost is paid, two answers to its text, and a loss of each player.
        """
        played = MAX_PLAYS_OF_SEAT * seats + len(NUMBERS)
        return 2 * ROUNDS * seats + played * (4 + seats)

    def begin(self) -> None:
        """SZ-2.1. There is one deal."""
        self.then(SetUp(TABLE))

    # -- section 1 and the queries of section 7: what lies in a Territory
    def in_play(self, seat: int, numbers: tuple[int, ...]) -> list[tuple[int, int]]:
        """List which of these numbers a Territory has, in their order, each with the card that has it.

        SZ-7.4. The card is 54 if that is a copy of the Thug with the number.
        """
        thugs, holdings = self.thugs[seat].cards, self.holdings[seat].cards
        counts_as = column(self.thugs[seat], COUNTS_AS)
        found = []
        for number in numbers:
            if number in holdings:
                found.append((number, number))
            elif number in counts_as:
                found += [(number, card) for card, counted in zip(thugs, counts_as, strict=True) if counted == number]
        return found

    def in_all_play(self, numbers: tuple[int, ...]) -> list[tuple[int, int]]:
        """SZ-3.4, SZ-6.1. List which of these numbers are in play, in ascending order, each with the owner."""
        return sorted([(number, seat) for seat in range(self.n) for number, _ in self.in_play(seat, numbers)])

    def symbols(self, seat: int, symbol: int) -> int:
        """SZ-1.2. Count how often a Territory shows a symbol.

        SZ-7.4. 54 shows what is printed on the Thug that it copies. SZ-4.3. An armed 72 also shows a gun and a key.
        """
        thugs = self.thugs[seat]
        count = 0
        for number in column(thugs, COUNTS_AS) + self.holdings[seat].cards:
            count += CARDS[number].shows.count(symbol)
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
        after = before if markers < 0 and CARDS[card].markers_stay else max(0, before + markers)
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
        cost = CARDS[card].cost
        price = cost.cash if cost else 0
        for number, _ in self.in_play(seat, SAVING):
            price -= CARDS[number].saves(card)
        return max(0, price)

    def ways_to_pay(self, seat: int, card: int) -> list[Option]:
        """SZ-3.3.1. List every way in which the owner can pay the Cost of a card, in full."""
        cost = CARDS[card].cost
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

    def leave(self, seat: int, card: int, to: Zone) -> int:
        """Move a card out of a Territory.

        SZ-3.3.1. 45 and 62 react at once, and the markers return to the supply; SZ-7.13: those on 45 too.

        Returns:
            Number of markers that lay on it.
        """
        reacting = self.in_play(seat, ON_LEAVING)  # before the move: 62 reacts to its own leaving
        markers = 0
        if CARDS[card].sort == "thug":
            self.move(card, self.thugs[seat], to)
        else:
            markers = self.markers(seat, card)
            self.move(card, self.holdings[seat], to)
        for number, this in reacting:
            CARDS[number].on_leaving(self, seat, card, this)
        return markers

    def fail(self, seat: int, card: int) -> None:
        """SZ-3.3.2. Discard a card whose Cost is not paid or whose Need is not met: it was not played."""
        self.tell(FAIL, (card,), actor=seat)
        self.move(card, self.resolving[seat], self.discard)

    # -- section 4: effects that last
    def for_this_turn(self, seat: int, counter: str) -> None:
        """SZ-4.5. Begin an effect now, for the rest of the turn."""
        self.add_to_effect(counter, seat, 1)

    def for_next_turn(self, seat: int, counter: str, amount: int = 1) -> None:
        """SZ-4.3. Set up an effect for the whole of the next turn."""
        self.add_to_effect(f"next_{counter}", seat, amount)

    def arm_next_turn(self, seat: int, card: int) -> None:
        """SZ-4.3. Let this Thug also show a gun and a key next turn, if it is still in play."""
        thugs = self.thugs[seat]
        index = thugs.cards.index(card)
        self.count_card(thugs, index, NEXT_ARMED, column(thugs, NEXT_ARMED)[index] + 1)

    def add_to_effect(self, counter: str, seat: int, amount: int) -> None:
        """Let an effect of a seat count for more."""
        self.count(counter, getattr(self, counter)[seat] + amount, seat)

    def set_effect(self, counter: str, values: list[int]) -> None:
        """Set the counter of an effect for every seat; a value that stays is no event."""
        before = getattr(self, counter)
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
        self.count("cash", self.cash[seat] + received, seat)
        watcher = (seat - 1) % self.n
        for _ in range(self.watching[watcher]):
            self.gain(watcher, received)

    def lose(self, seat: int, amount: int) -> None:
        """SZ-5.1, SZ-5.2, SZ-5.3. Pay to the bank, at most all they have; nothing doubles or copies a loss."""
        if lost := min(amount, self.cash[seat]):
            self.count("cash", self.cash[seat] - lost, seat)

    # -- section 6: the score
    def scores(self) -> list[int]:
        """SZ-6.2, SZ-6.3. Count cash and markers in play; cards in hand are worth nothing. The highest score wins."""
        markers = [sum(column(holdings, MARKERS)) for holdings in self.holdings]
        return [cash + MARKER * number for cash, number in zip(self.cash, markers, strict=True)]


class SetUp(Step):
    rule = "SZ-2.1, SZ-2.2, SZ-2.3"
    paragraph = "Twelve cards to each draft pile, face down; the rest is the deck. All else is empty."

    def run(self, g: Szmal) -> None:
        g.open_deal(1)
        g.enter(NUMBERS, g.deck)
        g.shuffle(g.deck)
        for pile in g.pile:
            g.deal(g.deck, pile, PILE)
        g.then(BeginARound(TABLE))


class BeginARound(Step):
    rule = "SZ-3.0, SZ-3.1"
    paragraph = "All take up their draft piles. In the first two rounds a card is picked, and no more."

    def run(self, g: Szmal) -> None:
        g.count("round", g.round + 1)
        for seat in range(g.n):
            g.move_all(g.pile[seat], g.draft[seat])
        if g.round < FIRST_PLAY:
            g.then(PickACard(TABLE), BeginARound(TABLE))
        else:
            g.then(
                PickACard(TABLE),
                ChooseACard(TABLE),
                PlayExtraCards(TABLE),
                CarryOutEachTurn(TABLE),
                SufferDelayedLosses(TABLE),
                EndTheTurn(TABLE),
            )


class PickACard(Poll):
    rule = "SZ-3.1"
    paragraph = """All at once, each adds a card of their draft pile to their hand; the rest goes face down to the left.

    SZ-7.24: the lowest number is safe.
    """
    text = "Which card do you pick?"

    def seats(self, g: Szmal) -> list[int]:
        return list(range(g.n))

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [Option(PICK, (card,)) for card in g.draft[seat].cards]

    def closed(self, g: Szmal, answers: dict[int, Option]) -> None:
        for seat, option in answers.items():
            g.move(option.cards[0], g.draft[seat], g.hand[seat])
        for seat in range(g.n):
            g.move_all(g.draft[seat], g.pile[g.next_seat(seat)])


class ChooseACard(Poll):
    rule = "SZ-3.2, SZ-3.3"
    paragraph = """Each puts a hand card face down; then all are revealed, and carried out in ascending number.

    SZ-7.24: the lowest number is safe. SZ-7.25: a player with only one card is not really asked.
    """
    text = "Which card do you play?"

    def seats(self, g: Szmal) -> list[int]:
        return list(range(g.n))

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [Option(CHOOSE, (card,)) for card in g.hand[seat].cards]

    def closed(self, g: Szmal, answers: dict[int, Option]) -> None:
        revealed = []
        for seat, option in answers.items():
            g.tell(CHOOSE, option.cards, actor=seat)
            g.move(option.cards[0], g.hand[seat], g.resolving[seat])
            revealed.append((option.cards[0], seat))
        g.then(*[Resolve(seat, card) for card, seat in sorted(revealed)])


class PlayExtraCards(Step):
    rule = "SZ-3.3.8, SZ-7.7"
    paragraph = "The extra plays earned by 67 last turn, one after the other; an empty hand plays nothing."

    def run(self, g: Szmal) -> None:
        for seat in range(g.n):
            if g.extra_plays[seat]:
                g.count("extra_plays", g.extra_plays[seat] - 1, seat)
                if g.hand[seat].cards:
                    g.then(PlayAnExtraCard(seat), PlayExtraCards(TABLE))
                else:
                    g.then(PlayExtraCards(TABLE))
                return


class PlayAnExtraCard(Choice):
    rule = "SZ-7.7"
    paragraph = "Compulsory, chosen from the hand now, with its Cost and Need. SZ-7.24: the lowest number is safe."
    text = "Which card do you play as an extra card?"

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [Option(PLAY, (card,)) for card in g.hand[seat].cards]

    def chosen(self, g: Szmal, option: Option) -> None:
        g.move(option.cards[0], g.hand[self.seat], g.resolving[self.seat])
        g.then(Resolve(self.seat, option.cards[0]))


class CarryOutEachTurn(Step):
    rule = "SZ-3.4"
    paragraph = "Every each-turn ability in play, once, in ascending number over all players."

    def run(self, g: Szmal) -> None:
        for number, owner in g.in_all_play(EACH_TURN):
            CARDS[number].each_turn(g, owner)


class SufferDelayedLosses(Step):
    rule = "SZ-3.5.1"
    paragraph = "The losses set up last turn, in ascending number: 5, 40, 73, 79."

    def run(self, g: Szmal) -> None:
        losses = ((5, g.losses_5), (40, g.losses_40), (73, g.losses_73), (79, g.losses_79))
        g.then(*[LoseACard(seat, n) for n, times in losses for seat in range(g.n) for _ in range(times[seat])])


class LoseACard(Poll):
    rule = "SZ-3.5.1"
    paragraph = """Each player who has such a card chooses which to lose, all at once; then all go.

    SZ-7.24: the lowest number is safe.
    """
    text = "Which card do you lose?"
    fields: ClassVar[Fields] = {"number": int}

    def __init__(self, seat: int, number: int) -> None:
        super().__init__(seat)
        self.number = number  # of the card that `seat` played last turn

    def act(self) -> Act:
        return Act(SET_UP, (self.number,), actor=self.seat)

    def exposed(self, g: Szmal) -> list[Zone]:
        """Return the zones that the cards are lost from, by seat."""
        return g.thugs if CARDS[self.number].takes == "thug" else g.holdings

    def seats(self, g: Szmal) -> list[int]:
        losing = range(g.n) if CARDS[self.number].takes_of_owner else sorted(g.opponents(self.seat))
        return [seat for seat in losing if self.exposed(g)[seat].cards]

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [Option(LOSE, (card,)) for card in self.exposed(g)[seat].cards]

    def closed(self, g: Szmal, answers: dict[int, Option]) -> None:
        for seat, option in answers.items():
            g.tell(LOSE, option.cards, actor=seat)
            g.leave(seat, option.cards[0], g.discard)


class EndTheTurn(Step):
    rule = "SZ-3.5.2, SZ-4.3, SZ-4.4"
    paragraph = """Effects of this turn end, those for the next begin unless the game is over.

    Actions kept since last turn are discarded.
    """

    def run(self, g: Szmal) -> None:
        is_last = g.round == ROUNDS
        nothing = [0] * g.n
        for counter, _ in THIS_TURN:  # SZ-4.5
            g.set_effect(counter, nothing)
        for counter, _ in NEXT_TURN:  # SZ-4.3, SZ-4.4
            coming = getattr(g, f"next_{counter}")
            if coming != nothing or getattr(g, counter) != nothing:
                g.set_effect(counter, nothing if is_last else coming)
                g.set_effect(f"next_{counter}", nothing)
        for thugs in g.thugs:
            self.arm(g, thugs, is_last)
        for kept in g.kept:  # SZ-3.5.2
            for card in kept.cards[:]:
                if column(kept, UNTIL_ROUND)[kept.cards.index(card)] <= g.round:
                    g.move(card, kept, g.discard)
        if is_last:
            g.then(CountUp(TABLE))
        else:
            g.then(BeginARound(TABLE))

    def arm(self, g: Szmal, thugs: Zone, is_last: bool) -> None:
        """SZ-4.3. End the guns and keys that 72 and its copy showed this turn, and begin those of the next."""
        if any(column(thugs, ARMED) + column(thugs, NEXT_ARMED)):
            for index in range(len(thugs.cards)):
                g.count_card(thugs, index, ARMED, 0 if is_last else column(thugs, NEXT_ARMED)[index])
                g.count_card(thugs, index, NEXT_ARMED, 0)


class CountUp(Step):
    rule = "SZ-6.1, SZ-6.2"
    paragraph = "The end-of-game abilities in play, in ascending number: 7, 12, 13, 24. Then all is counted."

    def run(self, g: Szmal) -> None:
        for number, owner in g.in_all_play(END_OF_GAME):
            CARDS[number].end_of_game(g, owner)
        g.tell_scores(over=True)
