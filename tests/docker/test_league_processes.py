"""The parts of `docker/league.yaml` as processes of this machine: one server is killed, and play goes on."""

from __future__ import annotations

import json
import signal
import urllib.request
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cutpurse.leaderboard import queries
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.recompute import recompute
from cutpurse.leaderboard.store import Store
from cutpurse.wire.server_address import TOKEN_VARIABLE
from tests.docker.compose import parts
from tests.looking import until
from tests.parts.cluster.test_several_servers import Process
from tests.parts.submissions.desks import bot_folder
from tests.ports import free_port
from tests.postgresql_server import PostgresqlServer
from tests.typed import typed

pytest.importorskip("pgqueuer", reason="pgqueuer is not installed here: pip install '.[cluster]'")
pytestmark = pytest.mark.full

PATIENCE_S = 400.0

LADDERS = """
[[ladder]]
name = "greed"
game = "greed"
seats = 2
house = ["random"]
clock = { base_ms = 20000, bank_ms = 20000 }

[[ladder]]
name = "cloud"
game = "greed"
seats = 2
house = ["random"]
hosted = true
clock = { base_ms = 20000, bank_ms = 20000 }
"""


def words_of(part: str, folder: Path, db: str, ports: dict[str, int]) -> list[str]:
    """The command of a part, without TLS and containers."""
    words = [str(word) for word in parts("league.yaml")[part]["command"]]
    for flag in ("--tls-cert", "--tls-key"):
        if flag in words:
            at = words.index(flag)
            del words[at : at + 2]
    changes = {
        "postgresql://league@postgres/league": db,
        "0.0.0.0:7777": f"127.0.0.1:{ports.get(part, 0)}",
        "0.0.0.0:8080": f"127.0.0.1:{ports['page']}",
        "127.0.0.1:9100": "127.0.0.1:0",
        "random,greedy,search": "random",
        "bubblewrap": "process",
        "/data/place": str(folder / "place"),
        "/data/worker": str(folder / "worker"),
        **{f"https://{name}:7777": f"127.0.0.1:{port}" for name, port in ports.items()},
    }
    words = [changes.get(word, word) for word in words]
    return [*words, "--db", db, "--game", "greed"] if words[0] == "serve" else words


def test_play_goes_on_when_a_server_is_killed(
    tmp_path: Path, postgresql: PostgresqlServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes: dict[str, Process] = {}
    try:
        kill_a_server(tmp_path, postgresql.create(), monkeypatch, processes)
    except BaseException as problem:
        for name, process in processes.items():
            problem.add_note(f"--- {name}\n{process.unread[-4_000:]}")
        raise
    finally:
        for process in processes.values():
            process.end()


def kill_a_server(tmp_path: Path, db: str, monkeypatch: pytest.MonkeyPatch, processes: dict[str, Process]) -> None:
    """Start all parts, submit a bot, kill the server `arena-a`, and see that both ladders are played."""
    with Store(db) as store:
        tokens = {
            scope: store.write(create_tokens, [NewToken("ann", scopes=scopes)], datetime.now(UTC))[0][0].reveal()
            for scope, scopes in (("play", ("play", "read", "admin")), ("place", ("place",)))
        }
    (tmp_path / "ladders.toml").write_text(LADDERS)
    made = typed("ladder", "create", "--from", str(tmp_path / "ladders.toml"), "--db", db, folder=tmp_path)
    assert made.returncode == 0, made.stderr
    ports = {name: free_port() for name in ("arena-a", "arena-b", "page")}

    def begin(part: str, **environment: str) -> Process:
        words = [*words_of(part, tmp_path, db, ports), *(() if part == "page" else ("--log-level", "info"))]
        processes[part] = Process(*words, folder=tmp_path, **environment)
        return processes[part]

    a = begin("arena-a")
    a.until("bots dial in at")
    b = begin("arena-b")
    b.until("bots dial in at")
    place = begin("place", **{TOKEN_VARIABLE: tokens["place"]})
    place.until("metrics at")
    begin("worker").until("metrics at")
    begin("page").until("the page is at")
    monkeypatch.setenv(TOKEN_VARIABLE, tokens["play"])
    at_b = f"127.0.0.1:{ports['arena-b']}"
    submitted = typed("bot", "submit", str(bot_folder(tmp_path)), "--server", at_b, folder=tmp_path)
    assert submitted.returncode == 0, submitted.stderr

    def played(ladder: str) -> int:
        """Matches of the submitted bot on a ladder that are not void; house bots have the other seats."""
        with LeaderboardReader(db) as reader:
            return sum(
                "sneak" in {seat.bot for seat in match.seats} and not match.void_cause
                for match in reader.run(queries.matches, ladder, limit=100_000)
            )

    until(lambda: played("greed") > 0 and played("cloud") > 0, "both ladders are played", PATIENCE_S)
    told = json.loads(typed("status", "--json", "--server", at_b, folder=tmp_path).stdout)
    servers = {server["address"]: server for server in told["servers"]}
    assert {address: server["ladders"] for address, server in servers.items()} == {
        f"127.0.0.1:{ports['arena-a']}": ["greed"],
        at_b: ["cloud"],
    }
    assert servers[f"127.0.0.1:{ports['arena-a']}"]["places"] == 1
    with urllib.request.urlopen(f"http://127.0.0.1:{ports['page']}/healthz", timeout=240) as answer:
        assert answer.status == 200
    a.process.send_signal(signal.SIGKILL)
    b.until('"ladder": "greed".*"ladder taken"')
    before = {ladder: played(ladder) for ladder in ("greed", "cloud")}
    until(lambda: all(played(ladder) > count for ladder, count in before.items()), "play goes on", PATIENCE_S)
    b.process.send_signal(signal.SIGTERM)
    assert b.process.wait(timeout=300) == 0
    with LeaderboardReader(db) as reader:
        assert [(check.ladder, check.equal) for check in recompute(reader)] == [("cloud", True), ("greed", True)]
        assert not [seat for match in reader.run(queries.matches, limit=500) for seat in match.seats if seat.faults]
