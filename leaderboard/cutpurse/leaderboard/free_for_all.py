"""TrueSkill of one free-for-all, equal to the package `trueskill` to the last bit in a tenth of its time.

The factor graph of a free-for-all is a chain: the players in the order of their places, and a gap between each two
neighbours. This module sends the same messages as the package, and does the same arithmetic in the same order, because
ledgers that the package rated must be recomputed to the bit. This is why `x**2` is written exactly where the package
has it, and why a value first loses its old message and then gets the new one. It is also why `erfc` is the package's
own, which is accurate to seven digits. A test compares the two.

Where the precision of floats is not enough, it raises as the package does; then `Numbers` can have functions with more
digits, which are cut to floats where the package does so. It knows only five numbers and functions of the settings.

The schedule is by Herbrich, Minka and Graepel (2006); the functions are those of trueskill 0.4.5 (BSD licence,
Heungsub Lee).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import exp, inf, log, pi, sqrt
from typing import Any, Final, NamedTuple

__all__ = ["Numbers", "inverse_below", "rate_in_order"]

MIN_DELTA: Final = 0.0001  # sweeps end when the largest change is at most this, or
MOST_SWEEPS: Final = 10  # after this many
ROOT_2: Final = sqrt(2)
PEAK: Final = 1 / sqrt(2 * pi)  # of the normal density


def erfc(x: float) -> float:
    """Compute the complementary error function with a relative error of 1.2e-7."""
    z = abs(x)
    t = 1.0 / (1.0 + z / 2.0)
    coefficients = (-0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368)
    total = t * 0.17087277
    for coefficient in coefficients:
        total = t * (coefficient + total)
    r = t * exp(-z * z - 1.26551223 + total)
    return 2.0 - r if x < 0 else r


def below(x: float) -> float:
    """Compute the normal distribution function."""
    return 0.5 * erfc(-x / ROOT_2)


def density(x: float) -> float:
    """Compute the density of the normal distribution."""
    return PEAK * exp(-(x**2 / 2))


def inverse_below(share: float) -> float:
    """Compute where the normal distribution function has this value, at least a half, by two steps of Halley."""
    y = 2 - 2 * share
    if y <= 0:
        return ROOT_2 * 100.0
    t = sqrt(-2 * log(y / 2.0))
    x = -0.70711 * ((2.30753 + t * 0.27061) / (1.0 + t * (0.99229 + t * 0.04481)) - t)
    for _ in range(2):
        error = erfc(x) - y
        x += error / (1.12837916709551257 * exp(-(x**2)) - x * error)
    return ROOT_2 * x


class Numbers(NamedTuple):
    """The parameters of the model.

    Attributes:
        drift: Variance that a skill gains between two matches, tau ** 2.
        luck: Variance of performances around the skill, beta ** 2.
        margin: Draw margin: two performances that differ by less tie.
        below: Normal distribution function; its values may have more digits than a float.
        density: Density of the normal distribution.
    """

    drift: float
    luck: float
    margin: float
    below: Callable[[Any], Any] = below
    density: Callable[[Any], Any] = density


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
    gaps = [_Gap(*pair, is_tie, numbers) for pair, is_tie in zip(pairwise(players), ties, strict=True)]
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
            precision = 1.0 / (1 / float(precision))
        else:  # no gap had any information
            mu = 0.0
        precision, shift = (
            self.by_skill_precision + precision - self.by_skill_precision,
            self.by_skill_shift + precision * mu - self.by_skill_shift,
        )
        share = 1.0 / (1.0 + luck * precision)
        precision, shift = self.skill_precision + share * precision, self.skill_shift + share * shift
        mu, sigma = float(shift / precision), sqrt(1 / precision)
        precision = sigma**-2
        return precision * mu / precision, sqrt(1 / precision)


class _Gap:
    """The difference of the performances of two neighbours, truncated by the result."""

    __slots__ = (
        "better",
        "cut_precision",
        "cut_shift",
        "is_tie",
        "numbers",
        "played_precision",
        "played_shift",
        "precision",
        "shift",
        "worse",
    )

    def __init__(self, better: _Player, worse: _Player, is_tie: bool, numbers: Numbers) -> None:
        self.better = better
        self.worse = worse
        self.is_tie = is_tie
        self.numbers = numbers
        self.precision = self.shift = 0.0
        self.played_precision = self.played_shift = 0.0
        self.cut_precision = self.cut_shift = 0.0

    def cut(self) -> float:
        """Update the gap by the messages of both players and by the result, and return the change."""
        better, worse = self.better, self.worse
        plus, minus = better.precision - better.below_precision, worse.precision - worse.above_precision
        played_precision = _of_difference(plus, minus)
        played_shift = played_precision * (
            _mean(better.shift - better.below_shift, plus) - _mean(worse.shift - worse.above_shift, minus)
        )
        precision = self.precision - self.played_precision + played_precision
        shift = self.shift - self.played_shift + played_shift
        self.played_precision, self.played_shift = played_precision, played_shift

        apart, apart_shift = precision - self.cut_precision, shift - self.cut_shift
        root = sqrt(apart)
        if self.is_tie:
            up, narrowed = _tied(apart_shift / root, self.numbers.margin * root, self.numbers)
        else:
            up, narrowed = _won(apart_shift / root - self.numbers.margin * root, self.numbers)
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
        mu = _mean(self.shift - self.played_shift, cut) + _mean(worse.shift - worse.above_shift, other)
        precision = _of_difference(cut, other)
        shift = precision * mu
        better.precision = better.precision - better.below_precision + precision
        better.shift = better.shift - better.below_shift + shift
        better.below_precision, better.below_shift = precision, shift

    def tell_worse(self) -> None:
        """Update the worse player: the performance of the better one minus this gap."""
        better, worse = self.better, self.worse
        cut, other = self.precision - self.played_precision, better.precision - better.below_precision
        mu = _mean(better.shift - better.below_shift, other) - _mean(self.shift - self.played_shift, cut)
        precision = _of_difference(other, cut)
        shift = precision * mu
        worse.precision = worse.precision - worse.above_precision + precision
        worse.shift = worse.shift - worse.above_shift + shift
        worse.above_precision, worse.above_shift = precision, shift


def _mean(shift: float, precision: float) -> float:
    """Return the mean of a normal variable; 0 if nothing is known of it, as of a result that was certain."""
    return shift / precision if precision else 0.0


def _of_difference(a: float, b: float) -> float:
    """Return the precision of the difference of two normal variables; 0 if nothing is known of one."""
    a, b = float(a), float(b)
    return 1.0 / (1 / a + 1 / b) if a and b else 0.0


def _won(x: float, numbers: Numbers) -> tuple[float, float]:
    """Return v and w, the shift and the narrowing, of a gap whose mean is x standard deviations above the margin."""
    share = numbers.below(x)
    v = numbers.density(x) / share if share else -x
    w = v * (v + x)
    if 0 < w < 1:
        return v, w
    raise FloatingPointError(f"somebody won who was {-x} standard deviations behind")


def _tied(x: float, margin: float, numbers: Numbers) -> tuple[float, float]:
    """Return v and w of a tied gap with mean x; x and the margin are in standard deviations."""
    wide = abs(x)
    a, b = margin - wide, -margin - wide
    between = numbers.below(a) - numbers.below(b)
    if not between:
        raise FloatingPointError(f"two tied who were {wide} standard deviations apart")
    at_a, at_b = numbers.density(a), numbers.density(b)
    v = (at_b - at_a) / between
    return -v if x < 0 else v, v**2 + (a * at_a - b * at_b) / between
