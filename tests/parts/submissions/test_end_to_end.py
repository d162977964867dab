"""From nothing to a place in the rankings by the command line alone, in two languages, beside a bot that dials in."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cutpurse.bots.node_bot import command, folder
from cutpurse.wire.errors import NotFound
from tests.looking import PATIENCE_S
from tests.parts.submissions.servers import RealServer, cutpurse

NODE = """name = "node"
version = "1"
games = ["greed"]
runtime = "node"
run = ["node", "bot.mjs"]

[limits]
memory_mb = 512
"""
LADDERS = """
[[ladder]]
name = "trio"
game = "greed"
seats = 3
clock = { base_ms = 20000, bank_ms = 20000 }
"""


@pytest.fixture
def server(short: Path) -> Iterator[RealServer]:
    (short / "ladders.toml").write_text(LADDERS)
    made = RealServer(short, "--submissions", "bubblewrap", "--ladders", "ladders.toml")
    yield made
    made.stop()


def token(short: Path, owner: str) -> str:
    """Create a token for an owner."""
    done = cutpurse("token", "create", owner, "--db", "league.db", "--json", folder=short)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (made,) = told if isinstance(told, list) else [told]
    return str(made["token"])


def test_bots_in_two_languages_are_handed_in_and_ranked(server: RealServer, short: Path) -> None:
    try:
        command()
    except NotFound as problem:
        pytest.skip(str(problem))
    ann, bob, eve = (token(short, owner) for owner in ("ann", "bob", "eve"))
    server.start()
    here = {"CUTPURSE_SERVER": server.address}

    # ann: the starter
    assert cutpurse("bot", "init", "sneak", folder=short).returncode == 0
    done = cutpurse("bot", "submit", "sneak", "--ladder", "trio", folder=short, CUTPURSE_TOKEN=ann, **here)
    assert (done.returncode, done.stdout) == (0, "on the ladder as ann/sneak:1\n"), done.stderr
    assert [line for line in done.stderr.splitlines() if "plays" in line]
    assert re.search(r"left out: AGENTS\.md, (__pycache__/, )?test_sneak\.py", done.stderr)

    # bob: JavaScript; its packages are packed, for a build has no network
    made = short / "node"
    shutil.copytree(folder(), made)
    (made / "bot.toml").write_text(NODE)
    done = cutpurse("bot", "submit", "node", "--json", folder=short, CUTPURSE_TOKEN=bob, **here)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["owner"], told["bot"], told["state"], told["is_running"]) == ("bob", "node", "accepted", True)

    # eve dials in herself
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUTPURSE_")}
    dialled = subprocess.Popen(
        [sys.executable, "-m", "cutpurse.cli", "bot", "run", "greedy", "--ladder", "trio", "--quiet"],
        env={**environment, **here, "CUTPURSE_TOKEN": eve, "HOME": str(short)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + PATIENCE_S
        ranked: list[dict[str, object]] = []
        while len(ranked) < 3 and time.monotonic() < until:
            done = cutpurse("ladder", "rankings", "trio", "--json", folder=short, CUTPURSE_TOKEN=ann, **here)
            document = json.loads(done.stdout or "[]")
            ranked = document["rankings"] if isinstance(document, dict) else document
        assert {(row["owner"], row["bot"]) for row in ranked} == {("ann", "sneak"), ("bob", "node"), ("eve", "greedy")}
    finally:
        dialled.terminate()
        dialled.wait(240)

    # what the author sees of it
    listed = cutpurse("bot", "submitted", folder=short, CUTPURSE_TOKEN=ann, **here)
    assert listed.stdout.splitlines()[1].split()[0] == "ann/sneak:1"
    assert listed.stdout.splitlines()[1].endswith("plays")
    assert "bob" not in listed.stdout
    log = cutpurse("bot", "submitted", "sneak", "--log", folder=short, CUTPURSE_TOKEN=ann, **here)
    assert "leaving: passed" in log.stdout
    other = cutpurse("bot", "logs", "sneak", "--output", folder=short, CUTPURSE_TOKEN=bob, **here)
    assert (other.returncode, other.stdout) == (4, "")
    fetched = cutpurse("bot", "submitted", "sneak:1", "--fetch", folder=short, CUTPURSE_TOKEN=ann, **here)
    assert fetched.stdout == "sneak-1.zip\n"
    retired = cutpurse("bot", "change", "sneak", "--retire", folder=short, CUTPURSE_TOKEN=ann, **here)
    assert retired.stderr == "ann/sneak:1 plays no more\n"
    same = cutpurse("bot", "submit", "sneak", "--ladder", "trio", folder=short, CUTPURSE_TOKEN=ann, **here)
    assert (same.returncode, same.stdout) == (1, "")
    assert same.stderr.splitlines()[-1].startswith("ann/sneak:1 was accepted and does not play: it was retired, or ")
    again = cutpurse("bot", "change", "sneak:1", "--play", folder=short, CUTPURSE_TOKEN=ann, **here)
    assert again.stderr == "ann/sneak:1 plays from now on\n"
    matches = cutpurse("match", "list", "--json", "--limit", "1", folder=short, CUTPURSE_TOKEN=ann, **here)
    (match,) = json.loads(matches.stdout)["matches"]
    used = {seat["bot"]: seat["peak_bytes"] for seat in match["seats"]}
    assert used["greedy"] is None
    assert used["sneak"] > 0
    assert used["node"] > 0


def test_a_bot_that_fails_its_check_is_told_with_the_tail_of_its_log(server: RealServer, short: Path) -> None:
    server.start()
    cutpurse("bot", "init", "sneak", folder=short)
    (short / "sneak" / "sneak.py").write_text("import nothing_of_the_kind\n")
    done = cutpurse("bot", "submit", "sneak", folder=short, CUTPURSE_SERVER=server.address)
    assert (done.returncode, done.stdout) == (3, "")
    *_, last = done.stderr.splitlines()
    assert last.startswith("sneak:1 is not on the ladder: its check failed at handshake: ")
    assert "ModuleNotFoundError: No module named 'nothing_of_the_kind'" in last
    assert str(short) not in done.stderr.replace(f"{short}/sneak", "")
