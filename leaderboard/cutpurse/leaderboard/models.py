"""The tables: owner -> bot -> version -> seat, and ladder -> board -> match -> seat, with the ratings that follow.

An owner authenticates with tokens; only their hashes are stored.

A match is written once and never changed. `ratings` and `opponents` are updated by each board. They and
`rating_changes` can be computed from the other tables, which are the ledger. This module knows no connection.
`migrations/` creates the tables, and a test checks that they match this module.
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
    UniqueConstraint,
    text,
)
from sqlalchemy.types import TypeDecorator
from sqlmodel import AutoString, Field, SQLModel

__all__ = [
    "AccountRow",
    "TokenRow",
    "BoardRow",
    "BotRow",
    "DecisionLogRow",
    "EpochRow",
    "EstimateRow",
    "LadderRow",
    "LeaseRow",
    "MatchRow",
    "NotesRow",
    "OpenMatchRow",
    "OpponentsRow",
    "OutboxRow",
    "OvertakingRow",
    "OwnerRow",
    "PauseRow",
    "RatingRow",
    "RatingChangeRow",
    "ReceiverRow",
    "SeasonBotRow",
    "SeasonDivisionRow",
    "SeasonRow",
    "SeasonSeriesRow",
    "SeatRow",
    "SubmissionRow",
    "ArchiveRow",
    "ArenaRow",
    "Base",
    "ReportRow",
    "TestBoardRow",
    "TournamentBoardRow",
    "TournamentRow",
    "UtcDateTime",
    "VersionRow",
    "VersionTestRow",
    "WorkRow",
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


class AccountRow(Base, table=True):
    """A person's account at a sign-in provider (OpenID Connect), and the owner it is linked with."""

    __tablename__ = "accounts"
    issuer: str = Field(primary_key=True)  # address that names the provider
    subject: str = Field(primary_key=True)  # name of the account there, which never changes hands
    owner_id: int = Field(foreign_key="owners.id")
    linked: datetime = Field(sa_type=UtcDateTime)


class SubmissionRow(Base, table=True):
    """A bot uploaded for the server to run, without its files.

    Its version is added to `versions` only when it plays.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("owner_id", "bot", "version"),
        Index("ix_submissions_active", "owner_id", "bot", unique=True, **_where("is_active = 1", "is_active")),
    )
    id: int | None = Field(default=None, primary_key=True)
    owner_id: int = Field(foreign_key="owners.id")
    bot: str
    version: str
    digest: bytes = Field(sa_type=LargeBinary)  # SHA-256 of its archive
    size: int  # of the archive, in bytes
    ladders: str  # JSON; names of the ladders it plays on, all if empty
    state: str  # see `submissions.STATES`
    why: str  # why it does not play, in one line for its owner
    is_active: bool  # it is the version of its bot that plays
    is_kept: bool  # its archive is stored
    received: datetime = Field(sa_type=UtcDateTime)
    changed: datetime = Field(sa_type=UtcDateTime)
    log: bytes | None = Field(default=None, sa_type=LargeBinary)  # of its build and check, compressed by zlib


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


class DecisionLogRow(Base, table=True):
    """The decision logs of a match, seat by seat; a match without stored logs has no row."""

    __tablename__ = "courses"
    match_number: int = Field(primary_key=True, foreign_key="matches.number")
    courses: bytes = Field(sa_type=LargeBinary)  # see `decision_logs.pack_courses`


class NotesRow(Base, table=True):
    """The notes of a seat, for the owner of its bot alone; a seat without notes has no row."""

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


class VersionTestRow(Base, table=True):
    """A test whether a version is better than another one of its owner, on unrated boards of a ladder.

    What the test has found follows from the matches of its boards, so no board can count twice.
    """

    __tablename__ = "version_tests"
    id: str = Field(primary_key=True)
    ladder_id: int = Field(foreign_key="ladders.id")
    owner_id: int = Field(foreign_key="owners.id", index=True)
    new_id: int = Field(foreign_key="versions.id")  # the version that may be better
    old_id: int = Field(foreign_key="versions.id")  # the version that it is compared with
    design: str  # JSON of `cutpurse.experiments.sprt.Design`
    created: datetime = Field(sa_type=UtcDateTime)
    ended: datetime | None = Field(default=None, sa_type=UtcDateTime)  # null while it runs
    outcome: str = ""  # "better", "not better", "undecided" or "stopped"; empty while it runs


class TestBoardRow(Base, table=True):
    """A board that was dealt for a version test: two matches, which differ in one seat."""

    __tablename__ = "test_boards"
    board_id: str = Field(primary_key=True, foreign_key="boards.id")
    test_id: str = Field(foreign_key="version_tests.id", index=True)


class TournamentRow(Base, table=True):
    """A tournament of chosen bots, which the server plays on unrated boards of a ladder.

    The plan names everything that is fixed before the first board; what is played next follows from it and the boards.
    """

    __tablename__ = "tournaments"
    id: str = Field(primary_key=True)
    ladder_id: int = Field(foreign_key="ladders.id")
    started_by: str  # owner of the token
    plan: str  # JSON; its SHA-256 names the plan
    created: datetime = Field(sa_type=UtcDateTime)
    ended: datetime | None = Field(default=None, sa_type=UtcDateTime)  # null while it is played
    outcome: str = ""  # "finished" or "stopped"; empty while it is played


class TournamentBoardRow(Base, table=True):
    """A board of a duel of a tournament: requested, played, or lost by a bot that was away."""

    __tablename__ = "tournament_boards"
    tournament_id: str = Field(primary_key=True, foreign_key="tournaments.id")
    duel: int = Field(primary_key=True)  # number of the duel in the plan
    board: int = Field(primary_key=True)  # counted from 0 within the duel
    match_id: str  # requested for it; empty if a bot was away
    result: str  # "1", "0" or "=" for the first and the second bot, as "10"; empty while it is open


class SeasonSeriesRow(Base, table=True):
    """A series of seasons that a server plays by itself, by one plan."""

    __tablename__ = "season_series"
    id: str = Field(primary_key=True)
    name: str
    started_by: str  # owner of the token
    plan: str  # JSON; its SHA-256 names the plan
    created: datetime = Field(sa_type=UtcDateTime)
    ended: datetime | None = Field(default=None, sa_type=UtcDateTime)  # null while seasons go on
    outcome: str = ""  # "finished" or "stopped"; empty while seasons go on


class SeasonRow(Base, table=True):
    """A season of a series. Each change of its phase is one transaction, so no phase is done twice."""

    __tablename__ = "seasons"
    series_id: str = Field(primary_key=True, foreign_key="season_series.id")
    number: int = Field(primary_key=True)  # from 1
    phase: str  # see `seasons.PHASES`
    began: datetime = Field(sa_type=UtcDateTime)
    ended: datetime | None = Field(default=None, sa_type=UtcDateTime)  # end of the play in its divisions
    next_at: datetime | None = Field(default=None, sa_type=UtcDateTime)  # begin of the next season
    tournament_id: str = ""  # its final; empty if there is none


class SeasonDivisionRow(Base, table=True):
    """A division of a season: its ladder."""

    __tablename__ = "season_divisions"
    __table_args__ = (ForeignKeyConstraint(["series_id", "number"], ["seasons.series_id", "seasons.number"]),)
    series_id: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    division: int = Field(primary_key=True)  # 1 is the first
    ladder_id: int = Field(foreign_key="ladders.id", unique=True)


class SeasonBotRow(Base, table=True):
    """A bot in a division of a season; what its table says of it is null until the table is final."""

    __tablename__ = "season_bots"
    __table_args__ = (ForeignKeyConstraint(["series_id", "number"], ["seasons.series_id", "seasons.number"]),)
    series_id: str = Field(primary_key=True)
    number: int = Field(primary_key=True)
    bot_id: int = Field(primary_key=True, foreign_key="bots.id", index=True)
    division: int
    seed: int  # order at the begin; newcomers come last
    is_late: bool  # it came when the season could not wait for its matches any more
    has_left: bool  # it has been away for too long
    place: int | None = None  # 1 is best; ties share a place
    version_id: int | None = Field(default=None, foreign_key="versions.id")  # its newest rated version
    rating: float | None = Field(default=None, sa_type=Float)
    matches: int | None = None  # rated boards
    next_division: int | None = None  # its division in the next season; 0 if it has left


class WorkRow(Base, table=True):
    """An announced match that a worker plays; see `work`. The row is deleted when the result is stored."""

    __tablename__ = "work"
    match_id: str = Field(primary_key=True)
    code: str  # version of this program, which the worker must have
    task: str  # JSON; all that a worker needs but the seed
    seed: bytes = Field(sa_type=LargeBinary)  # handed out once, to the worker that takes the match
    state: str  # "waiting", "taken", "over" (reported) or "lost"
    worker: str = ""  # the worker that took it
    since: datetime = Field(sa_type=UtcDateTime)  # of the state "waiting"


class ReportRow(Base, table=True):
    """What a worker handed back of a match, until the result is stored."""

    __tablename__ = "reports"
    match_id: str = Field(primary_key=True, foreign_key="work.match_id")
    report: bytes = Field(sa_type=LargeBinary)


class ArchiveRow(Base, table=True):
    """The built files of a submitted bot, packed, for workers."""

    __tablename__ = "archives"
    digest: bytes = Field(primary_key=True, sa_type=LargeBinary)  # SHA-256 of the content
    content: bytes = Field(sa_type=LargeBinary)


class ReceiverRow(Base, table=True):
    """A place where notices are sent, with the state of its deliveries; see `notices.receivers`.

    `address` and `secret` are stored as they are, since the sender needs them.
    """

    __tablename__ = "receivers"
    id: int | None = Field(default=None, primary_key=True)
    owner_id: int = Field(foreign_key="owners.id", index=True)
    kind: str  # "webhook", or the scheme of an address of apprise
    address: str
    secret: bytes = Field(sa_type=LargeBinary)  # key of the signature
    events: str  # JSON; kinds of notices, all if empty
    ladders: str  # JSON; names of ladders, all if empty
    is_host: bool  # it gets the notices of every owner
    created: datetime = Field(sa_type=UtcDateTime)
    waiting: int = 0  # number of its rows in `outbox`
    delivered: int = 0
    missed: int = 0  # notices that were not queued for it: it was paused, or too many waited
    failures: int = 0  # failed deliveries since the last one that succeeded
    problem: str = ""  # of the last failed delivery
    failing_since: datetime | None = Field(default=None, sa_type=UtcDateTime)
    retry_at: datetime | None = Field(default=None, sa_type=UtcDateTime)
    claimed_until: datetime | None = Field(default=None, sa_type=UtcDateTime)  # a sender works on it
    paused: datetime | None = Field(default=None, sa_type=UtcDateTime)


class OutboxRow(Base, table=True):
    """A notice that waits for its delivery to one receiver; deleted when it is delivered."""

    __tablename__ = "outbox"
    __table_args__ = (Index(None, "receiver_id", "number"),)
    number: int | None = Field(default=None, primary_key=True)
    receiver_id: int = Field(foreign_key="receivers.id")
    event_id: str  # the same in every delivery, to every receiver
    body: str  # JSON, see `notices.notice`


class OvertakingRow(Base, table=True):
    """A bot that overtook another one on a ladder during the last day, so that it is not announced again."""

    __tablename__ = "overtakings"
    __table_args__ = {"sqlite_with_rowid": False}
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    bot_id: int = Field(primary_key=True, foreign_key="bots.id")  # the bot that was overtaken
    other_id: int = Field(primary_key=True, foreign_key="bots.id")
    at: datetime = Field(sa_type=UtcDateTime)


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


# SQLite stores integers of 64 bits and compares texts by their code points; so must PostgreSQL.
for _relation in Base.metadata.tables.values():
    for _column in _relation.columns:
        if isinstance(_column.type, Integer):
            _column.type = Integer().with_variant(BigInteger(), "postgresql")
        elif isinstance(_column.type, AutoString):
            _column.type = String().with_variant(String(collation="C"), "postgresql")
