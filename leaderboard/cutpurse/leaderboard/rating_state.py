"""The rating state of a version on a ladder, and the step by which a board changes it.

The writer of the ledger and `recompute` both use this module, so they cannot differ. It knows no database.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.leaderboard.ratings import Skill, TrueSkill, rate

__all__ = ["FORM", "RatingState", "standing_of", "step"]

FORM: Final = 10  # number of recent places stored


@dataclass(frozen=True, slots=True)
class RatingState:
    """A row of `ratings` without its keys.

    Attributes:
        skill: Rating after the last board.
        matches: Number of rated boards.
        wins: Number of first places, including shared ones.
        faulted: Number of boards with a fault of the version.
        sequence: Number of the last board.
        form: Places on the last boards, the newest first.
    """

    skill: Skill
    matches: int = 0
    wins: int = 0
    faulted: int = 0
    sequence: int = 0
    form: tuple[int, ...] = ()


def standing_of(
    version: int, standings: Mapping[int, RatingState], parents: Mapping[int, int | None], settings: TrueSkill
) -> RatingState:
    """Return the rating state of a version before its next board on a ladder.

    An unrated version starts from the current rating of its nearest rated ancestor, or as a newcomer.

    Args:
        version: ID of the version.
        standings: Rating states of the rated versions.
        parents: Parent of each version; rated versions may be missing.
        settings: TrueSkill parameters of the ladder.
    """
    stands = standings.get(version)
    if stands is not None:
        return stands
    before = parents.get(version)
    while before is not None:
        if before in standings:
            return RatingState(settings.prior_for_new_version(standings[before].skill))
        before = parents.get(before)
    return RatingState(settings.newcomer)


def step(
    standings: Sequence[RatingState],
    places: Sequence[int],
    faults: Sequence[int],
    settings: TrueSkill,
    sequence: int,
) -> list[RatingState]:
    """Compute the rating states after board `sequence`; all lists are in the same order.

    Args:
        standings: Rating states before it.
        places: Places on the board.
        faults: Faults on the board.
        settings: TrueSkill parameters of the ladder.
        sequence: Number of the board on its ladder.
    """
    skills = rate(places, [standing.skill for standing in standings], settings)
    return [
        RatingState(
            skill,
            standing.matches + 1,
            standing.wins + (place == 1),
            standing.faulted + (fault > 0),
            sequence,
            (place, *standing.form[: FORM - 1]),
        )
        for standing, place, fault, skill in zip(standings, places, faults, skills, strict=True)
    ]
