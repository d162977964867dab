"""The watch's records of calls, sessions and matches; times are its own `effective` time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from cutpurse.engine.match import Chosen, OpenDecision
from cutpurse.server.matches.server_match import ServerMatch
from cutpurse.v1 import arena_pb2

__all__ = ["BEAT_S", "EPS", "STRIKES", "Asked", "Books", "MatchBook", "Read", "SeatBook", "SessionBook", "StreamBook"]

EPS: Final = 2e-5
BEAT_S: Final = 0.065  # maximum excess of the credit for one stall
STRIKES: Final = 3


@dataclass
class Read:
    """An answer or a give-up that the server has read."""

    option: int | None
    at: float  # effective
    is_live: bool  # the call may have owned the session
    is_sure: bool  # the call certainly owned the session
    call: int
    gives_up: bool = False


@dataclass
class Asked:
    """A decision of one seat."""

    decision: OpenDecision
    put: float  # effective, as all times here
    stalls: int  # number of the server's stalls before
    handed: float | None = None
    first: int = 0  # number of the first event sent with it
    reads: list[Read] = field(default_factory=list)
    told_on: set[int] = field(default_factory=set)  # calls
    refused: list[int] = field(default_factory=list)  # corrections left in the refusals sent
    chosen: Chosen | None = None
    is_closed: bool = False

    def is_legal(self, read: Read) -> bool:
        """Return whether an answer is one of the options."""
        return read.option is not None and read.option < len(self.decision.options)


@dataclass
class SeatBook:
    """A seat of a match."""

    name: str
    session: str  # the session that plays it
    bank: tuple[float, float]  # minimum and maximum
    asked: list[Asked] = field(default_factory=list)
    choices: list[Chosen] = field(default_factory=list)  # of decisions with several options
    lone_faults: dict[int, Chosen] = field(default_factory=dict)  # by number, of decisions with one option
    events: int = 0  # sent so far
    accepted: int = 0  # acceptances sent


@dataclass
class MatchBook:
    """One match."""

    table: ServerMatch
    seats: list[SeatBook]
    life: int  # of the server
    is_begun: bool = False  # its bots know it
    choices: int = 0  # checked so far
    questions: int = 0
    put_at: float = 0.0
    is_window: bool = False
    is_opened: bool = False  # its seed was revealed
    told: arena_pb2.MatchEnded | None = None  # as sent to the first seat

    @property
    def is_void(self) -> bool:
        """Whether it is over, and void."""
        match = self.table.match
        return match.over and match.result().voided

    def started(self, asked: Asked) -> float:
        """Return when the clock of a decision started."""
        latest = asked.put + self.table.ladder.control.handover_ms / 1e3
        return latest if asked.handed is None else min(latest, asked.handed)

    def where(self, seat: SeatBook, asked: Asked) -> str:
        """Describe a decision for an error."""
        return f"match {self.table.name[:8]}, decision {asked.decision.number + 1} of {seat.name}"


@dataclass
class SessionBook:
    """A session."""

    name: str
    tables: dict[int, str] = field(default_factory=dict)  # match by table
    guessed: list[tuple[int, Read]] = field(default_factory=list)  # answers at tables that it does not know
    is_fresh: bool = True  # it has had only one stream
    heard: set[int] = field(default_factory=set)  # tables with acknowledged ends
    maybe_heard: set[int] = field(default_factory=set)  # tables whose acknowledgement the server may have missed
    sits: set[int] = field(default_factory=set)  # tables in use


@dataclass
class StreamBook:
    """A call, as the server sees it."""

    session: SessionBook | None = None
    hello: arena_pb2.Hello | None = None
    pending: list[tuple[arena_pb2.PlayRequest, float]] = field(default_factory=list)
    sent: int = 0
    heard: int = 0
    strikes: int = 0
    is_ended: bool = False
    ends: dict[int, list[int]] = field(default_factory=dict)  # by envelope


class Books:
    """All records of the watch."""

    def __init__(self) -> None:
        self.matches: dict[str, MatchBook] = {}
        self.streams: dict[int, StreamBook] = {}
        self.sessions: dict[str, SessionBook] = {}
        self.live: dict[str, int] = {}  # newest admitted call, by bot
        self.secrets: dict[str, bytes] = {}
        self.sealed: dict[str, bytes] = {}  # secret seeds, by match

    def restart(self) -> None:
        """Drop what the server had in memory, after it has died."""
        self.streams.clear()
        self.sessions.clear()
        self.live.clear()
        self.sealed.clear()

    def session_of_another(self, name: str) -> str:
        """Return the ID of a session of another bot."""
        return next((id for id, session in self.sessions.items() if session.name != name), "0" * 32)

    def is_being_taken_over(self, session: SessionBook) -> bool:
        """Return whether another call of the same bot has sent Hello and has no Welcome yet."""
        return any(
            stream.session is None and stream.hello is not None and stream.hello.bot == session.name
            for stream in self.streams.values()
            if not stream.is_ended
        )
