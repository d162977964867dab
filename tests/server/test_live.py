"""The stream service on real sockets: bots that behave, lose their streams and come back."""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from pathlib import Path
from typing import Any

import grpc
import pytest

from cutpurse.sdk.online import client
from cutpurse.sdk.run import connect
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.streams.arena_service import _Stream
from cutpurse.server.streams.link import Link
from cutpurse.server.streams.server_session import ServerSession
from cutpurse.v1 import arena_pb2
from tests.looking import looks
from tests.server.arenas import running_arena
from tests.server.dialling import Ended, house
from tests.server.raw_bot import RawBot, others
from tests.server.toys import SECRET, ToyLobby


async def test_matches_are_played_over_the_wire_until_the_bot_leaves() -> None:
    async with house(ToyLobby(length=20, tables=8)) as server:
        bot = server.dial()
        await bot.say_hello(max_tables=3)
        seen = await bot.plays(8)
        assert seen["OK"] == seen["welcome"] == 1
        assert (seen["starts"], seen["decisions"], seen["ends"]) == (8, 160, 8)
        assert seen["refusals"] == seen["problems"] == 0
        assert all(seat.is_over for seat in server.lobby.seats)
        await server.until(lambda: server.arena.streams == 0)
        assert len(server.arena.sessions) == 0


async def test_what_is_asked_at_once_travels_together() -> None:
    async with house(ToyLobby(length=50, tables=64)) as server:
        bot = server.dial()
        await bot.say_hello(max_tables=64)
        seen = await bot.plays(64)
        assert seen["decisions"] == 64 * 50
        assert seen["envelope"] < 64 * 50 / 20


async def test_a_stream_that_was_lost_goes_on() -> None:
    async with house(ToyLobby(length=5, tables=1)) as server:
        bot = server.dial()
        await bot.say_hello()
        asked = await bot.read_until("decisions")
        session = server.lobby.there[0]
        assert [one.decision for one in asked.decisions] == [1]
        bot.call.cancel()
        await server.until(lambda: not server.arena.sessions.connected)
        back = server.dial()
        await back.say_hello(resume=arena_pb2.Resume(session=session.id, secret=session.secret))
        response = await back.read()
        assert response.welcome.resumed
        assert (len(response.starts), list(response.decisions)) == (1, list(asked.decisions))
        await back.answer_all(response)
        seen = await back.plays(1)
        assert (seen["decisions"], seen["ends"], seen["starts"]) == (4, 1, 0)


async def test_the_newest_stream_of_a_bot_takes_over() -> None:
    async with house() as server:
        older = await server.welcomed()
        newer = await server.welcomed()
        with pytest.raises(Ended, match="ABORTED SUPERSEDED: a newer stream of this bot took over"):
            await older.read()
        assert server.arena.sessions.connected == 1
        newer.call.cancel()


async def test_heartbeats_come_and_keep_a_quiet_bot() -> None:
    async with house(limits=ServerLimits(heartbeat_ms=1_000)) as server:
        bot = await server.welcomed()
        for _ in range(3):
            assert (await bot.read()).ListFields()[1:] == []
            await bot.say()
        bot.call.cancel()


async def test_an_illegal_answer_that_is_sent_again_after_a_resume_costs_no_correction(tmp_path: Path) -> None:
    async with running_arena(tmp_path, [Ladder("greed", "greed", 2, matches_wanted=1)]) as server:
        (other,) = await others(server.address, 1)
        async with RawBot(server.address) as bot:
            welcome = await bot.hello("ann")
            asked = await bot.decision()
            await bot.answer(asked, 1_000)
            refusals: list[arena_pb2.Refusal] = []
            while not refusals:  # and the stream is lost before that is acknowledged
                refusals += (await bot.call.read()).refusals
        async with RawBot(server.address) as bot:
            resume = arena_pb2.Resume(session=welcome.session, secret=welcome.resume_secret)
            assert (await bot.hello("ann", resume=resume)).resumed
            again = await bot.decision()
            assert again.decision == asked.decision
            await bot.answer(again, 1_000)
            refusals.append(await bot.refusal())
            assert [refusal.corrections_left for refusal in refusals] == [2, 2]
            await bot.answer(again, 1_001)
            assert (await bot.refusal()).corrections_left == 1
            await bot.answer(again)
            ended = await bot.play_on()
        assert [seat.end_cause for seat in ended.seats] == [arena_pb2.END_CAUSE_NORMAL] * 2
        await other


async def test_a_bot_whose_hello_came_too_late_dials_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "BACKOFF_S", (0.01, 0.01))
    ladder = Ladder("greed", "greed", 2, matches_wanted=1)
    async with running_arena(tmp_path, [ladder], ServerLimits(hello_s=5.0)) as server:
        refused = server.opened.arena.counts.streams_refused
        true = client.Client._follow
        is_held_up = True

        async def follow(self: client.Client, call: Any) -> None:
            nonlocal is_held_up
            if is_held_up and self.session.bot == "ann":
                is_held_up = False
                await call.code()  # what it says comes after the end
            await true(self, call)

        monkeypatch.setattr(client.Client, "_follow", follow)
        stays = [connect("first_option", server=server.address, name=name, matches=1) for name in ("ann", "bob")]
        assert [stay.matches for stay in await asyncio.gather(*stays)] == [1, 1]
        assert refused == {"SILENT": 1}


async def test_a_lobby_that_breaks_does_not_stop_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutpurse.server.hosting.arena._AGAIN_S", 0.05)
    lobby = ToyLobby(length=2, tables=1)
    lobby.breaks = RuntimeError(f"the deck is {SECRET}")
    async with house(lobby) as server:
        bot = server.dial()
        await bot.say_hello()
        assert (await bot.read()).HasField("welcome")
        lobby.breaks = None
        await bot.say()
        assert (await bot.plays(1))["ends"] == 1


async def test_sessions_are_looked_at_again_after_a_fault(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("cutpurse.server.hosting.arena._AGAIN_S", 0.05)
    async with house(ToyLobby(length=2, tables=1), ServerLimits(resume_window_ms=0)) as server:
        bot = await server.welcomed()
        sessions, faults = server.arena.sessions, 2
        tick = sessions.tick

        def breaks(now: float) -> None:
            nonlocal faults
            if faults:
                faults -= 1
                raise RuntimeError(f"the deck is {SECRET}")
            tick(now)

        monkeypatch.setattr(sessions, "tick", breaks)
        bot.call.cancel()
        await server.until(lambda: not len(sessions))  # it is given up though it was looked at in vain before
        assert (faults, server.arena.counts.incidents) == (0, 2)
    printed = capsys.readouterr()
    assert SECRET not in printed.out + printed.err


async def test_a_stall_is_credited_to_others_where_one_of_them_breaks(monkeypatch: pytest.MonkeyPatch) -> None:
    async with house(ToyLobby(length=2, tables=1)) as server:
        arena, lobby = server.arena, server.lobby
        before, credited = lobby.credited, arena.pulse.stalled_s

        def breaks(seconds: float) -> None:
            raise RuntimeError(f"the deck is {SECRET}")

        with monkeypatch.context() as patch:
            patch.setattr(arena.sessions, "credit", breaks)
            patch.setattr(lobby, "credit", breaks)
            arena.pulse.beat(arena.pulse.alive_at + 7.0)
        assert arena.pulse.stalled_s >= credited + 7.0
        assert arena.counts.incidents == 2
        assert lobby.credited == before
        bot = server.dial()
        await bot.say_hello()
        assert (await bot.plays(1))["ends"] == 1


async def test_who_waits_is_told_once_that_results_cannot_be_stored() -> None:
    async with house() as server:
        bot = await server.welcomed()
        server.lobby.is_storing = False
        server.lobby.wake()
        response = await bot.read()
        (problem,) = response.problems
        assert (problem.reason, problem.strikes_left) == (arena_pb2.ERROR_REASON_STORAGE, 0)
        server.lobby.wake()
        server.lobby.is_storing = True
        server.lobby.wake()
        await bot.say(max_tables=2)
        await bot.send(b"\xff")
        (problem,) = (await bot.read()).problems
        assert problem.reason == arena_pb2.ERROR_REASON_BAD_MESSAGE


async def test_a_fault_of_the_server_is_told_by_its_number_only(capsys: pytest.CaptureFixture[str]) -> None:
    lobby = ToyLobby()
    async with house(lobby) as server:

        def breaks(session: object) -> None:
            raise RuntimeError(f"the deck is {SECRET}")

        bot = await server.welcomed()
        lobby.changed = breaks  # type: ignore[method-assign]
        await bot.say(max_tables=1)
        with pytest.raises(Ended) as ended:
            await bot.read()
        assert (ended.value.code, ended.value.reason) == ("INTERNAL", "INCIDENT")
        assert SECRET not in ended.value.text
    printed = capsys.readouterr()
    assert SECRET not in printed.out + printed.err


def living(*kinds: type) -> int:
    """Count the objects of these types that something still refers to."""
    gc.collect()
    return sum(type(thing) in kinds for thing in gc.get_objects())


async def test_after_many_streams_nothing_is_left() -> None:
    async with house(ToyLobby(length=2), ServerLimits(resume_window_ms=0)) as server:
        await server.health()

        async def dial(number: int) -> None:
            async with grpc.aio.insecure_channel(
                server.address, options=[("grpc.use_local_subchannel_pool", 1)]
            ) as channel:
                bot = server.dial(channel)
                if number % 4 == 0:
                    await bot.send(b"\xff")
                    assert (await bot.ended()).reason == "BAD_MESSAGE"
                    return
                await bot.say_hello(f"bot{number}")
                response = await bot.read()
                if number % 4 == 1:
                    bot.call.cancel()
                elif number % 4 == 2:
                    await bot.answer_all(response, leaving=True)
                    assert (await bot.plays(0))["OK"] == 1

        async def all_gone(later_s: float) -> Counter[type]:
            await server.until(lambda: server.arena.streams == 0)
            server.arena.sessions.tick(asyncio.get_running_loop().time() + later_s)
            server.lobby.seats.clear()
            await server.health()
            await server.until(lambda: living(_Stream, Link, ServerSession) == 0)
            # A timer that is cancelled goes when its time comes, or when there are a hundred of them.
            timers = (thing for thing in gc.get_objects() if type(thing) is asyncio.TimerHandle)
            cancelled = sum(timer.cancelled() for timer in timers)
            kinds = Counter(type(thing) for thing in gc.get_objects())
            kinds[asyncio.TimerHandle] -= cancelled
            return Counter(
                {kind: kinds[kind] for kind in (_Stream, Link, ServerSession, asyncio.Task, asyncio.TimerHandle)}
            )

        await asyncio.gather(*(dial(number) for number in range(20)))
        before = await all_gone(100.0)
        for batch in range(9):
            await asyncio.gather(*(dial(20 * batch + number) for number in range(20)))
        async for _ in looks():  # a busy machine may still be at some of it
            after = await all_gone(200.0)
            if all(after[kind] <= before[kind] + 2 for kind in (asyncio.Task, asyncio.TimerHandle)):
                break
        assert len(server.arena.sessions) == 0
        assert (after[_Stream], after[Link], after[ServerSession]) == (0, 0, 0)
