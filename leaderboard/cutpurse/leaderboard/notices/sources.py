"""Where notices come from: each function is called in the transaction of what happened, and queues what follows.

Where nobody wants notices, each costs one small query. This module decides what is worth a notice, and knows no
receiver.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, delete, select

from cutpurse.leaderboard.dialects import driver_sql
from cutpurse.leaderboard.notices import notice
from cutpurse.leaderboard.notices.notice import Notice
from cutpurse.leaderboard.notices.outbox import has_receivers, queue_notices
from cutpurse.leaderboard.placing import is_placed
from cutpurse.leaderboard.relations import (
    BOTS,
    LADDERS,
    MATCHES,
    OVERTAKINGS,
    OWNERS,
    RATINGS,
    SEATS,
    VERSIONS,
)
from cutpurse.leaderboard.results import FinishedMatch, Identity
from cutpurse.leaderboard.rows import add_rows, stamp

__all__ = [
    "PlacedBot",
    "causes_of_pauses",
    "note_frozen",
    "note_overtakings",
    "note_results",
    "note_season_over",
    "note_submission",
    "placed_bots",
]

AGAIN: Final = timedelta(days=1)  # until the same bot is announced as overtaking the same bot on the same ladder


# -- results
def note_results(
    connection: Connection,
    results: Sequence[tuple[FinishedMatch, int]],
    ids: Mapping[Identity, int],
    paused: Mapping[tuple[int, int], str],
) -> None:
    """Queue the notices of new results, whose rows are written already.

    Args:
        connection: Connection in a transaction.
        results: New results with their numbers, in the order of storing.
        ids: IDs of their versions.
        paused: Causes of new pauses, by version and number of the match.
    """
    noted = [(result, number) for result, number in results if not result.is_void and _is_noted(result, number, paused)]
    if not noted or not has_receivers(connection):
        return
    notices: list[Notice] = []
    for result, number in noted:
        for seat in result.seats:
            version = ids[seat.player]
            if seat.faults and not _faults_before(connection, version, number):
                facts = (*seat.player, result.ladder, result.match, seat.faults, seat.end_cause)
                notices.append(notice.bot_faulted(result.finished, *facts))
            if (cause := paused.get((version, number))) is not None:
                facts_of_pause = (*seat.player, result.ladder, result.match, cause)
                notices.append(notice.bot_paused(result.finished, *facts_of_pause))
    queue_notices(connection, notices)


def _is_noted(result: FinishedMatch, number: int, paused: Mapping[tuple[int, int], str]) -> bool:
    return any(seat.faults for seat in result.seats) or any(match == number for _, match in paused)


_BEFORE: Final = (
    select(SEATS.c.faults)
    .join(MATCHES, MATCHES.c.number == SEATS.c.match_number)
    .where(
        SEATS.c.version_id == bindparam("version"),
        SEATS.c.match_number < bindparam("number"),
        MATCHES.c.void_cause.is_(None),
    )
    .order_by(SEATS.c.match_number.desc())
    .limit(1)
)


def _faults_before(connection: Connection, version: int, number: int) -> int:
    """Return the faults of a version in its last match before match `number`; 0 if there is none."""
    return connection.scalar(_BEFORE, {"version": version, "number": number}) or 0


# -- submissions
def note_submission(connection: Connection, at: datetime, player: Identity, is_accepted: bool, why: str = "") -> None:
    """Queue the notice of a submission that was accepted or refused."""
    if has_receivers(connection):
        made = notice.submission_accepted(at, *player) if is_accepted else notice.submission_rejected(at, *player, why)
        queue_notices(connection, [made])


# -- ladders
def note_frozen(connection: Connection, ladder: str, frozen: datetime) -> None:
    """Queue the notice of a ladder that was frozen, for the host and the owners of its rated bots."""
    if not has_receivers(connection):
        return
    owners = (
        select(OWNERS.c.name)
        .distinct()
        .join(BOTS, BOTS.c.owner_id == OWNERS.c.id)
        .join(VERSIONS, VERSIONS.c.bot_id == BOTS.c.id)
        .join(RATINGS, RATINGS.c.version_id == VERSIONS.c.id)
        .join(LADDERS, LADDERS.c.id == RATINGS.c.ladder_id)
        .where(LADDERS.c.name == ladder)
    )
    queue_notices(connection, [notice.ladder_frozen(frozen, ladder, set(connection.scalars(owners)))])


# -- seasons
def note_season_over(
    connection: Connection,
    at: datetime,
    series: str,
    name: str,
    number: int,
    ladder: str,
    champion: str,
    owners: Collection[str],
) -> None:
    """Queue the notice of a season that ended, for the host and `owners`; see `notice.season_over`."""
    if has_receivers(connection):
        queue_notices(connection, [notice.season_over(at, series, name, number, ladder, champion, owners)])


# -- rankings
class PlacedBot(NamedTuple):
    """A bot with a place: its ID, its owner and name, its place, and the estimate of its newest rated version."""

    id: int
    owner: str
    bot: str
    place: int
    mu: float


_ESTIMATED: Final = """
SELECT bots.id, owners.name, bots.name, estimates.mu, estimates.low, estimates.high, ratings.matches
FROM (SELECT max(version_id) AS version_id FROM ratings JOIN versions ON versions.id = version_id
      WHERE ladder_id = :ladder GROUP BY versions.bot_id) AS newest
  JOIN ratings ON ratings.ladder_id = :ladder AND ratings.version_id = newest.version_id
  JOIN estimates ON estimates.ladder_id = :ladder AND estimates.version_id = newest.version_id
  JOIN versions ON versions.id = newest.version_id JOIN bots ON bots.id = versions.bot_id
  JOIN owners ON owners.id = bots.owner_id
ORDER BY estimates.mu DESC, newest.version_id
"""


def placed_bots(connection: Connection, ladder_id: int, beta: float) -> list[PlacedBot]:
    """List the bots with a place on a ladder, the best first, as its ranking shows them.

    Where nobody wants notices, this returns an empty list, so that a later `note_overtakings` does nothing.
    """
    if not has_receivers(connection):
        return []
    rows = connection.exec_driver_sql(driver_sql(connection, _ESTIMATED), {"ladder": ladder_id}).all()
    placed: list[PlacedBot] = []
    for bot_id, owner, bot, mu, low, high, matches in rows:
        if is_placed(low, high, beta, matches):
            is_tied = bool(placed) and placed[-1].mu == mu
            placed.append(PlacedBot(bot_id, owner, bot, placed[-1].place if is_tied else len(placed) + 1, mu))
    return placed


def note_overtakings(
    connection: Connection, ladder: str, ladder_id: int, before: Sequence[PlacedBot], beta: float, at: datetime
) -> None:
    """Queue a notice for each bot that others have overtaken, unless the last day had one about the same two bots.

    A bot that had no place before overtakes those below it, too.

    Args:
        connection: Connection in a transaction.
        ladder: Name of the ladder.
        ladder_id: ID of the ladder.
        before: Its placed bots before the new estimates.
        beta: The ladder's beta.
        at: When the estimates were made.
    """
    if not before:
        return
    places = {bot.id: bot.place for bot in before}
    last = len(before) + 1  # for bots that had no place
    connection.execute(delete(OVERTAKINGS).where(OVERTAKINGS.c.ladder_id == ladder_id, OVERTAKINGS.c.at <= at - AGAIN))
    known = {
        (row.bot_id, row.other_id)
        for row in connection.execute(select(OVERTAKINGS).where(OVERTAKINGS.c.ladder_id == ladder_id))
    }
    notices: list[Notice] = []
    rows: list[dict[str, object]] = []
    above: list[tuple[int, int]] = []  # former place, and index in the new order, of the bots above; sorted
    placed = placed_bots(connection, ladder_id, beta)
    for index, bot in enumerate(placed):
        if bot.id in places:
            passed = sorted(other for _, other in above[bisect_right(above, (places[bot.id], len(placed))) :])
            others = [
                placed[other]
                for other in passed
                if placed[other].place < bot.place and (bot.id, placed[other].id) not in known
            ]
            if others:
                named = [(other.owner, other.bot) for other in others]
                notices.append(notice.bot_overtaken(at, bot.owner, bot.bot, ladder, bot.place, named))
                rows += [
                    {"ladder_id": ladder_id, "bot_id": bot.id, "other_id": other.id, "at": stamp(at)}
                    for other in others
                ]
        insort(above, (places.get(bot.id, last), index))
    add_rows(connection, OVERTAKINGS, rows, replaces=True)
    queue_notices(connection, notices)


def causes_of_pauses(pauses: Sequence[Mapping[str, object]]) -> dict[tuple[int, int], str]:
    """Return the causes of new rows of `pauses`, by version and number of the match."""
    found = {}
    for row in pauses:
        version, number, cause = (row[name] for name in ("version_id", "match_number", "cause"))
        assert isinstance(version, int)
        assert isinstance(number, int)
        found[version, number] = str(cause)
    return found
