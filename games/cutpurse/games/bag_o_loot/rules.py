"""The rules of Bag-O-Loot, one class a paragraph of `docs/rules/bag_o_loot.md`, in the order of play."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from cutpurse.engine.agenda import PASS, Act, Choice, Fields, Option, Poll, Step
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
"""BL-2.2. An open set has at most four cards; the fifth makes it a bag."""
BAG_POINTS: Final = 10
"""BL-5.4. Each bag is worth ten points; a card in an open set one."""
MOST_TIE_BREAKS: Final = 3
"""BL-5.5. At most three more rounds to break a tie."""
LONGEST_ROUND: Final = 7000
"""BL-7.1. A round stays far below this many turns.

Every turn takes a card off the draw pile while there is one; later every play lowers the cards in hands or, with the
same number of cards, the coins among them, and BL-5.3 bounds the turns between two plays.
"""
AS_MANY_AS_PLAYERS: Final = 0
SETTINGS_OF_RULES_1: Final = frozenset({"rounds", "advanced", "ditch_per_turn", "bag_faces", "tie_break_round"})
UNLIMITED: Final = 100  # more ditches than there are cards

NUMBER: Final = 0  # the place of the number among the counters of a set or bag

ANY_NUMBER: Final = frozenset(NUMBERS)

OPEN_TWO: Final = [Option(OPEN, (coin, coin)) for coin in range(LOOTER)]  # by number, as the next
OPEN_WITH_LOOTER: Final = [Option(OPEN, (coin, LOOTER)) for coin in range(LOOTER)]
GIVE_TO: Final = [Option(GIVE, seat=seat) for seat in range(WORDS.seats[-1])]
KNOCK: Final = Option(DONE)


class _WithACard(dict[int, list[Option]]):
    """By zone, then by card: the option that does one thing to the zone with it.

    Made when first wanted and kept, for a zone's number lasts through the match.
    """

    def __init__(self, verb: int) -> None:
        super().__init__()
        self.verb = verb

    def __missing__(self, zone: int) -> list[Option]:
        made = self[zone] = [Option(self.verb, (card,), zone) for card in range(LOOTER + 1)]
        return made


TO_BUILD: Final = _WithACard(BUILD)
TO_STEAL: Final = _WithACard(STEAL)
TO_BAG: Final = _WithACard(MAKE_BAG)
TO_PINCH: Final = _WithACard(PINCH)
TO_SNITCH: Final = _WithACard(SNITCH)
TO_DITCH: Final = _WithACard(DITCH)


@mypyc_attr(native_class=False)
@dataclass(frozen=True, slots=True)
class BagOLootSettings(Settings):
    """BL-3.1, BL-4.4, BL-5.3, BL-5.5, BL-6.6, BL-8.2. The variants of Bag-O-Loot."""

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
    dealer: int
    turn_of: int
    turns: int
    idle_turns: int
    plays: int
    bag_plays: int
    ditches: int
    total: list[int]

    @classmethod
    def box(cls, seats: int, settings: BagOLootSettings) -> list[int]:
        """BL-1.1, BL-1.2. Five coins of each number that this many players use, and their looters."""
        deck = DECKS[seats]
        return sorted([*NUMBERS[: deck.highest]] * COPIES) + [LOOTER] * deck.looters

    @classmethod
    def settings_of_earlier_rules(cls, version: str, settings: Mapping[str, str]) -> Mapping[str, str] | None:
        """BL-4.4, BL-6.3. Play the standard game of rules version 1 with free wrong snitches.

        Its advanced play had an earlier challenge, which these rules cannot play.
        """
        if version == "1" and settings.get("advanced", "false") == "false" and SETTINGS_OF_RULES_1.issuperset(settings):
            return {**settings, "wrong_snitch": "free"}
        return None

    def begin(self) -> None:
        """BL-3.2. The first dealer is random."""
        self.then(SetUpARound(self.chance.below(self.n)))

    @property
    def bag_kind(self) -> ZoneKind:
        """BL-6.2, BL-8.2. As what a bag lies on the table."""
        if self.settings.advanced:
            return BLUFF_BAG
        return BAG if self.settings.bag_faces == "hidden" else BAG_OPEN

    @property
    def bags(self) -> list[list[Zone]]:
        """The bags of each seat, the oldest first."""
        if self.settings.advanced:
            return self.bluff_bag
        return self.bag if self.settings.bag_faces == "hidden" else self.bag_open

    def worth(self, seat: int) -> int:
        """BL-5.4. What lies before a seat is worth now; cards in hand are worth nothing."""
        return BAG_POINTS * len(self.bags[seat]) + sum(len(zone.cards) for zone in self.set[seat])

    def count_a_play(self) -> None:
        """BL-4.5, BL-5.3. Any play that succeeded spares the forfeit and begins the count of idle turns anew."""
        self.plays += 1
        self.idle_turns = 0

    def scores(self) -> list[int]:
        """Return the points of the rounds that have been counted."""
        return self.total[:]

    def imagine_zones(self, unseen: list[int], chance: Chance) -> None:
        """BL-4.4, BL-6.2. A closed bag holds coins of one number and looters; so do four cards of a numbered one."""
        if self.settings.advanced:
            bags = [(zone.cards, zone.counters[NUMBER]) for side in self.bluff_bag for zone in side]
            fill_numbered_bags(bags, unseen, chance)
            for step in self.agenda:
                if isinstance(step, ChallengeTheBag):
                    bags.append((self.middle.cards, self.zone(step.zone).counters[NUMBER]))
            fill_fifth_cards(bags, unseen, chance)
        else:
            fill_closed_bags([zone.cards for side in self.bag for zone in side], unseen, chance)


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
        g.enter(g.box(g.n, g.settings), g.draw_pile)
        g.shuffle(g.draw_pile)
        beginner = g.next_seat(self.seat)
        for seat in g.seats_from(beginner) * HAND:
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
        hand = g.hand[seat].cards
        faces = {*hand}
        options = []
        if len(faces) == len(hand):
            coins = hand[:]  # no two are equal
        else:
            coins = []
            last = twin = 0
            for card in hand:  # sorted, so equal cards lie side by side, and looters last
                if card != last:
                    coins.append(card)
                    last = card
                elif card != twin and card != LOOTER:
                    options.append(OPEN_TWO[card])
                    twin = card
        if LOOTER in faces:
            coins.pop()
            for coin in coins:
                options.append(OPEN_WITH_LOOTER[coin])
        options += self.to_join(g, faces)
        if g.settings.advanced:
            if g.ditches < g.settings.ditch_per_turn:
                options += self.to_ditch(g, coins)
        elif not g.plays:
            options += self.to_snitch(g, coins)
        options.append(KNOCK)
        return options

    def to_join(self, g: BagOLoot, faces: set[int]) -> list[Option]:
        """BL-4.2, BL-2.4, BL-4.3, BL-6.1, BL-6.2. To build, steal, bag or pinch, with a coin of the number or a looter.

        A set of four is always bagged, and in advanced play with any card at all. A pinch wants the coin.
        """
        options = []
        has_looter = LOOTER in faces
        advanced = g.settings.advanced
        numbers = ANY_NUMBER if has_looter or advanced else faces  # of the sets that may be joined: mostly few
        for side in g.set:
            for zone in side:
                number = zone.counters[NUMBER]
                if number not in numbers:
                    continue
                has_coin = number in faces
                if len(zone.cards) < OPEN_MOST:
                    row = TO_BUILD[zone.number] if zone.owner == self.seat else TO_STEAL[zone.number]
                elif g.bag_plays:
                    row = None  # no second bag play in a turn, but a pinch may be
                else:
                    row = TO_BAG[zone.number]
                    if advanced:
                        for card in sorted(faces):
                            options.append(row[card])
                        continue
                if row:
                    if has_coin:
                        options.append(row[number])
                    if has_looter:
                        options.append(row[LOOTER])
                if has_coin and zone.cards[-1] == LOOTER and not advanced:  # a looter is the last of a set
                    options.append(TO_PINCH[zone.number][number])
        return options

    def to_snitch(self, g: BagOLoot, coins: list[int]) -> list[Option]:
        """BL-4.4, BL-2.4. Any coin, on any bag."""
        options = []
        for side in g.bags:
            for zone in side:
                row = TO_SNITCH[zone.number]
                for coin in coins:
                    options.append(row[coin])
        return options

    def to_ditch(self, g: BagOLoot, coins: list[int]) -> list[Option]:
        """BL-6.6, BL-2.4. A coin, on any bag of its number."""
        options = []
        for side in g.bags:
            for zone in side:
                number = zone.counters[NUMBER]
                if number in coins:
                    options.append(TO_DITCH[zone.number][number])
        return options

    def safe(self, g: BagOLoot, seat: int, options: list[Option]) -> Option:
        """Follow BL-0.4."""
        return KNOCK

    def seen_by(self, g: BagOLoot, option: Option) -> tuple[int, ...] | None:
        """BL-6.2. In advanced play the fifth card is laid face down."""
        if option.verb == MAKE_BAG and g.settings.advanced:
            return (bit(self.seat),)
        return None

    def chosen(self, g: BagOLoot, option: Option) -> None:
        verb = option.verb  # what nobody can come between is run at once
        if verb == DONE:
            if not g.plays and g.hand[self.seat].cards:
                g.then(ForfeitACard(self.seat), EndTheTurn(self.seat))
            else:
                g.then(EndTheTurn(self.seat))
        elif verb == SNITCH:
            g.then(Snitch(self.seat, option.zone, option.cards[0]))
        else:
            g.count_a_play()
            if verb == OPEN:
                self.open_a_set(g, option.cards)
            elif verb == DITCH:
                self.ditch(g, option.cards[0])
            elif verb == MAKE_BAG and g.settings.advanced:
                self.lay_face_down(g, option.cards[0], g.zone(option.zone))
            else:
                self.join(g, option.cards[0], g.zone(option.zone), verb)
            g.then(GoOnOrGoOut(self.seat))

    def open_a_set(self, g: BagOLoot, cards: tuple[int, ...]) -> None:
        """BL-4.2, BL-2.2. Two cards lie face up before the player; the coin gives their number."""
        zone = g.make(SET, self.seat)
        g.count_zone(zone, NUMBER, cards[0])
        for card in cards:
            g.move(card, g.hand[self.seat], zone)

    def join(self, g: BagOLoot, card: int, zone: Zone, verb: int) -> None:
        """BL-4.2. The card joins the set; stolen or bagged it is the player's; a pinch brings that player a looter."""
        hand = g.hand[self.seat]
        g.move(card, hand, zone)
        if verb == PINCH:
            g.move(LOOTER, zone, hand)
        elif verb == STEAL:
            g.place(zone, SET, self.seat)
        elif verb == MAKE_BAG:
            g.bag_plays += 1
            g.place(zone, g.bag_kind, self.seat)

    def lay_face_down(self, g: BagOLoot, card: int, zone: Zone) -> None:
        """BL-6.2, BL-6.3. Lay the fifth card face down in the middle until the challenge at the end of the turn.

        The bag is the player's at once, its number on show.
        """
        g.bag_plays += 1
        g.place(zone, BLUFF_BAG, self.seat, face_down=g.settings.bag_faces == "hidden")
        g.move(card, g.hand[self.seat], g.middle)
        g.then(ChallengeTheBag(self.seat, zone.number))

    def ditch(self, g: BagOLoot, coin: int) -> None:
        """BL-6.6. The coin is out of the round, and a card is drawn for it if there is one."""
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
    fields: ClassVar[Fields] = {"zone": int, "coin": int}

    def __init__(self, seat: int, zone: int, coin: int) -> None:
        super().__init__(seat)
        self.zone = zone
        self.coin = coin

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
    fields: ClassVar[Fields] = {"zone": int}

    def __init__(self, seat: int, zone: int) -> None:
        super().__init__(seat)
        self.zone = zone

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
    fields: ClassVar[Fields] = {"zone": int, "challenger": int}

    def __init__(self, seat: int, zone: int, challenger: int) -> None:
        super().__init__(seat)
        self.zone = zone
        self.challenger = challenger

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
    fields: ClassVar[Fields] = {"zone": int}

    def __init__(self, seat: int, zone: int) -> None:
        super().__init__(seat)
        self.zone = zone

    def run(self, g: BagOLoot) -> None:
        g.move_top(g.middle, g.zone(self.zone))


class TakeYourReward(Choice):
    rule = "BL-6.3"
    paragraph = "Whose bag was genuine takes one bag or all open sets of the challenger, out of what there is."
    text = "What do you take from the challenger?"
    fields: ClassVar[Fields] = {"challenger": int}

    def __init__(self, seat: int, challenger: int) -> None:
        super().__init__(seat)
        self.challenger = challenger

    def options(self, g: BagOLoot, seat: int) -> list[Option]:
        """BL-0.4. The safe one comes first: the oldest bag, else the open sets."""
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
    safe_paragraph = """Take the oldest bag of the owner with most points, the next clockwise of equals.

    Points are the total and what lies before the owner.
    """
    fields: ClassVar[Fields] = {"caught": int}

    def __init__(self, seat: int, caught: int = 0) -> None:
        super().__init__(seat)
        self.caught = caught  # the zone of that bag

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
        """BL-0.4. The safe one comes first: the left neighbour."""
        return [GIVE_TO[other] for other in g.opponents(seat)]

    def chosen(self, g: BagOLoot, option: Option) -> None:
        assert option.seat is not None
        g.move_random(g.hand[self.seat], g.hand[option.seat])


class EndTheTurn(Step):
    rule = "BL-4.2, BL-5.1, BL-5.3, BL-6.3"
    paragraph = """The turn passes to the left, unless its player went out or nobody plays any more.

    Everything waits for the challenge of a bag that was laid in the turn.
    """
    fields: ClassVar[Fields] = {"caught": int}

    def __init__(self, seat: int, caught: int = 0) -> None:
        super().__init__(seat)
        self.caught = caught  # the zone of a bag whose bluff was caught at the end of this turn

    def run(self, g: BagOLoot) -> None:
        if g.middle.cards:
            return  # ChallengeTheBag is next on the agenda, and comes back here
        if g.plays and not g.hand[self.seat].cards:
            g.tell(GO_OUT, actor=self.seat)
            g.then(EndTheRound(self.seat))
            bonus = TakeABag(self.seat, self.caught)
            if bonus.options(g, self.seat):
                g.then(bonus)
        elif g.idle_turns >= g.settings.stalemate_turns * g.n:
            g.tell(STALEMATE)
            g.then(EndTheRound(self.seat))
        else:
            g.then(TakeATurn(g.next_seat(self.seat)))


class EndTheRound(Step):
    rule = "BL-5.4, BL-3.2, BL-6.4"
    paragraph = "Bags are opened and all is counted; then the deal passes to the left."

    def run(self, g: BagOLoot) -> None:
        for bag in [bag for side in g.bluff_bag for bag in side]:
            g.show(bag)
        for seat in range(g.n):
            g.count("total", g.total[seat] + g.worth(seat), seat)
        over = self.is_last(g)
        g.tell_scores(over)
        if not over:
            g.then(SetUpARound(g.next_seat(g.dealer - 1)))

    def is_last(self, g: BagOLoot) -> bool:
        """BL-3.1, BL-5.5. After the rounds agreed; with `tie_break_round` up to three more while the lead is shared."""
        rounds = g.settings.rounds or g.n
        if g.round < rounds:
            return False
        is_shared = g.total.count(max(g.total)) > 1
        return not (g.settings.tie_break_round and is_shared and g.round < rounds + MOST_TIE_BREAKS)
