"""Estimates of a ladder: computed from its ledger, passed on as a line of JSON, and stored.

One process can compute the estimates, which takes seconds for many results, and pass them as a line to the process
that writes. That process validates the line. Nothing depends on estimates, so after an error the old ones just stay.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Final

from sqlalchemy import Connection, delete, func, select

from cutpurse.leaderboard.comparisons import Comparison, comparisons_of
from cutpurse.leaderboard.dialects import driver_sql
from cutpurse.leaderboard.errors import InvalidEntry
from cutpurse.leaderboard.estimates.anchor import ANCHOR, anchored
from cutpurse.leaderboard.estimates.estimated import Estimated, Field
from cutpurse.leaderboard.estimates.history import add_points
from cutpurse.leaderboard.queries.ladders import ladder as ladder_entry
from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.leaderboard.relations import BOARDS, BOTS, ESTIMATES, LADDERS, OWNERS, RATINGS, VERSIONS
from cutpurse.leaderboard.rows import add_rows, stamp
from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.leaderboard.write_hooks import EstimatesReplaced, around

__all__ = ["Grown", "LadderEstimates", "LadderResults", "grown", "ladder_results", "put_estimates"]

MOST_PLACE: Final = 10_000_000  # no ladder has as many versions


@dataclass(frozen=True, slots=True)
class LadderEstimates:
    """The estimates of a ladder.

    Attributes:
        ladder: Name of the ladder.
        boards: Number of the last rated board used.
        found: Estimates by version.
    """

    ladder: str
    boards: int
    found: Mapping[int, Estimated]

    def to_json(self) -> str:
        """Format the estimates as one line of JSON; floats keep every bit."""
        rows = [[version, *its] for version, its in sorted(self.found.items())]
        return json.dumps({"ladder": self.ladder, "boards": self.boards, "estimates": rows}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> LadderEstimates:
        """Parse a line of `to_json`.  Raises ValueError, with the reason, for anything else."""
        try:
            content = json.loads(text)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if not isinstance(content, dict) or set(content) != {"ladder", "boards", "estimates"}:
            raise ValueError("it has not the parts of estimates")
        ladder, boards, rows = content["ladder"], content["boards"], content["estimates"]
        if not isinstance(ladder, str) or not _is_count(boards) or not isinstance(rows, list):
            raise ValueError("its parts are not what they are to be")
        estimates: dict[int, Estimated] = {}
        for row in rows:
            if not isinstance(row, list) or len(row) != 6:
                raise ValueError("an estimate has not six numbers")
            version, mu, low, high, best, worst = row
            if not all(isinstance(skill, float) and math.isfinite(skill) for skill in (mu, low, high)):
                raise ValueError("a skill is no number")
            if not all(map(_is_count, (version, best, worst))) or max(best, worst) > MOST_PLACE:
                raise ValueError("a version or a place is no number")
            if version in estimates or not low <= mu <= high or not best <= worst or (best == 0) != (worst == 0):
                raise ValueError(f"the estimate of version {version} cannot be")
            estimates[version] = Estimated(mu, low, high, best, worst)
        return cls(ladder, boards, estimates)


@dataclass(frozen=True, slots=True)
class Grown:
    """The number of rated boards of a ladder, the number of the last board in its estimates, and when it freezes."""

    ladder: str
    boards: int
    estimated: int
    frozen: datetime | None = None


@dataclass(frozen=True, slots=True)
class LadderResults:
    """The input of the estimates of a ladder, read in one transaction.

    Attributes:
        ladder: Name of the ladder.
        boards: Number of the last rated board.
        results: Comparisons in the order of rating.
        rating: TrueSkill parameters of the current epoch.
        parents: Nearest ancestor in `results` of each version that has one.
        ranked: Newest rated version of each bot.
        middle: Mean rating of `ranked`, weighted by matches; estimates get the same mean. None without ratings.
        anchors: Versions of the house bot that fixes the scale, which then counts instead of `middle`.
    """

    ladder: str
    boards: int
    results: Sequence[Field]
    rating: TrueSkill
    parents: Mapping[int, int]
    ranked: Set[int]
    middle: float | None
    anchors: Set[int] = frozenset()

    def estimates(self) -> LadderEstimates:
        """Compute the estimates; takes up to seconds, and needs no database."""
        from cutpurse.leaderboard.estimates.skill_fit import estimate  # with scipy, which no server loads

        estimates = estimate(self.results, self.rating, self.parents, self.ranked, self.middle)
        return LadderEstimates(
            self.ladder, self.boards, anchored(estimates, self.results, self.anchors, self.rating.mu)
        )


def ladder_results(connection: Connection, ladder: str) -> LadderResults:
    """Load the input of the estimates of a ladder.  Raises NoSuchEntry."""
    entry = ladder_entry(connection, ladder)
    ladder_id = ladder_id_of(connection, ladder)
    results, boards = _results(connection, ladder_id, entry.boards)
    newest: dict[int, tuple[int, float, int]] = {}
    rated = select(RATINGS.c.version_id, VERSIONS.c.bot_id, RATINGS.c.mu, RATINGS.c.matches).join(
        VERSIONS, VERSIONS.c.id == RATINGS.c.version_id
    )
    for version, bot, mu, matches in connection.execute(rated.where(RATINGS.c.ladder_id == ladder_id)):
        newest[bot] = max(newest.get(bot, (0, 0.0, 0)), (version, mu, matches))
    counted = sum(matches for _, _, matches in newest.values())
    return LadderResults(
        ladder,
        boards,
        results,
        entry.rating,
        _parents(connection, {version for who, _ in results for version in who}),
        {version for version, _, _ in newest.values()},
        sum(mu * matches for _, mu, matches in newest.values()) / counted if counted else None,
        set(connection.scalars(_ANCHORS)),
    )


_ANCHORS: Final = (
    select(VERSIONS.c.id)
    .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
    .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
    .where(OWNERS.c.name == HOUSE, BOTS.c.name == ANCHOR)
)
_FIELDS: Final = """
SELECT boards.sequence, matches.number, seats.version_id, seats.place
FROM boards JOIN matches ON matches.board_id = boards.id JOIN seats ON seats.match_number = matches.number
WHERE boards.ladder_id = ? AND boards.sequence IS NOT NULL
ORDER BY boards.sequence, matches.number, seats.seat
"""


def _results(connection: Connection, ladder_id: int, kind: str) -> tuple[list[Field], int]:
    """Load all comparisons of a ladder in the order of rating, and the number of the last board."""
    rows = connection.execution_options(yield_per=10_000).exec_driver_sql(driver_sql(connection, _FIELDS), (ladder_id,))
    known: dict[tuple[int, ...], tuple[int, ...]] = {}  # shares equal tuples of places, which are few
    results: list[Field] = []
    sequence = 0
    for sequence, of_board in groupby(rows, lambda row: row[0]):  # noqa: B007
        matches = []
        for _, of_match in groupby(of_board, lambda row: row[1]):
            versions, places = zip(*((row[2], row[3]) for row in of_match), strict=True)
            matches.append(Comparison(versions, places, (0,) * len(places)))
        for versions, places, _ in comparisons_of(kind, matches):
            results.append((versions, known.setdefault(places, places)))
    return results, sequence


def _parents(connection: Connection, played: set[int]) -> dict[int, int]:
    """Return the nearest ancestor that played, of each version in `played` that has one."""
    before = {row.id: row.parent_id for row in connection.execute(select(VERSIONS.c.id, VERSIONS.c.parent_id))}
    parents = {}
    for version in played:
        parent = before.get(version)
        while parent is not None and parent not in played and parent < version:
            parent = before.get(parent)
        if parent is not None and parent < version:
            parents[version] = parent
    return parents


_BOARDS: Final = select(func.coalesce(func.max(BOARDS.c.sequence), 0)).where(BOARDS.c.ladder_id == LADDERS.c.id)
_ESTIMATED: Final = select(func.coalesce(func.max(ESTIMATES.c.sequence), 0)).where(
    ESTIMATES.c.ladder_id == LADDERS.c.id
)
_GROWN: Final = select(
    LADDERS.c.name,
    _BOARDS.correlate(LADDERS).scalar_subquery(),
    _ESTIMATED.correlate(LADDERS).scalar_subquery(),
    LADDERS.c.frozen,
).order_by(LADDERS.c.name)


def grown(connection: Connection) -> list[Grown]:
    """List rated and estimated boards of every ladder, by name."""
    return [Grown(*row) for row in connection.execute(_GROWN)]


def put_estimates(connection: Connection, estimates: LadderEstimates, made: datetime) -> None:
    """Replace the estimates of a ladder in the transaction of `connection`.

    Raises:
        NoSuchEntry: If there is no such ladder.
        InvalidEntry: If the ladder lacks these boards or versions, or its estimates are from more boards.
    """
    ladder_id = ladder_id_of(connection, estimates.ladder)
    boards = connection.scalar(select(func.max(BOARDS.c.sequence)).where(BOARDS.c.ladder_id == ladder_id)) or 0
    now = connection.scalar(select(func.max(ESTIMATES.c.sequence)).where(ESTIMATES.c.ladder_id == ladder_id)) or 0
    if not now <= estimates.boards <= boards:
        raise InvalidEntry(
            f"estimates of {estimates.ladder} are from {estimates.boards} boards; it has {boards}, and some from {now}"
        )
    rated = set(connection.scalars(select(RATINGS.c.version_id).where(RATINGS.c.ladder_id == ladder_id)))
    if strangers := estimates.found.keys() - rated:
        raise InvalidEntry(f"estimates of {estimates.ladder} are of version {min(strangers)}, which it never rated")
    rows = [
        {
            "ladder_id": ladder_id,
            "version_id": version,
            **its._asdict(),
            "sequence": estimates.boards,
            "made": stamp(made),
        }
        for version, its in sorted(estimates.found.items())
    ]
    with around(connection, EstimatesReplaced(estimates.ladder, ladder_id, made)):
        connection.execute(delete(ESTIMATES).where(ESTIMATES.c.ladder_id == ladder_id))
        add_rows(connection, ESTIMATES, rows)
        add_points(connection, ladder_id)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
