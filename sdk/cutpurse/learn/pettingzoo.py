"""A table as an environment of PettingZoo, in which one agent acts at a time.

from cutpurse.learn.pettingzoo import env

table = env("greed", seats=4)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from cutpurse.learn import Space
from cutpurse.wire.errors import needs

with needs("rl"):
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers

from cutpurse.learn.arrays import Observation, Run, TableObserver, observation_space
from cutpurse.learn.choice_table import BotSpec, ChoiceTable, TableRules

__all__ = ["LearnersTable", "env"]

ILLEGAL_REWARD = -1.0


class LearnersTable(AECEnv):  # type: ignore[misc]  # PettingZoo has no types
    """A table without wrappers. Agents are the seats without bots; a number that is not offered raises ValueError."""

    metadata = {"name": "cutpurse_v1", "render_modes": ["ansi"], "is_parallelizable": False}  # noqa: RUF012  # as there

    def __init__(
        self,
        game: str,
        seats: int | None = None,
        settings: Mapping[str, object] | None = None,
        reward: str = "place",
        opponents: Sequence[BotSpec] | None = None,
        seed: int | str | None = None,
        render_mode: str | None = None,
        history: int = 0,
        rows: bool = False,
    ) -> None:
        """Load the bots and make the spaces.  See `env`."""
        super().__init__()
        parameters = TableRules(game, seats, settings, reward, opponents, bool(history))
        self.table = ChoiceTable(parameters)
        self.space = Space(game, parameters.seats, history, rows)
        self._observer = TableObserver(self.space, self.table)
        self.run = Run(seed)
        self.render_mode = render_mode
        self.possible_agents = [f"player_{learner}" for learner in range(parameters.learners)]
        self.observation_space = cache(self._observation_space)
        self.action_space = cache(self._action_space)

    def _observation_space(self, agent: str) -> spaces.Dict:
        return observation_space(self.space)

    def _action_space(self, agent: str) -> spaces.Discrete:
        return spaces.Discrete(self.space.actions)

    def observe(self, agent: str) -> Observation:
        """Return what an agent sees now; its mask is empty if it is not asked."""
        return self._observer.observe(self._seat(agent))

    def _seat(self, agent: str) -> int:
        return self.table.seat_of(self.possible_agents.index(agent))

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal the next match of the run, or the first of the run of `seed`."""
        if seed is not None:
            self.run.begin(seed)
        self.run.deal(self.table)
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: dict(self.run.info) for agent in self.agents}
        self._skip_agent_selection = None
        self._select()

    def _select(self) -> None:
        assert self.table.seat is not None
        self.agent_selection = self.possible_agents[self.table.bot_at[self.table.seat]]

    def step(self, action: int | None) -> None:
        """Answer for the selected agent.  Raises IllegalNumber, a ValueError, for a number that is not offered."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        table = self.table
        assert action is not None
        option = self.space.option(table.view, table.options, int(action))
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        if table.answer(option):
            self._select()
        else:
            rewards = table.rewards()
            for each in self.agents:
                self.rewards[each] = rewards[self._seat(each)]
                self.terminations[each] = True
        self._accumulate_rewards()

    def render(self) -> str | None:
        """Return what a spectator sees, as text."""
        return None if self.render_mode is None else repr(self.table.game.view(None).to_json())

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def env(
    game: str,
    seats: int | None = None,
    settings: Mapping[str, object] | None = None,
    reward: str = "place",
    opponents: Sequence[BotSpec] | None = None,
    seed: int | str | None = None,
    render_mode: str | None = None,
    history: int = 0,
    rows: bool = False,
) -> Any:
    """Make an environment with the usual wrappers, in which a number that is not offered ends the match.

    Args:
        game: Name of the game.
        seats: Number of seats. Default: the game's own.
        settings: Settings that differ from their defaults.
        reward: "place", "first", "first+place" or "score", given at the end of a match.
        opponents: Bots in the last seats: names, files or classes. Default: agents have all seats.
        seed: Of the run until `reset` is given another; match i has the key and the seats of match i of `cutpurse play
            --seed`. Default: drawn.
        render_mode: "ansi": `render` returns what a spectator sees.
        history: Number of last events that an observation has.
        rows: Observe one row a zone with a mask, instead of planes.

    Returns:
        The environment, an `AECEnv`: Any, as PettingZoo has no types.

    Raises:
        UsageError: For unknown names and impossible values.
    """
    table = LearnersTable(game, seats, settings, reward, opponents, seed, render_mode, history, rows)
    table = wrappers.TerminateIllegalWrapper(table, illegal_reward=ILLEGAL_REWARD)
    table = wrappers.AssertOutOfBoundsWrapper(table)
    return wrappers.OrderEnforcingWrapper(table)
