"""A person plays in a real browser: each game to its end by keys alone, and by mouse and touch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from cutpurse.games import GAMES
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import league_at
from tests.faults.processes import server
from tests.looking import until
from tests.web.browser import Watched
from tests.web.people import PeoplePage, Visitor, decision_of, people_page
from tests.web.test_every_page import judged

ASKED = "html[data-decision]"
OVER = ".ends"


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PeoplePage]:
    # Tables that a test leaves open or leaves early keep their seats for a while; one visitor gets half of all seats.
    with people_page(tmp_path_factory.mktemp("people")) as running:
        yield running


def waits_for_next(page: Page, after: str) -> bool:
    """Wait for a decision after this one, or for the end; return whether there is a decision."""
    page.wait_for_selector(f'html[data-decision]:not([data-decision="{after}"]), {OVER}', state="attached")
    return page.locator(OVER).count() == 0


def decision(page: Page) -> str:
    return str(page.evaluate("document.documentElement.dataset.decision ?? ''"))


def tabbed_to(page: Page, name: str) -> None:
    """Press Tab until the link or button of this name has the focus."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if name in str(page.evaluate("document.activeElement.textContent.trim()")):
            return
    raise AssertionError(f"{name} is not reached by Tab")


@pytest.mark.parametrize("game", list(GAMES))
def test_a_person_plays_by_keys_alone(people: PeoplePage, page: Page, game: str) -> None:
    page.goto(people.address)
    tabbed_to(page, "Play")
    page.keyboard.press("Enter")
    page.wait_for_url("**/play")
    tabbed_to(page, GAMES[game].words.title)
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/play/{game}")
    tabbed_to(page, "Sit down")
    page.keyboard.press("Enter")
    page.wait_for_url("**/seat")
    after, decisions = "", 0
    while waits_for_next(page, after):
        after = decision(page)
        focused = page.evaluate("document.activeElement.matches('.seat-options button')")
        assert focused, "the first option has the focus"
        page.keyboard.press("ArrowDown" if decisions % 2 else "2")
        page.keyboard.press("Enter")
        decisions += 1
    assert decisions > 1
    assert page.inner_text(f"{OVER} h2").startswith("You ")
    assert page.evaluate("document.activeElement.closest('.ends') !== null")


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["desk", "phone"])
def test_a_table_is_played_by_mouse_and_touch_and_comes_back(
    people: PeoplePage, watched: Watched, size: tuple[int, int]
) -> None:
    is_phone = size[0] < 500
    page = watched.page(viewport={"width": size[0], "height": size[1]}, has_touch=is_phone, is_mobile=is_phone)

    def press(where: str) -> None:
        locator = page.locator(where)
        if is_phone:
            locator.tap()
        else:
            locator.click()

    page.goto(f"{people.address}/play/steal_and_plunder")
    press(".opponents .go")
    page.wait_for_selector(ASKED, state="attached")
    first = decision(page)
    for button in page.locator(".seat-options button").all():
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44
    assert page.locator(".seat-options h2").is_visible()
    assert judged(page) == []
    options = page.locator(".seat-options button").all_inner_texts()
    page.reload()
    page.wait_for_selector(ASKED, state="attached")
    assert page.locator(".seat-options button").all_inner_texts() == options
    press(".seat-options li:last-child button")
    assert waits_for_next(page, first)
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    press(".leave")
    page.wait_for_url("**/play")


def test_an_answer_in_an_old_tab_is_told_in_a_line(people: PeoplePage, watched: Watched) -> None:
    page = watched.page()
    page.goto(f"{people.address}/play/greed")
    page.click(".opponents .go")
    page.wait_for_selector(ASKED, state="attached")
    page.route("**/seat/events", lambda route: route.abort())  # this tab hears nothing any more
    page.reload()
    page.wait_for_selector(ASKED, state="attached")
    number = decision(page)
    told = page.evaluate(
        "number => fetch('/seat/answer', {method: 'POST', body: new URLSearchParams({decision: number, option: 0})})"
        ".then(answer => answer.status)",
        number,
    )
    assert told == 200
    page.locator(".seat-options button").first.click()
    page.wait_for_selector("#seat-problem:not(:empty)")
    text = page.inner_text("#seat-problem")
    assert text == f"Decision {number} is closed: it is answered." or "not open any more" in text
    watched.forgive("409")
    watched.trouble[:] = [line for line in watched.trouble if "ERR_FAILED" not in line]


def test_two_people_meet_by_a_link_in_their_browsers(
    people: PeoplePage, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutpurse.server.web.seat.person.LONE_SHARE", 0.0)
    opener, friend = watched.page(), watched.page(viewport={"width": 390, "height": 844})
    opener.goto(f"{people.address}/play/greed")
    opener.click("text=With friends")
    opener.wait_for_selector("#friends-link")
    assert judged(opener) == []
    friend.goto(opener.input_value("#friends-link"))
    friend.click("text=Sit down")
    opener.wait_for_selector("text=2 of 3 seats have a person")  # without loading the page again
    assert judged(friend) == []
    opener.click("text=Begin the match")
    answered: dict[Page, list[str]] = {opener: [], friend: []}

    def go_on() -> bool:  # `test_friends` plays to the end
        for person, numbers in answered.items():
            if person.locator(".seat-options").count() and (number := decision(person)) not in numbers:
                numbers.append(number)
                person.locator(".seat-options button").last.click()
        return all(len(numbers) > 2 for numbers in answered.values())

    until(go_on, "both have answered")
    assert opener.locator(".chair.viewer").inner_text() != friend.locator(".chair.viewer").inner_text()
    for person in (opener, friend):
        person.click(".leave")
        person.wait_for_url("**/play")


def test_a_replay_is_played_on_at_the_moment_of_its_slider(people: PeoplePage, watched: Watched) -> None:
    with Visitor(people.address) as visitor:
        visitor.sit_down("greed")
        asked = 0
        while "Play again" not in (table := visitor.table(asked)):
            asked = decision_of(table)
            visitor.answer(asked, 0)
        match = table.partition('href="/matches/')[2].partition("/")[0]
    page = watched.page()
    page.goto(f"{people.address}/matches/{match}/replay")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("html[data-moment='1']")
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.post_data or "") if request.method == "POST" else None)
    page.locator(".play-on button").first.click()
    page.wait_for_url("**/seat")
    page.wait_for_selector(ASKED, state="attached")
    assert any("as=0" in data and re.search(r"(^|&)at=[1-9]", data) for data in sent), sent
    page.click(".leave")
    page.wait_for_url("**/play")


def test_a_server_seats_people_beside_its_ladders(tmp_path: Path) -> None:
    """Everything in processes of its own, as `cutpurse serve --people` runs it."""
    words = ("--game", "greed", "--house", "random", "--web", "127.0.0.1:0", "--people", "2")
    with server(tmp_path, *words) as arena:
        until(lambda: "the page is at " in arena.said, "the page listens")
        address = re.search(r"the page is at (http://\S+)/", arena.said)
        assert address is not None
        with Visitor(address[1]) as person:
            assert "people.greed.2" not in person.get("/").text
            assert person.sit_down("greed", ["random"]).status_code == 200
            first = decision_of(person.table())
            assert person.answer(first, 0).status_code == 200
            assert decision_of(person.table(first)) > first
        with league_at(server=arena.address, as_stranger=True) as league:
            (match,) = league.ListOpenMatches(ladder_pb2.ListOpenMatchesRequest()).matches
        assert match.ladder == "people.greed.2"
        assert sorted(bot.bot for bot in match.seats) == ["people.random", "person-1"]
