"""The second implementation of Szmal: its decisions.

`szmal_cards` has the printed facts of the cards, and `szmal_table` their effects without decisions.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Sequence
from typing import Any

from cutpurse.engine.agenda import Option
from cutpurse.engine.zones import Zone
from cutpurse.games.szmal.cards import WORDS
from cutpurse.games.szmal.rules import Szmal
from tests.lockstep.driver import Asked, Play, Told
from tests.lockstep.szmal_cards import CARDS, Card
from tests.lockstep.szmal_table import FOR_NEXT_TURN, FOR_THIS_TURN, ROUNDS, Table

VERBS = {verb.number: verb.name for verb in WORDS.verbs}
PASS: Told = ("pass", (), 0)
FIRST_PLAY = 3  # SZ-3.0

EACH_TURN = (6, 10, 16, 19, 46, 49, 69)  # SZ-3.4
DELAYED_LOSSES = {5: "Holding", 40: "Thug", 73: "Thug", 79: "Holding"}  # SZ-3.5.1
LOSSES_OF_OPPONENTS_ONLY = (40, 79)

# Cards to play often, so that rare situations occur: delayed effects, and cards that play or undo others.
FAVOURITES = {1, 36, 41, 45, 53, 54, 55, 62, 63, 64, 67, 68, 72, 78, 80}

Part = Generator[Asked, dict[int, Told], Any]


def settings(seats: int, rng: random.Random) -> dict[str, object]:
    """Return no settings: Szmal has none."""
    return {}


def rows(zone: Zone) -> dict[int, tuple[int, ...]]:
    """Return the column values of each card in a zone of the engine."""
    return dict(zip(zone.cards, zip(*(zone.columns or ()), strict=True), strict=True))


class Telling(Table):
    """Tells Szmal as its rule sheet has it. In most matches `FAVOURITES` are picked where they can be."""

    def __init__(self, game: Szmal, rng: random.Random) -> None:
        super().__init__(game)
        self.favourites = FAVOURITES | set(rng.sample(list(CARDS), 20))
        self.picks_favourites = rng.random() < 0.7

    # -- the match
    def play(self) -> Play:
        """SZ-3.0. Play all rounds."""
        for number in range(1, ROUNDS + 1):
            self.round = number
            yield from self.pick()
            if number >= FIRST_PLAY:
                yield from self.choose_and_resolve()
                yield from self.extra_plays()
                for each in EACH_TURN:
                    for seat in range(self.seats):
                        for _ in self.in_play(seat, each):
                            self.each_turn(seat, each)
                yield from self.delayed_losses()
                self.end_the_turn()
        self.end_of_the_game()

    def pick(self) -> Part:
        """SZ-3.1. Pick cards, and pass the piles to the left, the next seat (SZ-2.4)."""
        answers = yield (
            "pick_a_card",
            {seat: [("pick", (card,), 0) for card in pile] for seat, pile in enumerate(self.draft_pile)},
        )
        for seat, (_, (card,), _) in answers.items():
            self.draft_pile[seat].remove(card)
            self.hand[seat].append(card)
        self.draft_pile = [self.draft_pile[seat - 1] for seat in range(self.seats)]

    def choose_and_resolve(self) -> Part:
        """SZ-3.2, SZ-3.3. Choose cards, and resolve them."""
        answers = yield (
            "choose_a_card",
            {seat: [("choose", (card,), 0) for card in hand] for seat, hand in enumerate(self.hand)},
        )
        for seat, (_, (card,), _) in answers.items():
            self.hand[seat].remove(card)
        for card, seat in sorted((card, seat) for seat, (_, (card,), _) in answers.items()):
            yield from self.resolve(seat, card)

    def extra_plays(self) -> Part:
        """SZ-3.3.8, SZ-7.7. Play the extra cards of a turn."""
        for seat in range(self.seats):
            while self.this_turn[seat]["extra_plays"]:
                self.this_turn[seat]["extra_plays"] -= 1
                if self.hand[seat]:
                    yield from self.play_from_hand(seat, "play_an_extra_card", [])

    def play_from_hand(self, seat: int, question: str, instead: list[Told]) -> Part:
        """Play another card, and resolve it at once."""
        answers = yield question, {seat: [*instead, *(("play", (card,), 0) for card in self.hand[seat])]}
        if answers[seat] != PASS:
            (card,) = answers[seat][1]
            self.hand[seat].remove(card)
            yield from self.resolve(seat, card)

    def delayed_losses(self) -> Part:
        """SZ-3.5.1. Apply the delayed losses of a turn."""
        for number, sort in DELAYED_LOSSES.items():
            for owner in range(self.seats):
                for _ in range(self.this_turn[owner][f"losses_{number}"]):
                    yield from self.lose_a_card(sort, owner if number in LOSSES_OF_OPPONENTS_ONLY else None)

    def lose_a_card(self, sort: str, spared: int | None) -> Part:
        """SZ-3.5.1. Let all owners of such cards choose at once, then remove the cards."""
        cards = [list(self.thugs[seat] if sort == "Thug" else self.holdings[seat]) for seat in range(self.seats)]
        exposed = [seat for seat in range(self.seats) if cards[seat] and seat != spared]
        if exposed:
            answers = yield "lose_a_card", {seat: [("lose", (card,), 0) for card in cards[seat]] for seat in exposed}
            for seat, (_, (card,), _) in answers.items():
                self.leave(seat, card)
                self.discarded.append(card)

    # -- one card
    def resolve(self, seat: int, number: int) -> Part:
        """SZ-3.3.1, SZ-3.3.2. Resolve a card, unless its Cost or Need is ignored (SZ-7.1, SZ-7.2)."""
        card = CARDS[number]
        paid: int | None = 0
        if card.has_cost and not self.this_turn[seat]["free_costs"]:
            paid = yield from self.pay(seat, card)
        elif not self.this_turn[seat]["free_needs"] and not self.has_needs(seat, card):
            paid = None
        if paid is None:
            self.discarded.append(number)
        else:
            yield from self.play_card(seat, number, paid)

    def pay(self, seat: int, card: Card) -> Generator[Asked, dict[int, Told], int | None]:
        """SZ-3.3.1. Pay the Cost; return the markers on the card given up, None if the Cost is not paid."""
        if card.price and self.price(seat, card) == 0:
            return 0
        ways = self.ways_to_pay(seat, card)
        if not ways:
            return None
        answers = yield "pay_the_cost", {seat: [PASS, *ways]}
        verb, cards, amount = answers[seat]
        if verb == "pass":
            return None
        markers = 0
        if verb == "pay":
            self.lose(seat, amount)
        elif verb == "discard":  # no loss
            self.hand[seat].remove(cards[0])
        else:
            markers = self.leave(seat, cards[0])
        (self.hand[seat] if verb == "take_back" else self.discarded).extend(cards)
        return markers

    def play_card(self, seat: int, number: int, paid: int) -> Part:
        """SZ-3.3.3 to SZ-3.3.7. Play a card."""
        self.plays += 1
        assert self.plays < 2_000  # SZ-7.26
        self.enter(seat, number)
        self.triggers_of_the_play(seat, number)
        yield from self.text(seat, number, number, paid)
        if CARDS[number].sort == "Action":
            self.triggers_after_an_action(seat, number)

    def text(self, seat: int, card: int, number: int, paid: int) -> Part:
        """SZ-3.3.5. Execute the text of `number` for `card`; all cards have their parts in this order."""
        self.gain(seat, self.gained(seat, number, paid))
        self.strike_opponents(seat, number)
        self.lay_markers(seat, number)
        if number in (38, 56, 80):
            markers = {38: 2, 56: self.most_markers(self.opponents(seat)), 80: 1}[number]
            yield from self.put_markers(seat, markers)
        self.set_up_effects(seat, card, number, paid)
        self.fill_the_hand(seat, number)
        if number == 53:
            yield from self.find_a_thug(seat)
        elif number == 54:
            yield from self.copy_a_thug(seat)
        elif number == 55:
            yield from self.redo_thugs(seat)
        elif number == 80 and self.hand[seat]:  # SZ-7.8
            yield from self.play_from_hand(seat, "play_another_card", [PASS])

    def put_markers(self, seat: int, markers: int) -> Part:
        """SZ-7.21. Put markers on a Holding of the player's choice."""
        if markers and self.holdings[seat]:
            answers = yield "put_markers", {seat: [("put_markers", (card,), markers) for card in self.holdings[seat]]}
            (card,) = answers[seat][1]
            self.holdings[seat][card] += markers

    def find_a_thug(self, seat: int) -> Part:
        """SZ-7.3. Reveal cards until a Thug, and play it."""
        while self.deck:
            card = self.deck.pop()
            if CARDS[card].sort == "Thug":
                yield from self.play_card(seat, card, 0)
                return
            self.discarded.append(card)

    def copy_a_thug(self, seat: int) -> Part:
        """SZ-7.4. Copy another Thug of the player."""
        others = [card for card in self.thugs[seat] if card != 54]
        if others:
            answers = yield "copy_a_thug", {seat: [("copy", (card,), 0) for card in others]}
            (copied,) = answers[seat][1]
            self.thugs[seat][54].counts_as = copied
            yield from self.text(seat, 54, copied, 0)

    def redo_thugs(self, seat: int) -> Part:
        """SZ-7.6. Execute earlier Thugs again; a blank 54 stays blank (SZ-7.4)."""
        earlier = [(card, thug) for card, thug in self.thugs[seat].items() if thug.since_round < self.round]
        for card, thug in sorted(earlier, key=lambda one: one[1].nth_play):
            if thug.counts_as != 54:
                yield from self.text(seat, card, thug.counts_as, 0)

    # -- the comparison with the engine
    def told(self, seat: int, option: Option) -> Told:
        return VERBS[option.verb], option.cards, option.number

    def check(self, question: str) -> None:
        game = self.game
        assert (self.round, self.plays, self.cash) == (game.round, game.plays, game.cash)
        assert self.deck == game.deck.cards
        assert sorted(self.discarded) == sorted(game.discard.cards)
        for seat in range(self.seats):
            assert sorted(self.draft_pile[seat]) == sorted(game.pile[seat].cards + game.draft[seat].cards)
            assert sorted(self.hand[seat]) == game.hand[seat].cards
            assert {card: thug.row() for card, thug in self.thugs[seat].items()} == rows(game.thugs[seat])
            assert self.holdings[seat] == {card: row[0] for card, row in rows(game.holdings[seat]).items()}
            assert self.kept[seat] == {card: row[0] for card, row in rows(game.kept[seat]).items()}
            for name in {*FOR_THIS_TURN.values(), *FOR_NEXT_TURN.values()}:
                assert self.this_turn[seat][name] == getattr(game, name)[seat], name
            for name in set(FOR_NEXT_TURN.values()):
                assert self.next_turn[seat][name] == getattr(game, f"next_{name}")[seat], name

    def check_end(self) -> None:
        """SZ-6.2. Check scores and places."""
        self.check("")
        scores = [self.cash[seat] + 10_000 * sum(self.holdings[seat].values()) for seat in range(self.seats)]
        assert self.game.scores() == scores
        assert self.game.places() == [1 + sum(other > score for other in scores) for score in scores]

    def liked(self, question: str, options: Sequence[Option], rng: random.Random) -> Sequence[Option]:
        if question == "pick_a_card" and self.picks_favourites:
            return [one for one in options if one.cards[0] in self.favourites] or options
        if question == "choose_a_card" and rng.random() < 0.8:
            return [one for one in options if self.can_be_played(one.cards[0])] or options
        if question in ("pay_the_cost", "play_another_card") and rng.random() < 0.85:
            return options[1:]  # mostly accept what may be declined
        return options

    def can_be_played(self, number: int) -> bool:
        """Return whether the Cost or the Need of a card in a hand can be met now."""
        seat = next(seat for seat in range(self.seats) if number in self.hand[seat])
        card = CARDS[number]
        return bool(self.ways_to_pay(seat, card)) if card.has_cost else self.has_needs(seat, card)
