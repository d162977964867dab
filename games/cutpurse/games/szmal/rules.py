"""The rules of Szmal, one class a paragraph of `docs/reference/rules/szmal.md`, in the order of play.

How one card is played is in `playing`. What each card does is in `actions`, `thugs` and `holdings`; they call the
methods of `state`, which know no card.
"""

from __future__ import annotations

from types import ModuleType
from typing import Final

from cutpurse.engine.agenda import Act, Choice, Option, Poll, Step
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings
from cutpurse.engine.zones import TABLE, Zone
from cutpurse.games.szmal import actions, holdings, thugs
from cutpurse.games.szmal.cards import (
    ARMED,
    CHOOSE,
    LOSE,
    NEXT_ARMED,
    NEXT_TURN,
    NUMBERS,
    PICK,
    PLAY,
    SET_UP,
    THIS_TURN,
    UNTIL_ROUND,
    WORDS,
    column,
)
from cutpurse.games.szmal.playing import Resolve
from cutpurse.games.szmal.state import SzmalCard, SzmalState

__all__ = ["BOX", "Szmal"]

ROUNDS: Final = 12
"""SZ-3.0. Twelve rounds."""
FIRST_PLAY: Final = 3
"""SZ-3.0. The first round in which cards are played."""
PILE: Final = 12
"""SZ-2.1. Cards of a draft pile at first."""
MAX_PLAYS_OF_SEAT: Final = 400
"""SZ-7.26. The cards that a seat plays from the hand are fewer than this."""


def cards_of(module: ModuleType) -> list[SzmalCard]:
    """Make a card of each class that a module declares."""
    return [
        declared()
        for declared in vars(module).values()
        if isinstance(declared, type) and issubclass(declared, SzmalCard) and declared.title
    ]


BOX: Final = sorted(
    [SzmalCard(), *cards_of(actions), *cards_of(thugs), *cards_of(holdings)], key=lambda card: card.number
)
"""SZ-1.1. The cards by number; at 0 the blank one."""
assert [card.number for card in BOX] == [0, *NUMBERS]
for _card in BOX[1:]:
    WORDS.card(
        _card.name(),
        _card.title,
        _card.full_text(),
        _card.sort,
        _card.number,
        _card.traits(),
        _card.facts(),
        rule=_card.rule,
    )


@mypyc_attr(allow_interpreted_subclasses=True)
class Szmal(SzmalState):
    """SZ-1.1, SZ-2.1. One deal of the eighty cards."""

    __slots__ = ()

    def prepare(self) -> None:
        """SZ-1.1. Take the box."""
        self.cards = BOX

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
    window = False  # draft piles are counted openly

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
    window = False  # hands are counted openly

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
                g.add("extra_plays", -1, seat)
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
        for number, owner in g.in_all_play("each_turn"):
            g.cards[number].each_turn(g, owner)


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
    window = False  # the cards lie open
    number: int  # of the card that `seat` played last turn

    def act(self) -> Act:
        return Act(SET_UP, (self.number,), actor=self.seat)

    def exposed(self, g: Szmal) -> list[Zone]:
        """Return the zones that the cards are lost from, by seat."""
        return g.thugs if g.cards[self.number].takes == "thug" else g.holdings

    def seats(self, g: Szmal) -> list[int]:
        losing = range(g.n) if g.cards[self.number].takes_of_owner else sorted(g.opponents(self.seat))
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
        for counter in THIS_TURN:  # SZ-4.5
            g.set_effect(counter, nothing)
        for counter, next_counter in NEXT_TURN:  # SZ-4.3, SZ-4.4
            g.set_effect(counter, nothing if is_last else g.by_seat(next_counter))
            g.set_effect(next_counter, nothing)
        for zone in g.thugs:
            self.arm(g, zone, is_last)
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
        for number, owner in g.in_all_play("end_of_game"):
            g.cards[number].end_of_game(g, owner)
        g.tell_scores(over=True)
