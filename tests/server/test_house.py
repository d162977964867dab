"""House bots: who they are, that they come back, and that none outlives its server."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard import queries
from cutpurse.leaderboard.owner_registry import NewToken, create_tokens
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.store import Store
from cutpurse.leaderboard.tokens import PATTERN, Token, new_token
from cutpurse.server import house_bots
from cutpurse.server.access.owners import ANYBODY, Grant, HouseGuard, OpenGuard, TokenGuard, TokenRefused
from cutpurse.server.hosting.house_processes import House
from cutpurse.server.hosting.supervisor import FIRST_WAIT_S, LIVED_S, LONGEST_WAIT_S
from cutpurse.server.house_bots import HOUSE_BOTS, check_house
from cutpurse.server.logs import logger
from tests.faults.processes import Server, herd, server
from tests.looking import until
from tests.roots import CHECKOUT
from tests.server.tokens import tokens_in

HERE = "ipv4:127.0.0.1:4711"


def bearing(token: str) -> list[tuple[str, str | bytes]]:
    return [("user-agent", "test"), ("authorization", f"Bearer {token}")]


# -- at the door
def grant_of(token: Token) -> Grant:
    return Grant("house", token.id, ("play", "read"), forgets=True)


def test_the_token_of_the_house_lets_its_bots_in_and_nobody_else() -> None:
    token, other = new_token(), new_token()
    guard = HouseGuard(OpenGuard(), token)
    assert guard.enter(bearing(token.reveal()), HERE, "play", 0.0) == grant_of(token)
    assert guard.recognise(bearing(token.reveal()), HERE, 0.0) == grant_of(token)
    assert guard.is_good(token.id)
    for metadata in ([], bearing(other.reveal()), bearing("house"), bearing(token.reveal()) * 2):
        assert guard.enter(metadata, HERE, "play", 0.0) == ANYBODY
    assert guard.look(1.0) is False
    guard.close()


def test_where_tokens_are_asked_for_the_house_has_its_own_and_rules_nothing(tmp_path: Path) -> None:
    from datetime import UTC, datetime

    log = logger(io.StringIO())
    token = new_token()
    with Store(tmp_path / "test.db") as store:
        ((anns, _),) = store.write(create_tokens, [NewToken("ann")], datetime.now(UTC))
        guard = HouseGuard(TokenGuard(store, lambda: datetime.now(UTC), log), token)
        assert guard.enter(bearing(token.reveal()), HERE, "play", 0.0).owner == "house"
        assert guard.enter(bearing(anns.reveal()), HERE, "play", 0.0) == Grant("ann", anns.id, ("play", "read"))
        assert guard.is_good(token.id)
        assert guard.is_good(anns.id)
        assert not guard.is_good(new_token().id)
        with pytest.raises(TokenRefused, match="is good for play, read, not for admin"):
            guard.enter(bearing(token.reveal()), HERE, "admin", 0.0)
        for metadata in ([], bearing(new_token().reveal())):
            with pytest.raises(TokenRefused, match="token"):
                guard.enter(metadata, HERE, "play", 0.0)
        guard.close()


def test_house_bots_are_named_by_what_there_is() -> None:
    assert check_house(["greedy", "random", "greedy"], "--house") == ("greedy", "random")
    with pytest.raises(UsageError, match="--house 'clever': there are: random, greedy, search, expert"):
        check_house(["random", "clever"], "--house")


def test_expert_needs_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_house(["expert"], "--house") == ("expert",)
    monkeypatch.setattr(house_bots, "find_spec", lambda name: None)
    with pytest.raises(UsageError) as refused:
        check_house(["search", "expert"], "--house")
    assert str(refused.value) == (
        "--house 'expert': numpy is not installed; in a checkout of Cutpurse, this does it: pip install '.[learn]'"
    )


# -- keeping them, with moments handed in
class Programs:
    """Programs that end when the test says so."""

    def __init__(self) -> None:
        self.started: list[tuple[str, tuple[str, ...], Mapping[str, str], int]] = []
        self.over: dict[str, int] = {}
        self.fails = False

    def start(
        self, name: str, command: Sequence[str], environment: Mapping[str, str], nice: int, files: Sequence[int]
    ) -> int:
        if self.fails:
            raise OSError(12, "no memory")
        self.started.append((name, tuple(command), environment, nice))
        return 100 + len(self.started)

    def ended(self) -> dict[str, int]:
        return dict(self.over)

    def forget(self, name: str) -> None:
        del self.over[name]


def kept(bots: Sequence[str]) -> tuple[House, Programs, io.StringIO]:
    programs, said = Programs(), io.StringIO()
    return House(bots, logger(said), programs), programs, said


def events(said: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in said.getvalue().splitlines()]


def test_each_is_a_process_that_is_told_its_token_in_the_environment_alone() -> None:
    house, programs, said = kept([*HOUSE_BOTS])
    house.look("127.0.0.1:1", 0.0)
    assert [name for name, *_ in programs.started] == ["random", "greedy", "search", "expert"]
    for name, command, environment, nice in programs.started:
        assert command[1:7] == ("-P", "-m", "cutpurse.cli", "bot", "run", name)
        assert int(command[command.index("--tables") + 1]) == HOUSE_BOTS[name].tables <= 8
        assert environment["CUTPURSE_SERVER"] == "127.0.0.1:1"
        assert environment["CUTPURSE_TOKEN"] == house.token.reveal()
        assert house.token.reveal() not in " ".join(command)
        assert nice > 0
    assert house.token.reveal() not in said.getvalue()
    house.look("127.0.0.1:1", 1.0)
    assert len(programs.started) == len(HOUSE_BOTS)


def test_one_that_ends_is_started_again_after_a_while_that_grows_and_shrinks_when_it_lives() -> None:
    house, programs, said = kept(["random", "greedy"])
    now = 0.0
    house.look("", now)
    waits = []
    for _ in range(8):
        programs.over = {"random": 3}
        house.look("", now)
        wait = events(said)[-1]["again_in_s"]
        waits.append(wait)
        starts = len(programs.started)
        house.look("", now + wait - 0.01)
        assert len(programs.started) == starts
        now += wait
        house.look("", now)
        assert programs.started[starts:][0][0] == "random"
    assert waits == [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, LONGEST_WAIT_S, LONGEST_WAIT_S]
    now += LIVED_S
    programs.over = {"random": -9}
    house.look("", now)
    last = events(said)[-1]
    assert (last["event"], last["bot"], last["exit_code"], last["again_in_s"]) == (
        "house bot ended",
        "random",
        -9,
        FIRST_WAIT_S,
    )
    assert [name for name, *_ in programs.started].count("greedy") == 1


def test_one_that_cannot_be_started_is_tried_again() -> None:
    house, programs, said = kept(["random"])
    programs.fails = True
    house.look("", 0.0)
    assert events(said)[-1]["problem"] == "no memory"
    programs.fails = False
    house.look("", FIRST_WAIT_S)
    assert len(programs.started) == 1


# -- in earnest
def bots_of(host: Server) -> dict[str, int]:
    """The process of each house bot, as it was started last."""
    return {line["bot"]: line["pid"] for line in host.events("house bot started")}


def here(host: Server) -> set[str]:
    """House bots that were let in and have not gone."""
    names = [line["bot"] for line in host.events("stream opened") if line["owner"] == "house"]
    gone = [line["bot"] for line in host.events("stream ended") if line["owner"] == "house"]
    return {name for name in names if names.count(name) > gone.count(name)}


def is_there(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are looked up in /proc")


@LINUX
def test_they_come_back_when_they_die_and_end_with_the_server(tmp_path: Path) -> None:
    with server(tmp_path, "--game", "greed", "--house", "random,greedy") as host:
        until(lambda: here(host) == {"random", "greedy"}, "both are in")
        first = bots_of(host)
        for pid in first.values():
            assert os.getpriority(os.PRIO_PROCESS, pid) > os.getpriority(os.PRIO_PROCESS, 0)
        token = environment_of(first["random"])["CUTPURSE_TOKEN"]
        os.kill(first["random"], signal.SIGKILL)
        until(lambda: bots_of(host)["random"] != first["random"] and "random" in here(host), "it is back")
        (ended,) = host.events("house bot ended")
        assert (ended["bot"], ended["exit_code"]) == ("random", -signal.SIGKILL)
        assert bots_of(host)["greedy"] == first["greedy"]
        host.signal(signal.SIGTERM)
        assert host.ends() == 0, host.said
        assert not [pid for pid in bots_of(host).values() if is_there(pid)]
        assert not list(tmp_path.glob("league.db-wal"))
        for file in (path for path in tmp_path.iterdir() if path.is_file()):
            assert token.encode() not in file.read_bytes(), f"{file} has the token of the house"


@LINUX
def test_after_a_kill_of_the_server_they_go_and_its_successor_has_its_own(tmp_path: Path) -> None:
    words = ("--game", "greed", "--house", "random,greedy")
    with server(tmp_path, *words) as first:
        until(lambda: here(first) == {"random", "greedy"}, "both are in")
        first.signal(signal.SIGKILL)
        first.ends()
        with server(tmp_path, *words, address=first.address, name="second") as second:
            until(lambda: here(second) == {"random", "greedy"}, "both are in")
            left = bots_of(first).values()
            until(lambda: not any(is_there(pid) for pid in left), "those of the first server have gone")
            assert {line["owner"] for line in second.events("stream opened")} == {"house"}
            second.signal(signal.SIGTERM)
            assert second.ends() == 0, second.said


@LINUX
def test_where_other_machines_come_the_house_has_a_door_of_its_own(tmp_path: Path) -> None:
    tokens_in(tmp_path / "league.db", "ann")
    with server(tmp_path, "--insecure", "--house", "random", address="0.0.0.0:0") as host:
        until(lambda: here(host) == {"random"}, "it is in")
        assert environment_of(bots_of(host)["random"])["CUTPURSE_SERVER"].startswith("127.0.0.1:")


@LINUX
def test_a_server_at_a_unix_socket_opens_no_port_for_the_house(tmp_path: Path) -> None:
    with server(tmp_path, "--house", "random", address="unix:door") as host:
        until(lambda: here(host) == {"random"}, "it is in")
        own = environment_of(bots_of(host)["random"])["CUTPURSE_SERVER"]
        assert own.startswith("unix:door.")
        host.signal(signal.SIGTERM)
        assert host.ends() == 0, host.said
    assert not list(tmp_path.glob("door*"))


def test_a_house_bot_that_is_none_is_a_line_and_exit_code_2(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "cutpurse.cli", "serve", "--house", "clever", "--db", str(tmp_path / "a.db")]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert (run.returncode, run.stderr) == (
        2,
        "cutpurse: --house 'clever': there are: random, greedy, search, expert\n",
    )
    assert not (tmp_path / "a.db").exists()


def environment_of(pid: int) -> dict[str, str]:
    """What a process was started with; its command line holds no token."""
    said = Path(f"/proc/{pid}/environ").read_text(encoding="utf-8").split("\0")
    assert "cutp_" not in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    found = dict(line.split("=", 1) for line in said if "=" in line)
    assert len(found["CUTPURSE_TOKEN"]) == len(PATTERN.replace(r"\b", "").partition("[")[0]) + 38
    return found


@LINUX
def test_a_server_that_is_told_to_stop_plays_matches_with_the_house_to_their_ends(tmp_path: Path) -> None:
    with (
        server(tmp_path, "--game", "greed", "--house", "random,greedy,search", "--drain", "3600") as host,
        herd(tmp_path, host.address, ["ann", "bob"], 2, (5, 20)) as bots,
    ):
        until(lambda: len(host.open_matches()) >= 2, "matches are open")
        host.signal(signal.SIGTERM)
        assert host.ends() == 0, host.said
        assert set(host.stored().values()) == {None}
        until(lambda: bots.has_heard_all, "the bots have heard of each end")
        heard = {match for _, match, voided, rated in bots.heard() if rated and not voided}
        assert heard == set(host.stored()) == {line["match"] for line in host.events("match started")}
        assert not host.events("house bot ended")


@LINUX
def test_a_newcomer_on_a_ladder_that_was_made_while_the_server_runs_plays_with_the_house(tmp_path: Path) -> None:
    def cutpurse(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "cutpurse.cli", *words],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "CUTPURSE_SERVER": host.address},
        )

    with server(tmp_path, "--game", "szmal", "--house", "random,greedy") as host:
        until(lambda: here(host) == {"random", "greedy"}, "both are in")
        made = cutpurse("ladder", "create", "duel", "--game", "greed", "--seats", "2", "--house", "random")
        assert (made.returncode, made.stderr) == (0, "ladder duel is made\n")  # and nothing about house bots: they run
        played = cutpurse("bot", "run", "first_option", "--ladder", "duel", "--matches", "2")
        assert played.returncode == 0, played.stderr
        with LeaderboardReader(host.database) as reader:
            seats = {
                frozenset((seat.owner, seat.bot) for seat in match.seats)
                for match in reader.run(queries.matches, "duel")
            }
        assert seats == {frozenset({("house", "random"), ("local", "first_option")})}
        changed = cutpurse("ladder", "change", "duel", "--house", "greedy")
        assert changed.returncode == 0, changed.stderr
        played = cutpurse("bot", "run", "first_option", "--ladder", "duel", "--matches", "1")
        assert played.returncode == 0, played.stderr
        with LeaderboardReader(host.database) as reader:
            (newest, *_) = reader.run(queries.matches, "duel")
        assert {seat.bot for seat in newest.seats} == {"greedy", "first_option"}
