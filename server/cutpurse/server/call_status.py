"""The status that ends a failed call: a refusal in one line, or an incident number for a server error."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import grpc
from google.protobuf.message import DecodeError
from grpc_status import rpc_status

from cutpurse.leaderboard.errors import InvalidEntry as NotTaken
from cutpurse.leaderboard.errors import LeaderboardError, NoSuchEntry
from cutpurse.server.errors import CallRefused, CallStatus, call_status, incident, legible
from cutpurse.server.logs import Logger, traceback_locations

__all__ = ["abort", "at_end_of_call", "status_of", "status_without_store"]


async def abort(context: grpc.aio.ServicerContext[Any, Any], how: CallStatus) -> bytes:
    """End a call with this status, and return an empty message for the handler to return, which is not sent.

    This raises nothing, unlike gRPC's own method. The call keeps the exception of that method, whose traceback leads to
    frames that refer to the call: a cycle that only the garbage collector frees. It runs rarely in a server, while
    thousands of calls may be refused in a second.
    """
    try:
        await context.abort_with_status(rpc_status.to_status(how.status()))
    except grpc.aio.AbortError as kept:
        kept.__traceback__ = None
    return b""


def at_end_of_call(done: Callable[[], None]) -> None:
    """Call `done` when the call that this handler serves is over, however it ends.

    The context's own `add_done_callback` would do the same, but leaves a cycle of the call, its callbacks and the
    context, which only the garbage collector frees.
    """
    task = asyncio.current_task()
    assert task is not None  # gRPC serves each call in a task of its own
    task.add_done_callback(lambda _: done())


def status_of(
    problem: Exception, log: Logger, incident_number: Callable[[], str], *, in_trouble: str, unable: str
) -> CallStatus:
    """Return the status that ends a call in which `problem` was raised; log it if it is not a refusal.

    Args:
        problem: The exception.
        log: The server's log.
        incident_number: Returns a new incident number.
        in_trouble: Log event if the database or the disk failed.
        unable: Text for the caller in that case.
    """
    match problem:
        case NoSuchEntry():
            return call_status("NOT_FOUND", legible(str(problem), 300))
        case NotTaken():
            return call_status("BAD_MESSAGE", legible(str(problem), 300))
        case LeaderboardError() | OSError():
            log.error(in_trouble, text=str(problem))
            return call_status("STORAGE", unable)
    return status_without_store(problem, log, incident_number)


def status_without_store(problem: Exception, log: Logger, incident_number: Callable[[], str]) -> CallStatus:
    """Return the status that ends a call which uses no database; log `problem` if it is not a refusal."""
    match problem:
        case CallRefused():
            return problem.ending
        case DecodeError():
            return call_status("BAD_MESSAGE", "this is not the message that the method takes")
    number = incident_number()
    log.error("call broke", incident=number, error=type(problem).__name__, places=traceback_locations(problem))
    return incident(number)
