"""The figures of a real server, scraped over HTTP while bots play, are those that the bots have seen."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc
import pytest
import pytest_asyncio

from cutpurse.leaderboard.results import LadderTerms
from cutpurse.server.hosting.metrics import Metrics
from cutpurse.server.ladder_config import Ladder
from cutpurse.v1 import arena_pb2, game_pb2, game_pb2_grpc
from tests.server.arenas import running_arena
from tests.server.monitored import Figures, WatchedServer, figures, watched_server
from tests.server.raw_bot import RawBot


class Counting(RawBot):
    """A bot that counts what it says and hears."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.said = self.heard = self.answers = 0

    async def send(self, **fields: Any) -> None:
        self.said += 1
        self.answers += len(fields.get("answers", ()))
        await super().send(**fields)

    async def read(self) -> arena_pb2.PlayResponse:
        envelope = await super().read()
        self.heard += 1
        return envelope


async def to_the_end(call: Any) -> None:
    """Read all that comes.  Raises what gRPC raises for a call that did not end well."""
    while await call.read() is not grpc.aio.EOF:
        pass


def only(found: Figures, name: str) -> dict[str, float]:
    """The figures of this name that are not 0, by the values of their labels."""
    return {
        ",".join(value for _, value in labels): figure
        for (called, labels), figure in found.items()
        if called == f"cutpurse_{name}" and figure
    }


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[WatchedServer]:
    async with watched_server(tmp_path / "test.db") as server:
        yield server


async def test_figures_are_what_the_bots_have_seen(server: WatchedServer) -> None:
    async with Counting(server.address) as ann, Counting(server.address) as mute:
        await ann.hello("ann")
        await mute.hello("mute")

        async def answers_nothing() -> arena_pb2.MatchEnded:
            asked = 0
            while not mute.waiting["ends"]:
                await mute._take()
                asked += len(mute.waiting["decisions"])
                mute.waiting["decisions"].clear()
            assert asked == 3  # then its seat is played on
            return await mute.end()

        end, _ = await asyncio.gather(ann.play_on(), answers_nothing())
        assert [seat.end_cause for seat in end.seats].count(arena_pb2.END_CAUSE_TIMEOUT) == 1
        await ann.send(answers=[arena_pb2.Answer(table=9, decision=1, option=0)])
        assert (await ann.refusal()).table == 9
        while only(found := await server.figures(), "envelopes_total") != {
            "in": ann.said + mute.said,
            "out": ann.heard + mute.heard,
        }:
            assert server.process.returncode is None
        assert only(found, "answers_accepted_total") == {"": ann.answers - 1}
        assert only(found, "answers_refused_total") == {"unknown_decision": 1}
        assert only(found, "faults_total") == {"timeout": 3}
        assert only(found, "matches_started_total") == {"greed": 1}
        assert only(found, "matches_ended_total") == {"normal,greed": 1}
        assert only(found, "open_matches") == {}
        assert only(found, "thinking_seconds_count") == {"": ann.answers - 1 + 3}
        (thought,) = only(found, "thinking_seconds_sum").values()
        assert thought > 3 * 0.3  # at the least: base and grace
        assert only(found, "sessions") == {"connected": 2}
        assert only(found, "streams") == {"": 2}
        assert only(found, "streams_opened_total") == {"new": 2}
        assert only(found, "streams_ended_total") == {}
        assert only(found, "store_queue") == only(found, "pending_void_results") == only(found, "incidents_total") == {}
        assert found["cutpurse_loop_lag_seconds_count", ()] > 0
        assert found["process_resident_memory_bytes", ()] > 1_000_000
        assert found["process_open_fds", ()] > 5
    while only(found := await server.figures(), "streams"):
        assert server.process.returncode is None
    assert only(found, "streams_ended_total") == {"lost": 2}
    assert only(found, "sessions") == {"lost": 2}


async def test_problems_and_streams_that_are_not_let_in_are_counted(server: WatchedServer) -> None:
    async with RawBot(server.address) as bot, RawBot(server.address) as stranger:
        await bot.hello("ann")
        for _ in range(3):
            await bot.send(received=1_000)
        await stranger.send()
        for one in (bot, stranger):
            with pytest.raises(grpc.aio.AioRpcError):
                await to_the_end(one.call)
        found = await server.figures()
        assert only(found, "problems_total") == {"BAD_MESSAGE": 2}
        assert only(found, "streams_ended_total") == {"BAD_MESSAGE": 1}
        assert only(found, "streams_refused_total") == {"HELLO": 1}


def late(found: Figures) -> float:
    """How often the loop's timer was late by more than a quarter of a second."""
    most, all_of_them = (found["cutpurse_loop_lag_seconds_bucket", (("le", bound),)] for bound in ("0.25", "+Inf"))
    return all_of_them - most


async def test_a_stall_is_in_the_figures(server: WatchedServer) -> None:
    before = await server.figures()
    server.process.send_signal(signal.SIGSTOP)
    await asyncio.sleep(0.5)
    server.process.send_signal(signal.SIGCONT)
    after = await server.figures()
    assert after["cutpurse_loop_stalls_total", ()] > before["cutpurse_loop_stalls_total", ()]
    stalled = after["cutpurse_loop_stalled_seconds_total", ()] - before["cutpurse_loop_stalled_seconds_total", ()]
    assert stalled >= 0.45
    while not late(after):  # the timer rings after the page was asked for, or before
        after = await server.figures()
    assert late(after) >= 1


async def test_no_series_appears_later(server: WatchedServer) -> None:
    before = set(await server.figures())
    async with RawBot(server.address) as ann, RawBot(server.address) as bob:
        await ann.hello("ann")
        await bob.hello("bob")
        await asyncio.gather(ann.play_on(), bob.play_on())
    assert set(await server.figures()) == before


async def test_a_private_ladder_is_in_the_figures_and_its_game_is_no_secret(tmp_path: Path) -> None:
    terms = LadderTerms(owners=("ann",), is_private=True)
    ladders = [Ladder("duel", "greed", 2), Ladder("hidden", "szmal", 3, terms=terms)]
    async with running_arena(tmp_path, ladders) as arena:
        metrics = Metrics(arena.opened)
        metrics.take()
        found = figures(metrics.text().decode())
        for name in ("duel", "hidden"):
            assert found["cutpurse_matches_started_total", (("ladder", name),)] == 0
        async with grpc.aio.insecure_channel(arena.address) as channel:
            told = await game_pb2_grpc.GameServiceStub(channel).ListGames(game_pb2.ListGamesRequest())
        assert [game.game for game in told.games] == ["greed", "szmal"]
        assert b"hidden" not in told.SerializeToString()
