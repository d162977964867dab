"""The replay of a finished match: its moments as one viewer saw them, and the paths through them.

A moment is the table before a decision; the last moment is the end. A seat has a moment for each of its own decisions,
with the events since the one before. The number of other seats' decisions stays hidden from it. A viewer without a
seat sees the cards of all seats, because the board is finished.

The match is replayed once when it is opened, without what viewers can prove about hidden cards: that is most of the
work, and no score needs it. Moments do. For them, copies of the match are stored every `STRIDE` decisions, up to the
latest that was shown. This module knows no HTML, no league and no file.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from threading import Lock
from typing import Final

from cutpurse.engine.agenda import Step
from cutpurse.engine.errors import RecordError
from cutpurse.engine.events import Asked as Question
from cutpurse.engine.events import Counted, Event, Happened, Moved, Placed, Scored
from cutpurse.engine.game import Game
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.match import Chosen, EndCause, Match
from cutpurse.engine.match import OpenDecision as Asked
from cutpurse.engine.record import Record, event_hashes, replay, replay_on
from cutpurse.engine.text import act_text, event_text, option_text
from cutpurse.engine.view import View
from cutpurse.engine.words import Unit
from cutpurse.engine.zones import TABLE
from cutpurse.games import game_named
from cutpurse.server.web.language.game_words import announcement, sentences, spoken, word
from cutpurse.server.web.language.speaking import gettext
from cutpurse.server.web.match_view.end_causes import end_cause_text, why_safe
from cutpurse.server.web.match_view.frames import (
    Frame,
    SeatMarks,
    asked_of,
    frame,
    seats_view,
    whole_events,
    whole_view,
)
from cutpurse.server.web.match_view.layouts import layout_of
from cutpurse.server.web.match_view.seat_worth import COUNTED_ZONES, seat_worth

__all__ = ["STRIDE", "Decided", "Moment", "OptionShown", "Path", "Replayed", "LogLine", "Swing"]

STRIDE: Final = 64  # decisions between two stored copies
MOST_OPTIONS: Final = 60  # shown per decision
ROWS_BEFORE: Final = 12  # log lines before the lines of the moment itself
ROWS_AFTER: Final = 5  # log lines after them


@dataclass(frozen=True, slots=True)
class OptionShown:
    """An option in words."""

    text: str
    is_chosen: bool
    is_safe: bool


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision with its options and its answer.

    Attributes:
        seat: Seat that was asked.
        number: Number of the decision among the seat's decisions.
        text: The question.
        rule: Number of its rule.
        options: Options that are shown.
        more: Number of options that are not shown.
        cause: Why the server answered for the seat, in words; empty if the seat answered.
        thinking_ms: Thinking time; None if it is not known.
        usage: What the bot reported that it used, in words; empty if nothing.
    """

    seat: int
    number: int
    text: str
    rule: str
    options: tuple[OptionShown, ...]
    more: int
    cause: str
    thinking_ms: int | None
    usage: str = ""


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line of the log; `at` is the index in a `Path` of the first moment after it happened."""

    at: int
    text: str
    seat: int | None
    is_steal: bool
    is_fault: bool
    is_now: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """A moment of a replay; `at` is its index in the record, `index` its index in the `Path`."""

    at: int
    index: int
    frame: Frame
    decided: Decided | None
    rows: tuple[LogLine, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """The moments of one viewer.

    Attributes:
        ats: Index of each moment in the record.
        faults: Indices, in the path, of moments with a fault.
        steals: Indices, in the path, of moments after a steal.
        turns: Indices, in the path, of moments at which a turn begins.
    """

    ats: tuple[int, ...]
    faults: tuple[int, ...]
    steals: tuple[int, ...]
    turns: tuple[int, ...]

    def index(self, at: int) -> int:
        """Return the index in the path of the moment at index `at` of the record, or of the last one before it."""
        return max(0, bisect_right(self.ats, at) - 1)


@dataclass(frozen=True, slots=True)
class Swing:
    """A moment before which the worth of seats changed.

    Attributes:
        at: Its index in the path of the viewer who sees all cards.
        text: The act that caused the largest change, in words.
        changed: Seats with the changes of their worth, the largest first.
    """

    at: int
    text: str
    changed: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _DecisionStep:
    """A decision as the replay reached it when the match was opened."""

    at: int
    seat: int
    number: int
    until: int  # number of events before it
    turn: tuple[int, ...]
    asked: tuple[int, ...]  # number of decisions of each seat before it
    chosen: Chosen | None  # None for the end of the match
    scores: tuple[int, ...]  # worth of each seat before it, face-down cards included


@dataclass(frozen=True, slots=True)
class _Line:
    """An event or fault in words, redacted for each viewer."""

    number: int
    seat: int | None
    is_steal: bool
    is_fault: bool
    texts: tuple[str, ...]  # one for all viewers; or one per seat, one for spectators, and one with all cards

    def to(self, viewer: int | None) -> str:
        """Return the text for a seat, or for None the text with all cards."""
        return self.texts[0] if len(self.texts) == 1 else self.texts[-1 if viewer is None else viewer]


@dataclass(frozen=True, slots=True)
class _ViewerPath:
    """The path of one viewer with its details.

    Attributes:
        path: Moments of the viewer.
        steps: Index of each moment's step in the match.
        event_counts: Number of events before each moment.
        lines: Log of the viewer.
        numbers: Event numbers of these lines.
    """

    path: Path
    steps: tuple[int, ...]
    event_counts: list[int]
    lines: list[_Line]
    numbers: list[int]


class Replayed:
    """A replayed match, in the language of its reader. It is not thread-safe: hold `lock` while using it."""

    def __init__(
        self,
        record: Record,
        names: Sequence[str],
        thinking_ms: Sequence[Sequence[int]] = (),
        usages: Sequence[Mapping[int, str]] = (),
    ) -> None:
        """Replay a match from its record.

        Args:
            record: Record of the match.
            names: Bot names by seat.
            thinking_ms: Thinking times of each seat's decisions; empty if they were not stored.
            usages: What each seat's bot reported, in words by decision, from 1; empty if nothing was stored.

        Raises:
            RecordError: If the record does not agree with the rules, or has no decision.
            UnknownGame: If the game is not installed.
        """
        self.lock: Final = Lock()
        self.record: Final = record
        self.names: Final = tuple(names)
        self.seats: Final = len(record.seats)
        self._thinking: Final = [list(one) for one in thinking_ms] if len(thinking_ms) == self.seats else []
        self._usages: Final = usages
        self._words: Final = spoken(game_named(record.game).words)
        words = game_named(record.game).words
        self._scoring: Final = {one.name for one in words.seat_counters if one.unit in (Unit.MONEY, Unit.POINTS)}
        self._counting: Final = COUNTED_ZONES.get(record.game, {kind.name for kind in words.zones})
        self._longest: Final = max([1, *map(sum, self._thinking)])
        self._steps: list[_DecisionStep] = []
        self._lines: list[_Line] = []
        self._steps_run: list[tuple[int, Step]] = []  # rules that were carried out, with the number of events before
        self._copies: list[Match] = []  # before every STRIDE-th decision, as far as moments were shown
        self._history: Final = ZoneHistory(words, self.seats)
        self._end = self._play()
        self._log: Final[Sequence[Event]] = self._end.game.log or ()
        self._told_verbs: Final = {event.act.verb for event in self._log if isinstance(event, Happened)}
        self._faults: Final = [(at, one.seat) for at, one in enumerate(self._end.choices) if _is_fault(one)]
        self._ways: dict[int | None, _ViewerPath] = {}
        self.hashes: Final = tuple(event_hashes(self._end.game))

    # -- opening
    def _play(self) -> Match:
        rules = game_named(self.record.game)
        has = {counter.name for counter in rules.words.table_counters}
        turns = [name for name in layout_of(self.record.game).turns if name in has]
        steals = layout_of(self.record.game).steals
        numbers: list[list[int]] = [[] for _ in range(self.seats)]  # decision numbers by seat
        match, told = None, 0
        for match, asked, chosen in replay(self.record, rules):
            told = self._tell(match, told, steals)
            if not self._steps:
                self._copies.append(match.fork())
                match.game.step_log = self._steps_run
            turn = tuple([getattr(match.game, name) for name in turns])
            counts = tuple([match.asked(seat) - (seat in match.open) for seat in range(self.seats)])
            scores = _worths(match.game)
            self._steps.append(
                _DecisionStep(len(match.choices), asked.seat, asked.number, told, turn, counts, chosen, scores)
            )
            numbers[asked.seat].append(asked.number)
            if _is_fault(chosen):
                self._lines.append(_Line(told, chosen.seat, False, True, (_fault_text(chosen),)))
        if match is None:
            raise RecordError(gettext("this match was void before anything was decided in it"))
        self._tell(match, told, steals)
        turn, counts = self._steps[-1].turn, tuple([match.asked(seat) for seat in range(self.seats)])
        scores = tuple(match.game.scores())
        self._steps.append(
            _DecisionStep(len(match.choices), -1, 0, len(match.game.log or ()), turn, counts, None, scores)
        )
        for seat, thought in enumerate(self._thinking):
            self._thinking[seat] = _by_number(thought, numbers[seat], counts[seat])
        return match

    def _tell(self, match: Match, first: int, steals: frozenset[str]) -> int:
        """Add log lines for the events from number `first` on. Return the number of events so far."""
        game = match.game
        log = game.log or []
        viewers = range(self.seats + 1)
        self._history.add(log[first:], first)
        for number, event in enumerate(log[first:], first):
            then = self._history.at(number)
            if isinstance(event, Happened):
                seen = [event.to(viewer) for viewer in viewers] if event.masks else [event]
                texts = [event_text(then, one, self._words) for one in ((*seen, event) if event.masks else (event,))]
                is_steal = game.words.verbs[event.act.verb - 1].name in steals
                self._lines.append(_Line(number, event.act.actor, is_steal, False, tuple(texts)))
            elif isinstance(event, Scored):
                self._lines.append(_Line(number, None, False, False, (event_text(then, event, self._words),)))
        return len(log)

    # -- paths
    def path(self, viewer: int | None) -> Path:
        """Return the moments of a seat, or for None of the viewer who sees all cards."""
        return self._way(viewer).path

    def _way(self, viewer: int | None) -> _ViewerPath:
        if viewer in self._ways:
            return self._ways[viewer]
        mine = tuple([i for i, one in enumerate(self._steps) if viewer in (None, one.seat) or one.chosen is None])
        steps = [self._steps[i] for i in mine]
        ats = tuple([one.at for one in steps])
        event_counts = [one.until for one in steps]
        lines = [one for one in self._lines if not one.is_fault or viewer in (None, one.seat)]
        path = Path(
            ats,
            faults=_ascending([bisect_right(ats, at) - 1 for at, seat in self._faults if viewer in (None, seat)]),
            steals=_ascending([_first_after(event_counts, one.number) for one in lines if one.is_steal]),
            turns=tuple([i for i, one in enumerate(steps) if i == 0 or one.turn != steps[i - 1].turn]),
        )
        self._ways[viewer] = way = _ViewerPath(path, mine, event_counts, lines, [one.number for one in lines])
        return way

    # -- scores
    @property
    def scores(self) -> list[tuple[int, ...]]:
        """Worth of each seat at each moment of the path with all cards, face-down ones too; at the end its score."""
        return [step.scores for step in self._steps]

    def swings(self, most: int) -> list[Swing]:
        """Return the `most` moments with the largest changes, in order; among equal ones, prefer later ones."""
        sizes = [(sum([abs(change) for _, change in self._changes(at)]), at) for at in range(1, len(self._steps))]
        largest = sorted([one for one in sizes if one[0]], reverse=True)[:most]
        return [self.swing(at) for at in sorted([at for _, at in largest])]

    def swing(self, at: int) -> Swing:
        """Return what changed before a moment, and why."""
        changed = self._changes(at)
        before, now = self._steps[at - 1], self._steps[at]
        text = self._cause(before.until, now.until, *changed[0]) if changed else ""
        return Swing(at, text, changed)

    def _changes(self, at: int) -> tuple[tuple[int, int], ...]:
        """Return the seats whose worth changed before a moment, with the changes, the largest first."""
        pairs = zip(self._steps[at - 1].scores, self._steps[at].scores, strict=True)
        changes = [(seat, now - before) for seat, (before, now) in enumerate(pairs) if now != before]
        return tuple(sorted(changes, key=lambda one: (-abs(one[1]), -one[1])))  # a gain before an equal loss

    def _cause(self, since: int, until: int, seat: int, change: int) -> str:
        """Describe what was being done when a seat's worth changed most, between two events, with all cards."""
        largest, cause = 0, until - 1
        for number in range(since, until):
            event = self._log[number]
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
        earlier = (self._log[one] for one in range(number - 1, -1, -1))
        counts = (one for one in earlier if isinstance(one, Counted))
        return next((one.value for one in counts if (one.counter, one.seat) == (event.counter, event.seat)), unknown)

    def _done_at(self, since: int, number: int) -> str:
        """Describe what was being done at an event: the last act, or the last rule that was carried out.

        A rule that announces an act is part of what that act began, if an event tells of the act.
        """
        way = self._way(None)
        lines = way.lines[bisect_left(way.numbers, since) : bisect_right(way.numbers, number)]
        act = next((one for one in reversed(lines) if not one.is_fault), None)
        first = bisect_left(self._steps_run, since if act is None else act.number + 1, key=lambda one: one[0])
        last = bisect_right(self._steps_run, number, key=lambda one: one[0])
        for event, step in reversed(self._steps_run[first:last]):
            if (announced := step.act()) is not None:
                if announced.verb not in self._told_verbs:
                    return act_text(self._history.at(event), announced, self._words)
            elif step.seat == TABLE:
                return word(announcement(step.paragraph), self.record.game)
        return act.to(None) if act is not None else gettext("cards are counted")

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
            lying = self._history.at(number).zone(zone)
        except KeyError:  # the box, or a zone that was not made yet
            return False
        return lying.owner == seat and lying.kind.name in self._counting

    def index_after(self, choices: int) -> int:
        """Return the index, in the path with all cards, of the first moment after this many choices of the record."""
        return min(bisect_left(self._steps, choices, key=lambda step: step.at), len(self._steps) - 1)

    def done_before(self, index: int) -> str:
        """Describe what was done since the moment before this one, with all cards; for the first one, the deal."""
        if index == 0:
            return gettext("the deal")
        return self._done_at(self._steps[index - 1].until, self._steps[index].until - 1)

    @property
    def lead(self) -> tuple[tuple[int, ...], int]:
        """The seats that won, and the moment from which on none of the others was ahead of or level with them."""
        result = self._end.result()
        winners = tuple([seat for seat, place in enumerate(result.places) if place == 1])
        since = len(self._steps) - 1
        while since and _leads(self._steps[since - 1].scores, winners):
            since -= 1
        return winners, since

    # -- moments
    def moments(self, viewer: int | None, first: int, count: int = 1) -> Iterator[Moment]:
        """Yield `count` moments from index `first` of a path on, as a seat, or for None with all cards."""
        way = self._way(viewer)
        match: Match | None = None
        at = -1
        for index in range(first, min(first + count, len(way.steps))):
            wanted = way.steps[index]
            if self._steps[wanted].chosen is None:
                yield self._moment(viewer, way, index, self._end, None)
                return
            nearest = wanted // STRIDE * STRIDE
            if match is None or nearest > at:
                match, at = self._copy(wanted // STRIDE), nearest
                again = replay_on(match, self.record)
                asked = next(again)[1]
            while at < wanted:
                asked = next(again)[1]
                at += 1
            yield self._moment(viewer, way, index, match, asked)

    def decisions_of(self, seat: int) -> dict[int, int]:
        """Map the numbers of a seat's decisions, from 1 as bots and notes count them, to indices in the record."""
        return {step.number + 1: step.at for step in self._steps if step.seat == seat and step.chosen is not None}

    def decision_at(self, at: int) -> tuple[Match, Asked] | None:
        """Return the match before the decision with this index in the record, and the decision; None without one."""
        number = bisect_left(self._steps, at, key=lambda step: step.at)
        if number >= len(self._steps) - 1 or self._steps[number].at != at:
            return None
        again = replay_on(self._copy(number // STRIDE), self.record)
        match, asked, _ = next(islice(again, number % STRIDE, None))
        return match, asked

    def _copy(self, number: int) -> Match:
        """Return a copy of the match before a decision: the `number`-th of those STRIDE apart."""
        while len(self._copies) <= number:
            again = replay_on(self._copies[-1].fork(), self.record)
            match = next(islice(again, STRIDE, None))[0]
            match.game.catch_up()  # once, and not for each copy of this one
            self._copies.append(match.fork())
        return self._copies[number].fork()

    def _moment(self, viewer: int | None, way: _ViewerPath, index: int, match: Match, asked: Asked | None) -> Moment:
        step = self._steps[way.steps[index]]
        since = way.event_counts[index - 1] if index else 0
        events = self._log[since : step.until]
        if viewer is None:
            view, told = whole_view(match.game), whole_events(events)
        else:
            view, told = match.game.view(viewer), [event.to(viewer) for event in events]
        made = frame(
            view,
            told,
            self.names,
            asked=self._asked(view, step.until) if asked is not None else (),
            first_event=since,
            public=match.game.view(None),
            marks=self._marks(viewer, step),
            history=self._history,
        )
        decided = self._decided(match, asked, step) if asked is not None else None
        return Moment(step.at, index, made, decided, self._rows(way, viewer, since, step.until))

    def _asked(self, view: View, until: int) -> tuple[int, ...]:
        """Return the seats of the last question before event number `until`."""
        last = next((one for one in range(until - 1, -1, -1) if isinstance(self._log[one], Question)), 0)
        return asked_of(view, self._log[last:until])

    def _decided(self, match: Match, asked: Asked, step: _DecisionStep) -> Decided:
        chosen = step.chosen
        assert chosen is not None
        safe = match.game.safe_option(asked.seat, asked.options)
        options = [
            OptionShown(option_text(match.game, option, self._words), option == chosen.option, option == safe)
            for option in asked.options
        ]
        shown = [one for place, one in enumerate(options) if place < MOST_OPTIONS or one.is_chosen]
        thought = self._thinking[asked.seat] if self._thinking else []
        return Decided(
            seat=asked.seat,
            number=asked.number,
            text=word(match.game.question.text, self.record.game),
            rule=match.game.question.first_rule(),
            options=tuple(shown),
            more=len(options) - len(shown),
            cause=why_safe(chosen.cause) if _is_fault(chosen) else "",
            thinking_ms=thought[asked.number] if asked.number < len(thought) else None,
            usage=self._usages[asked.seat].get(asked.number + 1, "") if asked.seat < len(self._usages) else "",
        )

    def _marks(self, viewer: int | None, step: _DecisionStep) -> Mapping[int, SeatMarks]:
        """Return the facts about the seats; a seat sees only its own before the end."""
        is_over = step.chosen is None
        faults = Counter(seat for at, seat in self._faults if at < step.at)
        result = self._end.result() if is_over else None
        marks = {}
        for seat in range(self.seats):
            if viewer not in (None, seat) and not is_over:
                continue
            spent = sum(self._thinking[seat][: step.asked[seat]]) if self._thinking else None
            is_placed = result is not None and not result.voided
            cause = result.end_causes[seat] if result is not None else EndCause.NORMAL
            marks[seat] = SeatMarks(
                faults=faults[seat],
                thinking_ms=spent,
                thinking_share=(spent or 0) / self._longest,
                place=result.places[seat] if result is not None and is_placed else None,
                score=result.scores[seat] if result is not None and is_placed else None,
                end_cause=end_cause_text(cause),
            )
        return marks

    def _rows(self, way: _ViewerPath, viewer: int | None, since: int, until: int) -> tuple[LogLine, ...]:
        """Return the log lines of the events from number `since` up to `until`, with some before and after."""
        begins, ends = bisect_left(way.numbers, since), bisect_left(way.numbers, until)
        first = max(0, begins - ROWS_BEFORE)
        return tuple(
            [
                LogLine(
                    at=_first_after(way.event_counts, one.number),
                    text=one.to(viewer),
                    seat=one.seat,
                    is_steal=one.is_steal,
                    is_fault=one.is_fault,
                    is_now=begins <= place < ends,
                )
                for place, one in enumerate(way.lines[first : ends + ROWS_AFTER], first)
            ]
        )


def _by_number(thought: list[int], numbers: list[int], asked: int) -> list[int]:
    """List the thinking times of a seat by decision number.

    Older servers answered questions with one option themselves and stored no time for them. These times become 0.
    """
    if len(thought) != len(numbers) or asked == len(numbers):
        return thought
    times = [0] * asked
    for number, thinking_ms in zip(numbers, thought, strict=True):
        times[number] = thinking_ms
    return times


def _worths(game: Game) -> tuple[int, ...]:
    view = seats_view(game)
    worths = [seat_worth(view, seat) for seat in range(game.n)]
    return tuple([score if worth is None else worth.value for worth, score in zip(worths, game.scores(), strict=True)])


def _leads(scores: Sequence[int], winners: Sequence[int]) -> bool:
    others = [score for seat, score in enumerate(scores) if seat not in winners]
    return not others or min([scores[seat] for seat in winners]) > max(others)


def _is_fault(chosen: Chosen) -> bool:
    return chosen.cause is not EndCause.NORMAL


def _fault_text(chosen: Chosen) -> str:
    seat = sentences().seat.format(seat=chosen.seat)
    return gettext("the server decides for %(seat)s: %(why)s", seat=seat, why=why_safe(chosen.cause))


def _first_after(event_counts: Sequence[int], number: int) -> int:
    """Return the index of the first moment after an event; `event_counts` has the number of events before each."""
    return min(bisect_right(event_counts, number), len(event_counts) - 1)


def _ascending(places: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted({max(0, place) for place in places}))
