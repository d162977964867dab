"""What a person at a table is shown: the table, the question with its options, and what has happened.

It is drawn only from what the server sent to the bot in that seat. The sentences are those of `cutpurse play --human`.
This module knows no network and no clock: the time left is passed in.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.agenda import Option
from cutpurse.engine.events import Event
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.match import MatchResult
from cutpurse.engine.text import option_text
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN
from cutpurse.server.web.language.game_words import spoken
from cutpurse.server.web.language.speaking import gettext, ngettext, pgettext
from cutpurse.server.web.match_view.drawing import rendered
from cutpurse.server.web.match_view.end_causes import end_cause_text
from cutpurse.server.web.match_view.event_text import EventLine
from cutpurse.server.web.match_view.frames import Frame, SeatMarks, frame
from cutpurse.server.web.match_view.seat_names import short_names
from cutpurse.v1 import arena_pb2
from cutpurse.wire.client_session import ClientTable
from cutpurse.wire.decode import events_of, options_of, view_of

__all__ = ["OfferedOption", "SeatPicture", "offered_options"]

MOST_LINES: Final = 40  # of the log


@dataclass(frozen=True, slots=True)
class OfferedOption:
    """An option of the open decision.

    Attributes:
        index: Its index, which is the answer.
        text: The sentence.
        zone: Zone that it is about; 0 for none.
        faces: Names of the cards that it is about.
    """

    index: int
    text: str
    zone: int
    faces: tuple[str, ...]


def offered_options(view: View, options: Sequence[Option]) -> list[OfferedOption]:
    """Describe the options of a decision."""
    words = spoken(view.rules.words)
    cards = words.cards
    return [
        OfferedOption(
            index,
            option_text(view, option, words),
            option.zone,
            tuple(dict.fromkeys(cards[card - 1].name for card in option.cards if card != FACE_DOWN)),
        )
        for index, option in enumerate(options)
    ]


class SeatPicture:
    """The picture of one match from one seat; it is given every message in order."""

    def __init__(self, table: ClientTable, names: Sequence[str], rated_on: str = "") -> None:
        """Begin before the first decision.

        Args:
            table: The match.
            names: Names of the players by seat.
            rated_on: Ladder on which the match is rated; empty if it is not.
        """
        self._table = table
        self._rated_on = rated_on
        self._names = names
        self._view: View | None = None
        self._choices: list[OfferedOption] = []
        self._events: list[Event] = []  # since the last decision that the person answered
        self._first = 0
        self._history: ZoneHistory | None = None
        self._end = 0  # number of the event after the last one
        self._lines: deque[EventLine] = deque(maxlen=MOST_LINES)
        self._frame: Frame | None = None
        self._result: MatchResult | None = None

    # -- what the server sends
    def ask(self, decision: arena_pb2.Decision) -> None:
        """Show a decision; one with a single option is only read, and its events are shown with the next one.

        Raises:
            ValueError: If the message does not belong to the game as played here.
        """
        info = self._table.info
        view = view_of(decision.observation, info.rules, info.settings, info.seats, info.seat)
        self._add(view, events_of(decision, info), decision.first_event)
        options = options_of(decision, info.rules, info.seats)
        self._choices = offered_options(view, options) if len(options) > 1 else []
        if self._choices:
            self._draw((info.seat,))

    def answered(self) -> None:
        """Show that the decision is answered and the others play."""
        self._choices = []
        self._events, self._first = [], self._end
        if self._view is not None and self._frame is not None:
            self._frame = frame(self._view, (), self._names, first_event=self._first, history=self._history)

    def end(self, result: MatchResult, events: Sequence[Event], first: int) -> None:
        """Show the result."""
        self._result = result
        self._choices = []
        if self._view is not None:
            self._add(self._view, events, first)
            self._draw(())

    def _add(self, view: View, events: Sequence[Event], first: int) -> None:
        if self._history is None or first != self._end:  # after a resume, events may be missing
            self._events, self._first = [], first
            self._history = ZoneHistory.of_window(view, events, first, None)
        else:
            self._history.add(events, first)
        self._view = view
        self._events += events
        self._end = first + len(events)

    def _draw(self, asked: Sequence[int]) -> None:
        assert self._view is not None
        self._frame = frame(
            self._view,
            self._events,
            self._names,
            asked=asked,
            first_event=self._first,
            marks=_marks(self._result),
            history=self._history,
        )
        self._lines.extend(self._frame.lines)

    # -- what the browser gets
    @property
    def choices(self) -> Sequence[OfferedOption]:
        """The options of the open decision; none if there is none."""
        return self._choices

    def html(self, number: int, clock_ms: tuple[int, int], note: str = "", *, is_recorded: bool = True) -> str:
        """Draw the moment.

        Args:
            number: Number of the open decision; it comes back with the answer.
            clock_ms: Base time and bank that are left.
            note: A sentence about the last decision.
            is_recorded: Whether the match can be replayed once it is over.
        """
        result, seat = self._result, self._table.seat
        return rendered(
            "seat_moment.html",
            frame=self._frame,
            names=short_names(self._names),
            choices=self._choices,
            number=number,
            base_ms=clock_ms[0],
            bank_ms=clock_ms[1],
            note=note,
            told=list(self._lines)[::-1],
            result=result,
            outcome=_outcome(result, seat, self._names) if result is not None else "",
            match=self._table.match,
            rated_on=self._rated_on,
            is_recorded=is_recorded,
        )


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


def _marks(result: MatchResult | None) -> Mapping[int, SeatMarks]:
    if result is None or not result.places:
        return {}
    return {
        seat: SeatMarks(
            place=result.places[seat],
            score=result.scores[seat],
            end_cause=end_cause_text(cause),
        )
        for seat, cause in enumerate(result.end_causes)
    }
