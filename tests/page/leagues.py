"""Leagues for tests of the page: a database with matches of all five games, and a running server with bots and page.

The real lobby plays the matches in virtual time, and the real leaderboard stores them. There are timeouts, illegal
answers, crashes, a void match, a requested match, a private ladder, versions, and names that contain markup. `HOSTILE`
has these names, which every page must show as text. Every run plays the same matches.
"""

from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Final, TypeVar

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates
from cutpurse.leaderboard.ladders import NewLadder, change_ladder, create_ladder, create_ladders, ensure_ladder
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import FinishedMatch, Identity, LadderTerms, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import NOBODY
from cutpurse.server.ladder_config import Ladder, default_ladders
from cutpurse.server.matches.requests import MatchRequest
from tests.faults.processes import Server, herd, server
from tests.leaderboard.sample_results import add_version, result
from tests.looking import until
from tests.server.small_world import BotThere, Manner, World

__all__ = ["HOSTILE", "PRIVATE", "SCRIPTS", "LiveLeague", "league_file", "live_league", "page_process"]

SCRIPTS: Final = ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'onmouseover='alert(1)", "{{7*7}}")
HOSTILE: Final = (
    *SCRIPTS,
    "javascript:alert(1)",
    "../../etc/passwd",
    "a?b=c&d#e%00%2f",
    "\N{MONEY BAG}\N{OCTOPUS} robber",
    "n" * 64,
    "=cmd|'/c calc'!A1",
)
BIDI: Final = (
    "\N{RIGHT-TO-LEFT OVERRIDE}gnp.evil\N{RIGHT-TO-LEFT MARK}"  # the leaderboard rejects it, but a file may contain it
)
PRIVATE: Final = "hushed"
_CONTROL: Final = TimeControl(base_ms=200, bank_ms=300, grace_ms=100, poll_floor_ms=5)
_Answer = TypeVar("_Answer")
_DAY_S: Final = 86_400.0
_FAULTY: Final = {
    "slow": Manner(never=0.01),
    "liar": Manner(illegal=0.2),
    "broken": Manner(gives_up=0.01),
}


def league_file(path: Path, matches: int = 6) -> Path:
    """Create the database: on each of two days `matches` matches of each game, and twice as many of Greed.

    There is a ladder of each game with its name, the frozen ladder `duel`, and `hushed`, which is private to ann and
    bob. All have estimates; only some bots have enough matches for a place.
    """
    ladders = [_more(ladder, matches) for ladder in default_ladders(_CONTROL)]
    ladders.append(Ladder("duel", "greed", 2, control=_CONTROL))
    owners = LadderTerms(owners=("ann", "bob"), is_private=True)
    ladders.append(Ladder(PRIVATE, "greed", 2, control=_CONTROL, matches_wanted=2, terms=owners))
    with Store(path) as store:
        for entry in ladders[:-2]:
            store.write(ensure_ladder, entry.kept)
        for entry in ladders[-2:]:
            clock = _clock(entry.control)
            new = NewLadder(entry.name, entry.game, entry.seats, entry.rating, clock=clock, terms=entry.terms)
            store.write(create_ladder, new, datetime(2026, 1, 1, tzinfo=UTC))
        for day in range(2):
            _play_a_day(ladders, _Prompt(store), day)
            for entry in ladders:
                estimated_at = datetime(2026, 1, 1 + day, tzinfo=UTC)
                store.write(put_estimates, store.run(ladder_results, entry.name).estimates(), estimated_at)
        frozen = datetime(2026, 1, 3, tzinfo=UTC)
        store.write(change_ladder, "duel", LadderTerms(frozen=frozen))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE bots SET name = ? WHERE name = 'turned'", (BIDI,))
    return path


class _Prompt:
    """A store that waits for its answers, so that the timing of its thread does not change the matches."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def standings(self, player: Identity, seen: datetime) -> Future[Mapping[str, tuple[Skill, int]]]:
        """Load the ratings of a bot; return a finished future."""
        return _done(self._store.standings(player, datetime(2026, 1, 1, tzinfo=UTC)))

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        """Store an announcement; return a finished future."""
        return _done(self._store.announce(match))

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        """Store a result; return a finished future."""
        return _done(self._store.submit(result))


def _done(answer: Future[_Answer]) -> Future[_Answer]:
    assert wait([answer], 30).done, "the store does not answer"
    return answer


def _more(ladder: Ladder, matches: int) -> Ladder:
    return replace(ladder, matches_wanted=2 * matches if ladder.game == "greed" else matches)


def _clock(control: TimeControl) -> dict[str, int]:
    return {name: getattr(control, name) for name in control.__dataclass_fields__}


def _play_a_day(ladders: Sequence[Ladder], store: _Prompt, day: int) -> None:
    """Let all bots of the day play until every ladder has its matches, except `duel`, which has no limit."""
    world = World(ladders, seed=f"day {day}", most_tables=6, store=store)
    world.now += day * _DAY_S
    bots = _bots(world, day)
    asked = MatchRequest("szmal", tuple(bot.identity for bot in bots[:4]), None, "ann")
    world.lobby.request(asked, world.now)
    wanted = {ladder.name: ladder.matches_wanted for ladder in ladders if ladder.matches_wanted is not None}
    finished = world.lobby.counts.matches_finished
    world.run(lambda: all(finished[name] >= count for name, count in wanted.items()))
    world.lobby.drain(world.now)
    world.lobby.void_all()
    world.run(lambda: world.lobby.is_idle)


def _bots(world: World, day: int) -> list[BotThere]:
    """Create the bots; on the second day ann's bot also has a second version, and hostile names are cid's."""
    bots = [world.bot("sneak", owner="ann", version="1"), world.bot("thug", owner="bob", version="1.0")]
    if day:
        bots.append(world.bot("sneak", owner="ann", version="2"))
    bots += [world.bot(name, owner="dan", manner=manner) for name, manner in _FAULTY.items()]
    bots += [world.bot(name, owner="cid", tables=1, version=f"v{name}"[:32]) for name in HOSTILE]
    bots.append(world.bot("turned", owner=SCRIPTS[0], tables=1))
    bots.append(world.bot("lonely", owner=NOBODY))
    return bots


@contextmanager
def page_process(database: Path) -> Iterator[str]:
    """Run `cutpurse web` on a database as a process, and yield its address."""
    log = database.parent / "web.log"
    command = [sys.executable, "-m", "cutpurse.cli", "web", "--db", str(database), "--listen", "127.0.0.1:0"]
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file) as process:
        try:
            until(lambda: _address(log) is not None or process.poll() is not None, "the page listens")
            address = _address(log)
            assert address is not None, log.read_text(encoding="utf-8")
            yield address
        finally:
            process.terminate()


def _address(log: Path) -> str | None:
    return _page(log.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class LiveLeague:
    """A server with bots, and the address of its page."""

    server: Server
    page: str

    @property
    def said(self) -> str:
        """The server's output so far."""
        return self.server.said


@contextmanager
def live_league(folder: Path, *words: str) -> Iterator[LiveLeague]:
    """Run a server, its page and bots as processes; four bots are placed on its ladder of Greed.

    The bots play Greed and Szmal: at random, two matches of Stolen Treasure keep all of them busy for minutes.
    """
    _settle(folder / "league.db")
    with server(folder, "--web", "127.0.0.1:0", *words) as arena:
        until(lambda: _page(arena.said) is not None, "the page listens")
        page = _page(arena.said)
        assert page is not None
        names, ladders = ["ann", "bob", "cid", "dan", "eve"], ["greed", "szmal"]
        with herd(folder, arena.address, names, tables=2, think_ms=(10, 25), ladders=ladders):
            yield LiveLeague(arena, page)


def _settle(path: Path) -> None:
    """Create a server's database in which four offline bots have played Greed often enough for a place."""
    now = datetime(2026, 1, 1, tzinfo=UTC)
    with Store(path) as store:
        store.write(create_ladders, [ladder.kept for ladder in default_ladders()], now)
        versions = [add_version(store, "settled", f"veteran{number}", "1") for number in range(4)]
        for number in range(40):
            seated = Random(number).sample(versions, 4)
            store.submit(result(f"settled{number}", seated, ladder="greed", record="")).result()
        store.write(put_estimates, store.run(ladder_results, "greed").estimates(), now)


def _page(said: str) -> str | None:
    """Find the address of the page in the command's output."""
    found = re.search(r"(http://127\.0\.0\.1:\d+)/", said)
    return found[1] if found else None
