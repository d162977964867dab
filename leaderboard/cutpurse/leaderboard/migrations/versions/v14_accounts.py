"""Accounts of a sign-in provider, each linked with one owner."""

import sqlalchemy as sa
from alembic import op

revision = "14"
down_revision = "13"

_INTEGER = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
_TEXT = sa.String().with_variant(sa.String(collation="C"), "postgresql")


def upgrade() -> None:
    """Add the table, which is empty because nobody signed in at a provider."""
    op.create_table(
        "accounts",
        sa.Column("issuer", _TEXT, nullable=False),
        sa.Column("subject", _TEXT, nullable=False),
        sa.Column("owner_id", _INTEGER, nullable=False),
        sa.Column("linked", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_accounts_owner_id")),
        sa.PrimaryKeyConstraint("issuer", "subject", name=op.f("pk_accounts")),
    )
