"""The folder to begin with: what is written plays, passes its own tests and the check."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cutpurse.check import scenarios
from cutpurse.check.findings import CheckStatus
from cutpurse.cli.check_bot import check_bot
from cutpurse.engine.agenda import Question
from cutpurse.games import GAMES
from cutpurse.wire.packing import pack
from tests.typed import run


@pytest.fixture(autouse=True)
def in_a_new_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("game", list(GAMES))
def test_what_is_written_passes_its_own_tests(game: str) -> None:
    shown = run("bot", "init", "my_bot", "--game", game)
    assert (shown.exit_code, shown.stderr) == (0, "")
    files = ["my_bot.py", "test_my_bot.py", "bot.toml", "README.md", "AGENTS.md"]
    assert shown.stdout.splitlines()[:5] == [f"my_bot/{file}" for file in files]
    tests = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "my_bot"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "2 passed" in tests.stdout, tests.stdout
    assert all("{" not in line or line.startswith(("MATCH", "    [")) for line in written("test_my_bot.py"))


def written(name: str) -> list[str]:
    return Path("my_bot", name).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("game", list(GAMES))
def test_the_guide_for_coding_agents_has_commands_that_exist_and_every_decision(game: str) -> None:
    run("bot", "init", "my_bot", "--game", game)
    lines = written("AGENTS.md")
    guide = "\n".join(lines)
    assert "{" not in guide
    assert len(lines) < 90
    asks = {step.name for step in GAMES[game].steps().values() if issubclass(step, Question)}
    assert set(re.findall(r"^- .*?\(`(\w+)`\): ", guide, re.MULTILINE)) == asks
    commands = re.findall(r"^cutpurse (play|compare|bot \w+) (.*)$", guide, re.MULTILINE)
    assert [name for name, _ in commands] == ["play", "bot check", "compare", "bot submit"]
    for name, arguments in commands:
        help_text = run(*name.split(), "--help").stdout
        assert [word for word in arguments.split() if word.startswith("--") and word not in help_text] == []


def test_the_guide_of_another_language_names_its_program() -> None:
    assert run("bot", "init", "my_bot", "--language", "javascript").exit_code == 0
    guide = "\n".join(written("AGENTS.md"))
    assert "cutpurse compare greed 'exec:node bot.mjs' 'exec:node before/bot.mjs' --state compare.json" in guide
    assert "cutpurse rules GAME" in guide


async def test_what_is_written_passes_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scenarios, "DIAL_IN_S", 60.0)
    assert run("bot", "init", "my_bot").exit_code == 0
    findings = await check_bot("my_bot/my_bot.py", ["greed"])
    assert [(one.scenario, one.seen) for one in findings if one.verdict is not CheckStatus.PASSED] == []


def test_the_commands_of_the_page_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    run("bot", "init", "my_bot")
    page = "\n".join(written("README.md"))
    commands = re.findall(r"^cutpurse (\w+(?: check| run| logs| submit)?) (.*)$", page, re.MULTILINE)
    assert [name for name, _ in commands] == ["play", "bot check", "bot run", "bot logs", "bot submit"]
    monkeypatch.chdir("my_bot")
    assert run("play", *commands[0][1].replace("100", "2").split()).exit_code == 0
    for name, arguments in commands[1:]:
        help_text = run(*name.split(), "--help").stdout
        assert all(word in help_text for word in arguments.split() if word.startswith("--"))


@pytest.mark.parametrize("game", list(GAMES))
def test_what_is_written_can_be_handed_in(game: str) -> None:
    run("bot", "init", "my_bot", "--game", game)
    packed = pack(Path("my_bot"))
    assert [name for name, _ in packed.files] == ["README.md", "bot.toml", "my_bot.py"]
    assert (packed.manifest.name, packed.manifest.games) == ("my_bot", (game,))
    assert packed.manifest.run == ("python", "my_bot.py")


def test_nothing_is_overwritten() -> None:
    run("bot", "init", "my_bot")
    before = written("my_bot.py")
    shown = run("bot", "init", "my_bot", "--game", "szmal")
    assert shown.exit_code == 2
    assert "my_bot already exists" in shown.stderr
    assert written("my_bot.py") == before


@pytest.mark.parametrize("name", ["My_Bot", "1bot", "../bot", "a-bot", "class", "random", "b" * 33, ""])
def test_a_name_that_cannot_be_a_bots_is_refused(name: str, tmp_path: Path) -> None:
    shown = run("bot", "init", name)
    assert shown.exit_code == 2
    assert "is no name for a bot" in shown.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_game_that_there_is_not_leaves_no_folder(tmp_path: Path) -> None:
    assert run("bot", "init", "my_bot", "--game", "gred").exit_code == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["cutpurse", "typer"])
def test_a_name_that_would_hide_an_installed_package_is_refused(name: str, tmp_path: Path) -> None:
    shown = run("bot", "init", name)
    assert shown.exit_code == 2
    assert f"{name!r} is an installed package, and {name}.py would hide it: choose another name" in shown.stderr
    assert list(tmp_path.iterdir()) == []
