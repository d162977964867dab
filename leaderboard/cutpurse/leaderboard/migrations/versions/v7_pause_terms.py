"""Terms of ladders for pauses."""

import sqlalchemy as sa
from alembic import op

revision = "7"
down_revision = "6"


def upgrade() -> None:
    """Add the terms with their defaults; places of stored matches stay as the rule of their time gave them."""
    op.add_column("ladders", sa.Column("pause_failed", sa.Integer(), nullable=False, server_default="3"))
    op.add_column("ladders", sa.Column("pause_window", sa.Integer(), nullable=False, server_default="8"))
