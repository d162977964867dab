"""The browser of these tests notices what a page must not do, and the league holds what pages are to be tried with."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.server.league.file import local
from cutpurse.v1 import ladder_pb2
from tests.web.browser import Watched
from tests.web.leagues import HOSTILE, PRIVATE


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("console.error('so it goes')", "console error: so it goes"),
        ("setTimeout(() => { throw new Error('thrown') })", "error: thrown"),
        ("setTimeout(() => alert('boo'))", "dialog: boo"),
        ("fetch('http://example.org/x').catch(() => 0)", "foreign request: http://example.org/x"),
    ],
)
def test_what_a_page_must_not_do_is_noticed(browser: Browser, script: str, words: str) -> None:
    watched = Watched(browser)
    page = watched.page()
    page.set_content(f"<p>well</p><script>{script}</script>")
    page.wait_for_timeout(1)  # a turn of the browser's own loop
    while not watched.trouble:
        page.wait_for_timeout(10)
    watched.close()
    assert words in watched.trouble[0]


def test_a_page_that_does_nothing_is_no_trouble(watched: Watched) -> None:
    page = watched.page(viewport={"width": 360, "height": 640}, color_scheme="dark")
    page.set_content("<p>well</p>")
    assert page.inner_text("p") == "well"
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")


def test_the_league_has_what_pages_are_tried_with(league_db: Path) -> None:
    with LeaderboardReader(league_db) as reader:
        matches = reader.matches(limit=1_000)
        assert {match.game for match in matches} == {
            "bag_o_loot",
            "greed",
            "steal_and_plunder",
            "stolen_treasure",
            "szmal",
        }
        assert {match.ladder for match in matches} >= {PRIVATE, "duel"}
        assert {match.void_cause for match in matches} == {None, "void_server"}
        assert {match.requested_by for match in matches} >= {"ann"}
        names = {seat.bot for match in matches for seat in match.seats}
        assert names >= set(HOSTILE)
        courses = [course for match in matches for course in reader.courses(match.match)]
        causes = {fault.cause for course in courses if course is not None for fault in course.faults}
        assert causes == {"timeout", "illegal", "crashed"}
        assert {entry.version for entry in reader.bots("ann")} == {"1", "2"}
        assert len({match.finished.date() for match in matches}) == 2


def test_its_records_can_be_read(league_db: Path) -> None:
    with local(league_db) as league:
        match = league.ListMatches(ladder_pb2.ListMatchesRequest(limit=1)).matches[0]
        pieces = list(league.GetRecord(ladder_pb2.GetRecordRequest(match=match.match)))
        assert match.match.encode() in b"".join(piece.piece for piece in pieces)
