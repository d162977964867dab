"""Small bots that follow one rule, and how often each comes first against three greedy bots.

A rule names the options that it wants, and none if it wants nothing in particular. A small bot takes one of them: the
greedy bot's answer if it is among them and the bot is made to follow greedy, else a random one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.games import game_named
from cutpurse.sdk.bot import BotMaker, MatchInfo
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.local import MatchRow, play

__all__ = ["LIMIT", "Avoid", "Outcome", "Prefer", "SmallBot", "measure", "small_bots", "verb_bots"]

SEATS: Final = 4
LIMIT: Final = 0.40  # share of first places that no small bot may reach

# Any: each game has its own view
Rule = Callable[[Any, Decision], Sequence[Option]]


@dataclass(frozen=True)
class SmallBot:
    """A bot of one rule. An instance makes its players; it can be sent to another process."""

    name: str
    rule: Rule
    follows_greedy: bool = False  # where the rule leaves a choice

    def __call__(self) -> _Player:
        """Make a player for one match."""
        return _Player(self)


class _Player:
    """A small bot in one match."""

    reads_events = False

    def __init__(self, bot: SmallBot) -> None:
        self.bot = bot
        self.greedy = GreedyBot()
        self.chance = random.Random()

    def start(self, match: MatchInfo) -> None:
        self.chance = match.chance

    def choose(self, view: Any, decision: Decision) -> Option:
        wanted = self.bot.rule(view, decision) or decision.options
        if self.bot.follows_greedy:
            answer = self.greedy.choose(view, decision)
            if answer in wanted:
                return answer
        return wanted[int(self.chance.random() * len(wanted))]


@dataclass(frozen=True)
class Prefer:
    """The rule to take these verbs whenever they are offered."""

    verbs: tuple[str, ...]

    def __call__(self, view: Any, decision: Decision) -> Sequence[Option]:
        return [option for option in decision.options if option.verb in self.verbs]


@dataclass(frozen=True)
class Avoid:
    """The rule to take these verbs only if nothing else is offered."""

    verbs: tuple[str, ...]

    def __call__(self, view: Any, decision: Decision) -> Sequence[Option]:
        return [option for option in decision.options if option.verb not in self.verbs]


def small_bots(rules: Sequence[Rule]) -> list[SmallBot]:
    """Make two bots for each rule, which is a function: one is random where the rule leaves a choice, one is greedy."""
    bots = []
    for rule in rules:
        name = rule.__name__.replace("_", " ")
        bots.append(SmallBot(name, rule))
        bots.append(SmallBot(f"{name}, else greedy", rule, follows_greedy=True))
    return bots


def verb_bots(game: str) -> list[SmallBot]:
    """Make the bots that prefer a verb, and those that avoid it, for every verb that this game offers."""
    bots = []
    for verb in game_named(game).words.verbs:
        if verb.option_text:
            for word, rule in (("prefers", Prefer((verb.name,))), ("avoids", Avoid((verb.name,)))):
                bots.append(SmallBot(f"{word} {verb.name}", rule))
                bots.append(SmallBot(f"{word} {verb.name}, else greedy", rule, follows_greedy=True))
    return bots


@dataclass(frozen=True)
class Outcome:
    """How a small bot fared."""

    game: str
    bot: str
    matches: int
    first_places: float  # a first place that k seats share counts 1/k
    faults: int  # of all four seats

    @property
    def share(self) -> float:
        """The share of first places; an equal bot has 0.25."""
        return self.first_places / self.matches

    @property
    def lower_bound(self) -> float:
        """The lower end of the 95 % interval of the share (Wilson score)."""
        z, n, p = 1.96, self.matches, self.share
        return (p + z * z / (2 * n) - z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))) / (1 + z * z / n)


def measure(
    game: str,
    bot: SmallBot,
    matches: int,
    *,
    seed: int | str = "degenerate",
    settings: Mapping[str, object] | None = None,
    jobs: int = 1,
    opponent: str = "greedy",
) -> Outcome:
    """Play a small bot against three opponents in matches of this seed; the bot takes every seat in turn."""
    first_places = 0.0

    def count(row: MatchRow) -> None:
        nonlocal first_places
        if row.places[0] == 1:
            first_places += 1 / row.places.count(1)

    bots: list[str | BotMaker] = [BotMaker(bot.name, bot), *[opponent] * (SEATS - 1)]
    played = play(game, bots, matches=matches, seed=seed, settings=settings, jobs=jobs, on_match=count, keep_rows=False)
    return Outcome(game, bot.name, matches, first_places, sum(played.faults))
