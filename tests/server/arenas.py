"""Real arenas for tests, with a listening server, a database file, a readable log, and the same deals in every run."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
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
from tests.server.small_world import entropy_of

__all__ = ["QUICK", "WITH_EVENTS", "RunningArena", "running_arena", "same_entropy"]

WITH_EVENTS = (PartWithSettings(EVENTS, True),)
# For seats that are left alone; the bank is for those that are not, on a busy machine.
QUICK = TimeControl(base_ms=300, bank_ms=3_000, grace_ms=200, poll_floor_ms=5, handover_ms=200)

_arenas: Counter[str] = Counter()  # opened so far, by test


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


def same_entropy() -> Callable[[int], bytes]:
    """Return a source of bytes for the next arena of this test, the same in every run, and another for each arena."""
    test = os.environ.get("PYTEST_CURRENT_TEST", "")
    _arenas[test] += 1
    return entropy_of(f"{test} {_arenas[test]}")


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
        limits: Limits of the server; by default its own, with time for many bots to come in on a busy machine.
        address: Address to listen on.
        more: Further arguments of `open_arena`; by default it has the part `events`, and `same_entropy`.
    """
    more = {"parts": WITH_EVENTS, "entropy": same_entropy(), **more}
    limits = limits or ServerLimits(hello_s=600.0)
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
