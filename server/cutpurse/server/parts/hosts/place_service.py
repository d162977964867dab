"""The gRPC PlaceService: places attend on a stream, and fetch the files of bots.

As in `arena_service`, a read is never cancelled, and all writes of a stream are made by the call's own task. This
module authorizes the caller and checks what comes; `Places` decides everything else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import grpc

from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import BAD, address_of
from cutpurse.server.call_status import abort, status_without_store
from cutpurse.server.errors import LEFT, CallRefused, CallStatus, call_status, legible
from cutpurse.server.logs import Logger
from cutpurse.server.parts.hosts.host_facts import HostFacts
from cutpurse.server.parts.hosts.places import Place, PlaceFacts, Places
from cutpurse.server.parts.submissions.memory_folder import ALL_BYTES, pack_all, replace_folder
from cutpurse.server.runners.port import Cause, ResourceUse
from cutpurse.v1 import place_pb2

__all__ = ["BEAT_S", "CAUSES", "PLACES", "PIECE_BYTES", "PlaceService"]

PLACES: Final = place_pb2.DESCRIPTOR.services_by_name["PlaceService"].full_name
BEAT_S: Final = 0.5  # between two envelopes to a place
HELLO_S: Final = 20.0  # from the call to the hello: a new place measures its speed meanwhile
PIECE_BYTES: Final = 32_768
MAX_CORES: Final = 4_096.0
MAX_SPEED: Final = 1e9
MAX_TEXT: Final = 500  # characters of the line about a bot's end
KEY_BYTES: Final = 16
_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}")

CAUSES: Final[dict[Cause, place_pb2.BotEndCause.ValueType]] = {
    "exited": place_pb2.BOT_END_CAUSE_EXITED,
    "signal": place_pb2.BOT_END_CAUSE_SIGNAL,
    "memory": place_pb2.BOT_END_CAUSE_MEMORY,
    "processor": place_pb2.BOT_END_CAUSE_PROCESSOR,
    "time": place_pb2.BOT_END_CAUSE_TIME,
    "processes": place_pb2.BOT_END_CAUSE_PROCESSES,
    "disk": place_pb2.BOT_END_CAUSE_DISK,
    "stopped": place_pb2.BOT_END_CAUSE_STOPPED,
    "lost": place_pb2.BOT_END_CAUSE_NOT_STARTED,
}
_CAUSES: Final[dict[int, Cause]] = {number: cause for cause, number in CAUSES.items()}


class PlaceService:
    """The `PlaceService` of place.proto."""

    def __init__(
        self,
        places: Places,
        host: HostFacts,
        entrance: AuthInterceptor,
        log: Logger,
        *,
        is_good: Callable[[str], bool],
        alive: Callable[[float], object],
        incident_number: Callable[[], str],
    ) -> None:
        """Serve the places.

        Args:
            places: All places.
            host: What a place must have in common with the server.
            entrance: Authorizes callers.
            log: The server's log.
            is_good: Returns whether the token with this ID is valid now.
            alive: Called with the time before the silence of a place is measured.
            incident_number: Returns a new incident number.
        """
        self.places = places
        self.host = host
        self.is_good = is_good
        self.alive = alive
        self._entrance = entrance
        self._log = log
        self._incident_number = incident_number

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "Attend": grpc.stream_stream_rpc_method_handler(self.attend),
            "GetFiles": grpc.unary_stream_rpc_method_handler(self.get_files),
            "GetMemory": grpc.unary_stream_rpc_method_handler(self.get_memory),
            "PutMemory": grpc.stream_unary_rpc_method_handler(self.put_memory),
        }
        return grpc.method_handlers_generic_handler(PLACES, methods)

    async def attend(self, _requests: object, context: Context) -> None:
        """Serve one call of Attend."""
        try:
            grant = await self._entrance.enter(context, "place")
            how = await _Attendance(self, context, grant.token).run()
        except grpc.aio.BaseError:  # the place is gone
            raise
        except Exception as problem:
            how = self.broke(problem)
        if how is not LEFT:
            await abort(context, how)

    def broke(self, problem: Exception) -> CallStatus:
        """Return the status that ends a call after an exception, and log it if it is not a refusal."""
        return status_without_store(problem, self._log, self._incident_number)

    async def get_files(self, request: bytes, context: Context) -> None:
        """Answer GetFiles: send packed files in pieces."""

        async def send() -> None:
            asked = place_pb2.GetFilesRequest.FromString(request)
            file = self.places.packed_file(asked.sha256)
            if file is None:
                raise CallRefused("NOT_FOUND", "no bot with these files was to be started")
            for at in range(0, file.stat().st_size, PIECE_BYTES):
                piece = await asyncio.to_thread(_read, file, at)
                await context.write(place_pb2.GetFilesResponse(piece=piece).SerializeToString())

        await self._answer(send, context)

    async def get_memory(self, request: bytes, context: Context) -> None:
        """Answer GetMemory: send the memory folder of a bot in pieces."""

        async def send() -> None:
            message = place_pb2.GetMemoryRequest.FromString(request)
            content, left_out = await asyncio.to_thread(pack_all, self._memory_of(message.key, message.bot))
            if left_out:
                raise CallRefused("FULL", f"its memories are too large for a place: {left_out}")
            for at in range(0, len(content), PIECE_BYTES):
                piece = content[at : at + PIECE_BYTES]
                await context.write(place_pb2.GetMemoryResponse(piece=piece).SerializeToString())

        await self._answer(send, context)

    async def put_memory(self, requests: AsyncIterator[bytes], context: Context) -> bytes:
        """Answer PutMemory: replace the memory folder of a bot once all of it has come."""

        async def receive() -> None:
            folder, content = None, bytearray()
            async for request in requests:
                put = place_pb2.PutMemoryRequest.FromString(request)
                folder = self._memory_of(put.key, put.bot)
                content += put.piece
                if len(content) > ALL_BYTES:
                    raise CallRefused("BAD_MESSAGE", f"it has more than {ALL_BYTES:,} bytes, the maximum")
            if folder is not None:
                try:
                    await asyncio.to_thread(replace_folder, bytes(content), folder)
                except ValueError as problem:
                    raise CallRefused("BAD_MESSAGE", str(problem)) from None

        await self._answer(receive, context)
        return place_pb2.PutMemoryResponse().SerializeToString()

    def _memory_of(self, key: bytes, bot: int) -> Path:
        """Return the memory folder of a bot at the place with this key.  Raises CallRefused if it has none there."""
        if (folder := self.places.memory_of(key, bot)) is None:
            raise CallRefused("NOT_FOUND", f"no bot {bot} with a memory runs at this place")
        return folder

    async def _answer(self, answer: Callable[[], Awaitable[None]], context: Context) -> None:
        """Answer a call of a place, or end it with a status."""
        try:
            await self._entrance.enter(context, "place")
            await answer()
        except grpc.aio.BaseError:
            raise
        except OSError as problem:
            self._log.error("files of a bot not read", text=str(problem))
            how = call_status("STORAGE", "the files cannot be read now")
        except Exception as problem:
            how = self.broke(problem)
        else:
            return
        await abort(context, how)


def _read(file: Path, at: int) -> bytes:
    with file.open("rb") as opened:
        opened.seek(at)
        return opened.read(PIECE_BYTES)


class _Attendance:
    """One call of Attend: a `PlaceStream`."""

    def __init__(self, service: PlaceService, context: Context, token: str) -> None:
        self._service = service
        self._places = service.places
        self._context = context
        self._token = token
        self._loop = asyncio.get_running_loop()
        self._place: Place | None = None
        self._is_resumed = False
        self._woken = asyncio.Event()
        self._how: CallStatus | None = None  # why it ends
        self._beats: dict[int, float] = {}  # by number: time of sending

    # -- `PlaceStream`, on any thread
    def wake(self) -> None:
        """Send what is ready."""
        try:
            self._loop.call_soon_threadsafe(self._woken.set)
        except RuntimeError:  # the loop is closed
            pass

    def close(self, how: CallStatus) -> None:
        """End the stream."""
        self._how = self._how or how
        self.wake()

    # -- on the event loop
    async def run(self) -> CallStatus:
        """Exchange envelopes until the end, and return the status to end with."""
        hello_by = self._loop.call_later(HELLO_S, self._hello_is_late)
        reader = self._loop.create_task(self._read())
        try:
            return await self._write()
        finally:
            hello_by.cancel()
            if self._place is not None:
                self._places.detach(self._place, self)
            self._how = self._how or LEFT
            self._reader = reader  # never cancelled: a read ends with its call

    def _hello_is_late(self) -> None:
        if self._place is None:
            self.close(call_status("SILENT", f"no hello came within {HELLO_S:g} s"))

    async def _write(self) -> CallStatus:
        number, beat_at = 0, 0.0
        while self._how is None:
            self._woken.clear()
            now = self._loop.time()
            if self._place is not None and (now >= beat_at or self._place.starts or self._place.stops):
                if self._token and not self._service.is_good(self._token):
                    return call_status("TOKEN_INVALID", BAD)
                number, beat_at = number + 1, now + BEAT_S
                await self._context.write(self._envelope(self._place, number, now))
                continue
            try:
                await asyncio.wait_for(self._woken.wait(), beat_at - now if self._place is not None else None)
            except TimeoutError:
                pass
        return self._how

    def _envelope(self, place: Place, number: int, now: float) -> bytes:
        self._beats[number] = now
        envelope = place_pb2.AttendResponse(beat=number)
        if number == 1:
            envelope.welcome.is_resumed = self._is_resumed
        starts, stops = self._places.take_orders(place)
        envelope.starts.extend(starts)
        envelope.stops.extend(stops)
        envelope.unused = place.unused
        return envelope.SerializeToString()

    async def _read(self) -> None:
        try:
            while self._how is None:
                data = await self._context.read()
                if data is grpc.aio.EOF:
                    break
                now = self._loop.time()
                self._service.alive(now)
                self._take(place_pb2.AttendRequest.FromString(data), now)
        except (grpc.aio.BaseError, asyncio.CancelledError):  # the call is over
            pass
        except Exception as problem:
            self.close(self._service.broke(problem))
        self.close(LEFT)

    def _take(self, envelope: place_pb2.AttendRequest, now: float) -> None:
        place = self._place
        if self._how is not None:
            return
        if place is None:
            self._enter(envelope)
            return
        self._places.heard(place, now, envelope.stolen_ms / 1_000, envelope.crowded_ms / 1_000)
        if envelope.HasField("speed"):
            self._places.measured(place, _checked_speed(envelope.speed))
        if envelope.draining:
            self._places.drain(place)
        if (sent_at := self._beats.pop(envelope.heard, None)) is not None:
            place.round_trips.append(now - sent_at)
            self._beats = {number: at for number, at in self._beats.items() if number > envelope.heard}
        for output in envelope.outputs:
            if (program := place.programs.get(output.bot)) is not None:
                program.log_output(output.text)
        for use in envelope.uses:
            if (program := place.programs.get(use.bot)) is not None:
                program.set_use(_use(use))
        for ended in envelope.ended:
            if (program := self._places.ended(place, ended.bot)) is not None:
                program.set_use(_use(ended.use))
                code = ended.code if ended.HasField("code") else None
                program.end(_CAUSES.get(ended.cause, "exited"), code, legible(ended.text, MAX_TEXT))
        if envelope.leaving:
            self._places.leave(place)
            self.close(LEFT)

    def _enter(self, envelope: place_pb2.AttendRequest) -> None:
        """Process the first envelope, which must have a hello.

        Raises:
            CallRefused: If the place is not accepted.
        """
        hello, host = envelope.hello, self._service.host
        if not envelope.HasField("hello"):
            raise CallRefused("HELLO", "the first envelope has no hello")
        if hello.version != host.version:
            raise CallRefused(
                "PROTOCOL_VERSION",
                f"this place is Cutpurse {legible(hello.version, 40)}, the server {host.version}: install the same",
            )
        if not _NAME.fullmatch(hello.name):
            raise CallRefused(
                "HELLO",
                f"a place's name is '{legible(hello.name, 40)}'; it can be 1 to 32 of a-z, 0-9, '_', '-' and '.', the "
                "first a letter or digit",
            )
        if hello.platform != host.platform:
            raise CallRefused(
                "HELLO",
                f"this place is {legible(hello.platform, 80)}; the server builds bots for {host.platform}: use another "
                "machine or another Python",
            )
        if host.is_isolated and hello.runner == "process":
            raise CallRefused("HELLO", "this server isolates bots: use --runner bubblewrap or --runner container")
        if not 0 < hello.cores <= MAX_CORES:
            raise CallRefused("HELLO", f"the number of cores is more than 0 and at most {MAX_CORES:g}")
        if len(hello.key) != KEY_BYTES:
            raise CallRefused("HELLO", f"the key of a place has {KEY_BYTES} bytes")
        address = address_of(self._context.peer())
        facts = PlaceFacts(hello.name, legible(hello.runner, 40), hello.cores, hello.key, address)
        speed = _checked_speed(hello.speed)
        self._place, self._is_resumed = self._places.enter(facts, [*hello.bots], self, speed)
        self._woken.set()


def _checked_speed(speed: float) -> float:
    """Return a speed that a place has sent.

    Raises:
        CallRefused: If it is none.
    """
    if not 0 < speed <= MAX_SPEED:
        raise CallRefused("HELLO", f"the speed of a place is more than 0 and at most {MAX_SPEED:g}")
    return speed


def _use(message: place_pb2.BotUse) -> ResourceUse:
    return ResourceUse(message.cpu_us / 1e6, message.peak_bytes)
