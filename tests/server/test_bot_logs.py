"""`cutpurse bot logs`, of matches that bots have played on a real server: what is told, and the tests it writes."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import Result

from cutpurse.sdk.run import connect
from cutpurse.server.ladder_config import Ladder
from cutpurse.v1 import ladder_pb2
from tests.sdk.bot_files import bot_file
from tests.sdk.leagues import play_league
from tests.server.arenas import running_arena
from tests.server.tokens import tokens_in
from tests.typed import run, run_apart

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
    """The database of a server on which my_bot has played six matches."""
    folder = tmp_path_factory.mktemp("logs")
    asyncio.run(_play(folder))
    return folder / "test.db"


def logs(played: Path, *arguments: object) -> Result:
    return run("bot", "logs", *arguments, "--db", played)


def test_matches_with_faults_come_first_and_notes_stand_by_their_decisions(played: Path) -> None:
    shown = logs(played, "my_bot")
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert len([line for line in lines if line.startswith("match ")]) == 6
    assert "\x1b" not in shown.stdout
    per_match = [block.splitlines() for block in shown.stdout.split("\nmatch ")]
    has_faults = [any("KeyError" in line for line in block) for block in per_match]
    assert has_faults == [True] * 3 + [False] * 3
    for block in per_match:
        notes = [line for line in block if line.startswith("     [31mchance says 0.")]
        places = [line for line in block if line.startswith("  decision ")]
        asked = int(block[0].split("; ")[1].split()[0])
        assert asked * 0.8 < len(notes) == len(places) <= asked, "the bot is not asked where there is one option"
        assert block[block.index(notes[0]) + 1].startswith("      of ")
        crashed = [line for line in places if "crashed" in line]
        assert [places.index(line) for line in crashed] in ([], [2, 4])  # of those that the bot was asked
        assert all("my_bot.py:12: KeyError: 'no plan " in line for line in crashed)
        assert bool(crashed) == block[-1].startswith("  as tests: cutpurse bot logs my_bot --match ")
        if crashed:
            seen = run(*block[-2].removeprefix("  to see it: cutpurse ").split(), "--db", played)
            at = crashed[0].split(", at ")[1].split(":")[0]
            assert f"\ndecision {at}: seat " in seen.stdout, seen.output
            assert "<- chosen, safe" in seen.stdout


def test_what_is_asked_for_is_told(played: Path) -> None:
    two = logs(played, "local/my_bot:1", "--faults-only", "--limit", 2)
    assert [line[:6] for line in two.stdout.splitlines() if "score" in line] == ["match "] * 2
    assert two.stdout.count("KeyError") == 4
    which = two.stdout.split()[1]
    one = logs(played, "my_bot", "--match", which[:8])
    assert one.stdout.split()[1] == which
    assert one.stdout.count("KeyError") == 2
    other = logs(played, "my_bot", "--ladder", "other")
    assert (other.exit_code, other.stdout) == (0, "")
    assert "no match of my_bot is kept on that ladder" in other.stderr
    theirs = logs(played, "random")
    assert (theirs.exit_code, theirs.stdout.count("\n"), theirs.stdout.count(" in ")) == (0, 6, 12)
    for unknown in (["nobody"], ["my_bot:2"], ["my_bot", "--match", "0123456789"]):
        shown = logs(played, *unknown)
        assert (shown.exit_code, shown.stdout) == (4, ""), shown.stderr


def test_the_same_as_a_document(played: Path) -> None:
    document = json.loads(logs(played, "my_bot", "--ladder", "duel", "--json").stdout)
    assert len(document["logs"]) == 6
    for log in document["logs"]:
        seat = log["match"]["seats"][log["seat"]]
        assert seat["bot"] == "my_bot"
        assert sum(log["thinking_ms"]) == seat["thinking_ms"]
        assert len(log["faults"]) == seat["faults"]
        assert 0.8 * len(log["thinking_ms"]) < len(log["notes"]) <= len(log["thinking_ms"])
        assert log["notes"][0]["text"].startswith("\x1b[31mchance says 0.")
        assert log["dropped_bytes"] == 0


def test_a_fault_becomes_a_test_that_fails_until_it_is_mended(tmp_path: Path, played: Path) -> None:
    bot = bot_file(tmp_path, BOT)
    arguments = ["my_bot", "--faults-only", "--as-test", tmp_path / "tests", "--file", bot]
    written = logs(played, *arguments)
    assert written.exit_code == 0, written.output
    files = sorted((tmp_path / "tests").iterdir())
    assert len(files) == written.stdout.count("KeyError") == 6
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *map(str, files[:2])]
    failed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "2 failed" in failed.stdout, failed.stdout
    assert failed.stdout.count("KeyError: 'no plan 2'") >= 1
    assert failed.stdout.count("KeyError: 'no plan 4'") >= 1
    # Mended; and its chance is what it was on the server, or this would not pass.
    document = json.loads(logs(played, "my_bot", "--faults-only", "--json").stdout)
    said = {note["text"] for log in document["logs"] for note in log["notes"]}
    mended = BOT.replace("if decision.number in self.bad", f"assert said in {said!r}\n        if False")
    bot_file(tmp_path, mended.replace("decision.note(", "said = ("))
    passed = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "2 passed" in passed.stdout, passed.stdout
    files[0].write_text("# mine\n", encoding="utf-8")
    again = logs(played, *arguments)
    assert again.exit_code == 0
    assert again.stderr.count("already exists and was not changed") == len(files)
    assert files[0].read_text(encoding="utf-8") == "# mine\n"


def test_what_makes_no_sense_is_told(played: Path, tmp_path: Path) -> None:
    for arguments, said in (
        (["my_bot", "--file", "x.py"], "--file is for the tests that --as-test writes"),
        (["my_bot", "--limit", "101"], "--limit 101: it is a number from 1 to 100"),
        (["a/b/c"], "names no bot"),
    ):
        shown = logs(played, *arguments)
        assert (shown.exit_code, said in shown.stderr) == (2, True), shown.stderr
    (tmp_path / "file").write_text("")
    shown = logs(played, "my_bot", "--faults-only", "--as-test", tmp_path / "file")
    assert (shown.exit_code, "is no folder" in shown.stderr) == (4, True), shown.stderr


def test_what_was_too_much_and_a_match_without_a_course_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    seats = [ladder_pb2.MatchSeat()] * 2
    match = ladder_pb2.MatchShown(match="3f2a9c01b7e4d5", ladder="old\x1b", void_cause="void_server", seats=seats)
    note = ladder_pb2.NoteKept(text="sits down\r\x07")
    log = ladder_pb2.SeatLog(match=match, seat=1, notes=[note], dropped_bytes=12_345)
    play_league(monkeypatch, ListLogs=lambda request: ladder_pb2.ListLogsResponse(logs=[log]))
    lines = run("bot", "logs", "my_bot").stdout.splitlines()
    assert lines[0].startswith("match 3f2a9c01b7e4  old  ")
    assert lines[0].endswith("seat 1: void (void_server)")
    wanted = run("bot", "logs", "my_bot", "--as-test", "never_made")
    assert wanted.stdout.splitlines() == lines
    assert wanted.stderr == "no decision of my_bot failed in this match, so there is nothing to write a test of\n"
    assert not Path("never_made").exists()
    assert lines[1:] == [
        "  before its first decision",
        "    sits down",
        "  12,345 bytes more of notes were too many to be kept",
    ]


async def test_an_owner_reads_his_own_logs_and_a_stranger_is_told_that_they_are_not_his(tmp_path: Path) -> None:
    tokens = tokens_in(tmp_path / "test.db", "ann", "bob")
    bot = bot_file(tmp_path, BOT)
    async with running_arena(tmp_path, [Ladder("duel", "greed", 2, matches_wanted=1)]) as arena:

        async def ask(owner: str, *words: object) -> subprocess.CompletedProcess[str]:
            environment = {"CUTPURSE_SERVER": arena.address, "CUTPURSE_TOKEN": tokens.get(owner, "")}
            return await asyncio.to_thread(run_apart, "bot", *words, **environment)

        one, other = await asyncio.gather(
            ask("ann", "run", bot, "--game", "greed", "--matches", 1),
            ask("bob", "run", "random", "--game", "greed", "--matches", 1),
        )
        assert (one.returncode, other.returncode) == (3, 0), one.stderr
        own, named, theirs, nobody = await asyncio.gather(
            ask("ann", "logs", "my_bot"),
            ask("ann", "logs", "ann/my_bot"),
            ask("bob", "logs", "ann/my_bot"),
            ask("", "logs", "ann/my_bot"),
        )
    assert own.stdout == named.stdout.replace("ann/my_bot", "my_bot")
    assert own.stdout.count("KeyError") == 2
    assert (theirs.returncode, theirs.stdout) == (6, "")
    assert "'ann/my_bot' belongs to another owner" in theirs.stderr
    assert (nobody.returncode, nobody.stdout) == (6, "")
