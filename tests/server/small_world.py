"""A lobby with bots and a store in simulated time, without threads, sockets or a real clock.

`World` advances virtual time from one event to the next. A `BotThere` replaces a session and its bot: it fetches
messages, parses them as on the wire, and answers after a while in its manner. It records everything it receives, and
fails at once for what no bot should see: a gap in the events, a decision out of order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from heapq import heappop, heappush
from random import Random
from typing import Any

from cutpurse.engine.clocks import AnswerOutcome
from cutpurse.leaderboard.errors import Unsure
from cutpurse.leaderboard.ratings import Skill
from cutpurse.leaderboard.results import DecisionUsage, FinishedMatch, Identity, MatchAnnouncement, StoreOutcome
from cutpurse.leaderboard.tokens import NOBODY
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.matches.lobby import Lobby
from cutpurse.server.matches.server_match import SeatAt
from cutpurse.server.matches.version_tests import SHARE
from cutpurse.server.result_store import ResultStore
from cutpurse.v1 import arena_pb2, game_pb2

__all__ = ["NOTE", "NOTE_BYTES", "BotThere", "Log", "Manner", "Played", "Store", "World", "entropy_of"]

NOTE = "my hand is a copper_wire"  # the text of notes, which only the bot's owner may read
NOTE_BYTES = 16_384
MODEL = "copper-wire-3"  # the model that bots report, which nobody may read before the end


def entropy_of(seed: str) -> Callable[[int], bytes]:
    """Return a source of bytes that are the same in every run."""
    drawn = 0

    def entropy(count: int) -> bytes:
        nonlocal drawn
        drawn += 1
        return sha256(f"{seed}/{drawn}".encode()).digest()[:count]

    return entropy


class StoreBroke(Exception):
    """The error of a broken store; it may quote the data, so no message may contain its text."""


class Store:
    """A store that stores results after a while, or fails."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.takes_s = 0.0
        self.is_broken = False
        self.is_unsure = False  # it stores, but reports that it is unsure
        self.kept: dict[str, FinishedMatch] = {}
        self.announced: dict[str, MatchAnnouncement] = {}
        self.announces_later = False  # the test finishes the futures in `announcing`
        self.announcing: list[tuple[MatchAnnouncement, Future[None]]] = []
        self.known: dict[Identity, Mapping[str, tuple[Skill, int]]] = {}
        self.follows: Callable[[FinishedMatch], StoreOutcome] = lambda result: StoreOutcome()
        self.offered = 0

    def announce(self, match: MatchAnnouncement) -> Future[None]:
        future: Future[None] = Future()
        if self.announces_later:
            self.announcing.append((match, future))
        else:
            self.announced[match.match] = match
            future.set_result(None)
        return future

    def standings(self, player: Identity, seen: datetime) -> Future[Mapping[str, tuple[Skill, int]]]:
        future: Future[Mapping[str, tuple[Skill, int]]] = Future()
        future.set_result(self.known.get(player, {}))
        return future

    def submit(self, result: FinishedMatch) -> Future[StoreOutcome]:
        future: Future[StoreOutcome] = Future()
        self.offered += 1
        self.world.after(self.takes_s, lambda: self._settle(result, future))
        return future

    def _settle(self, result: FinishedMatch, future: Future[StoreOutcome]) -> None:
        if self.is_broken:
            future.set_exception(StoreBroke(f"disk full while writing {result.record()}"))
            return
        self.kept.setdefault(result.match, result)
        if self.is_unsure:
            future.set_exception(Unsure("disk I/O error"))
        else:
            future.set_result(self.follows(result))


class Log:
    """A log that stores its lines."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, dict[str, Any]]] = []

    def info(self, event: str, **facts: Any) -> None:
        self.lines.append(("info", event, facts))

    def error(self, event: str, **facts: Any) -> None:
        self.lines.append(("error", event, facts))

    def errors(self) -> list[dict[str, Any]]:
        return [facts for level, _, facts in self.lines if level == "error"]


@dataclass
class Manner:
    """The way a bot answers; shares are of its decisions."""

    least_s: float = 0.0
    most_s: float = 0.01
    never: float = 0.0
    illegal: float = 0.0  # out of range, absurd, or without an option
    gives_up: float = 0.0
    repeats: float = 0.0  # answers twice, the second time differently
    loses_stream: float = 0.0  # at a decision, for up to `away_s`
    away_s: float = 0.2
    says: int = 0  # notes per decision
    uses: int = 0  # tokens that it reports per decision


@dataclass
class Played:
    """A match as its bot saw it."""

    seat_at: SeatAt
    started: arena_pb2.MatchStarted
    wants_events: bool
    events: list[game_pb2.Event] = field(default_factory=list)
    decisions: dict[int, arena_pb2.Decision] = field(default_factory=dict)
    outcomes: list[AnswerOutcome] = field(default_factory=list)
    ended: arena_pb2.MatchEnded | None = None
    told: list[bytes] = field(default_factory=list)
    has_gap: bool = False  # a decision was lost with its stream, and its events with it


class BotThere:
    """A fake session with its bot."""

    def __init__(
        self,
        world: World,
        name: str,
        tables: int = 4,
        manner: Manner | None = None,
        *,
        version: str = "1",
        owner: str = NOBODY,
        games: Iterable[str] = (),
        events: bool = True,
        agenda: bool = False,
    ) -> None:
        self.world = world
        self.identity = Identity(owner, name, version)
        self.max_tables = tables
        self.manner = manner or Manner()
        self.games = frozenset(games)
        self.wants_events = events
        self.wants_agenda = agenda
        self.sends_usage = True
        self.sends_nonces = False
        self.nonce_after_s = 0.0
        self.nonces: dict[str, bytes] = {}  # by match
        self.nonce_outcomes: list[AnswerOutcome] = []
        self.random = Random(f"{name}/{version}")
        self.open: dict[int, Played] = {}
        self.sat: dict[int, SeatAt] = {}
        self.done: list[Played] = []
        self.to_send: dict[SeatAt, None] = {}
        self.is_there = True
        self.seats_taken = 0
        self.problems: list[tuple[str, str]] = []
        self.opened_boards: list[arena_pb2.BoardOpened] = []
        self.is_forgetful = False
        self.declines_requests = False
        self.is_for_tests = False

    # -- the interface for the lobby and the matches
    @property
    def free_tables(self) -> int:
        return self.max_tables - len(self.sat) if self.is_there else 0

    @property
    def forgets(self) -> bool:
        return self.is_forgetful

    def plays(self, game: str, ladder: str) -> bool:
        return not self.games or game in self.games

    def sit(self, seat: SeatAt) -> None:
        self.seats_taken += 1
        seat.number = self.seats_taken
        self.sat[seat.number] = seat

    def begin(self, seat: SeatAt) -> None:
        self.ready(seat)

    def rise(self, seat: SeatAt) -> None:
        del self.sat[seat.number]

    def ready(self, seat: SeatAt) -> None:
        self.to_send[seat] = None

    def opened(self, seat: SeatAt, body: bytes) -> None:
        assert seat.number, "it hears of the board of a match that it never sat down to"
        self.opened_boards.append(arena_pb2.BoardOpened.FromString(body))

    def tell(self, reason: str, text: str) -> None:
        self.problems.append((reason, text))

    # -- the stream
    def fetch(self) -> None:
        """Read all messages that are ready."""
        while self.to_send and self.is_there:
            seat = next(iter(self.to_send))
            del self.to_send[seat]
            self._read(seat)

    def _read(self, seat: SeatAt) -> None:
        if seat.number not in self.open:
            started = arena_pb2.MatchStarted.FromString(seat.started())
            assert started.table == seat.number
            self.open[seat.number] = Played(seat, started, self.wants_events)
            if started.nonce_ms:
                self.nonces[started.match] = self.random.randbytes(32)
                self.world.after(self.nonce_after_s, lambda: self._add_nonce(seat, started.match))
        played = self.open[seat.number]
        if seat.has_decision():
            body = seat.decision(self.world.now)
            if body is not None:
                self._asked(played, body)
        if (body := seat.ended()) is not None:
            self._over(played, body)

    def _events(self, played: Played, first: int, events: Iterable[game_pb2.Event]) -> None:
        if not self.wants_events:
            assert not list(events)
            return
        known = len(played.events)
        if first > known:
            assert played.has_gap, f"events {known} to {first - 1} are missing"
            played.events += [game_pb2.Event()] * (first - known)
        played.events[first:] = events

    def _asked(self, played: Played, body: bytes) -> None:
        decision = arena_pb2.Decision.FromString(body)
        played.told.append(body)
        last = max(played.decisions, default=0)
        assert decision.table == played.started.table
        assert decision.decision == last + 1 or played.has_gap, f"decision {decision.decision} after {last}"
        assert decision.options
        assert decision.safe_option < len(decision.options)
        assert decision.observation.viewer == played.started.seat
        assert bool(decision.observation.agenda) == self.wants_agenda
        self._events(played, decision.first_event, decision.events)
        played.decisions[decision.decision] = decision
        manner = self.manner
        if self.random.random() < manner.loses_stream:
            played.has_gap = True
            self.lose_stream(self.random.uniform(0, manner.away_s))
            return
        if self.random.random() < manner.never:
            return
        self.world.after(self.random.uniform(manner.least_s, manner.most_s), lambda: self._answer(played, decision))

    def _add_nonce(self, seat: SeatAt, match: str) -> None:
        if self.is_there:
            self.nonce_outcomes.append(seat.nonce(self.nonces[match], self.world.now))

    def _answer(self, played: Played, decision: arena_pb2.Decision) -> None:
        manner, seat, number, options = self.manner, played.seat_at, decision.decision - 1, len(decision.options)
        if not self.is_there:
            return
        now = self.world.now
        for said in range(manner.says):
            seat.note(decision.decision, f"{NOTE}, {said} of {decision.decision}", NOTE_BYTES)
        if manner.uses:
            seat.report(DecisionUsage(decision.decision, manner.uses, 5, 310, MODEL, "time"))
        if self.random.random() < manner.gives_up:
            played.outcomes.append(seat.give_up(number, "its own code failed", now))
            seat.go_on()
            return
        if self.random.random() < manner.illegal:
            wrong = self.random.choice([None, options, 2**32 - 1, 10**30, -1])
            outcome = seat.answer(number, wrong, now)
            seat.go_on()
            played.outcomes.append(outcome)
            if outcome.corrections_left:
                self.world.after(0.001, lambda: self._answer(played, decision))
            return
        played.outcomes.append(seat.answer(number, self.random.randrange(options), now))
        if self.random.random() < manner.repeats:
            played.outcomes.append(seat.answer(number, self.random.randrange(options), now))
        seat.go_on()

    def _over(self, played: Played, body: bytes) -> None:
        ended = arena_pb2.MatchEnded.FromString(body)
        played.told.append(body)
        self._events(played, ended.first_event, ended.events)
        played.ended = ended
        del self.open[ended.table]
        del self.sat[ended.table]
        self.done.append(played)
        self.world.lobby.changed(self)

    def lose_stream(self, for_s: float | None) -> None:
        """Lose the stream; it resumes after `for_s` seconds, or never if that is None."""
        self.is_there = False
        for seat in self.sat.values():
            seat.disconnected()
        self.world.lobby.leave(self)
        if for_s is not None:
            self.world.after(for_s, self.resume)

    def resume(self) -> None:
        """Resume the stream: everything open is sent again."""
        self.is_there = True
        for seat in self.sat.values():
            seat.connected()
            if seat.number in self.open:
                self.open[seat.number].has_gap = True
            self.ready(seat)
        self.world.lobby.enter(self)


class World:
    """Virtual time, a lobby, a store and bots."""

    def __init__(
        self,
        ladders: Iterable[Ladder],
        seed: str = "world",
        most_tables: int = 4_096,
        store: ResultStore | None = None,
        test_share: float = SHARE,
    ) -> None:
        self.now = 1_000.0
        self.store = Store(self)
        self.log = Log()
        self.lobby = Lobby(
            ladders,
            store or self.store,
            entropy=entropy_of(seed),
            utc=lambda: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.now),
            log=self.log,
            most_tables=most_tables,
            test_share=test_share,
        )
        self.bots: list[BotThere] = []
        self._queue: list[tuple[float, int, Callable[[], None]]] = []
        self._count = 0
        self.most_open = 0

    def bot(
        self, name: str, tables: int = 4, manner: Manner | None = None, *, is_for_tests: bool = False, **more: Any
    ) -> BotThere:
        """Add a bot."""
        bot = BotThere(self, name, tables, manner, **more)
        bot.is_for_tests = is_for_tests
        self.bots.append(bot)
        self.lobby.enter(bot)
        return bot

    def after(self, seconds: float, what: Callable[[], None]) -> None:
        """Schedule a call after `seconds` of virtual time."""
        self._count += 1
        heappush(self._queue, (self.now + seconds, self._count, what))

    def step(self) -> bool:
        """Process the next event; return whether there was any."""
        ready = [bot for bot in self.bots if bot.to_send and bot.is_there]
        for bot in ready:
            bot.fetch()
        if ready:
            return True
        due = self.lobby.next_event_at()
        if self._queue and (due is None or self._queue[0][0] < due):
            at, _, what = heappop(self._queue)
            self.now = max(self.now, at)
            what()
            return True
        if due is None:
            return False
        self.now = max(self.now, due)
        self.lobby.tick(self.now)
        self.most_open = max(self.most_open, self.lobby.tables)
        return True

    def run(self, until: Callable[[], bool] | None = None, most_steps: int = 2_000_000) -> None:
        """Run until `until` returns True, or nothing more can happen.  Fails after `most_steps` steps."""
        for _ in range(most_steps):
            if until is not None and until():
                return
            if not self.step():
                assert until is None or until(), "nothing more happens"
                return
        raise AssertionError(f"not over after {most_steps} steps")
