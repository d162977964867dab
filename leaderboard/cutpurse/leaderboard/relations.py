"""The database tables as relations of SQLAlchemy Core."""

from __future__ import annotations

from sqlalchemy import FromClause

from cutpurse.leaderboard.models import Base

__all__ = [
    "ARENAS",
    "BOARDS",
    "BOTS",
    "CHANGES",
    "COURSES",
    "EPOCHS",
    "ESTIMATES",
    "EVENTS",
    "EVENT_BOARDS",
    "EVENT_BOTS",
    "EVENT_LADDERS",
    "LADDERS",
    "LEASES",
    "MATCHES",
    "NOTES",
    "OPEN_MATCHES",
    "OPPONENTS",
    "OWNERS",
    "PAUSES",
    "RATINGS",
    "RATING_POINTS",
    "SEATS",
    "TOKENS",
    "USAGES",
    "VERSIONS",
    "rated_seats",
]

OWNERS = Base.metadata.tables["owners"]
TOKENS = Base.metadata.tables["tokens"]
BOTS = Base.metadata.tables["bots"]
VERSIONS = Base.metadata.tables["versions"]
LADDERS = Base.metadata.tables["ladders"]
EPOCHS = Base.metadata.tables["epochs"]
BOARDS = Base.metadata.tables["boards"]
MATCHES = Base.metadata.tables["matches"]
SEATS = Base.metadata.tables["seats"]
RATINGS = Base.metadata.tables["ratings"]
ESTIMATES = Base.metadata.tables["estimates"]
RATING_POINTS = Base.metadata.tables["rating_points"]
CHANGES = Base.metadata.tables["rating_changes"]
OPPONENTS = Base.metadata.tables["opponents"]
LEASES = Base.metadata.tables["leases"]
OPEN_MATCHES = Base.metadata.tables["open_matches"]
COURSES = Base.metadata.tables["courses"]
NOTES = Base.metadata.tables["notes"]
USAGES = Base.metadata.tables["usages"]
PAUSES = Base.metadata.tables["pauses"]
ARENAS = Base.metadata.tables["arenas"]
EVENTS = Base.metadata.tables["events"]
EVENT_LADDERS = Base.metadata.tables["event_ladders"]
EVENT_BOTS = Base.metadata.tables["event_bots"]
EVENT_BOARDS = Base.metadata.tables["event_boards"]


def rated_seats() -> FromClause:
    """Join matches with their boards and seats, and the rating change of the version in the seat, if any."""
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
