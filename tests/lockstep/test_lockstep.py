"""Each game is played beside a second telling of its sheet, and the two agree at every question."""

from __future__ import annotations

import random
from importlib import import_module

import pytest

from cutpurse.engine.agenda import Step
from cutpurse.engine.chance import Chance
from cutpurse.games import GAMES
from tests.builds import needs_pure
from tests.lockstep.driver import in_lockstep
from tests.without_a_step import what_follows

TELLINGS = {name: import_module(f"tests.lockstep.{name}") for name in GAMES}
PER_TEST = 10
MATCHES = 40
MATCHES_SOAK = 2_000


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for so many matches."""
    if "first_seed" in metafunc.fixturenames:
        is_long = metafunc.config.getoption("--soak")
        seeds = range(0, MATCHES_SOAK if is_long else MATCHES, PER_TEST * (20 if is_long else 1))
        metafunc.parametrize(("first_seed", "count"), [(seed, seeds.step) for seed in seeds])


def one_match(name: str, seed: int) -> int:
    """A match with settings and players drawn from its seed; how many decisions it took."""
    rng = random.Random(seed)
    seats = rng.choice(list(GAMES[name].words.seats))
    settings = TELLINGS[name].settings(seats, rng)
    rules = GAMES[name]
    game = rules(seats, rules.check(seats, settings), Chance(seed.to_bytes(32, "big")))
    game.start()
    assert game.waiting(), "nobody is asked anything"
    try:
        return in_lockstep(game, TELLINGS[name].Telling(game, rng), rng)
    except AssertionError as problem:
        problem.add_note(f"{name}, seed {seed}, {seats} players, {settings}")
        raise


def matches(name: str, first_seed: int, count: int) -> None:
    for seed in range(first_seed, first_seed + count):
        assert one_match(name, seed) > 0


@pytest.mark.parametrize("name", GAMES)
def test_both_tell_the_same(name: str, first_seed: int, count: int) -> None:
    matches(name, first_seed, count)


@needs_pure
@pytest.mark.parametrize("name", GAMES)
def test_a_step_that_does_nothing_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken_out: type[Step] = list(GAMES[name].steps().values())[-1]
    monkeypatch.setattr(taken_out, what_follows(taken_out), lambda *given: None)
    with pytest.raises((AssertionError, RuntimeError)):  # the second where the engine's own invariants find it
        matches(name, 0, MATCHES)
