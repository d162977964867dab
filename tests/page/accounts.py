"""People who sign in on a page, without scripts: the page in this process, on a real server."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, Final

import httpx
from starlette.testclient import TestClient

from cutpurse.page.account.calls import Accounts
from cutpurse.page.account.search_process import SearchProcess
from cutpurse.page.app import create_app, end_streams
from cutpurse.page.league_client import Asking
from cutpurse.page.serving import serve_page
from cutpurse.server.hosting.page import listening_socket
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.wire.connection import Dialling
from cutpurse.wire.league import league_at
from tests.looking import PATIENCE_S, until
from tests.server.arenas import WITH_EVENTS
from tests.server.league_world import LeagueWorld, league_world

__all__ = ["OWN", "Person", "page_of_world", "text_of", "token_made"]

OWN: Final = {"Sec-Fetch-Site": "same-origin"}
_KEY: Final = re.compile(r'name="key" value="([0-9a-f]{64})"')


class Person:
    """A browser on the page of a server; its calls run on threads, since the server may run in this event loop."""

    def __init__(self, arena: str, base_url: str = "https://page.test", client: str = "192.0.2.1") -> None:
        """Open the browser at an address of the page, from a machine with the address `client`."""
        self._league = league_at(server=arena, as_stranger=True)
        league = self._league.__enter__()
        accounts = Accounts(Dialling(arena))
        app = create_app(Asking(league, live=True, keep_s=0.0), live=True, accounts=accounts)
        # Any: its answers are typed as those of httpx2, and are of httpx
        self.http: Any = TestClient(app, base_url=base_url, client=(client, 50_000))

    async def get(self, path: str, **more: Any) -> httpx.Response:
        """Open a page."""
        answer: httpx.Response = await asyncio.to_thread(lambda: self.http.get(path, **more))
        return answer

    async def post(
        self,
        path: str,
        form: Mapping[str, Any] = {},
        *,
        headers: Mapping[str, str] = OWN,
        page: str = "/me",
        **more: Any,
    ) -> httpx.Response:
        """Send a form of a page, with the key that the page has."""
        found = _KEY.search((await self.get(page)).text)
        fields = {"key": found[1] if found else "", **form}
        answer: httpx.Response = await asyncio.to_thread(
            lambda: self.http.post(path, data=fields, headers=dict(headers), **more)
        )
        return answer

    async def sign_in(self, text: str, headers: Mapping[str, str] = OWN, **more: Any) -> httpx.Response:
        """Send the form to sign in."""
        form = {"token": text}
        answer: httpx.Response = await asyncio.to_thread(
            lambda: self.http.post("/sign-in", data=form, headers=dict(headers), **more)
        )
        return answer

    def close(self) -> None:
        """Close the browser."""
        self.http.close()
        self._league.__exit__(None, None, None)


@contextmanager
def page_of_world(folder: Path, parts: Sequence[PartWithSettings] = WITH_EVENTS) -> Iterator[tuple[LeagueWorld, str]]:
    """Run a server and its page, each in a thread; yield the server and the page's address."""
    is_over = threading.Event()
    worlds: list[LeagueWorld] = []

    async def arena() -> None:
        async with league_world(folder, parts) as world:
            worlds.append(world)
            await asyncio.to_thread(is_over.wait)

    server = threading.Thread(target=lambda: asyncio.run(arena()), daemon=True)
    server.start()
    try:
        until(lambda: bool(worlds) or not server.is_alive(), "the server runs")
        address = worlds[0].arena.address
        with league_at(server=address, as_stranger=True) as public:
            app = create_app(Asking(public, live=True), live=True, accounts=Accounts(Dialling(address)))
            app.state.search = SearchProcess(patience_s=PATIENCE_S)  # the machine may be busy
            listening, bound = listening_socket("127.0.0.1:0")
            words = (app, listening, is_over.is_set, partial(end_streams, app))
            page = threading.Thread(target=serve_page, args=words, daemon=True)
            page.start()
            yield worlds[0], f"http://{bound}"
            is_over.set()
            page.join(PATIENCE_S)
    finally:
        is_over.set()
        server.join(PATIENCE_S)


def token_made(world: LeagueWorld, *scopes: str, expires: datetime | None = None) -> str:
    """Let a host create a token of ann, and return it: it counts once the server has answered."""
    with Accounts(Dialling(world.arena.address)).open(world.tokens["root"]) as host:
        return host.create_token("ann", "", scopes, int(expires.timestamp() * 1_000) if expires else 0).token


def text_of(html: str) -> str:
    """Return the text of a page, with single spaces."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())
