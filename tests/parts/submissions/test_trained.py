"""A bot that plays a net is submitted: the sandbox has numpy, and the check finds nothing wrong."""

from __future__ import annotations

import json
from pathlib import Path

from tests.learn.nets import net_bot
from tests.parts.submissions.servers import RealServer, cutpurse

MANIFEST = """name = "my_net_bot"
version = "1"
games = ["greed"]
runtime = "python"
run = ["python", "my_net_bot.py"]
"""


def test_a_net_passes_the_check_and_plays_in_the_sandbox(short: Path) -> None:
    server = RealServer(short, "--submissions", "bubblewrap")
    folder = short / "my_net_bot"
    folder.mkdir()
    net_bot(folder)
    (folder / "bot.toml").write_text(MANIFEST, encoding="utf-8")
    made = cutpurse("token", "create", "ann", "--db", "league.db", "--json", folder=short)
    server.start()
    try:
        here = {"CUTPURSE_SERVER": server.address, "CUTPURSE_TOKEN": json.loads(made.stdout)["token"]}
        done = cutpurse("bot", "submit", "my_net_bot", "--ladder", "greed", folder=short, **here)
        assert (done.returncode, done.stdout) == (0, "on the ladder as ann/my_net_bot:1\n"), done.stderr
        log = cutpurse("bot", "submitted", "my_net_bot", "--log", folder=short, **here).stdout
        assert "a second match: passed" in log  # with two seats
        assert "greed, against itself: passed" in log
    finally:
        server.stop()
