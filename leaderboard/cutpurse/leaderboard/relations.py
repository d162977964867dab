"""The tables as relations of SQLAlchemy Core, in which what is written and asked is told."""

from __future__ import annotations

from sqlalchemy import FromClause

from cutpurse.leaderboard.models import Table

__all__ = [
    "BOARDS",
    "BOTS",
    "CHANGES",
    "COURSES",
    "EPOCHS",
    "ESTIMATES",
    "LADDERS",
    "MATCHES",
    "NOTES",
    "OPEN_MATCHES",
    "OPPONENTS",
    "OWNERS",
    "PAUSES",
    "RATINGS",
    "RATING_POINTS",
    "SEATS",
    "SUBMISSIONS",
    "TOKENS",
    "VERSIONS",
    "rated_seats",
]

OWNERS = Table.metadata.tables["owners"]
TOKENS = Table.metadata.tables["tokens"]
BOTS = Table.metadata.tables["bots"]
VERSIONS = Table.metadata.tables["versions"]
LADDERS = Table.metadata.tables["ladders"]
EPOCHS = Table.metadata.tables["epochs"]
BOARDS = Table.metadata.tables["boards"]
MATCHES = Table.metadata.tables["matches"]
SEATS = Table.metadata.tables["seats"]
RATINGS = Table.metadata.tables["ratings"]
ESTIMATES = Table.metadata.tables["estimates"]
RATING_POINTS = Table.metadata.tables["rating_points"]
CHANGES = Table.metadata.tables["rating_changes"]
OPPONENTS = Table.metadata.tables["opponents"]
OPEN_MATCHES = Table.metadata.tables["open_matches"]
COURSES = Table.metadata.tables["courses"]
NOTES = Table.metadata.tables["notes"]
PAUSES = Table.metadata.tables["pauses"]
SUBMISSIONS = Table.metadata.tables["submissions"]


def rated_seats() -> FromClause:
    """Matches with their boards and seats, and what the board made of the version in the seat, if anything."""
    return (
        MATCHES.join(BOARDS, BOARDS.c.id == MATCHES.c.board_id)
        .join(SEATS, SEATS.c.match_number == MATCHES.c.number)
        .outerjoin(
            CHANGES,
            (CHANGES.c.ladder_id == BOARDS.c.ladder_id)
            & (CHANGES.c.sequence == BOARDS.c.sequence)
            & (CHANGES.c.version_id == SEATS.c.version_id),
        )
    )
