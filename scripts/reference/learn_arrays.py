"""The sections of the learning page about one game each: what every number of an option, plane and number means."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any, Final

from cutpurse.engine.game import Game
from cutpurse.engine.knowledge_level import PROOF
from cutpurse.engine.words import Counter, Unit, Visibility, ZoneKind
from cutpurse.learn.action_numbers import ActionNumbers
from cutpurse.learn.planes import Planes
from cutpurse.learn.space import Space
from cutpurse.learn.span import Span
from cutpurse.learn.view_numbers import ACTS, FIELDS, STEPS, ViewNumbers
from scripts.reference.page_parts import code, sentence, table

__all__ = ["BLOCK_PARTS", "FEATURES", "HISTORY", "NUMBERS", "ROWS", "game_section", "meanings"]

BLOCK_PARTS: Final = {
    "size": "number of cards, also where nobody sees them; 255 at most, as every plane",
    "a counter": "a number on the zone, by its name: see the game",
    "seen": "by face, how many lie there open to you",
    "top": "by face, 1 for the card on top if you see it; only where the order counts",
    "a column": "by face, a number on each card, added up: see the game",
    "known": "by face, how many hidden cards certainly are of it, as far as `knowledge` goes",
    "maybe": 'by face, how many more there can be; only with `knowledge="proof"`',
    "count": "beyond the slots: how many further zones there are, and in `seen` their open cards together",
}
NUMBERS: Final = {
    "step": "number of the step, see the game; 0: none",
    "seat": "seat that the step asks or concerns",
    "field 1": f"to `field {FIELDS}`: what else the step holds, see the game",
    "verb": "number of the verb, see the game; 0: none",
    "actor": "seat that acts",
    "seat of an act": "seat that it is done to",
    "zone": "number of the block of the zone in the planes, from 1, in their order; slots count each",
    "number": "the number in the sentence of the verb",
    "cards": "number of cards",
    "card 1": "and `card 2`: the first two faces; 0: face down, or none",
}
HISTORY: Final = {
    "kind": "1 something happened (a verb), 2 cards moved, 3 shown, 4 shuffled, 5 a counter changed, 6 a zone was "
    "placed, 7 a question was asked, 8 scores; 0 for a row before the first event",
    "what": "number of the verb, the counter (of the table, the seats, zones and columns, in their order) or the step; "
    "of scores 1 if the match is over",
    "actor": "seat that acted",
    "seat": "seat that it was done to, that was shown or asked first, or whose counter it is",
    "card": "the first face; 0: face down, or none",
    "from zone": "kind of the zone that cards came from; 0: none",
    "from owner": "its owner at that time",
    "zone": "kind of the zone that it is about; 0: none",
    "owner": "its owner at that time",
    "number": "the number in the sentence, how many cards or seats, the counter's value, or your score",
}
ROWS: Final = {
    "kind": "number of the kind of zone, see the game",
    "owner": "0 the table, 1 you, 2 the seat to your left",
    "size": "as in the planes",
    "counter 1": "and further ones: the counters of the zone, in their order",
    "seen": "as in the planes",
    "top": "as in the planes",
    "column 1": "and further ones: the columns of the zone, in their order",
    "known": "as in the planes",
    "maybe": "as in the planes",
}
FEATURES: Final = {
    "option verb": "1 at the number of the verb, less 1",
    "option cards": "by face, how many of the option's cards",
    "option seat": "1 at the seat that the option names, 0 is yours",
    "option number": "the number in the option",
    "option age of the copy": "the first number on the copy, or how long ago it was set",
    "zone kind": "1 at the number of the kind of the zone that the option names, less 1",
    "zone owner": "1 at the seat that owns it, 0 is yours",
    "zone size": "its number of cards",
    "zone number": "its first counter",
    "zone cards": "by face, its cards that you see or know",
}
_SEES: Final = {
    Visibility.ALL: "open",
    Visibility.OWNER: "open to its owner",
    Visibility.NOBODY: "hidden",
    Visibility.MIXED: "card by card open or hidden",
}
_UNITS: Final = {Unit.FLAG: "1 if so", Unit.SEAT: "a seat, 0 nobody, 1 you", Unit.CARD: "a face, 0 none"}
_SECTION: Final = """## {title}

{sizes}
The tables below are for {seats} seats.

**Faces**, the first has the number 1, and place 0 in a part of planes: {faces}.

**Verbs and options of {title}.** The number of an option is the first of its verb plus its digits; the last digit
counts fastest. The digit of a zone goes by kind, in a kind by owner from you, and for an owner by slot.

{verbs}
**Planes of {title}.** A part is given by its first place in the block.

{planes}
{names}**Numbers of {title}.**

{numbers}
**Steps of {title}**, with their fields.

{steps}"""


def game_section(rules: type[Game]) -> str:
    """Return the section about a game, with its usual number of seats."""
    words, seats = rules.words, rules.usual_seats
    planes = Planes(rules, seats, PROOF)
    view_numbers = ViewNumbers(rules, seats, planes)
    faces = ", ".join(f"{number} {card.title}" for number, card in enumerate(words.cards, 1))
    return _SECTION.format(
        title=words.title,
        seats=seats,
        sizes=table(("seats", "numbers of options", "planes", "numbers", "features", "rows"), _sizes(rules)),
        faces=faces,
        verbs=table(("verb", "name", "what happens", "options", "digits"), _verbs(ActionNumbers(rules, seats))),
        planes=table(("kind", "zone", "whose", "planes", "block"), _planes(planes)),
        names=_names(planes),
        numbers=table(("numbers", "name", "meaning"), _numbers(view_numbers)),
        steps=table(("step", "name", "fields"), _steps(view_numbers)),
    )


def meanings(texts: dict[str, str]) -> str:
    """Format the meanings of the parts of an array."""
    return table(("part", "meaning"), [(code(name), text) for name, text in texts.items()])


def _sizes(rules: type[Game]) -> Iterator[tuple[str, ...]]:
    for seats in rules.words.seats:
        space = Space(rules.words.game, seats)
        zones, width = Space(rules.words.game, seats, rows=True).rows
        sizes = (space.actions, space.planes, space.numbers, space.option_features)
        yield str(seats), *(f"{size:,}" for size in sizes), f"{zones} x {width}"


# -- options
def _verbs(actions: ActionNumbers) -> Iterator[tuple[str, ...]]:
    for verb in actions.rules.words.verbs:
        block = actions.blocks.get(verb.number)
        if block is None:
            yield str(verb.number), code(verb.name), verb.text, "", ""
            continue
        digits = "; ".join(f"{text} ({size})" for text, size in zip(_digits(block), block.digits, strict=True))
        numbers = _range(block.base, block.base + block.size - 1)
        yield str(verb.number), code(verb.name), verb.text, numbers, digits


def _digits(block: Any) -> Iterator[str]:
    """Describe the digits of a verb's options in their order, which is that of `ActionNumbers`."""
    if block.has_cards:
        if block.shape.own:
            yield "0 the card of the zone's number, 1 another"
        else:
            yield from (
                ["face, from 0"] if block.shape.cards == 1 else [f"face {n}" for n in range(1, block.shape.cards + 1)]
            )
    if block.has_seat:
        yield "seat, 0 yours"
    if block.zones:
        starts = ", ".join(f"{kind.name} from {start}" for kind, start in block.zones.items())
        yield f"zone: {starts}"
    if block.has_number:
        values = block.shape.numbers
        yield "1 if it has a price" if values is None else f"number: {_listed(values)}"
    if block.copies:
        yield "copy, by the numbers on it"


def _listed(values: Sequence[int]) -> str:
    steps = {after - before for before, after in pairwise(values)}
    return f"{values[0]} to {values[-1]}" if steps == {1} else ", ".join(map(str, values))


# -- planes
def _planes(planes: Planes) -> Iterator[tuple[str, ...]]:
    """Yield a row for each kind of zone of the table, of the viewer, and of all others."""
    kinds = {kind.name: kind for kind in planes.words.zones}
    blocks = {what: list(spans) for what, spans in groupby(planes.spans, lambda span: span.what)}
    for name, kind in kinds.items():
        whose: dict[str, list[list[Span]]] = {}
        for what, spans in blocks.items():
            if _kind_of(what, kinds) is kind:
                seat = what[-2:] if what[-2] == "+" else "table"
                whose.setdefault("you" if seat == "+0" else "the table" if seat == "table" else "others", []).append(
                    spans
                )
        for owner, its in whose.items():
            first = f"{kind.number}" if owner != "others" else ""
            about = f"{code(name)} {sentence(kind.text or kind.title)} {sentence(_SEES[kind.visibility])}"
            yield first, about if first else code(name), owner, _places(its), _block(its[0])


def _kind_of(what: str, kinds: dict[str, ZoneKind]) -> ZoneKind:
    """Return the kind of zone that a part of the planes is named after."""
    name = what.partition(" of ")[0].removesuffix(" beyond the slots")
    return kinds[name if name in kinds else name.rpartition(" ")[0]]


def _places(blocks: list[list[Span]]) -> str:
    """Say where the blocks of a kind of zone lie: one each, or the slots of each seat and what is beyond them."""
    by_seat = [list(its) for _, its in groupby(blocks, lambda spans: spans[0].what[-2:])]
    parts = []
    for its in by_seat:
        seat = its[0][0].what[-2:]
        mark = f"{seat}: " if len(by_seat) > 1 else ""
        if len(its) == 1:
            parts.append(f"{mark}{_range(its[0][0].start, its[0][-1].start + its[0][-1].width - 1)}")
            continue
        *slots, beyond = its
        width = slots[0][-1].start + slots[0][-1].width - slots[0][0].start
        end = beyond[-1].start + beyond[-1].width - 1
        first = slots[0][0].start
        parts.append(f"{mark}{len(slots)} slots of {width} from {first:,}, beyond them {_range(beyond[0].start, end)}")
    return "; ".join(parts)


def _block(spans: Sequence[Span]) -> str:
    base = spans[0].start
    return ", ".join(
        f"{code(span.part)} {_range(span.start - base, span.start - base + span.width - 1)}" for span in spans
    )


def _names(planes: Planes) -> str:
    """Describe the counters and columns of zones, and how slots are filled."""
    rows = [(code(kind.name), code(its.name), _meaning(its)) for kind in planes.words.zones for its in kind.counters]
    rows += [
        (code(kind.name), code(its.name), f"{_meaning(its)}; by face, how long ago" if its.since else _meaning(its))
        for kind in planes.words.zones
        for its in kind.columns
    ]
    slots = [(code(kind.name), "slots", _slots(planes, kind)) for kind in planes.made]
    return f"{table(('zone', 'part', 'meaning'), rows + slots)}\n" if rows or slots else ""


def _slots(planes: Planes, kind: ZoneKind) -> str:
    its = planes.words.slots.get(kind.name)
    if its is None or not its.numbers:
        return "by age, the oldest first"
    if its.by_age:
        return "by age, the oldest first; options count them by their number"
    return f"by the number on it, 1 to {its.numbers}, {its.most} of each"


# -- numbers
def _numbers(numbers: ViewNumbers) -> Iterator[tuple[str, ...]]:
    words = numbers.rules.words
    starts = {(span.what, span.part): span.start for span in numbers.spans}
    for counter in words.table_counters:
        yield str(starts["table", counter.name]), code(counter.name), _meaning(counter)
    for counter in words.seat_counters:
        start = starts["seat +0", counter.name]
        yield _range(start, start + numbers.seats - 1), code(counter.name), f"by seat, you first: {_meaning(counter)}"
    start = starts["step 1 from the top of the agenda", "step"]
    width = starts["step 2 from the top of the agenda", "step"] - start
    yield _range(start, start + STEPS * width - 1), "agenda", f"the top {STEPS} steps, {width} numbers each"
    start = starts["act 1 from the last under way", "verb"]
    width = starts["act 2 from the last under way", "verb"] - start
    yield _range(start, start + ACTS * width - 1), "acts", f"the last {ACTS} acts under way, {width} numbers each"
    for name, kind in numbers.rules.settings_type.kinds().items():
        keys = kind.keys or ("",)
        start = starts["settings", f"{name} {keys[0]}".strip()]
        is_switch = kind.values == ("true", "false")
        words_of_it = ("false", "true") if is_switch else kind.values
        values = ", ".join(f"{number} {value}" for number, value in enumerate(words_of_it))
        text = f"{kind.text}; {values}" if values else kind.text
        text += f"; by {', '.join(kind.keys)}" if kind.keys else ""
        yield _range(start, start + len(keys) - 1), code(name), f"setting: {text}"


def _steps(numbers: ViewNumbers) -> Iterator[tuple[str, ...]]:
    words = numbers.rules.words
    for step, number in numbers.steps.items():
        fields = []
        for name in [*step.fields][:FIELDS]:
            kind = "seat" if name in words.step_seats else "zone" if name in words.step_zones else ""
            kind = kind or ("how many" if step.fields[name] is tuple else "")
            fields.append(f"{code(name)} ({kind})" if kind else code(name))
        yield str(number), code(step.name), ", ".join(fields)


def _meaning(counter: Counter) -> str:
    unit = _UNITS.get(counter.unit, "")
    return f"{counter.text} ({unit})" if unit else counter.text


def _range(first: int, last: int) -> str:
    return f"{first:,}" if first == last else f"{first:,}-{last:,}"
