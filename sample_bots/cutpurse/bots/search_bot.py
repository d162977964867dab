"""A bot that thinks ahead: information-set Monte Carlo tree search, after Cowling, Powley and Whitehouse (2012).

Nobody sees all cards, so a decision belongs to an *information set*: all positions in which the seat that decides has
one and the same view. What is learned in one of them counts for all. A playout has five parts:

1. Imagine a full state that fits what the bot sees: a determinization. Play one of the bot's options in it.
2. Select. A seat whose information set was met before takes the option that promises most (`promising`), and from time
   to time another one. So each seat, too, learns what is good for itself, from nothing but what it would see.
3. Expand. At the first information set of the bot's own that is new, the tree ends.
4. Play on by the rule of thumb, at most to a horizon, and estimate there by the scores who will come first: what
   follows is mostly luck.
5. Count that estimate for every option that was selected on the way.

The options of the decision itself are not selected but race, as in Hybrid MCTS (Pepels et al. 2014): all get the same
imagined states, so luck is the same for all. At each stage half of them drop out, and those that trail the rule of
thumb. In the end the best one is taken only if it leads the rule of thumb by more than luck explains. So a search that
finds nothing plays as its rule of thumb does.

Seats that decide at the same time need no rule of their own: no view shows the sealed answer of another seat.

The rule of thumb is `GreedyBot`. Replace it by your own bot to get one that thinks ahead. This module knows no rules.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import combinations
from math import ceil, exp, inf, log2, sqrt, tanh
from statistics import fmean, stdev
from typing import Any, Final, NamedTuple

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.engine.agenda import Option as Act
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.engine.imagine import Worlds, share_knowledge
from cutpurse.engine.knowledge_level import SEEN, viewers_at
from cutpurse.engine.view import View
from cutpurse.sdk.bot import Bot, MatchInfo
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.views.base import GameView

__all__ = ["PARAMETERS", "Expected", "SearchBot", "SearchParameters"]

PLAYOUTS: Final = 100  # per decision
SHARE: Final = 0.5  # of the remaining base time
LONGEST_PLAYOUT: Final = 300  # decisions
TRUST: Final = 0.7  # probability that the rule of thumb is right, before any playout
CURIOSITY: Final = 0.5  # weight of options that were seldom tried, against the results so far
STEEPNESS: Final = 1.5  # of the estimate: how much a usual difference of scores decides
CERTAIN: Final = 50.0  # the same for a place at the end of a match
NINETY_FIVE: Final = 1.96  # standard errors on each side of an interval that holds 95 % of the time


class SearchParameters(NamedTuple):
    """How far to look, and what is enough to depart from the rule of thumb."""

    horizon: int = 30  # decisions; then the scores are an estimate, if they have changed by then
    clearly: float = 1.5  # standard errors by which an option must lead the rule of thumb


PARAMETERS: Final = {  # where others are better, see docs/explanation/rungs.md
    "greed": SearchParameters(15, 0.5),
    "stolen_treasure": SearchParameters(60, 1.5),
}


class Expected(NamedTuple):
    """What a race found of an option."""

    mean: float  # of `estimate` in its playouts
    margin: float  # of the 95 % interval on each side of the mean; infinite after one playout
    playouts: int
    is_close: bool  # whether luck alone could explain how far it is from the option that was taken


class Contender:
    """An option of the decision, and the results of its playouts."""

    def __init__(self, option: Option) -> None:
        self.index = option.index
        self.act: Act = option.raw
        self.values: list[float] = []


class Tally:
    """Results of an option in an information set."""

    __slots__ = ("total", "visits")

    def __init__(self) -> None:
        self.visits = 0
        self.total = 0.0


InformationSet = dict[Act, Tally]  # of the options that were tried


class SearchBot:
    """A bot that plays its options out in imagined states.

    `SearchBot(20)` or CUTPURSE_PLAYOUTS=20 limits it to 20 playouts per decision. It uses fewer if no option leads the
    rule of thumb. With the same seed and no clock it answers the same. On a server it stops after half of the remaining
    base time, and takes the rule of thumb if its base time is used up.
    """

    reads_events = False  # so a server need not send them

    def __init__(self, playouts: int | None = None) -> None:
        """Set the number of playouts per decision.  Raises ValueError unless it is 1 or more."""
        self.playouts = _playouts_from_environment() if playouts is None else playouts
        if self.playouts < 1:
            raise ValueError(f"{self.playouts} playouts a decision cannot be had; 1 and more can")
        self.parameters = SearchParameters()
        self.thumb: Bot = GreedyBot()
        self.contenders: list[Contender] = []  # of the last race, in no order

    def start(self, match: MatchInfo) -> None:
        """Use the match's random generator for the imagined states, so that the same seed repeats the run."""
        self.chance, self.seat = match.chance, match.seat
        self.parameters = PARAMETERS.get(match.game, SearchParameters())
        self.gap_sum = self.gap_count = 0  # differences of scores at the ends of this match's playouts

    def choose(self, view: Any, decision: Decision) -> int:
        """Return the index of the option that wins the race."""
        if not isinstance(view, GameView):
            raise TypeError(f"search needs the view of a game (a GameView), not {type(view).__name__}")
        advice = self.first_thought(view, decision)
        self.contenders = []
        if decision.count == 1:
            return advice.index
        self.view_type = type(view)
        self.tree: dict[View, InformationSet] = {}
        usual = Contender(advice)
        rivals = [Contender(option) for option in decision.options if option.index != advice.index]
        rivals = rivals[: self.playouts - 1]  # with more options than playouts, the last ones are not tried
        self.contenders = [usual, *rivals]
        chance = Chance(self.chance.randbytes(32))
        stages = 2 + ceil(log2(max(1, len(rivals))))
        stage, spent = 1, 0
        enough_s = decision.base_left_s * (1 - SHARE)  # infinite where no clock runs
        worlds = Worlds(view.raw)
        while rivals and spent + 1 + len(rivals) <= self.playouts and decision.base_left_s >= enough_s:
            world = self.imagined(worlds, chance)
            for contender in (usual, *rivals):
                contender.values.append(self.play_out(world.fork(), contender.act))
            spent += 1 + len(rivals)
            if spent * stages >= self.playouts * stage:
                stage += 1
                rivals.sort(key=lambda rival: -sum(rival.values))
                rivals = [rival for rival in rivals[: ceil(len(rivals) / 2)] if sum(rival.values) > sum(usual.values)]
        best = max(rivals, key=lambda rival: sum(rival.values), default=usual)
        return best.index if clearly_better(best.values, usual.values, self.parameters.clearly) else usual.index

    def expected(self, taken: int) -> dict[int, Expected]:
        """Return what the last race found, by option index; `taken` is the one that the bot answered.

        Options had the same imagined states, so their difference is surer than their intervals. An option that dropped
        out early has few playouts. One that was not tried is missing.
        """
        raced = {contender.index: contender.values for contender in self.contenders if contender.values}
        return {
            index: Expected(
                fmean(values),
                NINETY_FIVE * standard_error(values),
                len(values),
                index != taken and not differ(values, raced[taken]),
            )
            for index, values in raced.items()
        }

    def compared(self, view: Any, decision: Decision, indices: Sequence[int], playouts: int) -> list[list[float]]:
        """Play options out in the same imagined states, and return the results of each option's playouts.

        Args:
            view: View of the seat.
            decision: Its decision. The comparison stops after half of its remaining base time.
            indices: Options to compare.
            playouts: Number of imagined states.
        """
        self.view_type = type(view)
        self.tree = {}
        values: list[list[float]] = [[] for _ in indices]
        chance = Chance(self.chance.randbytes(32))
        enough_s = decision.base_left_s * (1 - SHARE)
        worlds = Worlds(view.raw)
        while len(values[0]) < playouts and decision.base_left_s >= enough_s:
            world = self.imagined(worlds, chance)
            for index, results in zip(indices, values, strict=True):
                results.append(self.play_out(world.fork(), decision.options[index].raw))
        return values

    def imagined(self, worlds: Worlds, chance: Chance) -> Game:
        """Return a full state that fits what the bot sees, in which the others know as much as it does.

        From there on nobody infers anything: that would take up to half of a playout, and won no more matches.
        """
        world = worlds.draw(chance)
        share_knowledge(world, worlds.view, chance)
        world.remember(*viewers_at(SEEN, world.n + 1))
        return world

    # -- a playout
    def play_out(self, game: Game, act: Act) -> float:
        """Play an option and go on to the end of the playout; count its result, and return it for this seat."""
        path: list[tuple[int, Tally]] = []
        begun, deal = game.scores_now(), game.chance.deal
        in_tree = True
        game.choose(self.seat, act)
        for played in range(LONGEST_PLAYOUT):
            waiting = game.waiting()
            if not waiting or game.chance.deal != deal:
                break
            if played >= self.parameters.horizon and game.scores_now() != begun:
                break
            seat = waiting[0]
            options = game.options(seat)
            if len(options) == 1:
                game.choose(seat, options[0])
                continue
            raw = game.view(seat)
            act = self.thumb_act(game, raw, options)
            if in_tree:
                known = self.tree.setdefault(raw, {})
                in_tree = bool(known) or seat != self.seat
                if known:
                    act = promising(options, act, known)
                tally = known.setdefault(act, Tally())
                tally.visits += 1
                path.append((seat, tally))
            game.choose(seat, act)
        values = self.estimate(game)
        for seat, tally in path:
            tally.total += values[seat]
        return values[self.seat]

    def thumb_act(self, game: Game, raw: View, options: list[Act]) -> Act:
        """Return the rule of thumb's option for the seat that has this view of an imagined game."""
        return self.advice(*self.as_asked(game, raw, options)).raw

    def as_asked(self, game: Game, raw: View, options: list[Act]) -> tuple[Any, Decision]:
        """Return what a bot is asked in the seat that has this view of an imagined game."""
        view = self.view_type(raw)
        seat = view.seat
        assert seat is not None
        return view, Decision(0, game.question.name, options, lambda: game.safe_option(seat, options), view)

    def advice(self, view: Any, decision: Decision) -> Option:
        """Return the rule of thumb's option; a bot may name it by its index."""
        answer = self.thumb.choose(view, decision)
        return answer if isinstance(answer, Option) else decision.options[answer]

    def first_thought(self, view: Any, decision: Decision) -> Option:
        """Return the option that is taken unless the search finds a clearly better one: here the rule of thumb's."""
        return self.advice(view, decision)

    def estimate(self, game: Game) -> list[float]:
        """Return for each seat how good a position is, from 0 to 1: half for coming first, half for each one behind.

        At the end of a match the places say it. Before, a higher score is the likelier to stay ahead the larger the
        lead is, measured by the usual difference of two scores at the ends of this bot's playouts.
        """
        if game.waiting():
            scores = game.scores_now()
            gaps = [abs(first - other) for first, other in combinations(scores, 2)]
            self.gap_sum += sum(gaps)
            self.gap_count += len(gaps)
            usual_gap = self.gap_sum / self.gap_count or 1.0
            strengths = [STEEPNESS * score / usual_gap for score in scores]
        else:
            strengths = [-CERTAIN * place for place in game.places()]
        best = max(strengths)
        weights = [exp(strength - best) for strength in strengths]
        values = []
        for mine, weight in zip(strengths, weights, strict=True):
            ahead = sum([1 + tanh((mine - other) / 2) for other in strengths]) - 1  # twice; a tie with itself is 1
            values.append(weight / sum(weights) / 2 + ahead / 4 / (game.n - 1))
        return values


def promising(options: list[Act], advice: Act, known: InformationSet) -> Act:
    """Select an option of an information set (PUCT, Silver et al. 2017): results so far, and a bonus for the untried.

    The bonus is larger for the rule of thumb's option, and for all if the information set was met often.
    """
    visits = sum([tally.visits for tally in known.values()])
    mean = sum([tally.total for tally in known.values()]) / visits
    distrust = (1 - TRUST) / (len(options) - 1)

    def promise(act: Act) -> float:
        tally = known.get(act)
        bonus = CURIOSITY * (TRUST if act == advice else distrust) * sqrt(visits)
        return mean + bonus if tally is None else tally.total / tally.visits + bonus / (1 + tally.visits)

    return max(options, key=promise)


def clearly_better(values: list[float], others: list[float], errors: float) -> bool:
    """Return whether results lead others of the same states by more than a number of standard errors."""
    leads = [value - other for value, other in zip(values, others, strict=True)]
    return fmean(leads or [0.0]) > errors * standard_error(leads)


def differ(values: list[float], others: list[float]) -> bool:
    """Return whether the mean results of two options are further apart in the same states than 95 % of luck."""
    leads = [value - other for value, other in zip(values, others, strict=False)]
    return abs(fmean(leads)) > NINETY_FIVE * standard_error(leads)


def standard_error(values: list[float]) -> float:
    """Return the standard error of the mean of some results; infinite for fewer than two."""
    return stdev(values) / sqrt(len(values)) if len(values) > 1 else inf


def _playouts_from_environment() -> int:
    """Read the number of playouts.  Raises ValueError if CUTPURSE_PLAYOUTS is no whole number."""
    text = os.environ.get("CUTPURSE_PLAYOUTS", str(PLAYOUTS))
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"CUTPURSE_PLAYOUTS is {text!r}; give a whole number of playouts, 1 or more") from None
