"""The schema in PostgreSQL is what the models say, new or taken over."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, insert, select

from cutpurse.leaderboard import schema
from cutpurse.leaderboard.databases import find_database
from cutpurse.leaderboard.migrations.versions import v25_events
from cutpurse.leaderboard.migrations.versions.v22_first_tables import FIRST
from cutpurse.leaderboard.models import Base
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from tests.leaderboard.test_schema import MORE_EVENTS, check_events, schema_22
from tests.postgresql_server import PostgresqlServer


def test_every_partial_index_is_one_in_both_databases() -> None:
    """Without its condition an index allows one submission of a bot and one pause of a version, not more."""
    partial = {}
    for relation in Base.metadata.sorted_tables:
        for index in relation.indexes:
            conditions = [index.dialect_options[name]["where"] for name in ("sqlite", "postgresql")]
            if any(condition is not None for condition in conditions):
                partial[index.name] = [str(condition) for condition in conditions]
    assert partial == {
        "ix_event_ladders_own": ["is_own = 1", "is_own"],
        "ix_boards_sealed": ["is_sealed = 1", "is_sealed"],
        "ix_matches_faulted": ["is_faulted = 1", "is_faulted"],
        "ix_pauses_one_at_a_time": ["lifted IS NULL", "lifted IS NULL"],
        "ix_seats_faulted": ["faults > 0", "faults > 0"],
        "ix_submissions_active": ["is_active = 1", "is_active"],
    }


@pytest.mark.full
def test_a_new_database_is_what_the_models_say(postgresql: PostgresqlServer) -> None:
    with Store(postgresql.create()) as store, store.reading() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert list(compare_metadata(context, Base.metadata)) == []


@pytest.mark.full
def test_the_migrations_make_what_the_models_say(postgresql: PostgresqlServer) -> None:
    engine = find_database(postgresql.create()).open_for_writing(busy_timeout_s=5.0).engine
    with engine.begin() as connection:
        schema._migrate(connection)
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert list(compare_metadata(context, Base.metadata)) == []
    engine.dispose()


@pytest.mark.full
def test_a_database_of_schema_22_there_is_taken_over_and_loses_nothing(
    tmp_path: Path, postgresql: PostgresqlServer
) -> None:
    """The rows are those of the file of Cutpurse 0.2; its tables were the same in PostgreSQL."""
    file = create_engine(f"sqlite:///{schema_22(tmp_path / 'ladder.db', MORE_EVENTS)}")
    with file.connect() as connection:
        before = {table: connection.execute(select(table)).all() for table in FIRST.sorted_tables}
    file.dispose()
    address = postgresql.create()
    engine = find_database(address).open_for_writing(busy_timeout_s=5.0).engine
    with engine.begin() as connection:
        FIRST.create_all(connection)
        connection.exec_driver_sql("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
        connection.exec_driver_sql("INSERT INTO alembic_version VALUES ('22')")
        connection.exec_driver_sql("CREATE TABLE pgqueuer (id BIGINT)")  # a part of the league that has no model
        for table, rows in before.items():
            connection.execute(insert(table), [row._asdict() for row in rows])
    engine.dispose()
    with Store(address) as store:
        assert store.found == "22"
        assert all(check.equal for check in recompute(store))
        with store.reading() as connection:
            for table in (table for table in before if table.name in v25_events.TABLES.tables):
                stored = connection.execute(select(table)).all()
                assert sorted(stored, key=repr) == sorted(before[table], key=repr)
        check_events(store)
