"""The database tables as relations of SQLAlchemy Core."""

from __future__ import annotations

from sqlalchemy import FromClause

from cutpurse.leaderboard.models import Base

__all__ = [
    "ACCOUNTS",
    "ARCHIVES",
    "ARENAS",
    "BOARDS",
    "BOTS",
    "CHANGES",
    "COURSES",
    "EPOCHS",
    "ESTIMATES",
    "LADDERS",
    "LEASES",
    "MATCHES",
    "NOTES",
    "OPEN_MATCHES",
    "OPPONENTS",
    "OUTBOX",
    "OVERTAKINGS",
    "OWNERS",
    "PAUSES",
    "RATINGS",
    "RATING_POINTS",
    "RECEIVERS",
    "REPORTS",
    "SEASONS",
    "SEASON_BOTS",
    "SEASON_DIVISIONS",
    "SEASON_SERIES",
    "SEATS",
    "SUBMISSIONS",
    "TEST_BOARDS",
    "TOKENS",
    "TOURNAMENTS",
    "TOURNAMENT_BOARDS",
    "USAGES",
    "VERSIONS",
    "VERSION_TESTS",
    "WORK",
    "rated_seats",
]

TOURNAMENTS = Base.metadata.tables["tournaments"]
TOURNAMENT_BOARDS = Base.metadata.tables["tournament_boards"]
OWNERS = Base.metadata.tables["owners"]
TOKENS = Base.metadata.tables["tokens"]
ACCOUNTS = Base.metadata.tables["accounts"]
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
SUBMISSIONS = Base.metadata.tables["submissions"]
WORK = Base.metadata.tables["work"]
REPORTS = Base.metadata.tables["reports"]
ARENAS = Base.metadata.tables["arenas"]
ARCHIVES = Base.metadata.tables["archives"]
RECEIVERS = Base.metadata.tables["receivers"]
OUTBOX = Base.metadata.tables["outbox"]
OVERTAKINGS = Base.metadata.tables["overtakings"]
VERSION_TESTS = Base.metadata.tables["version_tests"]
TEST_BOARDS = Base.metadata.tables["test_boards"]
SEASON_SERIES = Base.metadata.tables["season_series"]
SEASONS = Base.metadata.tables["seasons"]
SEASON_DIVISIONS = Base.metadata.tables["season_divisions"]
SEASON_BOTS = Base.metadata.tables["season_bots"]


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
