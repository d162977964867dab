"""The queue between the server and its workers: a port of four methods, and PgQueuer behind it.

A job is the ID of a match and nothing else. The server puts it into the queue in the transaction that stores the work.
A job that a worker does not finish is delivered again once the worker has shown no sign of life for HEARTBEAT_S. The
name of the jobs has a number, which goes up when a job means something else, so that other versions never see it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol

from sqlalchemy import Connection, inspect

if TYPE_CHECKING:
    import psycopg
    from pgqueuer.core.qm import QueueManager

__all__ = ["QUEUE_GRANTS", "MatchQueue", "PgMatchQueue"]

JOB: Final = "match.v1"
HEARTBEAT_S: Final = 30.0
LOOK_S: Final = 0.5  # seconds between looks at the queue, beside its notifications
PUT_BACK_S: Final = 5.0  # until a job that was put back is delivered again
LOG_DAYS: Final = 7  # jobs stay in the log of the queue

# What the role of workers needs.
QUEUE_GRANTS: Final = (
    "GRANT SELECT, INSERT, UPDATE, DELETE ON pgqueuer, pgqueuer_log, pgqueuer_statistics TO {role}",
    "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",
)


class MatchQueue(Protocol):
    """The queue: the first two methods are the server's, the others a worker's."""

    def install(self, connection: Connection) -> None:
        """Create the tables of the queue in the transaction of `connection`, unless they exist."""

    def put(self, connection: Connection, matches: Sequence[str]) -> None:
        """Add jobs in the transaction of `connection`, except those that are in the queue already."""

    async def take(
        self, play: Callable[[str], Awaitable[None]], at_hand: Callable[[], Collection[str]], slots: int
    ) -> None:
        """Run `play` for each match that is delivered, until `drain` is called or the connection ends.

        A job is finished when its `play` returns while there is a connection. It is put back if its `play` raises.

        Args:
            play: Plays a match.
            at_hand: Returns the matches that this worker has, which are not delivered to others.
            slots: Maximum matches at a time.

        Raises:
            OSError: If the database cannot be reached, or the connection ended.
        """

    def drain(self) -> None:
        """Take no more jobs; `take` returns when those at hand are finished."""


class PgMatchQueue:
    """PgQueuer as a `MatchQueue`."""

    def __init__(self, connect: Callable[[], Awaitable[psycopg.AsyncConnection]] | None = None) -> None:
        """Set up the queue; `connect` opens an autocommit connection for a worker."""
        self._connect = connect
        self._manager: QueueManager | None = None
        self._is_draining = False

    # -- the server's
    def install(self, connection: Connection) -> None:
        """Create the tables of PgQueuer if they are missing, and remove old jobs from its log."""
        from pgqueuer.adapters.persistence.qb import QueryBuilderEnvironment

        if not inspect(connection).has_table("pgqueuer"):
            script = QueryBuilderEnvironment().build_install_query()
            connection.exec_driver_sql(script, execution_options={"no_parameters": True})
        connection.exec_driver_sql(f"DELETE FROM pgqueuer_log WHERE created < now() - interval '{LOG_DAYS} days'")

    def put(self, connection: Connection, matches: Sequence[str]) -> None:
        """Queue a job for each match that has none yet, in the transaction of this connection."""
        from pgqueuer.adapters.persistence.qb import QueryQueueBuilder
        from psycopg import RawCursor

        count = len(matches)
        jobs = ([0] * count, [JOB] * count, [name.encode() for name in matches], [timedelta()] * count)
        driver = connection.connection.driver_connection
        with RawCursor(driver) as cursor:  # type: ignore[arg-type]  # psycopg's own connection
            cursor.execute(
                QueryQueueBuilder().build_enqueue_query("skip").encode(), (*jobs, [*matches], [None] * count)
            )

    # -- a worker's
    async def take(
        self, play: Callable[[str], Awaitable[None]], at_hand: Callable[[], Collection[str]], slots: int
    ) -> None:
        """Play matches of the queue until it is drained.  Raises ConnectionError if the database goes away."""
        import psycopg
        from pgqueuer.adapters.drivers.psycopg import PsycopgDriver
        from pgqueuer.core.qm import QueueManager
        from pgqueuer.domain.errors import RetryRequested
        from pgqueuer.domain.models import Job

        from cutpurse.server.parts.workers.slotted_queries import slotted_queries

        assert self._connect is not None
        try:
            connection = await self._connect()
            async with connection:
                await _touch(connection, at_hand())  # first, so that they do not go to others
                if self._is_draining:  # perhaps only since the connection was opened
                    return

                def is_full() -> bool:
                    return max(len(manager.job_context), len(at_hand())) >= slots

                manager = self._manager = QueueManager(slotted_queries(PsycopgDriver(connection), is_full))
                lost = asyncio.create_task(_watch(connection, at_hand))

                @manager.entrypoint(JOB)
                async def deliver(job: Job) -> None:
                    playing = asyncio.ensure_future(play((job.payload or b"").decode()))
                    await asyncio.wait((playing, lost), return_when=asyncio.FIRST_COMPLETED)
                    if playing.done() and not playing.cancelled() and playing.exception() is not None:
                        raise RetryRequested(timedelta(seconds=PUT_BACK_S)) from playing.exception()

                try:
                    await manager.run(
                        batch_size=1,
                        dequeue_timeout=timedelta(seconds=LOOK_S),
                        heartbeat_timeout=timedelta(seconds=HEARTBEAT_S),
                        log_aggregation_interval=timedelta(),
                    )
                finally:
                    self._manager = None
                    lost.cancel()
        except psycopg.OperationalError as problem:
            raise ConnectionError(str(problem)) from None

    def drain(self) -> None:
        """Take no more matches; those that are being played go on."""
        self._is_draining = True
        if self._manager is not None:
            self._manager.shutdown.set()


async def _watch(connection: psycopg.AsyncConnection, at_hand: Callable[[], Collection[str]]) -> None:
    """Return when the connection is lost; until then show that the matches at hand are being played."""
    import psycopg

    beat_at = 0.0
    loop = asyncio.get_running_loop()
    while not connection.closed:
        await asyncio.sleep(LOOK_S)
        if loop.time() >= beat_at and not connection.closed:
            beat_at = loop.time() + HEARTBEAT_S / 3
            with suppress(psycopg.Error):  # if the connection is lost, the next query of the queue reports it
                await _touch(connection, at_hand())


async def _touch(connection: psycopg.AsyncConnection, matches: Collection[str]) -> None:
    """Show that these matches are being played."""
    if matches:
        await connection.execute(
            "UPDATE pgqueuer SET heartbeat = now() WHERE entrypoint = %s AND dedupe_key = ANY(%s)", (JOB, [*matches])
        )
