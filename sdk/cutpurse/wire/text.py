"""Text for one line: foreign text made safe, numbers with their nouns, and why a safe option was taken."""

from __future__ import annotations

from typing import Final

from cutpurse.engine.match import EndCause

__all__ = ["WHY_SAFE", "format_count", "printable"]

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


def format_count(count: int, one: str, several: str) -> str:
    """Format a number with its noun: "1 match", "2,000 matches"."""
    return f"{count:,} {one if count == 1 else several}"
