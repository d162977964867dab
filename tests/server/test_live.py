"""The stream service on real sockets: bots that behave, and bots that do not."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from cutpurse.games import GAMES
from cutpurse.sdk import client
from cutpurse.sdk.run import connect
from cutpurse.sdk.wire.catalogue import catalogue_of
from cutpurse.server.address import checked
from cutpurse.server.errors import AddressError, CannotListen
from cutpurse.server.host import Arena
from cutpurse.server.ladders import Ladder
from cutpurse.server.limits import Limits
from cutpurse.server.link import Link
from cutpurse.server.logs import logger
from cutpurse.server.service import _Stream
from cutpurse.server.session import Session
from cutpurse.v1 import arena_pb2, game_pb2, game_pb2_grpc
from tests.server.arenas import running_arena
from tests.server.dialling import Bot, Ended, House, house, how_it_ended
from tests.server.raw_bot import RawBot, others
from tests.server.toys import SECRET, ToyLobby

NAMES = ["", "cutpurse.v1.ArenaService", "cutpurse.v1.GameService"]


async def plays(bot: Bot, matches: int) -> Counter[str]:
    """Play so many matches and leave; counts what came until the server ended the call, and how."""
    seen: Counter[str] = Counter()
    try:
        while True:
            response = await bot.read()
            for field, value in response.ListFields():
                seen[field.name] += len(value) if field.is_repeated else 1
            await bot.answer_all(response, leaving=seen["ends"] >= matches)
    except Ended as ended:
        seen[ended.code] += 1
    return seen


# -- bots that behave
async def test_matches_are_played_over_the_wire_until_the_bot_leaves() -> None:
    async with house(ToyLobby(length=20, tables=8)) as server:
        bot = server.dial()
        await bot.say_hello(max_tables=3)
        seen = await plays(bot, 8)
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
        seen = await plays(bot, 64)
        assert seen["decisions"] == 64 * 50
        assert seen["envelope"] < 64 * 50 / 20


async def test_a_unix_socket_serves_as_well(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/arena"
    async with house(ToyLobby(length=3, tables=1), address=address) as server:
        assert server.address == address
        bot = server.dial()
        await bot.say_hello()
        assert (await plays(bot, 1))["OK"] == 1
        with pytest.raises(CannotListen, match="another program listens on unix:"):
            await Arena(address, ToyLobby(), logger(sys.stderr)).start()
        assert await server.health() == "SERVING"


async def test_a_second_server_on_a_port_is_refused() -> None:
    async with house() as server:
        with pytest.raises(CannotListen, match=f"cannot listen on {server.address}"):
            await Arena(server.address, ToyLobby(), logger(sys.stderr)).start()


@pytest.mark.parametrize("address", ["127.0.0.1:7777", "127.8.9.1:0", "[::1]:7777", "localhost:7777", "unix:/tmp/x"])
def test_this_machine_may_be_listened_on(address: str) -> None:
    assert checked(address) == address


@pytest.mark.parametrize("address", ["0.0.0.0:7777", "[::]:7777", "192.168.0.2:7777", "example.org:7777"])
def test_other_machines_are_kept_out(address: str) -> None:
    with pytest.raises(AddressError, match=r"other machines could reach.*listen on 127\.0\.0\.1, ::1, localhost"):
        Arena(address, ToyLobby(), logger(sys.stderr))


@pytest.mark.parametrize("address", ["7777", "127.0.0.1", "127.0.0.1:99999", "::1:7777", "unix:", "tcp://127.0.0.1:1"])
def test_what_is_no_address_is_told(address: str) -> None:
    with pytest.raises(AddressError, match=r"is no address|names no socket"):
        checked(address)


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
        seen = await plays(back, 1)
        assert (seen["decisions"], seen["ends"], seen["starts"]) == (4, 1, 0)


async def test_the_newest_stream_of_a_bot_takes_over() -> None:
    async with house() as server:
        older = await server.welcomed()
        newer = await server.welcomed()
        with pytest.raises(Ended, match="ABORTED SUPERSEDED: a newer stream of this bot took over"):
            await older.read()
        assert server.arena.sessions.connected == 1
        newer.call.cancel()


# -- bots that do not
async def test_what_is_wrong_with_a_hello_comes_as_status_and_reason() -> None:
    async with house() as server:
        bot = server.dial()
        await bot.say_hello(protocol_major=2)
        with pytest.raises(Ended) as ended:
            await bot.read()
        assert (ended.value.code, ended.value.reason) == ("FAILED_PRECONDITION", "PROTOCOL_VERSION")
        assert "version 1.0 of the protocol, the bot 2.0" in ended.value.text
        assert ended.value.retry_s is None


async def test_garbage_in_place_of_hello_ends_the_stream() -> None:
    async with house() as server:
        bot = server.dial()
        await bot.send(b"\xff\x00garbage")
        with pytest.raises(Ended, match="INVALID_ARGUMENT BAD_MESSAGE: the first envelope is not a PlayRequest"):
            await bot.read()


async def test_garbage_later_on_costs_strikes() -> None:
    async with house() as server:
        bot = await server.welcomed()
        await bot.send(b"\xff\x00garbage")
        (problem,) = (await bot.read()).problems
        assert (problem.reason, problem.strikes_left) == (arena_pb2.ERROR_REASON_BAD_MESSAGE, 2)
        await bot.send(b"\xff")
        await bot.send(b"\xff")
        with pytest.raises(Ended, match="INVALID_ARGUMENT BAD_MESSAGE: an envelope is not a PlayRequest"):
            await bot.read()


async def test_an_envelope_may_have_64_kib_and_unknown_fields_are_ignored() -> None:
    async with house() as server:
        bot = await server.welcomed()
        filling = b"\xa2\x06" + b"\xf8\xff\x03" + b"x" * 65_528  # field 100, of a later version
        assert len(filling) < 65_536
        await bot.send(filling)
        await bot.say(max_tables=0)
        await server.until(lambda: server.lobby.told[-1] == "changed ann 0")
        await bot.send(filling + b"\xa0\x06" + b"\x01" * 8)
        with pytest.raises(Ended, match="RESOURCE_EXHAUSTED"):
            await bot.read()
        assert await server.health() == "SERVING"


async def test_compressed_envelopes_are_refused() -> None:
    async with house() as server:
        bot = Bot(server.channel, grpc.Compression.Gzip)
        await bot.send(b"\x00" * 10_000)
        # The first is what the server says; where a write of the client meets the end, its core says the second.
        assert (await bot.ended()).code in ("UNIMPLEMENTED", "INTERNAL")
        await server.dial().say_hello()


async def test_who_says_no_hello_is_sent_away() -> None:
    async with house(limits=Limits(hello_s=0.05)) as server:
        with pytest.raises(Ended, match=r"UNAVAILABLE SILENT: no Hello came within 0\.05 s"):
            await server.dial().read()


async def test_a_bot_whose_hello_came_too_late_dials_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "BACKOFF_S", (0.01, 0.01))
    ladder = Ladder("greed", "greed", 2, matches_wanted=1)
    async with running_arena(tmp_path, [ladder], Limits(hello_s=0.5)) as server:
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


async def test_who_acknowledges_nothing_is_sent_away() -> None:
    async with house(limits=Limits(heartbeat_ms=25)) as server:
        bot = server.dial()
        await bot.say_hello()
        assert (await bot.read()).HasField("welcome")
        with pytest.raises(Ended) as ended:
            await bot.read()
        assert (ended.value.code, ended.value.reason, ended.value.retry_s) == ("UNAVAILABLE", "SILENT", 0.0)


async def test_heartbeats_come_and_keep_a_quiet_bot() -> None:
    async with house(limits=Limits(heartbeat_ms=250)) as server:
        bot = await server.welcomed()
        for _ in range(3):
            assert (await bot.read()).ListFields()[1:] == []
            await bot.say()
        bot.call.cancel()


async def test_who_never_reads_holds_up_nobody_and_is_counted_until_he_is_gone() -> None:
    lobby = ToyLobby(length=1_000, size=200_000)
    async with house(lobby, Limits(heartbeat_ms=300, usual_tables=1)) as server:
        async with grpc.aio.insecure_channel(server.address) as channel:
            deaf = server.dial(channel)
            await deaf.say_hello("deaf")
            await _sits_down(server, deaf)
            question = 0
            while server.arena.sessions.connected or not question:
                question += 1  # answers blindly, and claims to have received what it cannot know of
                await deaf.send(
                    arena_pb2.PlayRequest(
                        received=min(question, _sent(server)),
                        answers=[arena_pb2.Answer(table=1, decision=question, option=0)],
                    )
                )
                await server.health()
            assert server.arena.streams == 1  # the write hangs, and the end cannot be told
            lobby.size = 0
            bob = server.dial()
            await bob.say_hello("bob")
            for question in range(1, 10):
                response = await bob.read_until("decisions")
                assert [one.decision for one in response.decisions] == [question]
                await bob.answer_all(response)
            bob.call.cancel()
            await server.until(lambda: server.arena.streams == 1)
        await server.until(lambda: server.arena.streams == 0)


async def test_age_frees_a_stream_that_nobody_reads() -> None:
    limits = Limits(connection_age_s=3.0, connection_age_grace_s=0.2, heartbeat_ms=300, usual_tables=1)
    async with (
        house(ToyLobby(length=1_000, size=200_000), limits) as server,
        grpc.aio.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel,
    ):
        deaf = server.dial(channel)
        await deaf.say_hello("deaf")
        await _sits_down(server, deaf)
        for question in range(1, 40):
            answer = arena_pb2.Answer(table=1, decision=question, option=0)
            await deaf.send(arena_pb2.PlayRequest(received=min(question, _sent(server)), answers=[answer]))
            await server.health()
        assert server.arena.streams == 1
        await server.until(lambda: server.arena.streams == 0)


async def test_a_lobby_that_breaks_does_not_stop_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutpurse.server.host._AGAIN_S", 0.05)
    lobby = ToyLobby(length=2, tables=1)
    lobby.breaks = RuntimeError(f"the deck is {SECRET}")
    async with house(lobby) as server:
        bot = server.dial()
        await bot.say_hello()
        assert (await bot.read()).HasField("welcome")
        lobby.breaks = None
        await bot.say()
        assert (await plays(bot, 1))["ends"] == 1


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


def _sent(server: House) -> int:
    """The number of the last envelope to the only bot."""
    links = [session.link for session in server.lobby.there if session.link is not None]
    return links[0]._sent if links else 0


async def _sits_down(server: House, deaf: Bot) -> None:
    """Acknowledge a Welcome that was not read, until there is a match."""
    while not server.lobby.seats:
        await deaf.send(arena_pb2.PlayRequest(received=_sent(server)))
        await server.health()


async def test_a_connection_carries_sixteen_streams() -> None:
    async with house() as server:
        bots = [await server.welcomed(f"bot{number}") for number in range(16)]
        late = server.dial()
        waiting = asyncio.ensure_future(late.say_hello("late"))
        async with grpc.aio.insecure_channel(server.address, options=[("grpc.use_local_subchannel_pool", 1)]) as other:
            mine = server.dial(other)
            await mine.say_hello("mine")
            assert (await mine.read()).HasField("welcome")
            mine.call.cancel()
        assert not waiting.done()
        bots[0].call.cancel()
        await waiting
        assert (await late.read()).welcome.bot == "late"
        for bot in (*bots, late):
            bot.call.cancel()


async def test_more_streams_than_there_may_be_are_turned_away() -> None:
    async with house(limits=Limits(most_streams=2)) as server:
        bots = [await server.welcomed(name) for name in ("ann", "bob")]
        with pytest.raises(Ended) as ended:
            await server.dial().read()
        assert (ended.value.code, ended.value.reason) == ("RESOURCE_EXHAUSTED", "STREAMS")
        assert ended.value.retry_s == 5.0
        bots[0].call.cancel()
        await server.until(lambda: server.arena.streams == 1)
        await server.welcomed("cid")


async def test_a_flood_is_slowed_and_others_are_not() -> None:
    limits = Limits(envelopes_per_second=2, envelopes_at_once=5)
    async with house(ToyLobby(length=30, tables=1), limits) as server:
        bob = await server.welcomed("bob")
        await server.until(lambda: bool(server.lobby.seats))
        ann = await server.welcomed("ann", max_tables=1)
        before = asyncio.get_running_loop().time()

        async def flood() -> float:
            for _ in range(9):
                await ann.say()
            await ann.say(max_tables=7)
            await server.until(lambda: "changed ann 7" in server.lobby.told)
            return asyncio.get_running_loop().time() - before

        flooding = asyncio.ensure_future(flood())
        seen = await plays(bob, 1)
        assert (seen["decisions"], seen["OK"]) == (30, 1)  # far more than 2 a second, as each was asked for
        assert not flooding.done()
        assert await flooding >= 2.4  # 5 more than at once, and 2 a second
        ann.call.cancel()


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


async def test_after_many_streams_nothing_is_left() -> None:
    async with house(ToyLobby(length=2), Limits(resume_window_ms=0)) as server:
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
                    assert (await plays(bot, 0))["OK"] == 1

        async def all_gone(later_s: float) -> Counter[type]:
            await server.until(lambda: server.arena.streams == 0)
            server.arena.sessions.tick(asyncio.get_running_loop().time() + later_s)
            server.lobby.seats.clear()
            await server.health()
            gc.collect()
            # A timer that is cancelled goes when its time comes, or when there are a hundred of them.
            timers = (thing for thing in gc.get_objects() if type(thing) is asyncio.TimerHandle)
            cancelled = sum(timer.cancelled() for timer in timers)
            kinds = Counter(type(thing) for thing in gc.get_objects())
            kinds[asyncio.TimerHandle] -= cancelled
            return Counter({kind: kinds[kind] for kind in (_Stream, Link, Session, asyncio.Task, asyncio.TimerHandle)})

        await asyncio.gather(*(dial(number) for number in range(20)))
        before = await all_gone(100.0)
        for batch in range(9):
            await asyncio.gather(*(dial(20 * batch + number) for number in range(20)))
        after = await all_gone(200.0)
        assert len(server.arena.sessions) == 0
        assert (after[_Stream], after[Link], after[Session]) == (0, 0, 0)
        assert after[asyncio.Task] <= before[asyncio.Task] + 2
        assert after[asyncio.TimerHandle] <= before[asyncio.TimerHandle] + 2


# -- health, reflection, the end
async def test_health_tells_of_each_service_and_of_the_drain() -> None:
    lobby = ToyLobby(length=3, tables=1)
    async with house(lobby) as server:
        assert [await server.health(name) for name in NAMES] == ["SERVING"] * 3
        bot = server.dial()
        await bot.say_hello()
        asked = await bot.read_until("decisions")
        stopping = asyncio.ensure_future(server.arena.stop(drain_s=60.0))
        await server.until(lambda: lobby.is_draining)
        await bot.say()
        drained = await bot.read()
        assert drained.HasField("drain")
        assert 0 < drained.drain.time_left_ms <= 60_000
        assert [await server.health(name) for name in NAMES] == ["NOT_SERVING"] * 3
        late = server.dial()
        await late.say_hello("late")
        assert (await late.ended()).reason == "DRAINING"
        await bot.answer_all(asked)
        seen = await plays(bot, 99)
        assert (seen["decisions"], seen["ends"], seen["UNAVAILABLE"]) == (2, 1, 1)
        assert lobby.seats[0].is_over
        await stopping


async def test_what_is_open_when_time_is_up_is_voided_and_told() -> None:
    lobby = ToyLobby(length=3, tables=1)
    async with house(lobby) as server:
        bot = server.dial()
        await bot.say_hello()
        await bot.read_until("decisions")
        stopping = asyncio.ensure_future(server.arena.stop(drain_s=0.0))
        await bot.say()
        assert [ended.table for ended in (await bot.read_until("ends")).ends] == [1]
        await bot.say()
        with pytest.raises(Ended, match="UNAVAILABLE DRAINING"):
            await bot.read_until("decisions")
        await stopping


async def test_reflection_names_the_services() -> None:
    async with house() as server:
        stub = reflection_pb2_grpc.ServerReflectionStub(server.channel)
        call = stub.ServerReflectionInfo()
        await call.write(reflection_pb2.ServerReflectionRequest(list_services=""))
        answer = await call.read()
        assert {service.name for service in answer.list_services_response.service} == {
            "cutpurse.v1.ArenaService",
            "cutpurse.v1.GameService",
            "grpc.health.v1.Health",
            "grpc.reflection.v1alpha.ServerReflection",
        }
        await call.done_writing()


# -- games
async def test_the_games_are_listed_and_told() -> None:
    async with house() as server:
        stub = game_pb2_grpc.GameServiceStub(server.channel)
        listed = await stub.ListGames(game_pb2.ListGamesRequest())
        assert [(game.game, game.title) for game in listed.games] == [("greed", "Greed"), ("szmal", "Szmal")]
        told = await stub.GetGame(game_pb2.GetGameRequest(game="greed"))
        assert told.catalogue == catalogue_of(GAMES["greed"])


@pytest.mark.parametrize(
    ("asked", "code", "reason", "text"),
    [
        ({"game": "chess"}, "NOT_FOUND", "NOT_FOUND", "no game is called 'chess' here; there are: greed, szmal"),
        ({"game": "greed", "seats": 99}, "INVALID_ARGUMENT", "SETTINGS", "players, not 99"),
        (
            {"game": "greed", "settings": [game_pb2.Setting(name="no\nsuch", value="1")]},
            "INVALID_ARGUMENT",
            "SETTINGS",
            "there are:",
        ),
        ({"game": "greed", "settings": [game_pb2.Setting()] * 65}, "INVALID_ARGUMENT", "SETTINGS", "65 settings"),
    ],
)
async def test_what_is_wrong_with_a_question_about_a_game(
    asked: dict[str, object], code: str, reason: str, text: str
) -> None:
    async with house() as server:
        request = game_pb2.GetGameRequest(**asked)  # type: ignore[arg-type]
        ended = await _fails(server, "GetGame", request.SerializeToString())
        assert (ended.code, ended.reason) == (code, reason)
        assert text in ended.text


async def test_garbage_about_games_is_a_bad_message() -> None:
    async with house() as server:
        for method in ("GetGame", "ListGames"):
            ended = await _fails(server, method, b"\xff\xff")
            assert (ended.code, ended.reason) == ("INVALID_ARGUMENT", "BAD_MESSAGE")


async def _fails(server: House, method: str, request: bytes) -> Ended:
    call: Any = server.channel.unary_unary(f"/cutpurse.v1.GameService/{method}")
    answer = call(request)
    with pytest.raises(grpc.aio.AioRpcError):
        await answer
    return await how_it_ended(answer)
