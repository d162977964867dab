"""When all of a zone goes into an empty one, everybody knows afterwards what he would know had each card gone alone."""

from __future__ import annotations

from random import Random

import pytest

from cutpurse.engine.words import Visibility, Words
from cutpurse.engine.zones import Zone

WORDS = Words("test", "Test", "GR", "1", seats=range(2, 6))
HIDDEN = WORDS.zone("hidden", "hidden", "", Visibility.NOBODY)
OWN = WORDS.zone("own", "own", "", Visibility.OWNER)
EVERYONE = 0b11111  # four seats and the spectator


def learned(zone: Zone, viewers: int = 5) -> list[tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]]:
    """What each viewer sees, knows and suspects there."""
    zone.changed()
    return [zone.picture(viewer)[4:7] for viewer in range(viewers)]


def one_by_one(src: Zone, dst: Zone, seers: int) -> None:
    """The plain way: what the seers had learned goes, each card is put down before them, the rest comes along."""
    src.drop_intel(dst.sees | seers)
    for card in src.cards:
        dst.put(card, seers, None)
    dst.intel += src.intel
    src.cards, src.intel = [], []


@pytest.mark.parametrize("seed", range(60))
def test_taking_over_a_zone_teaches_what_moving_its_cards_teaches(seed: int) -> None:
    random = Random(seed)
    kinds = random.choice([(HIDDEN, OWN), (OWN, HIDDEN), (HIDDEN, HIDDEN), (OWN, OWN)])
    src, dst = (Zone(number, kind, number, EVERYONE) for number, kind in enumerate(kinds, 1))
    for _ in range(random.randrange(2, 9)):
        src.put(random.randrange(1, 6), random.randrange(32), None)
    while len(src.cards) > 1 and random.random() < 0.6:
        src.forget(src.cards.pop(random.randrange(len(src.cards))), random.randrange(32))
    if random.random() < 0.3:
        src.learn(random.randrange(32))
    seers = src.sees | dst.sees | random.choice([0, random.randrange(32)])
    plain_src, plain_dst = src.fork(), dst.fork()
    one_by_one(plain_src, plain_dst, seers)
    dst.take_over(src, seers)
    assert dst.cards == plain_dst.cards
    assert learned(dst) == learned(plain_dst)
    assert (src.cards, src.intel) == ([], [])
    while dst.cards:  # and it is forgotten alike
        seen_by, place = random.randrange(32), random.randrange(len(dst.cards))
        dst.forget(dst.cards.pop(place), seen_by)
        plain_dst.forget(plain_dst.cards.pop(place), seen_by)
        assert learned(dst) == learned(plain_dst)


def test_one_entry_tells_of_everybody_who_knows_a_card() -> None:
    piles = [Zone(number, HIDDEN, number, EVERYONE) for number in range(4)]
    piles[0].put(7, 0b00001, None)
    for number in range(1, 4):
        piles[number].take_over(piles[number - 1], 1 << number)
    assert piles[3].intel == [(7, 0b01111, 0)]
