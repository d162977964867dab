"""A match that bots play on a real server is seen moving in a browser, and the next one after it."""

from __future__ import annotations

import urllib.error
import urllib.request

import pytest
from playwright.sync_api import Page, Route

from tests.page.browser import Watched
from tests.page.leagues import LiveLeague


def moments(first: int, end: int) -> str:
    return ", ".join([f'html[data-moment="{moment}"]' for moment in range(first, end)])


@pytest.mark.soak
def test_a_ladder_is_seen_moving_match_after_match(page: Page, live: LiveLeague) -> None:
    page.goto(f"{live.page}/live?ladder=greed")
    page.wait_for_selector("#moment .board.game-greed")
    assert "later than" in page.inner_text("#live-status")
    assert page.locator(".player").count() >= 2
    begun = page.inner_text("#live-status")
    first = int(page.evaluate("document.documentElement.dataset.moment"))
    page.wait_for_selector(moments(first + 2, first + 400))
    page.wait_for_selector("#moment .ends")
    assert page.locator(".chip.ended").count() >= 2
    address = page.get_attribute(".ends a >> nth=1", "href") or ""
    assert address.endswith("/replay")
    page.wait_for_selector("#moment .board:not(.over)")
    assert page.inner_text("#live-status") != begun
    page.goto(live.page + address)
    page.wait_for_selector("html[data-moment]")
    page.keyboard.press("End")
    page.wait_for_selector(".decided.over")


@pytest.mark.soak
def test_what_is_being_played_is_listed_and_each_match_can_be_looked_at(page: Page, live: LiveLeague) -> None:
    page.goto(f"{live.page}/live")
    while not page.locator('tbody a[href^="/live/"]').count():
        page.reload()
    address = page.get_attribute('tbody a[href^="/live/"]', "href")
    page.goto(f"{live.page}{address}")  # by the time it may be over: then it has a page of its own
    page.wait_for_selector("#moment .board, a[href$='/replay'], a[href*='/replay?']")


def test_a_live_table_is_listened_to_once(live: LiveLeague, watched: Watched) -> None:
    """A second stream would be taken for lost when the match is over, and begun again for ever."""
    page = watched.page()
    page.goto(f"{live.page}/live?ladder=szmal")
    page.wait_for_selector("#moment .board")
    assert sum("/streams/" in address for address in watched.asked) == 1


def test_a_live_table_goes_on_after_a_proxy_had_no_page_behind_it(live: LiveLeague, watched: Watched) -> None:
    """While the page is started again a proxy answers in its place, with 502, after which browsers ask no more."""
    page = watched.page()
    refused: list[str] = []

    def answered(route: Route) -> None:
        if refused:
            route.continue_()
        else:
            refused.append(route.request.url)
            route.fulfill(status=502, body="Bad Gateway")

    page.route("**/streams/live**", answered)
    page.goto(f"{live.page}/live?ladder=szmal")
    page.wait_for_selector("#live-status:has-text('The connection was lost; trying again.')")
    page.wait_for_selector("#live-status:has-text('later than to the bots')")
    page.wait_for_selector("#moment .board")
    assert len(refused) == 1
    watched.forgive("502")


def test_a_match_that_never_was_is_not_shown(live: LiveLeague) -> None:
    for path, status in (("/live/" + "f" * 32, 404), ("/live?ladder=nothing", 404), ("/streams/live", 400)):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(live.page + path, timeout=240)
        with refused.value as answer:
            assert answer.code == status, path
