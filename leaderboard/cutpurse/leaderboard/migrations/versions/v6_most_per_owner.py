"""A ladder may take so many bots of one owner and no more."""

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """Ladders that are there take any number, as before."""
    op.add_column("ladders", sa.Column("most_per_owner", sa.Integer(), nullable=False, server_default="0"))
