"""TrueSkill for one free-for-all: it computes new skills from places and old skills.

This module knows no ladder, no database and no clock. The same arguments give the same bits on one machine. A machine
that rounds `exp` or `log` differently may differ in the last bit.

    settings = TrueSkill(draw_probability=0.05)
    ann, bob, cid = rate([1, 2, 2], [settings.newcomer] * 3, settings)

The model is that of Herbrich, Minka and Graepel, "TrueSkill: a Bayesian skill rating system" (2006). All that rates,
predicts or fits uses this module, and `free_for_all` has the arithmetic. Where the precision of floats is not enough,
it computes with more digits. TrueSkill is a trademark of Microsoft.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from statistics import NormalDist
from typing import Final, NamedTuple

from cutpurse.leaderboard.free_for_all import Numbers, inverse_below, rate_in_order

__all__ = ["DIGITS", "Skill", "TrueSkill", "difference", "draw_margin", "rate", "win_probability"]

DIGITS: Final = 60  # precision if floats fail; with 15, one in a hundred of the most extreme upsets still fails
_NORMAL: Final = NormalDist()


class Skill(NamedTuple):
    """The rating of a player: a normal distribution with mean mu and standard deviation sigma."""

    mu: float
    sigma: float

    @property
    def exposed(self) -> float:
        """The conservative rating mu - 3 sigma."""
        return self.mu - 3 * self.sigma


@dataclass(frozen=True, slots=True)
class TrueSkill:
    """The parameters of the model; they never change for boards already rated with them.

    Attributes:
        draw_probability: Probability that two equal players tie, in (0, 1); never 0, because every game can have ties.
        mu: Mean skill of a newcomer.
        sigma: Standard deviation of the skill of a newcomer.
        beta: Performance noise: the skill difference at which the better player wins 76 % of the matches.
        tau: Drift: standard deviation of the change of a skill between two matches.
        widening: Standard deviation of the change from one version of a bot to the next, relative to sigma.

    Raises:
        ValueError: If a value is invalid.
    """

    draw_probability: float
    mu: float = 25.0
    sigma: float = 25 / 3
    beta: float = 25 / 6
    tau: float = 25 / 300
    widening: float = 0.5

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not isinstance(value, float | int) or not math.isfinite(value):
                raise ValueError(f"{name} is {value!r}, not a finite number")
        if not 0 < self.draw_probability < 1:
            raise ValueError(f"draw_probability is {self.draw_probability}; it must be above 0 and below 1")
        if self.sigma <= 0 or self.beta <= 0 or self.tau < 0 or self.widening < 0:
            raise ValueError(
                f"sigma {self.sigma} and beta {self.beta} must be above 0, "
                f"tau {self.tau} and widening {self.widening} not below"
            )

    @property
    def newcomer(self) -> Skill:
        """The skill of a player that never played."""
        return Skill(float(self.mu), float(self.sigma))

    def prior_for_new_version(self, parent: Skill) -> Skill:
        """Compute the prior of a new version of a bot from the skill of its parent.

        mu stays; sigma becomes sqrt(sigma^2 + (widening sigma_0)^2), where sigma_0 is that of a newcomer and the upper
        limit.
        """
        step = self.widening * self.sigma
        return Skill(parent.mu, min(float(self.sigma), math.sqrt(parent.sigma * parent.sigma + step * step)))

    def to_json(self) -> str:
        """Format the parameters as one line of JSON with sorted keys; floats keep every bit."""
        return json.dumps(asdict(self), separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> TrueSkill:
        """Parse a line of `to_json`."""
        return cls(**json.loads(text))


def rate(places: Sequence[int], skills: Sequence[Skill], settings: TrueSkill) -> list[Skill]:
    """Compute the skills after a match; if an upset is too extreme for floats, compute with 60 digits.

    Args:
        places: Place of each player, the lowest is best, ties are equal.
        skills: Skill of each player before the match.
        settings: Parameters of the model.

    Raises:
        ValueError: If the lengths differ or there are fewer than two players.
    """
    if len(places) != len(skills) or len(places) < 2:
        raise ValueError(f"{len(places)} places for {len(skills)} skills; expected one of each for two players or more")
    order = sorted(range(len(places)), key=places.__getitem__)
    ties = [places[player] == places[following] for player, following in pairwise(order)]
    in_order = [skills[player] for player in order]
    try:
        rated = rate_in_order(in_order, ties, _numbers(settings))
    except (ArithmeticError, ValueError):  # usually FloatingPointError, sometimes the root of a negative number
        rated = rate_in_order(in_order, ties, _exact_numbers(settings))
    new = dict(zip(order, rated, strict=True))
    return [Skill(*new[player]) for player in range(len(places))]


def win_probability(settings: TrueSkill) -> Callable[[Skill, Skill], float]:
    """Return a function for the probability that one player will be ahead of another; a tie counts half.

    It is a function, because a page of history needs hundreds of probabilities for the same settings.
    """
    margin, apart_and_spread = draw_margin(settings), difference(settings)

    def likely(skill: Skill, other: Skill) -> float:
        apart, spread = apart_and_spread(skill, other)
        return (_NORMAL.cdf((apart - margin) / spread) + _NORMAL.cdf((apart + margin) / spread)) / 2

    return likely


def difference(settings: TrueSkill) -> Callable[[Skill, Skill], tuple[float, float]]:
    """Return a function for the mean and the standard deviation of the difference of two players' performances."""
    chance = 2 * (settings.beta**2 + settings.tau**2)

    def apart_and_spread(a: Skill, b: Skill) -> tuple[float, float]:
        (mu, sigma), (other_mu, other_sigma) = a, b
        return mu - other_mu, math.sqrt(chance + sigma**2 + other_sigma**2)

    return apart_and_spread


def draw_margin(settings: TrueSkill) -> float:
    """Return the draw margin: the largest difference of two performances that tie."""
    return _numbers(settings).margin


@cache
def _numbers(settings: TrueSkill) -> Numbers:
    margin = inverse_below((settings.draw_probability + 1) / 2) * math.sqrt(2) * settings.beta
    return Numbers(drift=settings.tau**2, luck=settings.beta**2, margin=margin)


@cache
def _exact_numbers(settings: TrueSkill) -> Numbers:
    """Return the numbers of `settings` with mpmath, whose precision here is independent of other users."""
    from mpmath import MPContext  # type: ignore[import-untyped]  # rarely needed, so servers don't load it at start

    exact = MPContext()
    exact.dps = DIGITS
    share = (settings.draw_probability + 1) / 2
    margin = exact.sqrt(2) * exact.erfinv(2 * share - 1) * math.sqrt(2) * settings.beta
    return _numbers(settings)._replace(margin=margin, below=exact.ncdf, density=exact.npdf)
