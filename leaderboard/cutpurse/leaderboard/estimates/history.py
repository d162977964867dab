"""Earlier ratings of versions, for charts over time.

Each estimate of a ladder adds a point for every version that has played since its last point. A version has at most
`MAX_POINTS` points: if it has more, every second one is deleted. So the newest part of a chart is the most detailed.
"""

from __future__ import annotations

import json
from typing import Final, NamedTuple

from sqlalchemy import Connection

from cutpurse.leaderboard.dialects import driver_sql
from cutpurse.leaderboard.queries.names import ladder_id_of, versions_of

__all__ = ["MAX_POINTS", "RatingPoint", "add_points", "rating_points"]

MAX_POINTS: Final = 200  # per version; enough for the pixel columns of a chart

_ADD: Final = """
INSERT INTO rating_points (ladder_id, version_id, sequence, mu, low, high)
SELECT estimates.ladder_id, estimates.version_id, estimates.sequence, estimates.mu, estimates.low, estimates.high
FROM estimates JOIN ratings ON ratings.ladder_id = estimates.ladder_id AND ratings.version_id = estimates.version_id
WHERE estimates.ladder_id = :ladder AND ratings.sequence > coalesce(
  (SELECT max(sequence) FROM rating_points AS old
   WHERE old.ladder_id = estimates.ladder_id AND old.version_id = estimates.version_id), 0)
ON CONFLICT (ladder_id, version_id, sequence) DO UPDATE SET mu = excluded.mu, low = excluded.low, high = excluded.high
"""
_THIN: Final = """
DELETE FROM rating_points WHERE ladder_id = :ladder AND (version_id, sequence) IN (
  SELECT version_id, sequence FROM (
    SELECT version_id, sequence, row_number() OVER newest_first AS number, count(*) OVER of_version AS points
    FROM rating_points WHERE ladder_id = :ladder
    WINDOW newest_first AS (PARTITION BY version_id ORDER BY sequence DESC), of_version AS (PARTITION BY version_id)
  ) AS numbered WHERE points > :most AND (number & 1) = 0)
"""
# The row in `estimates` is the newest point of a version, even if the version has not played since its last point.
_POINTS: Final = """
SELECT points.sequence, versions.label, points.mu, points.low, points.high
FROM (
  SELECT version_id, sequence, mu, low, high FROM rating_points WHERE ladder_id = :ladder
    AND version_id IN (SELECT value FROM json_each(:versions) AS asked)
  UNION
  SELECT version_id, sequence, mu, low, high FROM estimates WHERE ladder_id = :ladder
    AND version_id IN (SELECT value FROM json_each(:versions) AS asked)
) AS points JOIN versions ON versions.id = points.version_id
ORDER BY points.sequence DESC, points.version_id DESC LIMIT :limit
"""


class RatingPoint(NamedTuple):
    """The rating of a version from all results up to board `sequence` of the ladder, with its 95 % interval."""

    sequence: int
    version: str
    rating: float
    low: float
    high: float


def add_points(connection: Connection, ladder_id: int) -> None:
    """Add points for the current estimates of a ladder, and delete points of versions that have too many."""
    connection.exec_driver_sql(driver_sql(connection, _ADD), {"ladder": ladder_id})
    connection.exec_driver_sql(driver_sql(connection, _THIN), {"ladder": ladder_id, "most": MAX_POINTS})


def rating_points(
    connection: Connection, ladder: str, owner: str, bot: str, version: str | None = None, limit: int = 1_000
) -> list[RatingPoint]:
    """List the rating points of a version, or of every version of a bot, on a ladder, the newest first.

    Raises:
        NoSuchEntry: If there is no such ladder, bot or version.
    """
    ladder_id = ladder_id_of(connection, ladder)
    versions = json.dumps(versions_of(connection, owner, bot, version))
    parameters = {"ladder": ladder_id, "versions": versions, "limit": limit}
    rows = connection.exec_driver_sql(driver_sql(connection, _POINTS), parameters).all()
    return [RatingPoint(*row) for row in rows]
