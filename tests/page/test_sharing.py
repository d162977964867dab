"""What is shown of a match or a bot elsewhere: titles and previews of links, badges, and what crawlers may fetch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from urllib.robotparser import RobotFileParser
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from cutpurse.wire.text import printable
from tests.page.serving import page_of_file

SVG: Final = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def page(league_db: Path) -> Iterator[TestClient]:
    with page_of_file(league_db) as page:
        yield page


def matches_of(page: TestClient, query: str) -> list[dict[str, Any]]:
    matches: list[dict[str, Any]] = page.get(f"/api/v1/matches?{query}").json()["matches"]
    return matches


def og(html: str, name: str) -> str:
    (content,) = re.findall(rf'<meta property="og:{name}" content="([^"]*)">', html)
    return unescape(content)


def test_titles_and_previews_say_who_won_which_game(page: TestClient) -> None:
    seen = set()
    for match in matches_of(page, "limit=200"):
        seats = sorted(match["seats"], key=lambda seat: seat["place"] or 0)
        first = [printable(seat["bot"]["bot"], 64) for seat in seats if seat["place"] == 1]
        kind = (len(first), len(seats), bool(match["void_cause"]))
        if kind in seen:
            continue
        seen.add(kind)
        address = f"/matches/{match['match']}"
        title = og(page.get(address).text, "title")
        if match["void_cause"]:
            assert title.endswith(", void · Cutpurse")
            continue
        assert all(name in title for name in first), title
        assert (" against " in title) == (0 < len(seats) - len(first) < 4)
        replayed = page.get(f"{address}/replay?at=3").text
        assert og(replayed, "title") == title.replace(" · Cutpurse", " · Replay · Cutpurse")
        assert og(replayed, "image").endswith("?at=3")
    assert {is_void for _, _, is_void in seen} == {False, True}


def test_a_badge_has_place_and_rating_as_the_ranking_has_them(page: TestClient) -> None:
    rows = page.get("/api/v1/ladders/greed/rankings").json()["rankings"]
    bots = [(row["bot"]["owner"], row["bot"]["bot"]) for row in rows]
    placed = [row for row in rows if row["place"]]
    for row, (owner, name) in zip(rows, bots, strict=True):
        answer = page.get(f"/badges/bots/{quote(owner, safe='')}/{quote(name, safe='')}?ladder=greed")
        assert answer.headers["content-type"] == "image/svg+xml"
        title = ElementTree.fromstring(answer.content).findtext(f"{SVG}title") or ""
        assert title.startswith("greed: ")
        assert (f" of {len(placed)} · " in title) == bool(row["place"])
        if row.get("rating") is not None:
            assert f"{row['rating']:.1f} ±" in title
    bot = "/".join([quote(name, safe="") for name in bots[0]])
    html = page.get(f"/bots/{bot}?ladder=greed").text
    assert f'src="/badges/bots/{bot}?ladder=greed"' in html
    assert f"1st of {len(placed)} on greed" in og(html, "description")
    tag = page.get(f"/badges/bots/{bot}").headers["etag"]
    assert page.get(f"/badges/bots/{bot}", headers={"If-None-Match": tag}).status_code == 304


@pytest.mark.parametrize(
    "path", ["/badges/bots/ann/nobody", "/badges/bots/ann/sneak?ladder=hushed", "/badges/bots/ann"]
)
def test_there_is_no_badge_of_what_nobody_may_see(page: TestClient, path: str) -> None:
    assert page.get(path).status_code == 404


def test_previews_may_fetch_a_match_and_crawlers_may_not(page: TestClient) -> None:
    robots = RobotFileParser()
    robots.parse(page.get("/robots.txt").text.splitlines())
    for path in ("/matches/ab12/replay?at=3", "/matches/ab12/picture.png", "/ladders/greed"):
        assert robots.can_fetch("Twitterbot/1.0", path)
        assert robots.can_fetch("Googlebot", path) == path.startswith("/ladders")
    assert not robots.can_fetch("facebookexternalhit/1.1", "/host")
