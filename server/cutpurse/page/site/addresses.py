"""The files of the site, and links from one of them to others.

Templates name pages by their addresses on a server, such as "/rules/greed". This module knows no template.
"""

from __future__ import annotations

import re
from collections.abc import Container
from hashlib import sha256
from html import unescape
from posixpath import dirname, join, normpath, relpath
from typing import Final
from urllib.parse import SplitResult, urlsplit

__all__ = ["LAST_MATCH", "LEAGUE", "THIS_TAB", "file_of", "with_relative_links", "without_dead_links"]

LAST_MATCH: Final = "last"  # query of the match page for the match that was played in this tab
THIS_TAB: Final = "tab"  # in place of the ID of that match
LEAGUE: Final = frozenset({"ladders", "bots", "matches", "events", "overall", "feeds"})  # pages that a league has
_PAGES: Final = frozenset({"", "rules", "docs", "play", "table", "match", "workshop"})
_FILES: Final = (".svg", ".png", ".txt")
_MATCH: Final = re.compile(r"(?:api/v1/)?matches/([\w-]+)(|/record|/picture\.svg)", re.ASCII)
_ENDS: Final = {"": "html", "/record": "jsonl", "/picture.svg": "svg"}
_PLAIN: Final = re.compile(r"[a-z0-9_-]+(?:/[a-z0-9_-]+)*")  # a name of a file everywhere
_REPLAY: Final = re.compile(r"/matches/([\w-]+)/replay", re.ASCII)
_LINK: Final = re.compile(r' ([\w-]+)="(/(?!/)[^"]*)"')
_RELATIVE: Final = re.compile(r' (?:href|src)="([^"]*)"')
_FILED: Final = re.compile(r"match=([\w-]+)", re.ASCII)


def file_of(address: str) -> str | None:
    """Return the file of a page, from the folder of the site on; None if no site has the page."""
    parts = urlsplit(address)
    path = parts.path.strip("/")
    head = path.partition("/")[0]
    if path.startswith("static/") or (path.startswith("docs/") and path.endswith(_FILES)):
        return path
    if head in LEAGUE or path.startswith("api/v1/matches/"):
        return _file_of_league(head, path, parts)
    return f"{path or 'index'}.html" if head in _PAGES else None


def _file_of_league(head: str, path: str, parts: SplitResult) -> str | None:
    """Return the file of a page of a league; names that anybody may choose are in it as a hash."""
    if match := _MATCH.fullmatch(path):
        return f"matches/{match[1]}.{_ENDS[match[2]]}"
    if head not in LEAGUE:
        return None
    if parts.query or path.startswith(("bots/", "feeds/bots/")) or not _PLAIN.fullmatch(path):
        path = f"{head}/{sha256(f'{path}?{parts.query}'.encode()).hexdigest()[:16]}"
    return f"{path}.{'xml' if head == 'feeds' else 'html'}"


def with_relative_links(html: str, file: str) -> str:
    """Let the links of a page lead to files, from its own file on; a link to a page of servers is none."""

    def relative(link: re.Match[str]) -> str:
        name, address = link[1], unescape(link[2])
        replay = _REPLAY.match(address)
        target = file_of(address) if replay is None else "match.html"
        if target is None:
            return "" if name == "href" else link[0]
        parts = urlsplit(link[2])
        query = ""
        if replay is not None:
            which = LAST_MATCH if replay[1] == THIS_TAB else f"match={replay[1]}"
            query = f"?{which}&{parts.query}" if parts.query else f"?{which}"
        fragment = f"#{parts.fragment}" if parts.fragment else ""
        return f' {name}="{relpath(target, dirname(file) or ".")}{query}{fragment}"'

    return _LINK.sub(relative, html)


def without_dead_links(html: str, file: str, files: Container[str]) -> str:
    """Remove links of a page that lead to none of the files of the site; their text stays."""

    def alive(link: re.Match[str]) -> str:
        parts = urlsplit(unescape(link[1]))
        if parts.scheme or not parts.path:
            return link[0]
        target = normpath(join(dirname(file), parts.path))
        if target == "match.html" and (match := _FILED.match(parts.query)):
            target = f"matches/{match[1]}.jsonl"
        return link[0] if target in files else ""

    return _RELATIVE.sub(alive, html)
