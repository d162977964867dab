"""The bot that is connected to a host: its session, its tables and its messages.

A script sends it matches and decisions and waits for its replies. Messages wait in the stream until the host writes
them. This module knows no socket and no match: message bodies are passed in.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias, TypeVar

import grpc

from cutpurse.v1 import arena_pb2
from cutpurse.wire.wire_format import varint

__all__ = ["LOOK_S", "StreamStatus", "Guest", "HostTable", "Reply", "GuestStream"]

T = TypeVar("T")
Reply: TypeAlias = "arena_pb2.Answer | arena_pb2.GiveUp"

LOOK_S: Final = 0.1  # between two looks at the clock, which may run slower than that of the loop
# Field numbers of PlayResponse.
WELCOME: Final = arena_pb2.PlayResponse.WELCOME_FIELD_NUMBER
ACCEPTED: Final = arena_pb2.PlayResponse.ACCEPTED_FIELD_NUMBER
REFUSALS: Final = arena_pb2.PlayResponse.REFUSALS_FIELD_NUMBER
STARTS: Final = arena_pb2.PlayResponse.STARTS_FIELD_NUMBER
DECISIONS: Final = arena_pb2.PlayResponse.DECISIONS_FIELD_NUMBER
ENDS: Final = arena_pb2.PlayResponse.ENDS_FIELD_NUMBER
DRAIN: Final = arena_pb2.PlayResponse.DRAIN_FIELD_NUMBER


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """The status that a stream ends with; reason is a name of ErrorReason without its prefix."""

    code: grpc.StatusCode = grpc.StatusCode.OK
    text: str = ""
    reason: str = ""
    retry_ms: int = 0
    address: str = ""  # with ELSEWHERE: where to dial


@dataclass(eq=False, slots=True)
class HostTable:
    """A match of the bot, as the host sees it."""

    number: int
    started: bytes
    decision: int = 0  # number of the last decision on the wire; 0: none
    body: bytes = b""  # of that decision, until an answer is accepted
    put_at: float = 0.0  # when it was first written to a stream
    reply: Reply | None = None  # to that decision, not yet accepted or refused
    reply_at: float = 0.0
    # Closed decisions, and the reason to refuse further answers.
    closed: dict[int, arena_pb2.RefusalReason.ValueType] = field(default_factory=dict)
    nonces: list[bytes] = field(default_factory=list)  # what the bot sent for the deal
    ended: bytes | None = None
    is_end_known: bool = False


@dataclass(eq=False, slots=True)
class GuestStream:
    """One stream of the bot, which the host reads and writes."""

    context: Any  # Any: grpc.aio's own type is not public
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    out: list[tuple[int, bytes, HostTable | None]] = field(default_factory=list)
    heartbeats: int = 0  # empty envelopes to send
    sent: int = 0
    received: int = 0
    sent_at: float = 0.0
    ends: list[HostTable] = field(default_factory=list)  # matches whose end is in the last envelope
    ending: StreamStatus | None = None
    guest: Guest | None = None


class Guest:
    """A session of the bot, through any number of streams. `until` waits for its messages."""

    def __init__(self, hello: arena_pb2.Hello, clock: Callable[[], float]) -> None:
        self.hello = hello
        self.name = secrets.token_hex(8)
        self.secret = secrets.token_bytes(16)
        self.tables: dict[int, HostTable] = {}
        self.max_tables = hello.max_tables or 4
        self.most_wanted = self.max_tables  # largest number requested so far
        self.leaving = False
        self.resumed = 0  # number of resumes
        self.is_forgotten = False  # the session cannot be resumed
        self.trouble: list[str] = []  # messages that no bot should send
        self.ack_s: list[float] = []  # seconds until each envelope was acknowledged
        self.extra = b""  # fields of a newer server, appended to every envelope
        self._clock = clock
        self._stream: GuestStream | None = None
        self._pulse = asyncio.Event()

    @property
    def is_connected(self) -> bool:
        """Whether the bot has a stream."""
        return self._stream is not None

    @property
    def is_in(self) -> bool:
        """Whether the bot has a stream and acknowledged an envelope on it, so that it knows its welcome."""
        return self._stream is not None and self._stream.received > 0

    # -- waiting
    async def until(self, holds: Callable[[], T], seconds: float) -> T:
        """Wait until `holds` returns a true value, at most `seconds`; return its last value."""
        deadline = self._clock() + seconds
        while not (value := holds()) and (left_s := deadline - self._clock()) > 0:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._pulse.wait(), min(left_s, LOOK_S))
        return value

    def changed(self) -> None:
        """Wake those who wait in `until`."""
        self._pulse.set()
        self._pulse = asyncio.Event()

    async def reply(self, table: HostTable, seconds: float) -> Reply | None:
        """Return the Answer or GiveUp to the open decision of a match; None if none comes in time."""
        return await self.until(lambda: table.reply, seconds)

    # -- sending
    def start(self, started: arena_pb2.MatchStarted) -> HostTable:
        """Start a match for the bot; sets its table number."""
        number = started.table = len(self.tables) + 1
        table = self.tables[number] = HostTable(number, started.SerializeToString())
        self._tell(STARTS, table.started, table)
        return table

    def ask(self, table: HostTable, decision: int, body: bytes) -> None:
        """Send a decision with its number on the wire; `body` is the encoded message Decision."""
        table.decision, table.body, table.reply, table.put_at = decision, body, None, 0.0
        self._tell(DECISIONS, body, table)

    def accept(self, table: HostTable) -> None:
        """Accept the reply."""
        self._close(table, arena_pb2.REFUSAL_REASON_ALREADY_DECIDED)
        self._tell(ACCEPTED, varint(table.number), None)

    def refuse(
        self,
        table: HostTable,
        reason: arena_pb2.RefusalReason.ValueType,
        *,
        corrections_left: int = 0,
        options_count: int = 0,
        late_by_ms: int = 0,
        text: str = "",
    ) -> None:
        """Refuse the reply to the open decision. Without corrections left, the decision is closed."""
        decision = table.decision
        if corrections_left:
            table.reply = None
        else:
            late = reason == arena_pb2.REFUSAL_REASON_TOO_LATE
            self._close(table, reason if late else arena_pb2.REFUSAL_REASON_ALREADY_DECIDED)
        refusal = arena_pb2.Refusal(
            table=table.number,
            decision=decision,
            reason=reason,
            corrections_left=corrections_left,
            options_count=options_count,
            late_by_ms=late_by_ms,
            text=text,
        )
        self._tell(REFUSALS, refusal.SerializeToString(), None)

    def give_no_more_time(self, table: HostTable) -> None:
        """Close the open decision because its time is over: a later answer is refused as too late."""
        self._close(table, arena_pb2.REFUSAL_REASON_TOO_LATE)

    def end(self, table: HostTable, body: bytes) -> None:
        """End the match; `body` is the encoded message MatchEnded."""
        if table.ended is None:
            self._close(table, arena_pb2.REFUSAL_REASON_STALE)
            table.ended = body
            self._tell(ENDS, body, table)

    def drain(self, drain: arena_pb2.Drain) -> None:
        """Announce that the server is about to stop."""
        self._tell(DRAIN, drain.SerializeToString(), None)

    def heartbeat(self) -> None:
        """Send an empty envelope as soon as nothing is unacknowledged."""
        if self._stream is not None:
            self._stream.heartbeats += 1
            self._stream.wake.set()

    @property
    def is_up_to_date(self) -> bool:
        """Whether everything was sent and acknowledged."""
        stream = self._stream
        return stream is not None and not stream.out and not stream.heartbeats and stream.received == stream.sent

    def end_stream(self, ending: StreamStatus) -> None:
        """End the stream, if there is one."""
        if self._stream is not None and self._stream.ending is None:
            self._stream.ending = ending
            self._stream.wake.set()

    # -- internals
    def _tell(self, number: int, body: bytes, table: HostTable | None) -> None:
        if self._stream is not None:  # else it is sent when the bot reconnects
            self._stream.out.append((number, body, table))
            self._stream.wake.set()

    def _close(self, table: HostTable, further: arena_pb2.RefusalReason.ValueType) -> None:
        if table.decision:
            table.closed.setdefault(table.decision, further)
        table.body, table.reply = b"", None

    def connect(self, stream: GuestStream, welcome: arena_pb2.Welcome) -> None:
        """Attach a stream, and send all matches again."""
        if self._stream is not None:
            self.end_stream(StreamStatus(grpc.StatusCode.ABORTED, "a newer stream of this bot took over", "SUPERSEDED"))
        self._stream = stream
        stream.guest = self
        self._tell(WELCOME, welcome.SerializeToString(), None)
        for table in self.tables.values():
            if table.is_end_known:
                continue
            self._tell(STARTS, table.started, table)
            if table.ended is not None:
                self._tell(ENDS, table.ended, table)
            elif table.body and table.reply is None:
                self._tell(DECISIONS, table.body, table)
        self.changed()

    def disconnect(self, stream: GuestStream) -> None:
        """Detach a stream."""
        if self._stream is stream:
            self._stream = None
            self.changed()

    def hear(self, stream: GuestStream, request: arena_pb2.PlayRequest) -> None:
        """Process an envelope from the bot."""
        now = self._clock()
        if request.received > stream.sent:
            self.trouble.append(f"it acknowledged envelope {request.received}, the last one sent was {stream.sent}")
        if stream.received < request.received <= stream.sent:
            stream.received = request.received
            self.ack_s.append(now - stream.sent_at)
            for table in stream.ends:
                table.is_end_known = True
            stream.ends = []
        if request.HasField("max_tables"):
            self.max_tables = request.max_tables
            self.most_wanted = max(self.most_wanted, self.max_tables)
        self.leaving |= request.leaving
        for given in request.nonces:
            if (played := self.tables.get(given.table)) is not None:
                played.nonces.append(given.nonce)
        for answer in request.answers:
            self._hear_reply(answer, now)
        for give_up in request.give_ups:
            self._hear_reply(give_up, now)
        if self.leaving and all(table.is_end_known for table in self.tables.values()):
            self.end_stream(StreamStatus())
        stream.wake.set()
        self.changed()

    def _hear_reply(self, reply: Reply, now: float) -> None:
        table = self.tables.get(reply.table)
        if table is not None and reply.decision == table.decision and table.body:
            if table.reply is None:
                table.reply, table.reply_at = reply, now
            return
        reason = None if table is None else table.closed.get(reply.decision)
        if reason is None:
            reason = arena_pb2.REFUSAL_REASON_UNKNOWN_DECISION
            self.trouble.append(f"it answered decision {reply.decision} of table {reply.table}, which was never put")
        refusal = arena_pb2.Refusal(table=reply.table, decision=reply.decision, reason=reason)
        self._tell(REFUSALS, refusal.SerializeToString(), None)
