"""The gRPC call WatchMatch: messages are sent as they come, until the caller disconnects or the watch ends.

A match or a ladder of another arena is watched there, and its messages are passed on as they come. It also calls the
timers of `Watching` on the event loop. A write to a caller that never reads blocks no other call; the
blocked call counts as open until gRPC ends it. This module knows no match, and sends no text of an exception.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from datetime import datetime
from functools import partial
from typing import Any

import grpc

from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import Grant, address_of
from cutpurse.server.call_status import abort, at_end_of_call, status_without_store
from cutpurse.server.errors import LEFT, CallRefused, CallStatus, legible
from cutpurse.server.forwarding.forwarder import Forwarder
from cutpurse.server.league.ladder_service import LADDER, Handlers, caller_of, is_of_this_run
from cutpurse.server.league.league_queries import may_see, why_hidden
from cutpurse.server.logs import Logger
from cutpurse.server.matches.other_arenas import OtherArena
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
        forwarder: The way to other arenas; None if there are none.
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
        forwarder: Forwarder | None = None,
    ) -> None:
        self._forwarder = forwarder
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
            arenas = self._arenas(asked, grant, visitor, refused.ending, context)
            if not arenas:
                raise
            serving = partial(self._pass_on, arenas, request, visitor, refused.ending, context)
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

    def _arenas(
        self,
        asked: ladder_pb2.WatchMatchRequest,
        grant: Grant | None,
        visitor: Visitor,
        how: CallStatus,
        context: Context,
    ) -> Sequence[OtherArena]:
        """Return the arenas that may have what this one has refused to show, because it does not have it."""
        forwarder = self._forwarder
        if forwarder is None or is_of_this_run(caller_of(grant)) or forwarder.is_forwarded(context):
            return ()
        if asked.match and how.reason == "NOT_FOUND":
            return [*forwarder.others.arenas]
        if how.reason == "ELSEWHERE" and (arena := forwarder.others.arena_of(asked.ladder)) is not None:
            return (arena,)
        return ()

    async def _pass_on(
        self, arenas: Sequence[OtherArena], request: bytes, visitor: Visitor, how: CallStatus, context: Context
    ) -> CallStatus:
        """Send the messages of the first arena that has what is watched; `how` ends the call if none has it."""
        woken = asyncio.Event()
        watcher = self._watching.pass_on(visitor, woken.set)
        at_end_of_call(lambda: self._watching.leave(watcher))
        assert self._forwarder is not None
        for arena in arenas:
            has_begun = False
            try:
                async with aclosing(
                    self._forwarder.follow(arena, f"/{LADDER}/WatchMatch", request, context)
                ) as messages:
                    while (message := await _next_or_woken(messages, woken)) is not None:
                        has_begun = True
                        await context.write(message)
                return watcher.ending or LEFT
            except CallRefused as refused:
                if has_begun or refused.ending.reason not in ("NOT_FOUND", "SILENT"):
                    return refused.ending
                if refused.ending.reason == "SILENT":
                    how = refused.ending  # it may have the match
        return how

    def _visitor(self, grant: Grant | None, context: Context) -> Visitor:
        caller = caller_of(grant)
        return Visitor(
            owner=caller.owner,
            address=(
                address_of(context.peer()) if self._forwarder is None else self._forwarder.caller_address(context)
            ),
            sees=lambda ladder: may_see(caller, ladder.terms),
            why_hidden=lambda ladder: why_hidden(caller, ladder.name, ladder.terms, self._utc()),
            is_good=lambda: grant is None or not grant.token or self._is_good(grant.token),
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
