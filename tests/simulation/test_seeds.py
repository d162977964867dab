"""Worlds by the thousand: whatever goes wrong in them, the server keeps what it promises."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.world import World

PER_TEST = 20
WORLDS_QUICK = 20
WORLDS = 100
WORLDS_SOAK = 100_000
KEPT = Path(__file__).with_name("seeds.txt")
BROKEN_ONCE = [int(line.split("#")[0]) for line in KEPT.read_text().splitlines() if line.split("#")[0].strip()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for so many worlds; with --seed N, for that world alone."""
    if "first_seed" not in metafunc.fixturenames:
        return
    wanted = metafunc.config.getoption("--seed")
    if wanted is not None:
        metafunc.parametrize(("first_seed", "count"), [(wanted, 1)])
        return
    is_long = metafunc.config.getoption("--soak")
    each = PER_TEST * (50 if is_long else 1)
    seeds = range(1, WORLDS_SOAK if is_long else WORLDS, each)
    full = [() if seed < WORLDS_QUICK else pytest.mark.full for seed in seeds]
    metafunc.parametrize(
        ("first_seed", "count"), [pytest.param(seed, each, marks=mark) for seed, mark in zip(seeds, full, strict=True)]
    )


def test_nothing_is_broken_in_any_world(first_seed: int, count: int) -> None:
    for seed in range(first_seed, first_seed + count):
        World(seed).run()


@pytest.mark.parametrize("seed", BROKEN_ONCE)
def test_what_was_broken_once_is_whole(seed: int) -> None:
    World(seed).run()


@pytest.mark.full
@pytest.mark.parametrize("seed", [1, 31])  # with a plain disk, and with the leaderboard
def test_a_seed_is_the_same_world_in_every_process(seed: int) -> None:
    world = World(seed)
    world.run()
    told = subprocess.run(
        [sys.executable, "-m", "tests.simulation", str(seed)],
        env={**os.environ, "PYTHONHASHSEED": "1"},  # this process has another
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split()[0] == world.trace


def test_other_seeds_are_other_worlds() -> None:
    traces = set()
    for seed in range(1, 6):
        world = World(seed)
        world.run()
        assert world.watch.matches
        traces.add(world.trace)
    assert len(traces) == 5
