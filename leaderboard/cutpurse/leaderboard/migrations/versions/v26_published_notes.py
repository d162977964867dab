"""Bots whose owners publish their notes; those that are there publish none."""

from typing import Final

from alembic import op
from sqlalchemy import Boolean, Column, MetaData, false

from cutpurse.leaderboard.migrations.versions import v25_events

revision = "26"
down_revision = "25"

TABLES: Final = MetaData(naming_convention=v25_events.TABLES.naming_convention)  # all tables after this migration
for _table in v25_events.TABLES.sorted_tables:
    _table.to_metadata(TABLES)


def _column() -> Column[bool]:
    return Column("publishes_notes", Boolean(), nullable=False, server_default=false())


TABLES.tables["bots"].append_column(_column())


def upgrade() -> None:
    """Add the column."""
    op.add_column("bots", _column())
