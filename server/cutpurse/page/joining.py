"""The shell commands that bring a first bot to the server of a page."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from fastapi import Request

from cutpurse.wire.installation import install_command
from cutpurse.wire.server_address import DEFAULT_SERVER, parse_address

__all__ = ["how_to_join"]

_ANYWHERE: Final = ("0.0.0.0", "::")


def how_to_join(request: Request) -> list[str]:
    """Return five shell commands to copy; none if the page belongs to no server."""
    dial = _as_seen(request.app.state.bots_dial, request)
    if not dial:
        return []
    server = "" if dial == DEFAULT_SERVER else f" --server {dial}"
    return [
        install_command(),
        "cutpurse bot init my_bot --game greed",
        "cutpurse play greed my_bot/my_bot.py random random random --matches 100",
        "cutpurse bot check my_bot/my_bot.py --game greed",
        f"cutpurse bot run my_bot/my_bot.py --game greed{server}",
    ]


def _as_seen(dial: str, request: Request) -> str:
    """Replace a wildcard address, such as 0.0.0.0, by the host name under which the reader sees the page."""
    parts = parse_address(dial)
    if parts is None or parts.host not in _ANYWHERE:
        return dial
    seen = parse_address(str(replace(parts, host=request.url.hostname or "")))  # the host comes from the request
    return dial if seen is None else str(seen)
