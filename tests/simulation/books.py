"""What the watch writes down of calls, sessions and matches; moments are those of its own count of time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from cutpurse.engine.match import Chosen, OpenDecision
from cutpurse.server.matches.server_match import ServerMatch
from cutpurse.v1 import arena_pb2

__all__ = ["BEAT_S", "EPS", "STRIKES", "Asked", "Books", "MatchBook", "Read", "SeatBook", "SessionBook", "StreamBook"]

EPS: Final = 2e-5
BEAT_S: Final = 0.065  # what the credit of one stall may be too generous
STRIKES: Final = 3


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

    decision: OpenDecision
    put: float  # effective, as all here
    stalls: int  # of the server until then
    handed: float | None = None
    first: int = 0  # number of the first event that was told with it
    reads: list[Read] = field(default_factory=list)
    told_on: set[int] = field(default_factory=set)  # calls
    refused: list[int] = field(default_factory=list)  # corrections left, as told
    chosen: Chosen | None = None
    is_closed: bool = False

    def is_legal(self, read: Read) -> bool:
        """Whether it is one of the options."""
        return read.option is not None and read.option < len(self.decision.options)


@dataclass
class SeatBook:
    """One seat at one match, by its bot's name."""

    name: str
    session: str  # that sat down
    bank: tuple[float, float]  # at least, at most
    asked: list[Asked] = field(default_factory=list)
    choices: list[Chosen] = field(default_factory=list)  # of decisions with several options
    lone_faults: dict[int, Chosen] = field(default_factory=dict)  # by number, of decisions with one option
    events: int = 0  # told so far
    accepted: int = 0  # answers, as told


@dataclass
class MatchBook:
    """One match."""

    table: ServerMatch
    seats: list[SeatBook]
    life: int  # of the server
    is_begun: bool = False  # else its bots were not told of it
    choices: int = 0  # looked at
    questions: int = 0
    put_at: float = 0.0
    is_window: bool = False
    is_opened: bool = False  # its seed was told
    told: arena_pb2.MatchEnded | None = None  # to the first of its seats

    @property
    def is_void(self) -> bool:
        """Whether it is over, and void."""
        match = self.table.match
        return match.over and match.result().voided

    def started(self, asked: Asked) -> float:
        """When the clock of a decision began to run."""
        latest = asked.put + self.table.ladder.control.handover_ms / 1e3
        return latest if asked.handed is None else min(latest, asked.handed)

    def where(self, seat: SeatBook, asked: Asked) -> str:
        """A decision, for whoever reads what is wrong with it."""
        return f"match {self.table.name[:8]}, decision {asked.decision.number + 1} of {seat.name}"


@dataclass
class SessionBook:
    """A session, by its id."""

    name: str
    tables: dict[int, str] = field(default_factory=dict)  # to matches
    guessed: list[tuple[int, Read]] = field(default_factory=list)  # of decisions at tables that it was not told of
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


class Books:
    """All that is written down."""

    def __init__(self) -> None:
        self.matches: dict[str, MatchBook] = {}
        self.streams: dict[int, StreamBook] = {}
        self.sessions: dict[str, SessionBook] = {}
        self.live: dict[str, int] = {}  # by bot, its newest call that was let in
        self.secrets: dict[str, bytes] = {}
        self.sealed: dict[str, bytes] = {}  # seeds that nobody may see, by match

    def restart(self) -> None:
        """The server has died: what it kept in memory is gone."""
        self.streams.clear()
        self.sessions.clear()
        self.live.clear()
        self.sealed.clear()

    def session_of_another(self, name: str) -> str:
        """The id of a session that is not this bot's."""
        return next((id for id, session in self.sessions.items() if session.name != name), "0" * 32)

    def is_being_taken_over(self, session: SessionBook) -> bool:
        """Whether another call has said who it is, as the same bot, and was not welcomed yet."""
        return any(
            stream.session is None and stream.hello is not None and stream.hello.bot == session.name
            for stream in self.streams.values()
            if not stream.is_ended
        )
