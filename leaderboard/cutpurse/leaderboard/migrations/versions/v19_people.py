"""The term that lets people play on a ladder, and the bot name that is theirs from now on."""

import sqlalchemy as sa
from alembic import op

revision = "19"
down_revision = "18"


def upgrade() -> None:
    """Add the column; no existing ladder admits people. A program that has the name of a person gets another one."""
    op.add_column("ladders", sa.Column("admits_people", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.execute("UPDATE bots SET name = 'person.' || id WHERE name = 'person'")
    op.execute(
        "UPDATE submissions SET is_active = false, state = 'taken_off', "
        "why = 'the name person is kept for people; submit the bot under another one' "
        "WHERE bot = 'person' AND is_active"
    )
