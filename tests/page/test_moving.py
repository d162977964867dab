"""Rankings that move by themselves in a real browser, on a server where bots play."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import grpc
import pytest
from playwright.sync_api import Browser, Page, Route

from cutpurse.v1 import ladder_pb2, ladder_pb2_grpc
from tests.page.browser import Watched, keeping_pages
from tests.page.leagues import LiveLeague, live_league

PLAYED = """() => [...document.querySelectorAll(".rankings tbody tr")]
    .reduce((sum, row) => sum + Number(row.children[4].textContent.replace(",", "")), 0)"""


def test_rankings_change_without_a_reload(live: LiveLeague, page: Page) -> None:
    page.goto(f"{live.page}/ladders/greed")
    page.evaluate("window.isTheSamePage = true")
    page.wait_for_function(f"() => ({PLAYED})() > 0")
    before = page.evaluate(PLAYED)
    page.wait_for_function(f"() => ({PLAYED})() > {before}")
    assert page.evaluate("window.isTheSamePage")
    rows = page.locator(".rankings tbody tr")
    assert rows.count() > 3
    shown = [rows.nth(number).inner_text() for number in range(rows.count())]
    assert all(re.match(r"\s*(\d+|not placed yet)\b", text) for text in shown)


def test_one_that_rises_slides_to_its_place_and_is_told_to_who_listens(live: LiveLeague, page: Page) -> None:
    page.goto(f"{live.page}/ladders/greed")
    page.wait_for_selector(".rankings tbody tr:nth-child(3)")
    # What the server sent, with the second row first: so the next that it sends moves both of them back.
    moved = page.evaluate(
        """() => new Promise((done) => {
            const body = document.querySelector(".rankings tbody"), status = document.getElementById("status");
            const [first, second] = body.rows;
            [first.dataset.place, second.dataset.place] = [second.dataset.place, first.dataset.place];
            body.insertBefore(second, first);
            const animate = Element.prototype.animate, slid = [];
            Element.prototype.animate = function (...given) {
                slid.push(this.dataset.key);
                return animate.apply(this, given);
            };
            new MutationObserver(() => done([slid.length, status.textContent])).observe(status, {childList: true});
        })"""
    )
    assert moved[0] >= 2
    assert re.search(r" is now number \d+\.", moved[1])  # which one, the bots have a say in


def test_who_wants_no_motion_sees_none(live: LiveLeague, watched: Watched) -> None:
    page = watched.page(reduced_motion="reduce")
    page.goto(f"{live.page}/")
    page.evaluate("() => { Element.prototype.animate = () => { throw new Error('something moves'); }; }")
    page.evaluate(
        """() => new Promise((done) => new MutationObserver(done).observe(
            document.getElementById("moving"), {childList: true}))"""
    )


@pytest.mark.parametrize("path", ["/", "/live?ladder=greed"])
def test_a_page_that_is_come_back_to_moves_again(live: LiveLeague, browser: Browser, path: str) -> None:
    with keeping_pages(browser) as keeps:
        watched = Watched(keeps)
        page = watched.page()
        page.goto(live.page + path)
        page.evaluate("window.isTheSamePage = true")
        page.goto(f"{live.page}/rules")
        page.go_back(wait_until="commit")
        page.wait_for_function("window.isTheSamePage")
        page.evaluate(
            """() => new Promise((done) => new MutationObserver(done).observe(
                document.querySelector("#moving, #moment"), {childList: true}))"""
        )
        streams = [address for address in watched.asked if "/streams/" in address]
        assert len(streams) == 2  # one each time
        watched.close()
    assert watched.trouble == []


def test_a_page_whose_stream_was_refused_asks_for_it_again(live: LiveLeague, watched: Watched) -> None:
    """As while the arena is started anew: browsers take a refusal for the last word."""
    page, asked = watched.page(), []

    def refuse_once(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) == 1:
            route.fulfill(status=503)
        else:
            route.continue_()

    page.route("**/streams/**", refuse_once)
    page.clock.install()
    page.goto(f"{live.page}/ladders/greed")
    page.wait_for_selector(".away-note:visible")
    page.clock.run_for(5_000)
    page.wait_for_selector(".away-note", state="hidden")
    assert len(asked) == 2
    watched.forgive("503")


def test_when_the_arena_is_gone_the_page_says_that_it_may_be_old(tmp_path: Path, watched: Watched) -> None:
    page = watched.page()
    with live_league(tmp_path) as league:
        page.goto(f"{league.page}/ladders/greed")
        page.wait_for_selector(".rankings tbody tr")
        league.server.signal(signal.SIGKILL)
        page.wait_for_selector(".away-note:visible")
        assert page.locator(".rankings tbody tr").count() >= 1
    watched.trouble.clear()  # the browser tells of a connection that was lost and of one that was refused


def test_a_ladder_that_is_deleted_while_it_is_looked_at_is_told_as_gone(live: LiveLeague, watched: Watched) -> None:
    page = watched.page()
    with grpc.insecure_channel(live.server.address) as channel:
        league = ladder_pb2_grpc.LadderServiceStub(channel)
        terms = ladder_pb2.LadderTerms(owners=["zoe"])  # so that no match begins there
        brief = ladder_pb2.LadderDefined(name="brief", game="greed", terms=terms)
        league.CreateLadder(ladder_pb2.CreateLadderRequest(ladder=brief))
        with page.expect_response("**/streams/ladders/brief"):
            page.goto(f"{live.page}/ladders/brief")
        league.DeleteLadder(ladder_pb2.DeleteLadderRequest(ladder="brief"))
        page.wait_for_selector(".away-note:has-text('not shown here any more')")


def test_without_javascript_a_ladder_is_all_there(live: LiveLeague, watched: Watched) -> None:
    page = watched.page(java_script_enabled=False)
    page.goto(f"{live.page}/ladders/greed")
    assert page.locator("h1").inner_text() == "Greed"
    assert page.locator(".copy:visible").count() == 0
    page.goto(f"{live.page}/")
    assert page.locator("ol.commands li").count() == 5


def test_the_first_commands_can_be_copied(live: LiveLeague, watched: Watched) -> None:
    page = watched.page(permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"{live.page}/")
    page.locator(".copy").last.click()
    page.wait_for_function("() => document.querySelectorAll('.copy')[4].firstChild.textContent === 'Copied'")
    said = page.evaluate("navigator.clipboard.readText()")
    assert said == f"cutpurse bot run my_bot/my_bot.py --game greed --server {live.server.address}"


@pytest.mark.parametrize("width", [360, 390, 1280])
def test_who_leads_can_be_read_and_compared_at_any_width(live: LiveLeague, watched: Watched, width: int) -> None:
    page = watched.page(viewport={"width": width, "height": 740})
    page.goto(f"{live.page}/")
    page.wait_for_selector(".leaders li:nth-child(2)")
    drawn = page.evaluate(
        """() => {
            const rows = [...document.querySelector(".leaders:has(li:nth-child(2))").children];
            rows.forEach((row, at) => {
                row.querySelector("bdi").textContent = ["house/greedy", "house/random", "dumb"][at % 3];
                row.querySelector(".number").innerHTML = ["<b>42.2</b> ± 4.1", "<b>9.8</b> ± 11.4", ""][at % 3];
            });
            return rows.map((row) => {
                const name = row.querySelector(".bot"), place = row.querySelector(".interval").getBoundingClientRect();
                return {cut: name.scrollWidth > name.clientWidth, left: place.left, width: place.width};
            });
        }"""
    )
    assert not [row for row in drawn if row["cut"]]
    assert len({(row["left"], row["width"]) for row in drawn}) == 1, "each has a scale of its own"
    assert drawn[0]["width"] >= 32


def test_on_a_phone_no_word_of_the_first_commands_is_broken(live: LiveLeague, watched: Watched) -> None:
    page = watched.page(viewport={"width": 360, "height": 740})
    page.goto(f"{live.page}/")
    page.locator(".commands .copy").first.wait_for()
    rows = """(query) => [...document.querySelectorAll(query)].map((one) => {
        const range = document.createRange();
        range.selectNodeContents(one.firstChild);
        return [one.textContent, range.getClientRects().length];
    })"""
    words = page.evaluate(rows, ".commands .word")
    assert ["--game", 1] in words
    assert [word for word, lines in words if lines != 1 and not word.startswith("/")] == []
    assert {lines for _, lines in page.evaluate(rows, ".commands .copy")} == {1}
