"""Who stands where on a ladder."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select, bindparam, func, select

from cutpurse.leaderboard.errors import NotFound
from cutpurse.leaderboard.queries.ladders import ladders
from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.relations import BOTS, LADDERS, OWNERS, PAUSES, RATINGS, VERSIONS
from cutpurse.leaderboard.standings import Standing, standing_of

__all__ = ["WIDTH", "Ranking", "rankings", "standings"]

WIDTH: Final = 1.96  # standard deviations to either side hold 95 % of a normal distribution


class Ranking(NamedTuple):
    """A version's place on a ladder, 1 the best by `skill.exposed`; equals share.

    wins: first places, shared ones too; faulted: matches with a fault of its own.
    low, high: between these the skill lies with a probability of 95 %, if the model holds.
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


# All that is kept of each rated version; or, of each bot, of the newest of its versions: SQLite takes the other columns
# from the row that has the maximum.
_EVERY: Final = select(RATINGS).where(RATINGS.c.ladder_id == bindparam("ladder"))
_NEWEST: Final = (
    select(
        func.max(RATINGS.c.version_id).label("version_id"),
        *(RATINGS.c[name] for name in ("mu", "sigma", "matches", "wins", "faulted", "form")),
    )
    .join(VERSIONS, VERSIONS.c.id == RATINGS.c.version_id)
    .where(RATINGS.c.ladder_id == bindparam("ladder"))
    .group_by(VERSIONS.c.bot_id)
)


def _named(rated: Select[Any]) -> Select[Any]:
    chosen = rated.subquery()
    return select(
        OWNERS.c.name,
        BOTS.c.name,
        VERSIONS.c.label,
        *(chosen.c[name] for name in ("version_id", "mu", "sigma", "matches", "wins", "faulted", "form")),
    ).select_from(
        chosen.join(VERSIONS, VERSIONS.c.id == chosen.c.version_id)
        .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
        .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
    )


_NAMED_EVERY: Final = _named(_EVERY)
_NAMED_NEWEST: Final = _named(_NEWEST)
_PAUSED: Final = select(PAUSES.c.version_id).where(PAUSES.c.lifted.is_(None))


def rankings(connection: Connection, ladder: str, every_version: bool = False) -> list[Ranking]:
    """The ranking of a ladder, best first: of each bot the newest version that was rated there, or every version.

    Raises NotFound.
    """
    query = _NAMED_EVERY if every_version else _NAMED_NEWEST
    rows = connection.execute(query, {"ladder": ladder_id_of(connection, ladder)}).all()
    paused = set(connection.scalars(_PAUSED))
    believed = sorted([(3 * sigma - mu, version, at) for at, (_, _, _, version, mu, sigma, *_) in enumerate(rows)])
    ranked: list[Ranking] = []
    last, place = None, 0
    for at, (hidden, _, row) in enumerate(believed, 1):  # the least hidden, the most exposed
        owner, bot, label, version, mu, sigma, matches, wins, faulted, form = rows[row]
        if hidden != last:
            last, place = hidden, at
        half = WIDTH * sigma
        skill, low, high, is_paused = Skill(mu, sigma), mu - half, mu + half, version in paused
        ranked.append(
            Ranking(place, owner, bot, label, version, skill, matches, wins, faulted, low, high, tuple(form), is_paused)
        )
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
