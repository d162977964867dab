"""The rules of Stolen Treasure in play order, one class a paragraph of `docs/reference/rules/stolen_treasure.md`.

This module has the set-up, the turn, drawing, burying, the house rule on hands and the end. `piracy` has the piracy
cards, `wager` the wager, and `hidden_hands` what everybody can infer about a hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Final

from cutpurse.engine.agenda import Act, Choice, Fields, Option, Step
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings, choice, flag, number, table
from cutpurse.engine.zones import Zone
from cutpurse.games.stolen_treasure.cards import (
    BLACK_SPOT,
    BURY,
    CODE,
    COPIES,
    DISCARD,
    DRAW,
    END_TURN,
    FIRST_PIRACY,
    LAST_IN_TURN,
    LAST_TREASURE,
    MAX_PLAYERS,
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
    TREASURE_PILE_1,
    TREASURE_PILE_2,
    TREASURE_ZONES,
    VALUES,
    WAGER,
    WORDS,
    X_MARKS_THE_SPOT,
    YARR,
)
from cutpurse.games.stolen_treasure.hidden_hands import fill_hands, hands_are_plausible
from cutpurse.games.stolen_treasure.piracy import PLUNDERED, DiscardPiracy, GiveACard, PlayACard
from cutpurse.games.stolen_treasure.wager import SIGN_TIES, StakeTreasure

__all__ = ["StolenTreasure", "StolenTreasureSettings"]

TREASURE: Final = [card for card in range(FIRST_PIRACY) for _ in range(COPIES[card])]
PIRACY: Final = [card for card in range(FIRST_PIRACY, len(COPIES)) for _ in range(COPIES[card])]
"""ST-1.1, ST-1.3. The 50 treasure cards and the 45 piracy cards."""
HIGHEST_VALUE: Final = 5000
"""ST-1.2. The highest value that a setting may give, and with a minus the lowest; so the sums of stakes stay few."""
ACTIONS: Final = 2
"""ST-3.1. The actions of a turn."""
HAND_LIMIT: Final = 7
"""ST-6.1. The cards that stay in a hand, treasure and piracy together, if the limit is on."""
RANDOM: Final = -1  # in place of the first seat


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class StolenTreasureSettings(Settings):
    """ST-1.2, ST-2.2, ST-2.3, ST-3.5, ST-3.22, ST-3.26, ST-5.3, ST-6.1, ST-6.2, ST-6.3. The variants."""

    target: int = number(
        1500, 500, 5000, step=50, text="the score that wins", rule="ST-6.2", by_seats={5: 1200, 6: 1000}
    )
    hand_limit: str = choice("off", "7", text="cards that a hand may hold after an action", rule="ST-6.1")
    true_random_theft: bool = flag(False, text="theft does not name a kind of card", rule="ST-6.3")
    wager_method: str = choice("coin", "die", "rps", text="what decides a wager", rule="ST-3.26")
    bury_delay: str = choice("next_turn", "full_round", text="when a new treasure may be buried", rule="ST-3.5")
    start_treasure: int = number(0, 0, 3, text="treasure cards dealt to each player", rule="ST-2.2")
    start_piracy: int = number(0, 0, 3, text="piracy cards dealt to each player", rule="ST-2.2")
    first_seat: int = number(RANDOM, 0, MAX_PLAYERS - 1, names={"random": RANDOM}, text="who begins", rule="ST-2.3")
    max_rounds: int = number(100, 20, 500, text="rounds after which the highest score wins", rule="ST-5.3")
    values: tuple[tuple[str, int], ...] = table(
        tuple(card.name for card in WORDS.cards[:LAST_TREASURE]), text="values of treasure cards", rule="ST-1.2"
    )

    def problem(self, seats: int) -> str:
        if self.first_seat >= seats:
            allowed = f"random, 0 to {seats - 1}"
            return f"setting first_seat cannot be {self.first_seat} with {seats} players; it can be: {allowed}"
        for name, value in self.values:
            if abs(value) > HIGHEST_VALUE:
                allowed = f"-{HIGHEST_VALUE} to {HIGHEST_VALUE} for each name"
                return f"setting values cannot be '{name}:{value}'; it can be: {allowed}"
        return ""


@mypyc_attr(allow_interpreted_subclasses=True)
class StolenTreasure(Game[StolenTreasureSettings]):
    """ST-0.1, ST-0.2. Seats go clockwise; a card is its face, and equal copies with equal `since` are one option."""

    __slots__ = ("value", *WORDS.attributes())
    words = WORDS
    settings_type = StolenTreasureSettings
    shared = ("value",)

    treasure_pile_1: Zone
    treasure_pile_2: Zone
    piracy_pile: Zone
    treasure_discards: Zone
    piracy_discards: Zone
    in_play: Zone
    taken: Zone
    treasure_hand: list[Zone]
    piracy_hand: list[Zone]
    buried: list[Zone]
    stake: list[Zone]
    turn: int
    actions_left: int
    skip_next: list[int]
    buried_total: list[int]
    won: list[int]

    def prepare(self) -> None:
        """ST-1.1, ST-1.2. Set what each card is worth, which follows from the settings."""
        self.value = self.values(self.settings)

    @classmethod
    def values(cls, settings: StolenTreasureSettings) -> list[int]:
        """ST-1.2. Return the printed value of each card, or that of the setting."""
        values = VALUES[:]
        for name, value in settings.values:
            values[WORDS.card_named(name)] = value
        return values

    @classmethod
    def box(cls, seats: int, settings: StolenTreasureSettings) -> list[int]:
        """ST-1.1, ST-1.3. Return the 50 treasure and the 45 piracy cards."""
        return TREASURE + PIRACY

    @classmethod
    def max_decisions(cls, seats: int, settings: StolenTreasureSettings) -> int:
        """ST-5.3. Count the actions of all rounds; within one, each response uses up a card.

        A shown card is followed by a poll about Yarr!, and its target or both sides of a wager are asked again. An
        instance has one target to ask, and two answers that carry it out.
        """
        shown = 1 + sum([COPIES[card] for card in (YARR, CODE, PARLEY)])
        others = seats - 1
        answers = 1 + shown * (others + 2) + 3 * others + PLUNDERED
        answers += len(TREASURE) + 2 + 2  # the stakes, and both asked about Parley
        if settings.wager_method == "rps":
            answers += 2 * (SIGN_TIES + 1)
        if settings.hand_limit != "off":
            answers += len(TREASURE) + len(PIRACY)
        return settings.max_rounds * seats * ACTIONS * answers

    def begin(self) -> None:
        seat = self.settings.first_seat
        self.then(SetUp(self.chance.below(self.n) if seat == RANDOM else seat))

    # -- drawing and burying
    def shuffle_and_cut(self) -> None:
        """ST-2.1, ST-3.4, ST-3.20. Shuffle the first treasure pile, and make half of it the second."""
        self.shuffle(self.treasure_pile_1)
        self.deal(self.treasure_pile_1, self.treasure_pile_2, len(self.treasure_pile_1.cards) // 2)

    def treasure_to_draw(self) -> list[int]:
        """ST-3.4. List the treasure piles that can be drawn from: empty ones only if their discards would fill them."""
        piles = [pile.number for pile in (self.treasure_pile_1, self.treasure_pile_2) if pile.cards]
        if piles:
            return piles
        return [TREASURE_PILE_1, TREASURE_PILE_2][: len(self.treasure_discards.cards)]  # a single card goes to T1

    def draw(self, seat: int, pile_number: int) -> None:
        """ST-3.3, ST-3.4, ST-3.6. Draw the top card: treasure is shown to all, piracy is taken unseen."""
        pile = self.zone(pile_number)
        if pile_number == PIRACY_PILE:
            if not pile.cards:
                self.move_all(self.piracy_discards, pile)
                self.shuffle(pile)
            self.move_top(pile, self.piracy_hand[seat])
        else:
            if not pile.cards:
                self.move_all(self.treasure_discards, self.treasure_pile_1)
                self.shuffle_and_cut()
            self.move_top(pile, self.treasure_hand[seat], shown=self.everyone, columns=(self.turn,))

    def bury(self, seat: int, option: Option) -> None:
        """ST-3.5, ST-5.1. Bury the treasure that an option names; the sum of all buried cards is public."""
        self.move_treasure(option, self.treasure_hand[seat], self.buried[seat])
        self.count("buried_total", self.buried_total[seat] + self.value[option.cards[0]], seat)

    # -- hands
    def hand_size(self, seat: int) -> int:
        """ST-1.4. Count the cards in a hand, of both kinds; everybody sees this number."""
        return len(self.treasure_hand[seat].cards) + len(self.piracy_hand[seat].cards)

    def since(self, zone: Zone) -> list[int]:
        """ST-0.5. Return the turn in which each treasure card of a hand came to its player."""
        assert zone.columns is not None
        return zone.columns[0]

    def hand_options(self, verb: int, seat: int, target: int | None = None) -> list[Option]:
        """ST-0.2. Offer each card in a seat's hand, treasure first."""
        treasure = self.treasure_options(verb, self.treasure_hand[seat], target)
        return treasure + self.card_options(verb, self.piracy_hand[seat], target)

    def card_options(self, verb: int, zone: Zone, target: int | None = None) -> list[Option]:
        """ST-0.2. Offer each card in a zone without `since`; equal copies are one option."""
        return [Option(verb, (card,), seat=target) for card in sorts_of(zone.cards)]

    def treasure_options(self, verb: int, hand: Zone, target: int | None = None) -> list[Option]:
        """ST-0.2. Offer each card in a treasure hand; equal copies are one option.

        Copies that differ in `since` are one option for each turn, which names the place of the first such copy.
        """
        options: list[Option] = []
        cards, since = hand.cards, self.since(hand)
        for place, card in enumerate(cards):  # copies lie side by side, the oldest first
            if place and cards[place - 1] == card and since[place - 1] == since[place]:
                continue  # equal to the copy before
            first, copies = cards.index(card), cards.count(card)
            if since[first] == since[first + copies - 1]:
                options.append(Option(verb, (card,), seat=target))
            else:
                options.append(Option(verb, (card,), seat=target, places=(place,)))
        return options

    def place_of(self, option: Option, hand: Zone) -> int:
        """ST-0.2. Return the place in a treasure hand of the copy that an option names."""
        return option.places[0] if option.places else hand.cards.index(option.cards[0])

    def move_treasure(self, option: Option, hand: Zone, to: Zone, columns: tuple[int, ...] | None = None) -> None:
        """ST-0.2. Move the copy that an option names out of a treasure hand."""
        self.move_at(self.place_of(option, hand), hand, to, columns=columns)

    def lowest_treasure(self, options: list[Option]) -> Option:
        """ST-0.6. Return the option with the lowest treasure; the first option if all name piracy."""
        treasure = [option for option in options if option.cards[0] <= LAST_TREASURE]
        return min(treasure, key=lambda option: self.value[option.cards[0]]) if treasure else options[0]

    # -- scoring
    def value_of(self, cards: Iterable[int]) -> int:
        """Add up the values of cards."""
        total = 0
        for card in cards:
            total += self.value[card]
        return total

    def score(self, seat: int) -> int:
        """ST-5.1, ST-3.8. Add the negative treasure in the hand to the buried sum; good treasure there is nothing."""
        score = self.buried_total[seat]
        for card in self.treasure_hand[seat].cards:
            if self.value[card] < 0:
                score += self.value[card]
        return score

    def has_the_spot(self, seat: int) -> bool:
        """ST-4.1. Tell whether a seat holds The Black Spot, and so cannot win."""
        return BLACK_SPOT in self.piracy_hand[seat].cards

    def scores(self) -> list[int]:
        return [self.score(seat) for seat in range(self.n)]

    def standing(self, seat: int) -> tuple[int, ...]:
        """ST-5.3. Order the seats: winners first, then by score."""
        return self.won[seat], self.score(seat)

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
        return hands_are_plausible(self)

    def imagine_zones(self, unseen: list[int], chance: Chance) -> None:
        """ST-7.2. Fill the hands that must explain something."""
        fill_hands(self, unseen, chance)


def sorts_of(cards: list[int]) -> list[int]:
    """ST-0.2. Return each card once, in the order in which they first come."""
    return list(dict.fromkeys(cards))


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
        for card in sorts_of(g.piracy_hand[self.seat].cards):
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
    fields: ClassVar[Fields] = {"card": int, "target": int}

    def __init__(self, seat: int, card: int = 0, target: int = NOBODY) -> None:
        super().__init__(seat)
        self.card = card
        self.target = target

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
