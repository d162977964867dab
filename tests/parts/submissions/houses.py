"""Hosted bots with fake processes, and a clock that only the test moves."""

from __future__ import annotations

import io
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from cutpurse.leaderboard.results import Identity
from cutpurse.server.access.one_match import OneMatch
from cutpurse.server.access.owners import HostedBotIdentity, OpenGuard
from cutpurse.server.logs import logger
from cutpurse.server.parts.submissions.hosted_bots import HostedBots, HostingSite
from cutpurse.server.parts.submissions.process_tokens import ProcessTokens
from cutpurse.server.parts.submissions.storage import Storage
from cutpurse.server.parts.submissions.submissions import set_state
from cutpurse.server.runners.port import ExitStatus, ProgramSpec, ResourceUse
from cutpurse.wire.manifest import Manifest
from tests.looking import PATIENCE_S

__all__ = ["MANIFEST", "Entry", "House", "Process", "Runner"]

MANIFEST = Manifest("sneak", "1", ("greed",), "python", ("python", "a.py"))


@dataclass
class Entry:
    """A stored submission, with the fields that the tests need."""

    id: int
    bot: str
    ladders: tuple[str, ...] = ("rot",)
    owner: str = "ann"
    version: str = "1"
    digest: bytes = b"x" * 32
    is_active: bool = True

    @property
    def shown(self) -> str:
        return f"{self.owner}/{self.bot}:{self.version}"


@dataclass
class Process:
    """A fake process that ends when stopped, or when the test lets it."""

    task: ProgramSpec
    pid: int = 1
    how: ExitStatus | None = None
    may_end: threading.Event = field(default_factory=threading.Event)
    is_asked: bool = False

    def ended(self) -> ExitStatus | None:
        return self.how

    def use(self) -> ResourceUse:
        return ResourceUse(0.0, 0)

    def talk(self) -> str:
        return f"{self.pid} speaks\n"

    def exit(self) -> None:
        self.how = ExitStatus("exited", 0, ResourceUse(0.0, 0), "it ended by itself")

    def stop(self, grace_s: float = 2.0) -> ExitStatus:
        self.is_asked = True
        self.may_end.wait(240)
        self.exit()
        assert self.how is not None
        return self.how


class Runner:
    """A runner that starts fake processes."""

    name = "bubblewrap"
    image = ""

    def __init__(self) -> None:
        self.processes: list[Process] = []

    def start(self, task: ProgramSpec) -> Process:
        self.processes.append(Process(task, len(self.processes) + 1))
        return self.processes[-1]


class Socket:
    """The socket of a process, to which nothing connects."""

    is_closed = False

    def close(self) -> None:
        self.is_closed = True


class Store:
    """A store that records the states of submissions."""

    def __init__(self) -> None:
        self.states: list[tuple[int, str]] = []

    def write(self, function: object, submission: int, state: str, *about: object) -> None:
        assert function is set_state
        self.states.append((submission, state))


class House:
    """Hosted bots with a clock that only the test moves."""

    def __init__(self, folder: Path, *bots: str) -> None:
        self.runner, self.store, self.now = Runner(), Store(), 100.0
        self.log = io.StringIO()
        self.paused: set[Identity] = set()
        self.withdrawn: list[Identity] = []
        self.sockets: list[Socket] = []
        storage = Storage(folder / "x.bots")
        self.passes = ProcessTokens(OpenGuard())
        self.residents = HostedBots(
            HostingSite(
                cast("Any", self.runner),
                storage,
                cast("Any", self.store),
                self.passes,
                logger(self.log, "debug"),
                lambda: datetime.now(UTC),
            ),
            is_paused=lambda identity: identity in self.paused,
            open_relay=self._open_relay,
            withdrawn=self.withdrawn.append,
            plays_one=_is_rotation,
            clock=lambda: self.now,
        )
        self.residents.set([(cast("Any", Entry(number, bot)), MANIFEST) for number, bot in enumerate(bots, 1)])
        self.look()

    def _open_relay(self, path: Path, bot: str) -> Socket:
        path.touch()
        self.sockets.append(Socket())
        return self.sockets[-1]

    def look(self, later_s: float = 0.0) -> None:
        self.now += later_s
        self.residents.look(self.now)

    def until_started(self, count: int) -> None:
        """Tick until `count` processes were started; a thread stops processes, so this can take several ticks."""
        until = time.monotonic() + PATIENCE_S
        while len(self.runner.processes) < count and time.monotonic() < until:
            self.look()
        assert len(self.runner.processes) == count

    def asked(self) -> list[int]:
        """Return the IDs of the processes that were asked to end."""
        return [process.pid for process in self.runner.processes if process.is_asked]

    def resident(self, process: Process) -> HostedBotIdentity:
        """Return the identity with which a process is admitted."""
        token = process.task.environment["CUTPURSE_TOKEN"]
        grant = self.passes.enter([("authorization", f"Bearer {token}")], "unix:", "play", self.now)
        assert grant.resident is not None
        assert grant.forgets == (grant.resident.one_match is not None)
        return grant.resident

    def match_of(self, process: Process) -> OneMatch:
        match = self.resident(process).one_match
        assert match is not None
        return match


def _is_rotation(ladders: Sequence[str]) -> bool:
    return "rot" in ladders
