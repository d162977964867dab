"""Who stands where on a ladder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from cutpurse.leaderboard.errors import NotFound
from cutpurse.leaderboard.queries.ladders import ladders
from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.relations import LADDERS, PAUSES, RATINGS, VERSIONS
from cutpurse.leaderboard.standings import Standing, standing_of

__all__ = ["WIDTH", "Ranking", "order", "rankings", "standings"]

WIDTH: Final = 1.96  # standard deviations to either side hold 95 % of a normal distribution


class Ranking(NamedTuple):
    """A version's place on a ladder, 1 the best; equals share.

    wins: first places, shared ones too; faulted: matches with a fault of its own.
    low, high: between these the skill lies with a probability of 95 %: by the estimate from all results together where
    there is one, else by the running rating, if its model holds. best, worst: the place that it deserves among the
    newest versions does, by the same estimate. estimated: the number of the last board that it is from. These three are
    0 where there is no estimate; and the places, where every version is asked for.
    form: places in the last rated matches, the newest first, at most ten.
    """

    place: int
    owner: str
    bot: str
    version: str
    version_id: int
    skill: Skill
    matches: int
    wins: int
    faulted: int
    low: float
    high: float
    form: tuple[int, ...]
    is_paused: bool
    best: int = 0
    worst: int = 0
    estimated: int = 0


def order(mu: float, sigma: float, estimated: float | None) -> float:
    """What rankings are sorted by, the most first; the one place that says so.

    Who is estimated stands where he is estimated. Who is not, as a newcomer before the next estimate, stands by
    mu - 3 sigma, the skill that he very likely has at least: so he is last at first.
    """
    return mu - 3 * sigma if estimated is None else estimated


# All rated versions of a ladder; or of each bot the newest. As text, and read as plain tuples: there may be thousands.
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
_NAMED_EVERY: Final = _NAMED.format(chosen=_EVERY)
_NAMED_NEWEST: Final = _NAMED.format(chosen=_NEWEST)
_PAUSED: Final = select(PAUSES.c.version_id).where(PAUSES.c.lifted.is_(None))


def rankings(connection: Connection, ladder: str, every_version: bool = False) -> list[Ranking]:
    """The ranking of a ladder, best first: of each bot the newest version that was rated there, or every version.

    Raises NotFound.
    """
    ladder_id = ladder_id_of(connection, ladder)
    answer = connection.exec_driver_sql(_NAMED_EVERY if every_version else _NAMED_NEWEST, {"ladder": ladder_id})
    rows: Sequence[Any] = answer.cursor.fetchall()
    answer.close()
    paused = set(connection.scalars(_PAUSED))
    hidden = sorted([(-order(row[4], row[5], row[10]), row[3], at) for at, row in enumerate(rows)])
    ranked: list[Ranking] = []
    last, place = None, 0
    for at, (key, version, number) in enumerate(hidden, 1):  # who has least to hide, has most to show
        owner, bot, label, _, mu, sigma, matches, wins, faulted, form, estimated, low, high, best, worst, boards = rows[
            number
        ]
        if key != last:
            last, place = key, at
        if estimated is None:
            half = WIDTH * sigma
            low, high, best, worst, boards = mu - half, mu + half, 0, 0, 0
        elif every_version:
            best = worst = 0
        skill, is_paused = Skill(mu, sigma), version in paused
        row = (
            place,
            owner,
            bot,
            label,
            version,
            skill,
            matches,
            wins,
            faulted,
            low,
            high,
            tuple(form),
            is_paused,
            best,
            worst,
            boards,
        )
        ranked.append(tuple.__new__(Ranking, row))  # as Ranking(...) does, in a third of its time
    return ranked


def standings(connection: Connection, version_id: int) -> dict[str, tuple[Skill, int]]:
    """What is believed of a version before its next match on each ladder, by name, and its rated matches there.

    Where it was never rated that is what its line or a newcomer begins with. Raises NotFound.
    """
    line = _line(connection, version_id)
    query = (
        select(LADDERS.c.name, RATINGS)
        .join(LADDERS, LADDERS.c.id == RATINGS.c.ladder_id)
        .where(RATINGS.c.version_id.in_(sorted(line)))
    )
    rated: dict[str, dict[int, Standing]] = {}
    for row in connection.execute(query).all():
        rated.setdefault(row.name, {})[row.version_id] = Standing(Skill(row.mu, row.sigma), row.matches)
    found = {}
    for ladder in ladders(connection):
        standing = standing_of(version_id, rated.get(ladder.name, {}), line, ladder.rating)
        found[ladder.name] = (standing.skill, standing.matches)
    return found


def _line(connection: Connection, version_id: int) -> dict[int, int | None]:
    """A version and all before it, each with the one before.  Raises NotFound."""
    line = select(VERSIONS.c.id, VERSIONS.c.parent_id).where(VERSIONS.c.id == version_id).cte(recursive=True)
    before = (VERSIONS.c.id == line.c.parent_id) & (VERSIONS.c.id < line.c.id)  # so that it ends, whatever is there
    line = line.union(select(VERSIONS.c.id, VERSIONS.c.parent_id).join(line, before))
    found = {row.id: row.parent_id for row in connection.execute(select(line))}
    if not found:
        raise NotFound(f"there is no version {version_id}")
    return found
