"""Who stands where on a ladder."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, select

from cutpurse.leaderboard.errors import NotFound
from cutpurse.leaderboard.queries.ladders import ladders
from cutpurse.leaderboard.queries.names import ladder_id_of
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.relations import BOTS, LADDERS, OWNERS, PAUSES, RATINGS, VERSIONS
from cutpurse.leaderboard.standings import Standing, standing_of

__all__ = ["WIDTH", "Ranking", "rankings", "standings"]

WIDTH: Final = 1.96  # standard deviations to either side hold 95 % of a normal distribution


@dataclass(frozen=True, slots=True)
class Ranking:
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


_RANKINGS: Final = (
    select(
        OWNERS.c.name,
        BOTS.c.name,
        VERSIONS.c.label,
        VERSIONS.c.bot_id,
        RATINGS.c.version_id,
        RATINGS.c.mu,
        RATINGS.c.sigma,
        RATINGS.c.matches,
        RATINGS.c.wins,
        RATINGS.c.faulted,
        RATINGS.c.form,
    )
    .select_from(
        RATINGS.join(VERSIONS, VERSIONS.c.id == RATINGS.c.version_id)
        .join(BOTS, BOTS.c.id == VERSIONS.c.bot_id)
        .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
    )
    .where(RATINGS.c.ladder_id == bindparam("ladder"))
    .order_by(RATINGS.c.version_id)
)
_PAUSED: Final = select(PAUSES.c.version_id).where(PAUSES.c.lifted.is_(None))


def rankings(connection: Connection, ladder: str, every_version: bool = False) -> list[Ranking]:
    """The ranking of a ladder, best first: of each bot the newest version that was rated there, or every version.

    Raises NotFound.
    """
    rows = [tuple(row) for row in connection.execute(_RANKINGS, {"ladder": ladder_id_of(connection, ladder)})]
    if not every_version:
        rows = list({row[3]: row for row in rows}.values())  # in the order of versions, so the last is the newest
    paused = set(connection.scalars(_PAUSED))
    ranked: list[Ranking] = []
    last, place = None, 0
    for at, row in enumerate(sorted(rows, key=lambda row: (3 * row[6] - row[5], row[4])), 1):
        owner, bot, label, _, version, mu, sigma, matches, wins, faulted, form = row
        skill = Skill(mu, sigma)
        if skill.exposed != last:
            last, place = skill.exposed, at
        half = WIDTH * sigma
        ranked.append(
            Ranking(
                *(place, owner, bot, label, version, skill, matches, wins, faulted),
                *(mu - half, mu + half, tuple(form), version in paused),
            )
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
    for row in connection.execute(query):
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
