"""Seasons that a server plays by itself: series, seasons, divisions, and the bots in them."""

import sqlalchemy as sa
from alembic import op

revision = "18"
down_revision = "17"

_INTEGER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_SEASON = ["seasons.series_id", "seasons.number"]


def upgrade() -> None:
    """Add the tables, which are empty because older servers played no season."""
    op.create_table(
        "season_series",
        sa.Column("id", _TEXT, nullable=False),
        sa.Column("name", _TEXT, nullable=False),
        sa.Column("started_by", _TEXT, nullable=False),
        sa.Column("plan", _TEXT, nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("ended", sa.DateTime(), nullable=True),
        sa.Column("outcome", _TEXT, nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_season_series")),
    )
    op.create_table(
        "seasons",
        sa.Column("series_id", _TEXT, nullable=False),
        sa.Column("number", _INTEGER, nullable=False),
        sa.Column("phase", _TEXT, nullable=False),
        sa.Column("began", sa.DateTime(), nullable=False),
        sa.Column("ended", sa.DateTime(), nullable=True),
        sa.Column("next_at", sa.DateTime(), nullable=True),
        sa.Column("tournament_id", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(["series_id"], ["season_series.id"], name=op.f("fk_seasons_series_id")),
        sa.PrimaryKeyConstraint("series_id", "number", name=op.f("pk_seasons")),
    )
    op.create_table(
        "season_divisions",
        sa.Column("series_id", _TEXT, nullable=False),
        sa.Column("number", _INTEGER, nullable=False),
        sa.Column("division", _INTEGER, nullable=False),
        sa.Column("ladder_id", _INTEGER, nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_season_divisions_ladder_id")),
        sa.ForeignKeyConstraint(["series_id", "number"], _SEASON, name=op.f("fk_season_divisions_series_id_number")),
        sa.PrimaryKeyConstraint("series_id", "number", "division", name=op.f("pk_season_divisions")),
        sa.UniqueConstraint("ladder_id", name=op.f("uq_season_divisions_ladder_id")),
    )
    op.create_table(
        "season_bots",
        sa.Column("series_id", _TEXT, nullable=False),
        sa.Column("number", _INTEGER, nullable=False),
        sa.Column("bot_id", _INTEGER, nullable=False),
        sa.Column("division", _INTEGER, nullable=False),
        sa.Column("seed", _INTEGER, nullable=False),
        sa.Column("is_late", sa.Boolean(), nullable=False),
        sa.Column("has_left", sa.Boolean(), nullable=False),
        sa.Column("place", _INTEGER, nullable=True),
        sa.Column("version_id", _INTEGER, nullable=True),
        sa.Column("rating", sa.Float(), nullable=True),
        sa.Column("matches", _INTEGER, nullable=True),
        sa.Column("next_division", _INTEGER, nullable=True),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_season_bots_bot_id")),
        sa.ForeignKeyConstraint(["series_id", "number"], _SEASON, name=op.f("fk_season_bots_series_id_number")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_season_bots_version_id")),
        sa.PrimaryKeyConstraint("series_id", "number", "bot_id", name=op.f("pk_season_bots")),
    )
    op.create_index(op.f("ix_season_bots_bot_id"), "season_bots", ["bot_id"])
