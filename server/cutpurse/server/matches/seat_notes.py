"""The notes that a bot sends for one seat, stored until its match is over, within a size limit.

Notes are a stranger's text, for the bot's owner alone: they are shown to no one else, and no log quotes them. This
module knows no match, no stream and no store.
"""

from __future__ import annotations

from struct import Struct
from typing import Final

from cutpurse.leaderboard.results import SeatNote

__all__ = ["NOTE_BYTES", "NOTE_LEAST", "SeatNotes"]

NOTE_BYTES: Final = 2_000  # bytes stored of a single note
# minimum bytes that each note counts as, so that tiny ones do not use far more memory than they count for
NOTE_LEAST: Final = 16
_HEAD: Final = Struct(">IH")  # decision and length in bytes


class SeatNotes:
    """The notes of one seat: the first ones, whole, and perhaps one that is cut."""

    __slots__ = ("_kept", "_last", "_left", "_repeats", "dropped_bytes")

    def __init__(self, most_bytes: int) -> None:
        self.dropped_bytes = 0
        self._kept = bytearray()  # UTF-8, concatenated: as objects, tiny notes would take ten times the memory
        self._left = most_bytes
        self._last = -1  # the highest decision with a note
        self._repeats = -1  # notes up to this decision may be repeats from an earlier stream

    def take(self, decision: int, text: str) -> bool:
        """Store a note, or as much of it as fits, and count the dropped bytes.

        A bot that lost its stream does not know which notes arrived. After a reconnect, a note on a decision up to the
        latest one with a note counts as a repeat. Repeats are neither stored nor counted.

        Returns:
            Whether anything was stored.
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
        """Note that the bot has a new stream."""
        self._repeats = self._last

    def kept(self) -> tuple[SeatNote, ...]:
        """Return the stored notes in the order of arrival."""
        notes, at = [], 0
        while at < len(self._kept):
            decision, size = _HEAD.unpack_from(self._kept, at)
            at += _HEAD.size + size
            notes.append(SeatNote(decision, self._kept[at - size : at].decode()))
        return tuple(notes)


def _cut(data: bytes, most: int) -> bytes:
    """Cut a text to at most this many bytes, between characters."""
    return data[: max(0, most)].decode(errors="ignore").encode()
