"""The newcomer's walk of the README: its commands, in their order, from nothing to a bot on a ladder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.store import Store
from tests.ports import free_port
from tests.roots import CHECKOUT

SIGNS = "3f2a9c01"  # of the match that the page speaks of
NEWEST = "$(cutpurse match list --ladder greed --json | newest)"

# Runs the commands, whatever they leave running; each is shown before what it says.
FRAME = """
set -eu
newest() {{ {python} -c 'import json, sys; print(json.load(sys.stdin)["matches"][0]["match"][:8])'; }}
trap 'kill %1; wait %1' EXIT
set -v
{commands}
"""


def commands() -> list[str]:
    """The lines of the section that can be typed."""
    text = (CHECKOUT / "README.md").read_text(encoding="utf-8")
    (section,) = re.findall(r"^## Onto a ladder\n(.*?)^## ", text, re.MULTILINE | re.DOTALL)
    blocks = re.findall(r"^```sh\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line]


@pytest.mark.skipif(sys.platform == "win32", reason="the commands are for a shell")
def test_the_commands_of_the_readme_lead_onto_a_ladder(tmp_path: Path) -> None:
    lines = commands()
    assert sum(line.startswith("cutpurse ") for line in lines) >= 8
    assert any(SIGNS in line for line in lines)
    typed = "\n".join(lines).replace(SIGNS, NEWEST)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CUTPURSE_")}
    environment["CUTPURSE_ADDRESS"] = environment["CUTPURSE_SERVER"] = f"127.0.0.1:{free_port()}"
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    run = subprocess.run(
        ["bash", "-c", FRAME.format(python=sys.executable, commands=typed)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert len(re.findall(r"^match \w{8} greed seat \d: place", run.stderr, re.MULTILINE)) == 5
    rankings = run.stdout.partition("place  rank  bot")[2]
    assert "ann/my_bot" in rankings
    assert "house/random" in rankings
    with Store(tmp_path / "league.db") as store:
        played = store.run(queries.matches, ladder="greed")
        assert len(played) >= 5
        assert {seat.owner for match in played for seat in match.seats} == {"ann", "house"}
        assert played[0].match[:8] in run.stdout
    log = (tmp_path / "serve.log").read_text(encoding="utf-8")
    ended = [json.loads(line) for line in log.splitlines() if line.startswith("{")][-1]
    assert ended["event"] == "stopped"
