"""Frames: what one viewer may see at one moment, as plain data to draw.

A frame is made from an engine `View`, the events redacted for its viewer, and the words of the game. So it has nothing
that the viewer may not see, and works for every game. `whole_view` is for finished boards: it also shows the cards of
all seats. This module knows no HTML, no clock and no network.
"""

from __future__ import annotations

import re
from collections import Counter as Multiset
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from cutpurse.engine.agenda import Choice, Question
from cutpurse.engine.events import Asked, Event, Happened, Moved
from cutpurse.engine.game import Game
from cutpurse.engine.history import ZoneHistory
from cutpurse.engine.text import act_text
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN, Counter, Unit, Words
from cutpurse.engine.zones import TABLE, ZoneView
from cutpurse.server.web.language.game_words import counter_title, spoken, word
from cutpurse.server.web.language.speaking import language
from cutpurse.server.web.match_view.event_text import EventLine, came_by, told_lines, touched
from cutpurse.server.web.match_view.layouts import Layout, layout_of
from cutpurse.server.web.match_view.seat_names import short_names
from cutpurse.server.web.match_view.seat_worth import Worth, leaders, seat_worth
from cutpurse.wire.text import printable

__all__ = [
    "NAME",
    "CardShown",
    "Face",
    "Frame",
    "SeatMarks",
    "SeatShown",
    "ZoneShown",
    "asked_of",
    "frame",
    "seats_view",
    "whole_events",
    "whole_view",
]

LONG_WORD: Final = 10  # characters that fit into a card's width
MOST_BACKS: Final = 14  # face-down cards drawn one by one; of more, only the number is shown
NAME: Final = 100  # maximum characters of a bot's name


@dataclass(frozen=True, slots=True)
class Face:
    """The drawing of a card's face; `index` is the text in its corner, `marks` are names of symbols."""

    name: str
    title: str
    text: str
    sort: str
    index: str
    tone: str
    emblem: str
    marks: tuple[str, ...]
    is_plain: bool  # the index identifies the card

    @property
    def has_long_words(self) -> bool:
        """Whether a word of its title is wider than a card of the usual width."""
        return max(map(len, self.title.replace("-", "- ").split()), default=0) > LONG_WORD


@dataclass(frozen=True, slots=True)
class CardShown:
    """A card in a frame.

    Attributes:
        key: Key that stays the same in the next frame if the card does not move.
        face: Its face; None if the viewer can't identify it.
        came_from: Zone in which it lay before the frame's events, if it moved.
        is_known: Whether it is face down, but the viewer knows that it is in the zone.
        notes: Numbers that lie on it.
        more: Less important numbers that lie on it.
    """

    key: str
    face: Face | None
    came_from: int | None = None
    is_known: bool = False
    notes: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ZoneShown:
    """A zone in a frame.

    Attributes:
        number: Number of the zone in the match.
        kind: Name of its kind.
        title: Name for people.
        text: Description for people.
        style: "fan", "spread" or "stack".
        is_made: Whether it was made in play, such as a pack or a set.
        size: Number of its cards.
        cards: Cards drawn one by one.
        backs: Number of face-down cards that are not drawn one by one.
        maybe: Faces that may be among the face-down cards.
        notes: Numbers that lie on the zone.
        worth: Total value of its cards; empty if it is unknown or does not matter.
        is_still: Whether it is a seat's and nothing happened to it in the frame's events, so that a badge is enough.
        is_secret: Whether the viewer sees cards here that spectators do not see.
    """

    number: int
    kind: str
    title: str
    text: str
    style: str
    is_made: bool
    size: int
    cards: tuple[CardShown, ...]
    backs: int
    maybe: tuple[Face, ...]
    notes: tuple[str, ...]
    worth: str
    is_still: bool
    is_secret: bool

    @property
    def top(self) -> Face | None:
        """The first face that the viewer knows, for the zone's badge."""
        return next((card.face for card in self.cards if card.face is not None), None)


@dataclass(frozen=True, slots=True)
class SeatMarks:
    """The facts about a seat that are not on the table: faults, thinking time, and at the end place and score."""

    faults: int = 0
    thinking_ms: int | None = None
    thinking_share: float = 0.0  # thinking time as a share of the slowest seat's total, 0 to 1
    place: int | None = None
    score: int | None = None
    end_cause: str = ""


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a seat or of the table; `text` is its description."""

    name: str
    text: str
    value: str
    is_main: bool


@dataclass(frozen=True, slots=True)
class SeatShown:
    """A seat in a frame, with its zones.

    Attributes:
        seat: Number of the seat.
        name: Name of its bot, with the owner.
        short: Shortest name that tells it from the others.
        worth: What it is worth now; None if the game has no function for it.
        is_leading: Whether no seat is worth more, and some are worth less.
        is_viewer: Whether it is the viewer's.
        is_asked: Whether it is asked.
        is_acting: Whether it acted last.
        badges: Its roles, such as dealer.
        numbers: Its other numbers.
        zones: Its zones.
        marks: Facts that are not on the table.
    """

    seat: int
    name: str
    short: str
    worth: Worth | None
    is_leading: bool
    is_viewer: bool
    is_asked: bool
    is_acting: bool
    badges: tuple[str, ...]
    numbers: tuple[Number, ...]
    zones: tuple[ZoneShown, ...]
    marks: SeatMarks


@dataclass(frozen=True, slots=True)
class Frame:
    """All that one viewer may see at one moment.

    Attributes:
        game: Name of the game.
        title: Title of the game.
        viewer: Seat of the viewer; None for a spectator.
        names: Short names by seat.
        numbers: Numbers of the table.
        zones: Zones of the table.
        seats: Seats clockwise, the viewer's last.
        pending: Actions that are announced and not finished, in words.
        question: Text of the current question; empty if there is none.
        rule: Number of the question's rule.
        asked: Seats that are asked.
        lines: Lines about the frame's events.
        is_over: Whether the match is finished.
    """

    game: str
    title: str
    viewer: int | None
    names: tuple[str, ...]
    numbers: tuple[Number, ...]
    zones: tuple[ZoneShown, ...]
    seats: tuple[SeatShown, ...]
    pending: tuple[str, ...]
    question: str
    rule: str
    asked: tuple[int, ...]
    lines: tuple[EventLine, ...]
    is_over: bool


# -- views and events
def whole_view(game: Game) -> View:
    """Return the spectator's view with the seats' cards and partly visible zones open; for finished boards only."""
    view = game.view(None)
    zones = [
        seen.showing(tuple(zone.cards), tuple([tuple(column) for column in zone.columns or ()]))
        if (zone.owner != TABLE or zone.masks is not None) and zone.cards
        else seen
        for seen, zone in zip(view.zones, game.zones(), strict=True)
    ]
    return view.showing(tuple(zones))


def seats_view(game: Game) -> View:
    """Return the zones of all seats with all cards, and what nobody has to prove; for what seats are worth."""
    zones = [
        ZoneView(
            zone.number,
            zone.kind,
            zone.owner,
            len(zone.cards),
            tuple(zone.cards),
            (),
            (),
            tuple(zone.counters),
            tuple([tuple(column) for column in zone.columns or ()]),
        )
        for zone in game.in_order()
        if zone.owner != TABLE
    ]
    counters = tuple([getattr(game, counter.name) for counter in game.words.table_counters])
    return View(type(game), game.settings, game.n, None, counters, game.seat_values(), tuple(zones), tuple(game.agenda))


def whole_events(events: Sequence[Event]) -> list[Event]:
    """Return events with all cards visible; for finished boards only."""
    return [event._replace(masks=()) if isinstance(event, Happened | Moved) else event for event in events]


def asked_of(view: View, events: Sequence[Event], before: Sequence[int] = ()) -> tuple[int, ...]:
    """Return the seats that are asked, as public information.

    That is the seat of an open choice, else the seats of the last question in `events`, else `before`.
    """
    if not view.agenda:
        return ()
    top = view.agenda[-1]
    if isinstance(top, Choice):
        return (top.seat,)
    return next((event.seats for event in reversed(events) if isinstance(event, Asked)), tuple(before))


def frame(
    view: View,
    events: Sequence[Event],
    names: Sequence[str],
    *,
    asked: Sequence[int] = (),
    first_event: int = 0,
    public: View | None = None,
    marks: Mapping[int, SeatMarks] | None = None,
    history: ZoneHistory | None = None,
) -> Frame:
    """Create the frame of a moment.

    Args:
        view: The viewer's view at the moment.
        events: Events since the moment before, redacted for the viewer.
        names: Bot names by seat.
        asked: Seats that are asked.
        first_event: Number of the first event.
        public: A spectator's view at the moment, if known; cards that it hides are marked as secret.
        marks: Facts about the seats that are not on the table.
        history: History that has the events, see `told_lines`.
    """
    words = view.rules.words
    layout = layout_of(words.game)
    drawing = _Zones(view, layout, came_by(events), touched(events), public)
    lines = told_lines(view, events, first_event, history)
    acting = next((event.act.actor for event in reversed(events) if isinstance(event, Happened)), None)
    badges = _badges(view)
    short = tuple([printable(name, NAME) for name in short_names(names)])
    worths = [seat_worth(view, seat) for seat in range(view.seats)]
    leading = leaders(worths)
    order = (
        range(view.seats) if view.viewer is None else [(view.viewer + 1 + i) % view.seats for i in range(view.seats)]
    )
    top = view.agenda[-1] if view.agenda else None
    is_asking = isinstance(top, Question)
    return Frame(
        game=words.game,
        title=spoken(words).title,
        viewer=view.viewer,
        names=short,
        numbers=_table_numbers(view),
        zones=drawing.of(TABLE),
        seats=tuple(
            [
                SeatShown(
                    seat=seat,
                    name=printable(names[seat], NAME),
                    short=short[seat],
                    worth=worths[seat],
                    is_leading=seat in leading,
                    is_viewer=seat == view.viewer,
                    is_asked=seat in asked,
                    is_acting=seat == acting,
                    badges=tuple(badges.get(seat, ())),
                    numbers=_seat_numbers(view, seat, worths[seat]),
                    zones=drawing.of(seat),
                    marks=(marks or {}).get(seat, SeatMarks()),
                )
                for seat in order
            ]
        ),
        pending=tuple([act_text(view, act, spoken(words)) for act in view.pending]),
        question=word(top.text, words.game) if isinstance(top, Question) else "",
        rule=top.first_rule() if is_asking and isinstance(top, Question) else "",
        asked=tuple(asked),
        lines=lines,
        is_over=not view.agenda,
    )


# -- zones and cards
class _Zones:
    """The conversion of one view's zones to drawable ones."""

    def __init__(
        self,
        view: View,
        layout: Layout,
        came: Mapping[int, list[tuple[int, int]]],
        touched: frozenset[int],
        public: View | None,
    ) -> None:
        self.view = view
        self.layout = layout
        self.came = came
        self.touched = touched
        self.words = spoken(view.rules.words)
        self.made = {kind.name for kind in self.words.zones if kind.many}
        self.values = view.rules.values(view.settings) if layout.worth else []
        self.public = {zone.number: zone for zone in public.zones} if public else {}

    def of(self, owner: int) -> tuple[ZoneShown, ...]:
        """List the zones of a seat or the table; empty ones only if they are a seat's fans or the table's stacks."""
        shown = [self.shown(zone) for zone in self.view.zones if zone.owner == owner]
        empty = "stack" if owner == TABLE else "fan"
        return tuple([zone for zone in shown if zone.size or (zone.style == empty and zone.kind not in self.made)])

    def shown(self, zone: ZoneView) -> ZoneShown:
        """Convert a zone: its visible cards, its known face-down cards, and its other face-down cards."""
        style = self.layout.style(zone.kind)
        faces = list(zone.cards) or [FACE_DOWN] * zone.size
        hidden = faces.count(FACE_DOWN)
        if hidden and zone.known:
            known = zone.known[:hidden]
            hidden -= len(known)
        else:
            known = ()
        drawn = 0 if style == "stack" or hidden > MOST_BACKS else hidden
        came = Multiset(card for card, _ in self.came.get(zone.number, ()))
        cards = self._seen(zone, faces, drawn, came)
        cards += [
            CardShown(f"z{zone.number}-k{card}-{i}", _face(self.words, card), is_known=True)
            for i, card in enumerate(known)
        ]
        return ZoneShown(
            number=zone.number,
            kind=zone.kind.name,
            title=_title(zone, self.words),
            text=self.words.zones[zone.kind.number - 1].text,
            style=style,
            is_made=zone.kind.many,
            size=zone.size,
            cards=tuple(cards),
            backs=hidden - drawn,
            maybe=tuple([face for card in zone.maybe if (face := _face(self.words, card)) is not None]),
            notes=tuple(_notes(zone.kind.counters, zone.counters, self.words)),
            worth=self._worth(zone, faces),
            is_still=self._is_still(zone, style),
            is_secret=self._is_secret(zone),
        )

    def _seen(self, zone: ZoneView, faces: Sequence[int], drawn: int, came: Multiset[int]) -> list[CardShown]:
        """List the cards in order, with at most `drawn` face-down ones."""
        copies = Multiset(faces)
        met: Multiset[int] = Multiset()
        cards = []
        for place, card in enumerate(faces):
            if card == FACE_DOWN and met[card] >= drawn:
                continue
            number = met[card]
            met[card] += 1
            is_new = copies[card] - number <= came[card]
            cards.append(
                CardShown(
                    key=f"z{zone.number}-{card}-{number}",
                    face=_face(self.words, card),
                    came_from=self._origin(zone.number, card) if is_new else None,
                    notes=tuple(self._columns(zone, place, card, False)),
                    more=tuple(self._columns(zone, place, card, True)),
                )
            )
        return cards

    def _origin(self, zone: int, card: int) -> int | None:
        return next((origin for face, origin in self.came.get(zone, ()) if face == card and origin != zone), None)

    def _columns(self, zone: ZoneView, place: int, card: int, is_small: bool) -> list[str]:
        if not zone.columns:
            return []
        values = [column[place] for column in zone.columns]
        return [
            note
            for kind, value in zip(zone.kind.columns, values, strict=True)
            if not (kind.unit is Unit.CARD and value == card) and (kind.name in self.layout.small) is is_small
            for note in _notes((kind,), (value,), self.words)
        ]

    def _worth(self, zone: ZoneView, faces: Sequence[int]) -> str:
        kind = zone.kind.name
        if kind in self.layout.points:
            return str(self.layout.points[kind])
        if kind in self.layout.points_a_card:
            return str(zone.size)
        if kind not in self.layout.worth or FACE_DOWN in faces or not faces:
            return ""
        worth = sum(self.values[card] for card in faces)
        return f"${_short_money(worth)}" if self.layout.is_money else language().number(worth)

    def _is_still(self, zone: ZoneView, style: str) -> bool:
        if zone.owner == TABLE or zone.number in self.touched or not zone.size:
            return False
        return zone.kind.many or zone.kind.name in self.layout.badges or style == "stack"

    def _is_secret(self, zone: ZoneView) -> bool:
        seen = self.public.get(zone.number)
        return seen is not None and bool(zone.cards) and seen.cards != zone.cards


def _title(zone: ZoneView, words: Words) -> str:
    title = words.zones[zone.kind.number - 1].title
    return f"{title} {zone.number}" if zone.kind.many else title


@cache
def _face_of(words: Words, card: int) -> Face:
    kind = words.cards[card - 1]
    layout = layout_of(words.game)
    return Face(
        name=kind.name,
        title=kind.title,
        text=kind.text,
        sort=kind.sort,
        index=_index(layout, kind.traits.get("number"), kind.value, kind.title),
        tone=layout.tone(kind),
        emblem=layout.emblem(kind),
        marks=tuple([mark for mark in layout.marks for _ in range(kind.traits.get(mark, 0))]),
        is_plain=layout.index is Unit.COUNT,
    )


def _face(words: Words, card: int) -> Face | None:
    return None if card == FACE_DOWN else _face_of(words, card)


def _index(layout: Layout, number: int | None, value: int, title: str) -> str:
    """Return the text in the corner of a card."""
    if layout.index is Unit.COUNT:
        return str(number) if number else ""
    if layout.index is None:
        return "".join([word[0] for word in re.findall(r"\w+", title)][:3]).upper()
    if not value:
        return ""
    return _short_money(value) if layout.index is Unit.MONEY else str(value)


def _short_money(value: int) -> str:
    """Format an amount for the small corner of a card or a badge: 50000 as "50k", 1350000 as "1.35M"."""
    if value >= 1_000_000 and value % 10_000 == 0:
        return f"{value / 1_000_000:g}M"
    return f"{value // 1000}k" if value % 1000 == 0 else str(value)


# -- numbers
def _amount(value: int, unit: Unit) -> str:
    number = language().number(abs(value))
    sign = "-" if value < 0 else ""
    return f"{sign}${number}" if unit is Unit.MONEY else f"{sign}{number}"


def _notes(kinds: Sequence[Counter], values: Sequence[int], words: Words) -> list[str]:
    """Describe the numbers on a card or zone, such as "markers 2", "locked", "counts as Hideout"; leave out zeros."""
    notes = []
    for kind, value in zip(kinds, values, strict=True):
        if not value:
            continue
        name = counter_title(kind.name, words)
        if kind.unit is Unit.FLAG:
            notes.append(name)
        elif kind.unit is Unit.CARD:
            notes.append(f"{name} {words.cards[value - 1].title}")
        else:
            notes.append(f"{name} {_amount(value, kind.unit)}")
    return notes


def _table_numbers(view: View) -> tuple[Number, ...]:
    words, silent = spoken(view.rules.words), _silent(view)
    return tuple(
        [
            Number(counter_title(kind.name, words), kind.text, _amount(value, kind.unit), False)
            for kind, value in zip(words.table_counters, view.counters, strict=True)
            if value and kind.unit is not Unit.SEAT and kind.name not in silent
        ]
    )


def _seat_numbers(view: View, seat: int, worth: Worth | None) -> tuple[Number, ...]:
    """List the numbers of a seat that say something: not 0, not the same flag for all, and not its worth again."""
    words, silent = spoken(view.rules.words), _silent(view)
    numbers = []
    for kind, values in zip(words.seat_counters, view.seat_counters, strict=True):
        is_main = kind.unit in (Unit.MONEY, Unit.POINTS)
        value = values[seat]
        is_everyones = kind.unit is Unit.FLAG and all(values)
        is_worth = is_main and worth is not None and value == worth.value
        if value and kind.name not in silent and not is_everyones and not is_worth:
            shown = "" if kind.unit is Unit.FLAG else _amount(value, kind.unit)
            numbers.append(Number(counter_title(kind.name, words), kind.text, shown, is_main))
    return tuple(numbers)


def _silent(view: View) -> frozenset[str]:
    """Return the counters that say nothing in this match."""
    layout = layout_of(view.rules.words.game)
    return layout.silent if "mode" in view.settings.changed() else layout.silent | layout.of_series


def _badges(view: View) -> dict[int, list[str]]:
    """Return the roles of the seats by seat, such as dealer or first player."""
    badges: dict[int, list[str]] = {}
    words = spoken(view.rules.words)
    for kind, value in zip(words.table_counters, view.counters, strict=True):
        if kind.unit is Unit.SEAT and value:
            badges.setdefault(value - 1, []).append(counter_title(kind.name, words))
    return badges
