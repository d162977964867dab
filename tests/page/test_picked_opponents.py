"""A person picks a bot of the league as an opponent, where its owner allows it."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator

import pytest

from cutpurse.engine.clocks import PEOPLE_CLOCK
from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.tokens import PEOPLE
from cutpurse.sdk.run import connect
from cutpurse.server.ladder_config import Ladder
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.league import League, league_at
from cutpurse.wire.server_address import TOKEN_VARIABLE
from tests.looking import until
from tests.page.people import HOUSE, FirstOption, PeoplePage, Visitor, decision_of, options_of, people_page
from tests.page.test_seat import line_of
from tests.typed import run

LADDERS = (
    Ladder("league", "greed", 3, {}, PEOPLE_CLOCK, terms=LadderTerms(house=HOUSE)),
    Ladder("closed", "greed", 3, {}, PEOPLE_CLOCK, terms=LadderTerms(owners=("ann",), is_private=True)),
)
BOTS = (("sneak", "league", 4), ("single", "league", 1), ("secret", "closed", 4))  # with ladder and tables


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PeoplePage]:
    """Run the page; bots of ann play on the ladders."""
    owners = {"ann": ("play", "read"), "host": ("play", "read", "admin")}
    with people_page(tmp_path_factory.mktemp("people"), rated=LADDERS, owners=owners) as running:
        with pytest.MonkeyPatch.context() as patched:
            patched.setenv(TOKEN_VARIABLE, running.tokens["ann"])
            stop = threading.Event()
            playing = threading.Thread(target=lambda: asyncio.run(_play(running.arena, stop)), daemon=True)
            playing.start()
            with league_at(server=running.arena) as league:
                until(lambda: sum(bot.is_here for bot in _bots(league)) == len(BOTS), "ann's bots are there")
        try:
            yield running
        finally:
            stop.set()
            playing.join(240)


async def _play(server: str, stop: threading.Event) -> None:
    tasks = [
        asyncio.create_task(
            connect(FirstOption, ladders=[ladder], name=name, server=server, max_tables=tables, quiet=True)
        )
        for name, ladder, tables in BOTS
    ]
    await asyncio.to_thread(stop.wait)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _bots(league: League) -> list[ladder_pb2.BotShown]:
    return [*league.ListBots(ladder_pb2.ListBotsRequest(owner="ann")).bots]


@pytest.fixture
def person(page: PeoplePage) -> Iterator[Visitor]:
    with Visitor(page.address) as visitor:
        yield visitor
        visitor.post("/seat/leave", {})


def offered(person: Visitor, path: str = "/play/greed") -> list[str]:
    """Return the bots of the league that a page offers."""
    return re.findall(r'name="opponent" value="([^"]*/[^"]*)"', person.get(path).text)


def test_a_person_plays_a_bot_of_an_owner_unrated(page: PeoplePage, person: Visitor) -> None:
    until(lambda: offered(person) != [], "the page offers bots of the league")
    assert offered(person) == ["ann/sneak"]  # one table is for the ladder, and a private ladder is nobody's business
    assert offered(person, "/play/szmal") == []
    chosen = person.get("/play/greed?against=ann/sneak").text
    assert 'value="ann/sneak" checked' in chosen
    assert "cannot be played now" in person.get("/play/greed?against=ann/secret").text
    assert person.sit_down("greed", ["random", "ann/sneak"]).url.path == "/seat"
    number = 0
    while "Play again" not in (table := person.table(number)):
        assert "does not go on" not in table
        assert "ann/sneak" in table
        number = decision_of(table)
        person.answer(number, len(options_of(table)) - 1)
    match = table.partition('href="/matches/')[2].partition("/")[0]
    with league_at(server=page.arena, as_stranger=True) as league:
        stored = league.GetMatch(ladder_pb2.GetMatchRequest(match=match)).match
    assert stored.rated_number == 0
    assert {seat.bot.owner for seat in stored.seats} == {PEOPLE, "house", "ann"}
    assert all(seat.faults == 0 for seat in stored.seats)


@pytest.mark.parametrize("name", ["ann/single", "ann/secret", "ann/nobody", "house/people.random", "/sneak"])
def test_a_bot_that_nobody_may_pick_is_refused_in_a_line(page: PeoplePage, person: Visitor, name: str) -> None:
    refused = person.sit_down("greed", [name])
    assert refused.status_code == 409
    assert line_of(refused.text).startswith(f"'{name}' cannot be played now: it is away, ")
    if not name.startswith("house/"):  # the server doesn't rely on the page
        assert request_by_people(page, name) in ("NotFound", "NotAuthorised")


def request_by_people(page: PeoplePage, name: str) -> str:
    """Return the error that the server gives the page's token for a match with a bot; empty for none."""
    owner, _, bot = name.rpartition("/")
    request = ladder_pb2.RequestMatchRequest(ladder="people.greed.2", bots=[ladder_pb2.BotName(owner=owner, bot=bot)])
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(TOKEN_VARIABLE, page.people.reveal())
        with league_at(server=page.arena) as league:
            try:
                league.RequestMatch(request)
            except CutpurseError as error:
                return type(error).__name__
    return ""


def test_an_owner_declines_by_a_command_and_allows_on_the_page(
    page: PeoplePage, person: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, page.tokens["ann"])
    command = ("bot", "change", "sneak", "--server", page.arena)
    declined = run(*command, "--no-people")
    lines = ["ann/sneak: people may not pick it as an opponent", "ann/sneak: only its owner sees its notes"]
    assert (declined.exit_code, declined.stdout.splitlines()) == (0, lines)
    published = run(*command, "--publish-notes")
    assert published.stdout.splitlines() == [lines[0], "ann/sneak: everybody sees its notes"]
    kept = run(*command)
    assert kept.stdout == published.stdout, "without an option, the settings as they are"
    assert offered(person) == []
    assert person.sit_down("greed", ["ann/sneak"]).status_code == 409
    assert request_by_people(page, "ann/sneak") == "NotFound"
    with Visitor(page.address) as ann:
        ann.sign_in(page.tokens["ann"])
        own = ann.get("/me/bots/sneak").text
        assert "People may not pick this bot" in own
        key = re.search(r'name="key" value="([0-9a-f]{64})"', own)
        assert key is not None
        fields = {"key": key[1], "declines_people": "no"}
        assert "People may pick this bot" in ann.post("/me/bots/sneak/settings", fields).text
    assert offered(person) == ["ann/sneak"]
    monkeypatch.setenv(TOKEN_VARIABLE, page.tokens["host"])
    hosts = run(*command[:2], "ann/nobody", *command[3:], "--no-people")
    assert hosts.exit_code != 0
    assert "there is no bot" in hosts.stderr
