"""The rules of Steal & Plunder in play order, one class a paragraph of `docs/reference/rules/steal_and_plunder.md`.

The battle (chapter 4.2) is in `battle`, the Power cards (chapters 4.3 and 4.4) are in `powers`, and what lies on the
table is in `state`.
"""

from __future__ import annotations

from cutpurse.engine.acts import distinct
from cutpurse.engine.agenda import Choice, Option, Step
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.zones import TABLE, bit
from cutpurse.games.steal_and_plunder.battle import AttackAPack, list_attacks
from cutpurse.games.steal_and_plunder.cards import (
    ATTACK,
    AUDIT,
    BURN,
    DISCARD,
    DRAW,
    FLEE,
    FORM,
    FORM_WITH_DISCARD,
    HAND_SIZE,
    PLUNDER,
    POWERS,
    RELOAD,
    START,
    STEAL,
    TAX,
    VALUE,
    WEALTH,
    WILDS,
)
from cutpurse.games.steal_and_plunder.powers import (
    AuditAHand,
    BurnAPower,
    FleeTheCountry,
    PlunderAPack,
    StealAPack,
    TaxAStack,
    list_uses_of_powers,
)
from cutpurse.games.steal_and_plunder.state import LONGEST_GAME, StealAndPlunderState

__all__ = ["StealAndPlunder"]


@mypyc_attr(allow_interpreted_subclasses=True)
class StealAndPlunder(StealAndPlunderState):
    """SP-2.1. How a match begins."""

    __slots__ = ()

    def begin(self) -> None:
        """SP-2.1. Draw for the start, or let a random seat begin."""
        if self.settings.start_method == "random":
            self.then(SetUp(self.chance.below(self.n)))
        else:
            self.enter(self.box(self.n, self.settings), self.deck)
            self.then(DrawForTheStart(TABLE, tuple(range(self.n))))


class DrawForTheStart(Step):
    rule = "SP-2.1"
    paragraph = """Each of these seats draws a card face up, and the highest value begins; the best draw again if tied.

    A deck too short for that takes all drawn cards back first. In the end all of them go back.
    """
    drawers: tuple[int, ...]

    def run(self, g: StealAndPlunder) -> None:
        if len(g.deck.cards) < len(self.drawers):
            g.move_all(g.start_draw, g.deck)
        drawn: dict[int, int] = {}
        for seat in self.drawers:
            card = g.move_random(g.deck, g.start_draw)
            g.tell(DRAW, (card,), actor=seat)
            drawn[seat] = VALUE[card]
        highest = max(drawn.values())
        best = tuple([seat for seat, value in drawn.items() if value == highest])
        g.then(SetUp(best[0]) if len(best) == 1 else DrawForTheStart(TABLE, best))


class SetUp(Step):
    rule = "SP-2.1, SP-2.2, SP-2.3, SP-2.4"
    paragraph = """This seat gets both tokens; all cards are shuffled and five dealt to each.

    One card of the deck that is no Power card, each as likely, begins the discard pile; then the rest is shuffled.
    """

    def run(self, g: StealAndPlunder) -> None:
        g.open_deal(g.game + 1)
        g.locked_in, g.sure_powers, g.turns = [0] * g.n, [0] * g.n, 0
        g.count(START, self.seat + 1)
        g.count(RELOAD, self.seat + 1)
        g.count("round", 1)
        g.enter(g.box(g.n, g.settings), g.deck)
        g.shuffle(g.deck)
        for seat in g.seats_from(self.seat):
            g.deal(g.deck, g.hand[seat], HAND_SIZE)
        possible = [index for index, card in enumerate(g.deck.cards) if card not in POWERS]
        g.move_at(possible[g.chance.below(len(possible))], g.deck, g.discard)
        g.shuffle(g.deck)
        g.then(BeginATurn(self.seat))


class BeginATurn(Step):
    rule = "SP-4.1"
    paragraph = "One turn for each seat from the Start holder on makes a round; a player without a card is skipped."

    def run(self, g: StealAndPlunder) -> None:
        left = g.next_seat(self.seat)
        ends_the_round = left == g.start_token - 1
        next_step = ReloadTheHands(g.reload_token - 1) if ends_the_round else BeginATurn(left)
        if g.hand[self.seat].cards:
            g.turns += 1
            g.then(TakeATurn(self.seat), next_step)
        else:
            g.then(next_step)


class TakeATurn(Choice):
    rule = "SP-4.2, SP-4.9"
    paragraph = "One action, which ends the turn. Nobody may pass."
    text = "What do you do on your turn?"
    safe_paragraph = "Discard the card of the lowest value, hence Wilds last; otherwise the first action there is."

    def options(self, g: StealAndPlunder, seat: int) -> list[Option]:
        """SP-4.2, SP-4.3, SP-4.4, SP-4.7, SP-4.10, SP-0.2. List the actions in the order of the sheet.

        Before the first pack only forming and discarding exist, and a pair in hand goes before the discard pile.
        """
        cards = distinct(g.hand[seat].cards)  # equal cards are one option
        wealth = [card for card in cards if card in WEALTH]
        wilds = [card for card in cards if card in WILDS]
        powers = [card for card in cards if card in POWERS]
        locked_in = g.locked_in[seat]
        options = self.list_pairs(g, wealth, wilds)
        has_to_use_pair = options and not locked_in and g.settings.strict_first_pack_order
        if not has_to_use_pair:
            options += self.list_pairs_with_the_discard(g, wealth, wilds)
        options += [Option(DISCARD, (card,)) for card in wealth + wilds]
        if locked_in:
            options += list_attacks(g, seat, wealth, wilds)
            options += list_uses_of_powers(g, seat, powers)
        if not options:
            options = [Option(BURN, (card,)) for card in powers]
        return options

    def list_pairs(self, g: StealAndPlunder, wealth: list[int], wilds: list[int]) -> list[Option]:
        """SP-3.1. Form a pack of two twins, or of a Wealth card and a Wild."""
        hand = g.hand[self.seat].cards
        options: list[Option] = []
        for industry in wealth:
            if hand.count(industry) >= 2:
                options.append(Option(FORM, (industry, industry)))
            options += [Option(FORM, (industry, wild)) for wild in wilds]
        return options

    def list_pairs_with_the_discard(self, g: StealAndPlunder, wealth: list[int], wilds: list[int]) -> list[Option]:
        """SP-4.5, SP-4.6. Join any Wealth to a Wild on the discard pile; to Wealth a twin, or by a setting a Wild."""
        if not g.discard.cards:
            return []
        top = g.discard.cards[-1]
        if top in WILDS:
            joining = wealth
        else:
            joining = [card for card in wealth if card == top]
            if g.settings.hand_wild_on_discard:
                joining += wilds
        return [Option(FORM_WITH_DISCARD, (card,)) for card in joining]

    def safe(self, g: StealAndPlunder, seat: int, options: list[Option]) -> Option:
        """Follow SP-0.4."""
        discards = [option for option in options if option.verb == DISCARD]
        return min(discards, key=lambda option: VALUE[option.cards[0]]) if discards else options[0]

    def seen_by(self, g: StealAndPlunder, option: Option) -> tuple[int, ...] | None:
        """SP-3.2, SP-3.4, SP-4.5. Hide the partner in a pack, except where all may see it."""
        if option.verb == FORM:
            return g.everyone, partner_seen_by(g, self.seat)
        if option.verb == FORM_WITH_DISCARD:
            return (joined_seen_by(g, self.seat),)
        return None

    def chosen(self, g: StealAndPlunder, option: Option) -> None:
        seat, verb, card = self.seat, option.verb, option.cards[0]
        target = TABLE if option.seat is None else option.seat
        if verb == FORM:
            self.form_a_pack(g, card, option.cards[1])
        elif verb == FORM_WITH_DISCARD:
            self.form_a_pack_with_the_discard(g, card)
        elif verb == DISCARD:
            self.discard_and_draw(g, card)
        elif verb == ATTACK:
            g.then(AttackAPack(seat, target, card))
        elif verb == STEAL:
            g.then(StealAPack(seat, target))
        elif verb == PLUNDER:
            g.then(PlunderAPack(seat, target))
        elif verb == AUDIT:
            g.then(AuditAHand(seat, target))
        elif verb == FLEE:
            g.then(FleeTheCountry(seat))
        elif verb == TAX:
            g.then(TaxAStack(seat, target))
        else:
            g.then(BurnAPower(seat, card))

    def form_a_pack(self, g: StealAndPlunder, industry: int, partner: int) -> None:
        """SP-3.1, SP-3.2, SP-3.4. Lay the partner, then the Wealth card of the industry on top of it."""
        hand, seen_by = g.hand[self.seat], partner_seen_by(g, self.seat)
        pack = g.lay_a_pack(self.seat)
        g.move(partner, hand, pack, shown=seen_by)
        g.move(industry, hand, pack, shown=g.everyone)

    def form_a_pack_with_the_discard(self, g: StealAndPlunder, card: int) -> None:
        """SP-4.5, SP-4.6, SP-4.8. Join a card of the hand to the top discard, below which lies the new top."""
        hand, seen_by = g.hand[self.seat], joined_seen_by(g, self.seat)
        pack = g.lay_a_pack(self.seat)
        if g.discard.cards[-1] in WILDS:
            g.move_top(g.discard, pack)
            g.move(card, hand, pack, shown=seen_by)
        else:
            g.move(card, hand, pack, shown=seen_by)
            g.move_top(g.discard, pack)

    def discard_and_draw(self, g: StealAndPlunder, card: int) -> None:
        """SP-4.7, SP-4.9. Discard a Wealth card or a Wild, and draw a card if there is one."""
        hand = g.hand[self.seat]
        g.move(card, hand, g.discard)
        if g.deck.cards:
            g.move_top(g.deck, hand)


def partner_seen_by(g: StealAndPlunder, seat: int) -> int:
    """SP-3.2, SP-3.4. Show the partner in a first pack to all, in a later one only to the player who forms it."""
    return bit(seat) if g.locked_in[seat] else g.everyone


def joined_seen_by(g: StealAndPlunder, seat: int) -> int:
    """SP-4.5. Show what joins the discard to all, unless it may be the twin or a Wild under a Wealth card."""
    if g.settings.hand_wild_on_discard and g.discard.cards[-1] in WEALTH:
        return partner_seen_by(g, seat)
    return g.everyone


class ReloadTheHands(Step):
    rule = "SP-4.25, SP-5.1"
    paragraph = """From the Reload holder on each player fills their hand to five in one go, as long as the deck lasts.

    With deck and all hands empty the game has ended: all turns left were skipped, and this Reload is void.
    """

    def run(self, g: StealAndPlunder) -> None:
        assert g.turns <= LONGEST_GAME  # SP-6.1
        if not g.deck.cards and not any(hand.cards for hand in g.hand):
            g.then(EndTheGame(TABLE))
            return
        for seat in g.seats_from(self.seat):
            missing = HAND_SIZE - len(g.hand[seat].cards)
            g.deal(g.deck, g.hand[seat], min(missing, len(g.deck.cards)))
        g.count(RELOAD, g.next_seat(self.seat) + 1)
        g.count("round", g.round + 1)
        g.then(BeginATurn(g.start_token - 1))


class EndTheGame(Step):
    rule = "SP-5.2, SP-5.3, SP-5.4, SP-2.2"
    paragraph = """All packs are opened and counted; in a series Start moves on for the next game.

    A series ends with a total of the target or more that no other equals, or after the last game it may have.
    """

    def run(self, g: StealAndPlunder) -> None:
        for pack in g.all_packs():
            if any(mask != g.everyone for mask in pack.masks or []):
                g.show(pack)
        if g.settings.mode == "single":
            g.tell_scores(over=True)
            return
        for seat in range(g.n):
            g.add("total", g.money_of(seat), seat)
        g.game += 1
        best = max(g.total)
        decided = best >= g.settings.target and g.total.count(best) == 1
        over = decided or g.game == g.settings.max_games
        g.tell_scores(over)
        if not over:
            g.then(SetUp(g.next_seat(g.start_token - 1)))
