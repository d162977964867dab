"""The rules of Szmal, one class a paragraph of `docs/rules/szmal.md`, in the order of play.

What each card does is in `actions`, `thugs` and `holdings`; they call the methods of `Szmal`, which know no card.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Final

from cutpurse.engine.agenda import Act, Choice, Fields, Option, Poll, Step
from cutpurse.engine.game import Game
from cutpurse.engine.settings import Settings
from cutpurse.engine.zones import Zone
from cutpurse.games.szmal.box import (
    COST,
    DELAYED_LOSS,
    EACH_TURN,
    END_OF_GAME,
    ON_LEAVING,
    SAVES,
    SHOWN_BY,
)
from cutpurse.games.szmal.cards import (
    ARMED,
    CAR,
    CARDS,
    CHOOSE,
    COUNTS_AS,
    DISCARD,
    FAIL,
    GIVE_UP,
    KEY,
    LOSE,
    MARKERS,
    NEXT_ARMED,
    NTH_PLAY,
    NUMBERS,
    PICK,
    SET_UP,
    SINCE_ROUND,
    TAKE_BACK,
    THIS_TURN,
    UNTIL_ROUND,
    WORDS,
    column,
    with_a_card,
)
from cutpurse.games.szmal.playing import (
    PLAY_CARD,
    CarryOutTheText,
    CopyAThug,
    Play,
    PlayAnotherCard,
    PutMarkers,
    Resolve,
    pay_in_cash,
)
from cutpurse.games.szmal.thugs import NAPOLEON, RUBBERFACE

__all__ = ["Szmal"]

ROUNDS: Final = 12
"""SZ-3.0. Twelve rounds."""
FIRST_PLAY: Final = 3
"""SZ-3.0. The first round in which cards are played."""
PILE: Final = 12
"""SZ-2.1. Cards of a draft pile at first."""
MARKER: Final = 10_000
"""SZ-6.2. What a marker is worth at the end."""

TABLE: Final = -1  # the seat of a step that concerns everybody

PICK_CARD: Final = with_a_card(PICK)
CHOOSE_CARD: Final = with_a_card(CHOOSE)
GIVE_UP_CARD: Final = with_a_card(GIVE_UP)
TAKE_BACK_CARD: Final = with_a_card(TAKE_BACK)
DISCARD_CARD: Final = with_a_card(DISCARD)
LOSE_CARD: Final = with_a_card(LOSE)

NOTHING: Final = [[0] * seats for seats in range(WORDS.seats[-1] + 1)]
"""An effect that nobody has, by the number of seats."""


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
    watching: list[int]
    informs: list[int]
    shakedowns: list[int]
    free_costs: list[int]
    free_needs: list[int]
    extra_markers: list[int]
    extra_plays: list[int]
    repeats: list[int]
    doublings: list[int]
    losses_5: list[int]
    losses_40: list[int]
    losses_73: list[int]
    losses_79: list[int]
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
        return list(NUMBERS)

    def begin(self) -> None:
        self.then(SetUp(TABLE))

    def scores(self) -> list[int]:
        """SZ-6.2, SZ-6.3. Cash, and $10,000 for each marker in play; cards in hand are worth nothing."""
        return [self.score(seat) for seat in range(self.n)]

    def score(self, seat: int) -> int:
        return self.cash[seat] + MARKER * sum(column(self.holdings[seat], MARKERS))

    def standing(self, seat: int) -> tuple[int, ...]:
        """SZ-6.2. The highest score wins."""
        return (self.score(seat),)

    # -- cash
    def gain(self, seat: int, amount: int) -> None:
        """SZ-5.1, SZ-5.3, SZ-5.4. From the bank: doubled first, then added, then copied by the watcher (card 1).

        SZ-7.19: the watcher sits to the right.
        """
        if amount:
            if self.doublings[seat]:
                amount *= 2 ** self.doublings[seat]
            self.count("cash", self.cash[seat] + amount, seat)
            if self.watching[seat - 1]:
                watcher = (seat - 1) % self.n
                for _ in range(self.watching[watcher]):
                    self.gain(watcher, amount)

    def lose(self, seat: int, amount: int) -> None:
        """SZ-5.1, SZ-5.2, SZ-5.3. To the bank, at most all they have; nothing doubles or copies a loss."""
        if amount and self.cash[seat]:
            self.count("cash", max(0, self.cash[seat] - amount), seat)

    # -- what lies in a Territory
    def symbols(self, seat: int, symbol: int) -> int:
        """SZ-1.2. How often a symbol is shown in a Territory."""
        shown, count = SHOWN_BY[symbol], 0
        if symbol > KEY:
            for number in self.holdings[seat].cards:
                count += shown[number]
            return count
        columns = self.thugs[seat].columns
        assert columns  # `column`, written out: this is looked at all the time
        for number in columns[COUNTS_AS]:
            count += shown[number]
        if symbol != CAR:
            for armed in columns[ARMED]:
                count += armed
        return count

    def in_play(self, seat: int, ability: list[bool]) -> list[tuple[int, int]]:
        """Cards of a Territory with an ability, ascending: the number that has it, and the card that it lies on."""
        thugs = self.thugs[seat]
        holdings = self.holdings[seat].cards
        assert thugs.columns  # `column`, written out
        numbers = thugs.columns[COUNTS_AS] + holdings
        for number in numbers:
            if ability[number]:
                break
        else:
            return []  # as mostly
        found = []
        for number, card in zip(numbers, thugs.cards + holdings, strict=True):
            if ability[number]:
                found.append((number, card))
        return sorted(found)

    def in_all_play(self, ability: list[bool]) -> list[tuple[int, int]]:
        """Cards of all Territories with an ability, ascending: the number that has it, and its owner."""
        found = []
        for seat in range(self.n):
            columns = self.thugs[seat].columns
            assert columns  # `column`, written out
            for number in columns[COUNTS_AS]:
                if ability[number]:
                    found.append((number, seat))
            for number in self.holdings[seat].cards:
                if ability[number]:
                    found.append((number, seat))
        return sorted(found) if len(found) > 1 else found

    def sole_leader(self, values: Sequence[int]) -> int | None:
        """SZ-7.15. The seat with the highest value, if it has it alone."""
        best = max(values)
        return values.index(best) if values.count(best) == 1 else None

    def markers(self, seat: int, card: int) -> int:
        """Count the markers on a Holding."""
        holdings = self.holdings[seat]
        return column(holdings, MARKERS)[holdings.cards.index(card)]

    def most_markers(self, seats: Iterable[int]) -> int:
        """Return the most markers on a Holding of these seats; 0 if there is none."""
        return max((markers for seat in seats for markers in column(self.holdings[seat], MARKERS)), default=0)

    def add_markers(self, seat: int, card: int, markers: int) -> None:
        """SZ-7.12, SZ-7.13, SZ-7.20. On a Holding; a negative number takes them away, if there are any that can go."""
        holdings = self.holdings[seat]
        place = holdings.cards.index(card)
        lying = column(holdings, MARKERS)[place]
        if markers > 0 or (markers < 0 < lying and not CARDS[card].markers_stay):
            self.count_card(holdings, place, MARKERS, max(0, lying + markers))

    def remove_markers_of_opponents(self, seat: int) -> None:
        """Take a marker from each Holding of each opponent."""
        for other in self.opponents(seat):
            for card in self.holdings[other].cards:
                self.add_markers(other, card, -1)

    def leave(self, seat: int, card: int, to: Zone) -> int:
        """SZ-3.3.1, SZ-7.13. A card leaves a Territory, and who watches that reacts; how many markers went with it."""
        watchers = self.in_play(seat, ON_LEAVING)
        if CARDS[card].sort == "thug":
            markers = 0
            self.move(card, self.thugs[seat], to)
        else:
            markers = self.markers(seat, card)
            self.move(card, self.holdings[seat], to)
        for number, this in watchers:
            CARDS[number].on_leaving(self, seat, card, this)
        return markers

    # -- what texts do
    def for_this_turn(self, seat: int, counter: str) -> None:
        """SZ-4.5. An effect begins now, for the rest of the turn."""
        self.count(counter, getattr(self, counter)[seat] + 1, seat)

    def for_next_turn(self, seat: int, counter: str, amount: int = 1) -> None:
        """SZ-4.3. An effect for the whole of the next turn."""
        self.count(f"next_{counter}", getattr(self, f"next_{counter}")[seat] + amount, seat)

    def arm_next_turn(self, seat: int, card: int) -> None:
        """SZ-4.3. This Thug also shows a gun and a key next turn, if it is still in play."""
        thugs = self.thugs[seat]
        place = thugs.cards.index(card)
        self.count_card(thugs, place, NEXT_ARMED, column(thugs, NEXT_ARMED)[place] + 1)

    def draw(self, seat: int, cards: int) -> None:
        """SZ-2.2. From the deck into the hand; an empty deck gives nothing."""
        for _ in range(min(cards, len(self.deck.cards))):
            self.move_top(self.deck, self.hand[seat])

    def put_markers(self, seat: int, markers: int) -> None:
        """SZ-7.21. On a Holding of his choice; without one there is nothing to choose."""
        if markers and self.holdings[seat].cards:
            self.then(PutMarkers(seat, markers))

    def copy_a_thug(self, seat: int) -> None:
        """SZ-7.4. Without another Thug 54 stays blank."""
        if len(self.thugs[seat].cards) > 1:
            self.then(CopyAThug(seat))

    def play_at_once(self, seat: int, card: int) -> None:
        """SZ-7.3. A card found in the deck, without Cost and Need."""
        self.then(Play(seat, card, 0))

    def may_play_another(self, seat: int) -> None:
        """SZ-7.8. If there is a card in the hand."""
        if self.hand[seat].cards:
            self.then(PlayAnotherCard(seat))

    def redo_thugs(self, seat: int) -> None:
        """SZ-7.6. The plain text of each Thug of an earlier round, in the order of their plays; a blank 54 has none."""
        thugs = self.thugs[seat]
        earlier = [
            (column(thugs, NTH_PLAY)[place], card, column(thugs, COUNTS_AS)[place])
            for place, card in enumerate(thugs.cards)
            if column(thugs, SINCE_ROUND)[place] < self.round
        ]
        self.then(
            *[CarryOutTheText(seat, card, number, 0) for _, card, number in sorted(earlier) if number != RUBBERFACE]
        )

    # -- what a card costs
    def price(self, seat: int, card: int) -> int:
        """SZ-3.3.1. The cash Cost, lowered by 52 and 66, added up, not below $0."""
        cost = COST[card]
        price = cost.cash if cost else 0
        for number, _ in self.in_play(seat, SAVES):
            price -= CARDS[number].saves(CARDS[card])
        return price if price > 0 else 0

    def ways_to_pay(self, seat: int, card: int) -> list[Option]:
        """SZ-3.3.1. Every way in which the owner can pay the Cost of a card, in full."""
        cost = COST[card]
        assert cost is not None
        ways = []
        if cost.cash and self.cash[seat] >= (price := self.price(seat, card)):
            ways.append(pay_in_cash(price))
        if cost.thug:
            for lost in self.thugs[seat].cards:
                ways.append(GIVE_UP_CARD[lost])
        if cost.holding:
            for lost in self.holdings[seat].cards:
                ways.append(GIVE_UP_CARD[lost])
        if cost.take_back:
            for lost in self.holdings[seat].cards:
                ways.append(TAKE_BACK_CARD[lost])
        if cost.hand_card:
            for lost in self.hand[seat].cards:
                ways.append(DISCARD_CARD[lost])
        return ways

    def fail(self, seat: int, card: int) -> None:
        """SZ-3.3.2. A card whose Cost is not paid or whose Need is not met is discarded: it was not played."""
        self.tell(FAIL, (card,), actor=seat)
        self.move(card, self.resolving[seat], self.discard)


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
        g.then(*(FIRST_ROUNDS if g.round < FIRST_PLAY else LATER_ROUNDS))


class PickACard(Poll):
    rule = "SZ-3.1"
    paragraph = "All at once, each adds a card of his draft pile to his hand; the rest goes face down to the left."
    text = "Which card do you pick?"
    safe_paragraph = "The lowest number."

    def seats(self, g: Szmal) -> list[int]:
        return list(range(g.n))

    def options(self, g: Szmal, seat: int) -> list[Option]:
        options = []  # a plain loop is the quickest here
        for card in g.draft[seat].cards:
            options.append(PICK_CARD[card])
        return options

    def safe(self, g: Szmal, seat: int, options: list[Option]) -> Option:
        """Follow SZ-7.24."""
        return options[0]

    def closed(self, g: Szmal, answers: dict[int, Option]) -> None:
        for seat, option in answers.items():
            g.move(option.cards[0], g.draft[seat], g.hand[seat])
        for seat in range(g.n):
            g.move_all(g.draft[seat], g.pile[seat + 1 - g.n])  # to the left: of the last seat, to the first


class ChooseACard(Poll):
    rule = "SZ-3.2, SZ-3.3"
    paragraph = """Each puts a hand card face down; then all are revealed, and carried out in ascending number.

    SZ-7.25: who holds only one card is not really asked.
    """
    text = "Which card do you play?"
    safe_paragraph = "The lowest number."

    def seats(self, g: Szmal) -> list[int]:
        return list(range(g.n))

    def options(self, g: Szmal, seat: int) -> list[Option]:
        options = []  # a plain loop, as above
        for card in g.hand[seat].cards:
            options.append(CHOOSE_CARD[card])
        return options

    def safe(self, g: Szmal, seat: int, options: list[Option]) -> Option:
        """Follow SZ-7.24."""
        return options[0]

    def closed(self, g: Szmal, answers: dict[int, Option]) -> None:
        players = {}
        for seat, option in answers.items():
            card = option.cards[0]
            players[card] = seat
            g.tell(CHOOSE, option.cards, actor=seat)
            g.move(card, g.hand[seat], g.resolving[seat])
        for card in sorted(players, reverse=True):  # the lowest comes first, and lies on top
            g.then(Resolve(players[card], card))


class PlayExtraCards(Step):
    rule = "SZ-3.3.8, SZ-7.7"
    paragraph = "The extra plays earned by 67 last turn, one after the other; an empty hand plays nothing."

    def run(self, g: Szmal) -> None:
        if g.extra_plays != NOTHING[g.n]:
            seat = next(seat for seat in range(g.n) if g.extra_plays[seat])
            g.count("extra_plays", g.extra_plays[seat] - 1, seat)
            g.then(PlayExtraCards(TABLE))
            if g.hand[seat].cards:
                g.then(PlayAnExtraCard(seat))


class PlayAnExtraCard(Choice):
    rule = "SZ-7.7"
    paragraph = "Compulsory, chosen from the hand now, with its Cost and Need. SZ-7.24: the lowest number is safe."
    text = "Which card do you play as an extra card?"

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [PLAY_CARD[card] for card in g.hand[seat].cards]

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
        if not (g.losses_5 == g.losses_40 == g.losses_73 == g.losses_79 == NOTHING[g.n]):
            due = zip(DELAYED_LOSS, (g.losses_5, g.losses_40, g.losses_73, g.losses_79), strict=True)
            g.then(*[LoseACard(seat, n) for n, times in due for seat in range(g.n) for _ in range(times[seat])])


class LoseACard(Poll):
    rule = "SZ-3.5.1"
    paragraph = "Who has such a card chooses which he loses, all at once; then all go. SZ-7.24: the lowest is safe."
    text = "Which card do you lose?"
    fields: ClassVar[Fields] = {"number": int}

    def __init__(self, seat: int, number: int) -> None:
        super().__init__(seat)
        self.number = number

    def act(self) -> Act:
        return Act(SET_UP, (self.number,), actor=self.seat)

    def exposed(self, g: Szmal) -> list[Zone]:
        return g.thugs if CARDS[self.number].takes == "thug" else g.holdings

    def seats(self, g: Szmal) -> list[int]:
        zones, of_owner = self.exposed(g), CARDS[self.number].takes_of_owner
        return [seat for seat in range(g.n) if zones[seat].cards and (of_owner or seat != self.seat)]

    def options(self, g: Szmal, seat: int) -> list[Option]:
        return [LOSE_CARD[card] for card in self.exposed(g)[seat].cards]

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
        last = g.round == ROUNDS
        nothing = NOTHING[g.n]
        if not (g.watching == g.informs == g.shakedowns == nothing):
            for name, now in zip(THIS_TURN, (g.watching, g.informs, g.shakedowns)):  # noqa: B905  # slower
                self.change(g, name, now, nothing)
        for name, now, ahead in (
            ("extra_markers", g.extra_markers, g.next_extra_markers),
            ("free_costs", g.free_costs, g.next_free_costs),
            ("free_needs", g.free_needs, g.next_free_needs),
            ("extra_plays", g.extra_plays, g.next_extra_plays),
            ("repeats", g.repeats, g.next_repeats),
            ("doublings", g.doublings, g.next_doublings),
            ("losses_5", g.losses_5, g.next_losses_5),
            ("losses_40", g.losses_40, g.next_losses_40),
            ("losses_73", g.losses_73, g.next_losses_73),
            ("losses_79", g.losses_79, g.next_losses_79),
        ):
            if now != nothing or ahead != nothing:
                self.change(g, name, now, nothing if last else ahead)
                self.change(g, f"next_{name}", ahead, nothing)
        for thugs in g.thugs:
            assert thugs.columns  # `column`, written out
            if NAPOLEON in thugs.columns[COUNTS_AS]:  # only he, or his copy, is ever armed
                self.arm(g, thugs, last)
        for kept in g.kept:
            if kept.cards:
                for card, until in [*zip(kept.cards, column(kept, UNTIL_ROUND), strict=True)]:
                    if until <= g.round:
                        g.move(card, kept, g.discard)
        if last:
            g.then(CountUp(TABLE))
        else:
            g.then(BeginARound(TABLE))

    def arm(self, g: Szmal, thugs: Zone, last: bool) -> None:
        if any(column(thugs, ARMED)) or any(column(thugs, NEXT_ARMED)):
            for place in range(len(thugs.cards)):
                g.count_card(thugs, place, ARMED, 0 if last else column(thugs, NEXT_ARMED)[place])
                g.count_card(thugs, place, NEXT_ARMED, 0)

    def change(self, g: Szmal, name: str, old: list[int], new: list[int]) -> None:
        if old != new:
            for seat, value in enumerate(new):
                if old[seat] != value:
                    g.count(name, value, seat)


class CountUp(Step):
    rule = "SZ-6.1, SZ-6.2"
    paragraph = "The end-of-game abilities in play, in ascending number: 7, 12, 13, 24. Then all is counted."

    def run(self, g: Szmal) -> None:
        for number, owner in g.in_all_play(END_OF_GAME):
            CARDS[number].end_of_game(g, owner)
        g.tell_scores(over=True)


# SZ-3.0. What a round consists of: of the pick only, or of all phases in order.
FIRST_ROUNDS: Final[Sequence[Step]] = (PickACard(TABLE), BeginARound(TABLE))
LATER_ROUNDS: Final[Sequence[Step]] = (
    PickACard(TABLE),
    ChooseACard(TABLE),
    PlayExtraCards(TABLE),
    CarryOutEachTurn(TABLE),
    SufferDelayedLosses(TABLE),
    EndTheTurn(TABLE),
)
