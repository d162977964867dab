"""Playing on from a moment of a finished match, over HTTP: from the replay page to the end, and what is refused."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from functools import partial

import pytest

from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard.tokens import PEOPLE
from cutpurse.page.seat.arena_session import PersonSession
from cutpurse.page.seat.person import Person
from cutpurse.page.seat.shared_drawing import Listener
from cutpurse.sdk.matches.match_file import check, read_matches
from cutpurse.sdk.run import connect
from cutpurse.v1 import ladder_pb2
from cutpurse.wire.connection import Dialling
from cutpurse.wire.league import league_at
from cutpurse.wire.person_names import people_bot, people_ladder
from cutpurse.wire.server_address import TOKEN_VARIABLE
from tests.looking import until
from tests.page.drawings import seats_in
from tests.page.people import HOUSE, PeoplePage, Visitor, decision_of, options_of, people_page, with_names
from tests.page.serving import page_of
from tests.page.test_seat import SEED, Witness, at_rest, is_here, line_of


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PeoplePage]:
    with people_page(tmp_path_factory.mktemp("play_on")) as running:
        yield running


@pytest.fixture
def person(page: PeoplePage) -> Iterator[Visitor]:
    with Visitor(page.address) as visitor:
        yield visitor
        visitor.post("/seat/leave", {})


def played_out(person: Visitor, game: str) -> str:
    """Play a match to its end, and return its ID."""
    person.sit_down(game)
    return end_of(person).partition('href="/matches/')[2].partition("/")[0]


def end_of(person: Visitor) -> str:
    """Answer with the last option to the end of the match, and return the last table."""
    asked = 0
    while "Play again" not in (table := person.table(asked)):
        assert "does not go on" not in table, table
        asked = decision_of(table)
        person.answer(asked, len(options_of(table)) - 1)
    return table


def own_seat(page: PeoplePage, match: str) -> int:
    """Return the seat of the person in a finished match."""
    with league_at(server=page.arena, as_stranger=True) as league:
        seats = league.GetMatch(ladder_pb2.GetMatchRequest(match=match)).match.seats
    return next(seat for seat, taken in enumerate(seats) if taken.bot.owner == PEOPLE)


def test_a_person_plays_on_from_a_replay_to_the_end(page: PeoplePage, person: Visitor) -> None:
    match = played_out(person, "greed")
    seat = own_seat(page, match)
    first = person.get(f"/matches/{match}/replay?seat={seat}&at=0").text
    assert f'formaction="/matches/{match}/play-on"' in first
    assert len(re.findall(r'name="as" value="\d"', first)) == 3
    person.post(f"/matches/{match}/play-on", {"at": 10**6, "as": seat})  # at its end: the last decision
    table = person.table()
    asked = options_of(table)
    assert len(asked) > 1
    end = end_of(person)
    assert "It went on from an imagined position, so it has no replay." in end
    with league_at(server=page.arena, as_stranger=True) as league:
        newest = league.ListMatches(ladder_pb2.ListMatchesRequest(limit=1, with_inner=True)).matches[0]
        told = league.GetMatch(ladder_pb2.GetMatchRequest(match=newest.match))
        file = b"".join(part.piece for part in league.GetRecord(ladder_pb2.GetRecordRequest(match=newest.match)))
    assert told.match.match != match
    assert told.match.rated_number == 0
    assert not told.has_record
    assert told.match.seats[seat].bot.owner == PEOPLE
    assert f"seat {seat} plays on from decision" in told.match.reason
    checked = check(next(read_matches(file)))
    assert any(line.startswith("the match went on from an imagined position") for line in checked.checked)
    shown = person.get(f"/matches/{newest.match}")
    assert "It has no record, so it cannot be replayed: it went on from an imagined position." in shown.text
    refused = person.get(f"/matches/{newest.match}/replay")
    assert refused.status_code == 404
    assert "it went on from an imagined position" in refused.text
    again = person.post(f"/matches/{newest.match}/play-on", {"at": 0, "as": seat})
    assert again.status_code == 404


def test_a_seat_of_another_player_is_taken_where_it_was_asked(page: PeoplePage, person: Visitor) -> None:
    match = played_out(person, "szmal")
    seat = (own_seat(page, match) + 1) % 3
    person.post(f"/matches/{match}/play-on", {"at": 0, "as": seat})
    assert "does not go on" not in person.table()


def test_what_is_no_moment_or_no_finished_match_is_refused(page: PeoplePage, person: Visitor) -> None:
    match = played_out(person, "greed")
    where = f"/matches/{match}/play-on"
    for form in ({}, {"at": 0}, {"as": 0}, {"at": "x", "as": 0}, {"at": 0, "as": 3}, {"at": -1, "as": 0}):
        refused = person.post(where, form)
        assert refused.status_code == 400, form
        assert line_of(refused.text) == (
            "This names no moment and seat of the match; use the buttons below its replay."
        )
    foreign = person.post(where, {"at": 0, "as": 0}, {"Sec-Fetch-Site": "cross-site"})
    assert foreign.status_code == 403
    assert person.post("/matches/ffffffffffffffff/play-on", {"at": 0, "as": 0}).status_code == 404
    assert person.get(where).url.path == f"/matches/{match}/replay"
    person.sit_down("szmal")
    person.table()
    with league_at(server=page.arena, as_stranger=True) as league:
        (running,) = league.ListOpenMatches(ladder_pb2.ListOpenMatchesRequest(with_inner=True)).matches
    refused = person.post(f"/matches/{running.match}/play-on", {"at": 0, "as": 0})
    assert refused.status_code == 404
    assert "is being played" in line_of(refused.text)


async def test_the_browser_gets_what_a_bot_in_that_seat_is_sent(
    page: PeoplePage, person: Visitor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same position is played on twice from one seed: by a person, and by a bot that answers alike."""
    match = await asyncio.to_thread(played_out, person, "greed")
    seat = await asyncio.to_thread(own_seat, page, match)
    monkeypatch.setenv(TOKEN_VARIABLE, page.people.reveal())
    ladder, name = people_ladder("greed", 3), "person-6"
    names = [*HOUSE]
    names.insert(seat, name)
    bots = [f"{PEOPLE}/{one}" if one == name else f"house/{people_bot(one)}" for one in names]
    called = ["you" if one == name else one for one in names]
    position = await asyncio.to_thread(own_decision, page, match, seat)
    dials = Dialling(page.arena, token=page.people.reveal())
    alike = Person(
        "greed", lambda carry: PersonSession(dials, name, "greed", ladder, carry), asyncio.get_running_loop()
    )
    shown: list[tuple[str, list[str]]] = []
    playing = asyncio.create_task(alike.play(bots, SEED, position))
    answered = 0
    async for news in alike.listen(Listener()):
        if news.step is not None and (number := decision_of(html := await alike.html())) > answered:
            shown.append((at_rest(html), options_of(html)))
            alike.answer(str(number), "0")
            answered = number
    await playing
    assert alike.problem == ""

    seen: list[tuple[str, list[str]]] = []
    witness = asyncio.create_task(
        connect(partial(Witness, seen, called), ladders=ladder, server=page.arena, name=name, matches=1, quiet=True)
    )
    await asyncio.to_thread(until, lambda: is_here(page, name), "the bot is there")

    def request() -> None:
        wanted = [ladder_pb2.BotName(owner=bot.partition("/")[0], bot=bot.partition("/")[2]) for bot in bots]
        asked = ladder_pb2.RequestMatchRequest(ladder=ladder, bots=wanted, seed=SEED, position=position)
        with league_at(server=page.arena) as league:
            league.RequestMatch(asked)

    await asyncio.to_thread(request)
    await witness
    assert len(seen) == len(shown) > 1
    for (html, options), (table, texts) in zip(shown, seen, strict=True):
        assert [seat for seat in seats_in(table) if seat not in html] == []
        assert options == [with_names(text, called) for text in texts]


def own_decision(page: PeoplePage, match: str, seat: int) -> ladder_pb2.StartPosition:
    """Return the first decision of a seat in a finished match."""
    with league_at(server=page.arena, as_stranger=True) as league:
        file = b"".join(part.piece for part in league.GetRecord(ladder_pb2.GetRecordRequest(match=match)))
    record = next(read_matches(file)).record()
    choice = next(at for at, (chooser, *_) in enumerate(record.choices) if chooser == seat)
    return ladder_pb2.StartPosition(match=match, choice=choice, seat=seat)


def test_only_people_on_the_page_play_on(page: PeoplePage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TOKEN_VARIABLE, page.house.reveal())
    asked = ladder_pb2.RequestMatchRequest(
        ladder=people_ladder("greed", 3),
        bots=[ladder_pb2.BotName(owner="house", bot=people_bot("random"))],
        position=ladder_pb2.StartPosition(match="ab" * 16),
    )
    with league_at(server=page.arena) as league, pytest.raises(CutpurseError, match="only people on the page play on"):
        league.RequestMatch(asked)


def test_where_nobody_can_play_nobody_plays_on() -> None:
    page = page_of({})
    own = {"Sec-Fetch-Site": "same-origin"}
    assert page.post("/matches/abcdefabcdef/play-on", data={"at": 0, "as": 0}, headers=own).status_code == 404
