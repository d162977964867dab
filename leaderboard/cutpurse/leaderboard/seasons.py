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

from sqlalchemy import Connection, Row, insert, or_, select, update

from cutpurse.leaderboard import events, tournaments
from cutpurse.leaderboard.errors import NoSuchEntry
from cutpurse.leaderboard.events import FINISHED, SEASON, SERIES, STOPPED, TOURNAMENT, EventEntry, TooManyEvents
from cutpurse.leaderboard.ladders import NewLadder, create_ladder
from cutpurse.leaderboard.queries.names import bot_id_of
from cutpurse.leaderboard.relations import (
    BOTS,
    EVENT_BOTS,
    EVENT_LADDERS,
    EVENTS,
    LADDERS,
    OWNERS,
    VERSIONS,
)
from cutpurse.leaderboard.write_hooks import SeasonOver, send

__all__ = [
    "BREAK",
    "ENDING",
    "FINAL",
    "OVER",
    "PHASES",
    "PLAYING",
    "NewSeason",
    "SeasonBot",
    "SeasonState",
    "begin_next",
    "end_final",
    "end_play",
    "note_bots",
    "put_table",
    "state",
    "series_by_ladder",
    "start",
    "stop",
]

PLAYING: Final = "playing"  # matches are played in the divisions
ENDING: Final = "ending"  # its ladders are frozen; the last matches are played to their end
FINAL: Final = "final"  # the table is final, and the final is played
BREAK: Final = "break"  # it is over, and the next season has not begun
OVER: Final = "over"  # the next season has begun, or it was the last one
PHASES: Final = (PLAYING, ENDING, FINAL, BREAK, OVER, STOPPED)
_ANY: Final = 1_000_000  # finals are not limited as tournaments of hosts are


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

    series: EventEntry
    number: int
    phase: str
    began: datetime
    ended: datetime | None
    next_at: datetime | None
    tournament: str
    ladders: tuple[str, ...]
    bots: tuple[SeasonBot, ...]


# -- changes
def start(connection: Connection, new: EventEntry, first: NewSeason, max_open: int) -> SeasonState:
    """Store a series with its first season.

    Raises:
        TooManyEvents: If `max_open` series go on.
        InvalidEntry: If there is a ladder of one of these names.
        NoSuchEntry: If a bot does not exist.
    """
    if events.count_running(connection, SERIES) >= max_open:
        raise TooManyEvents(f"seasons of {max_open} plans go on, as many as may: stop one of them")
    events.add(connection, SERIES, new)
    _begin(connection, new, 1, first)
    return state(connection, new.id)


def note_bots(
    connection: Connection,
    series_id: str,
    number: int,
    newcomers: Iterable[SeasonBot],
    has_left: Mapping[tuple[str, str], bool],
) -> None:
    """Store bots that joined a season, and which of its bots have left or are back.  Raises NoSuchEntry."""
    known = {bot.key for bot in state(connection, series_id, number).bots}
    _add_bots(connection, series_id, number, [bot for bot in newcomers if bot.key not in known])
    for (owner, bot), is_gone in has_left.items():
        its = (EVENT_BOTS.c.bot_id == bot_id_of(connection, owner, bot), _of(EVENT_BOTS, series_id, number))
        connection.execute(update(EVENT_BOTS).where(*its).values(has_left=is_gone))


def end_play(connection: Connection, series_id: str, number: int, ended: datetime) -> SeasonState:
    """Freeze the ladders of a season that is played, so that its last matches are played to their end."""
    if _move(connection, series_id, number, PLAYING, phase=ENDING, ended=ended):
        _freeze(connection, series_id, number, ended)
    return state(connection, series_id, number)


def put_table(
    connection: Connection,
    series_id: str,
    number: int,
    table: Sequence[SeasonBot],
    final: EventEntry | None,
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
    if _move(connection, series_id, number, ENDING, phase=ENDING if final is None else FINAL):
        for bot in table:
            _put_place(connection, series_id, number, bot)
        if final is not None:
            tournaments.start(connection, final, _ANY, _season_id(series_id, number))
        else:
            champion = first_of_table(table)
            _conclude(connection, series_id, number, ENDING, "" if champion is None else _named(champion), next_at, now)
    return state(connection, series_id, number)


def first_of_table(table: Sequence[SeasonBot]) -> SeasonBot | None:
    """Return the first bot of the first division; None if nobody played there."""
    return next((bot for bot in table if (bot.division, bot.place) == (1, 1) and bot.matches), None)


def end_final(
    connection: Connection, series_id: str, number: int, champion: str, next_at: datetime | None, now: datetime
) -> SeasonState:
    """End a season whose final is over; `next_at` is None if it is the last one."""
    _conclude(connection, series_id, number, FINAL, champion, next_at, now)
    return state(connection, series_id, number)


def begin_next(connection: Connection, series_id: str, number: int, new: NewSeason) -> SeasonState:
    """Begin the season after season `number`, whose break is over.

    Raises:
        InvalidEntry: If there is a ladder of one of these names.
    """
    if _move(connection, series_id, number, BREAK, phase=OVER):
        _begin(connection, events.entry(connection, series_id), number + 1, new)
    return state(connection, series_id)


def stop(connection: Connection, series_id: str, now: datetime) -> SeasonState:
    """End a series and its season at once, without a final table; one that has ended stays as it is."""
    season = state(connection, series_id)
    if season.series.ended is None:
        _move(connection, series_id, season.number, season.phase, phase=STOPPED)
        _freeze(connection, series_id, season.number, now)
        if season.tournament:
            events.end(connection, season.tournament, STOPPED, now)
        events.end(connection, series_id, STOPPED, now)
    return state(connection, series_id)


# -- queries
def state(connection: Connection, series_id: str, number: int | None = None) -> SeasonState:
    """Return a season of a series, by default the newest.  Raises NoSuchEntry."""
    entry = events.entry(connection, series_id)
    number = entry.number if number is None else number
    season_id = _season_id(series_id, number)
    row = connection.execute(select(EVENTS).where(EVENTS.c.id == season_id)).first()
    if row is None:
        raise NoSuchEntry(f"seasons {series_id} have no season {number}")
    divisions = (
        select(LADDERS.c.name)
        .join(EVENT_LADDERS, EVENT_LADDERS.c.ladder_id == LADDERS.c.id)
        .where(EVENT_LADDERS.c.event_id == season_id)
        .order_by(EVENT_LADDERS.c.division)
    )
    bots = (
        select(EVENT_BOTS, OWNERS.c.name.label("owner"), BOTS.c.name.label("bot"), VERSIONS.c.label.label("version"))
        .join(BOTS, BOTS.c.id == EVENT_BOTS.c.bot_id)
        .join(OWNERS, OWNERS.c.id == BOTS.c.owner_id)
        .outerjoin(VERSIONS, VERSIONS.c.id == EVENT_BOTS.c.version_id)
        .where(EVENT_BOTS.c.event_id == season_id)
        .order_by(EVENT_BOTS.c.division, EVENT_BOTS.c.place, EVENT_BOTS.c.seed)
    )
    final = select(EVENTS.c.id).where(EVENTS.c.parent_id == season_id, EVENTS.c.format == TOURNAMENT)
    return SeasonState(
        entry,
        number,
        row.phase,
        row.created,
        row.ended,
        row.next_at,
        connection.scalar(final) or "",
        tuple(connection.scalars(divisions)),
        tuple(_bot(bot) for bot in connection.execute(bots)),
    )


def series_by_ladder(connection: Connection) -> dict[str, tuple[str, int]]:
    """Return the ID of the series and the number of the season of every ladder that is a division."""
    query = (
        select(LADDERS.c.name, EVENTS.c.parent_id, EVENTS.c.number)
        .join(EVENT_LADDERS, EVENT_LADDERS.c.ladder_id == LADDERS.c.id)
        .join(EVENTS, EVENTS.c.id == EVENT_LADDERS.c.event_id)
        .where(EVENTS.c.format == SEASON)
    )
    return {name: (series_id, number) for name, series_id, number in connection.execute(query)}


# -- rows
def _season_id(series_id: str, number: int) -> str:
    return f"{series_id}.{number}"


def _of(relation: Any, series_id: str, number: int) -> Any:
    return relation.c.event_id == _season_id(series_id, number)


def _move(connection: Connection, series_id: str, number: int, before: str, **values: object) -> bool:
    """Change a season that is in phase `before` and whose series goes on; return whether it was."""
    series = EVENTS.alias("series")
    runs = select(series.c.id).where(series.c.id == series_id, series.c.ended.is_(None)).exists()
    which = (EVENTS.c.id == _season_id(series_id, number)) & (EVENTS.c.phase == before) & runs
    return connection.execute(update(EVENTS).where(which).values(values)).rowcount == 1


def _begin(connection: Connection, series: EventEntry, number: int, new: NewSeason) -> None:
    season = EventEntry(_season_id(series.id, number), "", series.started_by, "", new.began)
    events.add(connection, SEASON, season, parent_id=series.id, number=number, phase=PLAYING)
    ladder_ids = [create_ladder(connection, ladder, new.began) for ladder in new.ladders]
    events.add_ladders(connection, season.id, ladder_ids, is_own=True)
    _add_bots(connection, series.id, number, new.bots)


def _add_bots(connection: Connection, series_id: str, number: int, bots: Sequence[SeasonBot]) -> None:
    rows = [
        {
            "event_id": _season_id(series_id, number),
            "bot_id": bot_id_of(connection, bot.owner, bot.bot),
            "division": bot.division,
            "seed": bot.seed,
            "is_late": bot.is_late,
            "has_left": bot.has_left,
        }
        for bot in bots
    ]
    if rows:
        connection.execute(insert(EVENT_BOTS), rows)


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
    its = (EVENT_BOTS.c.bot_id == bot_id, _of(EVENT_BOTS, series_id, number))
    connection.execute(update(EVENT_BOTS).where(*its).values(values))


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
            events.end(connection, series_id, FINISHED, now)
        season = state(connection, series_id, number)
        owners = {bot.owner for bot in season.bots}
        name, ladder = season.series.name, season.ladders[0]
        send(connection, SeasonOver(now, series_id, name, number, ladder, champion, owners))


def _freeze(connection: Connection, series_id: str, number: int, frozen: datetime) -> None:
    """Freeze the ladders of a season, if they are not frozen at that time."""
    its = select(EVENT_LADDERS.c.ladder_id).where(_of(EVENT_LADDERS, series_id, number))
    is_open = or_(LADDERS.c.frozen.is_(None), LADDERS.c.frozen > frozen)
    connection.execute(update(LADDERS).where(LADDERS.c.id.in_(its), is_open).values(frozen=frozen))


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
