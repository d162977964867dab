"""PgQueuer's queries for a worker with a number of slots: it takes no job that would wait for a slot here.

PgQueuer is imported late, since only workers need it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pgqueuer.adapters.drivers.psycopg import PsycopgDriver
    from pgqueuer.adapters.persistence.queries import Queries
    from pgqueuer.domain.models import Job
    from pgqueuer.domain.types import QueueEntrypoint, QueueManagerId
    from pgqueuer.ports.repository import EntrypointExecutionParameter

__all__ = ["slotted_queries"]


def slotted_queries(driver: PsycopgDriver, is_full: Callable[[], bool]) -> Queries:
    """Return queries that find no job while `is_full`."""
    from pgqueuer.adapters.persistence.queries import Queries

    class SlottedQueries(Queries):
        """Queries of a worker."""

        async def dequeue(
            self,
            batch_size: int,
            entrypoints: dict[QueueEntrypoint, EntrypointExecutionParameter],
            queue_manager_id: QueueManagerId,
            global_concurrency_limit: int | None,
            heartbeat_timeout: timedelta,
        ) -> list[Job]:
            """Take jobs, unless all slots are in use."""
            if is_full():
                return []
            return await super().dequeue(
                batch_size, entrypoints, queue_manager_id, global_concurrency_limit, heartbeat_timeout
            )

        async def eligible_queued_work(self, entrypoints: list[QueueEntrypoint]) -> int:
            """Count the jobs that could be taken now."""
            return 0 if is_full() else await super().eligible_queued_work(entrypoints)

        async def queued_work(self, entrypoints: list[QueueEntrypoint]) -> int:
            """Count the jobs that could be taken now or later."""
            return 0 if is_full() else await super().queued_work(entrypoints)

    return SlottedQueries(driver)
