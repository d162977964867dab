"""The shell commands that bring a first bot to the server of a page."""

from __future__ import annotations

import re
from typing import Final

from fastapi import Request

from cutpurse.wire.server_address import DEFAULT_SERVER, SECURE

__all__ = ["how_to_join"]

_ANYWHERE: Final = re.compile(r"(?:0\.0\.0\.0|\[?::\]?):(\d+)")
_HOST: Final = re.compile(r"[A-Za-z0-9.-]{1,253}")


def how_to_join(request: Request) -> list[str]:
    """Return five shell commands to copy; none if the page belongs to no server."""
    dial = _as_seen(request.app.state.bots_dial, request)
    if not dial:
        return []
    server = "" if dial == DEFAULT_SERVER else f" --server {dial}"
    return [
        "pip install cutpurse",
        "cutpurse bot init my_bot --game greed",
        "cutpurse play greed my_bot/my_bot.py random random random --matches 100",
        "cutpurse bot check my_bot/my_bot.py --game greed",
        f"cutpurse bot run my_bot/my_bot.py --game greed{server}",
    ]


def _as_seen(dial: str, request: Request) -> str:
    """Replace a wildcard address, such as 0.0.0.0, by the host name under which the reader sees the page."""
    found = _ANYWHERE.fullmatch(dial.removeprefix(SECURE))
    host = request.url.hostname or ""
    if found is None or not _HOST.fullmatch(host):
        return dial
    return f"{SECURE if dial.startswith(SECURE) else ''}{host}:{found[1]}"
