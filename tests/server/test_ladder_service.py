"""A league asked over gRPC: by anybody what is public, by owners what is theirs, and by nobody what is private."""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from cutpurse.leaderboard.queries import LadderEntry
from cutpurse.leaderboard.results import Identity
from cutpurse.leaderboard.tokens import new_token
from cutpurse.server.access import entrance
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.league import league_queries as league_module
from cutpurse.server.league.ladder_service import LadderService, RunningLeague
from cutpurse.server.league.league_queries import Answers, Caller
from cutpurse.server.league.steering import LadderAdmin
from cutpurse.v1 import ladder_pb2, ladder_pb2_grpc
from cutpurse.wire.errors import NotAuthorised
from cutpurse.wire.league import league_at
from tests.leaderboard.sample_results import add_version, result
from tests.server.arenas import RunningArena, running_arena
from tests.server.dialling import Ended, how_it_ended
from tests.server.tokens import tokens_in

LADDERS = [Ladder("duel", "greed", 2), Ladder("four", "greed", 4)]


class World:
    """A server with owners, and somebody who asks it."""

    def __init__(self, arena: RunningArena, channel: grpc.aio.Channel, tokens: dict[str, str]) -> None:
        self.arena = arena
        self.stub = ladder_pb2_grpc.LadderServiceStub(channel)
        self.channel = channel
        self.tokens = {**tokens, "bad": new_token().reveal()}
        self.store = arena.opened.store

    async def ask(self, method: str, who: str = "", **fields: Any) -> Any:
        """The answer to a call, of whoever has that token.  Raises Ended."""
        kind = getattr(ladder_pb2, f"{method}Request")
        call = getattr(self.stub, method)(kind(**fields), metadata=self.metadata(who))
        try:
            return await call
        except grpc.aio.AioRpcError:
            raise await how_it_ended(call) from None

    def metadata(self, who: str) -> tuple[tuple[str, str], ...] | None:
        return (("authorization", f"Bearer {self.tokens[who]}"),) if who else None


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    tokens = tokens_in(tmp_path / "test.db", "ann", "bob", root=("admin",))
    async with running_arena(tmp_path, LADDERS) as arena, grpc.aio.insecure_channel(arena.address) as channel:
        yield World(arena, channel, tokens)
    assert not any(token[13:] in arena.log for token in tokens.values())
    lines = [json.loads(line) for line in arena.log.splitlines()]
    assert [line for line in lines if line["level"] == "error"] == []


def play(world: World, count: int = 3) -> None:
    """So many matches of ann against bob on `duel`."""
    store = world.store
    ann, bob = add_version(store, "ann", "sneak", "1.0"), add_version(store, "bob", "thug", "2")
    for number in range(count):
        store.submit(result(f"match{number}", [ann, bob], ladder="duel")).result()


async def test_what_is_public_needs_no_token(world: World) -> None:
    play(world)
    ladders = (await world.ask("ListLadders")).ladders
    assert [(one.defined.name, one.defined.seats, one.matches) for one in ladders] == [("duel", 2, 3), ("four", 4, 0)]
    assert ladders[0].defined.clock.base_ms == 1_000
    ranked = await world.ask("ListRankings", ladder="duel")
    assert [(one.place, one.bot.owner, one.matches, one.HasField("rating")) for one in ranked.rankings] == [
        (0, "ann", 3, False),
        (0, "bob", 3, False),
    ]
    assert (ranked.estimated, ranked.boards, ranked.placed) == (0, 3, 0)
    page = await world.ask("ListMatches", limit=2)
    assert ([one.match for one in page.matches], page.next) == (["match2", "match1"], 2)
    page = await world.ask("ListMatches", limit=2, before=page.next)
    assert ([one.match for one in page.matches], page.next) == (["match0"], 0)
    match = await world.ask("GetMatch", match="match1")
    assert [seat.place for seat in match.match.seats] == [1, 2]
    assert match.opening.seed == b"s" * 32


async def test_rankings_come_in_pages_and_all_at_once_up_to_a_bound(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    bots = [add_version(world.store, owner, "sneak", "1") for owner in ("ann", "bob", "cid", "dan", "eve")]
    for number, pair in enumerate(itertools.pairwise(bots)):
        world.store.submit(result(f"match{number}", list(pair), ladder="duel")).result()
    whole = await world.ask("ListRankings", ladder="duel")  # as a client asks that knows no pages
    assert (len(whole.rankings), whole.next) == (5, 0)
    found: list[Any] = []
    for after, count, follows in ((0, 2, 2), (2, 2, 4), (4, 1, 0), (5, 0, 0), (2**64 - 1, 0, 0)):
        page = await world.ask("ListRankings", ladder="duel", limit=2, after=after)
        assert (len(page.rankings), page.next) == (count, follows)
        found += page.rankings
    assert found == list(whole.rankings)
    assert (await world.ask("ListRankings", ladder="duel", limit=5)).next == 0
    assert league_module.RANKINGS == (1_000, 1_000)
    monkeypatch.setattr(league_module, "RANKINGS", (3, 3))
    for limit in (0, 2**32 - 1):
        page = await world.ask("ListRankings", ladder="duel", limit=limit)
        assert (list(page.rankings), page.next) == (list(whole.rankings[:3]), 3)


async def test_health_and_reflection_know_the_service(world: World) -> None:
    stub = health_pb2_grpc.HealthStub(world.channel)
    asked = health_pb2.HealthCheckRequest(service="cutpurse.v1.LadderService")
    assert (await stub.Check(asked)).status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize("method", ["ListLadders", "ListRankings", "ListMatches", "GetMatch"])
async def test_a_bad_token_is_refused_where_none_is_needed(world: World, method: str) -> None:
    with pytest.raises(Ended) as ended:
        await world.ask(method, "bad")
    assert (ended.value.code, ended.value.reason) == ("UNAUTHENTICATED", "TOKEN_INVALID")


async def test_whoever_has_no_token_is_told_where_one_belongs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CUTPURSE_TOKEN", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", "/nonexistent")

    def ask() -> None:
        with league_at(world.arena.address) as league:
            league.RequestMatch(ladder_pb2.RequestMatchRequest(ladder="duel"))

    with pytest.raises(NotAuthorised, match="and there is none: put it into CUTPURSE_TOKEN, or into /nonexistent/"):
        await asyncio.to_thread(ask)


async def test_a_caller_has_no_more_than_so_many_calls_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutpurse.server.league.league_calls.MOST_BY_ADDRESS", 3)
    may_go_on = threading.Event()
    visible = Answers.visible

    def slowly(self: Answers, caller: Caller) -> dict[str, LadderEntry]:
        may_go_on.wait(240)
        return visible(self, caller)

    monkeypatch.setattr(Answers, "visible", slowly)
    calls = [asyncio.create_task(world.ask("ListLadders")) for _ in range(8)]
    try:
        refused, waiting = set[Any](), set(calls)
        while len(refused) < 5:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            refused |= done
    finally:
        may_go_on.set()
    told = [one.exception() for one in refused]
    assert {(one.code, one.reason, one.retry_s) for one in told if isinstance(one, Ended)} == {
        ("RESOURCE_EXHAUSTED", "STREAMS", 5.0)
    }
    assert [len(answer.ladders) for answer in await asyncio.gather(*waiting)] == [2, 2, 2]
    assert len((await world.ask("ListLadders")).ladders) == 2  # and none of it is left


async def test_who_guesses_tokens_keeps_nobody_behind_the_same_address_from_asking(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutpurse.server.league.league_calls.MOST_BY_ADDRESS", 3)
    monkeypatch.setattr(entrance, "HELD_S", 60.0)
    for _ in range(10):
        with pytest.raises(Ended):
            await world.ask("ListLadders", "bad")
    held = [asyncio.create_task(world.ask("ListLadders", "bad")) for _ in range(6)]
    refused = world.arena.opened.arena.counts.streams_refused
    while refused["TOKEN_INVALID"] < 16:  # each of them has shown its token, and waits to be told
        await asyncio.sleep(0)
    assert len((await world.ask("ListLadders", "ann")).ladders) == 2
    assert not any(task.done() for task in held)
    for task in held:
        task.cancel()
    await asyncio.gather(*held, return_exceptions=True)


async def test_what_is_no_message(world: World) -> None:
    method: Any = world.channel.unary_unary("/cutpurse.v1.LadderService/ListRankings")
    call = method(b"\xff\xff")
    with pytest.raises(grpc.aio.AioRpcError):
        await call
    assert (await how_it_ended(call)).reason == "BAD_MESSAGE"


class BusyLobby:
    """One that takes a second of the processor to say who is there."""

    def __init__(self) -> None:
        self.asked = 0

    def here(self) -> list[Any]:
        self.asked += 1
        return []

    def open_matches(self) -> list[Any]:
        return []

    def unstored_matches(self) -> list[Any]:
        return []

    def requested(self, name: str) -> str:
        return ""

    def why_not_ready(self, bot: object, ladder: object, is_requested: bool) -> str:
        return ""


async def test_readers_take_a_twentieth_of_the_loop_at_most(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    lobby: Any = BusyLobby()
    parts: Any = world.arena.opened.arena._ladders
    service = LadderService(
        RunningLeague(parts._answers, parts._steering, lobby),
        parts._entrance,
        parts._log,
        incident_number=lambda: "",
    )
    loop = asyncio.get_running_loop()
    with monkeypatch.context() as clocks:
        clocks.setattr(time, "thread_time", lambda: lobby.asked)
        for second in range(1, 251):
            clocks.setattr(loop, "time", lambda now=second: now)
            service._seen()
    assert lobby.asked == 13, "in seconds 1, 21, ... 241"
    service.close()


async def test_what_is_steered_happens_though_the_caller_has_gone(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_begun, may_go_on = threading.Event(), threading.Event()
    create = LadderAdmin.create

    def slowly(self: LadderAdmin, asked: ladder_pb2.CreateLadderRequest) -> list[LadderEntry]:
        is_begun.set()
        may_go_on.wait(240)
        return create(self, asked)

    monkeypatch.setattr(LadderAdmin, "create", slowly)
    request = ladder_pb2.CreateLadderRequest(ladder=ladder_pb2.LadderDefined(name="new", game="szmal"))
    call = world.stub.CreateLadder(request, metadata=world.metadata("root"))
    while not is_begun.is_set():
        await asyncio.sleep(0)
    call.cancel()
    may_go_on.set()
    lobby = world.arena.opened.lobby
    while lobby.ladder_named("new") is None:
        await asyncio.sleep(0)
    assert [one.defined.name for one in (await world.ask("ListLadders")).ladders] == ["duel", "four", "new"]


async def refusal(world: World, method: str, who: str = "", **fields: Any) -> Ended | None:
    """How a call is refused; None: it is answered."""
    try:
        await world.ask(method, who, **fields)
    except Ended as ended:
        return ended
    return None


async def test_who_asks_for_something_and_goes_is_bound_until_it_is_done(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutpurse.server.league.league_calls.MOST_BY_ADDRESS", 2)
    begun, may_go_on = threading.Semaphore(0), threading.Event()
    lift = LadderAdmin.lift

    def slowly(self: LadderAdmin, asked: ladder_pb2.LiftPauseRequest, caller: Caller) -> Identity:
        begun.release()
        may_go_on.wait(240)
        return lift(self, asked, caller)

    monkeypatch.setattr(LadderAdmin, "lift", slowly)
    wanted = ladder_pb2.LiftPauseRequest(bot=ladder_pb2.BotName(bot="sneak"))
    try:
        for _ in range(2):
            call = world.stub.LiftPause(wanted, metadata=world.metadata("ann"))
            while not begun.acquire(blocking=False):
                await asyncio.sleep(0)
            call.cancel()
        refused = await refusal(world, "LiftPause", "ann", bot=wanted.bot)
        assert refused is not None
        assert refused.text.startswith("2 calls from this address are being answered")
    finally:
        may_go_on.set()
    while isinstance(await refusal(world, "ListLadders"), Ended):  # and none of it is left in the end
        pass
