"""All of a zone moved at once teaches everybody what the same cards teach when they are moved together one by one."""

from __future__ import annotations

from random import Random

import pytest

from tests.engine.toy import CROWN, MOON, STAR, SUN, Toy, empty_table

VIEWERS = (0, 1, 2, None)


def views(toy: Toy) -> list[bytes]:
    return [toy.view(viewer).to_bytes() for viewer in VIEWERS]


@pytest.mark.parametrize("seed", range(60))
def test_a_zone_that_moves_at_once_takes_along_what_was_known_of_it(seed: int) -> None:
    random = Random(seed)
    toy = empty_table()
    zones = [*toy.hand, toy.blind]
    src, dst, other = random.sample(zones, 3)
    for _ in range(random.randrange(2, 6)):
        toy.enter([random.choice((SUN, MOON, STAR, CROWN))], src, shown=random.randrange(16))
    while len(src.cards) > 1 and random.random() < 0.6:
        toy.move_at(random.randrange(len(src.cards)), src, other, shown=random.randrange(16))
    shown = random.choice([0, random.randrange(16)])
    plain = toy.fork()
    numbers = [zone.number for zone in (src, dst, other)]
    plain_src, plain_dst, plain_other = (plain.zone(number) for number in numbers)
    toy.move_all(src, dst, shown)
    plain._move_one_by_one(plain_src, plain_dst, shown, None)
    assert (src.cards, dst.cards) == (plain_src.cards, plain_dst.cards)
    assert views(toy) == views(plain)
    while dst.cards:  # and it is forgotten alike
        place, shown = random.randrange(len(dst.cards)), random.randrange(16)
        toy.move_at(place, dst, other, shown)
        plain.move_at(place, plain_dst, plain_other, shown)
        assert views(toy) == views(plain)
