"""The tables: owner -> bot -> version -> seat, and ladder -> board -> match -> seat, with the ratings that follow.

An owner authenticates with tokens; only their hashes are stored.

A match is written once and never changed. `ratings` and `opponents` are updated by each board. They and
`rating_changes` can be computed from the other tables, which are the ledger. This module knows no connection.
A new database gets these tables; `schema` tells how those of an older one are upgraded.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    DateTime,
    Dialect,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    UniqueConstraint,
    event,
    false,
    text,
)
from sqlalchemy.types import TypeDecorator
from sqlmodel import AutoString, Field, SQLModel

__all__ = [
    "TokenRow",
    "BoardRow",
    "BotRow",
    "DecisionLogRow",
    "EpochRow",
    "EstimateRow",
    "EventBoardRow",
    "EventBotRow",
    "EventLadderRow",
    "EventRow",
    "LadderRow",
    "LeaseRow",
    "MatchRow",
    "NotesRow",
    "OpenMatchRow",
    "OpponentsRow",
    "OwnerRow",
    "PauseRow",
    "RatingRow",
    "RatingChangeRow",
    "SeatRow",
    "ArenaRow",
    "Base",
    "UtcDateTime",
    "VersionRow",
]


class UtcDateTime(TypeDecorator[datetime]):
    """A timestamp, stored in UTC without its time zone."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


class Base(SQLModel):
    """The base of all tables; its naming convention gives every constraint a name, which migrations need."""

    metadata: ClassVar[MetaData] = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


@event.listens_for(Table, "after_parent_attach")
def _equal_in_both_databases(table: Table, metadata: MetaData) -> None:
    """Give columns the types that make PostgreSQL do as SQLite: integers of 64 bits, texts ordered by code points.

    So it is for every table of `Base`, wherever it is declared.
    """
    if metadata is not Base.metadata:
        return
    for column in table.columns:
        if isinstance(column.type, Integer):
            column.type = Integer().with_variant(BigInteger(), "postgresql")
        elif isinstance(column.type, AutoString):
            column.type = String().with_variant(String(collation="C"), "postgresql")


def _where(condition: str, on_postgresql: str = "") -> dict[str, Any]:
    """Return the condition of a partial index for both databases; without it PostgreSQL would index every row."""
    return {"sqlite_where": text(condition), "postgresql_where": text(on_postgresql or condition)}


class OwnerRow(Base, table=True):
    """An account that owns bots and tokens."""

    __tablename__ = "owners"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)


class BotRow(Base, table=True):
    """A bot of an owner."""

    __tablename__ = "bots"
    __table_args__ = (UniqueConstraint("owner_id", "name"),)
    id: int | None = Field(default=None, primary_key=True)
    owner_id: int = Field(foreign_key="owners.id")
    name: str
    declines_people: bool = Field(default=False, sa_column_kwargs={"server_default": false()})  # who pick an opponent
    publishes_notes: bool = Field(default=False, sa_column_kwargs={"server_default": false()})  # beside replays


class VersionRow(Base, table=True):
    """One immutable revision of a bot. Versions play and are rated.

    `parent_id` is the newest version of the bot when this one was added. Where the parent is rated, this version does
    not begin as a newcomer. `parent_id` and `created` are null for versions older than these columns; they began as
    newcomers.
    """

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("bot_id", "label"),)
    id: int | None = Field(default=None, primary_key=True)
    bot_id: int = Field(foreign_key="bots.id")
    label: str
    parent_id: int | None = Field(default=None, foreign_key="versions.id")
    created: datetime | None = Field(default=None, sa_type=UtcDateTime)


class TokenRow(Base, table=True):
    """A bearer token of an owner, without its secret.

    It is valid from `created` until `expires` or `revoked`, whichever comes first. Rows are never deleted, except
    those of sessions that have ended.
    """

    __tablename__ = "tokens"
    id: str = Field(primary_key=True)  # the 8 characters after the prefix
    digest: bytes = Field(sa_type=LargeBinary)  # SHA-256 of the whole token
    owner_id: int = Field(foreign_key="owners.id")
    scopes: str  # sorted, separated by spaces
    label: str  # for people
    created: datetime = Field(sa_type=UtcDateTime)
    expires: datetime | None = Field(default=None, sa_type=UtcDateTime)
    revoked: datetime | None = Field(default=None, sa_type=UtcDateTime)
    last_used: datetime | None = Field(default=None, sa_type=UtcDateTime)  # accurate to about a minute


class PauseRow(Base, table=True):
    """A pause of a version, which does not play until the pause is lifted. Rows are never deleted.

    A pause follows from the end causes of the rated matches on one ladder. Matches up to `lifted_number` of the
    previous pause do not count.
    """

    __tablename__ = "pauses"
    __table_args__ = (Index("ix_pauses_one_at_a_time", "version_id", unique=True, **_where("lifted IS NULL")),)
    id: int | None = Field(default=None, primary_key=True)
    version_id: int = Field(foreign_key="versions.id", index=True)
    match_number: int = Field(foreign_key="matches.number", index=True)  # the match that caused it
    since: datetime = Field(sa_type=UtcDateTime)
    cause: str  # for its owner
    lifted: datetime | None = Field(default=None, sa_type=UtcDateTime)
    lifted_number: int | None = None  # number of the last stored match at that time


class LadderRow(Base, table=True):
    """A rated queue; its game, settings, number of seats, clock and kind of boards never change.

    The other columns may change.
    """

    __tablename__ = "ladders"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    game: str
    settings: str  # JSON; differences from the game's defaults
    seats: int
    clock: str  # JSON
    owners: str = "[]"  # JSON; owners whose bots may play, everybody if empty
    most_bots: int = 0  # maximum simultaneous bots; 0 means no limit
    is_private: bool = False
    frozen: datetime | None = Field(default=None, sa_type=UtcDateTime)  # no match starts from this time on
    house: str = "[]"  # JSON; names of house bots
    created: datetime | None = Field(default=None, sa_type=UtcDateTime)  # null: unknown
    boards: str = "plain"  # "plain", "rotation" or "duplicate"; never changes
    most_per_owner: int = 0  # maximum simultaneous bots per owner; 0 means no limit
    pause_failed: int = 3  # taken-over matches, of the last `pause_window`, that pause a version; 0 means never
    pause_window: int = 8  # rated matches on the ladder that count
    voids_outages: bool = False  # a match is void when the provider of a bot's language model is down
    is_hosted: bool = False  # only submitted and house bots play, and workers play the matches; never changes
    results_hidden_until: datetime | None = Field(default=None, sa_type=UtcDateTime)  # only hosts see results before
    title: str = ""  # what pages call the ladder; empty for its name
    admits_people: bool = False  # owners may play in person, on the page
    names_hidden_until: datetime | None = Field(default=None, sa_type=UtcDateTime)  # only hosts see names before
    memory_kib: int = 0  # size of the folder that a submitted bot keeps from match to match; 0 means none
    replays_hidden_until: datetime | None = Field(default=None, sa_type=UtcDateTime)  # only players see replays before


class LeaseRow(Base, table=True):
    """The right of an arena to play and rate a ladder, until a time of the database's clock.

    Only leagues of several arenas have rows. `epoch` counts the arenas that took the ladder.
    """

    __tablename__ = "leases"
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    holder: str  # name of the arena's process; empty if nobody ever had it
    address: str  # where bots dial it
    epoch: int
    until: datetime = Field(sa_type=UtcDateTime)


class ArenaRow(Base, table=True):
    """An arena of a league of several, also one that has no ladder, until a time of the database's clock."""

    __tablename__ = "arenas"
    holder: str = Field(primary_key=True)  # name of its process, as in `leases`
    address: str  # where bots dial it
    until: datetime = Field(sa_type=UtcDateTime)


class EpochRow(Base, table=True):
    """The TrueSkill parameters of a ladder for the boards that name this epoch."""

    __tablename__ = "epochs"
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    number: int = Field(primary_key=True)  # 1, 2, ...
    settings: str  # JSON of `ratings.TrueSkill`


class BoardRow(Base, table=True):
    """A deal with its commitment; the unit that is rated.

    `sequence` numbers the rated boards of a ladder from 1 without a gap, in the order of rating. It and `epoch` are
    null for a board that is not rated: one of its matches is void, requested, or not over yet.
    """

    __tablename__ = "boards"
    __table_args__ = (
        UniqueConstraint("ladder_id", "sequence"),
        Index("ix_boards_sealed", "id", **_where("is_sealed = 1", "is_sealed")),
        ForeignKeyConstraint(["ladder_id", "epoch"], ["epochs.ladder_id", "epochs.number"]),
    )
    id: str = Field(primary_key=True)
    ladder_id: int = Field(foreign_key="ladders.id")
    sequence: int | None = None
    epoch: int | None = None
    commitment: bytes = Field(sa_type=LargeBinary)  # published before the first card
    seed: bytes = Field(sa_type=LargeBinary)  # with `params` the opening of the commitment
    params: bytes = Field(sa_type=LargeBinary)
    matches: int = 1  # number of matches to play on it
    is_sealed: bool = False  # some of its matches may still be played, so the finished ones are hidden
    nonces: str | None = None  # JSON of `results.Nonces`; null: no seat added one, or the deal has no result yet


class OpenMatchRow(Base, table=True):
    """An announced match that is not over. The row is deleted when the result is stored."""

    __tablename__ = "open_matches"
    match_id: str = Field(primary_key=True)
    board_id: str = Field(foreign_key="boards.id", index=True)
    rules: str
    started: datetime = Field(sa_type=UtcDateTime)
    versions: str  # JSON; by seat
    requested_by: str
    reason: str


class MatchRow(Base, table=True):
    """A finished match; `id` is unique, so that no result is stored twice; `number` is the order of storing.

    The record is the last column, so that SQLite can read the others without it.
    """

    __tablename__ = "matches"
    __table_args__ = (
        Index(None, "ladder_id", "number"),
        Index(None, "ladder_id", "finished"),
        # A covering index: without it SQLite may use the index of all matches, and check each for a fault.
        Index(
            "ix_matches_faulted",
            "ladder_id",
            "number",
            "finished",
            "is_faulted",
            **_where("is_faulted = 1", "is_faulted"),
        ),
    )
    number: int | None = Field(default=None, primary_key=True, sa_column_kwargs={"autoincrement": False})
    id: str = Field(unique=True)
    board_id: str = Field(foreign_key="boards.id", index=True)
    ladder_id: int = Field(foreign_key="ladders.id")  # as in the board, for the index
    rules: str  # version of the game's rules
    started: datetime = Field(sa_type=UtcDateTime)
    finished: datetime = Field(sa_type=UtcDateTime)
    decisions: int
    void_cause: str | None = None  # null if it is not void
    is_rated: bool = True  # false: requested, so it changes no rating
    requested_by: str = ""
    reason: str = ""  # why these versions met, for people
    is_faulted: bool = False  # true if a seat has a fault, for the index
    record: bytes | None = Field(default=None, sa_type=LargeBinary)  # compressed by zlib


class SeatRow(Base, table=True):
    """A version in a seat of a match, with its result; place and score are null if the match is void."""

    __tablename__ = "seats"
    __table_args__ = (
        Index(None, "version_id", "match_number"),
        Index(None, "version_id", "ladder_id", "match_number"),
        Index(  # a covering index, too
            "ix_seats_faulted", "version_id", "match_number", "ladder_id", "faults", **_where("faults > 0")
        ),
    )
    match_number: int = Field(primary_key=True, foreign_key="matches.number")
    seat: int = Field(primary_key=True)  # from 0
    ladder_id: int  # as in the match, for the index
    version_id: int = Field(foreign_key="versions.id")
    place: int | None = None  # 1 is best; ties share a place
    score: int | None = None
    end_cause: str
    faults: int
    thinking_ms: int
    cpu_ms: int | None = None  # CPU time of the bot's process during the match; null if not measured
    peak_bytes: int | None = None  # its peak memory
    memory: bytes | None = Field(default=None, sa_type=LargeBinary)  # SHA-256 of its memory folder; null if it had none


class DecisionLogRow(Base, table=True):
    """The decision logs of a match, seat by seat; a match without stored logs has no row."""

    __tablename__ = "courses"
    match_number: int = Field(primary_key=True, foreign_key="matches.number")
    courses: bytes = Field(sa_type=LargeBinary)  # see `decision_logs.pack_courses`


class NotesRow(Base, table=True):
    """The notes of a seat, for the owner of its bot alone unless they are published; without notes there is no row."""

    __tablename__ = "notes"
    __table_args__ = (ForeignKeyConstraint(["match_number", "seat"], ["seats.match_number", "seats.seat"]),)
    match_number: int = Field(primary_key=True)
    seat: int = Field(primary_key=True)
    dropped_bytes: int  # size of notes above the limit, which are not stored
    notes: bytes = Field(sa_type=LargeBinary)  # see `decision_logs.pack_notes`


class UsageRow(Base, table=True):
    """The usage that the bot of a seat reported, added up; a seat without a report has no row.

    The usage of each decision is in the decision log.
    """

    __tablename__ = "usages"
    __table_args__ = (
        ForeignKeyConstraint(["match_number", "seat"], ["seats.match_number", "seats.seat"]),
        Index(None, "ladder_id", "version_id"),
    )
    match_number: int = Field(primary_key=True)
    seat: int = Field(primary_key=True)
    ladder_id: int  # as in the match, for the index
    version_id: int  # as in the seat, for the index
    input_tokens: int
    output_tokens: int
    cost_micros: int  # millionths of a US dollar
    fallbacks: int  # decisions that no model chose
    model: str  # the last reported one


class EventRow(Base, table=True):
    """An event that the server plays by itself: a tournament, a version test, a series of seasons, or a season of one.

    The plan names everything that is fixed before it begins. What is played next follows from it and the boards, or
    from the phase of a season. Each change of a phase is one transaction, so no phase is done twice.
    """

    __tablename__ = "events"
    __table_args__ = (UniqueConstraint("parent_id", "number"),)
    id: str = Field(primary_key=True)
    format: str  # "tournament", "test", "seasons" or "season"
    name: str  # of a series; else empty
    started_by: str  # owner of the token
    owner_id: int | None = Field(default=None, foreign_key="owners.id", index=True)  # who sees it; null for all
    plan: str  # JSON; its SHA-256 names the plan
    phase: str  # of a season, see `seasons.PHASES`; else empty
    created: datetime = Field(sa_type=UtcDateTime)
    ended: datetime | None = Field(default=None, sa_type=UtcDateTime)  # of a season: end of the play in its divisions
    next_at: datetime | None = Field(default=None, sa_type=UtcDateTime)  # begin of the next season
    outcome: str  # how it ended; empty while it goes on, and for a season
    parent_id: str | None = Field(default=None, foreign_key="events.id")  # series of a season, season of its final
    number: int  # of a season, from 1; else 0


class EventLadderRow(Base, table=True):
    """A ladder of an event: the one whose rules it plays, or that of a division of a season."""

    __tablename__ = "event_ladders"
    __table_args__ = (
        Index("ix_event_ladders_own", "ladder_id", unique=True, **_where("is_own = 1", "is_own")),
        Index(None, "ladder_id"),
    )
    event_id: str = Field(primary_key=True, foreign_key="events.id")
    division: int = Field(primary_key=True)  # 1 is the first
    ladder_id: int = Field(foreign_key="ladders.id")
    is_own: bool  # true if the event made it


class EventBotRow(Base, table=True):
    """A bot of a version test or of a season; the bots of a tournament are in its plan.

    What the table of a season says of it is null until the table is final.
    """

    __tablename__ = "event_bots"
    event_id: str = Field(primary_key=True, foreign_key="events.id")
    division: int = Field(primary_key=True)
    seed: int = Field(primary_key=True)  # order at the begin; newcomers come last. Of a test: 1 new, 2 old
    bot_id: int = Field(foreign_key="bots.id", index=True)
    version_id: int | None = Field(default=None, foreign_key="versions.id")  # of a season: its newest rated one
    is_late: bool  # it came when the season could not wait for its matches any more
    has_left: bool  # it has been away for too long
    place: int | None = None  # 1 is best; ties share a place
    rating: float | None = Field(default=None, sa_type=Float)
    matches: int | None = None  # rated boards
    next_division: int | None = None  # its division in the next season; 0 if it has left


class EventBoardRow(Base, table=True):
    """A board of an event, stored with the announcement of its match, or lost by a bot that was away.

    What it found follows from its matches, so no board can count twice, and one with a void match does not count.
    """

    __tablename__ = "event_boards"
    event_id: str = Field(primary_key=True, foreign_key="events.id")
    duel: int = Field(primary_key=True)  # number of the duel of a tournament; 0 in a test
    board: int = Field(primary_key=True)  # counted from 0 within the duel
    match_id: str  # of a test: the second one; empty if a bot was away
    board_id: str | None = Field(default=None, index=True)  # null if it has no board; not always stored by 0.2
    result: str  # of a board without a match, or of 0.2: "1", "0" or "=" for both bots of the duel, as "10"


class RatingRow(Base, table=True):
    """The current TrueSkill rating of a version on a ladder, which matchmaking uses."""

    __tablename__ = "ratings"
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    mu: float = Field(sa_type=Float)
    sigma: float = Field(sa_type=Float)
    matches: int  # number of rated boards
    wins: int  # number of first places on them, including shared ones
    faulted: int  # number of boards with a fault of the version
    sequence: int  # number of the last board
    form: bytes = Field(sa_type=LargeBinary)  # places on the last rated boards, a byte each, the newest first


class EstimateRow(Base, table=True):
    """The estimate of a version from all results of a ladder, on the scale of the ladder's ratings.

    No other table depends on it: newer estimates replace all rows of a ladder.
    """

    __tablename__ = "estimates"
    __table_args__ = {"sqlite_with_rowid": False}
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    mu: float = Field(sa_type=Float)
    low: float = Field(sa_type=Float)  # ends of the 95 % interval
    high: float = Field(sa_type=Float)
    best: int  # ends of the 95 % interval of the place
    worst: int
    sequence: int  # number of the last board used
    made: datetime = Field(sa_type=UtcDateTime)


class RatingPointRow(Base, table=True):
    """The rating of a version after a number of rated boards of its ladder, for charts; see `estimates.history`.

    When an epoch changes beta, the scale changes, so all points and estimates of the ladder are deleted.
    """

    __tablename__ = "rating_points"
    __table_args__ = {"sqlite_with_rowid": False}
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    sequence: int = Field(primary_key=True)  # number of the last board used
    mu: float = Field(sa_type=Float)
    low: float = Field(sa_type=Float)  # ends of the 95 % interval
    high: float = Field(sa_type=Float)


class OpponentsRow(Base, table=True):
    """The head-to-head results of two bots on a ladder, all versions combined; `bot_id` is the lower ID.

    The ladder is second in both keys: with the ladder first, SQLite would use a key for the wrong bot.
    """

    __tablename__ = "opponents"
    __table_args__ = (Index(None, "other_id", "ladder_id"), {"sqlite_with_rowid": False})
    bot_id: int = Field(primary_key=True, foreign_key="bots.id")
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    other_id: int = Field(primary_key=True, foreign_key="bots.id")
    matches: int  # number of rated comparisons of both
    ahead: int  # number of comparisons with `bot_id` ahead
    level: int  # number of ties


class RatingChangeRow(Base, table=True):
    """The change of one rating by a board of the ladder."""

    __tablename__ = "rating_changes"
    __table_args__ = (
        ForeignKeyConstraint(["ladder_id", "sequence"], ["boards.ladder_id", "boards.sequence"]),
        Index(None, "ladder_id", "version_id", "sequence"),
    )
    ladder_id: int = Field(primary_key=True)
    sequence: int = Field(primary_key=True)
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    mu_before: float = Field(sa_type=Float)
    sigma_before: float = Field(sa_type=Float)
    mu_after: float = Field(sa_type=Float)
    sigma_after: float = Field(sa_type=Float)
