"""What hidden cards are worth: `search` that sees every hand, alone against three `greedy`.

    .venv/bin/python -m benchmarks.open_hands [--matches 100] [--games greed,...]

No bot can play like that on a server. It sees all cards but the order of face-down piles, and it knows as little as the
others what chance will pick. Beside it, `search` plays the same deals as it always does. With as many playouts
(CUTPURSE_PLAYOUTS), a search that guesses hidden cards better than `search` does can be expected between the two.
Where both are near 25 %, luck decides, or the search is too short.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Final

from scipy.stats import binomtest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a script finds its neighbours
from benchmarks.machine import machine, machine_line
from benchmarks.rungs import GAMES, SEATS
from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.bots.search_bot import SearchBot
from cutpurse.engine.chance import Chance, match_key
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.engine.game import Game
from cutpurse.engine.match import Match
from cutpurse.engine.view import View
from cutpurse.experiments.luck import shuffle_unseen_piles
from cutpurse.games import game_named
from cutpurse.sdk.bot import bot_makers
from cutpurse.sdk.playing.seating import play_match

__all__ = ["OpenHands", "SeeingBot", "main", "measure"]


class SeeingBot(SearchBot):
    """A search that imagines nothing in hands: it takes them as they are."""

    match: ClassVar[Match]  # the one that is played now

    def imagined(self, view: View, chance: Chance) -> Game:
        """Return the position as it is, but for the order of face-down piles and the rest of chance."""
        world = self.match.game.fork()
        world.chance = Chance(chance.new_key())
        shuffle_unseen_piles(world, chance)
        return world


@dataclass(frozen=True, slots=True)
class OpenHands:
    """First places of a bot, shared ones split, and their 95 % interval (Wilson); shares are from 0 to 1."""

    game: str
    bot: str
    matches: int
    first_places: float
    low: float
    high: float


def measure(game: str, bot: type[SearchBot], matches: int, seed: str) -> OpenHands:
    """Play a bot alone against three `greedy`; its seat moves on with each match."""
    name, settings = GAMES[game]
    rules, won = game_named(name), 0.0
    for number in range(matches):
        seat = number % SEATS
        bots: list[type[SearchBot] | type[GreedyBot]] = [GreedyBot] * SEATS
        bots[seat] = bot
        makers = bot_makers(bots)
        match = Match(rules, [maker.name for maker in makers], match_key(seed, number), settings, log=True)
        SeeingBot.match = match
        places = play_match(match, makers)[0].places
        won += (places[seat] == 1) / places.count(1)
    low = binomtest(math.floor(won), matches).proportion_ci(method="wilson").low
    high = binomtest(math.ceil(won), matches).proportion_ci(method="wilson").high
    return OpenHands(game, bot.__name__, matches, won / matches, float(low), float(high))


NAMES: Final = {"SearchBot": "search", "SeeingBot": "sees all hands"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or 2 for a usage error."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.open_hands", description=__doc__)
    parser.add_argument("--matches", type=int, default=100, help="of each bot in each game [default: 100]")
    parser.add_argument("--games", default=",".join(GAMES), help="[default: all]")
    parser.add_argument("--seed", default="open hands")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    given = parser.parse_args(arguments)
    try:
        games = [game.strip() for game in given.games.split(",")]
        if unknown := [game for game in games if game not in GAMES]:
            raise UsageError(f"--games {unknown[0]}: there are {', '.join(GAMES)}")
        if given.matches < 1:
            raise UsageError(f"--matches {given.matches}: it is at least 1")
        if not given.json:
            print(
                machine_line(machine()), f"{'game':20} {'bot':14} matches  first  95 % interval", sep="\n", flush=True
            )
        found = []
        for game in games:
            for bot in (SearchBot, SeeingBot):
                one = measure(game, bot, given.matches, given.seed)
                found.append(one)
                if not given.json:
                    share, interval = f"{one.first_places:6.1%}", f"{one.low:.1%} to {one.high:.1%}"
                    print(f"{game:20} {NAMES[one.bot]:14} {one.matches:7,} {share}  {interval}", flush=True)
        if given.json:
            print(json.dumps({"machine": machine(), "open_hands": [asdict(one) for one in found]}, indent=2))
    except CutpurseError as problem:
        print(f"open_hands: {problem}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
