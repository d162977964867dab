"""The worst decisions of a seat in a finished match: found one at a time in a process of its own, and cached.

The process plays options out for up to `SECONDS`. A visitor may have one search at a time, and a few may wait. This
module knows no page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cutpurse.page.language.speaking import gettext_noop
from cutpurse.page.visitor_process import Refusals, VisitorProcess
from cutpurse.process.interpreter import module_command

__all__ = ["WorseDecisionShown", "WorstProcess", "WorstShown"]

SECONDS: Final = 60.0  # that search thinks: some hundred playouts of each option on a machine with nothing else to do
MAX_S: Final = 150.0  # for the whole process, on a busy machine
MAX_CACHED_BYTES: Final = 4 * 2**20
COMMAND: Final = module_command("cutpurse.lab.worst_decisions")
YOURS: Final = gettext_noop("search is looking at another match for you; try again in a minute")
BUSY: Final = gettext_noop("search is looking at too many matches; try again in a few minutes")
FAILED: Final = gettext_noop("search could not look at this match; try again later")


@dataclass(frozen=True, slots=True)
class WorseDecisionShown:
    """A decision at which another option promised more: `cost` and `error`, half its 95 % interval, are in percent."""

    at: int
    taken: int
    better: int
    cost: float
    error: float
    playouts: int


@dataclass(frozen=True, slots=True)
class WorstShown:
    """The worst decisions of a seat, the worst first; `looked_at` of its `decisions` were looked at."""

    decisions: int
    looked_at: int
    worst: tuple[WorseDecisionShown, ...]


class WorstProcess(VisitorProcess):
    """Finds the worst decisions of seats, by match and seat."""

    def __init__(self, command: Sequence[str] = COMMAND, seconds: float = SECONDS) -> None:
        """Set the command that finds them, and the seconds that it may think."""
        super().__init__(command, MAX_S, MAX_CACHED_BYTES, Refusals(YOURS, BUSY, FAILED))
        self._seconds = seconds

    def worst_of(self, match: str, seat: int) -> WorstShown | None:
        """Return the worst decisions of a seat if they were found already."""
        answer = self.cached((match, seat))
        return None if answer is None else _read(answer)

    async def find(self, visitor: str, match: str, seat: int, file: Callable[[], bytes]) -> None:
        """Find the worst decisions of a seat from the match file, unless they are known; raises as `get`."""
        head = json.dumps({"seat": seat, "seconds": self._seconds}).encode() + b"\n"
        await self.get(visitor, (match, seat), lambda: head + file())


def _read(answer: bytes) -> WorstShown:
    found_by_search: dict[str, Any] = json.loads(answer)
    worst = [
        WorseDecisionShown(**decision | {name: 100 * decision[name] for name in ("cost", "error")})
        for decision in found_by_search["worst"]
    ]
    return WorstShown(found_by_search["decisions"], found_by_search["looked_at"], tuple(worst))
