"""The replay of a match from its file, with the names of its bots. This module knows no page and no network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.page.match_view.replay_path import Replayed
from cutpurse.page.match_view.seat_names import names_in_file
from cutpurse.sdk.matches.match_file import FiledMatch
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import format_reported_usage
from cutpurse.wire.text import printable

__all__ = ["published_notes", "replay_of"]

MOST_NOTE: Final = 600  # characters shown of the notes on a decision


def replay_of(filed: FiledMatch, courses: Sequence[ladder_pb2.SeatCourse] = ()) -> Replayed:
    """Replay a match from its file.

    Args:
        filed: The match.
        courses: Thinking times, reported usage and published notes by seat; empty if they are not known.

    Raises:
        RecordError: If the record does not verify.
        UnknownGame: If the game is not installed.
    """
    usages = [{usage.decision: format_reported_usage(usage) for usage in course.usages} for course in courses]
    return Replayed(
        filed.record(),
        names_in_file(filed),
        [course.thinking_ms for course in courses],
        usages,
        published_notes(courses),
    )


def published_notes(courses: Sequence[ladder_pb2.SeatCourse]) -> list[dict[int, str]]:
    """Return the notes that owners publish, by seat and decision: without control characters, and cut."""
    notes: list[dict[int, str]] = []
    for course in courses:
        texts: dict[int, str] = {}
        for note in course.notes:
            text = f"{texts.get(note.decision, '')} {printable(note.text, MOST_NOTE + 1)}".strip()
            texts[note.decision] = text if len(text) <= MOST_NOTE else f"{text[: MOST_NOTE - 1]}\N{HORIZONTAL ELLIPSIS}"
        notes.append({decision: text for decision, text in texts.items() if text})
    return notes
