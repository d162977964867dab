"""Bots in other languages are handed in as `bot init` writes them: built in the sandbox, checked, and let play."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.languages.workshop import Made, environment
from tests.parts.submissions.servers import RealServer, cutpurse

pytestmark = pytest.mark.soak

LADDERS = """
[[ladder]]
name = "duel"
game = "greed"
seats = 2
clock = { base_ms = 20000, bank_ms = 20000 }
"""
WAIT_S = 300.0  # for a rated match


@pytest.fixture
def server() -> Iterator[RealServer]:
    folder = Path(tempfile.mkdtemp(prefix="cut-"))  # short, for sockets' names have an end
    (folder / "ladders.toml").write_text(LADDERS)
    made = RealServer(folder, "--submissions", "bubblewrap", "--ladders", "ladders.toml")
    yield made
    made.stop()
    shutil.rmtree(folder, ignore_errors=True)  # a process of a killed server may still write there for a moment


def test_it_is_built_checked_and_ranked(made: Made, server: RealServer) -> None:
    shutil.copytree(made.folder, server.folder / "bot", symlinks=True)
    server.start()
    here = {"CUTPURSE_SERVER": server.address}
    done = cutpurse("bot", "submit", "bot", "--ladder", "duel", folder=server.folder, **here)
    log = cutpurse("bot", "submitted", made.language, "--log", folder=server.folder, **here).stdout
    assert (done.returncode, done.stdout) == (0, f"on the ladder as {made.language}:1\n"), f"{done.stderr}\n{log}"
    if made.manifest.build:
        assert "built with" in log
    opponent = subprocess.Popen(
        [sys.executable, "-m", "cutpurse.cli", "bot", "run", "random", "--ladder", "duel", "--quiet"],
        env=environment(CUTPURSE_SERVER=server.address, HOME=str(server.folder)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + WAIT_S
        ranked: dict[str, int] = {}
        while len(ranked) < 2 and time.monotonic() < until:
            shown = cutpurse("ladder", "rankings", "duel", "--json", folder=server.folder, **here)
            ranked = {row["bot"]: row["matches"] for row in json.loads(shown.stdout)["rankings"]}
        assert ranked.keys() == {made.language, "random"}
    finally:
        opponent.terminate()
        opponent.wait(240)
    listed = cutpurse("match", "list", "--json", "--limit", "1", folder=server.folder, **here)
    (match,) = json.loads(listed.stdout)["matches"]
    (seat,) = [one for one in match["seats"] if one["bot"] == made.language]
    assert seat["faults"] == 0
    assert 0 < seat["peak_bytes"] <= made.manifest.memory_mb << 20
