"""Streams between the SDK's session and the server's in virtual time, with a fault at any envelope.

The tests are of how both sides handle a broken stream, so there are no sockets. Sessions, links, lobby and matches are
the server's own, and the bot uses the SDK's own `ClientSession`. Between them are two pipes that keep the order of
envelopes, as TCP does, and a `Fault` at one envelope.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple

from cutpurse.engine.match import Match
from cutpurse.leaderboard.results import FinishedMatch
from cutpurse.server.errors import CallRefused, CallStatus
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.sessions import Sessions
from cutpurse.v1 import arena_pb2
from cutpurse.wire.client_session import Ask, Begin, ClientSession, Finish, OwnerNotice
from cutpurse.wire.client_table import ClientTable
from tests.server.small_world import World, entropy_of
from tests.server.stores import match_of

__all__ = ["Bot", "Fault", "FaultKind", "House", "answers_taken", "said_about"]

LATENCY_S: Final = 0.002  # one way
THINKS_S: Final = 0.02
LATE_S: Final = 1.0  # delay until the second side learns of a loss
STALL_S: Final = 1.5
BACK_S: Final = 0.3  # delay from a lost stream to the next attempt
WELCOME_S: Final = 1.0  # timeout of an attempt
EARLY_S: Final = 1e-6
LIMITS: Final = ServerLimits(heartbeat_ms=1_000)


class FaultKind(Enum):
    """The kinds of faults at an envelope."""

    LOST = "it and all that follows is lost, and both sides learn of it"
    LAST = "it arrives, what follows is lost, and both sides learn of it"
    SERVER_LATE = "the bot learns of the loss at once and is back before the server has heard of it"
    BOT_LATE = "the server learns of the loss at once, the bot later"
    SWALLOWED = "it and all that follows is lost both ways, and nobody is told"
    STALLED = "it and all that follows in this direction comes later"
    OVERTAKEN = "the bot loses the stream; it and what follows reaches the server after the next stream was opened"
    GHOST = "the bot loses the stream, and its next Hello arrives only after the one that it says instead"


class Fault(NamedTuple):
    """A fault at envelope `at` of a direction, counted from 0 over all streams of the bot."""

    kind: FaultKind
    is_up: bool  # in the direction to the server
    at: int


class _Stream:
    """One call of Play between a bot and the server."""

    def __init__(self, house: House, bot: Bot) -> None:
        self.house = house
        self.bot = bot
        self.link: Link | None = None
        self.is_over = False  # for the server
        self.up_lost = self.down_lost = False
        self.up_at = self.down_at = 0.0  # earliest arrival, by direction
        self._is_woken = False
        self._rings_at = 0.0

    # -- the pipes
    def up(self, data: bytes) -> None:
        """Send an envelope from the bot."""
        self._meddle(is_up=True)
        if self.up_lost:
            return
        self.up_at = max(self.up_at, self.house.now + LATENCY_S)
        self.house.at(self.up_at, lambda: self._read(data))

    def _down(self, data: bytes) -> None:
        self._meddle(is_up=False)
        if self.down_lost:
            return
        self.down_at = max(self.down_at, self.house.now + LATENCY_S)
        self.house.at(self.down_at, lambda: self.bot.read(self, data))

    def _meddle(self, is_up: bool) -> None:
        """Count an envelope, and cause the fault if it is the one."""
        fault = self.bot.passes(is_up)
        if fault is None:
            return
        if fault.kind is FaultKind.STALLED:
            if is_up:
                self.up_at = self.house.now + STALL_S
            else:
                self.down_at = self.house.now + STALL_S
            return
        if fault.kind is FaultKind.LAST:
            self.house.at(self.house.now, self._cut)  # after this envelope is sent
            return
        if fault.kind is FaultKind.OVERTAKEN:
            self.up_at = self.house.now + BACK_S + LATE_S
            self.down_lost = True
            self._tell_bot(0.0)
            self._tell_server(BACK_S + 2 * LATE_S)
            return
        if fault.kind is FaultKind.GHOST:
            self.bot.ghosts = 1
        self.up_lost = self.down_lost = True
        if fault.kind is not FaultKind.SWALLOWED:
            self._tell_bot(LATE_S if fault.kind is FaultKind.BOT_LATE else 0.0)
            self._tell_server(LATE_S if fault.kind is FaultKind.SERVER_LATE else 0.0)

    def _cut(self) -> None:
        self.up_lost = self.down_lost = True
        self._tell_bot(0.0)
        self._tell_server(0.0)

    def _tell_bot(self, later_s: float) -> None:
        self.house.at(self.house.now + 2 * LATENCY_S + later_s, lambda: self.bot.lost(self, None))

    def _tell_server(self, later_s: float) -> None:
        self.house.at(self.house.now + 2 * LATENCY_S + later_s, self.gone)

    # -- the server's end
    def _read(self, data: bytes) -> None:
        if self.is_over:
            return
        now, sessions = self.house.now, self.house.sessions
        if self.link is not None:
            self.link.receive(data, now)
        else:
            try:
                self.link = sessions.admit(arena_pb2.PlayRequest.FromString(data), self._wake, now)
            except CallRefused as refused:
                self._end(refused.ending)
                return
        self._pump()

    def _wake(self) -> None:
        if not self._is_woken:
            self._is_woken = True
            self.house.at(self.house.now, self._pump)

    def _pump(self) -> None:
        self._is_woken = False
        link, now = self.link, self.house.now
        if link is None or self.is_over:
            return
        while link.closed is None and (data := link.next_envelope(now)) is not None:
            self._down(data)
            link.written()
        if link.closed is not None:
            self.house.sessions.lost(link, now)
            self._end(link.closed)
        elif (at := link.next_event_at()) is not None and at != self._rings_at:
            self._rings_at = at
            self.house.at(at, self._ring)

    def _ring(self) -> None:
        link, now = self.link, self.house.now
        if link is None or self.is_over or (at := link.next_event_at()) is None:
            return
        if at <= now:
            link.tick(now)
            self._pump()

    def gone(self) -> None:
        """Inform the server that the stream is lost."""
        if not self.is_over:
            self.is_over = True
            if self.link is not None:
                self.house.sessions.lost(self.link, self.house.now)

    def _end(self, how: CallStatus) -> None:
        """End the stream from the server; envelopes sent before still arrive first."""
        self.is_over = True
        if not self.down_lost:
            self.house.at(max(self.down_at, self.house.now + LATENCY_S), lambda: self.bot.lost(self, how))


class Bot:
    """A bot of the SDK that plays `matches` matches and leaves; it answers by a deterministic rule."""

    def __init__(self, house: House, name: str, tables: int, matches: int, fault: Fault | None = None) -> None:
        self.house = house
        self.session = ClientSession(name, max_tables=tables, entropy=random.Random(name).randbytes)
        self.matches = matches
        self.fault = fault
        self.passed = {True: 0, False: 0}  # envelopes up and down so far
        self.streams = 0
        self.ghosts = 0  # number of next attempts that are overtaken by the following one
        self.stream: _Stream | None = None
        self.begun: list[str] = []
        self.finished: list[tuple[str, Finish]] = []
        self.answers: dict[str, dict[int, int]] = {}  # option by match and decision
        self.events: dict[str, int] = {}  # number of received events by match
        self.notes: list[str] = []

    @property
    def is_done(self) -> bool:
        """Whether it has left, and its stream is closed."""
        return self.session.done() and self.stream is None

    def passes(self, is_up: bool) -> Fault | None:
        """Count an envelope; return the fault at it, if any."""
        number = self.passed[is_up]
        self.passed[is_up] += 1
        fault = self.fault
        return fault if fault is not None and (fault.is_up, fault.at) == (is_up, number) else None

    def dial(self) -> None:
        """Open a stream."""
        if self.session.done():
            return
        self.streams += 1
        stream = self.stream = _Stream(self.house, self)
        if self.ghosts:
            self.ghosts -= 1
            stream.up_at = self.house.now + WELCOME_S + LATE_S
            stream.down_lost = True
            self.house.at(self.house.now + WELCOME_S + LATE_S + 4 * LATENCY_S, stream.gone)
        stream.up(self.session.opening())
        self.house.at(self.house.now + WELCOME_S, lambda: self._look(stream))

    def _look(self, stream: _Stream) -> None:
        """Give the stream up if it has been silent for too long, else check again later."""
        if self.stream is not stream:
            return
        silent_at = self.session.silent_at
        if silent_at is None or self.house.now >= silent_at:
            self.lost(stream, None)
        else:
            self.house.at(silent_at, lambda: self._look(stream))

    def read(self, stream: _Stream, data: bytes) -> None:
        """Process an envelope."""
        if self.stream is not stream:
            return  # the bot has given this stream up
        for todo in self.session.receive(data, self.house.now):
            match todo:
                case Begin(table):
                    assert table.match not in self.begun, "a match began twice"
                    self.begun.append(table.match)
                    self.answers[table.match] = {}
                    self.events[table.match] = 0
                    if len(self.begun) == self.matches:
                        self.session.leave()
                case Ask(table, decision):
                    self._asked(table, decision)
                case Finish(table):
                    self._told_events(table, todo.first_event, len(todo.events()))
                    self.finished.append((table.match, todo))
                case OwnerNotice(text):
                    self.notes.append(text)
        self._flush()

    def _asked(self, table: ClientTable, decision: arena_pb2.Decision) -> None:
        number = decision.decision
        book = self.answers[table.match]
        assert number == len(book) + 1, f"decision {number} is put after {len(book)} answers"
        self._told_events(table, decision.first_event, len(decision.events))
        option = book[number] = (7 * number + table.seat) % len(decision.options)

        def answer() -> None:
            self.session.answer(table, number, option, said_about(number, option))
            self._flush()

        self.house.at(self.house.now + THINKS_S * (1 + number % 3), answer)

    def _told_events(self, table: ClientTable, first: int, count: int) -> None:
        """Check that no event is missing and none is repeated."""
        assert first == self.events[table.match], f"after {self.events[table.match]} events, those from {first}"
        self.events[table.match] += count

    def _flush(self) -> None:
        stream = self.stream
        while stream is not None and (data := self.session.next_envelope()) is not None:
            stream.up(data)

    def lost(self, stream: _Stream, how: CallStatus | None) -> None:
        """Handle the end of the stream, with the server's status, or None if it was cut off."""
        if self.stream is not stream:
            return
        self.stream = None
        self.session.lost()
        if how is not None and how.reason == "RESUME_EXPIRED":
            self.session.forget()
        elif how is not None and how.reason:
            assert how.reason in ("SILENT", "DRAINING"), f"a bot would end for {how}"
        if not self.session.done():
            self.house.at(self.house.now + BACK_S, self.dial)


class House:
    """The server's own sessions, lobby and matches, with bots that connect."""

    def __init__(self, ladders: list[Ladder], seed: str) -> None:
        self.world = World(ladders, seed)
        self.sessions = Sessions(self.world.lobby, LIMITS, "test", entropy_of(f"{seed}/sessions"))

    @property
    def now(self) -> float:
        """The current virtual time."""
        return self.world.now

    def at(self, moment: float, what: Callable[[], None]) -> None:
        """Schedule a call, in the future slightly later, so that rounding never makes it too early."""
        self.world.after(moment - self.now + EARLY_S if moment > self.now else 0.0, what)

    def run(self, bots: list[Bot]) -> None:
        """Connect the bots, and run until all have left.  Fails if nothing more happens before."""
        for number, bot in enumerate(bots):
            self.at(self.now + number * LATENCY_S, bot.dial)
        self.world.run(lambda: all(bot.is_done for bot in bots) and self.world.lobby.is_idle, 100_000)


def said_about(decision: int, option: int) -> str:
    """Return a bot's note about a decision."""
    return f"decision {decision}: option {option}\n  żółw"


def answers_taken(result: FinishedMatch, with_lone: bool = True) -> list[dict[int, int]]:
    """Play a match again from its key; return the accepted option by seat and decision, counted from 1.

    Args:
        result: The match.
        with_lone: Count decisions with one option too, as on the wire; else count as the SDK does for its bots.
    """
    played = match_of(result)
    again = Match(played.rules, played.seats, played.key, played.game.settings.changed(), ask_all=True)
    taken: list[dict[int, int]] = [{} for _ in played.seats]
    choices = iter(played.choices)
    while not again.over:
        asked = next((decision for decision in again.decisions() if len(decision.options) == 1), None)
        option = 0
        if asked is None:
            choice = next(choices)
            asked = again.decision(choice.seat)
            assert asked is not None
            option = asked.options.index(choice.option)
        if with_lone:
            taken[asked.seat][asked.number + 1] = option
        elif len(asked.options) > 1:
            taken[asked.seat][len(taken[asked.seat]) + 1] = option
        again.answer(asked.seat, asked.number, option)
    return taken
