"""The site from a plain file server: people play and check matches there, and no request leaves it.

It needs the packages that `npm ci --prefix server/cutpurse/page/site --ignore-scripts` gets.
"""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from cutpurse.sdk.local import play
from tests.page.browser import PATIENCE_MS, Watched

pytestmark = pytest.mark.full

PHONE = {"viewport": {"width": 390, "height": 800}, "has_touch": True}


@pytest.fixture(scope="module")
def match_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the record of a match."""
    file = tmp_path_factory.mktemp("match") / "match.jsonl"
    play("greed", ["greedy", "random", "random"], record=file)
    return file


def play_on(page: Page) -> None:
    """Take first options until the match is over."""
    page.wait_for_selector("html[data-decision]", timeout=PATIENCE_MS)
    page.locator("#seat-pace").select_option("0")
    ready = "!!document.querySelector('.ends, .seat-options')"
    while page.wait_for_function(ready) and not page.locator(".ends").count():
        decision = page.evaluate("document.documentElement.dataset.decision")
        page.keyboard.press("l")
        page.locator(".seat-options .pick").first.click()
        page.locator(".play-it").click()
        page.wait_for_function(
            "before => document.querySelector('.ends') || (document.documentElement.dataset.decision !== before && "
            "document.querySelector('.seat-options'))",
            arg=decision,
        )


def test_a_game_is_played_to_its_end_and_seen_again_and_nothing_leaves_the_site(watched: Watched, public: str) -> None:
    page = watched.page()
    page.goto(public)
    page.locator('a[href="play/greed.html"]').click()
    page.get_by_label("random").uncheck()
    page.get_by_label("greedy").check()
    page.get_by_role("button", name="Sit down").click()
    assert page.url == f"{public}table/greed.html?opponent=greedy"
    play_on(page)
    page.wait_for_selector("html[data-end=told]")
    page.get_by_role("link", name="Replay the match with every card").click()
    page.wait_for_selector("html[data-opened]", timeout=PATIENCE_MS)
    expect(page.locator("#checks")).to_contain_text("every seat and the spectator were told the same")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector('html[data-moment="1"]')
    hosts = {urlsplit(address).netloc for address in watched.asked}
    assert hosts == {urlsplit(public).netloc}
    paths = [urlsplit(address).path for address in watched.asked if not address.startswith("blob:")]
    assert all(path.startswith("/some/folder/") for path in paths)


def test_a_match_of_the_league_is_found_checked_and_stepped_through(watched: Watched, public: str) -> None:
    page = watched.page(**PHONE)
    page.goto(public)
    page.get_by_role("link", name="Matches", exact=True).click()
    page.locator("tr:not(.void) a.match").first.click()
    page.get_by_role("link", name="Replay it", exact=True).last.click()
    page.wait_for_selector("html[data-opened]", timeout=PATIENCE_MS)
    expect(page.locator("#checks")).to_contain_text("the commitment fits the seed that was opened")
    page.locator('[data-go="on"]').first.click()
    page.wait_for_selector('html[data-moment="1"]')
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.goto(f"{public}match.html?match=none")
    expect(page.locator("#file-status")).to_have_text("This match is not in the site any more.")
    watched.forgive("404")


def test_the_policy_holds_in_the_page_and_in_its_worker(watched: Watched, public: str) -> None:
    page = watched.page()
    page.goto(f"{public}table/greed.html?opponent=greedy")
    page.wait_for_selector("html[data-decision]", timeout=PATIENCE_MS)
    assert page.evaluate("fetch('https://elsewhere.invalid/').then(() => 'sent', () => 'refused')") == "refused"
    own = "document.head.append(Object.assign(document.createElement('script'), { textContent: 'var ran = 1' }))"
    page.evaluate(own)
    assert page.evaluate("'ran' in self") is False
    (worker,) = page.workers
    assert worker.evaluate("fetch('https://elsewhere.invalid/').then(() => 'sent', () => 'refused')") == "refused"
    watched.forgive("elsewhere.invalid")
    assert not [line for line in watched.trouble if "Content Security Policy" not in line]
    watched.trouble.clear()


def test_a_table_begins_though_the_service_worker_passed_it_over(watched: Watched, public: str) -> None:
    page = watched.page()
    home = page.context.new_page()

    def take_over(table: Route) -> None:
        home.goto(public)
        home.evaluate("cutpurseOffline")  # so no page is left out but the one that is held back here
        table.continue_()

    page.route("**/table/greed.html*", take_over, times=1)
    page.goto(f"{public}table/greed.html?opponent=greedy")
    page.wait_for_selector("html[data-decision]", timeout=PATIENCE_MS)
    assert page.evaluate("navigator.serviceWorker.controller.state") == "activated"
    with page.expect_navigation():
        page.context.new_cdp_session(page).send("Page.reload", {"ignoreCache": True})  # as Shift+Reload does
    page.wait_for_selector("html[data-decision]", timeout=PATIENCE_MS)
    assert page.evaluate("navigator.serviceWorker.controller.state") == "activated"


def test_after_the_first_visit_it_works_without_a_network(watched: Watched, public: str) -> None:
    page = watched.page()
    page.goto(f"{public}table/greed.html?opponent=greedy")
    page.wait_for_selector("html[data-decision]", timeout=PATIENCE_MS)
    page.context.set_offline(True)
    page.goto(public)
    page.locator('a[href="play/szmal.html"]').click()
    page.get_by_role("button", name="Sit down").click()
    page.wait_for_selector("html[data-decision]", timeout=PATIENCE_MS)
    watched.forgive("/some/folder/matches/")  # pictures of the league on the first page, which was not read before


def test_a_match_file_is_checked_and_one_that_is_none_is_named_in_a_line(
    watched: Watched, public: str, match_file: Path, tmp_path: Path
) -> None:
    page = watched.page(**PHONE)
    cut, large, other = (tmp_path / name for name in ("cut.jsonl", "large.jsonl", "other.jsonl"))
    content = match_file.read_bytes()
    cut.write_bytes(content[: len(content) // 2])
    other.write_bytes(content.replace(b'"schema":2', b'"schema":9', 1))
    with large.open("wb") as file:
        file.truncate(200_000_000)
    page.goto(f"{public}match.html")
    status = page.locator("#file-status")
    page.locator("#file").set_input_files(large)
    expect(status).to_have_text("This file has 200 MB, and a match file at most 64 MB.")
    for file_with_fault in (cut, other):
        page.locator("#file").set_input_files(file_with_fault)
        expect(status).to_contain_text("This is no match that can be shown:", timeout=PATIENCE_MS)
        assert "\n" not in status.inner_text()
        status.evaluate("status => { status.textContent = ''; }")
    page.locator("#file").set_input_files(match_file)
    page.wait_for_selector("html[data-opened]", timeout=PATIENCE_MS)
    expect(page.locator("#checks li")).to_have_count(4)
    page.locator('[data-go="on"]').first.click()
    page.wait_for_selector('html[data-moment="1"]')
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.locator(".viewers summary").click()
    page.locator('a[data-viewer="1"]').click()
    page.wait_for_url("**/match.html?dropped=&at=1&seat=1")
    page.wait_for_selector("html[data-opened]", timeout=PATIENCE_MS)
    expect(page.locator(".viewers summary")).to_contain_text("as random")
    expect(page.locator("#proof .mine")).to_contain_text("(seat 1)")
    page.locator(".viewers summary").click()
    page.locator('a[data-viewer=""]').click()
    page.wait_for_selector("html[data-opened]", timeout=PATIENCE_MS)
    expect(page.locator("#proof .mine")).to_have_count(0)


def test_a_browser_without_webassembly_is_told_so_and_reads_the_rules(watched: Watched, public: str) -> None:
    page = watched.page()
    page.add_init_script("delete globalThis.WebAssembly")
    page.goto(f"{public}table/greed.html?opponent=greedy")
    expect(page.locator("#seat-problem")).to_contain_text("This browser runs no WebAssembly")
    page.goto(f"{public}rules/greed.html")
    expect(page.locator("h1")).to_have_text("Greed")


def test_a_guided_match_is_stepped_through(watched: Watched, public: str) -> None:
    page = watched.page(**PHONE)
    page.goto(f"{public}rules/greed/guided.html")
    first = page.locator("#guide-text").inner_text()
    page.locator("#guide-next").click()
    expect(page.locator("#guide-text")).not_to_have_text(first)
    page.get_by_role("link", name="play it yourself").click()
    assert page.url == f"{public}play/greed.html"
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
