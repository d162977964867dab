"""Tournaments, version tests and seasons become events: four tables instead of eight, and all that is stored stays.

What went on goes on. A season gets the ID of its series with its number, and the final of a season becomes its child.
The numbers of the boards of tests are negative, so that none is that of a later board.
"""

from typing import Any, Final

from alembic import op
from sqlalchemy import (
    Boolean,
    Column,
    MetaData,
    PrimaryKeyConstraint,
    Select,
    String,
    Table,
    UniqueConstraint,
    cast,
    false,
    func,
    insert,
    literal,
    select,
    update,
)

from cutpurse.leaderboard.migrations.versions.v22_first_tables import (
    FIRST,
    _flags,
    _floats,
    _indexes,
    _numbers,
    _partial_index,
    _refers,
    _texts,
    _times,
)

revision = "25"
down_revision = "24"

_OLD: Final = (  # those that refer to others first
    "test_boards",
    "version_tests",
    "tournament_boards",
    "tournaments",
    "season_bots",
    "season_divisions",
    "seasons",
    "season_series",
)
TABLES: Final = MetaData(naming_convention=FIRST.naming_convention)  # all tables after this migration
for _table in FIRST.sorted_tables:
    if _table.name not in _OLD:
        _table.to_metadata(TABLES)
TABLES.tables["bots"].append_column(Column("declines_people", Boolean(), nullable=False, server_default=false()))

EVENTS: Final = Table(
    "events",
    TABLES,
    *_texts("id format name started_by plan phase outcome"),
    *_texts("parent_id", is_null=True),
    *_numbers("number"),
    *_numbers("owner_id", is_null=True),
    *_times("created"),
    *_times("ended next_at", is_null=True),
    PrimaryKeyConstraint("id"),
    UniqueConstraint("parent_id", "number"),
    *_refers(owner_id="owners.id", parent_id="events.id"),
    *_indexes("owner_id"),
)
LADDERS: Final = Table(
    "event_ladders",
    TABLES,
    *_texts("event_id"),
    *_numbers("division ladder_id"),
    *_flags("is_own"),
    PrimaryKeyConstraint("event_id", "division"),
    *_refers(event_id="events.id", ladder_id="ladders.id"),
    *_indexes("ladder_id"),
    _partial_index("ix_event_ladders_own", "ladder_id", "is_own", is_unique=True),
)
BOTS: Final = Table(
    "event_bots",
    TABLES,
    *_texts("event_id"),
    *_numbers("division seed bot_id"),
    *_flags("is_late has_left"),
    *_numbers("version_id place matches next_division", is_null=True),
    *_floats("rating", is_null=True),
    PrimaryKeyConstraint("event_id", "division", "seed"),
    *_refers(event_id="events.id", bot_id="bots.id", version_id="versions.id"),
    *_indexes("bot_id"),
)
BOARDS: Final = Table(
    "event_boards",
    TABLES,
    *_texts("event_id match_id result"),
    *_texts("board_id", is_null=True),
    *_numbers("duel board"),
    PrimaryKeyConstraint("event_id", "duel", "board"),
    *_refers(event_id="events.id"),
    *_indexes("board_id"),
)


def upgrade() -> None:
    """Create the tables, move what the old ones hold, and drop these."""
    connection = op.get_bind()
    TABLES.create_all(connection, [EVENTS, LADDERS, BOTS, BOARDS])
    for query, table in (*_events(), *_ladders(), *_bots(), *_boards()):
        connection.execute(insert(table).from_select([column.name for column in query.selected_columns], query))
    seasons = FIRST.tables["seasons"]
    season = select(_season_id(seasons)).where(seasons.c.tournament_id == EVENTS.c.id).scalar_subquery()
    is_final = EVENTS.c.id.in_(select(seasons.c.tournament_id))
    connection.execute(update(EVENTS).where(is_final).values(parent_id=season))
    for name in _OLD:
        op.drop_table(name)


def _season_id(table: Table) -> Any:
    return table.c.series_id + "." + cast(table.c.number, String)


def _events() -> list[tuple[Select[Any], Table]]:
    tournaments, tests = FIRST.tables["tournaments"], FIRST.tables["version_tests"]
    series, seasons, owners = FIRST.tables["season_series"], FIRST.tables["seasons"], FIRST.tables["owners"]
    rest = literal("").label("phase"), literal(0).label("number")
    return [
        (
            select(
                *tournaments.c["id", "started_by", "plan", "created", "ended", "outcome"],
                *_named(format="tournament", name=""),
                *rest,
            ),
            EVENTS,
        ),
        (
            select(
                *tests.c["id", "owner_id", "created", "ended", "outcome"],
                tests.c.design.label("plan"),
                owners.c.name.label("started_by"),
                *_named(format="test", name=""),
                *rest,
            ).join(owners, owners.c.id == tests.c.owner_id),
            EVENTS,
        ),
        (
            select(
                *series.c["id", "name", "started_by", "plan", "created", "ended", "outcome"],
                *_named(format="seasons"),
                *rest,
            ),
            EVENTS,
        ),
        (
            select(
                _season_id(seasons).label("id"),
                series.c.id.label("parent_id"),
                *seasons.c["number", "phase", "ended", "next_at"],
                seasons.c.began.label("created"),
                series.c.started_by,
                *_named(format="season", name="", plan="", outcome=""),
            ).join(series, series.c.id == seasons.c.series_id),
            EVENTS,
        ),
    ]


def _ladders() -> list[tuple[Select[Any], Table]]:
    divisions = FIRST.tables["season_divisions"]
    own = select(
        _season_id(divisions).label("event_id"), *divisions.c["division", "ladder_id"], literal(True).label("is_own")
    )
    others = [
        select(
            FIRST.tables[name].c.id.label("event_id"),
            literal(1).label("division"),
            FIRST.tables[name].c.ladder_id,
            literal(False).label("is_own"),
        )
        for name in ("tournaments", "version_tests")
    ]
    return [(query, LADDERS) for query in (own, *others)]


def _bots() -> list[tuple[Select[Any], Table]]:
    bots, tests, versions = FIRST.tables["season_bots"], FIRST.tables["version_tests"], FIRST.tables["versions"]
    in_division = func.row_number().over(
        partition_by=(bots.c.series_id, bots.c.number, bots.c.division), order_by=(bots.c.seed, bots.c.bot_id)
    )
    facts = ["division", "bot_id", "version_id", "is_late", "has_left", "place", "rating", "matches", "next_division"]
    of_seasons = select(
        _season_id(bots).label("event_id"), in_division.label("seed"), *(bots.c[name] for name in facts)
    )
    of_tests = [
        select(
            tests.c.id.label("event_id"),
            literal(1).label("division"),
            literal(seed).label("seed"),
            versions.c.bot_id,
            versions.c.id.label("version_id"),
            literal(False).label("is_late"),
            literal(False).label("has_left"),
        ).join(versions, versions.c.id == version)
        for seed, version in ((1, tests.c.new_id), (2, tests.c.old_id))
    ]
    return [(query, BOTS) for query in (of_seasons, *of_tests)]


def _boards() -> list[tuple[Select[Any], Table]]:
    duels, tests = FIRST.tables["tournament_boards"], FIRST.tables["test_boards"]
    number = func.row_number().over(partition_by=tests.c.test_id, order_by=tests.c.board_id)
    return [
        (
            select(
                duels.c.tournament_id.label("event_id"),
                *duels.c["duel", "board", "match_id", "result"],
            ),
            BOARDS,
        ),
        (
            select(
                tests.c.test_id.label("event_id"),
                literal(0).label("duel"),
                (-number).label("board"),
                tests.c.board_id,
                *_named(match_id="", result=""),
            ),
            BOARDS,
        ),
    ]


def _named(**values: str) -> list[Any]:
    return [literal(value).label(name) for name, value in values.items()]
