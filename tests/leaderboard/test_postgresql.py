"""A leaderboard in PostgreSQL: one process writes it, and each trouble is one line that says what to do."""

import os
import sys
from collections.abc import Iterator
from datetime import timedelta

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.databases import find_database
from cutpurse.leaderboard.dialects import driver_sql
from cutpurse.leaderboard.errors import InUse, InvalidEntry, NewerSchema, NoSuchEntry, OlderSchema, StoreError
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import FinishedSeat
from cutpurse.leaderboard.store import Store
from tests.forked import ForkedProcess
from tests.kill_loops import KillLoop
from tests.leaderboard.databases import change_by_hand
from tests.leaderboard.kept_ledger import check_ledger
from tests.leaderboard.sample_results import DAWN, LADDER, prepare, random_result, result
from tests.leaderboard.test_announced import announcement
from tests.leaderboard.writers import write_through_trouble
from tests.postgresql_server import MISSING, PostgresqlServer, programs

pytestmark = pytest.mark.full
psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed here: pip install '.[cluster]'")

AGAIN = 60  # results that the next process submits once more, before the new ones
BUSY_S = 0.05


@pytest.fixture
def address(postgresql: PostgresqlServer) -> str:
    return postgresql.create()


def session_of(server: str, writer: int) -> int:
    """The process of the server that serves the writing session of a process here."""
    with psycopg.connect(server) as connection:
        asked = "SELECT pid FROM pg_stat_activity WHERE application_name LIKE %s AND datname = current_database()"
        (pid,) = connection.execute(asked, (f"cutpurse {writer} %",)).fetchone()
    return int(pid)


# -- one writer
def test_a_second_writer_is_refused_and_told_who_is_the_first(address: str) -> None:
    with Store(address) as store:
        prepare(store)
        with pytest.raises(InUse, match=rf"{address} is being written by process {os.getpid()} on .*; only one can"):
            Store(address, busy_timeout_s=BUSY_S)
        with LeaderboardReader(address) as reader:
            assert [ladder.name for ladder in reader.run(queries.ladders)] == [LADDER]
    Store(address).close()


def test_a_lost_session_is_replaced_and_nothing_is_lost(address: str) -> None:
    with Store(address) as store:
        versions = prepare(store)
        for number in range(20):
            if number % 5 == 4:
                with psycopg.connect(address, autocommit=True) as other:
                    pid = session_of(address, os.getpid())
                    other.execute("SELECT pg_terminate_backend(%s, 5000)", (pid,))
                with pytest.raises(StoreError, match="you can retry the same write"):
                    store.submit(random_result(number, versions)).result()
            store.submit(random_result(number, versions)).result()
            assert store.run(queries.matches, limit=1)[0].match == f"m{number}"
        assert len(store.run(queries.matches, limit=100)) == 20
        assert all(check.equal for check in recompute(store))


def test_a_session_that_was_lost_on_this_side_only_is_ended(address: str) -> None:
    with Store(address) as store:
        versions = prepare(store)
        with store._access.engine.connect() as connection:
            connection.detach()  # the pool opens another, while this one keeps the lock
            kept = connection.connection.dbapi_connection
            assert kept is not None
            assert store.submit(random_result(1, versions)).result().sequence == 1
            with pytest.raises(psycopg.OperationalError, match="terminating connection"):
                kept.cursor().execute("SELECT 1")


def test_who_took_over_is_not_overwritten(address: str) -> None:
    """The first server lost its session, and another took the league; the first may go on when that has ended."""
    with Store(address, busy_timeout_s=1.0) as first:
        versions = prepare(first)
        first.announce(announcement(result("m1", versions[:4]))).result()
        first._access.engine.dispose()
        with Store(address) as second:
            assert second.void_unfinished(DAWN + timedelta(days=1)) == ["m1"]
            second.submit(result("m2", versions[:4])).result()
            with pytest.raises(StoreError, match=f"is being written by process {os.getpid()}"):
                first.submit(result("m1", versions[:4])).result()
        assert first.submit(result("m1", versions[:4])).result().sequence is None  # it stays void
        assert first.submit(result("m3", versions[:4])).result().sequence == 2
        assert all(check.equal for check in recompute(first))


# -- trouble
def test_a_server_that_is_away_is_said_and_all_goes_on_when_it_is_back() -> None:
    with own_server() as server:
        address = server.create()
        with Store(address) as store:
            versions = prepare(store)
            server.kill()
            with pytest.raises(StoreError, match="you can retry the same write"):
                store.submit(random_result(1, versions)).result()
            with pytest.raises(StoreError, match="Connection refused; check that the server runs and can be reached"):
                store.run(queries.rankings, LADDER)
            with pytest.raises(StoreError, match="Connection refused"):
                Store(address)
            server.start()
            assert store.submit(random_result(1, versions)).result().sequence == 1
            assert len(store.run(queries.rankings, LADDER)) == 4


def test_a_lock_that_is_not_released_is_said(address: str) -> None:
    with Store(address, busy_timeout_s=BUSY_S) as store:
        versions = prepare(store)
        with psycopg.connect(address) as other:
            other.execute("LOCK TABLE matches IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(StoreError, match="lock timeout; another session holds a lock on it; you can retry"):
                store.submit(random_result(1, versions)).result()
        assert store.submit(random_result(1, versions)).result().sequence == 1


def test_a_database_that_is_read_only_is_said(address: str, postgresql: PostgresqlServer) -> None:
    with Store(address) as store:
        versions = prepare(store)
    name = address.rpartition("/")[2]
    with psycopg.connect(postgresql.address("postgres"), autocommit=True) as other:
        other.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        with pytest.raises(StoreError, match="it is read-only: name the primary server, not a standby"):
            Store(address)
        with LeaderboardReader(address) as reader:
            assert reader.run(queries.rankings, LADDER) == []
        other.execute(f"ALTER DATABASE {name} RESET default_transaction_read_only")
    with Store(address) as store:
        assert store.submit(random_result(1, versions)).result().sequence == 1


def test_a_user_without_rights_is_told(address: str, postgresql: PostgresqlServer) -> None:
    name = address.rpartition("/")[2]
    with psycopg.connect(address, autocommit=True) as other:
        other.execute("CREATE ROLE guest LOGIN")
    with pytest.raises(StoreError, match="permission denied for schema public; give this user the right to create"):
        Store(postgresql.address(name, user="guest"))
    Store(address).close()
    with pytest.raises(StoreError, match=r"permission denied for table .*; give this user the right"):
        LeaderboardReader(postgresql.address(name, user="guest"))


def test_a_database_of_something_else_is_left_alone(address: str) -> None:
    with psycopg.connect(address) as other:
        other.execute("CREATE TABLE invoices (id int)")
        other.execute("CREATE TABLE alembic_version (version_num text)")
        other.execute("INSERT INTO alembic_version VALUES ('8')")
    with pytest.raises(StoreError, match=r"tables of something else \(alembic_version, invoices\): name another"):
        Store(address)
    with pytest.raises(StoreError, match="has tables of something else"):
        LeaderboardReader(address)
    with psycopg.connect(address) as other:
        names = other.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1").fetchall()
    assert names == [("alembic_version",), ("invoices",)]


@pytest.mark.parametrize(
    ("revision", "error", "said"),
    [
        ("99", NewerSchema, "has schema 99; this version knows"),
        ("7", OlderSchema, "this version upgrades 22"),
    ],
)
def test_another_schema_is_said(address: str, revision: str, error: type[StoreError], said: str) -> None:
    Store(address).close()
    change_by_hand(address, f"UPDATE alembic_version SET version_num = '{revision}'")
    with pytest.raises(error, match=said):
        Store(address)
    with pytest.raises((OlderSchema, NewerSchema), match=f"has schema {revision}"):
        LeaderboardReader(address)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("postgresql://127.0.0.1:1/league", "Connection refused; check that the server runs and can be reached"),
        ("postgresql://[::1/league", "this PostgreSQL address cannot be read; write postgresql://USER@HOST"),
        ("postgresql://ann:sec%ret@host/league", "this PostgreSQL address cannot be read"),
        ("postgres://host/league?colour=red", "this PostgreSQL address cannot be read"),
        ("postgresql://ann:se@cret@host/league", "this PostgreSQL address cannot be read"),
        ("host=h password=my secret", "this PostgreSQL address cannot be read"),
    ],
)
def test_a_bad_address_is_said_without_its_password(address: str, said: str) -> None:
    with pytest.raises(StoreError, match=said) as problem:
        Store(address)
    assert "sec" not in str(problem.value)


def test_a_password_is_never_printed(postgresql: PostgresqlServer) -> None:
    name = postgresql.create().rpartition("/")[2]
    at = f"127.0.0.1:{postgresql.port}/{name}"
    database = find_database(f"postgresql://league:s3cret@{at}?password=s3cret&connect_timeout=9")
    assert database.address == f"postgresql://league@{at}?connect_timeout=9"
    assert database.environment == {"PGPASSWORD": "s3cret"}
    with Store(database) as store:
        assert "s3cret" not in f"{store.database} {store._thread.name}"
    with pytest.raises(StoreError, match='role "nobody" does not exist; check the user') as problem:
        Store(f"postgresql://nobody:s3cret@{at}")
    assert "s3cret" not in str(problem.value)
    with pytest.raises(StoreError, match='database "nowhere" does not exist; create it first: createdb'):
        Store(postgresql.address("nowhere"))


def test_every_form_of_an_address_is_taken(postgresql: PostgresqlServer) -> None:
    address = postgresql.create()
    Store(address.replace("postgresql", "POSTGRESQL")).close()
    name = address.rpartition("/")[2]
    words = f"host=127.0.0.1 port={postgresql.port} user=league password='s3 c\\'ret' dbname={name}"
    with Store(words) as store:
        assert str(store.database) == f"host=127.0.0.1 port={postgresql.port} user=league dbname={name}"
        assert store.database.environment == {"PGPASSWORD": "s3 c'ret"}
    with LeaderboardReader(store.database.address) as reader:  # as the process of the estimates opens it
        assert reader.run(queries.ladders) == []
    with pytest.raises(StoreError, match=r'user=nobody dbname=\w+: .*role "nobody" does not exist') as problem:
        Store(words.replace("user=league", "user=nobody"))
    assert "ret" not in str(problem.value)


def test_without_the_driver_it_is_said_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "cutpurse.leaderboard.postgresql_database", raising=False)
    with pytest.raises(StoreError, match=r"psycopg is not installed; the extra `cluster` of Cutpurse has it"):
        find_database("postgresql://host/league")


def test_an_encoding_that_lacks_characters_is_refused(postgresql: PostgresqlServer) -> None:
    with psycopg.connect(postgresql.address("postgres"), autocommit=True) as other:
        other.execute("CREATE DATABASE latin ENCODING 'LATIN1' LOCALE_PROVIDER libc LOCALE 'C' TEMPLATE template0")
    with pytest.raises(StoreError, match="its encoding is LATIN1, and UTF8 is needed; create another database"):
        Store(postgresql.address("latin"))


def test_no_name_has_a_nul_and_no_text_is_stored_with_one(address: str) -> None:
    with Store(address) as store:
        versions = prepare(store)
        for query in (queries.match, queries.rankings, queries.record):
            with pytest.raises(NoSuchEntry, match="nothing has a name with a NUL character"):
                store.run(query, "12345678\0")
        bad = FinishedSeat(versions[0], 1, 1, "nor\0mal")
        seats = (bad, *(FinishedSeat(version, 2, 0, "normal") for version in versions[1:4]))
        futures = [store.submit(result("m1", versions[:4], seats=seats)), store.submit(result("m2", versions[:4]))]
        with pytest.raises(InvalidEntry, match="the match cannot be written down"):
            futures[0].result()
        assert futures[1].result().sequence == 1  # the others are stored without it


def test_commits_wait_for_the_disk_whatever_the_database_says(address: str, postgresql: PostgresqlServer) -> None:
    name = address.rpartition("/")[2]
    with psycopg.connect(postgresql.address("postgres"), autocommit=True) as other:
        other.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    with Store(address) as store, store._transaction() as connection:
        assert connection.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"


def test_numbers_above_31_bits_are_stored(address: str) -> None:
    with Store(address) as store:
        versions = prepare(store)
        large = 2**40
        seat = FinishedSeat(versions[0], 1, large, "normal", thinking_ms=large, cpu_ms=large, peak_bytes=large)
        seats = (seat, *(FinishedSeat(version, 2, 0, "normal") for version in versions[1:4]))
        store.submit(result("m1", versions[:4], seats=seats)).result()
        found = store.run(queries.match, "m1").seats[0]
        assert (found.score, found.thinking_ms, found.cpu_ms, found.peak_bytes) == (large,) * 4


# -- SQL
def test_statements_are_translated(address: str) -> None:
    with Store(address) as store, store.reading() as connection:
        statement = "SELECT asked.value FROM json_each(?) AS asked CROSS JOIN ladders ON ladders.id = ?"
        assert driver_sql(connection, statement) == (
            "SELECT asked.value FROM (SELECT CAST(value AS BIGINT) AS value "
            "FROM json_array_elements_text(CAST(%s AS JSON))) AS asked JOIN ladders ON ladders.id = %s"
        )
        assert driver_sql(connection, "SELECT :ladder") == "SELECT %(ladder)s"


# -- kills
@pytest.fixture(scope="module")
def own_postgresql() -> Iterator[PostgresqlServer]:
    with own_server() as server:
        yield server


class own_server:  # noqa: N801  # reads as a function
    """A server that may be killed."""

    def __enter__(self) -> PostgresqlServer:
        found = programs()
        if found is None:
            pytest.skip(MISSING)
        self.server = PostgresqlServer(found)
        return self.server

    def __exit__(self, *_: object) -> None:
        self.server.stop()


def test_no_acknowledged_result_is_lost_and_none_is_rated_twice(
    own_postgresql: PostgresqlServer, kill_loop: KillLoop
) -> None:
    """The writer, its session and the whole server are killed in turn."""
    address = own_postgresql.create()
    rng, kills = kill_loop.rng, kill_loop.kills
    acknowledged: set[str] = set()
    start = 0
    for kill in kills:
        kill_loop.killed(("writer", "database session", "database")[kill % 3])
        writer = ForkedProcess(write_through_trouble, address, max(0, start - AGAIN))
        told = [line for _, line in zip(range(rng.randint(1, 90)), writer.said, strict=False)]
        if kill % 3 == 1:
            own_postgresql.kill_session(session_of(address, writer.pid))
        elif kill % 3 == 2:
            own_postgresql.kill()
            own_postgresql.start()
        if kill % 3:  # it goes on by itself
            told += [line for _, line in zip(range(AGAIN + rng.randint(1, 60)), writer.said, strict=False)]
        writer.kill()
        matches = [line.decode().strip() for line in [*told, *writer.unread()]]
        acknowledged.update(matches)
        start = max([start, *(int(match[1:]) + 1 for match in matches)])
    assert len(acknowledged) > len(kills) * 5
    kill_loop.count(acknowledged_results=len(acknowledged))

    check_ledger(address, acknowledged)
