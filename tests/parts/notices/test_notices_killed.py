"""A server that is killed between the commit of what happened and its delivery delivers it after its restart."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.store import Store
from cutpurse.server.parts.notices import receivers
from cutpurse.server.parts.notices.receivers import WEBHOOK, NewReceiver
from tests.parts.notices.webhook_receiver import OK, Received, webhook_receiver

COMMAND = [sys.executable, "-m", "cutpurse.cli"]
NOW = datetime(2026, 11, 26, tzinfo=UTC)


@contextmanager
def serving(folder: Path, environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a real server, and give its address; it is killed at the end."""
    options = ["--db", "league.db", "--game", "greed", "--address", "127.0.0.1:0", "--drain", "0"]
    notify = ["--notify", "webhook", "--notify-network", "127.0.0.0/8"]
    server = subprocess.Popen(
        [*COMMAND, "serve", *options, *notify], cwd=folder, env=environment, stderr=subprocess.PIPE, text=True
    )
    assert server.stderr is not None
    try:
        for line in server.stderr:
            if found := re.match(r"bots dial in at (\S+);", line):
                yield server, found[1]
                break
    finally:
        server.kill()
        server.communicate()


def test_a_notice_survives_kill_9_and_comes_again_with_the_same_id(tmp_path: Path) -> None:
    began, is_killed, came_again = threading.Event(), threading.Event(), threading.Event()

    def answer(request: Received) -> bytes:
        (came_again if began.is_set() else began).set()
        is_killed.wait(240)  # the server is killed while it waits for this answer
        return OK

    with webhook_receiver(answer) as receiver:
        with Store(tmp_path / "league.db") as store:
            ((token, _),) = store.write(create_tokens, [NewToken("root", scopes=("admin", "read"))], NOW)
            store.write(receivers.add_receiver, NewReceiver("root", WEBHOOK, receiver.url, b"key", is_host=True), NOW)
        environment = {**os.environ, "CUTPURSE_TOKEN": token.reveal(), "XDG_CONFIG_HOME": str(tmp_path)}
        for name in ("CUTPURSE_SERVER", "CUTPURSE_CA", "CUTPURSE_DB"):
            environment.pop(name, None)
        with serving(tmp_path, environment) as (server, address):
            freeze = [*COMMAND, "ladder", "change", "--freeze", "now", "--server", address]
            ladders = [*COMMAND, "ladder", "list", "--server", address, "--json"]
            listed = subprocess.run(ladders, env=environment, capture_output=True, text=True, check=True).stdout
            ladder = json.loads(listed)[0]["ladder"]
            subprocess.run([*freeze, ladder], env=environment, capture_output=True, check=True)
            assert began.wait(240)
            server.send_signal(signal.SIGKILL)
            assert server.wait() == -signal.SIGKILL
        is_killed.set()
        with Store(tmp_path / "league.db") as store:
            assert [entry.waiting for entry in store.run(receivers.receivers)] == [1]
        with serving(tmp_path, environment) as (server, _):
            assert came_again.wait(240)
            with LeaderboardReader(tmp_path / "league.db") as reader:
                while any(entry.waiting for entry in reader.run(receivers.receivers)) and server.poll() is None:
                    began.clear()
                    began.wait(0.05)  # a request more would end it
                assert [(entry.waiting, entry.delivered) for entry in reader.run(receivers.receivers)] == [(0, 1)]
        first, second = receiver.requests
        assert json.loads(first.body)["event"] == "ladder_frozen"
        assert first.headers["webhook-id"] == second.headers["webhook-id"]
        assert first.body == second.body
