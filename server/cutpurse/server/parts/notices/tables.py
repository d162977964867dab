"""The tables of notices: receivers, what waits for them, and who overtook whom lately."""

from __future__ import annotations

from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import Index, LargeBinary
from sqlmodel import Field

from cutpurse.leaderboard.models import Base, UtcDateTime

__all__ = ["OUTBOX", "OVERTAKINGS", "RECEIVERS", "OutboxRow", "OvertakingRow", "ReceiverRow"]


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
    __table_args__: ClassVar[dict[str, Any]] = {"sqlite_with_rowid": False}
    ladder_id: int = Field(primary_key=True, foreign_key="ladders.id")
    bot_id: int = Field(primary_key=True, foreign_key="bots.id")  # the bot that was overtaken
    other_id: int = Field(primary_key=True, foreign_key="bots.id")
    at: datetime = Field(sa_type=UtcDateTime)


RECEIVERS = Base.metadata.tables["receivers"]
OUTBOX = Base.metadata.tables["outbox"]
OVERTAKINGS = Base.metadata.tables["overtakings"]
