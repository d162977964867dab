"""The notes of a bot on its decisions: those from `Decision.note`, and what it prints.

A context variable assigns printed text to the decision that the bot is thinking about in this thread or task. Text from
threads that the bot starts is printed but not noted. This module knows no match and no server.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from cutpurse.process.terminal import LossyStream

__all__ = ["NOTE_MOST", "NoteBuffer", "about", "prints_are_noted"]

NOTE_MOST: Final = 2_000  # bytes of UTF-8 that a server stores per note


class NoteBuffer:
    """The text added since it was last taken: its beginning, and its full length."""

    __slots__ = ("_parts", "_said", "_size")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0  # of the parts, in characters
        self._said = 0  # characters added, including those not stored

    def add(self, text: str) -> None:
        """Append text."""
        self._said += len(text)
        if self._size < NOTE_MOST:
            part = text[: NOTE_MOST - self._size]
            self._size += len(part)
            self._parts.append(part)

    def add_line(self, text: str) -> None:
        """Append one or several whole lines."""
        self.add(text if text.endswith("\n") else text + "\n")

    def take(self) -> str:
        """Return and clear the text, without its last line end; at most NOTE_MOST bytes in UTF-8."""
        if not self._said:
            return ""
        text, said = "".join(self._parts), self._said
        self._parts.clear()
        self._size = self._said = 0
        data = text.encode(errors="replace")
        if said == len(text) and len(data) <= NOTE_MOST:
            return data.decode().removesuffix("\n")
        more = f"\n... of {said:,} characters"
        return data[: NOTE_MOST - len(more)].decode(errors="ignore") + more


_about: ContextVar[NoteBuffer | None] = ContextVar("_about", default=None)


@contextmanager
def about(notes: NoteBuffer | None) -> Iterator[None]:
    """Add what this thread or task prints within the block to `notes`, while `prints_are_noted`."""
    before = _about.get()
    _about.set(notes)
    try:
        yield
    finally:
        _about.set(before)  # no `reset`: an abandoned task may be cleaned up in another context


class _Noted(LossyStream):
    """A text stream that also adds what is written to the current notes."""

    def write(self, text: str) -> int:
        if (notes := _about.get()) is not None:
            notes.add(text)
        return super().write(text)


_noted: Final[list[tuple[_Noted, _Noted]]] = []  # stdout and stderr, once per open block


@contextmanager
def prints_are_noted() -> Iterator[None]:
    """Add what is printed within the block to the notes set by `about`, besides printing it. Blocks may overlap."""
    streams: Any = sys  # Any: `_Noted` has all that stdout and stderr need, but not their type
    if not _noted:
        streams.stdout, streams.stderr = _Noted(sys.stdout), _Noted(sys.stderr)
    _noted.append(_noted[0] if _noted else (streams.stdout, streams.stderr))
    try:
        yield
    finally:
        out, err = _noted.pop()
        if not _noted and streams.stdout is out:  # else other code has replaced the stream since
            streams.stdout = out.stream
        if not _noted and streams.stderr is err:
            streams.stderr = err.stream
