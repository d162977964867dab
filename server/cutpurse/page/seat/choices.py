"""The options of a decision for people: what a sentence names is lit on the table, and all are in a list by verb.

An option has parts: a card that is played, a zone or a seat that it is aimed at. Each part names the elements of the
table that stand for it, so that a click on them chooses among the options. This module knows no HTML and no network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from cutpurse.engine.agenda import Option
from cutpurse.engine.text import option_text, zone_text
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN, Visibility, Words
from cutpurse.page.language.game_words import spoken
from cutpurse.page.language.second_person import addressed
from cutpurse.page.language.speaking import language
from cutpurse.page.match_view.frames import CardShown, Face, Frame, ZoneShown

__all__ = ["ChoiceRow", "OfferedOption", "offered_options", "rows_of", "split_hands"]

# Verbs about cards that lie open, although an equal card may be in the hand.
LAID: Final = frozenset({"swap", "give_up", "lose", "put_markers", "copy"})
VERB_LAST: Final = frozenset({"de"})  # languages in which an option ends with its verb
# Words with which the rest of an option begins, such as "attack | the open pack of seat 2".
_TAILS: Final = {"en": r" (?:the|out of|of|with|on|from|into|against|to)\b", "pl": r" (?:na|z|do)\b"}
_GAP: Final = re.compile(r"\{\w+\}")
_OF_A_SEAT: Final = re.compile(r"\{cards\} (?:from|of) .*\{seat\}|\{cards\} of \{seat\}")


@dataclass(frozen=True, slots=True)
class OfferedOption:
    """An option of the open decision."""

    index: int  # its index, which is the answer
    text: str  # the sentence
    verb: str  # what is done, in a word or two
    where: str  # at which zone or seat; empty for none
    label: str  # the cards in short; without cards, what tells it apart from others of its verb
    count: int  # number of its cards
    # elements of the table by part: "k:KEY" for a card, "z:NUMBER" for a zone, "s:SEAT"
    parts: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class ChoiceRow:
    """The options of a verb at one place; `is_first` if the row before has another verb."""

    verb: str
    where: str
    options: tuple[OfferedOption, ...]
    is_first: bool


def split_hands(view: View, frame: Frame) -> tuple[list[ZoneShown], Frame]:
    """Take the viewer's hands out of a frame: they lie before the person, and not among what is on the table."""
    numbers = _hand_zones(view)
    hands: list[ZoneShown] = []
    seats = []
    for seat in frame.seats:
        if seat.is_viewer:
            hands += [zone for zone in seat.zones if zone.number in numbers]
            seat = replace(seat, zones=tuple([zone for zone in seat.zones if zone.number not in numbers]))
        seats.append(seat)
    return hands, replace(frame, seats=tuple(seats))


def _hand_zones(view: View) -> frozenset[int]:
    """Return the viewer's zones that only they see: the cards in hand."""
    return frozenset(
        zone.number
        for zone in view.zones
        if zone.owner == view.viewer and zone.kind.visibility is Visibility.OWNER and not zone.kind.many
    )


def offered_options(view: View, options: Sequence[Option], frame: Frame) -> list[OfferedOption]:
    """Describe the options of a decision, at the table of a frame of the same moment."""
    words = spoken(view.rules.words)
    labels = _Labels(frame, words, [card for option in options for card in option.cards])
    parts = _Parts(view, frame)
    said = partial(addressed, seat=view.viewer or 0, words=view.rules.words)
    return [
        OfferedOption(
            index,
            said(option_text(view, option, words)),
            _verb(words, option),
            said(_where(view, option, words)) if option.cards else "",
            labels.of(option.cards) or said(_where(view, option, words) or option_text(view, option, words)),
            len(option.cards),
            parts.of(option),
        )
        for index, option in enumerate(options)
    ]


def rows_of(options: Iterable[OfferedOption]) -> list[ChoiceRow]:
    """Group options by verb and place, in the order in which these come first."""
    verbs: dict[str, dict[str, list[OfferedOption]]] = {}
    for option in options:
        verbs.setdefault(option.verb, {}).setdefault(option.where, []).append(option)
    return [
        ChoiceRow(verb, where, tuple(several), number == 0)
        for verb, places in verbs.items()
        for number, (where, several) in enumerate(places.items())
    ]


def _verb(words: Words, option: Option) -> str:
    """Return what is done in a word or two: what is said before the first gap, or in German after the last."""
    clause = words.verbs[option.verb - 1].option_text.partition(":")[0]
    pieces = [piece for text in _GAP.split(clause) if (piece := text.strip(" $(),"))]
    if not pieces:
        return clause
    tag = language().tag
    return pieces[-1] if tag in VERB_LAST else re.split(_TAILS.get(tag, "$^"), pieces[0], maxsplit=1)[0]


def _where(view: View, option: Option, words: Words) -> str:
    if option.zone:
        return zone_text(view, option.zone, words)
    return words.sentences.seat.format(seat=option.seat) if option.seat is not None else ""


class _Labels:
    """The cards of options in short: their number where it says all, else their title."""

    def __init__(self, frame: Frame, words: Words, cards: Iterable[int]) -> None:
        self._words = words
        faces = {card.face.name: card.face for zone in _zones(frame) for card in zone.cards if card.face is not None}
        named = [words.cards[card - 1].name for card in set(cards) if card != FACE_DOWN]
        offered = [faces[name] for name in named if name in faces]
        self._short = {face.name: face.index for face in offered if _is_alone(face, offered)}

    def of(self, cards: Iterable[int]) -> str:
        """Return the label of some cards."""
        kinds = [self._words.cards[card - 1] for card in cards if card != FACE_DOWN]
        return " + ".join([self._short.get(kind.name) or kind.title for kind in kinds])


def _is_alone(face: Face, offered: Iterable[Face]) -> bool:
    """Return whether no other face has its number."""
    return face.is_plain and [other.index for other in offered].count(face.index) == 1


class _Parts:
    """The elements of a table that stand for the parts of options."""

    def __init__(self, view: View, frame: Frame) -> None:
        self._view = view
        self._words = view.rules.words
        hands = _hand_zones(view)
        own = [zone for seat in frame.seats if seat.is_viewer for zone in seat.zones]
        self._hand = [zone for zone in own if zone.number in hands]
        self._laid = [zone for zone in own if zone.number not in hands]
        self._seats = {seat.seat: seat.zones for seat in frame.seats}
        self._all = list(_zones(frame))

    def of(self, option: Option) -> tuple[tuple[str, ...], ...]:
        """Return the elements of an option by part."""
        verb = self._words.verbs[option.verb - 1]
        sources: list[Sequence[ZoneShown]]
        takes = option.seat is not None and bool(_OF_A_SEAT.search(verb.option_text))
        if takes:
            sources = [self._seats[option.seat or 0]]
        elif verb.name in LAID:
            sources = [self._laid, self._all]
        else:
            sources = [self._hand, self._laid, self._all]
        parts = [self._copies(option)] if option.places else [self._keys(card, sources) for card in _kinds(option)]
        parts = [part for part in parts if part]
        if option.zone:
            parts.append((f"z:{option.zone}",))
        elif option.seat is not None and not (takes and parts):
            parts.append((f"s:{option.seat}",))
        return tuple(parts)

    def _keys(self, card: int, sources: Iterable[Iterable[ZoneShown]]) -> tuple[str, ...]:
        """Return the cards of a kind in the first of the sources that has any."""
        name = self._words.cards[card - 1].name
        for zones in sources:
            if keys := [f"k:{one.key}" for zone in zones for one in zone.cards if _is_named(one, name)]:
                return tuple(keys)
        return ()

    def _copies(self, option: Option) -> tuple[str, ...]:
        """Return the very cards of an option about one of several equal cards."""
        shape = self._words.shapes.get(option.verb)
        kind = shape.copies if shape is not None else ""
        zones = [zone for zone in self._view.zones if zone.owner == self._view.viewer and zone.kind.name == kind]
        return tuple(
            [
                f"k:z{zone.number}-{zone.cards[place]}-{zone.cards[:place].count(zone.cards[place])}"
                for zone in zones
                for place in option.places
                if place < len(zone.cards)
            ]
        )


def _kinds(option: Option) -> list[int]:
    return [card for card in dict.fromkeys(option.cards) if card != FACE_DOWN]


def _is_named(card: CardShown, name: str) -> bool:
    return card.face is not None and card.face.name == name


def _zones(frame: Frame) -> Iterable[ZoneShown]:
    return [*(zone for seat in frame.seats for zone in seat.zones), *frame.zones]
