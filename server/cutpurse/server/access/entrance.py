"""The door of every service that asks who is calling: a guard decides, and what it refuses is counted and logged.

Whoever tries too many bad tokens is told so late. No more than so many such calls wait: when another comes, the oldest
goes. So holding them up costs them more than the server.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator
from typing import Any, Final

import grpc

from cutpurse.sdk.online.server_address import STRANGER_KEY
from cutpurse.server.access.owners import Grant, Guard, TokenRefused, address_of
from cutpurse.server.counts import Counts
from cutpurse.server.errors import CallStatus
from cutpurse.server.limited_log import LimitedLog
from cutpurse.server.logs import Logger

__all__ = ["Context", "AuthInterceptor"]

HELD_S: Final = 5.0
MOST_HELD: Final = 256

# Raw bytes in both directions, and EOF, which gRPC's types do not know of.
Context = grpc.aio.ServicerContext[Any, Any]


class AuthInterceptor:
    """See the module's docstring."""

    def __init__(self, guard: Guard, log: Logger, counts: Counts) -> None:
        self.log = LimitedLog(log)  # for what any caller can have logged as often as it likes
        self._guard = guard
        self._counts = counts
        self._held: deque[asyncio.Event] = deque()  # the oldest first

    async def enter(self, context: Context, scope: str) -> Grant:
        """Whose call it is, if its token is good for this.  Raises TokenRefused, some of them late."""
        now = asyncio.get_running_loop().time()
        async with self._watched(context):
            return self._guard.enter(context.invocation_metadata() or (), context.peer(), scope, now)

    async def recognise(self, context: Context) -> Grant | None:
        """Whose call it is; None if it does not say, or asks as a stranger.

        Raises TokenRefused for a bad token, sometimes late.
        """
        if any(key == STRANGER_KEY for key, _ in context.invocation_metadata() or ()):
            return None
        now = asyncio.get_running_loop().time()
        async with self._watched(context):
            return self._guard.recognise(context.invocation_metadata() or (), context.peer(), now)

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
        """Count a call that is refused, and log it, or that there were many."""
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
        finally:  # also of a caller who has gone: else he would wait in the place of others for ever
            with contextlib.suppress(ValueError):
                self._held.remove(enough)
