"""A person without scripts plays over HTTP: the way to the table, each game to its end, and what is refused."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from cutpurse.games import GAMES
from cutpurse.leaderboard.tokens import PEOPLE
from cutpurse.page.language.second_person import addressed
from cutpurse.page.match_view.drawing import rendered
from cutpurse.page.match_view.frames import frame
from cutpurse.page.seat.arena_session import PersonSession
from cutpurse.page.seat.choices import split_hands
from cutpurse.page.seat.opponents import beginners, house_opponents
from cutpurse.page.seat.pages import COOKIE
from cutpurse.page.seat.person import Person
from cutpurse.page.seat.seats import PageSeats
from cutpurse.page.seat.shared_drawing import Listener
from cutpurse.sdk.run import connect
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.connection import Dialling
from cutpurse.wire.errors import ServerRefused
from cutpurse.wire.league import league_at
from cutpurse.wire.person_names import people_bot, people_ladder
from cutpurse.wire.server_address import TOKEN_VARIABLE
from tests.looking import until
from tests.page.drawings import seats_in
from tests.page.people import HOUSE, PeoplePage, Visitor, decision_of, options_of, people_page, with_names
from tests.page.serving import app_of, page_of

SEED = bytes(range(32))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PeoplePage]:
    with people_page(tmp_path_factory.mktemp("people")) as running:
        yield running


@pytest.fixture
def person(page: PeoplePage) -> Iterator[Visitor]:
    with Visitor(page.address) as visitor:
        yield visitor
        visitor.post("/seat/leave", {})


def line_of(html: str) -> str:
    """Return the text of an error page."""
    found = re.search(r"</h1>\s*<p>(.*?)</p>", html, re.DOTALL)
    assert found, html
    return unescape(found[1])


@pytest.mark.parametrize(
    "game", [pytest.param(name, marks=() if name == "szmal" else pytest.mark.full) for name in GAMES]
)
def test_a_person_plays_each_game_to_its_end(page: PeoplePage, person: Visitor, game: str) -> None:
    """Three clicks from the first page: Play, the game, Sit down."""
    assert 'href="/play"' in person.get("/").text
    assert f'href="/play/{game}"' in person.get("/play").text
    assert f'action="/play/{game}"' in person.get(f"/play/{game}").text
    person.sit_down(game)
    asked = 0
    while "Play again" not in (table := person.table(asked)):
        assert "does not go on" not in table
        asked = decision_of(table)
        assert len(options_of(table)) > 1
        person.answer(asked, len(options_of(table)) - 1)
    assert asked > 0
    assert "this seat" in table
    match = table.partition('href="/matches/')[2].partition("/")[0]
    assert person.get(f"/matches/{match}/replay").status_code == 200
    with league_at(server=page.arena, as_stranger=True) as league:
        shown = league.GetMatch(ladder_pb2.GetMatchRequest(match=match)).match
    assert shown.rated_number == 0
    assert {seat.bot.owner for seat in shown.seats} == {PEOPLE, "house"}
    assert all(seat.faults == 0 for seat in shown.seats)


def test_a_newcomer_is_led_to_a_first_table_and_back_to_it(person: Visitor) -> None:
    offers = person.get("/play").text.split('<li class="panel offer')[1:]
    assert [("begin with this one" in offer, "How you win:" in offer, "/guided" in offer) for offer in offers] == [
        (True, True, True),
        *[(False, True, True)] * (len(GAMES) - 1),
    ]
    first = offers[0].partition("</form>")[0]
    assert re.findall(r'action="(.*?)"', first) == ["/play/greed"]
    opponents = re.findall(r'name="opponent" value="(.*?)"', first)
    assert opponents == ["random", "greedy"]
    assert "Back to your table" not in person.get("/").text
    person.sit_down("greed", opponents)
    home = person.get("/")
    assert "Back to your table of Greed" in home.text
    assert home.headers["cache-control"] == "no-store"
    person.post("/seat/leave", {})
    assert "Back to your table" not in person.get("/").text


def test_house_bots_are_offered_by_strength_and_the_weakest_are_chosen() -> None:
    offered = house_opponents(("tutor", "expert", "greedy", "random"), ["random"])
    assert [(bot.name, bot.level, bot.is_chosen) for bot in offered] == [
        ("random", "easy", True),
        ("greedy", "medium", False),
        ("expert", "very hard", False),
        ("tutor", "", False),
    ]
    assert beginners(("search", "greedy", "random"), [2, 3, 4]) == ["random", "greedy"]
    assert beginners(("search", "greedy", "random"), [4]) == ["random", "greedy", "search"]
    assert beginners(("search",), [2]) == ["search"]
    assert beginners(("search",), []) == []


def test_a_table_is_as_it_was_after_it_is_loaded_again(person: Visitor) -> None:
    person.sit_down("greed")
    table = person.table()
    assert options_of(person.get("/seat").text) == options_of(table)
    again = person.sit_down("szmal")  # a second seat is not given
    assert options_of(again.text) == options_of(table)
    assert "Back to your table of Greed" in person.get("/play").text


def test_an_answer_is_taken_once_and_an_old_one_never(person: Visitor) -> None:
    person.sit_down("greed")
    first = decision_of(person.table())
    assert person.answer(first, 0).status_code == 200
    again = person.answer(first, 1)
    assert (again.status_code, line_of(again.text)) == (409, f"Decision {first} is closed: it is answered.")
    second = decision_of(person.table(first))
    assert person.answer(first, 0).status_code == 409
    prose = person.answer(second, "I stop here, thank you")
    assert prose.status_code == 409
    assert line_of(prose.text).startswith("'I stop here, thank you' is none of the options; they have the numbers 0 to")
    script = person.answer(second, 99, {"Sec-Fetch-Site": "same-origin", "Accept": "application/json"})
    assert script.status_code == 409
    assert script.json()["text"].startswith("'99' is none of the options")
    assert decision_of(person.get("/seat").text) == second


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.test"},
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "none"},
        {"Origin": "http://evil.test"},
        {"Origin": "null"},
        {"Origin": "http://[half"},
        {},
    ],
)
def test_a_form_of_another_site_does_nothing(person: Visitor, headers: dict[str, str]) -> None:
    for path in ("/play/greed", "/seat/answer", "/seat/leave"):
        refused = person.post(path, {"opponent": "random", "decision": 1, "option": 0}, headers)
        assert refused.status_code == 403, path
        assert line_of(refused.text) == "This was not sent by a page of this site, so nothing was done."
        assert "set-cookie" not in refused.headers


def test_an_older_browser_names_the_site_of_the_form(page: PeoplePage, person: Visitor) -> None:
    sat = person.post("/play/greed", {"opponent": "random"}, {"Origin": page.address})
    assert sat.url.path == "/seat"


def test_the_key_of_a_seat_is_for_one_browser_and_ends_with_the_seat(page: PeoplePage, person: Visitor) -> None:
    person.http.follow_redirects = False
    cookie = person.sit_down("greed").headers["set-cookie"]
    person.http.follow_redirects = True
    assert re.fullmatch(rf"{COOKIE}=[\w-]{{43}}; HttpOnly; Max-Age=86400; Path=/; SameSite=strict", cookie), cookie
    key = person.http.cookies[COOKIE]
    asked = decision_of(person.table())
    with Visitor(page.address) as other:
        for foreign in ("", "guessed", key[:-1], key.swapcase(), "\N{SNOWMAN}".encode("utf-8").hex()):
            other.http.cookies = {COOKIE: foreign}
            refused = other.answer(asked, 0)
            assert (refused.status_code, line_of(refused.text)) == (
                403,
                "You have no seat at a table, or its match is long over. Choose a game to sit down.",
            )
            assert other.get("/seat").status_code == other.get("/seat/events").status_code == 403
        left = person.post("/seat/leave", {})
        assert left.url.path == "/play"
        assert COOKIE not in person.http.cookies
        other.http.cookies = {COOKIE: key}  # stolen before
        assert other.answer(asked, 0).status_code == 403


def test_no_page_of_a_seat_is_kept_by_a_cache(person: Visitor) -> None:
    for answer in (person.get("/play"), person.get("/play/greed"), person.sit_down("greed"), person.get("/seat")):
        assert answer.headers["cache-control"] == "no-store"
        assert "default-src 'self'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize(
    ("game", "opponents", "status", "line"),
    [
        ("greed", ["clever"], 400, "no house bot here is called 'clever'; there are: random, greedy"),
        ("greed", ["random", "random"], 400, "Greed is played here with 1 or 2 opponents, each of them once"),
        ("greed", [], 400, "Greed is played here with 1 or 2 opponents, each of them once"),
        ("steal_and_plunder", ["random"], 400, "Steal & Plunder is played here with 2 opponents, each of them once"),
        ("chess", ["random"], 400, "no game is called 'chess'"),
    ],
)
def test_a_table_that_cannot_be_set_is_refused(
    person: Visitor, game: str, opponents: list[str], status: int, line: str
) -> None:
    refused = person.sit_down(game, opponents)
    assert refused.status_code == status
    assert line_of(refused.text).startswith(line)


def test_the_address_of_a_form_leads_back_to_the_table(person: Visitor) -> None:
    person.sit_down("greed")
    for path in ("/seat/answer", "/seat/leave"):
        assert person.get(path).url.path == "/seat"


def test_a_form_that_is_too_long_is_refused(person: Visitor) -> None:
    assert person.post("/play/greed", {"opponent": "x" * 3_000}).status_code == 413
    assert person.post("/play/greed", {f"field{number}": "x" for number in range(30)}).status_code == 400


async def test_who_has_finished_gives_up_the_seat_before_the_session_has_ended() -> None:
    """Else a full page refuses people who play again for some seconds."""
    seats = PageSeats(Dialling("127.0.0.1:1"), 2, ["random"])
    key = seats.open_table("greed", ["random"], "here", "")
    with pytest.raises(ServerRefused, match="1 people of your network play already"):
        seats.open_table("greed", ["random"], "here", "")
    finished = seats.person(key)
    assert finished is not None
    finished.call_off("the match is over")
    seats.open_table("greed", ["random"], "here", "")
    assert seats.person(key) is finished
    seats.close()


def test_nobody_keeps_all_seats_and_a_seat_that_is_left_is_free_at_once(tmp_path: Path) -> None:
    """All people of this test come from one address, which has half of the seats."""
    with people_page(tmp_path, most=4) as page, ExitStack() as opened:
        visitors = [opened.enter_context(Visitor(page.address)) for _ in range(3)]
        answers = [visitor.sit_down("greed", ["random"]) for visitor in visitors]
        assert [answer.status_code for answer in answers] == [200, 200, 503]
        assert line_of(answers[-1].text).startswith("2 people of your network play already")
        visitors[0].post("/seat/leave", {})
        assert visitors[-1].sit_down("greed", ["random"]).status_code == 200


async def test_a_seat_that_is_left_is_free_while_its_match_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody begins and leaves any number of matches, though."""
    is_over = asyncio.Event()

    async def play(person: Person, *how: object, **more: object) -> None:
        await is_over.wait()

    monkeypatch.setattr(Person, "play", play)
    seats = PageSeats(Dialling("127.0.0.1:1"), 4, ["random"])
    slots = []
    for _ in range(4):  # twice the share of the visitor
        key = seats.sit_down("greed", ["random"], "here")
        slots.append(next(reversed(seats._seats.values())).slot)
        person = seats.person(key)
        assert person is not None
        seats.leave(key)
        assert person.has_left
        assert seats.person(key) is None
    assert slots == [0, 1, 2, 3], "the sessions of the matches that go on have their own names"
    with pytest.raises(ServerRefused, match="2 people of your network play already"):
        seats.sit_down("greed", ["random"], "here")
    seats.sit_down("greed", ["random"], "there")
    is_over.set()
    await asyncio.gather(*(entry.task for entry in seats._seats.values() if entry.task is not None))
    assert seats.sit_down("greed", ["random"], "here")
    seats.close()


async def test_the_page_answers_others_while_a_table_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    is_drawing, may_end = threading.Event(), threading.Event()

    async def wait(person: Person, *how: object, **more: object) -> None:
        await asyncio.Event().wait()

    def draw(person: Person) -> tuple[str, Callable[[], str]]:
        def blocked() -> str:
            is_drawing.set()
            may_end.wait(240)
            return "<p>drawn</p>"

        return "", blocked

    monkeypatch.setattr(Person, "play", wait)
    monkeypatch.setattr(Person, "_draw", draw)
    seats = PageSeats(Dialling("127.0.0.1:1"), 4, ["random"])
    app = app_of({}, seats=seats)
    cookies = {COOKIE: seats.sit_down("greed", ["random"], "here")}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://x", cookies=cookies) as browser:
        loads = [asyncio.create_task(browser.get("/seat")) for _ in range(20)]
        assert await asyncio.to_thread(is_drawing.wait, 240)
        assert (await browser.get("/healthz")).status_code == 200
        assert not any(load.done() for load in loads)
        may_end.set()
        assert all("<p>drawn</p>" in answer.text for answer in await asyncio.gather(*loads))
    seats.close()


def test_where_nobody_can_play_there_is_no_way_to_a_table() -> None:
    page = page_of({})
    for path in ("/play", "/play/greed", "/seat", "/seat/events"):
        assert page.get(path).status_code == 404, path
    assert page.post("/seat/answer", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 404


class Witness:
    """A bot that notes what it is sent: the drawing of its table and the sentences of its options."""

    hides_time = False

    def __init__(self, seen: list[tuple[str, list[str]]], seats: list[str]) -> None:
        self.seen = seen
        self.names = seats

    def start(self, match: Any) -> None:
        self.seat = match.seat

    async def choose(self, view: Any, decision: Any) -> int:
        events = [event.raw for event in view.events]
        first = view.events[0].number if view.events else 0
        history = view.table_at(first) and view._history
        made = frame(view.raw, events, self.names, asked=(self.seat,), first_event=first, history=history)
        _, board = split_hands(view.raw, made)
        said = partial(addressed, seat=self.seat, words=view.words)
        board = replace(board, pending=tuple(map(said, board.pending)))
        self.seen.append(
            (at_rest(rendered("board.html", frame=board)), [said(option.text) for option in decision.options])
        )
        return 0


@pytest.mark.parametrize("game", list(GAMES))
async def test_the_browser_gets_what_a_bot_in_that_seat_is_sent(
    page: PeoplePage, game: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same cards are dealt twice: to a person, and to a bot that answers alike."""
    monkeypatch.setenv(TOKEN_VARIABLE, page.people.reveal())
    ladder = people_ladder(game, len(HOUSE) + 1)
    bots = [f"house/{people_bot(HOUSE[0])}", f"{PEOPLE}/person-1", f"house/{people_bot(HOUSE[1])}"]
    names = [HOUSE[0], "you", HOUSE[1]]
    dials = Dialling(page.arena, token=page.people.reveal())

    def session(carry: Any) -> PersonSession:
        return PersonSession(dials, "person-1", game, ladder, carry)

    person = Person(game, session, asyncio.get_running_loop())
    shown: list[tuple[str, list[str]]] = []
    playing = asyncio.create_task(person.play(bots, SEED))
    answered = 0
    async for news in person.listen(Listener()):
        if news.step is not None and (number := decision_of(html := await person.html())) > answered:
            shown.append((at_rest(html), options_of(html)))
            person.answer(str(number), "0")
            answered = number
    await playing
    assert person.problem == ""

    seen: list[tuple[str, list[str]]] = []
    witness = asyncio.create_task(
        connect(lambda: Witness(seen, names), ladders=ladder, server=page.arena, name="person-1", matches=1, quiet=True)
    )

    def request() -> bool:
        wanted = [ladder_pb2.BotName(owner=bot.partition("/")[0], bot=bot.partition("/")[2]) for bot in bots]
        with league_at(server=page.arena) as league:
            league.RequestMatch(ladder_pb2.RequestMatchRequest(ladder=ladder, bots=wanted, seed=SEED))
        return True

    await asyncio.to_thread(until, lambda: is_here(page, "person-1"), "the bot is there")
    await asyncio.to_thread(request)
    await witness
    assert len(seen) == len(shown) > 3
    for (html, options), (table, texts) in zip(shown, seen, strict=True):
        assert [seat for seat in seats_in(table) if seat not in html] == []
        assert options == [with_names(text, names) for text in texts]


def at_rest(html: str) -> str:
    """Return a table without what tells how it came to be, which depends on the last step that was shown."""
    return re.sub(r' data-(?:from|robbed)="\d+"| acting| laid| open| tabindex="-1"', "", html)


def is_here(page: PeoplePage, bot: str) -> bool:
    """Return whether a bot of the people is online."""
    with league_at(server=page.arena) as league:
        bots = league.ListBots(ladder_pb2.ListBotsRequest(owner=PEOPLE)).bots
    return any(one.bot.bot == bot and one.is_here for one in bots)
