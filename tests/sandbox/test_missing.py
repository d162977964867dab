"""What a runner says where it cannot be used: one line, with what to do."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.sandbox.trying import runner_or_skip

ASK = "from cutpurse.server.runners.choosing import runner_named; print(runner_named('bubblewrap').missing())"


def asked(path: Path) -> str:
    """What is missing to a server that finds programs in this folder only."""
    environment = {**os.environ, "PATH": str(path)}
    run = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def tools(folder: Path, bwrap: str) -> Path:
    """A folder with what is needed, and a bubblewrap of ours."""
    folder.mkdir()
    for name in ("prlimit", "nice", "setpriv", "unshare", "gcc", "ld", "ldconfig", "sh", "cat"):
        if (found := shutil.which(name)) is not None:
            (folder / name).symlink_to(found)
    (folder / "bwrap").write_text(f"#!/bin/sh\n{bwrap}\n", encoding="utf-8")
    (folder / "bwrap").chmod(0o755)
    return folder


def test_bubblewrap_itself(tmp_path: Path) -> None:
    assert asked(tmp_path) == "bubblewrap is missing: apt install bubblewrap"


@pytest.mark.parametrize(
    ("says", "told"),
    [
        (
            "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
            "allow it user namespaces .*Permission denied",
        ),
        ("echo 'bwrap: Unknown option --perms' >&2; exit 1", "too old, 0.8 or newer is needed"),
        ("exit 1", "nothing was said of why"),
    ],
)
def test_a_bubblewrap_that_makes_no_sandbox(says: str, told: str, tmp_path: Path) -> None:
    runner_or_skip("bubblewrap")
    assert re.search(told, asked(tools(tmp_path / "bin", says)))


def test_a_bubblewrap_that_runs_nothing_inside(tmp_path: Path) -> None:
    runner_or_skip("bubblewrap")
    assert "runs nothing here" in asked(tools(tmp_path / "bin", "printf '\\6' >&2; exit 3"))
