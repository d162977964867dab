"""What the watch writes down of calls, sessions and matches; moments are those of its own count of time."""

from __future__ import annotations

from dataclasses import dataclass, field

from cutpurse.engine.match import Chosen, Decision
from cutpurse.server.table import Table
from cutpurse.v1 import arena_pb2

__all__ = ["Asked", "MatchBook", "Read", "SeatBook", "SessionBook", "StreamBook"]


@dataclass
class Read:
    """An answer or a giving up that the server has read."""

    option: int | None
    at: float  # effective
    is_live: bool  # the call may have had the session
    is_sure: bool  # it certainly had
    call: int
    gives_up: bool = False


@dataclass
class Asked:
    """A decision of one seat."""

    decision: Decision
    put: float  # effective, as all here
    stalls: int  # of the server until then
    handed: float | None = None
    first: int = 0  # number of the first event that was told with it
    reads: list[Read] = field(default_factory=list)
    told_on: set[int] = field(default_factory=set)  # calls
    refused: list[int] = field(default_factory=list)  # corrections left, as told
    chosen: Chosen | None = None
    is_closed: bool = False


@dataclass
class SeatBook:
    """One seat at one match, by its bot's name."""

    name: str
    session: str  # that sat down
    bank: tuple[float, float]  # at least, at most
    asked: list[Asked] = field(default_factory=list)
    choices: list[Chosen] = field(default_factory=list)
    events: int = 0  # told so far
    accepted: int = 0  # answers, as told


@dataclass
class MatchBook:
    """One match."""

    table: Table
    seats: list[SeatBook]
    life: int  # of the server
    choices: int = 0  # looked at
    questions: int = 0
    put_at: float = 0.0
    is_window: bool = False
    is_opened: bool = False  # its seed was told
    told: arena_pb2.MatchEnded | None = None  # to the first of its seats


@dataclass
class SessionBook:
    """A session, by its id."""

    name: str
    tables: dict[int, str] = field(default_factory=dict)  # to matches
    is_fresh: bool = True  # it has had one stream only
    heard: set[int] = field(default_factory=set)  # tables whose end was acknowledged
    maybe_heard: set[int] = field(default_factory=set)  # those where the server may have missed it
    sits: set[int] = field(default_factory=set)  # tables that are not free


@dataclass
class StreamBook:
    """One call, as the server has it."""

    session: SessionBook | None = None
    hello: arena_pb2.Hello | None = None
    pending: list[tuple[arena_pb2.PlayRequest, float]] = field(default_factory=list)
    sent: int = 0
    heard: int = 0
    strikes: int = 0
    is_ended: bool = False
    ends: dict[int, list[int]] = field(default_factory=dict)  # by envelope
