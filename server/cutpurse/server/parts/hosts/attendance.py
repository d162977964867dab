"""A place's stay with its server: one stream after the other, on which bots are started, stopped and reported.

An envelope goes out every 50 ms, which shows the server that this place works. When a stream ends, the next one is
opened at once, and the bots play on. If that takes LOST_S, the server has given them up, and they are stopped here. A
place that starts before its server dials until a server is there. A place that drains attends until the server has
moved its bots. This module starts no bot: `PlaceBots` does.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import Any, Final

import grpc
import grpc.aio

from cutpurse.engine.errors import CutpurseError
from cutpurse.server.logs import Logger
from cutpurse.server.parts.hosts.host_facts import HostFacts
from cutpurse.server.parts.hosts.place_bots import PlaceBots
from cutpurse.server.parts.hosts.place_service import PIECE_BYTES
from cutpurse.server.parts.hosts.place_speed import speed_of_this_machine
from cutpurse.server.parts.hosts.places import LOST_S
from cutpurse.server.parts.hosts.processor_time import ProcessorTime
from cutpurse.server.parts.hosts.speed_rule import are_like
from cutpurse.server.parts.submissions.memory_folder import ALL_BYTES
from cutpurse.server.parts.submissions.packed_files import FilesError
from cutpurse.v1 import place_pb2, place_pb2_grpc
from cutpurse.wire.connection import Dialling, is_wrong_address
from cutpurse.wire.errors import NotAuthorised, ServerUnreachable
from cutpurse.wire.league import refusal
from cutpurse.wire.text import format_count, printable

__all__ = ["Attendance"]

PULSE_S: Final = 0.050
LOOK_S: Final = 0.5  # between two looks for lost processor time
MEASURE_S: Final = 600.0  # between two measurements of the speed
SILENT_S: Final = 15.0  # without an envelope of the server, which sends two a second unless it stands still
LAST_S: Final = 2.0  # for the server to end the stream of a place that leaves
STATUS_S: Final = 1.0  # for the status of a stream that has ended
BACKOFF_S: Final = (0.1, 5.0)  # first and longest wait between two attempts
FETCH_S: Final = 120.0  # for the files of a bot
KEY_BYTES: Final = 16
MAX_TEXT: Final = 300  # characters of a line from the server
LACKS: Final = (
    "runs its submitted bots itself; its operator can change that: cutpurse serve --submissions RUNNER --places"
)
OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),  # a new attempt does not inherit the backoff of the last one
)
# Trying again does not help.
FINAL: Final = (
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.UNIMPLEMENTED,
)
# What a write raises when the call has ended.
BROKEN: Final = (grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError, asyncio.CancelledError)


class Attendance:
    """The stay of one place."""

    def __init__(
        self,
        to: Dialling,
        *,
        name: str,
        cores: float,
        runner: str,
        host: HostFacts,
        log: Logger,
        say: Callable[[str], None],
        notes: Sequence[str] = (),
    ) -> None:
        """Prepare the stay; `attend` begins it.

        Args:
            to: The server.
            name: Name of the place.
            cores: Cores for bots.
            runner: How bots are isolated.
            host: Version and platform of this machine.
            log: The place's log.
            say: Prints a line for the operator.
            notes: Lines about this place, to say once it attends.
        """
        self._to = to
        self._hello = place_pb2.PlaceHello(
            name=name,
            version=host.version,
            platform=host.platform,
            runner=runner,
            cores=cores,
            key=os.urandom(KEY_BYTES),
        )
        self._new_speed: float | None = None  # to report
        self._processor = ProcessorTime(cores)
        self._looked_at = 0.0
        self._unused = ""  # why the server starts no bot here
        self._is_draining = False
        self._log = log
        self._say = say
        self._notes = notes
        self._is_waiting = False  # for its first server, as it has said
        self._stub: Any = None
        self._woken = asyncio.Event()
        self._is_leaving = False
        self._heard = 0  # number of the latest beat
        self._heard_at = 0.0
        self._has_attended = False
        self._is_welcome = False  # on the present stream

    async def fetch(self, digest: bytes, size: int) -> bytes:
        """Return the packed files with this SHA-256 from the server.

        Raises:
            FilesError: If the server sends something else, or nothing.
        """
        content = bytearray()
        try:
            request = place_pb2.GetFilesRequest(sha256=digest)
            async for answer in self._stub.GetFiles(request, metadata=self._to.metadata, timeout=FETCH_S):
                content += answer.piece
                if len(content) > size:
                    break
        except grpc.aio.AioRpcError as error:
            raise FilesError(f"its files did not come: {refusal(error, self._to, LACKS)}") from None
        if len(content) != size or sha256(content).digest() != digest:
            raise FilesError("the server has sent files with another SHA-256")
        return bytes(content)

    async def get_memory(self, bot: int) -> bytes:
        """Return the packed memory folder of a bot from the server.

        Raises:
            FilesError: If it does not come, or is too large.
        """
        content = bytearray()
        request = place_pb2.GetMemoryRequest(key=self._hello.key, bot=bot)
        try:
            async for answer in self._stub.GetMemory(request, metadata=self._to.metadata, timeout=FETCH_S):
                content += answer.piece
                if len(content) > ALL_BYTES:
                    raise FilesError(f"its memory has more than {ALL_BYTES:,} bytes")
        except grpc.aio.AioRpcError as error:
            raise FilesError(f"its memory did not come: {refusal(error, self._to, LACKS)}") from None
        return bytes(content)

    async def put_memory(self, bot: int, content: bytes) -> None:
        """Send the packed memory folder of a bot to the server.

        Raises:
            FilesError: If the server does not take it.
        """
        pieces = [
            place_pb2.PutMemoryRequest(key=self._hello.key, bot=bot, piece=content[at : at + PIECE_BYTES])
            for at in range(0, max(1, len(content)), PIECE_BYTES)
        ]
        try:
            await self._stub.PutMemory(iter(pieces), metadata=self._to.metadata, timeout=FETCH_S)
        except grpc.aio.AioRpcError as error:
            raise FilesError(f"its memory was not taken: {refusal(error, self._to, LACKS)}") from None

    def drain(self) -> None:
        """Have the server move the bots to other places, each after its open matches, and end `attend` then."""
        self._is_draining = True
        self._woken.set()

    def leave(self) -> None:
        """Tell the server that this place stops, and end `attend`."""
        self._is_leaving = True
        self._woken.set()

    async def attend(self, bots: PlaceBots) -> None:
        """Attend until `leave` is called, or `drain` and no bot is left.

        Raises:
            CutpurseError: If the server refuses this place, or another program answers at its address.
        """
        loop = asyncio.get_running_loop()
        first_speed = loop.create_task(speed_of_this_machine())  # while the server is dialled, which may be away
        measuring = loop.create_task(self._measure())
        try:
            await self._attend(bots, first_speed)
        finally:
            measuring.cancel()
            first_speed.cancel()
            await asyncio.gather(first_speed, return_exceptions=True)  # ends its process

    async def _attend(self, bots: PlaceBots, first_speed: asyncio.Task[float]) -> None:
        wait_s = BACKOFF_S[0]
        while True:
            async with self._to.channel(OPTIONS) as channel:
                self._stub = place_pb2_grpc.PlaceServiceStub(channel)
                error = await self._stream(bots, first_speed)
            if self._is_leaving or (self._is_draining and not bots.numbers):
                return
            problem: CutpurseError = ServerUnreachable(f"the server at {self._to.address} has ended the stream")
            if error is not None:
                problem = refusal(error, self._to, LACKS)
            is_final = isinstance(problem, NotAuthorised) or (error is not None and error.code() in FINAL)
            if is_final or (not self._has_attended and error is not None and is_wrong_address(error.details() or "")):
                raise problem
            if not (self._has_attended or self._is_waiting):
                self._say(f"{problem}; trying again")
                self._is_waiting = True
            if self._is_welcome:
                self._say(f"{problem}; dialling again")
                wait_s = BACKOFF_S[0]
            self._give_up_late(bots)
            await self._pause(wait_s)
            wait_s = min(2 * wait_s, BACKOFF_S[1])

    async def _stream(self, bots: PlaceBots, first_speed: asyncio.Task[float]) -> grpc.aio.AioRpcError | None:
        """Attend on one stream until it ends, and return its error; None without one."""
        self._heard, self._is_welcome = 0, False
        call: Any = self._stub.Attend(metadata=self._to.metadata)
        reader = asyncio.get_running_loop().create_task(self._read(call, bots))
        try:
            while not (reader.done() or first_speed.done() or self._is_leaving or self._is_draining):
                await self._pause(PULSE_S)
            if first_speed.done():
                self._hello.speed = self._hello.speed or first_speed.result()
                self._hello.bots[:] = bots.numbers
                await call.write(place_pb2.AttendRequest(hello=self._hello))
            while not reader.done():
                await self._pause(PULSE_S)
                if not self._is_welcome:
                    self._give_up_late(bots)
                    if self._is_leaving or self._is_draining:
                        break
                    continue
                if asyncio.get_running_loop().time() - self._heard_at > SILENT_S:
                    break
                envelope = place_pb2.AttendRequest(heard=self._heard, draining=self._is_draining)
                bots.report(envelope)
                self._report_machine(bots, envelope)
                self._is_leaving = self._is_leaving or (self._is_draining and not bots.numbers)
                envelope.leaving = self._is_leaving
                await call.write(envelope)
                if self._is_leaving:
                    await asyncio.wait((reader,), timeout=LAST_S)
                    break
        except BROKEN:
            pass
        if not reader.done():
            await asyncio.wait((reader,), timeout=0 if self._is_leaving else STATUS_S)
        call.cancel()
        return await reader

    def _report_machine(self, bots: PlaceBots, envelope: place_pb2.AttendRequest) -> None:
        """Add to an envelope a new speed, and processor time that bots have lost."""
        now = asyncio.get_running_loop().time()
        if now >= self._looked_at + LOOK_S:
            self._looked_at = now
            lost = self._processor.take(bots.cpu_s)
            envelope.stolen_ms, envelope.crowded_ms = round(1_000 * lost.stolen_s), round(1_000 * lost.crowded_s)
        if self._new_speed is not None:
            envelope.speed = self._hello.speed = self._new_speed
            self._new_speed = None

    async def _measure(self) -> None:
        """Measure the speed from time to time; what seems slower than before is measured twice."""
        while True:
            await asyncio.sleep(MEASURE_S)
            try:
                speed = await speed_of_this_machine()
                if not are_like((speed, self._hello.speed)):
                    speed = max(speed, await speed_of_this_machine())
            except (CutpurseError, OSError) as problem:
                self._log.warning("speed not measured", text=str(problem))
            else:
                self._new_speed = speed

    async def _read(self, call: Any, bots: PlaceBots) -> grpc.aio.AioRpcError | None:
        try:
            while (envelope := await call.read()) is not grpc.aio.EOF:
                self._take(envelope, bots)
        except grpc.aio.AioRpcError as error:
            return error
        except asyncio.CancelledError:  # the call was cancelled
            pass
        return None

    def _take(self, envelope: place_pb2.AttendResponse, bots: PlaceBots) -> None:
        self._heard, self._heard_at = envelope.beat, asyncio.get_running_loop().time()
        self._woken.set()  # the beat is returned at once
        if envelope.HasField("welcome"):
            if not envelope.welcome.is_resumed:
                bots.stop_all()
            if not (is_back := self._has_attended):
                self._introduce()
            self._is_welcome = self._has_attended = True
            self._say(f"attends {self._to.address}{' again' if is_back else ''} as {self._hello.name}")
        if envelope.unused != self._unused:
            self._unused = printable(envelope.unused, MAX_TEXT)
            if not self._is_draining:
                self._say(f"no bot is started here: {self._unused}" if self._unused else "bots are started here again")
        for order in envelope.starts:
            bots.start(order)
        for stop in envelope.stops:
            bots.stop(stop.bot, stop.grace_ms / 1_000)

    def _introduce(self) -> None:
        hello = self._hello
        for line in self._notes:
            self._say(f"  {line}")
        self._say(f"place {hello.name}: {hello.cores:g} cores, runner {hello.runner}, speed {hello.speed:.0f}")

    def _give_up_late(self, bots: PlaceBots) -> None:
        """Stop the bots once the server has given them up, because it was not reached for LOST_S."""
        is_late = asyncio.get_running_loop().time() - self._heard_at > LOST_S
        if self._has_attended and is_late and (count := len(bots.numbers)):
            self._say(f"no server for {LOST_S:g} s: {format_count(count, 'bot is', 'bots are')} stopped here")
            bots.stop_all()

    async def _pause(self, seconds: float) -> None:
        """Wait until there is something to do, for at most this time."""
        if not self._is_leaving:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), seconds)
        self._woken.clear()
