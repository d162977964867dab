"""A person plays in a real browser: each game to its end by mouse, by keys alone and by touch."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route

from cutpurse.bots.greedy_bot import GreedyBot
from cutpurse.games import GAMES
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.answer_times import WaitLimits
from cutpurse.wire.league import league_at
from tests.faults.processes import server
from tests.looking import until
from tests.page.browser import Watched
from tests.page.people import PeoplePage, Visitor, decision_of, people_page
from tests.page.test_every_page import judged

ASKED = "html[data-decision]"
OVER = ".ends"
# What a person presses next, by the state of the seat: the first of these that is there.
NEXT = {
    "asked": (".hand .card.lit", ".aim", ".verbs button"),
    "verb": (".hand .card.lit", ".aim", ".verbs button"),
    "chosen": (".aim", ".hand .card.lit:not(.half):not(.chosen)", ".verbs button"),
    "ready": (".play-it[aria-disabled=false]",),
}
SIZES = {"mouse": (1280, 720), "keys": (1280, 720), "touch": (390, 844)}
# What is not in view although it must be: own cards, the question, the last move.
HIDDEN = """() => {
    const lost = [], least = -1, right = innerWidth + 1, bottom = innerHeight + 1;
    for (const element of document.querySelectorAll(".hand .card, .ask h2, .ends h2, .caption p:not([hidden])")) {
        const box = element.getBoundingClientRect(), isWhole = box.width > 8 && box.height > 8;
        if (isWhole && box.left > least && box.top > least && box.right < right && box.bottom < bottom) continue;
        lost.push(`${element.className || element.tagName}: ${element.textContent.slice(0, 40)}`);
    }
    if (!document.querySelector(".ask h2, .ends h2")) lost.push("no question");
    if (document.documentElement.scrollHeight > bottom) lost.push("the page scrolls");
    return lost;
}"""

# Targets whose middle something else covers, such as another target.
COVERED = """() => [...document.querySelectorAll(".aim")].filter((aim) => {
    const box = aim.getBoundingClientRect();
    return document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2)?.closest(".aim") !== aim;
}).map((aim) => aim.getAttribute("aria-label"))"""
# Whether moves of the others wait to be shown, or another decision is open.
BACKLOG = """number => {
    const { state, decision, waiting } = document.documentElement.dataset;
    return (state === "waits" && Number(waiting) > 2) || (state === "asked" && decision !== number);
}"""
# Notes when each step is shown, and whether it has another caption than the one before.
SHOWN = """addEventListener("DOMContentLoaded", () => {
    let before = "";
    window.shown = [];
    new MutationObserver(() => {
        const step = document.querySelector(".caption")?.dataset.step ?? "";
        window.shown.push([performance.now(), step !== before]);
        before = step;
    }).observe(document.documentElement, { attributeFilter: ["data-moment"] });
});"""


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PeoplePage]:
    # Tables that a test leaves open or leaves early keep their seats for a while; one visitor gets half of all seats.
    with people_page(tmp_path_factory.mktemp("people"), most=64, opponent=Greedy) as running:
        yield running


@pytest.fixture
def seats(watched: Watched, people: PeoplePage) -> Iterator[Callable[..., Seat]]:
    """Return a function that lets a person sit down; they leave after the test, so that their matches end."""
    opened: list[Seat] = []

    def open_seat(way: str = "mouse", pace: str = "0") -> Seat:
        opened.append(Seat(watched, people, way, pace))
        return opened[-1]

    yield open_seat
    for seat in opened:
        seat.page.context.request.post(f"{people.address}/seat/leave", headers={"Sec-Fetch-Site": "same-origin"})


class Greedy(GreedyBot):
    """The built-in bot, on the event loop: a thread for each of its tables is more than a test needs."""

    async def choose(self, view: Any, decision: Any) -> Any:  # type: ignore[override]
        """Answer a decision."""
        return super().choose(view, decision)


class Seat:
    """A person before the page of their seat, who acts by mouse, by keys or by touch."""

    def __init__(self, watched: Watched, people: PeoplePage, way: str = "mouse", pace: str = "0") -> None:
        self.way = way
        self.people = people
        width, height = SIZES[way]
        is_phone = way == "touch"
        self.page = watched.page(viewport={"width": width, "height": height}, has_touch=is_phone, is_mobile=is_phone)
        self.page.add_init_script(f"localStorage.setItem('cutpurse-pace', '{pace}')")
        self.sent: list[str] = []
        self.page.on("request", lambda request: self.sent.append(request.url) if request.method == "POST" else None)

    def sit_down(self, game: str) -> Seat:
        self.page.goto(f"{self.people.address}/play/{game}")
        self.press(".opponents .go")
        self.page.wait_for_url("**/seat")
        self.page.wait_for_selector(f"{ASKED}, {OVER}", state="attached")
        self.sent.clear()
        return self

    @property
    def state(self) -> str:
        return str(self.page.evaluate("document.documentElement?.dataset.state"))

    def press(self, where: str, place: int = 0) -> None:
        """Press what is at this place among those, by key only once it has the focus."""
        locator = self.page.locator(where).nth(place)
        if self.way == "mouse":
            locator.click()
        elif self.way == "touch":
            locator.tap()
        else:
            locator.focus()
            self.page.keyboard.press("Enter")

    def act(self, choice: int) -> None:
        """Make one act; wait until the page has taken it."""
        before = self.page.evaluate("[document.documentElement.dataset.state, document.documentElement.dataset.acts]")
        if before[0] == "ready":
            self.page.wait_for_selector(f"{NEXT['ready'][0]}, html:not([data-state=ready])", state="attached")
        where = next((one for one in NEXT[before[0]] if self.page.locator(one).count()), "")
        assert where, f"nothing to press: {before}"
        self.press(where, choice % self.page.locator(where).count())
        self.page.wait_for_function(
            "before => document.documentElement.dataset.state !== before[0]"
            " || document.documentElement.dataset.acts !== before[1]",
            arg=before,
        )

    def decide(self, choice: int = 0) -> int:
        """Act until an answer is sent; return the number of acts."""
        acts, sent = 0, len(self.sent)
        while len(self.sent) == sent:
            assert self.page.evaluate(COVERED) == []
            self.act(choice)
            acts += 1
            assert acts < 9
        assert acts > 1, "something is played by a first act"
        return acts

    def waits_for_next(self, after: str) -> bool:
        """Wait for a decision after this one, or for the end; return whether there is a decision."""
        return waits_for_next(self.page, after)


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


@pytest.mark.sampled
@pytest.mark.parametrize("way", list(SIZES))
@pytest.mark.parametrize("game", list(GAMES))
def test_a_whole_game_is_played_and_the_hand_and_the_question_never_leave_the_window(
    seats: Callable[..., Seat], game: str, way: str
) -> None:
    seat = seats(way).sit_down(game)
    after, decisions = "", 0
    while seat.waits_for_next(after):
        after = decision(seat.page)
        assert seat.page.evaluate(HIDDEN) == []
        seat.decide(decisions % 3)
        decisions += 1
    assert decisions > 1
    assert len(seat.sent) == decisions
    assert seat.page.inner_text(f"{OVER} h2").startswith("You ")
    assert seat.page.evaluate(HIDDEN) == []
    assert seat.page.evaluate("document.activeElement.closest('.ends') !== null")
    seat.page.wait_for_selector("html[data-end=told]", state="attached")
    assert seat.page.evaluate(HIDDEN) == []
    assert seat.page.locator(".others .player").count() == seat.page.locator(".why .legend > span").count() > 1
    assert seat.page.locator(".others .held .back").count() == 0
    assert seat.page.inner_text(".why .how")
    assert seat.page.locator(".why .swings li").count() > 1


def test_the_keyboard_alone_leads_from_the_first_page_to_a_move(people: PeoplePage, page: Page) -> None:
    page.goto(people.address)
    for name, address in (("Play", "**/play"), (GAMES["greed"].words.title, "**/play/greed"), ("Sit down", "**/seat")):
        tabbed_to(page, name)
        page.keyboard.press("Enter")
        page.wait_for_url(address)
    page.wait_for_selector(ASKED, state="attached")
    first = decision(page)
    for _ in range(40):
        if page.evaluate("document.activeElement.matches('.hand .card')"):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Home")
    focused = "document.activeElement.dataset.key"
    keys = [page.evaluate(focused)]
    while True:  # along the hand and around: every own card takes the focus, and its text is read out
        page.keyboard.press("ArrowRight")
        if page.evaluate(focused) == keys[0]:
            break
        keys.append(page.evaluate(focused))
        assert page.evaluate("document.activeElement.dataset.name") in page.inner_text("#live-status")
    assert len(keys) == page.locator(".hand .card").count() > 4
    while not page.evaluate("document.activeElement.matches('.lit')"):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.evaluate("document.documentElement.dataset.state") == "ready"
    page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.dataset.state") == "asked"
    assert page.evaluate("document.activeElement.matches('.hand .card')")
    page.keyboard.press("l")
    assert page.evaluate("document.activeElement.matches('.moves .pick')")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.matches('.play-it')")
    page.wait_for_selector(".play-it[aria-disabled=false]")
    page.keyboard.press("Enter")
    assert waits_for_next(page, first)
    page.click(".leave")
    page.wait_for_url("**/play")


# Gives each card of the hand the longest text, and lets the page measure its cards anew.
LENGTHEN = """async text => {
    for (const place of document.querySelectorAll(".hand .does")) place.textContent = text;
    const frame = () => new Promise(requestAnimationFrame);
    dispatchEvent(new Event("resize"));
    for (let count = 0; count < 3; count++) await frame();
}"""
# Texts that are cut on the card with the focus.
CUT = """() => [...document.querySelectorAll(".hand .card:focus .does")]
    .filter((text) => text.scrollHeight > text.clientHeight || !text.checkVisibility())
    .map((text) => text.textContent)"""


def test_the_whole_text_of_a_card_is_read_with_the_focus_on_it(seats: Callable[..., Seat]) -> None:
    page = seats("keys").sit_down("szmal").page
    page.set_viewport_size({"width": 1000, "height": 700})
    page.evaluate(LENGTHEN, max((card.text for card in GAMES["szmal"].words.cards), key=len))
    cards = page.locator(".hand .card")
    assert page.locator(".hand .card.cut").count() == cards.count() > 0
    for card in cards.all():
        card.focus()
        assert page.evaluate(CUT) == []
        box = card.bounding_box()
        assert box is not None
        assert box["y"] > 0
        assert box["y"] + box["height"] < 700


def test_a_double_click_plays_nothing_twice_and_nothing_by_itself(seats: Callable[..., Seat]) -> None:
    seat = seats().sit_down("greed")
    first = decision(seat.page)
    seat.page.locator(".hand .card.lit").first.dblclick()
    assert (seat.state, seat.sent) == ("ready", [])
    seat.page.wait_for_selector(".play-it[aria-disabled=false]")
    seat.page.locator(".play-it").dblclick()
    assert seat.waits_for_next(first)
    assert len(seat.sent) == 1


def test_the_first_tap_of_a_finger_shows_the_text_and_the_second_plays(seats: Callable[..., Seat]) -> None:
    seat = seats("touch").sit_down("greed")
    first = decision(seat.page)
    card = seat.page.locator(".hand .card.lit").last
    card.tap()
    assert (seat.state, seat.sent) == ("ready", [])
    assert seat.page.inner_text(".ask h2").startswith("Play ")
    assert judged(seat.page) == []
    seat.page.wait_for_selector(".play-it[aria-disabled=false]")
    card.tap()
    assert seat.waits_for_next(first)
    assert len(seat.sent) == 1


def test_an_answer_that_is_lost_is_sent_again_by_the_person_and_counts_once(
    seats: Callable[..., Seat], watched: Watched
) -> None:
    seat = seats().sit_down("greed")
    page, first = seat.page, decision(seat.page)
    arrives = [False, True]

    def lose(route: Route) -> None:
        if arrives.pop(0):
            route.fetch()
        route.abort()

    page.route("**/seat/answer", lose)
    seat.act(0)
    page.wait_for_selector(".play-it[aria-disabled=false]")
    page.click(".play-it")
    page.wait_for_selector("#seat-problem:has-text('did not arrive')")
    assert seat.state == "ready"  # the card is still chosen
    assert decision(page) == first
    page.wait_for_selector(".play-it[aria-disabled=false]")
    page.click(".play-it")  # it arrives, but the page does not hear of it
    assert seat.waits_for_next(first)
    assert len(seat.sent) == 2
    watched.trouble[:] = [line for line in watched.trouble if "ERR_FAILED" not in line]


def test_a_lost_connection_is_told_and_the_table_goes_on_where_it_was(
    people: PeoplePage, seats: Callable[..., Seat]
) -> None:
    seat = seats().sit_down("greed")
    page, first = seat.page, decision(seat.page)
    seat.act(0)
    end_streams_of(people)
    page.wait_for_selector("#seat-problem:has-text('The connection was lost')")
    page.wait_for_selector("#seat-problem:empty", state="attached")
    assert decision(page) == first
    assert seat.state == "ready"  # what was chosen stays
    seat.act(0)
    assert seat.waits_for_next(first)


def test_two_windows_of_a_seat_go_on_together(people: PeoplePage, seats: Callable[..., Seat]) -> None:
    seat = seats().sit_down("greed")
    page, first = seat.page, decision(seat.page)
    other = page.context.new_page()
    other.goto(f"{people.address}/seat")
    other.wait_for_selector(ASKED, state="attached")
    other.locator(".hand .card.lit").first.click()
    seat.decide()
    assert seat.waits_for_next(first)
    assert waits_for_next(other, first)
    assert decision(other) == decision(page)
    assert other.evaluate("document.documentElement.dataset.state") == "asked"  # the card of the old question is back


def test_an_answer_in_an_old_tab_is_told_in_a_line(seats: Callable[..., Seat], watched: Watched) -> None:
    seat = seats().sit_down("greed")
    page = seat.page
    page.route("**/seat/events", lambda route: route.abort())  # this tab hears nothing any more
    page.reload()
    page.wait_for_selector(ASKED, state="attached")
    number = decision(page)
    taken = page.evaluate(
        "number => fetch('/seat/answer', {method: 'POST', body: new URLSearchParams({decision: number, option: 0})})"
        ".then(answer => answer.status)",
        number,
    )
    assert taken == 200
    seat.decide()
    page.wait_for_selector("#seat-problem:has-text('Decision')")
    text = page.inner_text("#seat-problem")
    assert text == f"Decision {number} is closed: it is answered." or "not open any more" in text
    page.close()  # it would ask for events again now and then
    watched.forgive("409")
    watched.forgive("ERR_FAILED")


def test_moves_of_the_others_come_one_by_one_at_the_chosen_pace(seats: Callable[..., Seat]) -> None:
    """Each is shown as long as the pace says, and Space shows all that wait at once."""
    seat = seats(pace="350")
    page = seat.page
    page.add_init_script(SHOWN)
    seat.sit_down("greed")
    first = decision(page)
    page.evaluate("() => { window.shown = []; }")
    for _ in range(9):  # until it is the others' turn
        number = decision(page)
        seat.decide()
        page.wait_for_function(BACKLOG, arg=number)
        if seat.state == "waits":
            break
        page.evaluate("() => { window.shown = []; }")
    first = decision(page)
    assert seat.state == "waits"
    assert page.locator(".caption p:not([hidden])").count() == 1
    page.wait_for_function("() => window.shown.length > 2")  # as many were waiting
    times = [at for at, is_act in page.evaluate("() => window.shown") if is_act]
    assert all(later - sooner > 340 for sooner, later in itertools.pairwise(times))
    page.keyboard.press(" ")
    page.wait_for_selector("html[data-waiting='0']", state="attached")
    if seat.waits_for_next(first):  # in some deals, another player wins first
        turns = page.locator(".story .turn h3").all_text_contents()
        assert {"you", "greedy", "random"} <= set(turns)


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["desk", "phone"])
def test_a_table_comes_back_as_it_was_and_is_accessible(
    people: PeoplePage, watched: Watched, size: tuple[int, int]
) -> None:
    page = watched.page(viewport={"width": size[0], "height": size[1]})
    page.goto(f"{people.address}/play/steal_and_plunder")
    page.click(".opponents .go")
    page.wait_for_selector(ASKED, state="attached")
    assert judged(page) == []
    options = page.locator(".moves .pick").all_inner_texts()
    page.reload()
    page.wait_for_selector(ASKED, state="attached")
    assert page.locator(".moves .pick").all_inner_texts() == options
    page.click(".ask .all")
    assert judged(page) == []
    list_box, rows = page.locator(".moves").bounding_box(), page.locator(".moves tr").count()
    assert list_box is not None
    assert list_box["y"] >= 0
    assert rows <= len(options)
    assert page.evaluate(
        "document.querySelector('.moves').scrollHeight <= document.querySelector('.moves').clientHeight + 1"
    )
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    page.click(".leave")
    page.wait_for_url("**/play")


def test_two_people_meet_by_a_link_and_see_each_others_moves(
    people: PeoplePage, seats: Callable[..., Seat], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutpurse.page.seat.person.WAITS", WaitLimits(0.0, 0.0, 0.0))
    opener, friend = seats(), seats()
    opener.page.goto(f"{people.address}/play/greed")
    opener.page.click("text=With friends")
    opener.page.wait_for_selector("#friends-link")
    assert judged(opener.page) == []
    friend.page.goto(opener.page.input_value("#friends-link"))
    friend.page.click("text=Sit down")
    opener.page.wait_for_selector("text=2 of 3 seats have a person")  # without loading the page again
    friend.page.wait_for_url("**/seat", wait_until="load")
    assert judged(friend.page) == []
    opener.page.click("text=Begin the match")
    pair, answered = [opener, friend], 0

    def go_on() -> bool:  # `test_friends` plays to the end
        nonlocal answered
        for seat, other in (pair, pair[::-1]):
            if seat.state == "asked" and other.state == "waits":
                moves = other.page.evaluate("document.documentElement.dataset.moment")
                seat.decide()
                # Before the other is asked anything, they see what was done.
                other.page.wait_for_function("before => document.documentElement.dataset.moment !== before", arg=moves)
                answered += 1
        return answered > 4

    until(go_on, "both have answered")
    assert "person-" in opener.page.inner_text(".story")
    assert opener.page.locator(".hand").inner_html() != friend.page.locator(".hand").inner_html()
    for person in (opener.page, friend.page):
        person.click(".leave")
        person.wait_for_url("**/play")


def end_streams_of(people: PeoplePage) -> None:
    """End the streams of all seats, as a broken connection does; browsers open them again by themselves."""
    for entry in list(people.seats._seats.values()):
        entry.person._timing.call_soon_threadsafe(entry.person.close)  # type: ignore[attr-defined]


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
            (match,) = league.ListOpenMatches(ladder_pb2.ListOpenMatchesRequest(with_inner=True)).matches
        assert match.ladder == "people.greed.2"
        assert sorted(bot.bot for bot in match.seats) == ["people.random", "person-1"]
