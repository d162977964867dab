"""The stored tournaments of a server, and the boards of their duels.

Every function works in the transaction of its connection. This module knows no rule of a tournament: what a plan and a
result mean is for its callers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, delete, func, insert, select, update

from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.relations import LADDERS, TOURNAMENT_BOARDS, TOURNAMENTS

__all__ = [
    "FINISHED",
    "STOPPED",
    "TournamentBoardEntry",
    "TournamentEntry",
    "end_tournament",
    "put_tournament_board",
    "start_tournament",
    "tournament",
    "tournament_boards",
    "tournaments",
]

FINISHED: Final = "finished"
STOPPED: Final = "stopped"


@dataclass(frozen=True, slots=True)
class TournamentEntry:
    """A stored tournament; `ended` is None and `outcome` empty while it is played."""

    id: str
    ladder: str
    started_by: str
    plan: str
    created: datetime
    ended: datetime | None = None
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class TournamentBoardEntry:
    """A board of a duel; `match` is empty if a bot was away, and `result` while the board is open."""

    duel: int
    board: int
    match: str
    result: str = ""


def start_tournament(connection: Connection, new: TournamentEntry, max_open: int) -> TournamentEntry:
    """Store a tournament that is played from now on.

    Raises:
        NoSuchEntry: If there is no such ladder.
        InvalidEntry: If `max_open` tournaments are being played.
    """
    running = select(func.count()).select_from(TOURNAMENTS).where(TOURNAMENTS.c.ended.is_(None))
    if (connection.scalar(running) or 0) >= max_open:
        raise InvalidEntry(f"{max_open} tournaments are being played, as many as may: wait for one, or stop it")
    row = {
        "id": new.id,
        "ladder_id": ladder_id_of(connection, new.ladder),
        "started_by": new.started_by,
        "plan": new.plan,
        "created": new.created,
        "ended": None,
        "outcome": "",
    }
    connection.execute(insert(TOURNAMENTS).values(row))
    return tournament(connection, new.id)


def end_tournament(connection: Connection, tournament_id: str, outcome: str, ended: datetime) -> TournamentEntry:
    """End a tournament that is played; one that has ended stays as it is.  Raises NoSuchEntry."""
    runs = (TOURNAMENTS.c.id == tournament_id) & TOURNAMENTS.c.ended.is_(None)
    connection.execute(update(TOURNAMENTS).where(runs).values(outcome=outcome, ended=ended))
    return tournament(connection, tournament_id)


def tournament(connection: Connection, tournament_id: str) -> TournamentEntry:
    """Return a tournament.  Raises NoSuchEntry."""
    row = connection.execute(_tournaments().where(TOURNAMENTS.c.id == tournament_id)).first()
    if row is None:
        raise NoSuchEntry(f"there is no tournament {tournament_id!r:.100}")
    return _entry(row)


def tournaments(connection: Connection, only_running: bool = False, limit: int | None = None) -> list[TournamentEntry]:
    """List tournaments, the newest first; optionally only those that are played."""
    query = _tournaments().order_by(TOURNAMENTS.c.created.desc(), TOURNAMENTS.c.id.desc()).limit(limit)
    if only_running:
        query = query.where(TOURNAMENTS.c.ended.is_(None))
    return [_entry(row) for row in connection.execute(query)]


def put_tournament_board(connection: Connection, tournament_id: str, board: TournamentBoardEntry) -> None:
    """Store a board in place of what was known of it."""
    key = (
        TOURNAMENT_BOARDS.c.tournament_id == tournament_id,
        TOURNAMENT_BOARDS.c.duel == board.duel,
        TOURNAMENT_BOARDS.c.board == board.board,
    )
    connection.execute(delete(TOURNAMENT_BOARDS).where(*key))
    row = {
        "tournament_id": tournament_id,
        "duel": board.duel,
        "board": board.board,
        "match_id": board.match,
        "result": board.result,
    }
    connection.execute(insert(TOURNAMENT_BOARDS).values(row))


def tournament_boards(connection: Connection, tournament_id: str) -> Sequence[TournamentBoardEntry]:
    """List the boards of a tournament, by duel and board."""
    query = (
        select(TOURNAMENT_BOARDS)
        .where(TOURNAMENT_BOARDS.c.tournament_id == tournament_id)
        .order_by(TOURNAMENT_BOARDS.c.duel, TOURNAMENT_BOARDS.c.board)
    )
    return [TournamentBoardEntry(row.duel, row.board, row.match_id, row.result) for row in connection.execute(query)]


def _tournaments() -> Select[Any]:
    return select(TOURNAMENTS, LADDERS.c.name.label("ladder")).join(LADDERS, LADDERS.c.id == TOURNAMENTS.c.ladder_id)


def _entry(row: Row[*tuple[Any, ...]]) -> TournamentEntry:
    return TournamentEntry(row.id, row.ladder, row.started_by, row.plan, row.created, row.ended, row.outcome)
