"""A table as an environment of PettingZoo, in which one agent acts at a time.

from cutpurse.learn.pettingzoo import env

table = env("greed", seats=4)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cutpurse.engine.knowledge_level import PROOF
from cutpurse.learn import Space
from cutpurse.wire.errors import needs

with needs("rl"):
    from gymnasium import spaces
    from pettingzoo import AECEnv
    from pettingzoo.utils import wrappers

from cutpurse.learn.arrays import (
    ANSI,
    Observation,
    Run,
    TableObserver,
    check_render_mode,
    observation_space,
    render,
)
from cutpurse.learn.choice_table import BotSpec, ChoiceTable, TableRules

__all__ = ["LearnersTable", "env"]

ILLEGAL_REWARD = -1.0


class LearnersTable(AECEnv):  # type: ignore[misc]  # PettingZoo has no types
    """A table without wrappers. Agents are the seats without bots; a number that is not offered raises ValueError."""

    metadata = {"name": "cutpurse_v1", "render_modes": [ANSI], "is_parallelizable": False}  # noqa: RUF012  # as there

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
        knowledge: str = PROOF,
    ) -> None:
        """Load the bots and make the spaces.  See `env`."""
        super().__init__()
        is_watched = render_mode is not None
        parameters = TableRules(game, seats, settings, reward, opponents, bool(history), knowledge, is_watched)
        self.table = ChoiceTable(parameters)
        self.space = Space(game, parameters.seats, history, rows, knowledge)
        self._observer = TableObserver(self.space, self.table)
        self.run = Run(seed)
        self.render_mode = check_render_mode(render_mode)
        self.possible_agents = [f"player_{learner}" for learner in range(parameters.learners)]
        self.observation_spaces = {agent: observation_space(self.space) for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(self.space.actions) for agent in self.possible_agents}

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, the same object each time."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's numbers, the same object each time."""
        return self.action_spaces[agent]

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
        """Draw what a spectator sees, as text."""
        return None if self.render_mode is None else render(self.table, None)

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
    knowledge: str = PROOF,
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
        render_mode: "ansi": `render` returns what a spectator sees, as text.
        history: Number of last events that an observation has.
        rows: Observe one row a zone with a mask, instead of planes.
        knowledge: What agents know of hidden cards: "proof", "seen" or "none", as in `cutpurse.learn.Batch`.

    Returns:
        The environment, an `AECEnv`: Any, as PettingZoo has no types.

    Raises:
        UsageError: For unknown names and impossible values.
    """
    table = LearnersTable(game, seats, settings, reward, opponents, seed, render_mode, history, rows, knowledge)
    table = wrappers.TerminateIllegalWrapper(table, illegal_reward=ILLEGAL_REWARD)
    table = wrappers.AssertOutOfBoundsWrapper(table)
    return wrappers.OrderEnforcingWrapper(table)
