"""The luck of the cards of finished matches: found one at a time in a process of its own, and cached.

A match is played again with many other draws, which takes about a second. This module knows no page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from cutpurse.page.language.speaking import gettext_noop
from cutpurse.page.visitor_process import Refusals, VisitorProcess
from cutpurse.process.interpreter import module_command

__all__ = ["LuckProcess", "LuckShown", "LuckyMoment"]

MAX_CACHED_BYTES: Final = 4 * 2**20  # some ten thousand matches
MAX_S: Final = 60.0  # for a match, on a busy machine
MIN_PLACES: Final = 0.05  # of a draw that is shown; less is 0.0
COMMAND: Final = module_command("cutpurse.lab.match_luck")
YOURS: Final = gettext_noop("the luck of another match is being found for you; try again in a few seconds")
BUSY: Final = gettext_noop("the luck of too many matches is being found; try again in a few seconds")
FAILED: Final = gettext_noop("the luck of this match could not be found; try again later")


@dataclass(frozen=True, slots=True)
class LuckyMoment:
    """A draw that gave a seat much: the choices of the match after it, the seat, and places that it gave."""

    choices_after: int
    seat: int
    places: float


@dataclass(frozen=True, slots=True)
class LuckShown:
    """Places that the cards gave each seat, with the luckiest draws; no seats if nobody can find its luck."""

    by_seat: tuple[float, ...] = ()
    luckiest: tuple[LuckyMoment, ...] = ()


class LuckProcess(VisitorProcess):
    """Finds the luck of matches, by their IDs, from their match files."""

    def __init__(self, command: Sequence[str] = COMMAND, max_s: float = MAX_S) -> None:
        """Set the command that finds it, and the seconds that it may take."""
        super().__init__(command, max_s, MAX_CACHED_BYTES, Refusals(YOURS, BUSY, FAILED))

    def luck_of(self, match: str) -> LuckShown | None:
        """Return the luck of a match if it was found already."""
        answer = self.cached(match)
        return None if answer is None else _shown(answer)


def _shown(found: bytes) -> LuckShown:
    luck: dict[str, Any] | None = json.loads(found)
    if luck is None:
        return LuckShown()
    steps = len(luck["by_seat"]) - 1  # a place point is as many places as a match has opponents
    draws = [LuckyMoment(draw["choices_after"], draw["seat"], draw["luck"] * steps) for draw in luck["luckiest"]]
    return LuckShown(
        tuple([points * steps for points in luck["by_seat"]]),
        tuple([draw for draw in draws if draw.places >= MIN_PLACES]),
    )
