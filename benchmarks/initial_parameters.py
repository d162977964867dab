"""The parameters that a new ladder begins with, fitted to matches of bots of known strength: `NUMBERS` of the server.

    python -m benchmarks.initial_parameters [--games greed,...] [--matches 2000] [--seed 1]

The bots are 24 from the random one to the greedy one. The fit is judged by as many other matches, in which all bots are
newcomers again. The result is the same for the same options.
"""

from __future__ import annotations

import platform
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from random import Random
from typing import Any, Final

from benchmarks.machine import machine, machine_line
from benchmarks.report import table
from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.engine.chance import match_key
from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.leaderboard.parameter_fit import RankedMatch, fit, log_loss
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.sdk.bot import Bot, BotMaker, MatchInfo
from cutpurse.sdk.decision import Decision, Option
from cutpurse.sdk.playing.seating import play_match
from cutpurse.server.ladder_config import NUMBERS

__all__ = ["Fit", "fit_to", "main", "outcomes"]

BOTS: Final = 24
LIBRARY: Final = TrueSkill(draw_probability=0.10)  # TrueSkill's defaults


class Mixed:
    """A bot that takes the greedy bot's option with probability `share`, else a random one."""

    reads_events = False

    def __init__(self, share: float, luck: Random) -> None:
        self.share = share
        self.luck = luck
        self.greedy: Bot = GreedyBot()

    def start(self, match: MatchInfo) -> None:
        """Do nothing: the greedy bot does not need the start of a match."""

    def choose(self, view: Any, decision: Decision) -> Option | int:
        """Return an option, or its index."""
        if self.luck.random() < self.share:
            return self.greedy.choose(view, decision)
        return int(self.luck.random() * decision.count)


@dataclass(frozen=True)
class Fit:
    """The fitted parameters, and the log losses of several parameters on matches not used for the fit.

    A log loss is in nats per pair of players: with the fitted parameters, with TrueSkill's defaults, with the defaults
    and the fitted draw probability, and with the server's initial parameters.
    """

    found: TrueSkill
    fitted: float
    library: float
    library_with_ties: float
    as_begun: float


def outcomes(game: str, shares: Sequence[float], count: int, seed: str) -> Iterator[RankedMatch]:
    """Play `count` matches of randomly drawn bots.

    Raises:
        ValueError: If a bot fails, as safe options must not count.
    """
    order = Random(f"{seed}/{game}/order")
    for match_number in range(count):
        players = order.sample(range(len(shares)), GAMES[game].usual_seats)
        makers = [
            BotMaker(
                f"{shares[player]:.0%}", partial(Mixed, shares[player], Random(f"{game}/{seed}/{match_number}/{seat}"))
            )
            for seat, player in enumerate(players)
        ]
        names = [f"bot {seat}" for seat in range(len(makers))]
        match = Match(GAMES[game], names, match_key(f"{seed}/match/{match_number}", 0), {}, log=True)
        result, failed, _ = play_match(match, makers)
        if failed:
            raise ValueError(f"{game}: {failed[0]}")
        yield RankedMatch(tuple(players), result.places)


def fit_to(game: str, matches: int, seed: str) -> Fit:
    """Fit to `matches` matches, and judge by as many others."""
    shares = [bot / (BOTS - 1) for bot in range(BOTS)]
    first = list(outcomes(game, shares, matches, f"{seed}/fit"))
    other = list(outcomes(game, shares, matches, f"{seed}/held out"))
    best = fit(first, LIBRARY)
    with_ties = TrueSkill(draw_probability=best.draw_probability)
    return Fit(best, *(log_loss(other, settings) for settings in (best, LIBRARY, with_ties, NUMBERS[game])))


def games_named(text: str) -> list[str]:
    """Return the games of an option, which are separated by commas.

    Raises:
        ArgumentTypeError: If there is no such game.
    """
    names = text.split(",")
    if unknown := [name for name in names if name not in GAMES]:
        raise ArgumentTypeError(f"no {', '.join(unknown)}; there are {', '.join(GAMES)}")
    return names


def match_count(text: str) -> int:
    """Return a number of matches.

    Raises:
        ArgumentTypeError: If it is less than 1.
    """
    if (count := int(text)) < 1:
        raise ArgumentTypeError(f"at least 1, not {count}")
    return count


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 2 for a usage error, or 130 for an interrupt."""
    parser = ArgumentParser(prog="python -m benchmarks.initial_parameters", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--games", type=games_named, default=list(GAMES), help=",".join(GAMES))
    parser.add_argument("--matches", type=match_count, default=2_000, metavar="N", help="matches to fit to (2000)")
    parser.add_argument("--seed", default="1")
    options = parser.parse_args(arguments)
    rows = []
    try:
        for game in options.games:
            fitted = fit_to(game, options.matches, options.seed)
            print(f"{game}: fitted {fitted.found}", file=sys.stderr, flush=True)
            parameters = (f"{fitted.found.beta:.2f}", f"{fitted.found.tau:.4f}", f"{fitted.found.draw_probability:.4f}")
            losses = (fitted.fitted, fitted.library, fitted.library_with_ties, fitted.as_begun)
            rows.append((game, f"{options.matches:,}", *parameters, *(f"{loss:.4f}" for loss in losses)))
    except KeyboardInterrupt:
        return 130
    print(machine_line(machine()))
    print(f"Python {platform.python_version()}, trueskill {version('trueskill')}, seed {options.seed}\n")
    head = ["fitted", "matches", "beta", "tau", "ties", "log-loss", "library", "and these ties", "as begun"]
    print(*table(head, rows), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
