"""Receivers of notices, the notices that wait for their delivery, and who overtook whom lately."""

import sqlalchemy as sa
from alembic import op

revision = "12"
down_revision = "11"

_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")
_COUNT = sa.Integer().with_variant(sa.BigInteger(), "postgresql")


def upgrade() -> None:
    """Add the tables, which are empty."""
    op.create_table(
        "receivers",
        sa.Column("id", _COUNT, nullable=False),
        sa.Column("owner_id", _COUNT, nullable=False),
        sa.Column("kind", _TEXT, nullable=False),
        sa.Column("address", _TEXT, nullable=False),
        sa.Column("secret", sa.LargeBinary(), nullable=False),
        sa.Column("events", _TEXT, nullable=False),
        sa.Column("ladders", _TEXT, nullable=False),
        sa.Column("is_host", sa.Boolean(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("waiting", _COUNT, nullable=False),
        sa.Column("delivered", _COUNT, nullable=False),
        sa.Column("missed", _COUNT, nullable=False),
        sa.Column("failures", _COUNT, nullable=False),
        sa.Column("problem", _TEXT, nullable=False),
        sa.Column("failing_since", sa.DateTime(), nullable=True),
        sa.Column("retry_at", sa.DateTime(), nullable=True),
        sa.Column("claimed_until", sa.DateTime(), nullable=True),
        sa.Column("paused", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_receivers_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_receivers")),
    )
    op.create_index(op.f("ix_receivers_owner_id"), "receivers", ["owner_id"])
    op.create_table(
        "outbox",
        sa.Column("number", _COUNT, nullable=False),
        sa.Column("receiver_id", _COUNT, nullable=False),
        sa.Column("event_id", _TEXT, nullable=False),
        sa.Column("body", _TEXT, nullable=False),
        sa.ForeignKeyConstraint(["receiver_id"], ["receivers.id"], name=op.f("fk_outbox_receiver_id")),
        sa.PrimaryKeyConstraint("number", name=op.f("pk_outbox")),
    )
    op.create_index(op.f("ix_outbox_receiver_id_number"), "outbox", ["receiver_id", "number"])
    op.create_table(
        "overtakings",
        sa.Column("ladder_id", _COUNT, nullable=False),
        sa.Column("bot_id", _COUNT, nullable=False),
        sa.Column("other_id", _COUNT, nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["ladder_id"], ["ladders.id"], name=op.f("fk_overtakings_ladder_id")),
        sa.ForeignKeyConstraint(["bot_id"], ["bots.id"], name=op.f("fk_overtakings_bot_id")),
        sa.ForeignKeyConstraint(["other_id"], ["bots.id"], name=op.f("fk_overtakings_other_id")),
        sa.PrimaryKeyConstraint("ladder_id", "bot_id", "other_id", name=op.f("pk_overtakings")),
        sqlite_with_rowid=False,
    )
