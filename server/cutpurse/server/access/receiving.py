"""A deadline for the message of each unary request.

gRPC itself would wait without end for the rest of a message, and hold what has come. This module knows no service: it
applies to every method with a single request message, including those of gRPC's own services.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import grpc
from google.protobuf.message import DecodeError

from cutpurse.server.access.entrance import Context
from cutpurse.server.call_status import abort
from cutpurse.server.errors import CallStatus, call_status

__all__ = ["RequestReader"]

# parts of the time limit: a stall of the server, during which the message may have come, uses up only one
PARTS: Final = 4


class RequestReader(grpc.aio.ServerInterceptor):
    """An interceptor that cuts off calls whose message does not come in time."""

    def __init__(self, message_s: float, max_waiting: int, refused: Callable[[str, CallStatus], None]) -> None:
        """Set the limits.

        Args:
            message_s: Seconds from the beginning of a call to the end of its message.
            max_waiting: Maximum number of calls whose message has not come; beyond that the oldest is cut off.
            refused: Called with the peer and the status of each call that is cut off.
        """
        self._message_s = message_s
        self._max_waiting = max_waiting
        self._refused = refused
        self._waiting: dict[asyncio.Future[None], None] = {}  # oldest first; done when the wait is cut off
        self._reading: set[asyncio.Task[Any]] = set()  # reads are never cancelled: each ends with its call

    @property
    def waiting(self) -> int:
        """Number of calls whose message has not come."""
        return len(self._waiting)

    async def intercept_service(
        self, continuation: Callable[[Any], Awaitable[Any]], handler_call_details: grpc.HandlerCallDetails
    ) -> Any:
        """Return the method's handler, changed to one that reads its message itself."""
        handler = await continuation(handler_call_details)
        if handler is None or handler.request_streaming:
            return handler
        if handler.response_streaming:
            answer = self._answering(handler.unary_stream, handler.request_deserializer)
            return grpc.stream_stream_rpc_method_handler(answer, None, handler.response_serializer)
        answer = self._answering(handler.unary_unary, handler.request_deserializer)
        return grpc.stream_unary_rpc_method_handler(answer, None, handler.response_serializer)

    def _answering(
        self, answer: Callable[[Any, Context], Awaitable[Any]], parse: Callable[[bytes], Any] | None
    ) -> Callable[[object, Context], Awaitable[Any]]:
        async def answered(_requests: object, context: Context) -> Any:
            message = await self._receive(context)
            if isinstance(message, CallStatus):
                self._refused(context.peer(), message)
                return await abort(context, message)
            try:
                request = message if parse is None else parse(message)
            except DecodeError:
                return await abort(context, call_status("BAD_MESSAGE", "this is not the message that the method takes"))
            return await answer(request, context)

        return answered

    async def _receive(self, context: Context) -> bytes | CallStatus:
        loop = asyncio.get_running_loop()
        reading = loop.create_task(_read(context))
        self._reading.add(reading)
        reading.add_done_callback(self._reading.discard)
        enough = loop.create_future()
        self._waiting[enough] = None
        if len(self._waiting) > self._max_waiting:
            oldest = next(iter(self._waiting))
            del self._waiting[oldest]
            oldest.set_result(None)
        try:
            for _ in range(PARTS):
                await asyncio.wait(
                    (reading, enough), timeout=self._message_s / PARTS, return_when=asyncio.FIRST_COMPLETED
                )
                if reading.done() or enough.done():
                    break
        finally:
            self._waiting.pop(enough, None)
        if reading.done():
            return reading.result()
        if enough.done():
            return call_status("STREAMS", "too many calls wait for their messages; send the message with the call")
        return call_status("SILENT", f"the message of the call did not come within {self._message_s:g} s")


async def _read(context: Context) -> bytes | CallStatus:
    try:
        message = await context.read()
    except (grpc.aio.BaseError, asyncio.CancelledError):  # the call has ended
        message = grpc.aio.EOF
    return call_status("BAD_MESSAGE", "the call has no message") if message is grpc.aio.EOF else message
