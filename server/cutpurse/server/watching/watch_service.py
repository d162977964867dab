"""The call WatchMatch over gRPC: what there is to be told goes out as it comes, until the caller or the watch ends.

It also lets time pass for `Watching`, on the event loop. A write that hangs, as before a watcher that never reads,
holds up nobody else; its call counts until gRPC is rid of it. This module knows no table; no text of an exception
leaves it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
from google.protobuf.message import DecodeError

from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import Grant, address_of
from cutpurse.server.call_status import abort
from cutpurse.server.errors import LEFT, CallRefused, CallStatus, call_status, incident, legible
from cutpurse.server.league.ladder_service import Handlers, caller_of
from cutpurse.server.league.league_queries import may_see
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.watching.broadcast import STOPPING, Visitor, Watching, WatchSubscriber
from cutpurse.v1 import ladder_pb2

__all__ = ["WatchService"]


class WatchService:
    """See the module's docstring. `close` it before the server stops.

    is_good: whether a token of this name counts now.
    """

    def __init__(
        self,
        watching: Watching,
        entrance: AuthInterceptor,
        log: Logger,
        *,
        is_good: Callable[[str], bool],
        incident_number: Callable[[], str],
    ) -> None:
        self._watching = watching
        self._entrance = entrance
        self._log = log
        self._is_good = is_good
        self._incident_number = incident_number
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False
        watching.begin(clock=self._loop.time, due=self._set_timer, incident_number=incident_number)

    def methods(self) -> Handlers:
        """For the handler of LadderService."""
        return {"WatchMatch": grpc.unary_stream_rpc_method_handler(self.watch)}

    def close(self) -> None:
        """Tell all spectators that the server stops, including those of calls that were just accepted."""
        self._is_closed = True
        self._watching.close()
        if self._timer is not None:
            self._timer.cancel()

    async def watch(self, request: bytes, context: Context) -> None:
        """Answer WatchMatch."""
        try:
            how = await self._watch(request, context)
        except grpc.aio.BaseError:  # the caller is gone; often this task is cancelled instead
            return
        except CallRefused as refused:
            how = refused.ending
        except DecodeError:
            how = call_status("BAD_MESSAGE", "this is not the message that the method takes")
        except Exception as problem:
            number = self._incident_number()
            self._log.error(
                "call broke", incident=number, error=type(problem).__name__, places=traceback_locations(problem)
            )
            how = incident(number)
        if how is not LEFT:
            await abort(context, how)

    async def _watch(self, request: bytes, context: Context) -> CallStatus:
        asked = ladder_pb2.WatchMatchRequest.FromString(request)
        visitor = self._visitor(await self._entrance.recognise(context), context)
        if self._is_closed:
            return STOPPING
        woken = asyncio.Event()
        watcher = self._watching.watch(asked, visitor, woken.set)
        leave: Any = lambda _: self._watching.leave(watcher)  # noqa: E731  # gRPC types it as a generic class
        context.add_done_callback(leave)  # a write may hang until then
        seat = asked.seat if asked.HasField("seat") else None
        facts: dict[str, Any] = {
            "match": legible(asked.match, 40),
            "ladder": legible(asked.ladder, 40),
            "seat": seat,
            "owner": visitor.owner,
        }
        tell, peer = self._entrance.log.info, context.peer()
        tell(self._loop.time(), "watch begun", visitor.address, peer=peer, **facts)
        how = LEFT
        try:
            how = await _told(watcher, woken, context)
        finally:
            tell(self._loop.time(), "watch ended", visitor.address, how.reason, peer=peer, text=how.text, **facts)
        return how

    def _visitor(self, grant: Grant | None, context: Context) -> Visitor:
        caller = caller_of(grant)
        return Visitor(
            owner=caller.owner,
            address=address_of(context.peer()),
            sees=lambda ladder: may_see(caller, ladder.terms),
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
    """Tell a watcher what there is, until the watch ends; how."""
    while True:
        woken.clear()
        while (message := watcher.take()) is not None:
            await context.write(message)
        if watcher.ending is not None:
            return watcher.ending
        await woken.wait()
