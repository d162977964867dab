"""Copies of an environment go on as it does, before the first deal and in the middle of a match."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cloudpickle
import numpy as np
import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.learn.gym import Seat
from cutpurse.learn.pettingzoo import env
from cutpurse.learn.spiel import load
from tests.properties.random_play import EVERY_GAME

Ways = Callable[[Any], Any]
WAYS: dict[str, Ways] = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda environment: pickle.loads(pickle.dumps(environment)),
    "cloudpickle": lambda environment: cloudpickle.loads(cloudpickle.dumps(environment)),
}
CHOICES = 25  # of a copy and the original, which go on for more than one match
BOT_WITH_MEMORY = """
import helper

class Bot:
    def start(self, match):
        self.memory = helper.Memory(match.chance)

    def choose(self, view, decision):
        self.memory.seen += 1
        return self.memory.pick(decision.options)
"""
HELPER = """
class Memory:
    def __init__(self, chance):
        self.chance, self.seen = chance, 0

    def pick(self, options):
        return options[(self.seen + self.chance.randrange(len(options))) % len(options)]
"""


def _middle(observation: Any) -> int:
    """Return the number in the middle of those that are offered."""
    offered = np.flatnonzero(observation["action_mask"])
    return int(offered[len(offered) // 2])


def _digest(observation: Any) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in observation.items()}


def _play_seat(seat: Seat, choices: int) -> list[object]:
    """Play on, and return all that the seat gives."""
    observation, _ = seat.reset() if seat.run.match < 0 else (seat._observe(), {})
    given: list[object] = []
    for _ in range(choices):
        observation, reward, is_over, _, info = seat.step(_middle(observation))
        given.append((_digest(observation), reward, is_over, info))
        if is_over:
            observation, _ = seat.reset()
    return given


def _play_agents(table: Any, choices: int) -> list[object]:
    if table.unwrapped.run.match < 0:
        table.reset()
    given: list[object] = []
    for _ in range(choices):
        observation, reward, is_over, _, info = table.last()
        given.append((table.agent_selection, _digest(observation), reward, is_over, info))
        table.step(None if is_over else _middle(observation))
        if not table.agents:
            table.reset()
    return given


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("choices_before", [None, 0, 7])
@pytest.mark.parametrize("game", EVERY_GAME)
def test_copies_of_seats_and_agents_go_on_alike(game: str, choices_before: int | None, way: str) -> None:
    seat = Seat(game, ["greedy", "random"], seed=3, history=4)
    agents = env(game, 3, opponents=["greedy"], seed=3, rows=True)
    if choices_before is not None:
        seat.reset()
        agents.reset()
        _play_seat(seat, choices_before)
        _play_agents(agents, choices_before)
    copied_seat, copied_agents = WAYS[way](seat), WAYS[way](agents)
    assert _play_seat(copied_seat, CHOICES) == _play_seat(seat, CHOICES)
    assert _play_agents(copied_agents, CHOICES) == _play_agents(agents, CHOICES)


def _play_state(state: Any) -> list[str]:
    seen = []
    if state.is_chance_node():
        state.apply_action(5)
    for _ in range(CHOICES):
        if not state.is_terminal():
            actions = state.legal_actions()
            state.apply_action(actions[len(actions) // 2])
            seen.append(f"{state} {state.history()} {state.information_state_string(0)}")
    return seen


@pytest.mark.sampled
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("game", EVERY_GAME)
def test_copies_of_games_and_states_of_openspiel_go_on_alike(game: str, way: str) -> None:
    loaded = load(f"cutpurse_{game}(seats=3,seed=2)")
    copied = WAYS[way](loaded)
    assert (type(copied), str(copied)) == (type(loaded), str(loaded))
    state, undealt = loaded.new_initial_state(), copied.new_initial_state()
    copy_of_undealt = WAYS[way](undealt)
    state.apply_action(5)
    assert _play_state(copy_of_undealt) == _play_state(undealt)
    imagined = state.resample_from_infostate(state.current_player(), np.random.RandomState(1).random_sample)
    for original in (state, imagined):
        assert _play_state(WAYS[way](original)) == _play_state(original)


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_beside_a_bot_of_a_file_goes_on_alike(way: str, tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text(BOT_WITH_MEMORY)
    (tmp_path / "helper.py").write_text(HELPER)
    seat = Seat("greed", [str(tmp_path / "my_bot.py"), "random"], seed=3)
    _play_seat(seat, 5)
    copied = WAYS[way](seat)
    assert _play_seat(copied, CHOICES) == _play_seat(seat, CHOICES)


def test_a_pickle_goes_on_alike_in_another_process(tmp_path: Path) -> None:
    (tmp_path / "my_bot.py").write_text(BOT_WITH_MEMORY)
    (tmp_path / "helper.py").write_text(HELPER)
    seat = Seat("greed", [str(tmp_path / "my_bot.py"), "random"], seed=3)
    _play_seat(seat, 5)
    state = load("cutpurse_greed(seats=2)").new_initial_state()
    state.apply_action(5)
    (tmp_path / "pickled").write_bytes(pickle.dumps([seat, state]))
    program = (
        "import pickle, sys\n"
        "seat, state = pickle.load(open(sys.argv[1], 'rb'))\n"
        "from tests.learn.test_copies import CHOICES, _play_seat, _play_state\n"
        "print(_play_seat(seat, CHOICES), _play_state(state))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "pickled")], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == (f"{_play_seat(seat, CHOICES)} {_play_state(state)}\n", "")


def test_a_bot_of_a_file_that_cannot_be_pickled_is_named(tmp_path: Path) -> None:
    file = tmp_path / "clutches.py"
    file.write_text(
        "class Bot:\n    def __init__(self):\n        self.held = lambda: None\n"
        "    def choose(self, view, decision):\n        return 0\n"
    )
    seat = Seat("greed", [str(file)], seed=3)
    seat.reset()
    with pytest.raises(UsageError, match=r"^opponent .*clutches.py cannot be pickled: "):
        pickle.dumps(seat)
    assert _play_seat(copy.deepcopy(seat), CHOICES) == _play_seat(seat, CHOICES)
