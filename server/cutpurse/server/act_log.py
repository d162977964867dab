"""The acts of people: who changed which tokens, ladders and bots, in a file beside the database.

Page and command line act by the same calls of a server, so both are in it. Acts on a database without a server are not:
who can write the database can also write this file. Each act is one line of JSON, on the disk before the call is
answered. No line contains a secret. This module knows no service.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cutpurse.server.logs import Logger

__all__ = ["NotedAct", "ActLog", "act_log_beside", "acts_in"]

TAIL_BYTES: Final = 2 * 1024 * 1024  # of the end of the file that is read


@dataclass(frozen=True, slots=True)
class NotedAct:
    """Something that a person did.

    Attributes:
        at_ms: When, in milliseconds since 1970.
        by: The owner whose token it was done with.
        what: What was done, such as "ladder changed".
        about: What it was done to.
    """

    at_ms: int
    by: str
    what: str
    about: str


def act_log_beside(database: Path) -> Path:
    """Return the file with the acts of a database."""
    return database.with_name(f"{database.name}.acts")


class ActLog:
    """The file of one database. All methods are thread-safe."""

    def __init__(self, path: Path | None = None, log: Logger | None = None) -> None:
        """Append to the file `path`, which is created with the first act; None keeps nothing.

        Args:
            path: The file.
            log: The server's log, which tells of acts that could not be written.
        """
        self._path = path
        self._log = log
        self._lock = threading.Lock()

    def note(self, by: str, what: str, about: str) -> None:
        """Append an act; one that cannot be written is lost, since it is done already."""
        if self._path is None:
            return
        try:
            self._append(self._path, by, what, about)
        except OSError as problem:
            if self._log is not None:
                self._log.error("act not noted", by=by, what=what, text=str(problem))

    def _append(self, path: Path, by: str, what: str, about: str) -> None:
        act = NotedAct(int(datetime.now(UTC).timestamp() * 1_000), by, what, about)
        line = json.dumps(asdict(act)).encode("ascii") + b"\n"
        with self._lock:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            try:
                os.write(file, line if _is_whole(file) else b"\n" + line)
                os.fsync(file)
            finally:
                os.close(file)

    def newest(self, limit: int) -> list[NotedAct]:
        """Return the newest acts, the newest first."""
        return [] if self._path is None else acts_in(self._path, limit)


def acts_in(path: Path, limit: int) -> list[NotedAct]:
    """Return the newest acts of a file, the newest first; none if there is no file."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - TAIL_BYTES))
            lines = file.read().split(b"\n")
    except FileNotFoundError:
        return []
    return [*_read(lines[::-1], limit)]


def _read(lines: list[bytes], limit: int) -> Iterator[NotedAct]:
    """Read acts, without lines that were cut off by a crash or by the start of what was read."""
    count = 0
    for line in lines:
        try:
            facts = json.loads(line)
            act = NotedAct(int(facts["at_ms"]), str(facts["by"]), str(facts["what"]), str(facts["about"]))
        except (ValueError, KeyError, TypeError):
            continue
        if count == limit:
            return
        count += 1
        yield act


def _is_whole(file: int) -> bool:
    """Return whether a file is empty or ends with a whole line."""
    size = os.lseek(file, 0, os.SEEK_END)
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"
