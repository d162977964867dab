"""Pictures with pixels for visitors: drawn one at a time in a process of their own, and cached.

Drawing takes a tenth of a second for a picture and some seconds for an animation, in which pages must not wait. This
module knows no match and no page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from cutpurse.process.interpreter import module_command
from cutpurse.server.web.language.speaking import gettext_noop
from cutpurse.server.web.match_view.pixels import request
from cutpurse.server.web.visitor_process import Refusals, VisitorProcess

__all__ = ["PictureProcess"]

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
        self._process = VisitorProcess(command, max_s, MAX_CACHED_BYTES, Refusals(YOURS, BUSY, FAILED))

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
        return await self._process.get(visitor, key, lambda: request(kind, svgs()))
