"""Awards of a tournament or of a time on a ladder, worked out from the records of finished matches.

* Largest steal: what one answer took from other seats. It is counted in cards that went from zones of other seats to
  zones of the seat that answered, and in the games of `_IN_MONEY` in the money that it gained and others lost.
* Longest comeback: the share of a match after which its only winner was still the very last, by the scores that the
  game had then.
* Calmest clock: the bot whose slowest answer of all was the quickest, of those with enough answers.

A record has all cards, so an award can tell what only some seats knew. Work awards out for matches that are over, and
for readers who may read their records. This module knows no clock and no network.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from cutpurse.engine.errors import RecordError
from cutpurse.engine.events import Moved, Placed
from cutpurse.engine.game import Game
from cutpurse.engine.match import Chosen, EndCause, Match
from cutpurse.engine.record import Record, replay
from cutpurse.games import game_named

__all__ = ["MIN_ANSWERS", "Award", "AwardKind", "AwardUnit", "Awards", "SeenMatch"]

MIN_ANSWERS: Final = 20  # for the calmest clock
_IN_MONEY: Final = frozenset({"steal_and_plunder", "szmal"})


class AwardKind(Enum):
    """What an award is for."""

    STEAL = "largest_steal"
    COMEBACK = "longest_comeback"
    CLOCK = "calmest_clock"


class AwardUnit(Enum):
    """The unit of the value of an award."""

    CARDS = "cards"
    MONEY = "money"
    SHARE = "share"  # of the answers of a match, 0 to 1
    MILLISECONDS = "ms"


@dataclass(frozen=True, slots=True)
class SeenMatch:
    """A finished match, as awards see it.

    Attributes:
        match: Its ID.
        bots: By seat; None for a seat that gets no awards.
        record: Its record; None if there is none that can be read.
        thinking_ms: By seat, how long the bot thought over each decision; empty if it is not known.
    """

    match: str
    bots: tuple[str | None, ...]
    record: Record | None
    thinking_ms: tuple[Sequence[int], ...] = ()


@dataclass(frozen=True, slots=True)
class Award:
    """An award and what it was given for.

    Attributes:
        kind: What it is for.
        bot: The bot.
        value: How much, in `unit`.
        unit: The unit.
        match: The match in which it happened.
        at: The number of choices of the match after it; 0 if it happened at no certain choice.
    """

    kind: AwardKind
    bot: str
    value: float
    unit: AwardUnit
    match: str
    at: int = 0


class Awards:
    """The best of the matches so far; of equals, the first stays.

    Attributes:
        matches: Number of matches.
        unread: Number of matches without a record that this version can replay.
    """

    def __init__(self) -> None:
        self.matches = 0
        self.unread = 0
        self._best: dict[AwardKind, Award] = {}
        self._slowest: dict[str, tuple[int, str]] = {}  # by bot: its slowest answer, and the match of that
        self._answers: dict[str, int] = {}

    def add(self, match: SeenMatch) -> None:
        """Take a match into account. Without a usable record only its clocks count."""
        self.matches += 1
        for bot, times in zip(match.bots, match.thinking_ms, strict=False):
            if bot is not None and times:
                self._answers[bot] = self._answers.get(bot, 0) + len(times)
                self._slowest[bot] = max(self._slowest.get(bot, (0, "")), (max(times), match.match))
        try:
            steps = [] if match.record is None else list(_steps(match.record))
        except RecordError:
            steps = []
        if match.record is None or not steps:
            self.unread += 1
            return
        for award in (*_steals(match, steps), *_comebacks(match, match.record.result["places"], steps)):
            best = self._best.get(award.kind)
            if best is None or award.value > best.value:
                self._best[award.kind] = award

    def best(self) -> list[Award]:
        """Return the awards; one that nobody earned is left out."""
        calm = [
            Award(AwardKind.CLOCK, bot, slowest, AwardUnit.MILLISECONDS, match)
            for bot, (slowest, match) in self._slowest.items()
            if self._answers[bot] >= MIN_ANSWERS
        ]
        clock = [min(calm, key=lambda award: award.value)] if calm else []
        return [self._best[kind] for kind in AwardKind if kind in self._best] + clock


# -- one function for each award of a single match
def _steals(match: SeenMatch, steps: Sequence[_Step]) -> Iterator[Award]:
    """Yield what each answer took from other seats, if it took anything."""
    for step in steps:
        bot = match.bots[step.seat]
        if bot is not None and step.is_own and step.taken > 0:
            yield Award(AwardKind.STEAL, bot, step.taken, step.unit, match.match, step.number + 1)


def _comebacks(match: SeenMatch, places: Sequence[int], steps: Sequence[_Step]) -> Iterator[Award]:
    """Yield the comeback of the only winner, if it was last at any time."""
    if places.count(1) != 1:
        return
    winner = places.index(1)
    bot = match.bots[winner]
    lost = [
        step.number + 1
        for step in steps
        if all(step.scores[winner] < score for seat, score in enumerate(step.scores) if seat != winner)
    ]
    if bot is not None and lost:
        share = lost[-1] / len(steps)
        yield Award(AwardKind.COMEBACK, bot, share, AwardUnit.SHARE, match.match, lost[-1])


# -- playing a match again
class _Step:
    """A choice of a match.

    Attributes:
        number: Its number, counted from 0.
        seat: The seat that chose.
        is_own: Whether the bot chose, and not the server for it.
        unit: The unit of `taken`.
        taken: What it took from other seats.
        scores: The scores after it.
    """

    def __init__(self, match: Match, number: int, chosen: Chosen) -> None:
        """Note what the position is before the choice."""
        self.number, self.seat, self.is_own = number, chosen.seat, chosen.cause is EndCause.NORMAL
        self.unit = AwardUnit.MONEY if match.rules.words.game in _IN_MONEY else AwardUnit.CARDS
        self.taken = 0
        self.scores: Sequence[int] = match.game.scores()
        self._game: Game = match.game
        self._events = len(match.game.log or ())
        self._zones = {zone.number: (zone.owner, len(zone.cards)) for zone in match.game.zones()}

    def end(self) -> None:
        """Note what the choice has led to, before the next one is made."""
        before, self.scores = self.scores, self._game.scores()
        changes = [now - then for then, now in zip(before, self.scores, strict=True)]
        self.taken = self._money_taken(changes) if self.unit is AwardUnit.MONEY else self._cards_taken()

    def _money_taken(self, changes: Sequence[int]) -> int:
        """Return what the seat gained, as far as others lost it."""
        lost = -sum(min(0, change) for seat, change in enumerate(changes) if seat != self.seat)
        return min(changes[self.seat], lost)

    def _cards_taken(self) -> int:
        """Count the cards that went from zones of other seats to zones of the seat."""
        owners = {number: owner for number, (owner, _) in self._zones.items()}
        owners |= {zone.number: zone.owner for zone in self._game.zones() if zone.number not in owners}
        taken = 0
        for event in (self._game.log or ())[self._events :]:
            if isinstance(event, Moved) and owners.get(event.to_zone) == self.seat:
                taken += len(event.cards) if self._is_others(owners.get(event.from_zone)) else 0
            elif isinstance(event, Placed) and event.kind and event.seat == self.seat:
                owner, size = self._zones.get(event.zone, (None, 0))
                taken += size if self._is_others(owner) else 0
        return taken

    def _is_others(self, owner: int | None) -> bool:
        return owner is not None and owner >= 0 and owner != self.seat


def _steps(record: Record) -> Iterator[_Step]:
    """Yield the choices of a match, each after it took effect.  Raises RecordError."""
    step: _Step | None = None
    for number, (match, _, chosen) in enumerate(replay(record, game_named(record.game))):
        if step is not None:
            step.end()
            yield step
        step = _Step(match, number, chosen)
    if step is not None:
        step.end()
        yield step
