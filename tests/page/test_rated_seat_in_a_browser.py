"""A person who is signed in plays a rated match against house bots: in a real browser, and on a server in processes."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.engine.clocks import PEOPLE_CLOCK
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladder_config import Ladder
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.answer_times import WaitLimits
from cutpurse.wire.league import league_at
from tests.faults.processes import server
from tests.looking import until
from tests.page.browser import Watched
from tests.page.people import HOUSE, Visitor, decision_of, people_page
from tests.page.test_every_page import judged, widest
from tests.page.test_seat_in_a_browser import OVER, decision, waits_for_next

pytestmark = pytest.mark.full

OPEN = Ladder("open", "greed", 3, control=PEOPLE_CLOCK, terms=LadderTerms(house=HOUSE, admits_people=True))
IN_A_FILE = """
[[ladder]]
name = "open"
game = "greed"
seats = 3
people = true
house = ["random", "greedy"]
"""


def rated_match(arena: str) -> ladder_pb2.MatchShown:
    """Return the only match of ann in person, which was rated without a fault."""
    with league_at(server=arena, as_stranger=True) as league:
        wanted = ladder_pb2.ListMatchesRequest(bots=[ladder_pb2.BotName(owner="ann", bot="person")])
        (match,) = league.ListMatches(wanted).matches
    assert match.rated_number > 0
    assert sorted(seat.bot.owner for seat in match.seats) == ["ann", "house", "house"]
    assert [seat.faults for seat in match.seats] == [0, 0, 0]
    return match


def test_a_person_who_is_signed_in_plays_rated_and_stands_in_the_ranking(
    tmp_path: Path, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutpurse.page.seat.person.WAITS", WaitLimits(0.0, 0.0, 0.0))
    page = watched.page(viewport={"width": 390, "height": 844})
    with people_page(tmp_path, rated=[OPEN], owners={"ann": ("play", "read")}) as people:
        page.goto(f"{people.address}/sign-in")
        page.fill("input[name=token]", people.tokens["ann"])
        page.click("button.go")
        page.wait_for_url("**/me")
        page.goto(f"{people.address}/ladders/open")
        assert (judged(page), widest(page)) == ([], "")
        page.click("text=Play on this ladder")
        page.wait_for_url("**/ladders/open/play")
        assert "rated and public" in page.inner_text("main")
        assert (judged(page), widest(page)) == ([], "")
        page.click("text=Play rated")
        page.wait_for_url("**/seat")
        after, decisions = "", 0
        while waits_for_next(page, after):
            after = decision(page)
            if not decisions:
                assert judged(page) == []
                page.reload()  # the table is as it was
                page.wait_for_selector(f'html[data-decision="{after}"]', state="attached")
                assert "Rated and public" in page.inner_text("body")
            page.click(".ask .all")
            page.locator(".moves .pick").last.click()
            page.wait_for_selector(".play-it[aria-disabled=false]")
            page.click(".play-it")
            decisions += 1
        assert decisions > 1
        assert page.inner_text(f"{OVER} h2").startswith("You ")
        page.click("text=The ranking of open")
        page.wait_for_url("**/ladders/open")
        assert page.locator("tr", has_text="ann/person").locator(".badge.person").inner_text() == "a person"
        assert (judged(page), widest(page)) == ([], "")
        page.goto(f"{people.address}/matches/{rated_match(people.arena).match}")
        assert "a person" in page.inner_text("main")
        page.wait_for_selector("ul.luck")  # found beside the page; nothing is asked for any more
        assert judged(page) == []


def test_a_server_seats_people_on_a_ladder_of_its_file(tmp_path: Path) -> None:
    """Everything in processes of its own, as `cutpurse serve --ladders FILE --people N` runs it."""
    with Store(tmp_path / "league.db") as store:
        ((token, _),) = store.write(create_tokens, [NewToken("ann")], datetime.now(UTC))
    (tmp_path / "ladders.toml").write_text(IN_A_FILE, encoding="utf-8")
    people = ("--ladders", "ladders.toml", "--house", "random,greedy", "--web", "127.0.0.1:0", "--people", "2")
    with server(tmp_path, *people) as arena:
        until(lambda: "the page is at " in arena.said, "the page listens")
        address = re.search(r"the page is at (http://\S+)/", arena.said)
        assert address is not None
        with Visitor(address[1]) as person:
            person.sign_in(token.reveal())
            person.sit_down_rated("open")
            asked = 0
            while "Play again" not in (table := person.table(asked)):
                assert "does not go on" not in table
                asked = decision_of(table)
                person.answer(asked, 0)
            assert '<span class="badge person">a person</span>' in person.get("/ladders/open").text
        rated_match(arena.address)
