"""Migrations make what the models say, all of it or nothing, and leave another database alone."""

import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Column, Integer, MetaData
from sqlalchemy import Table as Relation

from cutpurse.leaderboard import events, queries, schema, seasons, tournaments, version_tests
from cutpurse.leaderboard.errors import NewerSchema, OlderSchema, StoreError
from cutpurse.leaderboard.events import EventEntry
from cutpurse.leaderboard.migrations.versions import v25_events
from cutpurse.leaderboard.migrations.versions.v22_first_tables import FIRST
from cutpurse.leaderboard.models import Base
from cutpurse.leaderboard.owner_registry import ensure_version
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.schema import newest_revision, upgrade
from cutpurse.leaderboard.seasons import SeasonBot
from cutpurse.leaderboard.sqlite_database import writing_engine
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
from tests.leaderboard.sample_results import DAWN, LADDER, PLAYERS, prepare, result


def differences(path: Path, metadata: MetaData) -> list[object]:
    """What alembic would change to make the database fit."""
    engine = writing_engine(path, busy_timeout_s=1.0)
    with engine.connect() as connection:
        found = compare_metadata(MigrationContext.configure(connection, opts={"render_as_batch": True}), metadata)
    engine.dispose()
    return list(found)


def test_an_empty_file_becomes_what_the_models_say(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    engine = writing_engine(path, busy_timeout_s=1.0)
    assert upgrade(engine, "ladder.db") is None
    assert upgrade(engine, "ladder.db") == newest_revision()  # nothing is left to do
    engine.dispose()
    assert differences(path, Base.metadata) == []


def shape(path: Path) -> dict[str, object]:
    """What a database is made of, whatever the order and the defaults of its columns."""
    with closing(sqlite3.connect(path)) as file:
        indexes = file.execute("SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name")
        found: dict[str, object] = {"indexes": indexes.fetchall()}
        tables = file.execute(
            "SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite%'"
        )
        for name, is_without_rowid in tables.fetchall():
            columns = file.execute('SELECT name, type, "notnull", pk FROM pragma_table_info(?)', (name,)).fetchall()
            (sql,) = file.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
            constraints = sorted(re.findall(r"CONSTRAINT .*?\)(?: REFERENCES .*?\))?", sql))
            found[name] = (is_without_rowid, sorted(columns), constraints)
    return found


def test_a_new_database_is_made_as_the_migrations_make_it(tmp_path: Path) -> None:
    engine = writing_engine(tmp_path / "migrated.db", busy_timeout_s=1.0)
    with engine.connect() as connection, connection.begin():
        schema._migrate(connection)
    engine.dispose()
    Store(tmp_path / "new.db").close()
    assert shape(tmp_path / "new.db") == shape(tmp_path / "migrated.db")
    assert len(shape(tmp_path / "new.db")) == len(Base.metadata.tables) + 2  # the indexes and alembic_version


def test_a_model_without_a_migration_is_found(tmp_path: Path) -> None:
    Store(tmp_path / "ladder.db").close()
    more = MetaData(naming_convention=Base.metadata.naming_convention)
    for relation in Base.metadata.sorted_tables:
        relation.to_metadata(more)
    Relation("planted", more, Column("id", Integer, primary_key=True))
    more.tables["seats"].append_column(Column("planted", Integer))
    assert len(differences(tmp_path / "ladder.db", more)) == 2


def test_every_constraint_of_the_database_has_a_name(tmp_path: Path) -> None:
    Store(tmp_path / "ladder.db").close()
    with sqlite3.connect(tmp_path / "ladder.db") as file:
        made = [
            sql
            for (sql,) in file.execute(
                "SELECT sql FROM sqlite_master WHERE type = 'table' AND name <> ?", ("alembic_version",)
            )
        ]
    file.close()
    assert len(made) == len(Base.metadata.tables)
    for statement in made:
        for line in statement.splitlines():
            if any(word in line for word in ("PRIMARY KEY", "UNIQUE", "FOREIGN KEY")):
                assert line.strip().startswith("CONSTRAINT "), line


def test_what_is_stored_stays_when_the_file_is_opened_again(tmp_path: Path) -> None:
    with Store(tmp_path / "ladder.db") as store:
        versions = prepare(store)
        store.submit(result("m1", versions[:4])).result()
    with Store(f"sqlite:///{tmp_path / 'ladder.db'}") as store:
        assert prepare(store) == versions
        assert [ranking.bot for ranking in store.run(queries.rankings, LADDER)] == ["bot 0", "bot 1", "bot 2", "bot 3"]


def set_revision(path: Path, revision: str) -> None:
    """Let a database say that it has another schema."""
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE alembic_version SET version_num = ?", (revision,))
        file.commit()


@pytest.mark.parametrize(
    ("revision", "error", "text"),
    [
        ("99", NewerSchema, rf"ladder\.db has schema 99; this version knows 22, .*{newest_revision()}\. Install the"),
        ("a1b2", NewerSchema, "has schema a1b2; this version knows"),
        (
            "21",
            OlderSchema,
            "has schema 21, and this version upgrades 22 and newer: keep a copy, then .* of Cutpurse 0.2",
        ),
        ("1", OlderSchema, r"ladder\.db has schema 1, and .* as docs/how-to/monitor\.md says$"),
    ],
)
def test_a_database_of_another_version_is_left_alone(
    tmp_path: Path, revision: str, error: type[StoreError], text: str
) -> None:
    path = tmp_path / "ladder.db"
    Store(path).close()
    set_revision(path, revision)
    before = path.read_bytes()
    for opener in (Store, LeaderboardReader):
        with pytest.raises(error, match=text):
            opener(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("statements", "text"),
    [
        (("CREATE TABLE seats (a)",), r"ladder\.db has tables of something else \(seats\): name another database"),
        (("CREATE TABLE alembic_version (version_num)",), r"something else \(alembic_version\)"),
        (
            ("CREATE TABLE alembic_version (version_num)", "CREATE TABLE ladders (a)"),
            "does not say which schema it has",
        ),
    ],
)
def test_a_database_of_something_else_is_left_alone(tmp_path: Path, statements: tuple[str, ...], text: str) -> None:
    path = tmp_path / "ladder.db"
    with closing(sqlite3.connect(path)) as file:
        for statement in statements:
            file.execute(statement)
    before = shape(path)
    for opener in (Store, LeaderboardReader):
        with pytest.raises(StoreError, match=text):
            opener(path)
    assert shape(path) == before


def test_a_reader_says_how_to_upgrade(tmp_path: Path) -> None:
    path = schema_22(tmp_path / "ladder.db")
    needed = rf"has schema 22, and {newest_revision()} is needed; this does it: cutpurse db upgrade /.*\.db"
    with pytest.raises(OlderSchema, match=needed):
        LeaderboardReader(path)
    Store(path).close()
    with LeaderboardReader(path) as reader:
        assert len(reader.run(queries.matches, limit=100)) == 9
    with pytest.raises(StoreError, match="unable to open database file"):
        LeaderboardReader(tmp_path / "none.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(OlderSchema, match=r"empty\.db is no leaderboard yet; this does it: cutpurse db upgrade"):
        LeaderboardReader(tmp_path / "empty.db")


# -- from Cutpurse 0.2: a file that commit 8c611d2b made, with rows in every table, as SQL
V22 = Path(__file__).with_name("v22.sql")


def schema_22(path: Path, more: str = "") -> Path:
    """A database as Cutpurse 0.2 left it, with nine matches, and one that was cut off, and `more` as SQL."""
    with closing(sqlite3.connect(path)) as file:
        file.executescript(V22.read_text(encoding="utf-8") + more)
    return path


Columns = Mapping[str, Sequence[str]]  # by table


def columns_of(path: Path) -> Columns:
    """Every column of every table but that of the version."""
    with closing(sqlite3.connect(path)) as file:
        tables = file.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'alembic_version'")
        names = [name for (name,) in tables.fetchall()]
        return {name: [column for _, column, *_ in file.execute(f"PRAGMA table_info({name})")] for name in names}


def rows_of(path: Path, columns: Columns) -> dict[str, list[tuple[object, ...]]]:
    """Every row of these columns."""
    with closing(sqlite3.connect(path)) as file:
        return {
            table: sorted(file.execute(f"SELECT {', '.join(names)} FROM {table}").fetchall(), key=repr)
            for table, names in columns.items()
        }


def test_a_database_of_schema_22_is_taken_over_and_loses_nothing(tmp_path: Path) -> None:
    path = schema_22(tmp_path / "ladder.db")
    columns = columns_of(path)
    before = rows_of(path, columns)
    assert before.keys() == FIRST.tables.keys()
    assert [table for table, rows in before.items() if not rows] == []
    stay = {table: names for table, names in columns.items() if table not in v25_events._OLD}
    with Store(path) as store:
        assert store.found == "22"
        assert all(check.equal for check in recompute(store))
    assert rows_of(path, stay) == {table: before[table] for table in stay}
    assert set(columns_of(path)) == {*stay, "events", "event_ladders", "event_bots", "event_boards", "bot_memories"}
    assert differences(path, Base.metadata) == []
    Store(tmp_path / "new.db").close()
    assert shape(path) == shape(tmp_path / "new.db")


# The season has a final, which is played; the test of the file has one more board, which counts.
MORE_EVENTS = """
UPDATE seasons SET phase = 'final', tournament_id = 'f1', ended = '2026-11-21 07:00:00.000000';
INSERT INTO tournaments VALUES('f1',2,'ann','{}','2026-11-21 07:00:00.000000',NULL,'');
INSERT INTO tournament_boards VALUES('f1',0,0,'final match','10');
UPDATE season_bots SET place = 1;
INSERT INTO season_bots VALUES('s1',1,2,1,7,1,1,2,14,25.5,9,NULL);
INSERT INTO versions VALUES(14,2,'2.0',NULL,NULL);
INSERT INTO boards (id, ladder_id, matches, commitment, seed, params, is_sealed)
    SELECT 'of a test', ladder_id, 2, commitment, seed, params, 0 FROM boards WHERE id = 'board of fault 0';
INSERT INTO test_boards VALUES('of a test','t1');
INSERT INTO matches (number, id, board_id, ladder_id, rules, started, finished, decisions, is_rated, requested_by,
    reason, is_faulted)
    SELECT number + 100, 'test ' || number, 'of a test', ladder_id, rules, started, finished, decisions, 0, 'owner 0',
    '', 0 FROM matches WHERE id IN ('fault 0', 'fault 1');
INSERT INTO seats (match_number, seat, ladder_id, version_id, place, score, end_cause, faults, thinking_ms)
    SELECT match_number + 100, seat, ladder_id, version_id, place, score, end_cause, 0, 0 FROM seats
    WHERE match_number + 100 IN (SELECT number FROM matches WHERE board_id = 'of a test');
INSERT INTO version_tests VALUES('t3',1,1,13,1,'{}','2026-11-21 06:00:00.000000','2026-11-21 08:00:00.000000','better');
"""


def check_events(store: Store) -> None:
    """Check that the events of schema 22 are as they were, and go on."""
    season = store.run(seasons.state, "s1")
    assert (season.number, season.phase, season.began, season.tournament) == (1, "final", DAWN, "f1")
    assert (season.ladders, season.ended) == (("cup-1-s1",), DAWN + timedelta(hours=1))
    assert [(bot.key, bot.seed, bot.version) for bot in season.bots] == [
        (("owner 0", "bot 0"), 1, None),
        (("owner 1", "bot 1"), 2, "2.0"),
    ]
    assert season.bots[1] == SeasonBot("owner 1", "bot 1", 1, 2, True, True, 2, "2.0", 25.5, 9)
    assert season.series == EventEntry("s1", "", "ann", "{}", DAWN, name="cup", form="seasons")
    assert store.run(events.entry, "t2") == EventEntry("t2", LADDER, "ann", "{}", DAWN, form="tournament")
    assert store.run(tournaments.boards, "f1") == [TournamentBoardEntry(0, 0, "final match", "10")]
    test, ended = store.run(version_tests.entry, "t1"), store.run(version_tests.entry, "t3")
    assert (test.event.started_by, test.ladder, test.new.shown, test.event.ended) == (
        "owner 0",
        LADDER,
        "owner 0/bot 0:2.0",
        None,
    )
    assert (ended.old, ended.event.outcome) == (PLAYERS[0], "better")
    assert [board.board for board in store.run(version_tests.boards, "t1")] == ["of a test"]
    champion = store.write(seasons.end_final, "s1", 1, "owner 1/bot 1", None, DAWN)
    assert (champion.phase, champion.series.outcome) == ("over", "finished")


def test_the_events_of_schema_22_go_on_as_they_were(tmp_path: Path) -> None:
    with Store(schema_22(tmp_path / "ladder.db", MORE_EVENTS)) as store:
        check_events(store)


def test_a_database_of_schema_22_goes_on(tmp_path: Path) -> None:
    with Store(schema_22(tmp_path / "ladder.db")) as store:
        assert store.void_unfinished(DAWN + timedelta(days=1)) == ["open"]
        new = Identity("owner 1", "bot 1", "2.0")
        store.write(ensure_version, *new, created=DAWN)
        stored = store.submit(result("later", [new, *PLAYERS[2:5]])).result()
        assert stored.sequence is not None
        assert len(stored.changes) == 4
        assert all(check.equal for check in recompute(store))


@pytest.mark.parametrize(
    ("statement", "table"),
    [
        ("ALTER TABLE ladders DROP COLUMN names_hidden_until", "ladders"),  # as schema 21 had it
        ("ALTER TABLE boards ADD COLUMN planted INTEGER", "boards"),
        ("DROP TABLE arenas", "arenas"),
        ("DROP INDEX ix_seats_faulted", "seats"),
    ],
)
def test_a_database_that_only_says_that_it_has_schema_22_is_left_alone(
    tmp_path: Path, statement: str, table: str
) -> None:
    path = schema_22(tmp_path / "ladder.db")
    with closing(sqlite3.connect(path)) as file:
        file.execute(statement)
    before = shape(path)
    text = rf"ladder\.db says that it has schema 22, but differs from it in {table}: it is damaged or half upgraded"
    with pytest.raises(StoreError, match=text):
        Store(path)
    assert shape(path) == before


LATER = int(newest_revision()) + 1
CHECKOUT = Path(__file__).parents[2]
KILLED = """
import sys
from pathlib import Path
from cutpurse.leaderboard import schema
from cutpurse.leaderboard.seasons import SeasonBot
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tournaments import TournamentBoardEntry
schema._MIGRATIONS = Path(sys.argv[1])
Store(sys.argv[2])
"""
# What a later version may bring: a table that others refer to is made anew, and then something of its own.
NEXT = f"""
import sqlalchemy as sa
from alembic import op
revision = "{LATER}"
down_revision = "{newest_revision()}"
def upgrade():
    with op.batch_alter_table("versions") as table:
        table.add_column(sa.Column("planted", sa.Integer(), server_default="7", nullable=False))
        table.alter_column("label", nullable=True)
    {{more}}
"""


@pytest.fixture
def one_match(tmp_path: Path) -> Path:
    path = tmp_path / "ladder.db"
    with Store(path) as store:
        versions = prepare(store)
        store.submit(result("m1", versions[:4])).result()
    return path


def plant(folder: Path, monkeypatch: pytest.MonkeyPatch, more: str) -> None:
    """A migration more, which does this too."""
    shutil.copytree(schema._MIGRATIONS, folder)
    (folder / "versions" / f"v{LATER}_planted.py").write_text(NEXT.format(more=more), encoding="utf-8")
    monkeypatch.setattr(schema, "_MIGRATIONS", folder)


def test_a_table_that_others_refer_to_can_be_made_anew(
    one_match: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(tmp_path / "next", monkeypatch, "pass")
    with Store(one_match) as store:
        assert [seat.bot for seat in store.run(queries.match, "m1").seats] == ["bot 0", "bot 1", "bot 2", "bot 3"]
        with store.reading() as connection:
            assert set(connection.exec_driver_sql("SELECT planted FROM versions").scalars()) == {7}


def test_an_upgrade_that_would_lose_what_is_referred_to_changes_nothing(
    one_match: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        plant(tmp_path / "next", later, 'op.execute("DELETE FROM versions WHERE id = 1")')
        with pytest.raises(StoreError, match="has 3 rows that would lose what they refer to: nothing was changed"):
            Store(one_match)
    with Store(one_match) as store:
        assert store.run(queries.match, "m1").seats[0].bot == "bot 0"
    assert differences(one_match, Base.metadata) == []


def test_a_killed_upgrade_leaves_the_database_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By SIGKILL after a table was made anew; the next process begins from the start."""
    path = schema_22(tmp_path / "ladder.db")
    columns = columns_of(path)
    before = rows_of(path, columns), shape(path)
    with monkeypatch.context() as later:
        plant(tmp_path / "next", later, "import os; os.kill(os.getpid(), 9)")
        run = subprocess.run(
            [sys.executable, "-c", KILLED, str(tmp_path / "next"), str(path)], check=False, cwd=CHECKOUT
        )
    assert run.returncode == -9
    assert (rows_of(path, columns), shape(path)) == before
    with Store(path) as store:
        assert store.found == "22"
        assert all(check.equal for check in recompute(store))
