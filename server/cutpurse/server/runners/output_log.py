"""What a program says, kept in a file: legible, so much a second, so much in all, the newest.

A program may print without end, to fill a disk, to wear out whoever reads, or to write over somebody's terminal. So
each second has a budget, and what is beyond it is left out and counted; when the file is full its older half goes; and
nothing but printable letters, line ends and tabs comes into it. This module knows no process.
"""

from __future__ import annotations

import codecs
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

__all__ = ["OutputLog", "read_talk", "remove_talk"]

BEFORE: Final = ".before"  # the older half lies beside the file
PORTIONS: Final = 16  # a second, into which the room of a flood comes
_PLAIN: Final = re.compile(r"[\n\t -~]*")


class OutputLog:
    """The talk of one program; `close` it. Moments are handed in: seconds on one clock."""

    def __init__(self, file: Path, bytes_per_s: int, most: int, now: float) -> None:
        """`most`: bytes that are kept.  Raises OSError; what was in the file before is gone."""
        self.file = file
        self._rate = bytes_per_s
        self._half = max(1, most // 2)
        self._room = float(bytes_per_s)
        self._at = now
        self._written = 0
        self._left_out = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        _before(file).unlink(missing_ok=True)
        self._opened = _opened(file)

    def room(self, now: float) -> int:
        """How many bytes more can be taken now; none rather than few, for a flood is not to be read byte by byte."""
        self._room = min(self._rate, self._room + (now - self._at) * self._rate)
        self._at = now
        return int(self._room) if self._room >= self._rate / PORTIONS else 0

    def take(self, said: bytes) -> None:
        """Keep this.  Raises OSError."""
        self._room -= len(said)
        if self._left_out:
            self._keep(f"\n[{self._left_out} bytes left out]\n")
            self._left_out = 0
        self._keep(_legible(self._decoder.decode(said)))

    def leave_out(self, count: int) -> None:
        """So many bytes came for which there was no room."""
        self._left_out += count

    def _keep(self, text: str) -> None:
        data = text.encode()
        for start in range(0, len(data), self._half):
            part = data[start : start + self._half]
            if self._written + len(part) > self._half:
                self._opened.close()
                self.file.replace(_before(self.file))
                self._opened = _opened(self.file)
                self._written = 0
            self._opened.write(part)
            self._opened.flush()
            self._written += len(part)

    def close(self) -> None:
        """There will be no more.  Raises OSError."""
        try:
            self._keep(_legible(self._decoder.decode(b"", final=True)))
            if self._left_out:
                self._keep(f"\n[{self._left_out} bytes left out]\n")
        finally:
            with suppress(OSError):
                self._opened.close()


def read_talk(file: Path, most: int) -> str:
    """Return the newest bytes of a program's stored output, also of one that ended long ago."""
    kept = b""
    for part in (_before(file), file):
        try:
            kept += part.read_bytes()
        except FileNotFoundError:
            pass
    return kept[-most:].decode("utf-8", "ignore")


def remove_talk(file: Path) -> None:
    """Nothing of a program's talk is kept any more."""
    for part in (_before(file), file):
        part.unlink(missing_ok=True)


def _before(file: Path) -> Path:
    return file.with_name(file.name + BEFORE)


def _opened(file: Path) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(file, flags, 0o600), "wb")


def _legible(text: str) -> str:
    """Nothing that would move a cursor, ring, or turn the direction of a line."""
    text = text.replace("\r\n", "\n")
    if _PLAIN.fullmatch(text):
        return text
    return "".join([sign if sign.isprintable() or sign in "\n\t" else _escape(ord(sign)) for sign in text])


def _escape(number: int) -> str:
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
