"""A seat as an environment of Gymnasium; the other seats have bots, which are asked inside `step`.

    import gymnasium

    seat = gymnasium.make("cutpurse.learn.gym:cutpurse/greed-v1", others=["greedy", "random"])

Gymnasium imports what stands before the colon. After `import cutpurse.learn.gym` the rest of the name is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from cutpurse.learn import Space
from cutpurse.wire.errors import needs

with needs("rl"):
    import gymnasium

from cutpurse.engine.errors import UsageError
from cutpurse.engine.knowledge_level import PROOF
from cutpurse.games import BUILT_IN, game_named
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

__all__ = ["Seat"]

VERSION: Final = "v1"
DEFAULT_OPPONENT: Final = "greedy"


class Seat(gymnasium.Env[Observation, int]):
    """One seat of a table. An observation has planes, numbers and the mask of the options.

    A number that is not offered ends nothing: the first option is taken, and the info says "illegal".
    """

    metadata = {"render_modes": [ANSI], "render_fps": 1}  # noqa: RUF012  # as Gymnasium has it

    def __init__(
        self,
        game: str,
        others: Sequence[BotSpec] | None = None,
        settings: Mapping[str, object] | None = None,
        reward: str = "place",
        seed: int | str | None = None,
        history: int = 0,
        rows: bool = False,
        knowledge: str = PROOF,
        render_mode: str | None = None,
    ) -> None:
        """Load the bots and make the spaces.

        Args:
            game: Name of the game.
            others: The bots of the other seats: names, files or classes. Default: `greedy` in all seats that the game
                has by default.
            settings: Settings that differ from their defaults.
            reward: "place", "first", "first+place" or "score", given at the end of a match.
            seed: Of the run until `reset` is given another; match i has the key and the seats of match i of `cutpurse
                play --seed`. Default: drawn.
            history: Number of last events that an observation has.
            rows: Observe one row a zone with a mask, instead of planes.
            knowledge: What the seat knows of hidden cards: "proof", "seen" or "none", as in `cutpurse.learn.Batch`.
            render_mode: "ansi": `render` returns what the seat sees, as text.

        Raises:
            UsageError: For unknown names and impossible values.
        """
        if others is None:
            others = [DEFAULT_OPPONENT] * (game_named(game).usual_seats - 1)
        if not others:
            raise UsageError("nobody is in the other seats: give bots, such as others=['greedy'] * 3")
        parameters = TableRules(game, len(others) + 1, settings, reward, others, bool(history), knowledge)
        self.table = ChoiceTable(parameters)
        self.space = Space(game, parameters.seats, history, rows, knowledge)
        self._observer = TableObserver(self.space, self.table)
        self.run = Run(seed)
        self.render_mode = check_render_mode(render_mode)
        # Gymnasium's spaces do not say what they are spaces of.
        self.observation_space = cast("gymnasium.Space[Observation]", observation_space(self.space))
        self.action_space = cast("gymnasium.Space[int]", gymnasium.spaces.Discrete(self.space.actions))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Deal the next match of the run, or the first of the run of `seed`."""
        super().reset(seed=seed)
        if seed is not None:
            self.run.begin(seed)
        self.run.deal(self.table)
        return self._observe(), self.run.info

    def step(self, action: int) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Answer, and go on to the next choice of this seat or to the end."""
        table = self.table
        if table.seat is None:
            raise UsageError("the match is over: call reset() before the next step")
        numbers = self.space.option_numbers(table.view, table.options)
        is_legal = int(action) in numbers
        goes_on = table.answer(table.options[numbers.index(int(action)) if is_legal else 0])
        reward = 0.0 if goes_on else table.rewards()[table.seat_of(0)]
        return self._observe(), reward, not goes_on, False, {**self.run.info, "illegal": not is_legal}

    def render(self) -> str | None:
        """Draw what the seat sees, as text."""
        return None if self.render_mode is None else render(self.table, self.table.seat_of(0))

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """Return which numbers are offered now, as `MaskablePPO` of sb3-contrib asks for them."""
        mask = self._observe()["action_mask"]
        return mask.astype(np.bool_)

    def _observe(self) -> Observation:
        return self._observer.observe(self.table.seat_of(0))


for _game in BUILT_IN:
    gymnasium.register(f"cutpurse/{_game}-{VERSION}", f"{__name__}:Seat", kwargs={"game": _game})
