"""The everyday questions of `docs/how-to/use_the_page.md`: each is answered within two clicks."""

from __future__ import annotations

import json
import re
import urllib.request
from collections.abc import Callable
from typing import Final

import pytest
from playwright.sync_api import Locator, Page

from tests.page.leagues import LiveLeague
from tests.roots import CHECKOUT

MOST: Final = 2
TABLE: Final = re.findall(
    r"^\| (\d+) \| (.*?) \| (.*?) \|$",
    (CHECKOUT / "docs" / "how-to" / "use_the_page.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)


class Reader:
    """Somebody with a question, who begins at the first page and clicks."""

    def __init__(self, page: Page, site: str) -> None:
        self.page = page
        self.site = site
        self.clicks = 0
        answer = page.goto(site, wait_until="domcontentloaded")  # pictures come later
        assert answer is not None
        assert answer.status == 200

    def click(self, where: str | Locator) -> None:
        """Follow a link, or press a button."""
        found = self.page.locator(where) if isinstance(where, str) else where
        found.first.click()
        self.page.wait_for_load_state()
        self.clicks += 1

    def find(self, bot: str) -> None:
        """Write the name of a bot and look for it."""
        self.page.fill("main form[action='/bots'] input", bot)
        self.click("main form[action='/bots'] button")

    def click_a_match(self) -> None:
        """Follow the newest match on the page that counts; a void one may have no record."""
        names = self.page.locator("main a.match").evaluate_all("all => all.map(one => one.getAttribute('href'))")
        for path in names:
            if json.load(urllib.request.urlopen(f"{self.site}/api/v1{path}"))["match"]["rated_number"]:
                self.click(f"main a[href='{path}']")
                return
        raise AssertionError(f"no match that counts among {names}")

    def reads(self, pattern: str, where: str = "main") -> None:
        """Return what the reader sees then."""
        text = self.page.inner_text(where)
        assert re.search(pattern, text), text[:2_000]


def who_leads(reader: Reader) -> None:
    reader.reads(r"(?s)Greed.*?±.*?(too close to call|sure)", "main")
    reader.click("main a[href='/ladders/greed']")
    reader.reads(r"leads\.")
    reader.reads(r"probability of 95 %")


DECIDED = r"(?s)won (together )?with .*(for the last time|ever ahead|at the end)"


def why_did_my_bot_lose(reader: Reader) -> None:
    reader.find("bob/thug")
    lost = reader.page.locator("section[aria-labelledby=newest] li", has_not=reader.page.locator(".place-1"))
    reader.click(lost.locator("a.match"))
    assert re.search(DECIDED, reader.page.inner_text("main .how"))
    reader.reads(r"(?s)Place.*Score.*bob/thug")


def did_it_time_out(reader: Reader) -> None:
    with urllib.request.urlopen(f"{reader.site}/api/v1/matches?ladder=greed&owner=dan&faulted=true") as told:
        seats = json.load(told)["matches"][0]["seats"]
    name = next(seat["bot"]["bot"] for seat in seats if seat["bot"]["owner"] == "dan" and seat["faults"])
    reader.find(f"dan/{name}")
    reader.reads(r"(?s)Where it failed.* at decision \d+ of seat")
    reader.click("section[aria-labelledby=faults] a:text-is('show it')")
    reader.reads(r"Moment \d+ of \d+")
    assert re.search(r"/replay\?at=\d+&seat=\d", reader.page.url)


def show_me_the_steal(reader: Reader) -> None:
    reader.click("main a.table-picture[href*='/replay']")
    before = reader.page.locator("#position").inner_text()
    reader.click(".menus > a[data-go='steal']")
    reader.page.wait_for_function("before => document.querySelector('#position').innerText !== before", arg=before)
    reader.page.wait_for_selector(".log .now.steal")
    reader.page.wait_for_selector(".taken", state="attached")


def is_the_deal_honest(reader: Reader) -> None:
    reader.click_a_match()
    reader.reads(r"(?s)Was the deal honest\?.*cutpurse match verify [0-9a-f]{32}")
    with reader.page.expect_download() as download:
        reader.page.locator("a:text-is('Download the match file')").click()
        reader.clicks += 1
    assert download.value.suggested_filename.endswith(".jsonl")


def who_is_playing_now(reader: Reader) -> None:
    reader.page.wait_for_selector("main a[href^='/live/']")
    reader.click("main a[href^='/live/']")
    reader.reads(r"Live|Match", "body")  # that may be over just then


def how_did_my_new_version_do(reader: Reader) -> None:
    reader.click("main a[href='/ladders/greed']")
    reader.click("a:text-is('Every version')")
    found = re.findall(r"ann/sneak\s*([12])", reader.page.inner_text("main table"))
    assert sorted(found) == ["1", "2"]


def which_opponents_beat_me(reader: Reader) -> None:
    reader.click("main a[href='/ladders/greed']")
    reader.click("main table a:has-text('bob/thug')")
    reader.reads(r"(?s)Against whom.*%")


def what_are_the_rules(reader: Reader) -> None:
    reader.click("nav a:text-is('Rules')")
    reader.click("main a:text-is('Szmal')")
    reader.reads(r"SZ-3\.3")


def how_do_i_begin(reader: Reader) -> None:
    reader.click("nav a:text-is('Write a bot')")
    reader.reads(r"(?s)Write your first bot.*class Bot")


def who_was_ahead_and_why(reader: Reader) -> None:
    reader.click_a_match()
    assert re.search(DECIDED, reader.page.inner_text("main .how"))
    assert reader.page.locator("main .story-of-match svg.timeline").is_visible()
    assert reader.page.locator("main .swings li").count() > 0


def how_do_i_play(reader: Reader) -> None:
    reader.click("nav a:text-is('Rules')")
    reader.click("main a:text-is('Greed')")
    pictures = reader.page.locator("main article img")
    assert pictures.count() == 3
    assert pictures.evaluate_all("all => all.every(one => one.alt.length > 10)")


WAYS: Final[dict[str, Callable[[Reader], None]]] = {
    "Who leads, and is that sure?": who_leads,
    "Why did my bot lose?": why_did_my_bot_lose,
    "Did it time out?": did_it_time_out,
    "Show me the steal.": show_me_the_steal,
    "Is the deal honest?": is_the_deal_honest,
    "Who is playing now?": who_is_playing_now,
    "How did my new version do against the old one?": how_did_my_new_version_do,
    "Which opponents beat me?": which_opponents_beat_me,
    "What are the rules of Szmal?": what_are_the_rules,
    "How do I begin?": how_do_i_begin,
    "Who was ahead, and why?": who_was_ahead_and_why,
    "How do I play Greed?": how_do_i_play,
}


def test_the_page_on_the_page_names_these_questions() -> None:
    assert [question for _, question, _ in TABLE] == list(WAYS)
    for _, _, way in TABLE:
        assert len(re.findall(r"\*\*.+?\*\*", way)) <= MOST


@pytest.mark.parametrize("question", [one for one in WAYS if one != "Who is playing now?"])
def test_a_question_is_answered_within_two_clicks(site: str, page: Page, question: str) -> None:
    reader = Reader(page, site)
    WAYS[question](reader)
    told = next(way for _, named, way in TABLE if named == question)
    assert reader.clicks == len(re.findall(r"\*\*.+?\*\*", told)) <= MOST


@pytest.mark.full
def test_who_is_playing_now_is_answered_within_two_clicks(live: LiveLeague, page: Page) -> None:
    reader = Reader(page, live.page)
    who_is_playing_now(reader)
    assert reader.clicks == 1
