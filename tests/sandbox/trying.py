"""Programs written on the spot and run by a runner: what the tests of the sandbox share."""

from __future__ import annotations

import os
import socket
import textwrap
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from cutpurse.server.runners.cgroups import cgroups
from cutpurse.server.runners.port import ProgramSpec, ResourceLimits, Runner, Running, runner_named
from cutpurse.server.runners.runtimes import python_runtime

__all__ = ["MIB", "NAMES", "Bench", "is_peak", "runner_or_skip"]

NAMES = ("process", "bubblewrap", "container")
IMAGE = "CUTPURSE_RUNNER_IMAGE"  # as for a server: of containers, else the usual one
MIB = 1 << 20


_made = cache(runner_named)  # each is tried once


def runner_or_skip(name: str) -> Runner:
    """The runner of that name; the test is skipped where it cannot be used."""
    runner = _made(name, os.environ.get(IMAGE, ""))
    if (why := runner.missing()) is not None:
        pytest.skip(f"{name}: {why}")
    return runner


def is_peak(peak_bytes: int, least: int, most: int) -> bool:
    """Whether it had so much memory; without control groups it is 0 where nobody looked before it ended."""
    return least < peak_bytes < most or (peak_bytes == 0 and "memory" in cgroups().lacks())


@dataclass
class Bench:
    """Makes programs and starts them, and leaves none behind."""

    runner: Runner
    root: Path
    started: list[Running] = field(default_factory=list)

    def task(self, name: str, source: str, limits: ResourceLimits | None = None, **more: object) -> ProgramSpec:
        """A Python program in a folder of its own."""
        folder = self.root / name
        folder.mkdir(exist_ok=True)
        (folder / "main.py").write_text(textwrap.dedent(source), encoding="utf-8")
        given = {
            "command": ("python", "-S", "main.py"),
            "limits": limits or ResourceLimits(),
            "runtimes": python_runtime(),
            **more,
        }
        return ProgramSpec(name=name, folder=folder, talk=self.root / f"{name}.talk", **given)  # type: ignore[arg-type]

    def start(self, name: str, source: str, limits: ResourceLimits | None = None, **more: object) -> Running:
        """The same, started."""
        running = self.runner.start(self.task(name, source, limits, **more))
        self.started.append(running)
        return running

    def arena(self, name: str = "arena") -> tuple[Path, socket.socket]:
        """A folder with a socket on which somebody listens."""
        folder = self.root / name
        folder.mkdir()
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(folder / "bot.sock"))
        (folder / "bot.sock").chmod(0o666)
        listening.listen()
        listening.settimeout(60)
        return folder, listening

    def close(self) -> None:
        """End all of them."""
        for running in self.started:
            running.stop(0.0)
