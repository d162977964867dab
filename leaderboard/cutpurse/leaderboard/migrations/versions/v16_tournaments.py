"""Tournaments that a server plays, and the boards of their duels."""

import sqlalchemy as sa
from alembic import op

revision = "16"
down_revision = "15"

_INTEGER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the tables, which are empty because older servers played no tournament."""
    op.create_table(
        "tournaments",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("ladder_id", _INTEGER, nullable=False),
        sa.Column("started_by", _TEXT, nullable=False),
        sa.Column("plan", _TEXT, nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("ended", sa.DateTime(), nullable=True),
        sa.Column("outcome", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_tournaments_ladder_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tournaments")),
    )
    op.create_table(
        "tournament_boards",
        sa.Column("tournament_id", _TEXT, nullable=False),
        sa.Column("duel", _INTEGER, nullable=False),
        sa.Column("board", _INTEGER, nullable=False),
        sa.Column("match_id", _TEXT, nullable=False),
        sa.Column("result", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(["tournament_id"], ["tournaments.id"], name=op.f("fk_tournament_boards_tournament_id")),
        sa.PrimaryKeyConstraint("tournament_id", "duel", "board", name=op.f("pk_tournament_boards")),
    )
