"""Slow work for visitors: done one at a time by a process that ends after it, and cached.

Pages must not wait for it. A visitor may have one thing made at a time, and a few may wait. This module knows no match
and no page.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from cutpurse.page.language.speaking import gettext
from cutpurse.wire.errors import ServerRefused

__all__ = ["MAX_WAITING", "Refusals", "VisitorProcess", "WorkRefused", "run_command"]

MAX_WAITING: Final = 8  # things that are made or wait


class WorkRefused(ServerRefused):
    """Work that this page, and not the server, does not do now; the text is for its visitor."""


@dataclass(frozen=True, slots=True)
class Refusals:
    """What visitors read who get nothing, before translation."""

    yours: str  # the visitor has something made already
    busy: str  # too many wait
    failed: str  # it could not be made


class VisitorProcess:
    """Runs a command that makes bytes of its stdin. Use it on one event loop only, except for `cached`."""

    def __init__(self, command: Sequence[str], max_s: float, max_cached_bytes: int, refusals: Refusals) -> None:
        """Set the command, the seconds that it may take for one thing, and the size of the cache."""
        self._command = tuple(command)
        self._max_s = max_s
        self._max_cached_bytes = max_cached_bytes
        self._refusals = refusals
        self._turn = asyncio.Semaphore(1)
        self._visitors: set[str] = set()
        self._making: dict[object, asyncio.Task[bytes]] = {}
        self._cached: OrderedDict[object, bytes] = OrderedDict()

    def cached(self, key: object) -> bytes | None:
        """Return what was made for a key, if it is cached. Any thread may call this."""
        return self._cached.get(key)

    def has_room_for(self, visitor: str) -> bool:
        """Return whether `get` would begin now for this visitor. Any thread may call this."""
        return visitor not in self._visitors and len(self._making) < MAX_WAITING

    async def get(self, visitor: str, key: object, ask: Callable[[], bytes]) -> bytes:
        """Return what the command makes: from the cache, from a process that makes it already, or from a new one.

        Args:
            visitor: Visitor who asks.
            key: What is asked for; equal keys have equal answers.
            ask: Returns the stdin of the command; called in a thread.

        Raises:
            WorkRefused: If the visitor has another thing made, too many wait, or the command fails.
            CutpurseError: What `ask` raises.
        """
        if (found := self._cached.get(key)) is not None:
            self._cached.move_to_end(key)
            return found
        task = self._making.get(key)
        if task is None:
            if visitor in self._visitors:
                raise WorkRefused(gettext(self._refusals.yours))
            if len(self._making) >= MAX_WAITING:
                raise WorkRefused(gettext(self._refusals.busy))
            self._visitors.add(visitor)
            task = self._making[key] = asyncio.create_task(self._made(visitor, key, ask))
        return await asyncio.shield(task)  # others may wait for it too, and it is cached

    async def _made(self, visitor: str, key: object, ask: Callable[[], bytes]) -> bytes:
        try:
            async with self._turn:
                asked = await asyncio.to_thread(ask)
                made = await run_command(self._command, asked, self._max_s, self._refusals.failed)
        finally:
            self._visitors.discard(visitor)
            del self._making[key]
        self._cached[key] = made
        while sum(map(len, self._cached.values())) > self._max_cached_bytes:
            self._cached.popitem(last=False)
        return made


async def run_command(command: Sequence[str], asked: bytes, max_s: float, failed: str) -> bytes:
    """Return what a command makes of its stdin.  Raises WorkRefused with `failed` if it takes too long or fails."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=nothing)
    try:
        async with asyncio.timeout(max_s):
            made, _ = await process.communicate(asked)
    except TimeoutError:
        raise WorkRefused(gettext(failed)) from None
    finally:  # also if the visitor has gone, or the page stops
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise WorkRefused(gettext(failed))
    return made
