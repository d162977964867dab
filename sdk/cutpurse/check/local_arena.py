"""An arena for one bot: a small server that a script controls, on a private address.

    async with Host() as host:
        guest = await host.bot(10.0)
        table = guest.start(started)
        guest.ask(table, number, body)
        reply = await guest.reply(table, 11.0)
        guest.accept(table)

Local play of programs and `cutpurse bot check` are such scripts; they exchange messages with the bot through a `Guest`.
A script can also misbehave on purpose: drop the stream, refuse answers or a resume, or announce a stop. This module
knows no match and no game rules: it gets encoded bodies of the messages in `arena.proto`.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

import grpc
import grpc.aio
from google.protobuf import any_pb2, duration_pb2
from google.protobuf.message import DecodeError
from google.rpc import code_pb2, error_details_pb2, status_pb2

from cutpurse.check.guest import DECISIONS, ENDS, LOOK_S, Guest, GuestStream, StreamStatus
from cutpurse.engine.errors import SettingsError, UsageError
from cutpurse.games import GAMES, game_named
from cutpurse.v1 import arena_pb2, game_pb2
from cutpurse.wire.catalogue import catalogue_of, summary_of
from cutpurse.wire.server_address import parse_address
from cutpurse.wire.text import NAME
from cutpurse.wire.version import PROTOCOL
from cutpurse.wire.wire_format import field as wire_field
from cutpurse.wire.wire_format import uint_field

__all__ = ["Host", "elsewhere"]

SOCKET_PATH_MOST: Final = 90  # bytes; the shortest limit among systems is 104
MOST_BYTES: Final = 65_536
SERVER: Final = "cutpurse, a private table"

OPTIONS: Final = (
    ("grpc.so_reuseport", 0),
    ("grpc.max_receive_message_length", MOST_BYTES),
    ("grpc.http2.min_ping_interval_without_data_ms", 9_000),
)


class Host:
    """A server for one bot; `async with` starts and stops it."""

    def __init__(
        self,
        heartbeat_s: float = 15.0,
        resume_window_s: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
        socket: Path | None = None,
        is_on_a_port: bool = False,
    ) -> None:
        """Prepare a server.

        Args:
            heartbeat_s: Seconds without messages before a heartbeat.
            resume_window_s: Seconds in which a session can be resumed, as sent to the bot.
            clock: Returns the current seconds; all waits for the bot are measured by it, such as an `OwnTime`.
            socket: Path to listen on. Default: a socket in a new temporary folder.
            is_on_a_port: Listen on a port of 127.0.0.1 instead.
        """
        self.address = ""
        self._socket = socket
        self._is_on_a_port = is_on_a_port
        self.elsewhere: tuple[tuple[str, str], ...] = ()  # ladders of other servers and their addresses, for Welcome
        self.sends_to = ""  # address of another server; if set, every Hello is refused with ELSEWHERE
        self.heartbeat_s = heartbeat_s
        self.resume_window_s = resume_window_s
        self.guest: Guest | None = None  # the newest session
        self.hellos: list[tuple[float, arena_pb2.Hello]] = []  # with time of arrival
        self.refused: list[str] = []  # reasons of refused Hellos
        self.lost_at = 0.0  # when a stream last ended
        self._clock = clock
        self._folder: Path | None = None
        self._server: Any = None
        self._pulse = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._server = grpc.aio.server(options=OPTIONS)
        arena: dict[str, Any] = {"Play": grpc.stream_stream_rpc_method_handler(self._play)}
        games: dict[str, Any] = {
            "ListGames": grpc.unary_unary_rpc_method_handler(self._list_games),
            "GetGame": grpc.unary_unary_rpc_method_handler(self._get_game),
        }
        self._server.add_generic_rpc_handlers(
            (
                grpc.method_handlers_generic_handler("cutpurse.v1.ArenaService", arena),
                grpc.method_handlers_generic_handler("cutpurse.v1.GameService", games),
            )
        )
        self.address = self._bind()
        await self._server.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._server.stop(0)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _bind(self) -> str:
        """Listen on a socket in a private folder, or a local port where there are no sockets; return the address."""
        if self._socket is not None:
            self._server.add_insecure_port(f"unix:{self._socket}")
            return f"unix:{self._socket}"
        if hasattr(socket, "AF_UNIX") and os.name == "posix" and not self._is_on_a_port:
            self._folder = Path(tempfile.mkdtemp(prefix="cutpurse-"))
            address = f"unix:{self._folder / 'arena'}"
            if len(address) <= SOCKET_PATH_MOST and parse_address(address) is not None:
                self._server.add_insecure_port(address)
                return address
        return f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"

    async def bot(self, seconds: float, while_true: Callable[[], bool] = lambda: True) -> Guest | None:
        """Wait for the bot to say Hello on a stream; return None if it is late or `while_true` fails."""
        deadline = self._clock() + seconds
        # A forgotten session may still seem connected: the end of its program is noticed a little later.
        while self.guest is None or self.guest.is_forgotten or not self.guest.is_connected or self.guest.leaving:
            if not while_true():
                return None
            if (left_s := deadline - self._clock()) <= 0:
                return None
            with suppress(TimeoutError):
                await asyncio.wait_for(self._pulse.wait(), min(left_s, LOOK_S))
        return self.guest

    def changed(self) -> None:
        """Wake those who wait."""
        self._pulse.set()
        self._pulse = asyncio.Event()
        if self.guest is not None:
            self.guest.changed()

    def forget(self) -> None:
        """Forget the session, so that it cannot be resumed."""
        if self.guest is not None:
            self.guest.is_forgotten = True

    # -- ArenaService.Play
    async def _play(self, requests: Any, context: Any) -> None:
        stream = GuestStream(context)
        reader = asyncio.create_task(self._read(stream))
        try:
            while stream.ending is None:
                if not await self._write(stream):
                    await self._wait(stream)
            await _end(context, stream.ending)
        finally:
            if stream.ending is None:
                stream.ending = StreamStatus()
            self.lost_at = self._clock()
            if stream.guest is not None:
                stream.guest.disconnect(stream)
            self.changed()
            reader.add_done_callback(_taken_notice_of)

    async def _read(self, stream: GuestStream) -> None:
        with suppress(grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError):
            while stream.ending is None and (data := await stream.context.read()) is not grpc.aio.EOF:
                self._take(stream, data)
        if stream.ending is None:
            stream.ending = StreamStatus()
        stream.wake.set()

    async def _wait(self, stream: GuestStream) -> None:
        """Wait until there is something to send; queue a heartbeat after `heartbeat_s` seconds without."""
        try:
            await asyncio.wait_for(stream.wake.wait(), self.heartbeat_s)
        except TimeoutError:
            if stream.guest is not None:
                stream.guest.heartbeat()
        stream.wake.clear()

    async def _write(self, stream: GuestStream) -> bool:
        """Send an envelope if there is one and the last one is acknowledged; return whether it was sent."""
        if stream.guest is None or stream.received < stream.sent or not (stream.out or stream.heartbeats):
            return False
        items, stream.out = stream.out, []
        if not items:
            stream.heartbeats -= 1
        stream.sent += 1
        body = b"".join([wire_field(number, part) for number, part, _ in sorted(items, key=lambda item: item[0])])
        stream.sent_at = self._clock()
        for number, _, table in items:
            if table is not None and number == DECISIONS and not table.put_at:
                table.put_at = stream.sent_at
            elif table is not None and number == ENDS:
                stream.ends.append(table)
        envelope = uint_field(arena_pb2.PlayResponse.ENVELOPE_FIELD_NUMBER, stream.sent)
        await stream.context.write(envelope + body + stream.guest.extra)
        return True

    def _take(self, stream: GuestStream, data: bytes) -> None:
        try:
            request = arena_pb2.PlayRequest.FromString(data)
        except DecodeError:
            text = "what the bot sent is no message of this protocol"
            if stream.guest is None:
                self._refuse(stream, StreamStatus(grpc.StatusCode.INVALID_ARGUMENT, text, "BAD_MESSAGE"))
            else:
                stream.guest.trouble.append(text)
            return
        if stream.guest is None:
            self._meet(stream, request)
        else:
            stream.guest.hear(stream, request)

    def _meet(self, stream: GuestStream, request: arena_pb2.PlayRequest) -> None:
        """Process the first envelope of a stream."""
        hello = request.hello
        if not request.HasField("hello"):
            self._refuse(
                stream, StreamStatus(grpc.StatusCode.FAILED_PRECONDITION, "the first envelope has no Hello", "HELLO")
            )
            return
        self.hellos.append((self._clock(), hello))
        problem = _problem(hello)
        if problem is not None:
            self._refuse(stream, problem)
            return
        if self.sends_to:
            self._refuse(stream, elsewhere(self.sends_to))
            return
        guest = self.guest
        resumed = hello.HasField("resume")
        if resumed:
            known = guest is not None and not guest.is_forgotten and not guest.leaving
            if guest is None or not known or (hello.resume.session, hello.resume.secret) != (guest.name, guest.secret):
                text = "the session cannot be resumed any more"
                self._refuse(stream, StreamStatus(grpc.StatusCode.NOT_FOUND, text, "RESUME_EXPIRED"))
                return
            guest.resumed += 1
            guest.max_tables = hello.max_tables or 4
        else:
            if guest is not None:
                guest.is_forgotten = True
                guest.end_stream(
                    StreamStatus(grpc.StatusCode.ABORTED, "a newer stream of this bot took over", "SUPERSEDED")
                )
            guest = Guest(hello, self._clock)
        welcome = arena_pb2.Welcome(
            session=guest.name,
            resume_secret=guest.secret,
            protocol_minor=min(PROTOCOL[1], hello.protocol_minor),
            resumed=resumed,
            resume_window_ms=round(self.resume_window_s * 1000),
            max_tables=guest.max_tables,
            most_tables=64,
            max_bytes=MOST_BYTES,
            heartbeat_ms=round(self.heartbeat_s * 1000),
            server=SERVER,
            bot=hello.bot,
            version=hello.version or "1",
            features=[feature for feature in hello.features if feature in ("agenda", "nonces")],
            elsewhere=[arena_pb2.LadderElsewhere(ladder=name, address=address) for name, address in self.elsewhere],
        )
        before, self.guest = self.guest, guest
        guest.connect(stream, welcome)
        if before is not None and before is not guest:
            before.changed()
        self.changed()

    def _refuse(self, stream: GuestStream, ending: StreamStatus) -> None:
        self.refused.append(ending.text)
        stream.ending = ending
        stream.wake.set()
        self.changed()

    # -- GameService
    async def _list_games(self, request: bytes, context: Any) -> bytes:
        games = [summary_of(GAMES[game]) for game in sorted(GAMES)]
        return game_pb2.ListGamesResponse(games=games).SerializeToString()

    async def _get_game(self, request: bytes, context: Any) -> bytes:
        try:
            game_request = game_pb2.GetGameRequest.FromString(request)
            settings = {setting.name: setting.value for setting in game_request.settings}
            catalogue = catalogue_of(game_named(game_request.game), game_request.seats or None, settings)
        except DecodeError:
            await _end(
                context, StreamStatus(grpc.StatusCode.INVALID_ARGUMENT, "no message of this protocol", "BAD_MESSAGE")
            )
        except SettingsError as problem:
            await _end(context, StreamStatus(grpc.StatusCode.INVALID_ARGUMENT, str(problem), "SETTINGS"))
        except UsageError as problem:
            await _end(context, StreamStatus(grpc.StatusCode.NOT_FOUND, str(problem), "NOT_FOUND"))
        return game_pb2.GetGameResponse(catalogue=catalogue).SerializeToString()


def elsewhere(address: str) -> StreamStatus:
    """Return the status that sends a bot to another server of the league."""
    text = f"all ladders of this bot are at {address} now"
    return StreamStatus(grpc.StatusCode.FAILED_PRECONDITION, text, "ELSEWHERE", address=address)


def _problem(hello: arena_pb2.Hello) -> StreamStatus | None:
    """Return the status with which a server would refuse a Hello; None if it accepts it."""
    wrong = grpc.StatusCode.FAILED_PRECONDITION
    if hello.protocol_major != PROTOCOL[0]:
        spoken = f"{hello.protocol_major}.{hello.protocol_minor}"
        text = f"the server speaks version {PROTOCOL[0]}.{PROTOCOL[1]} of the protocol, the bot {spoken}"
        return StreamStatus(wrong, text, "PROTOCOL_VERSION")
    for what, given in (("bot", hello.bot), ("version", hello.version or "1")):
        if not NAME.fullmatch(given):
            form = "1 to 32 of a-z, 0-9, '_', '-' and '.', the first a letter or digit"
            text = f"Hello.{what} is {given[:40]!r}; it can be {form}"
            return StreamStatus(wrong, text, "HELLO")
    for version_played in hello.games:
        if version_played.game not in GAMES:
            text = f"no game is called {version_played.game[:40]!r} here; there are: {', '.join(sorted(GAMES))}"
            return StreamStatus(grpc.StatusCode.NOT_FOUND, text, "NOT_FOUND")
        version = GAMES[version_played.game].words.version
        if version_played.rules_version not in ("", version):
            text = (
                f"the server plays rules version {version} of {version_played.game}, "
                f"the bot was written for {version_played.rules_version[:40]!r}"
            )
            return StreamStatus(wrong, text, "RULES_VERSION")
    return None


async def _end(context: Any, ending: StreamStatus) -> None:
    """End a call. With a status other than OK this raises, as grpc.aio does."""
    if ending.code is grpc.StatusCode.OK:
        return
    details: list[any_pb2.Any] = []
    if ending.reason:
        details.append(any_pb2.Any())
        metadata = {"address": ending.address} if ending.address else {}
        details[-1].Pack(error_details_pb2.ErrorInfo(reason=ending.reason, domain="cutpurse", metadata=metadata))
    if ending.retry_ms:
        delay = duration_pb2.Duration()
        delay.FromMilliseconds(ending.retry_ms)
        details.append(any_pb2.Any())
        details[-1].Pack(error_details_pb2.RetryInfo(retry_delay=delay))
    status = status_pb2.Status(code=code_pb2.Code.Value(ending.code.name), message=ending.text, details=details)
    await context.abort(ending.code, ending.text, (("grpc-status-details-bin", status.SerializeToString()),))


def _taken_notice_of(task: asyncio.Task[None]) -> None:
    """Retrieve the exception of the reading task, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()
