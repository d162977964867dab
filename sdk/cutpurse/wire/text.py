"""Text for one line: foreign text made safe, numbers with their nouns, names, and why a safe option was taken."""

from __future__ import annotations

import re
from typing import Final

from cutpurse.engine.errors import UsageError
from cutpurse.engine.match import EndCause

__all__ = ["NAME", "WHY_SAFE", "check_word", "format_count", "printable"]

NAME: Final = re.compile(r"[a-z0-9][a-z0-9_.-]{0,31}")  # as in Hello.bot and Hello.version

# Why a seat took the safe option, by the cause in the record.
WHY_SAFE: Final = {
    EndCause.TIMEOUT: "no answer in time",
    EndCause.ILLEGAL: "the bot answered illegally",
    EndCause.CRASHED: "the bot crashed",
    EndCause.DISCONNECTED: "the bot was away",
}


def printable(text: str, most: int = 300) -> str:
    """Make foreign text safe for one line: no control characters, at most `most` characters."""
    return " ".join("".join([sign if sign.isprintable() else " " for sign in text]).split())[:most]


def check_word(what: str, given: str) -> str:
    """Return a bot's name or version as it is.  Raises UsageError if a server would refuse it."""
    if not NAME.fullmatch(given):
        raise UsageError(
            f"{given!r:.80} is no {what}: it has 1 to 32 of a-z, 0-9, _, - and ., the first a letter or digit"
        )
    return given


def format_count(count: int, singular: str, several: str = "") -> str:
    """Format a number with its noun: "1 match", "2,000 matches". Without `several`, the plural has an s."""
    return f"{count:,} {singular if count == 1 else several or f'{singular}s'}"
