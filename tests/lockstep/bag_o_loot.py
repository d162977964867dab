"""The second implementation of Bag-O-Loot."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from cutpurse.engine.agenda import Option
from cutpurse.engine.zones import Zone
from cutpurse.games.bag_o_loot.cards import WORDS
from cutpurse.games.bag_o_loot.rules import BagOLoot
from tests.lockstep.driver import Asked, Play, Told

VERBS = {verb.number: verb.name for verb in WORDS.verbs}
LOOTER = WORDS.card_named("looter")  # the card of a coin is its number
DONE: Told = ("done", (), 0, None)
PASS: Told = ("pass", (), 0, None)

Part = Generator[Asked, dict[int, Told], Any]


def settings(seats: int, rng: random.Random) -> dict[str, object]:
    """Draw the settings of a match."""
    return {
        "advanced": rng.random() < 0.6,
        "wrong_snitch": rng.choice(["forfeit", "free"]),
        "bag_faces": rng.choice(["hidden", "open"]),
        "ditch_per_turn": rng.choice([0, 1, "unlimited"]),
        "tie_break_round": rng.random() < 0.5,
        "stalemate_turns": rng.choice([1, 2, 3]),
        "idle_price": rng.choice([0, 1, 3]),
        "rounds": rng.choice(["players", 1, 2]),
    }


def take_bag(zone: int) -> Told:
    return ("take_bag", (), zone, None)


@dataclass
class Pile:
    """BL-2.2, BL-2.3. An open set, or the bag that it became."""

    owner: int
    number: int
    cards: list[int]


@dataclass
class Turn:
    """BL-4.2, BL-4.5, BL-6.6. The counts of a turn."""

    seat: int
    plays: int = 0
    has_bagged: bool = False
    laid: int = 0  # the bag with its fifth card in the middle
    ditched: int = 0


class Telling:
    """Tells Bag-O-Loot as its rule sheet has it."""

    def __init__(self, game: BagOLoot, rng: random.Random) -> None:
        self.game, self.seats, self.settings = game, game.n, game.settings
        self.totals = [0] * game.n
        self.round = 0
        self.dealer = game.dealer - 1
        self.made = game.made  # number of zones so far; each set gets the next number, and keeps it as a bag
        self.safe: Told = ()
        self.busy, self.hoards = rng.random(), rng.random() < 0.3
        self.is_idle = rng.random() < 0.15  # if no player plays cards, the lead is shared

    # -- the table
    def deal(self) -> None:
        """BL-3.3, BL-1.2. Copy the engine's deal, and count the box; the first player has drawn already (BL-4.1)."""
        game = self.game
        self.round += 1
        self.chance = game.chance.fork()
        self.pile, self.hand = game.draw_pile.cards[:], [zone.cards[:] for zone in game.hand]
        first = self.left_of(self.dealer)[0]
        assert [len(hand) for hand in self.hand] == [9 if seat == first else 8 for seat in range(self.seats)]
        highest, looters = {2: (12, 3), 3: (14, 4)}.get(self.seats, (16, 5))
        box = [*range(1, highest + 1)] * 5 + [LOOTER] * looters
        assert sorted(sum(self.hand, self.pile)) == sorted(box)
        self.sets, self.bags = dict[int, Pile](), dict[int, Pile]()  # by zone, the newest of an owner last
        self.middle, self.ditched = list[int](), list[int]()

    def left_of(self, seat: int) -> list[int]:
        """BL-0.1. List the other seats, clockwise."""
        return [(seat + turn) % self.seats for turn in range(1, self.seats)]

    def draw(self, seat: int) -> None:
        """BL-4.1. Draw a card, unless the pile is used up."""
        if self.pile:
            self.gain(seat, self.pile.pop())

    def gain(self, seat: int, card: int) -> None:
        """Add a card to a hand, which stays sorted because chance picks by index."""
        self.hand[seat].append(card)
        self.hand[seat].sort()

    def bags_of(self, seat: int) -> list[int]:
        """List the zones of a player's bags, the one owned for the longest time first."""
        return [zone for zone, bag in self.bags.items() if bag.owner == seat]

    def sets_of(self, seat: int) -> list[Pile]:
        return [pile for pile in self.sets.values() if pile.owner == seat]

    def hand_over(self, zone: int, to: int) -> None:
        """BL-8.1. Give a bag to another owner, as the newest one."""
        bag = self.bags.pop(zone)
        bag.owner = to
        self.bags[zone] = bag

    def worth(self, seat: int) -> int:
        """BL-5.4. Compute the worth of a player's bags and sets."""
        return 10 * len(self.bags_of(seat)) + sum(len(pile.cards) for pile in self.sets_of(seat))

    # -- the match
    def play(self) -> Play:
        """BL-3.1, BL-3.2, BL-5.4, BL-5.5. Play the agreed rounds, and up to three more while the lead is shared."""
        agreed = self.settings.rounds or self.seats
        while True:
            yield from self.one_round()
            self.totals = [total + self.worth(seat) - self.fines[seat] for seat, total in enumerate(self.totals)]
            if self.round >= agreed:
                is_shared = self.totals.count(max(self.totals)) > 1
                if not (self.settings.tie_break_round and is_shared and self.round < agreed + 3):
                    return
            self.dealer = self.left_of(self.dealer)[0]

    def one_round(self) -> Part:
        """BL-4.1, BL-5.1, BL-5.3, BL-5.6. Play turns until a player goes out or no player plays cards any more."""
        self.deal()
        self.fines = [0] * self.seats
        self.turn = Turn(self.left_of(self.dealer)[0])
        idle_turns, turns = 0, 1
        has_begun_dry = False
        while idle_turns < self.settings.stalemate_turns * self.seats:
            is_out = yield from self.one_turn(self.turn)
            if is_out:
                return
            if self.turn.plays:
                idle_turns = 0
            elif has_begun_dry:
                idle_turns += 1
                self.fines[self.turn.seat] += self.settings.idle_price
            turns += 1
            assert turns < 7_000  # BL-7.1
            self.turn = Turn(self.left_of(self.turn.seat)[0])
            has_begun_dry = not self.pile
            self.draw(self.turn.seat)

    def ask(self, question: str, seat: int, options: list[Told], safe: Told) -> Generator[Asked, dict[int, Told], Told]:
        """Ask a seat, and return its answer; `safe` is the option of BL-0.4."""
        self.safe = safe
        answers = yield question, {seat: options}
        return answers[seat]

    def one_turn(self, turn: Turn) -> Generator[Asked, dict[int, Told], bool]:
        """BL-4.2, BL-5.1. Play a turn, then the challenge of a laid bag; return whether the player is out."""
        seat, hand = turn.seat, self.hand[turn.seat]
        yield from self.plays_of(turn)
        caught = (yield from self.challenge(turn)) if turn.laid else 0
        is_out = turn.plays > 0 and not hand
        if is_out:
            yield from self.bonus(seat, caught)
        return is_out

    def plays_of(self, turn: Turn) -> Part:
        """BL-4.2. Play cards until the player is done, or has no card left."""
        seat, hand = turn.seat, self.hand[turn.seat]
        while True:
            verb, cards, zone, _ = yield from self.ask("make_a_play", seat, self.plays(turn), DONE)
            if verb == "done":
                if not turn.plays and hand:
                    yield from self.forfeit(seat)
                return
            if verb == "snitch" and self.bags[zone].number != cards[0]:  # BL-4.4: the turn is lost
                if self.settings.wrong_snitch == "forfeit":
                    yield from self.forfeit(seat)
                return
            turn.plays += 1
            for card in cards:
                hand.remove(card)
            if verb in ("pinch", "snitch"):
                self.swap(seat, cards[0], (self.sets if verb == "pinch" else self.bags)[zone])
            elif verb == "bag":
                self.bag(turn, zone, cards[0])
            elif verb == "ditch":
                self.ditch(turn, cards[0])
            else:
                self.lay_down(seat, verb, cards, zone)
            if not hand:
                return

    # -- the options
    def plays(self, turn: Turn) -> list[Told]:
        """BL-4.2, BL-6.1. List all plays, and the end of the turn."""
        hand = self.hand[turn.seat]
        coins = sorted(set(hand) - {LOOTER})
        plays = [DONE]
        for coin in coins:
            if hand.count(coin) > 1:
                plays.append(("open", (coin, coin), 0, None))
            if LOOTER in hand:
                plays.append(("open", (coin, LOOTER), 0, None))
        for zone, pile in self.sets.items():
            plays += [(verb, (card,), zone, None) for card in set(hand) for verb in self.verbs(turn, pile, card)]
        if self.settings.advanced:
            if turn.ditched < self.settings.ditch_per_turn:  # BL-6.6
                plays += [("ditch", (bag.number,), zone, None) for zone, bag in self.bags.items() if bag.number in hand]
        elif turn.plays == 0:
            plays += [("snitch", (coin,), zone, None) for zone in self.bags for coin in coins]
        return plays

    def verbs(self, turn: Turn, pile: Pile, card: int) -> list[str]:
        """BL-4.2, BL-4.3, BL-2.4, BL-6.1, BL-6.2. List what a card can do to an open set."""
        verbs = []
        fits = card in (pile.number, LOOTER)
        if len(pile.cards) == 4:
            if not turn.has_bagged and (fits or self.settings.advanced):
                verbs.append("bag")
        elif fits:
            verbs.append("build" if pile.owner == turn.seat else "steal")
        if not self.settings.advanced and card == pile.number and LOOTER in pile.cards:
            verbs.append("pinch")
        return verbs

    # -- the effects
    def lay_down(self, seat: int, verb: str, cards: tuple[int, ...], zone: int) -> None:
        """BL-4.2, BL-2.2. Open, build or steal a set."""
        if verb == "open":
            self.made += 1
            self.sets[self.made] = Pile(seat, cards[0], list(cards))
        else:
            pile = self.sets[zone]
            pile.cards += cards
            pile.owner = seat

    def swap(self, seat: int, coin: int, pile: Pile) -> None:
        """BL-4.2, BL-4.4. Swap a coin for a looter, by a pinch or a right snitch."""
        pile.cards.remove(LOOTER)
        pile.cards.append(coin)
        self.gain(seat, LOOTER)

    def ditch(self, turn: Turn, coin: int) -> None:
        """BL-6.6. Ditch a coin, and draw."""
        turn.ditched += 1
        self.ditched.append(coin)
        self.draw(turn.seat)

    def bag(self, turn: Turn, zone: int, card: int) -> None:
        """BL-4.2, BL-6.2. Lay the fifth card; in advanced play it stays in the middle until the end of the turn."""
        turn.has_bagged = True
        bag = self.bags[zone] = self.sets.pop(zone)
        bag.owner = turn.seat
        if self.settings.advanced:
            self.middle = [card]
            turn.laid = zone
        else:
            bag.cards.append(card)

    def challenge(self, turn: Turn) -> Generator[Asked, dict[int, Told], int]:
        """BL-6.3. Play the challenge; return the bag that a bluffer lost, or 0."""
        bag = self.bags[turn.laid]
        challenger = yield from self.challenger(turn.seat, turn.laid)
        card = self.middle.pop()
        bag.cards.append(card)
        if challenger is None:
            return 0
        if card not in (bag.number, LOOTER):
            self.hand_over(turn.laid, challenger)
            return turn.laid
        yield from self.reward(turn.seat, challenger)
        return 0

    def challenger(self, seat: int, zone: int) -> Generator[Asked, dict[int, Told], int | None]:
        """BL-6.3, BL-0.2. Return a random one of the willing seats that have a bag or an open set."""
        entitled = [other for other in self.left_of(seat) if self.bags_of(other) or self.sets_of(other)]
        if not entitled:
            return None
        self.safe = PASS
        answers = yield "challenge_the_bag", {other: [PASS, ("challenge", (), zone, None)] for other in entitled}
        willing = [other for other in sorted(entitled) if answers[other] != PASS]
        return willing[self.chance.below(len(willing))] if willing else None

    def reward(self, seat: int, challenger: int) -> Part:
        """BL-6.3. Take one bag or all open sets of the challenger, as the reward for a genuine bag."""
        options = [take_bag(zone) for zone in self.bags_of(challenger)]
        if self.sets_of(challenger):
            options.append(("take_sets", (), 0, challenger))
        verb, _, zone, _ = yield from self.ask("take_your_reward", seat, options, options[0])
        if verb == "take_bag":
            self.hand_over(zone, seat)
        else:
            for pile in self.sets_of(challenger):
                pile.owner = seat

    def bonus(self, seat: int, caught: int) -> Part:
        """BL-5.2, BL-6.5. Take a bag of another player for going out, except one that a challenger has just won."""
        bags = {owner: [zone for zone in self.bags_of(owner) if zone != caught] for owner in self.left_of(seat)}
        owners = [owner for owner in bags if bags[owner]]
        if owners:
            richest = max(owners, key=lambda owner: self.totals[owner] + self.worth(owner))
            options = [take_bag(zone) for owner in owners for zone in bags[owner]]
            safe = take_bag(bags[richest][0])
            _, _, zone, _ = yield from self.ask("take_a_bag", seat, options, safe)
            self.hand_over(zone, seat)

    def forfeit(self, seat: int) -> Part:
        """BL-4.5. Give another player a random card."""
        options: list[Told] = [("give", (), 0, other) for other in self.left_of(seat)]
        _, _, _, other = yield from self.ask("forfeit_a_card", seat, options, options[0])
        hand = self.hand[seat]
        self.gain(other, hand.pop(self.chance.below(len(hand))))

    # -- the comparison with the engine
    def told(self, seat: int, option: Option) -> Told:
        return VERBS[option.verb], option.cards, option.zone, option.seat

    def check(self, question: str) -> None:
        game = self.game
        assert self.hand == [zone.cards for zone in game.hand]
        assert (self.pile, self.middle) == (game.draw_pile.cards, game.middle.cards)
        assert self.ditched == game.ditched.cards
        for seat in range(self.seats):
            mine = {zone: (pile.number, sorted(pile.cards)) for zone, pile in self.sets.items() if pile.owner == seat}
            assert mine == {zone.number: (zone.counters[0], sorted(zone.cards)) for zone in game.set[seat]}
            bags = self.bag_zones(seat)
            assert self.bags_of(seat) == [zone.number for zone in bags]
            for zone in bags:
                bag = self.bags[zone.number]
                assert sorted(bag.cards) == sorted(zone.cards)
                assert zone.counters in ([], [bag.number])
        assert (self.round, self.dealer, self.turn.seat) == (game.round, game.dealer - 1, game.turn_of - 1)
        assert (self.totals, self.fines) == (game.total, game.fine)
        for seat in game.waiting():
            assert self.told(seat, game.safe_option(seat, game.options(seat))) == self.safe

    def bag_zones(self, seat: int) -> list[Zone]:
        """BL-6.2, BL-8.2. Return the bags of a seat in the engine, whose zones depend on who may look into bags."""
        game = self.game
        if self.settings.advanced:
            return game.bluff_bag[seat]
        return (game.bag if self.settings.bag_faces == "hidden" else game.bag_open)[seat]

    def check_end(self) -> None:
        assert self.game.round == self.round
        assert self.game.scores() == self.totals
        assert self.game.places() == [1 + sum(other > total for other in self.totals) for total in self.totals]

    def liked(self, question: str, options: Sequence[Option], rng: random.Random) -> Sequence[Option]:
        if question == "make_a_play":
            if self.is_idle:
                return [one for one in options if VERBS[one.verb] == "done"]
            if len(options) > 1 and rng.random() < self.busy:
                options = [one for one in options if VERBS[one.verb] != "done"]
            if rng.random() < 0.8:  # rarely snitch, because a wrong snitch ends the turn, and most are wrong
                options = [one for one in options if VERBS[one.verb] != "snitch"] or options
            if self.hoards:  # keep looters for bags
                options = [one for one in options if VERBS[one.verb] == "bag" or LOOTER not in one.cards] or options
        return options
