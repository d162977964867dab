"""A person who is signed in plays on a rated ladder: the way to the table, the label, leaving, and what is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import grpc.aio
import pytest

from cutpurse.engine.clocks import PEOPLE_CLOCK, TimeControl
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.page.seat.pages import COOKIE
from cutpurse.server.access.owners import BAD
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.parts.people.person_guard import NO_OWNERS
from cutpurse.v1 import arena_pb2, ladder_pb2
from cutpurse.wire.answer_times import WaitLimits
from cutpurse.wire.errors import NotAuthorised
from cutpurse.wire.league import league_at
from cutpurse.wire.person_names import VOUCHER_KEY
from cutpurse.wire.server_address import TOKEN_VARIABLE
from tests.looking import until
from tests.page.people import HOUSE, PeoplePage, Visitor, decision_of, options_of, people_page
from tests.page.test_seat import line_of
from tests.server.raw_bot import Ended, RawBot

OWNERS: dict[str, Sequence[str]] = dict.fromkeys(("ann", "bob", "cid", "dora", "eve", "fay"), ("play", "read"))
OWNERS |= {"guest": ("read",), "host": ("read", "admin")}


def ladder_of(name: str, seats: int = 2, clock: TimeControl = PEOPLE_CLOCK, **terms: Any) -> Ladder:
    usual: dict[str, Any] = {"house": HOUSE, "admits_people": True}
    return Ladder(name, "greed", seats, {}, clock, terms=LadderTerms(**usual | terms))


LADDERS = (
    ladder_of("duel"),
    ladder_of("alone", house=()),
    ladder_of("meeting", house=()),
    ladder_of("changing", house=()),
    ladder_of("masked", house=(), names_hidden_until=datetime.now(UTC) + timedelta(days=1)),
    ladder_of("machines", admits_people=False),
    ladder_of("frozen", frozen=datetime(2020, 1, 1, tzinfo=UTC)),
    ladder_of("of-bob", owners=("bob",)),
    ladder_of("secret", owners=("bob",), is_private=True),
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PeoplePage]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("cutpurse.page.seat.person.WAITS", WaitLimits(0.01, 0.01, 0.5))
        with people_page(tmp_path_factory.mktemp("people"), most=20, rated=LADDERS, owners=OWNERS) as running:
            yield running


@pytest.fixture
def visitors(page: PeoplePage) -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def signed_in(page: PeoplePage, visitors: ExitStack, owner: str) -> Visitor:
    visitor = visitors.enter_context(Visitor(page.address))
    assert visitor.sign_in(page.tokens[owner]).url.path == "/me"
    visitors.callback(visitor.post, "/seat/leave", {})
    return visitor


def played(person: Visitor, option: int = 0) -> str:
    """Play to the end, and return the ID of the match."""
    asked = 0
    while "Play again" not in (table := person.table(asked)):
        assert "does not go on" not in table
        asked = decision_of(table)
        person.answer(asked, min(option, len(options_of(table)) - 1))
    return table.partition('href="/matches/')[2].partition("/")[0]


def shown(page: PeoplePage, match: str) -> ladder_pb2.MatchShown:
    with league_at(server=page.arena, as_stranger=True) as league:
        return league.GetMatch(ladder_pb2.GetMatchRequest(match=match)).match


def test_a_person_plays_a_rated_match_and_is_marked_as_one(page: PeoplePage, visitors: ExitStack) -> None:
    ann = signed_in(page, visitors, "ann")
    assert 'href="/ladders/duel/play"' in ann.get("/ladders/duel").text
    before = ann.get("/ladders/duel/play").text
    assert "This match is <strong>rated and public</strong>" in before
    assert "ann/person" in before
    assert ann.sit_down_rated("duel").url.path == "/seat"
    match = shown(page, played(ann))
    assert match.ladder == "duel"
    assert match.rated_number > 0
    seats = {(seat.bot.owner, seat.bot.bot): seat for seat in match.seats}
    assert seats["ann", "person"].bot.person
    assert seats["ann", "person"].faults == 0
    (other,) = (seat for name, seat in seats.items() if name != ("ann", "person"))
    assert other.bot.owner == "house"
    assert not other.bot.person
    assert other.faults == 0
    for path in (f"/matches/{match.match}", "/ladders/duel", "/bots", "/bots/ann/person", "/matches"):
        text = ann.get(path).text
        assert '<span class="badge person">a person</span>' in text, path
        assert "ann/person" in text, path
    rankings = json.loads(ann.get("/api/v1/ladders/duel/rankings").text)["rankings"]
    assert {row["bot"]["bot"]: row["bot"]["person"] for row in rankings} == {"person": True, other.bot.bot: False}


def test_people_meet_each_other_and_bots_are_not_needed(page: PeoplePage, visitors: ExitStack) -> None:
    bob, cid = signed_in(page, visitors, "bob"), signed_in(page, visitors, "cid")
    assert "You are in line for a match." in bob.sit_down_rated("meeting").text
    cid.sit_down_rated("meeting")
    until(lambda: decision_of(bob.get("/seat").text) + decision_of(cid.get("/seat").text) > 0, "the match begins")
    assert '<span class="badge person">a person</span>' in bob.get("/live").text
    asked = {bob: 0, cid: 0}
    ended: set[Visitor] = set()
    while len(ended) < 2:
        for person in (bob, cid):
            table = person.get("/seat").text
            assert "does not go on" not in table
            if "Play again" in table:
                ended.add(person)
            elif decision_of(table) > asked[person]:
                asked[person] = decision_of(table)
                person.answer(asked[person], 0)
    assert "bob/person" in cid.get("/seat").text
    match = shown(page, table.partition('href="/matches/')[2].partition("/")[0])
    assert {seat.bot.owner for seat in match.seats} == {"bob", "cid"}
    assert match.rated_number > 0


def test_people_do_not_see_each_others_names_where_these_are_hidden(page: PeoplePage, visitors: ExitStack) -> None:
    bob, cid = signed_in(page, visitors, "bob"), signed_in(page, visitors, "cid")
    assert "Only hosts see which bot plays in which seat until" in bob.get("/ladders/masked/play").text
    bob.sit_down_rated("masked")
    cid.sit_down_rated("masked")
    until(lambda: decision_of(bob.get("/seat").text) + decision_of(cid.get("/seat").text) > 0, "the match begins")
    for person, other in ((bob, "cid"), (cid, "bob")):
        table = person.get("/seat").text
        assert f"{other}/" not in table
        if asked := decision_of(table):
            assert ("seat-0" in table) != ("seat-1" in table)
            person.answer(asked, 0)
    assert "bob/" not in cid.get("/live?ladder=masked").text  # without a ladder it shows a match that all may see


def test_who_leaves_a_rated_match_is_rated_as_it_ends(page: PeoplePage, visitors: ExitStack) -> None:
    dora = signed_in(page, visitors, "dora")
    dora.sit_down_rated("duel")
    assert "safe options are taken for you, and the match counts" in dora.get("/seat").text
    dora.answer(decision_of(dora.table()), 0)
    dora.post("/seat/leave", {})

    def result() -> list[ladder_pb2.MatchShown]:
        with league_at(server=page.arena, as_stranger=True) as league:
            wanted = ladder_pb2.ListMatchesRequest(bots=[ladder_pb2.BotName(owner="dora", bot="person")])
            return [*league.ListMatches(wanted).matches]

    until(lambda: len(result()) == 1, "the match is played to its end without her")
    (match,) = result()
    assert match.rated_number > 0
    assert match.void_cause == ""
    assert [seat.faults for seat in match.seats] == [0, 0]


def test_one_owner_has_one_seat_which_the_newest_browser_has(page: PeoplePage, visitors: ExitStack) -> None:
    desk, phone = signed_in(page, visitors, "eve"), signed_in(page, visitors, "eve")
    desk.sit_down_rated("alone")
    assert "You are in line" in desk.sit_down_rated("duel").text  # a second tab: the same seat
    assert "alone" in phone.sit_down_rated("duel").text
    assert desk.get("/seat").status_code == desk.get("/seat/events").status_code == 403
    with league_at(server=page.arena, as_stranger=True) as league:
        wanted = ladder_pb2.ListBotsRequest(owner="eve")
        (bot,) = league.ListBots(wanted).bots
        assert (bot.bot.bot, bot.is_here, [*bot.ladders], bot.bot.person) == ("person", True, ["alone"], True)
        phone.post("/seat/leave", {})
        until(lambda: not [one for one in league.ListBots(wanted).bots if one.is_here], "the place in line is given up")


def test_only_who_is_signed_in_on_this_page_sits_down(page: PeoplePage, visitors: ExitStack) -> None:
    stranger = visitors.enter_context(Visitor(page.address))
    assert stranger.get("/ladders/duel/play").url.path == "/sign-in"
    assert stranger.sit_down_rated("duel").status_code == 403
    ann = signed_in(page, visitors, "ann")
    refused = ann.post("/ladders/duel/play", {"key": "0" * 64})
    assert (refused.status_code, line_of(refused.text)[:32]) == (403, "This form is not of this session")
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://evil.test"}, {}):
        assert ann.post("/ladders/duel/play", {"key": "0" * 64}, headers).status_code == 403
    assert COOKIE not in ann.http.cookies


@pytest.mark.parametrize(
    ("owner", "ladder", "status", "line"),
    [
        ("ann", "machines", 409, "This ladder admits programs only, and no people."),
        ("ann", "frozen", 409, "This ladder is frozen: no match starts there."),
        ("ann", "secret", 404, "there is no ladder 'secret'."),
        ("ann", "nonesuch", 404, "there is no ladder 'nonesuch'."),
    ],
)
def test_a_ladder_that_seats_nobody_says_so(
    page: PeoplePage, visitors: ExitStack, owner: str, ladder: str, status: int, line: str
) -> None:
    person = signed_in(page, visitors, owner)
    key = person.get("/ladders/duel/play").text.partition('name="key" value="')[2][:64]
    refused = person.post(f"/ladders/{ladder}/play", {"key": key})
    assert (refused.status_code, line_of(refused.text)) == (status, line)
    assert "Play rated" not in person.get(f"/ladders/{ladder}/play").text


@pytest.mark.parametrize(
    ("owner", "ladder", "line"),
    [
        ("ann", "of-bob", "ladder of-bob is not for bots of ann; ask the operator of the server."),
        ("guest", "duel", "this token is good for read, not for play; ask for one that is."),
    ],
)
def test_what_the_server_refuses_is_shown_at_the_table(
    page: PeoplePage, visitors: ExitStack, owner: str, ladder: str, line: str
) -> None:
    person = signed_in(page, visitors, owner)
    person.sit_down_rated(ladder)
    assert line in person.table()


def test_a_term_that_changes_is_told_in_line_and_a_revoked_token_ends_the_wait(
    page: PeoplePage, visitors: ExitStack
) -> None:
    fay = signed_in(page, visitors, "fay")
    assert "You are in line for a match." in fay.sit_down_rated("changing").text
    host = signed_in(page, visitors, "host")
    form = host.get("/host/ladders/changing").text
    assert 'name="people" value="1" checked' in form
    fields = {"key": form.partition('name="key" value="')[2][:64], "most_bots": "0", "most_per_owner": "0"}
    assert 'name="people" value="1" checked' not in host.post("/host/ladders/changing", fields).text
    line = "the server says: ladder changing admits programs only, and no people"
    until(lambda: line in fay.get("/seat").text, "the new term is told")
    key = fay.get("/me/tokens").text.partition('name="key" value="')[2][:64]
    fay.post("/me/tokens/revoke", {"key": key, "token": page.tokens["fay"][5:13]})
    until(lambda: "this token is not valid here" in fay.get("/seat").text, "the wait ends with the token")


async def entered(page: PeoplePage, token: str, voucher: str, name: str, ladders: list[str]) -> str | None:
    """Say Hello as a program; return the text of the refusal.

    A refusal that comes while Hello is being written is lost in the library of the client, so it is asked for again.
    """
    while (text := await _entered_once(page, token, voucher, name, ladders)) == "Internal error from Core":
        pass
    return text


async def _entered_once(page: PeoplePage, token: str, voucher: str, name: str, ladders: list[str]) -> str | None:
    games = [arena_pb2.GameWanted(game="greed", ladders=ladders)]
    metadata = ((VOUCHER_KEY, voucher),) if voucher else ()
    async with RawBot(page.arena, token, metadata=metadata) as bot:
        try:
            await bot.hello(name, games=games)
        except Ended as ended:
            return ended.text
        except grpc.aio.AioRpcError as error:
            return error.details()
    return None


async def test_no_program_passes_for_a_person_and_no_person_for_a_program(page: PeoplePage) -> None:
    token, people = page.tokens["ann"], page.people.reveal()
    assert await entered(page, token, "", "person", ["duel"]) == (
        "'person' is the name of people who play on the page; give the bot another one"
    )
    for forged in (token, "cutp_nonsense", page.house.reveal()):
        assert await entered(page, token, forged, "person", ["duel"]) == BAD
    for own in (people, page.house.reveal()):
        assert await entered(page, own, people, "person", ["duel"]) == NO_OWNERS
    for name, ladders in (("sneak", ["duel"]), ("person", []), ("person", ["duel", "alone"])):
        refused = await entered(page, token, people, name, ladders)
        assert refused == "a person is called 'person', and names the one ladder to play on"


async def test_a_person_is_asked_for_no_match(page: PeoplePage, visitors: ExitStack) -> None:
    person = await asyncio.to_thread(signed_in, page, visitors, "cid")
    await asyncio.to_thread(person.sit_down_rated, "alone")

    def asked() -> str:
        with league_at(server=page.arena) as league:
            bots = [ladder_pb2.BotName(owner="cid", bot="person")]
            with pytest.raises(NotAuthorised) as refused:
                league.RequestMatch(ladder_pb2.RequestMatchRequest(ladder="alone", bots=bots))
        return str(refused.value)

    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(TOKEN_VARIABLE, page.tokens["cid"])
        line = await asyncio.to_thread(asked)
    assert "cid/person:1 is a person, who plays only as ladders pair them" in line
    await asyncio.to_thread(person.post, "/seat/leave", {})
