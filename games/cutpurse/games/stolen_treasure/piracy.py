"""Stolen Treasure, chapter 3.3: a piracy card is played, Yarr! and Pirate's Code answer it, and it takes effect."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.agenda import PASS, Act, Choice, Option, Poll, Step
from cutpurse.engine.zones import bit
from cutpurse.games.stolen_treasure.cards import (
    BEFALL,
    BOMBS_AWAY,
    CODE,
    DISCARD,
    DIVERT,
    DRAW,
    GIVE,
    HOOK,
    KRAKEN,
    LAST_TREASURE,
    NOBODY,
    NULLIFY,
    PLUNDER,
    SKULDUGGERY,
    SPYGLASS,
    TAKE,
    TAKE_PIRACY,
    TAKE_TREASURE,
    X_MARKS_THE_SPOT,
    YARR,
    YO_HO_HO,
)
from cutpurse.games.stolen_treasure.state import StolenTreasureState

__all__ = ["PLUNDERED", "AnyYarr", "DiscardPiracy", "GiveACard", "PlayACard"]

PLUNDERED: Final = 2
"""ST-3.14. The treasure that Plunder draws."""
STOLEN: Final = 2
"""ST-3.18. The treasure that YO HO HO! takes from each target."""
BOMBED: Final = 2
"""ST-3.21. The piracy cards that Bombs Away costs each target."""


class PlayACard(Step):
    rule = "ST-3.9"
    paragraph = "The card is shown and its target named."
    card: int
    target: int

    def run(self, g: StolenTreasureState) -> None:
        g.move(self.card, g.piracy_hand[self.seat], g.in_play)
        g.then(AnyYarr(self.seat), CarryItOut(self.seat, self.card, self.target))


class AnyYarr(Poll):
    rule = "ST-0.3, ST-3.10"
    paragraph = """All but the player who showed a card may stop it; of several, the first clockwise from that player.

    A Yarr! can be stopped in the same way.
    """
    text = "Play Yarr! on the card that was just shown?"

    def seats(self, g: StolenTreasureState) -> list[int]:
        return sorted(g.opponents(self.seat))

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        return [PASS, Option(NULLIFY, (YARR,))] if YARR in g.piracy_hand[seat].cards else [PASS]

    def closed(self, g: StolenTreasureState, answers: dict[int, Option]) -> None:
        for seat in g.opponents(self.seat):
            if answers[seat] != PASS:
                g.tell(NULLIFY, (YARR,), actor=seat)
                g.move(YARR, g.piracy_hand[seat], g.in_play)
                g.then(AnyYarr(seat), Nullify(seat))
                return


class Nullify(Step):
    rule = "ST-3.10"
    paragraph = "A Yarr! that stands: the card it answers has no effect. An odd number nullifies, an even one does not."

    def act(self) -> Act:
        return Act(NULLIFY, (YARR,), actor=self.seat)

    def run(self, g: StolenTreasureState) -> None:
        g.agenda.pop()  # what the card that it answers was to do


class CarryItOut(Step):
    rule = "ST-3.11"
    paragraph = "A card that stands; one with targets makes an instance of its effect for each, clockwise."
    card: int
    target: int

    def run(self, g: StolenTreasureState) -> None:
        seat, card = self.seat, self.card
        if card == PLUNDER:
            g.then(Plunder(seat, PLUNDERED))
        elif card == KRAKEN:
            g.then(ReleaseTheKraken(seat))
        else:
            targets = g.opponents(seat) if self.target == NOBODY else [self.target]
            g.then(*[DivertOrSuffer(target, seat, card) for target in targets])


class DivertOrSuffer(Choice):
    rule = "ST-3.11, ST-3.12, ST-3.13"
    paragraph = """The present target of an instance may play Pirate's Code and name any other player instead.

    An instance that stays waits until the targets of all have been asked.
    """
    text = "Play Pirate's Code, or let it happen?"
    window = True
    active: int
    card: int

    def act(self) -> Act:
        return Act(BEFALL, (self.card,), seat=self.seat)

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        if CODE in g.piracy_hand[seat].cards:
            return [PASS, *[Option(DIVERT, (CODE,), seat=other) for other in g.opponents(seat)]]
        return [PASS]

    def chosen(self, g: StolenTreasureState, option: Option) -> None:
        if option.seat is None:
            g.then(*take_off_other_instances(g), Befall(self.seat, self.active, self.card))
            return
        g.move(CODE, g.piracy_hand[self.seat], g.in_play)
        again = DivertOrSuffer(self.seat, self.active, self.card)
        g.then(AnyYarr(self.seat), Divert(self.seat, option.seat), again)


def take_off_other_instances(g: StolenTreasureState) -> list[Step]:
    """ST-3.11. Take the other instances of an effect off the agenda: those to be asked about, then those that stay.

    Returns:
        The instances, in their order, to be done before the one that stays now.
    """
    instances: list[Step] = []
    while isinstance(g.agenda[-1], DivertOrSuffer | Befall):
        instances.append(g.agenda.pop())
    return instances


class Divert(Step):
    rule = "ST-3.11"
    paragraph = "A Code that stands: the instance has a new target, who is asked in the same way."
    to: int

    def act(self) -> Act:
        return Act(DIVERT, (CODE,), seat=self.to, actor=self.seat)

    def run(self, g: StolenTreasureState) -> None:
        instance = g.agenda.pop()  # the one that would be asked about again
        assert isinstance(instance, DivertOrSuffer)
        g.then(DivertOrSuffer(self.to, instance.active, instance.card))


class Befall(Step):
    rule = "ST-0.4, ST-3.11, ST-3.12"
    paragraph = """An instance takes effect on its last target; the gain is the active player's.

    If its target is the active player, only Hook and Bombs Away do something: a turn is lost, two cards are discarded.
    """
    active: int
    card: int

    def act(self) -> Act:
        return Act(BEFALL, (self.card,), seat=self.seat)

    def run(self, g: StolenTreasureState) -> None:
        target, active, card = self.seat, self.active, self.card
        if card == BOMBS_AWAY:
            g.then(DropBombs(target))
        elif target == active:
            if card == HOOK:
                g.then(LoseTheNextTurn(target))
        elif card == SPYGLASS:
            g.then(SwapHands(active, target))
        elif card == SKULDUGGERY:
            g.then(StealACard(active, target, card))
        elif card == X_MARKS_THE_SPOT:
            if g.buried[target].cards:
                g.then(DigUp(active, target))
        elif card == YO_HO_HO:
            g.then(YoHoHo(active, target))
        elif card == HOOK:
            g.then(StealACard(active, target, card), LoseTheNextTurn(target))


class Plunder(Step):
    rule = "ST-3.14"
    paragraph = "Two treasure cards are drawn, one by one, as far as there are any."
    left: int

    def run(self, g: StolenTreasureState) -> None:
        if self.left and g.treasure_to_draw():
            g.then(ChooseAPile(self.seat), Plunder(self.seat, self.left - 1))


class ChooseAPile(Choice):
    rule = "ST-3.14, ST-3.3"
    paragraph = "The player chooses a pile after seeing the treasure before; the card is shown to all."
    text = "Which pile do you draw from?"

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        return [Option(DRAW, zone=pile) for pile in g.treasure_to_draw()]

    def chosen(self, g: StolenTreasureState, option: Option) -> None:
        g.draw(self.seat, option.zone)


class SwapHands(Step):
    rule = "ST-3.15, ST-3.6, ST-4.1"
    paragraph = "The two swap all hand cards, The Black Spot too; all treasure in both hands gets a new `since`."
    target: int

    def run(self, g: StolenTreasureState) -> None:
        g.exchange(g.piracy_hand[self.seat], g.piracy_hand[self.target])
        g.exchange(g.treasure_hand[self.seat], g.treasure_hand[self.target])
        for hand in (g.treasure_hand[self.seat], g.treasure_hand[self.target]):
            hand.columns = [[g.turn] * len(hand.cards)]


class StealACard(Step):
    rule = "ST-3.16, ST-3.19, ST-3.22"
    paragraph = """A random card out of the target's hand; out of an empty hand, none.

    The active player names its kind; with the setting chance picks from the whole hand.
    """
    target: int
    card: int

    def run(self, g: StolenTreasureState) -> None:
        size = g.hand_size(self.target)
        if not size:
            return
        if g.settings.true_random_theft:
            treasure = g.chance.below(size) < len(g.treasure_hand[self.target].cards)
            g.then(TakeARandomCard(self.seat, self.target, self.card, treasure))
        else:
            g.then(NameAKind(self.seat, self.target, self.card))


class NameAKind(Choice):
    rule = "ST-3.16, ST-3.19"
    paragraph = "Treasure or piracy: a kind that the target holds."
    text = "Which kind of card do you take?"
    target: int
    card: int

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        options: list[Option] = []
        if g.treasure_hand[self.target].cards:
            options.append(Option(TAKE_TREASURE, seat=self.target))
        if g.piracy_hand[self.target].cards:
            options.append(Option(TAKE_PIRACY, seat=self.target))
        return options

    def chosen(self, g: StolenTreasureState, option: Option) -> None:
        g.then(TakeARandomCard(self.seat, self.target, self.card, option.verb == TAKE_TREASURE))


class TakeARandomCard(Step):
    rule = "ST-3.16, ST-3.19, ST-3.6"
    paragraph = """Chance picks; thief and victim see the card.

    What Skulduggery took lies aside until the thief has given another card, if there is one.
    """
    target: int
    card: int
    treasure: bool

    def run(self, g: StolenTreasureState) -> None:
        seat = self.seat
        hands = g.treasure_hand if self.treasure else g.piracy_hand
        if self.card == HOOK:
            g.move_random(hands[self.target], hands[seat], columns=(g.turn,))
            return
        g.move_random(hands[self.target], g.taken, shown=bit(seat))
        if g.hand_size(seat):
            g.then(GiveACard(seat, self.target, self.treasure), KeepWhatWasTaken(seat))
        else:
            g.then(KeepWhatWasTaken(seat))


class GiveACard(Choice):
    rule = "ST-3.16, ST-3.6, ST-4.1"
    paragraph = "The thief gives a card in return, not the very one taken; only the two see its face."
    text = "Which card do you give in return?"
    safe_paragraph = "The lowest treasure, a piracy card only without one."
    target: int
    treasure: bool  # the kind that was taken, which everybody sees by the back

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        return g.hand_options(GIVE, seat, self.target)

    def safe(self, g: StolenTreasureState, seat: int, options: list[Option]) -> Option:
        """Follow ST-0.6."""
        return g.lowest_treasure(options)

    def seen_by(self, g: StolenTreasureState, option: Option) -> tuple[int, ...]:
        return (bit(self.seat) | bit(self.target),)

    def chosen(self, g: StolenTreasureState, option: Option) -> None:
        card = option.cards[0]
        if card <= LAST_TREASURE:
            g.move_treasure(option, g.treasure_hand[self.seat], g.treasure_hand[self.target], columns=(g.turn,))
        else:
            g.move(card, g.piracy_hand[self.seat], g.piracy_hand[self.target])


class KeepWhatWasTaken(Step):
    rule = "ST-3.16, ST-3.6"
    paragraph = "Then the card taken joins the thief's hand."

    def run(self, g: StolenTreasureState) -> None:
        hands = g.treasure_hand if g.taken.cards[0] <= LAST_TREASURE else g.piracy_hand
        g.move_top(g.taken, hands[self.seat], columns=(g.turn,))


class DigUp(Choice):
    rule = "ST-3.17, ST-3.6, ST-3.7"
    paragraph = "One buried card of the target, of any value, into the hand."
    text = "Which buried card do you dig up?"
    target: int

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        return g.card_options(TAKE, g.buried[self.target], self.target)

    def chosen(self, g: StolenTreasureState, option: Option) -> None:
        card, target = option.cards[0], self.target
        g.move(card, g.buried[target], g.treasure_hand[self.seat], columns=(g.turn,))
        g.add("buried_total", -g.value[card], target)


class YoHoHo(Step):
    rule = "ST-3.18, ST-3.6"
    paragraph = "Two random treasure cards out of the target's hand, or one if there is only one."
    target: int

    def run(self, g: StolenTreasureState) -> None:
        hand = g.treasure_hand[self.target]
        for _ in range(min(STOLEN, len(hand.cards))):
            g.move_random(hand, g.treasure_hand[self.seat], columns=(g.turn,))


class LoseTheNextTurn(Step):
    rule = "ST-3.19, ST-3.2"
    paragraph = "Hook skips the target's next turn, whatever it took. Two of them before one turn skip only that turn."

    def run(self, g: StolenTreasureState) -> None:
        g.count("skip_next", 1, self.seat)


class ReleaseTheKraken(Step):
    rule = "ST-3.20"
    paragraph = "Treasure out of all hands goes unseen to the piles, which are shuffled as one and cut."

    def run(self, g: StolenTreasureState) -> None:
        for seat in g.seats_from(self.seat):
            g.move_all(g.treasure_hand[seat], g.treasure_pile_1)
        g.move_all(g.treasure_pile_2, g.treasure_pile_1)
        g.shuffle_and_cut()


class DropBombs(Step):
    rule = "ST-3.21"
    paragraph = "A target with more than two piracy cards chooses two to discard; otherwise all are discarded."

    def run(self, g: StolenTreasureState) -> None:
        hand = g.piracy_hand[self.seat]
        if len(hand.cards) > BOMBED:
            g.then(DiscardPiracy(self.seat, BOMBED))
        else:
            g.move_all(hand, g.piracy_discards)


class DiscardPiracy(Choice):
    rule = "ST-3.21, ST-4.1"
    paragraph = "A piracy card of the target's choice; The Black Spot, too."
    text = "Which piracy card do you discard?"
    left: int

    def options(self, g: StolenTreasureState, seat: int) -> list[Option]:
        return g.card_options(DISCARD, g.piracy_hand[seat])

    def chosen(self, g: StolenTreasureState, option: Option) -> None:
        g.move(option.cards[0], g.piracy_hand[self.seat], g.piracy_discards)
        if self.left > 1:
            g.then(DiscardPiracy(self.seat, self.left - 1))
