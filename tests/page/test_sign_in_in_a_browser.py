"""A person signs in by a link in a real browser, over plain HTTP on this machine, and reads every page of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from tests.page.accounts import page_of_world, token_made
from tests.page.browser import Watched
from tests.page.test_every_page import judged, judged_in_both_colours, widest
from tests.server.league_world import LeagueWorld

PATHS = ("/me", "/me/bots/hush", "/me/tokens", "/me/ladders/hidden", "/host", "/host/tokens", "/host/ladders/hidden")


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LeagueWorld, str]]:
    """Run a server and its page; yield the server and the page's address."""
    with page_of_world(tmp_path_factory.mktemp("league")) as running:
        yield running


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
        assert (path, judged_in_both_colours(page), widest(page)) == (path, [], "")
