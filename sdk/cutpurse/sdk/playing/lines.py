"""A file that gets line by line what a run finds out, so that what was written stays if the run is broken off."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TextIO

from cutpurse.engine.errors import CutpurseError
from cutpurse.sdk.errors import NotFound

__all__ = ["Lines"]


class Lines:
    """Such a file, or none; what was there is replaced.  Use it as a context."""

    def __init__(self, path: str | Path | None, what: str) -> None:
        """what: the file in words, for errors."""
        self.path = None if path is None else Path(path)
        self._what = what
        self._file: TextIO | None = None

    def write(self, line: str) -> None:
        """One more.  Raises CutpurseError if it cannot be written."""
        if self._file is not None:
            with self._told():
                self._file.write(line + "\n")

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            raise CutpurseError(f"{self._what} cannot be written to {self.path}: {problem.strerror}") from None

    def __enter__(self) -> Self:
        """Raises NotFound if there can be no such file."""
        if self.path is not None:
            try:
                self._file = self.path.open("w", encoding="utf-8", newline="\n", buffering=1)
            except OSError as problem:
                raise NotFound(f"{self._what} cannot be written to {self.path}: {problem.strerror}") from None
        return self

    def __exit__(self, *_: object) -> None:
        """Raises CutpurseError if what was written cannot be kept."""
        if self._file is not None:
            with self._told():
                self._file.close()
