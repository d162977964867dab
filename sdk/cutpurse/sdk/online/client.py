"""The connection of a bot to a server: one stream after the other, each read by one task.

That task also carries out what an envelope asks for and sends the result: a second task would have to wait for its turn
in the event loop. Another task sends what becomes ready at other times. gRPC's asyncio drops what a cancelled read
would have returned, and fails when two tasks write. So reads are never cancelled (the call is), and a task that finds
the other one writing leaves its data to it. This module knows no game and no bot: `ClientSession` decides what to send,
and `RemoteBots` carries out what is asked.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import grpc
import grpc.aio
from google.protobuf.message import DecodeError
from google.rpc import error_details_pb2, status_pb2

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.sdk.online.bot_pool import RemoteBots
from cutpurse.sdk.online.concurrency import ConcurrencyControl
from cutpurse.wire.client_session import Ask, Begin, ClientSession, Finish, Welcomed
from cutpurse.wire.connection import UNTRUSTED, Dialling, why_unreachable
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused, ServerUnreachable
from cutpurse.wire.server_address import CA_VARIABLE, SECURE
from cutpurse.wire.stream_ending import ReportedEndings
from cutpurse.wire.text import format_count, printable

__all__ = ["Client", "Companions", "StayOptions"]

PLAY: Final = "/cutpurse.v1.ArenaService/Play"
FIRST_S: Final = 10.0  # seconds to wait for a server that has never answered
WELCOME_S: Final = 10.0  # seconds to wait for the answer to Hello
LINGER_S: Final = 5.0  # seconds that a server may take to close the stream of a bot that has left
INLINE_S: Final = 0.005  # seconds of work on an envelope before finished answers are sent
HOME_S: Final = 10.0  # seconds without the server that it was sent to until it asks the first one again
MOVES: Final = 4  # referrals in a row that are followed at once
BACKOFF_S: Final = (0.2, 2.0)  # first and longest wait between two attempts
ALONE_S: Final = 15.0  # seconds without a match before the first message about it
LEAST_SILENCE_S: Final = 0.5  # extra time to read what arrived while this process was busy
# What a read or write raises when the call has ended.
BROKEN: Final = (grpc.aio.AioRpcError, grpc.aio.UsageError, asyncio.InvalidStateError, asyncio.CancelledError)

# The server's options are in its own module. Where both sides set ping times, these are the longer ones.
OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.min_reconnect_backoff_ms", 1_000),
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.enable_retries", 0),  # a session is resumed instead
    ("grpc.enable_http_proxy", 0),
    ("grpc.use_local_subchannel_pool", 1),  # a new attempt does not inherit the backoff of the last one
)

STOP: Final[dict[str, type[CutpurseError]]] = {
    "PROTOCOL_VERSION": ServerRefused,
    "RULES_VERSION": ServerRefused,
    "HELLO": UsageError,
    "NOT_FOUND": NotFound,
    "SETTINGS": NotFound,
    "BAD_MESSAGE": ServerRefused,
    "SUPERSEDED": ServerRefused,
    "TOKEN_INVALID": NotAuthorised,
    "TOKEN_SCOPE": NotAuthorised,
    "FROZEN": ServerRefused,
    "PAUSED": ServerRefused,
    "NOT_YOURS": NotAuthorised,
}
HUNG_UP: Final = ("Socket closed", "Connection reset by peer")
# Codes that are final even without a reason: trying again does not help.
FINAL: Final = (
    grpc.StatusCode.FAILED_PRECONDITION,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.NOT_FOUND,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.UNAUTHENTICATED,
    grpc.StatusCode.UNIMPLEMENTED,
)


class _Ended(NamedTuple):
    """The status that a stream ended with."""

    code: grpc.StatusCode
    text: str
    reason: str = ""  # of ErrorInfo
    retry_s: float | None = None  # of RetryInfo
    address: str = ""  # where to dial instead, of ErrorInfo
    is_untrusted: bool = False  # the server has shown no trusted certificate


@dataclass(frozen=True, slots=True)
class StayOptions:
    """What the user wants of a bot's stay on a server.

    Attributes:
        ladders: Ladders to be paired on; the server is asked for their games first. Default: all.
        matches: Leave after this many matches. Default: never.
        reconnect_timeout_s: Seconds to keep reconnecting. Default: 10 for the first connection, then unlimited.
        says_why: Print once why no match begins, if too few bots are online.
    """

    ladders: Sequence[str] = ()
    matches: int | None = None
    reconnect_timeout_s: float | None = None
    says_why: bool = False


class Companions(Protocol):
    """The other streams of the bot, to other servers of the league."""

    def share(self, client: Client, tables: int) -> int:
        """Return how many of the bot's tables this stream may ask for."""

    def begun(self, client: Client) -> int:
        """Return how many matches the other streams have begun."""

    def welcomed(self, client: Client, elsewhere: Sequence[tuple[str, str]]) -> None:
        """Note that a server has welcomed the bot, and which of its ladders are elsewhere, with addresses."""

    def is_dialled(self, address: str) -> bool:
        """Return whether a stream goes to this address."""

    def ended_early(self, client: Client) -> bool:
        """Return whether the bot plays on without this stream, whose server is gone or sends it to another stream's."""

    def enough(self, client: Client) -> None:
        """Note that as many matches have begun as the user wants, the last one on this stream."""


class _Alone:
    """No other streams."""

    def share(self, client: Client, tables: int) -> int:
        return tables

    def begun(self, client: Client) -> int:
        return 0

    def welcomed(self, client: Client, elsewhere: Sequence[tuple[str, str]]) -> None:
        pass

    def is_dialled(self, address: str) -> bool:
        return False

    def ended_early(self, client: Client) -> bool:
        return False

    def enough(self, client: Client) -> None:
        pass


class Client:
    """Keeps a session connected until it has left or cannot continue.

    A server that is one of several may send it to another one, which is dialled if its host is trusted.
    """

    def __init__(
        self,
        dialling: Dialling,
        session: ClientSession,
        pace: ConcurrencyControl,
        say: Callable[[str], None],
        options: StayOptions,
        *,
        chance: Callable[[], float] = random.random,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
        companions: Companions | None = None,
    ) -> None:
        """Create a client that is not connected yet.

        Args:
            dialling: Parameters of the connection.
            session: The session.
            pace: Limits the number of matches.
            say: Prints a message for the user.
            options: What the user wants.
            chance: Returns random numbers from 0 to 1, for the backoff.
            pause: Waits for this many seconds without a match.
            companions: The other streams of the bot. Default: there are none.
        """
        self._companions: Companions = companions or _Alone()
        self._home = dialling
        self._moves = 0  # referrals since the last welcome
        self._is_asking = False  # the stream was ended by `refresh`
        self.dialling = dialling
        self.address = dialling.address
        self.session = session
        self.pace = pace
        self.say = say
        self.matches = options.matches
        self._ladders_sought = options.ladders
        self.reconnect_timeout_s = options.reconnect_timeout_s
        self.chance = chance
        self._says_why = options.says_why
        self._pause = pause
        self._welcome = asyncio.Event()
        self._owner = ""
        self.played = 0
        self._begun = 0
        self._is_told_to_leave = False
        self.bots: RemoteBots | None = None
        self._wake = asyncio.Event()  # set when there may be something to send
        self._hurry = asyncio.Event()  # set when the bot leaves, which ends waits early
        self._over = False  # whether this stream has ended
        self._is_busy = False  # an envelope is being processed; its results are sent afterwards
        self._is_writing = False
        self._is_silent = False  # the server was silent for too long, so the stream counts as lost
        self._call: Any = None  # Any: grpc.aio's own type is not public
        self._problem: BaseException | None = None
        self._connected = False
        self._attempts = 0  # since the last welcome
        self._incidents = 0  # server errors since the last finished match

    def wake(self) -> None:
        """Send what is ready."""
        if not self._is_busy:
            self._wake.set()

    def broken(self, problem: BaseException) -> None:
        """Store an error of this program: `play` ends with it."""
        self._problem = problem
        if self._call is not None:
            self._call.cancel()

    def leave(self) -> None:
        """Finish the open matches, then stop."""
        self._is_told_to_leave = True
        self.session.leave()
        self._hurry.set()
        self._wake.set()
        self._see_whether_done()

    def _see_whether_done(self) -> None:
        """Give the server a while to close the stream, if the bot has left."""
        if self.session.done() and (call := self._call) is not None:
            asyncio.get_running_loop().call_later(LINGER_S, call.cancel)

    async def play(self, bots: RemoteBots) -> None:
        """Play until the bot has left.

        Raises:
            ServerUnreachable: If no server answers in time.
            CutpurseError: If the server rejects the bot; `STOP` has the class for each reason.
        """
        self.bots = bots
        self._limit_tables()
        away_since = time.monotonic()
        while True:
            if self.session.done():
                return
            ended = await self._stream()
            if self.session.done():
                return
            if self._is_asking or ended.address:
                if await self._has_gone(ended.address):
                    continue
                return
            is_first = not self._attempts
            wait_s = self._wait(ended)
            if is_first:
                away_since = time.monotonic()
                if self._connected:
                    self.say(f"the connection to {self.address} was lost ({ended.text}); trying again")
            if time.monotonic() - away_since > HOME_S and not self._goes_home():
                return
            limit = self.reconnect_timeout_s if self._connected or self.reconnect_timeout_s is not None else FIRST_S
            if limit is not None and time.monotonic() + wait_s > away_since + limit:
                what = "a server that lets no bot in" if ended.reason else "no server"
                hint = ""
                if ended.text in HUNG_UP and not self.dialling.is_secure:
                    hint = f"; if it speaks TLS, its address is {SECURE}{self.address}"
                raise ServerUnreachable(f"{what} at {self.address} for {limit:g} s: {ended.text}{hint}")
            if not self._connected and self._attempts == 1:
                self.say(f"no server at {self.address} yet ({ended.text}); trying again")
            if not self.session.leaving or self.session.tables:
                await self._sleep(wait_s)

    async def _has_gone(self, address: str) -> bool:
        """Dial another server of the league from now on, unless another stream goes there already.

        Without an address the stream ended to ask the same server again.

        Raises:
            NotAuthorised: If it is not trusted.
        """
        if self._is_asking:
            self._is_asking = False
            return True
        there = self._home.at(address)
        if self._companions.is_dialled(there.address) and self._companions.ended_early(self):
            return False
        self._moves += 1
        if self._moves == 1:
            self.say(f"the server at {self.address} sends the bot to {there.address}")
        self._dial(there)
        if self._moves > MOVES:  # ladders may be on their way from one to another
            await self._sleep(BACKOFF_S[1])
        return True

    def _goes_home(self) -> bool:
        """Dial the first server again, since the one that it was sent to is gone, unless other streams play on."""
        if self._companions.ended_early(self):
            return False
        if self.dialling != self._home:
            self._dial(self._home)
        return True

    def _dial(self, there: Dialling) -> None:
        self.dialling, self.address = there, there.address
        if self.session.can_resume:
            self.session.forget()
            self._begin_again()

    def refresh(self) -> None:
        """Ask the server where the bot's ladders are, by resuming the session on another stream."""
        if self._call is not None:
            self._is_asking = True
            self._call.cancel()

    def limit_tables(self) -> None:
        """Ask for as many matches as this stream may have now."""
        self._limit_tables()
        self.wake()

    def want_no_more(self) -> None:
        """Ask for no more matches, since other streams have had the last ones."""
        self.session.leave()
        self.wake()
        self._see_whether_done()

    @property
    def begun(self) -> int:
        """Number of matches that have begun."""
        return self._begun

    def _wait(self, ended: _Ended) -> float:
        """Return the seconds to wait before the next attempt.  Raises if there must be none."""
        if ended.reason == "RESUME_EXPIRED" and self.session.can_resume:
            self.session.forget()
            self._begin_again()
            return 0.0
        if ended.reason == "TOKEN_INVALID" and not self.dialling.token:
            raise self.dialling.without_token()
        if ended.reason in STOP:
            raise STOP[ended.reason](f"the server at {self.address}: {ended.text}")
        if ended.is_untrusted:
            raise NotAuthorised(
                f"the server at {self.address} has a certificate that is not trusted here, or of another name; "
                f"if its operator gave you the certificate of who signed it: --ca FILE, or {CA_VARIABLE}"
            )
        if ended.code is grpc.StatusCode.UNIMPLEMENTED:
            raise ServerRefused(f"what answers at {self.address} is no Cutpurse server of this version: {ended.text}")
        if ended.code in FINAL:
            raise ServerRefused(f"the server at {self.address}: {ended.text}")
        if ended.reason == "INCIDENT":
            self._incidents += 1
            if self._incidents > 1:
                raise ServerRefused(f"the server at {self.address} failed twice: {ended.text}")
        first, longest = BACKOFF_S
        doubled = min(self._attempts, 16)  # 16 reach the longest wait; a float overflows at 1,024
        backoff = min(longest, first * 2.0**doubled) * (0.5 + self.chance() / 2)
        self._attempts += 1
        said = self.session.come_back_s if ended.retry_s is None else ended.retry_s
        return backoff if said is None else max(backoff, said)

    async def _sleep(self, seconds: float) -> None:
        """Wait, unless the bot is asked to leave."""
        self._hurry.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurry.wait(), seconds)

    # -- one stream
    async def _stream(self) -> _Ended:
        """Run one stream, from Hello to its status.  Raises NotFound for an unknown ladder."""
        async with self.dialling.channel(OPTIONS) as channel:
            if self._ladders_sought:
                from cutpurse.sdk.online.ladder_selection import (  # imported late: most bots name no ladders
                    by_game,
                    list_server_ladders,
                )

                try:
                    there = await list_server_ladders(channel, self.dialling.metadata)
                except grpc.aio.AioRpcError as problem:
                    return _ended_by(problem.code(), problem.details(), problem.trailing_metadata())
                self.session.ladders = by_game(self._ladders_sought, there, self.address, bool(self.dialling.token))
                self._ladders_sought = ()
            self._over = False
            call: Any = channel.stream_stream(PLAY)(metadata=self.dialling.metadata)
            self._call = call
            endings = ReportedEndings(call)
            self._is_silent = False
            follows = asyncio.create_task(self._follow(call))
            writes = asyncio.create_task(self._write(call))
            watches = asyncio.create_task(self._watch(call))
            explains = asyncio.create_task(self._explain(channel))
            try:
                await asyncio.wait([follows])
            finally:
                self._over = True
                self._wake.set()
                watches.cancel()
                explains.cancel()
                if not call.done():
                    call.cancel()
                await asyncio.wait([follows, writes, watches, explains])
                self.session.lost()
                self._call = None
            if self._problem is not None:
                raise self._problem
            follows.result()  # raises what the task raised
            if self._is_silent:
                return _Ended(grpc.StatusCode.UNAVAILABLE, "the server was silent for too long")
            return _ended_by(*await endings.of_server())

    async def _follow(self, call: Any) -> None:
        """Process the server's envelopes until the stream ends, and send the results.

        While results are being sent nothing is read, since the server then waits for just these results.
        """
        opening = asyncio.ensure_future(call.write(self.session.opening()))
        call.add_done_callback(lambda _: opening.cancel())  # grpc.aio would keep waiting if the call ended first
        with suppress(*BROKEN):
            await opening
        while True:
            try:
                data = await call.read()
            except BROKEN:
                return  # the call's status has the reason
            if data is grpc.aio.EOF:
                return
            await self._work_off(data, call)

    async def _work_off(self, data: bytes, call: Any) -> None:
        """Process an envelope, and acknowledge it together with the immediate answers."""
        began = time.monotonic()
        self._is_busy = True
        try:
            for todo in self.session.receive(data, began):
                self._do(todo)
                if time.monotonic() - began > INLINE_S:
                    await self._send(call)
                    await asyncio.sleep(0)
                    began = time.monotonic()
            self._limit_tables()
        finally:
            self._is_busy = False
        await self._send(call)

    async def _write(self, call: Any) -> None:
        """Send what becomes ready while nothing is read."""
        while not self._over:
            await self._wake.wait()
            self._wake.clear()
            await self._send(call)

    async def _send(self, call: Any) -> None:
        """Send what is ready; a sender that is already active takes along what was added."""
        if self._is_writing:
            return
        self._is_writing = True
        try:
            while not self._over and (data := self.session.next_envelope()) is not None:
                await call.write(data)
        except BROKEN:
            pass  # the reading task sees it too
        finally:
            self._is_writing = False

    async def _watch(self, call: Any) -> None:
        """End a stream on which nothing arrives for too long."""
        welcome_by = time.monotonic() + WELCOME_S
        while True:
            until = self.session.silent_at or welcome_by
            await asyncio.sleep(until - time.monotonic())
            looked = time.monotonic()
            await asyncio.sleep(LEAST_SILENCE_S)
            was_busy = time.monotonic() - looked > 2 * LEAST_SILENCE_S
            if (self.session.silent_at or welcome_by) == until and not was_busy:
                self._is_silent = True
                call.cancel()
                return

    async def _explain(self, channel: grpc.aio.Channel) -> None:
        """Print once why no match begins, if too few bots are online. The intervals between the checks grow."""
        await self._welcome.wait()
        waited_s = 0.0
        while self._says_why and self._awaits_first():
            wait_s = max(ALONE_S, waited_s)
            await self._pause(wait_s)
            waited_s += wait_s
            if not self._awaits_first():
                return
            from cutpurse.sdk.online.queue_status import too_few  # imported late: most bots get a match soon

            text = await too_few(channel, self.dialling.metadata, self.session, self._owner)
            if text and self._awaits_first():
                self.say(f"no match for {waited_s:.0f} s: {text}")
                self._says_why = False

    def _awaits_first(self) -> bool:
        """Return whether no match has begun, and one is still requested."""
        return not self._begun and not self.session.leaving

    def _do(self, todo: Any) -> None:
        assert self.bots is not None
        if type(todo) is Ask:  # the most frequent case
            self.bots.do(todo)
            return
        if isinstance(todo, Welcomed):
            self._welcomed(todo)
        self.bots.do(todo)
        if isinstance(todo, Begin):
            self._begun += 1
            if self.matches is not None and self._begun + self._companions.begun(self) >= self.matches:
                self.session.leave()  # at once, since the server soon fills a free place again
                self._companions.enough(self)
        if isinstance(todo, Finish):
            self.played += 1
            self._incidents = 0
            self._see_whether_done()

    def _begin_again(self) -> None:
        """Request new matches in place of the open ones that were lost."""
        self._begun = self.played
        self.session.leaving = self._is_told_to_leave

    def _welcomed(self, welcomed: Welcomed) -> None:
        if welcomed.lost:
            self._begin_again()
        who = f"{welcomed.owner}/" if welcomed.owner else ""
        who += f"{welcomed.bot} (version {welcomed.version})"
        if not self._connected:
            self.say(f"{who} plays at {self.address} ({welcomed.server})")
        elif welcomed.resumed:
            self.say(f"connected again: {format_count(len(self.session.tables), 'match', 'matches')} open")
        else:
            self.say(f"connected again, as a new session: {format_count(len(welcomed.lost), 'match', 'matches')} lost")
        self._connected = True
        self._attempts = self._moves = 0
        self._owner = welcomed.owner
        self._welcome.set()
        self._companions.welcomed(self, welcomed.elsewhere)

    def _limit_tables(self) -> None:
        """Limit the matches to what the bot can handle, and to the number still requested."""
        tables = self._companions.share(self, self.pace.tables)
        if self.matches is not None:
            left = self.matches - self._begun - self._companions.begun(self) + len(self.session.tables)
            tables = min(tables, max(1, left))
        self.session.want_tables(tables)


def _ended_by(code: grpc.StatusCode, details: str | None, metadata: Iterable[tuple[str, str | bytes]] | None) -> _Ended:
    """Return the status of a call, with the details in its trailing metadata (`google.rpc.Status`)."""
    text = details or ("the server closed the stream" if code is grpc.StatusCode.OK else code.name)
    reason, address, retry_s = "", "", None
    for key, value in metadata or ():
        if key != "grpc-status-details-bin" or not isinstance(value, bytes):
            continue
        try:
            status = status_pb2.Status.FromString(value)
            for detail in status.details:
                info, retry = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo()
                if detail.Unpack(info) and info.domain == "cutpurse":
                    reason, address = info.reason, info.metadata.get("address", "")
                elif detail.Unpack(retry):
                    retry_s = max(0.0, retry.retry_delay.ToTimedelta().total_seconds())
        except DecodeError:
            continue  # the code is enough
    is_untrusted = any(words in text for words in UNTRUSTED)
    return _Ended(code, printable(why_unreachable(text)), reason, retry_s, address, is_untrusted)
