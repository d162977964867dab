"""The script that Alembic runs: it migrates the connection that `cutpurse.leaderboard.schema` passes."""

from alembic import context

from cutpurse.leaderboard.models import Base

# Batch mode, because SQLite cannot alter a column: Alembic creates a new table instead.
context.configure(
    connection=context.config.attributes["connection"], target_metadata=Base.metadata, render_as_batch=True
)
context.run_migrations()
