"""Replays that are hidden until a time: how a match goes is only for hosts and those who played, its result for all."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from itertools import product
from pathlib import Path
from typing import Final

import pytest

from cutpurse.v1 import ladder_pb2
from tests.page.accounts import Person, text_of
from tests.page.test_hidden_results import NAMED, addresses
from tests.server.hidden_results import UNTIL, HiddenLeague, hidden_league
from tests.server.league_world import CALLS, METHODS, at_secret_table, requests_with

LINE: Final = f"replays of {{}} are only for those who played until {UNTIL:%Y-%m-%d %H:%M} UTC"
OTHERS: Final = ("", "cid", "player")  # who had no bot in the matches of the ladder duel


@pytest.fixture
async def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HiddenLeague]:
    async with hidden_league(tmp_path, monkeypatch, "replays_hidden_until_ms") as league:
        for bot in ("sneak", "hush"):
            await league.world.ask("ChangeBot", "ann", bot={"bot": bot}, publishes_notes=True)
        yield league


async def secrets_of(league: HiddenLeague, match: str) -> list[bytes]:
    """Return what of a match only its players may have: the seed of its deal, as bytes and text, and its record."""
    seed = (await league.world.ask("GetMatch", "root", match=match)).opening.seed
    file = b"".join([part.piece for part in await league.world.ask("GetRecord", "root", match=match)])
    assert seed.hex().encode() in file, "or the search below would find nothing"
    return [seed, seed.hex().encode(), b"whispered"]


async def test_the_result_is_for_all_and_the_rest_for_those_who_played(league: HiddenLeague) -> None:
    world = league.world
    whole = await world.ask("GetMatch", "root", match="match0000")
    assert (whole.opening.seed != b"", whole.replay_hidden_until_ms, whole.courses[0].notes[:]) == (True, 0, [])
    for who in OTHERS:
        assert await league.world.refusal("GetRecord", who, match="match0000") == ("NOT_YOURS", LINE.format("duel"))
        answer = await world.ask("GetMatch", who, match="match0000")
        assert answer.match == whole.match
        assert (answer.HasField("opening"), answer.has_record) == (False, False)
        assert answer.replay_hidden_until_ms == int(UNTIL.timestamp() * 1_000)
        assert len((await world.ask("ListRankings", who, ladder="duel")).rankings) == 2
        assert len((await world.ask("ListMatches", who, ladder="duel")).matches) == 3
    for who in ("ann", "bob", "root"):
        assert await world.ask("GetRecord", who, match="match0000")
        assert (await world.ask("GetMatch", who, match="match0000")).opening == whole.opening
    ladder = {entry.defined.name: entry for entry in (await world.ask("ListLadders")).ladders}["duel"]
    assert (ladder.has_hidden_replays, ladder.has_hidden_results) == (True, False)
    league.is_over = True
    for who in OTHERS:
        assert await world.ask("GetRecord", who, match="match0000")
        opened = await world.ask("GetMatch", who, match="match0000")
        assert (opened.opening, [note.text for note in opened.courses[0].notes]) == (whole.opening, ["whispered"])


async def test_no_call_tells_it_in_any_form_to_others(league: HiddenLeague) -> None:
    secrets, answered = await secrets_of(league, "match0000"), set()
    for method in CALLS:
        questions = [getattr(METHODS[method][1], f"{method}Request")()]
        for name in ("duel", "match0000", "sneak", "ann"):
            questions += requests_with(method, name)
        for who, request in product(OTHERS, questions):
            if method == "WatchMatch" and who and request.ladder:
                continue  # it waits for a match of its caller's, see below
            code, _, answer = await league.world.told(method, request, who)
            answered |= {method} if code == "OK" else set()
            assert [secret for secret in secrets if secret in answer] == [], (who, request)
    assert answered >= {"GetMatch", "ListMatches", "ListRankings", "ListBots"}


async def test_what_is_played_is_watched_only_by_those_who_play(league: HiddenLeague) -> None:
    world = league.world
    ladders = {entry.defined.name: entry for entry in (await world.ask("ListLadders", "root")).ladders}
    ladder = ladders["hidden"]
    ladder.defined.terms.owners.append("bob")  # who sees the ladder, and does not play
    await world.ask("ChangeLadder", "root", ladder="hidden", terms=ladder.defined.terms)
    async with at_secret_table(world):
        (match,) = (await world.ask("ListOpenMatches", "bob")).matches
        assert await world.refusal("WatchMatch", "bob", match=match.match) == (
            "NOT_YOURS",
            LINE.format("hidden"),
        )
        for seat, who in enumerate([taken.owner for taken in match.seats]):
            watch = ladder_pb2.WatchMatchRequest(match=match.match, seat=seat)
            (begun,) = await world.send("WatchMatch", watch, who, most=1)
            assert begun.WhichOneof("what") == "started", who
    assert await league.world.refusal("WatchMatch", "", ladder="duel") == ("NOT_YOURS", LINE.format("duel"))


@pytest.mark.full
async def test_no_address_of_the_page_shows_it_not_even_what_was_read_before(league: HiddenLeague) -> None:
    person = Person(league.world.arena.address)
    await person.sign_in(league.world.tokens["cid"])
    secrets = [secret.decode("latin-1") for secret in await secrets_of(league, "match0000")]
    league.is_over = True
    for address in ("/matches/match0000", "/api/v1/matches/match0000/record"):
        assert (await person.get(address)).status_code == 200, address
    await league.hide("duel", UNTIL + timedelta(days=1))  # the page has the record by now
    person.http.app.state.ask._answers._asked.clear()
    endless = "/streams/ladders/duel"
    for address in [path for path in addresses() if NAMED.search(path) and path != endless]:
        answer = await person.get(address, follow_redirects=False)
        assert answer.status_code != 500, address
        assert [secret for secret in secrets if secret in answer.text] == [], address
    for address in ("/matches/match0000/replay", "/matches/match0000/embed", "/api/v1/matches/match0000/record"):
        answer = await person.get(address)
        assert (answer.status_code, "are only for those who played until" in answer.text) == (403, True), address
    page = text_of((await person.get("/matches/match0000")).text)
    assert "Replays are only for those who played until" in page
    person.close()


async def test_the_command_line_says_it(league: HiddenLeague, tmp_path: Path) -> None:
    typed = league.world.typed
    download = f"match download match0000 --out {tmp_path / 'match.jsonl'}"
    for who, code in (("cid", 6), ("ann", 0)):
        answer = await typed(download, who)
        assert (answer.exit_code, LINE.format("duel") in answer.stderr) == (code, code == 6), answer.stderr
    assert "only for those who played until" in (await typed("match show match0000", "cid")).stdout
    assert f"replays     hidden until {UNTIL:%Y-%m-%d %H:%M} UTC" in (await typed("ladder show duel", "cid")).stdout
    for words, code, text in (
        ("ladder change duel --replays-hidden-until 2027-01-31 --show-replays", 2, "name one of them"),
        ("ladder create new --game greed --replays-hidden-until 2001-01-31", 2, "that is in the past"),
        ("ladder create new --game greed --replays-hidden-until 2047-01-31T18:00", 0, "ladder new is made"),
        ("ladder change duel --show-replays", 0, "ladder duel is changed"),
    ):
        answer = await typed(words, "root")
        assert (answer.exit_code, text in answer.stderr) == (code, True), (words, answer.stderr)
    assert (await typed(download, "cid")).exit_code == 0
