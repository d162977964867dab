"""`cutpurse bot logs`, of matches that bots have played on a real server: what is told, and the tests it writes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cutpurse.leaderboard.match_file import match_file
from cutpurse.leaderboard.reader import Reader
from cutpurse.sdk.errors import NotAuthorised
from cutpurse.sdk.run import connect
from cutpurse.server.ladders import Ladder
from cutpurse.server.league_messages import match_shown
from cutpurse.v1 import arena_pb2, ladder_pb2
from tests.sdk.bot_files import bot_file
from tests.sdk.leagues import play_league
from tests.sdk.test_command_line import run
from tests.server.arenas import running_arena

BOT = """
class Bot:
    made = 0

    def start(self, match):
        self.chance = match.chance
        Bot.made += 1
        self.bad = (2, 4) if Bot.made % 2 else ()  # in every other match

    def choose(self, view, decision):
        decision.note(f"\\x1b[31mchance says {self.chance.random():.6f}\\n  of {decision.count}")
        if decision.number in self.bad:
            raise KeyError(f"no plan {decision.number}")
        return decision.options[0]
"""


async def _play(folder: Path) -> None:
    ladders = [Ladder("duel", "greed", 2, matches_wanted=6)]
    async with running_arena(folder, ladders) as arena:
        bot = bot_file(folder, BOT)
        await asyncio.gather(
            *(connect(one, "greed", server=arena.address, matches=6, quiet=True) for one in (bot, "random"))
        )


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of a server on which my_bot has played six matches, and where the bot is."""
    folder = tmp_path_factory.mktemp("logs")
    asyncio.run(_play(folder))
    return folder


@pytest.fixture
def league(played: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[ladder_pb2.ListLogsRequest]:
    """The league of that server; what it was asked."""
    requests = []

    def list_logs(request: ladder_pb2.ListLogsRequest) -> ladder_pb2.ListLogsResponse:
        requests.append(request)
        with Reader(played / "test.db") as reader:
            found = reader.logs("local", request.bot.bot, None, request.match or None, request.faulted, request.limit)
        return ladder_pb2.ListLogsResponse(logs=map(_log, found))

    def get_record(request: ladder_pb2.GetRecordRequest) -> Any:
        with Reader(played / "test.db") as reader:
            whole = match_file(reader.match(request.match), reader.record(request.match)).encode()
        return iter([ladder_pb2.GetRecordResponse(piece=piece) for piece in (whole[:1000], whole[1000:])])

    play_league(monkeypatch, ListLogs=list_logs, GetRecord=get_record)
    monkeypatch.chdir(tmp_path)
    return requests


def _log(entry: Any) -> ladder_pb2.SeatLog:
    faults = [
        ladder_pb2.SeatFault(
            decision=fault.decision,
            at=fault.at,
            cause=arena_pb2.EndCause.Value(f"END_CAUSE_{fault.cause.upper()}"),
            text=fault.text,
        )
        for fault in entry.course.faults
    ]
    return ladder_pb2.SeatLog(
        match=match_shown(entry.match),
        seat=entry.seat,
        course=ladder_pb2.SeatCourse(thinking_ms=entry.course.thinking_ms, faults=faults),
        notes=[ladder_pb2.NoteKept(decision=note.decision, text=note.text) for note in entry.notes],
        dropped_bytes=entry.dropped_bytes,
    )


@pytest.mark.usefixtures("league")
def test_matches_with_faults_come_first_and_notes_stand_by_their_decisions() -> None:
    shown = run("bot", "logs", "my_bot")
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    heads = [line for line in lines if line.startswith("match ")]
    faults = [line for line in lines if ", at " in line]
    assert len(heads) == 6
    assert "\x1b" not in shown.stdout
    per_match = [block.splitlines() for block in shown.stdout.split("\nmatch ")]
    has_faults = [any("KeyError" in line for line in block) for block in per_match]
    assert has_faults == [True] * 3 + [False] * 3
    assert len(faults) == 2 * sum(has_faults)
    for block in per_match:
        notes = [line for line in block if line.startswith("     [31mchance says 0.")]
        places = [line for line in block if line.startswith("  decision ")]
        assert len(notes) == len(places) == int(block[0].split("; ")[1].split()[0])
        assert block[block.index(notes[0]) + 1].startswith("      of ")
        crashed = [line for line in places if "crashed" in line]
        assert [line.split(",")[0] for line in crashed] in ([], ["  decision 3", "  decision 5"])
        assert all("my_bot.py:12: KeyError: 'no plan " in line for line in crashed)
        assert bool(crashed) == block[-1].startswith("  as tests: cutpurse bot logs my_bot --match ")


def test_what_is_asked_for_is_asked_of_the_league(league: list[ladder_pb2.ListLogsRequest]) -> None:
    assert run("bot", "logs", "my_bot:1", "--faulted", "--limit", 2).exit_code == 0
    other = run("bot", "logs", "local/my_bot", "--ladder", "other")
    assert (other.exit_code, other.stdout) == (0, "")
    assert "no match of local/my_bot is kept on that ladder" in other.stderr
    first, second = league
    assert (first.bot.bot, first.bot.version, first.faulted, first.limit) == ("my_bot", "1", True, 2)
    assert (second.bot.owner, second.limit) == ("local", 100)


@pytest.mark.usefixtures("league")
def test_the_same_as_a_document() -> None:
    document = json.loads(run("bot", "logs", "my_bot", "--ladder", "duel", "--json").stdout)
    assert len(document["logs"]) == 6
    for log in document["logs"]:
        seat = log["match"]["seats"][log["seat"]]
        assert seat["bot"] == "my_bot"
        assert sum(log["thinking_ms"]) == seat["thinking_ms"]
        assert len(log["faults"]) == seat["faults"]
        assert len(log["notes"]) == len(log["thinking_ms"])
        assert log["notes"][0]["text"].startswith("\x1b[31mchance says 0.")


@pytest.mark.usefixtures("league")
def test_a_fault_becomes_a_test_that_fails_until_it_is_mended(tmp_path: Path, played: Path) -> None:
    bot = bot_file(tmp_path, BOT)
    written = run("bot", "logs", "my_bot", "--faulted", "--as-test", tmp_path / "tests", "--file", bot)
    assert written.exit_code == 0, written.output
    files = sorted((tmp_path / "tests").iterdir())
    assert len(files) == written.stdout.count("KeyError") == 6
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, files[:2])]
    failed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "2 failed" in failed.stdout, failed.stdout
    assert failed.stdout.count("KeyError: 'no plan 2'") >= 1
    assert failed.stdout.count("KeyError: 'no plan 4'") >= 1
    # Mended; and its chance is what it was on the server, or this would not pass.
    notes = _notes_of(run("bot", "logs", "my_bot", "--faulted", "--json").stdout)
    mended = BOT.replace("if decision.number in self.bad", f"assert self.said() in {notes!r}\n        if False")
    mended = mended.replace("decision.note(", "self.said = lambda: said\n        said = (")
    bot_file(tmp_path, mended)
    passed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "2 passed" in passed.stdout, passed.stdout
    files[0].write_text("# mine\n", encoding="utf-8")
    again = run("bot", "logs", "my_bot", "--faulted", "--as-test", tmp_path / "tests", "--file", bot)
    assert again.exit_code == 0
    assert again.stderr.count("is there already, and was left as it is") == len(files)
    assert files[0].read_text(encoding="utf-8") == "# mine\n"


def _notes_of(document: str) -> set[str]:
    return {note["text"] for log in json.loads(document)["logs"] for note in log["notes"]}


@pytest.mark.usefixtures("league")
def test_what_makes_no_sense_is_told(tmp_path: Path) -> None:
    for arguments, said in (
        (["my_bot", "--file", "x.py"], "--file is for the tests that --as-test writes"),
        (["my_bot", "--limit", "101"], "--limit 101: it is a number from 1 to 100"),
        (["a/b/c"], "names no bot"),
    ):
        shown = run("bot", "logs", *arguments)
        assert (shown.exit_code, said in shown.stderr) == (2, True), shown.stderr
    (tmp_path / "file").write_text("")
    shown = run("bot", "logs", "my_bot", "--faulted", "--as-test", tmp_path / "file")
    assert (shown.exit_code, "is no folder" in shown.stderr) == (4, True), shown.stderr


def test_a_stranger_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: ladder_pb2.ListLogsRequest) -> ladder_pb2.ListLogsResponse:
        raise NotAuthorised("the server at here:1: the logs of bob/thug are for its owner")

    play_league(monkeypatch, ListLogs=refuse)
    shown = run("bot", "logs", "bob/thug")
    assert (shown.exit_code, shown.stdout) == (6, "")
    assert "the logs of bob/thug are for its owner" in shown.stderr
