"""The ranking of a ladder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from cutpurse.leaderboard.dialects import driver_sql
from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.placing import is_placed, is_provisional
from cutpurse.leaderboard.queries.ladders import ladders
from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.rating_state import RatingState, standing_of
from cutpurse.leaderboard.ratings import Skill, TrueSkill
from cutpurse.leaderboard.relations import LADDERS, PAUSES, RATINGS, VERSIONS
from cutpurse.leaderboard.results import UsageTotal

__all__ = ["Ranking", "rankings", "standings"]


class Ranking(NamedTuple):
    """A version in the ranking of a ladder.

    Attributes:
        place: Place among the placed versions, 1 is best, equal ratings share a place. 0 if the version is not placed
            yet (`cutpurse.leaderboard.placing`), which needs boards only: a placed version stays placed.
        owner: Name of the owner.
        bot: Name of the bot.
        version: Label of the version.
        version_id: ID of the version.
        rating: Estimate from all results, None if there is no estimate yet.
        low: Lower end of its 95 % interval, 0.0 without a rating.
        high: Upper end of that interval, 0.0 without a rating.
        matches: Number of rated boards.
        wins: Number of first places, including shared ones.
        faulted: Number of boards with a fault of the version.
        form: Places on the last rated boards, the newest first, at most ten.
        is_paused: The version is paused.
        best: Best place of the 95 % interval of its place among the placed newest versions. 0 for a version that is
            not placed, and in a ranking of every version.
        worst: Worst place of that interval, or 0.
        estimated: Number of the last board in the estimate, 0 without an estimate.
        pairing_skill: Skill that matchmaking uses; it changes with each board and is not shown as the rating.
        usage: What the bot reported for its rated matches, None if nothing.
        is_provisional: The rating is uncertain: its interval is wide, or the version is not placed yet. False without
            a rating.
    """

    place: int
    owner: str
    bot: str
    version: str
    version_id: int
    rating: float | None
    low: float
    high: float
    matches: int
    wins: int
    faulted: int
    form: tuple[int, ...]
    is_paused: bool
    best: int
    worst: int
    estimated: int
    pairing_skill: Skill
    usage: UsageTotal | None
    is_provisional: bool

    @property
    def is_placed(self) -> bool:
        """Whether the version has a place."""
        return self.place > 0


# All rated versions of a ladder, or the newest of each bot. Plain SQL and plain tuples, because there may be thousands.
_EVERY: Final = "SELECT version_id FROM ratings WHERE ladder_id = :ladder"
_NEWEST: Final = """
SELECT max(version_id) AS version_id FROM ratings JOIN versions ON versions.id = version_id
WHERE ladder_id = :ladder GROUP BY versions.bot_id
"""
_NAMED: Final = """
SELECT owners.name, bots.name, versions.label, chosen.version_id, ratings.mu, ratings.sigma, ratings.matches,
  ratings.wins, ratings.faulted, ratings.form, estimates.mu, estimates.low, estimates.high, estimates.best,
  estimates.worst, estimates.sequence
FROM ({chosen}) AS chosen JOIN ratings ON ratings.ladder_id = :ladder AND ratings.version_id = chosen.version_id
  JOIN versions ON versions.id = chosen.version_id JOIN bots ON bots.id = versions.bot_id
  JOIN owners ON owners.id = bots.owner_id
  LEFT JOIN estimates ON estimates.ladder_id = :ladder AND estimates.version_id = chosen.version_id
"""
_NEWEST_EPOCH: Final = "SELECT settings FROM epochs WHERE ladder_id = :ladder ORDER BY number DESC LIMIT 1"
_NAMED_EVERY: Final = _NAMED.format(chosen=_EVERY)
_NAMED_NEWEST: Final = _NAMED.format(chosen=_NEWEST)
_USED: Final = """
SELECT usages.version_id, count(*), sum(input_tokens), sum(output_tokens), sum(cost_micros), sum(fallbacks)
FROM usages JOIN matches ON matches.number = usages.match_number JOIN boards ON boards.id = matches.board_id
WHERE usages.ladder_id = :ladder AND boards.sequence IS NOT NULL
GROUP BY usages.version_id
"""
_PLACED, _UNPLACED, _UNKNOWN = range(3)  # the groups of a ranking, in order
_PAUSED: Final = select(PAUSES.c.version_id).where(PAUSES.c.lifted.is_(None))


def rankings(connection: Connection, ladder: str, every_version: bool = False) -> list[Ranking]:
    """List the ranking of a ladder, best first: the newest rated version of each bot, or every version.

    Raises:
        NoSuchEntry: If there is no such ladder.
    """
    parameters = {"ladder": ladder_id_of(connection, ladder)}
    beta = TrueSkill.from_json(
        connection.exec_driver_sql(driver_sql(connection, _NEWEST_EPOCH), parameters).scalar_one()
    ).beta
    statement = driver_sql(connection, _NAMED_EVERY if every_version else _NAMED_NEWEST)
    answer = connection.exec_driver_sql(statement, parameters)
    rows: Sequence[Any] = answer.cursor.fetchall()
    answer.close()
    paused = set(connection.scalars(_PAUSED))
    used = {
        version: UsageTotal(matches, int(input_tokens), int(output_tokens), int(cost_micros), int(fallbacks))
        for version, matches, input_tokens, output_tokens, cost_micros, fallbacks in connection.exec_driver_sql(
            driver_sql(connection, _USED), parameters
        )
    }  # int: sums are decimals in PostgreSQL
    sorted_rows = sorted([(_sort_key(row), index) for index, row in enumerate(rows)])
    ranked: list[Ranking] = []
    last: float | None = None
    place = 0
    for number, ((group, key, _), index) in enumerate(sorted_rows, 1):
        owner, bot, label, version, mu, sigma, matches, wins, faulted, form, rating, low, high, best, worst, boards = (
            rows[index]
        )
        if group != _PLACED:
            place = 0
        elif key != last:
            last, place = key, number
        if not place or every_version:
            best = worst = 0
        entry = (
            place,
            owner,
            bot,
            label,
            version,
            rating,
            low or 0.0,
            high or 0.0,
            matches,
            wins,
            faulted,
            tuple(form),
            version in paused,
            best or 0,
            worst or 0,
            boards or 0,
            Skill(mu, sigma),
            used.get(version),
            group == _UNPLACED or (group == _PLACED and is_provisional(low, high, beta, matches)),
        )
        ranked.append(tuple.__new__(Ranking, entry))  # takes a third of the time of Ranking(...)
    return ranked


def _sort_key(row: Sequence[Any]) -> tuple[int, float, int]:
    """Return the key by which rankings are sorted in ascending order.

    Placed versions come first, by rating. Then come versions with an estimate and too few boards, by rating, and then
    versions without an estimate, by number of rated boards.
    """
    version, matches, rating = row[3], row[6], row[10]
    if rating is None:
        return _UNKNOWN, -matches, version
    return _PLACED if is_placed(matches) else _UNPLACED, -rating, version


def standings(connection: Connection, version_id: int) -> dict[str, tuple[Skill, int]]:
    """Return the pairing skill of a version and its number of rated boards on each ladder, by name.

    Where the version was never rated, the skill is its prior.

    Raises:
        NoSuchEntry: If there is no such version.
    """
    line = _line(connection, version_id)
    query = (
        select(LADDERS.c.name, RATINGS)
        .join(LADDERS, LADDERS.c.id == RATINGS.c.ladder_id)
        .where(RATINGS.c.version_id.in_(sorted(line)))
    )
    rated: dict[str, dict[int, RatingState]] = {}
    for row in connection.execute(query).all():
        rated.setdefault(row.name, {})[row.version_id] = RatingState(Skill(row.mu, row.sigma), row.matches)
    by_ladder = {}
    for ladder in ladders(connection):
        standing = standing_of(version_id, rated.get(ladder.name, {}), line, ladder.rating)
        by_ladder[ladder.name] = (standing.skill, standing.matches)
    return by_ladder


def _line(connection: Connection, version_id: int) -> dict[int, int | None]:
    """Return the parents of a version and of all its ancestors.  Raises NoSuchEntry."""
    line = select(VERSIONS.c.id, VERSIONS.c.parent_id).where(VERSIONS.c.id == version_id).cte(recursive=True)
    before = (VERSIONS.c.id == line.c.parent_id) & (VERSIONS.c.id < line.c.id)  # ends even if parents form a cycle
    line = line.union(select(VERSIONS.c.id, VERSIONS.c.parent_id).join(line, before))
    parents = {row.id: row.parent_id for row in connection.execute(select(line))}
    if not parents:
        raise NoSuchEntry(f"there is no version {version_id}")
    return parents
