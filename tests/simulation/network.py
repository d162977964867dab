"""Simulated gRPC calls between bots and the server, on a network with faults.

A `Call` is one stream of Play. Its server side behaves like a real grpc.aio context, as measured: messages arrive in
order; a write hangs while the bot does not read, and so does ending the call with a status; when the bot is gone, the
pending read ends or raises, and the task of the call is cancelled. The bot's side uses callbacks.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol
from zlib import crc32

import grpc
from google.rpc import code_pb2, error_details_pb2, status_pb2

from cutpurse.server.errors import LEFT, CallStatus

if TYPE_CHECKING:
    from tests.simulation.world import World

__all__ = ["Call", "Caller"]

_APART_S = 1e-6  # between two envelopes that a bot sent at the same time
_WINDOW = 6_000  # bytes that a bot may leave unread before writes hang
_LOST = CallStatus(code_pb2.UNAVAILABLE, "", "the connection is gone")


class Gone(grpc.aio.BaseError):
    """The error if the bot's side of the call is gone."""


class Caller(Protocol):
    """A bot, for its calls."""

    name: str
    owner: str

    def on_envelope(self, call: Call, data: bytes) -> None:
        """Process an envelope."""

    def on_end(self, call: Call, how: CallStatus) -> None:
        """Process the end of the call."""

    def reads_after_s(self) -> float:
        """Delay until it reads an envelope; infinite if it never reads."""


class Call:
    """One stream of Play, with both sides and the network between them."""

    def __init__(self, world: World, caller: Caller, number: int) -> None:
        self.caller = caller
        self.number = number
        self.answered = 0  # envelopes that the server has written
        self._world = world
        self._course = world.course
        # the bot's side
        self._is_cut = False  # the connection is broken
        self.is_over = False  # over for the bot
        self._up_at = self._down_at = 0.0
        self._unread = 0
        self._last: CallStatus | None = None
        # the server's side
        self.is_gone = False  # the server knows that the bot is gone
        self.is_done = False
        self.task: asyncio.Task[Any] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._inbox: deque[bytes] = deque()
        self._reader: asyncio.Future[Any] | None = None
        self._writer: asyncio.Future[Any] | None = None

    # -- the bot's side
    def send(self, data: bytes) -> None:
        """Send an envelope from the bot."""
        if self._is_cut:
            return
        # Envelopes arrive in order, even with equal travel times.
        self._up_at = max(self._up_at + _APART_S, self._course.now + self._world.latency())
        self._course.after(self._up_at - self._course.now, lambda: self._arrive(data))

    def delay(self, seconds: float) -> None:
        """Delay everything to the server by `seconds` from now."""
        self._up_at = self._course.now + seconds

    def orphan(self) -> None:
        """Break the call because the server has died."""
        self.is_gone = self.is_done = True
        self.cut(self._course.random.random() * 0.01, 0.0)

    def cancel(self) -> None:
        """End the call from the bot's side; the bot receives nothing more."""
        self.is_over = True
        if not self._is_cut:
            self._up_at = max(self._up_at, self._course.now + self._world.latency())
            self._course.after(self._up_at - self._course.now, self.vanish)

    def cut(self, bot_hears_s: float, server_hears_s: float) -> None:
        """Break the connection; each side learns of it after its own delay."""
        if not self._is_cut:
            self._is_cut = True
            self._course.after(bot_hears_s, lambda: self._bot_hears(_LOST))
            self._course.after(server_hears_s, self.vanish)

    def _bot_hears(self, how: CallStatus) -> None:
        if not self.is_over:
            self.is_over = True
            self._world.say(f"{self} ends for its bot: {how.reason or how.text or 'ok'}")
            self.caller.on_end(self, how)

    def _deliver(self, data: bytes) -> None:
        if self._is_cut or self.is_over:
            return
        self._unread += len(data)
        after = self.caller.reads_after_s()
        if after == 0.0:
            self._read_by_bot(data)
        elif after != float("inf"):
            self._course.after(after, lambda: self._read_by_bot(data))

    def _read_by_bot(self, data: bytes) -> None:
        if self._is_cut or self.is_over:
            return
        self._unread -= len(data)
        if self._writer is not None and self._unread <= _WINDOW:
            _settle(self._writer, None)
        self.caller.on_envelope(self, data)
        self._part()

    def _part(self) -> None:
        """Send the status to the bot, once the bot has read everything before it."""
        if self._last is not None and not self._unread:
            how, self._last = self._last, None
            self._down_at = max(self._down_at, self._course.now + self._world.latency())
            self._course.after(self._down_at - self._course.now, lambda: self._bot_hears(how))

    # -- the server's side
    def accepted(self, loop: asyncio.AbstractEventLoop) -> None:
        """Note that the server has accepted the call."""
        self._loop = loop

    def _arrive(self, data: bytes) -> None:
        if self.is_gone or self.is_done or self._is_cut:
            return
        if self._reader is not None and not self._reader.done():
            self._reader.set_result(data)
        else:
            self._inbox.append(data)

    def vanish(self) -> None:
        """Inform the server that the bot is gone."""
        if self.is_gone or self.is_done or self._loop is None:
            return
        self.is_gone = self._is_cut = True
        random = self._course.random
        if self._reader is not None and not self._reader.done():
            if random.random() < 0.5:
                self._reader.set_result(grpc.aio.EOF)
            else:
                self._reader.set_exception(Gone())
        if self._writer is not None and not self._writer.done():
            self._writer.set_exception(Gone())
        if self.task is not None and random.random() < 0.8:
            self.task.cancel()
        if self.task is None or self.task.done():
            self.done()

    async def read(self) -> Any:
        """Return the next envelope, or EOF."""
        assert self._loop is not None
        if not self._inbox:
            if self.is_gone or self.is_done:
                return grpc.aio.EOF
            self._reader = self._loop.create_future()
            data = await self._reader
        else:
            data = self._inbox.popleft()
        if data is not grpc.aio.EOF:
            self._world.say(f"{self} read {len(data)} {crc32(data):08x}")
            self._world.watch.read(self, data)
        return data

    async def write(self, data: bytes) -> None:
        """Send an envelope; hang while the bot has too much to read."""
        assert self._loop is not None
        assert self._writer is None, "two tasks write to one stream"
        self.answered += 1
        self._world.say(f"{self} written {len(data)} {crc32(data):08x}")
        self._world.watch.written(self, data)  # a decision counts as sent even if the bot is gone
        if self.is_gone or self.is_done:
            raise Gone
        self._down_at = max(self._down_at, self._course.now + self._world.latency())
        self._course.after(self._down_at - self._course.now, lambda: self._deliver(data))
        if self._unread > _WINDOW:
            await self._hang()

    async def _hang(self) -> None:
        assert self._loop is not None
        self._writer = self._loop.create_future()
        try:
            await self._writer
        finally:
            self._writer = None

    async def abort_with_status(self, status: Any) -> None:
        """End the call with a status; hang while the bot does not read."""
        how = _ending(status)
        self._world.watch.ended(self, how)
        while self._unread > _WINDOW and not self.is_gone:
            await self._hang()
        self._finish(how)
        raise grpc.aio.AbortError

    def invocation_metadata(self) -> tuple[tuple[str, str], ...]:
        """Return the owner, instead of a token."""
        return (("owner", self.caller.owner),)

    def peer(self) -> str:
        """Return the address of the caller."""
        return f"virtual:{self.number}"

    def _finish(self, how: CallStatus) -> None:
        """End the call from the server's side."""
        if not self._is_cut:
            self._down_at = max(self._down_at, self._course.now + self._world.latency())
            self._course.after(self._down_at - self._course.now, lambda: self._end_arrives(how))
        self.done()

    def _end_arrives(self, how: CallStatus) -> None:
        self._last = how
        self._part()

    def done(self) -> None:
        """End the call for its reader."""
        if not self.is_done:
            self.is_done = True
            if self._reader is not None and not self._reader.done():
                self._reader.set_result(grpc.aio.EOF)

    def task_done(self, task: asyncio.Task[Any]) -> None:
        """Process the end of the server's coroutine for this call."""
        problem = None if task.cancelled() else task.exception()
        if problem is not None and not isinstance(problem, grpc.aio.AbortError | Gone):
            self._world.fails(f"{self}: {problem!r} has come out of the call")
        if problem is None and not task.cancelled():
            self._finish(LEFT)
        self.done()

    def __repr__(self) -> str:
        return f"call {self.number} of {self.caller.name}"


def _settle(future: asyncio.Future[Any], value: object) -> None:
    if not future.done():
        future.set_result(value)


def _ending(status: Any) -> CallStatus:
    """Convert a status with details, as a bot does."""
    reason, retry_s = "", None
    for key, value in status.trailing_metadata:
        if key == "grpc-status-details-bin":
            for detail in status_pb2.Status.FromString(value).details:
                info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
                if detail.Unpack(info):
                    reason = info.reason
                elif detail.Unpack(retry):
                    retry_s = retry.retry_delay.ToTimedelta().total_seconds()
    return CallStatus(status.code.value[0], reason, status.details, retry_s)
