"""Friends at one table over HTTP: the link, who may do what with it, a match of two people, and who leaves it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from functools import partial
from typing import Any

import pytest

from cutpurse.leaderboard.tokens import PEOPLE
from cutpurse.page.language.languages import ENGLISH
from cutpurse.page.seat.arena_session import PersonSession
from cutpurse.page.seat.friends import FriendsTable, JoinRefused
from cutpurse.page.seat.pages import COOKIE
from cutpurse.page.seat.person import Person
from cutpurse.page.seat.shared_drawing import Listener
from cutpurse.sdk.run import connect
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.answer_times import WaitLimits
from cutpurse.wire.connection import Dialling
from cutpurse.wire.league import league_at
from cutpurse.wire.person_names import people_bot, people_ladder
from cutpurse.wire.server_address import TOKEN_VARIABLE
from tests.looking import until
from tests.page.drawings import seats_in
from tests.page.people import ENDS, PeoplePage, Visitor, decision_of, options_of, people_page, with_names
from tests.page.test_seat import Witness, at_rest, is_here, line_of

BOTS = ("random", "greedy", "search")
SEED = bytes(range(32))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PeoplePage]:
    with people_page(tmp_path_factory.mktemp("friends"), most=10, house=BOTS) as running:
        yield running


@pytest.fixture
def friends(page: PeoplePage, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Visitor]]:
    """Five people, the first of whom opens tables, and whose answers without a choice wait for nothing."""
    monkeypatch.setattr("cutpurse.page.seat.person.WAITS", WaitLimits(0.0, 0.0, 0.0))
    with ExitStack() as stack:
        people = [stack.enter_context(Visitor(page.address)) for _ in range(5)]
        yield people
        for person in people:
            person.post("/seat/leave", {})


def open_table(opener: Visitor, game: str = "greed", bots: tuple[str, ...] = BOTS) -> str:
    """Open a table, and return the path of its link."""
    html = opener.post(f"/play/{game}", {"opponent": list(bots), "with": "friends"}).text
    found = re.search(r'value="(http://[^"]+)"', html)
    assert found, html
    assert found[1].startswith(str(opener.http.base_url).rstrip("/") + "/join/")
    return "/join/" + found[1].rpartition("/")[2]


def play_out(people: Mapping[str, Visitor]) -> dict[str, str]:
    """Let all people answer with their last option until the match is over; return their last tables."""
    asked = dict.fromkeys(people, 0)
    ends: dict[str, str] = {}

    def go_on() -> bool:
        for name, person in people.items():
            if name in ends:
                continue
            html = person.get("/seat").text
            if any(text in html for text in ENDS):
                ends[name] = html
            elif (number := decision_of(html)) > asked[name]:
                asked[name] = number
                person.answer(number, len(options_of(html)) - 1)
        return len(ends) == len(people)

    until(go_on, "the match is over")
    return ends


def match_of(page: PeoplePage, html: str) -> Any:
    """Return the finished match of a table."""
    match = html.partition('href="/matches/')[2].partition("/")[0]
    with league_at(server=page.arena, as_stranger=True) as league:
        return league.GetMatch(ladder_pb2.GetMatchRequest(match=match)).match


def test_two_people_and_two_bots_play_to_the_end(page: PeoplePage, friends: list[Visitor]) -> None:
    opener, friend = friends[:2]
    link = open_table(opener)
    assert "1 of 4 seats has a person." in opener.get("/seat").text
    assert "Sit down" in friend.get(link).text
    assert COOKIE not in friend.http.cookies  # a look takes no seat
    sat = friend.post(link, {})
    assert sat.url.path == "/seat"
    assert "2 of 4 seats have a person" in sat.text
    assert "random, greedy" in opener.get("/seat").text
    assert "search" not in opener.get("/seat").text.partition("The house takes")[2].partition("</p>")[0]
    assert link not in sat.text
    opener.post("/seat/begin", {})
    ends = play_out({"opener": opener, "friend": friend})
    match = match_of(page, ends["opener"])
    assert match == match_of(page, ends["friend"])
    assert match.rated_number == 0
    assert sorted(seat.bot.owner for seat in match.seats) == ["house", "house", PEOPLE, PEOPLE]
    assert all(seat.faults == 0 for seat in match.seats)
    assert all(seat.end_cause == arena_pb2.END_CAUSE_NORMAL for seat in match.seats)


def test_friends_are_called_by_their_names(friends: list[Visitor]) -> None:
    opener, friend, stranger = friends[:3]
    long = opener.post("/play/greed", {"opponent": ["random"], "with": "friends", "name": "n" * 65})
    assert long.status_code == 400
    assert line_of(long.text) == "Your name has 65 characters, and 24 are the most: shorten it and sit down again."
    assert opener.get("/seat").status_code == 403
    opened = opener.post("/play/greed", {"opponent": list(BOTS), "with": "friends", "name": "<i>Ann"}).text
    link = "/join/" + opened.partition("/join/")[2].partition('"')[0]
    assert "With you: &lt;i&gt;Ann." in friend.post(link, {"name": " <i>ann "}).text
    assert stranger.post(link, {"name": "a\u202eb"}).status_code == 400
    stranger.post(link, {"name": "You"})
    opener.post("/seat/begin", {})
    tables: dict[str, str] = {}

    def has_begun() -> bool:
        tables.update({name: person.get("/seat").text for name, person in zip("ofs", friends[:3], strict=True)})
        return all('class="others"' in html for html in tables.values())  # the board is empty until then

    until(has_begun, "all see the table")
    names = {"o": "&lt;i&gt;Ann", "f": "&lt;i&gt;ann 2", "s": "You 2"}
    for viewer, html in tables.items():
        assert all((name in html) is (other != viewer) for other, name in names.items()), viewer
        assert "<i>Ann" not in html
    friend.post("/seat/leave", {})
    assert 'value="&lt;i&gt;ann"' in friend.get("/play/szmal").text  # kept for the next time


def test_each_person_gets_the_hand_of_their_seat_only(friends: list[Visitor]) -> None:
    opener, friend = friends[:2]
    friend.post(open_table(opener, bots=("random",)), {})
    opener.post("/seat/begin", {})
    until(lambda: any(decision_of(one.get("/seat").text) for one in (opener, friend)), "one of them is asked")
    tables = [person.get("/seat").text for person in (opener, friend)]
    keys = [person.http.cookies[COOKIE] for person in (opener, friend)]
    assert keys[0] != keys[1]
    asked = next(person for person, html in zip((opener, friend), tables, strict=True) if decision_of(html))
    other = friend if asked is opener else opener
    refused = other.answer(decision_of(asked.get("/seat").text), 0)  # the decision of the other seat
    assert refused.status_code == 409


def test_a_link_that_is_guessed_full_late_or_used_twice(friends: list[Visitor]) -> None:
    opener, friend, third, *_ = friends
    link = open_table(opener, bots=("random",))
    for guess in ("/join/guessed", link[:-1], link.swapcase().replace("/JOIN/", "/join/"), "/join/%E2%98%83"):
        for answer in (third.get(guess), third.post(guess, {})):
            assert answer.status_code == 409
            assert line_of(answer.text) == "No table has this link, or its match is long over; ask for a new link."
    seat = friend.post(link, {})
    key = friend.http.cookies[COOKIE]
    again = friend.post(link, {})
    assert (again.url.path, again.text) == ("/seat", seat.text)
    assert friend.http.cookies[COOKIE] == key
    assert friend.get(link).url.path == "/seat"
    for answer in (third.get(link), third.post(link, {})):
        assert answer.status_code == 409
        assert line_of(answer.text) == "People sit in all 2 seats of this table already; ask for a new link."
    opener.post("/seat/begin", {})
    for answer in (third.get(link), third.post(link, {})):
        assert answer.status_code == 409
        assert line_of(answer.text) == (
            "The match of this link has begun, so nobody can join it any more; ask for a new link."
        )
    assert COOKIE not in third.http.cookies


def test_only_the_opener_begins_and_only_from_this_site(page: PeoplePage, friends: list[Visitor]) -> None:
    opener, friend, stranger, *_ = friends
    link = open_table(opener)
    friend.post(link, {})
    refused = friend.post("/seat/begin", {})
    assert (refused.status_code, line_of(refused.text)) == (
        409,
        "Only the person who opened this table can begin the match.",
    )
    stranger.http.cookies = {COOKIE: "guessed"}
    assert stranger.post("/seat/begin", {}).status_code == 403
    for path in (link, "/seat/begin"):
        foreign = stranger.post(path, {}, {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.test"})
        assert foreign.status_code == 403
        assert line_of(foreign.text) == "This was not sent by a page of this site, so nothing was done."
    assert opener.get("/seat/begin").url.path == "/seat"
    assert "2 of 4 seats" in opener.get("/seat").text
    opener.post("/seat/begin", {})
    twice = opener.post("/seat/begin", {})
    assert (twice.status_code, line_of(twice.text)) == (409, "The match has begun already.")


def test_a_person_at_another_table_leaves_it_first(friends: list[Visitor]) -> None:
    opener, other, *_ = friends
    link = open_table(opener)
    open_table(other)
    refused = other.post(link, {})
    assert (refused.status_code, line_of(refused.text)) == (
        409,
        "You sit at a table already; leave it to join this one.",
    )
    assert "You sit at a table already" in other.get(link).text
    other.post("/seat/leave", {})
    assert other.post(link, {}).url.path == "/seat"


def test_without_the_opener_the_table_is_closed(friends: list[Visitor]) -> None:
    opener, friend, third, *_ = friends
    link = open_table(opener)
    friend.post(link, {})
    third.post(link, {})
    third.post("/seat/leave", {})  # a seat that is given up is free again
    assert "2 of 4 seats" in friend.get("/seat").text
    opener.post("/seat/leave", {})
    why = "the person who opened the table has left it, so it is closed; ask for a new link."
    assert f"Your match does not go on: {why}" in friend.get("/seat").text
    refused = third.post(link, {})
    assert (refused.status_code, line_of(refused.text)) == (409, f"Nobody can join by this link: {why}")
    assert open_table(friend) != link  # they may sit down elsewhere


def test_a_table_is_refused_as_one_against_bots(friends: list[Visitor]) -> None:
    refused = friends[0].post("/play/greed", {"opponent": ["clever"], "with": "friends"})
    assert refused.status_code == 400
    assert line_of(refused.text).startswith("no house bot here is called 'clever'")


@pytest.mark.parametrize("leaver", [0, 1], ids=["opener", "friend"])
def test_a_person_who_leaves_costs_the_other_nothing(page: PeoplePage, friends: list[Visitor], leaver: int) -> None:
    """The seat takes its safe options at once from then on, so the other plays on without a wait."""
    friends[1].post(open_table(friends[0]), {})
    friends[0].post("/seat/begin", {})
    stayer = friends[1 - leaver]
    until(lambda: any(decision_of(one.get("/seat").text) for one in friends[:2]), "the match has begun")
    friends[leaver].post("/seat/leave", {})
    end = play_out({"stayer": stayer})["stayer"]
    assert "Play again" in end
    match = match_of(page, end)
    assert not match.void_cause
    assert all(seat.faults == 0 for seat in match.seats)


class Waiter:
    """A person who notes what they read."""

    def __init__(self) -> None:
        self.read: list[tuple[str, str]] = []
        self.why = ""
        self.language = ENGLISH
        self.name = ""

    def wait(self, status: str, html: str) -> None:
        self.read.append((status, html))

    def call_off(self, why: str) -> None:
        self.why = why


def test_a_table_that_nobody_begins_is_closed() -> None:
    table, people = FriendsTable("greed", "Greed", ("greedy", "random"), "http://host"), [Waiter(), Waiter()]
    for one in people:
        table.add(one)
    assert list(table.house) == ["greedy"]
    table.close("nobody began it")
    assert [one.why for one in people] == ["nobody began it"] * 2
    with pytest.raises(JoinRefused, match=r"^Nobody can join by this link: nobody began it\.$"):
        table.add(Waiter())


async def test_the_browsers_of_two_people_get_what_bots_in_their_seats_are_sent(
    page: PeoplePage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same cards are dealt twice: to two people, and to two bots that answer alike."""
    monkeypatch.setattr("cutpurse.page.seat.person.WAITS", WaitLimits(0.0, 0.0, 0.0))
    monkeypatch.setenv(TOKEN_VARIABLE, page.people.reveal())
    game, ladder = "szmal", people_ladder("szmal", 4)
    names = ["person-9", BOTS[0], "person-10", BOTS[1]]
    bots = [f"house/{people_bot(name)}" if name in BOTS else f"{PEOPLE}/{name}" for name in names]
    dials = Dialling(page.arena, token=page.people.reveal())
    shown: dict[int, list[tuple[str, list[str]]]] = {0: [], 2: []}

    async def person_at(seat: int) -> str:
        def session(carry: Any) -> PersonSession:
            return PersonSession(dials, names[seat], game, ladder, carry)

        person = Person(game, session, asyncio.get_running_loop())
        playing = asyncio.create_task(person.play(bots if seat == 0 else (), SEED))
        answered = 0
        async for news in person.listen(Listener()):
            if news.step is not None and (number := decision_of(html := await person.html())) > answered:
                shown[seat].append((at_rest(html), options_of(html)))
                person.answer(str(number), "0")
                answered = number
        await playing
        return person.problem

    assert not any(await asyncio.gather(person_at(2), person_at(0)))

    seen: dict[int, list[tuple[str, list[str]]]] = {0: [], 2: []}

    def calls(seat: int) -> list[str]:
        return ["you" if number == seat else name for number, name in enumerate(names)]

    def bot_at(seat: int) -> Any:
        witness = partial(Witness, seen[seat], calls(seat))
        return asyncio.create_task(
            connect(witness, ladders=ladder, server=page.arena, name=names[seat], matches=1, quiet=True)
        )

    playing = [bot_at(0), bot_at(2)]
    for seat in (0, 2):
        await asyncio.to_thread(until, partial(is_here, page, names[seat]), "the bot is there")

    def request() -> None:
        wanted = [ladder_pb2.BotName(owner=bot.partition("/")[0], bot=bot.partition("/")[2]) for bot in bots]
        with league_at(server=page.arena) as league:
            league.RequestMatch(ladder_pb2.RequestMatchRequest(ladder=ladder, bots=wanted, seed=SEED))

    await asyncio.to_thread(request)
    await asyncio.gather(*playing)
    for seat in (0, 2):
        assert len(seen[seat]) == len(shown[seat]) > 2
        for (html, options), (table, texts) in zip(shown[seat], seen[seat], strict=True):
            assert [seat for seat in seats_in(table) if seat not in html] == []
            assert options == [with_names(text, calls(seat)) for text in texts]
    assert shown[0][0][0] != shown[2][0][0]
