"""Authentication of calls for all services: a guard decides, and each refusal is counted and logged.

Refusals to addresses that try too many bad tokens are delayed. The number of delayed calls is limited: when another
comes, the oldest is answered. So delays cost such callers more than the server.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any, Final, TypeVar

import grpc

from cutpurse.server.access.owners import Grant, Guard, TokenRefused, address_of
from cutpurse.server.counts import Counts
from cutpurse.server.errors import CallStatus
from cutpurse.server.limited_log import LimitedLog
from cutpurse.server.logs import Logger
from cutpurse.wire.server_address import STRANGER_KEY

__all__ = ["Context", "AuthInterceptor"]

HELD_S: Final = 5.0
MOST_HELD: Final = 256

# Raw bytes in both directions, and EOF, which gRPC's types do not declare.
Context = grpc.aio.ServicerContext[Any, Any]

AnyGuard = TypeVar("AnyGuard", bound=Guard)


class AuthInterceptor:
    """Authenticates the calls of a server with its guard.

    Attributes:
        guard: Checks tokens.
    """

    def __init__(self, guard: Guard, log: Logger, counts: Counts) -> None:
        self.log = LimitedLog(log)  # for lines that any caller can cause at will
        self.guard = guard
        self._counts = counts
        self._held: deque[asyncio.Event] = deque()  # oldest first

    def put_before(self, make: Callable[[Guard], AnyGuard]) -> AnyGuard:
        """Have a guard that `make` makes of the present one decide from now on, and return it."""
        self.guard = made = make(self.guard)
        return made

    def is_good(self, token: str) -> bool:
        """Return whether the token with this ID is valid now; thread-safe."""
        return self.guard.is_good(token)

    async def enter(self, context: Context, scope: str) -> Grant:
        """Return the grant of a call whose token has this scope.

        Raises:
            TokenRefused: If it has not, perhaps after a delay.
        """
        now = asyncio.get_running_loop().time()
        async with self._watched(context):
            return self.guard.enter(context.invocation_metadata() or (), context.peer(), scope, now)

    async def recognise(self, context: Context) -> Grant | None:
        """Return the grant of a call; None without a token, or if the caller asks as a stranger.

        Raises:
            TokenRefused: If the token is bad, perhaps after a delay.
        """
        if any(key == STRANGER_KEY for key, _ in context.invocation_metadata() or ()):
            return None
        now = asyncio.get_running_loop().time()
        async with self._watched(context):
            return self.guard.recognise(context.invocation_metadata() or (), context.peer(), now)

    @contextlib.asynccontextmanager
    async def _watched(self, context: Context) -> AsyncIterator[None]:
        """Count and log a refusal, and delay it if there were too many."""
        try:
            yield
        except TokenRefused as refused:
            self.refused(context.peer(), refused.ending)
            if refused.is_late:
                await self._hold()
            raise

    def refused(self, peer: str, how: CallStatus) -> None:
        """Count a refused call, and log it within limits."""
        self._counts.streams_refused[how.reason] += 1
        now = asyncio.get_running_loop().time()
        self.log.info(now, "stream refused", address_of(peer), how.reason, peer=peer, text=how.text)

    async def _hold(self) -> None:
        enough = asyncio.Event()
        self._held.append(enough)
        if len(self._held) > MOST_HELD:
            self._held.popleft().set()
        try:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(enough.wait(), HELD_S)
        finally:  # also if the caller has left, so that it does not take the place of others
            with contextlib.suppress(ValueError):
                self._held.remove(enough)
