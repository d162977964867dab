"""Train a small net in plain torch to beat a random bot in duels of Greed, by policy gradient."""

import numpy as np
import torch

from cutpurse.learn.batch import Batch

torch.set_num_threads(1)  # so small a net waits for more
torch.manual_seed(1)
batch = Batch("greed", tables=32, seats=2, seed=1, opponents=["random"])
width = batch.space.planes + batch.space.numbers
net = torch.nn.Sequential(torch.nn.Linear(width, 64), torch.nn.ReLU(), torch.nn.Linear(64, batch.space.actions))
optimizer = torch.optim.Adam(net.parameters(), lr=0.003)


def policy(seen: torch.Tensor, offered: torch.Tensor) -> torch.distributions.Categorical:
    return torch.distributions.Categorical(logits=net(seen).masked_fill(~offered, -torch.inf))


moves: list[list[tuple[torch.Tensor, ...]]] = [[] for _ in range(batch.count)]  # of the match at each table
played: list[tuple[torch.Tensor, ...]] = []  # moves with the reward of their match
points: list[float] = []  # of each match: 1 for the first place, 0.5 for a shared one
while len(points) < 800:
    inputs = np.hstack([batch.planes, np.arcsinh(batch.numbers)])  # which makes small numbers of large ones
    seen, offered = torch.from_numpy(inputs).float(), torch.from_numpy(batch.mask > 0)
    with torch.no_grad():
        actions = policy(seen, offered).sample()
    for table, move in enumerate(zip(seen, offered, actions, strict=True)):
        moves[table].append(move)
    for match in batch.step(actions.numpy()):
        reward = match.rewards[match.learners.index(True)]  # +1 for the first place, -1 for the last
        played += [(*move, torch.tensor(reward)) for move in moves[match.table]]
        moves[match.table] = []
        points.append((reward + 1) / 2)
    if len(played) > 1_000:
        seen, offered, actions, rewards = map(torch.stack, zip(*played, strict=True))
        optimizer.zero_grad()
        (-policy(seen, offered).log_prob(actions) * (rewards - rewards.mean())).mean().backward()
        optimizer.step()
        played = []
print(f"won {np.mean(points[:200]):.0%} of the first 200 matches, {np.mean(points[-200:]):.0%} of the last 200")
