"""Helpers for tests of the sandbox: programs that are written by a test and run by a runner."""

from __future__ import annotations

import os
import socket
import textwrap
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import pytest

from cutpurse.server.runners.cgroups import cgroups
from cutpurse.server.runners.choosing import runner_named
from cutpurse.server.runners.port import ProgramSpec, ResourceLimits, Runner, Running
from cutpurse.server.runners.runtimes import python_runtime

__all__ = ["MIB", "NAMES", "Bench", "is_peak", "runner_or_skip"]

NAMES = ("process", "bubblewrap", "container")
IMAGE = "CUTPURSE_RUNNER_IMAGE"  # the image of containers, as for a server
MIB = 1 << 20


_made = cache(runner_named)  # checks each runner only once


def runner_or_skip(name: str) -> Runner:
    """Return the runner of this name; skip the test if it does not work on this machine."""
    runner = _made(name, os.environ.get(IMAGE, ""))
    if (why := runner.missing()) is not None:
        pytest.skip(f"{name}: {why}")
    return runner


def is_peak(peak_bytes: int, least: int, most: int) -> bool:
    """Return whether a peak is within limits; it may be 0 if only sampling measures it, without control groups."""
    return least < peak_bytes < most or (peak_bytes == 0 and "memory" in cgroups().lacks())


@dataclass
class Bench:
    """A bench that creates and starts programs, and stops all of them at the end."""

    runner: Runner
    root: Path
    started: list[Running] = field(default_factory=list)

    def task(self, name: str, source: str, limits: ResourceLimits | None = None, **more: object) -> ProgramSpec:
        """Create a Python program in its own folder."""
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
        """Create and start a Python program."""
        running = self.runner.start(self.task(name, source, limits, **more))
        self.started.append(running)
        return running

    def arena(self, name: str = "arena") -> tuple[Path, socket.socket]:
        """Create a folder with a listening socket."""
        folder = self.root / name
        folder.mkdir()
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(folder / "bot.sock"))
        (folder / "bot.sock").chmod(0o666)
        listening.listen()
        listening.settimeout(240)
        return folder, listening

    def close(self) -> None:
        """Stop all programs."""
        for running in self.started:
            running.stop(0.0)
