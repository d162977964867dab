"""Small bots that follow one rule, and the measurement of how often each comes first against three greedy bots.

A rule lists the options that it prefers, or none. A small bot takes one of them: the greedy bot's answer if it is among
them and the bot follows greedy, else a random one.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.engine.chance import match_key
from cutpurse.engine.match import Match
from cutpurse.games import game_named
from cutpurse.sdk.bot import BotMaker, MatchInfo, load_bot
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.playing.seating import play_match

__all__ = [
    "LIMIT",
    "Avoid",
    "Outcome",
    "Prefer",
    "Rule",
    "SmallBot",
    "measure",
    "measure_until_clear",
    "name_of",
    "small_bots",
    "verb_bots",
]

SEATS: Final = 4
LIMIT: Final = 0.40  # share of first places that no small bot may reach
SURE: Final = 3.29  # standard errors on either side of a 99.9 % interval

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


def name_of(rule: Rule) -> str:
    """Make the name of a bot from that of its rule, which is a function."""
    return rule.__name__.replace("_", " ")


def small_bots(rules: Sequence[Rule]) -> list[SmallBot]:
    """Make two bots for each rule: one is random where the rule leaves a choice, one is greedy."""
    bots = []
    for rule in rules:
        bots.append(SmallBot(name_of(rule), rule))
        bots.append(SmallBot(f"{name_of(rule)}, else greedy", rule, follows_greedy=True))
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
    """The results of a small bot."""

    game: str
    bot: str
    matches: int
    first_places: float  # a first place that k seats share counts 1/k
    faults: int  # of all four seats

    @property
    def share(self) -> float:
        """Share of first places; a greedy bot has 0.25."""
        return self.first_places / self.matches

    def plus(self, more: Outcome) -> Outcome:
        """Add the matches of another outcome of the same bot."""
        matches, first_places = self.matches + more.matches, self.first_places + more.first_places
        return Outcome(self.game, self.bot, matches, first_places, self.faults + more.faults)

    def bounds(self, z: float) -> tuple[float, float]:
        """Compute the Wilson interval of the share: 1.96 standard errors for 95 %."""
        n, p = self.matches, self.share
        middle = p + z * z / (2 * n)
        spread = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return (middle - spread) / (1 + z * z / n), (middle + spread) / (1 + z * z / n)


def measure(
    game: str,
    bot: SmallBot | BotMaker,
    matches: int,
    *,
    first: int = 0,
    seed: int | str = "degenerate",
    settings: Mapping[str, object] | None = None,
    opponent: str = "greedy",
) -> Outcome:
    """Play a bot against three opponents, in matches numbered from `first`.

    Each deal is played four times, with the bot in every seat. So good cards favour no bot, and a bot that always
    answers as its opponents do gets exactly a quarter of the first places.
    """
    rules = game_named(game)
    other = load_bot(opponent)
    maker = bot if isinstance(bot, BotMaker) else BotMaker(bot.name, bot)
    first_places, faults = 0.0, 0
    for number in range(first, first + matches):
        deal, seat = divmod(number, SEATS)
        makers = [other] * SEATS
        makers[seat] = maker
        match = Match(rules, [each.name for each in makers], match_key(seed, deal), settings or {}, log=True)
        result, failures, _ = play_match(match, makers)
        faults += len(failures)
        if result.places[seat] == 1:
            first_places += 1 / result.places.count(1)
    return Outcome(game, bot.name, matches, first_places, faults)


def measure_until_clear(
    game: str, bot: SmallBot, most: int, sure: float = SURE, *, settings: Mapping[str, object] | None = None
) -> Outcome:
    """Play up to `most` matches; fewer if it is clear after 4, 8, 16 ... that the bot stays below the limit.

    It is clear when the upper bound at `sure` standard errors is below the limit.
    """
    outcome = measure(game, bot, SEATS, settings=settings)
    while outcome.matches < most and outcome.bounds(sure)[1] >= LIMIT:
        more = min(outcome.matches, most - outcome.matches)
        outcome = outcome.plus(measure(game, bot, more, first=outcome.matches, settings=settings))
    return outcome
