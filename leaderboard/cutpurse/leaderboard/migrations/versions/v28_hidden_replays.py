"""Ladders whose replays are hidden until a time; those that are there show theirs."""

from datetime import datetime
from typing import Final

from alembic import op
from sqlalchemy import Column, DateTime, MetaData

from cutpurse.leaderboard.migrations.versions import v27_bot_memories

revision = "28"
down_revision = "27"

TABLES: Final = MetaData(naming_convention=v27_bot_memories.TABLES.naming_convention)  # all after this migration
for _table in v27_bot_memories.TABLES.sorted_tables:
    _table.to_metadata(TABLES)


def _column() -> Column[datetime]:
    return Column("replays_hidden_until", DateTime(), nullable=True)


TABLES.tables["ladders"].append_column(_column())


def upgrade() -> None:
    """Add the column."""
    op.add_column("ladders", _column())
