"""Where a server listens, what it says of itself there, and how it stops."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from cutpurse.server.errors import AddressError, CannotListen
from cutpurse.server.hosting.arena import Arena, Listening
from cutpurse.server.hosting.listen_address import house_socket_address
from cutpurse.server.logs import logger
from cutpurse.wire.server_address import ServerAddress
from tests.server.dialling import Ended, house
from tests.server.toys import ToyLobby

NAMES = ["", "cutpurse.v1.ArenaService", "cutpurse.v1.GameService"]


async def test_a_unix_socket_serves_as_well(tmp_path: Path) -> None:
    address = f"unix:{tmp_path}/arena"
    async with house(ToyLobby(length=3, tables=1), address=address) as server:
        assert server.address == address
        bot = server.dial()
        await bot.say_hello()
        assert (await bot.plays(1))["OK"] == 1
        with pytest.raises(CannotListen, match="another program listens on unix:"):
            await Arena(Listening(address), ToyLobby(), logger(sys.stderr)).start()
        assert await server.health() == "SERVING"


async def test_what_a_killed_server_left_of_its_house_goes_with_the_next_one(tmp_path: Path) -> None:
    kept = ["arena.0123abcd.txt", "arena.old", "other.0123abcd"]
    for name in ["arena.0123abcd", *kept[1:]]:
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(f"{tmp_path}/{name}")  # as a server that is killed: nobody takes its sockets away
    (tmp_path / kept[0]).touch()
    (tmp_path / "arena.89abcdef").touch()  # no socket: somebody's own
    arena = Arena(Listening(f"unix:{tmp_path}/arena", has_house=True), ToyLobby(), logger(sys.stderr), entropy=bytes)
    await arena.start()
    try:
        assert arena.house_address == f"unix:{tmp_path}/arena.00000000"
        assert {path.name for path in tmp_path.iterdir()} == {"arena", "arena.00000000", "arena.89abcdef", *kept}
    finally:
        await arena.stop()


async def test_a_house_that_is_there_is_left_in_peace(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as there:
        there.bind(f"{tmp_path}/arena.0123abcd")
        there.listen()
        assert house_socket_address(ServerAddress(path=f"{tmp_path}/arena"), bytes).path == f"{tmp_path}/arena.00000000"
        assert (tmp_path / "arena.0123abcd").is_socket()


@pytest.mark.parametrize("has_house", [False, True])
def test_the_path_of_a_socket_that_is_too_long_is_told(has_house: bool) -> None:
    length = (108 if sys.platform == "linux" else 104) - 9 * has_house  # .1a2b3c4d
    address = "unix:/" + "a" * (length - 1)
    with pytest.raises(
        AddressError, match=rf"has {length} bytes, and the maximum here is {length - 1}: choose a shorter one"
    ):
        Arena(Listening(address, has_house=has_house), ToyLobby(), logger(sys.stderr))
    Arena(Listening(address[:-1], has_house=has_house), ToyLobby(), logger(sys.stderr))


async def test_a_second_server_on_a_port_is_refused() -> None:
    async with house() as server:
        with pytest.raises(CannotListen, match=f"cannot listen on {server.address}"):
            await Arena(Listening(server.address), ToyLobby(), logger(sys.stderr)).start()


@pytest.mark.parametrize("address", ["0.0.0.0:7777", "[::]:7777", "192.168.0.2:7777", "example.org:7777"])
def test_other_machines_are_kept_out(address: str) -> None:
    with pytest.raises(AddressError, match=r"other machines could reach.*listen on 127\.0\.0\.1, ::1, localhost"):
        Arena(Listening(address), ToyLobby(), logger(sys.stderr))


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
        seen = await bot.plays(99)
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
