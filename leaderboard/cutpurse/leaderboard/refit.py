"""The check whether other TrueSkill parameters suit a ladder better.

New parameters are fitted to the older three quarters of the matches. Then both the current and the fitted parameters
predict the newest quarter, and the lower log loss wins. In both cases all players begin as newcomers. This module
writes nothing: `Store.open_epoch` puts new parameters in force.
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

LEAST: Final = 400  # minimum number of matches: with fewer, the fit is mostly noise
MOST: Final = 10_000  # maximum number of matches, the newest: each is rated about seventy times
_JUDGED: Final = 4  # one match in this many is predicted instead of fitted


@dataclass(frozen=True, slots=True)
class Refit:
    """The current and the fitted parameters of a ladder, and how well each predicts its newest matches.

    Attributes:
        ladder: Name of the ladder.
        matches: Number of matches used.
        judged: Number of those that were predicted, the newest.
        now: Current parameters.
        now_loss: Their log loss: the mean of -ln p of the order of two bots, in nats. A coin has 0.693.
        fitted: Fitted parameters.
        fitted_loss: Their log loss.
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
        """Whether the fitted parameters predict better."""
        return self.fitted_loss < self.now_loss


def refit(
    connection: Connection, name: str, most: int = MOST, progress: Callable[[int, int], None] | None = None
) -> Refit:
    """Fit new parameters to the newest rated matches of a ladder; about 3 ms per match of four seats.

    Args:
        connection: Connection to read from.
        name: Name of the ladder.
        most: Maximum number of matches.
        progress: As in `fit`.

    Raises:
        NoSuchEntry: If there is no such ladder.
        InvalidEntry: If the ladder has fewer than `LEAST` rated matches.
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
