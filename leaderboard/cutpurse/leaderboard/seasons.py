"""The stored series of seasons of a server, with the divisions and bots of each season.

A season goes through phases. Each change of the phase is one transaction, which does nothing if the season is not in
the phase before it. So a server that is killed at any moment repeats nothing. Every function works in the transaction
of its connection. This module knows no rule of a season: what a plan means, and who moves where, is for its callers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, and_, func, insert, or_, select, update

from cutpurse.leaderboard.errors import InvalidEntry, NoSuchEntry
from cutpurse.leaderboard.ladders import NewLadder, create_ladder
from cutpurse.leaderboard.notices.sources import note_season_over
from cutpurse.leaderboard.queries.names import bot_id_of
from cutpurse.leaderboard.relations import (
    BOTS,
    LADDERS,
    OWNERS,
    SEASON_BOTS,
    SEASON_DIVISIONS,
    SEASON_SERIES,
    SEASONS,
    VERSIONS,
)
from cutpurse.leaderboard.tournaments import STOPPED as TOURNAMENT_STOPPED
from cutpurse.leaderboard.tournaments import TournamentEntry, end_tournament, start_tournament

__all__ = [
    "BREAK",
    "ENDING",
    "FINAL",
    "FINISHED",
    "OVER",
    "PHASES",
    "PLAYING",
    "STOPPED",
    "NewSeason",
    "SeasonBot",
    "SeasonState",
    "SeriesEntry",
    "begin_next_season",
    "end_season_final",
    "end_season_play",
    "note_season_bots",
    "put_season_table",
    "season",
    "series_by_ladder",
    "series_list",
    "start_series",
    "stop_series",
]

PLAYING: Final = "playing"  # matches are played in the divisions
ENDING: Final = "ending"  # its ladders are frozen; the last matches are played to their end
FINAL: Final = "final"  # the table is final, and the final is played
BREAK: Final = "break"  # it is over, and the next season has not begun
OVER: Final = "over"  # the next season has begun, or it was the last one
STOPPED: Final = "stopped"  # a host stopped it
PHASES: Final = (PLAYING, ENDING, FINAL, BREAK, OVER, STOPPED)
FINISHED: Final = "finished"  # outcome of a series that had all its seasons
_ANY: Final = 1_000_000  # finals are not limited as tournaments of hosts are


@dataclass(frozen=True, slots=True)
class SeriesEntry:
    """A stored series; `ended` is None and `outcome` empty while seasons go on, `number` is its newest season."""

    id: str
    name: str
    started_by: str
    plan: str
    created: datetime
    ended: datetime | None = None
    outcome: str = ""
    number: int = 1


@dataclass(frozen=True, slots=True)
class SeasonBot:
    """A bot in a division of a season.

    Attributes:
        owner: Name of its owner.
        bot: Its name.
        division: Number of its division, 1 is the first.
        seed: Its order at the begin; newcomers come last.
        is_late: It came when the season could not wait for its matches any more.
        has_left: It has been away for too long.
        place: Its place in the final table, 1 is best; None before there is one.
        version: Its newest rated version in the final table; None before, or without a rated match.
        rating: Its rating in the final table; None before, or without one.
        matches: Its rated boards in the final table; None before.
        next_division: Its division in the next season, by the final table; 0 if it has left, None before.
    """

    owner: str
    bot: str
    division: int
    seed: int
    is_late: bool = False
    has_left: bool = False
    place: int | None = None
    version: str | None = None
    rating: float | None = None
    matches: int | None = None
    next_division: int | None = None

    @property
    def key(self) -> tuple[str, str]:
        """Owner and name."""
        return self.owner, self.bot


@dataclass(frozen=True, slots=True)
class NewSeason:
    """A season to begin: the ladders of its divisions, the first one first, and its bots."""

    ladders: Sequence[NewLadder]
    bots: Sequence[SeasonBot]
    began: datetime


@dataclass(frozen=True, slots=True)
class SeasonState:
    """A season as it is stored.

    Attributes:
        series: Its series.
        number: Its number, from 1.
        phase: One of `PHASES`.
        began: When it began.
        ended: When the play in its divisions ended; None while it goes on.
        next_at: When the next season begins; None if that is not known, or there is none.
        tournament: ID of its final; empty if there is none.
        ladders: Ladders of its divisions, the first one first.
        bots: Its bots, by division; within it by place, or by seed.
    """

    series: SeriesEntry
    number: int
    phase: str
    began: datetime
    ended: datetime | None
    next_at: datetime | None
    tournament: str
    ladders: tuple[str, ...]
    bots: tuple[SeasonBot, ...]


# -- changes
def start_series(connection: Connection, new: SeriesEntry, first: NewSeason, max_open: int) -> SeasonState:
    """Store a series with its first season.

    Raises:
        InvalidEntry: If `max_open` series go on, or there is a ladder of one of these names.
        NoSuchEntry: If a bot does not exist.
    """
    running = select(func.count()).select_from(SEASON_SERIES).where(SEASON_SERIES.c.ended.is_(None))
    if (connection.scalar(running) or 0) >= max_open:
        raise InvalidEntry(f"seasons of {max_open} plans go on, as many as may: stop one of them")
    row = {
        "id": new.id,
        "name": new.name,
        "started_by": new.started_by,
        "plan": new.plan,
        "created": new.created,
        "ended": None,
        "outcome": "",
    }
    connection.execute(insert(SEASON_SERIES).values(row))
    _begin(connection, new.id, 1, first)
    return season(connection, new.id)


def note_season_bots(
    connection: Connection,
    series_id: str,
    number: int,
    newcomers: Iterable[SeasonBot],
    has_left: Mapping[tuple[str, str], bool],
) -> None:
    """Store bots that joined a season, and which of its bots have left or are back.  Raises NoSuchEntry."""
    known = {bot.key for bot in season(connection, series_id, number).bots}
    _add_bots(connection, series_id, number, [bot for bot in newcomers if bot.key not in known])
    for (owner, bot), is_gone in has_left.items():
        its = (SEASON_BOTS.c.bot_id == bot_id_of(connection, owner, bot), *_of(SEASON_BOTS, series_id, number))
        connection.execute(update(SEASON_BOTS).where(*its).values(has_left=is_gone))


def end_season_play(connection: Connection, series_id: str, number: int, ended: datetime) -> SeasonState:
    """Freeze the ladders of a season that is played, so that its last matches are played to their end."""
    if _move(connection, series_id, number, PLAYING, phase=ENDING, ended=ended):
        _freeze(connection, series_id, number, ended)
    return season(connection, series_id, number)


def put_season_table(
    connection: Connection,
    series_id: str,
    number: int,
    table: Sequence[SeasonBot],
    final: TournamentEntry | None,
    next_at: datetime | None,
    now: datetime,
) -> SeasonState:
    """Store the final table of a season whose last match is over, and start its final or end the season.

    Args:
        connection: Connection in a transaction.
        series_id: The series.
        number: Number of the season.
        table: All its bots, with places.
        final: The final; None if there is none.
        next_at: Begin of the next season, if there is no final; None if this season is the last one.
        now: Present time.
    """
    phase = {"phase": ENDING} if final is None else {"phase": FINAL, "tournament_id": final.id}
    if _move(connection, series_id, number, ENDING, **phase):
        for bot in table:
            _put_place(connection, series_id, number, bot)
        if final is not None:
            start_tournament(connection, final, _ANY)
        else:
            champion = next((bot for bot in table if (bot.division, bot.place) == (1, 1)), None)
            _conclude(connection, series_id, number, ENDING, "" if champion is None else _named(champion), next_at, now)
    return season(connection, series_id, number)


def end_season_final(
    connection: Connection, series_id: str, number: int, champion: str, next_at: datetime | None, now: datetime
) -> SeasonState:
    """End a season whose final is over; `next_at` is None if it is the last one."""
    _conclude(connection, series_id, number, FINAL, champion, next_at, now)
    return season(connection, series_id, number)


def begin_next_season(connection: Connection, series_id: str, number: int, new: NewSeason) -> SeasonState:
    """Begin the season after season `number`, whose break is over.

    Raises:
        InvalidEntry: If there is a ladder of one of these names.
    """
    if _move(connection, series_id, number, BREAK, phase=OVER):
        _begin(connection, series_id, number + 1, new)
    return season(connection, series_id)


def stop_series(connection: Connection, series_id: str, now: datetime) -> SeasonState:
    """End a series and its season at once, without a final table; one that has ended stays as it is."""
    state = season(connection, series_id)
    if state.series.ended is None:
        _move(connection, series_id, state.number, state.phase, phase=STOPPED)
        _freeze(connection, series_id, state.number, now)
        if state.tournament:
            end_tournament(connection, state.tournament, TOURNAMENT_STOPPED, now)
        _end_series(connection, series_id, STOPPED, now)
    return season(connection, series_id)


# -- queries
def season(connection: Connection, series_id: str, number: int | None = None) -> SeasonState:
    """Return a season of a series, by default the newest.  Raises NoSuchEntry."""
    found = connection.execute(_series().where(SEASON_SERIES.c.id == series_id)).first()
    if found is None:
        raise NoSuchEntry(f"there are no seasons {series_id!r:.100}")
    entry = _entry(found)
    number = entry.number if number is None else number
    row = connection.execute(select(SEASONS).where(*_of(SEASONS, series_id, number))).first()
    if row is None:
        raise NoSuchEntry(f"seasons {series_id} have no season {number}")
    divisions = (
        select(LADDERS.c.name)
        .join(SEASON_DIVISIONS, SEASON_DIVISIONS.c.ladder_id == LADDERS.c.id)
        .where(*_of(SEASON_DIVISIONS, series_id, number))
        .order_by(SEASON_DIVISIONS.c.division)
    )
    bots = (
        select(SEASON_BOTS, OWNERS.c.name.label("owner"), BOTS.c.name.label("bot"), VERSIONS.c.label.label("version"))
        .join(BOTS, BOTS.c.id == SEASON_BOTS.c.bot_id)
        .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
        .outerjoin(VERSIONS, VERSIONS.c.id == SEASON_BOTS.c.version_id)
        .where(*_of(SEASON_BOTS, series_id, number))
        .order_by(SEASON_BOTS.c.division, SEASON_BOTS.c.place, SEASON_BOTS.c.seed, SEASON_BOTS.c.bot_id)
    )
    return SeasonState(
        entry,
        number,
        row.phase,
        row.began,
        row.ended,
        row.next_at,
        row.tournament_id,
        tuple(connection.scalars(divisions)),
        tuple(_bot(bot) for bot in connection.execute(bots)),
    )


def series_list(connection: Connection, only_running: bool = False, limit: int | None = None) -> list[SeriesEntry]:
    """List series, the newest first; optionally only those that go on."""
    query = _series().order_by(SEASON_SERIES.c.created.desc(), SEASON_SERIES.c.id.desc()).limit(limit)
    if only_running:
        query = query.where(SEASON_SERIES.c.ended.is_(None))
    return [_entry(row) for row in connection.execute(query)]


def series_by_ladder(connection: Connection) -> dict[str, tuple[str, int]]:
    """Return the ID of the series and the number of the season of every ladder that is a division."""
    query = select(LADDERS.c.name, SEASON_DIVISIONS.c.series_id, SEASON_DIVISIONS.c.number).join(
        SEASON_DIVISIONS, SEASON_DIVISIONS.c.ladder_id == LADDERS.c.id
    )
    return {name: (series_id, number) for name, series_id, number in connection.execute(query)}


# -- rows
def _of(relation: Any, series_id: str, number: int) -> tuple[Any, Any]:
    return relation.c.series_id == series_id, relation.c.number == number


def _move(connection: Connection, series_id: str, number: int, before: str, **values: object) -> bool:
    """Change a season that is in phase `before` and whose series goes on; return whether it was."""
    runs = select(SEASON_SERIES.c.id).where(SEASON_SERIES.c.id == series_id, SEASON_SERIES.c.ended.is_(None))
    which = and_(*_of(SEASONS, series_id, number), SEASONS.c.phase == before, SEASONS.c.series_id.in_(runs))
    return connection.execute(update(SEASONS).where(which).values(values)).rowcount == 1


def _begin(connection: Connection, series_id: str, number: int, new: NewSeason) -> None:
    row = {
        "series_id": series_id,
        "number": number,
        "phase": PLAYING,
        "began": new.began,
        "ended": None,
        "next_at": None,
        "tournament_id": "",
    }
    connection.execute(insert(SEASONS).values(row))
    for division, ladder in enumerate(new.ladders, 1):
        ladder_id = create_ladder(connection, ladder, new.began)
        its = {"series_id": series_id, "number": number, "division": division, "ladder_id": ladder_id}
        connection.execute(insert(SEASON_DIVISIONS).values(its))
    _add_bots(connection, series_id, number, new.bots)


def _add_bots(connection: Connection, series_id: str, number: int, bots: Sequence[SeasonBot]) -> None:
    rows = [
        {
            "series_id": series_id,
            "number": number,
            "bot_id": bot_id_of(connection, bot.owner, bot.bot),
            "division": bot.division,
            "seed": bot.seed,
            "is_late": bot.is_late,
            "has_left": bot.has_left,
        }
        for bot in bots
    ]
    if rows:
        connection.execute(insert(SEASON_BOTS), rows)


def _put_place(connection: Connection, series_id: str, number: int, bot: SeasonBot) -> None:
    bot_id = bot_id_of(connection, bot.owner, bot.bot)
    version = select(VERSIONS.c.id).where(VERSIONS.c.bot_id == bot_id, VERSIONS.c.label == bot.version)
    values = {
        "has_left": bot.has_left,
        "place": bot.place,
        "version_id": None if bot.version is None else connection.scalar(version),
        "rating": bot.rating,
        "matches": bot.matches,
        "next_division": bot.next_division,
    }
    its = (SEASON_BOTS.c.bot_id == bot_id, *_of(SEASON_BOTS, series_id, number))
    connection.execute(update(SEASON_BOTS).where(*its).values(values))


def _conclude(
    connection: Connection,
    series_id: str,
    number: int,
    before: str,
    champion: str,
    next_at: datetime | None,
    now: datetime,
) -> None:
    phase = OVER if next_at is None else BREAK
    if _move(connection, series_id, number, before, phase=phase, next_at=next_at):
        if next_at is None:
            _end_series(connection, series_id, FINISHED, now)
        state = season(connection, series_id, number)
        owners = {bot.owner for bot in state.bots}
        note_season_over(connection, now, series_id, state.series.name, number, state.ladders[0], champion, owners)


def _end_series(connection: Connection, series_id: str, outcome: str, now: datetime) -> None:
    its = SEASON_SERIES.c.id == series_id
    connection.execute(update(SEASON_SERIES).where(its).values(ended=now, outcome=outcome))


def _freeze(connection: Connection, series_id: str, number: int, frozen: datetime) -> None:
    """Freeze the ladders of a season, if they are not frozen at that time."""
    its = select(SEASON_DIVISIONS.c.ladder_id).where(*_of(SEASON_DIVISIONS, series_id, number))
    is_open = or_(LADDERS.c.frozen.is_(None), LADDERS.c.frozen > frozen)
    connection.execute(update(LADDERS).where(LADDERS.c.id.in_(its), is_open).values(frozen=frozen))


def _series() -> Select[Any]:
    newest = (
        select(func.max(SEASONS.c.number))
        .where(SEASONS.c.series_id == SEASON_SERIES.c.id)
        .correlate(SEASON_SERIES)
        .scalar_subquery()
    )
    return select(SEASON_SERIES, newest.label("number"))


def _entry(row: Row[*tuple[Any, ...]]) -> SeriesEntry:
    return SeriesEntry(row.id, row.name, row.started_by, row.plan, row.created, row.ended, row.outcome, row.number or 1)


def _bot(row: Row[*tuple[Any, ...]]) -> SeasonBot:
    return SeasonBot(
        row.owner,
        row.bot,
        row.division,
        row.seed,
        row.is_late,
        row.has_left,
        row.place,
        row.version,
        row.rating,
        row.matches,
        row.next_division,
    )


def _named(bot: SeasonBot) -> str:
    return f"{bot.owner}/{bot.bot}"
