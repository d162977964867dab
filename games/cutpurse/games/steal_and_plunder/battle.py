"""The battle for a pack, chapter 4.2 of `docs/rules/steal_and_plunder.md`."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final

from cutpurse.engine.agenda import Act, Choice, Fields, Option, Step
from cutpurse.games.steal_and_plunder.cards import (
    ATTACK,
    CONCEDE,
    CONTRIBUTE,
    LAST_WEALTH,
    LAST_WILD,
    LOCKED,
    PACK,
    SEATS,
    UP_TO_WILDS,
    WIN,
)

if TYPE_CHECKING:
    from cutpurse.games.steal_and_plunder.rules import StealAndPlunder

__all__ = ["AnswerTheTheft", "AttackAPack", "WinTheBattle", "add_attacks"]

ATTACK_SEAT: Final = [[Option(ATTACK, (card,), seat=seat) for card in UP_TO_WILDS] for seat in SEATS]
CONTRIBUTE_CARD: Final = [Option(CONTRIBUTE, (card,)) for card in UP_TO_WILDS]
CONCEDE_NOW: Final = Option(CONCEDE)


def add_attacks(g: StealAndPlunder, seat: int, hand: list[int], wilds: list[int], options: list[Option]) -> None:
    """SP-4.24, SP-4.26. On every opponent's open pack, whether they hold cards or not, with its industry or a Wild."""
    own = g.pack[seat]
    for stack in g.pack:
        if stack and stack is not own:
            pack = stack[-1]
            if not pack.counters[LOCKED]:
                industry = pack.cards[-1]
                if industry in hand:
                    options.append(ATTACK_SEAT[pack.owner][industry])
                for wild in wilds:
                    options.append(ATTACK_SEAT[pack.owner][wild])


class AttackAPack(Step):
    rule = "SP-4.26, SP-4.24"
    paragraph = "The attacker lays a card face up beside an open pack; an empty hand can only concede."
    fields: ClassVar[Fields] = {"owner": int, "card": int}

    def __init__(self, seat: int, owner: int, card: int) -> None:
        super().__init__(seat)
        self.owner = owner
        self.card = card

    def run(self, g: StealAndPlunder) -> None:
        g.move(self.card, g.hand[self.seat], g.battle)
        g.then(AnswerTheTheft(self.owner, self.seat, self.owner, self.card, g.pack[self.owner][-1].number))


class AnswerTheTheft(Choice):
    rule = "SP-4.26, SP-4.11, SP-4.12, SP-0.3"
    paragraph = """Add a card of the industry or a Wild, or concede; then the other side answers.

    Nothing is drawn meanwhile, and who has nothing to add is asked all the same.
    """
    text = "Do you add a card to the battle?"
    window = True
    fields: ClassVar[Fields] = {"thief": int, "owner": int, "card": int, "pack": int}

    def __init__(self, seat: int, thief: int, owner: int, card: int, pack: int) -> None:
        super().__init__(seat)
        self.thief = thief
        self.owner = owner
        self.card = card
        self.pack = pack

    def act(self) -> Act:
        return Act(ATTACK, (self.card,), zone=self.pack, seat=self.owner, actor=self.thief)

    def options(self, g: StealAndPlunder, seat: int) -> list[Option]:
        """SP-0.4. To concede is the safe answer."""
        industry = g.pack[self.owner][-1].cards[-1]
        options = [CONCEDE_NOW]
        last = 0
        for card in g.hand[seat].cards:  # equal cards are side by side
            if card != last and (card == industry or LAST_WEALTH < card <= LAST_WILD):
                options.append(CONTRIBUTE_CARD[card])
            last = card
        return options

    def chosen(self, g: StealAndPlunder, option: Option) -> None:
        rival = self.owner if self.seat == self.thief else self.thief
        if option.verb == CONCEDE:
            g.then(WinTheBattle(rival, self.owner))
        else:
            g.move(option.cards[0], g.hand[self.seat], g.battle)
            g.then(AnswerTheTheft(rival, self.thief, self.owner, self.card, self.pack))


class WinTheBattle(Step):
    rule = "SP-4.26, SP-4.13, SP-4.14"
    paragraph = """All battle cards join the pack, a Wealth card on top; if the attacker has won he takes it onto his
    stack, where it is open at once."""
    fields: ClassVar[Fields] = {"owner": int}

    def __init__(self, seat: int, owner: int) -> None:
        super().__init__(seat)
        self.owner = owner

    def run(self, g: StealAndPlunder) -> None:
        pack = g.pack[self.owner][-1]
        industry = pack.cards[-1]
        g.tell(WIN, zone=pack.number, seat=self.owner, actor=self.seat)
        if len(g.battle.cards) == 1:  # conceded at once, as nearly all are
            g.move_at(0, g.battle, pack)
        else:
            g.move_all(g.battle, pack)
        if pack.cards[-1] != industry:  # a Wild: the uppermost Wealth card, which all know, goes over it
            place = max(place for place, card in enumerate(pack.cards) if card == industry)
            g.move_at(place, pack, pack)
        if self.seat != self.owner:
            g.place(pack, PACK, self.seat)
