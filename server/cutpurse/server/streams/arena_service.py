"""The stream service over gRPC: it passes envelopes between a call and its `Link`, and ends the call as the link says.

Everything specific to grpc.aio is here. A read is never cancelled: one task of each stream only reads, and ends when
the call does. All writes are made by the call's own task. A write that hangs, because its bot does not read, delays no
other stream, and its stream counts until gRPC has finished the call. Bytes are parsed by the link, under its limits,
and no exception's text leaves the process.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from cutpurse.leaderboard.tokens import HOUSE
from cutpurse.server.access.entrance import AuthInterceptor, Context
from cutpurse.server.access.owners import Grant, TokenRefused
from cutpurse.server.call_status import abort, at_end_of_call
from cutpurse.server.errors import LEFT, CallRefused, CallStatus, call_status, incident
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import Logger, traceback_locations
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.sessions import Sessions
from cutpurse.v1 import arena_pb2

__all__ = ["ARENA", "ArenaService"]

ARENA: Final = arena_pb2.DESCRIPTOR.services_by_name["ArenaService"].full_name


class ArenaService:
    """`ArenaService` of arena.proto."""

    def __init__(
        self,
        sessions: Sessions,
        log: Logger,
        *,
        entrance: AuthInterceptor,
        alive: Callable[[float], object],
        moved: Callable[[], None],
        incident_number: Callable[[], str],
    ) -> None:
        """Serve `sessions`.

        Args:
            sessions: All sessions of the server.
            log: The server's log.
            entrance: Authenticates calls.
            alive: Called with the time before any deadline is checked; it calls `credit` after a stall.
            moved: Called whenever a stream has ended.
            incident_number: Returns a new incident number.
        """
        self.sessions = sessions
        self.limits: ServerLimits = sessions.limits
        self.counts = sessions.counts
        self.log = log
        self.alive = alive
        self.incident_number = incident_number
        self.stalled_s = 0.0  # total stall time of the server
        self.streams = 0  # number of calls that gRPC has not finished
        self._streams_of: Counter[str] = Counter()  # by owner
        self.entrance = entrance
        self._moved = moved

    def credit(self, seconds: float) -> None:
        """Give first envelopes more time after a stall of the server, in seconds."""
        self.stalled_s += seconds

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {"Play": grpc.stream_stream_rpc_method_handler(self.play)}
        return grpc.method_handlers_generic_handler(ARENA, methods)

    async def play(self, _requests: object, context: Context) -> None:
        """Serve one call of Play."""
        self.streams += 1
        at_end_of_call(self._done)
        if self.streams > self.limits.most_streams:
            how = call_status("STREAMS", f"there are {self.limits.most_streams} streams already; come back later")
            self.entrance.refused(context.peer(), how)
        else:
            how = await self._play(context)
        if how is not LEFT:
            await abort(context, how)

    async def _play(self, context: Context) -> CallStatus:
        try:
            grant = await self.entrance.enter(context, "play")
        except TokenRefused as refused:
            return refused.ending
        except Exception as problem:  # gRPC would send the caller its text
            return self.broke(problem, self.log)
        if not self._has_room(grant):
            most = self.limits.streams_per_owner
            how = call_status(
                "STREAMS", f"{grant.owner} has {most} streams, as many as an owner may; end one of them first"
            )
            self.entrance.refused(context.peer(), how)
            return how
        return await _Stream(self, context, grant).run()

    def _has_room(self, grant: Grant) -> bool:
        """Return whether an owner may have one more stream, and count it until its call is over."""
        if not grant.token or grant.owner == HOUSE or grant.resident is not None:
            return True  # without tokens all bots have one owner, and hosted bots have limits of their own
        owner = grant.owner
        if self._streams_of[owner] >= self.limits.streams_per_owner:
            return False
        self._streams_of[owner] += 1

        def done() -> None:
            self._streams_of[owner] -= 1
            if not self._streams_of[owner]:
                del self._streams_of[owner]

        at_end_of_call(done)
        return True

    def broke(self, problem: Exception, log: Logger) -> CallStatus:
        """Report a server error: the caller gets an incident number, the log the place in the code."""
        number = self.incident_number()
        log.error("stream broke", incident=number, error=type(problem).__name__, places=traceback_locations(problem))
        return incident(number)

    def _done(self) -> None:
        self.streams -= 1
        self._moved()


class _Stream:
    """One call of Play, from its first envelope to its end."""

    def __init__(self, service: ArenaService, context: Context, grant: Grant) -> None:
        self._service = service
        self._grant = grant
        self._contact = None if grant.resident is None else grant.resident.contact
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._log = service.log
        self._link: Link | None = None
        self._ending: CallStatus | None = None  # why it got no link, or cannot continue with it
        self._woken = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None

    async def run(self) -> CallStatus:
        """Exchange envelopes until the end, and return the status to end with."""
        now = self._loop.time()
        self._service.alive(now)
        self._hello_by = now + self._service.limits.hello_s
        self._stalled_s = self._service.stalled_s
        self._timer = self._loop.call_at(self._hello_by, self._hello_is_late)
        reader = self._loop.create_task(self._read())
        how = LEFT
        try:
            how = await self._write()
        except grpc.aio.BaseError:  # the bot is gone; often this task is cancelled instead
            pass
        except Exception as problem:
            how = self._broke(problem)
        finally:
            if self._timer is not None:
                self._timer.cancel()
            if self._link is not None:
                how = self._leave(self._link, how)
            self._ending = self._ending or how
        if reader.done():
            return how
        # The reader and this stream refer to each other until the call ends, which answers the last read.
        self._reader = reader
        return how

    def _leave(self, link: Link, how: CallStatus) -> CallStatus:
        """Detach this stream from its session."""
        try:
            self._service.sessions.lost(link, self._loop.time())
        except Exception as problem:
            how = self._broke(problem)
        reason = how.reason or ("left" if link.session.leaving else "lost")
        self._service.counts.streams_ended[reason] += 1
        self._log.info("stream ended", reason=reason, text=how.text)
        return how

    # -- from the bot
    async def _read(self) -> None:
        context, loop, alive = self._context, self._loop, self._service.alive
        try:
            while self._ending is None:
                envelope = await context.read()
                now = loop.time()
                if envelope is grpc.aio.EOF:
                    break
                alive(now)
                pause = self._take(envelope, now)
                if pause > 0:
                    await asyncio.sleep(pause)
        except grpc.aio.BaseError:
            pass  # the call is over
        except Exception as problem:
            self._end(self._broke(problem))
        self._end(LEFT)

    def _take(self, envelope: bytes, now: float) -> float:
        if self._contact is not None:
            self._contact.hear()
        link = self._link
        if link is not None:
            pause = link.receive(envelope, now)
            self._set_timer(link)
            return pause
        self._enter(envelope, now)
        return 0.0

    def _enter(self, envelope: bytes, now: float) -> None:
        """Process the first envelope, which must be a Hello."""
        if self._ending is not None:
            return  # read as the call ended: there is no task left to write to a session, or to detach from it
        sessions = self._service.sessions
        try:
            request = arena_pb2.PlayRequest.FromString(envelope)
        except DecodeError:
            self._refuse(call_status("BAD_MESSAGE", "the first envelope is not a PlayRequest"))
            return
        try:
            link = sessions.admit(request, self._woken.set, now, self._grant)
        except CallRefused as refused:
            self._refuse(refused.ending)
            return
        self._link = link
        session = link.session
        told = session.introduction
        owner, bot, version = told.identity
        self._log = self._log.bind(session=session.id, owner=owner, bot=bot, version=version)
        facts = {"token": told.token} if told.token else {}  # the token's ID
        self._log.info("stream opened", peer=self._context.peer(), sdk=told.sdk, tables=len(session.places), **facts)
        self._woken.set()

    def _refuse(self, how: CallStatus) -> None:
        self._service.entrance.refused(self._context.peer(), how)
        self._end(how)

    # -- to the bot
    async def _write(self) -> CallStatus:
        context, loop, woken, alive = self._context, self._loop, self._woken, self._service.alive
        while True:
            woken.clear()
            if self._ending is not None and self._ending is not LEFT:
                return self._ending
            link = self._link
            if link is not None:
                if link.closed is not None:
                    return link.closed
                now = loop.time()
                alive(now)
                envelope = link.next_envelope(now)
                self._set_timer(link)
                if envelope is not None:
                    await context.write(envelope)
                    link.written()
                    continue
            if self._ending is not None:
                return self._ending
            await woken.wait()

    # -- time
    def _set_timer(self, link: Link) -> None:
        """Set the timer for the link's next event, unless an earlier one will set it again."""
        at, timer = link.next_event_at(), self._timer
        if at is not None and (timer is None or at < timer.when()):
            if timer is not None:
                timer.cancel()
            self._timer = self._loop.call_at(at, self._ring)

    def _ring(self) -> None:
        link, self._timer = self._link, None
        now = self._loop.time()
        self._service.alive(now)
        at = link.next_event_at() if link is not None else None
        if link is None or at is None:
            return
        if at <= now:
            link.tick(now)
        self._set_timer(link)

    def _hello_is_late(self) -> None:
        self._timer = None
        service = self._service
        service.alive(self._loop.time())
        stalled_s, self._stalled_s = service.stalled_s - self._stalled_s, service.stalled_s
        if self._link is not None:
            self._set_timer(self._link)
        elif stalled_s > 0:  # Hello may be waiting in the socket
            self._hello_by += stalled_s
            self._timer = self._loop.call_at(self._hello_by, self._hello_is_late)
        else:
            self._refuse(call_status("SILENT", f"no Hello came within {service.limits.hello_s:g} s"))

    # -- the end
    def _end(self, how: CallStatus) -> None:
        """End the stream for a reason that the link does not know; the first reason counts."""
        if self._ending is None:
            self._ending = how
            self._woken.set()

    def _broke(self, problem: Exception) -> CallStatus:
        return self._service.broke(problem, self._log)
