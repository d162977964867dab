"""Matches of a league as `cutpurse.games.awards` reads them."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.errors import RecordError
from cutpurse.engine.record import Record
from cutpurse.games.awards import SeenMatch
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.v1 import event_pb2, ladder_pb2
from cutpurse.wire.league import format_bot_name

__all__ = ["award_match", "tournament_matches"]

_HOUSE: Final = "house"  # owner of the bots that only fill seats


def tournament_matches(tournament: event_pb2.TournamentShown) -> list[str]:
    """List the matches of a tournament that counted, by duel and board."""
    return [board.match for duel in tournament.duels for board in duel.boards if board.match and board.result]


def award_match(answer: ladder_pb2.GetMatchResponse, content: bytes, *, with_house: bool = False) -> SeenMatch:
    """Return a match for `Awards`.

    Args:
        answer: The match.
        content: Its match file; empty if there is none.
        with_house: Whether house bots get awards too.
    """
    seats = answer.match.seats
    bots = tuple(None if seat.bot.owner == _HOUSE and not with_house else format_bot_name(seat.bot) for seat in seats)
    times = tuple(list(course.thinking_ms) for course in answer.courses)
    return SeenMatch(answer.match.match, bots, _record(content), times)


def _record(content: bytes) -> Record | None:
    """Return the record of a match file; None if it cannot be read or is not of a whole match."""
    try:
        filed = next(read_matches(content), None)
        return None if filed is None or filed.is_imagined else filed.record()
    except RecordError:
        return None
