"""A run of tests adds up what each file costs, and a long one names the costliest."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.roots import CHECKOUT

CONFTEST = """
from tests import costs

costs._LONG_RUN_S = 0.0

def pytest_configure(config):
    config.pluginmanager.register(costs.Costs())
"""
BUSY = """
import subprocess, sys

def test_a_process_that_it_starts_is_busy():
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.3: pass"], check=True)
"""


def test_costs_of_started_processes_are_summed_over_workers(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_busy.py").write_text(BUSY)
    (tmp_path / "test_idle.py").write_text("def test_nothing():\n    pass\n")
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "--rootdir", "."]
    environment = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    files = re.findall(r"^ +([\d.]+) s +[\d.]+ s  (\S+)$", run.stdout, re.MULTILINE)
    assert [file for _, file in files] == ["test_busy.py", "test_idle.py"], run.stdout
    assert float(files[0][0]) >= 0.3 > float(files[1][0])
