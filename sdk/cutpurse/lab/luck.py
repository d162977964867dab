"""Luck-adjusted results: what the cards gave each seat of a finished match, subtracted from its place points.

The method is AIVAT (N. Burch, M. Schmid, M. Moravcik, M. Bowling, "AIVAT: A new variance reduction technique for agent
evaluation in imperfect information games", AAAI 2018), for chance only. A value function guesses how many place points
each seat of a position will get. A *chance event* is the deal, or an answer after which a card is drawn from a pile, a
pile is shuffled, or chance picks a card, a seat or a side. Its luck is the value of the position that followed, minus
the mean value of `redraws` other positions that could have followed. The adjusted points are the points without the
luck of all events.

Another position that could have followed comes of the same answer, given in a fork of the position before it. In the
fork the face-down piles of the table are shuffled anew, and its chance has another key.

Why the mean stays right, whatever the value function says: no bot and no rule has looked at the order of those piles or
at the rest of the random stream, so given all else both are uniform, and each redraw has the law of what really
followed. The redraws use keys of their own and never the real order, so every luck term has the mean 0 given all that
happened before its event, and so has their sum.

The redraws of an event are spread out: the first card of a pile, and the first number that chance draws, take one value
from each of `redraws` equal strata, in an order drawn for each of them (M. McKay, R. Beckman, W. Conover, 1979). A
redraw alone, picked at random, still has the right law; their mean is closer to the expectation.

    value = expected_points                        # of `position_values`
    events = luck_events(match, value)
    points = adjusted_points(match.result(), events)

What the bots do at random is no part of the luck. This module knows no rules of a game, no clock and no file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

from cutpurse.engine.agenda import Option
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.match import Match, MatchResult
from cutpurse.engine.record import Record, replay
from cutpurse.engine.words import Visibility
from cutpurse.engine.zones import TABLE, Zone
from cutpurse.leaderboard.statistics.place_points import place_points

__all__ = [
    "REDRAWS",
    "LuckEvent",
    "PositionValue",
    "adjusted_points",
    "luck_events",
    "luck_events_of_record",
    "luckiest",
    "shuffle_unseen_piles",
    "total_luck",
]

REDRAWS: Final = 4
"""Positions that stand for all that could have followed a chance event."""
_WORD: Final = 1 << 32

PositionValue = Callable[[Game], Sequence[float]]
"""Guesses the place points of every seat from a position with all cards open. It must not read `game.chance`."""


@dataclass(frozen=True, slots=True)
class LuckEvent:
    """A chance event of a match and what it gave.

    Attributes:
        choices: Number of choices of the match before it, as in its record.
        choices_after: Number of choices after it; the same as before if all seats had one option only.
        seat: The seat that gave the answer; None for the deal.
        option: The answer; None for the deal.
        luck: By seat, place points above expectation.
    """

    choices: int
    choices_after: int
    seat: int | None
    option: Option | None
    luck: tuple[float, ...]


def luck_events(
    match: Match,
    value: PositionValue,
    redraws: int = REDRAWS,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[LuckEvent]:
    """Play a finished match again and find the luck of each chance event.

    Args:
        match: The match, played from its deal.
        value: The value function. A bad one makes the luck useless, but never unfair.
        redraws: Other positions for each chance event.
        progress: Called with the number of choices that are done, and of all choices of the match.

    Raises:
        ValueError: If the match is void or not over, or there are no redraws.
    """
    if match.result().voided:
        raise ValueError("a void match has no points that luck could have changed")
    if redraws < 1:
        raise ValueError(f"{redraws} redraws: an expectation needs at least 1")
    seats, settings = len(match.seats), match.game.settings
    game = match.rules(seats, settings, Chance(match.key))
    game.start()
    deals = []
    for chance in _redrawn_chances(_source(match.key, 0), redraws):
        deal = match.rules(seats, settings, chance)
        deal.start()
        deals.append(deal)
    progress(0, len(match.choices))
    events = [LuckEvent(0, 0, None, None, _luck(game, deals, value))]
    for number, (choices, choices_after, seat, option) in enumerate(_answers(game, match), 1):
        before = game.fork()
        state = _state_of_chance(game)
        game.choose(seat, option)
        if _state_of_chance(game) != state:
            source = _source(match.key, number)
            after = _redrawn(before, seat, option, source, redraws)
            events.append(LuckEvent(choices, choices_after, seat, option, _luck(game, after, value)))
        progress(choices_after, len(match.choices))
    return events


def luck_events_of_record(
    record: Record,
    rules: type[Game],
    value: PositionValue,
    redraws: int = REDRAWS,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[LuckEvent]:
    """Find the luck of each chance event of a recorded match; arguments as for `luck_events`.

    Raises:
        RecordError: Where the record and the rules part.
        ValueError: As `luck_events`.
    """
    at_choices = [match for match, _, _ in replay(record, rules)]  # one match, which is over after the last
    if not at_choices:
        raise ValueError("the record has no choice, so nothing but its deal has happened")
    return luck_events(at_choices[-1], value, redraws, progress)


def total_luck(events: Iterable[LuckEvent], seats: int) -> list[float]:
    """Add up the luck of each seat."""
    total = [0.0] * seats
    for event in events:
        for seat, luck in enumerate(event.luck):
            total[seat] += luck
    return total


def adjusted_points(result: MatchResult, events: Iterable[LuckEvent]) -> list[float]:
    """Return the place points of every seat without its luck; they may lie outside [0, 1]."""
    points = place_points(result.places)
    return [point - luck for point, luck in zip(points, total_luck(events, len(points)), strict=True)]


def luckiest(events: Iterable[LuckEvent], seat: int, most: int = 3) -> list[LuckEvent]:
    """List the events that gave a seat most, the best first; none that took something."""
    gifts = [event for event in events if event.luck[seat] > 0]
    return sorted(gifts, key=lambda event: -event.luck[seat])[:most]


# -- playing the match again
def _answers(game: Game, match: Match) -> Iterator[tuple[int, int, int, Option]]:
    """Yield each answer that lets something happen: the choices before and after it, its seat and its option.

    The caller gives the answer before it asks for the next. Earlier answers of a poll are given here.
    """
    recorded = [(number, chosen) for number, chosen in enumerate(match.choices, 1) if chosen.lone is None]
    done = choices = 0
    while waiting := game.waiting():
        lone = {seat: options[0] for seat in waiting if len(options := game.options(seat)) == 1}
        answers = [*lone.items()]
        before = choices
        for number, chosen in recorded[done : done + len(waiting) - len(lone)]:
            answers.append((chosen.seat, chosen.option))
            choices = number
        for seat, option in answers[:-1]:
            game.choose(seat, option)
        yield (before, choices, *answers[-1])
        done += len(waiting) - len(lone)


def _state_of_chance(game: Game) -> tuple[int, ...]:
    """Return numbers that differ once chance was used: of the stream, and of the cards in each unseen pile."""
    chance = game.chance
    return (chance.deal, chance.at, *[len(pile.cards) for pile in _unseen_piles(game)])


def shuffle_unseen_piles(game: Game, source: Chance) -> None:
    """Shuffle the piles whose order nobody knows, so that it says nothing of the order before."""
    for pile in _unseen_piles(game):
        pile.cards.sort()
        source.shuffle(pile.cards)


def _unseen_piles(game: Game) -> list[Zone]:
    """List the piles whose order nobody knows: face down on the table, and never remembered by a viewer."""
    return [
        zone
        for zone in game.fixed
        if zone.owner == TABLE and zone.ordered and not zone.remembers and zone.kind.visibility is Visibility.NOBODY
    ]


# -- what could have followed
def _source(key: bytes, number: int) -> Chance:
    """Return the randomness of the redraws of event `number`, independent of the match's own."""
    return Chance(sha256(b"cutpurse/luck" + key + number.to_bytes(8, "big")).digest())


def _redrawn(before: Game, seat: int, option: Option, source: Chance, redraws: int) -> list[Game]:
    """Return positions that could have followed an answer."""
    after = []
    strata = [_strata(source, redraws) for pile in _unseen_piles(before)]
    for index, chance in enumerate(_redrawn_chances(source, redraws)):
        game = before.fork()
        game.chance = chance
        for pile, of_pile in zip(_unseen_piles(game), strata, strict=True):
            _shuffle_anew(pile.cards, of_pile[index], source)
        game.choose(seat, option)
        after.append(game)
    return after


def _shuffle_anew(cards: list[int], stratum: float, source: Chance) -> None:
    """Shuffle a pile in place and lay the card of this stratum, a number from 0 to below 1, on top."""
    if not cards:
        return
    cards.sort()
    top = cards.pop(int(stratum * len(cards)))
    source.shuffle(cards)
    cards.append(top)


def _strata(source: Chance, redraws: int) -> list[float]:
    """Draw a number from each of `redraws` equal parts of [0, 1), in a random order."""
    parts = list(range(redraws))
    source.shuffle(parts)
    return [(part + source.below(_WORD) / _WORD) / redraws for part in parts]


def _redrawn_chances(source: Chance, redraws: int) -> list[_RedrawnChance]:
    return [_RedrawnChance(source.new_key(), stratum) for stratum in _strata(source, redraws)]


class _RedrawnChance(Chance):
    """A stream of its own, with the first number from a stratum."""

    __slots__ = ("stratum",)

    def __init__(self, key: bytes, stratum: float) -> None:
        super().__init__(key)
        self.stratum: float | None = stratum  # from 0 to below 1, until it was used

    def below(self, n: int) -> int:
        stratum, self.stratum = self.stratum, None
        return super().below(n) if stratum is None else int(stratum * n)


def _luck(real: Game, others: Sequence[Game], value: PositionValue) -> tuple[float, ...]:
    """Return by seat the value of the real position minus the mean of the others."""
    means = [sum(values) / len(others) for values in zip(*[value(game) for game in others], strict=True)]
    return tuple([happened - mean for happened, mean in zip(value(real), means, strict=True)])
