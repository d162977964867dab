"""Matches of a real server are watched over gRPC: by whom, when, what is told, and that no table waits for it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

import grpc
import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.engine.errors import CutpurseError
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.owner_registry import revoke_token
from cutpurse.leaderboard.results import LadderTerms
from cutpurse.leaderboard.tokens import new_token
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.matches.loop_hooks import MatchBegan, ResultMeasured
from cutpurse.server.watching import broadcast
from cutpurse.v1 import arena_pb2, ladder_pb2, ladder_pb2_grpc
from cutpurse.wire.league import league_at
from tests.server.arenas import RunningArena, running_arena
from tests.server.dialling import Ended, how_it_ended
from tests.server.raw_bot import RawBot
from tests.server.tokens import tokens_in

LADDER = Ladder("duel", "greed", 2, {}, TimeControl(base_ms=60_000, poll_floor_ms=0))
OWNERS = ("ann", "bob")
DELAY_S = 0.3


class Watch:
    """A call of WatchMatch."""

    def __init__(self, call: Any) -> None:
        self.call = call

    async def read(self) -> ladder_pb2.WatchMatchResponse:
        """What is told next.  Raises Ended."""
        message = await self.read_or_end()
        if isinstance(message, Ended):
            raise message
        return message

    async def read_or_end(self) -> ladder_pb2.WatchMatchResponse | Ended:
        """The same, or how the call ended."""
        try:
            message = await self.call.read()
        except grpc.aio.AioRpcError:
            return await how_it_ended(self.call)
        if message is grpc.aio.EOF:
            return await how_it_ended(self.call)
        assert isinstance(message, ladder_pb2.WatchMatchResponse)
        return message

    async def rest(self) -> tuple[list[ladder_pb2.WatchMatchResponse], Ended]:
        """All that is told to the end, and that."""
        told = []
        while not isinstance(message := await self.read_or_end(), Ended):
            told.append(message)
        return told, message


class Stage:
    """A server, with or without owners, on which two bots play when they are told to."""

    def __init__(self, arena: RunningArena, channel: grpc.aio.Channel, tokens: dict[str, str]) -> None:
        self.arena = arena
        self.tokens = {**tokens, "bad": new_token().reveal()}
        self.stub = ladder_pb2_grpc.LadderServiceStub(channel)
        self.bots: list[RawBot] = []

    def watch(self, who: str = "", **asked: Any) -> Watch:
        """Begin to watch, with the token of somebody."""
        metadata = (("authorization", f"Bearer {self.tokens[who]}"),) if who else None
        return Watch(self.stub.WatchMatch(ladder_pb2.WatchMatchRequest(**asked), metadata=metadata))

    async def sit_down(self, stack: AsyncExitStack) -> str:
        """Two bots come in, and are asked; the name of their match."""
        began: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        def note(event: MatchBegan) -> None:
            if not began.done():
                began.set_result(event.match.name)

        self.arena.opened.lobby.hooks.on(MatchBegan, note)
        for owner in OWNERS:
            bot = await stack.enter_async_context(RawBot(self.arena.address, self.tokens.get(owner, "")))
            await bot.hello(f"{owner}s")
            self.bots.append(bot)
        return await began

    async def play(self) -> list[arena_pb2.MatchEnded]:
        """The match is played to its end."""
        return await asyncio.gather(*(bot.play_on() for bot in self.bots))


@asynccontextmanager
async def stage(folder: Path, *owners: str, ladder: Ladder = LADDER, **more: Any) -> AsyncIterator[Stage]:
    tokens = tokens_in(folder / "test.db", *owners) if owners else {}
    given = {"watch_delay_s": DELAY_S, **more}
    async with running_arena(folder, [ladder], **given) as arena, grpc.aio.insecure_channel(arena.address) as channel:
        yield Stage(arena, channel, tokens)
    assert not any(token[13:] in arena.log for token in tokens.values())
    assert [line for line in map(json.loads, arena.log.splitlines()) if line["level"] == "error"] == []


async def test_a_match_is_watched_from_its_beginning_to_its_opened_deal(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, AsyncExitStack() as stack:
        watch = on.watch(ladder="duel")
        watched = asyncio.create_task(watch.read())
        await asyncio.sleep(0)
        match = await on.sit_down(stack)
        over: list[float] = []
        on.arena.opened.lobby.hooks.on(ResultMeasured, lambda event: over.append(monotonic()))
        await on.play()
        told = [await watched]
        while not told[-1].HasField("ended"):
            told.append(await watch.read())
        assert monotonic() - over[0] > DELAY_S / 2
        assert told[0].started.match.match == match
        assert told[0].started.delay_ms == 300
        ended = told[-1].ended.match
        entry = on.arena.opened.store.run(queries.match, match)
        assert (ended.opening.seed, ended.opening.params) == (entry.deal.seed, entry.deal.params)
        assert told[0].started.match.commitment == entry.deal.commitment
        assert [seat.score for seat in ended.seats] == [seat.score for seat in entry.seats]
        moved = [one.moved for one in told if one.HasField("moved")]
        assert moved
        following = [one.first_event + len(one.events) for one in moved[:-1]]
        assert [one.first_event for one in moved[1:]] == following


async def test_a_seat_is_its_owners_alone(tmp_path: Path) -> None:
    async with stage(tmp_path, *OWNERS) as on, AsyncExitStack() as stack:
        match = await on.sit_down(stack)
        seats = [one.owner for one in on.arena.opened.lobby.open_matches()[0].seats]
        of_ann = seats.index("ann")
        own = on.watch("ann", match=match, seat=of_ann)
        assert (await own.read()).started.observation.viewer == of_ann
        for who, code, reason in (
            ("bob", "PERMISSION_DENIED", "NOT_YOURS"),
            ("", "PERMISSION_DENIED", "NOT_YOURS"),
            ("bad", "UNAUTHENTICATED", "TOKEN_INVALID"),
        ):
            with pytest.raises(Ended) as refused:
                await on.watch(who, match=match, seat=of_ann).read()
            assert (refused.value.code, refused.value.reason) == (code, reason)
        spectator = on.watch(match=match[:12])  # needs no token
        assert not (await spectator.read()).started.observation.HasField("viewer")
        await on.play()
        told, ended = await own.rest()
        assert told[-1].HasField("ended")
        assert (ended.code, ended.reason) == ("OK", "")
        assert (await spectator.rest())[0][-1].ended.match.seats == told[-1].ended.match.seats
        with pytest.raises(Ended, match="cutpurse match replay") as over:
            await on.watch(match=match).read()
        assert (over.value.code, over.value.reason) == ("NOT_FOUND", "NOT_FOUND")


async def test_a_private_ladder_is_there_for_those_who_play_on_it(tmp_path: Path) -> None:
    private = replace(LADDER, terms=LadderTerms(owners=OWNERS, is_private=True))
    async with stage(tmp_path, *OWNERS, "eve", ladder=private) as on, AsyncExitStack() as stack:
        match = await on.sit_down(stack)
        for who in ("", "eve"):
            for asked in ({"match": match}, {"ladder": "duel"}, {"match": match, "seat": 0}):
                with pytest.raises(Ended) as refused:
                    await on.watch(who, **asked).read()
                assert (refused.value.code, refused.value.reason) == ("NOT_FOUND", "NOT_FOUND")
        assert (await on.watch("bob", match=match).read()).started.match.match == match


async def test_a_revoked_token_is_shown_no_card_more(tmp_path: Path) -> None:
    async with stage(tmp_path, *OWNERS, "cid") as on, AsyncExitStack() as stack:
        match = await on.sit_down(stack)
        arena = on.arena.opened
        seat = [one.owner for one in arena.lobby.open_matches()[0].seats].index("bob")
        own = on.watch("bob", match=match, seat=seat)
        assert (await own.read()).HasField("started")
        (entry,) = arena.store.run(queries.tokens, "bob")
        arena.store.write(revoke_token, entry.id, datetime.now(UTC))
        await until(on, lambda: not arena.arena.entrance.guard.is_good(entry.id))
        arena.lobby.void_all()
        told, ended = await own.rest()
        assert (told, ended.code, ended.reason) == ([], "UNAUTHENTICATED", "TOKEN_INVALID")


async def test_who_does_not_read_holds_up_nobody_and_is_dropped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(broadcast, "EVERY_S", 0.0)
    limits = ServerLimits(watcher_bytes=4_096)
    async with stage(tmp_path, limits=limits, watch_delay_s=0.0) as on, AsyncExitStack() as stack:
        narrow = (("grpc.http2.lookahead_bytes", 1_024), ("grpc.http2.bdp_probe", 0))
        channel = await stack.enter_async_context(grpc.aio.insecure_channel(on.arena.address, options=narrow))
        stub = ladder_pb2_grpc.LadderServiceStub(channel)
        await on.sit_down(stack)
        deaf: Any = stub.WatchMatch(ladder_pb2.WatchMatchRequest(ladder="duel"))
        await deaf.read()  # one message, and no more
        (watcher,) = on.arena.opened.watching._watchers
        while watcher.ending is None:  # more matches, until they do not fit into what lies between server and watcher
            ends = await on.play()
            assert [end.voided for end in ends] == [False, False]
        assert watcher.ending.reason == "SILENT"
        deaf.cancel()
        await until(on, lambda: on.arena.opened.watching.watchers == 0)


async def test_there_is_room_for_so_many_and_a_call_that_ends_makes_room(tmp_path: Path) -> None:
    limits = ServerLimits(most_watchers=3, watchers_per_address=2)
    async with stage(tmp_path, limits=limits) as on:
        room = on.arena.opened.watching
        calls = [on.watch(ladder="duel") for _ in range(2)]
        tasks = [asyncio.create_task(call.read()) for call in calls]
        await until(on, lambda: room.watchers == 2)
        with pytest.raises(Ended) as refused:
            await on.watch(ladder="duel").read()
        assert (refused.value.code, refused.value.reason) == ("RESOURCE_EXHAUSTED", "STREAMS")
        calls[0].call.cancel()
        await until(on, lambda: room.watchers == 1)
        for task in tasks:
            task.cancel()


async def until(on: Stage, is_so: Any) -> None:
    """Ask the server something until it is so."""
    while not is_so():
        await on.stub.ListLadders(ladder_pb2.ListLaddersRequest())


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (b"\xff\xff\xff", "INVALID_ARGUMENT"),
        (ladder_pb2.WatchMatchRequest().SerializeToString(), "INVALID_ARGUMENT"),
        (ladder_pb2.WatchMatchRequest(ladder="a" * 3_000).SerializeToString(), "NOT_FOUND"),
        (ladder_pb2.WatchMatchRequest(match="\x00\n" * 900).SerializeToString(), "NOT_FOUND"),
    ],
)
async def test_what_makes_no_sense_is_refused(asked: bytes, code: str, tmp_path: Path) -> None:
    async with stage(tmp_path) as on, grpc.aio.insecure_channel(on.arena.address) as channel:
        method: Any = channel.unary_stream("/cutpurse.v1.LadderService/WatchMatch")
        with pytest.raises(Ended) as refused:
            await Watch(method(asked)).read()
        assert refused.value.code == code
        assert len(refused.value.text) < 300
        assert refused.value.text.isprintable()


async def test_a_server_that_stops_says_so_to_those_who_watch(tmp_path: Path) -> None:
    async with stage(tmp_path) as on:
        watch = on.watch(ladder="duel")
        reading = asyncio.create_task(watch.read())
        await until(on, lambda: on.arena.opened.watching.watchers == 1)
        await on.arena.opened.arena.stop()
        with pytest.raises(Ended) as ended:
            await reading
        assert (ended.value.code, ended.value.reason) == ("UNAVAILABLE", "DRAINING")


async def test_however_many_watch_through_one_league_it_answers_other_calls(tmp_path: Path) -> None:
    """As the page does for all who look at it, each at another match."""
    async with running_arena(tmp_path, [LADDER], ServerLimits(streams_per_connection=2)) as arena:
        with league_at(arena.address, patience_s=5.0, as_stranger=True) as league:
            seen = [league.WatchMatch(ladder_pb2.WatchMatchRequest(ladder="duel")) for _ in range(3)]
            tasks = [asyncio.create_task(asyncio.to_thread(next, one, None)) for one in seen]
            told = await asyncio.to_thread(league.ListLadders, ladder_pb2.ListLaddersRequest())
            while arena.opened.watching.watchers < 3:
                told = await asyncio.to_thread(league.ListLadders, ladder_pb2.ListLaddersRequest())
            assert len(told.ladders) == 1
            assert not any(task.done() for task in tasks)
        for task in tasks:  # who leaves a league leaves its matches
            with pytest.raises(CutpurseError):
                await task
