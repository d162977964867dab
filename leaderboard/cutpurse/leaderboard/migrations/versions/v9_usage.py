"""What bots report that they used, such as the tokens of a language model, and the term for outages of models."""

import sqlalchemy as sa
from alembic import op

revision = "9"
down_revision = "8"

_INTEGER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table, which is empty because older servers stored no usage, and the term, which no ladder has."""
    op.add_column("ladders", sa.Column("voids_outages", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_table(
        "usages",
        sa.Column("match_number", _INTEGER, nullable=False),
        sa.Column("seat", _INTEGER, nullable=False),
        sa.Column("ladder_id", _INTEGER, nullable=False),
        sa.Column("version_id", _INTEGER, nullable=False),
        sa.Column("input_tokens", _INTEGER, nullable=False),
        sa.Column("output_tokens", _INTEGER, nullable=False),
        sa.Column("cost_micros", _INTEGER, nullable=False),
        sa.Column("fallbacks", _INTEGER, nullable=False),
        sa.Column("model", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(
            ["match_number", "seat"],
            ["seats.match_number", "seats.seat"],
            name=op.f("fk_usages_match_number_seat"),
        ),
        sa.PrimaryKeyConstraint("match_number", "seat", name=op.f("pk_usages")),
    )
    op.create_index(op.f("ix_usages_ladder_id_version_id"), "usages", ["ladder_id", "version_id"])
