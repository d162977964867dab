"""The files of the site, and links from one of them to others.

Templates name pages by their addresses on a server, such as "/rules/greed". This module knows no template.
"""

from __future__ import annotations

import re
from posixpath import dirname, relpath
from typing import Final
from urllib.parse import urlsplit

__all__ = ["LAST_MATCH", "file_of", "with_relative_links"]

LAST_MATCH: Final = "last"  # query of the match page for the match that was played in this tab
_PAGES: Final = frozenset({"", "rules", "docs", "play", "table", "match"})
_FILES: Final = (".svg", ".png", ".txt")
_REPLAY: Final = re.compile(r"/matches/[^/]+/replay")
_LINK: Final = re.compile(r' ([\w-]+)="(/(?!/)[^"]*)"')


def file_of(address: str) -> str | None:
    """Return the file of a page, from the folder of the site on; None if the site does not have the page."""
    path = urlsplit(address).path.strip("/")
    if path.startswith("static/") or (path.startswith("docs/") and path.endswith(_FILES)):
        return path
    return f"{path or 'index'}.html" if path.partition("/")[0] in _PAGES else None


def with_relative_links(html: str, file: str) -> str:
    """Let the links of a page lead to files, from its own file on; a link to a page of servers is none."""

    def relative(link: re.Match[str]) -> str:
        name, address = link[1], link[2]
        is_last = _REPLAY.match(address) is not None
        target = "match.html" if is_last else file_of(address)
        if target is None:
            return "" if name == "href" else link[0]
        parts = urlsplit(address)
        query = f"?{LAST_MATCH}&{parts.query}" if is_last else ""
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        return f' {name}="{relpath(target, dirname(file) or ".")}{query}{fragment}"'

    return _LINK.sub(relative, html)
