"""A journal of a long run: its plan and what is done, in a file that survives a crash at any time.

It has JSON lines: first the plan, then a line for each thing done. Every line is on disk before the run continues. An
incomplete last line is removed. This module knows nothing of the run.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import IO, Any, ClassVar, Self

from cutpurse.engine.documents import parse_json
from cutpurse.engine.errors import UsageError
from cutpurse.wire.errors import NotFound

__all__ = ["JournalFile", "digest_of"]


def digest_of(plan: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a plan's canonical JSON, as hex."""
    return sha256(json.dumps(plan, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


class JournalFile:
    """The journal of one run; a subclass says what its lines mean.

    Attributes:
        schema: "KIND/VERSION" of the lines.
        plan: The settled plan, None in a new journal.
    """

    schema: ClassVar[str]

    def __init__(self, path: Path, *, is_to_be_written: bool = True) -> None:
        """Open or create the file; a file opened only to read may be in use.

        Raises:
            UsageError: If the file is no journal of this kind, or in use.
            NotFound: If it cannot be opened.
        """
        self.path = path
        self.kind = self.schema.partition("/")[0]
        self.plan: dict[str, Any] | None = None
        try:
            self._file: IO[bytes] = path.open("a+b" if is_to_be_written else "rb")
        except OSError as problem:
            raise NotFound(f"the journal {path} cannot be opened: {problem.strerror}") from None
        try:
            if is_to_be_written:
                self._lock()
            self._read(is_to_be_written)
        except BaseException:
            self._file.close()
            raise

    def settle(self, plan: dict[str, Any]) -> None:
        """Write the plan as the first line.  Raises UsageError if it has another plan."""
        if self.plan is None:
            self.write({"schema": self.schema, "digest": digest_of(plan), "plan": plan})
            self.plan = plan
            return
        if different := _different(plan, self.plan):
            raise UsageError(
                f"{self.path} is of another {self.kind}: {', '.join(different)} differ; "
                "name another journal with --journal, or remove it"
            )

    def take(self, line: dict[str, Any]) -> None:
        """Use a line after the plan.  Raises ValueError, KeyError, TypeError or AttributeError if it is invalid."""
        raise NotImplementedError  # each journal reads its own lines

    def write(self, line: dict[str, Any]) -> None:
        """Append a line.  Raises NotFound if that fails."""
        try:
            self._file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as problem:
            raise NotFound(f"the journal cannot be written to {self.path}: {problem.strerror}") from None

    def _read(self, is_to_be_written: bool) -> None:
        self._file.seek(0)
        content = self._file.read()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):  # the writer was killed while writing
            if not whole and not content.startswith(f'{{"schema":"{self.kind}/'.encode()):
                raise UsageError(f"{self.path} is there, and is no journal of a {self.kind}")
            if is_to_be_written:
                self._file.truncate(whole)
        for number, line in enumerate(content[:whole].splitlines(), 1):
            try:
                self._take(parse_json(line))
            except (ValueError, KeyError, TypeError, AttributeError) as problem:
                raise UsageError(
                    f"{self.path}, line {number}: no journal of a {self.kind}: "
                    f"{type(problem).__name__} {problem!s:.200}"
                ) from None

    def _take(self, line: dict[str, Any]) -> None:
        if self.plan is not None:
            self.take(line)
            return
        if line.get("schema") != self.schema:
            raise ValueError(f"schema {line.get('schema')!r:.40}; this version reads {self.schema}")
        if digest_of(line["plan"]) != line["digest"]:
            raise ValueError("the plan was altered: its digest does not fit")
        self.plan = line["plan"]

    def _lock(self) -> None:
        """Lock the file, since two runs would overwrite each other's lines.  Raises UsageError."""
        try:
            import fcntl
        except ImportError:  # Windows, where the file is not locked
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UsageError(f"{self.path} is in use: this {self.kind} is being run by another process") from None

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
        value, another = mine.get(key), other.get(key)
        if isinstance(value, dict) and isinstance(another, dict):
            names += _different(value, another)
        elif value != another:
            names.append(key)
    return names
