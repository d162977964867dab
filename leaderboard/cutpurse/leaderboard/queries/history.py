"""The history of a bot's rating, board by board, and its results against each opponent."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, select

from cutpurse.leaderboard.comparisons import PLAIN, Comparison, comparisons_of
from cutpurse.leaderboard.dialects import driver_sql, listed_integers
from cutpurse.leaderboard.queries.names import bot_id_of, ladder_id_of, versions_of
from cutpurse.leaderboard.ratings import Skill, TrueSkill, win_probability
from cutpurse.leaderboard.relations import BOTS, EPOCHS, LADDERS, OPPONENTS, OWNERS, RATINGS

__all__ = ["HistoryStep", "Opponent", "StepOpponent", "history", "opponents"]

_NEWEST: Final = 2**63 - 1  # above every number


class StepOpponent(NamedTuple):
    """An opponent of a version on a rated board.

    Attributes:
        owner: Owner of the opponent.
        bot: Name of the opponent.
        version: Version of the opponent.
        before: Skill of the opponent before the board.
        likely: Predicted probability that the version would be ahead, by the parameters of that epoch; a tie counts
            half.
        outcome: 1 if the version was ahead, 0 for a tie, -1 if it was behind.
    """

    owner: str
    bot: str
    version: str
    before: Skill
    likely: float
    outcome: int


class HistoryStep(NamedTuple):
    """The change of a rating by a board.

    Attributes:
        number: Number of the board among the rated boards of the ladder.
        match: Last match of the version on the board.
        finished: End of that match.
        version: Label of the version.
        place: Place in the comparison.
        before: Skill before the board.
        after: Skill after the board.
        matches: All matches of the version on the board.
        opponents: Opponents in the comparison.
    """

    number: int
    match: str
    finished: datetime
    version: str
    place: int
    before: Skill
    after: Skill
    matches: tuple[str, ...]
    opponents: tuple[StepOpponent, ...]


@dataclass(frozen=True, slots=True)
class Opponent:
    """The head-to-head results of a bot against another, all versions combined.

    Attributes:
        owner: Owner of the opponent.
        bot: Name of the opponent.
        matches: Number of rated comparisons of both.
        ahead: Number of those with the bot ahead of the opponent.
        level: Number of ties.
    """

    owner: str
    bot: str
    matches: int
    ahead: int
    level: int


_LAST: Final = (
    select(RATINGS.c.version_id, RATINGS.c.sequence)
    .where(RATINGS.c.ladder_id == bindparam("ladder"), RATINGS.c.version_id.in_(listed_integers("versions")))
    .order_by(RATINGS.c.sequence.desc())
)
_KIND: Final = select(LADDERS.c.boards).where(LADDERS.c.id == bindparam("ladder"))
_EPOCHS: Final = select(EPOCHS.c.number, EPOCHS.c.settings).where(EPOCHS.c.ladder_id == bindparam("ladder"))
# The changes of a version, the newest first, and all seats of boards. CROSS JOIN sets the join order: SQLite does not
# know that a board has few seats, and would scan all seats of a version for each board.
_CHANGES: Final = """
SELECT sequence, mu_before, sigma_before, mu_after, sigma_after FROM rating_changes
WHERE ladder_id = ? AND version_id = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?
"""
_SAT: Final = """
SELECT boards.sequence, matches.number, seats.version_id, seats.place, matches.id, matches.finished, boards.epoch,
  rating_changes.mu_before, rating_changes.sigma_before
FROM json_each(?) AS asked
  CROSS JOIN boards ON boards.ladder_id = ? AND boards.sequence = asked.value
  CROSS JOIN matches ON matches.board_id = boards.id
  CROSS JOIN seats ON seats.match_number = matches.number
  LEFT JOIN rating_changes ON rating_changes.ladder_id = boards.ladder_id
    AND rating_changes.sequence = boards.sequence AND rating_changes.version_id = seats.version_id
ORDER BY boards.sequence, matches.number, seats.seat
"""
_NAMES: Final = """
SELECT versions.id, owners.name, bots.name, versions.label
FROM json_each(?) AS asked JOIN versions ON versions.id = asked.value
  JOIN bots ON bots.id = versions.bot_id JOIN owners ON owners.id = bots.owner_id
"""


def history(
    connection: Connection,
    ladder: str,
    owner: str,
    bot: str,
    version: str | None = None,
    limit: int = 100,
    before: int | None = None,
) -> list[HistoryStep]:
    """List the rated boards of a version, or of all versions of a bot, the newest first.

    Args:
        connection: Connection to read from.
        ladder: Name of the ladder.
        owner: Name of the owner.
        bot: Name of the bot.
        version: Label of the version. Default: all versions.
        limit: Maximum number of steps.
        before: Return only older boards than this number, the last one of the previous page.

    Raises:
        NoSuchEntry: If there is no such ladder, bot or version.
    """
    ladder_id = ladder_id_of(connection, ladder)
    versions = versions_of(connection, owner, bot, version)
    changes: list[tuple[int, int, tuple[float, ...]]] = []  # number, version, mu and sigma before and after
    # Versions by their last board, the newest first: stop when the page is full and the other versions are older.
    for version_id, last in connection.execute(_LAST, {"ladder": ladder_id, "versions": json.dumps(versions)}).all():
        if len(changes) >= limit and changes[limit - 1][0] > last:
            break
        parameters = (ladder_id, version_id, before or _NEWEST, limit)
        rows = connection.exec_driver_sql(driver_sql(connection, _CHANGES), parameters).all()
        changes += [(number, version_id, (a, b, c, d)) for number, a, b, c, d in rows]
        changes.sort(reverse=True)
        del changes[limit:]
    boards = _Boards(connection, ladder_id, {number for number, *_ in changes})
    return [boards.step(number, version, Skill(a, b), Skill(c, d)) for number, version, (a, b, c, d) in changes]


@lru_cache(maxsize=64)
def _likely_by(settings: str) -> Callable[[Skill, Skill], float]:
    """Return `win_probability` for the settings of an epoch; cached, because most ladders have the same settings."""
    return win_probability(TrueSkill.from_json(settings))


class _Taken(NamedTuple):
    """A row of `_SAT`: a seat of a rated board; mu and sigma are those before the board."""

    number: int
    match_number: int
    version: int
    place: int
    match: str
    finished: str | datetime  # SQLite has no type for timestamps
    epoch: int
    mu: float | None
    sigma: float | None


class _Boards:
    """Rated boards of a ladder with their seats."""

    def __init__(self, connection: Connection, ladder_id: int, numbers: set[int]) -> None:
        parameters = {"ladder": ladder_id}
        self._kind = connection.scalar(_KIND, parameters) or PLAIN
        epochs = connection.execute(_EPOCHS, parameters).all()
        self._likely = {number: _likely_by(settings) for number, settings in epochs}
        rows = connection.exec_driver_sql(driver_sql(connection, _SAT), (json.dumps(sorted(numbers)), ladder_id)).all()
        taken = list(map(_Taken._make, rows))
        self._seats = {number: list(of_board) for number, of_board in groupby(taken, lambda seat: seat.number)}
        versions = json.dumps(sorted({seat.version for seat in taken}))
        self._names: dict[int, tuple[str, str, str]] = {
            version: (owner, bot, label)
            for version, owner, bot, label in connection.exec_driver_sql(
                driver_sql(connection, _NAMES), (versions,)
            ).all()
        }

    def step(self, number: int, version: int, before: Skill, after: Skill) -> HistoryStep:
        """Describe what a board changed for a version."""
        seats = self._seats[number]
        mine = [seat for seat in seats if seat.version == version]
        versions, places = self._field(seats, version)
        place = places[versions.index(version)]
        likely = self._likely[seats[0].epoch]
        believed = {seat.version: (seat.mu, seat.sigma) for seat in seats}
        names = self._names
        opponents = []
        for other, its in zip(versions, places, strict=True):
            mu, sigma = believed[other]
            if other == version or mu is None or sigma is None:  # missing only in a damaged ledger
                continue
            skill = Skill(mu, sigma)
            outcome = (its > place) - (its < place)
            opponents.append(StepOpponent(*names[other], skill, likely(before, skill), outcome))
        last = mine[-1]
        finished = last.finished if isinstance(last.finished, datetime) else datetime.fromisoformat(last.finished)
        matches = tuple([seat.match for seat in mine])
        return HistoryStep(
            number,
            last.match,
            finished.replace(tzinfo=UTC),
            names[version][2],
            place,
            before,
            after,
            matches,
            tuple(opponents),
        )

    def _field(self, seats: Sequence[_Taken], version: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the versions and places of the comparison that contains a version."""
        if seats[0].match_number == seats[-1].match_number:  # a fast path, because most boards have one match
            return tuple([seat.version for seat in seats]), tuple([seat.place for seat in seats])
        matches = []
        for _, of_match in groupby(seats, lambda seat: seat.match_number):
            versions, places = zip(*((seat.version, seat.place) for seat in of_match), strict=True)
            matches.append(Comparison(versions, places, (0,) * len(places)))
        (field,) = [field for field in comparisons_of(self._kind, matches) if version in field.versions]
        return field.versions, field.places


_MET: Final = (
    select(OPPONENTS.c.other_id.label("id"), OPPONENTS.c.matches, OPPONENTS.c.ahead, OPPONENTS.c.level)
    .where(OPPONENTS.c.bot_id == bindparam("bot"), OPPONENTS.c.ladder_id == bindparam("ladder"))
    .union_all(
        select(
            OPPONENTS.c.bot_id,
            OPPONENTS.c.matches,
            OPPONENTS.c.matches - OPPONENTS.c.ahead - OPPONENTS.c.level,
            OPPONENTS.c.level,
        ).where(OPPONENTS.c.other_id == bindparam("bot"), OPPONENTS.c.ladder_id == bindparam("ladder"))
    )
    .subquery()
)
_OPPONENTS: Final = select(OWNERS.c.name, BOTS.c.name, _MET.c.matches, _MET.c.ahead, _MET.c.level).select_from(
    _MET.join(BOTS, BOTS.c.id == _MET.c.id).join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
)


def opponents(connection: Connection, ladder: str, owner: str, bot: str) -> list[Opponent]:
    """List the opponents of a bot on a ladder, the most frequent first.  Raises NoSuchEntry."""
    parameters = {"ladder": ladder_id_of(connection, ladder), "bot": bot_id_of(connection, owner, bot)}
    met = [Opponent(*row) for row in connection.execute(_OPPONENTS, parameters).all()]
    met.sort(key=lambda opponent: (-opponent.matches, opponent.owner, opponent.bot))
    return met
