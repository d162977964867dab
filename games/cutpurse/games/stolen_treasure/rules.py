"""The rules of Stolen Treasure in play order, one class a paragraph of `docs/reference/rules/stolen_treasure.md`.

This module has the set-up, the turn, drawing, burying, the house rule on hands and the end. `piracy` has the piracy
cards, `wager` the wager, `state` what lies on the table, and `hidden_hands` what everybody can infer about a hand.
"""

from __future__ import annotations

from typing import Final

from cutpurse.engine.acts import distinct
from cutpurse.engine.agenda import Act, Choice, Option, Step
from cutpurse.engine.chance import Chance
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.zones import Zone
from cutpurse.games.stolen_treasure.cards import (
    BURY,
    CODE,
    COPIES,
    DISCARD,
    DRAW,
    END_TURN,
    LAST_IN_TURN,
    LAST_TREASURE,
    NOBODY,
    ON_ONE_OPPONENT,
    PARLEY,
    PIRACY_PILE,
    PLAY,
    PLAY_ON,
    PLUNDER,
    SKIPPED,
    SKULDUGGERY,
    TAKEN,
    TREASURE_ZONES,
    WAGER,
    X_MARKS_THE_SPOT,
    YARR,
)
from cutpurse.games.stolen_treasure.hidden_hands import fill_hands, hands_are_plausible
from cutpurse.games.stolen_treasure.piracy import PLUNDERED, DiscardPiracy, GiveACard, PlayACard
from cutpurse.games.stolen_treasure.state import (
    PIRACY,
    RANDOM,
    TREASURE,
    StolenTreasureSettings,
    StolenTreasureState,
)
from cutpurse.games.stolen_treasure.wager import SIGN_TIES, StakeTreasure

__all__ = ["StolenTreasure"]

ACTIONS: Final = 2
"""ST-3.1. The actions of a turn."""
HAND_LIMIT: Final = 7
"""ST-6.1. The cards that stay in a hand, treasure and piracy together, if the limit is on."""


@mypyc_attr(allow_interpreted_subclasses=True)
class StolenTreasure(StolenTreasureState):
    """ST-2.3, ST-5.3, ST-7.2. How a match begins, how long it can be, and what everybody can infer."""

    __slots__ = ()

    @classmethod
    def max_decisions(cls, seats: int, settings: StolenTreasureSettings) -> int:
        """ST-5.3. Count the actions of all rounds; within one, each response uses up a card.

        A shown card is followed by a poll about Yarr!, and its target or both sides of a wager are asked again. An
        instance has one target to ask, and two answers that carry it out.
        """
        shown_cards = 1 + sum([COPIES[card] for card in (YARR, CODE, PARLEY)])
        others = seats - 1
        answers = 1 + shown_cards * (others + 2) + 3 * others + PLUNDERED
        answers += len(TREASURE) + 2 + 2  # the stakes, and both asked about Parley
        if settings.wager_method == "rps":
            answers += 2 * (SIGN_TIES + 1)
        if settings.hand_limit != "off":
            answers += len(TREASURE) + len(PIRACY)
        return settings.max_rounds * seats * ACTIONS * answers

    def begin(self) -> None:
        seat = self.settings.first_seat
        self.then(SetUp(self.chance.below(self.n) if seat == RANDOM else seat))

    # -- imagining: see `hidden_hands`
    def may_lie(self, zone: Zone, card: int) -> bool:
        """ST-1.4. Tell treasure from piracy by the backs."""
        treasure = card <= LAST_TREASURE
        if zone.kind is TAKEN:
            return any(isinstance(step, GiveACard) and step.treasure == treasure for step in self.agenda)
        return (zone.kind in TREASURE_ZONES) == treasure

    def kept_from_winning(self) -> list[int]:
        """ST-7.2. List the seats that have buried the target and have not won.

        While hands change after the last check for a winner, nothing can be inferred: there are none.
        """
        if not self.agenda or isinstance(self.agenda[-1], GiveACard | DiscardPiracy | DiscardToTheLimit):
            return []
        return [seat for seat in range(self.n) if self.buried_total[seat] >= self.settings.target]

    def is_plausible(self) -> bool:
        """ST-7.2. Tell whether the hands agree with what everybody can infer."""
        return hands_are_plausible(self, self.kept_from_winning())

    def imagine_zones(self, unseen: list[int], chance: Chance) -> None:
        """ST-7.2. Fill the hands that must explain something."""
        fill_hands(self, self.kept_from_winning(), unseen, chance)


class SetUp(Step):
    rule = "ST-2.1, ST-2.2, ST-2.3"
    paragraph = """Two piles of treasure and one of piracy; hands are empty unless the settings deal.

    Treasure is dealt openly, each card from the higher pile, and may be buried from the first turn on.
    """

    def run(self, g: StolenTreasure) -> None:
        g.open_deal(1)
        g.enter(TREASURE, g.treasure_pile_1)
        g.enter(PIRACY, g.piracy_pile)
        g.shuffle_and_cut()
        g.shuffle(g.piracy_pile)
        for _ in range(g.settings.start_treasure):
            for seat in g.seats_from(self.seat):
                higher = max(g.treasure_pile_1, g.treasure_pile_2, key=lambda pile: len(pile.cards))
                g.move_top(higher, g.treasure_hand[seat], shown=g.everyone, columns=(-g.n,))
        for _ in range(g.settings.start_piracy):
            for seat in g.seats_from(self.seat):
                g.move_top(g.piracy_pile, g.piracy_hand[seat])
        g.then(TakeATurn(self.seat))


class TakeATurn(Step):
    rule = "ST-0.5, ST-3.1, ST-3.2"
    paragraph = "The turn is counted. The player takes up to two actions, unless the turn is to be skipped."

    def run(self, g: StolenTreasure) -> None:
        g.count("turn", g.turn + 1)
        if g.skip_next[self.seat]:
            g.tell(SKIPPED, actor=self.seat)
            g.count("skip_next", 0, self.seat)
            g.then(EndTheTurn(self.seat))
        else:
            g.actions_left = ACTIONS
            g.then(TakeAnAction(self.seat))


class TakeAnAction(Choice):
    rule = "ST-3.1"
    paragraph = "Draw, bury, play a piracy card or wager, in any mix; or end the turn."
    text = "What do you do?"
    safe_paragraph = "End the turn."

    def options(self, g: StolenTreasure, seat: int) -> list[Option]:
        return [*self.draws(g), *self.burials(g), *self.piracy(g), *self.wagers(g), Option(END_TURN)]

    def draws(self, g: StolenTreasure) -> list[Option]:
        """ST-3.3, ST-3.4. Draw from a pile that has a card, or would get one from its discards."""
        piles = g.treasure_to_draw()
        if g.piracy_pile.cards or g.piracy_discards.cards:
            piles.append(PIRACY_PILE)
        return [Option(DRAW, zone=pile) for pile in piles]

    def burials(self, g: StolenTreasure) -> list[Option]:
        """ST-3.5. Bury treasure that was held before this turn began, or by the setting for a full round."""
        hand = g.treasure_hand[self.seat]
        since = g.since(hand)
        latest = g.turn - (1 if g.settings.bury_delay == "next_turn" else g.n)
        options = g.treasure_options(BURY, hand)
        return [option for option in options if since[g.place_of(option, hand)] <= latest]

    def piracy(self, g: StolenTreasure) -> list[Option]:
        """ST-3.9. Play one of the eight cards that can be played in turn, on a target where it can do something."""
        options: list[Option] = []
        for card in distinct(g.piracy_hand[self.seat].cards):
            if card in ON_ONE_OPPONENT:
                targets = [other for other in g.opponents(self.seat) if self.can_target(g, card, other)]
                options += [Option(PLAY_ON, (card,), seat=target) for target in targets]
            elif card <= LAST_IN_TURN and (card != PLUNDER or g.treasure_to_draw()):
                options.append(Option(PLAY, (card,)))
        return options

    def can_target(self, g: StolenTreasure, card: int, target: int) -> bool:
        """ST-3.9. Tell whether an opponent can be the first target of a card."""
        if card == SKULDUGGERY:
            return g.hand_size(target) > 0
        if card == X_MARKS_THE_SPOT:
            return len(g.buried[target].cards) > 0
        return True

    def wagers(self, g: StolenTreasure) -> list[Option]:
        """ST-3.23. Wager treasure against an opponent who has treasure in hand."""
        if not g.treasure_hand[self.seat].cards:
            return []
        return [Option(WAGER, seat=other) for other in g.opponents(self.seat) if g.treasure_hand[other].cards]

    def safe(self, g: StolenTreasure, seat: int, options: list[Option]) -> Option:
        """Follow ST-0.6."""
        return options[-1]

    def chosen(self, g: StolenTreasure, option: Option) -> None:
        seat, verb = self.seat, option.verb
        if verb == END_TURN:
            g.then(EndTheTurn(seat))
            return
        g.actions_left -= 1
        target = NOBODY if option.seat is None else option.seat
        if verb == DRAW:
            g.draw(seat, option.zone)
            g.then(FinishTheAction(seat))
        elif verb == BURY:
            g.bury(seat, option)
            g.then(FinishTheAction(seat))
        elif verb == WAGER:
            g.then(StakeTreasure(seat, target), FinishTheAction(seat, target=target))
        else:
            card = option.cards[0]
            g.then(PlayACard(seat, card, target), FinishTheAction(seat, card, target))


class FinishTheAction(Step):
    rule = "ST-3.1, ST-3.10, ST-6.1"
    paragraph = """All that follows from the action has happened, and the cards that were played go to the discards.

    With the hand limit each player with more cards discards, the active player first. Then comes the check for a
    winner.
    """
    card: int = 0
    target: int = NOBODY

    def act(self) -> Act | None:
        if self.card:
            if self.target == NOBODY:
                return Act(PLAY, (self.card,), actor=self.seat)
            return Act(PLAY_ON, (self.card,), seat=self.target, actor=self.seat)
        return None if self.target == NOBODY else Act(WAGER, seat=self.target, actor=self.seat)

    def run(self, g: StolenTreasure) -> None:
        g.move_all(g.in_play, g.piracy_discards)
        over: list[int] = []
        if g.settings.hand_limit != "off":
            over = [seat for seat in g.seats_from(self.seat) if g.hand_size(seat) > HAND_LIMIT]
        g.then(*[DiscardToTheLimit(seat) for seat in over], CheckForAWinner(self.seat))


class DiscardToTheLimit(Choice):
    rule = "ST-6.1, ST-4.1"
    paragraph = "Discard down to seven cards, one by one, of either kind; The Black Spot, too."
    text = "Your hand is too large: which card do you discard?"
    safe_paragraph = "The lowest treasure, then piracy."

    def options(self, g: StolenTreasure, seat: int) -> list[Option]:
        return g.hand_options(DISCARD, seat)

    def safe(self, g: StolenTreasure, seat: int, options: list[Option]) -> Option:
        """Follow ST-0.6."""
        return g.lowest_treasure(options)

    def chosen(self, g: StolenTreasure, option: Option) -> None:
        card = option.cards[0]
        if card <= LAST_TREASURE:
            g.move_treasure(option, g.treasure_hand[self.seat], g.treasure_discards)
        else:
            g.move(card, g.piracy_hand[self.seat], g.piracy_discards)
        if g.hand_size(self.seat) > HAND_LIMIT:
            g.then(DiscardToTheLimit(self.seat))


class CheckForAWinner(Step):
    rule = "ST-5.2, ST-6.2"
    paragraph = """A player who has the target and not The Black Spot wins at once, in any player's turn.

    Of several the active player wins, else the highest score, else the first clockwise from the active player. The
    winner's hand is shown. Without a winner the next action follows, or the turn ends.
    """

    def run(self, g: StolenTreasure) -> None:
        target = g.settings.target
        qualified = [seat for seat in g.seats_from(self.seat) if g.score(seat) >= target and not g.has_the_spot(seat)]
        if qualified:
            self.win(g, self.seat if self.seat in qualified else max(qualified, key=g.score))
        elif g.actions_left:
            g.then(TakeAnAction(self.seat))
        else:
            g.then(EndTheTurn(self.seat))

    def win(self, g: StolenTreasure, winner: int) -> None:
        """ST-5.2. Show the winner's hand, and end the game."""
        g.show(g.treasure_hand[winner])
        g.show(g.piracy_hand[winner])
        g.count("won", 1, winner)
        g.tell_scores(over=True)


class EndTheTurn(Step):
    rule = "ST-2.3, ST-5.3"
    paragraph = "The turn goes clockwise; after the last round the game ends."

    def run(self, g: StolenTreasure) -> None:
        if g.turn == g.settings.max_rounds * g.n:
            g.then(EndAfterTheLastRound(self.seat))
        else:
            g.then(TakeATurn(g.next_seat(self.seat)))


class EndAfterTheLastRound(Step):
    rule = "ST-5.3"
    paragraph = """The highest score of the players without The Black Spot wins.

    Of equal scores the one with more buried cards wins; if these are equal too, the win is shared.
    """

    def run(self, g: StolenTreasure) -> None:
        without_the_spot = [seat for seat in range(g.n) if not g.has_the_spot(seat)]
        results = [(g.score(seat), len(g.buried[seat].cards)) for seat in without_the_spot]
        for seat, result in zip(without_the_spot, results, strict=True):
            if result == max(results):
                g.count("won", 1, seat)
        g.tell_scores(over=True)
