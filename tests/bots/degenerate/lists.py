"""The small bots of each game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tests.bots.degenerate import greed, steal_and_plunder, stolen_treasure, szmal
from tests.bots.degenerate.harness import SmallBot

__all__ = ["BOTS"]

BOTS: Final[Mapping[str, Sequence[SmallBot]]] = {
    "steal_and_plunder": steal_and_plunder.BOTS,
    "stolen_treasure": stolen_treasure.BOTS,
    "szmal": szmal.BOTS,
    "greed": greed.BOTS,
}
