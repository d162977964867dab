"""Whether a ladder should be rated with other numbers: fitted to its older results, judged by its newer ones.

The newest quarter of the matches that are looked at is foretold with the numbers that the ladder has, and with those
that were fitted to the other three quarters; whichever foretells it better is better. Both begin with newcomers. This
module writes nothing: `Store.open_epoch` is what puts other numbers in force.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.parameter_fit import RankedMatch, fit, log_loss
from cutpurse.leaderboard.queries import ladder, ladder_history
from cutpurse.leaderboard.ratings import TrueSkill

__all__ = ["LEAST", "MOST", "Refit", "refit"]

LEAST: Final = 400  # matches: of fewer, chance has too large a part in what is fitted
MOST: Final = 10_000  # of the newest: they are rated some seventy times
_JUDGED: Final = 4  # one in this many is predicted and not fitted to


@dataclass(frozen=True, slots=True)
class Refit:
    """What a ladder is rated with, what suits it better, and how well each predicts matches that neither has seen.

    matches: looked at, of which `judged`, the newest, were foretold. now_loss, fitted_loss: mean of -ln p of each two
    bots' order in them, in nats; 0.693 is what a coin has.
    """

    ladder: str
    matches: int
    judged: int
    now: TrueSkill
    now_loss: float
    fitted: TrueSkill
    fitted_loss: float

    @property
    def is_better(self) -> bool:
        """Tell whether the fitted numbers predict better."""
        return self.fitted_loss < self.now_loss


def refit(
    connection: Connection, name: str, most: int = MOST, progress: Callable[[int, int], None] | None = None
) -> Refit:
    """Look at the newest rated matches of a ladder, this many at most.  progress: see `fit`.

    Takes some 3 ms a match of four seats. Raises NoSuchEntry, and InvalidEntry for a ladder with too few of them.
    """
    entry = ladder(connection, name)
    steps = deque(ladder_history(connection, name), maxlen=most)
    if len(steps) < LEAST:
        raise InvalidEntry(f"ladder {name}: {len(steps)} rated matches are too few to fit to; {LEAST} are needed")
    outcomes = [RankedMatch(step.versions, step.places) for step in steps]
    seen = len(outcomes) - len(outcomes) // _JUDGED
    fitted = fit(outcomes[:seen], entry.rating, progress)
    return Refit(
        name,
        len(outcomes),
        len(outcomes) - seen,
        entry.rating,
        log_loss(outcomes, entry.rating, after=seen),
        fitted,
        log_loss(outcomes, fitted, after=seen),
    )
