"""The time until which the results of a ladder are hidden."""

import sqlalchemy as sa
from alembic import op

revision = "15"
down_revision = "14"


def upgrade() -> None:
    """Add the column; the results of existing ladders are shown."""
    op.add_column("ladders", sa.Column("results_hidden_until", sa.DateTime(), nullable=True))
