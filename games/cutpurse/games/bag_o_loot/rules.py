"""The rules of Bag-O-Loot, one class a paragraph of `docs/reference/rules/bag_o_loot.md`.

First the set-up (chapter 3) and the turn to its plays (BL-4.1 to BL-4.4), then what a bag of advanced play leads to
(BL-6.3, BL-6.4), then the end of a turn and of a round (chapter 5), where the forfeit (BL-4.5) stands. This order
numbers the steps on the wire, so it stays for one version of the rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.agenda import PASS, Act, Choice, Option, Poll, Step
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.native import mypyc_attr
from cutpurse.engine.settings import Settings, choice, flag, number
from cutpurse.engine.words import FACE_DOWN, ZoneKind
from cutpurse.engine.zones import Zone, bit
from cutpurse.games.bag_o_loot.cards import (
    BAG,
    BAG_OPEN,
    BLUFF,
    BLUFF_BAG,
    BUILD,
    CHALLENGE,
    COPIES,
    DECKS,
    DITCH,
    DONE,
    GENUINE,
    GIVE,
    GO_OUT,
    LOOTER,
    MAKE_BAG,
    NO_MATCH,
    NUMBERS,
    OPEN,
    PINCH,
    SET,
    SNITCH,
    STALEMATE,
    STEAL,
    TAKE_BAG,
    TAKE_SETS,
    WORDS,
)
from cutpurse.games.bag_o_loot.hidden_bags import fill_closed_bags, fill_fifth_cards, fill_numbered_bags

__all__ = ["BagOLoot", "BagOLootSettings"]

HAND: Final = 8
"""BL-3.3. Eight cards are dealt to each."""
OPEN_MOST: Final = 4
"""BL-2.2, BL-2.3. An open set has at most four cards; the fifth makes it a bag."""
BAG_POINTS: Final = 10
"""BL-5.4. Each bag is worth ten points; a card in an open set one."""
MOST_TIE_BREAKS: Final = 3
"""BL-5.5. At most three more rounds to break a tie."""
LONGEST_ROUND: Final = 7000
"""BL-7.1. A round has fewer turns than this."""
AS_MANY_AS_PLAYERS: Final = 0  # rounds
SETTINGS_OF_RULES_1: Final = frozenset({"rounds", "advanced", "ditch_per_turn", "bag_faces", "tie_break_round"})
"""The settings that rules version 1 had."""
UNLIMITED: Final = 100  # ditches a turn: more than there are cards

NUMBER: Final = 0  # index of the number among the counters of a set or bag


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class BagOLootSettings(Settings):
    """BL-3.1, BL-4.4, BL-5.3, BL-5.5, BL-5.6, BL-6.6, BL-8.2. The variants of Bag-O-Loot."""

    rounds: int = number(
        AS_MANY_AS_PLAYERS,
        1,
        20,
        names={"players": AS_MANY_AS_PLAYERS},
        text="rounds of a match; by default one for each player, so that everybody deals once",
        rule="BL-3.1",
    )
    wrong_snitch: str = choice(
        "forfeit",
        "free",
        text="standard game: whether a turn lost by a wrong snitch costs the forfeit",
        rule="BL-4.4",
        only_with=("advanced", "false"),
    )
    stalemate_turns: int = number(
        2,
        1,
        5,
        text="idle turns of each player in a row, without a draw pile, that end a round",
        rule="BL-5.3",
    )
    idle_price: int = number(
        1, 0, 5, text="points that a turn without a draw pile and without a play costs", rule="BL-5.6"
    )
    advanced: bool = flag(False, text="bags may be bluffs and be challenged; no pinch and no snitch", rule="BL-6.1")
    ditch_per_turn: int = number(
        1,
        0,
        1,
        names={"unlimited": UNLIMITED},
        text="advanced: how many coins may be ditched in a turn; 0 forbids ditching",
        rule="BL-6.6",
        only_with=("advanced", "true"),
    )
    bag_faces: str = choice("hidden", "open", text="whether the cards in bags stay visible", rule="BL-8.2")
    tie_break_round: bool = flag(False, text="more rounds while the lead is shared, at most three", rule="BL-5.5")


@mypyc_attr(allow_interpreted_subclasses=True)
class BagOLoot(Game[BagOLootSettings]):
    """BL-0.1. Seats go clockwise; a card is its face, and equal copies are one option."""

    __slots__ = WORDS.attributes()
    words = WORDS
    settings_type = BagOLootSettings

    draw_pile: Zone
    ditched: Zone
    middle: Zone
    hand: list[Zone]
    set: list[list[Zone]]
    bag: list[list[Zone]]
    bag_open: list[list[Zone]]
    bluff_bag: list[list[Zone]]
    round: int
    dealer: int  # a seat plus 1, as 0 is nobody
    turn_of: int  # likewise
    turns: int
    idle_turns: int
    plays: int
    bag_plays: int
    ditches: int
    fine: list[int]
    total: list[int]

    @classmethod
    def box(cls, seats: int, settings: BagOLootSettings) -> list[int]:
        """BL-1.1, BL-1.2. Return five coins of each number that this many players use, and their looters."""
        deck = DECKS[seats]
        return sorted([*NUMBERS[: deck.highest]] * COPIES) + [LOOTER] * deck.looters

    @classmethod
    def settings_of_earlier_rules(cls, version: str, settings: Mapping[str, str]) -> Mapping[str, str] | None:
        """BL-5.6, BL-4.4, BL-6.3. Play rules version 2 with free idle turns, the standard game of 1 with free snitches.

        The advanced play of rules version 1 had an earlier challenge, which these rules cannot play.
        """
        if version == "2" and "idle_price" not in settings:
            return {**settings, "idle_price": "0"}
        if version == "1" and settings.get("advanced", "false") == "false" and SETTINGS_OF_RULES_1.issuperset(settings):
            return {**settings, "wrong_snitch": "free", "idle_price": "0"}
        return None

    @classmethod
    def max_decisions(cls, seats: int, settings: BagOLootSettings) -> int:
        """BL-7.1. Count the plays and turns of all rounds.

        The cards and the coins in hands, added up, grow by two with a card that is drawn and fall with each play.
        Without a draw pile no more turns than those of a stalemate follow each other without a play. A turn ends with
        an answer and a forfeit.
        """
        cards = len(cls.box(seats, settings))
        plays = 2 * cards
        turns = cards + (plays + 1) * settings.stalemate_turns * seats
        answers_to_a_bag = seats if settings.advanced else 0  # challenges, and the reward for a genuine bag
        rounds = (settings.rounds or seats) + (MOST_TIE_BREAKS if settings.tie_break_round else 0)
        return rounds * (plays * (1 + answers_to_a_bag) + 2 * turns + 1)

    def begin(self) -> None:
        """BL-3.2. Choose the first dealer at random."""
        self.then(SetUpARound(self.chance.below(self.n)))

    @property
    def bag_kind(self) -> ZoneKind:
        """BL-6.2, BL-8.2. The kind of zone that a bag is under these settings."""
        if self.settings.advanced:
            return BLUFF_BAG
        return BAG if self.settings.bag_faces == "hidden" else BAG_OPEN

    @property
    def bags(self) -> list[list[Zone]]:
        """BL-2.3. The bags of each seat, in the order in which the seat got them."""
        if self.settings.advanced:
            return self.bluff_bag
        return self.bag if self.settings.bag_faces == "hidden" else self.bag_open

    def all_bags(self) -> list[Zone]:
        """List the bags of all seats, those of seat 0 first."""
        return [bag for bags in self.bags for bag in bags]

    def all_sets(self) -> list[Zone]:
        """List the open sets of all seats, those of seat 0 first."""
        return [zone for sets in self.set for zone in sets]

    def count_a_play(self) -> None:
        """BL-4.5, BL-5.3. Count a play that succeeded: it spares the forfeit and ends the row of idle turns."""
        self.plays += 1
        self.idle_turns = 0

    def worth(self, seat: int) -> int:
        """BL-5.4. Count ten points for each bag of a seat and one for each card in its open sets."""
        return BAG_POINTS * len(self.bags[seat]) + sum([len(zone.cards) for zone in self.set[seat]])

    def round_points(self, seat: int) -> int:
        """BL-5.4, BL-5.6. Count what the open round would give a seat now: what lies before it, less its fines."""
        return self.worth(seat) - self.fine[seat]

    def scores(self) -> list[int]:
        """BL-5.5. Return the points of the rounds that have been counted; the highest total wins."""
        return self.total[:]

    def scores_now(self) -> list[int]:
        """BL-5.4, BL-5.6. Add what the open round would give to the points of the rounds that have been counted."""
        if not self.agenda:  # the last round has been counted, and its cards still lie there
            return self.scores()
        return [self.total[seat] + self.round_points(seat) for seat in range(self.n)]

    def imagine_zones(self, unseen: list[int], chance: Chance) -> None:
        """BL-2.3, BL-6.2. Fill hidden bags with coins of one number and looters; only a fifth card may be a bluff."""
        if not self.settings.advanced:
            fill_closed_bags([bag.cards for bag in self.all_bags()], unseen, chance)
            return
        bags = [(bag.cards, bag.counters[NUMBER]) for bag in self.all_bags()]
        fill_numbered_bags(bags, unseen, chance)
        for step in self.agenda:
            if isinstance(step, ChallengeTheBag):
                bags.append((self.middle.cards, self.zone(step.zone).counters[NUMBER]))
        fill_fifth_cards(bags, unseen, chance)


class SetUpARound(Step):
    rule = "BL-3.2, BL-3.3"
    paragraph = """The deck is shuffled, eight cards go to each, the rest is the draw pile.

    `seat` deals; the player to the left begins.
    """

    def run(self, g: BagOLoot) -> None:
        g.open_deal(g.round + 1)
        g.count("round", g.round + 1)
        g.dealer = self.seat + 1
        g.turns = g.idle_turns = 0
        g.fine = [0] * g.n
        g.enter(g.box(g.n, g.settings), g.draw_pile)
        g.shuffle(g.draw_pile)
        beginner = g.next_seat(self.seat)
        for _ in range(HAND):
            for seat in g.seats_from(beginner):
                g.move_top(g.draw_pile, g.hand[seat])
        g.then(TakeATurn(beginner))


class TakeATurn(Step):
    rule = "BL-4.1"
    paragraph = "A card is drawn while there is a draw pile, which is never renewed; no hand is too large."

    def run(self, g: BagOLoot) -> None:
        g.turns += 1
        assert g.turns < LONGEST_ROUND
        g.turn_of = self.seat + 1
        g.plays = g.bag_plays = g.ditches = 0
        if g.draw_pile.cards:
            g.move_top(g.draw_pile, g.hand[self.seat])
        else:
            g.idle_turns += 1
        g.then(MakeAPlay(self.seat))


class MakeAPlay(Choice):
    rule = "BL-4.2, BL-2.5"
    paragraph = """Any number of plays in any order, each with the set or bag it names, until the player is done.

    One bag play a turn, and a snitch only as the first play, so at most one. A set is opened with two matching cards, a
    coin among them; the third and the fourth are built.
    """
    text = "Which play do you make?"
    safe_paragraph = "In a turn: done."

    def options(self, g: BagOLoot, seat: int) -> list[Option]:
        """BL-4.2, BL-0.1. List the plays in the order of the sheet; equal cards are one option."""
        held = [0] * (LOOTER + 1)  # by card, how many are in hand
        for card in g.hand[seat].cards:
            held[card] += 1
        cards = [card for card, copies in enumerate(held) if copies]
        coins = [card for card in cards if card != LOOTER]
        options = self.list_openings(coins, held)
        for zone in g.all_sets():
            options += self.list_plays_on_a_set(g, zone, cards, held)
        options += self.list_ditches(g, coins) if g.settings.advanced else self.list_snitches(g, coins)
        options.append(Option(DONE))
        return options

    def list_openings(self, coins: list[int], held: list[int]) -> list[Option]:
        """BL-4.2, BL-2.2. Open a set with two coins of one number, or with a coin and a looter."""
        options = [Option(OPEN, (coin, coin)) for coin in coins if held[coin] >= 2]
        if held[LOOTER]:
            options += [Option(OPEN, (coin, LOOTER)) for coin in coins]
        return options

    def list_plays_on_a_set(self, g: BagOLoot, zone: Zone, cards: list[int], held: list[int]) -> list[Option]:
        """BL-4.2, BL-2.4, BL-4.3, BL-6.1, BL-6.2. Build, steal, bag or pinch, with a coin of the number or a looter.

        A set of four is always bagged, in advanced play with any card. A pinch needs the coin.
        """
        number = zone.counters[NUMBER]
        matching: list[int] = []
        if held[number]:
            matching.append(number)
        if held[LOOTER]:
            matching.append(LOOTER)
        options: list[Option] = []
        if len(zone.cards) < OPEN_MOST:
            verb = BUILD if zone.owner == self.seat else STEAL
            options += [Option(verb, (card,), zone.number) for card in matching]
        elif not g.bag_plays:
            fifth_cards = cards if g.settings.advanced else matching
            options += [Option(MAKE_BAG, (card,), zone.number) for card in fifth_cards]
        if held[number] and LOOTER in zone.cards and not g.settings.advanced:
            options.append(Option(PINCH, (number,), zone.number))
        return options

    def list_snitches(self, g: BagOLoot, coins: list[int]) -> list[Option]:
        """BL-4.2, BL-4.4, BL-2.4. Snitch with any coin on any bag, as the first play of the turn."""
        if g.plays:
            return []
        return [Option(SNITCH, (coin,), bag.number) for bag in g.all_bags() for coin in coins]

    def list_ditches(self, g: BagOLoot, coins: list[int]) -> list[Option]:
        """BL-6.6, BL-2.4. Ditch a coin of the visible number of any bag, as often as the setting allows."""
        if g.ditches >= g.settings.ditch_per_turn:
            return []
        bags = [bag for bag in g.all_bags() if bag.counters[NUMBER] in coins]
        return [Option(DITCH, (bag.counters[NUMBER],), bag.number) for bag in bags]

    def safe(self, g: BagOLoot, seat: int, options: list[Option]) -> Option:
        """Follow BL-0.4."""
        return Option(DONE)

    def seen_by(self, g: BagOLoot, option: Option) -> tuple[int, ...] | None:
        """BL-6.2. Hide the fifth card of advanced play, which is laid face down."""
        if option.verb == MAKE_BAG and g.settings.advanced:
            return (bit(self.seat),)
        return None

    def chosen(self, g: BagOLoot, option: Option) -> None:
        seat = self.seat
        if option.verb == DONE:
            if g.plays or not g.hand[seat].cards:  # BL-4.5: with no card nothing is given
                g.then(EndTheTurn(seat))
            else:
                g.then(ForfeitACard(seat), EndTheTurn(seat))
        elif option.verb == SNITCH:
            g.then(Snitch(seat, option.zone, option.cards[0]))
        elif option.verb == MAKE_BAG and g.settings.advanced:
            g.count_a_play()
            self.lay_face_down(g, option.cards[0], g.zone(option.zone))
            g.then(GoOnOrGoOut(seat), ChallengeTheBag(seat, option.zone))  # BL-6.3: which waits until the turn is over
        else:
            g.count_a_play()
            if option.verb == OPEN:
                self.open_a_set(g, option.cards)
            elif option.verb == DITCH:
                self.ditch(g, option.cards[0])
            else:
                self.join(g, option.verb, option.cards[0], g.zone(option.zone))
            g.then(GoOnOrGoOut(seat))

    def open_a_set(self, g: BagOLoot, cards: tuple[int, ...]) -> None:
        """BL-4.2, BL-2.2. Lay two cards face up before the player; the coin gives the set its number."""
        zone = g.make(SET, self.seat)
        g.count_zone(zone, NUMBER, cards[0])
        for card in cards:
            g.move(card, g.hand[self.seat], zone)

    def join(self, g: BagOLoot, verb: int, card: int, zone: Zone) -> None:
        """BL-4.2. Add the card to the set; then a stolen set or a bag goes to the player, or a pinched looter does."""
        hand = g.hand[self.seat]
        g.move(card, hand, zone)
        if verb == STEAL:
            g.place(zone, SET, self.seat)
        elif verb == MAKE_BAG:
            g.bag_plays += 1
            g.place(zone, g.bag_kind, self.seat)
        elif verb == PINCH:
            g.move(LOOTER, zone, hand)

    def lay_face_down(self, g: BagOLoot, card: int, zone: Zone) -> None:
        """BL-6.2, BL-6.3. Lay the fifth card face down in the middle, where it waits for the challenge.

        The bag is the player's at once, its number on show.
        """
        g.bag_plays += 1
        g.place(zone, BLUFF_BAG, self.seat, face_down=g.settings.bag_faces == "hidden")
        g.move(card, g.hand[self.seat], g.middle)

    def ditch(self, g: BagOLoot, coin: int) -> None:
        """BL-6.6. Take the coin out of the round, and draw a card for it if there is one."""
        g.ditches += 1
        g.move(coin, g.hand[self.seat], g.ditched)
        if g.draw_pile.cards:
            g.move_top(g.draw_pile, g.hand[self.seat])


class Snitch(Step):
    rule = "BL-4.4"
    paragraph = """The coin is shown to all; if it has the bag's number it goes in, and a looter comes to the hand.

    All five coins of a number cannot be in a bag while one is in a hand, so there is a looter. No match: the coin goes
    back, known to all, the bag stays closed, and the turn is over. It saw no play, so the forfeit is due (BL-4.5),
    unless the setting `wrong_snitch` is `free`.
    """
    zone: int
    coin: int

    def run(self, g: BagOLoot) -> None:
        hand, bag = g.hand[self.seat], g.zone(self.zone)
        g.move(self.coin, hand, g.middle, shown=g.everyone)
        if self.coin in bag.cards:
            g.move_top(g.middle, bag)
            g.move(LOOTER, bag, hand, shown=g.everyone)
            g.count_a_play()
            g.then(GoOnOrGoOut(self.seat))
        else:
            g.tell(NO_MATCH, actor=self.seat, zone=self.zone)
            g.move_top(g.middle, hand)
            if g.settings.wrong_snitch == "forfeit":
                g.then(ForfeitACard(self.seat), EndTheTurn(self.seat))
            else:
                g.then(EndTheTurn(self.seat))


class ChallengeTheBag(Poll):
    rule = "BL-6.3, BL-0.2"
    paragraph = """At the end of the turn all others who own a bag or a set may challenge the bag, in secret.

    Of several who want to, chance draws one. What the others said stays secret.
    """
    text = "Do you challenge the bag?"
    window = False  # everybody may
    zone: int

    def act(self) -> Act:
        return Act(MAKE_BAG, (FACE_DOWN,), self.zone, actor=self.seat)

    def seats(self, g: BagOLoot) -> list[int]:
        return [seat for seat in range(g.n) if seat != self.seat and (g.bags[seat] or g.set[seat])]

    def options(self, g: BagOLoot, seat: int) -> list[Option]:
        return [PASS, Option(CHALLENGE, zone=self.zone)]

    def closed(self, g: BagOLoot, answers: dict[int, Option]) -> None:
        willing = [seat for seat in answers if answers[seat] != PASS]
        if willing:
            challenger = willing[g.chance.below(len(willing))]
            g.tell(CHALLENGE, actor=challenger, zone=self.zone)
            g.then(ShowTheFifthCard(self.seat, self.zone, challenger))
        else:
            g.then(CloseTheBag(self.seat, self.zone), EndTheTurn(self.seat))


class ShowTheFifthCard(Step):
    rule = "BL-6.3, BL-6.5"
    paragraph = """Only the challenger sees it, and "bluff" or "genuine" is announced.

    A bluff is the challenger's bag; for a genuine bag the challenged player is rewarded. Then the turn is over.
    """
    zone: int
    challenger: int

    def run(self, g: BagOLoot) -> None:
        bag = g.zone(self.zone)
        g.show(g.middle, [self.challenger])
        if g.middle.cards[0] in (bag.counters[NUMBER], LOOTER):
            g.tell(GENUINE, actor=self.seat, zone=self.zone)
            g.then(
                CloseTheBag(self.seat, self.zone),
                TakeYourReward(self.seat, self.challenger),
                EndTheTurn(self.seat),
            )
        else:
            g.tell(BLUFF, actor=self.seat, zone=self.zone)
            g.place(bag, BLUFF_BAG, self.challenger)
            g.then(CloseTheBag(self.seat, self.zone), EndTheTurn(self.seat, caught=self.zone))


class CloseTheBag(Step):
    rule = "BL-6.4"
    paragraph = "The fifth card goes into the bag, which counts from now on whatever it is, and is not looked at again."
    zone: int

    def run(self, g: BagOLoot) -> None:
        g.move_top(g.middle, g.zone(self.zone))


class TakeYourReward(Choice):
    rule = "BL-6.3"
    paragraph = "The player of a genuine bag takes one bag or all open sets of the challenger, out of what there is."
    text = "What do you take from the challenger?"
    challenger: int

    def options(self, g: BagOLoot, seat: int) -> list[Option]:
        """BL-0.4. List the safe option first: the bag that the challenger has had longest, else the open sets."""
        options = [Option(TAKE_BAG, zone=bag.number) for bag in g.bags[self.challenger]]
        if g.set[self.challenger]:
            options.append(Option(TAKE_SETS, seat=self.challenger))
        return options

    def chosen(self, g: BagOLoot, option: Option) -> None:
        if option.verb == TAKE_BAG:
            g.place(g.zone(option.zone), BLUFF_BAG, self.seat)
        else:
            for zone in g.set[self.challenger][:]:
                g.place(zone, SET, self.seat)


class GoOnOrGoOut(Step):
    rule = "BL-5.1"
    paragraph = "A play that empties the hand ends the turn at once; else the turn goes on."

    def run(self, g: BagOLoot) -> None:
        if g.hand[self.seat].cards:
            g.then(MakeAPlay(self.seat))
        else:
            g.then(EndTheTurn(self.seat))


class TakeABag(Choice):
    rule = "BL-5.2, BL-6.5, BL-8.1"
    paragraph = """The player who goes out takes a bag of another player; it stays the same bag.

    A bag that a challenger has just won from the player by catching the bluff cannot be taken.
    """
    text = "Which bag do you take for going out?"
    safe_paragraph = """Of the owner with most points, the bag that this owner has had longest.

    Points are the total and what lies before the owner. Of equals it is the next clockwise.
    """
    caught: int = 0  # the zone of that bag

    def options(self, g: BagOLoot, seat: int) -> list[Option]:
        bags = [bag for other in g.opponents(seat) for bag in g.bags[other]]
        return [Option(TAKE_BAG, zone=bag.number) for bag in bags if bag.number != self.caught]

    def safe(self, g: BagOLoot, seat: int, options: list[Option]) -> Option:
        """Follow BL-0.4."""
        owners = [g.zone(option.zone).owner for option in options]
        richest = max(owners, key=lambda owner: g.total[owner] + g.worth(owner))
        return options[owners.index(richest)]

    def chosen(self, g: BagOLoot, option: Option) -> None:
        g.place(g.zone(option.zone), g.bag_kind, self.seat)


class ForfeitACard(Choice):
    rule = "BL-4.5"
    paragraph = """The player of a turn without a play names another player, who gets a random card of their hand.

    Those two know the card. It may be the last one: that is not going out (BL-5.1).
    """
    text = "You made no play: who pulls a card from your hand?"

    def options(self, g: BagOLoot, seat: int) -> list[Option]:
        """BL-0.4. List the safe option first: the left neighbour."""
        return [Option(GIVE, seat=other) for other in g.opponents(seat)]

    def chosen(self, g: BagOLoot, option: Option) -> None:
        assert option.seat is not None
        g.move_random(g.hand[self.seat], g.hand[option.seat])


class EndTheTurn(Step):
    rule = "BL-4.2, BL-5.1, BL-5.3, BL-5.6, BL-6.3"
    paragraph = """The turn passes to the left, unless its player went out or nobody plays any more.

    Everything waits for the challenge of a bag that was laid in the turn. An idle turn is fined.
    """
    caught: int = 0  # the zone of a bag whose bluff was caught at the end of this turn

    def run(self, g: BagOLoot) -> None:
        if g.middle.cards:
            return  # BL-6.3, BL-6.5: the challenge comes first, and ends the turn afterwards
        if g.idle_turns and g.settings.idle_price:
            g.add("fine", g.settings.idle_price, self.seat)  # BL-5.6: this turn is one of them
        if g.plays and not g.hand[self.seat].cards:
            g.tell(GO_OUT, actor=self.seat)
            bonus = TakeABag(self.seat, self.caught)
            if bonus.options(g, self.seat):
                g.then(bonus, EndTheRound(self.seat))
            else:
                g.then(EndTheRound(self.seat))
        elif g.idle_turns >= g.settings.stalemate_turns * g.n:
            g.tell(STALEMATE)
            g.then(EndTheRound(self.seat))
        else:
            g.then(TakeATurn(g.next_seat(self.seat)))


class EndTheRound(Step):
    rule = "BL-5.4, BL-3.2, BL-5.6, BL-6.4"
    paragraph = "Bags are opened and all is counted, less the fines; then the deal passes to the left."

    def run(self, g: BagOLoot) -> None:
        if g.settings.advanced:
            for bag in g.all_bags():
                g.show(bag)
        for seat in range(g.n):
            g.add("total", g.round_points(seat), seat)
        over = self.is_last(g)
        g.tell_scores(over)
        if not over:
            g.then(SetUpARound(g.next_seat(g.dealer - 1)))

    def is_last(self, g: BagOLoot) -> bool:
        """BL-3.1, BL-5.5. Check that the agreed rounds are over, and the rounds that break a tie."""
        rounds = g.settings.rounds or g.n
        if g.round < rounds:
            return False
        is_shared = g.total.count(max(g.total)) > 1
        return not (g.settings.tie_break_round and is_shared and g.round < rounds + MOST_TIE_BREAKS)
