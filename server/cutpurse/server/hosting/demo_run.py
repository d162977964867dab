"""The demo: an arena and sample bots in their own processes, which play rated matches of every game.

Everything works as for strangers' bots: they connect over gRPC, matches are stored and rated in SQLite, and the
rankings are read from there. This module knows no command line.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pathlib import Path
from typing import Final

from cutpurse.engine.errors import CutpurseError
from cutpurse.games import GAMES
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.queries import MatchEntry, Ranking
from cutpurse.leaderboard.store import Store
from cutpurse.process.interpreter import module_command
from cutpurse.server.hosting.children import Children
from cutpurse.server.hosting.garbage import rarely_collected
from cutpurse.server.hosting.open_arena import OpenArena, open_arena
from cutpurse.server.hosting.page import Page
from cutpurse.server.ladder_config import default_ladders
from cutpurse.server.logs import Logger

__all__ = ["DATABASE", "Contestant", "DemoSummary", "contestants", "run_demo"]

DATABASE: Final = "demo.db"
PROGRAMS: Final = "cutpurse.programs"  # entry points: functions that return the command line of a bot program
PLAYOUTS: Final = 10  # playouts per decision of `search`, which is to be shown here, not to win
LOOK_S: Final = 0.2  # seconds between progress checks
DRAIN_S: Final = 5.0
MOST_VOID: Final = 20  # maximum void matches; each is played again
_RUN: Final = (*module_command("cutpurse.cli"), "bot", "run")


@dataclass(frozen=True, slots=True)
class Contestant:
    """A bot of the demo: its name in the rankings, its command, and additions to its environment."""

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DemoSummary:
    """The results of a demo: matches, decisions and rankings by game, and faults by bot."""

    matches: Mapping[str, int]
    decisions: Mapping[str, int]
    rankings: Mapping[str, Sequence[Ranking]]
    faults: Mapping[str, int]


def contestants(say: Callable[[str], None]) -> list[Contestant]:
    """List the sample bots; report to `say` which cannot run here, and why."""
    found = [_python(name) for name in ("first_option", "random", "greedy")]
    found.append(_python("search", games=("greed",), environment={"CUTPURSE_PLAYOUTS": str(PLAYOUTS)}))
    for point in sorted(entry_points(group=PROGRAMS), key=lambda point: point.name):
        try:
            found.append(Contestant(point.name, tuple(point.load()()), {"CUTPURSE_BOT": point.name}))
        except CutpurseError as problem:
            say(f"without {point.name}: {problem}")
    if len(found) < 5:
        found.append(_python("random", name="random_2"))
    return found


def _python(
    bot: str, name: str = "", games: Sequence[str] = (), environment: Mapping[str, str] | None = None
) -> Contestant:
    wanted = [word for game in games for word in ("--game", game)]
    command = (*_RUN, bot, "--name", name or bot, "--quiet", "--reconnect-timeout", "30", *wanted)
    return Contestant(name or bot, command, environment or {})


async def run_demo(
    folder: Path,
    bots: Sequence[Contestant],
    matches: int,
    log: Logger,
    progress: Callable[[Mapping[str, int]], None],
    *,
    page: Page | None = None,
    stay: Callable[[DemoSummary], None] | None = None,
) -> DemoSummary:
    """Play rated matches of every game, and write their records beside the database in `folder`.

    Args:
        folder: For the database, the records and the bots' output.
        bots: The bots.
        matches: Matches per game.
        log: The server's log.
        progress: Called periodically with the number of stored matches by game.
        page: The web page, open as long as the server.
        stay: Called with the summary; the server then stays until it is stopped by a signal.

    Raises:
        CutpurseError: If too few bots are left, or too many matches are void.
    """
    ladders = default_ladders(matches_wanted=matches)
    database = folder / DATABASE
    has_page = page is not None
    with open_arena("127.0.0.1:0", database, ladders, log, has_page=has_page) as opened, rarely_collected():
        address = await opened.arena.start()
        if page is not None:
            page.begin(opened.arena, address)
        try:
            with Children(folder / "bots") as children:
                for bot in bots:
                    children.start(bot.name, bot.command, {**bot.environment, "CUTPURSE_SERVER": address})
                await _watch(opened, children, len(bots), progress)
                outcome = _told(opened.store, folder)
                if stay is not None:
                    stay(outcome)
                    await _until_told_to_stop()
                await opened.arena.stop(DRAIN_S)
        except BaseException:
            opened.arena.hurry()
            await opened.arena.stop()
            raise
        return outcome


async def _until_told_to_stop() -> None:
    """Wait for Ctrl-C, SIGTERM or SIGHUP, which then count as a normal end."""
    this = asyncio.current_task()
    assert this is not None
    try:
        await asyncio.Event().wait()
    except asyncio.CancelledError:
        this.uncancel()


async def _watch(
    opened: OpenArena, children: Children, bots: int, progress: Callable[[Mapping[str, int]], None]
) -> None:
    """Wait until all matches are played and stored."""
    most = max(rules.usual_seats for rules in GAMES.values())
    while not opened.lobby.is_complete:
        progress({ladder.name: ladder.matches for ladder in opened.store.run(queries.ladders)})
        if (voids := sum(opened.lobby.counts.matches_void.values())) > MOST_VOID:
            raise CutpurseError(f"{voids} matches are void by a fault of the server; its log says what it is")
        if ended := children.ended():
            name, code = next(iter(ended.items()))
            if bots - len(ended) < most:
                raise CutpurseError(
                    f"bot {name} ended with exit code {code} and too few are left; its last words: "
                    f"{children.last_words(name) or 'none'}"
                )
        await asyncio.sleep(LOOK_S)


def _told(store: Store, folder: Path) -> DemoSummary:
    """Estimate the ratings, write the records, and read back what was stored."""
    played: dict[str, int] = {}
    decisions: dict[str, int] = {}
    faults: Counter[str] = Counter()
    records = folder / "records"
    records.mkdir()
    for game in GAMES:
        entries = list(_all(store, game))
        played[game] = sum(entry.void_cause is None for entry in entries)
        decisions[game] = sum(entry.decisions for entry in entries)
        with (records / f"{game}.jsonl").open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(
                store.run(queries.record, entry.match) + "\n" for entry in entries if entry.void_cause is None
            )
        for entry in entries:
            for seat in entry.seats:
                faults[seat.bot] += seat.faults
    for game in GAMES:
        store.write(put_estimates, store.run(ladder_results, game).estimates(), datetime.now(UTC))
    rankings = {game: store.run(queries.rankings, game) for game in GAMES}
    return DemoSummary(played, decisions, rankings, {bot: count for bot, count in sorted(faults.items()) if count})


def _all(store: Store, ladder: str) -> Iterator[MatchEntry]:
    """Yield every match of a ladder, reading page by page."""
    before = None
    while page := store.run(queries.matches, ladder=ladder, before=before):
        yield from page
        before = page[-1].number
