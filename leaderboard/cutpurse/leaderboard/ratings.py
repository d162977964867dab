"""TrueSkill for one free-for-all: it computes new skills from places and old skills.

This module knows no ladder, no database and no clock. The same arguments give the same bits on one machine. A machine
that rounds `exp` or `log` differently may differ in the last bit.

    settings = TrueSkill(draw_probability=0.05)
    ann, bob, cid = rate([1, 2, 2], [settings.newcomer] * 3, settings)

The model is that of Herbrich, Minka and Graepel, "TrueSkill: a Bayesian skill rating system" (2006). The package
`trueskill` rates matches as they are stored. `free_for_all` computes the same bits in a tenth of its time, for all
matches of a ladder at once. Where the precision of floats is not enough, the package computes with more digits.
TrueSkill is a trademark of Microsoft.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from statistics import NormalDist
from typing import Any, Final, NamedTuple

from cutpurse.leaderboard.free_for_all import Numbers, rate_in_order

with warnings.catch_warnings():  # Python 3.12 warns of "\ " in a docstring of trueskill 0.4.5
    warnings.simplefilter("ignore")
    import trueskill  # type: ignore[import-untyped]

__all__ = ["DIGITS", "Skill", "TrueSkill", "rate", "rate_fast", "win_probability"]

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
    _check(places, skills)
    try:
        return _rate_by_package(places, skills, _model(settings))
    except (ArithmeticError, ValueError):  # usually FloatingPointError, sometimes the root of a negative number
        return _rate_by_package(places, skills, _exact_model(settings))


def rate_fast(places: Sequence[int], skills: Sequence[Skill], settings: TrueSkill) -> list[Skill]:
    """Compute the same as `rate`, to the last bit, in a tenth of its time."""
    _check(places, skills)
    order = sorted(range(len(places)), key=places.__getitem__)
    ties = [places[one] == places[following] for one, following in pairwise(order)]
    try:
        rated = rate_in_order([skills[player] for player in order], ties, _numbers(settings))
    except (ArithmeticError, ValueError):
        return _rate_by_package(places, skills, _exact_model(settings))
    new = dict(zip(order, rated, strict=True))
    return [Skill(*new[player]) for player in range(len(places))]


def win_probability(settings: TrueSkill) -> Callable[[Skill, Skill], float]:
    """Return a function for the probability that one player will be ahead of another; a tie counts half.

    It is a function, because a page of history needs hundreds of probabilities for the same settings.
    """
    drift, luck, margin = _numbers(settings)
    chance = 2 * (luck + drift)

    def likely(one: Skill, other: Skill) -> float:
        (mu, sigma), (its_mu, its_sigma) = one, other
        spread = math.sqrt(chance + sigma**2 + its_sigma**2)
        apart = mu - its_mu
        return (_NORMAL.cdf((apart - margin) / spread) + _NORMAL.cdf((apart + margin) / spread)) / 2

    return likely


@cache
def _numbers(settings: TrueSkill) -> Numbers:
    """Convert settings for `free_for_all`; the draw margin is the package's for two players, to the last bit."""
    margin = trueskill.calc_draw_margin(settings.draw_probability, 2, trueskill.TrueSkill(**_for_package(settings)))
    return Numbers(drift=settings.tau**2, luck=settings.beta**2, margin=margin)


def _check(places: Sequence[int], skills: Sequence[Skill]) -> None:
    if len(places) != len(skills) or len(places) < 2:
        raise ValueError(f"{len(places)} places for {len(skills)} skills; expected one of each for two players or more")


def _rate_by_package(places: Sequence[int], skills: Sequence[Skill], model: Any) -> list[Skill]:
    groups = [(trueskill.Rating(skill.mu, skill.sigma),) for skill in skills]
    rated = model.rate(groups, ranks=list(places))
    return [Skill(float(rating.mu), float(rating.sigma)) for (rating,) in rated]


@cache
def _model(settings: TrueSkill) -> Any:
    return trueskill.TrueSkill(**_for_package(settings))  # Any: the package has no types


@cache
def _exact_model(settings: TrueSkill) -> Any:
    """Load the package (it has no types) with an mpmath backend whose precision is independent of other users."""
    from mpmath import MPContext  # type: ignore[import-untyped]  # rarely needed, so servers don't load it at start

    numbers = MPContext()
    numbers.dps = DIGITS
    backend = (numbers.ncdf, numbers.npdf, lambda share: numbers.sqrt(2) * numbers.erfinv(2 * share - 1))
    return trueskill.TrueSkill(**_for_package(settings), backend=backend)


def _for_package(settings: TrueSkill) -> dict[str, float]:
    return {name: value for name, value in asdict(settings).items() if name != "widening"}  # which only we have
