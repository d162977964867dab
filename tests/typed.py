"""The command `cutpurse`, run in the process of the tests, because a new process takes half a second to start.

Tests of signals, terminals, limits, and locks between processes start a process instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner, Result

from cutpurse.cli.main import app
from tests.roots import CHECKOUT

__all__ = ["run", "run_apart", "run_beside", "typed"]


def run(*arguments: object, typed: str | None = None, **environment: str) -> Result:
    """Run the command with `typed` as its input, and return its result, with what it does not catch."""
    words = [str(argument) for argument in arguments]
    return CliRunner().invoke(app, words, input=typed, env=environment, prog_name="cutpurse")


async def run_beside(*arguments: object, typed: str | None = None, **environment: str) -> Result:
    """Run the command on a thread, since its server runs in this event loop."""
    return await asyncio.to_thread(run, *arguments, typed=typed, **environment)


def run_apart(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, off a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "cutpurse.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | environment,
    )


def typed(*words: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command in `folder`, and return its result; raise what the command does not catch."""
    said = [str(word) for word in words]
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    with contextlib.chdir(folder or CHECKOUT):
        run = CliRunner().invoke(app, said, prog_name="cutpurse")
    root.handlers[:], root.level = handlers, level  # a server redirects the logs of libraries and never restores them
    if run.exception is not None and not isinstance(run.exception, SystemExit):
        raise run.exception
    return subprocess.CompletedProcess(said, run.exit_code, run.stdout, run.stderr)
