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
        title = words.cards[card - 1].title if card != FACE_DOWN else words.sentences.face_down
        parts.append(title if copies == 1 else words.sentences.copies.format(number=copies, title=title))
    return ", ".join(parts) or words.sentences.nothing


def zone_text(table: _ZoneLookup, number: int, words: Words | None = None) -> str:
    """Name a zone by its title, owner and, if there can be many, number: "pack 14 of seat 2".

    Args:
        table: Where the zone is looked up.
        number: Its number; 0 is the box.
        words: The words to use, such as translated ones. Default: those of the game, in English.
    """
    words = words or _words(table)
    if number == 0:
        return words.sentences.box
    try:
        zone = table.zone(number)
    except KeyError:
        return words.sentences.zone_is_gone.format(zone=number)
    kind = words.zones[zone.kind.number - 1]
    title = f"{kind.title} {number}" if kind.many else kind.title
    return title if zone.owner == TABLE else words.sentences.owned.format(title=title, owner=_seat(words, zone.owner))


def _seat(words: Words, seat: int) -> str:
    return words.sentences.seat.format(seat=seat)


def _seats(words: Words, seats: Iterable[int]) -> str:
    return ", ".join([_seat(words, seat) for seat in seats])


def _number(words: Words, value: int) -> str:
    return f"{value:,}".replace(",", words.sentences.thousands)


def _title_of_gone(table: _ZoneLookup, number: int, words: Words) -> str:
    try:
        table.zone(number)
    except KeyError:  # a game or view does not have it any more
        return words.sentences.gone_zone.format(zone=number)
    return zone_text(table, number, words)


def option_text(table: _ZoneLookup, option: Act, words: Words | None = None) -> str:
    """Format an option as it is offered: "attack pack 14 of seat 2 with Gold Bar". Copies differ by their place.

    Args:
        table: Where zones are looked up.
        option: The option.
        words: The words to use, such as translated ones. Default: those of the game, in English.
    """
    words = words or _words(table)
    verb = words.verbs[option.verb - 1]
    text = _fill(table, verb.option_text or verb.text, option, words)
    return text + "".join([words.sentences.place.format(place=place) for place in option.places])


def act_text(table: _ZoneLookup, act: Act, words: Words | None = None) -> str:
    """Describe what a seat or the rules did, or are about to do: "seat 1 raids the hand of seat 2".

    Args:
        table: Where zones are looked up.
        act: The act.
        words: The words to use, such as translated ones. Default: those of the game, in English.
    """
    words = words or _words(table)
    return _fill(table, words.verbs[act.verb - 1].text, act, words)


def _fill(table: _ZoneLookup, sentence: str, act: Act, words: Words) -> str:
    return sentence.format(
        actor=words.sentences.table if act.actor is None else _seat(words, act.actor),
        seat=words.sentences.nobody if act.seat is None else _seat(words, act.seat),
        zone=zone_text(table, act.zone, words),
        cards=cards_text(words, act.cards),
        number=_number(words, act.number),
    )


def event_text(table: _ZoneLookup, event: Event, words: Words | None = None) -> str:
    """Describe an event in a sentence.

    Args:
        table: The table at the event (see `ZoneHistory`).
        event: The event.
        words: The words to use, such as translated ones. Default: those of the game, in English.
    """
    words = words or _words(table)
    sentences = words.sentences
    match event:
        case Happened(act=act):
            return act_text(table, act, words)
        case Moved(from_zone=src, to_zone=dst, cards=cards):
            source, target = zone_text(table, src, words), zone_text(table, dst, words)
            return sentences.moved.format(cards=cards_text(words, cards), source=source, target=target)
        case Shown(zone=zone, seats=seats, cards=cards):
            who = _seats(words, seats) or sentences.everybody
            return sentences.shown.format(seats=who, zone=zone_text(table, zone, words), cards=cards_text(words, cards))
        case Shuffled(zone=zone):
            return sentences.shuffled.format(zone=zone_text(table, zone, words))
        case Counted(counter=counter, value=value, seat=seat, zone=number):
            title, count = words.counter_titles.get(counter) or counter.replace("_", " "), _number(words, value)
            if seat is None and not number:
                return sentences.counted.format(counter=title, value=count)
            owner = _seat(words, seat) if seat is not None else zone_text(table, number or 0, words)
            return sentences.counted_of.format(counter=title, owner=owner, value=count)
        case Placed(zone=zone, kind=kind, seat=seat):
            if kind == 0:
                return sentences.removed.format(zone=_title_of_gone(table, zone, words))
            return sentences.placed.format(zone=f"{words.zones[kind - 1].title} {zone}", seat=_seat(words, seat))
        case Asked(ask=ask, seats=seats):
            return sentences.asked.format(question=ask, seats=_seats(words, seats))
        case Scored(over=over, scores=scores):
            counts = ", ".join([_number(words, score) for score in scores])
            return (sentences.ended if over else sentences.scored).format(scores=counts)
