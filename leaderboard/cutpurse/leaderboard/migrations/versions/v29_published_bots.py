"""Published versions of submitted bots; none of those that are there is published."""

from collections.abc import Iterator
from typing import Any, Final

from alembic import op
from sqlalchemy import Column, DateTime, MetaData, String

from cutpurse.leaderboard.migrations.versions import v28_hidden_replays

revision = "29"
down_revision = "28"

TABLES: Final = MetaData(naming_convention=v28_hidden_replays.TABLES.naming_convention)  # all after this migration
for _table in v28_hidden_replays.TABLES.sorted_tables:
    _table.to_metadata(TABLES)


def _columns() -> Iterator[Column[Any]]:
    for name in ("licence", "public_after"):
        yield Column(name, String(), nullable=False, server_default="")
    yield Column("public_from", DateTime(), nullable=True)


for _added in _columns():
    TABLES.tables["submissions"].append_column(_added)


def upgrade() -> None:
    """Add the columns."""
    for column in _columns():
        op.add_column("submissions", column)
