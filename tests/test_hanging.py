"""A test that hangs ends the run, and shows where it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.roots import CHECKOUT

HANGS = """
from threading import Event

def test_that_waits_for_nobody():
    Event().wait()
"""


@pytest.mark.parametrize("processes", [0, 1])
def test_a_test_that_hangs_is_ended_and_shows_where(processes: int, tmp_path: Path) -> None:
    file = tmp_path / "test_waits.py"
    file.write_text(HANGS)
    words = ("-c", CHECKOUT / "pyproject.toml", "-o", "faulthandler_timeout=3", "-p", "no:cacheprovider")
    workers = ("-n", str(processes), "--max-worker-restart", "0")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *workers, file], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert f'File "{file}", line 5 in test_that_waits_for_nobody' in run.stderr
