"""House bots: built-in bots that a server runs for itself, so that nobody waits for company.

Each is a process of its own that dials in over gRPC as everybody does; its owner is `house`, by a token that is made
for this run, kept in memory and handed over in the environment. They go behind everybody else for the processor, sit
at few tables, and are started again when they end, after a while that grows. None outlives the server: they are ended
with it, and where it could not do that any more, as after kill -9, they find nobody at their address and go by
themselves. On which ladders they play is the business of whoever pairs.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf
from types import TracebackType
from typing import Final, Protocol, Self

from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard.tokens import Token, new_token
from cutpurse.sdk.address import SERVER_VARIABLE, TOKEN_VARIABLE
from cutpurse.server.children import Children
from cutpurse.server.host import Arena
from cutpurse.server.logs import Logger, places

__all__ = ["HOUSE_BOTS", "House", "Processes", "check_house"]

NICE: Final = 10
LOOK_S: Final = 0.5  # between looks at whether all of them live
FIRST_WAIT_S: Final = 1.0  # until one that has ended is started again; doubled each time
LONGEST_WAIT_S: Final = 60.0
LIVED_S: Final = 60.0  # who lived so long is started again as for the first time
PATIENCE_S: Final = 3.0  # for which they are without a server, and then go


@dataclass(frozen=True, slots=True)
class _Kind:
    """A house bot: at how many tables it sits at most, and what else its process is told."""

    tables: int
    environment: Mapping[str, str]


# To think ahead costs a thousand times what the others do.
HOUSE_BOTS: Final[Mapping[str, _Kind]] = {
    "random": _Kind(8, {}),
    "greedy": _Kind(8, {}),
    "search": _Kind(2, {"CUTPURSE_PLAYOUTS": "20"}),
}


def check_house(names: Sequence[str], where: str) -> tuple[str, ...]:
    """The names of house bots, each once.  Raises UsageError for one that is none, telling where it was written."""
    for name in names:
        if name not in HOUSE_BOTS:
            raise UsageError(f"{where} {name!r:.80}: there are: {', '.join(HOUSE_BOTS)}")
    return tuple(dict.fromkeys(names))


class Processes(Protocol):
    """What runs the programs: `Children`."""

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str], nice: int) -> int:
        """Start one."""

    def ended(self) -> dict[str, int]:
        """Those that have ended, with their exit codes."""

    def forget(self, name: str) -> None:
        """One that has ended is not told of any more."""


@dataclass(slots=True)
class _Course:
    """How it goes with one of them: when it was started, or is to be; the other is infinite."""

    start_at: float
    started: float = inf
    wait_s: float = FIRST_WAIT_S


class House:
    """The house bots of one run of a server; leaving the `with` block ends all of them."""

    def __init__(self, bots: Sequence[str], log: Logger, processes: Processes | None = None) -> None:
        """`bots`: names that were checked."""
        self.token: Final[Token] = new_token()
        self._children = Children(None)
        self._processes = self._children if processes is None else processes
        self._courses = {bot: _Course(-inf) for bot in bots}
        self._log = log
        self._keeping: asyncio.Task[None] | None = None

    def begin(self, arena: Arena) -> None:
        """Start them, and keep them running as long as the arena is open; to be called when it listens."""
        self._keeping = asyncio.get_running_loop().create_task(self._keep(arena))

    async def _keep(self, arena: Arena) -> None:
        loop = asyncio.get_running_loop()
        while arena.stage == "open":
            try:
                self.look(arena.house_address, loop.time())
            except Exception as problem:
                self._log.error("house broke", error=type(problem).__name__, places=places(problem))
            await asyncio.sleep(LOOK_S)

    def look(self, address: str, now: float) -> None:
        """Start those whose time has come, and note those that have ended."""
        for bot, code in self._processes.ended().items():
            self._processes.forget(bot)
            self._again(bot, now, exit_code=code)
        for bot, course in self._courses.items():
            if now >= course.start_at:
                self._start(bot, address, now)

    def _start(self, bot: str, address: str, now: float) -> None:
        course, kind = self._courses[bot], HOUSE_BOTS[bot]
        command = (
            *(sys.executable, "-m", "cutpurse.sdk.cli", "bot", "run", bot, "--name", bot, "--quiet"),
            *("--tables", str(kind.tables), "--give-up-after", f"{PATIENCE_S:g}"),
        )
        environment = {**kind.environment, SERVER_VARIABLE: address, TOKEN_VARIABLE: self.token.reveal()}
        course.start_at, course.started = inf, now
        try:
            pid = self._processes.start(bot, command, environment, NICE)
        except OSError as problem:
            self._again(bot, now, problem=problem.strerror or type(problem).__name__)
        else:
            self._log.info("house bot started", bot=bot, pid=pid)

    def _again(self, bot: str, now: float, **facts: object) -> None:
        """It is not there: it is started again, the sooner the longer it lived."""
        course = self._courses[bot]
        if now - course.started >= LIVED_S:
            course.wait_s = FIRST_WAIT_S
        self._log.warning("house bot ended", bot=bot, again_in_s=course.wait_s, **facts)
        course.start_at, course.started = now + course.wait_s, inf
        course.wait_s = min(2 * course.wait_s, LONGEST_WAIT_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._children.stop()
