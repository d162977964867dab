"""Beside the replay of a match, the owner of a bot in it sees its notes, and what search would do; nobody else does."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final

import httpx
import pytest

from cutpurse.engine.match import Match
from cutpurse.engine.record import read_record, replay, write_record
from cutpurse.games import GAMES
from cutpurse.leaderboard.results import DecisionFault, DecisionLog, SeatNote
from cutpurse.page.account.cookie import form_key
from cutpurse.page.account.search_process import BASE_MS, SEARCH, SearchProcess
from cutpurse.page.match_view.replay_path import Replayed
from cutpurse.page.match_view.seat_question import SeatQuestion, seat_question
from cutpurse.page.visitor_process import WorkRefused
from cutpurse.sdk.second_opinion import second_opinion
from tests.leaderboard.sample_results import add_version, result
from tests.looking import PATIENCE_S
from tests.page.accounts import OWN, Person
from tests.server.league_world import LeagueWorld, league_world

SCRIPT: Final = {"Accept": "application/json"}
MARKUP: Final = "<img src=x onerror=alert(1)>"
NAME: Final = "0123456789abcdef"
NOTES: Final = "/me/matches/0123456789abcdef/decisions"
ASK: Final = "/me/matches/0123456789abcdef/search"


def played(game: str, seats: int) -> str:
    """Play a match at random, and return its record."""
    random = Random(game)
    match = Match(GAMES[game], [f"bot-{seat}" for seat in range(seats)], bytes(range(32)), log=True)
    while decision := match.decision():
        match.answer(decision.seat, decision.number, random.randrange(len(decision.options)))
    return write_record(match)


RECORD: Final = played("greed", 2)
REPLAYED: Final = Replayed(read_record(RECORD), ["ann/noter", "bob/thug"])
NUMBERS: Final = REPLAYED.decisions_of(0)


def store_match(world: LeagueWorld) -> None:
    """Store a match of ann's bot, which takes notes and fails once, and bob's."""
    ann, bob = add_version(world.store, "ann", "noter", "1"), add_version(world.store, "bob", "thug", "3")
    made = result(NAME, [ann, bob], ladder="duel", record=RECORD)
    number, at = list(NUMBERS.items())[2]
    course = DecisionLog((1, 2, 3), (DecisionFault(number, at, "crashed", "ValueError"),))
    notes = (SeatNote(0, "hello"), SeatNote(list(NUMBERS)[1], f"whispered {MARKUP}"))
    world.store.submit(
        replace(made, seats=(replace(made.seats[0], course=course, notes=notes), made.seats[1]))
    ).result()


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[LeagueWorld]:
    async with league_world(tmp_path) as world:
        store_match(world)
        yield world


async def signed_in(world: LeagueWorld, owner: str) -> Person:
    person = Person(world.arena.address)
    await person.sign_in(world.tokens[owner])
    return person


def use_quick_search(person: Person, command: list[str]) -> None:
    person.http.app.state.search = SearchProcess(command)


async def ask_search(person: Person, at: object, key: str) -> httpx.Response:
    form = {"at": at, "key": key}
    answer: httpx.Response = await asyncio.to_thread(
        lambda: person.http.post(ASK, data=form, headers={**OWN, **SCRIPT})
    )
    return answer


async def notes_of(person: Person) -> Mapping[str, Any]:
    answer = await person.get(NOTES, headers=SCRIPT)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    found: Mapping[str, Any] = answer.json()
    return found


async def test_the_owner_sees_notes_and_faults_at_their_decisions(world: LeagueWorld) -> None:
    ann = await signed_in(world, "ann")
    try:
        found = await notes_of(ann)
        ats = list(NUMBERS.values())
        assert found["own"] == ats
        assert found["before"] == ["hello"]
        assert found["notes"] == {
            str(ats[1]): [f"whispered {MARKUP}"],
            str(ats[2]): ["its own code failed: ValueError"],
        }
        assert found["problem"] == ""
        page = (await ann.get(f"/matches/{NAME}/replay")).text
        assert f'data-decisions="{NOTES}"' in page
        assert "whispered" not in page
    finally:
        ann.close()


async def test_nobody_else_sees_notes_or_asks_search(world: LeagueWorld) -> None:
    for owner in ("bob", "cid", "root", "revoked", "unknown", ""):
        person = Person(world.arena.address)
        use_quick_search(person, ["false"])
        try:
            await check_sees_nothing(world, person, owner)
        finally:
            person.close()


async def check_sees_nothing(world: LeagueWorld, person: Person, owner: str) -> None:
    """Check what this owner, or nobody, gets about ann's bot."""
    if owner in ("revoked", "unknown"):  # the cookie of a token that was valid once, and of none
        person.http.cookies.set("__Host-cutpurse", world.tokens[owner], domain="page.test", path="/")
    elif owner:
        await person.sign_in(world.tokens[owner])
    answer = await person.get(NOTES, headers=SCRIPT)
    assert not re.search("whispered|hello|ValueError", answer.text)
    if owner in ("bob", "cid", "root"):
        assert answer.json()["own"] == ([*REPLAYED.decisions_of(1).values()] if owner == "bob" else [])
        key = re.findall(r'name="key" value="(\w+)"', (await person.get("/me")).text)[0]
    else:
        assert answer.status_code == 403
        key = form_key(world.tokens[owner]) if owner else ""
    asked = await ask_search(person, list(NUMBERS.values())[1], key)
    assert asked.status_code == (503 if owner == "bob" else 403)  # bob's bot played too; its search breaks down
    page = (await person.get(f"/matches/{NAME}/replay")).text
    assert "whispered" not in page
    assert ("own_match" in page) == (owner != "")


async def test_a_token_without_the_scope_shows_why_there_are_no_notes(world: LeagueWorld) -> None:
    mute = add_version(world.store, "player", "mute", "1")
    other = add_version(world.store, "bob", "thug", "3")
    world.store.submit(result("fedcba9876543210", [mute, other], ladder="duel", record=RECORD)).result()
    person = await signed_in(world, "player")
    try:
        found = (await person.get("/me/matches/fedcba9876543210/decisions", headers=SCRIPT)).json()
        assert found["notes"] == {}
        assert "this token is good for play, not for read or admin" in found["problem"]
    finally:
        person.close()


async def test_the_owner_asks_search_at_a_decision(world: LeagueWorld) -> None:
    ann = await signed_in(world, "ann")
    answer = {"choice": 1, "expected": [[0, 0.25, 0.3, 4, True], [1, 0.5, None, 9, False]]}
    use_quick_search(ann, [sys.executable, "-c", f"print({json.dumps(answer)!r})"])
    try:
        key = (await notes_of(ann))["key"]
        at = next(at for at in NUMBERS.values() if len(options_at(at)) == 2)
        told = await ask_search(ann, at, key)
        assert told.status_code == 200, told.text
        text = " ".join(re.sub(r"<[^>]*>", " ", told.json()["html"]).split())
        first, second = with_names(at, 0), with_names(at, 1)
        assert text == (
            f"search would take {second} . Too close to call: its playouts cannot tell another option from it. "
            f"50 % {second} 9 playouts 25 ± 30 % {first} 4 playouts too close to call"
        )
        assert (await ask_search(ann, at, "0" * 64)).status_code == 403
        for nothing in (10**6, "x", "", -1):
            refused = await ask_search(ann, nothing, key)
            assert refused.json()["text"].endswith("or nobody was asked at this moment.")
        theirs = next(iter(REPLAYED.decisions_of(1).values()))
        assert (await ask_search(ann, theirs, key)).status_code == 200  # everybody can replay it with all cards
    finally:
        ann.close()


def options_at(at: int) -> tuple[str, ...]:
    found = REPLAYED.decision_at(at)
    assert found is not None
    return seat_question(*found, BASE_MS).options


def with_names(at: int, option: int) -> str:
    return options_at(at)[option].replace("seat 0", "noter").replace("seat 1", "thug")


async def test_search_answers_one_question_at_a_time() -> None:
    wait = f"import sys; sys.stdin.read(); print({json.dumps({'choice': 0, 'expected': []})!r})"
    process = SearchProcess([sys.executable, "-S", "-c", wait])
    first = asyncio.create_task(process.ask(QUESTION))
    await asyncio.sleep(0)  # it begins
    with pytest.raises(WorkRefused, match="try again in a few seconds"):
        await process.ask(QUESTION)
    assert (await first).choice == QUESTION.options[0]
    assert (await process.ask(QUESTION)).choice == QUESTION.options[0]  # it is free again


@pytest.mark.parametrize(
    ("code", "patience_s"), [("raise SystemExit(1)", 10.0), ("import signal; signal.pause()", 0.1)]
)
async def test_a_search_that_fails_or_hangs_is_ended(code: str, patience_s: float) -> None:
    process = SearchProcess([sys.executable, "-S", "-c", code], patience_s)
    for _ in range(2):
        with pytest.raises(WorkRefused, match="gave no answer"):
            await process.ask(QUESTION)


@pytest.mark.full
async def test_the_real_process_answers() -> None:
    advice = await SearchProcess(patience_s=PATIENCE_S).ask(QUESTION)
    assert advice.choice in QUESTION.options
    assert {option.text for option in advice.options} == set(QUESTION.options)
    assert [option.is_choice for option in advice.options].count(True) == 1


# -- the question
def first_question(game: str) -> SeatQuestion:
    rules = GAMES[game]
    replayed = Replayed(read_record(played(game, rules.usual_seats)), ["bot"] * rules.usual_seats)
    asked = (replayed.decision_at(at) for at in replayed.path(None).ats[5:])
    return next(seat_question(*one, BASE_MS) for one in asked if one is not None and len(one[1].options) > 1)


QUESTION: Final = first_question("greed")


@pytest.mark.parametrize("game", ["greed", "steal_and_plunder"])
def test_search_chooses_one_of_the_options(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTPURSE_PLAYOUTS", "8")
    question = first_question(game)
    head, _, message = question.to_bytes(SEARCH).partition(b"\n")
    answer = second_opinion(json.loads(head), message)
    assert 0 <= answer["choice"] < len(question.options)
    assert answer["choice"] in [index for index, *_ in answer["expected"]]
    assert all(0 <= mean <= 1 and count > 0 for _, mean, _, count, _ in answer["expected"])
    assert all((margin is None) == (count < 2) for *_, margin, count, _ in answer["expected"])
    assert [answer["choice"]] == [index for index, *_, is_close in answer["expected"] if not is_close][:1]
    assert second_opinion(json.loads(head), message) == answer


def test_a_question_depends_on_nothing_that_the_seat_cannot_see() -> None:
    """Two cards that are hidden from the seat change places: the question stays the same, byte for byte."""
    changed = 0
    for match, asked, _ in replay(read_record(RECORD), GAMES["greed"]):
        twin = match.fork()
        hidden = [
            zone
            for zone, view in zip(twin.game.zones(), twin.game.view(asked.seat).zones, strict=True)
            if not any(view.cards) and not view.known and len(set(zone.cards)) > 1
        ]
        if len(hidden) < 2:
            continue
        first, second = hidden[:2]
        first.cards[0], second.cards[0] = second.cards[0], first.cards[0]
        assert seat_question(twin, asked, BASE_MS) == seat_question(match, asked, BASE_MS)
        changed += 1
    assert changed >= 5


def test_a_decision_is_found_by_its_index() -> None:
    record = read_record(RECORD)
    expected = [(len(match.choices), asked) for match, asked, _ in replay(record, GAMES["greed"])]
    for at, asked in expected[:: max(1, len(expected) // 10)]:
        found = REPLAYED.decision_at(at)
        assert found is not None
        assert len(found[0].choices) == at
        assert (found[1].seat, found[1].number, found[1].options) == (asked.seat, asked.number, asked.options)
        assert REPLAYED.decisions_of(asked.seat)[asked.number + 1] == at
    assert REPLAYED.decision_at(REPLAYED.path(None).ats[-1]) is None  # the end
    assert REPLAYED.decision_at(10**6) is None
