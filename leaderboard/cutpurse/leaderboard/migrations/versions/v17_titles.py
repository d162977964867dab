"""The title of a ladder."""

import sqlalchemy as sa
from alembic import op

revision = "17"
down_revision = "16"


def upgrade() -> None:
    """Add the column; existing ladders have no title."""
    op.add_column("ladders", sa.Column("title", sa.String(), nullable=False, server_default=""))
