"""What a bot has to say about the decisions of one seat, kept until its match is over, and no more of it than may be.

Notes are strangers' text for their owner alone: nobody else is told that there are any, and no log quotes them. This
module knows no table, no stream and no store.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from cutpurse.leaderboard.results import SeatNote

__all__ = ["NOTE_BYTES", "NOTE_LEAST", "SeatNotes"]

NOTE_BYTES: Final = 2_000  # that are kept of a single note
NOTE_LEAST: Final = 16  # that each counts for, so that tiny ones do not take far more memory than they say
_HEAD: Final = Struct(">IH")  # of a note: the decision, and how many bytes follow


class SeatNotes:
    """The notes of one seat at one table: the first of them, whole, the last of those perhaps cut, in UTF-8."""

    __slots__ = ("_kept", "_last", "_left", "_repeats", "dropped_bytes")

    def __init__(self, most_bytes: int) -> None:
        self.dropped_bytes = 0
        self._kept = bytearray()  # one after the other: as objects, tiny ones would take ten times as much
        self._left = most_bytes
        self._last = -1  # the highest decision that something was said about
        self._repeats = -1  # up to this decision, what comes was said on an earlier stream

    def take(self, decision: int, text: str) -> bool:
        """Keep a note, or what there is room for, and count the rest.  Whether anything was kept.

        A bot whose stream was lost does not know which notes came through. What it says after that about a decision
        about which it had said something before is taken for a repeat, and neither kept nor counted.
        """
        if decision <= self._repeats or not text:
            return False
        if decision > self._last:
            self._last = decision
        data = text.encode()
        room = min(NOTE_BYTES, self._left)
        kept = data if len(data) <= room else _cut(data, room)
        self.dropped_bytes += len(data) - len(kept)
        self._left = self._left - max(NOTE_LEAST, len(kept)) if kept else 0
        if kept:
            self._kept += _HEAD.pack(decision, len(kept)) + kept
        return bool(kept)

    def connected(self) -> None:
        """Note that the bot has another stream."""
        self._repeats = self._last

    def kept(self) -> tuple[SeatNote, ...]:
        """Return the stored notes in the order in which they came."""
        notes, at = [], 0
        while at < len(self._kept):
            decision, size = _HEAD.unpack_from(self._kept, at)
            at += _HEAD.size + size
            notes.append(SeatNote(decision, self._kept[at - size : at].decode()))
        return tuple(notes)


def _cut(data: bytes, most: int) -> bytes:
    """Cut a text to this many bytes, at a character."""
    return data[: max(0, most)].decode(errors="ignore").encode()
