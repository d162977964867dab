"""Two servers share a league in PostgreSQL: bots are sent to the right one; if one is killed, the other goes on."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread

import pytest

from cutpurse.leaderboard import events, queries, tournaments, version_tests
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.recompute import recompute
from tests.looking import PATIENCE_S, until
from tests.ports import free_port
from tests.postgresql_server import PostgresqlServer
from tests.typed import typed

# Leases last longer than usual, for servers that have to share a core.
CUTPURSE = """
from cutpurse.leaderboard import leases
leases.LEASE_S, leases.DELAY_S = 20.0, 40.0
from cutpurse.cli.main import main
main()
"""
# A bot that thinks: the tests wait for leases to run out, while quick bots would play thousands of matches.
CALM = """
import time

class Bot:
    def choose(self, view, decision):
        time.sleep(0.01)
        return decision.options[0]
"""


class Process:
    """A command whose lines are read as they come."""

    def __init__(self, *words: str, folder: Path, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CUTPURSE, *words],
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, **environment},
        )
        self.lines: SimpleQueue[str | None] = SimpleQueue()
        self.said: list[str] = []
        self._reader = Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr:
            for line in self.process.stderr:
                self.lines.put(line)
        self.lines.put(None)

    def until(self, pattern: str, count: int = 1) -> str:
        """Wait for lines with this pattern, and return the last one."""
        ends = time.monotonic() + PATIENCE_S
        try:
            while (line := self.lines.get(timeout=max(0.0, ends - time.monotonic()))) is not None:
                self.said.append(line)
                count -= re.search(pattern, line) is not None
                if not count:
                    return line
        except Empty:
            raise AssertionError(f"not in {PATIENCE_S:.0f} s: {pattern}; but: {''.join(self.said)}") from None
        raise AssertionError(f"it ended without {pattern}: {''.join(self.said)}")

    @property
    def unread(self) -> str:
        """All lines since the last one that was waited for."""
        lines = []
        while not self.lines.empty():
            lines.append(self.lines.get() or "")
        return "".join(lines)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._reader.join()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start commands, which are killed at the end."""
    with ExitStack() as stack:

        def start(*words: str, **environment: str) -> Process:
            process = Process(*words, folder=tmp_path, **environment)
            stack.callback(process.end)
            return process

        (tmp_path / "calm.py").write_text(CALM)
        yield start


def serve(start: Callable[..., Process], db: str, *ladders: str) -> tuple[Process, str]:
    """A server that takes these ladders first."""
    at = f"127.0.0.1:{free_port()}"
    words = [word for ladder in ladders for word in ("--arena-ladder", ladder)]
    house = ("--house", "random,greedy")
    return start("serve", "--db", db, "--address", at, "--arena-address", at, *house, "--drain", "0", *words), at


def league_of_two_ladders(postgresql: PostgresqlServer, folder: Path) -> str:
    """The address of a league with the ladders x and y."""
    db = postgresql.create()
    ladders = folder / "ladders.toml"
    ladders.write_text(
        "".join(
            f'[[ladder]]\nname = "{name}"\ngame = "greed"\nseats = 3\nhouse = ["random", "greedy"]\n' for name in "xy"
        )
    )
    made = typed("ladder", "create", "--from", str(ladders), "--db", db, folder=folder)
    assert made.returncode == 0, made.stderr
    return db


def test_bots_play_at_both_and_all_at_one_when_the_other_is_killed(
    tmp_path: Path, postgresql: PostgresqlServer, start: Callable[..., Process]
) -> None:
    db = league_of_two_ladders(postgresql, tmp_path)
    a, at_a = serve(start, db, "x")
    b, at_b = serve(start, db, "y")
    a.until("bots dial in at")
    b.until("bots dial in at")
    # named: sent on, in one line
    named = start("bot", "run", "calm.py", "--name", "named", "--ladder", "y", "--server", at_a, "--matches", "2")
    assert f"sends the bot to {at_b}" in named.until("sends the bot")
    named.until("match .* greed seat", 2)
    assert named.process.wait(timeout=300) == 0
    # all ladders: a stream to each
    everywhere = start("bot", "run", "calm.py", "--name", "everywhere", "--tables", "2", "--server", at_a)
    assert {everywhere.until("plays at").split(" plays at ")[1].split()[0] for _ in range(2)} == {at_a, at_b}
    everywhere.until("match .* greed seat", 4)
    # commands work through either
    assert {
        one["ladder"] for one in json.loads(typed("ladder", "list", "--server", at_b, "--json", folder=tmp_path).stdout)
    } == {"x", "y"}
    requested = typed("match", "request", "y", "everywhere", "--wait", "--json", "--server", at_a, folder=tmp_path)
    assert json.loads(requested.stdout)["ladder"] == "y", requested.stderr
    frozen = typed("ladder", "change", "x", "--freeze", "now", "--server", at_b, folder=tmp_path)
    assert frozen.returncode == 0, frozen.stderr
    assert typed("ladder", "change", "x", "--unfreeze", "--server", at_b, folder=tmp_path).returncode == 0
    b.process.send_signal(signal.SIGKILL)
    a.until('"ladder": "y".*"ladder taken"')
    again = start("bot", "run", "random", "--name", "again", "--ladder", "y", "--server", at_a, "--matches", "1")
    again.until("match .* greed seat")
    everywhere.process.send_signal(signal.SIGTERM)
    assert everywhere.process.wait(timeout=300) == 0
    a.process.send_signal(signal.SIGTERM)
    assert a.process.wait(timeout=300) == 0
    with LeaderboardReader(db) as reader:
        assert [(check.ladder, check.equal) for check in recompute(reader)] == [("x", True), ("y", True)]
        assert all(len(reader.run(queries.matches, ladder, limit=9)) > 1 for ladder in "xy")


def answer(*words: str, folder: Path, server: str) -> str:
    """What a command prints that asks a server; it is asked again while no server has the ladder."""
    while True:
        done = typed(*words, "--server", server, folder=folder)
        if "ask again then" not in done.stderr:
            assert done.returncode == 0, done.stderr
            return done.stdout


def test_a_tournament_and_a_version_test_go_on_after_the_server_that_played_them_is_killed(
    tmp_path: Path, postgresql: PostgresqlServer, start: Callable[..., Process]
) -> None:
    db = league_of_two_ladders(postgresql, tmp_path)
    a, at_a = serve(start, db, "x")
    b, _ = serve(start, db, "y")
    a.until("bots dial in at")
    b.until("bots dial in at")
    for name, version in (("one", "1"), ("one", "2"), ("two", "1"), ("three", "1")):
        words = ("--name", name, "--version", version, "--ladder", "y", "--tables", "2", "--server", at_a)
        # The first server keeps the bot until it has looked who has y: only a match shows that it is at the second.
        start("bot", "run", "calm.py", *words).until("match .* greed seat")
    test_words = ("event", "start", "y", "one:2", "one:1", "--format", "test", "--max-boards", "4", "--yes")
    cup = ("event", "start", "y", "one", "two", "three", "--best-of", "5")
    plan = answer(*cup, folder=tmp_path, server=at_a).split("plan ")[1].split()[0]
    name = answer(*cup, "--plan", plan, folder=tmp_path, server=at_a).split()[0]
    test = answer(*test_words, folder=tmp_path, server=at_a)
    with LeaderboardReader(db) as reader:
        until(lambda: any(board.result for board in reader.run(tournaments.boards, name)), "a board of the tournament")
        b.process.send_signal(signal.SIGKILL)
        b.process.wait()
        before = [board for board in reader.run(tournaments.boards, name) if board.result]
        a.until('"tournament goes on"')
        until(lambda: reader.run(events.entry, name).ended is not None, "the end of the tournament", 600.0)
        until(
            lambda: reader.run(events.entry, test.split()[0]).ended is not None,
            "the end of the version test",
            600.0,
        )
        boards = reader.run(tournaments.boards, name)
        assert all(board in boards for board in before), "what counted stays"
        assert all(board.result for board in boards)
        assert len({board.match for board in boards if board.match}) == sum(board.match != "" for board in boards)
        assert len(reader.run(version_tests.boards, test.split()[0])) == 4
    shown = json.loads(answer("event", "show", name, "--json", folder=tmp_path, server=at_a))
    assert (shown["outcome"], shown["plan"]) == ("finished", plan)


@pytest.mark.soak
def test_a_stopped_server_finds_its_ladders_taken(
    tmp_path: Path, postgresql: PostgresqlServer, start: Callable[..., Process]
) -> None:
    db = postgresql.create()
    a, at_a = serve(start, db)
    a.until("bots dial in at")
    b, at_b = serve(start, db)
    b.until("bots dial in at")
    os.kill(a.process.pid, signal.SIGSTOP)
    b.until('"ladder": "greed".*"ladder taken"')
    os.kill(a.process.pid, signal.SIGCONT)
    a.until('"ladder": "greed".*"ladder lost"')
    bot = start("bot", "run", "random", "--ladder", "greed", "--server", at_a, "--matches", "1")
    assert f"sends the bot to {at_b}" in bot.until("sends the bot")
    bot.until("match .* greed seat")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--arena-address", "127.0.0.1:1"), "several servers share a database postgresql://..., not a file; see --db"),
        (("--arena-ladder", "greed"), "--arena-ladder: it is for one of several servers; add --arena-address ADDRESS"),
        (("--db", "postgresql://h/x", "--arena-address", "https://h:1"), "that needs --tls-cert and --tls-key"),
        (("--db", "postgresql://h/x", "--arena-address", "h"), "'h' is no address of a server"),
    ],
)
def test_settings_that_do_not_fit_are_said(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    done = typed("serve", *words, folder=tmp_path)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
