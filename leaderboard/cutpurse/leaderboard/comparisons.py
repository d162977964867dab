"""The comparisons of a board: which of its versions are rated against each other, and their places.

A board is one deal and the matches played on it; ratings change by whole boards. There are three kinds of rated boards.

`plain`: one match. Its versions are ranked by their places.

`rotation`: as many matches as seats. The same versions play all matches, each version once in every seat. They are
ranked once, by the sum of their place points over all matches.

`duplicate`: two or more matches of the same deal, and no version plays in two of them. The versions that had the same
seat are ranked by their place points, and equal points share a place. So there is one comparison for each seat. Scores
are ignored, because their value depends on the opponents, and each game counts in its own unit.

`test`: two matches of the same deal, unrated, for a test of two versions. Only one seat differs: one version has it in
the first match, and the other one in the second.

Place points are 1 for each opponent behind, and a half for each that shares the place. With n seats that is n - place,
averaged over shared places. They are counted in halves, so that sums are integers.

The writer of the ledger and `recompute` both use this module, so they cannot differ. It knows no database.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

__all__ = [
    "BOARDS",
    "MOST_MATCHES",
    "PLAIN",
    "TEST",
    "TEST_MATCHES",
    "Comparison",
    "comparisons_of",
    "half_points",
    "kind_of",
    "why_incompatible",
]

PLAIN: Final = "plain"
BOARDS: Final = (PLAIN, "rotation", "duplicate")
TEST: Final = "test"  # kind of the boards of version tests, on a ladder of any kind
TEST_MATCHES: Final = 2  # on each of them
MOST_MATCHES: Final = 255  # maximum on one board


class Comparison(NamedTuple):
    """Versions ranked against each other; places[i] is that of versions[i], 1 is best, ties are equal.

    A match that is not void is one, by seat; of a board with several matches, `comparisons_of` makes others.
    """

    versions: tuple[int, ...]
    places: tuple[int, ...]
    faults: tuple[int, ...]


def kind_of(ladder: str, matches: int, is_rated: bool = True) -> str:
    """Return the kind of a board with this many matches, on a ladder whose boards are of kind `ladder`."""
    if matches > 1 and not is_rated:
        return TEST
    return PLAIN if matches == 1 else ladder


def comparisons_of(kind: str, matches: Sequence[Comparison]) -> list[Comparison]:
    """List the comparisons of a board.

    Args:
        kind: Kind of the boards of the ladder.
        matches: All matches of the board in the order of storing; none is void.
    """
    if len(matches) == 1:
        return [matches[0]]
    if kind == "rotation":
        return [_summed(matches)]
    return [_at_seat(seat, matches) for seat in range(len(matches[0].versions))]


def half_points(places: Sequence[int]) -> list[int]:
    """Compute twice the place points of each seat of a match."""
    return [2 * sum(other > place for other in places) + places.count(place) - 1 for place in places]


def why_incompatible(kind: str, matches: int, versions: Sequence[int], others: Collection[Sequence[int]]) -> str | None:
    """Explain why a match does not fit with the other matches of its board.

    Args:
        kind: Kind of the board, as by `kind_of`.
        matches: Number of matches of the board.
        versions: Versions in the match, by seat.
        others: Versions in each of the other matches, by seat.

    Returns:
        The reason, or None if the match fits.
    """
    if matches == 1:
        return None
    if kind == TEST:
        if any(sum(mine != theirs for mine, theirs in zip(versions, other, strict=True)) != 1 for other in others):
            return "the matches of the board of a test differ in exactly one seat"
    elif kind == PLAIN:
        return f"its board has {matches} matches, and boards of its ladder have one"
    elif kind == "rotation":
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


def _summed(matches: Sequence[Comparison]) -> Comparison:
    """Return the comparison of a rotation, in the seat order of its first match."""
    versions = matches[0].versions
    points, faults = dict.fromkeys(versions, 0), dict.fromkeys(versions, 0)
    for match in matches:
        for version, made, fault in zip(match.versions, half_points(match.places), match.faults, strict=True):
            points[version] += made
            faults[version] += fault
    return Comparison(versions, _ranked(list(points.values())), tuple(faults.values()))


def _at_seat(seat: int, matches: Sequence[Comparison]) -> Comparison:
    """Return the comparison of the versions that had one seat of a duplicate."""
    points = [half_points(match.places)[seat] for match in matches]
    return Comparison(
        tuple(match.versions[seat] for match in matches),
        _ranked(points),
        tuple(match.faults[seat] for match in matches),
    )


def _ranked(points: Sequence[int]) -> tuple[int, ...]:
    return tuple(1 + sum(other > mine for other in points) for mine in points)
