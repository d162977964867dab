"""Bots whose owners let no people pick them as opponents; everybody may pick those that are there."""

from alembic import op
from sqlalchemy import Boolean, Column, false

revision = "24"
down_revision = "23"


def upgrade() -> None:
    """Add the column."""
    op.add_column("bots", Column("declines_people", Boolean(), nullable=False, server_default=false()))
