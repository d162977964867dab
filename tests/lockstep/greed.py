"""The second implementation of Greed."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from typing import Any

from cutpurse.engine.agenda import Option
from cutpurse.games.greed.cards import CROOK, WORDS
from cutpurse.games.greed.rules import Greed
from tests.lockstep.driver import Asked, Play, Told

VERBS = {verb.number: verb.name for verb in WORDS.verbs}
FACES = [(0, 0), *((card.traits.get("number", 0), card.traits.get("special", 0)) for card in WORDS.cards)]
PLUS_ONE, LOOK, SWAP = 1, 2, 3
PASS: Told = ("pass", None, None, 0)

Part = Generator[Asked, dict[int, Told], Any]


def settings(seats: int, rng: random.Random) -> dict[str, object]:
    """Draw the settings of a match."""
    return {
        "mode": rng.choice(["single", "tournament"]),
        "specials": rng.choice(["standard", "rich", "none"]),
        "two_player_pile": rng.random() < 0.7,
        "max_rounds": rng.choice([20, 60]),
    }


def number(card: int) -> int:
    """Return the number of a card; 0 for a crook."""
    return FACES[card][0]


def symbol(card: int) -> int:
    return FACES[card][1]


class Telling:
    """Tells Greed as its rule sheet has it. Each match has its share of bravery, trades and waste."""

    def __init__(self, game: Greed, rng: random.Random) -> None:
        self.game, self.seats, self.settings = game, game.n, game.settings
        self.points, self.wins = [0] * game.n, [0] * game.n
        self.first = game.first - 1
        self.winner: int | None = None
        self.brave, self.trades, self.wastes = rng.random(), rng.random(), rng.random()

    # -- the table
    def deal(self) -> None:
        """GR-2.1 to GR-2.5. Copy the engine's deal, and count the box."""
        game = self.game
        assert game.first - 1 == self.first
        self.chance = game.chance.fork()
        self.deck, self.discard, self.middle = game.deck.cards[:], list[int](), list[int]()
        self.hand = [zone.cards[:] for zone in game.hand]
        self.collected = [zone.cards[:] for zone in game.collection]
        for turn in range(self.seats):
            seat = (self.first + turn) % self.seats
            assert (len(self.collected[seat]), len(self.hand[seat])) == (turn + 1, 8)
            assert self.hand[seat].count(CROOK) == 1
        each = {"none": 0, "standard": 1, "rich": 2}[self.settings.specials]  # GR-1.3
        box = [FACES[card] for card in sum([*self.hand, *self.collected], self.deck)]
        for face in range(1, 8):
            assert [box.count((face, mark)) for mark in range(4)] == [14 - 3 * each, each, each, each]

    def draw(self, to: list[int], cards: int) -> None:
        """GR-0.2. Draw cards, shuffling the discards into a new deck if needed."""
        for _ in range(cards):
            if not self.deck:
                if not self.discard:
                    return
                self.deck, self.discard = self.discard, []
                self.chance.shuffle(self.deck)
            to.append(self.deck.pop())

    def count(self, seat: int, face: int) -> int:
        """Count a seat's collected cards of a number."""
        return sum(number(card) == face for card in self.collected[seat])

    def sets(self, seat: int) -> list[int]:
        """Return the sizes of a seat's sets, the largest first."""
        return sorted((self.count(seat, face) for face in range(1, 8)), reverse=True)

    # -- the match
    def play(self) -> Play:
        """GR-5.1. Play one game, or one begun by each player."""
        for _ in range(self.seats):
            yield from self.one_game()
            if self.settings.mode == "single":
                return
            best = max(self.sets(seat) for seat in range(self.seats))
            ahead = [seat for seat in range(self.seats) if self.sets(seat) == best]
            if self.winner is not None:
                ahead = [self.winner]
            for seat in range(self.seats):
                if ahead == [seat]:
                    self.points[seat] += 7
                    self.wins[seat] += 1
                else:
                    self.points[seat] += self.sets(seat)[0]
            self.first = (self.first + 1) % self.seats

    def one_game(self) -> Part:
        """GR-3.15. Play until a player has six of a number, or GR-6.1 ends the game."""
        self.deal()
        self.winner = None
        for turn in range(self.settings.max_rounds * self.seats):
            seat = (self.first + turn) % self.seats
            yield from self.turn(seat)
            if self.sets(seat)[0] >= 6:
                self.winner = seat
                return

    def turn(self, seat: int) -> Part:
        """GR-3.1 to GR-3.15. Play a turn."""
        hand, collected = self.hand[seat], self.collected[seat]
        if hand == [CROOK]:
            self.draw(hand, 7)
        if len(hand) > 1:
            answers = yield "play_a_card", {seat: [("play", card, None, 0) for card in set(hand) - {CROOK}]}
            card = answers[seat][1]
            hand.remove(card)
            collected.append(card)
        victim, is_bust = yield from self.raid(seat)
        if is_bust:
            (self.discard if victim is None else self.hand[victim]).extend(self.middle)
        else:
            collected += [card for card in self.middle if card != CROOK]
            if CROOK in self.middle:
                yield from self.with_a_crook(seat, victim)
        self.middle.clear()
        was_forced = hand == [CROOK]
        if was_forced:
            self.draw(hand, 7)
        if victim is not None and self.hand[victim] == [CROOK]:
            self.draw(self.hand[victim], 7)
        if not was_forced and collected:
            yield from self.trade(seat)

    def raid(self, seat: int) -> Generator[Asked, dict[int, Told], tuple[int | None, bool]]:
        """GR-3.3 to GR-3.8. Raid; return the victim, None for the pile, and whether it is a bust."""
        others = [(seat + turn) % self.seats for turn in range(1, self.seats)]
        victims: list[Told] = [("raid", None, other, 0) for other in others]
        if self.seats == 2 and self.settings.two_player_pile and (self.deck or self.discard):  # GR-4.1
            victims.append(("raid_pile", None, None, 0))
        victim: int | None = (yield "choose_a_victim", {seat: victims})[seat][2]
        while True:
            if victim is None:
                self.draw(self.middle, 1)
            else:
                hand = self.hand[victim]
                hand.sort()
                self.middle.append(hand.pop(self.chance.below(len(hand))))
            *before, card = self.middle
            if card != CROOK and number(card) in map(number, before):
                return victim, True
            if victim is not None:  # GR-4.1: symbols of cards from the pile have no effect
                yield from self.symbol_of(card, seat, others)
            if not (self.hand[victim] if victim is not None else self.deck or self.discard):
                return victim, False
            answers = yield "go_on_or_stop", {seat: [("stop", None, None, 0), ("go_on", None, None, 0)]}
            if answers[seat][0] == "stop":
                return victim, False

    def symbol_of(self, card: int, seat: int, others: Sequence[int]) -> Part:
        """GR-3.9 to GR-3.11. Apply the symbol of a drawn card."""
        if symbol(card) == PLUS_ONE:
            for collector in (seat, *others):
                if self.count(collector, number(card)):
                    self.draw(self.collected[collector], 1)
        elif symbol(card) == LOOK:
            yield "look_at_a_hand", {seat: [PASS, *(("look", None, other, 0) for other in others)]}
        elif symbol(card) == SWAP and len(collected := self.collected[seat]) >= 2:
            answers = yield "swap_two_for_three", {seat: [PASS, *(("swap", one, None, 0) for one in set(collected))]}
            if answers[seat][0] == "swap":
                self.put_away(seat, answers[seat][1])
                answers = yield "swap_the_second", {seat: [("swap", one, None, 0) for one in set(collected)]}
                self.put_away(seat, answers[seat][1])
                self.draw(collected, 3)

    def put_away(self, seat: int, card: int) -> None:
        """Move a card from a collection to the discards."""
        self.collected[seat].remove(card)
        self.discard.append(card)

    def with_a_crook(self, seat: int, victim: int | None) -> Part:
        """GR-3.7. Let the raider take a card of the owner's collection; the crook returns to its owner."""
        assert victim is not None
        if goods := set(self.collected[victim]):
            answers = yield "take_a_card", {seat: [PASS, *(("take", card, victim, 0) for card in goods)]}
            if answers[seat][0] == "take":
                self.collected[victim].remove(answers[seat][1])
                self.collected[seat].append(answers[seat][1])
        self.hand[victim].append(CROOK)

    def trade(self, seat: int) -> Part:
        """GR-3.14. Trade all cards of a number for a hand of eight."""
        faces = [face for face in range(1, 8) if self.count(seat, face)]
        answers = yield "trade_a_number_in", {seat: [PASS, *(("trade", None, None, face) for face in faces)]}
        verb, _, _, face = answers[seat]
        if verb == "trade":
            for card in sorted(card for card in self.collected[seat] if number(card) == face):
                self.put_away(seat, card)
            self.draw(self.hand[seat], 8 - len(self.hand[seat]))

    # -- the comparison with the engine
    def told(self, seat: int, option: Option) -> Told:
        return VERBS[option.verb], option.cards[0] if option.cards else None, option.seat, option.number

    def check(self, question: str) -> None:
        game = self.game
        assert [sorted(hand) for hand in self.hand] == [zone.cards for zone in game.hand]
        assert [sorted(cards) for cards in self.collected] == [zone.cards for zone in game.collection]
        assert (self.deck, self.discard) == (game.deck.cards, game.discard.cards)
        if question != "take_a_card":  # the engine leaves the cards in the middle until that decision
            assert sorted(self.middle) == sorted(game.middle.cards)
        assert (self.points, self.wins) == (game.points, game.wins)

    def check_end(self) -> None:
        assert (self.points, self.wins) == (self.game.points, self.game.wins)
        if self.settings.mode == "single":
            ranks = [(seat == self.winner, *self.sets(seat)) for seat in range(self.seats)]
            assert self.game.places() == [1 + sum(other > rank for other in ranks) for rank in ranks]

    def liked(self, question: str, options: Sequence[Option], rng: random.Random) -> Sequence[Option]:
        if question == "go_on_or_stop":
            return options[1:] if rng.random() < self.brave else options[:1]
        if question == "trade_a_number_in" and rng.random() < self.trades:  # mostly trade the set that would win
            big = max(options, key=lambda one: self.count(self.game.waiting()[0], one.number))
            return [big] if rng.random() < self.wastes else options[1:]
        return options
