"""Looking at once: the live page is never empty, lists play by themselves, and the remarkable matches are found."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from cutpurse.v1 import arena_pb2, ladder_pb2
from tests.looking import until
from tests.page.browser import Watched
from tests.page.leagues import PRIVATE
from tests.page.serving import page_of, page_of_file
from tests.page.test_every_page import judged
from tests.page.test_frame import EMPTY
from tests.typed import run


@pytest.fixture(scope="module")
def page(league_db: Path) -> Iterator[TestClient]:
    with page_of_file(league_db) as page:
        yield page


def played(page: TestClient, query: str) -> list[dict[str, Any]]:
    matches: list[dict[str, Any]] = page.get(f"/api/v1/matches?{query}").json()["matches"]
    return [match for match in matches if not match["void_cause"] and match["decisions"]]


def data(html: str, name: str) -> str:
    (value,) = re.findall(rf'data-{name}="([^"]*)"', html)
    return unescape(value)


def is_whole(page: TestClient, address: str) -> bool:
    """Return whether all matches of a list have been looked at."""
    return "looked at" not in page.get(address).text


def test_the_live_page_shows_the_last_match_and_leads_to_the_next(page: TestClient) -> None:
    html = page.get("/live").text
    last = played(page, "limit=50")[0]["match"]
    assert f'href="/matches/{last}/replay"' in html
    assert (data(html, "at"), data(html, "following")) == ("0", "/live?number=1")
    following = page.get("/live?number=1").text
    assert last not in data(following, "frames")
    assert re.search(r"<b>(Upset|Close end|Comeback|Large steal): [^<]+</b>", following)
    assert data(page.get("/live?ladder=szmal").text, "following") == "/live?ladder=szmal&number=1"


def test_the_live_page_follows_the_best_open_match_above_the_list_of_all() -> None:
    defined = [ladder_pb2.LadderDefined(name=name, game="greed", seats=2) for name in ("greed", "duel", "sealed")]
    defined[2].boards = ladder_pb2.BOARD_KIND_DUPLICATE
    owners = {"duel": "ann", "greed": "house", "sealed": "ann"}
    matches = [
        ladder_pb2.OpenMatch(
            match=number * 32,
            ladder=ladder,
            game="greed",
            started_ms=int(number),
            is_sealed=ladder == "sealed",
            seats=[arena_pb2.SeatTaken(owner=owner, bot="bot", version="1")],
        )
        for number, (ladder, owner) in zip("123", owners.items(), strict=True)
    ]
    answers = {
        **EMPTY,
        "ListLadders": lambda _: ladder_pb2.ListLaddersResponse(
            ladders=[ladder_pb2.LadderShown(defined=terms) for terms in defined]
        ),
        "ListOpenMatches": lambda _: ladder_pb2.ListOpenMatchesResponse(matches=matches),
    }
    html = page_of(answers).get("/live").text
    assert data(html, "events") == "/streams/live?ladder=duel"
    assert re.findall(r'href="/live/(\d)', html) == ["1", "2"]
    assert 'href="#playing"' in html


def test_matches_are_found_by_what_is_remarkable_as_the_command_finds_them(page: TestClient, league_db: Path) -> None:
    for kind in ("upset", "close", "comeback", "steal"):
        address = f"/matches?best={kind}"
        until(partial(is_whole, page, address), f"{kind} is found")
        html = page.get(address).text
        listed = re.findall(r'<th scope="row"><a class="match" href="/matches/([0-9a-f]{32})">', html)
        assert len(listed) > 2
        if kind == "upset":
            command = ("match", "list", "--best", kind, "--db", league_db, "--limit", 500, "--json")
            rows = json.loads(run(*command).stdout)["matches"]
            assert listed == [row["match"] for row in rows if row["ladder"] != PRIVATE][:20]
        ats = [int(at) for at in re.findall(r"/replay\?at=(\d+)#play", html)]
        assert len(ats) == (len(listed) if kind in ("comeback", "steal") else 0)
        names = html.split('href="/show?matches=')[1].partition('"')[0].split(",")
        assert names == [match[:12] for match in listed]
    assert page.get("/matches?best=boring").status_code == 400
    both = page.get("/matches?best=close&bot=ann/sneak,bob/thug").text
    assert all("ann/sneak" in row and "bob/thug" in row for row in both.split("<tr")[2:])


def test_a_list_of_the_host_plays_by_itself_without_menus_or_the_result(
    page: TestClient, site: str, watched: Watched
) -> None:
    shortest = sorted(played(page, "ladder=steal_and_plunder&limit=50"), key=lambda match: match["decisions"])
    first, second = [match["match"] for match in shortest[:2]]
    screen = watched.page(viewport={"width": 1440, "height": 900})
    screen.clock.install()
    screen.goto(f"{site}/show?matches={first[:8]},nothing00,{second[:8]}")
    screen.wait_for_selector('html[data-moment="0"]')
    assert first in (screen.get_attribute("#player", "data-frames") or "")
    assert screen.locator(".site, .bar nav, .bottom").count() == 0
    assert screen.evaluate("getComputedStyle(document.querySelector('.menus')).opacity") == "0"
    assert screen.evaluate("document.getElementById('turning')?.textContent ?? ''") == ""
    ended = False
    for _ in range(2_000):
        if "number=1" in screen.url:
            break
        ended = ended or screen.locator(".decided.over").count() == 1
        screen.clock.run_for(500)
    assert ended
    screen.wait_for_selector("#player")
    assert second in (screen.get_attribute("#player", "data-frames") or "")


def test_a_link_to_a_moment_plays_on_from_there(page: TestClient, site: str, watched: Watched) -> None:
    match = played(page, "ladder=szmal&limit=5")[0]["match"]
    reader = watched.page()
    reader.goto(f"{site}/matches/{match}/replay?at=5#play")
    reader.wait_for_selector('html[data-moment="7"]')
    reader.keyboard.press("Home")
    reader.wait_for_selector('html[data-moment="0"]')
    assert reader.get_attribute("#play", "aria-label") == "play"
    still = watched.page(reduced_motion="reduce")
    still.goto(f"{site}/matches/{match}/replay?at=5#play")
    still.wait_for_selector('html[data-moment="5"]')
    assert still.get_attribute("#play", "aria-label") == "play"


STUB = """
window.pitches = [];
window.AudioContext = class {
    state = "running"; currentTime = 0; destination = {};
    createGain() { return { gain: { setValueAtTime() {}, exponentialRampToValueAtTime() {} }, connect: (to) => to }; }
    createOscillator() {
        const frequency = { set value(pitch) { pitches.push(pitch); } };
        return { frequency, connect: (to) => to, start() {}, stop() {} };
    }
    resume() { this.state = "running"; }
    suspend() { this.state = "suspended"; }
};
"""


def test_sound_is_off_until_it_is_switched_on_and_remembered(page: TestClient, site: str, watched: Watched) -> None:
    match = played(page, "ladder=bag_o_loot&limit=5")[0]["match"]
    reader = watched.page()
    reader.add_init_script(STUB)
    reader.goto(f"{site}/matches/{match}/replay")
    reader.keyboard.press("ArrowRight")
    reader.wait_for_selector('html[data-moment="1"]')
    assert reader.evaluate("pitches") == []
    reader.keyboard.press("m")
    reader.keyboard.press("s")  # the next steal
    reader.wait_for_selector(".entries .now.steal")
    assert reader.evaluate("pitches") == [392, 262]
    reader.reload()
    reader.keyboard.press("End")
    reader.wait_for_selector(".decided.over")
    assert reader.evaluate("pitches.slice(-3)") == [523, 659, 784]
    reader.keyboard.press("m")
    before = reader.evaluate("pitches.length")
    reader.keyboard.press("Home")
    reader.wait_for_selector('html[data-moment="0"]')
    assert reader.evaluate("pitches.length") == before


@pytest.mark.parametrize("path", ["/show", "/live", "/matches?best=steal"])
def test_these_pages_can_be_read_by_anybody(site: str, watched: Watched, path: str) -> None:
    for wishes in ({"color_scheme": "light"}, {"color_scheme": "dark", "viewport": {"width": 390, "height": 844}}):
        reader = watched.page(reduced_motion="reduce", **wishes)
        reader.goto(site + path)
        if "best" in path:  # it is loaded again while records are still looked at
            reader.wait_for_selector("[data-awaits]", state="detached")
        assert judged(reader) == []
        assert reader.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
