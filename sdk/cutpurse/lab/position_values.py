"""Value functions: how many place points each seat of a position may expect, from all cards open.

`expected_points` is cheap: each seat has a few numbers (`position_features`), whose weighted sum is its strength. Two
seats meet by the logistic function of the difference of their strengths, and a seat's points are the mean over its
opponents. The weights were fitted to matches between greedy bots at four seats.

`PlayoutPoints` lets bots play the position on, and takes the mean of what they get. It is slow.

They are for `cutpurse.lab.luck`, which says why a bad value function does no harm. This module knows no file.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from operator import mul
from typing import Any, Final

from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.errors import UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.match import Match
from cutpurse.lab.luck import shuffle_unseen_piles
from cutpurse.lab.position_features import FEATURES
from cutpurse.lab.position_weights import WEIGHTS
from cutpurse.leaderboard.statistics.place_points import place_points
from cutpurse.sdk.bot import BotMaker, bot_makers
from cutpurse.sdk.playing.seating import play_match

__all__ = ["VALUES_VERSION", "PlayoutPoints", "check_has_value", "expected_points"]

VALUES_VERSION: Final = 1  # changes with the features and the weights
FARTHEST: Final = 500.0  # a difference of strengths, whose exponential is still a float


def check_has_value(rules: type[Game]) -> None:
    """Check that `expected_points` knows a game.  Raises UsageError."""
    if rules.words.game not in FEATURES:
        raise UsageError(
            f"{rules.words.title} has no value function, so its luck cannot be found; "
            f"these games have one: {', '.join(FEATURES)}"
        )


def expected_points(game: Game) -> list[float]:
    """Estimate the place points of every seat; when the game is over, return them."""
    if not game.waiting():
        return place_points(game.places())
    name = game.words.game
    by_seat, progress = FEATURES[name](game)
    weights = [begin + late * progress for _, begin, late in WEIGHTS[name]]
    strengths = [sum(map(mul, weights, numbers)) for numbers in by_seat]
    points = [0.0] * game.n
    for a, b in combinations(range(game.n), 2):
        ahead = 1 / (1 + math.exp(min(FARTHEST, strengths[b] - strengths[a])))
        points[a] += ahead / (game.n - 1)
        points[b] += (1 - ahead) / (game.n - 1)
    return points


class PlayoutPoints:
    """Estimates place points by playing a position on with a bot in every seat."""

    def __init__(self, bot: str | Callable[[], Any] | BotMaker, playouts: int = 1) -> None:
        """Play on with this bot.

        Args:
            bot: The bot of every seat: a name, a file, or a class.
            playouts: Matches from each position. Every playout shuffles the unseen piles anew: one that knew their
                order would count the luck of a coming card in every event before it.
        """
        self.maker = bot_makers([bot])[0]
        self.playouts = playouts

    def __call__(self, game: Game) -> list[float]:
        """Return the mean place points of every seat over the playouts."""
        if not game.waiting():
            return place_points(game.places())
        makers = [self.maker] * game.n
        names = [maker.name for maker in makers]
        total = [0.0] * game.n
        for number in range(self.playouts):
            key = match_key("playout", number)
            position = game.fork()
            position.chance = Chance(key)
            shuffle_unseen_piles(position, Chance(position.chance.new_key()))
            match = Match(type(game), names, key, log=True, position=position)
            result, _, _ = play_match(match, makers)
            for seat, points in enumerate(place_points(result.places)):
                total[seat] += points / self.playouts
        return total
