"""A ladder says in how many of how many rated matches a version may be taken over before it is paused."""

import sqlalchemy as sa
from alembic import op

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Add the terms with their defaults. Places of stored matches stay: they were right by the rule of their time."""
    op.add_column("ladders", sa.Column("pause_failed", sa.Integer(), nullable=False, server_default="3"))
    op.add_column("ladders", sa.Column("pause_window", sa.Integer(), nullable=False, server_default="8"))
