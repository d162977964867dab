"""A bot at a place has its memory there, and the server has what it leaves; a place that dies changes nothing."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import grpc
import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.store import Store
from cutpurse.server.parts.hosts.part import HostsPart
from cutpurse.v1 import place_pb2, place_pb2_grpc
from tests.looking import until_so
from tests.parts.hosts.test_playing_at_places import places_at
from tests.parts.open_parts import part_of
from tests.parts.submissions.desks import author_of, bot_folder, handed_in, running_desk
from tests.parts.submissions.test_bot_memories import COUNTS, LADDER, memory_of

BOTS = ("sneak", "other")


def hashes_of(store: Store, bot: str) -> list[bytes]:
    """Return the hashes of the memory of a bot in the stored matches, the oldest first."""
    matches = store.run(queries.matches, limit=500)[::-1]
    return [seat.memory for match in matches for seat in match.seats if seat.bot == bot and seat.memory is not None]


async def test_the_memory_goes_to_the_place_and_back_and_survives_the_death_of_the_place(short: Path) -> None:
    async with running_desk(short, [LADDER], runner="bubblewrap", has_places=True) as arena:
        store = arena.opened.store
        with places_at(short, arena, "lab1", runner="bubblewrap") as (place,):
            for bot in BOTS:
                await handed_in(author_of(arena), bot_folder(short, COUNTS, name=bot, files={"me": bot}), "duel")
            await until_so(lambda: len(hashes_of(store, "sneak")) >= 3)
            log = await author_of(arena).ask(lambda calls: calls.log("sneak"))
            assert "memory: not sent to the server: 1 no plain file\n" in log.talk
            async with grpc.aio.insecure_channel(arena.address) as channel:
                stub = place_pb2_grpc.PlaceServiceStub(channel)
                running = [*part_of(arena.opened, HostsPart).places.listed()[0].programs]
                for number in (*running, 99):
                    with pytest.raises(grpc.RpcError, match=r"no bot \d+ with a memory runs at this place"):
                        await stub.GetMemory(place_pb2.GetMemoryRequest(key=b"k" * 16, bot=number)).read()
                    put = place_pb2.PutMemoryRequest(key=b"k" * 16, bot=number, piece=b"duel/n\x001\n9")
                    with pytest.raises(grpc.RpcError, match=r"no bot \d+ with a memory runs at this place"):
                        await stub.PutMemory(iter([put]))
            place.kill()
            before = len(hashes_of(store, "sneak"))
            place.spawn()
            await until_so(lambda: len(hashes_of(store, "sneak")) >= before + 2)
        for bot in BOTS:
            known = [memory_of(bot, count) for count in range(500)]
            counts = [known.index(memory) for memory in hashes_of(store, bot)]
            assert counts[:3] == [0, 1, 2]
            steps = [after - earlier for earlier, after in pairwise(counts)]
            assert set(steps) <= {0, 1}, "each match began with what a finished match had left"
            assert steps.count(0) <= 1, "only a match whose end met the kill may be forgotten"
