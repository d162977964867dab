"""Kinds of boards, estimates, and the resource usage of seats."""

import sqlalchemy as sa
from alembic import op

revision = "4"
down_revision = "3"


def upgrade() -> None:
    """Add the new tables and columns, which are empty for old results."""
    _boards()
    _estimates()
    _uses()


def _boards() -> None:
    """Allow several matches per board; recreate `matches`, where the board was unique."""
    op.add_column("ladders", sa.Column("boards", sa.String(), nullable=False, server_default="plain"))
    op.add_column("boards", sa.Column("matches", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("boards", sa.Column("is_sealed", sa.Boolean(), nullable=False, server_default="0"))
    op.create_index("ix_boards_sealed", "boards", ["id"], sqlite_where=sa.text("is_sealed = 1"))
    for relation in ("matches", "open_matches"):
        with op.batch_alter_table(relation) as table:
            table.drop_constraint(op.f(f"uq_{relation}_board_id"), type_="unique")
        op.create_index(op.f(f"ix_{relation}_board_id"), relation, ["board_id"])


def _estimates() -> None:
    op.create_table(
        "estimates",
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("low", sa.Float(), nullable=False),
        sa.Column("high", sa.Float(), nullable=False),
        sa.Column("best", sa.Integer(), nullable=False),
        sa.Column("worst", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("made", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_estimates_ladder_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_estimates_version_id")),
        sa.PrimaryKeyConstraint("ladder_id", "version_id", name=op.f("pk_estimates")),
        sqlite_with_rowid=False,
    )


def _uses() -> None:
    op.add_column("seats", sa.Column("cpu_ms", sa.Integer(), nullable=True))
    op.add_column("seats", sa.Column("peak_bytes", sa.Integer(), nullable=True))
