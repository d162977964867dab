"""Where a version stands on a ladder, where it begins, and the one step that every rating is made of.

Both who writes the ledger and who computes it again take these, so they cannot differ. No database is known here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.leaderboard.ratings import Skill, TrueSkill, rate

__all__ = ["FORM", "RatingState", "standing_of", "step"]

FORM: Final = 10  # places in the last matches that are kept


@dataclass(frozen=True, slots=True)
class RatingState:
    """A row of `ratings`, but for whose it is.  form: places in the last matches, the newest first."""

    skill: Skill
    matches: int = 0
    wins: int = 0
    faulted: int = 0
    sequence: int = 0
    form: tuple[int, ...] = ()


def standing_of(
    version: int, standings: Mapping[int, RatingState], parents: Mapping[int, int | None], settings: TrueSkill
) -> RatingState:
    """Where a version stands before its next board of a ladder.

    standings: of the versions that are rated there. One that is not begins as the heir of the nearest version before it
    that is, as that stands at this moment; if there is none, as a newcomer. parents: the version before each; those
    that are rated may be left out.
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
    standings: Sequence[RatingState], places: Sequence[int], faults: Sequence[int], settings: TrueSkill, sequence: int
) -> list[RatingState]:
    """Compute the rating states after the board with this number, by seat."""
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
