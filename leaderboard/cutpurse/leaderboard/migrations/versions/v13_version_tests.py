"""Tests of versions against each other, and the boards that are dealt for them."""

import sqlalchemy as sa
from alembic import op

revision = "13"
down_revision = "12"

_INTEGER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables, which are empty because older servers tested nothing."""
    op.create_table(
        "version_tests",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("ladder_id", _INTEGER, nullable=False),
        sa.Column("owner_id", _INTEGER, nullable=False),
        sa.Column("new_id", _INTEGER, nullable=False),
        sa.Column("old_id", _INTEGER, nullable=False),
        sa.Column("design", _TEXT, nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("ended", sa.DateTime(), nullable=True),
        sa.Column("outcome", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_version_tests_ladder_id")),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_version_tests_owner_id")),
        sa.ForeignKeyConstraint(["new_id"], ["versions.id"], name=op.f("fk_version_tests_new_id")),
        sa.ForeignKeyConstraint(["old_id"], ["versions.id"], name=op.f("fk_version_tests_old_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_version_tests")),
    )
    op.create_index(op.f("ix_version_tests_owner_id"), "version_tests", ["owner_id"])
    op.create_table(
        "test_boards",
        sa.Column("board_id", _TEXT, nullable=False),
        sa.Column("test_id", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_test_boards_board_id")),
        sa.ForeignKeyConstraint(["test_id"], ["version_tests.id"], name=op.f("fk_test_boards_test_id")),
        sa.PrimaryKeyConstraint("board_id", name=op.f("pk_test_boards")),
    )
    op.create_index(op.f("ix_test_boards_test_id"), "test_boards", ["test_id"])
