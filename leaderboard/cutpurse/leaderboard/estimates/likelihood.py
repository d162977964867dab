"""The likelihood of results for given skills, where a result of several players is taken as its pairs.

The unit of skills and of the draw margin is the standard deviation of the difference of two performances. Players are
numbered 0, 1, .... This module knows no prior, no rating scale and no versions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

__all__ = ["Field", "Pairs", "Surprises", "residual_statistics", "tally", "draw_probability"]

FADED: Final = 1e-3  # pairs of a smaller weight are left out
# Below this likelihood floats lose precision. There the logarithm of a normal tail is close to a parabola, so its
# derivatives are known.
TAIL: Final = 1e-280
_ROOT_2: Final = math.sqrt(2)
_PEAK: Final = 1 / math.sqrt(2 * math.pi)

Field: TypeAlias = tuple[Sequence[int], Sequence[int]]  # the players of a comparison, and their places


class Pairs(NamedTuple):
    """The results by pair of players: both players, the lower number first, and how often that one was ahead."""

    one: list[int]
    other: list[int]
    ahead: list[float]
    level: list[float]
    behind: list[float]


def tally(fields: Sequence[Field], players: int, fading: float = 0.0) -> Pairs:
    """Add up the results of all comparisons by pair of players.

    Args:
        fields: Comparisons, the oldest first.
        players: Number of players.
        fading: A comparison has weight e ** -(fading * later), with `later` the number of later comparisons of each
            player, averaged over the pair. 0 means equal weights.
    """
    found: dict[int, list[float]] = {}
    later = [0] * players
    shares = [math.exp(-fading * half / 2) for half in range(2 * len(fields) + 1)] if fading else []
    for who, places in reversed(fields):
        for at, (one, place) in enumerate(zip(who, places, strict=True)):
            for after in range(at + 1, len(who)):
                other, its = who[after], places[after]
                weight = 1.0
                if fading and (weight := shares[later[one] + later[other]]) < FADED:
                    continue
                is_turned = one > other
                key = other * players + one if is_turned else one * players + other
                row = found.get(key)
                if row is None:
                    row = found[key] = [0.0, 0.0, 0.0]
                row[1 if place == its else 0 if (place < its) != is_turned else 2] += weight
        for one in who:
            later[one] += 1
    order = sorted(found)
    rows = [found[key] for key in order]
    return Pairs(
        [key // players for key in order],
        [key % players for key in order],
        [row[0] for row in rows],
        [row[1] for row in rows],
        [row[2] for row in rows],
    )


def score_and_information(
    apart: float, margin: float, ahead: float, level: float, behind: float
) -> tuple[float, float]:
    """Compute the score and the information of the results of two players.

    Args:
        apart: Skill of the first player minus that of the second.
        margin: Draw margin.
        ahead: Weight of the results in which the first player was ahead.
        level: Weight of the ties.
        behind: Weight of the results in which the first player was behind.

    Returns:
        The first and the negative second derivative of the log-likelihood in `apart`.
    """
    force = hold = 0.0
    if ahead:
        v, w = _beyond(apart - margin)
        force, hold = ahead * v, ahead * w
    if behind:
        v, w = _beyond(-apart - margin)
        force, hold = force - behind * v, hold + behind * w
    if level:
        v, w = _within(apart, margin)
        force, hold = force + level * v, hold + level * w
    return force, hold


def draw_probability(apart: float, margin: float) -> float:
    """Return the probability that two players tie whose skills are `apart`."""
    return _below(margin - apart) - _below(-margin - apart)


class Surprises(NamedTuple):
    """Statistics of the residual scores: what comparisons say beyond what the skills predict.

    Attributes:
        squares: Sum of the squared scores over all players of all comparisons.
        unsteady: Nyblom's statistic by player: how much the scores drift over time. Its mean is 1/6 for a player of
            constant skill; it is 0 for a player without results.
        played: Number of comparisons by player.
    """

    squares: float
    unsteady: list[float]
    played: list[int]


def residual_statistics(fields: Sequence[Field], skills: Sequence[float], margin: float) -> Surprises:
    """Compute the residual statistics of all comparisons for these skills."""
    players = len(skills)
    forces: dict[int, tuple[float, float, float]] = {}
    courses: list[list[float]] = [[] for _ in range(players)]
    for who, places in fields:
        moved = [0.0] * len(who)
        for at, (one, place) in enumerate(zip(who, places, strict=True)):
            for after in range(at + 1, len(who)):
                other, its = who[after], places[after]
                key = one * players + other
                force = forces.get(key)
                if force is None:
                    apart = skills[one] - skills[other]
                    force = forces[key] = (
                        _beyond(apart - margin)[0],
                        _within(apart, margin)[0],
                        -_beyond(-apart - margin)[0],
                    )
                by = force[0 if place < its else 1 if place == its else 2]
                moved[at] += by
                moved[after] -= by
        for one, by in zip(who, moved, strict=True):
            courses[one].append(by)
    return Surprises(
        sum(by * by for course in courses for by in course),
        [_unsteady(course) for course in courses],
        [len(course) for course in courses],
    )


def _unsteady(course: Sequence[float]) -> float:
    """Compute Nyblom's statistic of a series of scores, from its cumulative sums.

    Nyblom, "Testing for the constancy of parameters over time" (1989).
    """
    if not course:
        return 0.0
    mean = sum(course) / len(course)
    total = wandered = squares = 0.0
    for by in course:
        total += by - mean
        wandered += total * total
        squares += (by - mean) ** 2
    return wandered / (len(course) * squares) if squares else 0.0


def _beyond(z: float) -> tuple[float, float]:
    """Return the first and the negative second derivative of log P(X > 0) in z, for a normal X with mean z."""
    likely = math.erfc(-z / _ROOT_2) / 2
    if likely < TAIL:
        return -z, 1.0
    v = _PEAK * math.exp(-z * z / 2) / likely
    return v, v * (v + z)


def _within(apart: float, margin: float) -> tuple[float, float]:
    """Return the first and the negative second derivative of log P(|X| < margin) in `apart`, the mean of a normal X."""
    a, b = margin - apart, -margin - apart
    likely = _below(a) - _below(b)
    if likely < TAIL:
        return -apart, 1.0
    at_a, at_b = _PEAK * math.exp(-a * a / 2), _PEAK * math.exp(-b * b / 2)
    v = (at_b - at_a) / likely
    return v, v * v + (a * at_a - b * at_b) / likely


def _below(z: float) -> float:
    return math.erfc(-z / _ROOT_2) / 2
