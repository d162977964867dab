"""Train MaskablePPO of sb3-contrib in a seat of a duel of Greed, and measure it before and after."""

import gymnasium
import torch
from sb3_contrib import MaskablePPO

import cutpurse.learn.gym  # noqa: F401  # registers cutpurse/greed-v1 and the others

torch.set_num_threads(1)  # so small a net waits for more
MATCHES, STEPS = 50, 4_096


def share_won(agent: MaskablePPO) -> float:
    """Return the share of matches that the agent wins; a shared place counts half."""
    seat = gymnasium.make("cutpurse/greed-v1", others=["random"])
    observation, _ = seat.reset(seed=2)  # the run of matches with the seed 2
    points = 0.0
    for _ in range(MATCHES):
        is_over = False
        while not is_over:
            mask = observation["action_mask"].astype(bool)
            action, _ = agent.predict(observation, action_masks=mask, deterministic=True)
            observation, reward, is_over, _, _ = seat.step(int(action))
        points += (float(reward) + 1) / 2  # the reward is +1 for the first place, -1 for the last
        observation, _ = seat.reset()  # the next match of the run
    return points / MATCHES


agent = MaskablePPO("MultiInputPolicy", gymnasium.make("cutpurse/greed-v1", others=["random"]), n_steps=512, seed=1)
before = share_won(agent)
agent.learn(STEPS)
print(f"won {before:.0%} before, {share_won(agent):.0%} after {STEPS:,} choices")
