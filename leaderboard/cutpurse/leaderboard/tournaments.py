"""The stored tournaments of a server, and the boards of their duels.

The row of a board is written when its match is announced (`event_boards.py`), and its result follows from the match. So
a board counts once, also after a crash, and one with a void match does not count. Only the result of a board that a bot
lost by absence is stored, since it has no match; Cutpurse 0.2 stored every result.

Every function works in the transaction of its connection. This module knows no rule of a tournament but one: the bots
of a duel have the first two seats, and swap them from board to board. Of a plan, it reads `bots` alone.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, Row, delete, insert, select

from cutpurse.leaderboard import events
from cutpurse.leaderboard.events import TOURNAMENT, EventEntry, TooManyEvents
from cutpurse.leaderboard.relations import EVENT_BOARDS, MATCHES, SEATS
from cutpurse.leaderboard.write_hooks import TournamentBegins, send

__all__ = ["TournamentBoardEntry", "board", "boards", "put_board", "start"]


@dataclass(frozen=True, slots=True)
class TournamentBoardEntry:
    """A board of a duel; `match` is empty if a bot was away, and `result` while the board is open."""

    duel: int
    board: int
    match: str
    result: str = ""


def start(connection: Connection, new: EventEntry, max_open: int, season: str | None = None) -> EventEntry:
    """Store a tournament that is played from now on; `season` is the ID of the season whose final it is.

    Raises:
        NoSuchEntry: If there is no such ladder.
        TooManyEvents: If `max_open` tournaments are being played.
    """
    if events.count_running(connection, TOURNAMENT) >= max_open:
        raise TooManyEvents(f"{max_open} tournaments are being played, as many as may: wait for one, or stop it")
    events.add(connection, TOURNAMENT, new, parent_id=season)
    bots = json.loads(new.plan).get("bots", ())
    owners = {owner for owner, *_ in bots}
    send(connection, TournamentBegins(new.created, new.id, new.ladder, len(bots), owners))
    return events.entry(connection, new.id)


def put_board(connection: Connection, tournament_id: str, board: TournamentBoardEntry) -> None:
    """Store a board without a match in place of what was known of it; call it by `Store.write_on`, for the leases."""
    key = (
        EVENT_BOARDS.c.event_id == tournament_id,
        EVENT_BOARDS.c.duel == board.duel,
        EVENT_BOARDS.c.board == board.board,
    )
    connection.execute(delete(EVENT_BOARDS).where(*key))
    row = {
        "event_id": tournament_id,
        "duel": board.duel,
        "board": board.board,
        "match_id": board.match,
        "result": board.result,
    }
    connection.execute(insert(EVENT_BOARDS).values(row))


def boards(connection: Connection, tournament_id: str) -> list[TournamentBoardEntry]:
    """List the boards of a tournament, by duel and board."""
    of_tournament = _BOARDS.where(EVENT_BOARDS.c.event_id == tournament_id)
    return [_board(row) for row in connection.execute(of_tournament)]


def board(connection: Connection, tournament_id: str, duel: int, number: int) -> TournamentBoardEntry | None:
    """Return a board of a duel; None if it is not played yet."""
    key = (
        EVENT_BOARDS.c.event_id == tournament_id,
        EVENT_BOARDS.c.duel == duel,
        EVENT_BOARDS.c.board == number,
    )
    row = connection.execute(_BOARDS.where(*key)).first()
    return None if row is None else _board(row)


_FIRST, _SECOND = SEATS.alias("first"), SEATS.alias("second")  # of the bots of the duel in its order
_BOARDS: Final = (
    select(EVENT_BOARDS, _FIRST.c.place.label("first"), _SECOND.c.place.label("second"))
    .select_from(
        EVENT_BOARDS.outerjoin(MATCHES, MATCHES.c.id == EVENT_BOARDS.c.match_id)
        .outerjoin(_FIRST, (_FIRST.c.match_number == MATCHES.c.number) & (_FIRST.c.seat == EVENT_BOARDS.c.board % 2))
        .outerjoin(
            _SECOND,
            (_SECOND.c.match_number == MATCHES.c.number) & (_SECOND.c.seat == 1 - EVENT_BOARDS.c.board % 2),
        )
    )
    .order_by(EVENT_BOARDS.c.duel, EVENT_BOARDS.c.board)
)


def _board(row: Row[*tuple[Any, ...]]) -> TournamentBoardEntry:
    result = row.result
    if not result and row.first is not None and row.second is not None:  # its match is over and not void
        result = "==" if row.first == row.second else f"{int(row.first < row.second)}{int(row.second < row.first)}"
    return TournamentBoardEntry(row.duel, row.board, row.match_id, result)
