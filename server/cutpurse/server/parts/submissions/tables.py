"""The tables of submissions: bots, their memories, and their files where several servers share them."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import Index, LargeBinary, UniqueConstraint, text
from sqlmodel import Field

from cutpurse.leaderboard.models import Base, UtcDateTime

__all__ = ["ARCHIVES", "BOT_MEMORIES", "SUBMISSIONS", "ArchiveRow", "BotMemoryRow", "SubmissionRow"]


class SubmissionRow(Base, table=True):
    """A bot uploaded for the server to run, without its files.

    Its version is added to `versions` only when it plays.
    """

    __tablename__ = "submissions"
    __table_args__ = (
        UniqueConstraint("owner_id", "bot", "version"),
        Index(
            "ix_submissions_active",
            "owner_id",
            "bot",
            unique=True,
            sqlite_where=text("is_active = 1"),
            postgresql_where=text("is_active"),
        ),
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
    licence: str = ""  # under which it is published; empty if it is not
    public_from: datetime | None = Field(default=None, sa_type=UtcDateTime)  # others may fetch it from then on
    public_after: str = ""  # ID of an event after whose end others may fetch it; empty: of none
    log: bytes | None = Field(default=None, sa_type=LargeBinary)  # of its build and check, compressed by zlib


class ArchiveRow(Base, table=True):
    """The built files of a submitted bot, packed, for workers."""

    __tablename__ = "archives"
    digest: bytes = Field(primary_key=True, sa_type=LargeBinary)  # SHA-256 of the content
    content: bytes = Field(sa_type=LargeBinary)


class BotMemoryRow(Base, table=True):
    """The folder that a submitted bot, whichever version, keeps on a ladder from match to match."""

    __tablename__ = "bot_memories"
    owner_id: int = Field(primary_key=True, foreign_key="owners.id")
    bot: str = Field(primary_key=True)
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    content: bytes = Field(sa_type=LargeBinary)  # see `memory_folder.pack_folder`
    changed: datetime = Field(sa_type=UtcDateTime)


SUBMISSIONS = Base.metadata.tables["submissions"]
ARCHIVES = Base.metadata.tables["archives"]
BOT_MEMORIES = Base.metadata.tables["bot_memories"]
