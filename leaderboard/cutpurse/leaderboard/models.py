"""The tables: owner -> bot -> version -> seat, and ladder -> board -> match -> seat, with the ratings that follow.

An owner authenticates with tokens; only their hashes are stored.

What a match was and how it ended is written once and never changed. `ratings` and `opponents` are kept up to date; they
and `rating_changes` follow from the rest, which is the ledger. This module knows no connection; `migrations/` makes the
tables, and a test proves that they are these.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    DateTime,
    Dialect,
    Float,
    ForeignKeyConstraint,
    Index,
    LargeBinary,
    MetaData,
    UniqueConstraint,
    text,
)
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field, SQLModel

__all__ = [
    "TokenRow",
    "BoardRow",
    "BotRow",
    "DecisionLogRow",
    "EpochRow",
    "EstimateRow",
    "LadderRow",
    "MatchRow",
    "NotesRow",
    "OpenMatchRow",
    "OpponentsRow",
    "OwnerRow",
    "PauseRow",
    "RatingRow",
    "RatingChangeRow",
    "SeatRow",
    "SubmissionRow",
    "Base",
    "UtcDateTime",
    "VersionRow",
]


class UtcDateTime(TypeDecorator[datetime]):
    """A moment: stored in UTC without saying so, and said again when read."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: Any | None, dialect: Dialect) -> datetime | None:
        return None if value is None else value.replace(tzinfo=UTC)


class Base(SQLModel):
    """What all tables share: a catalogue of their own, in which every constraint has a name to be changed by."""

    metadata: ClassVar[MetaData] = MetaData(
        naming_convention={
            "ix": "ix_%(table_name)s_%(column_0_N_name)s",
            "uq": "uq_%(table_name)s_%(column_0_N_name)s",
            "fk": "fk_%(table_name)s_%(column_0_N_name)s",
            "pk": "pk_%(table_name)s",
        }
    )


class OwnerRow(Base, table=True):
    """Who answers for bots."""

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
    """A bot as it was handed in; what changes is another version.  Versions are what plays and is rated.

    `parent_id` is the version of the bot that was the newest when this one became known: where that is rated, this one
    does not begin as a newcomer. It and `created` are null for versions older than these columns, which did.
    """

    __tablename__ = "versions"
    __table_args__ = (UniqueConstraint("bot_id", "label"),)
    id: int | None = Field(default=None, primary_key=True)
    bot_id: int = Field(foreign_key="bots.id")
    label: str
    parent_id: int | None = Field(default=None, foreign_key="versions.id")
    created: datetime | None = Field(default=None, sa_type=UtcDateTime)


class TokenRow(Base, table=True):
    """A bearer token of an owner; the secret is not here, only its hash.

    It counts from `created` until `expires` or `revoked`, whichever comes first; rows stay.
    """

    __tablename__ = "tokens"
    id: str = Field(primary_key=True)  # the first characters of the token
    digest: bytes = Field(sa_type=LargeBinary)  # SHA-256 of the whole token
    owner_id: int = Field(foreign_key="owners.id")
    scopes: str  # words with a space between, sorted
    label: str  # for people
    created: datetime = Field(sa_type=UtcDateTime)
    expires: datetime | None = Field(default=None, sa_type=UtcDateTime)
    revoked: datetime | None = Field(default=None, sa_type=UtcDateTime)
    last_used: datetime | None = Field(default=None, sa_type=UtcDateTime)  # to the minute or so


class SubmissionRow(Base, table=True):
    """A bot that was handed in to be run by the server; its files are not here, only their hash.

    No version has to be known for it: that comes when it plays.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("owner_id", "bot", "version"),
        Index("ix_submissions_active", "owner_id", "bot", unique=True, sqlite_where=text("is_active = 1")),
    )
    id: int | None = Field(default=None, primary_key=True)
    owner_id: int = Field(foreign_key="owners.id")
    bot: str
    version: str
    digest: bytes = Field(sa_type=LargeBinary)  # SHA-256 of its archive
    size: int  # of that, in bytes
    ladders: str  # JSON; where it plays, everywhere if it is empty
    state: str  # see `submissions.STATES`
    why: str  # it does not play, in one line for its owner
    is_active: bool  # it is the version of its bot that plays
    is_kept: bool  # its archive is there
    received: datetime = Field(sa_type=UtcDateTime)
    changed: datetime = Field(sa_type=UtcDateTime)
    log: bytes | None = Field(default=None, sa_type=LargeBinary)  # of its building and check, compressed by zlib


class PauseRow(Base, table=True):
    """A version that plays no more until the pause is lifted; rows stay.

    It follows from the end causes of its rated matches on a ladder, without those up to `lifted_number` of the pause
    before.
    """

    __tablename__ = "pauses"
    __table_args__ = (Index("ix_pauses_one_at_a_time", "version_id", unique=True, sqlite_where=text("lifted IS NULL")),)
    id: int | None = Field(default=None, primary_key=True)
    version_id: int = Field(foreign_key="versions.id", index=True)
    match_number: int = Field(foreign_key="matches.number", index=True)  # the match that brought it about
    since: datetime = Field(sa_type=UtcDateTime)
    cause: str  # for its owner
    lifted: datetime | None = Field(default=None, sa_type=UtcDateTime)
    lifted_number: int | None = None  # of the match that was stored last by then


class LadderRow(Base, table=True):
    """Where versions are rated against each other: one game, settings, number of seats and clock, for good.

    What comes after `clock` may change.
    """

    __tablename__ = "ladders"
    id: int | None = Field(default=None, primary_key=True)
    name: str = Field(unique=True)
    game: str
    settings: str  # JSON; what differs from the game's defaults
    seats: int
    clock: str  # JSON
    owners: str = "[]"  # JSON; whose bots may play, everybody's if it is empty
    most_bots: int = 0  # at once; 0: any number
    is_private: bool = False
    frozen: datetime | None = Field(default=None, sa_type=UtcDateTime)  # from when on
    house: str = "[]"  # JSON; house bots by name
    created: datetime | None = Field(default=None, sa_type=UtcDateTime)  # null: before it was kept, or by no command
    boards: str = "plain"  # "plain", "rotation" or "duplicate"; never changes
    most_per_owner: int = 0  # bots of one owner at once; 0: any number
    pause_failed: int = 3  # matches taken over, of the last `pause_window`, that pause a version; 0: never
    pause_window: int = 8  # rated matches on the ladder


class EpochRow(Base, table=True):
    """From which step of a ladder on its ratings are computed with which numbers."""

    __tablename__ = "epochs"
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    number: int = Field(primary_key=True)  # 1, 2, ...
    settings: str  # JSON of `ratings.TrueSkill`


class BoardRow(Base, table=True):
    """A deal and what was promised of it; what is rated is a board.

    `sequence` counts the rated boards of a ladder from 1 without a gap: the order in which they are rated. It and
    `epoch` are null if the board rates nothing: one of its matches is void, it was played on request, or not all of its
    matches are over.
    """

    __tablename__ = "boards"
    __table_args__ = (
        UniqueConstraint("ladder_id", "sequence"),
        Index("ix_boards_sealed", "id", sqlite_where=text("is_sealed = 1")),
        ForeignKeyConstraint(["ladder_id", "epoch"], ["epochs.ladder_id", "epochs.number"]),
    )
    id: str = Field(primary_key=True)
    ladder_id: int = Field(foreign_key="ladders.id")
    sequence: int | None = None
    epoch: int | None = None
    commitment: bytes = Field(sa_type=LargeBinary)  # published before the first card
    seed: bytes = Field(sa_type=LargeBinary)  # what opens it
    params: bytes = Field(sa_type=LargeBinary)
    matches: int = 1  # that are played on it
    is_sealed: bool = False  # of several matches, some may still be played: nothing of the others is shown


class OpenMatchRow(Base, table=True):
    """A match that was announced and is not over: its board is there. The row goes when the match is stored."""

    __tablename__ = "open_matches"
    match_id: str = Field(primary_key=True)
    board_id: str = Field(foreign_key="boards.id", index=True)
    rules: str
    started: datetime = Field(sa_type=UtcDateTime)
    versions: str  # JSON; by seat
    requested_by: str
    reason: str


class MatchRow(Base, table=True):
    """A match that ended; `id` is the key of its result, so none is stored twice; `number` is the order of storing.

    The record comes last, so that to read a row is not to read that.
    """

    __tablename__ = "matches"
    __table_args__ = (
        Index(None, "ladder_id", "number"),
        Index(None, "ladder_id", "finished"),
        # It holds all that is asked with it: else SQLite may take that of all matches, and look at each for a fault.
        Index(
            "ix_matches_faulted", "ladder_id", "number", "finished", "is_faulted", sqlite_where=text("is_faulted = 1")
        ),
    )
    number: int | None = Field(default=None, primary_key=True)
    id: str = Field(unique=True)
    board_id: str = Field(foreign_key="boards.id", index=True)
    ladder_id: int = Field(foreign_key="ladders.id")  # that of the board, for the index
    rules: str  # version of the game's rules
    started: datetime = Field(sa_type=UtcDateTime)
    finished: datetime = Field(sa_type=UtcDateTime)
    decisions: int
    void_cause: str | None = None  # null: it counts
    is_rated: bool = True  # false: played on request, it rates nothing though it counts
    requested_by: str = ""
    reason: str = ""  # why these met, for people
    is_faulted: bool = False  # whether a seat has a fault, for the index
    record: bytes | None = Field(default=None, sa_type=LargeBinary)  # compressed by zlib


class SeatRow(Base, table=True):
    """A version in a seat of a match, and how it ended; place and score are null if the match is void."""

    __tablename__ = "seats"
    __table_args__ = (
        Index(None, "version_id", "match_number"),
        Index(None, "version_id", "ladder_id", "match_number"),
        Index(  # which holds all that is asked with it, too
            "ix_seats_faulted", "version_id", "match_number", "ladder_id", "faults", sqlite_where=text("faults > 0")
        ),
    )
    match_number: int = Field(primary_key=True, foreign_key="matches.number")
    seat: int = Field(primary_key=True)  # from 0
    ladder_id: int  # that of the match, for the index
    version_id: int = Field(foreign_key="versions.id")
    place: int | None = None  # 1 the best; who ties shares
    score: int | None = None
    end_cause: str
    faults: int
    thinking_ms: int
    cpu_ms: int | None = None  # what the bot's process used meanwhile; null: not measured
    peak_bytes: int | None = None  # of memory, at most


class DecisionLogRow(Base, table=True):
    """The decision logs of a match, seat by seat; a match without stored logs has no row."""

    __tablename__ = "courses"
    match_number: int = Field(primary_key=True, foreign_key="matches.number")
    courses: bytes = Field(sa_type=LargeBinary)  # see `courses.pack_courses`


class NotesRow(Base, table=True):
    """What a bot sent along, for its owner alone; no row for a seat that sent nothing."""

    __tablename__ = "notes"
    __table_args__ = (ForeignKeyConstraint(["match_number", "seat"], ["seats.match_number", "seats.seat"]),)
    match_number: int = Field(primary_key=True)
    seat: int = Field(primary_key=True)
    dropped_bytes: int  # that were too many, and are not here
    notes: bytes = Field(sa_type=LargeBinary)  # see `courses.pack_notes`


class RatingRow(Base, table=True):
    """What is believed of a version on a ladder now."""

    __tablename__ = "ratings"
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    mu: float = Field(sa_type=Float)
    sigma: float = Field(sa_type=Float)
    matches: int  # boards that changed it
    wins: int  # first places on them, shared ones too
    faulted: int  # those with a fault of its own
    sequence: int  # of the board that changed it last
    form: bytes = Field(sa_type=LargeBinary)  # places on the last rated boards, a byte each, the newest first


class EstimateRow(Base, table=True):
    """What is believed of a version from all results of a ladder together; made anew now and then, never added to.

    On the scale of the ladder's ratings. Nothing hangs on it: rows go when newer ones come.
    """

    __tablename__ = "estimates"
    __table_args__ = {"sqlite_with_rowid": False}
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    mu: float = Field(sa_type=Float)
    low: float = Field(sa_type=Float)  # it lies between these with a probability of 95 %
    high: float = Field(sa_type=Float)
    best: int  # and the place that it deserves between these
    worst: int
    sequence: int  # of the last board that it is from
    made: datetime = Field(sa_type=UtcDateTime)


class RatingPointRow(Base, table=True):
    """The rating of a version after a number of rated boards of its ladder, for charts; see `estimates.history`.

    Points of another beta are on another scale, so they go with the estimates when an epoch changes beta.
    """

    __tablename__ = "rating_points"
    __table_args__ = {"sqlite_with_rowid": False}
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    version_id: int = Field(primary_key=True, foreign_key="versions.id")
    sequence: int = Field(primary_key=True)  # of the last board that it is from
    mu: float = Field(sa_type=Float)
    low: float = Field(sa_type=Float)  # it lies between these with a probability of 95 %
    high: float = Field(sa_type=Float)


class OpponentsRow(Base, table=True):
    """How two bots did against each other on a ladder, all versions together; `bot_id` is the lower id.

    The ladder comes second in both keys, so that SQLite takes neither to look for the other bot.
    """

    __tablename__ = "opponents"
    __table_args__ = (Index(None, "other_id", "ladder_id"), {"sqlite_with_rowid": False})
    bot_id: int = Field(primary_key=True, foreign_key="bots.id")
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    other_id: int = Field(primary_key=True, foreign_key="bots.id")
    matches: int  # rated boards on which they were compared
    ahead: int  # in which `bot_id` was ahead
    level: int  # in which they shared a place


class RatingChangeRow(Base, table=True):
    """One step of one rating: what a board of the ladder made of it."""

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
