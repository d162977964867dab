"""Ladders whose matches workers play, and the tables between the server and its workers."""

import sqlalchemy as sa
from alembic import op

revision = "11"
down_revision = "10"

_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the flag, which no ladder has, and the tables, which are empty."""
    op.add_column("ladders", sa.Column("is_hosted", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "work",
        sa.Column("match_id", _TEXT, nullable=False),
        sa.Column("code", _TEXT, nullable=False),
        sa.Column("task", _TEXT, nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.Column("state", _TEXT, nullable=False),
        sa.Column("worker", _TEXT, nullable=False),
        sa.Column("since", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_work")),
    )
    op.create_table(
        "reports",
        sa.Column("match_id", _TEXT, nullable=False),
        sa.Column("report", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["match_id"], ["work.match_id"], name=op.f("fk_reports_match_id")),
        sa.PrimaryKeyConstraint("match_id", name=op.f("pk_reports")),
    )
    op.create_table(
        "archives",
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.PrimaryKeyConstraint("digest", name=op.f("pk_archives")),
    )
