"""A bot with nets that were trained to beat `greedy`, and a search that looks for something better.

The nets lie in `nets/`, a file for a game and number of seats, with how they were trained (`Net.training`). They are
played with numpy alone. On top of a net comes the search of `SearchBot`: it departs from the net's choice only for an
option that playouts find clearly better.

At a table that has no net the bot plays as `search`. In some games more playouts help and are quick: there it has
several times those of `search`. This module knows no rules.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from typing import Any, Final

from cutpurse.bots.search_bot import SearchBot
from cutpurse.learn.net import Net, load_net
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision, Option

__all__ = ["TIMES", "ExpertBot", "net_of"]

TIMES: Final = {"steal_and_plunder": 4, "greed": 4}  # how many times the playouts of `search`


@cache
def net_of(game: str, seats: int) -> Net | None:
    """Return the net for a game with this number of seats, or None.

    Raises:
        NetNotLoaded: If the file is damaged, or of another version.
    """
    file = files("cutpurse.bots").joinpath("nets", f"{game}-{seats}.npz")
    if not file.is_file():
        return None
    with as_file(file) as path:
        return load_net(path)


class ExpertBot(SearchBot):
    """A bot that a net advises, and that thinks ahead from there.

    `ExpertBot(20)` or CUTPURSE_PLAYOUTS=20 sets what it has where it has as many playouts as `search`.
    """

    def __init__(self, playouts: int | None = None) -> None:
        """Set the number of playouts per decision.  Raises ValueError unless it is 1 or more."""
        super().__init__(playouts)
        self.usual_playouts = self.playouts

    def start(self, match: MatchInfo) -> None:
        """Load the net of this table, if there is one."""
        super().start(match)
        self.playouts = self.usual_playouts * TIMES.get(match.game, 1)
        self.net = net_of(match.game, len(match.seats))

    def first_thought(self, view: Any, decision: Decision) -> Option:
        """Return the option that the net rates best, or the rule of thumb's without a net."""
        advice = self.advice(view, decision)
        if self.net is None or decision.count == 1:
            return advice
        ratings = self.net.rate(view.raw, [option.raw for option in decision.options], advice.index)
        return decision.options[int(ratings.argmax())]
