"""Frames: what one viewer may see at one moment, as plain data to draw.

A frame is made from an engine `View`, the events redacted for its viewer, and the words of the game. So it has nothing
that the viewer may not see, and works for every game. `whole_view` is for finished boards: it also shows the cards of
all seats. This module knows no HTML, no clock and no network.
"""

from __future__ import annotations

import re
from collections import Counter as Multiset
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from cutpurse.engine.agenda import Choice, Question
from cutpurse.engine.events import Asked, Event, Happened, Moved
from cutpurse.engine.game import Game
from cutpurse.engine.history import PastTable, ZoneHistory
from cutpurse.engine.match import MatchResult
from cutpurse.engine.text import act_text
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN, Counter, Unit, Words
from cutpurse.engine.zones import TABLE, ZoneView
from cutpurse.page.language.game_words import counter_title, spoken, word
from cutpurse.page.language.speaking import language
from cutpurse.page.match_view.end_causes import end_cause_text
from cutpurse.page.match_view.event_text import EventLine, came_by, told_lines
from cutpurse.page.match_view.layouts import Layout, layout_of
from cutpurse.page.match_view.seat_names import short_names
from cutpurse.page.match_view.seat_worth import Worth, goal_text, leaders, seat_worth
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
    "face_of",
    "frame",
    "result_marks",
    "seats_view",
    "whole_events",
    "whole_view",
]

MOST_BACKS: Final = 14  # face-down cards drawn one by one; of more, only the number is shown
PASSED_ON: Final = frozenset({"pile", "draft"})  # zones of Szmal whose cards go from neighbour to neighbour
NAME: Final = 100  # maximum characters of a bot's name


@dataclass(frozen=True, slots=True)
class Face:
    """The drawing of a card's face."""

    name: str  # name of the card
    title: str  # name for people
    text: str  # what it does, for people
    sort: str  # sort of card
    index: str  # text in its corner: a number or value, or the initials of a card that people know by name
    tone: str  # name of its colour
    emblem: str  # name of its symbol; empty if it has none
    marks: tuple[str, ...]  # names of the symbols that it shows
    is_plain: bool  # whether the index identifies the card
    is_named: bool  # whether people know it by its name, so that this is written on it


@dataclass(frozen=True, slots=True)
class CardShown:
    """A card in a frame."""

    key: str  # key that stays the same in the next frame if the card does not move
    face: Face | None  # its face; None if the viewer can't identify it
    came_from: int | None = None  # zone in which it lay before the frame's events, if it moved
    is_known: bool = False  # whether it is face down, but the viewer knows that it is in the zone
    notes: tuple[str, ...] = ()  # numbers that lie on it
    more: tuple[str, ...] = ()  # less important numbers that lie on it


@dataclass(frozen=True, slots=True)
class ZoneShown:
    """A zone in a frame."""

    number: int  # number of the zone in the match
    kind: str  # name of its kind
    title: str  # name for people
    text: str  # description for people
    style: str  # name of its drawing, see `Layout.style`
    is_made: bool  # whether it was made in play, such as a pack or a set
    size: int  # number of its cards
    cards: tuple[CardShown, ...]  # cards drawn one by one
    columns: tuple[tuple[str, tuple[CardShown, ...]], ...]  # for a rack, its cards by number, each number of the game
    backs: int  # number of face-down cards that are not drawn one by one
    maybe: tuple[Face, ...]  # faces that may be among the face-down cards
    notes: tuple[str, ...]  # numbers that lie on the zone, without those that have a sign
    icons: tuple[tuple[str, str], ...]  # symbols that stand for its name and its numbers, each with the words
    worth: str  # total value of its cards; empty if it is unknown or does not matter
    is_secret: bool  # whether the viewer sees cards here that spectators do not see
    # seat that lost the zone or a card of it to the zone's owner since the moment before, if one did
    robbed: int | None

    @property
    def is_closed(self) -> bool:
        """Whether the viewer sees none of its cards; some may be known."""
        return all(card.face is None or card.is_known for card in self.cards)


@dataclass(frozen=True, slots=True)
class SeatMarks:
    """The facts about a seat that are not on the table: faults, thinking time, and at the end place and score."""

    faults: int = 0
    thinking_ms: int | None = None
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
    """A seat in a frame, with its zones."""

    seat: int  # number of the seat
    name: str  # name of its bot, with the owner
    short: str  # shortest name that tells it from the others
    worth: Worth | None  # what it is worth now; None if the game has no function for it
    is_leading: bool  # whether no seat is worth more, and some are worth less
    is_viewer: bool  # whether it is the viewer's
    is_asked: bool  # whether it is asked
    is_acting: bool  # whether it acted last
    badges: tuple[str, ...]  # its roles, such as dealer
    numbers: tuple[Number, ...]  # its other numbers
    zones: tuple[ZoneShown, ...]  # its zones
    # symbols, each with its name and how often the seat's name tags show it; empty in games without
    tally: tuple[tuple[str, str, int], ...]
    marks: SeatMarks  # facts that are not on the table


@dataclass(frozen=True, slots=True)
class Frame:
    """All that one viewer may see at one moment."""

    game: str  # name of the game
    title: str  # title of the game
    viewer: int | None  # seat of the viewer; None for a spectator
    names: tuple[str, ...]  # short names by seat
    numbers: tuple[Number, ...]  # numbers of the table
    zones: tuple[ZoneShown, ...]  # zones of the table
    seats: tuple[SeatShown, ...]  # seats clockwise, the viewer's last
    pending: tuple[str, ...]  # actions that are announced and not finished, in words
    question: str  # text of the current question; empty if there is none
    rule: str  # number of the question's rule
    asked: tuple[int, ...]  # seats that are asked
    lines: tuple[EventLine, ...]  # lines about the frame's events
    is_over: bool  # whether the match is finished
    goal: str  # what wins the game, in a sentence; empty for an unknown game

    @property
    def caption(self) -> EventLine | None:
        """The line of the last action."""
        return next((line for line in reversed(self.lines) if line.weight == "act"), None)


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
    lines = told_lines(view, events, first_event, history)
    is_steal = history is not None and any(line.is_steal for line in lines)
    before = history.at(first_event - 1) if is_steal and history is not None else None
    drawing = _Zones(view, layout, came_by(events), public, before)
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
                    tally=_tally(view, layout, seat),
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
        goal=goal_text(view),
    )


def result_marks(result: MatchResult | None) -> dict[int, SeatMarks]:
    """Return how each seat ended its match; of a void one no place and no score, and nothing without a result."""
    if result is None:
        return {}
    return {
        seat: SeatMarks(
            place=result.places[seat] if result.places else None,
            score=result.scores[seat] if result.scores else None,
            end_cause=end_cause_text(cause),
        )
        for seat, cause in enumerate(result.end_causes)
    }


# -- zones and cards
class _Zones:
    """The conversion of one view's zones to drawable ones."""

    def __init__(
        self,
        view: View,
        layout: Layout,
        came: Mapping[int, list[tuple[int, int]]],
        public: View | None,
        before: PastTable | None,
    ) -> None:
        self.view = view
        self.layout = layout
        self.came = came
        self.before = before  # the table before a steal
        self.words = spoken(view.rules.words)
        self.made = {kind.name for kind in self.words.zones if kind.many}
        self.values = view.rules.values(view.settings) if layout.worth else []
        self.public = {zone.number: zone for zone in public.zones} if public else {}

    def of(self, owner: int) -> tuple[ZoneShown, ...]:
        """List the zones of a seat or the table; empty ones only if they are fans, racks or the table's stacks."""
        zones = [self.shown(zone) for zone in self.view.zones if zone.owner == owner]
        empty = ("stack",) if owner == TABLE else ("fan", "rack")
        return tuple([zone for zone in zones if zone.size or (zone.style in empty and zone.kind not in self.made)])

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
            columns=self._racked(cards) if style == "rack" else (),
            backs=hidden - drawn,
            maybe=tuple([face for card in zone.maybe if (face := _face(self.words, card)) is not None]),
            notes=tuple(_notes(*self._unsigned(zone), self.words)),
            icons=tuple(self._icons(zone)),
            worth=self._worth(zone, faces),
            is_secret=self._is_secret(zone),
            robbed=self._robbed(zone),
        )

    def _racked(self, cards: Sequence[CardShown]) -> tuple[tuple[str, tuple[CardShown, ...]], ...]:
        """Sort cards into a column for each number of the game; a card without a number gets one of its own."""
        numbers = sorted({card.traits.get("number", 0) for card in self.words.cards} - {0})
        columns: dict[str, list[CardShown]] = {str(number): [] for number in numbers}
        for card in cards:
            columns.setdefault(card.face.index if card.face else "", []).append(card)
        return tuple([(index, tuple(column)) for index, column in columns.items()])

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

    def _unsigned(self, zone: ZoneView) -> tuple[list[Counter], list[int]]:
        pairs = zip(zone.kind.counters, zone.counters, strict=True)
        kept = [(kind, value) for kind, value in pairs if kind.name not in self.layout.icons]
        return [kind for kind, _ in kept], [value for _, value in kept]

    def _icons(self, zone: ZoneView) -> Iterator[tuple[str, str]]:
        icons = self.layout.icons
        if zone.kind.name in icons:
            yield icons[zone.kind.name], self.words.zones[zone.kind.number - 1].title
        for kind, value in zip(zone.kind.counters, zone.counters, strict=True):
            if kind.name in icons and value:
                yield icons[kind.name], _notes((kind,), (value,), self.words)[0]

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

    def _robbed(self, zone: ZoneView) -> int | None:
        """Return the seat from which a steal brought the zone or a card of it to its owner."""
        if self.before is None or zone.owner == TABLE or zone.kind.name in PASSED_ON:
            return None
        for number in (zone.number, *[came_from for _, came_from in self.came.get(zone.number, ())]):
            try:
                owner = self.before.zone(number).owner
            except KeyError:  # the box, or a zone that was made since
                continue
            if owner not in (TABLE, zone.owner):
                return owner
        return None

    def _is_secret(self, zone: ZoneView) -> bool:
        seen = self.public.get(zone.number)
        return seen is not None and bool(zone.cards) and seen.cards != zone.cards


def _title(zone: ZoneView, words: Words) -> str:
    title = words.zones[zone.kind.number - 1].title
    return f"{title} {zone.number}" if zone.kind.many else title


@cache
def face_of(words: Words, card: int) -> Face:
    """Return the drawing of a card's face, by the card's number."""
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
        is_named=layout.index is None,
    )


def _face(words: Words, card: int) -> Face | None:
    return None if card == FACE_DOWN else face_of(words, card)


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
            amount = "" if kind.unit is Unit.FLAG else _amount(value, kind.unit)
            numbers.append(Number(counter_title(kind.name, words), kind.text, amount, is_main))
    return tuple(numbers)


def _tally(view: View, layout: Layout, seat: int) -> tuple[tuple[str, str, int], ...]:
    """Count the symbols of a seat's name tags; a card that counts as another shows what is printed on that one."""
    zones = [zone for zone in view.zones if zone.owner == seat and layout.drawings.get(zone.kind.name) == "territory"]
    if not zones:
        return ()
    counts = Multiset(dict.fromkeys(layout.marks, 0))
    for zone in zones:
        columns = dict(zip(zone.kind.columns, zone.columns, strict=False))
        shown = next((column for kind, column in columns.items() if kind.unit is Unit.CARD), zone.cards)
        for card in shown:
            counts += Multiset(face_of(view.rules.words, card).marks)
        for kind, column in columns.items():
            counts += Multiset(dict.fromkeys(layout.shows.get(kind.name, ()), sum(column)))
    game = view.rules.words.game
    return tuple([(mark, word(mark, game), counts[mark]) for mark in layout.marks])


def _silent(view: View) -> frozenset[str]:
    """Return the counters that say nothing in this match."""
    layout = layout_of(view.rules.words.game)
    return layout.silent if "mode" in view.settings.changed() else layout.silent | layout.of_series


def _badges(view: View) -> dict[int, list[str]]:
    """Return the roles of the seats by seat, such as dealer or first player."""
    badges: dict[int, list[str]] = {}
    words = spoken(view.rules.words)
    for kind, value in zip(words.table_counters, view.counters, strict=True):
        if kind.unit is Unit.SEAT and value and kind.name != "turn_of":  # who is asked has a ring already
            badges.setdefault(value - 1, []).append(counter_title(kind.name, words))
    return badges
