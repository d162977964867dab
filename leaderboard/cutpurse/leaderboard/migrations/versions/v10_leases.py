"""Leases of ladders, for leagues of several arenas."""

import sqlalchemy as sa
from alembic import op

revision = "10"
down_revision = "9"

_INTEGER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table, which is empty because older servers were alone."""
    op.create_table(
        "leases",
        sa.Column("ladder_id", _INTEGER, nullable=False),
        sa.Column("holder", _TEXT, nullable=False),
        sa.Column("address", _TEXT, nullable=False),
        sa.Column("epoch", _INTEGER, nullable=False),
        sa.Column("until", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_leases_ladder_id")),
        sa.PrimaryKeyConstraint("ladder_id", name=op.f("pk_leases")),
    )
