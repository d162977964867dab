"""The Atom feeds of ladders and bots: what a feed reader gets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.reader import LeaderboardReader
from tests.page.leagues import PRIVATE
from tests.page.serving import page_of_file

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def page(league_db: Path) -> Iterator[TestClient]:
    with page_of_file(league_db) as page:
        yield page


def feed_of(page: TestClient, address: str) -> ElementTree.Element:
    """Return a feed, after a check of what RFC 4287 requires of one."""
    answer = page.get(address)
    assert answer.status_code == 200, address
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(answer.content)
    assert feed.tag == f"{ATOM}feed"
    for one in (feed, *feed.iter(f"{ATOM}entry")):
        assert [len(one.findall(f"{ATOM}{name}")) for name in ("id", "title", "updated")] == [1, 1, 1]
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    return feed


def matches_of(feed: ElementTree.Element) -> list[str]:
    return [str(one.findtext(f"{ATOM}id")).rpartition(":")[2] for one in feed.iter(f"{ATOM}entry")]


def test_the_feed_of_a_ladder_lists_its_newest_matches(page: TestClient, league_db: Path) -> None:
    with LeaderboardReader(league_db) as reader:
        ladder = next(match.ladder for match in reader.run(queries.matches, limit=1_000) if match.ladder != PRIVATE)
        stored = reader.run(queries.matches, ladder, limit=50)
    feed = feed_of(page, f"/feeds/ladders/{quote(ladder)}")
    assert matches_of(feed) == [match.match for match in stored]
    for match, entry in zip(stored, feed.iter(f"{ATOM}entry"), strict=True):
        link = entry.find(f"{ATOM}link")
        assert link is not None
        assert page.get(link.attrib["href"]).status_code == 200
        title = str(entry.findtext(f"{ATOM}title"))
        assert ("Void match on" in title) if match.void_cause else ("won on" in title)


def test_every_bot_has_a_feed_with_the_address_of_its_page(page: TestClient, league_db: Path) -> None:
    with LeaderboardReader(league_db) as reader:
        bots = {(one.owner, one.bot) for one in reader.run(queries.bots)}
    assert any("<script>" in bot for _, bot in bots)
    for owner, bot in bots:
        feed = feed_of(page, f"/feeds/bots/{quote(owner, safe='')}/{quote(bot, safe='')}")
        addresses = {link.attrib["rel"]: link.attrib["href"] for link in feed.findall(f"{ATOM}link")}
        assert addresses["self"] == "http://arena.test/feeds" + addresses["alternate"].removeprefix("http://arena.test")
        shown = page.get(addresses["alternate"])
        assert shown.status_code == 200
        assert f'href="{addresses["self"].removeprefix("http://arena.test")}"' in shown.text


@pytest.mark.parametrize(
    "address", ["/feeds/ladders/nowhere", f"/feeds/ladders/{PRIVATE}", "/feeds/bots/ann", "/feeds/bots/a/b"]
)
def test_there_is_no_feed_of_what_is_not_shown(page: TestClient, address: str) -> None:
    assert page.get(address).status_code == 404


def test_a_feed_that_a_reader_has_is_not_sent_again(page: TestClient, league_db: Path) -> None:
    with LeaderboardReader(league_db) as reader:
        one = next(iter(reader.run(queries.bots)))
    address = f"/feeds/bots/{quote(one.owner, safe='')}/{quote(one.bot, safe='')}"
    tag = page.get(address).headers["etag"]
    assert page.get(address, headers={"If-None-Match": tag}).status_code == 304
