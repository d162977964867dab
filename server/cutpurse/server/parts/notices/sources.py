"""Where notices come from: each function is called in the transaction of what happened, and queues what follows.

Where nobody wants notices, each costs one small query. This module decides what is worth a notice, and knows no
receiver.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Final, NamedTuple

from sqlalchemy import Connection, bindparam, delete, select

from cutpurse.leaderboard import version_tests
from cutpurse.leaderboard.dialects import driver_sql
from cutpurse.leaderboard.placing import is_placed
from cutpurse.leaderboard.relations import (
    BOTS,
    LADDERS,
    MATCHES,
    OWNERS,
    RATINGS,
    SEATS,
    VERSIONS,
)
from cutpurse.leaderboard.results import FinishedMatch
from cutpurse.leaderboard.rows import add_rows, stamp
from cutpurse.leaderboard.write_hooks import (
    DeletingLadder,
    EstimatesReplaced,
    LadderFrozen,
    ResultsWritten,
    SeasonOver,
    SubmissionSettled,
    TournamentBegins,
    VersionTestOver,
    WriteHooks,
)
from cutpurse.server.parts.notices import notice
from cutpurse.server.parts.notices.notice import Notice
from cutpurse.server.parts.notices.outbox import has_receivers, is_wanted, queue_notices
from cutpurse.server.parts.notices.tables import OVERTAKINGS

__all__ = [
    "listen",
    "placed_bots",
]

AGAIN: Final = timedelta(days=1)  # until the same bot is announced as overtaking the same bot on the same ladder


# -- results
def _note_results(connection: Connection, event: ResultsWritten) -> None:
    """Queue the notices of new results, whose rows are written already."""
    paused = {(int(str(row["version_id"])), int(str(row["match_number"]))): str(row["cause"]) for row in event.pauses}
    results = event.results
    _note_matches(connection, [result for result, _ in results if not result.is_void])
    noted = [(result, number) for result, number in results if not result.is_void and _is_noted(result, number, paused)]
    if not noted or not has_receivers(connection):
        return
    notices: list[Notice] = []
    for result, number in noted:
        for seat in result.seats:
            version = event.version_ids[seat.player]
            if seat.faults and not _faults_before(connection, version, number):
                facts = (*seat.player, result.ladder, result.match, seat.faults, seat.end_cause)
                notices.append(notice.bot_faulted(result.finished, *facts))
            if (cause := paused.get((version, number))) is not None:
                facts_of_pause = (*seat.player, result.ladder, result.match, cause)
                notices.append(notice.bot_paused(result.finished, *facts_of_pause))
    queue_notices(connection, notices)


def _note_matches(connection: Connection, results: Sequence[FinishedMatch]) -> None:
    """Queue a notice for each seat of these matches, if a receiver wants such notices."""
    if results and is_wanted(connection, "match_over"):
        notices = [
            notice.match_over(
                *(result.finished, *seat.player, result.ladder, result.match), place=seat.place, seats=len(result.seats)
            )
            for result in results
            for seat in result.seats
            if seat.place is not None
        ]
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
def _note_submission(connection: Connection, event: SubmissionSettled) -> None:
    if not has_receivers(connection):
        return
    if event.is_accepted:
        queue_notices(connection, [notice.submission_accepted(event.at, *event.player)])
    else:
        queue_notices(connection, [notice.submission_rejected(event.at, *event.player, event.why)])


# -- ladders
def _note_frozen(connection: Connection, event: LadderFrozen) -> None:
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
        .where(LADDERS.c.name == event.ladder)
    )
    queue_notices(connection, [notice.ladder_frozen(event.at, event.ladder, set(connection.scalars(owners)))])


# -- events
def _note_season_over(connection: Connection, event: SeasonOver) -> None:
    if has_receivers(connection):
        facts = (event.series, event.name, event.number, event.ladder, event.champion, event.owners)
        queue_notices(connection, [notice.season_over(event.at, *facts)])


def _note_tournament(connection: Connection, event: TournamentBegins) -> None:
    if is_wanted(connection, "tournament_begins"):
        facts = (event.event, event.ladder, event.bots, event.owners)
        queue_notices(connection, [notice.tournament_begins(event.at, *facts)])


def _note_test_over(connection: Connection, event: VersionTestOver) -> None:
    if is_wanted(connection, "test_over"):
        facts = (event.event, event.ladder, event.new, event.old, event.outcome)
        boards = version_tests.count_boards(connection, event.event)
        queue_notices(connection, [notice.test_over(event.at, *facts, boards)])


# -- rankings
class PlacedBot(NamedTuple):
    """A bot with a place: its ID, its owner and name, its place, and the estimate of its newest rated version.

    `best` and `worst` are the ends of its rank range.
    """

    id: int
    owner: str
    bot: str
    place: int
    mu: float
    best: int
    worst: int

    def is_surely_above(self, other: PlacedBot) -> bool:
        """Return whether the whole rank range of this bot is better than that of another one."""
        return 0 < self.worst < other.best


_ESTIMATED: Final = """
SELECT bots.id, owners.name, bots.name, estimates.mu, estimates.best, estimates.worst, ratings.matches
FROM (SELECT max(version_id) AS version_id FROM ratings JOIN versions ON versions.id = version_id
      WHERE ladder_id = :ladder GROUP BY versions.bot_id) AS newest
  JOIN ratings ON ratings.ladder_id = :ladder AND ratings.version_id = newest.version_id
  JOIN estimates ON estimates.ladder_id = :ladder AND estimates.version_id = newest.version_id
  JOIN versions ON versions.id = newest.version_id JOIN bots ON bots.id = versions.bot_id
  JOIN owners ON owners.id = bots.owner_id
ORDER BY estimates.mu DESC, newest.version_id
"""


def placed_bots(connection: Connection, ladder_id: int) -> list[PlacedBot]:
    """List the bots with a place on a ladder, the best first, as its ranking shows them.

    Where nobody wants notices, this returns an empty list, so that a later `_note_overtakings` does nothing.
    """
    if not has_receivers(connection):
        return []
    rows = connection.exec_driver_sql(driver_sql(connection, _ESTIMATED), {"ladder": ladder_id}).all()
    placed: list[PlacedBot] = []
    for bot_id, owner, bot, mu, best, worst, matches in rows:
        if is_placed(matches):
            is_tied = bool(placed) and placed[-1].mu == mu
            place = placed[-1].place if is_tied else len(placed) + 1
            placed.append(PlacedBot(bot_id, owner, bot, place, mu, best, worst))
    return placed


@contextmanager
def _noting_overtakings(connection: Connection, event: EstimatesReplaced) -> Iterator[None]:
    before = placed_bots(connection, event.ladder_id)
    yield
    _note_overtakings(connection, event, before)
    _note_separations(connection, event, before)


def _note_overtakings(connection: Connection, event: EstimatesReplaced, before: Sequence[PlacedBot]) -> None:
    """Queue a notice for each bot that others have overtaken, unless the last day had one about the same two bots.

    A bot that had no place before overtakes those below it, too.

    Args:
        connection: Connection in a transaction.
        event: The new estimates of a ladder.
        before: Its placed bots before them.
    """
    if not before:
        return
    ladder_id, at = event.ladder_id, event.made
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
    placed = placed_bots(connection, ladder_id)
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
                notices.append(notice.bot_overtaken(at, bot.owner, bot.bot, event.ladder, bot.place, named))
                rows += [
                    {"ladder_id": ladder_id, "bot_id": bot.id, "other_id": other.id, "at": stamp(at)}
                    for other in others
                ]
        insort(above, (places.get(bot.id, last), index))
    add_rows(connection, OVERTAKINGS, rows, replaces=True)
    queue_notices(connection, notices)


def _note_separations(connection: Connection, event: EstimatesReplaced, before: Sequence[PlacedBot]) -> None:
    """Queue a notice for each bot whose rank range does not overlap any more with that of others."""
    if not before or not is_wanted(connection, "bot_separated"):
        return
    former = {bot.id: bot for bot in before}
    placed = [bot for bot in placed_bots(connection, event.ladder_id) if bot.id in former]
    notices = []
    for bot in placed:
        old = former[bot.id]
        met = [
            other
            for other in placed
            if not old.is_surely_above(former[other.id]) and not former[other.id].is_surely_above(old)
        ]
        above = [(other.owner, other.bot) for other in met if other.is_surely_above(bot)]
        below = [(other.owner, other.bot) for other in met if bot.is_surely_above(other)]
        if above or below:
            notices.append(notice.bot_separated(event.made, bot.owner, bot.bot, event.ladder, above, below))
    queue_notices(connection, notices)


def _forget_overtakings(connection: Connection, event: DeletingLadder) -> None:
    connection.execute(delete(OVERTAKINGS).where(OVERTAKINGS.c.ladder_id == event.ladder_id))


def listen(hooks: WriteHooks) -> None:
    """Queue notices of what the core writes, in the same transactions."""
    hooks.on(ResultsWritten, _note_results)
    hooks.on(SubmissionSettled, _note_submission)
    hooks.on(LadderFrozen, _note_frozen)
    hooks.on(DeletingLadder, _forget_overtakings)
    hooks.on(SeasonOver, _note_season_over)
    hooks.on(TournamentBegins, _note_tournament)
    hooks.on(VersionTestOver, _note_test_over)
    hooks.around(EstimatesReplaced, _noting_overtakings)
