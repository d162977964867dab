"""`cutpurse bot test` and `bot tests` against a server, and how its matches are listed and verified."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cutpurse.cli.commands import bot_tested
from cutpurse.cli.main import app
from tests.server.arenas import running_arena
from tests.server.test_version_testing import LADDER, bots


async def cutpurse(*words: object) -> Result:
    return await asyncio.to_thread(lambda: CliRunner().invoke(app, [*map(str, words)], prog_name="cutpurse"))


async def test_an_author_starts_a_test_follows_it_and_finds_its_matches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_tested, "LOOK_S", 0.05)
    async with running_arena(tmp_path, [LADDER]) as arena:
        to = ("--server", arena.address)
        async with bots(arena):
            wanted = ("sneak:2", "sneak:1", "--ladder", "duel", "--max-boards", 1)
            done = await cutpurse("bot", "test", *wanted, "--wait", "--json", *to)
            assert done.exit_code == 0, done.stderr
            test = json.loads(done.stdout)
            assert (test["new"]["version"], test["old"]["version"], test["boards"]) == ("2", "1", 1)
            assert test["outcome"] in ("better", "not better", "undecided")
            assert [(one["bot"], one["boards"]) for one in test["opponents"]] == [("brute", 1)]
        started = await cutpurse("bot", "test", "sneak:2", "sneak:1", "--ladder", "duel", *to)
        running = started.stdout.strip()
        assert started.stderr == f"follow it: cutpurse bot test {running} --wait\n"
        lines = (await cutpurse("bot", "test", running, *to)).stdout.splitlines()
        assert lines[0] == f"test {running} on duel: sneak:2 against sneak:1"
        assert lines[1:3] == ["so far: no board was played", "0 of at most 4,000 boards"]
        assert lines[3].startswith("it waits: sneak:")
        listed = (await cutpurse("bot", "tests", *to)).stdout.splitlines()
        assert [line.split()[0] for line in listed] == ["test", running, test["test"]]
        assert [line.split()[-1] for line in listed[1:2]] == ["runs"]
        stopped = await cutpurse("bot", "test", running, "--stop", *to)
        assert "stopped: no board was played" in stopped.stdout
        matches = (await cutpurse("match", "list", *to)).stdout.splitlines()[1:]
        assert len(matches) == 2
        assert all("unrated, test of local" in line for line in matches)
        name = matches[0].split()[0]
        verified = await cutpurse("match", "verify", name, *to)
        assert verified.exit_code == 0, verified.stderr


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("sneak:2", "sneak:1"), "against which bots? name their ladder: --ladder LADDER"),
        (("3f09", "--ladder", "duel"), "--ladder and --max-boards start a test: name two versions, NEW and OLD"),
        (("3f09", "--stop", "--wait"), "--stop ends a test that runs: name its ID alone"),
        (("sneak:", "sneak:1", "--ladder", "duel"), "'sneak:' names no bot"),
    ],
)
async def test_what_does_not_belong_together_is_refused_in_one_line(words: tuple[str, ...], text: str) -> None:
    done = await cutpurse("bot", "test", *words, "--server", "127.0.0.1:9")
    assert (done.exit_code, done.stdout) == (2, "")
    assert text in done.stderr
    assert len(done.stderr.splitlines()) == 1
