"""TrueSkill of one free-for-all in plain floats, equal to the package `trueskill` to the last bit.

The factor graph of a free-for-all is a chain: the players in the order of their places, and a gap between each two
neighbours. This module sends the same messages as the package, and does the same arithmetic in the same order. So the
results have the same bits, and each can recompute a ledger that the other rated. This is why `x**2` is written exactly
where the package has it, and why a value first loses its old message and then gets the new one. It is also why `erfc`
is the package's own, which is accurate to seven digits.

Where the precision of floats is not enough, it raises as the package does. It knows only three numbers of the settings.

The schedule is by Herbrich, Minka and Graepel (2006); the functions are those of trueskill 0.4.5 (BSD licence,
Heungsub Lee).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import exp, inf, pi, sqrt
from typing import Final, NamedTuple

__all__ = ["Numbers", "rate_in_order"]

MIN_DELTA: Final = 0.0001  # sweeps end when the largest change is at most this, or
MOST_SWEEPS: Final = 10  # after this many
ROOT_2: Final = sqrt(2)
PEAK: Final = 1 / sqrt(2 * pi)  # of the normal density


class Numbers(NamedTuple):
    """The parameters of the model.

    Attributes:
        drift: Variance that a skill gains between two matches, tau ** 2.
        luck: Variance of performances around the skill, beta ** 2.
        margin: Draw margin: two performances that differ by less tie.
    """

    drift: float
    luck: float
    margin: float


def rate_in_order(
    skills: Sequence[tuple[float, float]], ties: Sequence[bool], numbers: Numbers
) -> list[tuple[float, float]]:
    """Compute the skills (mu, sigma) after a match.

    Args:
        skills: Skills before the match of at least two players, from the first place to the last.
        ties: ties[i] is whether player i ties with player i + 1; one item fewer than `skills`.
        numbers: Parameters of the model.

    Returns:
        The new skills in the same order.

    Raises:
        ArithmeticError: If the precision of floats is not enough: the upset is too extreme, or sigmas differ too much.
        ValueError: For the same reason.
    """
    players = [_Player(mu, sigma, numbers) for mu, sigma in skills]
    gaps = [_Gap(*pair, is_tie, numbers.margin) for pair, is_tie in zip(pairwise(players), ties, strict=True)]
    forwards, backwards = gaps[:-1], gaps[:0:-1]
    for _ in range(MOST_SWEEPS):
        largest = 0.0 if forwards else gaps[0].cut()
        for gap in forwards:
            if (change := gap.cut()) > largest:
                largest = change
            gap.tell_worse()
        for gap in backwards:
            if (change := gap.cut()) > largest:
                largest = change
            gap.tell_better()
        if largest <= MIN_DELTA:
            break
    gaps[0].tell_better()
    gaps[-1].tell_worse()
    return [player.skill(numbers.luck) for player in players]


class _Player:
    """A player: the distribution of the performance, and the messages from the gaps on both sides.

    Distributions and messages are normal, stored as `precision` = 1 / sigma ** 2 and `shift` = mu / sigma ** 2.
    """

    __slots__ = (
        "above_precision",
        "above_shift",
        "below_precision",
        "below_shift",
        "by_skill_precision",
        "by_skill_shift",
        "precision",
        "shift",
        "skill_precision",
        "skill_shift",
        "start_precision",
        "start_shift",
    )

    def __init__(self, mu: float, sigma: float, numbers: Numbers) -> None:
        precision = sigma**-2  # a rating of the package is converted back and forth like this
        mu = precision * mu / precision
        precision = self.skill_precision = sqrt(sqrt(1 / precision) ** 2 + numbers.drift) ** -2
        shift = self.skill_shift = precision * mu
        share = 1.0 / (1.0 + numbers.luck * precision)
        precision = self.by_skill_precision = share * precision
        shift = self.by_skill_shift = share * shift
        self.precision = self.start_precision = 1.0 / (1 / precision)
        self.shift = self.start_shift = self.precision * (shift / precision)
        self.above_precision = self.above_shift = self.below_precision = self.below_shift = 0.0

    def skill(self, luck: float) -> tuple[float, float]:
        """Return mu and sigma of the skill after all messages."""
        precision, shift = self.precision - self.start_precision, self.shift - self.start_shift
        if precision:
            mu = shift / precision
            precision = 1.0 / (1 / precision)
        else:  # no gap had any information
            mu = 0.0
        precision, shift = (
            self.by_skill_precision + precision - self.by_skill_precision,
            self.by_skill_shift + precision * mu - self.by_skill_shift,
        )
        share = 1.0 / (1.0 + luck * precision)
        precision, shift = self.skill_precision + share * precision, self.skill_shift + share * shift
        mu, sigma = shift / precision, sqrt(1 / precision)
        precision = sigma**-2
        return precision * mu / precision, sqrt(1 / precision)


class _Gap:
    """The difference of the performances of two neighbours, truncated by the result."""

    __slots__ = (
        "better",
        "cut_precision",
        "cut_shift",
        "is_tie",
        "margin",
        "played_precision",
        "played_shift",
        "precision",
        "shift",
        "worse",
    )

    def __init__(self, better: _Player, worse: _Player, is_tie: bool, margin: float) -> None:
        self.better = better
        self.worse = worse
        self.is_tie = is_tie
        self.margin = margin
        self.precision = self.shift = 0.0
        self.played_precision = self.played_shift = 0.0
        self.cut_precision = self.cut_shift = 0.0

    def cut(self) -> float:
        """Update the gap by the messages of both players and by the result, and return the change."""
        better, worse = self.better, self.worse
        plus, minus = better.precision - better.below_precision, worse.precision - worse.above_precision
        played_precision = 1.0 / (1 / plus + 1 / minus)
        played_shift = played_precision * (
            (better.shift - better.below_shift) / plus - (worse.shift - worse.above_shift) / minus
        )
        precision = self.precision - self.played_precision + played_precision
        shift = self.shift - self.played_shift + played_shift
        self.played_precision, self.played_shift = played_precision, played_shift

        apart, apart_shift = precision - self.cut_precision, shift - self.cut_shift
        root = sqrt(apart)
        if self.is_tie:
            up, narrowed = _tied(apart_shift / root, self.margin * root)
        else:
            up, narrowed = _won(apart_shift / root - self.margin * root)
        left = 1.0 - narrowed
        after, after_shift = apart / left, (apart_shift + root * up) / left
        self.cut_precision = after + self.cut_precision - precision
        self.cut_shift = after_shift + self.cut_shift - shift
        self.precision, self.shift = after, after_shift

        changed, changed_shift = abs(precision - after), abs(shift - after_shift)
        if changed == inf:
            return 0.0
        changed = sqrt(changed)
        return changed if changed > changed_shift else changed_shift

    def tell_better(self) -> None:
        """Update the better player: the performance of the worse one plus this gap."""
        better, worse = self.better, self.worse
        cut, other = self.precision - self.played_precision, worse.precision - worse.above_precision
        mu = (worse.shift - worse.above_shift) / other
        if cut:
            mu = (self.shift - self.played_shift) / cut + mu
            precision = 1.0 / (1 / cut + 1 / other)
        else:  # the result was certain, so it has no information
            precision = 0.0
        shift = precision * mu
        better.precision = better.precision - better.below_precision + precision
        better.shift = better.shift - better.below_shift + shift
        better.below_precision, better.below_shift = precision, shift

    def tell_worse(self) -> None:
        """Update the worse player: the performance of the better one minus this gap."""
        better, worse = self.better, self.worse
        cut, other = self.precision - self.played_precision, better.precision - better.below_precision
        mu = (better.shift - better.below_shift) / other
        if cut:
            mu -= (self.shift - self.played_shift) / cut
            precision = 1.0 / (1 / other + 1 / cut)
        else:
            precision = 0.0
        shift = precision * mu
        worse.precision = worse.precision - worse.above_precision + precision
        worse.shift = worse.shift - worse.above_shift + shift
        worse.above_precision, worse.above_shift = precision, shift


def _won(x: float) -> tuple[float, float]:
    """Return v and w, the shift and the narrowing, of a gap whose mean is x standard deviations above the margin."""
    below = _below(x)
    v = PEAK * exp(-(x**2 / 2)) / below if below else -x
    w = v * (v + x)
    if 0 < w < 1:
        return v, w
    raise FloatingPointError(f"somebody won who was {-x} standard deviations behind")


def _tied(x: float, margin: float) -> tuple[float, float]:
    """Return v and w of a tied gap with mean x; x and the margin are in standard deviations."""
    wide = abs(x)
    a, b = margin - wide, -margin - wide
    between = _below(a) - _below(b)
    if not between:
        raise FloatingPointError(f"two tied who were {wide} standard deviations apart")
    at_a, at_b = PEAK * exp(-(a**2 / 2)), PEAK * exp(-(b**2 / 2))
    v = (at_b - at_a) / between
    return -v if x < 0 else v, v**2 + (a * at_a - b * at_b) / between


def _below(x: float) -> float:
    """Compute the normal distribution function by the package's `erfc`, with a relative error of 1.2e-7."""
    x = -x / ROOT_2
    z = abs(x)
    t = 1.0 / (1.0 + z / 2.0)
    r = t * exp(
        -z * z
        - 1.26551223
        + t
        * (
            1.00002368
            + t
            * (
                0.37409196
                + t
                * (
                    0.09678418
                    + t
                    * (
                        -0.18628806
                        + t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))
                    )
                )
            )
        )
    )
    return 0.5 * (2.0 - r if x < 0 else r)
