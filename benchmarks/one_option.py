"""The cost of also sending decisions with one option: a server and its bots in one process, over sockets.

    python -m benchmarks.one_option [--matches 40] [--rounds 3]

Bots that answer at random and at once play each game, in turn with and without such decisions. A row has the decisions
sent per decision with a choice, and decisions with a choice per CPU second of server and bots together. Simultaneous
decisions have no minimum time here, because it would hide the difference.
"""

import argparse
import asyncio
import secrets
import sys
import time
from concurrent.futures import Future
from datetime import UTC, datetime
from statistics import median
from typing import Any, Final, NamedTuple

from benchmarks.arena.server import Taken
from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.match import Match
from cutpurse.games import GAMES
from cutpurse.leaderboard.results import FinishedMatch, StoreOutcome
from cutpurse.sdk.run import connect
from cutpurse.server.hosting.arena import Arena, Listening
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from cutpurse.server.matches import server_match
from cutpurse.server.matches.lobby import Lobby

__all__ = ["main"]

SEATS: Final = 4
TABLES: Final = 4  # per bot


class Counted(Taken):
    """A substitute for a store that counts decisions."""

    def __init__(self) -> None:
        self.choices = 0
        self.put = 0

    def submit(self, match: FinishedMatch) -> Future[StoreOutcome]:
        """Count the decisions of a match."""
        self.choices += match.decisions
        self.put += sum(len(seat.course.thinking_ms) for seat in match.seats if seat.course is not None)
        return super().submit(match)


class Figures(NamedTuple):
    """The figures of some matches."""

    put_each: float  # decisions sent per decision with a choice
    choices_s: float  # decisions with a choice per CPU second


class OnlyChoices(Match):
    """A match that answers decisions with one option itself."""

    def __init__(self, *args: Any, ask_all: bool, **more: Any) -> None:
        super().__init__(*args, **more)


async def _play(game: str, matches: int) -> Figures:
    store = Counted()
    ladder = Ladder("it", game, SEATS, {}, TimeControl(poll_floor_ms=0), matches_wanted=matches)
    log = logger(sys.stderr, "error")
    lobby = Lobby([ladder], store, entropy=secrets.token_bytes, utc=lambda: datetime.now(UTC), log=log)
    arena = Arena(Listening("127.0.0.1:0"), lobby, log)
    address = await arena.start()
    bots = [
        asyncio.create_task(connect("random", server=address, name=f"bot{number}", max_tables=TABLES, quiet=True))
        for number in range(SEATS)
    ]
    began = time.process_time()
    while not lobby.is_complete:
        await asyncio.sleep(0.01)
    took = time.process_time() - began
    for bot in bots:
        bot.cancel()
    await asyncio.gather(*bots, return_exceptions=True)
    await arena.stop()
    return Figures(store.put / store.choices, store.choices / took)


def _measured(game: str, matches: int, asks_all: bool) -> Figures:
    setattr(server_match, "Match", Match if asks_all else OnlyChoices)  # noqa: B010  # replaces the imported name
    return asyncio.run(_play(game, matches))


def main(arguments: list[str] | None = None) -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=40, help="of each game and round [default: 40]")
    parser.add_argument("--rounds", type=int, default=3, help="[default: 3]")
    given = parser.parse_args(arguments)
    print("| game | put for each choice | choices a CPU second, one option put | not put | ratio |")
    print("|---|--:|--:|--:|--:|")
    for game in GAMES:
        rounds = [[_measured(game, given.matches, asks_all) for asks_all in (True, False)] for _ in range(given.rounds)]
        put = median(with_all.put_each for with_all, _ in rounds)
        rates = [median(figures[place].choices_s for figures in rounds) for place in (0, 1)]
        ratio = median(with_all.choices_s / only.choices_s for with_all, only in rounds)
        print(f"| {game} | {put:.2f} | {rates[0]:,.0f} | {rates[1]:,.0f} | {ratio:.2f} |", flush=True)


if __name__ == "__main__":
    main()
