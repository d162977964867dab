"""What of a tournament was settled and played, in a file that outlives a crash at any moment.

JSON lines: first the plan, then a line for each board that is over, or for each match that a server was asked for.
Every line is on the disk before anything follows from it. A line that was cut off is cut away. This module knows no
format and no bot.
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
from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.tournament.tournament_results import PlayedBoard

__all__ = ["Journal", "digest_of"]

SCHEMA: Final = "tournament/1"


def digest_of(plan: Mapping[str, Any]) -> str:
    """Names a plan: SHA-256 of its canonical JSON, as hex."""
    return sha256(json.dumps(plan, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class Journal:
    """The journal of one tournament, open to be written on.

    plan: what was settled, None in a new one. played: by number. asked: the names of matches that a server was asked
    for, by the number of the board; the last counts.
    """

    def __init__(self, path: Path, *, is_to_be_written: bool = True) -> None:
        """Open it, or begin it; one that is not to be written may be in use.

        Raises UsageError for a file that is none or in use, NotFound where it cannot be.
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
        """The first line: what is played.  Raises UsageError if another plan was settled."""
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
        """A board is over."""
        self._write(board.as_json())
        self.played[board.number] = board

    def ask(self, board: int, match: str) -> None:
        """A server was asked for a match of a board."""
        self._write({"asked": match, "board": board})
        self.asked.setdefault(board, []).append(match)

    def _read(self, is_to_be_written: bool) -> None:
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # its writer was killed as it wrote
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
        """Raises ValueError, KeyError, TypeError or AttributeError for a line that is none."""
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
    """What differs, by name, one level down."""
    names: list[str] = []
    for key in sorted({*mine, *other}):
        one, another = mine.get(key), other.get(key)
        if isinstance(one, dict) and isinstance(another, dict):
            names += _different(one, another)
        elif one != another:
            names.append(key)
    return names


def _lock(file: IO[bytes], path: Path) -> None:
    """Two that play one tournament would write over each other.  Raises UsageError."""
    try:
        import fcntl
    except ImportError:  # Windows, where nothing is held
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise UsageError(f"{path} is in use: this tournament is being played by another process") from None
