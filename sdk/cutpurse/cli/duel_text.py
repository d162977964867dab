"""The names of rounds of duels, which tournaments here and on a server share."""

from __future__ import annotations

from typing import Final

from cutpurse.leaderboard.formats.brackets import Lane

__all__ = ["round_name"]

_LANES: Final = {Lane.MAIN: "", Lane.WINNERS: "winners, ", Lane.LOSERS: "losers, "}
_FINALS: Final = ("grand final", "reset duel")


def round_name(lane: Lane, number: int) -> str:
    """Return the name of a round of a lane, counted from 1."""
    if lane is Lane.FINAL and 0 < number <= len(_FINALS):
        return _FINALS[number - 1]
    return f"{_LANES.get(lane, '')}round {number}"
