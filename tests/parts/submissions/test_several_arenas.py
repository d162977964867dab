"""A bot is submitted to one of two arenas that share a league, and runs where its ladder is."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.leaderboard import leases, queries
from cutpurse.leaderboard.arena_store import ArenaStore
from cutpurse.server.hosting.open_arena import OpenArena, open_arena
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.logs import logger
from cutpurse.server.parts.cluster.part import ClusterPart
from cutpurse.server.parts.submissions import submission_desk, submission_queries, submissions
from cutpurse.server.parts.submissions.part import SubmissionsPart
from cutpurse.server.parts.submissions.submissions import NewSubmission
from cutpurse.wire.packing import pack
from tests.leaderboard.databases import change_by_hand
from tests.looking import until_so
from tests.parts.open_parts import part_of, parts_with
from tests.parts.submissions.desks import PATIENT, Author, bot_folder
from tests.ports import free_port
from tests.postgresql_server import PostgresqlServer
from tests.server.arenas import same_entropy

pytest.importorskip("psycopg", reason="psycopg is not installed here: pip install '.[cluster]'")

LADDERS = [Ladder(name, "greed", 2, control=PATIENT) for name in ("near", "far")]
BUILD = 'build = ["python", "-c", "open(\'built\', \'w\').close()"]'
NEEDS_BUILD = """
from pathlib import Path
from cutpurse.sdk.run import run

assert (Path(__file__).parent / "built").exists()

class Bot:
    def choose(self, view, decision):
        return decision.options[0]

if __name__ == "__main__":
    raise SystemExit(run(Bot, "greed"))
"""


class Site:
    """One of the two arenas."""

    def __init__(self, opened: OpenArena, address: str, said: io.StringIO) -> None:
        self.opened = opened
        self.author = Author(address)
        self._said = said

    def count(self, event: str) -> int:
        """How often something happened, by the log."""
        return sum(json.loads(line)["event"] == event for line in self._said.getvalue().splitlines())

    def renew(self) -> None:
        """Look at the leases now."""
        part_of(self.opened, ClusterPart).leasing.begin()


@asynccontextmanager
async def running_site(database: str, ladder: str) -> AsyncIterator[Site]:
    address = f"127.0.0.1:{free_port()}"
    said = io.StringIO()
    with open_arena(
        address,
        database,
        LADDERS,
        logger(said, "debug"),
        parts=parts_with(submissions="process", db=database, arena_address=address, arena_ladders=(ladder,)),
        entropy=same_entropy(),
    ) as opened:
        await opened.arena.start()
        try:
            yield Site(opened, address, said)
        except BaseException as problem:
            problem.add_note(said.getvalue())
            raise
        finally:
            await opened.arena.stop()


@pytest.fixture
async def sites(
    postgresql: PostgresqlServer, short: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[tuple[Site, Site, str]]:
    monkeypatch.chdir(short)
    for name in ("LEASE_S", "DELAY_S"):
        monkeypatch.setattr(leases, name, 3_600.0)
    database = postgresql.create()
    async with AsyncExitStack() as stack:
        a, b = [await stack.enter_async_context(running_site(database, name)) for name in ("near", "far")]
        a.renew()
        yield a, b, database


async def test_a_bot_is_built_once_and_runs_where_its_ladder_is(sites: tuple[Site, Site, str], short: Path) -> None:
    a, b, database = sites
    for name in ("sneak", "thug"):
        await a.author.submit(bot_folder(short, NEEDS_BUILD, name=name, more=BUILD), "far")
    for name in ("sneak", "thug"):
        await a.author.until(name, "1", "running")  # as the other arena says
    await until_so(lambda: len(b.opened.store.run(queries.matches, "far", limit=1)) == 1)
    assert [one.count("submission taken up") for one in (a, b)] == [2, 0]
    assert [one.count("resident started") for one in (a, b)] == [0, 2]
    log = await a.author.ask(lambda calls: calls.log("sneak"))
    assert "built with" in log.check
    # another arena takes the ladder
    store = b.opened.store
    assert isinstance(store, ArenaStore)
    store.holder = replace(store.holder, games=())  # it takes nothing
    change_by_hand(database, "UPDATE leases SET until = until - interval '3 hours'")
    a.renew()
    before = len(a.opened.store.run(queries.matches, "far", limit=100_000))
    await until_so(lambda: len(a.opened.store.run(queries.matches, "far", limit=100_000)) > before)
    await until_so(lambda: b.count("resident stopped") == 2)
    assert [one.count("submission taken up") for one in (a, b)] == [2, 0]
    assert a.count("resident started") == 2
    # an author may ask either
    await b.author.ask(lambda calls: calls.retire("thug"))
    await until_so(lambda: a.count("resident stopped") == 1)
    assert (await b.author.ask(lambda calls: calls.one("sneak", "1"))).is_running


async def test_what_a_lost_arena_has_received_is_taken_up_by_another(
    sites: tuple[Site, Site, str], short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, b, _ = sites
    content = pack(bot_folder(short)).content
    desk = part_of(b.opened, SubmissionsPart).desk
    digest = desk._storage.keep(content)
    desk._storage._shared = None
    desk._storage.remove(digest)  # as on another machine: the database alone has it
    monkeypatch.setattr(submission_desk, "SILENT_S", 0.5)
    b.opened.store.write(
        submissions.hand_in, NewSubmission("local", "sneak", "1", digest, len(content), ["near"]), datetime.now(UTC)
    )
    await until_so(lambda: any(entry.is_active for entry in b.opened.store.run(submission_queries.submissions)))
