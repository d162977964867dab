"""Tokens of owners, parents and creation times of versions, and the widening of epochs.

Existing versions get no parent: they were rated as newcomers, and recomputed ratings must stay the same.
"""

import json

import sqlalchemy as sa
from alembic import op

revision = "2"
down_revision = "1"

WIDENING = 0.5  # default of `ratings.TrueSkill`; it had no effect before, because no version had a parent


def upgrade() -> None:
    """Add the table of tokens and the new columns."""
    op.create_table(
        "tokens",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("owner_id", sa.Integer(), nullable=False),
        sa.Column("scopes", sa.String(), nullable=False),
        sa.Column("label", sa.String(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("expires", sa.DateTime(), nullable=True),
        sa.Column("revoked", sa.DateTime(), nullable=True),
        sa.Column("last_used", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["owner_id"], ["owners.id"], name=op.f("fk_tokens_owner_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tokens")),
    )
    with op.batch_alter_table("versions") as versions:
        versions.add_column(sa.Column("parent_id", sa.Integer(), nullable=True))
        versions.add_column(sa.Column("created", sa.DateTime(), nullable=True))
        versions.create_foreign_key(op.f("fk_versions_parent_id"), "versions", ["parent_id"], ["id"])
    connection = op.get_bind()
    epochs = sa.table("epochs", sa.column("ladder_id"), sa.column("number"), sa.column("settings"))
    for ladder_id, number, settings in connection.execute(sa.select(epochs)).all():
        named = json.dumps({**json.loads(settings), "widening": WIDENING}, separators=(",", ":"), sort_keys=True)
        chosen = (epochs.c.ladder_id == ladder_id) & (epochs.c.number == number)
        connection.execute(sa.update(epochs).where(chosen).values(settings=named))
