"""The whole table is in the window at every step of a match: measured in the page, in the three sizes of the design."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from cutpurse.games import GAMES
from tests.page.browser import Watched
from tests.page.every_table import TABLES, match_at, tables_file
from tests.page.leagues import page_process

SIZES: Final = {"large": (1440, 900), "medium": (1280, 720), "phone": (390, 844)}
WIDTHS: Final = ((360, 780), (768, 1024), (900, 700), (1000, 700), (1120, 700), (1280, 720), (1920, 1080), (2560, 1300))
LARGEST: Final = [(game, seats) for game, seats in TABLES if seats == GAMES[game].words.seats[-1]]
TRIED: Final = [
    pytest.param(*table, id=f"{table[0]}-{table[1]}", marks=() if table in LARGEST else pytest.mark.soak)
    for table in TABLES
]
LEAST: Final = 11  # px, of a card's sides
LEAST_TYPE: Final = 12  # px


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page with a match at every table."""
    with page_process(tables_file(tmp_path_factory.mktemp("tables") / "tables.db")) as address:
        yield address


# Lists what is wrong with a moment at the size that the window has.
MEASURE: Final = """([least, leastType]) => {
  const found = new Set(), root = document.getElementById("moment"), bar = document.getElementById("player");
  const inside = (one, box) => one.left >= box.left - 1 && one.right <= box.right + 1
    && one.top >= box.top - 1 && one.bottom <= box.bottom + 1;
  const controls = bar.getBoundingClientRect();
  const view = { left: 0, right: innerWidth, top: 0, bottom: controls.top };
  const isSeen = (one) => one.checkVisibility() && getComputedStyle(one).clipPath === "none";
  const name = (one) => `${one.className.baseVal ?? one.className} ${one.textContent.trim().slice(0, 20)}`;
  if (scrollY || document.documentElement.scrollWidth > innerWidth) found.add("the page scrolls");
  if (controls.bottom > innerHeight + 1) found.add("the bar is not in the window");
  for (const one of bar.querySelectorAll(".five > :not([hidden]), .menus > *, .position")) {
    const box = one.getBoundingClientRect();
    if (!one.checkVisibility()) continue;
    if (!inside(box, controls) || box.width < 24 || box.height < 12) found.add(`the bar cuts ${name(one)}`);
  }
  const five = bar.querySelector(".five").getBoundingClientRect();
  for (const beside of bar.querySelectorAll(".at > *, .menus > *")) {
    const box = beside.getBoundingClientRect();
    if (box.width && box.left < five.right - 1 && box.right > five.left + 1) found.add("the bar overlaps");
  }
  for (const player of root.querySelectorAll(".player")) {
    const box = player.getBoundingClientRect(), seat = `seat ${player.dataset.seat}`;
    if (!inside(box, view)) found.add(`${seat} is outside the window`);
    for (const one of player.querySelectorAll("h2, .toward, .card, .tag, .lot, .sum, .held .n, .tally li")) {
      if (isSeen(one) && !inside(one.getBoundingClientRect(), box)) found.add(`${seat} cuts ${name(one)}`);
    }
  }
  const centre = root.querySelector(".centre"), middle = centre.getBoundingClientRect();
  if (!inside(middle, view)) found.add("the middle is outside the window");
  for (const one of centre.querySelectorAll(".lie > li > .card, .caption")) {
    if (isSeen(one) && !inside(one.getBoundingClientRect(), middle)) found.add(`the middle cuts ${name(one)}`);
  }
  for (const card of root.querySelectorAll(".card:not(.tiny)")) {
    const { width, height } = card.getBoundingClientRect();
    if (width && Math.min(width, height) < least) found.add(`a card of ${Math.round(width)}x${Math.round(height)} px`);
  }
  for (const value of root.querySelectorAll(".player .corner, .player .big, .lined .corner, .lined .big")) {
    if (!isSeen(value)) continue;
    const text = document.createRange();
    text.selectNodeContents(value);
    const { left, right, top, bottom, width } = text.getBoundingClientRect();
    for (const x of width ? [left + 1, right - 2] : []) {
      const over = document.elementFromPoint(x, (top + bottom) / 2)?.closest("[data-key]");
      if (over !== value.parentElement) found.add(`the value ${name(value)} is covered`);
    }
  }
  for (const one of document.querySelectorAll(".bar *, .replay *")) {
    const hasText = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const size = hasText && one.checkVisibility() ? parseFloat(getComputedStyle(one).fontSize) : 0;
    if (size && size < leastType) found.add(`${name(one)} has type of ${size} px`);
  }
  return [...found];
}"""

# Goes to a moment by the slider.
GO: Final = """(moment) => new Promise((done) => {
  if (document.documentElement.dataset.moment === String(moment)) { done(); return; }
  new MutationObserver((_, seen) => {
    if (document.documentElement.dataset.moment === String(moment)) { seen.disconnect(); done(); }
  }).observe(document.documentElement, { attributes: true });
  const slider = document.getElementById("at");
  slider.value = JSON.parse(player.dataset.ats)[moment];
  slider.dispatchEvent(new Event("input"));
})"""


def opened(watched: Watched, tables: str, game: str, seats: int, size: tuple[int, int], **wishes: Any) -> Page:
    """Open a replay once its fonts are there."""
    width, height = size
    page = watched.page(viewport={"width": width, "height": height}, reduced_motion="reduce", **wishes)
    page.goto(f"{tables}/matches/{match_at(game, seats)}/replay")
    page.wait_for_selector("html[data-moment]")
    page.evaluate("async () => { await document.fonts.ready }")
    return page


def wrong(page: Page, moment: int) -> list[str]:
    """Go to a moment and list what is wrong with it."""
    page.evaluate(GO, moment)
    size = page.viewport_size
    assert size is not None
    found = page.evaluate(MEASURE, [LEAST, LEAST_TYPE])
    return [f"moment {moment} at {size['width']}x{size['height']}: {text}" for text in found]


def last_of(page: Page) -> int:
    """The last moment."""
    last: int = page.evaluate("JSON.parse(player.dataset.ats).length - 1")
    assert last > 20
    return last


@pytest.mark.parametrize("size", [pytest.param("large", marks=pytest.mark.soak), "medium", "phone"])
@pytest.mark.parametrize(("game", "seats"), TRIED)
def test_the_whole_table_fits_at_every_step(
    watched: Watched, tables: str, game: str, seats: int, size: str, soak: bool
) -> None:
    page = opened(watched, tables, game, seats, SIZES[size])
    found = [text for moment in range(0, last_of(page) + 1, 1 if soak else 4) for text in wrong(page, moment)]
    assert found == []


@pytest.mark.sampled
@pytest.mark.parametrize("language", ["en", "de", "pl"])
@pytest.mark.parametrize(("game", "seats"), LARGEST)
def test_the_whole_table_fits_at_every_width_with_faults(
    watched: Watched, tables: str, game: str, seats: int, language: str
) -> None:
    page = opened(watched, tables, game, seats, WIDTHS[0], locale=language)
    assert page.get_attribute("html", "lang") == language
    assert page.evaluate("JSON.parse(player.dataset.faults).length") > 0
    last = last_of(page)
    found = []
    for moment in (last * 3 // 4, last):
        for width, height in WIDTHS if language == "en" else WIDTHS[::3]:
            page.set_viewport_size({"width": width, "height": height})
            found += wrong(page, moment)
    assert page.locator(".chip.fault").count() > 0
    assert found == []


def test_the_chart_is_the_slider_and_n_jumps_between_turning_points(page: Page, tables: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{tables}/matches/{match_at('steal_and_plunder', 4)}/replay")
    page.wait_for_selector("html[data-moment]")
    points = page.evaluate("JSON.parse(player.dataset.points)")
    assert len(points) > 2
    assert page.locator("#seek .point").count() == len(points)
    assert "won" in page.inner_text("#turning")
    for point in points[:2]:
        page.keyboard.press("n")
        page.wait_for_selector(f'html[data-moment="{point}"]')
        assert page.inner_text("#turning") == page.inner_text(f'.swings [data-index="{point}"] + span')
    page.keyboard.press("Shift+N")
    page.wait_for_selector(f'html[data-moment="{points[0]}"]')
    chart = page.locator(".course-of-scores").bounding_box()
    assert chart is not None
    page.mouse.click(chart["x"] + chart["width"] / 2, chart["y"] + chart["height"] / 2)
    last = page.evaluate("JSON.parse(player.dataset.ats).length - 1")
    page.wait_for_function(f"() => Math.abs(document.documentElement.dataset.moment - {last / 2}) <= 1")
    page.click("#more > summary")
    page.click('[data-go="point"]')
    page.wait_for_function(f"() => {points}.includes(Number(document.documentElement.dataset.moment))")


def test_a_phone_has_five_icons_and_two_menus_at_the_bottom(watched: Watched, tables: str) -> None:
    page = opened(watched, tables, "greed", 4, SIZES["phone"], has_touch=True)
    ways = page.locator(".five > :visible, .menus > :visible")
    assert ways.count() == 7
    for number in range(ways.count()):
        box = ways.nth(number).bounding_box()
        assert box is not None
        assert box["y"] > 760
        assert (box["height"], box["width"] >= 40) == (44, True)
    page.locator("#more > summary").tap()
    menu = page.locator("#more > .sheet").bounding_box()
    assert menu is not None
    assert (menu["x"] >= 0, menu["x"] + menu["width"] <= 390, menu["y"] + menu["height"] <= 844) == (True, True, True)
    page.locator('[data-go="point"]').tap()
    page.wait_for_function("() => JSON.parse(player.dataset.points)[0] == document.documentElement.dataset.moment")
    assert page.locator("#more > .sheet").is_hidden()
    page.locator('[data-go="back"]').tap()
    page.wait_for_function("() => JSON.parse(player.dataset.points)[0] - 1 == document.documentElement.dataset.moment")
    page.locator("#more > summary").tap()
    page.locator('#more [data-go="steal"]').tap()
    page.wait_for_function("() => JSON.parse(player.dataset.steals).includes(+document.documentElement.dataset.moment)")


def test_a_swipe_leads_to_the_next_turning_point_and_back(watched: Watched, tables: str) -> None:
    page = watched.page(viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce")
    page.goto(f"{tables}/matches/{match_at('steal_and_plunder', 4)}/replay")
    page.wait_for_selector("html[data-moment]")
    points = page.evaluate("JSON.parse(player.dataset.points)")
    touch = page.context.new_cdp_session(page)

    def swipe(x: int, y: int, to_x: int, to_y: int) -> None:
        for kind, places in (("touchStart", [(x, y)]), ("touchMove", [(to_x, to_y)]), ("touchEnd", [])):
            touched = [{"x": across, "y": down} for across, down in places]
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": touched})

    swipe(320, 420, 60, 430)
    page.wait_for_selector(f'html[data-moment="{points[0]}"]')
    swipe(300, 600, 280, 320)  # scrolls
    swipe(320, 420, 60, 430)
    page.wait_for_selector(f'html[data-moment="{points[1]}"]')
    swipe(60, 420, 320, 430)
    page.wait_for_selector(f'html[data-moment="{points[0]}"]')


def test_cards_and_terms_are_explained_on_hover_focus_and_tap(watched: Watched, tables: str) -> None:
    page = watched.page(viewport={"width": 1280, "height": 800}, has_touch=True, reduced_motion="reduce")
    page.goto(f"{tables}/matches/{match_at('szmal', 4)}/replay?at=40")
    page.wait_for_selector("html[data-moment]")
    explanation, term = page.locator("#explanation"), page.locator(".options .term").first
    assert explanation.is_hidden()
    for show in (term.hover, term.focus, term.tap):
        show()
        assert explanation.inner_text().startswith(f"{term.inner_text()}: ")
        assert term.get_attribute("aria-describedby") == "explanation"
        page.keyboard.press("Escape")
        assert explanation.is_hidden()
        page.mouse.move(1, 1)
        term.blur()
    card = page.locator(".board .card[data-face]:visible").first
    title = (card.locator(".title").text_content() or "").replace("\u00ad", "")
    card.tap()
    assert explanation.inner_text().startswith(f"{title}: ")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector('html[data-moment="41"]')
    assert explanation.is_hidden()


def test_the_link_to_a_moment_is_copied(watched: Watched, tables: str) -> None:
    page = watched.page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{tables}/matches/{match_at('greed', 4)}/replay")
    page.wait_for_selector("html[data-moment]")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector('html[data-moment="1"]')
    page.click("#more > summary")
    page.click("#link")
    page.wait_for_selector("#link:text('copied')")
    assert page.evaluate("navigator.clipboard.readText()").endswith("/replay?at=1#play")


def test_the_page_of_a_match_opens_with_how_it_was_decided(page: Page, tables: str) -> None:
    page.goto(f"{tables}/matches/{match_at('steal_and_plunder', 4)}")
    assert "won with" in page.inner_text(".how")
    assert page.locator(".story-of-match .point").count() > 2
    box = page.locator(".story-of-match .timeline").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] < 720
    page.locator(".swings a").first.click()
    page.wait_for_selector("html[data-moment]")
    assert page.evaluate("JSON.parse(player.dataset.points)[0] == document.documentElement.dataset.moment")


def test_at_the_first_moment_cards_were_dealt_and_the_details_are_folded(page: Page, tables: str) -> None:
    page.goto(f"{tables}/matches/{match_at('greed', 4)}/replay")
    assert "Cards were dealt." in page.inner_text(".happened")
    assert page.locator(".happened .told").is_hidden()
    page.click(".happened summary")
    assert page.locator(".happened .told").is_visible()


def test_each_game_has_a_look_of_its_own(page: Page, tables: str) -> None:
    looks = set()
    for game in GAMES:
        page.goto(f"{tables}/matches/{match_at(game, 4)}/replay")
        style = "getComputedStyle(document.querySelector('.board')).getPropertyValue"
        looks.add((page.evaluate(f"{style}('--felt')"), page.evaluate(f"{style}('--back-a')")))
    assert len(looks) == len(GAMES)
