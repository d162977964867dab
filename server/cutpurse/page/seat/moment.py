"""What a person at a table is shown: the table, the question with its options, and what has happened.

It is drawn only from what a bot in that seat gets. The sentences are those of `cutpurse play --human`.
A drawing has no time in it, so that all readers of a moment share one; `with_clock` fills in the time left. This module
knows no network and no clock: the time left is passed in.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from cutpurse.engine.agenda import Option
from cutpurse.engine.events import Event
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.match import MatchResult
from cutpurse.engine.view import View
from cutpurse.engine.words import Words
from cutpurse.page.language.second_person import addressed
from cutpurse.page.language.speaking import gettext, ngettext, pgettext
from cutpurse.page.match_view.drawing import rendered
from cutpurse.page.match_view.event_text import EventLine, told_lines
from cutpurse.page.match_view.frames import Frame, ZoneShown, asked_of, frame, result_marks
from cutpurse.page.match_view.seat_names import short_names
from cutpurse.page.seat.choices import OfferedOption, offered_options, rows_of, split_hands
from cutpurse.page.seat.story import turns_of

__all__ = ["SeatPicture", "with_clock"]

MOST_LINES: Final = 60  # of the log
# Where a drawing has the time left. Nobody can guess them, so no name and no note has them.
_CLOCK: Final = {name: f"{name}-{secrets.token_hex(8)}" for name in ("base_ms", "bank_ms", "base_s", "bank_min")}


class SeatPicture:
    """The picture of one match from one seat; it is given every message in order.

    Each event comes twice: with a decision, and from the watch of the seat as it happens. It is shown
    once, by its number.
    """

    def __init__(self, words: Words, seat: int, names: Sequence[str], match: str, rated_on: str = "") -> None:
        """Begin before the first decision.

        Args:
            words: Words of the game.
            seat: Seat of the person.
            names: Names of the players by seat.
            match: ID of the match.
            rated_on: Ladder on which the match is rated; empty if it is not.
        """
        self._words = words
        self._seat = seat
        self._match = match
        self._rated_on = rated_on
        self._names = names
        self._view: View | None = None
        self._choices: list[OfferedOption] = []
        self._options: Sequence[Option] = ()
        self._asked: Sequence[int] = ()
        self._events: list[Event] = []  # that no frame has shown
        self._first = 0  # number of the first of them
        self._history: ZoneHistory | None = None
        self._start = 0  # number of the first event that is known
        self._end = 0  # number of the event after the last one
        self._lines: list[EventLine] = []
        self._caption: tuple[int, Sequence[EventLine]] = 0, ()  # the last acts, and the number of the first event then
        self._frame: Frame | None = None
        self._result: MatchResult | None = None

    # -- what the server sends
    def see(self, view: View) -> bool:
        """Show the table before anything is known to have happened; return whether that is new."""
        if self._frame is not None:
            return False
        self._view = view
        self._draw(self._others_asked(view, ()))
        return True

    def update(self, view: View, events: Sequence[Event], first: int) -> bool:
        """Show what the others did; return whether anything of it is new.

        What comes after a gap is left to the next decision, which tells everything.
        """
        if first + len(events) <= self._end or (self._history is not None and first > self._end):
            return False
        self._add(view, events, first)
        self._draw(self._others_asked(view, events))
        return True

    def _others_asked(self, view: View, events: Sequence[Event]) -> tuple[int, ...]:
        """Return who else is asked: what this seat is asked comes with its decision."""
        return tuple([seat for seat in asked_of(view, events, self._asked) if seat != self._seat])

    def ask(self, view: View, events: Sequence[Event], first: int, options: Sequence[Option]) -> None:
        """Show a decision; one with a single option is only read, and its events are shown with the next one."""
        self._add(view, events, first)
        self._options = options if len(options) > 1 else ()
        self._choices = []
        if self._options:
            self._draw((self._seat,))

    def answered(self) -> None:
        """Show that the decision is answered and the others play."""
        self._choices, self._options = [], ()
        if self._frame is not None:
            self._draw(())

    def end(self, result: MatchResult, events: Sequence[Event], first: int) -> None:
        """Show the result."""
        self._result = result
        self._choices, self._options = [], ()
        if self._view is not None:
            self._add(self._view, events, first)
            self._draw(())

    def _add(self, view: View, events: Sequence[Event], first: int) -> None:
        end = first + len(events)
        if end < self._end:
            return
        if self._history is None or first > self._end:  # the first, or after a resume: some may be missing
            self._history = ZoneHistory.of_window(view, events, first, None)
            self._events, self._first, self._start = [*events], first, first
        else:
            if first < self._start:
                self._tell_from(first, view, events[: self._end - first])
            fresh = events[self._end - first :]
            self._history.add(fresh, self._end)
            self._events += fresh
        self._view, self._end = view, end

    def _tell_from(self, first: int, view: View, events: Sequence[Event]) -> None:
        """Add what happened before the first event that was known."""
        self._history = ZoneHistory.of_window(view, events, first, None)
        before = events[: self._start - first]
        self._lines = [*self._said(told_lines(view, before, first, self._history)), *self._lines]
        self._start = first

    def _said(self, lines: Iterable[EventLine]) -> list[EventLine]:
        """Say lines to the person in this seat."""
        words, seat = self._words, self._seat
        return [replace(line, text=addressed(line.text, seat, words)) for line in lines]

    def _draw(self, asked: Sequence[int]) -> None:
        assert self._view is not None
        self._asked = asked
        self._frame = frame(
            self._view,
            self._events,
            self._names,
            asked=asked,
            first_event=self._first,
            marks=result_marks(self._result) if self._result and self._result.places else {},
            history=self._history,
        )
        words, seat = self._words, self._seat
        pending = tuple([addressed(text, seat, words) for text in self._frame.pending])
        self._frame = replace(self._frame, pending=pending)
        lines = self._said(self._frame.lines)
        acts = [line for line in lines if line.weight == "act"]
        if acts:
            self._caption = self._first + 1, acts
        self._lines = [*self._lines, *lines][-MOST_LINES:]
        self._events, self._first = [], self._end
        self._choices = offered_options(self._view, self._options, self._frame) if self._options else []

    # -- what the browser gets
    @property
    def end_number(self) -> int:
        """Number of the event after the last one that is shown."""
        return self._end

    @property
    def choices(self) -> Sequence[OfferedOption]:
        """The options of the open decision; none if there is none."""
        return self._choices

    def thinking(self) -> str:
        """Return who is asked, in a sentence."""
        short = short_names(self._names)
        names = [short[seat] for seat in self._asked if seat != self._seat]
        if not names:
            return gettext("The others play.")
        between = pgettext("between the last two names", "and")
        return ngettext("%(names)s is thinking.", "%(names)s are thinking.", len(names), names=_joined(names, between))

    def drawing(
        self, number: int, note: str = "", *, is_recorded: bool = True, has_clock: bool = True
    ) -> Callable[[], str]:
        """Return a function that draws the moment as it is now, on any thread, for `with_clock`.

        Args:
            number: Number of the open decision; it comes back with the answer.
            note: A sentence about the last decision.
            is_recorded: Whether the match can be replayed once it is over.
            has_clock: Whether the time for a decision is limited.
        """
        result, seat = self._result, self._seat
        hands: list[ZoneShown] = []
        board = self._frame
        if board is not None and self._view is not None:
            hands, board = split_hands(self._view, board)
        return partial(
            rendered,
            "seat_moment.html",
            frame=board,
            hands=hands,
            names=short_names(self._names),
            rows=rows_of(self._choices),
            number=number,
            note=note,
            lines=self._lines,
            caption=self._caption,
            thinking=self.thinking(),
            result=result,
            outcome=_outcome(result, seat, self._names) if result is not None else "",
            match=self._match,
            rated_on=self._rated_on,
            is_recorded=is_recorded,
            has_clock=has_clock,
            turns_of=turns_of,
            **_CLOCK,
        )


def _joined(names: Sequence[str], last: str) -> str:
    """Join names: "ann, bob and eve"."""
    return f" {last} ".join([text for text in (", ".join(names[:-1]), names[-1]) if text])


def with_clock(drawing: str, base_s: float, bank_s: float) -> str:
    """Fill the time left into a drawing, or into JSON of it: base time and bank, in seconds."""
    base_ms, bank_ms = int(max(0.0, base_s) * 1_000), int(bank_s * 1_000)
    for name, value in zip(_CLOCK.values(), (base_ms, bank_ms, base_ms // 1_000, bank_ms // 60_000), strict=True):
        drawing = drawing.replace(name, str(value))
    return drawing


def _outcome(result: MatchResult, seat: int, names: Sequence[str]) -> str:
    if not result.places:
        return gettext("The match is void, and counts for nothing.")
    place, score = result.places[seat], result.scores[seat]
    winners = [name for name, one in zip(names, result.places, strict=True) if one == 1]
    if place == 1:
        if len(winners) == 1:
            return gettext("You win with %(score)s.", score=score)
        return gettext("You share the first place with %(score)s.", score=score)
    own = gettext("You are in place %(place)s of %(all)s with %(score)s;", place=place, all=len(names), score=score)
    between = pgettext("between the last two names", "and")
    bots = f" {between} ".join(winners)
    return " ".join([own, ngettext("%(bots)s wins.", "%(bots)s win.", len(winners), bots=bots)])
