"""The rules of Stolen Treasure, one class a paragraph of `docs/rules/stolen_treasure.md`, in the order of play.

Here are the set-up, the turn, drawing, burying, the hand limit and the end; `piracy` has the piracy cards and `wager`
the wager.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Final

from cutpurse.engine.agenda import Act, Choice, Fields, Option, Step
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings, choice, flag, number, table
from cutpurse.engine.words import FACE_DOWN
from cutpurse.engine.zones import Zone
from cutpurse.games.stolen_treasure.cards import (
    BLACK_SPOT,
    BURY,
    COPIES,
    DRAW,
    END_TURN,
    FIRST_PIRACY,
    HOOK,
    LAST_IN_TURN,
    LAST_TREASURE,
    MAX_PLAYERS,
    NOBODY,
    PIRACY_PILE,
    PLAY,
    PLAY_ON,
    PLUNDER,
    SKIPPED,
    SKULDUGGERY,
    SPYGLASS,
    TAKEN,
    TREASURE_PILE_1,
    TREASURE_ZONES,
    VALUES,
    WAGER,
    WORDS,
    X_MARKS_THE_SPOT,
)
from cutpurse.games.stolen_treasure.piracy import (
    DISCARD_CARD,
    DRAW_PIRACY,
    DRAW_TREASURE,
    DiscardPiracy,
    GiveACard,
    PlayACard,
)
from cutpurse.games.stolen_treasure.wager import MatchTheStake, StakeTreasure, least_match

__all__ = ["StolenTreasure", "StolenTreasureSettings"]

ACTIONS: Final = 2
"""ST-3.1. Up to two actions a turn."""
HAND_LIMIT: Final = 7
"""ST-6.1. This many cards stay in a hand, treasure and piracy together, when the limit is on."""
HIGHEST_VALUE: Final = 5000  # either way; so that the sums of stakes stay few
ANY_TURN: Final = 1_000_000  # in place of the latest turn in which a card may have come; no game has as many
RANDOM: Final = -1
GUESSES: Final = 100  # hands tried out before the plainest reason for not having won is taken

TREASURE: Final = [card for card in range(FIRST_PIRACY) for _ in range(COPIES[card])]
PIRACY: Final = [card for card in range(FIRST_PIRACY, len(COPIES)) for _ in range(COPIES[card])]

BURY_CARD: Final = [Option(BURY, (card,)) for card in range(LAST_TREASURE + 1)]
PLAY_CARD: Final = [Option(PLAY, (card,)) for card in range(len(COPIES))]
PLAY_CARD_ON: Final = [[Option(PLAY_ON, (card,), seat=s) for s in range(MAX_PLAYERS)] for card in range(len(COPIES))]
WAGER_AGAINST: Final = [Option(WAGER, seat=seat) for seat in range(MAX_PLAYERS)]
END_THE_TURN: Final = Option(END_TURN)


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


@cache
def at_place(option: Option, place: int) -> Option:
    """Return the option for the copy at this index.  Cached: there are only as many as treasure cards and indexes."""
    return option.at((place,))


class StolenTreasure(Game[StolenTreasureSettings]):
    """ST-0.1, ST-0.2. Seats go clockwise; a card is its face, and equal copies of equal age are one option."""

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
        """ST-1.1, ST-1.2. What a card is worth follows from the settings."""
        self.value = self.values(self.settings)

    @classmethod
    def values(cls, settings: StolenTreasureSettings) -> list[int]:
        """ST-1.2. As printed, or as the setting says."""
        values = VALUES[:]
        for name, value in settings.values:
            values[WORDS.card_named(name)] = value
        return values

    @classmethod
    def box(cls, seats: int, settings: StolenTreasureSettings) -> list[int]:
        """ST-1.1, ST-1.3. 50 treasure and 45 piracy cards."""
        return TREASURE + PIRACY

    def begin(self) -> None:
        seat = self.settings.first_seat
        self.then(SetUp(self.chance.below(self.n) if seat == RANDOM else seat))

    # -- piles
    def treasure_to_draw(self) -> list[Option]:
        """ST-3.4. To draw from each treasure pile that has a card; from empty ones if they get a discard."""
        first, second = self.treasure_pile_1.cards, self.treasure_pile_2.cards
        if first and second:
            return DRAW_TREASURE
        if first or second:
            return DRAW_TREASURE[:1] if first else DRAW_TREASURE[1:]
        return DRAW_TREASURE[: len(self.treasure_discards.cards)]

    def shuffle_and_cut(self) -> None:
        """ST-2.1, ST-3.4, ST-3.20. All cards of the first treasure pile; half of them become the second."""
        self.shuffle(self.treasure_pile_1)
        self.deal(self.treasure_pile_1, self.treasure_pile_2, len(self.treasure_pile_1.cards) // 2)

    def draw(self, seat: int, pile_number: int) -> None:
        """ST-3.3, ST-3.4, ST-3.6. The top card of a pile: treasure is shown to all, piracy is taken unseen.

        An empty pile is renewed first.
        """
        if pile_number == PIRACY_PILE:
            pile = self.piracy_pile
            if not pile.cards:
                self.move_all(self.piracy_discards, pile)
                self.shuffle(pile)
            self.move_top(pile, self.piracy_hand[seat])
            return
        pile = self.treasure_pile_1 if pile_number == TREASURE_PILE_1 else self.treasure_pile_2
        if not pile.cards:
            self.move_all(self.treasure_discards, self.treasure_pile_1)
            self.shuffle_and_cut()
        self.move_top(pile, self.treasure_hand[seat], shown=self.everyone, columns=(self.turn,))

    # -- hands
    def hand_size(self, seat: int) -> int:
        """ST-1.4. How many cards a hand holds of both kinds; all can see it."""
        return len(self.treasure_hand[seat].cards) + len(self.piracy_hand[seat].cards)

    def add_copies(self, options: list[Option], of_card: list[Option], zone: Zone, latest: int = ANY_TURN) -> None:
        """ST-0.2. For each card of a zone of treasure its option, `of_card[card]`, is added; equal copies are one.

        Where the copies of a face differ in `since`, an option names a place: that of the first copy of this age.
        Only what came in the turn `latest` or before is offered.
        """
        cards, since = zone.cards, zone.columns[0] if zone.columns else []
        last, place = FACE_DOWN, -1
        for card in cards:  # copies of a face lie side by side, the oldest first
            place += 1
            if card != last:
                last = card
                if since[place] <= latest:
                    options.append(of_card[card])
            elif since[place] != since[place - 1]:
                first = cards.index(card)
                if since[place - 1] == since[first] <= latest:  # until here all copies of this face were alike
                    options[-1] = at_place(of_card[card], first)
                if since[place] <= latest:
                    options.append(at_place(of_card[card], place))

    def place_of(self, option: Option, zone: Zone) -> int:
        """Return the index in a zone of treasure of the card that an option names."""
        return option.places[0] if option.places else zone.cards.index(option.cards[0])

    def lowest_treasure(self, options: list[Option]) -> Option:
        """ST-0.6. Of options that each name a card, treasure before piracy, the one of lowest value, the first such."""
        treasure = [option for option in options if option.cards[0] <= LAST_TREASURE]
        return min(treasure, key=lambda option: self.value[option.cards[0]]) if treasure else options[0]

    # -- scoring
    def score(self, seat: int) -> int:
        """ST-5.1, ST-3.8. All that is buried, and what is negative in the hand; good treasure there counts nothing."""
        value = self.value
        return self.buried_total[seat] + sum([min(0, value[card]) for card in self.treasure_hand[seat].cards])

    def has_the_spot(self, seat: int) -> bool:
        """ST-4.1. Who holds The Black Spot cannot win."""
        return BLACK_SPOT in self.piracy_hand[seat].cards

    def scores(self) -> list[int]:
        return [self.score(seat) for seat in range(self.n)]

    def standing(self, seat: int) -> tuple[int, ...]:
        """ST-5.3. Who has won, then by score."""
        return self.won[seat], self.score(seat)

    # -- imagining
    def may_lie(self, zone: Zone, card: int) -> bool:
        """ST-1.4. The backs tell treasure from piracy."""
        treasure = card <= LAST_TREASURE
        if zone.kind is TAKEN:
            return any(isinstance(step, GiveACard) and step.treasure == treasure for step in self.agenda)
        return (zone.kind in TREASURE_ZONES) == treasure

    def wager_against(self) -> int:
        """Whose match lies complete in the wager that is on, or NOBODY."""
        bottom = self.agenda[0] if self.agenda else None
        if not isinstance(bottom, FinishTheAction) or bottom.card or bottom.target == NOBODY:
            return NOBODY
        matching = isinstance(self.agenda[-1], MatchTheStake | StakeTreasure)
        return NOBODY if matching or not self.stake[bottom.target].cards else bottom.target

    def should_not_have_won(self) -> list[int]:
        """ST-7.2. Who has buried enough and, as hands have not changed since the last check, cannot have won by it."""
        if not self.agenda or isinstance(self.agenda[-1], GiveACard | DiscardPiracy | DiscardToTheLimit):
            return []
        return [seat for seat in range(self.n) if self.buried_total[seat] >= self.settings.target]

    def is_plausible(self) -> bool:
        """ST-7.2. Who has buried enough and has not won has a reason; a match below the stake was their best."""
        top = self.agenda[-1] if self.agenda else None
        if isinstance(top, MatchTheStake) and not top.options(self, top.seat):
            return False
        seat = self.wager_against()
        if seat != NOBODY:
            stake = self.value_of(self.stake[self.agenda[0].seat].cards)
            if self.value_of(self.stake[seat].cards) < least_match(self, seat, stake):
                return False
        return all(self.has_a_reason(seat) for seat in self.should_not_have_won())

    def value_of(self, cards: Iterable[int]) -> int:
        """Add up what cards are worth."""
        value, total = self.value, 0
        for card in cards:
            total += value[card]
        return total

    def has_a_reason(self, seat: int) -> bool:
        """ST-7.2. Tell whether a seat holds The Black Spot, or too much bad treasure."""
        return self.has_the_spot(seat) or self.surplus(seat) < 0

    def surplus(self, seat: int) -> int:
        """ST-7.2. How far a seat's score was above the target at the last check; its stake was in the hand then."""
        staked = sum([min(0, self.value[card]) for card in self.stake[seat].cards])
        return self.score(seat) + staked - self.settings.target

    def imagine_zones(self, unseen: list[int], chance: Chance) -> None:
        """ST-7.2. Hands that must explain something are drawn first: so few random ones would."""
        seat = self.wager_against()
        if seat != NOBODY:
            laid, stake = (self.value_of(self.stake[s].cards) for s in (seat, self.agenda[0].seat))
            if laid < stake:
                worse = [card for card in unseen if card <= LAST_TREASURE and self.value[card] <= min(0, laid)]
                _fill(self.treasure_hand[seat], worse, unseen)
        top = self.agenda[-1] if self.agenda else None
        if isinstance(top, MatchTheStake):
            self._imagine_a_match(top, unseen, chance)
        for seat in self.should_not_have_won():
            if not self.has_a_reason(seat):
                self._imagine_a_reason(seat, unseen, chance)

    def _imagine_a_match(self, top: MatchTheStake, unseen: list[int], chance: Chance) -> None:
        """ST-3.24. A hand with which what is laid so far can still become a legal set, and which explains no win."""
        hand = self.treasure_hand[top.seat]
        shown = hand.cards
        treasure = [card for card in unseen if card <= LAST_TREASURE]
        may_hold_the_spot = BLACK_SPOT in unseen and FACE_DOWN in self.piracy_hand[top.seat].cards
        needs_a_reason = top.seat in self.should_not_have_won() and not may_hold_the_spot
        for _ in range(GUESSES):
            chance.shuffle(treasure)
            drawn = treasure[: shown.count(FACE_DOWN)]
            hand.cards = sorted([*drawn, *[card for card in shown if card != FACE_DOWN]])
            possible = top.options(self, top.seat) and (not needs_a_reason or self.has_a_reason(top.seat))
            hand.cards = shown
            if possible:
                _fill(hand, drawn, unseen)
                return

    def _imagine_a_reason(self, seat: int, unseen: list[int], chance: Chance) -> None:
        """Hidden cards for a hand, drawn until one of them explains why this seat has not won."""
        hand, piracy_hand = self.treasure_hand[seat], self.piracy_hand[seat]
        treasure = [card for card in unseen if card <= LAST_TREASURE]
        piracy = len(unseen) - len(treasure)
        here = piracy_hand.cards.count(FACE_DOWN) if BLACK_SPOT in unseen else 0
        places = hand.cards.count(FACE_DOWN)
        surplus = self.surplus(seat)
        for _ in range(GUESSES):
            if here and chance.below(piracy) < here:
                break
            chance.shuffle(treasure)
            if sum(min(0, self.value[card]) for card in treasure[:places]) < -surplus:
                _fill(hand, treasure, unseen)
                if here:  # The Spot as well would be the first case again
                    _fill(piracy_hand, [card for card in unseen if LAST_TREASURE < card != BLACK_SPOT], unseen)
                return
        if here:
            _fill(piracy_hand, [BLACK_SPOT], unseen)
        else:
            _fill(hand, sorted(treasure, key=lambda card: self.value[card]), unseen)


def _fill(zone: Zone, cards: list[int], unseen: list[int]) -> None:
    """Lay the first of these unseen cards where cards lie face down in a zone, as far as both reach."""
    places = [place for place, card in enumerate(zone.cards) if card == FACE_DOWN]
    for place, card in zip(places, cards, strict=False):
        zone.cards[place] = card
        unseen.remove(card)
    zone.cards.sort()  # a hand; the columns of one that is hidden are all alike


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
                pile = max(g.treasure_pile_1, g.treasure_pile_2, key=lambda pile: len(pile.cards))
                g.move_top(pile, g.treasure_hand[seat], shown=g.everyone, columns=(-g.n,))
        for _ in range(g.settings.start_piracy):
            for seat in g.seats_from(self.seat):
                g.move_top(g.piracy_pile, g.piracy_hand[seat])
        g.then(TakeATurn(self.seat))


class TakeATurn(Step):
    rule = "ST-0.5, ST-3.1, ST-3.2"
    paragraph = "The turn is counted; up to two actions, unless it is to be skipped."

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
        options = g.treasure_to_draw()[:]
        if g.piracy_pile.cards or g.piracy_discards.cards:  # an empty pile is renewed from its discards (ST-3.4)
            options.append(DRAW_PIRACY)
        opponents, hands = g.opponents(seat), g.treasure_hand
        hand = hands[seat]
        if hand.cards:
            # ST-3.5, ST-3.7. Treasure held since before this turn, or for a full round; what is buried stays so.
            latest = g.turn - (1 if g.settings.bury_delay == "next_turn" else g.n)
            g.add_copies(options, BURY_CARD, hand, latest)
        last = FACE_DOWN
        for card in g.piracy_hand[seat].cards:
            if card > LAST_IN_TURN:  # a hand is sorted
                break
            if card != last:
                last = card
                self.add_plays(g, options, card, opponents)
        if hand.cards:
            for other in opponents:
                if hands[other].cards:
                    options.append(WAGER_AGAINST[other])
        options.append(END_THE_TURN)
        return options

    def safe(self, g: StolenTreasure, seat: int, options: list[Option]) -> Option:
        """Follow ST-0.6."""
        return options[-1]

    def add_plays(self, g: StolenTreasure, options: list[Option], card: int, opponents: Sequence[int]) -> None:
        """ST-3.9. A piracy card is played in turn, on each target on which it could do something."""
        play_on = PLAY_CARD_ON[card]
        if card == SKULDUGGERY:
            for other in opponents:
                if g.treasure_hand[other].cards or g.piracy_hand[other].cards:
                    options.append(play_on[other])
        elif card == X_MARKS_THE_SPOT:
            for other in opponents:
                if g.buried[other].cards:
                    options.append(play_on[other])
        elif card in (HOOK, SPYGLASS):
            for other in opponents:
                options.append(play_on[other])
        elif card != PLUNDER or g.treasure_to_draw():  # YO HO HO!, The Kraken and Bombs Away can always be played
            options.append(PLAY_CARD[card])

    def chosen(self, g: StolenTreasure, option: Option) -> None:
        seat, verb = self.seat, option.verb
        if verb == END_TURN:
            g.then(EndTheTurn(seat))
            return
        g.actions_left -= 1
        if verb == DRAW:
            g.draw(seat, option.zone)
            g.then(FinishTheAction(seat))
        elif verb == BURY:
            hand = g.treasure_hand[seat]
            card = g.move_at(g.place_of(option, hand), hand, g.buried[seat])
            g.count("buried_total", g.buried_total[seat] + g.value[card], seat)
            g.then(FinishTheAction(seat))
        elif verb == WAGER:
            assert option.seat is not None
            g.then(StakeTreasure(seat, option.seat), FinishTheAction(seat, 0, option.seat))
        else:
            card, target = option.cards[0], NOBODY if option.seat is None else option.seat
            g.then(PlayACard(seat, card, target), FinishTheAction(seat, card, target))


class FinishTheAction(Step):
    rule = "ST-3.1, ST-3.10, ST-6.1"
    paragraph = """The lowest step while an action lasts: the cards played go to the discards; with the hand limit, who
    holds more discards, the active player first; then comes the check for a winner."""
    fields: ClassVar[Fields] = {"card": int, "target": int}

    def __init__(self, seat: int, card: int = 0, target: int = NOBODY) -> None:
        super().__init__(seat)
        self.card = card
        self.target = target

    def act(self) -> Act | None:
        if self.card:
            target = None if self.target == NOBODY else self.target
            return Act(PLAY if target is None else PLAY_ON, (self.card,), seat=target, actor=self.seat)
        return None if self.target == NOBODY else Act(WAGER, seat=self.target, actor=self.seat)

    def run(self, g: StolenTreasure) -> None:
        if g.in_play.cards:
            g.move_all(g.in_play, g.piracy_discards)
        check = CheckForAWinner(self.seat)
        if g.settings.hand_limit == "off":
            g.then(check)
        else:
            over = [seat for seat in g.seats_from(self.seat) if g.hand_size(seat) > HAND_LIMIT]
            g.then(*[DiscardToTheLimit(seat) for seat in over], check)


class DiscardToTheLimit(Choice):
    rule = "ST-6.1, ST-4.1"
    paragraph = "Discard down to seven cards, one by one, of whatever kind; The Black Spot, too."
    text = "Your hand is too large: which card do you discard?"
    safe_paragraph = "The lowest treasure, then piracy."

    def options(self, g: StolenTreasure, seat: int) -> list[Option]:
        options: list[Option] = []
        g.add_copies(options, DISCARD_CARD, g.treasure_hand[seat])
        return options + [DISCARD_CARD[card] for card in dict.fromkeys(g.piracy_hand[seat].cards)]

    def safe(self, g: StolenTreasure, seat: int, options: list[Option]) -> Option:
        """Follow ST-0.6."""
        return g.lowest_treasure(options)

    def chosen(self, g: StolenTreasure, option: Option) -> None:
        if option.cards[0] <= LAST_TREASURE:
            hand = g.treasure_hand[self.seat]
            g.move_at(g.place_of(option, hand), hand, g.treasure_discards)
        else:
            g.move(option.cards[0], g.piracy_hand[self.seat], g.piracy_discards)
        if g.hand_size(self.seat) > HAND_LIMIT:
            g.then(DiscardToTheLimit(self.seat))


class CheckForAWinner(Step):
    rule = "ST-5.2, ST-6.2"
    paragraph = """Who has the target and not The Black Spot wins by himself, whoever's turn it is.

    Of several the active player, else the highest score, else the first clockwise from him. The winner's hand is shown.
    """

    def run(self, g: StolenTreasure) -> None:
        target = g.settings.target
        for buried in g.buried_total:
            if buried >= target and (able := self.able(g, target)):
                winner = self.seat if self.seat in able else max(able, key=g.score)
                g.show(g.treasure_hand[winner])
                g.show(g.piracy_hand[winner])
                g.count("won", 1, winner)
                g.tell_scores(over=True)
                return
        if g.actions_left:
            g.then(TakeAnAction(self.seat))
        else:
            g.then(EndTheTurn(self.seat))

    def able(self, g: StolenTreasure, target: int) -> list[int]:
        """ST-5.2. Who has the target and not The Black Spot, the active player first, then clockwise."""
        return [
            seat
            for seat in g.seats_from(self.seat)
            if g.buried_total[seat] >= target and g.score(seat) >= target and not g.has_the_spot(seat)
        ]


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
    paragraph = "The highest score without The Black Spot wins, of equal ones more buried cards; else it is shared."

    def run(self, g: StolenTreasure) -> None:
        able = {s: (g.score(s), len(g.buried[s].cards)) for s in range(g.n) if not g.has_the_spot(s)}
        best = max(able.values())
        for seat, has in able.items():
            if has == best:
                g.count("won", 1, seat)
        g.tell_scores(over=True)


# By seat, the steps that nearly every action leads to: to look one up here takes a tenth of the time of `of`.
