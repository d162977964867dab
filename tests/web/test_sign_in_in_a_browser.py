"""A person signs in by a link in a real browser, over plain HTTP on this machine, and reads every page of their own."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import Page

from cutpurse.server.hosting.page import listening_socket
from cutpurse.server.web.account.calls import Accounts
from cutpurse.server.web.app import create_app, end_streams
from cutpurse.server.web.league_client import Asking
from cutpurse.server.web.serving import serve_page
from cutpurse.wire.connection import Dialling
from cutpurse.wire.league import league_at
from tests.looking import PATIENCE_S, until
from tests.server.league_world import LeagueWorld, league_world
from tests.web.accounts import token_made
from tests.web.browser import Watched
from tests.web.test_every_page import judged, widest

PATHS = ("/me", "/me/bots/hush", "/me/tokens", "/me/ladders/hidden", "/host", "/host/tokens", "/host/ladders/hidden")


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LeagueWorld, str]]:
    """Run a server and its page, each in a thread; yield the server and the page's address."""
    is_over = threading.Event()
    worlds: list[LeagueWorld] = []

    async def arena() -> None:
        async with league_world(tmp_path_factory.mktemp("league")) as world:
            worlds.append(world)
            await asyncio.to_thread(is_over.wait)

    server = threading.Thread(target=lambda: asyncio.run(arena()), daemon=True)
    server.start()
    try:
        until(lambda: bool(worlds) or not server.is_alive(), "the server runs")
        address = worlds[0].arena.address
        with league_at(server=address, as_stranger=True) as public:
            app = create_app(Asking(public, live=True), live=True, accounts=Accounts(Dialling(address)))
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


def test_a_person_signs_in_by_a_link_and_out(league: tuple[LeagueWorld, str], page: Page) -> None:
    world, address = league
    code = token_made(world, "link", "play", "read")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}/sign-in#{code}")
    page.wait_for_selector("#from-link:not([hidden])")
    assert page.url == f"{address}/sign-in"
    page.keyboard.press("Enter")  # the button has the focus
    page.wait_for_url("**/me")
    assert "Signed in as ann" in page.inner_text(".signed")
    assert page.evaluate("document.cookie") == ""
    (cookie,) = page.context.cookies()
    assert (cookie["name"], cookie["httpOnly"], cookie["sameSite"]) == ("cutpurse_local", True, "Strict")
    assert not any(code in url or cookie["value"] in url for url in asked)
    page.click("text=Sign out")
    page.wait_for_url("**/sign-in")
    assert page.context.cookies() == []


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_every_page_of_a_person_can_be_read_by_anybody(
    league: tuple[LeagueWorld, str], watched: Watched, size: tuple[int, int]
) -> None:
    world, address = league
    token = token_made(world, "admin", "play", "read")
    page = watched.page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
    page.goto(f"{address}/sign-in")
    assert judged(page) == []
    page.fill("input[name=token]", token)
    page.click("button.go")
    page.wait_for_url("**/me")
    for path in PATHS:
        page.goto(address + path)
        assert page.locator("h1").count() == 1, path
        assert (path, judged(page)) == (path, [])
        assert (path, widest(page)) == (path, "")
