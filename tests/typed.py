"""`cutpurse` as it is typed, but in this process: a process of its own takes half a second to come up, each time.

What a process is needed for (signals, terminals, limits, locks between processes) starts one.
"""

from __future__ import annotations

import contextlib
import logging
import subprocess
from pathlib import Path

from typer.testing import CliRunner

from cutpurse.sdk.cli import app
from tests.roots import CHECKOUT

__all__ = ["typed"]


def typed(*words: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """What came of it, in this folder; what escapes the command is raised here."""
    said = [str(word) for word in words]
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    with contextlib.chdir(folder or CHECKOUT):
        run = CliRunner().invoke(app, said, prog_name="cutpurse")
    root.handlers[:], root.level = handlers, level  # a server takes what libraries log, as long as its process lives
    if run.exception is not None and not isinstance(run.exception, SystemExit):
        raise run.exception
    return subprocess.CompletedProcess(said, run.exit_code, run.stdout, run.stderr)
