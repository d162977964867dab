"""Connections to a leaderboard in PostgreSQL, and explanations of its errors.

One session writes. It holds an advisory lock of the database as long as it lives, so the right to write and the
transactions that need it end together: a process whose session was lost must take the lock again before it writes, and
cannot if another process has it. Readers see a snapshot and cannot write. A commit returns when the server has it on
its disk.

Several arenas share that lock, and each of their transactions begins with a second one. So transactions write one after
the other, and each sees what the one before it has written, as if one process wrote all. A process that stops within a
transaction would hold up all others, so the server ends its session after `SHARED_IDLE_S`. PostgreSQL does that between
two statements, but not while it waits for the rest of several that are sent together: then an arena that waits for the
second lock ends the session that holds it. An arena that opens the database alone holds the lock for itself until it
has upgraded the schema; one that stops meanwhile loses its session after `OPENING_IDLE_S`, so that others can start.
This module knows no table.
"""

from __future__ import annotations

import os
import re
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from cutpurse.leaderboard.address import libpq_address, without_password
from cutpurse.leaderboard.database import READERS, Database, WriteAccess
from cutpurse.leaderboard.errors import InUse, LeaderboardError, NoSuchEntry, StoreError

__all__ = ["OLDEST_SERVER", "PostgresqlDatabase"]

OLDEST_SERVER: Final = 14  # the first version that waits for the end of a session that it terminates
LOCK: Final = int.from_bytes(b"cutpurse", "big")  # key of the advisory lock
CONNECT_S: Final = 5  # maximum seconds to connect to one address
STATEMENT_S: Final = 30  # maximum seconds of a statement of the writer; a batch of results takes about 0.2 s
IDLE_S: Final = 60  # maximum seconds of a transaction without a statement: its locks stop other sessions
OPENING_IDLE_S: Final = 10  # maximum seconds without a statement while an arena opens the database alone
TERMINATE_MS: Final = 5_000  # maximum wait for the end of an own session that was lost
WRITE_LOCK: Final = LOCK + 1  # key of the advisory lock of each transaction of an arena
# The same for arenas, which wait for each other. Both are well below the time of a lease.
SHARED_STATEMENT_S: Final = 5
SHARED_IDLE_S: Final = 3
_NAME_LENGTH: Final = 63  # bytes of an application name
_URL: Final = "postgresql+psycopg://"

_BEGIN: Final = """
SELECT current_setting('transaction_read_only') = 'on', current_setting('server_encoding'),
  set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), false),
  set_config('lock_timeout', %(lock_timeout)s, false), set_config('statement_timeout', %(statement_timeout)s, false),
  set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, false),
  set_config('idle_session_timeout', %(session_timeout)s, false)
"""
_TIMES: Final = """
SELECT set_config('lock_timeout', %(lock_timeout)s, false),
  set_config('statement_timeout', %(statement_timeout)s, false),
  set_config('idle_in_transaction_session_timeout', %(idle_timeout)s, false),
  set_config('idle_session_timeout', %(session_timeout)s, false)
"""
_TAKE: Final = "SELECT pg_advisory_lock(%s)"
_TAKE_SHARED: Final = "SELECT pg_advisory_lock_shared(%s)"
_SHARE: Final = "SELECT pg_advisory_lock_shared(%(lock)s), pg_advisory_unlock(%(lock)s)"
# A session of the same name is this process's own, which was lost on this side only.
_END_LOST: Final = """
SELECT pg_terminate_backend(pid, %(wait_ms)s) FROM pg_stat_activity
WHERE application_name = %(name)s AND datname = current_database() AND pid <> pg_backend_pid()
"""
_HOLDER: Final = """
SELECT sessions.application_name FROM pg_locks JOIN pg_stat_activity AS sessions USING (pid)
WHERE locktype = 'advisory' AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = %(high)s AND objid = %(low)s AND objsubid = 1 AND granted
"""
# A session that holds the lock and has waited for its process for too long. While statements come together, PostgreSQL
# applies no limit of its own to that; it may call the session active, or idle if a request to flush came last.
_END_STOPPED: Final = f"""
SELECT pg_terminate_backend(pid) FROM pg_locks JOIN pg_stat_activity AS sessions USING (pid)
WHERE locktype = 'advisory' AND pg_locks.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = {WRITE_LOCK >> 32} AND objid = {WRITE_LOCK & 0xFFFFFFFF} AND objsubid = 1 AND granted
  AND wait_event = 'ClientRead' AND clock_timestamp() - state_change > make_interval(secs => %(s)s)
"""

# Beginnings of a SQLSTATE that are failures of the database: connection, transaction state and rollback, resources,
# operator intervention, system, internal, missing rights and missing tables.
_FAILURES: Final = ("08", "25", "40", "53", "55", "57", "58", "F0", "XX", "42501", "42P01")
_RACE: Final = "uq_boards_ladder_id_sequence"  # a board was rated by another process meanwhile
# Advice by the beginning of the SQLSTATE, the longest first.
_ADVICE: Final = {
    "25006": "it is read-only: name the primary server, not a standby",
    "28": "check the user, and the password in $PGPASSWORD or ~/.pgpass",
    "3D": "create it first: createdb",
    "42501": "give this user the right to create and write tables there",
    "42P01": "it is no leaderboard, or another schema comes first in its search_path",
    "53100": "free some space on the server; you can retry the same write",
    "53300": "allow more connections with max_connections, or a smaller pool",
    "55P03": "another session holds a lock on it; you can retry the same write",
    "57014": "the server is slow or locked; you can retry the same write",
    "57P05": "this process stood still while it opened the leaderboard; start it again",
    "57P": "the server is stopping or starting; you can retry the same write",
    "": "check that the server runs and can be reached; you can retry the same write",
}
# The same by words in the message of a rejected connection, which has no SQLSTATE.
_REJECTED: Final = {
    "role": "28",
    "password": "28",
    "authentication": "28",
    "does not exist": "3D",
    "too many": "53300",
    "starting up": "57P",
    "shutting down": "57P",
}


class PostgresqlDatabase(Database):
    """A database on a PostgreSQL server."""

    def __init__(self, address: str) -> None:
        """Check the address, without connecting.  Raises StoreError."""
        address = libpq_address(address)
        try:
            parts = conninfo_to_dict(address)
            if "@" in str(parts.get("host", ""))[1:]:  # the rest of a password with an @
                raise psycopg.ProgrammingError
        except psycopg.ProgrammingError:  # its text may contain the password
            raise StoreError(
                "this PostgreSQL address cannot be read; write postgresql://USER@HOST:PORT/DATABASE, with the password "
                "in $PGPASSWORD or ~/.pgpass, and other characters than letters and digits as %XX"
            ) from None
        self._given = address
        self.address = without_password(address)
        self.beside = Path(str(parts.get("dbname") or parts.get("user") or "league").replace("/", "_")).absolute()
        password = parts.get("password")
        self.environment: Mapping[str, str] = {} if password is None else {"PGPASSWORD": str(password)}

    def exists(self) -> bool:
        """Return True: the server is asked when it is opened."""
        return True

    def open_for_reading(self, busy_timeout_s: float) -> Engine:
        """Create an engine whose transactions are read-only, with the isolation level REPEATABLE READ."""

        def connect() -> psycopg.Connection[Any]:
            connection = self._connect(f"cutpurse reader {os.getpid()}")
            connection.read_only = True
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            return connection

        return create_engine(
            _URL,
            creator=connect,
            poolclass=QueuePool,
            pool_size=READERS,
            max_overflow=0,
            pool_pre_ping=True,  # a restart of the server must not fail the next query
            use_native_hstore=False,
        )

    def open_for_writing(self, busy_timeout_s: float, *, is_shared: bool = False) -> WriteAccess:
        """Take the advisory lock.  Raises InUse if another process has it, and StoreError."""
        return _Session(self, busy_timeout_s, is_shared)

    def is_failure(self, error: DBAPIError) -> bool:
        """Return whether the server failed, by the class of its SQLSTATE; lost connections have none."""
        cause = error.orig
        if not isinstance(cause, psycopg.Error):
            return False
        if isinstance(cause, psycopg.errors.UniqueViolation) and cause.diag.constraint_name == _RACE:
            return True
        if cause.sqlstate is None:
            return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)
        return cause.sqlstate.startswith(_FAILURES)

    def explain(self, error: SQLAlchemyError) -> LeaderboardError:
        """Explain an error in one line."""
        cause: object = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
        said = next((line.strip() for line in str(cause).splitlines() if line.strip()), type(cause).__name__)
        if isinstance(cause, psycopg.DataError) and "NUL" in said:
            return NoSuchEntry("nothing has a name with a NUL character")
        advice = _advice(cause, said) if isinstance(cause, psycopg.Error) else None
        return StoreError(f"the leaderboard {self.address}: {said}{f'; {advice}' if advice else ''}")

    def _connect(self, application_name: str) -> psycopg.Connection[Any]:
        connection = psycopg.connect(
            self._given,
            connect_timeout=CONNECT_S,
            application_name=application_name,
            keepalives_idle=10,
            keepalives_interval=5,
            keepalives_count=3,
            tcp_user_timeout=30_000,
        )
        if connection.info.server_version < OLDEST_SERVER * 10_000:
            connection.close()
            raise StoreError(f"the leaderboard {self.address}: PostgreSQL {OLDEST_SERVER} or newer is needed")
        return connection


class _Session(WriteAccess):
    """The session that writes; a lost one is replaced by the next transaction, if the lock is free then."""

    def __init__(self, database: PostgresqlDatabase, busy_timeout_s: float, is_shared: bool) -> None:
        """Connect and take the lock.  Raises InUse and StoreError."""
        self._database = database
        self._busy_timeout_s = busy_timeout_s
        self._is_shared = is_shared
        self._is_opening = True
        self.is_alone = True  # until the lock is asked for
        name = f"cutpurse {os.getpid()} {secrets.token_hex(4)} {socket.gethostname()}"
        self._name = name.encode()[:_NAME_LENGTH].decode("ascii", "ignore")
        self.engine = create_engine(
            _URL,
            creator=self._connect,
            poolclass=QueuePool,
            pool_size=1,
            max_overflow=0,
            use_native_hstore=False,
        )
        if is_shared:
            _begin_with_lock(self.engine)
        try:
            self.engine.connect().close()
        except SQLAlchemyError as error:
            raise database.explain(error) from None

    def check(self) -> None:
        """Do nothing: the session itself is bound to its database."""

    def settle(self) -> None:
        """Hold the lock: then no earlier session of this process is still committing."""
        with self.engine.connect() as connection:
            if self._is_shared:
                connection.begin()

    def share(self) -> None:
        """Hold the lock with others from now on, if it is to be shared.  Raises StoreError."""
        if not self._is_shared:
            return
        self._is_opening = False
        try:
            with self.engine.begin() as connection:
                if self.is_alone:
                    connection.exec_driver_sql(_SHARE, {"lock": LOCK})
                connection.exec_driver_sql(_TIMES, self._times())
        except SQLAlchemyError as error:
            raise self._database.explain(error) from None

    def release(self) -> None:
        """End the session, and with it the lock."""
        self.engine.dispose()

    def _connect(self) -> psycopg.Connection[Any]:
        connection = self._database._connect(self._name)
        try:
            connection.autocommit = True
            self._take(connection)
            connection.autocommit = False
        except BaseException:
            connection.close()
            raise
        return connection

    def _take(self, connection: psycopg.Connection[Any]) -> None:
        row = connection.execute(_BEGIN, self._times()).fetchone()
        assert row is not None
        is_read_only, encoding, *_ = row
        address = self._database.address
        if is_read_only:
            raise StoreError(f"the leaderboard {address}: {_ADVICE['25006']}")
        if encoding != "UTF8":
            raise StoreError(
                f"the leaderboard {address}: its encoding is {encoding}, and UTF8 is needed; "
                "create another database: createdb --encoding=UTF8 --template=template0"
            )
        connection.execute(_END_LOST, {"name": self._name, "wait_ms": TERMINATE_MS})
        if self._is_shared and self._is_opening:
            row = connection.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone()
            self.is_alone = row is not None and bool(row[0])
            if self.is_alone:
                return
            connection.execute(_TIMES, self._times())
        try:
            connection.execute(_TAKE_SHARED if self._is_shared else _TAKE, (LOCK,))
        except psycopg.errors.LockNotAvailable:
            holder = connection.execute(_HOLDER, {"high": LOCK >> 32, "low": LOCK & 0xFFFFFFFF}).fetchone()
            raise InUse(address, None if holder is None else _describe(*holder)) from None

    def _times(self) -> dict[str, str]:
        """Return the settings of the session that limit its waits."""
        is_alone = self._is_opening and self.is_alone
        is_shared = self._is_shared and not is_alone  # an upgrade may take long
        return {
            "lock_timeout": f"{max(1, round(1_000 * self._busy_timeout_s))}ms",
            "statement_timeout": f"{SHARED_STATEMENT_S if is_shared else STATEMENT_S}s",
            "idle_timeout": f"{SHARED_IDLE_S if is_shared else IDLE_S}s",
            "session_timeout": f"{round(1_000 * OPENING_IDLE_S) if self._is_shared and is_alone else 0}ms",
        }


def _begin_with_lock(engine: Engine) -> None:
    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        if not connection.exec_driver_sql("SELECT pg_try_advisory_xact_lock(%s)", (WRITE_LOCK,)).scalar_one():
            connection.exec_driver_sql(_END_STOPPED, {"s": SHARED_IDLE_S})
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(%s)", (WRITE_LOCK,))


def _describe(application_name: str | None) -> str | None:
    """Describe the process that holds the lock, as it named itself."""
    match = re.fullmatch(r"cutpurse (\d+) [0-9a-f]{8} (.+)", application_name or "")
    return f"process {match[1]} on {match[2]}" if match else None


def _advice(cause: psycopg.Error, said: str) -> str | None:
    state = cause.sqlstate or ""
    if not state:  # libpq does not pass on the SQLSTATE of a rejected connection
        if not isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError):
            return None
        return _ADVICE[next((known for words, known in _REJECTED.items() if words in said), "")]
    return next((_ADVICE[state[:length]] for length in range(len(state), 0, -1) if state[:length] in _ADVICE), None)
