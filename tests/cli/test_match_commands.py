"""`cutpurse match download`, and `verify` and `replay` of matches by name: from a database and from a server."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import Result

from cutpurse.leaderboard.ladders import ensure_ladder
from cutpurse.leaderboard.store import Store
from cutpurse.server.ladder_config import Ladder
from tests.roots import CHECKOUT
from tests.server.stores import match_of
from tests.server.test_match_file import played
from tests.server.test_watch_service import stage
from tests.typed import run


def cutpurse(*arguments: object) -> Result:
    return run("match", *arguments)


@pytest.fixture
def league(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A database league.db with a match of Greed and one of Szmal; their names."""
    monkeypatch.chdir(tmp_path)
    results = [played("greed", 3), played("szmal", 3)]
    with Store(tmp_path / "league.db") as store:
        for result in results:
            game = match_of(result).rules.words.game
            store.write(ensure_ladder, Ladder(game, game, 3).kept)
            store.submit(replace(result, ladder=game)).result(240)
    return results[0].match, results[1].match


def test_a_match_is_downloaded_and_checked_without_its_database(league: tuple[str, str], tmp_path: Path) -> None:
    greed, szmal = league
    run = cutpurse("download", greed[:8], "--db", "league.db")
    path = tmp_path / f"match-{greed[:12]}.jsonl"
    assert (run.exit_code, run.stdout) == (0, "")
    assert run.stderr == f"1 match in {path.name}; cutpurse match verify {path.name}\n"
    content = path.read_bytes()
    (tmp_path / "league.db").rename(tmp_path / "gone.db")
    assert cutpurse("verify", path).exit_code == 0
    assert cutpurse("download", greed, "--db", "gone.db").exit_code == 0  # the same again
    path.write_bytes(b"mine")
    refused = cutpurse("download", greed, "--db", "gone.db")
    assert (refused.exit_code, "already exists" in refused.stderr) == (2, True)
    assert path.read_bytes() == b"mine"
    both = cutpurse("download", greed, szmal, "--db", "gone.db", "-o", "both.jsonl")
    assert (both.exit_code, both.stderr.startswith("2 matches in both.jsonl")) == (0, True)
    assert (tmp_path / "both.jsonl").read_bytes().startswith(content)
    assert "2 of 2 matches are as recorded" in cutpurse("verify", "both.jsonl").stdout
    assert cutpurse("download", greed, "--db", "gone.db", "-o", "-").stdout.encode() == content


def test_matches_are_shown_and_checked_by_name(league: tuple[str, str]) -> None:
    greed, _ = league
    verified = cutpurse("verify", greed[:8], "--db", "league.db", "--json")
    (match,) = json.loads(verified.stdout)["matches"]
    assert (match["match"], len(match["not_checked"])) == (greed, 3)
    assert "decision 0: seat " in cutpurse("replay", greed, "--db", "league.db").stdout
    assert cutpurse("replay", greed, "--at", 3, "--as-test", "--db", "league.db").stdout.startswith('"""Decision 3 of')


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("download", "0" * 32, "--db", "league.db"), 4, "0" * 32),
        (("download", "a", "b", "--db", "league.db"), 2, "2 matches go into one file"),
        (("download", "0" * 8, "--db", "none.db"), 4, "none.db"),
        (("verify", "0" * 32, "--db", "league.db"), 4, "0" * 32),
        (("replay", "nothing.jsonl"), 4, "no record nothing.jsonl"),
        (("verify", "deadbeef", "--server", "127.0.0.1:1"), 5, "127.0.0.1:1"),
        (("verify", "deadbeef", "--server", "127.0.0.1:1", "--db", "league.db"), 2, "name one of them"),
    ],
)
def test_what_is_not_there_has_its_exit_code(
    league: tuple[str, str], arguments: tuple[str, ...], code: int, said: str
) -> None:
    run = cutpurse(*arguments)
    assert (run.exit_code, said in run.stderr) == (code, True), run.stderr


async def test_a_match_of_a_server_is_downloaded_from_it_and_needs_no_file_to_be_shown(tmp_path: Path) -> None:
    async with stage(tmp_path) as on, AsyncExitStack() as stack:
        match = await on.sit_down(stack)
        await on.play()

        async def command(*arguments: str) -> tuple[int | None, str, str]:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "cutpurse.cli", "match", *arguments),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env={**os.environ, "CUTPURSE_SERVER": on.arena.address, "PYTHONPATH": str(CHECKOUT)},
                cwd=tmp_path,
            )
            out, err = await process.communicate()
            return process.returncode, out.decode(), err.decode()

        code, _, err = await command("download", match)
        assert (code, err) == (
            0,
            f"1 match in match-{match[:12]}.jsonl; cutpurse match verify match-{match[:12]}.jsonl\n",
        )
        code, out, _ = await command("replay", match[:12])  # no file is called so: the server is asked
        assert (code, "decision 0: seat " in out) == (0, True)
    assert cutpurse("verify", tmp_path / f"match-{match[:12]}.jsonl").exit_code == 0
