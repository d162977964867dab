"""The arrays of a view hold what the view shows: decoded by their layout, they are compared with it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.engine.view import View
from cutpurse.engine.words import FACE_DOWN, Unit, ZoneKind
from cutpurse.engine.zones import ZoneView
from cutpurse.games import GAMES
from cutpurse.learn import Space, Span
from cutpurse.learn.planes import Planes
from cutpurse.learn.view_numbers import ViewNumbers
from tests.engine.toy import Toy
from tests.learn.positions import positions
from tests.properties.random_play import EVERY_GAME, EVERY_TABLE

DECISIONS = 80
DECISIONS_IN_SOAK = 20_000  # for each game

Parts = dict[str, Any]


def decoded(spans: list[Span], row: npt.NDArray[Any]) -> dict[str, Parts]:
    """Return the values of each thing that a layout names, by part; one number where a part is one wide."""
    found: dict[str, Parts] = defaultdict(dict)
    for span in spans:
        values = [int(value) for value in row[span.slice]]
        found[span.what][span.part] = values[0] if span.width == 1 else values
    return found


@cache
def spans_of(space: Space, array: str) -> list[Span]:
    return [span for span in space.layout() if span.array == array]


def counted(cards: tuple[int, ...], faces: int) -> list[int]:
    counts = Counter(cards)
    return [counts[face] for face in range(1, faces + 1)]


def expected(view: View, zone: ZoneView) -> Parts:
    """Return what the block of a zone must say, from the view alone; the parts that its viewer has."""
    faces = len(view.rules.words.cards)
    shown = tuple(card for card in zone.cards if card != FACE_DOWN)
    parts: Parts = {"size": zone.size, "seen": counted(shown, faces)}
    parts |= {counter.name: value for counter, value in zip(zone.kind.counters, zone.counters, strict=True)}
    parts["top"] = counted(zone.cards[-1:] if zone.cards[-1:] != (FACE_DOWN,) else (), faces)
    parts["known"], parts["maybe"] = counted(zone.known, faces), counted(zone.maybe, faces)
    for place, column in enumerate(zone.kind.columns):
        sums = [0] * faces
        for card, value in zip(zone.cards, zone.columns[place] if zone.columns else (), strict=True):
            sums[card - 1] = min(255, sums[card - 1] + (view.counter(column.since) - value if column.since else value))
        parts[column.name] = sums
    return parts


def name_of(view: View, zone: ZoneView) -> str:
    """Return the name of a zone's block."""
    assert view.viewer is not None
    if not zone.kind.per_seat:
        return f"{zone.kind.name} of the table"
    seat = f"of seat +{(zone.owner - view.viewer) % view.seats}"
    if not zone.kind.many:
        return f"{zone.kind.name} {seat}"
    slots = view.rules.words.slots[zone.kind.name]
    same = view.of(zone.kind.name, zone.owner)
    if not slots.numbers or slots.by_age:
        return f"{zone.kind.name} {same.index(zone) + 1} {seat}"
    same = [other for other in same if other.counters == zone.counters]
    return f"{zone.kind.name} of {zone.counters[0]}, {same.index(zone) + 1} {seat}"


def check_planes(view: View, found: dict[str, Parts]) -> int:
    """Compare the blocks of all zones with the view, and return how many zones lie beyond the slots."""
    left = dict(found)
    beyond: dict[str, list[ZoneView]] = defaultdict(list)
    for zone in view.zones:
        block = left.pop(name_of(view, zone), None)
        if block is None:
            assert view.viewer is not None
            beyond[f"{zone.kind.name} beyond the slots of seat +{(zone.owner - view.viewer) % view.seats}"].append(zone)
            continue
        parts = expected(view, zone)
        assert block == {part: parts[part] for part in block}, name_of(view, zone)
        # What has no part in the block is not shown by the view either.
        assert not any(np.any(parts[part]) for part in parts.keys() - block.keys() - {"top"}), name_of(view, zone)
    for what, block in left.items():
        if what in beyond:
            shown = tuple(card for zone in beyond[what] for card in zone.cards if card != FACE_DOWN)
            assert block == {"count": len(beyond[what]), "seen": counted(shown, len(view.rules.words.cards))}
        else:
            assert not any(np.any(values) for values in block.values()), f"{what} is not in the view"
    assert beyond.keys() <= left.keys()
    return sum(map(len, beyond.values()))


def check_numbers(view: View, found: dict[str, Parts], steps: list[str]) -> None:
    """Compare the counters, the top steps, what is under way and the settings with the view."""
    words, viewer, seats = view.rules.words, view.viewer, view.seats
    assert viewer is not None

    def relative(seat: int | None) -> int:
        return 0 if seat is None or seat < 0 else (seat - viewer) % seats + 1

    for counter, value in zip(words.table_counters, view.counters, strict=True):
        assert found["table"][counter.name] == (relative(value - 1) if counter.unit is Unit.SEAT else value)
    for counter in words.seat_counters:
        of_seats = [found[f"seat +{seat}"][counter.name] for seat in range(seats)]
        assert of_seats == [view.seat_counter(counter.name, (viewer + seat) % seats) for seat in range(seats)]
    for place in range(1, 5):
        row = found[f"step {place} from the top of the agenda"]
        if place > len(view.agenda):
            assert not any(row.values())
            continue
        step = view.agenda[-place]
        assert (steps[row["step"] - 1], row["seat"]) == (type(step).__name__, relative(step.seat))
        for number, (name, value) in enumerate(zip(step.fields, step.values()[1:], strict=True), 1):
            if name in words.step_seats:
                assert row[f"field {number}"] == relative(value)
            elif name in words.step_zones:
                assert (row[f"field {number}"] > 0) == any(zone.number == value for zone in view.zones)
            else:
                assert row[f"field {number}"] == (len(value) if isinstance(value, tuple) else value)
    for place in range(1, 3):
        row = found[f"act {place} from the last under way"]
        if place > len(view.pending):
            assert not any(row.values())
            continue
        act = view.pending[-place]
        given = [row[part] for part in ("verb", "actor", "seat", "number", "cards")]
        assert given == [act.verb, relative(act.actor), relative(act.seat), act.number, len(act.cards)]
        assert [row["card 1"], row["card 2"]] == [*act.cards, 0, 0][:2]


@pytest.mark.parametrize(("name", "seats"), EVERY_TABLE)
def test_what_is_decoded_is_what_the_view_shows(name: str, seats: int, soak: bool) -> None:
    space, beyond = Space(name, seats), 0
    steps = list(GAMES[name].steps())
    count = DECISIONS_IN_SOAK // len(GAMES[name].words.seats) if soak else DECISIONS
    for position in positions(name, seats, count):
        planes, numbers = space.observe(position.view)
        assert [planes.dtype, numbers.dtype] == [np.dtype(np.uint8), np.dtype(np.int32)]
        assert [len(planes), len(numbers)] == [space.planes, space.numbers]
        beyond += check_planes(position.view, decoded(spans_of(space, "planes"), planes))
        check_numbers(position.view, decoded(spans_of(space, "numbers"), numbers), steps)
    assert beyond <= count // 10


@pytest.mark.parametrize("name", EVERY_GAME)
def test_what_is_kept_is_what_a_new_space_says(name: str) -> None:
    seats = GAMES[name].usual_seats
    space = Space(name, seats)
    for position in positions(name, seats, 15):
        kept, fresh = space.observe(position.view), Space(name, seats).observe(position.view)
        assert [array.tolist() for array in kept] == [array.tolist() for array in fresh]


def test_views_that_two_spaces_share_are_rows_of_each() -> None:
    """A zone's view has the bytes of the last space that asked, so another one must not take them for its own."""
    spaces = [Space("szmal"), Space("szmal", knowledge="seen"), Space("szmal", rows=True)]
    views = [position.view for position in positions("szmal", 4, 60)]
    expected = [[Space("szmal", knowledge=space.knowledge).plane_bytes(view) for view in views] for space in spaces]
    assert [[space.plane_bytes(view) for space in spaces] for view in views] == [
        *map(list, zip(*expected, strict=True))
    ]
    planes, numbers = spaces[0].observe_all(views)
    assert planes.tobytes() == b"".join(expected[0])
    assert numbers.tolist() == [Space("szmal").observe(view)[1].tolist() for view in views]


def test_the_layout_names_every_place_once() -> None:
    for name in EVERY_GAME:
        space = Space(name)
        for array, size in (
            ("planes", space.planes),
            ("numbers", space.numbers),
            ("features", space.option_features),
        ):
            spans = spans_of(space, array)
            assert [span.start for span in spans] == [0, *np.cumsum([span.width for span in spans])[:-1]]
            assert spans[-1].start + spans[-1].width == size
            assert len({(span.what, span.part) for span in spans}) == len(spans)


def test_zones_beyond_the_slots_are_counted_and_summed() -> None:
    planes = Planes(GAMES["steal_and_plunder"], 4)
    kind = next(kind for kind in planes.made if kind.name == "plundered")
    view = GAMES["steal_and_plunder"].new(4).view(1)

    def plundered(number: int, *cards: int) -> ZoneView:
        return ZoneView(1000 + number, kind, 2, len(cards), cards, (), (), (0,), ())

    zones = tuple([plundered(number, 1, number + 1) for number in range(6)])
    row = np.frombuffer(planes.bytes_of(view.showing(view.zones + zones)), np.uint8)
    found = decoded(planes.spans, row)
    assert found["plundered 4 of seat +1"]["seen"][:4] == [1, 0, 0, 1]
    assert found["plundered beyond the slots of seat +1"] == {
        "count": 2,
        "seen": counted((1, 5, 1, 6), len(planes.words.cards)),
    }


@pytest.mark.parametrize("name", GAMES)
def test_sums_add_up_what_the_slots_of_a_seat_have_alike(name: str) -> None:
    space = Space(name, 4)
    spans = spans_of(space, "planes")
    kinds = "|".join(kind.name for kind in space.rules.words.zones if kind.many) or "none"
    slot = re.compile(rf"({kinds})( of \d+,)? \d+ of (seat \+\d)")
    summed = 0
    for position in positions(name, 4, 60, greedy=True):
        planes, _ = space.observe(position.view)
        expected: dict[tuple[str | Any, ...], npt.NDArray[Any]] = {}
        for span in spans:
            if found := slot.fullmatch(span.what):
                group = (*found.groups(), span.part)
                expected[group] = expected.get(group, 0) + planes[span.slice].astype(int)
        sums = space.sums_of(planes)
        assert len(sums) == space.sums
        assert sums.tolist() == [value for group in expected.values() for value in group]
        summed += sums.sum()
    assert (summed > 0) == any(kind.many for kind in space.rules.words.zones)


def test_a_byte_ends_at_255() -> None:
    planes = Planes(GAMES["stolen_treasure"], 2)
    game = GAMES["stolen_treasure"].new(2)
    game.turn = 400  # type: ignore[attr-defined]  # a counter of this game
    found = decoded(planes.spans, np.frombuffer(planes.bytes_of(game.view(0)), np.uint8))
    held = found["treasure_hand of seat +0"]
    assert [age for age, seen in zip(held["since"], held["seen"], strict=True) if seen] == [255] * sum(
        map(bool, held["seen"])
    )


def test_a_game_of_another_package_has_arrays_too() -> None:
    planes = Planes(Toy, 3)
    numbers = ViewNumbers(Toy, 3, planes)
    game = Toy.new(3, settings={"rounds": "endless", "length": "short", "prices": "moon:7"})
    values = decoded(numbers.spans, np.array(numbers.list_of(game.view(2))))
    assert values["settings"] == {"length": 0, "loud": 1, "rounds": -1, "prices sun": 0, "prices moon": 7}
    assert len(planes.bytes_of(game.view(2))) == planes.size


def test_a_view_of_other_seats_or_of_nobody_is_refused() -> None:
    space = Space("greed", 4)
    with pytest.raises(UsageError, match=r"4 seats, the view is of szmal with 3: make Space\('szmal', seats=3\)$"):
        space.observe(GAMES["szmal"].new(3).view(0))
    with pytest.raises(UsageError, match=r"^a spectator is asked nothing: give the view of a seat$"):
        space.observe(GAMES["greed"].new(4).view(None))


def test_kinds_made_in_play_have_slots() -> None:
    made: list[ZoneKind] = [kind for game in EVERY_GAME for kind in GAMES[game].words.zones if kind.many]
    declared = {name for game in EVERY_GAME for name in GAMES[game].words.slots}
    assert {kind.name for kind in made} == declared


@pytest.mark.parametrize("name", EVERY_GAME)
def test_declared_fields_of_steps_exist(name: str) -> None:
    words, steps = GAMES[name].words, GAMES[name].steps().values()
    assert words.step_seats | words.step_zones <= {field for step in steps for field in step.fields}
