"""Migrations make what the models say, all of it or nothing, and leave a newer database alone."""

import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Column, Integer, MetaData
from sqlalchemy import Table as Relation

from cutpurse.leaderboard import schema
from cutpurse.leaderboard.errors import NewerSchema, OlderSchema, StoreError
from cutpurse.leaderboard.ladders import NewLadder
from cutpurse.leaderboard.models import Base
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.results import FinishedSeat, Identity, LadderTerms
from cutpurse.leaderboard.schema import newest_revision, upgrade
from cutpurse.leaderboard.sqlite_database import database_path, writing_engine
from cutpurse.leaderboard.store import Store
from tests.leaderboard.sample_results import LADDER, PLAYERS, player_of, prepare, result


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
    assert upgrade(engine) is None
    assert upgrade(engine) == newest_revision()  # nothing is left to do
    engine.dispose()
    assert differences(path, Base.metadata) == []


def made(path: Path) -> str:
    """How a database would be made that has all that is in this one, as SQL."""
    with closing(sqlite3.connect(path)) as file:
        relations = file.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type DESC, name")
        statements = [in_order(sql.strip()) for (sql,) in relations]
        (tables,) = file.execute("SELECT group_concat(name) FROM sqlite_master WHERE type = 'table'").fetchone()
        for table in tables.split(","):
            rows = file.execute(f"SELECT * FROM {table}").fetchall()
            statements += [f"INSERT INTO {table} VALUES ({', '.join(map(repr, row))})" for row in rows]
    return "".join(f"{statement};\n" for statement in statements)


def in_order(statement: str) -> str:
    """With the constraints of a table sorted, which alembic leaves in any order where it makes a table anew."""
    if not statement.startswith("CREATE TABLE"):
        return statement
    first, *inner = statement[: statement.rindex("\n)")].splitlines()
    lines = [line.rstrip(", ") for line in inner]
    lines.sort(key=lambda line: line.strip() if line.strip().startswith("CONSTRAINT") else "")
    return f"{first}\n" + ",\n".join(lines) + statement[statement.rindex("\n)") :]


HEAD = """-- What the migrations make of an empty database. A test compares the two, and writes this file:
-- pytest --update-schema tests/leaderboard/test_schema.py
"""


def test_a_new_database_is_made_as_all_migrations_make_it(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    engine = writing_engine(tmp_path / "migrated.db", busy_timeout_s=1.0)
    with engine.connect() as connection, connection.begin():
        schema._migrate(connection)
    engine.dispose()
    migrated = made(tmp_path / "migrated.db")
    if pytestconfig.getoption("--update-schema"):
        schema._SCHEMA.write_text(HEAD + migrated, encoding="utf-8")
    assert schema._SCHEMA.read_text(encoding="utf-8") == HEAD + migrated
    Store(tmp_path / "new.db").close()
    assert made(tmp_path / "new.db") == migrated
    assert "alembic_version" in migrated


def test_what_a_new_database_lacks_is_migrated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the commit that adds a migration, before the schema is written anew."""
    Store(tmp_path / "before.db").close()
    plant(tmp_path / "next", monkeypatch, "pass")
    Store(tmp_path / "after.db").close()
    assert made(tmp_path / "before.db") != made(tmp_path / "after.db")
    with closing(sqlite3.connect(tmp_path / "after.db")) as file:
        assert file.execute("SELECT version_num FROM alembic_version").fetchall() == [(str(LATER),)]
        assert file.execute("SELECT planted FROM versions").fetchall() == []


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
        assert [ranking.bot for ranking in store.rankings(LADDER)] == ["bot 0", "bot 1", "bot 2", "bot 3"]


def test_a_database_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    Store(path).close()
    with sqlite3.connect(path) as file:
        file.execute("UPDATE alembic_version SET version_num = '99'")
    file.close()
    before = path.read_bytes()
    with pytest.raises(NewerSchema, match=rf"has schema 99; this version knows 1, .*, {newest_revision()}\. Install"):
        Store(path)
    assert path.read_bytes() == before


def test_an_upgrade_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "ladder.db"
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE seats (somebody TEXT)")  # in the way of the last table
    file.close()
    engine = writing_engine(database_path(path), busy_timeout_s=1.0)
    with pytest.raises(Exception, match="table seats already exists"):
        upgrade(engine)
    engine.dispose()
    with sqlite3.connect(path) as file:
        assert [name for (name,) in file.execute("SELECT name FROM sqlite_master")] == ["seats"]
    file.close()


# -- from the first schema: the file that the first version made, as SQL
V1 = Path(__file__).with_name("v1.sql")
OLD = {
    "boards": "id, ladder_id, sequence, epoch, commitment, seed, params",
    "bots": "id, owner_id, name",
    "epochs": "ladder_id, number",
    "ladders": "id, name, game, settings, seats, clock",
    "matches": "number, id, board_id, ladder_id, rules, started, finished, decisions, void_cause, record",
    "owners": "id, name",
    "rating_changes": "ladder_id, sequence, version_id, mu_before, sigma_before, mu_after, sigma_after",
    "ratings": "ladder_id, version_id, mu, sigma, matches, wins, faulted, sequence",
    "seats": "match_number, seat, version_id, place, score, end_cause, faults, thinking_ms",
    "versions": "id, bot_id, label",
}


def first_schema(path: Path) -> Path:
    """A database as the first version of the program left it, with 41 matches."""
    file = sqlite3.connect(path)
    file.executescript(V1.read_text(encoding="utf-8"))
    file.close()
    return path


def contents(path: Path, columns_of: Mapping[str, str] = OLD) -> dict[str, list[tuple[object, ...]]]:
    """Every row of these columns, by table."""
    file = sqlite3.connect(path)
    rows = {
        table: file.execute(f"SELECT {columns} FROM {table} ORDER BY {columns}").fetchall()
        for table, columns in columns_of.items()
    }
    file.close()
    return rows


def test_a_database_of_the_first_schema_is_upgraded_and_loses_nothing(tmp_path: Path) -> None:
    path = first_schema(tmp_path / "ladder.db")
    before = contents(path)
    assert (len(before["matches"]), len(before["seats"]), len(before["rating_changes"])) == (41, 162, 150)
    with Store(path) as store:
        assert store.has_tokens() is False
        assert [(ladder.name, ladder.rating.widening) for ladder in store.ladders()] == [(LADDER, 0.5), ("two", 0.5)]
        with store.reading() as connection:
            new = connection.exec_driver_sql("SELECT DISTINCT parent_id, created FROM versions").all()
            epochs = connection.exec_driver_sql("SELECT settings FROM epochs").scalars().all()
    assert [tuple(row) for row in new] == [(None, None)]
    assert len(epochs) == 3
    assert all(TrueSkill.from_json(settings).to_json() == settings for settings in epochs)
    assert contents(path) == before
    assert differences(path, Base.metadata) == []


def test_ratings_of_the_first_schema_go_on_and_a_new_version_inherits(tmp_path: Path) -> None:
    with Store(first_schema(tmp_path / "ladder.db")) as store:
        before = {check.ladder: check.differences for check in recompute(store)}  # other machines may round otherwise
        old = {ranking.version_id: ranking.pairing_skill for ranking in store.rankings(LADDER, every_version=True)}
        new = Identity("owner 0", "bot 0", "2.0")
        store.ensure_version(*new, created=datetime(2026, 12, 1, tzinfo=UTC))
        changes = store.submit(result("later", [new, *PLAYERS[1:4]])).result().changes
        assert {check.ladder: check.differences for check in recompute(store)} == before
    assert changes[0].before == TrueSkill(draw_probability=0.1, beta=8.0).prior_for_new_version(
        old[13]
    )  # bot 0 was known as 1 and 13
    assert [change.before for change in changes[1:]] == [old[2], old[3], old[4]]


def test_who_only_reads_is_told_to_upgrade(tmp_path: Path) -> None:
    path = first_schema(tmp_path / "ladder.db")
    needed = rf"has schema 1, and {newest_revision()} is needed; this does it: cutpurse db upgrade /.*\.db"
    with pytest.raises(OlderSchema, match=needed):
        LeaderboardReader(path)
    Store(path).close()
    with LeaderboardReader(path) as reader:
        assert len(reader.matches(limit=100)) == 41
    with pytest.raises(StoreError, match="unable to open database file"):
        LeaderboardReader(tmp_path / "none.db")
    (tmp_path / "empty.db").touch()
    with pytest.raises(OlderSchema, match=r"empty\.db is no leaderboard yet; this does it: cutpurse db upgrade"):
        LeaderboardReader(tmp_path / "empty.db")


def test_who_only_reads_refuses_a_newer_database(tmp_path: Path) -> None:
    Store(tmp_path / "ladder.db").close()
    with sqlite3.connect(tmp_path / "ladder.db") as file:
        file.execute("UPDATE alembic_version SET version_num = '99'")
    file.close()
    with pytest.raises(NewerSchema, match="has schema 99"):
        LeaderboardReader(tmp_path / "ladder.db")


# -- from the second schema
V2 = Path(__file__).with_name("v2.sql")
OLD_2 = {
    **OLD,
    "epochs": "ladder_id, number, settings",
    "tokens": "id, digest, owner_id, scopes, label, created, expires, revoked, last_used",
    "versions": "id, bot_id, label, parent_id, created",
}


def second_schema(path: Path) -> Path:
    """A database as the second version of the program left it, with 31 matches."""
    file = sqlite3.connect(path)
    file.executescript(V2.read_text(encoding="utf-8"))
    file.close()
    return path


def test_a_database_of_the_second_schema_is_upgraded_and_loses_nothing(tmp_path: Path) -> None:
    path = second_schema(tmp_path / "ladder.db")
    before = contents(path, OLD_2)
    assert (len(before["matches"]), len(before["seats"]), len(before["tokens"])) == (31, 122, 1)
    with Store(path) as store:
        assert [(one.name, one.terms, one.created) for one in store.ladders()] == [
            (LADDER, LadderTerms(), None),
            ("two", LadderTerms(), None),
        ]
        entries = store.matches(limit=100)
        assert {(entry.is_rated, entry.requested_by, entry.reason) for entry in entries} == {(True, "", "")}
        assert store.courses("m1") == (None, None, None, None)
        assert all(log.course is None and not log.notes for log in store.logs("owner 1", "bot 1"))
        assert store.void_unfinished(datetime(2026, 12, 1, tzinfo=UTC)) == []
    assert contents(path, OLD_2) == before
    assert differences(path, Base.metadata) == []


@pytest.mark.parametrize("old", [first_schema, second_schema])
def test_what_is_kept_since_the_third_schema_is_computed_for_old_matches(
    tmp_path: Path, old: Callable[[Path], Path]
) -> None:
    """As if all of their results had been stored by this version."""
    with Store(old(tmp_path / "old.db")) as upgraded, Store(tmp_path / "new.db") as store:
        entries = upgraded.matches(limit=100)[::-1]
        assert prepare(store) == PLAYERS
        store.ensure_ladder("two", game="szmal", seats=2, rating=TrueSkill(draw_probability=0.3))
        store.ensure_version("owner 0", "bot 0", "1.1")
        for entry in entries:
            seats = tuple(
                FinishedSeat(player_of(seat), seat.place, seat.score, seat.end_cause, seat.faults, seat.thinking_ms)
                for seat in entry.seats
            )
            store.submit(
                result(entry.match, [], seats=seats, ladder=entry.ladder, void_cause=entry.void_cause)
            ).result()
        for ladder in (LADDER, "two"):
            assert {r.version_id: (r.form, r.faulted) for r in upgraded.rankings(ladder, every_version=True)} == {
                r.version_id: (r.form, r.faulted) for r in store.rankings(ladder, every_version=True)
            }
            for n in range(12):
                assert upgraded.opponents(ladder, f"owner {n % 5}", f"bot {n}") == store.opponents(
                    ladder, f"owner {n % 5}", f"bot {n}"
                )
        for asked in ({"faulted": True}, {"ladder": LADDER, "faulted": True}, {"owner": "owner 1", "bot": "bot 1"}):
            found = [entry.match for entry in upgraded.matches(limit=100, **asked)]
            assert found == [entry.match for entry in store.matches(limit=100, **asked)]
            assert 0 < len(found) < 41


def test_a_database_of_the_second_schema_goes_on(tmp_path: Path) -> None:
    with Store(second_schema(tmp_path / "ladder.db")) as store:
        before = {check.ladder: check.differences for check in recompute(store)}  # other machines may round otherwise
        assert (
            store.submit(result("later", [Identity("owner 0", "bot 0", "1.1"), *PLAYERS[1:4]])).result().sequence
            is not None
        )
        assert {check.ladder: check.differences for check in recompute(store)} == before


# -- from the third schema
V3 = Path(__file__).with_name("v3.sql")
OLD_3 = {
    **OLD_2,
    "courses": "match_number, courses",
    "ladders": f"{OLD['ladders']}, owners, most_bots, is_private, frozen, house, created",
    "matches": f"{OLD['matches']}, is_rated, requested_by, reason, is_faulted",
    "notes": "match_number, seat, dropped_bytes, notes",
    "open_matches": "match_id, board_id, rules, started, versions, requested_by, reason",
    "opponents": "bot_id, ladder_id, other_id, matches, ahead, level",
    "pauses": "id, version_id, match_number, since, cause, lifted, lifted_number",
    "ratings": f"{OLD['ratings']}, form",
    "seats": f"{OLD['seats']}, ladder_id",
}


def third_schema(path: Path) -> Path:
    """A database as the third version of the program left it, with 35 matches, and one that was cut off."""
    file = sqlite3.connect(path)
    file.executescript(V3.read_text(encoding="utf-8"))
    file.close()
    return path


def test_a_database_of_the_third_schema_is_upgraded_and_loses_nothing(tmp_path: Path) -> None:
    path = third_schema(tmp_path / "ladder.db")
    before = contents(path, OLD_3)
    assert (len(before["matches"]), len(before["open_matches"]), len(before["pauses"])) == (35, 1, 1)
    Store(path).close()
    assert contents(path, OLD_3) == before
    assert differences(path, Base.metadata) == []


def test_a_database_of_the_third_schema_goes_on_with_boards_of_several_matches(tmp_path: Path) -> None:
    with Store(third_schema(tmp_path / "ladder.db")) as store:
        assert {(ladder.name, ladder.boards) for ladder in store.ladders()} == {(LADDER, "plain"), ("two", "plain")}
        assert {ladder.terms.most_per_owner for ladder in store.ladders()} == {0}
        assert {(one.board_kind, one.board_matches, one.is_sealed) for one in store.matches(limit=100)} == {
            ("plain", (one.match,), False) for one in store.matches(limit=100)
        }
        before = {check.ladder: check.differences for check in recompute(store)}  # other machines may round otherwise
        assert store.void_unfinished(datetime(2026, 12, 1, tzinfo=UTC)) == ["cut off"]
        store.ensure(NewLadder("dup", "greed", 4, TrueSkill(draw_probability=0.1), boards="duplicate"))
        for at, versions in enumerate([PLAYERS[:4], PLAYERS[4:8]]):
            stored = store.submit(result(f"d{at}", versions, ladder="dup", board="one deal", board_matches=2)).result()
        assert (stored.sequence, len(stored.changes)) == (1, 8)
        assert {check.ladder: check.differences for check in recompute(store)} == {**before, "dup": ()}


# -- from the sixth schema
V6 = Path(__file__).with_name("v6.sql")
OLD_6 = {**OLD_3, "ladders": f"{OLD_3['ladders']}, boards, most_per_owner"}


def sixth_schema(path: Path) -> Path:
    """A database as the version before schema 7 left it, with 46 matches; some that failed came first by their cards.

    Version 1 was taken over in three of them and its pause was lifted; version 6 was too, and is paused.
    """
    file = sqlite3.connect(path)
    file.executescript(V6.read_text(encoding="utf-8"))
    file.close()
    return path


def test_a_database_of_the_sixth_schema_keeps_its_places_and_gets_terms_for_pauses(tmp_path: Path) -> None:
    path = sixth_schema(tmp_path / "ladder.db")
    before = contents(path, OLD_6)
    assert (len(before["matches"]), len(before["open_matches"]), len(before["pauses"])) == (46, 1, 2)
    with Store(path) as store:
        assert store.found == "6"
        assert {(one.terms.pause_failed, one.terms.pause_window) for one in store.ladders()} == {(3, 8)}
        seats = store.match("p0").seats
        assert [(seat.place, seat.end_cause) for seat in seats[:2]] == [(1, "crashed"), (2, "normal")]
    assert contents(path, OLD_6) == before
    assert differences(path, Base.metadata) == []


def test_a_database_of_the_sixth_schema_goes_on_and_recomputes(tmp_path: Path) -> None:
    with Store(sixth_schema(tmp_path / "ladder.db")) as store:
        before = {check.ladder: check.differences for check in recompute(store)}  # other machines may round otherwise
        assert [entry.version_id for entry in store.bots() if entry.paused] == [6]
        for number in range(3):
            seats = (
                FinishedSeat(PLAYERS[0], 4, 9, "crashed", faults=3),
                *(FinishedSeat(player, place, 8 - place, "normal") for place, player in enumerate(PLAYERS[1:4], 1)),
            )
            stored = store.submit(result(f"later {number}", [], seats=seats)).result()
            assert stored.paused == ((PLAYERS[0],) if number == 2 else ()), "a new window since the pause was lifted"
        assert {check.ladder: check.differences for check in recompute(store)} == before


@pytest.mark.parametrize(("before", "is_said"), [("1", True), ("6", True), ("7", False)])
def test_an_upgrade_says_that_places_stay(before: str, is_said: bool) -> None:
    note = schema.describe_upgrade(before)
    assert ("places and ratings of matches stored before stay as they are" in note) is is_said


LATER = int(newest_revision()) + 1
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
        assert [seat.bot for seat in store.match("m1").seats] == ["bot 0", "bot 1", "bot 2", "bot 3"]
        with store.reading() as connection:
            assert set(connection.exec_driver_sql("SELECT planted FROM versions").scalars()) == {7}


def test_an_upgrade_that_would_lose_what_is_referred_to_changes_nothing(
    one_match: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as later:
        plant(tmp_path / "next", later, 'op.execute("DELETE FROM versions WHERE id = 1")')
        with pytest.raises(StoreError, match="3 rows would lose what they refer to: nothing was changed"):
            Store(one_match)
    with Store(one_match) as store:
        assert store.match("m1").seats[0].bot == "bot 0"
    assert differences(one_match, Base.metadata) == []
