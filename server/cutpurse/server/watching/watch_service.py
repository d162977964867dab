"""The gRPC call WatchMatch: messages are sent as they come, until the caller disconnects or the watch ends.

A match or a ladder of another arena is watched there, and its messages are passed on as they come. It also calls the
timers of `Watching` on the event loop. A write to a caller that never reads blocks no other call; the
blocked call counts as open until gRPC ends it. This module knows no match, and sends no text of an exception.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import Any

import grpc

from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import Grant
from cutpurse.server.call_status import abort, at_end_of_call, status_without_store
from cutpurse.server.errors import LEFT, CallRefused, CallStatus, legible
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league.ladder_service import LADDER, Handlers
from cutpurse.server.league.league_calls import caller_of
from cutpurse.server.league.league_queries import Caller, may_see, why_hidden, why_no_replay
from cutpurse.server.league.other_servers import OtherServers, ServerCall
from cutpurse.server.logs import Logger
from cutpurse.server.watching.broadcast import STOPPING, Visitor, Watching, WatchSubscriber
from cutpurse.v1 import ladder_pb2

__all__ = ["WatchService"]


class WatchService:
    """The WatchMatch call of LadderService. Call `close` before the server stops.

    Args:
        watching: Broadcast of the matches.
        entrance: Authenticates callers.
        log: Server log.
        is_good: Returns whether the token with an ID is valid now.
        utc: Returns the time of day, for results that are hidden until a time.
        incident_number: Returns a new incident ID.
        servers: The other servers of the league; by default there are none.
    """

    def __init__(
        self,
        watching: Watching,
        entrance: AuthInterceptor,
        log: Logger,
        *,
        is_good: Callable[[str], bool],
        utc: Callable[[], datetime],
        incident_number: Callable[[], str],
        servers: OtherServers | None = None,
    ) -> None:
        self._servers = servers or OtherServers()
        self._watching = watching
        self._entrance = entrance
        self._log = log
        self._is_good = is_good
        self._utc = utc
        self._incident_number = incident_number
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        watching.begin(clock=self._loop.time, due=self._set_timer, incident_number=incident_number)

    def methods(self) -> Handlers:
        """Return the methods to add to the handler of LadderService."""
        return {"WatchMatch": grpc.unary_stream_rpc_method_handler(self.watch)}

    def close(self) -> None:
        """End all watches because the server stops, including those of calls that were just accepted."""
        self._is_closed = True
        self._watching.close()
        if self._timer is not None:
            self._timer.cancel()

    async def watch(self, request: bytes, context: Context) -> None:
        """Answer WatchMatch: send messages until the watch ends."""
        try:
            how = await self._watch(request, context)
        except grpc.aio.BaseError:  # the caller has disconnected; often this task is cancelled instead
            return
        except Exception as problem:
            how = status_without_store(problem, self._log, self._incident_number)
        if how is not LEFT:
            await abort(context, how)

    async def _watch(self, request: bytes, context: Context) -> CallStatus:
        asked = ladder_pb2.WatchMatchRequest.FromString(request)
        grant = await self._entrance.recognise(context)
        visitor = self._visitor(grant, context)
        if self._is_closed:
            return STOPPING
        seat = asked.seat if asked.HasField("seat") else None
        facts: dict[str, Any] = {
            "match": legible(asked.match, 40),
            "ladder": legible(asked.ladder, 40),
            "seat": seat,
            "owner": visitor.owner,
        }
        tell, peer = self._entrance.log.info, context.peer()
        woken = asyncio.Event()
        try:
            watcher = self._watching.watch(asked, visitor, woken.set)
        except CallRefused as refused:
            call = ServerCall(f"/{LADDER}/WatchMatch", request, caller_of(grant), context)
            if (messages := self._servers.watch(call, asked, refused.ending)) is None:
                raise
            serving = partial(self._pass_on, messages, visitor, context)
            facts["passed_on"] = True
        else:
            # not after the loop below, since a write may block until the call ends
            at_end_of_call(lambda: self._watching.leave(watcher))
            serving = partial(_told, watcher, woken, context)
        tell(self._loop.time(), "watch begun", visitor.address, peer=peer, **facts)
        how = LEFT
        try:
            how = await serving()
        finally:
            tell(self._loop.time(), "watch ended", visitor.address, how.reason, peer=peer, text=how.text, **facts)
        return how

    async def _pass_on(self, messages: AsyncGenerator[bytes, None], visitor: Visitor, context: Context) -> CallStatus:
        """Send the messages of another server, which refuses the rest by an error."""
        woken = asyncio.Event()
        watcher = self._watching.pass_on(visitor, woken.set)
        at_end_of_call(lambda: self._watching.leave(watcher))
        try:
            async with aclosing(messages):
                while (message := await _next_or_woken(messages, woken)) is not None:
                    await context.write(message)
        except CallRefused as refused:
            return refused.ending
        return watcher.ending or LEFT

    def _visitor(self, grant: Grant | None, context: Context) -> Visitor:
        caller = caller_of(grant)
        return Visitor(
            owner=caller.owner,
            address=self._servers.caller_address(context),
            sees=lambda ladder: may_see(caller, ladder.terms),
            why_hidden=partial(self._why_hidden, caller),
            is_good=lambda: grant is None or not grant.token or self._is_good(grant.token),
        )

    def _why_hidden(self, caller: Caller, ladder: Ladder, owners: Collection[str] | None) -> str:
        """Return why the caller may not see a match of these owners; without owners, any match of the ladder."""
        now = self._utc()
        if owners is None:
            owners = () if caller.owner is None else (caller.owner,)
        return why_hidden(caller, ladder.name, ladder.terms, now) or why_no_replay(
            caller, ladder.name, ladder.terms, owners, now
        )

    def _set_timer(self) -> None:
        at, timer = self._watching.next_event_at(), self._timer
        if at is not None and (timer is None or at < timer.when()):
            if timer is not None:
                timer.cancel()
            self._timer = self._loop.call_at(at, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._watching.tick(self._loop.time())
        self._set_timer()


async def _told(watcher: WatchSubscriber, woken: asyncio.Event, context: Context) -> CallStatus:
    """Send a subscriber's messages until the watch ends. Return the status of the call."""
    while True:
        woken.clear()
        while (message := watcher.take()) is not None:
            await context.write(message)
        if watcher.ending is not None:
            return watcher.ending
        await woken.wait()


async def _next_or_woken(messages: AsyncGenerator[bytes, None], woken: asyncio.Event) -> bytes | None:
    """Return the next message; None at the end of the stream, or once `woken` is set.

    A write to the caller is never cancelled: nothing could be sent after it, not even the status.
    """

    async def read() -> bytes | None:
        return await anext(messages, None)

    if woken.is_set():
        return None
    reading, waiting = asyncio.create_task(read()), asyncio.create_task(woken.wait())
    try:
        await asyncio.wait((reading, waiting), return_when=asyncio.FIRST_COMPLETED)
        return reading.result() if reading.done() else None
    finally:
        for task in (reading, waiting):
            task.cancel()
        await asyncio.wait((reading, waiting))
