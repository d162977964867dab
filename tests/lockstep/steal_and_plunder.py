"""The second implementation of Steal & Plunder."""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

from cutpurse.engine.agenda import Option
from cutpurse.engine.zones import Zone
from cutpurse.games.steal_and_plunder.cards import WORDS
from cutpurse.games.steal_and_plunder.rules import StealAndPlunder
from tests.lockstep.driver import Asked, Play, Told

VERBS = {verb.number: verb.name for verb in WORDS.verbs}
NAMES = ["", *(card.name for card in WORDS.cards)]

YELLOW = ("redistributed_diesel", "counterfeit_cigarettes", "copper_wire", "bribe_money")
BLUE = ("cash_in_the_couch", "fake_perfume", "liberated_livestock")
RED = ("minibus_taxi_routes", "next_election_ballots")
GREEN = ("pre_approved_tenders",)
WEALTH = (*YELLOW, *BLUE, *RED, *GREEN)
WILDS = ("cryptocurrency_coin", "gold_bar", "blood_diamond")
POWERS = ("steal", "plunder", "forensic_audit", "flee_the_country", "tax_audit")
BOX = {
    **dict.fromkeys(YELLOW, (10, 50_000)),
    **dict.fromkeys(BLUE, (8, 100_000)),
    **dict.fromkeys(RED, (6, 150_000)),
    **dict.fromkeys(GREEN, (6, 200_000)),
    "cryptocurrency_coin": (6, 250_000),
    "gold_bar": (4, 300_000),
    "blood_diamond": (2, 500_000),
    "steal": (2, 0),
    "plunder": (1, 0),
    "forensic_audit": (2, 0),
    "flee_the_country": (1, 0),
    "tax_audit": (1, 0),
}  # SP-1.1: copies and value of each card
PLACES = {card: place for place, card in enumerate(BOX)}  # SP-0.4: the order of equal values
# SP-4.2: the actions, in order, of a hand with only Power cards, which cannot be discarded
WITHOUT_A_DISCARD = ("power_steal", "power_plunder", "power_audit", "power_flee", "power_tax", "burn")
CONCEDE: Told = ("concede", (), None)

Part = Generator[Asked, dict[int, Told], Any]


def settings(seats: int, rng: random.Random) -> dict[str, object]:
    """Draw the settings of a match."""
    return {
        "mode": rng.choice(["single", "single", "series"]),
        "target": rng.choice([1_000_000, 2_000_000, 5_000_000]),
        "max_games": rng.choice([1, 3, 15]),
        "small_deck": seats == 3 and rng.random() < 0.5,
        "removed_yellow": rng.choice(YELLOW),
        "start_method": rng.choice(["draw", "random"]),
        "strict_first_pack_order": rng.random() < 0.5,
        "hand_wild_on_discard": rng.random() < 0.5,
        "audit_pick": rng.choice(["choice", "highest_value"]),
        "offshore_open": rng.random() < 0.5,
    }


def value(card: str) -> int:
    """Return the value of a card in Rand."""
    return BOX[card][1]


def names(zone: Zone) -> list[str]:
    """Return the names of the cards in a zone of the engine."""
    return [NAMES[card] for card in zone.cards]


def goes_with(card: str, industry: str) -> bool:
    """SP-1.2, SP-1.3. Return whether a card fits a pack of this industry."""
    return card == industry or card in WILDS


@dataclass
class Pack:
    """SP-3.1. A pack: cards of one industry, and Wilds."""

    industry: str
    cards: list[str]
    is_locked: bool


def worth(packs: list[Pack]) -> int:
    return sum(value(card) for pack in packs for card in pack.cards)


class Telling:
    """Tells Steal & Plunder as its rule sheet has it. Each match has its share of boldness, thrift and hoarding."""

    def __init__(self, game: StealAndPlunder, rng: random.Random) -> None:
        self.game, self.seats, self.settings = game, game.n, game.settings
        self.start = game.start_token - 1
        self.totals, self.scores = [0] * game.n, [0] * game.n
        self.safe: Told = ()
        self.bold, self.thrift, self.hoards = rng.random(), rng.random(), rng.random() < 0.3

    # -- the table
    def deal(self) -> None:
        """SP-2.2 to SP-2.5. Copy the engine's deal, and count the box."""
        game = self.game
        assert game.start_token - 1 == self.start
        self.reload = self.start
        self.deck, self.discard = names(game.deck), names(game.discard)
        self.hand = [names(zone) for zone in game.hand]
        assert [len(hand) for hand in self.hand] == [5] * self.seats
        (first,) = self.discard
        assert first not in POWERS
        box = [card for card, (copies, _) in BOX.items() for _ in range(copies)]
        if self.settings.small_deck:
            box = [card for card in box if card not in (*GREEN, self.settings.removed_yellow)]
        assert (len(box), sum(map(value, box))) == ((85, 9_400_000) if self.settings.small_deck else (101, 11_100_000))
        assert sorted(sum(self.hand, self.deck + self.discard)) == sorted(box)
        sides = [[list[Pack]() for _ in range(self.seats)] for _ in range(4)]
        self.stack, self.plundered, self.offshore, self.taxed = sides
        self.locked_in = [False] * self.seats
        self.battle, self.spent = list[str](), list[str]()
        self.cover = [list[str]() for _ in range(self.seats)]
        self.turns = 0

    def clockwise(self, first: int) -> list[int]:
        """SP-0.1. List all seats, from this one on."""
        return [(first + turn) % self.seats for turn in range(self.seats)]

    def open_pack(self, seat: int) -> Pack | None:
        """SP-3.3. Return the top of a stack, unless it is the locked pack."""
        stack = self.stack[seat]
        return stack[-1] if stack and not stack[-1].is_locked else None

    # -- the match
    def play(self) -> Play:
        """SP-5.3, SP-5.4. Play one game, or games until one player alone has the target or more."""
        for games in range(1, self.settings.max_games + 1):
            yield from self.one_game()
            self.totals = [total + score for total, score in zip(self.totals, self.scores, strict=True)]
            best = max(self.totals)
            is_decided = best >= self.settings.target and self.totals.count(best) == 1
            if self.settings.mode == "single" or is_decided or games == self.settings.max_games:
                return
            self.start = (self.start + 1) % self.seats  # SP-2.2

    def one_game(self) -> Part:
        """SP-4.1, SP-5.1, SP-5.2. Play rounds until the deck and all hands are empty after a turn, and count."""
        self.deal()
        while True:
            for seat in self.clockwise(self.start):
                if not self.hand[seat]:
                    continue
                yield from self.turn(seat)
                if not self.deck and not any(self.hand):
                    safe = [self.stack[one] + self.plundered[one] + self.offshore[one] for one in range(self.seats)]
                    self.scores = [worth(safe[one]) + worth(self.taxed[one]) // 2 for one in range(self.seats)]
                    return
            self.fill_the_hands()

    def fill_the_hands(self) -> None:
        """SP-4.25. Draw up to five cards for each seat."""
        for seat in self.clockwise(self.reload):
            while self.deck and len(self.hand[seat]) < 5:
                self.hand[seat].append(self.deck.pop())
        self.reload = (self.reload + 1) % self.seats

    def ask(self, question: str, seat: int, options: list[Told], safe: Told) -> Generator[Asked, dict[int, Told], Told]:
        """Ask a seat, and return its answer; `safe` is the option of SP-0.4."""
        self.safe = safe
        answers = yield question, {seat: options}
        return answers[seat]

    def turn(self, seat: int) -> Part:
        """SP-4.2. Take one action; by SP-6.1 it takes cards from the deck and the hands."""
        self.turns += 1
        left = len(self.deck) + sum(map(len, self.hand))
        options = self.actions(seat)
        verb, cards, target = yield from self.ask("take_a_turn", seat, options, self.safe_action(options))
        for card in cards:
            self.hand[seat].remove(card)
        if verb in ("form_pack", "form_pack_discard"):
            self.lay_a_pack(seat, list(cards), with_discard=verb == "form_pack_discard")
        elif verb == "discard":  # SP-4.9
            self.discard.extend(cards)
            if self.deck:
                self.hand[seat].append(self.deck.pop())
        elif verb == "attack":
            yield from self.fight(seat, target, cards[0])
        else:
            yield from self.use_a_power(seat, verb, cards[0], target)
        assert len(self.deck) + sum(map(len, self.hand)) < left
        assert self.turns <= 100

    # -- the options
    def actions(self, seat: int) -> list[Told]:
        """SP-4.2 to SP-4.4, SP-4.7, SP-4.10. List all actions of a seat on its turn."""
        hand = self.hand[seat]
        actions = self.pairs(hand)
        if self.locked_in[seat] or not actions or not self.settings.strict_first_pack_order:
            actions += self.pairs_with_the_discard(hand)
        actions += [("discard", (card,), None) for card in set(hand) - set(POWERS)]
        if self.locked_in[seat]:
            for target in range(self.seats):
                if target != seat:
                    actions += self.offences(hand, target)
            if "flee_the_country" in hand and (self.stack[seat] or self.plundered[seat]):
                actions.append(("power_flee", ("flee_the_country",), None))
        return actions or [("burn", (card,), None) for card in set(hand)]

    def pairs(self, hand: list[str]) -> list[Told]:
        """SP-3.1. List the packs from a hand: twins, or a Wealth card and a Wild."""
        wealth, wilds = set(hand) & set(WEALTH), set(hand) & set(WILDS)
        twins: list[Told] = [("form_pack", (card, card), None) for card in wealth if hand.count(card) > 1]
        return twins + [("form_pack", (card, wild), None) for card in wealth for wild in wilds]

    def pairs_with_the_discard(self, hand: list[str]) -> list[Told]:
        """SP-4.5, SP-4.6, SP-4.8. List the packs with the top discard."""
        if not self.discard:
            return []
        top = self.discard[-1]
        if top in WILDS:
            partners = set(hand) & set(WEALTH)
        else:
            partners = set(hand) & {top}
            if self.settings.hand_wild_on_discard:
                partners |= set(hand) & set(WILDS)
        return [("form_pack_discard", (card,), None) for card in partners]

    def offences(self, hand: list[str], target: int) -> list[Told]:
        """SP-4.2, SP-4.18, SP-4.22, SP-4.24, SP-4.26. List the actions from a hand against an opponent."""
        offences: list[Told] = []
        if pack := self.open_pack(target):
            offences += [("attack", (card,), target) for card in set(hand) if goes_with(card, pack.industry)]
            offences += [(f"power_{card}", (card,), target) for card in ("steal", "plunder") if card in hand]
        if "forensic_audit" in hand and self.hand[target]:
            offences.append(("power_audit", ("forensic_audit",), target))
        if "tax_audit" in hand and (self.stack[target] or self.plundered[target]):
            offences.append(("power_tax", ("tax_audit",), target))
        return offences

    def safe_action(self, options: list[Told]) -> Told:
        """SP-0.4. Return the lowest discard, else the first action in order, lowest target and card first."""
        discards = [option for option in options if option[0] == "discard"]
        if discards:
            return min(discards, key=lambda option: (value(option[1][0]), PLACES[option[1][0]]))
        order = WITHOUT_A_DISCARD.index
        return min(options, key=lambda option: (order(option[0]), option[2] or 0, PLACES[option[1][0]]))

    # -- the effects
    def lay_a_pack(self, seat: int, cards: list[str], with_discard: bool) -> None:
        """SP-3.2, SP-3.3, SP-4.8. Lay a pack on top of the stack; the first one is locked."""
        if with_discard:
            cards.append(self.discard.pop())
        industry = next(card for card in cards if card in WEALTH)
        self.stack[seat].append(Pack(industry, cards, is_locked=not self.locked_in[seat]))
        self.locked_in[seat] = True

    def fight(self, thief: int, owner: int, card: str) -> Part:
        """SP-4.26, SP-4.11, SP-4.12. Let both add cards in turn until one concedes; the last card wins."""
        pack = self.stack[owner][-1]
        self.battle = [card]
        seat, rival = owner, thief
        while True:
            fitting = {card for card in self.hand[seat] if goes_with(card, pack.industry)}
            options = [CONCEDE, *(("contribute", (card,), None) for card in fitting)]
            verb, cards, _ = yield from self.ask("answer_the_theft", seat, options, CONCEDE)
            if verb == "concede":
                break
            self.hand[seat].remove(cards[0])
            self.battle.append(cards[0])
            seat, rival = rival, seat
        pack.cards += self.battle
        self.battle = []
        if rival == thief:  # SP-4.14: it is open at once
            self.stack[thief].append(self.stack[owner].pop())

    def use_a_power(self, seat: int, verb: str, card: str, target: int) -> Part:
        """SP-4.10, SP-4.17 to SP-4.21. Play a Power card."""
        if verb == "power_flee":
            self.cover[seat].append(card)
            self.gather_up(seat, self.offshore)
        elif verb == "power_tax":
            self.cover[target].append(card)
            self.gather_up(target, self.taxed)
        else:
            self.spent.append(card)
        if verb == "power_steal":
            self.stack[seat].append(self.stack[target].pop())
        elif verb == "power_plunder":
            self.plundered[seat].append(self.stack[target].pop())
        elif verb == "power_audit":
            yield from self.audit(seat, target)

    def gather_up(self, seat: int, to: list[list[Pack]]) -> None:
        """SP-3.5. Move stack and plundered packs, including the locked pack; a new stack begins."""
        to[seat] += self.stack[seat] + self.plundered[seat]
        self.stack[seat], self.plundered[seat] = [], []

    def audit(self, seat: int, target: int) -> Part:
        """SP-4.15, SP-4.16. Take a card of the target's hand; one setting allows only the highest value."""
        hand = self.hand[target]
        highest = max(map(value, hand))
        dearest = [card for card in BOX if card in hand and value(card) == highest]
        cards = dearest if self.settings.audit_pick == "highest_value" else set(hand)
        options: list[Told] = [("take", (card,), target) for card in cards]
        safe = ("take", (dearest[0],), target)
        _, (card,), _ = yield from self.ask("take_their_best_card", seat, options, safe)
        hand.remove(card)
        self.hand[seat].append(card)
        assert len(self.hand[seat]) <= 5

    # -- the comparison with the engine
    def told(self, seat: int, option: Option) -> Told:
        return VERBS[option.verb], tuple(NAMES[card] for card in option.cards), option.seat

    def check(self, question: str) -> None:
        game = self.game
        assert [sorted(hand) for hand in self.hand] == [sorted(names(zone)) for zone in game.hand]
        assert (self.deck, self.discard) == (names(game.deck), names(game.discard))
        assert (self.battle, sorted(self.spent)) == (names(game.battle), sorted(names(game.spent)))
        assert [sorted(cards) for cards in self.cover] == [sorted(names(zone)) for zone in game.cover]
        sides = [self.stack, self.plundered, self.offshore, self.taxed]
        for mine, theirs in zip(sides, [game.pack, game.plundered, game.offshore, game.taxed], strict=True):
            for packs, zones in zip(mine, theirs, strict=True):
                assert [sorted(pack.cards) for pack in packs] == [sorted(names(zone)) for zone in zones]
                assert [pack.industry for pack in packs] == [names(zone)[-1] for zone in zones]  # SP-4.13
                assert [pack.is_locked for pack in packs] == [zone.counters[0] for zone in zones]
        assert self.locked_in == game.locked_in
        assert (self.start, self.reload) == (game.start_token - 1, game.reload_token - 1)
        assert (self.turns, self.totals) == (game.turns, game.total)
        (seat,) = game.waiting()
        assert self.told(seat, game.safe_option(seat, game.options(seat))) == self.safe

    def check_end(self) -> None:
        ranks = self.scores if self.settings.mode == "single" else self.totals
        assert self.game.scores() == ranks
        assert self.game.places() == [1 + sum(other > rank for other in ranks) for rank in ranks]

    def liked(self, question: str, options: Sequence[Option], rng: random.Random) -> Sequence[Option]:
        if question != "take_a_turn":
            return options
        if self.hoards:  # keep Power cards, so that some hands have nothing else
            options = [one for one in options if not VERBS[one.verb].startswith("power")] or options
        bold = [one for one in options if VERBS[one.verb] not in ("form_pack", "form_pack_discard", "discard")]
        if bold and rng.random() < self.bold:
            return bold
        if rng.random() < self.thrift:
            return [one for one in options if VERBS[one.verb] != "discard"] or options
        return options
