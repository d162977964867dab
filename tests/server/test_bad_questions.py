"""Whatever a request says, in whichever field, is answered or refused in one plain line, and hurts nobody."""

from __future__ import annotations

from typing import Any, Final

import grpc
import pytest

from cutpurse.leaderboard import queries
from cutpurse.server.errors import REASONS
from cutpurse.server.league.league_queries import LOGS, MATCHES
from cutpurse.v1 import ladder_pb2
from tests.leaderboard.sample_results import add_version, result
from tests.server.dialling import Ended
from tests.server.league_world import CALLS, METHODS, LeagueWorld, requests_with

NASTY: Final = {
    "control": "a\x00b\x1b[31m\r\nc\x7f\u202e",
    "markup": "<script>alert('x')</script>&amp;{{7*7}}%s%n${x}",
    "emoji": "🂡🏴\u200d☠\ufe0f\u0301",
    "sql": "'; DROP TABLE matches; --",
    "path": "../../../../etc/passwd",
    "wild": "%_*?[a-z]",
    "long": "a" * 10_000,
    "long and wide": "\U0010ffff" * 10_000,
    "a space": " ",
    "a name with more": "duel\n",
}
# What is wrong with what was asked, and not with the server.
FAIR: Final = {"NOT_FOUND", "BAD_MESSAGE", "SETTINGS", "NOT_YOURS", "TOKEN_INVALID", "TOKEN_SCOPE", "FULL", "FROZEN"}


async def test_any_text_in_any_field_of_any_call(world: LeagueWorld) -> None:
    """Each field of each call gets each text from one of three callers, who take turns."""
    before = world.store.run(queries.ladders), world.store.run(queries.bots), world.store.run(queries.matches)
    for method in CALLS:
        requests = 0
        for turn, text in enumerate(NASTY.values()):
            for field, request in enumerate(requests_with(method, text)):
                caller = ("", "ann", "root")[(turn + field) % 3]
                code, reason, message = await world.told(method, request, caller)
                assert code == "OK" or reason in FAIR & set(REASONS), (method, code, reason, message)
                if code != "OK":
                    assert message.decode().isprintable(), (method, message)
                    assert len(message.decode()) <= 600, (method, message)
                requests += 1
        assert requests >= len(NASTY)
        after = world.store.run(queries.ladders), world.store.run(queries.bots), world.store.run(queries.matches)
        assert after == before, method


async def test_what_is_no_message_at_all(world: LeagueWorld) -> None:
    for method in CALLS:
        bodies = [b"\xff", b"\x0a\xff\xff\xff\xff\x0f", b"\x0b" * 100]
        if METHODS[method][0].input_type.fields_by_number[1].enum_type is None:  # else it is a field that nobody knows
            bodies.append(b"\x0a\x02\xc3\x28")
        for body in bodies:
            for who in ("ann", "root"):
                with pytest.raises(Ended) as ended:
                    await world.send(method, body, who)
                assert ended.value.reason in ("BAD_MESSAGE", "TOKEN_SCOPE"), (method, ended.value)


@pytest.mark.full
async def test_a_request_that_is_too_large_is_not_read(world: LeagueWorld) -> None:
    for method in CALLS:
        with pytest.raises(Ended) as ended:
            await world.send(method, b"\x0a\x80\x80\x08" + b"a" * 131_072, "root")
        assert ended.value.code == "RESOURCE_EXHAUSTED", method


async def refused(world: LeagueWorld, method: str, who: str = "", **fields: Any) -> tuple[str, str]:
    """The reason and the text."""
    with pytest.raises(Ended) as ended:
        await world.ask(method, who, **fields)
    return ended.value.reason, ended.value.text


async def test_numbers_beyond_all_bounds(world: LeagueWorld) -> None:
    most: dict[str, Any] = {"limit": 2**32 - 1, "before": 2**64 - 1}
    assert len((await world.ask("ListMatches", **most, until_ms=2**64 - 1)).matches) == 3
    assert len((await world.ask("ListMatches", limit=10**9)).matches) == 3
    assert (await world.ask("ListMatches", since_ms=2**64 - 1)).matches == []
    assert (await world.ask("ListMatches", until_ms=1)).matches == []
    assert len((await world.ask("ListHistory", ladder="duel", bot={"owner": "ann", "bot": "sneak"}, **most)).steps) == 3
    assert len((await world.ask("ListLogs", "ann", bot={"bot": "sneak"}, limit=2**32 - 1)).logs) == 3
    assert (MATCHES[1], LOGS[1]) == (500, 100)
    defined: dict[str, Any] = {"name": "new", "game": "greed"}
    for wrong in (
        {"seats": 2**32 - 1},
        {"seats": 1},
        {"clock": {"base_ms": 0}},
        {"clock": {"bank_ms": 2**32 - 1}},
        {"terms": {"frozen_ms": 2**64 - 1}},
        {"terms": {"most_bots": 2**32 - 1}},
        {"settings": [{"name": "max_rounds", "value": "1" * 5_000}]},
    ):
        assert (await refused(world, "CreateLadder", "root", ladder={**defined, **wrong}))[0] == "SETTINGS", wrong
    many = [{"name": f"l{number}", "game": "greed"} for number in range(1_000)]
    assert (await refused(world, "CreateLadder", "root", ladder=defined, more=many))[0] == "BAD_MESSAGE"
    assert [entry.name for entry in world.store.run(queries.ladders)] == ["duel", "hidden"]


async def test_matches_by_the_first_signs_of_their_names(world: LeagueWorld) -> None:
    assert (await world.ask("GetMatch", "root", match="match0001")).match.match == "match0001"
    assert (await world.ask("GetMatch", "root", match="feedc0de0002")).match.match == "feedc0de0002"
    reason, text = await refused(world, "GetMatch", "root", match="feedc0de")
    names = ", ".join(f"feedc0de000{number}" for number in range(4))
    assert (reason, text) == ("BAD_MESSAGE", f"several matches begin with 'feedc0de', give more of it: {names}")
    hint = "; a match is named in full, or by the first 8 or more characters of its name"
    for name, more in (("match00", hint), ("match0009", ""), ("", hint), ("f", hint)):
        reason, text = await refused(world, "GetMatch", "root", match=name)
        assert (reason, text) == ("NOT_FOUND", f"there is no match '{name}' here that is over{more}")
    assert (await refused(world, "GetRecord", match="match0009"))[0] == "NOT_FOUND"


async def test_first_signs_lead_to_the_one_match_that_is_there_for_a_caller(world: LeagueWorld) -> None:
    ann, bob = add_version(world.store, "ann", "sneak", "1.0"), add_version(world.store, "bob", "thug", "2")
    world.store.submit(result("feedc0de9999", [ann, bob], ladder="duel")).result()
    assert (await world.ask("GetMatch", match="feedc0de")).match.match == "feedc0de9999"
    assert (await refused(world, "GetMatch", match="feedc0de0"))[0] == "NOT_FOUND"
    assert (await refused(world, "GetMatch", match="feedc0de0001"))[0] == "NOT_FOUND"
    assert (await refused(world, "GetMatch", "ann", match="feedc0de"))[0] == "BAD_MESSAGE"
    world.store.submit(result("feedc0de9998", [ann, bob], ladder="duel")).result()
    reason, text = await refused(world, "GetMatch", match="feedc0de")
    expected = "several matches begin with 'feedc0de', give more of it: feedc0de9998, feedc0de9999"
    assert (reason, text) == ("BAD_MESSAGE", expected)


async def test_what_is_not_there_is_told_with_what_is(world: LeagueWorld) -> None:
    text = "no ladder is called 'dule' here (did you mean 'duel'?) (a private one needs a token); there are: duel"
    for method in ("ListRankings", "ListMatches", "ListOpenMatches", "ListBots"):
        assert await refused(world, method, ladder="dule") == ("NOT_FOUND", text)
    text = "no ladder is called 'dule' here (did you mean 'duel'?); there are: duel, hidden"
    assert await refused(world, "ChangeLadder", "root", ladder="dule") == ("NOT_FOUND", text)
    assert await refused(world, "RequestMatch", "ann", ladder="dule") == ("NOT_FOUND", text)
    nobody = {"owner": "ann", "bot": "none", "version": "7"}
    there = "there are: ann/sneak, bob/thug"
    answer = await refused(world, "ListMatches", bots=[nobody])
    assert answer == ("NOT_FOUND", f"there is no bot 'ann/none:7' here; {there}")
    assert await refused(world, "ListLogs", "ann", bot=nobody) == ("NOT_FOUND", "there is no bot 'ann/none:7' here")
    assert await refused(world, "LiftPause", "ann", bot=nobody) == ("NOT_FOUND", "there is no bot 'ann/none:7' here")
    for method in ("ListHistory", "ListOpponents"):
        told = await refused(world, method, ladder="duel", bot=nobody)
        assert told == ("NOT_FOUND", f"no bot 'ann/none:7' was rated on ladder duel; {there}")
        assert (await refused(world, method, ladder="duel"))[0] == "BAD_MESSAGE"
    text = "'ann/sneak' is not there to play on ladder duel; there are: none"
    assert await refused(world, "RequestMatch", "ann", ladder="duel", bots=[{"bot": "sneak"}]) == ("NOT_FOUND", text)
    assert (await refused(world, "RequestMatch", "ann", ladder="duel"))[0] == "BAD_MESSAGE"


async def test_a_ladder_is_made_once_and_several_are_made_or_none(world: LeagueWorld) -> None:
    new = {"name": "new", "game": "greed"}
    reason, text = await refused(world, "CreateLadder", "root", ladder=new, more=[{"name": "duel", "game": "greed"}])
    assert (reason, "there is a ladder duel already" in text) == ("BAD_MESSAGE", True)
    reason, text = await refused(world, "CreateLadder", "root", ladder=new, more=[{"name": "two", "game": "gred"}])
    assert (reason, text.startswith("ladder 'two': ")) == ("NOT_FOUND", True)
    assert [entry.name for entry in world.store.run(queries.ladders)] == ["duel", "hidden"]
    made = await world.ask("CreateLadder", "root", ladder=new, more=[{"name": "two", "game": "szmal"}])
    assert [made.ladder.defined.name, *(one.defined.name for one in made.more)] == ["new", "two"]


async def test_a_call_that_nobody_knows(world: LeagueWorld) -> None:
    method: Any = world.channel.unary_unary("/cutpurse.v1.LadderService/Unknown")
    with pytest.raises(grpc.aio.AioRpcError) as told:
        await method(ladder_pb2.ListLaddersRequest().SerializeToString())
    assert told.value.code() is grpc.StatusCode.UNIMPLEMENTED
