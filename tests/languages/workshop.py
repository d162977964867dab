"""The bots of other languages as the tests have them: written by `bot init`, and built once for all test processes.

A language is a folder of `sample_bots` with a `bot.toml` and a `build.sh`. This module knows no scenario.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import shlex
import shutil
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from cutpurse.sdk.starter.languages import write_in
from cutpurse.sdk.submission.manifest import MANIFEST, Manifest, read_manifest
from tests.roots import CHECKOUT

__all__ = ["FOUND", "IN_HASTE", "LANGUAGES", "MISSING", "Made", "Start", "built", "environment", "made_in", "running"]

BUILD: Final = "build.sh"
MISSING: Final = 69  # what build.sh ends with where a tool is not installed
BUILD_S: Final = 300
# Two thirds of the time, three quarters of that of C++, and nothing else is different.
IN_HASTE: Final = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0", "CXXFLAGS": "-O0"}
# In this order a run of several processes has the long builds first.
ORDER: Final = ("go", "cpp", "rust", "java", "typescript", "javascript")
FOUND: Final = {file.parent.name for file in (CHECKOUT / "sample_bots").glob(f"*/{BUILD}")}
LANGUAGES: Final = tuple(sorted(FOUND, key=lambda name: (ORDER.index(name) if name in ORDER else -1, name)))


@dataclass(frozen=True, slots=True)
class Made:
    """A bot that was built: its language, and the folder that holds it and `out`."""

    language: str
    folder: Path

    @property
    def manifest(self) -> Manifest:
        """What its bot.toml says."""
        return read_manifest((self.folder / MANIFEST).read_bytes())

    @property
    def command(self) -> list[str]:
        """What starts it from anywhere: it is run in its folder, as a server does."""
        return ["sh", "-c", f"cd {shlex.quote(str(self.folder))} && exec {shlex.join(self.manifest.run)}"]

    @property
    def spec(self) -> str:
        """The same as `cutpurse` takes it."""
        return f"exec:{shlex.join(self.command)}"


def made_in(shared: Path, language: str) -> Made:
    """Build it, unless another process of this run has.  Where a tool is missing the test is skipped, in its words."""
    folder, said = shared / language, shared / f"{language}.json"
    shared.mkdir(exist_ok=True)
    with (shared / f"{language}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not said.exists():
            said.write_text(json.dumps(built(shared, language)), encoding="utf-8")
    code, out, err = json.loads(said.read_text(encoding="utf-8"))
    if code == MISSING:
        pytest.skip("; ".join(err.strip().splitlines()))
    assert code == 0, f"{out}\n{err}"
    return Made(language, folder)


def built(where: Path, language: str) -> tuple[int, str, str]:
    """Write the bot of a language into `where` as `bot init` does, and build it: how that ended, and what it said."""
    write_in(language, language, where)
    packages = CHECKOUT / "sample_bots" / language / "node_modules"
    if packages.is_dir():  # else the build fetches them
        shutil.copytree(packages, where / language / packages.name, symlinks=True)
    done = subprocess.run(
        ["sh", BUILD],
        cwd=where / language,
        env=environment(**IN_HASTE),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=BUILD_S,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def environment(**ours: str) -> dict[str, str]:
    """Of a program that is told nothing but this."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("CUTPURSE_")}
    return {**others, **ours}


@dataclass(frozen=True, slots=True)
class Start:
    """How a bot is started."""

    outputs: int = subprocess.PIPE
    terminal: str | None = None  # which is its own, and where it then reads and writes
    hangup: signal.Handlers = signal.SIG_DFL  # what SIGHUP does to it at first, however these tests are run


USUAL: Final = Start()


@asynccontextmanager
async def running(
    made: Made, server: str, start: Start = USUAL, /, **ours: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """The bot as a process that is gone in the end; its outputs can be read, unless they are elsewhere."""
    # On Linux the first terminal that is opened in a session becomes the session's.
    within = [] if start.terminal is None else ["sh", "-c", 'exec "$@" <> "$0" >&0 2>&0', start.terminal]
    before = signal.signal(signal.SIGHUP, start.hangup)
    try:
        process = await asyncio.create_subprocess_exec(
            *within,
            *made.command,
            stdin=subprocess.DEVNULL,
            stdout=start.outputs,
            stderr=start.outputs,
            env=environment(CUTPURSE_SERVER=server, **ours),
            start_new_session=start.terminal is not None,
        )
    finally:
        signal.signal(signal.SIGHUP, before)
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
