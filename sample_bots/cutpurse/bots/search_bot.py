"""A bot that simulates its options: it imagines the cards that it cannot see, and plays every option out.

It decides in four steps:

1. A rule of thumb suggests an option. It stays unless another one is clearly better.
2. Imagine a table that fits everything in the view. Play each option out on it, every seat by the rule of thumb,
   and count how many opponents end up behind. All options get the same tables, so luck is the same for all.
3. Repeat with new tables. From time to time the worse half of the options drops out.
4. Take the best other option if it leads the rule of thumb by more than luck explains, else the rule of thumb.

On a server it stops after half of the remaining base time, and takes the best option found by then. If its base time is
used up, it takes the rule of thumb.

The rule of thumb is `GreedyBot`. Replace it by your own bot to get one that thinks ahead. This module knows no game.
"""

from __future__ import annotations

import os
from math import ceil, log2, sqrt
from statistics import fmean, stdev
from typing import Any, Final

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.engine.agenda import Option as Act
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import imagine
from cutpurse.sdk.bot import Bot, MatchInfo
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views import VIEWS

__all__ = ["SearchBot"]

PLAYOUTS: Final = 100  # per decision
SHARE: Final = 0.5  # of the remaining base time
LONGEST_PLAYOUT: Final = 300  # decisions; then the current standing counts
CLEARLY: Final = 1.5  # standard errors by which an option must lead the rule of thumb


class Racer:
    """An option and the results of its playouts: 1 is ahead of all opponents, 0 behind all."""

    def __init__(self, index: int, act: Act) -> None:
        self.index = index
        self.act = act
        self.ends: list[float] = []


class SearchBot:
    """A bot that plays every option out on imagined tables.

    `SearchBot(20)` or CUTPURSE_PLAYOUTS=20 limits it to 20 playouts per decision. A few may stay unused: too few to
    play out all remaining options.
    """

    reads_events = False  # so a server need not send them

    def __init__(self, playouts: int | None = None) -> None:
        """Set the number of playouts per decision.  Raises ValueError unless it is 1 or more."""
        self.playouts = int(os.environ.get("CUTPURSE_PLAYOUTS", PLAYOUTS)) if playouts is None else playouts
        if self.playouts < 1:
            raise ValueError(f"{self.playouts} playouts a decision cannot be had; 1 and more can")
        self.thumb: Bot = GreedyBot()

    def start(self, match: MatchInfo) -> None:
        """Use the match's random generator for the imagined tables, so that the same seed repeats the run."""
        self.chance = match.chance

    def choose(self, view: Any, decision: Decision) -> int:
        """Return the index of the option with the best playouts."""
        options = decision.options
        racers = [Racer(option.index, option.raw) for option in options]
        racers.insert(0, racers.pop(self.advice(view, decision).index))
        if len(racers) == 1:
            return racers[0].index
        thumb, *others = racers[: self.playouts]  # with more options than playouts, the last ones are not tried
        worlds = Chance(self.chance.randbytes(32))
        stages = 1 + ceil(log2(max(1, len(others))))
        spent = stage = 0
        enough_s = decision.base_left_s * (1 - SHARE)  # infinite where no clock runs
        while spent + 1 + len(others) <= self.playouts and decision.base_left_s >= enough_s:
            world = imagine(view.raw, worlds)
            for racer in (thumb, *others):
                racer.ends.append(self.play_out(world.fork(), view.seat, racer.act))
            spent += 1 + len(others)
            if spent * stages >= self.playouts * (stage + 1) and len(others) > 1:
                stage += 1
                others = sorted(others, key=lambda racer: -sum(racer.ends))[: ceil(len(others) / 2)]
        best = max(others, key=lambda racer: sum(racer.ends), default=thumb)
        return best.index if clearly_better(best.ends, thumb.ends) else thumb.index

    def play_out(self, game: Game, seat: int, act: Act) -> float:
        """Return the share of opponents that end behind this seat at the end of the deal or match; ties count half."""
        deal = game.chance.deal
        game.choose(seat, act)
        for _ in range(LONGEST_PLAYOUT):
            waiting = game.waiting()
            if not waiting or game.chance.deal != deal:
                break
            game.choose(waiting[0], self.answer(game, waiting[0]))
        places = game.places()
        mine = places.pop(seat)
        return fmean([1.0 if place > mine else 0.5 if place == mine else 0.0 for place in places])

    def answer(self, game: Game, seat: int) -> Act:
        """Return the rule of thumb's option in an imagined game, from what that seat would see."""
        acts = game.options(seat)
        if len(acts) == 1:
            return acts[0]
        view = VIEWS[game.words.game](game.view(seat))
        decision = Decision(0, game.question.name, acts, lambda: game.safe_option(seat, acts), view)
        return self.advice(view, decision).raw

    def advice(self, view: Any, decision: Decision) -> Option:
        """Return the rule of thumb's option; a bot may name it by its index."""
        answer = self.thumb.choose(view, decision)
        return answer if isinstance(answer, Option) else decision.options[answer]


def clearly_better(ends: list[float], others: list[float]) -> bool:
    """Return whether the first results beat the second ones on the same tables by more than luck explains."""
    leads = [one - other for one, other in zip(ends, others, strict=True)]
    if len(leads) < 2:
        return False
    return fmean(leads) > CLEARLY * stdev(leads) / sqrt(len(leads))
