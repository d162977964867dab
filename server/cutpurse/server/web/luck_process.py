"""The luck of the cards of finished matches: found one at a time in a process of its own, and cached.

A match is played again with many other draws, which takes about a second. This module knows no page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cutpurse.process.interpreter import module_command
from cutpurse.server.web.language.speaking import gettext_noop
from cutpurse.server.web.visitor_process import Refusals, VisitorProcess

__all__ = ["LuckProcess", "LuckShown", "LuckyMoment"]

MAX_CACHED_BYTES: Final = 4 * 2**20  # some ten thousand matches
MAX_S: Final = 60.0  # for a match, on a busy machine
MIN_PLACES: Final = 0.05  # of a draw that is shown; less is 0.0
COMMAND: Final = module_command("cutpurse.experiments.match_luck")
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


class LuckProcess:
    """Finds the luck of matches. Use it on one event loop only, except for `cached`."""

    def __init__(self, command: Sequence[str] = COMMAND, max_s: float = MAX_S) -> None:
        """Set the command that finds it, and the seconds that it may take."""
        self._process = VisitorProcess(command, max_s, MAX_CACHED_BYTES, Refusals(YOURS, BUSY, FAILED))

    def cached(self, match: str) -> LuckShown | None:
        """Return the luck of a match if it was found already."""
        found = self._process.cached(match)
        return None if found is None else _shown(found)

    def has_room_for(self, visitor: str) -> bool:
        """Return whether `get` would begin now for this visitor."""
        return self._process.has_room_for(visitor)

    async def get(self, visitor: str, match: str, file: Callable[[], bytes]) -> LuckShown:
        """Return the luck of a match: the cached one, the one that is being found already, or a new one.

        Args:
            visitor: Visitor who asks.
            match: ID of the match.
            file: Returns its match file; called in a thread.

        Raises:
            ServerRefused: If the visitor waits for another match, too many wait, or it fails.
            CutpurseError: What `file` raises.
        """
        return _shown(await self._process.get(visitor, match, file))


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
