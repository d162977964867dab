"""Names that are hidden until a time: no call tells before it who plays in which seat, and each does after it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from cutpurse.sdk.matches.match_file import check, read_matches
from cutpurse.v1 import arena_pb2, ladder_pb2
from tests.server.dialling import Ended
from tests.server.hidden_results import LINE, SERIES, TEST, TOURNAMENT, UNTIL, HiddenLeague, hidden_league
from tests.server.league_world import CALLS, METHODS, requests_with
from tests.server.raw_bot import RawBot
from tests.server.test_hidden_results import NOT_HOSTS, OF_ANN, REFUSED

SEAT: Final = {"ann": 0, "bob": 1}  # where the bots of an owner sat in the stored matches of the ladder duel
FOREIGN: Final = {"ann": b"thug", "bob": b"sneak", "": b"thug"}  # a bot of another owner
# Calls whose answers name bots, but of no match: the bots of a ladder, with the ladders that they play on.
OF_BOTS: Final = {"ListBots"}


@pytest.fixture
async def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[HiddenLeague]:
    async with hidden_league(tmp_path, monkeypatch, "names_hidden_until_ms") as league:
        yield league


@asynccontextmanager
async def at_a_table(league: HiddenLeague) -> AsyncIterator[dict[str, tuple[RawBot, arena_pb2.MatchStarted]]]:
    """Let a bot of ann and one of bob play a match on the ladder duel; yield each with what it was told."""
    games = [arena_pb2.GameWanted(game="greed", ladders=["duel"])]
    address, tokens = league.world.arena.address, league.world.tokens
    async with RawBot(address, tokens["ann"]) as ann, RawBot(address, tokens["bob"]) as bob:
        await asyncio.gather(ann.hello("sneak", games=games), bob.hello("thug", games=games))
        told = {}
        for owner, bot in (("ann", ann), ("bob", bob)):
            while not (envelope := await bot._take()).starts:
                pass
            told[owner] = (bot, envelope.starts[0])
        yield told


async def test_whatever_refuses_results_refuses_them_while_names_are_hidden(league: HiddenLeague) -> None:
    for method, fields in REFUSED:
        for who in ("ann",) if fields in OF_ANN else NOT_HOSTS:
            assert await league.world.refusal(method, who, **fields) == ("NOT_YOURS", LINE("duel")), (method, who)
    shown = (await league.world.ask("ListLadders", "ann")).ladders[0]
    until_ms = int(UNTIL.timestamp() * 1_000)
    assert (shown.has_hidden_names, shown.has_hidden_results, shown.hidden_until_ms) == (True, True, until_ms)
    assert shown.defined.terms.results_hidden_until_ms == 0


async def test_results_stay_hidden_until_the_later_time(league: HiddenLeague) -> None:
    later = UNTIL + timedelta(hours=2)
    league.term = "results_hidden_until_ms"
    await league.hide("duel", later)
    assert f"{later:%Y-%m-%d %H:%M}" in (await league.world.refusal("ListRankings", "ann", ladder="duel"))[1]
    league.is_over = True
    shown = (await league.world.ask("ListLadders", "ann")).ladders[0]
    assert (shown.has_hidden_names, shown.has_hidden_results) == (False, True)
    (log, *_) = (await league.world.ask("ListLogs", "ann", bot={"bot": "sneak"})).logs
    assert (log.match.seats[1].bot.bot, log.match.seats[0].place) == ("thug", 0)
    await league.hide("duel", UNTIL - timedelta(hours=1))
    league.is_over = False
    assert (await league.world.refusal("ListRankings", "ann", ladder="duel"))[1] == LINE("duel")


@pytest.mark.full
async def test_no_call_tells_who_plays_before_the_time(league: HiddenLeague) -> None:
    world = league.world
    answered = set()
    async with at_a_table(league) as told:
        match = told["ann"][1].match
        for who, foreign in FOREIGN.items():
            for method in CALLS:
                questions = [getattr(METHODS[method][1], f"{method}Request")()]
                for value in ("duel", "match0000", match, TEST, TOURNAMENT, SERIES):
                    questions += requests_with(method, value)
                for request in questions:
                    try:
                        answer = await world.send(method, request, who, most=1)
                    except Ended as ended:
                        received = ended.text.encode()
                    else:
                        answered.add(method)
                        answers = answer if isinstance(answer, list) else [answer]
                        received = b"".join(one.SerializeToString() for one in answers)
                    assert method in OF_BOTS or foreign not in received, (who, method, request)
    assert answered >= {"ListLadders", "ListMatches", "ListOpenMatches", "ListBots", "ListEvents"}


async def test_bots_see_seats_and_the_host_sees_names(league: HiddenLeague) -> None:
    world = league.world
    async with at_a_table(league) as told:
        for owner, (_, started) in told.items():
            own, other = started.seats[started.seat], started.seats[1 - started.seat]
            assert (own.owner, own.bot) == (owner, "sneak" if owner == "ann" else "thug")
            assert other == arena_pb2.SeatTaken(bot=f"seat-{1 - started.seat}")
        match = told["ann"][1].match
        (open_match,) = (await world.ask("ListOpenMatches", "root", match=match)).matches
        assert sorted(seat.owner for seat in open_match.seats) == ["ann", "bob"]
        ends = await asyncio.gather(*(bot.play_on() for bot, _ in told.values()))
        assert [b"bob" in end.opening.params for end in ends] == [False, False]
        (by_root,) = [one for one in (await world.ask("ListMatches", "root")).matches if one.match == match]
        assert sorted(seat.bot.owner for seat in by_root.seats) == ["ann", "bob"]
        league.is_over = True
        (after,) = [one for one in (await world.ask("ListMatches", "ann")).matches if one.match == match]
        assert after == by_root
        content = b"".join(piece.piece for piece in await world.ask("GetRecord", "ann", match=match))
    (filed,) = read_matches(content)
    assert "the names of the bots were hidden then: who sat where is the server's word alone" in check(filed).checked


async def test_an_author_gets_logs_without_the_names_of_others(league: HiddenLeague) -> None:
    world = league.world
    for owner, bot in (("ann", "sneak"), ("bob", "thug")):
        logs = (await world.ask("ListLogs", owner, bot={"bot": bot})).logs
        assert len(logs) == 3
        seat = SEAT[owner]
        for log in logs:
            assert log.match.seats[seat].bot.bot == bot
            assert log.match.seats[1 - seat].bot == ladder_pb2.BotName(bot=f"seat-{1 - seat}")
    assert (await world.ask("ListLogs", "root", bot={"owner": "ann", "bot": "sneak"})).logs[0].match.seats[1].bot.bot
    league.is_over = True
    (log, *_) = (await world.ask("ListLogs", "ann", bot={"bot": "sneak"})).logs
    assert (log.match.seats[1].bot.bot, log.match.seats[0].place) == ("thug", 1)


async def test_bots_of_others_are_listed_the_same_whether_or_not_they_play(league: HiddenLeague) -> None:
    world = league.world

    async def of_others(who: str, mine: str) -> list[ladder_pb2.BotShown]:
        bots = (await world.ask("ListBots", who, ladder="duel")).bots
        return [one for one in bots if one.bot.owner != mine and one.bot.version != "1"]

    for who in ("ann", "bob", ""):
        before = await of_others(who, who)
        async with at_a_table(league):
            assert await of_others(who, who) == before
            everybody = (await world.ask("ListBots", who, ladder="duel")).bots
            assert not any(one.created_ms or one.paused_ms for one in everybody if one.bot.owner != who)
            here = [one.bot.owner for one in everybody if one.is_here or one.tables]
            assert here == ([who] if who else []), who
            by_root = (await world.ask("ListBots", "root", ladder="duel")).bots
            assert sorted(one.bot.owner for one in by_root if one.is_here and one.tables) == ["ann", "bob"]


async def test_only_a_host_asks_for_a_match_with_bots_of_others(league: HiddenLeague) -> None:
    line = f"names on duel are hidden until {UNTIL:%Y-%m-%d %H:%M} UTC; name your own bots and house bots"
    foreign = {"ladder": "duel", "bots": [{"bot": "sneak"}, {"owner": "bob", "bot": "thug"}]}
    assert await league.world.refusal("RequestMatch", "ann", **foreign) == ("NOT_YOURS", line)
    async with at_a_table(league):
        reason, text = await league.world.refusal("RequestMatch", "ann", ladder="duel", bots=[{"bot": "nobody"}])
        assert (reason, "thug" in text, "ann/sneak" in text) == ("NOT_FOUND", False, True)
        league.is_over = True
        reason, text = await league.world.refusal("RequestMatch", "ann", **foreign)
        assert (reason, "bob/thug:1 has one table" in text) == ("NOT_YOURS", True)  # as on any ladder


async def test_a_time_that_cannot_be_is_refused_and_a_past_one_shows_names(league: HiddenLeague) -> None:
    terms = {"names_hidden_until_ms": 2**62}
    text = f"names_hidden_until_ms is {2**62}; it is in ms since 1970, and before 2100"
    assert await league.world.refusal("ChangeLadder", "root", ladder="duel", terms=terms) == ("SETTINGS", text)
    await league.hide("duel", UNTIL - timedelta(days=400))
    assert len((await league.world.ask("ListRankings", ladder="duel")).rankings) == 2
    await league.hide("duel", UNTIL + timedelta(days=1))  # longer again, though matches were shown
    league.is_over = True
    assert (await league.world.refusal("ListRankings", "ann", ladder="duel"))[0] == "NOT_YOURS"


async def test_the_command_line_hides_and_shows_names(league: HiddenLeague) -> None:
    typed = league.world.typed
    logs = json.loads((await typed("bot logs sneak --json", "ann")).stdout)["logs"]
    assert [log["match"]["seats"][1]["bot"] for log in logs] == ["seat-1"] * 3
    assert LINE("duel") in (await typed("match list --ladder duel", "ann")).stderr
    shown = (await typed("ladder show duel", "ann")).stdout
    assert shown.count(f"hidden until {UNTIL:%Y-%m-%d %H:%M} UTC") == 2
    assert "names and results hidden" in (await typed("ladder list", "ann")).stdout
    for words, code, text in (
        ("ladder change duel --names-hidden-until soon", 2, "--names-hidden-until is 'soon'; it is as 2027-01-31"),
        ("ladder change duel --names-hidden-until 2101-01-31", 2, "and before 2100"),
        ("ladder change duel --names-hidden-until 2027-01-31 --show-names", 2, "name one of them"),
        ("ladder create new --game greed --names-hidden-until 2027-01-31T18:00", 0, "ladder new is made"),
        ("ladder change new --show-names", 0, "ladder new is changed"),
        ("ladder change duel --names-hidden-until 2001-01-31", 0, "ladder duel is changed"),
    ):
        answer = await typed(words, "root")
        assert (answer.exit_code, len(answer.stderr.splitlines())) == (code, 1), (words, answer.stderr)
        assert text in answer.stderr, words
    assert (await typed("ladder rankings duel", "ann")).exit_code == 0
    assert json.loads((await typed("ladder show duel --json", "ann")).stdout)["has_hidden_names"] is False
