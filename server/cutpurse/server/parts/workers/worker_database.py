"""A worker's connections to the league's database: it takes matches, hands them back, and fetches files of bots.

Each call uses one connection, which is opened again after a failure. A call that may have happened is repeated, since
its answer is the same then. This module knows no queue and no match.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final, NamedTuple, TypeVar

import psycopg

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard.address import libpq_address
from cutpurse.leaderboard.databases import find_database
from cutpurse.leaderboard.schema import check_schema
from cutpurse.server.logs import Logger

__all__ = ["TakenMatch", "WorkerDatabase"]

CONNECT_S: Final = 5
FIRST_WAIT_S: Final = 0.5  # before the first retry; doubled each time
LONGEST_WAIT_S: Final = 10.0

# What libpq and PostgreSQL say of a database that starts or stops, and of an address that is wrong.
_COMING: Final = ("starting up", "shutting down", "recovery", "not yet accept")
_WRONG_ADDRESS: Final = ("failed to resolve", "could not translate host name", "invalid response")

Answer = TypeVar("Answer")


class TakenMatch(NamedTuple):
    """The answer to a worker that wants a match.

    Args:
        outcome: "taken", "yours" (it has it already), "lost" (another had it), "over", or "other version".
        task: The task; for "other version" the version that is needed.
        seed: Seed of the deal.
    """

    outcome: str
    task: str
    seed: bytes


class WorkerDatabase:
    """The league's database, as a worker may use it."""

    def __init__(self, address: str, name: str, log: Logger) -> None:
        """Connect when needed.

        Args:
            address: postgresql://...
            name: Name of the worker, unique to this process.
            log: The worker's log.
        """
        self._address = libpq_address(address)
        self._name = name
        self._log = log
        self._connection: psycopg.AsyncConnection | None = None
        self._turn = asyncio.Lock()

    async def reach(self, say: Callable[[str], None]) -> None:
        """Wait until the database can be reached.

        Args:
            say: Called once with the reason, if it is away.

        Raises:
            CutpurseError: If it refuses this user, or no database will ever be at this address.
        """
        wait_s, is_said = FIRST_WAIT_S, False
        while self._connection is None:
            try:
                self._connection = await self.connect()
            except psycopg.Error as problem:
                text = f"the leaderboard {find_database(self._address).address}: {_line(problem)}"
                if not _is_away(problem):
                    raise CutpurseError(text) from None
                if not is_said:
                    say(f"{text}; trying again")
                is_said = True
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, LONGEST_WAIT_S)

    def check(self) -> None:
        """Check that this is a league of this version with something for workers.

        Raises:
            LeaderboardError: If the database cannot be reached, or has another schema.
            CutpurseError: If it has no matches for workers, or this role may not take them.
        """
        database = find_database(self._address)
        engine = database.open_for_reading(CONNECT_S)
        try:
            with engine.connect() as connection:
                check_schema(connection, database.address)
                query = "SELECT has_function_privilege(to_regprocedure('take_match_v1(text,text,text)'), 'EXECUTE')"
                may = connection.exec_driver_sql(query).scalar()
        except psycopg.Error as problem:
            raise CutpurseError(f"the leaderboard {database.address}: {_line(problem)}") from None
        except Exception as problem:
            explain = getattr(problem, "orig", None)
            if explain is None:
                raise
            raise database.explain(problem) from None  # type: ignore[arg-type]  # an error of SQLAlchemy
        finally:
            engine.dispose()
        if may is None:
            raise CutpurseError(
                f"the leaderboard {database.address} has nothing for workers yet; "
                "create a ladder for them first: cutpurse ladder create NAME --hosted"
            )
        if not may:
            raise CutpurseError(
                f"the leaderboard {database.address}: this user may not take matches; "
                "grant it the rights of a worker, as docs/how-to/add_machines.md says"
            )

    async def connect(self) -> psycopg.AsyncConnection:
        """Open another connection, for a queue."""
        return await psycopg.AsyncConnection.connect(
            self._address,
            autocommit=True,
            connect_timeout=CONNECT_S,
            application_name=f"cutpurse worker {self._name}"[:63],
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
            tcp_user_timeout=30_000,
        )

    async def take(self, match: str, code: str) -> TakenMatch:
        """Take a match, unless another worker has it."""
        query = "SELECT outcome, task, seed FROM take_match_v1(%s, %s, %s)"
        row = await self._repeated(lambda connection: _row(connection, query, (match, self._name, code)))
        outcome, task, seed = row
        return TakenMatch(outcome, task or "", bytes(seed or b""))

    async def hand_back(self, match: str, report: bytes) -> bool:
        """Hand back the report of a match; return whether it is accepted."""
        query = "SELECT hand_back_v1(%s, %s, %s)"
        row = await self._repeated(lambda connection: _row(connection, query, (match, self._name, report)))
        return bool(row[0])

    async def fetch(self, digest: bytes) -> bytes:
        """Return packed files.

        Raises:
            OSError: If they are not stored.
        """
        query = "SELECT (SELECT content FROM archives WHERE digest = %s)"
        row = await self._repeated(lambda connection: _row(connection, query, (digest,)))
        if row[0] is None:
            raise FileNotFoundError("its files are not in the database")
        return bytes(row[0])

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()

    async def _repeated(self, call: Callable[[psycopg.AsyncConnection], Awaitable[Answer]]) -> Answer:
        """Make a call until the database answers."""
        wait_s = FIRST_WAIT_S
        while True:
            async with self._turn:
                try:
                    if self._connection is None:
                        self._connection = await self.connect()
                    return await call(self._connection)
                except (psycopg.OperationalError, psycopg.InterfaceError) as problem:
                    self._log.warning("database not reached", text=_line(problem), again_in_s=wait_s)
                    if self._connection is not None:
                        await self._connection.close()
                        self._connection = None
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, LONGEST_WAIT_S)


async def _row(connection: psycopg.AsyncConnection, query: str, values: tuple[object, ...]) -> tuple[Any, ...]:
    cursor = await connection.execute(query.encode(), values)
    row = await cursor.fetchone()
    assert row is not None
    return row


def _is_away(problem: psycopg.Error) -> bool:
    """Return whether a failed connection may succeed later: nothing answered, or a database that starts or stops."""
    text = str(problem)
    if "FATAL" in text:
        return any(words in text for words in _COMING)
    return isinstance(problem, psycopg.OperationalError) and not any(words in text for words in _WRONG_ADDRESS)


def _line(problem: Exception) -> str:
    return next((line.strip() for line in str(problem).splitlines() if line.strip()), type(problem).__name__)
