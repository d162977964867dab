"""Every page in a real browser: nothing breaks or leaves the host, anybody can read it, and nobody's name is obeyed.

Whether a page is accessible is judged by axe-core (`axe/`, with its licence), in light and in dark colours; that is
what a program can see of it, and the keyboard is tried beside it.
"""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import pytest
from playwright.sync_api import Page

from cutpurse.games import GAMES
from tests.page.browser import Watched
from tests.page.leagues import HOSTILE, PRIVATE, SCRIPTS

AXE: Final = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
PHONE: Final = {"width": 360, "height": 740}
LARGEST_SHIFT: Final = 0.1
PLACES: Final = (
    "home",
    "all ladders",
    "ladder",
    "ladder of every version",
    "frozen ladder",
    "head to head",
    "bots",
    "bot",
    "version",
    "bot with a hostile name",
    "matches",
    "matches with faults",
    "match",
    "void match",
    *(f"replay of {game}" for game in GAMES),
    "replay as a seat saw it",
    "live in an archive",
    "rules",
    *(f"rules of {game}" for game in GAMES),
    "documents",
    "first bot",
    "protocol",
    "rulings",
    "api",
)


# Each is like another: the long run tries these too.
ALIKE: Final = (
    "ladder of every version",
    "version",
    "matches with faults",
    *[f"rules of {game}" for game in GAMES if game != "greed"],
)
TRIED: Final = tuple(pytest.param(place, marks=pytest.mark.soak) if place in ALIKE else place for place in PLACES)


def asked(site: str, path: str) -> Any:
    """What the API answers."""
    with urllib.request.urlopen(f"{site}/api/v1{path}") as answer:
        return json.load(answer)


def newest(site: str, query: str, is_void: bool = False) -> str:
    """A match."""
    matches = asked(site, f"/matches?{query}&limit=500")["matches"]
    return str(next(one["match"] for one in matches if bool(one["void_cause"]) is is_void))


def address(site: str, place: str) -> str:
    """Where a page is."""
    replay = place.removeprefix("replay of ")
    rules = place.removeprefix("rules of ")
    if replay in GAMES and replay != place:
        return f"/matches/{newest(site, f'ladder={replay}')}/replay?at=9"
    if rules in GAMES and rules != place:
        return f"/rules/{rules}"
    match place:
        case "match":
            return f"/matches/{newest(site, 'ladder=greed&faulted=true')}"
        case "void match":
            return f"/matches/{newest(site, 'ladder=duel', is_void=True)}"
        case "replay as a seat saw it":
            return f"/matches/{newest(site, 'ladder=szmal')}/replay?at=20&seat=1"
    return {
        "home": "/",
        "all ladders": "/ladders",
        "ladder": "/ladders/greed",
        "ladder of every version": "/ladders/greed?every_version=true",
        "frozen ladder": "/ladders/duel",
        "head to head": "/ladders/greed/head-to-head",
        "bots": "/bots",
        "bot": "/bots/ann/sneak",
        "version": "/bots/ann/sneak/2",
        "bot with a hostile name": f"/bots/cid/{quote(SCRIPTS[0], safe='')}",
        "matches": "/matches",
        "matches with faults": "/matches?faulted=true&bot=dan%2Fbroken",
        "live in an archive": "/live?ladder=greed",
        "rules": "/rules",
        "documents": "/docs",
        "first bot": "/docs/tutorial/first-bot",
        "protocol": "/docs/reference/protocol",
        "rulings": "/docs/reference/rulings",
        "api": "/api/v1",
    }[place]


def judged(page: Page) -> list[str]:
    """What axe finds serious or critical."""
    page.evaluate(AXE)
    found = page.evaluate(
        "axe.run(document, {resultTypes: ['violations'], rules: {'target-size': {enabled: true}}})"
        ".then(told => told.violations)"
    )
    return [
        f"{one['impact']} {one['id']}: {node['target']} {node['failureSummary']} {node['html'][:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"][:3]
    ]


def shifted(page: Page) -> float:
    """How far the page has moved under the reader since it was opened: the sum of its layout shifts."""
    moved: float = page.evaluate(
        """async () => {
            await document.fonts.ready;
            let sum = 0;
            new PerformanceObserver((list) => { for (const one of list.getEntries()) sum += one.value; })
                .observe({ type: "layout-shift", buffered: true });
            await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
            return sum;
        }"""
    )
    return moved


def judged_in_both_colours(page: Page) -> list[str]:
    """What axe finds in light and in dark colours, and whether the page moved under the reader when it was opened."""
    found = [] if (moved := shifted(page)) < LARGEST_SHIFT else [f"moved by {moved}"]
    for colours in ("light", "dark"):
        page.emulate_media(color_scheme=colours, reduced_motion="reduce")
        found += [f"{colours}: {line}" for line in judged(page)]
    return found


def widest(page: Page) -> str:
    """The element that sticks out of the page, if the body scrolls sideways."""
    found: str = page.evaluate(
        """() => {
            const root = document.documentElement;
            if (root.scrollWidth <= root.clientWidth) return "";
            const out = [...document.querySelectorAll("body *")].filter(
                (one) => one.getBoundingClientRect().right > root.clientWidth + 1 && !one.closest(".scrolls, pre"));
            return out.map((one) => one.outerHTML.slice(0, 120)).slice(0, 5).join("\\n") || "something";
        }"""
    )
    return found


@pytest.mark.parametrize("place", TRIED)
def test_a_page_can_be_read_by_anybody(site: str, watched: Watched, place: str) -> None:
    path = address(site, place)
    light = watched.page(color_scheme="light", reduced_motion="reduce")
    answer = light.goto(site + path)
    assert answer is not None
    assert answer.status == (404 if place == "live in an archive" and answer.status == 404 else 200)
    if answer.status == 404:
        watched.forgive("404")
    light.wait_for_load_state()
    assert shifted(light) < LARGEST_SHIFT
    assert light.locator("h1").count() == 1
    assert light.title().endswith("Cutpurse")
    assert judged(light) == []
    dark = watched.page(color_scheme="dark", viewport=PHONE, reduced_motion="reduce")
    dark.goto(site + path)
    dark.wait_for_load_state()
    assert shifted(dark) < LARGEST_SHIFT
    assert judged(dark) == []
    assert widest(dark) == ""
    if answer.status == 404:
        watched.forgive("404")


@pytest.mark.parametrize("place", ["match", "replay of greed"])
def test_paper_is_white_though_the_screen_is_dark(site: str, watched: Watched, place: str) -> None:
    """Browsers leave the background out: light letters would be on white."""
    page = watched.page(color_scheme="dark")
    page.goto(site + address(site, place))
    ink = "getComputedStyle(document.querySelector('main')).color"
    paper = "getComputedStyle(document.querySelector(':root')).colorScheme"
    assert page.evaluate(f"[{ink}, {paper}]")[1] == "light dark"
    dark = page.evaluate(ink)
    page.emulate_media(media="print", color_scheme="dark")
    printed, scheme = page.evaluate(f"[{ink}, {paper}]")
    assert scheme == "light"
    assert printed != dark
    page.emulate_media(media="screen", color_scheme="light")
    assert page.evaluate(ink) == printed


@pytest.mark.parametrize("place", TRIED)
def test_a_page_works_without_scripts(site: str, watched: Watched, place: str) -> None:
    path = address(site, place)
    with_scripts = watched.page(reduced_motion="reduce")  # else the live page plays on
    without = watched.page(java_script_enabled=False)
    for page in (with_scripts, without):
        page.goto(site + path)
    if place == "live in an archive":
        watched.trouble.clear()
    assert without.inner_text("h1") == with_scripts.inner_text("h1")
    links = "main a[href]"
    assert without.locator(links).count() >= 0.9 * with_scripts.locator(links).count()
    assert len(without.inner_text("main")) > 0.6 * len(with_scripts.inner_text("main"))


@pytest.mark.parametrize("place", ["home", "ladder", "bot", "matches", "match", "replay of greed", "rules of greed"])
def test_a_page_can_be_used_by_the_keyboard(site: str, page: Page, place: str) -> None:
    page.goto(site + address(site, place))
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    box = page.locator(".skip").bounding_box()
    assert box is not None
    assert box["x"] >= 0  # it is seen once it has the focus
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.activeElement.closest('main') !== null")
    seen = set()
    for _ in range(12):
        page.keyboard.press("Tab")
        told = page.evaluate(
            """() => {
                const one = document.activeElement, style = getComputedStyle(one);
                const isSeen = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
                return [one.outerHTML.slice(0, 200), isSeen];
            }"""
        )
        if told[0].startswith("<body"):
            break
        assert told[1], f"no focus to be seen on {told[0]}"
        seen.add(told[0])
    assert len(seen) > 3


@pytest.mark.parametrize("name", [*HOSTILE, "\N{RIGHT-TO-LEFT OVERRIDE}gnp.evil"])
def test_a_name_is_text_on_every_page_that_has_it(site: str, watched: Watched, name: str) -> None:
    """Those of bots, owners and versions; a browser would run what it takes for a script, and that is noticed."""
    bots = asked(site, "/bots")["bots"]
    known = next(one["bot"] for one in bots if one["bot"]["bot"].startswith(name))
    path = f"owner={quote(known['owner'], safe='')}&bot={quote(known['bot'], safe='')}"
    matches = asked(site, f"/matches?{path}&limit=500")["matches"]
    played = next(one for one in matches if not one["void_cause"])
    page = watched.page()
    shown = name if name.isprintable() else name[1:]
    for where in (
        f"/ladders/{played['ladder']}?every_version=true",
        f"/matches/{played['match']}",
        f"/matches/{played['match']}/replay",
        f"/matches?bot={quote(known['owner'] + '/' + known['bot'], safe='')}",
        f"/bots/{quote(known['owner'], safe='')}/{quote(known['bot'], safe='')}",
        "/",
    ):
        answer = page.goto(site + where)
        assert answer is not None
        assert answer.status == 200, where
        page.wait_for_load_state()
        if where != "/":
            text = page.inner_text("body") + " ".join(
                page.locator("[title]").evaluate_all("all => all.map(one => one.title)")
            )
            assert shown[:24] in text, where
        assert page.locator("main script, main img[onerror], [onmouseover]").count() == 0
        assert "\N{RIGHT-TO-LEFT OVERRIDE}" not in page.inner_text("body")


def test_a_private_ladder_is_on_no_page(site: str, page: Page) -> None:
    for path in ("/", "/matches", "/bots/ann/sneak", "/bots/bob/thug", "/api/v1/bots", "/ladders/greed"):
        page.goto(site + path)
        assert PRIVATE not in page.content()


def test_what_is_not_there_is_told_on_a_page(site: str, watched: Watched) -> None:
    page = watched.page(viewport=PHONE)
    answer = page.goto(f"{site}/ladders/nowhere")
    assert answer is not None
    assert answer.status == 404
    watched.forgive("404")
    assert judged(page) == []
    assert widest(page) == ""
    page.click("nav a:has-text('Matches')")
    assert page.inner_text("h1") == "Matches"


def test_a_command_can_be_copied(site: str, watched: Watched) -> None:
    page = watched.page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(site + address(site, "match"))
    page.click("pre.copy button")
    page.wait_for_selector("pre.copy button:has-text('Copied')")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("cutpurse match verify ")
    assert len(copied) > 40


def test_a_rule_is_found_by_its_number(site: str, page: Page) -> None:
    page.goto(f"{site}/rules/greed#GR-3.6")
    rule = page.locator("[id='GR-3.6']")
    assert rule.inner_text().startswith("GR-3.6 Bust")
    box = rule.bounding_box()
    assert box is not None
    assert 0 <= box["y"] < 720
    page.locator("[id='GR-2.5'] a").first.click()
    assert page.url.endswith("#GR-2.5")


def test_a_long_name_above_a_column_ends_where_its_heading_does(page: Page, site: str) -> None:
    page.goto(f"{site}/ladders/greed/head-to-head")
    name, heading = page.evaluate(
        """() => {
            const heading = document.querySelector(".turned"), name = heading.querySelector(".bot");
            name.firstChild.textContent = "slow_and_steady_wins_the_race_32";
            return [name, heading].map((one) => one.getBoundingClientRect().height);
        }"""
    )
    assert 100 < name <= heading
