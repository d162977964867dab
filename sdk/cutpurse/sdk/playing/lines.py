"""A file that gets the results of a run line by line, so that they survive an interruption."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TextIO

from cutpurse.engine.errors import CutpurseError
from cutpurse.wire.errors import NotFound

__all__ = ["Lines"]


class Lines:
    """A file of lines, or nothing for no path. Replaces an existing file. Use it as a context manager."""

    def __init__(self, path: str | Path | None, what: str) -> None:
        """Prepare the file; `what` names it in errors."""
        self.path = None if path is None else Path(path)
        self._what = what
        self._file: TextIO | None = None

    def write(self, line: str) -> None:
        """Write a line.  Raises CutpurseError if the file cannot be written."""
        if self._file is not None:
            with self._reporting():
                self._file.write(line + "\n")

    @contextmanager
    def _reporting(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise CutpurseError(f"{self._what} cannot be written to {self.path}: {problem.strerror}") from None

    def __enter__(self) -> Self:
        """Open the file.  Raises NotFound if it cannot be created."""
        if self.path is not None:
            try:
                self._file = self.path.open("w", encoding="utf-8", newline="\n", buffering=1)
            except OSError as problem:
                raise NotFound(f"{self._what} cannot be written to {self.path}: {problem.strerror}") from None
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file.  Raises CutpurseError if the last lines cannot be written."""
        if self._file is not None:
            with self._reporting():
                self._file.close()
