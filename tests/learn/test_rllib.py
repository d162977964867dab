"""RLlib's PPO trains in a seat for an iteration; skipped where RLlib and torch are not installed.

RLlib wants one release of Gymnasium and is not in requirements.lock, so it needs an environment of its own:
pip install 'ray[rllib]' torch
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest

from cutpurse.games import GAMES
from cutpurse.learn.gym import Seat

STEPS = 64


class MaskedSeat(gymnasium.ObservationWrapper[dict[str, Any], int, Any]):
    """A seat whose observation is one array and a mask, as RLlib's module with masks wants it."""

    def __init__(self, config: dict[str, Any]) -> None:
        game = config["game"]
        seat = Seat(game, others=["random"] * (GAMES[game].usual_seats - 1), seed=1)
        super().__init__(seat)
        size = seat.space.planes + seat.space.numbers
        self.observation_space = gymnasium.spaces.Dict(
            observations=gymnasium.spaces.Box(-np.inf, np.inf, (size,), np.float32),
            action_mask=gymnasium.spaces.Box(0.0, 1.0, (seat.space.actions,), np.float32),
        )

    def observation(self, observation: Any) -> dict[str, Any]:
        arrays = np.concatenate([observation["planes"], observation["numbers"]]).astype(np.float32)
        return {"observations": arrays, "action_mask": observation["action_mask"].astype(np.float32)}

    def step(self, action: int) -> tuple[dict[str, Any], Any, bool, bool, dict[str, Any]]:
        step = super().step(action)
        assert not step[4]["illegal"], "the mask of the observation was not used"
        return step


@pytest.mark.full
@pytest.mark.filterwarnings("ignore")  # of Ray and torch, about what they are
def test_an_iteration_of_rllibs_ppo_trains_in_a_seat() -> None:
    why = "needs pip install 'ray[rllib]' torch, in an environment of its own"
    pytest.importorskip("torch", reason=why)
    ppo = pytest.importorskip("ray.rllib.algorithms.ppo", reason=why, exc_type=ImportError)
    modules = pytest.importorskip("ray.rllib.examples.rl_modules.classes.action_masking_rlm", reason=why)
    module = pytest.importorskip("ray.rllib.core.rl_module.rl_module", reason=why)
    config = (
        ppo.PPOConfig()
        .environment(MaskedSeat, env_config={"game": "greed"})
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=STEPS, minibatch_size=STEPS // 2, num_epochs=1)
        .rl_module(
            rl_module_spec=module.RLModuleSpec(
                module_class=modules.ActionMaskingTorchRLModule, model_config={"fcnet_hiddens": [8]}
            )
        )
    )
    algorithm = config.build_algo()
    try:
        result = algorithm.train()
    finally:
        algorithm.stop()
        __import__("ray").shutdown()
    assert result["training_iteration"] == 1
    assert result["env_runners"]["num_env_steps_sampled"] >= STEPS
    losses = result["learners"]["default_policy"]
    assert np.isfinite(losses["total_loss"])
