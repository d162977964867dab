"""The reader of a program's output log while the program writes it: each call returns what is new.

The log drops its older half when it is full (`OutputLog`). A reader that is too slow for that misses some output, and
says so. This module knows no program.
"""

from __future__ import annotations

import codecs
import os
from pathlib import Path
from typing import IO, Final

from cutpurse.server.runners.output_log import older_half

__all__ = ["MISSED", "OutputTail"]

MISSED: Final = "\n[some output left out]\n"


class OutputTail:
    """The new output of one program. Call `close` at the end."""

    def __init__(self, file: Path) -> None:
        """Start at the beginning of the log `file`, which need not exist yet."""
        self._path = file
        # Stays open even if it is renamed or removed, so that no later file can have its inode.
        self._file: IO[bytes] | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def read(self, max_bytes: int) -> str:
        """Return new output, at most this many bytes of it.

        Raises:
            OSError: If the disk fails.
        """
        new = b"" if self._file is None else self._file.read(max_bytes)
        missed = ""
        if len(new) < max_bytes and (newest := self._newest()) is not None:
            if self._file is not None:
                new += self._file.read(max_bytes - len(new))  # written before it was renamed
                missed = "" if _inode(older_half(self._path)) == os.fstat(self._file.fileno()).st_ino else MISSED
                self._file.close()
            self._file = newest
            after = newest.read(max_bytes - len(new))
            return self._decoder.decode(new) + missed + self._decoder.decode(after)
        return self._decoder.decode(new)

    def _newest(self) -> IO[bytes] | None:
        """Open the log if it is another file than the one that is being read; None if it is not."""
        current = 0 if self._file is None else os.fstat(self._file.fileno()).st_ino
        return self._path.open("rb") if _inode(self._path) not in (0, current) else None

    def close(self) -> None:
        """Close the log."""
        if self._file is not None:
            self._file.close()


def _inode(path: Path) -> int:
    """Return the inode of a file, or 0 if there is none."""
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0
