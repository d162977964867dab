"""The log file of a program's output, limited per second and in total, with printable characters only.

A program may print without end, to fill the disk, to slow down its reader, or to control a terminal. So output above a
rate is dropped and counted. When the file is full, its older half is removed. Characters other than printable ones,
line ends and tabs are escaped. This module knows no process.
"""

from __future__ import annotations

import codecs
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

__all__ = ["OutputLog", "older_half", "read_talk", "remove_talk"]

BEFORE: Final = ".before"  # suffix of the file with the older half
PORTIONS: Final = 16  # parts of a second's budget; less than one part counts as none
_PLAIN: Final = re.compile(r"[\n\t -~]*")


class OutputLog:
    """The output log of one program. Callers pass the time, in monotonic seconds, and must call `close`."""

    def __init__(self, file: Path, bytes_per_s: int, most: int, now: float) -> None:
        """Create the file, and remove an earlier one.

        Args:
            file: Path of the log.
            bytes_per_s: Maximum bytes per second.
            most: Maximum bytes stored; the newest are kept.
            now: Time.

        Raises:
            OSError: If the disk fails.
        """
        self.file = file
        self._rate = bytes_per_s
        self._half = max(1, most // 2)
        self._room = float(bytes_per_s)
        self._at = now
        self._written = 0
        self._left_out = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        older_half(file).unlink(missing_ok=True)
        self._opened = _opened(file)

    def room(self, now: float) -> int:
        """Return the number of bytes that may be written now; 0 instead of a few, so that reads stay large."""
        self._room = min(self._rate, self._room + (now - self._at) * self._rate)
        self._at = now
        return int(self._room) if self._room >= self._rate / PORTIONS else 0

    def take(self, said: bytes) -> None:
        """Write some output.

        Raises:
            OSError: If the disk fails.
        """
        self._room -= len(said)
        if self._left_out:
            self._keep(f"\n[{self._left_out} bytes left out]\n")
            self._left_out = 0
        self._keep(_legible(self._decoder.decode(said)))

    def leave_out(self, count: int) -> None:
        """Count bytes that were dropped; the log notes their number."""
        self._left_out += count

    def _keep(self, text: str) -> None:
        data = text.encode()
        for start in range(0, len(data), self._half):
            part = data[start : start + self._half]
            if self._written + len(part) > self._half:
                self._opened.close()
                self.file.replace(older_half(self.file))
                self._opened = _opened(self.file)
                self._written = 0
            self._opened.write(part)
            self._opened.flush()
            self._written += len(part)

    def close(self) -> None:
        """Write the rest, and close the file.

        Raises:
            OSError: If the disk fails.
        """
        try:
            self._keep(_legible(self._decoder.decode(b"", final=True)))
            if self._left_out:
                self._keep(f"\n[{self._left_out} bytes left out]\n")
        finally:
            with suppress(OSError):
                self._opened.close()


def read_talk(file: Path, most: int) -> str:
    """Return the newest stored output of a program, at most `most` bytes, even if it ended long ago."""
    kept = b""
    for part in (older_half(file), file):
        try:
            kept += part.read_bytes()
        except FileNotFoundError:
            pass
    return kept[-most:].decode("utf-8", "ignore")


def remove_talk(file: Path) -> None:
    """Remove the log of a program."""
    for part in (older_half(file), file):
        part.unlink(missing_ok=True)


def older_half(file: Path) -> Path:
    """Return the path of the older half of a log."""
    return file.with_name(file.name + BEFORE)


def _opened(file: Path) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0)
    return os.fdopen(os.open(file, flags, 0o600), "wb")


def _legible(text: str) -> str:
    """Escape all characters that could control a terminal, such as those that change the writing direction."""
    text = text.replace("\r\n", "\n")
    if _PLAIN.fullmatch(text):
        return text
    return "".join([sign if sign.isprintable() or sign in "\n\t" else _escape(ord(sign)) for sign in text])


def _escape(number: int) -> str:
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
