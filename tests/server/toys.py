"""A seat and a lobby without a game, for tests of sessions and streams.

A toy match asks one bot a number of decisions with three options; any answer is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from cutpurse.engine.clocks import AnswerOutcome, OutcomeKind
from cutpurse.leaderboard.results import DecisionUsage, Identity
from cutpurse.server.matches.loop_hooks import LoopHooks
from cutpurse.server.streams.server_session import ServerSession
from cutpurse.v1 import arena_pb2, game_pb2

__all__ = ["OPTIONS", "ToyLobby", "ToySeat"]

OPTIONS = 3
SECRET = "copper_wire"  # a text that no log and no message may contain


class ToySeat:
    """A seat of a toy match with `length` decisions; with `asks_itself`, each answer causes the next decision."""

    def __init__(self, session: ServerSession, length: int = 10, asks_itself: bool = False, size: int = 0) -> None:
        self.number = 0
        self.session = session
        self.length = length
        self.asks_itself = asks_itself
        self.padding = game_pb2.Observation(counters=[1] * size)  # makes each decision larger
        self.question = 0  # number of the last decision, from 1
        self.is_open = False
        self.is_over = False
        self.corrections = 2
        self.handed_over: list[float] = []
        self.answered: list[tuple[int, int | None, float]] = []
        self.given_up: list[str] = []
        self.notes: list[tuple[int, str]] = []
        self.usages: list[DecisionUsage] = []
        self.nonces: list[tuple[bytes, float]] = []
        self.says_of_nonce = AnswerOutcome(OutcomeKind.ACCEPTED)
        self.is_connected = True
        self.went_on = 0
        self.incident = ""

    def sit(self) -> ToySeat:
        """Begin the match with the session."""
        self.session.sit(self)
        self.session.begin(self)
        if self.asks_itself:
            self.ask()
        return self

    def ask(self) -> None:
        """Ask the next decision."""
        self.question += 1
        self.corrections = 2
        self.is_open = True
        self.session.ready(self)

    def end(self) -> None:
        """End the match, as if it were stored."""
        self.is_open, self.is_over = False, True
        self.session.ready(self)

    # -- SeatAt
    def started(self) -> bytes:
        return arena_pb2.MatchStarted(table=self.number, match=f"m{self.number}", game="greed").SerializeToString()

    def has_decision(self) -> bool:
        return self.is_open

    def decision(self, now: float) -> bytes | None:
        if not self.is_open:
            return None
        self.handed_over.append(now)
        options = [game_pb2.Act(verb=verb + 1) for verb in range(OPTIONS)]
        return arena_pb2.Decision(
            table=self.number, decision=self.question, options=options, observation=self.padding
        ).SerializeToString()

    def answer(self, decision: int, option: int | None, now: float) -> AnswerOutcome:
        self.answered.append((decision, option, now))
        if self.is_over:
            return AnswerOutcome(OutcomeKind.STALE)
        if decision < 0 or decision >= self.question:
            return AnswerOutcome(OutcomeKind.UNKNOWN_DECISION)
        if decision < self.question - 1 or not self.is_open:
            return AnswerOutcome(OutcomeKind.ALREADY_DECIDED)
        if option is None or not 0 <= option < OPTIONS:
            self.corrections -= 1
            if self.corrections < 0:
                self._closed()
                return AnswerOutcome(OutcomeKind.ILLEGAL_CLOSED, 0, OPTIONS, problem=SECRET)
            return AnswerOutcome(OutcomeKind.ILLEGAL, self.corrections + 1, OPTIONS, problem=SECRET)
        self._closed()
        return AnswerOutcome(OutcomeKind.ACCEPTED)

    def give_up(self, decision: int, reason: str, now: float, whole_match: bool = False) -> AnswerOutcome:
        if decision != self.question - 1 or not self.is_open:
            return AnswerOutcome(OutcomeKind.UNKNOWN_DECISION)
        self.given_up.append(reason)
        self._closed()
        return AnswerOutcome(OutcomeKind.ACCEPTED)

    def nonce(self, nonce: bytes, now: float) -> AnswerOutcome:
        self.nonces.append((nonce, now))
        return self.says_of_nonce

    def note(self, decision: int, text: str, most_bytes: int) -> bool:
        self.notes.append((decision, text))
        return not self.is_over

    def report(self, usage: DecisionUsage) -> None:
        self.usages.append(usage)

    def connected(self) -> None:
        self.is_connected = True

    def disconnected(self) -> None:
        self.is_connected = False

    def ended(self) -> bytes | None:
        if not self.is_over:
            return None
        return arena_pb2.MatchEnded(table=self.number, rated=True).SerializeToString()

    def go_on(self) -> None:
        """Count the calls; there is nothing to continue."""
        self.went_on += 1

    def _closed(self) -> None:
        self.is_open = False
        if self.asks_itself:
            if self.question < self.length:
                self.ask()
            else:
                self.end()


class ToyLobby:
    """A lobby of sessions; with `length`, it gives every free table a match of that many decisions."""

    def __init__(self, length: int = 0, tables: int | None = None, size: int = 0) -> None:
        self.wake: Callable[[], None] = lambda: None
        self.hooks = LoopHooks()
        self.length = length
        self.tables_left = tables  # number of matches left to start, None means no limit
        self.size = size
        self.told: list[str] = []
        self.lost: list[Identity] = []
        self.there: list[ServerSession] = []
        self.seats: list[ToySeat] = []
        self.credited = 0.0
        self.is_draining = False
        self.is_storing = True
        self.breaks: Exception | None = None

    @property
    def is_idle(self) -> bool:
        return all(seat.is_over for seat in self.seats)

    def ladders(self, owner: str = "") -> Mapping[str, Sequence[str]]:
        return {"greed": ["greed", "greed-fast"], "szmal": ["szmal"]}

    def check(self, identity: Identity, wanted: Mapping[str, Sequence[str]], forgets: bool) -> None:
        """Accept every bot."""

    def check_submitted(self, identity: Identity, wanted: Mapping[str, Sequence[str]], forgets: bool) -> None:
        """Let every bot be submitted."""

    def enter(self, session: ServerSession) -> None:
        self.told.append(f"enter {session.identity.bot}")
        self.there.append(session)
        self.wake()

    def leave(self, session: ServerSession) -> None:
        self.told.append(f"leave {session.identity.bot}")
        self.there.remove(session)

    def lose(self, bots: Collection[Identity], why: str) -> None:
        self.lost += bots

    def changed(self, session: ServerSession) -> None:
        self.told.append(f"changed {session.identity.bot} {session.free_tables}")
        self.wake()

    def tick(self, now: float) -> None:
        if self.breaks is not None:
            raise self.breaks
        if not self.length or self.is_draining:
            return
        for session in self.there:
            while session.free_tables and self.tables_left != 0:
                if self.tables_left is not None:
                    self.tables_left -= 1
                self.seats.append(ToySeat(session, self.length, asks_itself=True, size=self.size).sit())

    def next_event_at(self) -> float | None:
        wanted = self.length and self.tables_left != 0 and not self.is_draining
        return 0.0 if wanted and any(session.free_tables for session in self.there) else None

    def credit(self, seconds: float) -> None:
        self.credited += seconds

    def drain(self, now: float) -> None:
        self.is_draining = True

    def void_all(self) -> None:
        for seat in self.seats:
            if not seat.is_over:
                seat.end()
