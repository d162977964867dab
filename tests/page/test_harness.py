"""The browser of these tests notices what a page must not do, and the league holds what pages are to be tried with."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.page.browser import Watched


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("console.error('so it goes')", "console error: so it goes"),
        ("setTimeout(() => { throw new Error('thrown') })", "error: thrown"),
        ("setTimeout(() => alert('boo'))", "dialog: boo"),
        ("fetch('http://example.org/x').catch(() => 0)", "foreign request: http://example.org/x"),
    ],
)
def test_what_a_page_must_not_do_is_noticed(browser: Browser, script: str, words: str) -> None:
    watched = Watched(browser)
    page = watched.page()
    page.set_content(f"<p>well</p><script>{script}</script>")
    page.wait_for_timeout(1)  # a turn of the browser's own loop
    while not watched.trouble:
        page.wait_for_timeout(10)
    watched.close()
    assert words in watched.trouble[0]


def test_a_page_that_does_nothing_is_no_trouble(watched: Watched) -> None:
    page = watched.page(viewport={"width": 360, "height": 640}, color_scheme="dark")
    page.set_content("<p>well</p>")
    assert page.inner_text("p") == "well"
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
