"""The first schema."""

import sqlalchemy as sa
from alembic import op

revision = "1"
down_revision = None


def upgrade() -> None:
    """Create every table."""
    op.create_table(
        "ladders",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("game", sa.String(), nullable=False),
        sa.Column("settings", sa.String(), nullable=False),
        sa.Column("seats", sa.Integer(), nullable=False),
        sa.Column("clock", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_ladders")),
        sa.UniqueConstraint("name", name=op.f("uq_ladders_name")),
    )
    op.create_table(
        "owners",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_owners")),
        sa.UniqueConstraint("name", name=op.f("uq_owners_name")),
    )
    op.create_table(
        "bots",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_bots_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bots")),
        sa.UniqueConstraint("owner_id", "name", name=op.f("uq_bots_owner_id_name")),
    )
    op.create_table(
        "epochs",
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("settings", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_epochs_ladder_id")),
        sa.PrimaryKeyConstraint("ladder_id", "number", name=op.f("pk_epochs")),
    )
    op.create_table(
        "boards",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=True),
        sa.Column("epoch", sa.Integer(), nullable=True),
        sa.Column("commitment", sa.LargeBinary(), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.Column("params", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ladder_id", "epoch"], ["epochs.ladder_id", "epochs.number"], name=op.f("fk_boards_ladder_id_epoch")
        ),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_boards_ladder_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_boards")),
        sa.UniqueConstraint("ladder_id", "sequence", name=op.f("uq_boards_ladder_id_sequence")),
    )
    op.create_table(
        "versions",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("bot_id", sa.Integer(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_versions_bot_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_versions")),
        sa.UniqueConstraint("bot_id", "label", name=op.f("uq_versions_bot_id_label")),
    )
    op.create_table(
        "matches",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("board_id", sa.String(), nullable=False),
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("rules", sa.String(), nullable=False),
        sa.Column("started", sa.DateTime(), nullable=False),
        sa.Column("finished", sa.DateTime(), nullable=False),
        sa.Column("decisions", sa.Integer(), nullable=False),
        sa.Column("void_cause", sa.String(), nullable=True),
        sa.Column("record", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(["board_id"], ["boards.id"], name=op.f("fk_matches_board_id")),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_matches_ladder_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_matches")),
        sa.UniqueConstraint("board_id", name=op.f("uq_matches_board_id")),
        sa.UniqueConstraint("id", name=op.f("uq_matches_id")),
    )
    op.create_index(op.f("ix_matches_ladder_id_number"), "matches", ["ladder_id", "number"])

    op.create_table(
        "rating_changes",
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("mu_before", sa.Float(), nullable=False),
        sa.Column("sigma_before", sa.Float(), nullable=False),
        sa.Column("mu_after", sa.Float(), nullable=False),
        sa.Column("sigma_after", sa.Float(), nullable=False),
        sa.ForeignKeyConstraint(
            ["ladder_id", "sequence"],
            ["boards.ladder_id", "boards.sequence"],
            name=op.f("fk_rating_changes_ladder_id_sequence"),
        ),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_rating_changes_version_id")),
        sa.PrimaryKeyConstraint("ladder_id", "sequence", "version_id", name=op.f("pk_rating_changes")),
    )
    op.create_table(
        "ratings",
        sa.Column("ladder_id", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("mu", sa.Float(), nullable=False),
        sa.Column("sigma", sa.Float(), nullable=False),
        sa.Column("matches", sa.Integer(), nullable=False),
        sa.Column("wins", sa.Integer(), nullable=False),
        sa.Column("faulted", sa.Integer(), nullable=False),
        sa.Column("sequence", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_ratings_ladder_id")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_ratings_version_id")),
        sa.PrimaryKeyConstraint("ladder_id", "version_id", name=op.f("pk_ratings")),
    )
    op.create_table(
        "seats",
        sa.Column("match_number", sa.Integer(), nullable=False),
        sa.Column("seat", sa.Integer(), nullable=False),
        sa.Column("version_id", sa.Integer(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=True),
        sa.Column("score", sa.Integer(), nullable=True),
        sa.Column("end_cause", sa.String(), nullable=False),
        sa.Column("faults", sa.Integer(), nullable=False),
        sa.Column("thinking_ms", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["match_number"], ["matches.number"], name=op.f("fk_seats_match_number")),
        sa.ForeignKeyConstraint(["version_id"], ["versions.id"], name=op.f("fk_seats_version_id")),
        sa.PrimaryKeyConstraint("match_number", "seat", name=op.f("pk_seats")),
    )
    op.create_index(op.f("ix_seats_version_id_match_number_place"), "seats", ["version_id", "match_number", "place"])
