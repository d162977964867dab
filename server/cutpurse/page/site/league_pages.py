"""The pages of a league in the site: what the page's own application shows a visitor who is not signed in.

The application answers in this process, without a socket. From the first pages on, each page is fetched that another
one links to. A match that stayed as it was is not fetched again. This module writes no file.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from html import unescape
from itertools import islice
from typing import Any, Final
from urllib.parse import quote, unquote

from fastapi import FastAPI
from google.protobuf.message import Message
from starlette.types import Message as Event

from cutpurse.engine.errors import CutpurseError
from cutpurse.games.awards import Award
from cutpurse.page.app import create_app
from cutpurse.page.award_work import AwardWork
from cutpurse.page.league_client import Asking
from cutpurse.page.pages.bot import usual_ladder
from cutpurse.page.pages.home import now_playing
from cutpurse.page.problems import http_status
from cutpurse.page.rendering import Rendering
from cutpurse.page.site.addresses import file_of
from cutpurse.v1 import event_pb2
from cutpurse.wire.errors import NotAuthorised, NotFound, ServerRefused, ServerUnreachable
from cutpurse.wire.league import League, match_pages

__all__ = ["LeaguePages", "LeagueSource", "fetch_league"]

MAX_MATCHES: Final = 2_000  # the newest ones; each takes about 40 KB
DAY_MS: Final = 86_400_000
KEEP_S: Final = 86_400.0  # an answer is kept for the whole build
_SITE: Final = "http://site.invalid"  # of the application; only feeds name it
_FIRST: Final = ("/ladders", "/bots", "/matches", "/events", "/overall")
_NAME: Final = "[^/?&]+"
_PAGES: Final = (
    f"/ladders/{_NAME}(?:/head-to-head|\\?every_version=1|\\?everybody=1(?:&every_version=1)?)?",
    f"/bots/{_NAME}/{_NAME}(?:/{_NAME})?(?:\\?ladder={_NAME})?",
    f"/events/{_NAME}(?:/[0-9]+)?",
    f"/matches\\?(?:(?:ladder|event)={_NAME}|(?:(?:ladder|event)={_NAME}&)?before=[0-9]+&trail=[0-9.]+)",
    r"/matches/[\w-]+/picture\.svg",
)
_FEEDS: Final = f"/feeds/(?:ladders/{_NAME}|bots/{_NAME}/{_NAME}(?:/{_NAME})?)"
_LINK: Final = re.compile(r' (?:href|src)="(/[^"#]*)[^"]*"')
_OF_BOT: Final = re.compile(r'(="/bots/[^"?#]*)\?ladder=([^"&#]*)(?=["#])')
_MATCH: Final = re.compile(r"/matches/([\w-]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class LeagueSource:
    """A league, and what of it is shown."""

    league: League  # opened without a token, so that all its answers are public
    days: float = 7.0  # matches that ended in them are shown
    address: str = ""  # of the site, which feeds name; empty for no feeds
    now_ms: int = field(default_factory=lambda: time.time_ns() // 1_000_000)


@dataclass(slots=True)
class LeaguePages:
    """The pages and files of a league."""

    home: Mapping[str, Any] = field(default_factory=dict)  # variables of "now.html"
    pages: dict[str, str] = field(default_factory=dict)  # HTML by address
    files: dict[str, bytes] = field(default_factory=dict)  # files that are no pages
    old_files: set[str] = field(default_factory=set)  # files of an earlier site that stay as they are
    matches: dict[str, str] = field(default_factory=dict)  # a mark by the ID of each match, which changes with it
    usual: dict[str, str] = field(default_factory=dict)  # the ladder by the address of each bot's page without a query

    def with_usual_ladders(self, html: str) -> str:
        """Let links to what a bot did on its usual ladder lead to its page without a query, which shows the same."""

        def link(match: re.Match[str]) -> str:
            return match[1] if self.usual.get(match[1].removeprefix('="')) == match[2] else match[0]

        return _OF_BOT.sub(link, html)


def fetch_league(
    source: LeagueSource, rendering: Rendering, maker: str, matches: Mapping[str, str], files: Sequence[str]
) -> LeaguePages:
    """Fetch the pages of a league.

    Args:
        source: The league.
        rendering: Templates and static files of the site.
        maker: Changes with what makes the pages of matches.
        matches: Marks of the matches of the earlier site, as in `LeaguePages`.
        files: All files of the earlier site.

    Raises:
        ServerUnreachable: If the league does not answer, or stopped doing so.
        ServerRefused: If it answers with an error.
    """
    calls = _AllAnswered(source.league)
    ask = Asking(League(calls.ask), live=False, keep_s=KEEP_S)
    since_ms = max(0, source.now_ms - int(source.days * DAY_MS))
    app = create_app(ask, live=False)
    app.state.rendering = rendering
    app.state.awards = _NewAwards(since_ms)
    del app.exception_handlers[CutpurseError]  # errors end the build, or leave out a page
    work = _Fetching(source, app, ask, LeaguePages())
    work.choose_matches(since_ms, maker, matches, files)
    asyncio.run(work.run())
    if calls.trouble is not None:  # pages do without what they cannot get; a site does not
        raise calls.trouble
    return work.fetched


class _AllAnswered:
    """The calls of a league, and the first one that it did not answer."""

    def __init__(self, league: League) -> None:
        self._league = league
        self.trouble: CutpurseError | None = None

    def ask(self, name: str, request: Message) -> Any:
        try:
            answer = getattr(self._league, name)(request)
            return [*answer] if name == "GetRecord" else answer
        except (ServerUnreachable, ServerRefused) as problem:
            self.trouble = self.trouble or problem
            raise


class _NewAwards(AwardWork):
    """The awards of tournaments that ended since a moment, whose matches are shown; the others take long to read."""

    def __init__(self, since_ms: int) -> None:
        super().__init__(waits=True)
        self._since_ms = since_ms

    def get(self, event: event_pb2.EventShown, ask: Asking) -> Sequence[Award] | None:
        return super().get(event, ask) if event.ended_ms >= self._since_ms else ()


class _Fetching:
    """One build: the matches that are shown, and the pages that were fetched."""

    def __init__(self, source: LeagueSource, app: FastAPI, ask: Asking, fetched: LeaguePages) -> None:
        self.fetched = fetched
        self._app, self._ask, self._source = app, ask, source
        self._new: list[str] = []  # matches to fetch
        feeds = (_FEEDS,) if source.address else ()
        self._wanted = re.compile("|".join((*_PAGES, *feeds)), re.ASCII)

    def choose_matches(self, since_ms: int, maker: str, matches: Mapping[str, str], files: Sequence[str]) -> None:
        """Choose the matches to show, and those of them to fetch."""
        pages = match_pages(self._source.league.ListMatches, "", since_ms)
        hides = {ladder.defined.name: ladder.has_hidden_replays for ladder in self._ask.ladders(with_inner=True)}
        there = set(files)
        for match in islice((match for page in pages for match in page), MAX_MATCHES):
            text = match.SerializeToString(deterministic=True)
            mark = sha256(f"{maker} {hides.get(match.ladder)} ".encode() + text).hexdigest()[:16]
            self.fetched.matches[match.match] = mark
            names = {f"matches/{match.match}.html", f"matches/{match.match}.jsonl"} & there
            if matches.get(match.match) == mark and f"matches/{match.match}.html" in names:
                self.fetched.old_files |= names
            else:
                self._new.append(match.match)

    async def run(self) -> None:
        """Fetch all pages."""
        self.fetched.home = await asyncio.to_thread(now_playing, self._ask)
        self.fetched.usual = await asyncio.to_thread(lambda: dict(self._usual_ladders()))
        home = self._app.state.rendering.html("now.html", **self.fetched.home)
        waiting = [*_FIRST, *self._links(self.fetched.with_usual_ladders(home))]
        for match in self._new:
            waiting += await self._match(match)
        seen: set[str] = set()
        while waiting:
            address = waiting.pop()
            if address not in seen:
                seen.add(address)
                waiting += await self._page(address)

    def _usual_ladders(self) -> Iterator[tuple[str, str]]:
        """Yield the address of each bot and each version with the ladder that its page shows without a query."""
        hidden = {ladder.defined.name for ladder in self._ask.ladders() if ladder.has_hidden_results}
        path = self._app.state.rendering.environment.filters["bot_path"]
        rated: dict[str, set[str]] = {}
        for bot in self._ask.bots():
            for address in (path(bot.bot), path(bot.bot, version=True)):
                rated.setdefault(address, set()).update(set(bot.ladders) - hidden)
        for address, ladders in rated.items():
            if ladders:
                yield address, quote(usual_ladder(self._ask, sorted(ladders)), safe="")

    async def _match(self, match: str) -> list[str]:
        """Fetch the page of a match and its file, if it may be seen; return the addresses of pages to fetch."""
        try:
            file = await asyncio.to_thread(self._ask.record_bytes, match)
            self.fetched.files[f"matches/{match}.jsonl"] = file
        except (NotAuthorised, NotFound):  # its replay is hidden
            pass
        links = await self._page(f"/matches/{match}")
        if f"/matches/{match}" not in self.fetched.pages:
            self.fetched.files.pop(f"matches/{match}.jsonl", None)
        return links

    async def _page(self, address: str) -> list[str]:
        """Fetch a page or a picture, if it may be seen; return the addresses of pages that it leads to."""
        content = await _get(self._app, address)
        file = file_of(address)
        if content is None or file is None:
            return []
        if file.endswith(".svg"):
            self.fetched.files[file] = content
        elif file.endswith(".xml"):
            self.fetched.files[file] = self._feed(content.decode()).encode()
        else:
            html = self.fetched.pages[address] = self.fetched.with_usual_ladders(content.decode())
            return self._links(html)
        return []

    def _links(self, html: str) -> list[str]:
        """Return the addresses of pages to fetch that a page links to; no older list than one that is shown in part."""
        addresses = {unescape(link) for link in _LINK.findall(html)}
        matches = {match[1] for address in addresses if (match := _MATCH.fullmatch(address))}
        if not matches <= self.fetched.matches.keys():
            addresses = {address for address in addresses if "before=" not in address}
        return [address for address in addresses if self._wanted.fullmatch(address)]

    def _feed(self, xml: str) -> str:
        """Let a feed name the files of the site, and only matches that are shown."""

        def entry(text: re.Match[str]) -> str:
            match = re.search(rf'href="{_SITE}/matches/([\w-]+)"', text[0], re.ASCII)
            return text[0] if match is not None and match[1] in self.fetched.matches else ""

        def link(page: re.Match[str]) -> str:
            return f'href="{self._source.address.rstrip("/")}/{file_of(unescape(page[1]))}"'

        xml = re.sub(r"  <entry>.*?</entry>\n", entry, xml, flags=re.DOTALL)
        return re.sub(rf'href="{_SITE}(/[^"]*)"', link, xml)


async def _get(app: FastAPI, address: str) -> bytes | None:
    """Return what the application answers; None if nobody may see it, or there is nothing."""
    path, _, query = address.partition("?")
    status, content = 0, b""

    async def receive() -> Event:
        return {"type": "http.request"}

    async def send(event: Event) -> None:
        nonlocal status, content
        status = event.get("status", status)
        content += event.get("body", b"")

    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "GET",
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(b"host", b"site.invalid")],
        "client": ("127.0.0.1", 0),
        "server": ("site.invalid", 80),
    }
    try:
        await app(scope, receive, send)
    except CutpurseError as problem:
        if http_status(problem) >= 500:
            raise
        return None
    return content if status == 200 else None
