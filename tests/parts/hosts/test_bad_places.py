"""What a server says to a place that it does not take, and a place to files that are not those it was promised."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path
from typing import Any

import grpc
import pytest

from cutpurse.server.parts.hosts import places as places_module
from cutpurse.server.parts.hosts.host_facts import host_facts
from cutpurse.server.parts.hosts.places import Places
from cutpurse.v1 import place_pb2, place_pb2_grpc
from tests.looking import until, until_so
from tests.parts.hosts.real_place import RealPlace
from tests.parts.hosts.test_playing_at_places import places_at
from tests.parts.submissions.desks import author_of, bot_folder, running_desk


def hello(**fields: object) -> place_pb2.AttendRequest:
    host = host_facts("process")
    usual = {"name": "lab1", "version": host.version, "platform": host.platform, "runner": "process", "cores": 1.0}
    made = place_pb2.PlaceHello(**{**usual, "key": b"k" * 16, "speed": 100.0, **fields})  # type: ignore[arg-type]
    return place_pb2.AttendRequest(hello=made)


@pytest.mark.parametrize(
    ("first", "text"),
    [
        (hello(version="0.0.1"), "this place is Cutpurse 0.0.1, the server 0"),
        (hello(platform="linux-z80, Python 2.7"), "this place is linux-z80, Python 2.7; the server builds bots for"),
        (hello(name="../lab"), "a place's name is '../lab'; it can be 1 to 32 of a-z"),
        (hello(name="lab\n1"), "a place's name is 'lab?1'; it can be 1 to 32 of a-z"),
        (hello(cores=float("nan")), "the number of cores is more than 0"),
        (hello(speed=0.0), "the speed of a place is more than 0"),
        (hello(speed=float("inf")), "the speed of a place is more than 0 and at most"),
        (hello(key=b"k"), "the key of a place has 16 bytes"),
        (place_pb2.AttendRequest(), "the first envelope has no hello"),
    ],
)
async def test_a_place_that_is_not_taken_is_told_in_one_line(
    short: Path, first: place_pb2.AttendRequest, text: str
) -> None:
    async with running_desk(short, has_places=True) as arena, grpc.aio.insecure_channel(arena.address) as channel:
        call = place_pb2_grpc.PlaceServiceStub(channel).Attend()
        await call.write(first)
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await call.read()
        assert refused.value.code() is grpc.StatusCode.FAILED_PRECONDITION
        assert text in (refused.value.details() or "")
        assert "place attends" not in arena.log


async def test_a_place_that_starts_before_its_server_waits_for_it(short: Path) -> None:
    place = RealPlace(short, f"unix:{short}/s", "lab1", "--runner", "process", "--cores", "1")
    away = f"the server at unix:{short}/s: No such file or directory; trying again\n"
    place.spawn()
    try:
        await until_so(lambda: place.said() != "")
        assert place.said() == away
        async with running_desk(short, has_places=True) as arena:
            await until_so(lambda: "attends" in place.said())
            assert place.said().splitlines()[-2].startswith("place lab1: 1 cores, runner process, speed ")
            place.send(signal.SIGTERM)
            assert await asyncio.to_thread(place.wait) == 0
            assert "place attends" in arena.log
    finally:
        place.stop()
    assert place.said().count("trying again") == 1
    assert "Traceback" not in place.said()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_place_that_waits_ends_at_a_signal_without_a_word(short: Path, number: signal.Signals) -> None:
    place = RealPlace(short, f"unix:{short}/s", "lab1", "--runner", "process", "--cores", "1")
    place.spawn()
    try:
        until(lambda: "trying again" in place.said(), "it waits")
        place.send(number)
        assert place.wait() == 0
    finally:
        place.stop()
    assert place.said() == f"the server at unix:{short}/s: No such file or directory; trying again\n"


async def test_reports_of_unknown_bots_change_nothing(short: Path) -> None:
    async with running_desk(short, has_places=True) as arena, grpc.aio.insecure_channel(arena.address) as channel:
        call: Any = place_pb2_grpc.PlaceServiceStub(channel).Attend()  # Any: reads may also be the end of the stream
        await call.write(hello())
        answer = await call.read()
        assert (answer.beat, answer.welcome.is_resumed) == (1, False)
        report = place_pb2.AttendRequest(heard=1)
        report.ended.add(bot=7, cause=place_pb2.BOT_END_CAUSE_EXITED, text="x" * 10_000)
        report.uses.add(bot=7, cpu_us=2**63)
        report.outputs.add(bot=7, text="\x1b[31m")
        await call.write(report)
        assert (await call.read()).beat == 2
        call.cancel()


async def test_a_place_of_a_server_that_runs_its_bots_itself_is_told_so(short: Path) -> None:
    async with running_desk(short) as arena:
        with places_at(short, arena, "lab1") as (place,):
            await until_so(lambda: place.process is not None and place.process.poll() is not None)
            assert place.wait() == 1
            assert "runs its submitted bots itself; its operator can change that" in place.said().splitlines()[-1]


async def test_a_place_that_is_too_far_away_is_told_so_on_both_sides(
    short: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places_module, "MAX_ROUND_TRIP_S", 1e-6)
    async with running_desk(short, has_places=True) as arena:
        with places_at(short, arena, "lab1") as (place,):
            await until_so(lambda: "no bot is started here: its round trip is" in place.said())
            assert '"event": "place not used"' in arena.log
            monkeypatch.setattr(places_module, "MAX_ROUND_TRIP_S", 60.0)
            await until_so(lambda: "bots are started here again" in place.said())
            assert '"event": "place used"' in arena.log


async def test_files_with_another_digest_are_not_run(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (short / "other").write_bytes(b"other files")
    monkeypatch.setattr(Places, "packed_file", lambda places, digest: short / "other")
    async with running_desk(short, has_places=True) as arena:
        with places_at(short, arena, "lab1"):
            await author_of(arena).submit(bot_folder(short), "duel")
            text = "it cannot be run at this place: the server has sent files with another SHA-256"
            await until_so(lambda: text in arena.log)
            assert "resident started" in arena.log
            assert "resident taken off" not in arena.log
