"""The time until which the names of the bots in matches of a ladder are hidden."""

import sqlalchemy as sa
from alembic import op

revision = "22"
down_revision = "21"


def upgrade() -> None:
    """Add the column; the names on existing ladders are shown."""
    op.add_column("ladders", sa.Column("names_hidden_until", sa.DateTime(), nullable=True))
