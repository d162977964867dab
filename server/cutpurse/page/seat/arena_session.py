"""The session of one person with the server: a stream as any bot has, the request for the match, a watch of the seat.

The stream tells what happened only with the next question, the watch at each choice of the others: in this seat's
redaction, too, as its owner may see it. Where the watch is refused or lost, the stream alone tells everything.

On a rated ladder nothing is requested: the session waits until the ladder's pairing gives it a match. The server
redacts what it sends here, as for any bot. A lost stream is resumed as long as the server allows it. This module knows
no browser: what the session asks for is handed to a function.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import grpc
import grpc.aio
from google.protobuf.message import DecodeError, Message
from google.rpc import error_details_pb2, status_pb2

from cutpurse.page.language.speaking import gettext, gettext_noop
from cutpurse.sdk.matches.watching import Watched, WatchReader
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.client_session import Begin, ClientSession, Todo, Welcomed
from cutpurse.wire.client_table import ClientTable
from cutpurse.wire.errors import NotFound, ServerRefused, ServerUnreachable
from cutpurse.wire.league import problem_of
from cutpurse.wire.person_names import VOUCHER_KEY
from cutpurse.wire.stream_ending import ReportedEndings
from cutpurse.wire.text import printable

__all__ = ["Dials", "OwnerDials", "PersonSession"]

PLAY: Final = "/cutpurse.v1.ArenaService/Play"
REQUEST: Final = "/cutpurse.v1.LadderService/RequestMatch"
STATUS: Final = "/cutpurse.v1.LadderService/ListOpenMatches"
WATCH: Final = "/cutpurse.v1.LadderService/WatchMatch"
ANSWER_S: Final = 5.0  # for an answer of the server
RESUME_S: Final = 25.0  # in which a lost stream is opened again; the server waits for 30
AGAIN_S: Final = 0.5  # between two attempts
LOOK_S: Final = 1.0  # between two checks of a request
TRIES: Final = 10  # requests while a bot is not there yet, one in LOOK_S
WATCH_END_S: Final = 2.0  # for the end of the watch, after that of the match
LINGER_S: Final = 5.0  # for the server to end the stream of a person who has left
AUTHORIZATION: Final = "authorization"
ELSEWHERE: Final = gettext_noop(
    "another server of this league plays the ladder %(ladder)s; play there on the page of that server"
)
NO_ANSWER: Final = gettext("the arena does not answer")
# What a read or write raises when the call has ended.
BROKEN: Final = (grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError)
AGAIN: Final = ("", "DRAINING", "INCIDENT")  # reasons after which a stream is opened again
OPTIONS: Final = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 0),
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.use_local_subchannel_pool", 1),
)


class Dials(Protocol):
    """How the server is reached: a `cutpurse.wire.connection.Dialling` with a token."""

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of every call."""

    def channel(self, options: Sequence[tuple[str, Any]]) -> grpc.aio.Channel:
        """Create a channel to the server."""


@dataclass(frozen=True, slots=True)
class OwnerDials:
    """How the server is reached for an owner who plays in person: their token, and that of the page beside it."""

    page: Dials
    token: str = field(repr=False)

    @property
    def metadata(self) -> tuple[tuple[str, str], ...]:
        """The metadata of every call."""
        vouchers = [(VOUCHER_KEY, value.partition(" ")[2]) for key, value in self.page.metadata if key == AUTHORIZATION]
        return ((AUTHORIZATION, f"Bearer {self.token}"), *vouchers)

    def channel(self, options: Sequence[tuple[str, Any]]) -> grpc.aio.Channel:
        """Create a channel to the server."""
        return self.page.channel(options)


class PersonSession:
    """A session for one match. `run` plays it; the functions are called on its event loop."""

    def __init__(
        self, dials: Dials, bot: str, game: str, ladder: str, do: Callable[[Todo | Watched, float], None]
    ) -> None:
        """Set up a session that is not connected.

        Args:
            dials: The server and the token.
            bot: Name under which the person plays.
            game: Game to play.
            ladder: Ladder with the rules.
            do: Carries out what the server asks for, and shows what the others do; gets the time of arrival on the
                loop's clock.
        """
        self.session = ClientSession(bot, "1", [game], 1)
        self.session.ladders = {game: [ladder]}
        self.session.declines_requests = True
        self._dials = dials
        self._ladder = ladder
        self._do = do
        self._wake = asyncio.Event()
        self._begun = asyncio.Event()
        self._is_in = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None  # once the match has begun

    def wake(self) -> None:
        """Send what is ready."""
        self._wake.set()

    async def run(
        self, bots: Sequence[str], seed: bytes | None = None, position: ladder_pb2.StartPosition | None = None
    ) -> None:
        """Play one match until its end.

        Args:
            bots: Bots by seat, this session's own among them; without any, another session requests the match, or the
                ladder pairs it.
            seed: Seed of the deal; None for a fresh one.
            position: Position to play on from; None for a new deal.

        Raises:
            CutpurseError: If there is no match, or the server is lost.
        """
        async with self._dials.channel(OPTIONS) as channel:
            playing = asyncio.create_task(self._play(channel))
            asking = [asyncio.create_task(self._ask(channel, bots, seed, position))] if bots else []
            tasks = [*asking, playing]
            try:
                await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
                for task in tasks:
                    if task.done():
                        task.result()
                if self._watching is not None:
                    await asyncio.wait((self._watching,), timeout=WATCH_END_S)
            finally:
                tasks += [self._watching] if self._watching is not None else []
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)

    # -- the match
    async def _ask(
        self,
        channel: grpc.aio.Channel,
        bots: Sequence[str],
        seed: bytes | None,
        position: ladder_pb2.StartPosition | None,
    ) -> None:
        """Request the match once the server has let the bot in, and wait until it begins."""
        await self._is_in.wait()
        named = [_bot_name(bot) for bot in bots]
        wanted = ladder_pb2.RequestMatchRequest(ladder=self._ladder, bots=named, seed=seed, position=position)
        match = await self._requested(channel, wanted)
        while not self._begun.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(self._begun.wait(), LOOK_S)
            if self._begun.is_set():
                return
            asked = ladder_pb2.ListOpenMatchesRequest(match=match)
            state = (await self._call(channel, STATUS, asked, ladder_pb2.ListOpenMatchesResponse)).requested
            if state.startswith("dropped"):
                raise ServerRefused(printable(state.removeprefix("dropped: ")))

    async def _requested(self, channel: grpc.aio.Channel, wanted: ladder_pb2.RequestMatchRequest) -> str:
        """Request the match and return its ID; house bots of a server that has just started may come a little later."""
        for _ in range(TRIES):
            with suppress(NotFound):
                return str((await self._call(channel, REQUEST, wanted, ladder_pb2.RequestMatchResponse)).match)
            await asyncio.sleep(LOOK_S)
        return str((await self._call(channel, REQUEST, wanted, ladder_pb2.RequestMatchResponse)).match)

    async def _call(self, channel: grpc.aio.Channel, method: str, request: Message, kind: Any) -> Any:
        call: Any = channel.unary_unary(
            method, request_serializer=type(request).SerializeToString, response_deserializer=kind.FromString
        )
        try:
            return await call(request, metadata=self._dials.metadata, timeout=ANSWER_S)
        except grpc.aio.AioRpcError as problem:
            text, reason = _ending(problem.details(), problem.trailing_metadata())
            raise problem_of(reason, text) if reason else ServerUnreachable(NO_ANSWER) from None

    # -- the stream
    async def _play(self, channel: grpc.aio.Channel) -> None:
        """Keep a stream open until the match is over."""
        loop = asyncio.get_running_loop()
        lost_at: float | None = None
        while True:
            self._is_in.clear()
            text, reason = await self._stream(channel)
            if self.session.done():
                return
            if reason == "ELSEWHERE":
                raise ServerRefused(gettext(ELSEWHERE, ladder=self._ladder))
            if reason not in AGAIN:
                raise problem_of(reason, text)
            if self._is_in.is_set() or lost_at is None:
                lost_at = loop.time()
            if not self.session.can_resume or loop.time() > lost_at + RESUME_S:
                raise ServerUnreachable(NO_ANSWER)
            await asyncio.sleep(AGAIN_S)

    async def _stream(self, channel: grpc.aio.Channel) -> tuple[str, str]:
        """Run one stream, from Hello to its status; return the text and reason of the status."""
        loop = asyncio.get_running_loop()
        call: Any = channel.stream_stream(PLAY)(metadata=self._dials.metadata)
        endings = ReportedEndings(call)
        writing = asyncio.create_task(self._write(call))
        try:
            while (data := await _read(call)) is not None:
                for todo in self.session.receive(data, loop.time()):
                    self._note(todo)
                    self._do(todo, loop.time())
                    if isinstance(todo, Begin):
                        self._watching = asyncio.create_task(self._watch(channel, todo.table))
                self._wake.set()
                if self.session.done():
                    loop.call_later(LINGER_S, call.cancel)
            ending = await endings.of_server()
            return _ending(ending.details, ending.metadata)
        finally:
            writing.cancel()
            call.cancel()
            await asyncio.gather(writing, return_exceptions=True)
            self.session.lost()

    def _note(self, todo: Todo) -> None:
        if isinstance(todo, Welcomed):
            if todo.lost:
                raise ServerUnreachable(gettext("the arena was started again, and the match is lost"))
            self._is_in.set()
        elif isinstance(todo, Begin):
            self._begun.set()
            self.session.leave()  # after this match, which is the only one

    # -- what the others do
    async def _watch(self, channel: grpc.aio.Channel, table: ClientTable) -> None:
        """Follow the seat until the match is over; open the watch again as long as the server lets it."""
        loop = asyncio.get_running_loop()
        request = ladder_pb2.WatchMatchRequest(match=table.match, seat=table.seat)
        open_watch = channel.unary_stream(
            WATCH,
            request_serializer=ladder_pb2.WatchMatchRequest.SerializeToString,
            response_deserializer=ladder_pb2.WatchMatchResponse.FromString,
        )
        while not table.over:
            reader = WatchReader(table.seat)
            try:
                async for message in open_watch(request, metadata=self._dials.metadata):
                    if (update := reader.read(message)) is not None:
                        self._do(update, loop.time())
                return
            except grpc.aio.AioRpcError as problem:
                if _ending(problem.details(), problem.trailing_metadata())[1] not in AGAIN:
                    return  # the questions tell everything, if later
            except ServerRefused:
                return
            await asyncio.sleep(AGAIN_S)

    async def _write(self, call: Any) -> None:
        """Send the Hello, then what becomes ready. No other task writes."""
        with suppress(*BROKEN):
            await call.write(self.session.opening())
            while True:
                await self._wake.wait()
                self._wake.clear()
                while (data := self.session.next_envelope()) is not None:
                    await call.write(data)


def _bot_name(text: str) -> ladder_pb2.BotName:
    owner, _, bot = text.rpartition("/")
    return ladder_pb2.BotName(owner=owner, bot=bot)


async def _read(call: Any) -> bytes | None:
    """Read an envelope; return None at the end of the call."""
    try:
        data = await call.read()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return None  # the call was cancelled, not this task
    except BROKEN:
        return None
    return None if data is grpc.aio.EOF else bytes(data)


def _ending(details: str | None, metadata: Any) -> tuple[str, str]:
    """Return text and reason of the status of a call; both may be empty."""
    reason = ""
    for key, value in metadata or ():
        if key == "grpc-status-details-bin" and isinstance(value, bytes):
            with suppress(DecodeError):
                for detail in status_pb2.Status.FromString(value).details:
                    info = error_details_pb2.ErrorInfo()
                    if detail.Unpack(info) and info.domain == "cutpurse":
                        reason = info.reason
    return printable(details or "", 300), reason
