"""The memory folders of submitted bots: the term of a ladder, the folders, and their hash in each seat."""

from typing import Final

from alembic import op
from sqlalchemy import Column, LargeBinary, MetaData, PrimaryKeyConstraint, Table

from cutpurse.leaderboard.migrations.versions import v26_published_notes
from cutpurse.leaderboard.migrations.versions.v22_first_tables import _NUMBER, _numbers, _refers, _texts, _times

revision = "27"
down_revision = "26"

TABLES: Final = MetaData(naming_convention=v26_published_notes.TABLES.naming_convention)  # all after this migration
for _table in v26_published_notes.TABLES.sorted_tables:
    _table.to_metadata(TABLES)


def _columns() -> dict[str, Column[int] | Column[bytes]]:
    """Return the new columns, by table."""
    return {
        "ladders": Column("memory_kib", _NUMBER, nullable=False, server_default="0"),
        "seats": Column("memory", LargeBinary()),
    }


for _name, _column in _columns().items():
    TABLES.tables[_name].append_column(_column)

MEMORIES: Final = Table(
    "bot_memories",
    TABLES,
    *_numbers("owner_id ladder_id"),
    *_texts("bot"),
    Column("content", LargeBinary(), nullable=False),
    *_times("changed"),
    PrimaryKeyConstraint("owner_id", "bot", "ladder_id"),
    *_refers(owner_id="owners.id", ladder_id="ladders.id"),
)


def upgrade() -> None:
    """Add the columns, and create the table."""
    for table, column in _columns().items():
        op.add_column(table, column)
    MEMORIES.create(op.get_bind())
