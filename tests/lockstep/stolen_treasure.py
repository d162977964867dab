"""The second implementation of Stolen Treasure: its decisions."""

from __future__ import annotations

import random
from collections.abc import Generator, Iterable, Sequence
from itertools import combinations
from typing import TypeAlias

from cutpurse.engine.agenda import Option
from cutpurse.games.stolen_treasure.rules import StolenTreasure
from tests.lockstep.driver import Asked, Play, Told
from tests.lockstep.stolen_treasure_table import (
    BLACK_SPOT,
    BOMBS_AWAY,
    CODE,
    HOOK,
    KRAKEN,
    PARLEY,
    PLUNDER,
    SKULDUGGERY,
    SPYGLASS,
    T1,
    T2,
    TREASURE,
    VERBS,
    X_MARKS_THE_SPOT,
    YARR,
    YO_HO_HO,
    Copy,
    P,
    Table,
    held,
)

BEATS = {"rock": "scissors", "paper": "rock", "scissors": "paper"}
PASS, DONE, END_TURN = ("pass",), ("done",), ("end_turn",)
FANCIES = {
    "anything": ["draw", "bury", "play", "play_on", "wager", "end_turn"],
    "piracy": ["play", "play_on"],
    "wagers": ["wager", "bury", "play"],
    "no burying": ["draw", "play", "play_on", "wager", "end_turn"],
}
"""What the players of a match mostly do."""
FEW = 10  # maximum hand for which every way is tried to find the cheapest match


Part: TypeAlias = Generator[Asked, dict[int, Told], None]
Verdict: TypeAlias = Generator[Asked, dict[int, Told], bool]
Named: TypeAlias = Generator[Asked, dict[int, Told], int]  # returns a seat


def settings(seats: int, rng: random.Random) -> dict[str, object]:
    """Draw the settings of a match."""
    chosen: dict[str, object] = {
        "target": rng.choice([500, 1000, 1500, 2500]),
        "hand_limit": rng.choice(["off", "7"]),
        "true_random_theft": rng.random() < 0.5,
        "wager_method": rng.choice(["coin", "die", "rps"]),
        "bury_delay": rng.choice(["next_turn", "full_round"]),
        "start_treasure": rng.randint(0, 3),
        "start_piracy": rng.randint(0, 3),
        "max_rounds": rng.choice([20, 40]),
    }
    if rng.random() < 0.3:
        chosen["first_seat"] = rng.randrange(seats)
    if rng.random() < 0.3:
        values = [-100, -50, 0, 50, 100, 500]
        chosen["values"] = ",".join(f"{name}:{rng.choice(values)}" for name in rng.sample(list(TREASURE), 6))
    return chosen


class Telling(Table):
    """Tells Stolen Treasure as its rule sheet has it. The players of each match have a fancy, one of `FANCIES`."""

    def __init__(self, game: StolenTreasure, rng: random.Random) -> None:
        super().__init__(game)
        self.fancy = rng.choice(list(FANCIES))

    # -- the match
    def play(self) -> Play:
        """ST-2.3, ST-0.5, ST-3.2. Play turns until a player wins, or the end by ST-5.3."""
        for turn in range(self.settings.max_rounds * self.seats):
            self.turn, seat = turn + 1, (self.first + turn) % self.seats
            if self.skipped[seat]:
                self.skipped[seat] = False
            else:
                yield from self.take_a_turn(seat)
            if any(self.won):
                return
        able = [seat for seat in range(self.seats) if BLACK_SPOT not in self.piracy[seat]]
        best = max((self.score(seat), len(self.buried[seat])) for seat in able)
        for seat in able:
            self.won[seat] = (self.score(seat), len(self.buried[seat])) == best

    def take_a_turn(self, seat: int) -> Part:
        """ST-3.1. Play a turn of up to two actions."""
        self.actions_left = 2
        while self.actions_left and not any(self.won):
            answers = yield "take_an_action", {seat: self.actions(seat)}
            verb, *about = answers[seat]
            if verb == "end_turn":
                return
            self.actions_left -= 1
            if verb == "draw":
                self.draw(seat, *about)
            elif verb == "bury":
                card, since = about
                self.treasure[seat].remove((card, since))
                self.buried[seat].append(card)
            elif verb == "wager":
                yield from self.wager(seat, *about)
            else:
                yield from self.play_piracy(seat, *about)
            self.piracy_discards += self.in_play
            self.in_play = []
            if self.settings.hand_limit == "7":
                yield from self.discard_to_the_limit(seat)
            self.check_for_a_winner(seat)

    def actions(self, seat: int) -> list[Told]:
        """ST-3.1. List what a seat can draw, bury (ST-3.5), play, and wager (ST-3.23)."""
        others = self.others(seat)
        options: list[Told] = [("draw", pile) for pile in self.treasure_to_draw()]
        if self.piles[P] or self.piracy_discards:
            options.append(("draw", P))
        wait = 1 if self.settings.bury_delay == "next_turn" else self.seats
        options += [("bury", card, since) for card, since in set(self.treasure[seat]) if self.turn - since >= wait]
        for card in set(self.piracy[seat]):
            options += self.ways_to_play(card, seat)
        if self.treasure[seat]:
            options += [("wager", other) for other in others if self.treasure[other]]
        return [*options, END_TURN]

    def ways_to_play(self, card: int, seat: int) -> list[Told]:
        """ST-3.9. List the ways to play a piracy card."""
        targets = self.others(seat)
        if card in (YO_HO_HO, KRAKEN, BOMBS_AWAY) or (card == PLUNDER and self.treasure_to_draw()):
            return [("play", card)]
        if card == SKULDUGGERY:
            targets = [other for other in targets if self.size(other)]
        elif card == X_MARKS_THE_SPOT:
            targets = [other for other in targets if self.buried[other]]
        elif card not in (SPYGLASS, HOOK):
            return []
        return [("play_on", card, other) for other in targets]

    def discard_to_the_limit(self, active: int) -> Part:
        """ST-6.1. Let all seats discard down to seven cards."""
        for seat in (active, *self.others(active)):
            while self.size(seat) > 7:
                answers = yield "discard_to_the_limit", {seat: [("discard", *one) for one in self.any_card(seat)]}
                _, card, since = answers[seat]
                self.part_with(seat, card, since)
                (self.piracy_discards if since is None else self.treasure_discards).append(card)

    def any_card(self, seat: int) -> list[tuple[int, int | None]]:
        """ST-0.2. List a seat's hand without duplicates; piracy cards have no `since`."""
        return [*set(self.treasure[seat]), *((card, None) for card in set(self.piracy[seat]))]

    def part_with(self, seat: int, card: int, since: int | None) -> None:
        """Remove a card of `any_card` from the hand."""
        if since is None:
            self.piracy[seat].remove(card)
        else:
            self.treasure[seat].remove((card, since))

    def check_for_a_winner(self, active: int) -> None:
        """ST-5.2, ST-4.1. Check whether a player has won."""
        able = [
            seat
            for seat in (active, *self.others(active))
            if self.score(seat) >= self.settings.target and BLACK_SPOT not in self.piracy[seat]
        ]
        if active in able:
            self.won[active] = True
        elif able:
            self.won[max(able, key=self.score)] = True

    # -- piracy
    def play_piracy(self, seat: int, card: int, target: int | None = None) -> Part:
        """ST-3.9, ST-3.11. Play a card; if it stands, redirect all instances, then execute them in order."""
        self.show(seat, card)
        if not (yield from self.stands(seat)):
            return
        if card == PLUNDER:
            yield from self.plunder(seat)
        elif card == KRAKEN:
            self.release_the_kraken(seat)
        else:
            suffering = []
            for first_target in self.others(seat) if target is None else [target]:
                suffering.append((yield from self.last_target(first_target)))
            for last_target in suffering:
                yield from self.befall(seat, card, last_target)

    def show(self, seat: int, card: int) -> None:
        """Put a piracy card into play, until the action is over."""
        self.piracy[seat].remove(card)
        self.in_play.append(card)

    def stands(self, shower: int) -> Verdict:
        """ST-3.10, ST-0.3. Return whether a shown card is not stopped by a Yarr! that stands itself."""
        others = self.others(shower)
        options: dict[int, list[Told]] = {
            seat: [PASS, ("nullify", YARR)] if YARR in self.piracy[seat] else [PASS] for seat in others
        }
        answers = yield "any_yarr", options
        willing = [seat for seat in others if answers[seat] != PASS]
        if not willing:
            return True
        self.show(willing[0], YARR)
        return not (yield from self.stands(willing[0]))

    def last_target(self, target: int) -> Named:
        """ST-3.11, ST-3.12, ST-3.13. Return the final target of one instance."""
        while True:
            options: list[Told] = [PASS]
            if CODE in self.piracy[target]:
                options += [("divert", CODE, other) for other in self.others(target)]
            answers = yield "divert_or_suffer", {target: options}
            if answers[target] == PASS:
                return target
            self.show(target, CODE)
            if (yield from self.stands(target)):
                target = answers[target][2]

    def befall(self, active: int, card: int, target: int) -> Part:
        """ST-3.12, ST-0.4. Apply the effect on a target; the active player gets the gain."""
        if card == BOMBS_AWAY:
            yield from self.drop_bombs(target)
        if target != active:
            yield from self.rob(active, card, target)
        if card == HOOK:
            self.skipped[target] = True

    def rob(self, active: int, card: int, target: int) -> Part:
        """ST-3.15 to ST-3.19. Give the active player the gain from another player."""
        if card == SPYGLASS:
            self.swap_hands(active, target)
        elif card == YO_HO_HO:  # ST-3.18
            for _ in range(min(2, len(self.treasure[target]))):
                self.gain(active, self.random_treasure(target))
        elif card == X_MARKS_THE_SPOT and self.buried[target]:  # ST-3.17
            answers = yield "dig_up", {active: [("take", one, target) for one in set(self.buried[target])]}
            _, dug_up, _ = answers[active]
            self.buried[target].remove(dug_up)
            self.gain(active, dug_up)
        elif card in (SKULDUGGERY, HOOK) and self.size(target):
            yield from self.steal(active, card, target)

    def plunder(self, seat: int) -> Part:
        """ST-3.14. Draw from two piles of choice."""
        for _ in range(2):
            if piles := self.treasure_to_draw():
                answers = yield "choose_a_pile", {seat: [("draw", pile) for pile in piles]}
                _, pile = answers[seat]
                self.draw(seat, pile)

    def release_the_kraken(self, seat: int) -> None:
        """ST-3.20. Shuffle all treasure hands into the piles.

        The sheet has no order of cards before a shuffle, so this is the engine's order.
        """
        hands = [self.treasure[one] for one in (seat, *self.others(seat))]
        returned = [card for hand in hands for card, _ in sorted(hand)]
        for hand in hands:
            hand.clear()
        self.cut(self.piles[T1] + returned + self.piles[T2])

    def drop_bombs(self, target: int) -> Part:
        """ST-3.21. Let the target discard two piracy cards, or all."""
        hand = self.piracy[target]
        if len(hand) <= 2:
            self.piracy_discards += hand
            hand.clear()
            return
        for _ in range(2):
            answers = yield "discard_piracy", {target: [("discard", card, None) for card in set(hand)]}
            _, card, _ = answers[target]
            hand.remove(card)
            self.piracy_discards.append(card)

    def swap_hands(self, active: int, target: int) -> None:
        """ST-3.15. Swap the hands of two players."""
        self.piracy[active], self.piracy[target] = self.piracy[target], self.piracy[active]
        from_target, from_active = self.treasure[target], self.treasure[active]
        self.treasure[active], self.treasure[target] = [], []
        self.gain(active, *(card for card, _ in from_target))
        self.gain(target, *(card for card, _ in from_active))

    def steal(self, thief: int, card: int, victim: int) -> Part:
        """ST-3.16, ST-3.19, ST-3.22. Steal a card from a hand."""
        treasures = len(self.treasure[victim])
        if self.settings.true_random_theft:
            kind = "take_treasure" if self.chance.below(self.size(victim)) < treasures else "take_piracy"
        else:
            kinds = [("take_treasure", victim)] if treasures else []
            if self.piracy[victim]:
                kinds.append(("take_piracy", victim))
            answers = yield "name_a_kind", {thief: kinds}
            kind, _ = answers[thief]
        taken = self.random_treasure(victim) if kind == "take_treasure" else self.random_piracy(victim)
        if card == SKULDUGGERY and self.size(thief):
            gifts: list[Told] = [("give", gift, victim, since) for gift, since in self.any_card(thief)]
            answers = yield "give_a_card", {thief: gifts}
            _, gift, _, since = answers[thief]
            self.part_with(thief, gift, since)
            if since is None:
                self.piracy[victim].append(gift)
            else:
                self.gain(victim, gift)
        if kind == "take_treasure":
            self.gain(thief, taken)
        else:
            self.piracy[thief].append(taken)

    # -- the wager
    def wager(self, active: int, opponent: int) -> Part:
        """ST-3.23 to ST-3.27. Play a wager."""
        while True:
            options: list[Told] = [("stake", *copy) for copy in set(self.treasure[active])]
            if self.stakes[active]:
                options.append(DONE)
            answers = yield "stake_treasure", {active: options}
            if answers[active] == DONE:
                break
            self.stake(active, *answers[active][1:])
        self.least = self.least_match(active, opponent)
        while True:
            answers = yield "match_the_stake", {opponent: self.matches(opponent)}
            if answers[opponent] == DONE:
                break
            self.stake(opponent, *answers[opponent][1:])
        loser = yield from self.parley(active, opponent)
        winner = opponent if loser == active else active
        self.treasure[winner] += self.stakes[winner]  # ST-3.6: they keep their `since`
        self.gain(winner, *(card for card, _ in self.stakes[loser]))
        self.stakes[winner], self.stakes[loser] = [], []

    def stake(self, seat: int, card: int, since: int) -> None:
        self.treasure[seat].remove((card, since))
        self.stakes[seat].append((card, since))

    def sums(self, copies: Iterable[Copy]) -> set[int]:
        """Return all possible sums of one or more of these cards."""
        sums: set[int] = set()
        for card, _ in copies:
            sums |= {self.value[card], *(other + self.value[card] for other in sums)}
        return sums

    def least_match(self, active: int, opponent: int) -> int:
        """ST-3.24. Return the value of the stake, or the greatest possible sum if that is less."""
        return min(self.worth(self.stakes[active]), max(self.sums(self.treasure[opponent])))

    def matches(self, seat: int) -> list[Told]:
        """ST-3.24. List the cards after which a legal set is still possible."""
        laid = self.worth(self.stakes[seat])
        options: list[Told] = [DONE] if self.stakes[seat] and laid >= self.least else []
        for copy in set(self.treasure[seat]):
            others = self.treasure[seat][:]
            others.remove(copy)
            if any(laid + self.worth([copy]) + more >= self.least for more in (0, *self.sums(others))):
                options.append(("lay", *copy))
        return options

    def parley(self, active: int, opponent: int) -> Named:
        """ST-3.25. Return the loser, by Parley or else by chance."""
        rivals = {active: opponent, opponent: active}
        while True:
            options: dict[int, list[Told]] = {seat: [PASS] for seat in rivals}
            for seat, other in rivals.items():
                if PARLEY in self.piracy[seat]:
                    options[seat].append(("surrender", PARLEY, other))
            answers = yield "any_parley", options
            willing = [seat for seat in rivals if answers[seat] != PASS]
            if not willing:
                return (yield from self.decide(active, opponent))
            self.show(willing[0], PARLEY)
            if (yield from self.stands(willing[0])):
                return willing[0]

    def decide(self, active: int, opponent: int) -> Named:
        """ST-3.26. Return the loser; the last allowed tie is followed by one more throw or show."""
        if self.settings.wager_method == "die":
            for _ in range(21):
                mine, other = self.chance.below(6), self.chance.below(6)
                if mine != other:
                    return opponent if mine > other else active
        if self.settings.wager_method == "rps":
            for _ in range(6):
                signs: list[Told] = [(sign,) for sign in BEATS]
                answers = yield "show_a_sign", {active: signs, opponent: signs}
                (sign,), (other_sign,) = answers[active], answers[opponent]
                if sign != other_sign:
                    return opponent if BEATS[sign] == other_sign else active
        return opponent if self.chance.below(2) == 0 else active

    # -- the comparison with the engine
    def told(self, seat: int, option: Option) -> Told:
        verb = VERBS[option.verb]
        if verb == "draw":
            return verb, self.game.zone(option.zone).kind.name
        told: Told = (verb, *option.cards, *([] if option.seat is None else [option.seat]))
        if verb not in ("bury", "stake", "lay", "discard", "give"):
            return told
        if option.cards[0] not in self.value:
            return *told, None
        hand = held(self.game.treasure_hand[seat])
        place = option.places[0] if option.places else [card for card, _ in hand].index(option.cards[0])
        card, since = hand[place]
        assert card == option.cards[0]
        return *told, since

    def check(self, question: str) -> None:
        self.check_the_table()
        assert self.actions_left == self.game.actions_left
        for seat in self.game.waiting():
            options = self.game.options(seat)
            safe = self.told(seat, self.game.safe_option(seat, options))
            if question != "match_the_stake":
                assert safe == self.safe(question, seat, options)
            elif len(self.treasure[seat]) <= FEW:
                assert safe == self.cheapest_match(seat)

    def check_the_table(self) -> None:
        """Check the position of all cards, and all counters."""
        game = self.game
        assert [sorted(hand) for hand in self.treasure] == [held(zone) for zone in game.treasure_hand]
        assert [sorted(hand) for hand in self.piracy] == [zone.cards for zone in game.piracy_hand]
        assert [sorted(cards) for cards in self.buried] == [sorted(zone.cards) for zone in game.buried]
        assert [sum(self.value[card] for card in cards) for cards in self.buried] == game.buried_total
        assert [sorted(stake) for stake in self.stakes] == [sorted(held(zone)) for zone in game.stake]
        piles = game.treasure_pile_1, game.treasure_pile_2, game.piracy_pile
        assert self.piles == {zone.kind.name: zone.cards for zone in piles}
        heaps = [self.treasure_discards, self.piracy_discards, self.in_play]
        zones = [game.treasure_discards, game.piracy_discards, game.in_play]
        for heap, zone in zip(heaps, zones, strict=True):
            assert sorted(heap) == sorted(zone.cards)
            heap[:] = zone.cards  # the sheet has no order for them, which matters only for a shuffle
        assert (self.skipped, self.turn) == ([bool(skip) for skip in game.skip_next], game.turn)

    def safe(self, question: str, seat: int, options: Sequence[Option]) -> Told:
        """ST-0.6. Return the safe option of any decision except a match of the stake."""
        if question == "take_an_action":
            return END_TURN
        if question in ("any_yarr", "any_parley", "divert_or_suffer"):
            return PASS
        if question == "stake_treasure" and self.stakes[seat]:
            return DONE
        offered = [self.told(seat, option) for option in options]
        if question not in ("discard_to_the_limit", "discard_piracy", "give_a_card"):
            return offered[0]
        if treasure := [told for told in offered if told[-1] is not None]:
            return min(treasure, key=lambda told: (self.value[told[1]], told[1], told[-1]))
        return min(offered)

    def cheapest_match(self, seat: int) -> Told:
        """ST-0.6. Return the next card towards the match with the lowest legal sum, trying every way."""
        laid, hand = self.stakes[seat], sorted(self.treasure[seat])
        ways = [way for cards in range(len(hand) + 1) for way in combinations(hand, cards) if way or laid]
        legal = [(total, len(way), way) for way in ways if (total := self.worth(laid) + self.worth(way)) >= self.least]
        _, _, best = min(legal)
        return ("lay", *best[0]) if best else DONE

    def check_end(self) -> None:
        """ST-5.3. Check the end: places below the first are by score."""
        game = self.game
        self.check_the_table()
        scores = [self.score(seat) for seat in range(self.seats)]
        assert (self.won, scores) == ([bool(won) for won in game.won], game.scores())
        ranks = list(zip(self.won, scores, strict=True))
        assert game.places() == [1 + sum(other > rank for other in ranks) for rank in ranks]

    def liked(self, question: str, options: Sequence[Option], rng: random.Random) -> Sequence[Option]:
        """Prefer the actions favoured in this match, and answers to cards."""
        if question in ("any_yarr", "divert_or_suffer", "any_parley") and rng.random() < 0.6:
            return options[1:] or options
        if question in ("stake_treasure", "match_the_stake") and rng.random() < 0.5:
            return [option for option in options if VERBS[option.verb] == "done"] or options
        if question != "take_an_action" or rng.random() < 0.2:
            return options
        plays = [option for option in options if VERBS[option.verb] in FANCIES[self.fancy]]
        return plays or options
