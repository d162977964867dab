"""The house bots, and the environment of their processes. This module knows no process and no ladder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.wire.installation import how_to_install

__all__ = ["HOUSE_BOTS", "HouseBot", "check_house"]


@dataclass(frozen=True, slots=True)
class HouseBot:
    """A house bot: its maximum number of simultaneous matches, additions to its environment, and what it needs."""

    tables: int
    environment: Mapping[str, str]
    needs_nets: bool = False  # and with them numpy


# Searching costs a thousand times the CPU time of the others.
HOUSE_BOTS: Final[Mapping[str, HouseBot]] = {
    "random": HouseBot(8, {}),
    "greedy": HouseBot(8, {}),
    "search": HouseBot(2, {"CUTPURSE_PLAYOUTS": "20"}),
    "expert": HouseBot(2, {"CUTPURSE_PLAYOUTS": "20"}, needs_nets=True),
}


def check_house(names: Sequence[str], where: str) -> tuple[str, ...]:
    """Return the names of house bots, each once.

    Raises:
        UsageError: If a name is unknown, or a bot cannot run here; `where` says where it was written.
    """
    for name in names:
        if name not in HOUSE_BOTS:
            raise UsageError(f"{where} {name!r:.80}: there are: {', '.join(HOUSE_BOTS)}")
        if HOUSE_BOTS[name].needs_nets and find_spec("numpy") is None:
            raise UsageError(f"{where} {name!r}: numpy is not installed; {how_to_install('learn')}")
    return tuple(dict.fromkeys(names))
