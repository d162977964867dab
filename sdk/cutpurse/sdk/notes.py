"""What a bot has to say about its decisions, gathered for the log of its seat: by `Decision.note`, and what it prints.

What is printed is told apart by a context variable, so it belongs to the decision that the bot is thinking about in
this thread or task; what a thread of the bot's own prints is only printed. This module knows no match and no server.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from cutpurse.sdk.terminal import LossyStream

__all__ = ["NOTE_MOST", "NoteBuffer", "about", "prints_are_noted"]

NOTE_MOST: Final = 2_000  # bytes of UTF-8 that a server keeps of what is said at a time


class NoteBuffer:
    """What is said until it is taken, as one text: its beginning, and how much more there was."""

    __slots__ = ("_parts", "_said", "_size")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0  # of the parts, in signs
        self._said = 0  # signs, those that were not kept too

    def add(self, text: str) -> None:
        """Say something more."""
        self._said += len(text)
        if self._size < NOTE_MOST:
            part = text[: NOTE_MOST - self._size]
            self._size += len(part)
            self._parts.append(part)

    def add_line(self, text: str) -> None:
        """Say something that is a line, or several."""
        self.add(text if text.endswith("\n") else text + "\n")

    def take(self) -> str:
        """Return what was printed since the last call, without the last line end; at most NOTE_MOST bytes in UTF-8."""
        if not self._said:
            return ""
        text, said = "".join(self._parts), self._said
        self._parts.clear()
        self._size = self._said = 0
        data = text.encode(errors="replace")
        if said == len(text) and len(data) <= NOTE_MOST:
            return data.decode().removesuffix("\n")
        more = f"\n... of {said:,} signs"
        return data[: NOTE_MOST - len(more)].decode(errors="ignore") + more


_about: ContextVar[NoteBuffer | None] = ContextVar("_about", default=None)


@contextmanager
def about(notes: NoteBuffer | None) -> Iterator[None]:
    """What is printed in this thread or task meanwhile is added to these notes, where `prints_are_noted`."""
    before = _about.get()
    _about.set(notes)
    try:
        yield
    finally:
        _about.set(before)  # no `reset`: a task that is given up may be cleaned up in another context


class _Noted(LossyStream):
    """A text stream that also tells the notes what is written to it."""

    def write(self, text: str) -> int:
        if (notes := _about.get()) is not None:
            notes.add(text)
        return super().write(text)


_noted: Final[list[tuple[_Noted, _Noted]]] = []  # stdout and stderr, for each who wants them noted


@contextmanager
def prints_are_noted() -> Iterator[None]:
    """What is printed goes where it always goes, and to the notes that it is `about`. Bots may run side by side."""
    streams: Any = sys  # whose stdout and stderr need no more than what `_Noted` has
    if not _noted:
        streams.stdout, streams.stderr = _Noted(sys.stdout), _Noted(sys.stderr)
    _noted.append(_noted[0] if _noted else (streams.stdout, streams.stderr))
    try:
        yield
    finally:
        out, err = _noted.pop()
        if not _noted and streams.stdout is out:  # else somebody has put another there, to be left alone
            streams.stdout = out.stream
        if not _noted and streams.stderr is err:
            streams.stderr = err.stream
