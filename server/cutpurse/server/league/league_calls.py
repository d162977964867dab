"""The calls about a league over gRPC: who asks, how many at a time, on which thread, and at which arena.

Queries run on a few threads. They never run on the event loop, which keeps the bots' clocks, nor on the thread that
stores results. Each address has a limited number of simultaneous calls. The lobby is queried on the loop. This module
knows who a caller is, and no method.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, Protocol, TypeVar

import grpc
from google.protobuf.message import Message

from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import HOUSE, NOBODY, PEOPLE
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import Grant, check_scope
from cutpurse.server.act_log import ActLog
from cutpurse.server.call_status import abort, status_of
from cutpurse.server.errors import CallRefused, CallStatus
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.league_queries import STRANGER, Caller
from cutpurse.server.league.other_servers import OtherServers, ServerCall
from cutpurse.server.league.presence import NOWHERE, LiveMatchView, OnlineBotView, Presence
from cutpurse.server.logs import Logger

__all__ = ["LeagueCalls", "SeenLobby", "caller_of", "is_of_this_run"]

THREADS: Final = 2
MOST_BY_ADDRESS: Final = 64  # simultaneous calls: a class of sixty behind one address may ask at the same time
MOST_CALLS: Final = 512  # simultaneous calls of all addresses
MOST_BYTES: Final = 3_500_000  # maximum bytes of an answer: gRPC clients accept 4 MiB by default
SEEN: Final = 20.0  # how long a snapshot of the lobby is reused, as a multiple of the time that it took

Told = TypeVar("Told")


def caller_of(grant: Grant | None) -> Caller:
    """Return the caller that a grant stands for; a stranger without one."""
    return STRANGER if grant is None else Caller(grant.owner, frozenset(grant.scopes), grant.resident is not None)


def is_of_this_run(caller: Caller) -> bool:
    """Return whether a caller has a token of this server's run, which no other server knows."""
    return caller.is_hosted_bot or caller.owner in (HOUSE, PEOPLE)


class SeenLobby(Protocol):
    """The lobby, as queried on the event loop."""

    def here(self) -> Sequence[OnlineBotView]:
        """List all online bots."""

    def open_matches(self) -> Sequence[LiveMatchView]:
        """List the open matches."""

    def unstored_matches(self) -> Sequence[LiveMatchView]:
        """List the finished matches whose results are not stored yet."""

    def requested(self, name: str) -> str:
        """Return the state of a requested match; thread-safe."""

    def why_not_ready(self, bot: Identity, ladder: Ladder, is_requested: bool) -> str:
        """Return why a bot cannot play on a ladder now, see `Lobby.why_not_ready`; thread-safe."""


class LeagueCalls:
    """A gRPC service about a league. Close it once no call is answered any more."""

    service = ""  # its full name
    played: Collection[str] = ()  # methods that need the ladder's arena

    def __init__(
        self,
        entrance: AuthInterceptor,
        log: Logger,
        lobby: SeenLobby,
        *,
        incident_number: Callable[[], str],
        acts: ActLog | None = None,
        servers: OtherServers | None = None,
    ) -> None:
        """Serve a league.

        Args:
            entrance: Authenticates calls.
            log: The server's log.
            lobby: Where matches are played.
            incident_number: Returns a new incident number.
            acts: Where changes are noted; None means nowhere.
            servers: The other servers of the league; by default there are none.
        """
        self._seen_lobby = lobby
        self._entrance = entrance
        self._log = log
        self._incident_number = incident_number
        self._acts = acts or ActLog()
        self._servers = servers or OtherServers()
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="league")
        self._calls: Counter[str] = Counter()  # calls being answered, by address
        self._last_seen, self._seen_until = NOWHERE, 0.0
        self._steers = asyncio.Lock()  # so that changes take effect in the order of writing
        self._steered: set[asyncio.Task[bytes]] = set()  # changes that go on even if their callers leave

    def close(self) -> None:
        """Stop the threads; there must be no more calls."""
        self._threads.shutdown(cancel_futures=True)

    def ladders(self) -> Mapping[str, Callable[[bytes, Caller], str]]:
        """Return how to find the ladder of a call that only its arena answers, by method."""
        return {}

    def _reading(
        self, name: str, kind: type[Message], answer: Callable[[Any, Caller, Presence], Message], *scopes: str
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        """Wrap a query, open to all callers or to tokens with one of these scopes."""

        async def read(request: bytes, context: Context) -> bytes:
            async def told(caller: Caller) -> bytes:
                with self._turn(context):
                    call = ServerCall(f"/{self.service}/{name}", request, caller, context)
                    if (passed_on := await self._passed_on(name, call)) is not None:
                        return passed_on
                    presence = self._seen()
                    asked = kind.FromString(request)
                    own, encoded = await self._apart(lambda: _with_bytes(answer(asked, caller, presence)))
                    if (complete := await self._servers.complete(call, own)) is None:
                        return encoded
                    return await self._apart(lambda: _sized(complete()))

            return await self._guarded(told, context, *scopes)

        return read

    def _writing(
        self, name: str, steer: Callable[[bytes, Caller], Coroutine[Any, Any, Message]], *scopes: str
    ) -> Callable[[bytes, Context], Awaitable[bytes]]:
        """Wrap a change: once begun, it goes on even if its caller leaves."""

        async def write(request: bytes, context: Context) -> bytes:
            async def told(caller: Caller) -> bytes:
                async def steered() -> bytes:
                    # until its end: otherwise a caller could leave, call again, and evade the limit
                    with self._turn(context):
                        call = ServerCall(f"/{self.service}/{name}", request, caller, context)
                        if (passed_on := await self._passed_on(name, call)) is not None:
                            return passed_on
                        return _sized(await steer(request, caller))

                task = asyncio.get_running_loop().create_task(steered())
                self._steered.add(task)
                task.add_done_callback(self._settle)
                try:
                    return await asyncio.shield(task)
                finally:
                    del task  # its exception leads to this frame, which would lead back to the task

            return await self._guarded(told, context, *scopes)

        return write

    async def _passed_on(self, name: str, call: ServerCall) -> bytes | None:
        """Return the answer of the server whose ladder a call is about; None if this one answers.

        Raises:
            CallRefused: As `OtherServers.answer` does.
        """
        if (ladder_of := self.ladders().get(name)) is None:
            return None
        find = partial(self._apart, lambda: ladder_of(call.request, call.caller))
        return await self._servers.answer(call, find, is_played=name in self.played)

    def _settle(self, task: asyncio.Task[bytes]) -> None:
        self._steered.discard(task)
        if not task.cancelled():
            task.exception()  # the caller gets it, or has left

    async def _note(self, caller: Caller, what: str, about: str) -> None:
        by = caller.owner or NOBODY
        await self._apart(lambda: self._acts.note(by, what, about))

    def _presence(self) -> Presence:
        """Take a snapshot of the lobby, on the event loop; takes 1 ms for a thousand bots."""
        lobby = self._seen_lobby
        return Presence(
            lobby.here(), lobby.open_matches(), lobby.requested, lobby.unstored_matches(), lobby.why_not_ready
        )

    def _seen(self) -> Presence:
        """Return a recent snapshot for queries, which costs at most a twentieth of the loop's time."""
        now = asyncio.get_running_loop().time()
        if now >= self._seen_until:
            began = time.thread_time()
            self._last_seen = self._presence()
            self._seen_until = now + SEEN * (time.thread_time() - began)
        return self._last_seen

    async def _caller(self, context: Context, *scopes: str) -> Caller:
        """Return the caller of a call. With scopes, a token with one of them is required.

        Raises:
            TokenRefused: If the token is invalid, or lacks the scopes.
        """
        grant = await self._entrance.recognise(context)
        if scopes:
            check_scope(grant, *scopes)
        return caller_of(grant)

    async def _guarded(
        self, answer: Callable[[Caller], Awaitable[Told]], context: Context, *scopes: str
    ) -> Told | bytes:
        """Answer an authorized caller, or end the call."""
        try:
            return await answer(await self._caller(context, *scopes))
        except grpc.aio.BaseError:  # the caller has left
            raise
        except Exception as problem:
            how = self._ending(problem)
        return await abort(context, how)

    @contextmanager
    def _turn(self, context: Context) -> Iterator[None]:
        """Count a call while it is answered. A delayed refusal of its token does not count.

        Raises:
            CallRefused: STREAMS if there are too many calls.
        """
        address = self._servers.caller_address(context)
        if self._calls[address] >= MOST_BY_ADDRESS:
            raise CallRefused("STREAMS", f"{MOST_BY_ADDRESS} calls from this address are being answered; wait for one")
        if self._calls.total() >= MOST_CALLS:
            raise CallRefused("STREAMS", f"{MOST_CALLS} calls are being answered; come back later")
        self._calls[address] += 1
        try:
            yield
        finally:
            self._calls[address] -= 1
            if not self._calls[address]:
                del self._calls[address]

    async def _apart(self, work: Callable[[], Told]) -> Told:
        """Run `work` on a thread; cancel it if the caller leaves before it begins."""
        return await asyncio.wrap_future(self._threads.submit(work))

    def _ending(self, problem: Exception) -> CallStatus:
        unable = "the league cannot be read now; nothing was changed"
        return status_of(problem, self._log, self._incident_number, in_trouble="league not read", unable=unable)


def _with_bytes(answer: Message) -> tuple[Message, bytes]:
    return answer, _sized(answer)


def _sized(answer: Message) -> bytes:
    """Encode an answer.

    Raises:
        CallRefused: If it is larger than clients accept.
    """
    if answer.ByteSize() > MOST_BYTES:
        raise CallRefused("BAD_MESSAGE", f"the answer would have {answer.ByteSize():,} bytes; ask for less of it")
    return answer.SerializeToString()
