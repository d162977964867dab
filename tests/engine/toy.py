"""A toy game with one zone of every sort, for tests of the engine that do not depend on a real game.

It has two to four players. In `TakeOne` a seat takes the top card of the deck or passes. Then a `Window` asks all
seats, and only those with a star can say yes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cutpurse.engine.agenda import PASS, Act, Choice, Option, Poll, Step
from cutpurse.engine.chance import Script
from cutpurse.engine.game import Game
from cutpurse.engine.settings import Settings, choice, flag, number, table
from cutpurse.engine.words import Counter, Unit, Visibility, Words
from cutpurse.engine.zones import Zone

__all__ = [
    "BLIND",
    "CLOSED",
    "CROWN",
    "MOON",
    "OPEN_PACK",
    "PACK",
    "STAR",
    "SUN",
    "Ask",
    "TakeOne",
    "Toy",
    "ToySettings",
    "Window",
    "empty_table",
]

WORDS: Final = Words("toy", "Toy", "TY", "1", seats=range(2, 5))
SUN: Final = WORDS.card("sun", "Sun")
MOON: Final = WORDS.card("moon", "Moon")
STAR: Final = WORDS.card("star", "Star")
CROWN: Final = WORDS.card("crown", "Crown")
WORDS.zone("deck", "deck", "", Visibility.NOBODY, per_seat=False, ordered=True, remembers=False)
WORDS.zone("table", "table", "", Visibility.ALL, per_seat=False, ordered=True)
BLIND: Final = WORDS.zone("blind", "blind", "", Visibility.NOBODY, per_seat=False)
WORDS.zone("hand", "hand", "", Visibility.OWNER)
WORDS.zone("purse", "purse", "", Visibility.OWNER, columns=(Counter("since", "held since"),))
MARKERS: Final = (Counter("markers", "markers on it"),)
PACK: Final = WORDS.zone(
    "pack", "pack", "", Visibility.MIXED, ordered=True, many=True, holder_learns=True, counters=MARKERS
)
OPEN_PACK: Final = WORDS.zone("open_pack", "open pack", "", Visibility.ALL, ordered=True, many=True)
CLOSED: Final = WORDS.zone("closed", "closed pack", "", Visibility.NOBODY, ordered=True, many=True)
WORDS.table_counter("rounds", "rounds left")
WORDS.seat_counter("cash", "cash", Unit.MONEY)
TAKE: Final = WORDS.verb("take", "{actor} takes a card", "take a card", "TY-1")
YES: Final = WORDS.verb("yes", "{actor} shows {cards}", "show {cards}", "TY-2")


@dataclass(frozen=True, slots=True)
class ToySettings(Settings):
    """The toy's settings, one of each sort."""

    length: str = choice("short", "long", text="how long", rule="TY-3")
    loud: bool = flag(True, text="whether loud", rule="TY-3")
    rounds: int = number(3, 1, 9, step=2, names={"endless": -1}, text="rounds", rule="TY-3")
    prices: tuple[tuple[str, int], ...] = table(("sun", "moon"), text="prices", rule="TY-3")

    def problem(self, seats: int) -> str:
        return "four players are too many for a long game" if self.length == "long" and seats == 4 else ""


class Toy(Game[ToySettings]):
    """TY-0. The toy game."""

    words = WORDS
    settings_type = ToySettings
    usual_seats = 2

    deck: Zone
    table: Zone
    blind: Zone
    hand: list[Zone]
    purse: list[Zone]
    pack: list[list[Zone]]
    open_pack: list[list[Zone]]
    closed: list[list[Zone]]
    rounds: int
    cash: list[int]

    @classmethod
    def box(cls, seats: int, settings: ToySettings) -> list[int]:
        return [SUN] * 4 + [MOON] * 4 + [STAR] * 4 + [CROWN]

    def begin(self) -> None:
        self.rounds = self.settings.rounds
        self.enter(self.box(self.n, self.settings), self.deck)
        self.shuffle(self.deck)
        self.then(Ask(0))

    def scores(self) -> list[int]:
        return self.cash[:]


class Ask(Step):
    rule = "TY-1"
    paragraph = "A round: somebody may take a card, then everybody may show a star."

    def run(self, g: Toy) -> None:
        if g.rounds == 0:
            g.tell_scores(over=True)
            return
        g.rounds -= 1
        g.then(TakeOne(self.seat), Window(-1), Ask(g.next_seat(self.seat)))


class TakeOne(Choice):
    rule = "TY-1"
    paragraph = "Take the top card, or pass."
    text = "Take a card?"

    def options(self, g: Toy, seat: int) -> list[Option]:
        return [Option(TAKE), PASS]

    def safe(self, g: Toy, seat: int, options: list[Option]) -> Option:
        return PASS

    def chosen(self, g: Toy, option: Option) -> None:
        if option != PASS:
            g.move_top(g.deck, g.hand[self.seat])


class Window(Poll):
    rule = "TY-2"
    paragraph = "Everybody is asked; who has no star can only pass. The lowest seat that says yes gets the money."
    text = "Show a star?"

    def act(self) -> Act:
        return Act(TAKE, number=1)

    def seats(self, g: Toy) -> list[int]:
        return list(range(g.n))

    def options(self, g: Toy, seat: int) -> list[Option]:
        return [PASS, *([Option(YES, (STAR,))] if STAR in g.hand[seat].cards else [])]

    def closed(self, g: Toy, answers: dict[int, Option]) -> None:
        for seat, option in answers.items():
            if option != PASS:
                g.tell(YES, option.cards, actor=seat)
                g.count("cash", g.cash[seat] + 10, seat)
                return


def empty_table(seats: int = 3, *chance: int) -> Toy:
    """Create a toy without cards, with scripted chance and an event log."""
    toy = Toy(seats, ToySettings(), Script(chance))
    toy.log = []
    return toy
