"""What stands beside a replay, in a browser: an owner's notes and the advice of search, or the comments of a guide."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from cutpurse.page.guided_matches import guided_match
from tests.page.accounts import page_of_world, token_made
from tests.page.browser import Watched
from tests.page.test_every_page import judged, widest
from tests.page.test_own_match import MARKUP, NAME, NUMBERS, REPLAYED, store_match
from tests.server.league_world import LeagueWorld

SIZES = [(1440, 900), (390, 844)]


@pytest.fixture(scope="module")
def league(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LeagueWorld, str]]:
    with page_of_world(tmp_path_factory.mktemp("league")) as running:
        store_match(running[0])
        yield running


def opened(watched: Watched, size: tuple[int, int]) -> Page:
    return watched.page(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")


def height_of(page: Page, selector: str) -> float:
    page.wait_for_selector(selector)
    page.wait_for_load_state()  # a click waits for no style sheet
    page.evaluate("async () => { await document.fonts.ready }")  # lines are higher until the fonts are there
    box = page.locator(selector).bounding_box()
    assert box is not None
    return box["height"]


@pytest.mark.parametrize("size", SIZES)
def test_the_owner_reads_notes_and_asks_search(
    league: tuple[LeagueWorld, str], watched: Watched, size: tuple[int, int]
) -> None:
    world, address = league
    page = opened(watched, size)
    page.goto(f"{address}/sign-in")
    page.fill("input[name=token]", token_made(world, "play", "read"))
    page.click("button.go")
    page.wait_for_url("**/me")
    ats = list(NUMBERS.values())
    page.goto(f"{address}/matches/{NAME}/replay?at={ats[1]}")
    page.wait_for_selector("#own:not([hidden])")
    assert page.inner_text("#own-text") == f"whispered {MARKUP}"
    assert page.locator("#own-text img").count() == 0
    height = height_of(page, "#own")
    page.click("#own-ask")
    page.wait_for_selector("#own-answer .expected, #own-answer b")
    assert "search would take" in page.inner_text("#own-answer")
    assert height_of(page, "#own") == height
    assert (judged(page), widest(page)) == ([], "")
    page.keyboard.press("End")
    page.wait_for_selector(f'#player[data-at="{REPLAYED.path(None).ats[-1]}"]')
    assert page.inner_text("#own-text") == "Your bot is not asked at this moment."
    assert page.locator("#own-ask").is_disabled()
    assert height_of(page, "#own") == height


@pytest.mark.parametrize("size", SIZES)
def test_a_newcomer_follows_the_comments(
    league: tuple[LeagueWorld, str], watched: Watched, size: tuple[int, int]
) -> None:
    page = opened(watched, size)
    page.goto(f"{league[1]}/rules/greed")
    page.click("text=A guided match")
    comments = guided_match("greed").comments
    height = height_of(page, "#guide")
    for number, comment in enumerate(comments, 1):
        page.wait_for_selector(f'#guide-number:text-is("{number} of {len(comments)}")')
        assert page.inner_text("#guide-text") == comment.text
        assert height_of(page, "#guide") == height
        if number < len(comments):
            page.click("#guide-next")
    assert page.locator("#guide-next").get_attribute("href") is None
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#guide.past")
    assert page.inner_text("#guide-text") == comments[-2].text
    assert (judged(page), widest(page)) == ([], "")
    page.click("#guide-back")
    page.wait_for_selector(f'#guide-number:text-is("{len(comments) - 2} of {len(comments)}")')
