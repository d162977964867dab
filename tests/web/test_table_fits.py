"""The whole table is in the window at every step of a match: measured in the page, in the three sizes of the design."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pytest
from playwright.sync_api import Page

from cutpurse.games import GAMES
from tests.web.browser import Watched
from tests.web.every_table import TABLES, match_at, tables_file
from tests.web.leagues import page_process

SIZES: Final = {"large": (1440, 900), "medium": (1280, 720), "phone": (390, 844)}
LARGEST: Final = [(game, seats) for game, seats in TABLES if seats == GAMES[game].words.seats[-1]]
TRIED: Final = [
    pytest.param(*table, id=f"{table[0]}-{table[1]}", marks=() if table in LARGEST else pytest.mark.soak)
    for table in TABLES
]
LEAST_WIDTH: Final = 44  # px, of a card
LEAST_TYPE: Final = 11  # px


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a page with a match at every table."""
    with page_process(tables_file(tmp_path_factory.mktemp("tables") / "tables.db")) as address:
        yield address


# Steps through the replay by the keyboard, and lists what is wrong with a moment: a line for each thing.
MEASURE: Final = """async ([leastWidth, leastType]) => {
  const found = new Set(), root = document.getElementById("moment"), last = JSON.parse(player.dataset.ats).length - 1;
  const controls = document.querySelector(".controls");
  const floor = getComputedStyle(controls).position === "fixed" ? controls.getBoundingClientRect().top : innerHeight;
  const inside = (one, box) => one.left >= box.left - 1 && one.right <= box.right + 1
    && one.top >= box.top - 1 && one.bottom <= box.bottom + 1;
  const view = { left: 0, right: innerWidth, top: 0, bottom: floor };
  const isSeen = (one) => one.checkVisibility() && getComputedStyle(one).clipPath === "none";
  const name = (one) => one.className || one.tagName;
  const board = () => JSON.stringify(root.querySelector(".board").getBoundingClientRect());
  const first = board();
  const measure = (moment) => {
    const told = (text) => found.add(`moment ${moment}: ${text}`);
    if (scrollY || board() !== first) told("the table has moved");
    for (const chair of root.querySelectorAll(".chair")) {
      const box = chair.getBoundingClientRect(), seat = `seat ${chair.dataset.seat}`;
      if (!inside(box, view)) told(`${seat} is outside the window`);
      for (const one of chair.querySelectorAll(".now, h2, summary, .laid .playing")) {
        if (one.checkVisibility() && !inside(one.getBoundingClientRect(), box)) told(`${seat}: ${name(one)} is cut`);
      }
    }
    const centre = root.querySelector(".centre"), middle = centre.getBoundingClientRect();
    if (!inside(middle, view)) told("the middle is outside the window");
    for (const one of centre.querySelectorAll(".playing, h3, .pending")) {
      if (isSeen(one) && !inside(one.getBoundingClientRect(), middle)) told(`middle: ${name(one)} is cut`);
    }
    for (const card of root.querySelectorAll(".playing")) {
      const box = card.getBoundingClientRect(), caption = card.querySelector(".caption");
      if (box.width && box.width < leastWidth) told(`a card is ${box.width} px wide`);
      if (!caption || !isSeen(caption)) continue;
      const text = document.createRange();
      text.selectNodeContents(caption);
      if (!inside(text.getBoundingClientRect(), box)) told(`the caption ${caption.textContent} is cut`);
    }
    for (const one of document.querySelectorAll("main *")) {
      const hasText = [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      const size = hasText && one.checkVisibility() ? parseFloat(getComputedStyle(one).fontSize) : 0;
      if (size && size < leastType) told(`${name(one)} has type of ${size} px`);
    }
  };
  measure(0);
  for (let moment = 1; moment <= last; moment++) {
    const shown = new Promise((done) => new MutationObserver((_, seen) => {
      if (document.documentElement.dataset.moment === String(moment)) { seen.disconnect(); done(); }
    }).observe(document.documentElement, { attributes: true }));
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
    await shown;
    measure(moment);
  }
  return { last, found: [...found] };
}"""


@pytest.mark.parametrize("size", [pytest.param("large", marks=pytest.mark.soak), "medium", "phone"])
@pytest.mark.parametrize(("game", "seats"), TRIED)
def test_the_whole_table_fits_at_every_step(watched: Watched, tables: str, game: str, seats: int, size: str) -> None:
    width, height = SIZES[size]
    page = watched.page(viewport={"width": width, "height": height}, reduced_motion="reduce")
    page.goto(f"{tables}/matches/{match_at(game, seats)}/replay")
    page.wait_for_selector("html[data-moment]")
    told: dict[str, Any] = page.evaluate(MEASURE, [LEAST_WIDTH, LEAST_TYPE])
    assert told["last"] > 20
    assert told["found"] == []


@pytest.mark.full
@pytest.mark.parametrize("size", [pytest.param("medium", marks=pytest.mark.soak), "phone"])
@pytest.mark.parametrize("game", ["steal_and_plunder", "szmal"])
def test_the_whole_table_fits_in_german_too(watched: Watched, tables: str, game: str, size: str) -> None:
    """German has the longest words of the page's languages."""
    width, height = SIZES[size]
    page = watched.page(viewport={"width": width, "height": height}, reduced_motion="reduce", locale="de-DE")
    page.goto(f"{tables}/matches/{match_at(game, GAMES[game].words.seats[-1])}/replay")
    page.wait_for_selector("html[data-moment]")
    assert page.get_attribute("html", "lang") == "de"
    told: dict[str, Any] = page.evaluate(MEASURE, [LEAST_WIDTH, LEAST_TYPE])
    assert told["last"] > 20
    assert told["found"] == []


def test_a_pack_that_lies_still_is_a_badge_that_opens_on_tap(page: Page, tables: str) -> None:
    page.goto(f"{tables}/matches/{match_at('steal_and_plunder', 4)}/replay?at=60")
    page.wait_for_selector("html[data-moment]")
    badge = page.locator(".kind-pack:not(.laid)").first
    assert "$" in badge.locator("summary").inner_text()
    assert badge.locator(".playing").first.is_hidden()
    badge.locator("summary").click()
    assert badge.locator(".playing .caption").first.is_visible()
    page.keyboard.press("Escape")
    assert badge.locator(".playing").first.is_hidden()


def test_the_chart_is_the_slider_and_n_jumps_between_turning_points(page: Page, tables: str) -> None:
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{tables}/matches/{match_at('steal_and_plunder', 4)}/replay")
    page.wait_for_selector("html[data-moment]")
    points = page.evaluate("JSON.parse(player.dataset.points)")
    assert len(points) > 2
    assert page.locator(".timeline .point").count() == len(points)
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
    page.click('[data-go="point"]')
    page.wait_for_function(f"() => {points}.includes(Number(document.documentElement.dataset.moment))")


def test_a_phone_has_a_bar_with_four_ways_and_the_pictures_at_the_bottom(watched: Watched, tables: str) -> None:
    page = watched.page(viewport={"width": 390, "height": 844}, has_touch=True, reduced_motion="reduce")
    page.goto(f"{tables}/matches/{match_at('greed', 4)}/replay")
    page.wait_for_selector("html[data-moment]")
    ways = page.locator(".controls > :visible")
    assert ways.count() == 5
    for number in range(ways.count()):
        box = ways.nth(number).bounding_box()
        assert box is not None
        assert box["y"] > 760
        assert box["height"] >= 44
    page.locator("#pictures > summary").tap()
    menu = page.locator(".pictures-menu").bounding_box()
    assert menu is not None
    assert (menu["x"] >= 0, menu["x"] + menu["width"] <= 390, menu["y"] + menu["height"] <= 844) == (True, True, True)
    page.locator("#pictures > summary").tap()
    page.locator('[data-go="on"]').tap()
    page.wait_for_selector('html[data-moment="1"]')
    page.locator('[data-go="point"]').tap()
    page.wait_for_function("() => JSON.parse(player.dataset.points)[0] == document.documentElement.dataset.moment")


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
    card = page.locator(".board .playing[data-face]:visible").first
    title = card.locator(".caption").text_content()
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
    page.click("#link")
    page.wait_for_selector("#link:text('copied')")
    assert page.evaluate("navigator.clipboard.readText()").endswith("/replay?at=1")


def test_the_page_of_a_match_opens_with_how_it_was_decided(page: Page, tables: str) -> None:
    page.goto(f"{tables}/matches/{match_at('steal_and_plunder', 4)}")
    assert "ahead" in page.inner_text(".how")
    assert page.locator(".story-of-match .timeline .point").count() > 2
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
        style = "getComputedStyle(document.querySelector('.table')).getPropertyValue"
        looks.add((page.evaluate(f"{style}('--felt')"), page.evaluate(f"{style}('--back-a')")))
    assert len(looks) == len(GAMES)
