"""A server that accepts submissions, bots to submit, and their author."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from cutpurse.engine.clocks import TimeControl
from cutpurse.sdk.submission_text import submission_state
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.runners.choosing import runner_named
from cutpurse.v1 import submission_pb2, submission_pb2_grpc
from cutpurse.wire.connection import Dialling
from cutpurse.wire.packing import pack
from cutpurse.wire.submission_client import Submissions
from tests.looking import looks
from tests.parts.open_parts import parts_with
from tests.server.arenas import RunningArena, running_arena

__all__ = ["PATIENT", "Author", "FIRST", "author_of", "bot_folder", "handed_in", "running_desk"]

T = TypeVar("T")

PATIENT = TimeControl(base_ms=20_000, bank_ms=20_000)  # for a machine that is busy with other tests

# On a ladder, as a program with a token, it plays calmly; else hundreds of matches would be played while a test waits.
FIRST = """
import os
import time
from cutpurse.sdk.run import run

PAUSE_S = 0.05 if __name__ == "__main__" and os.environ.get("CUTPURSE_TOKEN") else 0.0

class Bot:
    def choose(self, view, decision):
        time.sleep(PAUSE_S)
        return decision.options[0]

if __name__ == "__main__":
    print("hello from", __file__)
    raise SystemExit(run(Bot, "greed"))
"""


def bot_folder(
    where: Path,
    source: str = FIRST,
    name: str = "sneak",
    version: str = "1",
    more: str = "",
    files: Mapping[str, str] | None = None,
) -> Path:
    """Create a folder with a bot in Python."""
    folder = where / f"{name}-{version}"
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text(
        f'name = "{name}"\nversion = "{version}"\ngames = ["greed"]\nrun = ["python", "bot.py"]\n{more}\n'
    )
    (folder / "bot.py").write_text(source)
    for file, text in (files or {}).items():
        (folder / file).write_text(text)
    return folder


class Author:
    """The calls of an author, which run on threads so that the server in this event loop can answer."""

    def __init__(self, address: str, token: str = "") -> None:
        self.to = Dialling(address, token=token)

    async def ask(self, question: Callable[[Submissions], T]) -> T:
        def asked() -> T:
            with self.to.blocking_channel(()) as channel:
                stub: Any = submission_pb2_grpc.SubmissionServiceStub(channel)
                return question(Submissions(stub, self.to))

        return await asyncio.to_thread(asked)

    async def submit(self, folder: Path, *ladders: str) -> submission_pb2.SubmissionShown:
        packed = pack(folder)
        return await self.ask(lambda calls: calls.submit(packed.content, ladders))

    async def until(self, bot: str, version: str, *states: str) -> submission_pb2.SubmissionShown:
        """Wait until the submission is in one of these states, which can include "running"; return it."""
        async for _ in looks():
            shown = await self.ask(lambda calls: calls.one(bot, version))
            if submission_state(shown) in states or (shown.is_running and "running" in states):
                return shown
            if submission_state(shown) in ("refused", "taken off"):
                log = await self.ask(lambda calls: calls.log(bot, version))
                break
        raise AssertionError(f"{shown.why}\n{log.check}\n{log.talk}")


@asynccontextmanager
async def running_desk(
    folder: Path, ladders: Sequence[Ladder] = (), runner: str = "process", *, has_places: bool = False, **more: Any
) -> AsyncIterator[RunningArena]:
    """Run a server that accepts submissions; with `has_places`, their bots run at places."""
    wanted = ladders or [Ladder("duel", "greed", 2, control=PATIENT)]
    if (why := runner_named(runner).missing()) is not None:
        pytest.skip(why)
    address = f"unix:{folder}/s"
    parts = parts_with(submissions=runner, places=has_places)
    async with running_arena(folder, wanted, address=address, parts=parts, **more) as arena:
        yield arena


def author_of(arena: RunningArena, token: str = "") -> Author:
    """Return an author who submits bots to an arena."""
    return Author(arena.address, token)


async def handed_in(author: Author, folder: Path, *ladders: str) -> submission_pb2.SubmissionShown:
    """Submit a bot, and wait until it runs."""
    shown = await author.submit(folder, *ladders)
    return await author.until(shown.bot, shown.version, "running")
