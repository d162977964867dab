"""The small bots of each game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tests.bots.degenerate import greed
from tests.bots.degenerate.harness import SmallBot

__all__ = ["BOTS"]

BOTS: Final[Mapping[str, Sequence[SmallBot]]] = {
    "greed": greed.BOTS,
}
