"""What may go wrong before a person's table: nothing is played twice, nothing is lost, and the page says what happened.

A slow line, a magnified page, no scripts, and a question whose time runs out while a card is chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus

import pytest
from playwright.sync_api import Error, Page

from cutpurse.page.seat.person import Person
from tests.looking import until
from tests.page.browser import Watched
from tests.page.people import PeoplePage
from tests.page.test_every_page import PHONE, judged_in_both_colours, widest
from tests.page.test_seat_in_a_browser import ASKED, HIDDEN, Seat, decision, people, seats

__all__ = ["people", "seats"]  # fixtures

LAPTOP = {"width": 1280, "height": 720}
SLOW = {"offline": False, "latency": 400, "downloadThroughput": 50_000, "uploadThroughput": 50_000}  # 3G: ms, bytes/s


def _seated(people: PeoplePage, page: Page) -> Person:
    cookies = {cookie["name"]: cookie["value"] for cookie in page.context.cookies()}
    person = people.seats.person(cookies["cutpurse_seat"])
    assert person is not None
    return person


def test_on_a_slow_line_each_decision_is_answered_once(people: PeoplePage, seats: Callable[..., Seat]) -> None:
    seat = seats()
    devtools = seat.page.context.new_cdp_session(seat.page)
    devtools.send("Network.enable")
    devtools.send("Network.emulateNetworkConditions", SLOW)
    seat.sit_down("greed")
    statuses: list[int] = []
    seat.page.on("response", lambda answer: statuses.append(answer.status) if "/seat/answer" in answer.url else None)
    for _ in range(3):
        number = decision(seat.page)
        seat.page.locator(".hand .card.lit, .aim, .verbs button").first.click()
        seat.page.wait_for_selector(".play-it[aria-disabled=false], .ends", state="attached")
        seat.page.locator(".play-it").dblclick()
        assert seat.state in ("plays", "waits", "asked", "ready")
        if not seat.waits_for_next(number):
            break

    def are_answered() -> bool:
        seat.page.title()  # responses are counted only while the browser is talked to
        return len(statuses) == len(seat.sent)

    until(are_answered, "the answers are there")
    assert set(statuses) == {HTTPStatus.NO_CONTENT}
    assert seat.page.inner_text("#seat-problem") == ""


def test_a_click_on_a_card_of_a_question_that_is_over_says_so(
    people: PeoplePage, seats: Callable[..., Seat], watched: Watched
) -> None:
    """The time ran out while a card was chosen, and the line was too slow to say it."""
    seat = seats().sit_down("greed")
    page, first = seat.page, decision(seat.page)
    page.route("**/seat/events", lambda route: route.abort())
    page.reload()
    page.wait_for_selector(ASKED, state="attached")
    seat.act(0)
    person = _seated(people, page)
    person.answer(first, "0")
    page.wait_for_selector(".play-it[aria-disabled=false]")
    page.click(".play-it")
    page.wait_for_selector("#seat-problem:has-text('Decision')")
    assert len(seat.sent) == 1
    assert f"Decision {first} is" in page.inner_text("#seat-problem")
    watched.forgive("409")
    watched.trouble[:] = [line for line in watched.trouble if "ERR_FAILED" not in line]


@pytest.mark.parametrize("game", ["greed", "szmal"])
def test_at_a_zoom_of_200_percent_hand_question_and_answer_can_be_reached(
    seats: Callable[..., Seat], game: str
) -> None:
    """A window of 1280x720 has half as many CSS pixels then."""
    seat = seats()
    page = seat.page
    page.set_viewport_size({"width": 640, "height": 360})
    seat.sit_down(game)
    assert not [line for line in page.evaluate(HIDDEN) if line.startswith("H2")]  # the question stays in view
    assert widest(page) == ""
    number = decision(page)
    page.locator(".hand .card.lit, .verbs button").last.click()
    assert not [line for line in page.evaluate(HIDDEN) if line.startswith("H2")]
    page.keyboard.press("Escape")
    page.click(".ask .all")
    page.locator(".moves .pick").last.click()
    page.wait_for_selector(".play-it[aria-disabled=false]")
    page.click(".play-it")
    page.wait_for_selector(f'html[data-decision]:not([data-decision="{number}"]), .ends', state="attached")


def test_without_scripts_a_person_plays_and_reads_the_replay(people: PeoplePage, watched: Watched) -> None:
    page = watched.page(java_script_enabled=False)
    page.goto(people.address)
    page.click(".doors a[href='/play']")
    page.click(".offer.first .go")

    def has_ended() -> bool:
        with suppress(Error):  # the page loads itself again at the same moment, which may take a click along
            page.goto(f"{people.address}/seat")
            if page.locator(".ends").count():
                return True
            if page.locator(".pick").count():
                page.locator(".pick").last.click()
        return False

    until(has_ended, "the end of the match")
    page.click(".ends a[href$='/replay']")
    moment = page.inner_text("#board, .board")
    page.locator(".turning a, a[href*='at=']").first.click()
    assert page.inner_text("#board, .board") != moment
    assert page.goto(f"{people.address}/ladders").ok  # type: ignore[union-attr]


@pytest.mark.parametrize("path", ["/play", "/play/greed", "/rules/greed/guided"])
def test_pages_before_the_table_are_accessible(people: PeoplePage, watched: Watched, path: str) -> None:
    for size in (LAPTOP, PHONE):
        page = watched.page(reduced_motion="reduce", viewport=size)
        page.goto(people.address + path)
        assert (judged_in_both_colours(page), widest(page)) == ([], "")


@pytest.mark.parametrize("way", ["mouse", "touch"])
def test_a_table_is_accessible_while_others_think_and_at_its_end(
    people: PeoplePage, seats: Callable[..., Seat], way: str
) -> None:
    seat = seats(way).sit_down("greed")
    person = _seated(people, seat.page)
    seat.page.reload()
    seat.page.wait_for_selector(ASKED, state="attached")
    assert judged_in_both_colours(seat.page) == []
    while not person.is_over:
        number = decision(seat.page)
        seat.decide(-1)
        if not seat.waits_for_next(number):
            break
    seat.page.wait_for_selector("html[data-end=told]", state="attached")
    seat.page.reload()
    seat.page.wait_for_selector("html[data-end=told]", state="attached")
    assert judged_in_both_colours(seat.page) == []
