"""The Power cards, chapters 4.3 and 4.4 of `docs/reference/rules/steal_and_plunder.md`."""

from __future__ import annotations

from cutpurse.engine.acts import distinct
from cutpurse.engine.agenda import Act, Choice, Option, Step
from cutpurse.engine.zones import bit
from cutpurse.games.steal_and_plunder.cards import (
    AUDIT,
    FLEE,
    FLEE_THE_COUNTRY,
    FORENSIC_AUDIT,
    HAND_SIZE,
    OFFSHORE,
    PACK,
    PLUNDER,
    PLUNDER_CARD,
    PLUNDERED,
    STEAL,
    STEAL_CARD,
    TAKE,
    TAX,
    TAX_AUDIT,
    TAXED,
    VALUE,
)
from cutpurse.games.steal_and_plunder.state import StealAndPlunderState

__all__ = [
    "AuditAHand",
    "BurnAPower",
    "FleeTheCountry",
    "PlunderAPack",
    "StealAPack",
    "TakeTheirBestCard",
    "TaxAStack",
    "list_uses_of_powers",
]


def list_uses_of_powers(g: StealAndPlunderState, seat: int, powers: list[int]) -> list[Option]:
    """SP-4.2, SP-4.22, SP-4.24. List what the Power cards of a hand can be played on: on opponents, except to flee."""
    options: list[Option] = []
    others = [other for other in range(g.n) if other != seat]
    if STEAL_CARD in powers:  # SP-4.18
        options += [Option(STEAL, (STEAL_CARD,), seat=pack.owner) for pack in g.open_packs_of_others(seat)]
    if PLUNDER_CARD in powers:  # SP-4.18
        options += [Option(PLUNDER, (PLUNDER_CARD,), seat=pack.owner) for pack in g.open_packs_of_others(seat)]
    if FORENSIC_AUDIT in powers:  # SP-4.15
        options += [Option(AUDIT, (FORENSIC_AUDIT,), seat=other) for other in others if g.hand[other].cards]
    if FLEE_THE_COUNTRY in powers and g.gathered(seat):  # SP-4.20
        options.append(Option(FLEE, (FLEE_THE_COUNTRY,)))
    if TAX_AUDIT in powers:  # SP-4.21
        options += [Option(TAX, (TAX_AUDIT,), seat=other) for other in others if g.gathered(other)]
    return options


class StealAPack(Step):
    rule = "SP-4.18"
    paragraph = "Steal: an open pack comes on top of the player's stack, and can be lost again."
    owner: int

    def run(self, g: StealAndPlunderState) -> None:
        g.play_a_power(self.seat, STEAL_CARD, g.spent)
        g.place(g.pack[self.owner][-1], PACK, self.seat)


class PlunderAPack(Step):
    rule = "SP-4.19, SP-4.18"
    paragraph = "Plunder: an open pack goes beside the player's stack, where only a Tax Audit reaches it."
    owner: int

    def run(self, g: StealAndPlunderState) -> None:
        g.play_a_power(self.seat, PLUNDER_CARD, g.spent)
        g.place(g.pack[self.owner][-1], PLUNDERED, self.seat)


class AuditAHand(Step):
    rule = "SP-4.15"
    paragraph = "Forensic Audit: the auditor sees a whole hand, and takes a card of it."
    target: int

    def run(self, g: StealAndPlunderState) -> None:
        g.play_a_power(self.seat, FORENSIC_AUDIT, g.spent)
        g.show(g.hand[self.target], [self.seat])
        g.then(TakeTheirBestCard(self.seat, self.target))


class TakeTheirBestCard(Choice):
    rule = "SP-4.15, SP-4.16"
    paragraph = """Any card of the audited hand, or by a setting one of the highest value, goes into the auditor's.

    That hand has just lost the Forensic Audit, so it does not exceed five.
    """
    text = "Which card do you take?"
    safe_paragraph = "The card of the highest value."
    target: int

    def act(self) -> Act:
        return Act(AUDIT, (FORENSIC_AUDIT,), seat=self.target, actor=self.seat)

    def options(self, g: StealAndPlunderState, seat: int) -> list[Option]:
        cards = distinct(g.hand[self.target].cards)
        if g.settings.audit_pick == "highest_value":
            highest = max([VALUE[card] for card in cards])
            cards = [card for card in cards if VALUE[card] == highest]
        return [Option(TAKE, (card,), seat=self.target) for card in cards]

    def safe(self, g: StealAndPlunderState, seat: int, options: list[Option]) -> Option:
        """Follow SP-0.4."""
        return max(options, key=lambda option: VALUE[option.cards[0]])

    def seen_by(self, g: StealAndPlunderState, option: Option) -> tuple[int, ...]:
        """SP-4.15. Show the card to the two only."""
        return (bit(self.seat) | bit(self.target),)

    def chosen(self, g: StealAndPlunderState, option: Option) -> None:
        theirs, mine = g.hand[self.target], g.hand[self.seat]
        sure = g.sure_powers[self.target]
        if sure:  # SP-7.2: of a hand of Power cards only, the card taken is one of them, as all know
            if sure == len(theirs.cards):
                g.count("sure_powers", g.sure_powers[self.seat] + 1, self.seat)
            g.count("sure_powers", sure - 1, self.target)
        g.move(option.cards[0], theirs, mine)
        assert len(mine.cards) <= HAND_SIZE


class FleeTheCountry(Step):
    rule = "SP-4.20, SP-3.5, SP-7.1"
    paragraph = """All packs of the player, locked and plundered ones too, go offshore; no theft, no tax.

    A new stack begins, and its lowest pack is not locked. A setting shows these packs to all.
    """

    def run(self, g: StealAndPlunderState) -> None:
        g.play_a_power(self.seat, FLEE_THE_COUNTRY, g.cover[self.seat])
        for pack in g.gathered(self.seat):
            g.place(pack, OFFSHORE, self.seat)
            if g.settings.offshore_open:
                g.show(pack)


class TaxAStack(Step):
    rule = "SP-4.21, SP-4.19, SP-3.5"
    paragraph = """All the target's packs, locked and plundered ones too, count half and stay for good.

    Offshore packs are exempt; the victim begins a new stack.
    """
    target: int

    def run(self, g: StealAndPlunderState) -> None:
        g.play_a_power(self.seat, TAX_AUDIT, g.cover[self.target])
        for pack in g.gathered(self.target):
            g.place(pack, TAXED, self.target)


class BurnAPower(Step):
    rule = "SP-4.10, SP-7.2"
    paragraph = "A Power card is spent without effect; so all know the rest of that hand to be Power cards."
    card: int

    def run(self, g: StealAndPlunderState) -> None:
        g.play_a_power(self.seat, self.card, g.spent)
        g.count("sure_powers", len(g.hand[self.seat].cards), self.seat)
