"""The option --budget of long runs: a time such as 90s, 30m or 2h, or a number of things to play."""

from __future__ import annotations

import re
from typing import Final

from cutpurse.engine.errors import UsageError

__all__ = ["read_budget", "read_time"]

UNITS_S: Final = {"s": 1, "m": 60, "h": 3600}


def read_budget(text: str, things: str) -> tuple[int | None, float | None]:
    """Read a number of things, such as boards, or a time in seconds; the other one is None.  Raises UsageError."""
    if re.fullmatch(r"[0-9]{1,9}", text) and int(text):
        return int(text), None
    return None, read_time(text, f", or a number of {things}")


def read_time(text: str, also: str = "", option: str = "--budget") -> float:
    """Read a time in seconds.  Raises UsageError, which names the option and what is possible `also`."""
    match = re.fullmatch(r"([0-9]{1,9})([smh])", text)
    if match is None or not int(match[1]):
        raise UsageError(f"{option} {text!r:.40}: give a time such as 90s, 30m or 2h{also}")
    return float(int(match[1]) * UNITS_S[match[2]])
