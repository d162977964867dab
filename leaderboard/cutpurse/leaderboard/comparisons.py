"""A board is one deal and the matches played on it. What is rated is always a board; here is what is compared on it.

`plain`: one match; who sat in it are ranked by their places.

`rotation`: as many matches as there are seats, the same versions in all of them, each in every seat once. They are
ranked once, by the sum of their place points over all matches.

`duplicate`: the same deal at two tables or more, nobody at two of them. Who held the same seat are ranked by the place
points they made at their tables, those with as many points sharing a place: one ranking for each seat. Scores are not
looked at: what a score is worth depends on whom it was made against, and each game counts in a unit of its own.

Place points are the number of those whom one is ahead of, and a half for each with whom one shares the place: at n
seats n - place, averaged over the places that are shared. They are counted in halves, so that sums are whole.

Both who writes the ledger and who computes it again take this, so they cannot differ. No database is known here.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

__all__ = [
    "BOARDS",
    "MOST_MATCHES",
    "PLAIN",
    "Comparison",
    "BoardMatch",
    "comparisons_of",
    "half_points",
    "kind_of",
    "why_incompatible",
]

PLAIN: Final = "plain"
BOARDS: Final = (PLAIN, "rotation", "duplicate")
MOST_MATCHES: Final = 255  # on one board


class BoardMatch(NamedTuple):
    """A match of a board that counts, by seat."""

    versions: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[int, ...]


class Comparison(NamedTuple):
    """Those who are rated against each other; places[i] is that of versions[i], 1 the best, ties equal."""

    versions: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[int, ...]


def kind_of(ladder: str, matches: int) -> str:
    """Return the kind of a board with this many matches, on a ladder with boards of this kind."""
    return PLAIN if matches == 1 else ladder


def comparisons_of(kind: str, matches: Sequence[BoardMatch]) -> list[Comparison]:
    """List what is rated on a board of this kind whose matches all count, in the order in which they were stored."""
    if len(matches) == 1:
        return [Comparison(*matches[0])]
    if kind == "rotation":
        return [_summed(matches)]
    return [_at_seat(seat, matches) for seat in range(len(matches[0].versions))]


def half_points(places: Sequence[int]) -> list[int]:
    """Twice the place points of each seat of a match."""
    return [2 * sum(other > place for other in places) + places.count(place) - 1 for place in places]


def why_incompatible(kind: str, matches: int, versions: Sequence[int], others: Collection[Sequence[int]]) -> str | None:
    """Why a match of these versions, by seat, does not fit with the others of its board, or None.

    kind: that of the boards of the ladder; matches: how many its board has.
    """
    if matches == 1:
        return None
    if kind == PLAIN:
        return f"its board has {matches} matches, and boards of its ladder have one"
    if kind == "rotation":
        if matches != len(versions):
            return f"its board has {matches} matches, and a rotation of {len(versions)} seats has as many"
        for other in others:
            if set(other) != set(versions):
                return "others sit in another match of its board, which is a rotation"
            if any(mine == theirs for mine, theirs in zip(versions, other, strict=True)):
                return "a version has the same seat in another match of its board, which is a rotation"
    elif any(set(other) & set(versions) for other in others):
        return "a version sits in another match of its board too, and has seen its cards"
    return None


def _summed(matches: Sequence[BoardMatch]) -> Comparison:
    """Return the comparison of a rotation, in the order of seats of its first match."""
    versions = matches[0].versions
    points, faults = dict.fromkeys(versions, 0), dict.fromkeys(versions, 0)
    for match in matches:
        for version, made, fault in zip(match.versions, half_points(match.places), match.faults, strict=True):
            points[version] += made
            faults[version] += fault
    return Comparison(versions, _ranked(list(points.values())), tuple(faults.values()))


def _at_seat(seat: int, matches: Sequence[BoardMatch]) -> Comparison:
    """Those who held a seat of a duplicate."""
    points = [half_points(match.places)[seat] for match in matches]
    return Comparison(
        tuple(match.versions[seat] for match in matches),
        _ranked(points),
        tuple(match.faults[seat] for match in matches),
    )


def _ranked(points: Sequence[int]) -> tuple[int, ...]:
    return tuple(1 + sum(other > mine for other in points) for mine in points)
