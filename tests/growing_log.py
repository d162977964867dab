"""The log of a process that goes on writing: each poll reads only what is new."""

from __future__ import annotations

from pathlib import Path

__all__ = ["GrowingLog"]


class GrowingLog:
    """A log file, which need not exist yet."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._read: dict[bytes, tuple[int, int]] = {}  # by text: bytes searched, and how often it was found

    def count(self, text: str) -> int:
        """Return how often a text without line ends occurs in the whole lines so far."""
        sought = text.encode()
        start, found = self._read.get(sought, (0, 0))
        if self._file.exists():
            with self._file.open("rb") as file:
                file.seek(start)
                new = file.read()
            new = new[: new.rfind(b"\n") + 1]
            start, found = self._read[sought] = start + len(new), found + new.count(sought)
        return found
