"""The tables with which the migrations begin: those of Cutpurse 0.2, under the number of its last schema.

A new database begins with them, too. Nobody needs to change them again: later migrations do.
"""

from collections.abc import Iterable
from typing import Any, Final

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    String,
    Table,
    UniqueConstraint,
    text,
)

revision = "22"
down_revision = None

FIRST: Final = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)
_NUMBER: Final = Integer().with_variant(BigInteger(), "postgresql")
_TEXT: Final = String().with_variant(String(collation="C"), "postgresql")


def upgrade() -> None:
    """Create the tables."""
    FIRST.create_all(op.get_bind())


def _table(name: str, key: str, *parts: Any, has_rowid: bool = True) -> None:
    Table(name, FIRST, *parts, PrimaryKeyConstraint(*key.split()), sqlite_with_rowid=has_rowid)


def _columns(kind: Any, names: str, is_null: bool) -> Iterable[Column[Any]]:
    return [Column(name, kind, nullable=is_null) for name in names.split()]


def _numbers(names: str, is_null: bool = False) -> Iterable[Column[Any]]:
    return _columns(_NUMBER, names, is_null)


def _texts(names: str, is_null: bool = False) -> Iterable[Column[Any]]:
    return _columns(_TEXT, names, is_null)


def _blobs(names: str, is_null: bool = False) -> Iterable[Column[Any]]:
    return _columns(LargeBinary(), names, is_null)


def _times(names: str, is_null: bool = False) -> Iterable[Column[Any]]:
    return _columns(DateTime(), names, is_null)


def _flags(names: str) -> Iterable[Column[Any]]:
    return _columns(Boolean(), names, False)


def _floats(names: str, is_null: bool = False) -> Iterable[Column[Any]]:
    return _columns(Float(), names, is_null)


def _refers(**targets: str) -> Iterable[ForeignKeyConstraint]:
    return [ForeignKeyConstraint([column], [target]) for column, target in targets.items()]


def _indexes(*columns: str) -> Iterable[Index]:
    return [Index(None, *names.split()) for names in columns]


def _partial_index(name: str, columns: str, where: str, is_unique: bool = False) -> Index:
    """Return an index; `where` is a comparison, or a truth value, which is a number in SQLite."""
    on_sqlite = where if " " in where else f"{where} = 1"
    return Index(name, *columns.split(), unique=is_unique, sqlite_where=text(on_sqlite), postgresql_where=text(where))


# -- owners, bots and who may come in
_table("owners", "id", *_numbers("id"), *_texts("name"), UniqueConstraint("name"))
_table(
    "bots",
    "id",
    *_numbers("id owner_id"),
    *_texts("name"),
    *_refers(owner_id="owners.id"),
    UniqueConstraint("owner_id", "name"),
)
_table(
    "versions",
    "id",
    *_numbers("id bot_id"),
    *_texts("label"),
    *_numbers("parent_id", is_null=True),
    *_times("created", is_null=True),
    *_refers(bot_id="bots.id", parent_id="versions.id"),
    UniqueConstraint("bot_id", "label"),
)
_table(
    "tokens",
    "id",
    *_texts("id scopes label"),
    *_blobs("digest"),
    *_numbers("owner_id"),
    *_times("created"),
    *_times("expires revoked last_used", is_null=True),
    *_refers(owner_id="owners.id"),
)
_table(
    "accounts",
    "issuer subject",
    *_texts("issuer subject"),
    *_numbers("owner_id"),
    *_times("linked"),
    *_refers(owner_id="owners.id"),
)
_table(
    "submissions",
    "id",
    *_numbers("id owner_id size"),
    *_texts("bot version ladders state why"),
    *_blobs("digest"),
    *_flags("is_active is_kept"),
    *_times("received changed"),
    *_blobs("log", is_null=True),
    *_refers(owner_id="owners.id"),
    UniqueConstraint("owner_id", "bot", "version"),
    _partial_index("ix_submissions_active", "owner_id bot", "is_active", is_unique=True),
)

# -- ladders, boards and matches
_table(
    "ladders",
    "id",
    *_numbers("id seats most_bots most_per_owner pause_failed pause_window"),
    *_texts("name game settings clock owners house boards title"),
    *_flags("is_private voids_outages is_hosted admits_people"),
    *_times("frozen created results_hidden_until names_hidden_until", is_null=True),
    UniqueConstraint("name"),
)
_table(
    "epochs", "ladder_id number", *_numbers("ladder_id number"), *_texts("settings"), *_refers(ladder_id="ladders.id")
)
_table(
    "leases",
    "ladder_id",
    *_numbers("ladder_id epoch"),
    *_texts("holder address"),
    *_times("until"),
    *_refers(ladder_id="ladders.id"),
)
_table("arenas", "holder", *_texts("holder address"), *_times("until"))
_table(
    "boards",
    "id",
    *_texts("id"),
    *_numbers("ladder_id matches"),
    *_numbers("sequence epoch", is_null=True),
    *_blobs("commitment seed params"),
    *_flags("is_sealed"),
    *_texts("nonces", is_null=True),
    *_refers(ladder_id="ladders.id"),
    ForeignKeyConstraint(["ladder_id", "epoch"], ["epochs.ladder_id", "epochs.number"]),
    UniqueConstraint("ladder_id", "sequence"),
    _partial_index("ix_boards_sealed", "id", "is_sealed"),
)
_table(
    "open_matches",
    "match_id",
    *_texts("match_id board_id rules versions requested_by reason"),
    *_times("started"),
    *_refers(board_id="boards.id"),
    *_indexes("board_id"),
)
_table(
    "matches",
    "number",
    Column("number", _NUMBER, nullable=False, autoincrement=False),
    *_texts("id board_id rules requested_by reason"),
    *_numbers("ladder_id decisions"),
    *_times("started finished"),
    *_flags("is_rated is_faulted"),
    *_texts("void_cause", is_null=True),
    *_blobs("record", is_null=True),
    *_refers(board_id="boards.id", ladder_id="ladders.id"),
    UniqueConstraint("id"),
    *_indexes("board_id", "ladder_id number", "ladder_id finished"),
    _partial_index("ix_matches_faulted", "ladder_id number finished is_faulted", "is_faulted"),
)
_table(
    "seats",
    "match_number seat",
    *_numbers("match_number seat ladder_id version_id faults thinking_ms"),
    *_texts("end_cause"),
    *_numbers("place score cpu_ms peak_bytes", is_null=True),
    *_refers(match_number="matches.number", version_id="versions.id"),
    *_indexes("version_id match_number", "version_id ladder_id match_number"),
    _partial_index("ix_seats_faulted", "version_id match_number ladder_id faults", "faults > 0"),
)
_table(
    "courses", "match_number", *_numbers("match_number"), *_blobs("courses"), *_refers(match_number="matches.number")
)
_table(
    "notes",
    "match_number seat",
    *_numbers("match_number seat dropped_bytes"),
    *_blobs("notes"),
    ForeignKeyConstraint(["match_number", "seat"], ["seats.match_number", "seats.seat"]),
)
_table(
    "usages",
    "match_number seat",
    *_numbers("match_number seat ladder_id version_id input_tokens output_tokens cost_micros fallbacks"),
    *_texts("model"),
    ForeignKeyConstraint(["match_number", "seat"], ["seats.match_number", "seats.seat"]),
    *_indexes("ladder_id version_id"),
)
_table(
    "pauses",
    "id",
    *_numbers("id version_id match_number"),
    *_texts("cause"),
    *_times("since"),
    *_times("lifted", is_null=True),
    *_numbers("lifted_number", is_null=True),
    *_refers(version_id="versions.id", match_number="matches.number"),
    *_indexes("version_id", "match_number"),
    _partial_index("ix_pauses_one_at_a_time", "version_id", "lifted IS NULL", is_unique=True),
)

# -- ratings
_table(
    "ratings",
    "ladder_id version_id",
    *_numbers("ladder_id version_id matches wins faulted sequence"),
    *_floats("mu sigma"),
    *_blobs("form"),
    *_refers(ladder_id="ladders.id", version_id="versions.id"),
)
_table(
    "rating_changes",
    "ladder_id sequence version_id",
    *_numbers("ladder_id sequence version_id"),
    *_floats("mu_before sigma_before mu_after sigma_after"),
    ForeignKeyConstraint(["ladder_id", "sequence"], ["boards.ladder_id", "boards.sequence"]),
    *_refers(version_id="versions.id"),
    *_indexes("ladder_id version_id sequence"),
)
_table(
    "estimates",
    "ladder_id version_id",
    *_numbers("ladder_id version_id best worst sequence"),
    *_floats("mu low high"),
    *_times("made"),
    *_refers(ladder_id="ladders.id", version_id="versions.id"),
    has_rowid=False,
)
_table(
    "rating_points",
    "ladder_id version_id sequence",
    *_numbers("ladder_id version_id sequence"),
    *_floats("mu low high"),
    *_refers(ladder_id="ladders.id", version_id="versions.id"),
    has_rowid=False,
)
_table(
    "opponents",
    "bot_id ladder_id other_id",
    *_numbers("bot_id ladder_id other_id matches ahead level"),
    *_refers(bot_id="bots.id", ladder_id="ladders.id", other_id="bots.id"),
    *_indexes("other_id ladder_id"),
    has_rowid=False,
)

# -- version tests, tournaments and seasons
_table(
    "version_tests",
    "id",
    *_texts("id design outcome"),
    *_numbers("ladder_id owner_id new_id old_id"),
    *_times("created"),
    *_times("ended", is_null=True),
    *_refers(ladder_id="ladders.id", owner_id="owners.id", new_id="versions.id", old_id="versions.id"),
    *_indexes("owner_id"),
)
_table(
    "test_boards",
    "board_id",
    *_texts("board_id test_id"),
    *_refers(board_id="boards.id", test_id="version_tests.id"),
    *_indexes("test_id"),
)
_table(
    "tournaments",
    "id",
    *_texts("id started_by plan outcome"),
    *_numbers("ladder_id"),
    *_times("created"),
    *_times("ended", is_null=True),
    *_refers(ladder_id="ladders.id"),
)
_table(
    "tournament_boards",
    "tournament_id duel board",
    *_texts("tournament_id match_id result"),
    *_numbers("duel board"),
    *_refers(tournament_id="tournaments.id"),
)
_table(
    "season_series",
    "id",
    *_texts("id name started_by plan outcome"),
    *_times("created"),
    *_times("ended", is_null=True),
)
_table(
    "seasons",
    "series_id number",
    *_texts("series_id phase tournament_id"),
    *_numbers("number"),
    *_times("began"),
    *_times("ended next_at", is_null=True),
    *_refers(series_id="season_series.id"),
)
_table(
    "season_divisions",
    "series_id number division",
    *_texts("series_id"),
    *_numbers("number division ladder_id"),
    ForeignKeyConstraint(["series_id", "number"], ["seasons.series_id", "seasons.number"]),
    *_refers(ladder_id="ladders.id"),
    UniqueConstraint("ladder_id"),
)
_table(
    "season_bots",
    "series_id number bot_id",
    *_texts("series_id"),
    *_numbers("number bot_id division seed"),
    *_flags("is_late has_left"),
    *_numbers("place version_id matches next_division", is_null=True),
    *_floats("rating", is_null=True),
    ForeignKeyConstraint(["series_id", "number"], ["seasons.series_id", "seasons.number"]),
    *_refers(bot_id="bots.id", version_id="versions.id"),
    *_indexes("bot_id"),
)

# -- work of other machines, and notices
_table("work", "match_id", *_texts("match_id code task state worker"), *_blobs("seed"), *_times("since"))
_table("reports", "match_id", *_texts("match_id"), *_blobs("report"), *_refers(match_id="work.match_id"))
_table("archives", "digest", *_blobs("digest content"))
_table(
    "receivers",
    "id",
    *_numbers("id owner_id waiting delivered missed failures"),
    *_texts("kind address events ladders problem"),
    *_blobs("secret"),
    *_flags("is_host"),
    *_times("created"),
    *_times("failing_since retry_at claimed_until paused", is_null=True),
    *_refers(owner_id="owners.id"),
    *_indexes("owner_id"),
)
_table(
    "outbox",
    "number",
    *_numbers("number receiver_id"),
    *_texts("event_id body"),
    *_refers(receiver_id="receivers.id"),
    *_indexes("receiver_id number"),
)
_table(
    "overtakings",
    "ladder_id bot_id other_id",
    *_numbers("ladder_id bot_id other_id"),
    *_times("at"),
    *_refers(ladder_id="ladders.id", bot_id="bots.id", other_id="bots.id"),
    has_rowid=False,
)
