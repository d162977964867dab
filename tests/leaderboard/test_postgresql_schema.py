"""The schema in PostgreSQL is what the models say, and the file that creates it is kept by hand of nobody."""

from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy.dialects import postgresql as dialects
from sqlalchemy.schema import CreateIndex, CreateTable

from cutpurse.leaderboard import schema
from cutpurse.leaderboard.database import find_database
from cutpurse.leaderboard.models import Base
from cutpurse.leaderboard.schema import newest_revision
from cutpurse.leaderboard.store import Store
from tests.postgresql_server import PostgresqlServer

HEAD = """-- What the models are in PostgreSQL. A test compares the two, and writes this file:
-- pytest --update-schema tests/leaderboard/test_postgresql_schema.py
"""


def test_the_file_is_what_the_models_say(pytestconfig: pytest.Config) -> None:
    dialect = dialects.dialect()  # type: ignore[no-untyped-call]
    statements = []
    for relation in Base.metadata.sorted_tables:
        statements.append(str(CreateTable(relation).compile(dialect=dialect)))
        for index in sorted(relation.indexes, key=lambda index: str(index.name)):
            statements.append(str(CreateIndex(index).compile(dialect=dialect)))
    statements.append(
        "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL CONSTRAINT alembic_version_pkc PRIMARY KEY)"
    )
    statements.append(f"INSERT INTO alembic_version VALUES ('{newest_revision()}')")
    lines = "".join(f"{statement.strip()};\n" for statement in statements).splitlines()
    written = HEAD + "".join(f"{line.rstrip()}\n" for line in lines)
    if pytestconfig.getoption("--update-schema"):
        schema._SCHEMA_ON_POSTGRESQL.write_text(written, encoding="utf-8")
    assert schema._SCHEMA_ON_POSTGRESQL.read_text(encoding="utf-8") == written


def test_every_partial_index_is_one_in_both_databases() -> None:
    """Without its condition an index allows one submission of a bot and one pause of a version, not more."""
    partial = {}
    for relation in Base.metadata.sorted_tables:
        for index in relation.indexes:
            conditions = [index.dialect_options[name]["where"] for name in ("sqlite", "postgresql")]
            if any(condition is not None for condition in conditions):
                partial[index.name] = [str(condition) for condition in conditions]
    assert partial == {
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
def test_a_database_of_the_first_schema_there_is_upgraded(postgresql: PostgresqlServer) -> None:
    address = postgresql.create()
    script = Path(__file__).with_name("v8.postgresql.sql").read_text(encoding="utf-8")
    engine = find_database(address).open_for_writing(busy_timeout_s=5.0).engine
    with engine.begin() as connection:
        connection.exec_driver_sql(script, execution_options={"no_parameters": True})
    engine.dispose()
    with Store(address) as store, store.reading() as connection:
        assert store.found == "8"
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert list(compare_metadata(context, Base.metadata)) == []
