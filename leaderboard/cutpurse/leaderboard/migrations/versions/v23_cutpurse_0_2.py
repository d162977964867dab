"""The bridge from Cutpurse 0.2: a database of its last schema, 22, goes on with all that is in it."""

from typing import Any

from alembic import op
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from cutpurse.leaderboard.errors import StoreError
from cutpurse.leaderboard.migrations.versions.v22_first_tables import FIRST

revision = "23"
down_revision = "22"


def upgrade() -> None:
    """Check that the tables are those of schema 22, which stay.  Raises StoreError."""
    context = MigrationContext.configure(op.get_bind(), opts={"include_name": _is_compared})
    if changes := compare_metadata(context, FIRST):
        names = ", ".join(sorted({_table_of(change) for change in changes}))
        raise StoreError(
            f"says that it has schema {down_revision}, but differs from it in {names}: "
            "it is damaged or half upgraded; restore it from a backup"
        )


def _is_compared(name: str | None, kind: str, parents: Any) -> bool:
    """Return whether a part of the database is compared; tables of other programs, such as a queue, are not."""
    return kind != "table" or name in FIRST.tables


def _table_of(change: Any) -> str:
    """Return the table of a change: (kind, table), (kind, schema, table, column), (kind, constraint) or a list."""
    if isinstance(change, list):
        return str(change[0][2])
    kind, *parts = change
    if kind.endswith("_column"):
        return str(parts[1])
    return str(parts[0].name if kind.endswith("_table") else parts[0].table.name)
