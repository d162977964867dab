"""The replay of a match from its file, with the names of its bots. This module knows no page and no network."""

from __future__ import annotations

from collections.abc import Sequence

from cutpurse.server.web.match_view.replay_path import Replayed
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import format_reported_usage
from cutpurse.wire.match_file import FiledMatch

__all__ = ["replay_of"]


def replay_of(filed: FiledMatch, courses: Sequence[ladder_pb2.SeatCourse] = ()) -> Replayed:
    """Replay a match from its file.

    Args:
        filed: The match.
        courses: Thinking times and reported usage by seat; empty if they are not known.

    Raises:
        RecordError: If the record does not verify.
        UnknownGame: If the game is not installed.
    """
    record = filed.record()
    names = record.seats
    if filed.head is not None:
        seats = filed.head.seats
        bots = [seat.named for seat in seats]
        names = tuple([seat.named if bots.count(seat.named) == 1 else seat.shown for seat in seats])
    usages = [{usage.decision: format_reported_usage(usage) for usage in course.usages} for course in courses]
    return Replayed(record, names, [course.thinking_ms for course in courses], usages)
