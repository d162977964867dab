"""A host in a real browser: creates a ladder, mistypes, and starts a tournament and seasons of bots that are picked."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.page.accounts import page_of_world
from tests.page.browser import Watched
from tests.page.test_every_page import judged, widest

HIDDEN_BOT = "cid/hush_too"


def open_form(page: Page, address: str, title: str) -> None:
    """Open one of the forms at the top of the host's page."""
    page.goto(f"{address}/host")
    page.locator(".create > details > summary", has_text=title).click()


def start_plan(page: Page) -> None:
    """Start the plan that is shown, although its bots are away."""
    page.locator("form.one [name=force]").check()
    page.locator("form.one button.go").click()


@pytest.mark.parametrize("size", [(1280, 720), (390, 844)])
def test_a_host_creates_a_ladder_a_tournament_and_seasons(
    tmp_path: Path, watched: Watched, size: tuple[int, int]
) -> None:
    with page_of_world(tmp_path) as (world, address):
        page = watched.page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
        page.goto(f"{address}/sign-in")
        page.fill("input[name=token]", world.tokens["root"])
        page.click("button.go")
        page.wait_for_url("**/me")

        # A ladder, with a house bot and a clock; the clock is mistyped once.
        open_form(page, address, "Create a ladder")
        form = page.locator("details[open] > form")
        form.locator("[name=name]").fill("spring")
        form.locator("[name=game]").select_option("greed")
        form.locator("[name=base]").fill("2s")
        form.locator("[name=house][value=random]").check()
        form.locator("summary").first.click()
        expect(form.locator(".of-game:not([hidden])")).to_have_count(1)
        form.locator("[name='greed.max_rounds']").fill("40")
        form.locator("button.go").click()
        expect(page.locator("#refused")).to_contain_text("'2s' is no number of seconds")
        expect(page.locator("[name=base]")).to_be_focused()
        watched.forgive("400")
        assert (judged(page), widest(page)) == ([], "")
        page.locator("[name=base]").fill("2")
        page.locator("details[open] > form > button.go").click()
        page.wait_for_url("**/host/ladders/spring")
        text = page.inner_text("main")
        assert "A decision may take 2 s" in text
        assert "max_rounds 40" in text
        assert page.locator("[name=house][value=random]").is_checked()

        # A tournament of two bots from the list; the list follows the search.
        open_form(page, address, "Plan a tournament")
        form = page.locator("details[open] > form")
        form.locator("[name=ladder]").select_option("duel")
        form.locator("[type=search]").fill("sneak")
        expect(form.locator(".picks .list label:visible")).to_have_count(1)
        form.locator("[value='ann/sneak']").check()
        form.locator("[type=search]").fill("")
        form.locator("[value='bob/thug']").check()
        assert (judged(page), widest(page)) == ([], "")
        form.locator("button.go").click()
        expect(page.locator("h1")).to_contain_text("Plan of a tournament")
        start_plan(page)
        page.wait_for_url("**/host/events/*")
        assert "ann/sneak" in page.inner_text("main")

        # Seasons of the same rules.
        open_form(page, address, "Plan seasons")
        form = page.locator("details[open] > form")
        form.locator("[name=name]").fill("cup")
        form.locator("[name=ladder]").select_option("duel")
        for bot in ("ann/sneak", "bob/thug", HIDDEN_BOT):
            form.locator(f"[value='{bot}']").check()
        form.locator("[name=size]").fill("2")
        form.locator("[name=down]").fill("1")
        form.locator("button.go").click()
        expect(page.locator("h1")).to_contain_text("Plan of seasons")
        assert judged(page) == []
        start_plan(page)
        page.wait_for_url("**/host/events/*")
        assert "cup-1-s1" in page.inner_text("main")
        page.goto(f"{address}/host")
        assert page.locator("[aria-label=Ladders] tbody th a").all_inner_texts() == ["duel", "hidden", "spring"]
        assert (judged(page), widest(page)) == ([], "")
