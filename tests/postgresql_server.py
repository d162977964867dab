"""A PostgreSQL server for tests: real, its own, and removed at the end.

It is run by another user where the tests are run by root, which PostgreSQL refuses. Texts are sorted by English rules
unless a column says otherwise, so that a test fails where the code relies on the order of code points.
"""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
from pathlib import Path

from tests.ports import free_port

__all__ = ["MISSING", "PostgresqlServer", "programs"]

MISSING = "PostgreSQL 15 or newer is not installed here: apt-get install postgresql"
_READY = b"database system is ready to accept connections"


def programs() -> Path | None:
    """Return the folder of the newest installed PostgreSQL, None if there is none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found and int(found[-1].parts[-3]) >= 15:
        return found[-1].parent
    here = shutil.which("initdb")
    return None if found or here is None else Path(here).resolve().parent


class PostgresqlServer:
    """A server on a free port of this machine, until `stop`."""

    def __init__(self, programs: Path) -> None:
        """Create the files and start the server.

        Args:
            programs: Folder of `initdb` and `postgres`.
        """
        self._programs = programs
        self._free: list[str] = []
        self._folder = Path(tempfile.mkdtemp(prefix="cutpurse-postgresql-"))
        self._user: dict[str, object] = {}
        if os.getuid() == 0:
            shutil.chown(self._folder, "postgres", "postgres")
            self._user = {"user": "postgres", "group": "postgres", "extra_groups": []}
        self.port = free_port()
        subprocess.run(
            [
                programs / "initdb",
                *("--pgdata", self._folder / "data", "--username", "league", "--auth", "trust", "--no-sync"),
                *("--encoding", "UTF8", "--locale", "C.UTF-8", "--locale-provider", "icu", "--icu-locale", "en"),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self._folder,
            **self._user,  # type: ignore[call-overload]  # empty or three known arguments
        )
        self._process: subprocess.Popen[bytes] | None = None
        self.start()

    def start(self) -> None:
        """Start the server, and wait until it accepts connections."""
        while self._process is None:
            # Of a killed server the last processes may still end; until then the new one stops at once.
            process = subprocess.Popen(
                [
                    self._programs / "postgres",
                    *("-D", self._folder / "data", "-h", "127.0.0.1", "-p", str(self.port), "-k", self._folder),
                    # The files survive a kill, and no test switches the machine off.
                    *("-c", "fsync=off", "-c", "shared_buffers=32MB", "-c", "max_connections=60"),
                ],
                stderr=subprocess.PIPE,
                cwd=self._folder,
                **self._user,  # type: ignore[call-overload]
            )
            assert process.stderr is not None
            if any(_READY in line for line in process.stderr):
                self._process = process
                self._log = threading.Thread(target=process.stderr.read, daemon=True)  # else its pipe would fill
                self._log.start()
            else:
                process.stderr.close()
                process.wait()

    def kill(self) -> None:
        """End the server by SIGKILL, as if its machine had lost power, but with all that it has written."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._ended()

    def kill_session(self, pid: int) -> None:
        """End the process of a session by SIGKILL, after which the server ends all sessions and recovers."""
        os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """Stop the server and delete its files."""
        if self._process is not None:
            self._process.send_signal(signal.SIGQUIT)
            self._ended()
        shutil.rmtree(self._folder)

    def _ended(self) -> None:
        assert self._process is not None
        assert self._process.stderr is not None
        self._process.wait()
        self._log.join()
        self._process.stderr.close()
        self._process = None

    def create(self) -> str:
        """Create an empty database, or take one that was freed, and return its address."""
        import psycopg  # not installed where only players are tested

        if self._free:
            return self._free.pop()
        name = f"league_{secrets.token_hex(6)}"
        with psycopg.connect(self.address("postgres"), autocommit=True) as connection:
            connection.execute(f'CREATE DATABASE "{name}"'.encode())
        return self.address(name)

    def free(self, address: str) -> None:
        """Delete the tables of a database, so that it can be taken again: that is faster than another database."""
        import psycopg

        with psycopg.connect(address) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        self._free.append(address)

    def address(self, name: str, user: str = "league") -> str:
        """Return the address of a database."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{name}"
