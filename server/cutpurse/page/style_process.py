"""The style of a bot, counted from its newest public matches in a process of its own, and cached until it plays again.

A visitor may have one bot looked at at a time, and a few may wait. This module knows no page.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from cutpurse.page.language.speaking import gettext_noop
from cutpurse.page.visitor_process import Refusals, VisitorProcess
from cutpurse.process.interpreter import module_command

__all__ = ["STYLE_MATCHES", "StyleKey", "StyleMatch", "StyleProcess"]

STYLE_MATCHES: Final = 40  # newest matches that are counted
MAX_S: Final = 120.0  # on a busy machine
MAX_CACHED_BYTES: Final = 4 * 2**20
COMMAND: Final = module_command("cutpurse.lab.style.style_document")
YOURS: Final = gettext_noop("another bot is being looked at for you; try again in a minute")
BUSY: Final = gettext_noop("too many bots are being looked at; try again in a few minutes")
FAILED: Final = gettext_noop("the style of this bot could not be found; try again later")

StyleKey = tuple[str, str, str, str, str]  # owner, bot, version, ladder, and the bot's newest match there
StyleMatch = tuple[list[tuple[int, list[int]]], bytes]  # the bot's seats with thinking times, and the match file


class StyleProcess(VisitorProcess):
    """Finds the styles of bots."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        """Set the command that finds them."""
        super().__init__(command, MAX_S, MAX_CACHED_BYTES, Refusals(YOURS, BUSY, FAILED))

    def style_of(self, key: StyleKey) -> list[dict[str, Any]] | None:
        """Return the style by game if it was found already: as `cutpurse bot style --json`."""
        documents: list[dict[str, Any]] | None = json.loads(self.cached(key) or b"null")
        return documents

    async def find(self, visitor: str, key: StyleKey, matches: Callable[[], Iterable[StyleMatch]]) -> None:
        """Find the style of a bot from matches, unless it is known; raises as `get`."""
        await self.get(visitor, key, lambda: b"\n".join(_line(*match) for match in matches()))


def _line(seats: list[tuple[int, list[int]]], file: bytes) -> bytes:
    return json.dumps([seats, file.decode()]).encode()
