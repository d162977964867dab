"""The mean luck-adjusted difference of boards with an interval, beside the raw test of `sprt`.

Adjusted differences have no bounds, so the betting of `sprt` cannot take them. The interval here is the asymptotic
confidence sequence of I. Waudby-Smith, D. Arbour, R. Sinha, E. Kennedy and A. Ramdas, "Time-uniform central limit
theory and asymptotic confidence sequences", 2024. It holds at all boards at once, so a comparison may stop at any of
them, but only for dozens of boards or more. This module knows no game and no file.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Final

__all__ = ["AdjustedGain"]

ALPHA: Final = 0.05
NARROWEST_AT: Final = 200  # boards, the usual length of a comparison
_LOG: Final = -2 * math.log(ALPHA)
RHO_SQUARED: Final = (_LOG + math.log1p(_LOG)) / NARROWEST_AT
FEWEST: Final = 2  # boards without which there is no spread


@dataclass(frozen=True, slots=True)
class AdjustedGain:
    """The sums of the luck-adjusted differences of boards."""

    boards: int = 0
    total: float = 0.0
    squares: float = 0.0

    def after(self, difference: float) -> AdjustedGain:
        """Return the sums after one more board."""
        return AdjustedGain(self.boards + 1, self.total + difference, self.squares + difference * difference)

    @property
    def gain(self) -> float:
        """The mean difference, in place points per match; 0 before the first board."""
        return self.total / self.boards if self.boards else 0.0

    @property
    def variance(self) -> float:
        """The sample variance of a board's difference; 0 for fewer than two boards."""
        if self.boards < FEWEST:
            return 0.0
        return max(0.0, (self.squares - self.total * self.gain) / (self.boards - 1))

    @property
    def interval(self) -> tuple[float, float]:
        """Limits that hold the true gain 95 % of the time, whenever one looks; infinite for fewer than two boards."""
        if self.boards < FEWEST:
            return (-math.inf, math.inf)
        grown = self.boards * RHO_SQUARED + 1
        width = math.sqrt(self.variance * grown / RHO_SQUARED * math.log(grown / ALPHA**2)) / self.boards
        return (self.gain - width, self.gain + width)

    def to_json(self) -> dict[str, float]:
        """Return the sums as JSON values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: object, boards: int) -> AdjustedGain:
        """Read the sums of this many boards that `to_json` returned.  Raises ValueError for anything else."""
        if not isinstance(value, dict) or value.keys() != {"boards", "total", "squares"}:
            raise ValueError("luck has other members than boards, total and squares")
        if value["boards"] != boards:
            raise ValueError(f"luck has the sums of {value['boards']!r:.20} boards, not of {boards}")
        for name in ("total", "squares"):
            if type(value[name]) not in (int, float) or not math.isfinite(value[name]):
                raise ValueError(f"{name} of luck is no finite number")
        return cls(boards, float(value["total"]), float(value["squares"]))
