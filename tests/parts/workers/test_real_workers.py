"""Workers as processes of their own: they play with a role of few rights, drain, and are killed like all others."""

from __future__ import annotations

import re
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.schema import newest_revision
from cutpurse.leaderboard.store import Store
from tests.kill_loops import KillLoop
from tests.looking import PATIENCE_S, until
from tests.parts.workers.hosted_league import HostedLeague
from tests.postgresql_server import PostgresqlServer
from tests.roots import CHECKOUT
from tests.typed import typed

PAGE = CHECKOUT / "docs/how-to/add_machines.md"
# Each deal that a worker got, for good: the table `work` forgets a match once its result is stored.
AUDIT = """
CREATE TABLE dealt (match_id text, worker text);
CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN INSERT INTO dealt VALUES (NEW.match_id, NEW.worker); RETURN NEW; END $$;
CREATE TRIGGER note AFTER UPDATE ON work FOR EACH ROW
  WHEN (NEW.state = 'taken' AND OLD.state IS DISTINCT FROM NEW.state) EXECUTE FUNCTION note();
"""


SLOW = """
import time
from cutpurse.sdk.run import run

class Bot:
    def choose(self, view, decision):
        time.sleep(15)
        return decision.options[0]

raise SystemExit(run(Bot, "greed"))
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder with a short path, because paths of sockets are limited."""
    made = Path(tempfile.mkdtemp(prefix="cut-"))
    yield made
    shutil.rmtree(made, ignore_errors=True)


@pytest.fixture
def league(folder: Path, postgresql: PostgresqlServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[HostedLeague]:
    monkeypatch.chdir(folder)
    made = HostedLeague(folder, postgresql.create())
    for owner in ("ann", "bob", "cy"):
        made.add_bot(owner, f"sneak-{owner}")
    yield made
    made.close()


def grants() -> str:
    """The statements of the page."""
    found = re.search(r"<!-- grants -->\n```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_a_worker_with_the_rights_of_the_page_plays_and_drains(
    league: HostedLeague, postgresql: PostgresqlServer
) -> None:
    league.start_server()
    until(lambda: league.count("SELECT count(*) FROM work") > 0, "matches are dealt")
    with psycopg.connect(league.address, autocommit=True) as owner:
        owner.execute(grants().encode())
    address = postgresql.address(league.address.rpartition("/")[2], "worker")
    worker = league.start_worker("--db", address, "--slots", "2", "--name", "node1")
    until(lambda: league.played >= 2, "two matches are stored")
    assert "worker node1: 2 at a time, runner process" in league.said("worker1")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(PATIENCE_S) == 0
    assert re.search(r"\d+ handed back", league.said("worker1"))
    assert league.count("SELECT count(*) FROM work WHERE state = 'taken'") == 0
    until(lambda: league.count("SELECT count(*) FROM reports") == 0, "all are stored")
    assert league.count("SELECT count(*) FROM matches WHERE void_cause IS NOT NULL") == 0
    assert stopped(league)
    with Store(league.address, busy_timeout_s=PATIENCE_S) as store:
        assert all(ladder.equal for ladder in recompute(store))
    with psycopg.connect(league.address, autocommit=True) as owner:
        owner.execute("DROP OWNED BY worker; DROP ROLE worker")


def test_a_second_signal_gives_up_the_matches_at_hand(league: HostedLeague) -> None:
    league.add_bot("dan", "slow", SLOW)
    league.start_server()
    worker = league.start_worker("--slots", "3")
    until(lambda: "stream opened" in league.said("worker1") and '"bot": "slow"' in league.said("worker1"), "it plays")
    worker.send_signal(signal.SIGTERM)
    until(lambda: "ends when the matches at hand are over" in league.said("worker1"), "the first signal is heard")
    worker.send_signal(signal.SIGTERM)
    assert worker.wait(PATIENCE_S) == 130
    assert league.count("SELECT count(*) FROM work WHERE state = 'taken'") == 0
    until(lambda: league.count("SELECT count(*) FROM matches WHERE void_cause = 'void_server'") > 0, "it is void")
    assert "match lost" not in league.said("server")


def stopped(league: HostedLeague) -> bool:
    """Stop the server; return whether it ended as it should."""
    assert league.server is not None
    league.server.send_signal(signal.SIGTERM)
    return league.server.wait(PATIENCE_S) == 0


def test_a_bot_that_does_not_start_is_taken_off_with_its_last_words(league: HostedLeague) -> None:
    league.add_bot("dan", "broken", "raise SystemExit('no such card')")
    league.start_server()
    league.start_worker("--slots", "2")
    query = "SELECT count(*) FROM submissions WHERE bot = 'broken' AND NOT is_active AND why LIKE '%no such card%'"
    until(lambda: league.count(query) == 1, "the bot is taken off", 240)
    assert league.count("SELECT count(*) FROM pauses") == 0


def test_kills_of_worker_server_and_database_lose_no_match_and_deal_none_twice(
    league: HostedLeague, postgresql: PostgresqlServer, kill_loop: KillLoop
) -> None:
    rng, kills = kill_loop.rng, kill_loop.kills
    league.start_server()
    until(lambda: league.count("SELECT count(*) FROM work") > 0, "matches are dealt", 240)
    with psycopg.connect(league.address, autocommit=True) as owner:
        owner.execute(AUDIT.encode())
    workers = [league.start_worker(), league.start_worker()]
    for number in kills:
        kill_loop.killed(("worker", "server", "worker", "database")[number % 4])
        before = league.count("SELECT count(*) FROM dealt")
        until(lambda: league.count("SELECT count(*) FROM dealt") > before, "a match is taken", 240)  # noqa: B023 # at once
        match number % 4:
            case 0 | 2:
                victim = rng.randrange(len(workers))
                workers[victim].kill()
                workers[victim].wait()
                workers[victim] = league.start_worker()
            case 1:
                assert league.server is not None
                league.server.kill()
                league.server.wait()
                league.start_server()
            case 3:
                postgresql.kill()
                postgresql.start()
    until(lambda: is_frozen(league), "the ladder is frozen", 240)
    until(lambda: league.count("SELECT count(*) FROM work") == 0, "all matches are settled", 240)
    assert league.count("SELECT count(*) FROM open_matches") == 0
    twice = "SELECT 1 FROM dealt GROUP BY match_id HAVING count(*) > 1"
    assert league.count(f"SELECT count(*) FROM ({twice}) AS twice") == 0
    dealt = league.count("SELECT count(DISTINCT match_id) FROM dealt")
    assert league.count("SELECT count(*) FROM matches WHERE id IN (SELECT match_id FROM dealt)") == dealt
    assert league.played > 0
    kill_loop.count(matches=dealt)
    assert stopped(league)
    with Store(league.address, busy_timeout_s=PATIENCE_S) as store:
        assert all(ladder.equal for ladder in recompute(store))
    verified = typed("db", "verify", league.address, folder=league.folder)
    assert verified.returncode == 0, verified.stderr


def is_frozen(league: HostedLeague) -> bool:
    """Let no more matches be dealt, unless the database was killed a moment ago."""
    done = typed(
        "ladder", "change", "cloud", "--freeze", "now", "--server", f"unix:{league.folder}/s", folder=league.folder
    )
    return done.returncode == 0


def test_what_a_worker_cannot_work_with_is_said_in_one_line(
    folder: Path, postgresql: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)

    def refused(db: str, *flags: str) -> str:
        done = typed("worker", "--db", db, "--runner", "process", "--folder", folder / "w", *flags, folder=folder)
        assert done.returncode != 0
        assert len([line for line in done.stderr.splitlines() if line.startswith("cutpurse: ")]) == 1, done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr

    address = postgresql.create()
    assert "workers play for a league in PostgreSQL" in refused("league.db")
    assert "--slots 0: it can be 1 to 1,000" in refused(address, "--slots", "0")
    assert "is no leaderboard yet" in refused(address)
    Store(address).close()
    assert "has nothing for workers yet" in refused(address)
    with psycopg.connect(address, autocommit=True) as owner:
        owner.execute("UPDATE alembic_version SET version_num = '999'")
    assert "has schema 999; this version knows 22, " in refused(address)
    older = str(int(newest_revision()) - 1)
    with psycopg.connect(address, autocommit=True) as owner:
        owner.execute("UPDATE alembic_version SET version_num = %s", (older,))
    assert f"has schema {older}, and {newest_revision()} is needed" in refused(address)
    assert 'role "nobody" does not exist' in refused(postgresql.address("postgres", "nobody"))


def test_a_worker_that_starts_before_its_database_waits_for_it(
    league: HostedLeague, postgresql: PostgresqlServer
) -> None:
    league.start_server()
    until(lambda: league.count("SELECT count(*) FROM work") > 0, "matches are dealt", 240)
    postgresql.kill()
    try:
        first, second = league.start_worker(), league.start_worker("--name", "node2")
        for name in ("worker1", "worker2"):
            until(lambda: league.said(name) != "", "it says why it waits")  # noqa: B023 # at once
            assert "Connection refused; trying again\n" in league.said(name)
        first.send_signal(signal.SIGTERM)
        assert first.wait(PATIENCE_S) == 0
        assert len(league.said("worker1").splitlines()) == 1
    finally:
        postgresql.start()
    until(lambda: "worker node2: 1 at a time" in league.said("worker2"), "it works")
    second.send_signal(signal.SIGTERM)
    assert second.wait(PATIENCE_S) == 0
    assert league.said("worker2").count("trying again") == 1
    assert "Traceback" not in league.said("worker2")


def test_a_worker_of_another_version_leaves_its_match_to_others(league: HostedLeague) -> None:
    league.start_server()
    until(lambda: league.count("SELECT count(*) FROM work WHERE state = 'waiting'") > 0, "matches are dealt")
    with psycopg.connect(league.address, autocommit=True) as owner:
        owner.execute("UPDATE work SET code = '9.9'")
    worker = league.start_worker()
    assert worker.wait(PATIENCE_S) == 1
    assert "the league's server is Cutpurse 9.9; install that version here" in league.said("worker1")
    assert league.count("SELECT count(*) FROM work WHERE state = 'waiting'") > 0
    assert league.count("SELECT count(*) FROM pgqueuer WHERE status = 'queued'") == league.count(
        "SELECT count(*) FROM work"
    )
