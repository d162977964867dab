"""Each game is played beside a second telling of its sheet, and the two agree at every question."""

from __future__ import annotations

import random
from types import ModuleType

import pytest

from cutpurse.games import GAMES
from tests.lockstep import bag_o_loot, greed, steal_and_plunder, stolen_treasure, szmal
from tests.lockstep.driver import in_lockstep

TELLINGS: dict[str, ModuleType] = {
    "bag_o_loot": bag_o_loot,
    "greed": greed,
    "steal_and_plunder": steal_and_plunder,
    "stolen_treasure": stolen_treasure,
    "szmal": szmal,
}
PER_TEST = 10
MATCHES = 40
MATCHES_SOAK = 2_000


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for so many matches."""
    if "first_seed" in metafunc.fixturenames:
        is_long = metafunc.config.getoption("--soak")
        seeds = range(0, MATCHES_SOAK if is_long else MATCHES, PER_TEST * (20 if is_long else 1))
        metafunc.parametrize("first_seed", seeds)
        metafunc.parametrize("count", [seeds.step])


def one_match(name: str, seed: int) -> int:
    """A match with settings and players drawn from its seed; how many decisions it took."""
    rng = random.Random(seed)
    seats = rng.choice(list(GAMES[name].words.seats))
    settings = TELLINGS[name].settings(seats, rng)
    game = GAMES[name].new(seats, seed.to_bytes(32, "big"), settings)
    return in_lockstep(game, TELLINGS[name].Telling(game, rng), rng)


@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("name", TELLINGS)
def test_both_tell_the_same(name: str, first_seed: int, count: int) -> None:
    for seed in range(first_seed, first_seed + count):
        assert one_match(name, seed) > 0, seed
