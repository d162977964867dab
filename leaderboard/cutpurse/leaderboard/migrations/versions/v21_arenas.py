"""The arenas of a league, also those without a ladder."""

import sqlalchemy as sa
from alembic import op

revision = "21"
down_revision = "20"

_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table, which arenas fill when they start."""
    op.create_table(
        "arenas",
        sa.Column("holder", _TEXT, nullable=False),
        sa.Column("address", _TEXT, nullable=False),
        sa.Column("until", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("holder", name=op.f("pk_arenas")),
    )
