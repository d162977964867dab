"""The nonces that seats add to the key of a deal."""

import sqlalchemy as sa
from alembic import op

revision = "20"
down_revision = "19"

_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the column; no seat has added one to the deals so far."""
    op.add_column("boards", sa.Column("nonces", _TEXT, nullable=True))
