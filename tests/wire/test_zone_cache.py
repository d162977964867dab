"""The encoder's cached zones are never stale: after any change, each viewer is sent what a new encoder would send."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutpurse.engine.zones import Zone
from cutpurse.wire.encode import MatchEncoder
from tests.engine.toy import CLOSED, OPEN_PACK, PACK, Toy
from tests.wire.round_trip import plant_bytes_kept_for_all

CHANGES: Final = 60
PACKS: Final = (PACK, OPEN_PACK, CLOSED)


def any_zone(toy: Toy, dice: Random, *, filled: bool = True) -> Zone:
    return dice.choice([zone for zone in toy.zones() if zone.cards or not filled])


def packs(toy: Toy) -> list[Zone]:
    return [zone for zone in toy.zones() if zone.kind in PACKS]


def any_seats(toy: Toy, dice: Random) -> list[int] | None:
    return dice.choice([None, [dice.randrange(toy.n)], dice.sample(range(toy.n), 2)])


def move_a_card(toy: Toy, dice: Random) -> None:
    src, dst = any_zone(toy, dice), any_zone(toy, dice, filled=False)
    if src is not dst:
        toy.move_at(dice.randrange(len(src.cards)), src, dst, shown=dice.choice([0, 0, toy.everyone, 2]))


def move_all_cards(toy: Toy, dice: Random) -> None:
    src, dst = any_zone(toy, dice), any_zone(toy, dice, filled=False)
    if src is not dst:
        toy.move_all(src, dst)


def exchange_zones(toy: Toy, dice: Random) -> None:
    toy.exchange(*dice.sample(dice.choice([toy.hand, toy.purse]), 2))


def show_a_zone(toy: Toy, dice: Random) -> None:
    toy.show(any_zone(toy, dice), any_seats(toy, dice))


def shuffle_the_deck(toy: Toy, dice: Random) -> None:
    toy.shuffle(toy.deck)


def set_a_counter(toy: Toy, dice: Random) -> None:
    toy.count("rounds", dice.randrange(9))
    toy.count("cash", dice.randrange(-99, 999), dice.randrange(toy.n))
    if counted := [zone for zone in packs(toy) if zone.counters]:
        toy.count_zone(dice.choice(counted), 0, dice.randrange(200))


def set_a_column(toy: Toy, dice: Random) -> None:
    purse = dice.choice(toy.purse)
    if purse.cards:
        toy.count_card(purse, dice.randrange(len(purse.cards)), 0, dice.randrange(-99, 999))


def make_a_pack(toy: Toy, dice: Random) -> None:
    toy.make(dice.choice(PACKS), dice.randrange(toy.n))


def place_a_pack(toy: Toy, dice: Random) -> None:
    if before := packs(toy):
        toy.place(dice.choice(before), dice.choice(PACKS), dice.randrange(toy.n), face_down=dice.random() < 0.5)


def drop_a_pack(toy: Toy, dice: Random) -> None:
    if empty := [zone for zone in packs(toy) if not zone.cards]:
        toy.drop(dice.choice(empty))


def open_a_deal(toy: Toy, dice: Random) -> None:
    if dice.random() < 0.1:
        toy.open_deal(dice.randrange(1, 9))
        toy.enter(Toy.box(toy.n, toy.settings), toy.deck)


CHANGE: Final[list[Callable[[Toy, Random], None]]] = [
    *[move_a_card] * 5,
    move_all_cards,
    exchange_zones,
    show_a_zone,
    shuffle_the_deck,
    set_a_counter,
    set_a_column,
    make_a_pack,
    place_a_pack,
    drop_a_pack,
    open_a_deal,
]


def check_changes(seed: int) -> None:
    """Change a table at random, and compare what one encoder sends with a new one that knows no zone from before."""
    dice = Random(seed)
    toy = Toy.new(seats=3)
    toys = [toy]  # and its forks, which go on beside it
    encoder = MatchEncoder(Toy, toy.settings, toy.n)
    for _ in range(CHANGES):
        toy, change = dice.choice(toys), dice.choice(CHANGE)
        change(toy, dice)
        if dice.random() < 0.05:
            toys.append(toy.fork())
        viewers: list[int | None] = [*range(toy.n), None]
        looking = dice.sample(viewers, dice.randrange(len(viewers) + 1))  # the others look later, if at all
        sent = [encoder.observation_of(toy, viewer, agenda=True) for viewer in looking]
        loaded = Toy.load(toy.save())  # no view of it was ever made
        fresh = MatchEncoder(Toy, loaded.settings, loaded.n)
        for viewer, body in zip(looking, sent, strict=True):
            assert body == fresh.observation(loaded.view(viewer), agenda=True), (change.__name__, viewer)


@given(st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_cached_zones_are_as_if_encoded_anew(seed: int) -> None:
    check_changes(seed)


def test_only_the_zones_of_each_viewers_last_view_are_held() -> None:
    toy = Toy.new(seats=3)
    encoder = MatchEncoder(Toy, toy.settings, toy.n)
    for _ in range(5):
        toy.make(PACK, 0)
        for viewer in (0, 1):
            encoder.observation_of(toy, viewer, agenda=True)
    for zone in packs(toy):
        toy.drop(zone)
    encoder.observation_of(toy, 0, agenda=True)
    fixed = len(toy.fixed)
    assert [len(views) for views, _ in encoder._zones] == [fixed, fixed + 5, 0, 0]
    assert [len(encoded) for _, encoded in encoder._zones] == [fixed, fixed + 5, 0, 0]


def test_bytes_kept_for_all_viewers_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    plant_bytes_kept_for_all(monkeypatch)
    with pytest.raises(AssertionError, match=r"\('\w+', (None|\d)\)"):
        check_changes(0)
