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
from cutpurse.engine.events import Event, Happened, Scored
from cutpurse.engine.game import Game
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.match import Chosen, EndCause, Match
from cutpurse.engine.match import OpenDecision as Asked
from cutpurse.engine.record import Record, event_hashes, replay, replay_on
from cutpurse.engine.text import event_text, option_text
from cutpurse.engine.view import View
from cutpurse.games import game_named
from cutpurse.page.language.game_words import sentences, spoken, word
from cutpurse.page.language.speaking import gettext, language
from cutpurse.page.match_view.course import Course, MatchLog
from cutpurse.page.match_view.end_causes import end_cause_text, why_safe
from cutpurse.page.match_view.frames import (
    Frame,
    SeatMarks,
    asked_of,
    frame,
    seats_view,
    whole_events,
    whole_view,
)
from cutpurse.page.match_view.layouts import layout_of
from cutpurse.page.match_view.seat_worth import Worth, seat_worth

__all__ = ["STRIDE", "Decided", "Moment", "OptionShown", "Path", "Replayed", "LogLine"]

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
    """A decision with its options and its answer."""

    seat: int  # seat that was asked
    number: int  # number of the decision among the seat's decisions
    text: str  # the question
    rule: str  # number of its rule
    options: tuple[OptionShown, ...]  # options that are shown
    more: int  # number of options that are not shown
    cause: str  # why the server answered for the seat, in words; empty if the seat answered
    thinking_ms: int | None  # thinking time; None if it is not known
    usage: str = ""  # what the bot reported that it used, in words; empty if nothing
    note: str = ""  # what the bot noted, if its owner publishes it and the viewer sees this seat; else empty


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
    """The moments of one viewer."""

    ats: tuple[int, ...]  # index of each moment in the record
    faults: tuple[int, ...]  # indices, in the path, of moments with a fault
    steals: tuple[int, ...]  # indices, in the path, of moments after a steal
    turns: tuple[int, ...]  # indices, in the path, of moments at which a turn begins

    def index(self, at: int) -> int:
        """Return the index in the path of the moment at index `at` of the record, or of the last one before it."""
        return max(0, bisect_right(self.ats, at) - 1)


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
    worths: tuple[Worth, ...]  # of each seat before it, face-down cards included


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
    """The path of one viewer with its details."""

    path: Path  # moments of the viewer
    steps: tuple[int, ...]  # index of each moment's step in the match
    event_counts: list[int]  # number of events before each moment
    lines: list[_Line]  # log of the viewer
    numbers: list[int]  # event numbers of these lines


class Replayed:
    """A replayed match, in the language of its reader. It is not thread-safe: hold `lock` while using it."""

    def __init__(
        self,
        record: Record,
        names: Sequence[str],
        thinking_ms: Sequence[Sequence[int]] = (),
        usages: Sequence[Mapping[int, str]] = (),
        notes: Sequence[Mapping[int, str]] = (),
    ) -> None:
        """Replay a match from its record.

        Args:
            record: Record of the match.
            names: Bot names by seat.
            thinking_ms: Thinking times of each seat's decisions; empty if they were not stored.
            usages: What each seat's bot reported, in words by decision, from 1; empty if nothing was stored.
            notes: Notes of each seat that are published, by decision, from 1; empty if there are none.

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
        self.notes: Final = notes
        self._words: Final = spoken(game_named(record.game).words)
        self._steps: list[_DecisionStep] = []
        self._lines: list[_Line] = []
        self._steps_run: list[tuple[int, Step]] = []  # rules that were carried out, with the number of events before
        self._copies: list[Match] = []  # before every STRIDE-th decision, as far as moments were shown
        self._history: Final = ZoneHistory(game_named(record.game).words, self.seats)
        self._end = self._play()
        self._log: Final[Sequence[Event]] = self._end.game.log or ()
        self.course: Final = self._course()
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
        match, event_count = None, 0
        for match, decision, chosen in replay(self.record, rules):
            event_count = self._tell(match, event_count, steals)
            if not self._steps:
                self._copies.append(match.fork())
                match.game.step_log = self._steps_run
            turn = tuple([getattr(match.game, name) for name in turns])
            counts = tuple([match.asked(seat) - (seat in match.open) for seat in range(self.seats)])
            worths = _worths(match.game)
            self._steps.append(
                _DecisionStep(
                    len(match.choices), decision.seat, decision.number, event_count, turn, counts, chosen, worths
                )
            )
            numbers[decision.seat].append(decision.number)
            if _is_fault(chosen):
                self._lines.append(_Line(event_count, chosen.seat, False, True, (_fault_text(chosen),)))
        if match is None:
            raise RecordError(gettext("this match was void before anything was decided in it"))
        self._tell(match, event_count, steals)
        turn, counts = self._steps[-1].turn, tuple([match.asked(seat) for seat in range(self.seats)])
        worths = _final_worths(match.game)
        self._steps.append(
            _DecisionStep(len(match.choices), -1, 0, len(match.game.log or ()), turn, counts, None, worths)
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
                texts = [
                    event_text(then, step_event, self._words)
                    for step_event in ((*seen, event) if event.masks else (event,))
                ]
                is_steal = game.words.verbs[event.act.verb - 1].name in steals
                self._lines.append(_Line(number, event.act.actor, is_steal, False, tuple(texts)))
            elif isinstance(event, Scored):
                self._lines.append(_Line(number, None, False, False, (event_text(then, event, self._words),)))
        return len(log)

    def _course(self) -> Course:
        acts = [(line.number, line.to(None)) for line in self._lines if not line.is_fault]
        log = MatchLog(self._log, self._history, acts, self._steps_run)
        until, worths = [step.until for step in self._steps], [step.worths for step in self._steps]
        return Course(self.record.game, log, until, worths)

    # -- paths
    def path(self, viewer: int | None) -> Path:
        """Return the moments of a seat, or for None of the viewer who sees all cards."""
        return self._way(viewer).path

    def _way(self, viewer: int | None) -> _ViewerPath:
        if viewer in self._ways:
            return self._ways[viewer]
        mine = tuple([i for i, item in enumerate(self._steps) if viewer in (None, item.seat) or item.chosen is None])
        steps = [self._steps[i] for i in mine]
        ats = tuple([item.at for item in steps])
        event_counts = [item.until for item in steps]
        lines = [item for item in self._lines if not item.is_fault or viewer in (None, item.seat)]
        path = Path(
            ats,
            faults=_ascending([bisect_right(ats, at) - 1 for at, seat in self._faults if viewer in (None, seat)]),
            steals=_ascending([_first_after(event_counts, item.number) for item in lines if item.is_steal]),
            turns=tuple([i for i, item in enumerate(steps) if i == 0 or item.turn != steps[i - 1].turn]),
        )
        self._ways[viewer] = way = _ViewerPath(path, mine, event_counts, lines, [item.number for item in lines])
        return way

    # -- the story
    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that won."""
        return tuple([seat for seat, place in enumerate(self._end.result().places) if place == 1])

    def index_after(self, choices: int) -> int:
        """Return the index, in the path with all cards, of the first moment after this many choices of the record."""
        return min(bisect_left(self._steps, choices, key=lambda step: step.at), len(self._steps) - 1)

    # -- moments
    def moments(self, viewer: int | None, first: int, count: int = 1) -> Iterator[Moment]:
        """Yield `count` moments from index `first` of a path on, as a seat, or for None with all cards."""
        way = self._way(viewer)
        match: Match | None = None
        at = -1
        for index in range(first, min(first + count, len(way.steps))):
            step = way.steps[index]
            if self._steps[step].chosen is None:
                yield self._moment(viewer, way, index, self._end, None)
                return
            nearest = step // STRIDE * STRIDE
            if match is None or nearest > at:
                match, at = self._copy(step // STRIDE), nearest
                again = replay_on(match, self.record)
                decision = next(again)[1]
            while at < step:
                decision = next(again)[1]
                at += 1
            yield self._moment(viewer, way, index, match, decision)

    def decisions_of(self, seat: int) -> dict[int, int]:
        """Map the numbers of a seat's decisions, from 1 as bots and notes count them, to indices in the record."""
        return {step.number + 1: step.at for step in self._steps if step.seat == seat and step.chosen is not None}

    def decision_at(self, at: int) -> tuple[Match, Asked] | None:
        """Return the match before the decision with this index in the record, and the decision; None without one."""
        number = bisect_left(self._steps, at, key=lambda step: step.at)
        if number >= len(self._steps) - 1 or self._steps[number].at != at:
            return None
        again = replay_on(self._copy(number // STRIDE), self.record)
        match, decision, _ = next(islice(again, number % STRIDE, None))
        return match, decision

    def _copy(self, number: int) -> Match:
        """Return a copy of the match before a decision: the `number`-th of those STRIDE apart."""
        while len(self._copies) <= number:
            again = replay_on(self._copies[-1].fork(), self.record)
            match = next(islice(again, STRIDE, None))[0]
            match.game.catch_up()  # once, and not for each copy of this one
            self._copies.append(match.fork())
        return self._copies[number].fork()

    def _moment(self, viewer: int | None, way: _ViewerPath, index: int, match: Match, decision: Asked | None) -> Moment:
        step = self._steps[way.steps[index]]
        since = way.event_counts[index - 1] if index else 0
        events = self._log[since : step.until]
        if viewer is None:
            view, events_seen = whole_view(match.game), whole_events(events)
        else:
            view, events_seen = match.game.view(viewer), [event.to(viewer) for event in events]
        made = frame(
            view,
            events_seen,
            self.names,
            asked=self._asked(view, step.until) if decision is not None else (),
            first_event=since,
            public=match.game.view(None),
            marks=self._marks(viewer, step),
            history=self._history,
        )
        decided = self._decided(match, decision, step, viewer) if decision is not None else None
        return Moment(step.at, index, made, decided, self._rows(way, viewer, since, step.until))

    def _asked(self, view: View, until: int) -> tuple[int, ...]:
        """Return the seats of the last question before event number `until`."""
        last = next((one for one in range(until - 1, -1, -1) if isinstance(self._log[one], Question)), 0)
        return asked_of(view, self._log[last:until])

    def _decided(self, match: Match, decision: Asked, step: _DecisionStep, viewer: int | None) -> Decided:
        chosen = step.chosen
        assert chosen is not None
        safe = match.game.safe_option(decision.seat, decision.options)
        options = [
            OptionShown(option_text(match.game, option, self._words), option == chosen.option, option == safe)
            for option in decision.options
        ]
        shown_options = [one for place, one in enumerate(options) if place < MOST_OPTIONS or one.is_chosen]
        thought = self._thinking[decision.seat] if self._thinking else []
        notes = self.notes[decision.seat] if self.notes and viewer in (None, decision.seat) else {}
        return Decided(
            seat=decision.seat,
            number=decision.number,
            text=word(match.game.question.text, self.record.game),
            rule=match.game.question.first_rule(),
            options=tuple(shown_options),
            more=len(options) - len(shown_options),
            cause=why_safe(chosen.cause) if _is_fault(chosen) else "",
            thinking_ms=thought[decision.number] if decision.number < len(thought) else None,
            usage=self._usages[decision.seat].get(decision.number + 1, "") if decision.seat < len(self._usages) else "",
            note=notes.get(decision.number + 1, ""),
        )

    def _marks(self, viewer: int | None, step: _DecisionStep) -> Mapping[int, SeatMarks]:
        """Return faults, thinking time and final place by seat; until the end a seat sees only its own."""
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
                    at=_first_after(way.event_counts, line.number),
                    text=line.to(viewer),
                    seat=line.seat,
                    is_steal=line.is_steal,
                    is_fault=line.is_fault,
                    is_now=begins <= place < ends,
                )
                for place, line in enumerate(way.lines[first : ends + ROWS_AFTER], first)
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


def _worths(game: Game) -> tuple[Worth, ...]:
    view = seats_view(game)
    worths = [seat_worth(view, seat) for seat in range(game.n)]
    scores = zip(worths, game.scores(), strict=True)
    return tuple([Worth(score, language().number(score)) if worth is None else worth for worth, score in scores])


def _final_worths(game: Game) -> tuple[Worth, ...]:
    """Return the scores of the seats as their worth, which says what they are made of."""
    worths = zip(_worths(game), game.scores(), strict=True)
    return tuple([worth if worth.value == score else Worth(score, language().number(score)) for worth, score in worths])


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
