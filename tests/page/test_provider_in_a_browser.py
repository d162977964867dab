"""Signing in at a provider of another site in a real browser: cookies, redirects and the strict policy hold."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page

from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.store import Store
from cutpurse.page.account.calls import Accounts
from cutpurse.page.app import create_app, end_streams
from cutpurse.page.league_client import Asking
from cutpurse.page.serving import serve_page
from cutpurse.server.hosting.page import listening_socket
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.parts.sign_in.kind import SIGN_IN
from cutpurse.wire.connection import Dialling
from cutpurse.wire.league import league_at
from tests.looking import PATIENCE_S, until
from tests.page.test_every_page import judged
from tests.parts.sign_in.openid_provider_run import RunningProvider, running_provider, settings_of
from tests.server.arenas import running_arena


@contextmanager
def page_with(provider: RunningProvider, folder: Path) -> Iterator[str]:
    """Run a server whose people sign in there, and its page, each in a thread; yield the page's address."""
    with Store(folder / "test.db") as store:
        store.write(create_tokens, [NewToken("root", scopes=("admin",))], datetime.now(UTC))
    is_over = threading.Event()
    listening, bound = listening_socket("127.0.0.1:0")
    addresses: list[str] = []

    async def arena() -> None:
        sign_in = PartWithSettings(SIGN_IN, settings_of(provider, f"http://{bound}"))
        async with running_arena(folder, parts=[sign_in]) as running:
            addresses.append(running.address)
            await asyncio.to_thread(is_over.wait)

    server = threading.Thread(target=lambda: asyncio.run(arena()), daemon=True)
    server.start()
    try:
        until(lambda: bool(addresses) or not server.is_alive(), "the server runs")
        with league_at(server=addresses[0], as_stranger=True) as public:
            app = create_app(Asking(public, live=True), live=True, accounts=Accounts(Dialling(addresses[0])))
            words = (app, listening, is_over.is_set, partial(end_streams, app))
            page = threading.Thread(target=serve_page, args=words, daemon=True)
            page.start()
            yield f"http://{bound}"
            is_over.set()
            page.join(PATIENCE_S)
    finally:
        is_over.set()
        server.join(PATIENCE_S)


def test_a_person_signs_in_at_a_provider_of_another_site(tmp_path: Path, page: Page) -> None:
    with running_provider() as provider:
        provider.issuer = provider.issuer.replace("127.0.0.1", "localhost")  # for browsers another site
        with page_with(provider, tmp_path) as address:
            asked: list[str] = []
            page.on("request", lambda request: asked.append(request.url))
            page.goto(f"{address}/sign-in")
            assert judged(page) == []
            page.click("text=Sign in with Test School")
            page.wait_for_url("**/me")
            assert "Signed in as ann.miller" in page.inner_text(".signed")
            assert page.evaluate("document.cookie") == ""
            (cookie,) = page.context.cookies(address)
            assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("cutpurse_local", True, "Strict")
            assert not any(cookie["value"] in url for url in asked)
            here, there = urlsplit(address).netloc, urlsplit(provider.issuer).netloc
            elsewhere = [urlsplit(url) for url in asked if urlsplit(url).netloc != here]
            assert [(url.netloc, url.path) for url in elsewhere] == [(there, "/authorize")]
            page.go_back()  # to the form: the answer with the code is not in the history
            assert "code=" not in page.url
            page.goto(f"{address}/me/tokens")
            page.click("text=Sign out everywhere >> nth=-1")
            page.wait_for_url("**/sign-in")
            assert page.context.cookies(address) == []
