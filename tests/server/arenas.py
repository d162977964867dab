"""Real arenas for tests, with a listening server, a database file and a readable log."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutpurse.engine.clocks import TimeControl
from cutpurse.server.hosting.open_arena import OpenArena, open_arena
from cutpurse.server.hosting.part import PartWithSettings
from cutpurse.server.ladder_config import Ladder
from cutpurse.server.limits import ServerLimits
from cutpurse.server.logs import logger
from cutpurse.server.parts.events.kind import EVENTS

__all__ = ["QUICK", "WITH_EVENTS", "RunningArena", "running_arena"]

WITH_EVENTS = (PartWithSettings(EVENTS, True),)
QUICK = TimeControl(base_ms=200, bank_ms=300, grace_ms=100, poll_floor_ms=5, handover_ms=200)


@dataclass
class RunningArena:
    """A listening arena."""

    address: str
    opened: OpenArena
    said: io.StringIO

    @property
    def log(self) -> str:
        """The log so far."""
        return self.said.getvalue()


@asynccontextmanager
async def running_arena(
    folder: Path,
    ladders: Sequence[Ladder] = (),
    limits: ServerLimits | None = None,
    address: str = "127.0.0.1:0",
    **more: Any,
) -> AsyncIterator[RunningArena]:
    """Run an arena; by default for one match of Greed with four seats and default clocks.

    Args:
        folder: Where to put the database.
        ladders: Ladders to open.
        limits: Limits of the server.
        address: Address to listen on.
        more: Further arguments of `open_arena`; by default it has the part `events`.
    """
    more.setdefault("parts", WITH_EVENTS)
    ladders = ladders or [Ladder("greed", "greed", 4, matches_wanted=1)]
    said = io.StringIO()
    with open_arena(address, folder / "test.db", ladders, logger(said, "debug"), limits, **more) as opened:
        bound = await opened.arena.start()
        try:
            yield RunningArena(bound, opened, said)
        except BaseException as problem:  # so that the message of a failed test contains the log
            problem.add_note(said.getvalue())
            raise
        finally:
            await opened.arena.stop()
