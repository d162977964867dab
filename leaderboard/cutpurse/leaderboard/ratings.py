"""TrueSkill for one free-for-all: places and skills go in, new skills come out.

This module knows no ladder, no database and no clock. It is a function of its arguments, the same bits each time on one
machine; a machine whose `exp` and `log` round otherwise may differ in the last bit.

    settings = TrueSkill(draw_probability=0.05)
    ann, bob, cid = rate([1, 2, 2], [settings.newcomer] * 3, settings)

The model is that of Herbrich, Minka and Graepel, "TrueSkill: a Bayesian skill rating system" (2006). It is computed by
`free_for_all`, which gives the bits of the package `trueskill` in a tenth of its time, and by the package where that
cannot. TrueSkill is a trademark of Microsoft.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

from cutpurse.leaderboard.free_for_all import Numbers, rate_in_order

with (
    warnings.catch_warnings()
):  # trueskill 0.4.5 has a docstring with "\ ", which Python 3.12 warns of when it compiles
    warnings.simplefilter("ignore")
    import trueskill  # type: ignore[import-untyped]

__all__ = ["DIGITS", "Skill", "TrueSkill", "win_probability", "rate"]

DIGITS: Final = 60  # where floats do not do; at 15, one in a hundred of the most absurd upsets still fails
_SQRT_2: Final = math.sqrt(2)


class Skill(NamedTuple):
    """What is believed of a player: a normal distribution with mean mu and standard deviation sigma."""

    mu: float
    sigma: float

    @property
    def exposed(self) -> float:
        """Return mu - 3 sigma, a lower bound of the skill."""
        return self.mu - 3 * self.sigma


@dataclass(frozen=True, slots=True)
class TrueSkill:
    """The numbers that the model assumes of a game; they never change once matches were rated with them.

    draw_probability: how often two equal players tie, in (0, 1); never 0, since places may be shared in every game.
    mu, sigma: what is believed of a newcomer.
    beta: the distance in skill at which the better one wins about 76 times in 100; the more luck, the larger.
    tau: what may have changed in a player's skill between two matches.
    widening: what may have changed in a bot's skill from one version to the next, in shares of sigma.

    Raises ValueError.
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
        """What is believed of somebody who never played."""
        return Skill(float(self.mu), float(self.sigma))

    def prior_for_new_version(self, parent: Skill) -> Skill:
        """Compute the prior of a new version of a bot from the skill of the version before.

        Its mu, and the sigma of two uncertainties that add up, sqrt(sigma^2 + (widening sigma_0)^2), though never more
        than that of a newcomer.
        """
        step = self.widening * self.sigma
        return Skill(parent.mu, min(float(self.sigma), math.sqrt(parent.sigma * parent.sigma + step * step)))

    def to_json(self) -> str:
        """One line, sorted keys; floats so that they come back to the bit."""
        return json.dumps(asdict(self), separators=(",", ":"), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> TrueSkill:
        """Read the settings that `to_json` wrote."""
        return cls(**json.loads(text))


def rate(places: Sequence[int], skills: Sequence[Skill], settings: TrueSkill) -> list[Skill]:
    """Compute the skills after a match; places[i] is that of player i, the lowest is best, ties are equal.

    An upset so absurd that floats do not do is computed again with 60 digits. Raises ValueError if the lengths differ
    or there are fewer than two players.
    """
    if len(places) != len(skills) or len(places) < 2:
        raise ValueError(f"{len(places)} places for {len(skills)} skills; expected one of each for two players or more")
    order = sorted(range(len(places)), key=places.__getitem__)
    ties = [places[one] == places[following] for one, following in pairwise(order)]
    try:
        rated = rate_in_order([skills[player] for player in order], ties, _numbers(settings))
    except (ArithmeticError, ValueError):  # FloatingPointError as a rule, now and then the root of a negative number
        return _rate_exactly(places, skills, settings)
    new = dict(zip(order, rated, strict=True))
    return [Skill(*new[player]) for player in range(len(places))]


def win_probability(settings: TrueSkill) -> Callable[[Skill, Skill], float]:
    """How likely it is that the one comes in ahead of the other when they meet next; a tie counts half.

    A function of both, for a page of history asks it some hundreds of times.
    """
    drift, luck, margin = _numbers(settings)
    chance = 2 * (luck + drift)

    def likely(one: Skill, other: Skill) -> float:
        (mu, sigma), (its_mu, its_sigma) = one, other
        spread = math.sqrt(chance + sigma**2 + its_sigma**2)
        apart = mu - its_mu
        return (_below((apart - margin) / spread) + _below((apart + margin) / spread)) / 2

    return likely


def _below(deviations: float) -> float:
    """Compute the standard normal distribution function."""
    return math.erfc(-deviations / _SQRT_2) / 2


@cache
def _numbers(settings: TrueSkill) -> Numbers:
    """Compute the numbers of these settings; the margin is the package's for two players, to the bit."""
    margin = trueskill.calc_draw_margin(settings.draw_probability, 2, trueskill.TrueSkill(**_for_package(settings)))
    return Numbers(drift=settings.tau**2, luck=settings.beta**2, margin=margin)


def _rate_exactly(places: Sequence[int], skills: Sequence[Skill], settings: TrueSkill) -> list[Skill]:
    groups = [(trueskill.Rating(skill.mu, skill.sigma),) for skill in skills]
    rated = _exact_model(settings).rate(groups, ranks=list(places))
    return [Skill(float(rating.mu), float(rating.sigma)) for (rating,) in rated]


@cache
def _exact_model(settings: TrueSkill) -> Any:
    """Load the package (it has no types) with its mpmath backend, and with a precision that nobody else can change."""
    from mpmath import MPContext  # type: ignore[import-untyped]  # hardly ever wanted, and every server would load it

    numbers = MPContext()
    numbers.dps = DIGITS
    backend = (numbers.ncdf, numbers.npdf, lambda share: numbers.sqrt(2) * numbers.erfinv(2 * share - 1))
    return trueskill.TrueSkill(**_for_package(settings), backend=backend)


def _for_package(settings: TrueSkill) -> dict[str, float]:
    return {name: value for name, value in asdict(settings).items() if name != "widening"}  # which is ours alone
