"""A private ladder is not there for strangers, whatever they ask; what is an owner's alone is told to nobody else."""

from __future__ import annotations

from typing import Any

import pytest

from tests.server.dialling import Ended
from tests.server.league_world import (
    CALLS,
    METHODS,
    NEEDS,
    OWNERS,
    SECRETS,
    LeagueWorld,
    at_secret_table,
    requests_with,
)

STRANGERS = ("", "bob", "player")


def asked(method: str, **fields: Any) -> Any:
    return getattr(METHODS[method][1], f"{method}Request")(**fields)


def secrets_in(told: bytes) -> list[bytes]:
    return [secret for secret in SECRETS if secret in told.lower()]


@pytest.mark.parametrize("method", CALLS)
async def test_a_stranger_sees_nothing_of_a_private_ladder_by_any_call(world: LeagueWorld, method: str) -> None:
    async with at_secret_table(world):
        (open_match,) = (await world.ask("ListOpenMatches", "ann")).matches
        questions = [
            asked(method),
            *[
                request
                for name in ("hidden", "hush", "hush_here", "feedc0de0001", "feedc0de", open_match.match, "ann", "cid")
                for request in requests_with(method, name)
            ],
        ]
        for who in STRANGERS:
            for request in questions:
                code, _, told = await world.told(method, request, who)
                asked_for = request.SerializeToString()
                found = [secret for secret in secrets_in(told) if secret not in asked_for.lower()]
                assert found == [], (who, request, told)
                if code == "OK":
                    assert secrets_in(told) == [], (who, request, told)
                    assert open_match.match.encode() not in told


@pytest.mark.parametrize("method", [method for method in CALLS if method not in ("CreateLadder",)])
async def test_a_private_ladder_is_answered_as_one_that_does_not_exist(world: LeagueWorld, method: str) -> None:
    """Word by word, but for the name that was asked for; of its matches and bots the same."""
    pairs = (("hidden", "nonesu"), ("hush", "none"), ("feedc0de0001", "feedc0de00ff"), ("feedc0de", "feedfeed"))
    async with at_secret_table(world):
        for there, nowhere in pairs:
            for first, second in zip(requests_with(method, there), requests_with(method, nowhere), strict=True):
                for who in STRANGERS:
                    one, other = await world.told(method, first, who), await world.told(method, second, who)
                    assert one[:2] == other[:2], (who, first)
                    assert one[2].replace(there.encode(), nowhere.encode()) == other[2], (who, first)


async def test_who_may_see_it_sees_it(world: LeagueWorld) -> None:
    async with at_secret_table(world):
        for who in ("ann", "cid", "root"):
            ladders = {one.defined.name: one for one in (await world.ask("ListLadders", who)).ladders}
            assert (ladders["hidden"].matches, ladders["hidden"].bots, ladders["hidden"].tables) == (4, 2, 1)
            assert ladders["hidden"].defined.terms.private
            rankings = (await world.ask("ListRankings", who, ladder="hidden")).rankings
            assert [(one.bot.owner, one.bot.bot) for one in rankings] == [("ann", "hush"), ("cid", "hush_too")]
            matches = (await world.ask("ListMatches", who)).matches
            assert [one.match for one in matches][:4] == [f"feedc0de000{n}" for n in (3, 2, 1, 0)]
            assert (await world.ask("GetMatch", who, match="feedc0de0001")).match.ladder == "hidden"
            assert b'"match":"feedc0de0001"' in (await world.ask("GetRecord", who, match="feedc0de0001"))[0].piece
            (played,) = (await world.ask("ListOpenMatches", who)).matches
            with pytest.raises(Ended, match="is being played; you can watch it"):
                await world.ask("GetMatch", who, match=played.match)
            steps = (await world.ask("ListHistory", who, ladder="hidden", bot={"owner": "ann", "bot": "hush"})).steps
            assert len(steps) == 4
            shown = {(bot.bot.owner, bot.bot.bot): bot for bot in (await world.ask("ListBots", who)).bots}
            assert shown["ann", "hush"].ladders == ["hidden"]
            assert (shown["cid", "hush_here"].is_here, shown["cid", "hush_here"].tables) == (True, 1)
        assert [one.defined.name for one in (await world.ask("ListLadders", "bob")).ladders] == ["duel"]
        assert [one.match for one in (await world.ask("ListMatches", "bob")).matches] == [
            f"match000{n}" for n in (2, 1, 0)
        ]


async def test_a_bot_that_is_known_is_at_no_hidden_table(world: LeagueWorld) -> None:
    await world.ask("LiftPause", "ann", bot={"bot": "sneak"})
    async with at_secret_table(world, "sneak", "1.0"):
        for who, state in (("ann", (True, 1)), ("root", (True, 1)), ("bob", (False, 0)), ("", (False, 0))):
            (bot,) = [one for one in (await world.ask("ListBots", who, owner="ann")).bots if one.bot.bot == "sneak"]
            assert (bot.is_here, bot.tables) == state, who
            assert ("hidden" in bot.ladders) is state[0]


async def test_a_page_of_matches_is_full_though_others_are_hidden(world: LeagueWorld) -> None:
    page = await world.ask("ListMatches", limit=2)
    assert ([one.match for one in page.matches], len(page.matches)) == (["match0002", "match0001"], 2)
    rest = await world.ask("ListMatches", limit=2, before=page.next)
    assert ([one.match for one in rest.matches], rest.next) == (["match0000"], 0)


async def test_notes_and_what_a_bot_said_are_its_owners_alone(world: LeagueWorld) -> None:
    own: dict[str, Any] = {"bot": {"bot": "sneak"}}
    logs = (await world.ask("ListLogs", "ann", **own)).logs
    assert [(log.match.match, log.seat, log.notes[0].text) for log in logs] == [
        (f"match000{n}", 0, "whispered") for n in (2, 1, 0)
    ]
    assert logs[0].course.faults[0].text == "quietly"
    admins = (await world.ask("ListLogs", "root", bot={"owner": "ann", "bot": "sneak"})).logs
    assert admins == logs
    with pytest.raises(Ended) as ended:
        await world.ask("ListLogs", "bob", bot={"owner": "ann", "bot": "sneak"})
    assert (ended.value.code, ended.value.reason) == ("PERMISSION_DENIED", "NOT_YOURS")
    for who, text in (("ann", "quietly"), ("root", "quietly"), ("bob", ""), ("", "")):
        courses = (await world.ask("GetMatch", who, match="match0000")).courses
        assert (list(courses[0].thinking_ms), courses[0].faults[0].text) == ([12, 34], text)


async def test_why_a_bot_is_paused_is_its_owners_alone(world: LeagueWorld) -> None:
    for who, is_told in (("ann", True), ("player", False), ("root", True), ("bob", False), ("", False)):
        (bot,) = [one for one in (await world.ask("ListBots", who, owner="ann")).bots if one.bot.bot == "sneak"]
        assert (bot.paused_ms > 0, bool(bot.paused_for)) == (True, is_told), who
    with pytest.raises(Ended) as ended:
        await world.ask("LiftPause", "bob", bot={"owner": "ann", "bot": "sneak"})
    assert ended.value.reason == "NOT_YOURS"
    lifted = (await world.ask("LiftPause", "ann", bot={"bot": "sneak"})).bot
    assert (lifted.bot.owner, lifted.bot.version, lifted.paused_ms) == ("ann", "1.0", 0)
    with pytest.raises(Ended, match="'ann/sneak' is not paused"):
        await world.ask("LiftPause", "ann", bot={"bot": "sneak"})


# -- tokens
async def test_a_bad_token_is_refused_by_every_call(world: LeagueWorld) -> None:
    guard: Any = world.arena.opened.arena.entrance.guard
    tries = guard._tries._by_address
    for method in CALLS:
        answers = [await world.told(method, asked(method), who) for who in ("revoked", "unknown", "no token")]
        assert [answer[:2] for answer in answers] == [("UNAUTHENTICATED", "TOKEN_INVALID")] * 3, method
        assert len({answer[2] for answer in answers}) == 1, method  # which of them it is, is not told
        tries.clear()  # or they are answered late


async def test_a_call_takes_the_scope_that_it_needs_and_no_other(world: LeagueWorld) -> None:
    for method in CALLS:
        code, reason, _ = await world.told(method, asked(method))
        assert ((code, reason) == ("UNAUTHENTICATED", "TOKEN_INVALID")) is (method in NEEDS), method
        for who, scopes in OWNERS.items():
            code, reason, _ = await world.told(method, asked(method), who)
            is_enough = method not in NEEDS or bool(set(scopes) & set(NEEDS[method]))
            assert ((code, reason) == ("PERMISSION_DENIED", "TOKEN_SCOPE")) is not is_enough, (method, who)
