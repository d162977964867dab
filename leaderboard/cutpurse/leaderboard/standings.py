"""Where a version stands on a ladder, and the one step that every rating is made of.

Both who writes the ledger and who computes it again take this step, so they cannot differ. No database is known here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cutpurse.leaderboard.ratings import Skill, TrueSkill, rate

__all__ = ["Standing", "step"]


@dataclass(frozen=True, slots=True)
class Standing:
    """A row of `ratings`, but for whose it is."""

    skill: Skill
    matches: int = 0
    wins: int = 0
    faulted: int = 0
    sequence: int = 0


def step(
    standings: Sequence[Standing], places: Sequence[int], faults: Sequence[int], settings: TrueSkill, sequence: int
) -> list[Standing]:
    """What the board of this number makes of those who sat at it, by seat."""
    skills = rate(places, [standing.skill for standing in standings], settings)
    return [
        Standing(
            skill,
            standing.matches + 1,
            standing.wins + (place == 1),
            standing.faulted + (fault > 0),
            sequence,
        )
        for standing, place, fault, skill in zip(standings, places, faults, skills, strict=True)
    ]
