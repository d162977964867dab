"""Which house bots there are, and what the process of each is told. No process and no ladder is known here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = ["HOUSE_BOTS", "HouseBot", "check_house"]


@dataclass(frozen=True, slots=True)
class HouseBot:
    """A house bot: at how many tables it sits at most, and what else its process is told."""

    tables: int
    environment: Mapping[str, str]


# To think ahead costs a thousand times what the others do.
HOUSE_BOTS: Final[Mapping[str, HouseBot]] = {
    "random": HouseBot(8, {}),
    "greedy": HouseBot(8, {}),
    "search": HouseBot(2, {"CUTPURSE_PLAYOUTS": "20"}),
}


def check_house(names: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the names of house bots, each once.  Raises UsageError for an unknown one, with its source."""
    for name in names:
        if name not in HOUSE_BOTS:
            raise UsageError(f"{where} {name!r:.80}: there are: {', '.join(HOUSE_BOTS)}")
    return tuple(dict.fromkeys(names))
