"""The command `cutpurse`, run in the process of the tests, because a new process takes half a second to start.

Tests of signals, terminals, limits, and locks between processes start a process instead.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
from pathlib import Path

from typer.testing import CliRunner

from cutpurse.cli.main import app
from tests.roots import CHECKOUT

__all__ = ["typed"]


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
