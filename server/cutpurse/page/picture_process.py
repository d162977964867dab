"""Pictures with pixels for visitors: drawn one at a time in a process of their own, and cached.

Drawing takes a tenth of a second for a picture and some seconds for an animation, in which pages must not wait. This
module knows no match and no page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from cutpurse.page.language.speaking import gettext_noop
from cutpurse.page.visitor_process import Refusals, VisitorProcess
from cutpurse.process.interpreter import module_command

__all__ = ["PictureProcess"]

MAX_CACHED_BYTES: Final = 32 * 2**20
MAX_S: Final = 120.0  # for an animation, on a busy machine
COMMAND: Final = module_command("cutpurse.page.match_view.pixels")
YOURS: Final = gettext_noop("a picture is being drawn for you already; try again in a few seconds")
BUSY: Final = gettext_noop("too many pictures are being drawn; try again in a few seconds")
FAILED: Final = gettext_noop("this picture could not be drawn; try again later")


class PictureProcess(VisitorProcess):
    """Draws pictures, by what they show, from `pixels.request`."""

    def __init__(self, command: Sequence[str] = COMMAND, max_s: float = MAX_S) -> None:
        """Set the command that draws, and the seconds that it may take."""
        super().__init__(command, max_s, MAX_CACHED_BYTES, Refusals(YOURS, BUSY, FAILED))
