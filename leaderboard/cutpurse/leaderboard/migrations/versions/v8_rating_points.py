"""Earlier ratings of versions, for charts."""

import sqlalchemy as sa
from alembic import op

revision = "8"
down_revision = "7"


def upgrade() -> None:
    """Add the table, which later estimates fill."""
    op.create_table(
        "rating_points",
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("low", sa.Float(), nullable=False),
        sa.Column("high", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_rating_points_ladder_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_rating_points_version_id")),
        sa.PrimaryKeyConstraint("ladder_id", "version_id", "sequence", name=op.f("pk_rating_points")),
        sqlite_with_rowid=False,
    )
