"""kill -9 of the server at every state of a submission: what it said it keeps is there, what was half sent is gone."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import grpc
import pytest

from cutpurse.v1 import submission_pb2, submission_pb2_grpc
from cutpurse.wire.packing import pack
from tests.looking import until
from tests.parts.submissions.desks import Author, bot_folder
from tests.parts.submissions.servers import RealServer

# Long enough to be met in it; a bot that is killed with its server leaves nothing that goes on.
SLOW = "import os, time\nprint('pid', os.getpid(), flush=True)\ntime.sleep(3)\n"


@pytest.fixture
def server(short: Path) -> Iterator[RealServer]:
    made = RealServer(short, "--submissions", "bubblewrap", "--game", "greed")
    made.start()
    yield made
    made.stop()


LATER = [pytest.param(at, marks=pytest.mark.soak) for at in ("unpacked", "built", "accepted")]


@pytest.mark.parametrize("at", ["received", *LATER, "running"])
async def test_what_was_received_plays_after_the_server_was_killed(server: RealServer, short: Path, at: str) -> None:
    author = Author(server.address)
    folder = bot_folder(short, more='build = ["python", "build.py"]', files={"build.py": SLOW})
    shown = await author.submit(folder)
    if at != "received":
        shown = await author.until("sneak", "1", at)
    await asyncio.to_thread(server.kill)
    await asyncio.to_thread(until_nothing_runs, short)
    await asyncio.to_thread(server.start)
    shown = await author.until("sneak", "1", "running")
    assert (shown.is_active, shown.why) == (True, "")
    assert shown.sha256 == pack(folder).digest
    assert [one.version for one in await author.ask(lambda calls: calls.list())] == ["1"]
    left = sorted(path.name for path in (short / "league.db.bots" / shown.sha256.hex()).iterdir())
    assert left == ["bot.zip", "tree"]
    assert "submission broke" not in server.said()
    assert "residents broke" not in server.said()


def until_nothing_runs(folder: Path) -> None:
    """No program that was started for a bot of this folder goes on without its server."""
    mark = str(folder).encode()
    until(lambda: not any(mark in command for command in commands()), "all programs of bots are gone")


def commands() -> Iterator[bytes]:
    """The command of every process there is."""
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            yield (process / "cmdline").read_bytes()


@pytest.mark.soak
async def test_what_was_half_sent_when_the_server_was_killed_is_gone(server: RealServer, short: Path) -> None:
    packed = pack(bot_folder(short))
    async with grpc.aio.insecure_channel(server.address) as channel:
        call = submission_pb2_grpc.SubmissionServiceStub(channel).Submit(timeout=240)
        head = submission_pb2.SubmissionHead(sha256=packed.digest, size=len(packed.content))
        await call.write(submission_pb2.SubmitRequest(head=head))
        await call.write(submission_pb2.SubmitRequest(piece=packed.content[:100]))
        await asyncio.to_thread(server.kill)
        with pytest.raises(grpc.aio.AioRpcError):
            await call
    await asyncio.to_thread(server.start)
    author = Author(server.address)
    assert list(await author.ask(lambda calls: calls.list())) == []
    assert sorted(path.name for path in (short / "league.db.bots").iterdir()) == ["run", "talk"]
    await author.submit(short / "sneak-1")  # and can be sent again
    await author.until("sneak", "1", "running")
