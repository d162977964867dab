"""The maximum number of bots per owner, and indexes of matches with faults."""

import sqlalchemy as sa
from alembic import op

revision = "6"
down_revision = "5"


def upgrade() -> None:
    """Add the column, without a limit for existing ladders, and covering indexes of faults."""
    op.add_column("ladders", sa.Column("most_per_owner", sa.Integer(), nullable=False, server_default="0"))
    for name, table, columns, which in (
        ("ix_matches_faulted", "matches", ["ladder_id", "number", "finished", "is_faulted"], "is_faulted = 1"),
        ("ix_seats_faulted", "seats", ["version_id", "match_number", "ladder_id", "faults"], "faults > 0"),
    ):
        op.drop_index(name, table)
        op.create_index(name, table, columns, sqlite_where=sa.text(which))
