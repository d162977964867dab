"""The bots in other languages for the tests: written by `bot init`, and built once for all test processes.

A language is a folder of `sample_bots` with a `bot.toml` and a `build.sh`. This module knows no tests.
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
from cutpurse.wire.manifest import MANIFEST, Manifest, read_manifest
from tests.roots import CHECKOUT

__all__ = ["FOUND", "IN_HASTE", "LANGUAGES", "MISSING", "Made", "Start", "built", "environment", "made_in", "running"]

BUILD: Final = "build.sh"
MISSING: Final = 69  # exit code of build.sh if a tool is not installed
BUILD_S: Final = 1500  # a compiler takes twenty times as long on a machine with much else to do
# Builds take two thirds of the time, that of C++ three quarters, and nothing else differs.
IN_HASTE: Final = {"CARGO_PROFILE_RELEASE_OPT_LEVEL": "0", "CXXFLAGS": "-O0"}
# In this order several test processes begin with the long builds.
ORDER: Final = ("go", "cpp", "rust", "java", "typescript", "javascript")
FOUND: Final = {file.parent.name for file in (CHECKOUT / "sample_bots").glob(f"*/{BUILD}")}
LANGUAGES: Final = tuple(sorted(FOUND, key=lambda name: (ORDER.index(name) if name in ORDER else -1, name)))


@dataclass(frozen=True, slots=True)
class Made:
    """A built bot: its language, and the folder of the bot and of `out`."""

    language: str
    folder: Path

    @property
    def manifest(self) -> Manifest:
        """The manifest in its bot.toml."""
        return read_manifest((self.folder / MANIFEST).read_bytes())

    @property
    def command(self) -> list[str]:
        """The command that runs it in its folder, as a server does."""
        return ["sh", "-c", f"cd {shlex.quote(str(self.folder))} && exec {shlex.join(self.manifest.run)}"]

    @property
    def spec(self) -> str:
        """The command as an argument of `cutpurse`."""
        return f"exec:{shlex.join(self.command)}"


def made_in(shared: Path, language: str) -> Made:
    """Build a bot, unless another process of this run has; skip the test if a tool is missing."""
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
    """Write the bot of a language into `where` as `bot init` does, and build it; return exit code and outputs."""
    write_in(language, language, where)
    packages = CHECKOUT / "sample_bots" / language / "node_modules"
    if packages.is_dir():  # else the build fetches them
        shutil.copytree(packages, where / language / packages.name, symlinks=True)
    try:
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
    except subprocess.TimeoutExpired:  # kept as all results are: the next test would only wait as long again
        return 1, "", f"{language}: {BUILD} was not done after {BUILD_S} s"
    return done.returncode, done.stdout, done.stderr


def environment(**ours: str) -> dict[str, str]:
    """Return our environment with only these CUTPURSE_ variables."""
    others = {name: value for name, value in os.environ.items() if not name.startswith("CUTPURSE_")}
    return {**others, **ours}


@dataclass(frozen=True, slots=True)
class Start:
    """The way to start a bot."""

    outputs: int = subprocess.PIPE
    terminal: str | None = None  # its controlling terminal, which is also its stdin and stdout
    hangup: signal.Handlers = signal.SIG_DFL  # initial handler of SIGHUP, independent of how the tests are run


USUAL: Final = Start()


@asynccontextmanager
async def running(
    made: Made, server: str, start: Start = USUAL, /, **ours: str
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run a bot as a process, and end it at the end; its outputs can be read, unless they are redirected."""
    # On Linux the first terminal opened in a session becomes its controlling terminal.
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
