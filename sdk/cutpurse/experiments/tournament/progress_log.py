"""The journal of a tournament: the plan and the boards played, in a file that survives a crash at any time.

It has JSON lines: first the plan, then a line for each finished board or requested match. Every line is on disk before
the run continues. An incomplete last line is removed. This module knows no format and no bot.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from cutpurse.engine.errors import UsageError
from cutpurse.experiments.tournament.tournament_results import PlayedBoard
from cutpurse.wire.errors import NotFound

__all__ = ["Journal", "digest_of"]

SCHEMA: Final = "tournament/1"


def digest_of(plan: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a plan's canonical JSON, as hex."""
    return sha256(json.dumps(plan, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Journal:
    """The journal of one tournament.

    Attributes:
        plan: The settled plan, None in a new journal.
        played: Boards by number.
        asked: IDs of the matches requested from a server, by board; the last one counts.
    """

    def __init__(self, path: Path, *, is_to_be_written: bool = True) -> None:
        """Open or create the file; a file opened only to read may be in use.

        Raises:
            UsageError: If the file is no journal, or in use.
            NotFound: If it cannot be opened.
        """
        self.path = path
        self.plan: dict[str, Any] | None = None
        self.played: dict[int, PlayedBoard] = {}
        self.asked: dict[int, list[str]] = {}
        try:
            self._file: IO[bytes] = path.open("a+b" if is_to_be_written else "rb")
        except OSError as problem:
            raise NotFound(f"the journal {path} cannot be opened: {problem.strerror}") from None
        try:
            if is_to_be_written:
                _lock(self._file, path)
            self._read(is_to_be_written)
        except BaseException:
            self._file.close()
            raise

    def settle(self, plan: dict[str, Any]) -> None:
        """Write the plan as the first line.  Raises UsageError if it has another plan."""
        if self.plan is None:
            self._write({"schema": SCHEMA, "digest": digest_of(plan), "plan": plan})
            self.plan = plan
            return
        if different := _different(plan, self.plan):
            raise UsageError(
                f"{self.path} is of another tournament: {', '.join(different)} differ; "
                "name another journal with --journal, or remove it"
            )

    def add(self, board: PlayedBoard) -> None:
        """Store a finished board."""
        self._write(board.as_json())
        self.played[board.number] = board

    def ask(self, board: int, match: str) -> None:
        """Store a match requested from a server."""
        self._write({"asked": match, "board": board})
        self.asked.setdefault(board, []).append(match)

    def _read(self, is_to_be_written: bool) -> None:
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # the writer was killed while writing
            if not whole and not content.startswith(b'{"schema":"tournament/'):
                raise UsageError(f"{self.path} is there, and is no journal of a tournament")
            if is_to_be_written:
                self._file.truncate(whole)
        for number, line in enumerate(content[:whole].splitlines(), 1):
            try:
                self._take(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError) as problem:
                raise UsageError(
                    f"{self.path}, line {number}: no journal of a tournament: {type(problem).__name__} {problem!s:.200}"
                ) from None

    def _take(self, line: dict[str, Any]) -> None:
        """Use a line.  Raises ValueError, KeyError, TypeError or AttributeError if it is invalid."""
        if self.plan is None:
            if line.get("schema") != SCHEMA:
                raise ValueError(f"schema {line.get('schema')!r:.40}; this version reads {SCHEMA}")
            if digest_of(line["plan"]) != line["digest"]:
                raise ValueError("the plan was altered: its digest does not fit")
            self.plan = line["plan"]
        elif "asked" in line:
            self.asked.setdefault(int(line["board"]), []).append(str(line["asked"]))
        else:
            board = PlayedBoard.from_json(line)
            self.played[board.number] = board

    def _write(self, line: dict[str, Any]) -> None:
        try:
            self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as problem:
            raise NotFound(f"the journal cannot be written to {self.path}: {problem.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def _different(mine: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """List the names of different values, including those of nested objects."""
    names: list[str] = []
    for key in sorted({*mine, *other}):
        one, another = mine.get(key), other.get(key)
        if isinstance(one, dict) and isinstance(another, dict):
            names += _different(one, another)
        elif one != another:
            names.append(key)
    return names


def _lock(file: IO[bytes], path: Path) -> None:
    """Lock the file, since two runs would overwrite each other's lines.  Raises UsageError."""
    try:
        import fcntl
    except ImportError:  # Windows, where the file is not locked
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UsageError(f"{path} is in use: this tournament is being played by another process") from None
