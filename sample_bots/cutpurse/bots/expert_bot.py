"""A bot with nets that were trained to beat `greedy`, and a search that looks for something better.

The nets lie in `nets/`, a file for a game, variant and number of seats, with how they were trained (`Net.training`).
They are played with numpy alone. On top of a net comes one of two searches, as measured in
`docs/explanation/rungs.md`:

- That of `SearchBot`. It departs from the net's choice only for an option that playouts find clearly better.
- Two plans. Where the net departs from `greedy`, playouts weigh what its choice gains if the bot goes on as the net
  against what that of `greedy` gains if it goes on as `greedy`. So they count what follows from choices of a net that
  belong together.

At a table that has no net the bot plays as `search`. In some games more playouts help and are quick: there it has
several times those of `search`. In Greed it takes an option that leads the rule of thumb by less than `search` wants.
This module knows no rules.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import as_file, files
from typing import Any, Final

from cutpurse.bots.search_bot import CLEARLY, LONGEST_PLAYOUT, SHARE, SearchBot
from cutpurse.engine.agenda import Option as Act
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import Worlds
from cutpurse.learn.net import Net, load_net
from cutpurse.sdk.bot import MatchInfo
from cutpurse.sdk.decision import Decision, Option

__all__ = ["A_STATE", "SOONER", "TIMES", "TWO_PLANS", "VARIANTS", "ExpertBot", "net_of"]

TWO_PLANS: Final = frozenset({"bag_o_loot"})  # games in which it weighs two plans
A_STATE: Final = 5  # playouts of `search` that one state with its two plans replaces, to keep decisions short
TIMES: Final = {"steal_and_plunder": 2, "stolen_treasure": 4, "greed": 4}  # how many times the playouts of `search`
SOONER: Final = {"greed": 0.5}  # standard errors by which an option must lead, where fewer than CLEARLY are better
VARIANTS: Final = {"bag_o_loot": "advanced"}  # the setting of a variant that needs a net of its own


@cache
def net_of(game: str, seats: int, variant: str = "") -> Net | None:
    """Return the net for a game with this number of seats, or for a variant of it, or None.

    Raises:
        NetNotLoaded: If the file is damaged, or of another version.
    """
    name = f"{game}-{variant}-{seats}.npz" if variant else f"{game}-{seats}.npz"
    file = files("cutpurse.bots").joinpath("nets", name)
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
        """Load the net of this table, if there is one for its variant."""
        super().start(match)
        self.playouts = self.usual_playouts * TIMES.get(match.game, 1)
        self.clearly = SOONER.get(match.game, CLEARLY)
        variant = VARIANTS.get(match.game, "")
        self.net = net_of(match.game, len(match.seats), variant if variant in match.settings else "")
        self.weighs_plans = self.net is not None and match.game in TWO_PLANS

    def choose(self, view: Any, decision: Decision) -> int:
        """Return the index of the net's option, or of the one that playouts find better."""
        return self.better_plan(view, decision).index if self.weighs_plans else super().choose(view, decision)

    def first_thought(self, view: Any, decision: Decision) -> Option:
        """Return the option that the net rates best, or the rule of thumb's without a net."""
        advice = self.advice(view, decision)
        if self.net is None or decision.count == 1:
            return advice
        ratings = self.net.rate(view.raw, [option.raw for option in decision.options], advice.index)
        return decision.options[int(ratings.argmax())]

    # -- two plans
    def better_plan(self, view: Any, decision: Decision) -> Option:
        """Return the net's option or the rule of thumb's: that of the plan which gains more in the same states."""
        own, advice = self.first_thought(view, decision), self.advice(view, decision)
        if own.index == advice.index:
            return own
        self.view_type = type(view)
        chance = Chance(self.chance.randbytes(32))
        enough_s = decision.base_left_s * (1 - SHARE)  # infinite where no clock runs
        gain, worlds = 0.0, Worlds(view.raw)
        for _ in range(self.playouts // A_STATE):
            if decision.base_left_s < enough_s:
                break
            world = self.imagined(worlds, chance)
            gain += self.follow(world.fork(), own.raw, self.first_thought)
            gain -= self.follow(world.fork(), advice.raw, self.advice)
        return own if gain >= 0 else advice

    def follow(self, game: Game, act: Act, plan: Callable[[Any, Decision], Option]) -> float:
        """Play an option and go on by a plan, the others by the rule of thumb; return the result for this seat."""
        deal = game.chance.deal
        game.choose(self.seat, act)
        for _ in range(LONGEST_PLAYOUT):
            waiting = game.waiting()
            if not waiting or game.chance.deal != deal:
                break
            seat = waiting[0]
            options = game.options(seat)
            if len(options) > 1:
                policy = plan if seat == self.seat else self.advice
                options = [policy(*self.as_asked(game, game.view(seat), options)).raw]
            game.choose(seat, options[0])
        return self.estimate(game)[self.seat]
