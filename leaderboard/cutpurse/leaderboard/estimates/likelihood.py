"""Results as pairs: how often one was ahead of another, level and behind, and how likely that is for given skills.

What somebody shows in a match has, less what another shows, a standard deviation of 1; all skills and the margin are in
that unit here. Players are 0, 1, ...; this module knows no prior, no scale and no versions.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple, TypeAlias

__all__ = ["Field", "Pairs", "Surprises", "residual_statistics", "tally", "draw_probability"]

FADED: Final = 1e-3  # what counts less is left out
TAIL: Final = (
    1e-280  # a likelihood that floats do not tell from none: there the tail of a normal distribution is straight
)
_ROOT_2: Final = math.sqrt(2)
_PEAK: Final = 1 / math.sqrt(2 * math.pi)

Field: TypeAlias = tuple[Sequence[int], Sequence[int]]  # players who were placed among each other, and their places


class Pairs(NamedTuple):
    """By pair: both players, the first the lower, and how often the first was ahead, level and behind."""

    one: list[int]
    other: list[int]
    ahead: list[float]
    level: list[float]
    behind: list[float]


def tally(fields: Sequence[Field], players: int, fading: float = 0.0) -> Pairs:
    """List the pairs of all comparisons, in the order in which they came.

    fading: a field counts e ** -(fading * later) for two players that long ago in fields, the mean of both.
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
    """Of two who are so far apart: how much their results would have them further, and how firmly they hold them.

    The first and, less, the second derivative of the logarithm of how likely the results are.
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
    """How often two who are so far apart tie."""
    return _below(margin - apart) - _below(-margin - apart)


class Surprises(NamedTuple):
    """Compute what comparisons say beyond what the skills predicted.

    squares: the sum over all players of all fields of the square of how much a field would have the player moved.
    unsteady: by player, and `played`: how much these forces hang together in time (Nyblom's statistic), 1/6 on the
    average for one who does not change; 0 if there were none.
    """

    squares: float
    unsteady: list[float]
    played: list[int]


def residual_statistics(fields: Sequence[Field], skills: Sequence[float], margin: float) -> Surprises:
    """Look at each field with these skills."""
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
    """Nyblom, "Testing for the constancy of parameters over time" (1989): of sums that should wander about 0."""
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
    """Of what is normal with mean z and is above 0: the derivatives of the logarithm of how likely that is."""
    likely = math.erfc(-z / _ROOT_2) / 2
    if likely < TAIL:
        return -z, 1.0
    v = _PEAK * math.exp(-z * z / 2) / likely
    return v, v * (v + z)


def _within(apart: float, margin: float) -> tuple[float, float]:
    """Compute both for a normal value with mean `apart` that lies within the margin of 0."""
    a, b = margin - apart, -margin - apart
    likely = _below(a) - _below(b)
    if likely < TAIL:
        return -apart, 1.0
    at_a, at_b = _PEAK * math.exp(-a * a / 2), _PEAK * math.exp(-b * b / 2)
    v = (at_b - at_a) / likely
    return v, v * v + (a * at_a - b * at_b) / likely


def _below(z: float) -> float:
    return math.erfc(-z / _ROOT_2) / 2
