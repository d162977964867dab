"""Every game as a game of OpenSpiel.

    import pyspiel
    import cutpurse.learn.spiel  # registers the games

    game = pyspiel.load_game("cutpurse_greed(seats=4)")

One chance node deals, then seats decide. All chance of a match follows from the deal: a search that clones a state
knows the cards to come, and `resample_from_infostate` draws a state that its player cannot tell from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Final, cast

import numpy as np

from cutpurse.learn import Space
from cutpurse.wire.errors import needs

with needs("spiel"):
    import pyspiel

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.errors import UsageError
from cutpurse.engine.text import option_text
from cutpurse.games import BUILT_IN, game_named
from cutpurse.learn.remembered_match import RememberedMatch
from cutpurse.learn.rewards import by_place

__all__ = ["DEALS", "SpielGame", "SpielState", "load", "register"]

DEALS: Final = 1 << 12  # outcomes of the chance node
DRAWS: Final = 8  # of 32 bits, for a key
WORD: Final = 1 << 32


class SpielGame(pyspiel.Game):  # type: ignore[misc]  # pyspiel has no types
    """A game with a number of seats and its default settings. A player is a seat; `register` makes a class for each."""

    name: ClassVar[str]
    game_type: ClassVar[Any]  # a `pyspiel.GameType`

    def __init__(self, parameters: dict[str, Any]) -> None:
        """Make the numbers and the layout.

        Args:
            parameters: `seats` and `seed`: deal d has the key of match d of `cutpurse play --seed`.

        Raises:
            UsageError: For an impossible number of seats, or a game without a limit of its decisions.
        """
        self.space = space = Space(self.name, parameters["seats"])
        self.seed: int = parameters["seed"]
        max_game_length = space.rules.max_decisions(space.seats, space.rules.set_up(space.seats, {}))
        if not max_game_length:
            raise UsageError(f"OpenSpiel needs a limit of the decisions of {self.name}: let it declare max_decisions")
        game_info = pyspiel.GameInfo(
            num_distinct_actions=space.actions,
            max_chance_outcomes=DEALS,
            num_players=space.seats,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=max_game_length,
        )
        super().__init__(self.game_type, game_info, parameters)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle by the name and the parameters, as OpenSpiel writes them."""
        return load, (str(self),)

    def new_initial_state(self) -> SpielState:
        """Return the state before the deal."""
        return SpielState(self)

    def make_py_observer(self, observed: Any = None, params: object = None) -> _Observer | None:
        """Return an observer of what one player sees, or with perfect recall has heard; None for other types."""
        if observed is None:
            return _Observer(self.space, recalls=False)
        if not observed.public_info or observed.private_info != pyspiel.PrivateInfoType.SINGLE_PLAYER:
            return None
        return _Observer(self.space, observed.perfect_recall)


class SpielState(pyspiel.State):  # type: ignore[misc]
    """A state: before the deal, at a choice, or at the end."""

    def __init__(self, game: SpielGame) -> None:
        super().__init__(game)
        self.match: RememberedMatch | None = None  # None before the deal; `clone` forks it

    @property
    def space(self) -> Space:
        """The numbers and arrays of the game."""
        space: Space = self.get_game().space
        return space

    def current_player(self) -> int:
        """Return the seat that is asked, or the number of chance or of the end."""
        if self.match is None:
            return int(pyspiel.PlayerId.CHANCE)
        return int(pyspiel.PlayerId.TERMINAL) if self.match.seat is None else self.match.seat

    def is_terminal(self) -> bool:
        """Tell whether the match is over."""
        return self.match is not None and self.match.seat is None

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """List the deals, which are equally likely."""
        return [(deal, 1 / DEALS) for deal in range(DEALS)]

    def returns(self) -> list[float]:
        """Return +1 for the first place to -1 for the last; 0 before the end."""
        if self.match is None or self.match.seat is not None:
            return [0.0] * self.space.seats
        return [*by_place(self.match.game.places(), self.match.game.scores())]

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> SpielState:
        """Draw a state that this player cannot tell from this one.

        Its history is empty, as it would give the deal away. Other players have heard what a spectator has, and seen
        the drawn table. Algorithms in Python call this one; those in C++ cannot.

        Args:
            player: The seat whose knowledge is kept.
            sampler: Draws a number from 0 to 1.
        """
        state: SpielState = self.get_game().new_initial_state()
        if self.match is not None:
            key = b"".join([int(sampler() * WORD).to_bytes(DRAWS, "big")[-4:] for _ in range(DRAWS)])
            state.match = self.match.imagined(self.space, player, Chance(key))
        return state

    def _legal_actions(self, player: int) -> list[int]:
        return [*self.match.options] if self.match is not None and player == self.match.seat else []

    def _apply_action(self, action: int) -> None:
        if self.match is None:
            self.match = RememberedMatch.deal(self.space, match_key(self.get_game().seed, action))
        else:
            self.match.answer(self.space, action)

    def _action_to_string(self, player: int, action: int) -> str:
        if self.match is None:
            return f"deal {action}"
        option = self.match.options.get(action)
        return f"number {action}" if option is None else option_text(self.match.view, option)

    def __str__(self) -> str:
        """Return what a spectator sees, as JSON."""
        return "before the deal" if self.match is None else self.match.game.view(None).to_bytes().decode()

    # -- structs
    def _to_struct(self) -> dict[str, object]:
        return {} if self.match is None else self.match.game.save()

    def _to_observation_struct(self, player: int) -> dict[str, object]:
        return {} if self.match is None else self.match.game.view(player).to_json()

    def _action_to_struct(self, player: int, action: int) -> dict[str, object]:
        return {"number": action, "text": self._action_to_string(player, action)}

    def _struct_to_actions(self, struct: dict[str, Any]) -> list[int]:
        return [struct["number"]]


class _Observer:
    """What one player sees: planes and numbers; or, with perfect recall, all that the player has heard as text."""

    def __init__(self, space: Space, recalls: bool) -> None:
        self.space = space
        self.recalls = recalls
        self.tensor = None if recalls else np.zeros(space.planes + space.numbers, np.float32)
        self.dict = {}
        if self.tensor is not None:
            self.dict = {"planes": self.tensor[: space.planes], "numbers": self.tensor[space.planes :]}

    def set_from(self, state: SpielState, player: int) -> None:
        """Write what a player sees into the tensor."""
        if self.tensor is None:
            return
        self.tensor[:] = 0
        if state.match is not None:
            self.dict["planes"][:], self.dict["numbers"][:] = self.space.observe(state.match.game.view(player))

    def string_from(self, state: SpielState, player: int) -> str:
        """Return what a player sees or has heard, as text."""
        if state.match is None:
            return ""
        return state.match.text(player) if self.recalls else state.match.game.view(player).to_bytes().decode()


def load(game: str) -> SpielGame:
    """Load a game as `pyspiel.load_game` does, from `cutpurse_greed(seats=4)`; also in a process that unpickles it."""
    return cast("SpielGame", pyspiel.load_game(game))


def register(name: str) -> str:
    """Register a game, of this package or another.

    Returns:
        The name for `pyspiel.load_game`.
    """
    rules = game_named(name)
    kind = pyspiel.GameType(
        short_name=f"cutpurse_{name}",
        long_name=f"Cutpurse: {rules.words.title}",
        dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
        chance_mode=pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC,
        information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
        utility=pyspiel.GameType.Utility.ZERO_SUM,
        reward_model=pyspiel.GameType.RewardModel.TERMINAL,
        max_num_players=rules.words.seats[-1],
        min_num_players=rules.words.seats[0],
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification={"seats": rules.usual_seats, "seed": 0},
    )
    # OpenSpiel drops it after the end of Python, which only a class outlives.
    game = type(f"SpielGame_{name}", (SpielGame,), {"name": name, "game_type": kind})
    pyspiel.register_game(kind, game)
    return str(kind.short_name)


for _name in BUILT_IN:
    register(_name)
