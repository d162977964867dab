"""How a stream ended: with the status of the server, although grpc.aio may report another one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import grpc

__all__ = ["ReportedEndings", "StreamEnding"]

MADE_UP: Final = (grpc.StatusCode.INTERNAL, "Internal error from Core")  # status that grpc.aio makes up
STATUS_S: Final = 0.01  # between two checks for the server's own status
STATUS_TRIES: Final = 100


class StreamEnding(NamedTuple):
    """The status of a stream that has ended."""

    code: grpc.StatusCode
    details: str | None
    metadata: Iterable[tuple[str, str | bytes]] | None  # trailing metadata


class ReportedEndings:
    """The statuses that are reported for a stream.

    A write that meets the end of the stream makes grpc.aio 1.83 report a status of its own, before or after the
    server's. A client that believed it would miss why it was refused. After SUPERSEDED it would connect again, and take
    the stream from the newer client.
    """

    def __init__(self, call: Any) -> None:
        """Listen to a stream that was just opened."""
        self._reported: list[StreamEnding] = []
        call.add_done_callback(lambda call: self._reported.append(_ending_of(call)))

    async def of_server(self) -> StreamEnding:
        """Return the server's status once the stream has ended; the other one if the server's does not come."""
        for _ in range(STATUS_TRIES):
            for ending in self._reported:
                if (ending.code, ending.details) != MADE_UP:
                    return ending
            await asyncio.sleep(STATUS_S)
        return self._reported[0]


def _ending_of(call: Any) -> StreamEnding:
    return StreamEnding(_now(call.code()), _now(call.details()), _now(call.trailing_metadata()))


def _now(coroutine: Any) -> Any:
    """Return the result of a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError("it waits")
