"""The course of a match: what each seat was worth at each moment, what changed it most, and what decided the match.

A moment is the table before a decision; the last one is the end. This module knows no HTML, no viewer and no page.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Final, NamedTuple

from cutpurse.engine.agenda import Act, Step
from cutpurse.engine.events import Counted, Event, Happened, Moved, Placed
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.text import act_text
from cutpurse.engine.words import Unit, Words
from cutpurse.engine.zones import TABLE
from cutpurse.games import game_named
from cutpurse.page.language.game_words import announcement, spoken, word
from cutpurse.page.language.speaking import gettext
from cutpurse.page.match_view.seat_worth import COUNTED_ZONES, Worth

__all__ = ["Course", "Decisive", "MatchLog", "Swing"]

MAX_REASON: Final = 90  # characters of a card's text


@dataclass(frozen=True, slots=True)
class Swing:
    """A moment before which the worth of seats changed."""

    at: int  # its index in the path of the viewer who sees all cards
    text: str  # the act that caused the change of the first seat, in words
    changed: tuple[tuple[int, int], ...]  # seats with the changes of their worth, the largest first
    # why that act was worth so much, in the words of the game, such as "six sixes"; empty if the act says it
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Decisive:
    """How a match was decided."""

    winners: tuple[int, ...]  # seats that won
    since: int  # moment from which on none of the others was ahead of them or level with them
    was_behind: bool  # whether one of the others was ever ahead
    lead: Swing | None  # what brought the winners ahead for good; None if they were ahead from the first moment
    gain: Swing | None  # the move that won them most; None if none of theirs did, or if it is the one of `lead`


@dataclass(frozen=True, slots=True)
class MatchLog:
    """What happened in a match, with all cards visible."""

    events: Sequence[Event]  # its events
    history: ZoneHistory  # their zones
    acts: Sequence[tuple[int, str]]  # the lines about acts and scorings, each with the number of its event
    steps_run: Sequence[tuple[int, Step]]  # the rules that were carried out, with the number of events before each


class _Cause(NamedTuple):
    """What was being done: in words, as an act if it is one, and the number of its event or of the one after it."""

    text: str
    act: Act | None
    number: int


class Course:
    """The course of one match, in the language of its reader."""

    def __init__(
        self,
        game: str,
        log: MatchLog,
        until: Sequence[int],
        worths: Sequence[Sequence[Worth]],
    ) -> None:
        """Set the log, the number of events before each moment, and the worth of each seat at each moment.

        Args:
            game: Name of the game.
            log: What happened.
            until: Number of events before each moment.
            worths: Worth of each seat at each moment, face-down cards included; at the end its score.
        """
        words = game_named(game).words
        self.worths: Final = worths
        self.scores: Final = [tuple([worth.value for worth in at_moment]) for at_moment in worths]
        self._game: Final = game
        self._words: Final[Words] = spoken(words)
        self._log: Final = log
        self._until: Final = until
        self._numbers: Final = [number for number, _ in log.acts]
        scoring = (counter.name for counter in words.seat_counters if counter.unit in (Unit.MONEY, Unit.POINTS))
        self._scoring: Final = set(scoring)
        self._counting: Final = COUNTED_ZONES.get(game, {kind.name for kind in words.zones})
        self._told_verbs: Final = {event.act.verb for event in log.events if isinstance(event, Happened)}

    def swings(self, most: int) -> list[Swing]:
        """Return the `most` moments with the largest changes, in order; among equal ones, prefer later ones."""
        sizes = [(sum([abs(change) for _, change in self._changes(at)]), at) for at in range(1, len(self.scores))]
        largest = sorted([size for size in sizes if size[0]], reverse=True)[:most]
        return [self._swing(at) for at in sorted([at for _, at in largest])]

    def decisive(self, winners: tuple[int, ...]) -> Decisive:
        """Return how these seats won."""
        last = len(self.scores) - 1
        others = [seat for seat in range(len(self.scores[0])) if seat not in winners]

        def margin(at: int) -> int:
            behind = [self.scores[at][seat] for seat in others]
            return min([self.scores[at][seat] for seat in winners]) - max(behind, default=0)

        since = last
        while since and margin(since - 1) > 0:
            since -= 1
        gains = [(margin(at) - margin(at - 1), at) for at in range(1, last + 1) if self._gain(at, winners) is not None]
        gain = self._gain(max(gains)[1], winners) if gains else None
        lead = self._swing(since, winners) if since else None
        is_same = lead is not None and gain is not None and lead.at == gain.at
        was_behind = any(margin(at) < 0 for at in range(last))
        return Decisive(winners, since, was_behind, lead, None if is_same else gain)

    def done_before(self, index: int) -> str:
        """Describe what was done since the moment before this one; for the first one, the deal."""
        if index == 0:
            return gettext("the deal")
        return self._done_at(self._until[index - 1], self._until[index] - 1).text

    # -- changes of worth
    def _changes(self, at: int) -> tuple[tuple[int, int], ...]:
        """Return the seats whose worth changed before a moment, with the changes, the largest first."""
        pairs = zip(self.scores[at - 1], self.scores[at], strict=True)
        changes = [(seat, now - before) for seat, (before, now) in enumerate(pairs) if now != before]
        return tuple(sorted(changes, key=lambda change: (-abs(change[1]), -change[1])))  # a gain before an equal loss

    def _gain(self, at: int, winners: Sequence[int]) -> Swing | None:
        """Return what the winners gained before a moment; None if none of them did."""
        return self._swing(at, winners) if any(seat in winners and by > 0 for seat, by in self._changes(at)) else None

    def _swing(self, at: int, preferred: Sequence[int] = ()) -> Swing:
        """Return what changed before a moment and why, first for one of the preferred seats that gained."""
        changed = self._changes(at)
        if not changed:
            return Swing(at, "", ())
        changed = tuple(sorted(changed, key=lambda change: not (change[0] in preferred and change[1] > 0)))
        seat, change = changed[0]
        cause = self._cause(self._until[at - 1], self._until[at], seat, change)
        return Swing(at, cause.text, changed, self._reason(at, seat, change, cause))

    # -- causes
    def _cause(self, since: int, until: int, seat: int, change: int) -> _Cause:
        """Return what was being done when a seat's worth changed most, between two events."""
        largest, cause = 0, until - 1
        for number in range(since, until):
            event = self._log.events[number]
            size = 0
            if isinstance(event, Counted) and event.seat == seat:
                if event.counter in self._scoring:
                    gain = event.value - self._count_before(number, event, event.value - change)
                    size = abs(gain) if gain * change > 0 else 0
            elif self._concerns(number, event, seat, change):
                size = abs(change)
            if size > largest:
                largest, cause = size, number
        return self._done_at(since, cause)

    def _count_before(self, number: int, event: Counted, unknown: int) -> int:
        """Return the value of a seat's counter before an event; `unknown` if no event tells it."""
        earlier = (self._log.events[index] for index in range(number - 1, -1, -1))
        counts = (count for count in earlier if isinstance(count, Counted))
        same = (count.value for count in counts if (count.counter, count.seat) == (event.counter, event.seat))
        return next(same, unknown)

    def _done_at(self, since: int, number: int) -> _Cause:
        """Return what was being done at an event: the last act, or the last rule that was carried out.

        A rule that announces an act is part of what that act began, if an event tells of the act.
        """
        acts = self._log.acts[bisect_left(self._numbers, since) : bisect_right(self._numbers, number)]
        act = acts[-1] if acts else None
        steps = self._log.steps_run
        first = bisect_left(steps, since if act is None else act[0] + 1, key=itemgetter(0))
        last = bisect_right(steps, number, key=itemgetter(0))
        for event, step in reversed(steps[first:last]):
            if (announced := step.act()) is not None:
                if announced.verb not in self._told_verbs:
                    return _Cause(act_text(self._log.history.at(event), announced, self._words), announced, event)
            elif step.seat == TABLE:
                return _Cause(word(announcement(step.paragraph), self._game), None, event)
        if act is None:
            return _Cause(gettext("cards are counted"), None, number)
        event_of_act = self._log.events[act[0]]
        return _Cause(act[1], event_of_act.act if isinstance(event_of_act, Happened) else None, act[0])

    def _concerns(self, number: int, event: Event, seat: int, change: int) -> bool:
        """Return whether an event adds to, or for a loss takes from, the zones of a seat that count."""
        if isinstance(event, Counted):
            return event.zone is not None and self._counts(number, event.zone, seat)
        if isinstance(event, Moved):
            return self._counts(number, event.to_zone if change > 0 else event.from_zone, seat)
        return isinstance(event, Placed) and self._counts(number if change > 0 else number - 1, event.zone, seat)

    def _counts(self, number: int, zone: int, seat: int) -> bool:
        """Return whether a zone, as it lay at an event, counts for a seat."""
        try:
            lying = self._log.history.at(number).zone(zone)
        except KeyError:  # the box, or a zone that was not made yet
            return False
        return lying.owner == seat and lying.kind.name in self._counting

    # -- reasons, in the words of the game
    def _reason(self, at: int, seat: int, change: int, cause: _Cause) -> str:
        """Return why an act was worth so much; empty if the act says it."""
        if self._game == "greed":
            return self.worths[at][seat].words if change > 0 else ""
        if cause.act is None:
            return ""
        if self._game == "szmal" and cause.act.cards:
            card = cause.act.cards[0] - 1
            does_nothing = game_named(self._game).words.cards[card].text.endswith("No text.")
            return "" if does_nothing else _effect(self._words.cards[card].text)
        if self._game == "bag_o_loot" and cause.act.zone:
            return self._set_of(cause.act.zone, cause.number)
        return ""

    def _set_of(self, zone: int, number: int) -> str:
        """Name a set or bag of Bag-O-Loot by the number of its coins; empty if nobody knows it at an event."""
        before = (self._log.events[at] for at in range(number, -1, -1))
        counts = (event for event in before if isinstance(event, Counted) and event.zone == zone)
        coin = next((event.value for event in counts if event.counter == "number"), 0)
        return gettext("the set of %(number)s", number=coin) if coin else ""


def _effect(text: str) -> str:
    """Return what a card of Szmal does, without what it costs and needs, cut to a few words."""
    clauses = text.rstrip(".").split(". ")
    while len(clauses) > 1 and ":" in clauses[0][:8]:
        del clauses[0]
    while len(clauses) > 1 and len(". ".join(clauses)) > MAX_REASON:
        clauses.pop()
    effect = ". ".join(clauses)
    return effect if len(effect) <= MAX_REASON else effect[:MAX_REASON].rpartition(" ")[0] + " …"
