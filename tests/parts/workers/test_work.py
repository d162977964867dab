"""Matches that workers play: a deal is handed out once, to one worker."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from cutpurse.leaderboard.results import Deal, Identity, MatchAnnouncement
from cutpurse.leaderboard.store import Store
from cutpurse.server.installed_parts import hooks_of_parts
from cutpurse.server.parts.submissions import archive_table
from cutpurse.server.parts.workers import work
from cutpurse.server.parts.workers.work import GRANTS, NewWork
from tests.leaderboard.sample_results import prepare
from tests.postgresql_server import PostgresqlServer

NOW = datetime(2026, 11, 26, tzinfo=UTC)
SEED = b"s" * 32


@pytest.fixture
def store(postgresql: PostgresqlServer) -> Iterator[Store]:
    address = postgresql.create()
    with Store(address, hooks=hooks_of_parts()) as opened:
        prepare(opened)
        opened.write(work.create_functions)
        yield opened
    postgresql.free(address)


@pytest.fixture
def role(postgresql: PostgresqlServer, store: Store) -> Iterator[psycopg.Connection[Any]]:
    """A connection with no other rights than those of workers."""
    with psycopg.connect(store.database.address, autocommit=True) as owner:
        owner.execute("DROP ROLE IF EXISTS worker")
        owner.execute("CREATE ROLE worker LOGIN")
        for grant in GRANTS:
            owner.execute(grant.format(role="worker").encode())
        name = store.database.address.rpartition("/")[2]
        with psycopg.connect(postgresql.address(name, "worker"), autocommit=True) as connection:
            yield connection
        owner.execute("DROP OWNED BY worker")
        owner.execute("DROP ROLE worker")


def announced(store: Store, match: str) -> None:
    players = tuple(Identity(f"owner {seat}", f"bot {seat}", "1") for seat in range(4))
    deal = Deal(match, b"c" * 32, SEED, b"{}")
    store.announce(MatchAnnouncement(match, "greed-main", "1", deal, NOW, players)).result()
    store.write_uncached(work.put, [NewWork(match, "0.1", f'{{"match":"{match}"}}', SEED)], NOW)


def take(role: psycopg.Connection[Any], match: str, worker: str, code: str = "0.1") -> tuple[Any, ...] | None:
    return role.execute("SELECT outcome, task, seed FROM take_match_v1(%s, %s, %s)", (match, worker, code)).fetchone()


def hand_back(role: psycopg.Connection[Any], match: str, worker: str, report: bytes = b"{}") -> bool:
    row = role.execute("SELECT hand_back_v1(%s, %s, %s)", (match, worker, report)).fetchone()
    assert row is not None
    return bool(row[0])


@pytest.mark.full
def test_a_deal_is_handed_out_once_and_a_second_delivery_loses_the_match(
    store: Store, role: psycopg.Connection[Any]
) -> None:
    announced(store, "m1")
    assert take(role, "m1", "a") == ("taken", '{"match":"m1"}', SEED)
    assert take(role, "m1", "a") == ("yours", '{"match":"m1"}', SEED)  # the first answer was lost on its way
    assert store.run(work.counts) == {"taken": 1}
    assert take(role, "m1", "b") == ("lost", None, None)
    assert not hand_back(role, "m1", "a")  # too late
    assert not hand_back(role, "m1", "b")
    (lost,) = store.run(work.ended_matches, 9)
    assert (lost.match, lost.worker, lost.report) == ("m1", "a", None)
    store.write_uncached(work.remove, ["m1"])
    assert take(role, "m1", "c") == ("over", None, None)
    assert not hand_back(role, "m1", "a")
    assert store.run(work.ended_matches, 9) == []


@pytest.mark.full
def test_a_report_is_taken_once_and_only_from_the_worker_that_has_the_match(
    store: Store, role: psycopg.Connection[Any]
) -> None:
    announced(store, "m1")
    assert not hand_back(role, "m1", "a")  # it has not taken it
    take(role, "m1", "a")
    assert not hand_back(role, "m1", "b")
    assert not hand_back(role, "m1", "a", bytes(work.MAX_REPORT_BYTES + 1))
    assert hand_back(role, "m1", "a", b"first")
    assert hand_back(role, "m1", "a", b"again")  # the answer to the first was lost on its way
    assert take(role, "m1", "b") == ("over", None, None)
    (ended,) = store.run(work.ended_matches, 9)
    assert (ended.worker, ended.seed, ended.report) == ("a", SEED, b"first")


@pytest.mark.full
def test_a_worker_of_another_version_takes_nothing(store: Store, role: psycopg.Connection[Any]) -> None:
    announced(store, "m1")
    assert take(role, "m1", "a", "0.2") == ("other version", "0.1", None)
    assert store.run(work.counts) == {"waiting": 1}
    assert take(role, "m1", "b", "0.1") == ("taken", '{"match":"m1"}', SEED)


@pytest.mark.full
@pytest.mark.parametrize("table", ["work", "reports", "boards", "open_matches", "tokens", "submissions"])
def test_a_worker_reads_no_table_with_a_seed_or_a_secret(role: psycopg.Connection[Any], table: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        role.execute(f"SELECT * FROM {table}".encode())
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        role.execute(f"DELETE FROM {table}".encode())


@pytest.mark.full
def test_others_may_not_take_a_match(postgresql: PostgresqlServer, store: Store) -> None:
    with psycopg.connect(store.database.address, autocommit=True) as owner:
        owner.execute("CREATE ROLE stranger LOGIN")
        owner.execute("GRANT USAGE ON SCHEMA public TO stranger")
        name = store.database.address.rpartition("/")[2]
        with psycopg.connect(postgresql.address(name, "stranger"), autocommit=True) as stranger:
            announced(store, "m1")
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                take(stranger, "m1", "a")
        owner.execute("DROP OWNED BY stranger")
        owner.execute("DROP ROLE stranger")


@pytest.mark.full
def test_a_server_that_starts_voids_no_match_of_a_worker(store: Store, role: psycopg.Connection[Any]) -> None:
    announced(store, "m1")
    announced(store, "m2")
    store.write_uncached(work.remove, ["m2"])  # as if the server had ended between announcement and work
    assert store.void_unfinished(NOW, has_workers=True) == ["m2"]
    assert store.run(work.open_tasks) == {"m1": '{"match":"m1"}'}
    assert take(role, "m1", "a") == ("taken", '{"match":"m1"}', SEED)
    assert store.void_unfinished(NOW) == ["m1"]
    assert store.run(work.open_tasks) == {}


def test_packed_files_are_stored_once_and_removed(database: str) -> None:
    with Store(database, hooks=hooks_of_parts()) as store:
        for content in (b"one", b"two", b"one"):
            store.write_uncached(archive_table.put_archives, {content * 2: content})
        assert store.run(archive_table.has_archive, b"oneone")
        store.write_uncached(archive_table.drop_archives, [b"oneone"])
        assert store.run(archive_table.archive_keys) == {b"twotwo"}
