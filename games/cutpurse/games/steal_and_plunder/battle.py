"""The battle for a pack, chapter 4.2 of `docs/reference/rules/steal_and_plunder.md`."""

from __future__ import annotations

from cutpurse.engine.acts import distinct
from cutpurse.engine.agenda import Act, Choice, Option, Step
from cutpurse.games.steal_and_plunder.cards import (
    ATTACK,
    CONCEDE,
    CONTRIBUTE,
    FITS,
    PACK,
    WIN,
)
from cutpurse.games.steal_and_plunder.state import StealAndPlunderState

__all__ = ["AnswerTheTheft", "AttackAPack", "WinTheBattle", "list_attacks"]


def list_attacks(g: StealAndPlunderState, seat: int, wealth: list[int], wilds: list[int]) -> list[Option]:
    """SP-4.26, SP-4.24. Attack any opponent's open pack, with a card of its industry or a Wild."""
    options: list[Option] = []
    for pack in g.open_packs_of_others(seat):
        industry = pack.cards[-1]
        fitting = [card for card in wealth if card == industry] + wilds
        options += [Option(ATTACK, (card,), seat=pack.owner) for card in fitting]
    return options


class AttackAPack(Step):
    rule = "SP-4.26, SP-4.24"
    paragraph = "The attacker lays a card face up beside an open pack; an empty hand can only concede."
    owner: int
    card: int

    def run(self, g: StealAndPlunderState) -> None:
        g.move(self.card, g.hand[self.seat], g.battle)
        g.then(AnswerTheTheft(self.owner, self.seat, self.owner, self.card, g.pack[self.owner][-1].number))


class AnswerTheTheft(Choice):
    rule = "SP-4.26, SP-4.11, SP-4.12, SP-0.3"
    paragraph = """Add a card of the industry or a Wild, or concede; then the other side answers.

    Nothing is drawn meanwhile, and a player with nothing to add is asked all the same.
    """
    text = "Do you add a card to the battle?"
    window = True
    thief: int
    owner: int
    card: int
    pack: int

    def act(self) -> Act:
        return Act(ATTACK, (self.card,), zone=self.pack, seat=self.owner, actor=self.thief)

    def options(self, g: StealAndPlunderState, seat: int) -> list[Option]:
        """SP-0.4. List conceding first, which is the safe answer."""
        industry = g.pack[self.owner][-1].cards[-1]
        fitting = [card for card in distinct(g.hand[seat].cards) if card in FITS[industry]]
        return [Option(CONCEDE), *[Option(CONTRIBUTE, (card,)) for card in fitting]]

    def chosen(self, g: StealAndPlunderState, option: Option) -> None:
        rival = self.owner if self.seat == self.thief else self.thief
        if option.verb == CONCEDE:
            g.then(WinTheBattle(rival, self.owner))
        else:
            g.move(option.cards[0], g.hand[self.seat], g.battle)
            g.then(AnswerTheTheft(rival, self.thief, self.owner, self.card, self.pack))


class WinTheBattle(Step):
    rule = "SP-4.26, SP-4.13, SP-4.14"
    paragraph = """All battle cards join the pack, a Wealth card on top.

    An attacker who wins takes it onto their stack, where it is open at once.
    """
    owner: int

    def run(self, g: StealAndPlunderState) -> None:
        pack = g.pack[self.owner][-1]
        industry = pack.cards[-1]
        g.tell(WIN, zone=pack.number, seat=self.owner, actor=self.seat)
        g.move_all(g.battle, pack)
        if pack.cards[-1] != industry:  # a Wild: the uppermost Wealth card, which all know, goes on top of it
            uppermost = max([index for index, card in enumerate(pack.cards) if card == industry])
            g.move_at(uppermost, pack, pack)
        if self.seat != self.owner:
            g.place(pack, PACK, self.seat)
