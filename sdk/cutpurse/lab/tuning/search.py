"""Which candidates to play next, and which is the best so far, from the boards played.

First the start and, for each parameter, its lowest, middle and highest value with the others at their start. Then the
search (J. Bergstra et al. 2011, tree-structured Parzen estimators, by Optuna). A last part of the budget goes to the
finalists. Each time a candidate is played, it gets the next deals. So all candidates have their first deals in common.

Points of few boards are noisy, and near values play alike. So a candidate is judged by the mean over its neighbours,
weighted by their boards and their distance, less its standard error: who was lucky once is not the best. Everything
follows from the boards and the seed, so a run that was interrupted goes on alike. This module knows no game, no clock
and no file.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Final

from cutpurse.lab.tuning.candidate_board import CandidateBoard
from cutpurse.lab.tuning.parameters import BotParameter, Values

__all__ = ["BLOCK", "Played", "Searcher", "next_deals"]

BLOCK: Final = 8  # deals that a candidate plays at a time
ROUND: Final = 4  # candidates of a round, played side by side
RADIUS: Final = 0.06  # of the neighbourhood, as a share of the range
PRIOR_SD: Final = 0.25  # of a board's points, as if that had been seen on PRIOR_BOARDS boards
PRIOR_BOARDS: Final = 4


@dataclass
class Played:
    """The boards of one candidate."""

    points: list[float] = field(default_factory=list)
    moves: dict[int, str] = field(default_factory=dict)  # by deal
    failure: str = ""

    @property
    def mean(self) -> float:
        """The mean place points."""
        return sum(self.points) / len(self.points)


class Searcher:
    """The boards so far, and what follows from them.

    Attributes:
        start: The bot's own values.
        played: Boards by candidate, in the order of their first board.
    """

    def __init__(self, parameters: Sequence[BotParameter], start: Values, seed: int | str) -> None:
        self.parameters = parameters
        self.start = start
        self.played: dict[Values, Played] = {}
        self._seed = seed

    def add(self, board: CandidateBoard) -> None:
        """Count a board."""
        played = self.played.setdefault(board.values, Played())
        played.points.append(board.points)
        played.moves[board.deal] = board.moves
        played.failure = played.failure or board.failure

    def first_round(self) -> list[Values]:
        """Return the start, and candidates that differ from it in one parameter."""
        candidates = [self.start]
        for at, parameter in enumerate(self.parameters):
            values = parameter.values if len(parameter.values) <= ROUND else _ends_and_middle(parameter.values)
            candidates += [(*self.start[:at], value, *self.start[at + 1 :]) for value in values]
        return list(dict.fromkeys(candidates))

    def idle_parameters(self) -> list[BotParameter]:
        """List the parameters whose values all play the same moves, as far as the first round shows."""
        idle = []
        for at, parameter in enumerate(self.parameters):
            others = (*self.start[:at], *self.start[at + 1 :])
            alike = [
                self.played[values].moves
                for values in self.first_round()
                if (*values[:at], *values[at + 1 :]) == others and len(self.played[values].moves) >= BLOCK
            ]
            if len(alike) > 1 and len({tuple(moves[deal] for deal in range(BLOCK)) for moves in alike}) == 1:
                idle.append(parameter)
        return idle

    def propose(self) -> list[Values]:
        """Return the candidates of the next round, found by Optuna."""
        import optuna  # slow to import, and an extra

        names = [parameter.name for parameter in self.parameters]
        spaces = dict(zip(names, map(_space, self.parameters), strict=True))
        boards = sum(len(played.points) for played in self.played.values())
        optuna.logging.set_verbosity(optuna.logging.ERROR)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # options that Optuna calls experimental
            sampler = optuna.samplers.TPESampler(
                seed=_number(self._seed, boards), multivariate=len(names) > 1, n_startup_trials=2 * ROUND
            )
            study = optuna.create_study(direction="maximize", sampler=sampler)
            for values, played in self.played.items():
                at = [parameter.index(value) for parameter, value in zip(self.parameters, values, strict=True)]
                if None not in at:
                    params = dict(zip(names, at, strict=True))
                    study.add_trial(optuna.trial.create_trial(params=params, distributions=spaces, value=played.mean))
            trials = [study.ask(spaces) for _ in range(ROUND)]
        proposed = [
            tuple(parameter.values[trial.params[parameter.name]] for parameter in self.parameters) for trial in trials
        ]
        return list(dict.fromkeys(proposed))

    def finalists(self) -> list[Values]:
        """Return the most promising candidates, the best first."""
        return sorted(self._sound(), key=self.score, reverse=True)[:ROUND]

    def best(self) -> Values:
        """Return the best candidate so far; the start if all others failed."""
        return max(self._sound(), key=self.score, default=self.start)

    def score(self, values: Values) -> float:
        """Return the mean of a candidate and its neighbours, less the standard error."""
        mean, error = self.estimate(values)
        return mean - error

    def estimate(self, values: Values) -> tuple[float, float]:
        """Return the mean place points of a candidate and its neighbours, and the standard error."""
        weights: list[tuple[float, float]] = []  # of a board, and its points
        for other, played in self.played.items():
            distances = (
                parameter.distance(value, own)
                for parameter, value, own in zip(self.parameters, values, other, strict=True)
            )
            weight = math.exp(-sum(distance * distance for distance in distances) / (2 * RADIUS * RADIUS))
            if weight > 1e-3:
                weights += [(weight, points) for points in played.points]
        total = sum(weight for weight, _ in weights)
        mean = sum(weight * points for weight, points in weights) / total
        squares = sum(weight * (points - mean) ** 2 for weight, points in weights)
        variance = (squares + PRIOR_BOARDS * PRIOR_SD * PRIOR_SD) / (total + PRIOR_BOARDS)
        return mean, math.sqrt(variance / total)

    def _sound(self) -> list[Values]:
        """List the candidates that did not fail."""
        return [values for values, played in self.played.items() if not played.failure]


def next_deals(played: Played | None) -> range:
    """Return the numbers of a candidate's next deals; those of an interrupted round are complete by then."""
    first = 0 if played is None else len(played.points)
    return range(first, first + BLOCK)


def _ends_and_middle(values: Sequence[Any]) -> list[Any]:
    return [values[0], values[len(values) // 2], values[-1]]


def _space(parameter: BotParameter) -> Any:
    """Return Optuna's distribution of the number of a value."""
    from optuna.distributions import CategoricalDistribution, IntDistribution

    last = len(parameter.values) - 1
    return IntDistribution(0, last) if parameter.is_number else CategoricalDistribution(range(last + 1))


def _number(seed: int | str, boards: int) -> int:
    """Return a seed for Optuna."""
    return int.from_bytes(sha256(f"cutpurse/tuning/{seed}/{boards}".encode()).digest()[:4], "big")
