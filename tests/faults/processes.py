"""Processes of `cutpurse serve` and of bots that can be signalled, killed and started again."""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from tests.looking import PATIENCE_S, until
from tests.ports import free_port
from tests.roots import CHECKOUT

__all__ = ["Herd", "Server", "herd", "server"]


class Server:
    """A running `cutpurse serve` with a database."""

    def __init__(self, process: subprocess.Popen[bytes], database: Path, log: Path) -> None:
        self.process = process
        self.database = database
        self._log = log
        until(lambda: self._address() is not None or process.poll() is not None, "the server listens")
        address = self._address()
        assert address is not None, self.said
        self.address = address

    def _address(self) -> str | None:
        found = re.search(r"bots dial in at (\S+);", self.said)
        return found[1] if found else None

    @property
    def said(self) -> str:
        """Its output so far."""
        return self._log.read_text(encoding="utf-8")

    def events(self, event: str) -> list[dict[str, Any]]:
        """List the log lines of an event."""
        lines = [json.loads(line) for line in self.said.splitlines() if line.startswith("{") and line.endswith("}")]
        return [line for line in lines if line.get("event") == event]

    def open_matches(self) -> set[str]:
        """Return the IDs of matches that have begun and are not over."""
        return {line["match"] for line in self.events("match started")} - {
            line["match"] for line in self.events("match ended")
        }

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to the process."""
        self.process.send_signal(number)

    def ends(self) -> int:
        """Wait for the exit code."""
        return self.process.wait(timeout=PATIENCE_S)

    def stored(self) -> dict[str, str | None]:
        """Return the void causes of all stored matches, by match."""
        with closing(sqlite3.connect(self.database)) as connection:
            rows = connection.execute("SELECT id, void_cause FROM matches").fetchall()
        assert len(rows) == len(dict(rows)), "a match is stored twice"
        return dict(rows)

    def faults(self) -> dict[tuple[str, str], int]:
        """Return the number of faults by match and bot."""
        with closing(sqlite3.connect(self.database)) as connection:
            rows = connection.execute(
                "SELECT matches.id, bots.name, seats.faults FROM seats JOIN matches ON matches.number = match_number "
                "JOIN versions ON versions.id = version_id JOIN bots ON bots.id = bot_id"
            )
            return {(match, bot): faults for match, bot, faults in rows}


@contextmanager
def server(folder: Path, *words: str, address: str = "", name: str = "server") -> Iterator[Server]:
    """Run a server, by default at a port where a next one can listen too; kill it at the end if it still runs."""
    log, database = folder / f"{name}.log", folder / "league.db"
    address = address or f"127.0.0.1:{free_port()}"
    command = [sys.executable, "-m", "cutpurse.cli", "serve", "--address", address, "--db", str(database), *words]
    with log.open("wb") as file, subprocess.Popen(command, stdout=file, stderr=file, cwd=folder) as process:
        try:
            yield Server(process, database, log)
        finally:
            process.kill()


class Herd:
    """A process of bots with a log of their actions, see `chaos_bots`."""

    def __init__(self, process: subprocess.Popen[bytes], book: Path) -> None:
        self.process = process
        self._book = book

    def book(self) -> list[dict[str, Any]]:
        """Return the lines of the log, without a last line that is cut off."""
        lines = self._book.read_text(encoding="utf-8").splitlines() if self._book.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def begun(self) -> set[tuple[str, str]]:
        """Return the pairs of bots and matches that began for them."""
        return {(line["bot"], line["match"]) for line in self.book() if "began" in line}

    @property
    def has_heard_all(self) -> bool:
        """Whether each bot has heard of the end of each match that began for it, and nothing lies unread before it."""
        return self.begun() <= {(bot, match) for bot, match, _, _ in self.heard()}

    def heard(self) -> list[tuple[str, str, bool, bool]]:
        """List the ends of matches that bots received: bot, match, whether void, whether rated."""
        return [(one["bot"], one["match"], one["voided"], one["rated"]) for one in self.book() if "ended" in one]


@contextmanager
def herd(
    folder: Path,
    address: str,
    names: Sequence[str],
    tables: int = 1,
    think_ms: tuple[int, int] = (5, 20),
    name: str = "book",
    token: str = "",
    ladders: Sequence[str] = (),
) -> Iterator[Herd]:
    """Run bots, all with the token of one owner, on all ladders unless some are named; kill them at the end."""
    book = folder / f"{name}.jsonl"
    words = [str(book), *map(str, think_ms), str(tables), ",".join(ladders), address, *names]
    command = [sys.executable, "-m", "tests.faults.chaos_bots", *words]
    with (
        (folder / f"{name}.err").open("ab") as talk,
        subprocess.Popen(
            command, stdout=talk, stderr=talk, cwd=CHECKOUT, env={**os.environ, "CUTPURSE_TOKEN": token}
        ) as process,
    ):
        try:
            yield Herd(process, book)
        finally:
            process.kill()
