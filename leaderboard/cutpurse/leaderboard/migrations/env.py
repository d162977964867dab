"""Run by alembic: carries out migrations on the connection that `cutpurse.leaderboard.schema` hands over."""

from alembic import context

from cutpurse.leaderboard.models import Base

# As a batch: SQLite cannot change a column, so the table is made anew.
context.configure(
    connection=context.config.attributes["connection"], target_metadata=Base.metadata, render_as_batch=True
)
context.run_migrations()
