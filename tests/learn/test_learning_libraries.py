"""Agents of learning libraries train in the environments; skipped where `libraries.txt` is not installed."""

from __future__ import annotations

import pytest

from cutpurse.games import GAMES
from cutpurse.learn.gym import Seat
from tests.properties.random_play import EVERY_GAME

STEPS = 32


@pytest.mark.filterwarnings("ignore")  # of torch and sb3, about what they are
@pytest.mark.parametrize("name", EVERY_GAME)
def test_maskable_ppo_of_sb3_trains_in_a_seat(name: str) -> None:
    sb3_contrib = pytest.importorskip("sb3_contrib", reason="needs pip install -r tests/learn/libraries.txt")
    seat = Seat(name, others=["random"] * (GAMES[name].usual_seats - 1), seed=1)
    agent = sb3_contrib.MaskablePPO(
        "MultiInputPolicy", seat, n_steps=STEPS, batch_size=STEPS, n_epochs=1, policy_kwargs={"net_arch": [8]}, seed=1
    )
    agent.learn(2 * STEPS)
    assert agent.num_timesteps == 2 * STEPS
    observation, _ = seat.reset(seed=2)
    for _ in range(20):
        action, _ = agent.predict(observation, action_masks=seat.action_masks())
        observation, _, is_over, _, info = seat.step(int(action))
        assert not info["illegal"]
        if is_over:
            observation, _ = seat.reset()
