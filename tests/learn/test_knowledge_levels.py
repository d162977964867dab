"""Learners choose what they know of hidden cards; the matches stay the same."""

from __future__ import annotations

import pickle
import re

import numpy as np
import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.engine.knowledge_level import LEVELS
from cutpurse.learn import Space
from cutpurse.learn.batch import Batch, Ended
from cutpurse.learn.choice_table import ChoiceTable, TableRules
from cutpurse.learn.space import OtherNumbering
from tests.properties.random_play import EVERY_GAME

STEPS = 80
KNOWLEDGE = ("known", "maybe")  # parts of a block
NO_LEVEL = "knowledge is proof, seen or none, not 'all'"


def lowest_of(batch: Batch) -> list[int]:
    return [int(number) for number in batch.mask.argmax(axis=1)]


def but_for_knowledge(space: Space) -> list[int]:
    """List the bytes of the planes that say what lies open."""
    return [
        at
        for span in space.layout()
        if span.array == "planes" and span.part not in KNOWLEDGE
        for at in range(span.start, span.start + span.width)
    ]


@pytest.mark.parametrize("name", EVERY_GAME)
def test_the_matches_are_the_same_and_what_lies_open_is_too(name: str) -> None:
    batches = [Batch(name, tables=3, seed=5, knowledge=level) for level in LEVELS]
    places = [but_for_knowledge(batch.space) for batch in batches]
    ended: list[list[Ended]] = [[] for _ in batches]
    for _ in range(STEPS):
        proof, *others = batches
        for batch, place in zip(others, places[1:], strict=True):
            assert np.array_equal(batch.planes[:, place], proof.planes[:, places[0]])
            assert np.array_equal(batch.numbers, proof.numbers)
            assert np.array_equal(batch.mask, proof.mask)
            assert np.array_equal(batch.match, proof.match)
        for of_level, batch in zip(ended, batches, strict=True):
            of_level += batch.step(lowest_of(batch))
    assert ended[0] == ended[1] == ended[2]


@pytest.mark.parametrize("rows", [False, True])
def test_a_level_has_no_room_for_what_it_never_says(rows: bool) -> None:
    parts = [{span.part for span in Space("szmal", rows=rows, knowledge=level).layout()} for level in LEVELS]
    assert [sorted(part.intersection(KNOWLEDGE)) for part in parts] == [["known", "maybe"], ["known"], []]


def test_a_learner_among_bots_knows_what_one_among_learners_knows() -> None:
    rules = TableRules("szmal", None, None, "place", ["random", "first_option", "greedy"], knowledge="seen")
    table = ChoiceTable(rules)
    assert table.deal(7, 0)
    levels = ["none" if bot in (1, 2) else "seen" if bot == 0 else "proof" for bot in table.bot_at]
    sets = [
        sum(1 << seat for seat, level in enumerate(levels) if level in remembers)
        for remembers in (("seen", "proof"), ("proof",))
    ]
    assert [table.game.remembering, table.game.inferring] == sets  # of the spectator nothing


def test_several_processes_have_the_level() -> None:
    with Batch("bag_o_loot", 4, seed=2, jobs=2, knowledge="seen") as several:
        alone = Batch("bag_o_loot", 4, seed=2, knowledge="seen")
        for _ in range(10):
            assert np.array_equal(several.planes, alone.planes)
            several.step(lowest_of(several))
            alone.step(lowest_of(alone))


def test_a_space_keeps_its_level_and_refuses_arrays_of_another() -> None:
    seen = Space("greed", knowledge="seen")
    assert pickle.loads(pickle.dumps(seen)).stamp == seen.stamp
    assert (seen.knowledge, seen.stamp["knowledge"]) == ("seen", "seen")
    for space, other in ((seen, Space("greed")), (Space("greed"), seen), (seen, Space("greed", knowledge="none"))):
        with pytest.raises(OtherNumbering, match=r"^made with knowledge '\w+', here it is '\w+': give knowledge="):
            space.check_stamp(other.stamp)


def test_a_level_that_does_not_exist_is_a_line() -> None:
    for make in (lambda: Batch("greed", knowledge="all"), lambda: Space("greed", knowledge="all")):
        with pytest.raises(UsageError, match=re.escape(NO_LEVEL)):
            make()
