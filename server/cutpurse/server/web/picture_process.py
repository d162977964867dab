"""Pictures with pixels for visitors: drawn one at a time in a process of their own, and cached.

Drawing takes a tenth of a second for a picture and some seconds for an animation, in which pages must not wait. A
visitor may have one picture drawn at a time, and a few may wait. This module knows no match and no page.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from cutpurse.process.interpreter import module_command
from cutpurse.server.web.language.speaking import gettext, gettext_noop
from cutpurse.server.web.match_view.pixels import request
from cutpurse.wire.errors import ServerRefused

__all__ = ["MAX_WAITING", "PictureProcess"]

MAX_WAITING: Final = 8  # pictures that are drawn or wait
MAX_CACHED_BYTES: Final = 32 * 2**20
MAX_S: Final = 30.0  # for a picture, on a busy machine
COMMAND: Final = module_command("cutpurse.server.web.match_view.pixels")
YOURS: Final = gettext_noop("a picture is being drawn for you already; try again in a few seconds")
BUSY: Final = gettext_noop("too many pictures are being drawn; try again in a few seconds")
FAILED: Final = gettext_noop("this picture could not be drawn; try again later")


class PictureProcess:
    """Draws pictures. Use it on one event loop only."""

    def __init__(self, command: Sequence[str] = COMMAND, max_s: float = MAX_S) -> None:
        """Set the command that draws, and the seconds that it may take."""
        self._command = tuple(command)
        self._max_s = max_s
        self._turn = asyncio.Semaphore(1)
        self._visitors: set[str] = set()
        self._drawing: dict[object, asyncio.Task[bytes]] = {}
        self._cached: OrderedDict[object, bytes] = OrderedDict()

    async def get(self, visitor: str, key: object, kind: str, svgs: Callable[[], Sequence[str]]) -> bytes:
        """Return a picture: the cached one, the one that is being drawn already, or a new one.

        Args:
            visitor: Visitor who asks.
            key: What the picture shows; equal keys have equal pictures.
            kind: `pixels.PNG` or `pixels.GIF`.
            svgs: Returns the SVG, or those of an animation; called in a thread.

        Raises:
            ServerRefused: If the visitor has another one drawn, too many wait, or drawing fails.
            CutpurseError: What `svgs` raises.
        """
        if (found := self._cached.get(key)) is not None:
            self._cached.move_to_end(key)
            return found
        task = self._drawing.get(key)
        if task is None:
            if visitor in self._visitors:
                raise ServerRefused(gettext(YOURS))
            if len(self._drawing) >= MAX_WAITING:
                raise ServerRefused(gettext(BUSY))
            self._visitors.add(visitor)
            task = self._drawing[key] = asyncio.create_task(self._made(visitor, key, kind, svgs))
        return await asyncio.shield(task)  # others may wait for it too, and it is cached

    async def _made(self, visitor: str, key: object, kind: str, svgs: Callable[[], Sequence[str]]) -> bytes:
        try:
            async with self._turn:
                made = await self._drawn(request(kind, await asyncio.to_thread(svgs)))
        finally:
            self._visitors.discard(visitor)
            del self._drawing[key]
        self._cached[key] = made
        while sum(map(len, self._cached.values())) > MAX_CACHED_BYTES:
            self._cached.popitem(last=False)
        return made

    async def _drawn(self, asked: bytes) -> bytes:
        pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*self._command, stdin=pipe, stdout=pipe, stderr=nothing)
        try:
            async with asyncio.timeout(self._max_s):
                made, _ = await process.communicate(asked)
        except TimeoutError:
            raise ServerRefused(gettext(FAILED)) from None
        finally:  # also if the page stops
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise ServerRefused(gettext(FAILED))
        return made
