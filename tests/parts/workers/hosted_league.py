"""A league in PostgreSQL with a hosted ladder: its server and its workers are real processes that can be killed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from cutpurse.engine.clocks import TimeControl
from cutpurse.leaderboard.databases import find_database
from cutpurse.leaderboard.ladders import create_ladders
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.submissions import submissions
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.submissions import NewSubmission
from cutpurse.server.submitted_files import storage_beside
from cutpurse.wire.packing import pack
from tests.growing_log import GrowingLog
from tests.looking import until
from tests.parts.submissions.desks import FIRST, bot_folder

__all__ = ["HostedLeague"]

HEARTBEAT_S = 2.0
START_S = 300.0  # on a busy machine
# The command line, with a heartbeat that makes a lost worker known soon.
QUICK = f"""
import sys
from cutpurse.server.parts.workers import match_queue
match_queue.HEARTBEAT_S = {HEARTBEAT_S}
from cutpurse.cli.main import main
sys.exit(main())
"""
NOW = datetime(2026, 11, 26, tzinfo=UTC)
PATIENT = TimeControl(base_ms=20_000, bank_ms=20_000)


class HostedLeague:
    """A folder and a database with accepted bots; `close` ends all processes."""

    def __init__(self, folder: Path, address: str) -> None:
        """Create the ladder "cloud" for two bots of greed."""
        self.folder = folder
        self.address = address
        self._stack = ExitStack()
        self._workers = 0
        self.server: subprocess.Popen[bytes] | None = None
        self._connection: psycopg.Connection[tuple[Any, ...]] | None = None
        ladder = Ladder(
            "cloud", "greed", 2, {"max_rounds": "20"}, PATIENT, terms=LadderTerms(house=("random",)), is_hosted=True
        )
        with Store(address) as store:
            store.write(create_ladders, [ladder.kept], NOW)

    def add_bot(self, owner: str, name: str, source: str = FIRST) -> None:
        """Add a bot as if it had been submitted, built and checked; the server must not run."""
        made = bot_folder(self.folder / "bots", name=name, source=source)
        content = pack(made).content
        os.chdir(self.folder)  # the files are beside the database, which is the working folder of the server
        storage = Storage(storage_beside(find_database(self.address).beside))
        digest = storage.keep(content)
        shutil.copytree(made, storage.part(digest))
        storage.built(digest)
        storage.close()
        with Store(self.address) as store:
            entry = store.write(
                submissions.hand_in, NewSubmission(owner, name, "1", digest, len(content), ["cloud"]), NOW
            )
            store.write(submissions.accept, entry.id, NOW, "")

    # -- processes
    def start_server(self) -> None:
        """Start the server, and wait until it listens."""
        log = GrowingLog(self.folder / "server.log")
        before = log.count("bots dial in at")
        flags = ("--submissions", "process", "--address", f"unix:{self.folder}/s", "--drain", "1", "--game", "greed")
        self.server = server = self._start("server", ["serve", "--db", self.address, *flags])
        until(lambda: log.count("bots dial in at") > before or server.poll() is not None, "the server listens", START_S)
        assert server.poll() is None, self.said("server")[-2_000:]

    def start_worker(self, *flags: str) -> subprocess.Popen[bytes]:
        """Start a worker with a folder of its own."""
        self._workers += 1
        folder = str(self.folder / f"w{self._workers}")
        options = {"--db": self.address, "--folder": folder, "--runner": "process", "--log-level": "info"}
        options |= dict(zip(flags[::2], flags[1::2], strict=True))
        words = [word for option in options.items() for word in option]
        return self._start(f"worker{self._workers}", ["worker", *words])

    def _start(self, name: str, words: Sequence[str]) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", QUICK, *words],
                cwd=self.folder,
                env={**{key: text for key, text in os.environ.items() if not key.startswith("CUTPURSE_")}},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._stack.callback(end, process)
        return process

    def said(self, name: str) -> str:
        """Return the log of a process."""
        log = self.folder / f"{name}.log"
        return log.read_text(errors="replace") if log.exists() else ""

    # -- what is stored
    def count(self, query: str) -> int:
        """Return the number that a query gives."""
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(self.address, autocommit=True)
        try:
            row = self._connection.execute(query.encode()).fetchone()
        except psycopg.OperationalError:  # the database was killed since the last query
            self._connection.close()
            return self.count(query)
        assert row is not None
        return int(row[0])

    @property
    def played(self) -> int:
        """Number of stored matches that are not void."""
        return self.count("SELECT count(*) FROM matches WHERE void_cause IS NULL")

    def close(self) -> None:
        """End all processes."""
        self._stack.close()
        if self._connection is not None:
            self._connection.close()


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process and what it has started."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
