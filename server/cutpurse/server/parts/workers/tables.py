"""The tables of workers: the matches that they play, and what they handed back."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import LargeBinary
from sqlmodel import Field

from cutpurse.leaderboard.models import Base, UtcDateTime

__all__ = ["REPORTS", "WORK", "ReportRow", "WorkRow"]


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


WORK = Base.metadata.tables["work"]
REPORTS = Base.metadata.tables["reports"]
