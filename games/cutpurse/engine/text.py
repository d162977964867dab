"""Options, events and cards as sentences, from the vocabulary of the game.

    >>> from cutpurse.games import GAMES
    >>> game = GAMES["greed"].new(seats=3)
    >>> option_text(game, game.options(game.waiting()[0])[0])
    'play 1 with two for three'

This module knows no game; a place to look zones up is handed in: a `Game` or `View` for what may be done or is under
way, `ZoneHistory.at(number)` for an event, whose sentence names owners as they were when it happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Protocol

from cutpurse.engine.agenda import Act
from cutpurse.engine.events import Asked, Counted, Event, Happened, Moved, Placed, Scored, Shown, Shuffled
from cutpurse.engine.words import FACE_DOWN, Words, ZoneKind
from cutpurse.engine.zones import TABLE

__all__ = ["act_text", "answer_text", "cards_text", "event_text", "option_text", "zone_text"]


def answer_text(answer: object) -> str:
    """Format what a bot has answered, which may be anything, in at most 200 characters of one line."""
    try:
        return " ".join(f"{answer!r:.200}".split())
    except Exception:  # its own code, or a number of more than 4,300 digits
        return f"something ({type(answer).__name__}) that cannot be shown"


class _Zone(Protocol):
    @property
    def kind(self) -> ZoneKind: ...
    @property
    def owner(self) -> int: ...


class _ZoneLookup(Protocol):
    """Where zones are looked up by number: a game, a view, or the table at an event."""

    def zone(self, number: int) -> _Zone: ...


def _words(table: _ZoneLookup) -> Words:
    source: Any = getattr(table, "rules", table)  # a view names its game; the others have the words themselves
    words: Words = source.words
    return words


def cards_text(words: Words, cards: Iterable[int]) -> str:
    """Count cards by title, in the order first met: "2 x Copper Wire, Gold Bar, a card face down"."""
    counts = Counter(cards)
    parts = []
    for card, copies in counts.items():
        title = words.cards[card - 1].title if card != FACE_DOWN else "card face down"
        parts.append(title if copies == 1 else f"{copies} x {title}")
    return ", ".join(parts) or "nothing"


def zone_text(table: _ZoneLookup, number: int) -> str:
    """Name a zone by its title, owner and, if there can be many, number: "pack 14 of seat 2"."""
    if number == 0:
        return "the box"
    try:
        zone = table.zone(number)
    except KeyError:
        return f"zone {number}, which is gone"
    title = f"{zone.kind.title} {number}" if zone.kind.many else zone.kind.title
    return title if zone.owner == TABLE else f"{title} of seat {zone.owner}"


def _title_of_gone(table: _ZoneLookup, number: int) -> str:
    try:
        table.zone(number)
    except KeyError:  # a game or view does not have it any more
        return f"zone {number}"
    return zone_text(table, number)


def option_text(table: _ZoneLookup, option: Act) -> str:
    """Format an option as it is offered: "attack pack 14 of seat 2 with Gold Bar". Copies differ by their place."""
    words = _words(table)
    verb = words.verbs[option.verb - 1]
    text = _fill(table, verb.option_text or verb.text, option)
    return text + "".join(f" (place {place})" for place in option.places)


def act_text(table: _ZoneLookup, act: Act) -> str:
    """Describe what a seat or the rules did, or are about to do: "seat 1 raids the hand of seat 2"."""
    return _fill(table, _words(table).verbs[act.verb - 1].text, act)


def _fill(table: _ZoneLookup, sentence: str, act: Act) -> str:
    return sentence.format(
        actor="the table" if act.actor is None else f"seat {act.actor}",
        seat="nobody" if act.seat is None else f"seat {act.seat}",
        zone=zone_text(table, act.zone),
        cards=cards_text(_words(table), act.cards),
        number=f"{act.number:,}",
    )


def event_text(table: _ZoneLookup, event: Event) -> str:
    """Describe an event in a sentence; `table` is the one at the event (see `ZoneHistory`)."""
    words = _words(table)
    match event:
        case Happened(act=act):
            return act_text(table, act)
        case Moved(from_zone=src, to_zone=dst, cards=cards):
            return f"{cards_text(words, cards)}: from {zone_text(table, src)} to {zone_text(table, dst)}"
        case Shown(zone=zone, seats=seats, cards=cards):
            who = ", ".join(f"seat {seat}" for seat in seats) or "everybody"
            return f"{who} sees {zone_text(table, zone)}: {cards_text(words, cards)}"
        case Shuffled(zone=zone):
            return f"{zone_text(table, zone)} is shuffled"
        case Counted(counter=counter, value=value, seat=seat, zone=number):
            whose = f" of seat {seat}" if seat is not None else f" of {zone_text(table, number)}" if number else ""
            return f"{counter}{whose} is {value:,}"
        case Placed(zone=zone, kind=kind, seat=seat):
            if kind == 0:
                return f"{_title_of_gone(table, zone)} is gone"
            return f"{words.zones[kind - 1].title} {zone} lies before seat {seat}"
        case Asked(ask=ask, seats=seats):
            return f"asked {ask}: {', '.join(f'seat {seat}' for seat in seats)}"
        case Scored(over=over, scores=scores):
            return f"{'the end' if over else 'counted up'}: {', '.join(f'{score:,}' for score in scores)}"
