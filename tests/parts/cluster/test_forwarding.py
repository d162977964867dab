"""Two arenas of one league in PostgreSQL: what one has is watched, requested and steered through the other."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import grpc
import pytest

from cutpurse.leaderboard import leases
from cutpurse.server.matches.other_arenas import OtherArena, key_of
from cutpurse.server.parts.cluster.forwarder import CALLER_KEY, FORWARDED_KEY
from cutpurse.server.parts.cluster.part import ClusterPart
from cutpurse.v1 import ladder_pb2, status_pb2, status_pb2_grpc
from tests.parts.cluster.two_arenas import FAR, HIDDEN, LIMITS, League, Site, renew, site, two_arenas
from tests.parts.open_parts import part_of
from tests.postgresql_server import PostgresqlServer
from tests.server.dialling import Ended, how_it_ended
from tests.server.secure import place_in

pytestmark = pytest.mark.full
pytest.importorskip("psycopg", reason="psycopg is not installed here: pip install '.[cluster]'")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server keeps its log of acts in the folder where it was started."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(autouse=True)
def _long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no lease run out because the machine is slow."""
    for name in ("LEASE_S", "DELAY_S"):
        monkeypatch.setattr(leases, name, 3_600.0)


@pytest.fixture
def database(postgresql: PostgresqlServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.chdir(tmp_path)  # where the acts are noted
    address = postgresql.create()
    yield address
    postgresql.free(address)


@pytest.fixture
async def league(database: str) -> AsyncIterator[League]:
    async with two_arenas(database) as league:
        yield league


async def test_who_is_online_at_one_arena_is_seen_through_the_other(league: League) -> None:
    async with AsyncExitStack() as stack:
        match = await league.sit_down(stack, "far")
        for one in (league.a, league.b):
            ladders = (await league.ask(one, "ListLadders")).ladders
            assert {ladder.defined.name: (ladder.bots, ladder.tables) for ladder in ladders} == {
                "near": (0, 0),
                "far": (2, 1),
            }
            for ladder, name in (("", ""), ("far", ""), ("", match)):
                listed = await league.ask(one, "ListOpenMatches", ladder=ladder, match=name)
                assert [entry.match for entry in listed.matches] == [match]
            assert (await league.ask(one, "ListOpenMatches", ladder="near")).matches == []
            bots = (await league.ask(one, "ListBots")).bots
            assert [(bot.bot.owner, bot.is_here, bot.tables, [*bot.ladders]) for bot in bots] == [
                ("ann", True, 1, ["far"]),
                ("bob", True, 1, ["far"]),
            ]


async def test_a_match_is_requested_and_watched_through_the_other_arena(league: League) -> None:
    async with AsyncExitStack() as stack:
        began = league.next_match()  # bots of one owner, so that only a request brings them together
        bots = [await league.enter(stack, "ann", name, "far") for name in ("one", "two")]
        names = [ladder_pb2.BotName(bot=name) for name in ("one", "two")]
        match = (await league.ask(league.a, "RequestMatch", "ann", ladder="far", bots=names)).match
        assert await began == match
        assert (await league.ask(league.a, "ListOpenMatches", "ann", match=match)).requested == "open"
        call, first = await league.watch(league.a, match=match[:12])
        assert first.started.match.match == match
        ladder, _ = await league.watch(league.a, ladder="far")
        ladder.cancel()
        await asyncio.gather(*(bot.play_on() for bot in bots))
        last = first
        while (message := await call.read()) is not grpc.aio.EOF:
            last = message
        assert len(last.ended.match.opening.seed) == 32
        with pytest.raises(Ended, match="cutpurse match replay") as over:
            await league.watch(league.a, match=match)
        assert over.value.reason == "NOT_FOUND"


async def test_what_is_hidden_or_of_a_seat_stays_so_through_the_other_arena(league: League) -> None:
    async with AsyncExitStack() as stack:
        match = await league.sit_down(stack, "hidden")
        seats = [one.owner for one in league.b.opened.lobby.open_matches()[0].seats]
        for who in ("", "eve"):
            assert (await league.ask(league.a, "ListOpenMatches", who)).matches == []
            assert (await league.ask(league.a, "ListBots", who)).bots == []
            for asked in ({"match": match}, {"ladder": "hidden"}, {"match": match, "seat": 0}):
                refusals = []
                for one in (league.a, league.b):
                    with pytest.raises(Ended) as refused:
                        await league.watch(one, who, **asked)
                    refusals.append((refused.value.reason, str(refused.value)))
                assert refusals[0] == refusals[1]
                assert refusals[0][0] == "NOT_FOUND"
        with pytest.raises(Ended) as refused:
            await league.watch(league.a, "bob", match=match, seat=seats.index("ann"))
        assert refused.value.reason == "NOT_YOURS"
        _, first = await league.watch(league.a, "ann", match=match, seat=seats.index("ann"))
        assert first.started.observation.viewer == seats.index("ann")


async def test_a_ladder_is_changed_at_its_own_arena_at_once(league: League) -> None:
    frozen = ladder_pb2.LadderTerms(frozen_ms=1)
    with pytest.raises(Ended) as refused:
        await league.ask(league.a, "ChangeLadder", "eve", ladder="far", terms=frozen)
    assert refused.value.reason == "TOKEN_SCOPE"
    told = await league.ask(league.a, "ChangeLadder", "root", ladder="far", terms=frozen)
    assert told.ladder.is_frozen
    ladder = league.b.opened.lobby.ladder_named("far")
    assert ladder is not None
    assert ladder.is_frozen(datetime.now(UTC))
    assert (await league.ask(league.a, "DeleteLadder", "root", ladder="hidden")).ladder.defined.name == "hidden"
    assert league.b.opened.lobby.ladder_named("hidden") is None


async def test_the_status_shows_both_arenas_through_either(league: League) -> None:
    async with AsyncExitStack() as stack:
        await league.sit_down(stack, "far")
        renew(league.b)
        for one in (league.a, league.b):
            async with grpc.aio.insecure_channel(one.address) as channel:
                ask: Any = status_pb2_grpc.StatusServiceStub(channel).GetStatus
                told = await ask(status_pb2.GetStatusRequest(), metadata=league.metadata("root"))
                by_address = {arena.address: arena for arena in told.arenas}
                shown = [by_address[site.address] for site in (league.a, league.b)]
                assert [(arena.matches, arena.bots) for arena in shown] == [(0, 0), (1, 2)]
                assert [[*arena.ladders] for arena in shown] == [["near"], ["far", "hidden"]]
                assert all(arena.version and arena.lag_s < 60 for arena in told.arenas)
        others = league.a.opened.lobby.other_arenas
        others.set([(FAR, OtherArena("127.0.0.1:9", ""))])  # nobody listens
        others.lags = {"127.0.0.1:9": 7.5}
        async with grpc.aio.insecure_channel(league.a.address) as channel:
            ask = status_pb2_grpc.StatusServiceStub(channel).GetStatus
            told = await ask(status_pb2.GetStatusRequest(), metadata=league.metadata("root"))
        (away,) = [arena for arena in told.arenas if arena.address == "127.0.0.1:9"]
        assert (away.version, away.ladders, away.lag_s) == ("", ["far"], 7.5)


async def test_an_arena_without_a_ladder_is_in_the_status_of_the_others_until_it_leaves(league: League) -> None:
    async def shown(one: Site) -> dict[str, tuple[str, list[str]]]:
        renew(one)
        async with grpc.aio.insecure_channel(one.address) as channel:
            ask: Any = status_pb2_grpc.StatusServiceStub(channel).GetStatus
            told = await ask(status_pb2.GetStatusRequest(), metadata=league.metadata("root"))
        return {arena.address: (arena.version, [*arena.ladders]) for arena in told.arenas}

    async with site(league.a.opened.store.database.address) as c:
        for one in (league.a, league.b):
            version, ladders = (await shown(one))[c.address]
            assert (version != "", ladders) == (True, [])
    for one in (league.a, league.b):
        assert set(await shown(one)) == {league.a.address, league.b.address}


async def test_limits_by_address_hold_for_both_arenas_together(league: League) -> None:
    async with AsyncExitStack() as stack:
        match = await league.sit_down(stack, "far")
        forged = ((FORWARDED_KEY, "0" * 64), (CALLER_KEY, "192.0.2.1"))
        calls = [(await league.watch(league.a, match=match))[0] for _ in range(LIMITS.watchers_per_address)]
        with pytest.raises(Ended) as refused:
            await league.watch(league.a, match=match)
        assert refused.value.reason == "STREAMS"
        calls += [(await league.watch(league.b, said=forged, match=match))[0] for _ in range(2)]
        with pytest.raises(Ended) as refused:
            await league.watch(league.b, said=forged, match=match)
        assert refused.value.reason == "STREAMS"
        # whose key is right names the caller
        key = key_of(league.b.opened.store.holder.name)  # type: ignore[attr-defined]
        passed_on = ((FORWARDED_KEY, key), (CALLER_KEY, "192.0.2.1"))
        assert (await league.watch(league.b, said=passed_on, match=match))[1].started.match.match == match
        for call in calls:
            call.cancel()


async def test_arenas_pass_calls_on_over_tls_and_only_to_one_with_a_good_certificate(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = place_in(tmp_path)
    pem = place.ca.cert_pem.bytes()
    async with AsyncExitStack() as stack:
        a, b = [
            await stack.enter_async_context(site(database, name, certificate=place.certificate, pem=pem))
            for name in ("near", "far")
        ]
        renew(a)
        league = League(a, b, {})
        frozen = ladder_pb2.LadderTerms(frozen_ms=1)
        with pytest.raises(Ended, match="does not answer") as refused:
            await league.ask(a, "ChangeLadder", ladder="far", terms=frozen)
        assert refused.value.reason == "SILENT"
        await part_of(a.opened, ClusterPart).forwarder.close()  # so that the next call makes a connection
        monkeypatch.setenv("CUTPURSE_CA", str(place.ca_file))
        assert (await league.ask(a, "ChangeLadder", ladder="far", terms=frozen)).ladder.is_frozen


async def test_a_call_goes_no_further_than_to_one_other_arena(league: League) -> None:
    names = [ladder_pb2.BotName(bot="one")]
    said = ((FORWARDED_KEY, "x"),)
    for asking in (
        league.ask(league.a, "RequestMatch", "ann", said, ladder="far", bots=names),
        league.watch(league.a, "ann", said, ladder="far"),
    ):
        with pytest.raises(Ended, match="is played at") as refused:
            await asking
        assert refused.value.reason == "ELSEWHERE"


async def test_of_an_arena_that_is_away_one_line_says_so_until_another_has_its_ladders(league: League) -> None:
    others = league.a.opened.lobby.other_arenas
    with socket.socket() as closed:  # bound, and nobody listens
        closed.bind(("127.0.0.1", 0))
        away = OtherArena(f"127.0.0.1:{closed.getsockname()[1]}", "")
        others.set((ladder, away) for ladder in (FAR, HIDDEN))
        names = [ladder_pb2.BotName(bot="one")]
        for asking in (
            league.ask(league.a, "RequestMatch", "ann", ladder="far", bots=names),
            league.ask(league.a, "ChangeLadder", "root", ladder="far", terms=ladder_pb2.LadderTerms()),
            league.watch(league.a, "ann", ladder="far"),
            league.watch(league.a, "ann", match="0123456789"),
        ):
            with pytest.raises(Ended, match=f"the server at {away.address} does not answer") as refused:
                await asking
            assert (refused.value.code, refused.value.reason) == ("UNAVAILABLE", "SILENT")
        assert len((await league.ask(league.a, "ListLadders")).ladders) == 2
        others.set((ladder, None) for ladder in (FAR, HIDDEN))
        for asking in (
            league.ask(league.a, "RequestMatch", "ann", ladder="far", bots=names),
            league.watch(league.a, "ann", ladder="far"),
        ):
            with pytest.raises(Ended, match="no server has ladder far now") as refused:
                await asking
            assert (refused.value.code, refused.value.reason) == ("UNAVAILABLE", "SILENT")
    renew(league.a)
    with pytest.raises(Ended, match="is not there to play on ladder far"):
        await league.ask(league.a, "RequestMatch", "ann", ladder="far", bots=names)
    league.b.opened.lobby.other_arenas.set([])
    leasing = part_of(league.b.opened, ClusterPart).leasing
    leasing._store.release()
    renew(league.a)  # it prefers another, so it leaves this one free for a while
    with pytest.raises(Ended, match="no server has ladder far now"):
        await league.ask(league.a, "RequestMatch", "ann", ladder="far", bots=names)


async def test_a_watch_through_an_arena_that_stops_ends_with_that_reason(league: League) -> None:
    async with AsyncExitStack() as stack:
        match = await league.sit_down(stack, "far")
        call, _ = await league.watch(league.a, match=match)
        assert (league.a.opened.watching.watchers, league.b.opened.watching.watchers) == (1, 1)
        watch = league.a.opened.arena._watch
        assert watch is not None
        watch.close()
        while (message := await _read_or_none(call)) is not None:
            assert message is not grpc.aio.EOF
        ended = await how_it_ended(call)
        assert (ended.code, ended.reason) == ("UNAVAILABLE", "DRAINING")


async def test_a_watch_of_a_ladder_that_moves_ends_with_that_reason(league: League) -> None:
    watching = [asyncio.create_task(league.watch(one, ladder="far")) for one in (league.a, league.b)]
    while league.b.opened.watching.watchers < len(watching):
        await asyncio.sleep(0)
    league.b.opened.lobby.other_arenas.set([(FAR, None)])
    assert league.b.opened.lobby.lose_ladder("far")
    for watch in watching:
        with pytest.raises(Ended, match="no server has ladder far now") as moved:
            await watch
        assert (moved.value.code, moved.value.reason) == ("UNAVAILABLE", "SILENT")


async def _read_or_none(call: Any) -> Any:
    try:
        return await call.read()
    except grpc.aio.AioRpcError:
        return None
