"""EventService over gRPC: callers plan, start, see and stop events; `events` knows who may do what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import grpc
from google.protobuf.message import Message

from cutpurse.leaderboard.events import EventEntry
from cutpurse.server.league.league_calls import LeagueCalls
from cutpurse.server.league.league_queries import Caller
from cutpurse.server.parts.events.event_runner import EventRunner
from cutpurse.server.parts.events.events import Events
from cutpurse.v1 import event_pb2

__all__ = ["SERVICE", "EventService"]

SERVICE: Final = event_pb2.DESCRIPTOR.services_by_name["EventService"].full_name


class EventService(LeagueCalls):
    """`EventService` of event.proto. Close it once no call is answered any more."""

    service = SERVICE
    played = ("PlanEvent", "StartEvent")

    def __init__(self, events: Events, runner: EventRunner, *calls: Any, **more: Any) -> None:
        """Serve events, which a runner plays; the rest is as in `LeagueCalls`."""
        super().__init__(*calls, **more)
        self._events = events
        self._runner = runner

    def handler(self) -> grpc.GenericRpcHandler:
        """Return the handler to add to a `grpc.aio.server`."""
        events, unary = self._events, grpc.unary_unary_rpc_method_handler
        methods: dict[str, grpc.RpcMethodHandler[Any, Any]] = {
            "PlanEvent": unary(self._reading("PlanEvent", event_pb2.PlanEventRequest, events.plan)),
            "ListEvents": unary(self._reading("ListEvents", event_pb2.ListEventsRequest, events.list)),
            "GetEvent": unary(self._reading("GetEvent", event_pb2.GetEventRequest, events.get)),
            "StartEvent": unary(self._writing("StartEvent", self._start)),
            "StopEvent": unary(self._writing("StopEvent", self._stop)),
        }
        return grpc.method_handlers_generic_handler(SERVICE, methods)

    def ladders(self) -> Mapping[str, Callable[[bytes, Caller], str]]:
        """Return how to find the ladder of a call that only its arena answers, by method."""
        return {
            "PlanEvent": lambda request, caller: _ladder(event_pb2.PlanEventRequest.FromString(request).event),
            "StartEvent": lambda request, caller: _ladder(event_pb2.StartEventRequest.FromString(request).event),
            "StopEvent": lambda request, caller: self._events.ladder_of(
                event_pb2.StopEventRequest.FromString(request).event, caller
            ),
        }

    async def _start(self, request: bytes, caller: Caller) -> Message:
        start = event_pb2.StartEventRequest.FromString(request)
        presence = self._presence()
        async with self._steers:  # so that quotas hold
            entry, absent = await self._apart(lambda: self._events.start(start, caller, presence))
            await self._runner.start(entry)
        self._log.info("event started", id=entry.id, kind=entry.form, ladder=entry.ladder, by=caller.owner)
        await self._note(caller, f"{entry.form} started", f"{_about(entry)}, plan {start.plan}")
        event = await self._apart(lambda: self._events.shown(entry.id, caller))
        event.absent.extend(absent)
        return event_pb2.StartEventResponse(event=event)

    async def _stop(self, request: bytes, caller: Caller) -> Message:
        stop = event_pb2.StopEventRequest.FromString(request)
        async with self._steers:
            entry = await self._apart(lambda: self._events.stop(stop, caller))
            await self._runner.stop(entry)
        self._log.info("event stopped", id=entry.id, kind=entry.form, by=caller.owner)
        await self._note(caller, f"{entry.form} stopped", _about(entry))
        event = await self._apart(lambda: self._events.shown(entry.id, caller))
        return event_pb2.StopEventResponse(event=event)


def _about(entry: EventEntry) -> str:
    return f"{entry.id}, {entry.name}" if entry.name else f"{entry.id} on {entry.ladder}"


def _ladder(request: event_pb2.EventRequest) -> str:
    """Return the ladder of a described event; empty for a series, which has none yet."""
    return request.tournament.ladder or request.test.ladder
