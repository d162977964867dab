"""Pages while results are hidden: every address of the app answers with one line or leaves the ladder out."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

import pytest
from fastapi.routing import APIRoute

from cutpurse.page.app import ROUTERS
from cutpurse.page.pages.streams import _home
from tests.page.accounts import Person, text_of
from tests.server.hidden_results import LINE, SERIES, TEST, TOURNAMENT, UNTIL, HiddenLeague, hidden_league

FILLED: Final[Mapping[str, str]] = {  # what stands in an address for each parameter
    "ladder": "duel",
    "name": "duel",
    "match": "match0000",
    "owner": "ann",
    "bot": "sneak",
    "version": "1.0",
    "event": TOURNAMENT,
    "number": "1",
    "game": "greed",
    "board": "board",
    "secret": "none",
}
REST: Final[Mapping[str, tuple[str, ...]]] = {  # and for those that take the rest of the address
    "/bots/{rest:path}": ("ann/sneak", "ann/sneak/1.0"),
    "/badges/bots/{rest:path}": ("ann/sneak", "ann/sneak?ladder=duel", "bob/thug/2?ladder=duel"),
    "/feeds/bots/{rest:path}": ("ann/sneak", "bob/thug"),
}
PICTURES: Final[Mapping[str, tuple[str, ...]]] = {
    "/matches/{match}/picture.{kind}": ("/matches/match0000/picture.svg", "/matches/match0000/picture.png?at=1"),
    "/matches/{match}/animation.{kind}": ("/matches/match0000/animation.gif?from=1&to=2",),
}
MORE: Final = (  # addresses that ask for the ladder or an event in another form
    *(f"/events/{TEST}", f"/events/{SERIES}", f"/events/{SERIES}/1"),
    *("/matches?ladder=duel", "/live?ladder=duel", "/streams/live?ladder=duel", "/streams/live?match=match0000"),
    *(
        "/bots/ann/sneak?ladder=duel",
        "/api/v1/matches?ladder=duel",
        "/live/match0000",
        "/matches?ladder=duel&best=steal",
        "/matches?best=upset",
        "/show?ladder=duel",
        "/show?matches=match0000,match0001",
        "/matches/match0000/replay?at=1",
    ),
)
ENDLESS: Final = {"/streams/home"}
NAMED: Final = re.compile(r"/matches/match0000|/ladders/duel|/events/\w|=duel|=match0000")  # asks for results of duel
NO_RESULTS: Final = {  # these do so, too, and tell the terms of the ladder, or are not for ann on this server
    *(
        "/api/v1/ladders/duel",
        "/host/ladders/duel",
        "/host/ladders/duel/pairs",
        f"/host/events/{TOURNAMENT}",
        "/host/events/plan",
        f"/host/events/{TOURNAMENT}/stop",
        "/matches/match0000/play-on",
        "/show?matches=match0000,match0001",
        "/ladders/duel/play",
    )
}
OWN: Final = "/me/bots/sneak"  # names the matches of one's own bot
SECRETS: Final = re.compile(r"match000[0-2]|board of match|\b(?:2[0-9]|3[0-9])\.[0-9]\b")  # IDs, boards, and ratings


@pytest.fixture
async def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HiddenLeague]:
    async with hidden_league(tmp_path, monkeypatch) as league:
        yield league


def addresses() -> list[str]:
    """List an address of every page of the app that can be read; a parameter that is unknown here fails."""
    found: list[str] = []
    for route in [route for router in ROUTERS for route in router.routes]:
        if not isinstance(route, APIRoute) or "GET" not in (route.methods or ()) or route.path in ENDLESS:
            continue
        if route.path in PICTURES:
            found += PICTURES[route.path]
            continue
        for rest in REST.get(route.path, ("",)):
            path = re.sub(r"\{(?:rest|path|name):path\}", rest, route.path)
            found.append(re.sub(r"\{(\w+)\}", lambda one: FILLED[one[1]], path))
    return [*found, *MORE]


def without_noise(page: str) -> str:
    """Leave out the addresses of a page in other languages, which name the page, and where things are in drawings."""
    return re.sub(r'href="[^"]*\blang=[a-z]+"|\bc[xy]="[0-9.]+%"', "", page)


@pytest.mark.full
async def test_no_address_tells_a_result_before_the_time_and_all_do_after_it(league: HiddenLeague) -> None:
    ann = Person(league.world.arena.address)
    await ann.sign_in(league.world.tokens["ann"])
    assert {address for address in addresses() if NAMED.search(address)} >= NO_RESULTS
    for address in addresses():
        answer = await ann.get(address, follow_redirects=False)
        assert answer.status_code != 500, address
        if NAMED.search(address) and address not in NO_RESULTS:
            assert (answer.status_code, LINE("duel") in text_of(answer.text)) == (403, True), address
        if address != OWN:
            assert SECRETS.findall(without_noise(answer.text)) == [], address
    app = ann.http.app
    assert LINE("duel") in text_of(_home(app.state.ask, app.state.rendering))
    assert "result hidden" in (text := text_of((await ann.get(OWN)).text))
    assert "1st" not in text
    league.is_over = True
    for address in ("/", "/ladders/duel", "/bots/ann/sneak", "/matches", "/feeds/ladders/duel", "/api/v1/matches", OWN):
        answer = await ann.get(address)
        assert answer.status_code == 200, address
        assert "hidden until" not in answer.text, address
        assert SECRETS.findall(answer.text), address
    assert (await ann.get("/me/ladders/hidden")).status_code == 200
    ann.close()


async def test_a_host_hides_and_shows_results_on_the_page_and_sees_them(league: HiddenLeague) -> None:
    root = Person(league.world.arena.address)
    await root.sign_in(league.world.tokens["root"])
    page = (await root.get("/host/ladders/duel")).text
    assert f'value="{UNTIL:%Y-%m-%dT%H:%M:%S}"' in page
    assert "results hidden" in text_of((await root.get("/host")).text)
    ranking = text_of((await root.get("/me/ladders/duel")).text)
    assert "ann/sneak" in ranking
    assert "Only hosts see results until" in ranking
    assert "/matches/match0000" not in ranking  # the public page of a match refuses hosts, too
    for given, status, text in (
        ("2027-01-31T18:00", 303, ""),
        ("2001-01-31T18:00:30", 303, ""),
        ("", 303, ""),
        ("soon", 400, "'soon' is no time; it is as 2027-01-31T18:00, in UTC."),
    ):
        form = {"results_hidden_until": given}
        answer = await root.post("/host/ladders/duel", form, page="/host/ladders/duel", follow_redirects=False)
        assert (answer.status_code, text in text_of(answer.text)) == (status, True), given
    made = {"name": "new", "game": "greed", "results_hidden_until": "2027-01-31T18:00"}
    await root.post("/host/ladders", made, page="/host")
    (new,) = [one for one in (await league.world.ask("ListLadders")).ladders if one.defined.name == "new"]
    assert new.defined.terms.results_hidden_until_ms == 1_801_418_400_000
    root.close()
