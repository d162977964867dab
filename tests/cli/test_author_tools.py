"""The tools of `cutpurse mcp --author`: a coding agent writes and checks a bot, and learns what to do next."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from cutpurse.cli.author_tools import MAX_TEXT, AuthorTools
from tests.llm.mcp_client import Refused, in_process, over_stdio
from tests.looking import until_so
from tests.sdk.bot_files import CRASHES

pytestmark = pytest.mark.asyncio

NOBODY = "127.0.0.1:1"  # where nothing listens
FIRST = "class Bot:\n    def choose(self, view, decision):\n        return decision.options[0]\n"


async def test_there_are_at_most_eight_tools_and_each_says_what_it_is_for(tmp_path: Path) -> None:
    async with in_process(AuthorTools(tmp_path)) as client:
        tools = {tool.name: tool for tool in (await client.client.list_tools()).tools}
        assert sorted(tools) == ["check", "compare", "logs", "play", "rules", "start", "submit"]
        assert all(tool.description for tool in tools.values())
        assert (await client.call("rules", game="szmal")).startswith("# Szmal\n")


async def test_an_agent_starts_checks_plays_and_compares_a_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with over_stdio("--author") as client:
        started = await client.call("start", name="my_bot", game="greed")
        assert started.endswith("(exit code 0)\nNext: read my_bot/AGENTS.md, change my_bot/my_bot.py, and `check` it.")
        wish = {"game": "greed", "bots": ["my_bot/my_bot.py", "random", "random"], "matches": 2}
        played = await client.call("play", **wish)
        assert "2 matches of greed" in played
        assert "Next: change one thing, and `compare`" in played
        (tmp_path / "first.py").write_text(FIRST, encoding="utf-8")
        shown = await client.call("compare", game="greed", new="my_bot/my_bot.py", old="first.py", max_boards=3)
        assert "3 boards, gain " in shown
        assert shown.splitlines()[-1].startswith("Next: ")
        assert [file.name[:8] for file in (tmp_path / ".cutpurse").iterdir()] == ["compare-"]


@pytest.mark.parametrize(
    ("tool", "wish", "then"),
    [
        ("check", {"bot": "bad.py", "game": "greed"}, "mend the first scenario that failed"),
        ("play", {"game": "greed", "bots": ["bad.py", "random"], "matches": 1}, "mend what the first line about your"),
        ("play", {"game": "greed", "bots": ["random"], "matches": 1}, "correct the argument that the line names"),
        ("compare", {"game": "greed", "new": "bad.py", "old": "first.py", "max_boards": 2}, "mend what fails in ./bad"),
        ("submit", {"folder": "."}, "no server answers"),
        ("logs", {"bot": "bad", "faults_only": True}, "no server answers"),
        ("logs", {"bot": "--help"}, "no server answers"),
        ("start", {"name": "--game", "game": "greed"}, "correct the argument"),
    ],
)
async def test_what_fails_says_what_to_do_next(tool: str, wish: dict[str, Any], then: str, tmp_path: Path) -> None:
    (tmp_path / "bad.py").write_text(CRASHES, encoding="utf-8")
    (tmp_path / "first.py").write_text(FIRST, encoding="utf-8")
    (tmp_path / "bot.toml").write_text('name = "bad"\nversion = "1"\nruntime = "python"\nrun = ["python", "bad.py"]\n')
    async with in_process(AuthorTools(tmp_path, NOBODY)) as client:
        answer = await client.call(tool, **wish)
    *lines, end, last = answer.splitlines()
    assert lines
    assert end.startswith("(exit code ")
    assert last.startswith(f"Next: {then}"), answer


@pytest.mark.parametrize(
    ("tool", "wish", "line"),
    [
        ("check", {"bot": "../other.py"}, "'../other.py' is outside the folder "),
        ("check", {"bot": "/etc/passwd"}, "'/etc/passwd' is outside the folder "),
        ("check", {"bot": "absent.py"}, "there is no bot 'absent.py'; Next: name a file below "),
        (
            "check",
            {"bot": "exec:rm -rf x"},
            "'exec:rm -rf x' is not what bot.toml of this folder runs; Next: name exec:",
        ),
        ("play", {"game": "bridge", "bots": ["random"]}, "no game is called 'bridge'; there are: "),
        ("play", {"game": "greed", "bots": ["random"], "matches": 0}, "matches is 0; it must be 1 or more"),
        ("submit", {"folder": "elsewhere"}, "elsewhere has no bot.toml; Next: name the folder that `start` has made"),
        ("logs", {"bot": "a", "tests": "../../x"}, "'../../x' is outside the folder "),
    ],
)
async def test_nothing_outside_the_folder_is_run_or_written(
    tool: str, wish: dict[str, Any], line: str, tmp_path: Path
) -> None:
    (tmp_path / "bot.toml").write_text('name = "bad"\nversion = "1"\nruntime = "python"\nrun = ["python", "bad.py"]\n')
    async with in_process(AuthorTools(tmp_path)) as client:
        with pytest.raises(Refused) as refused:
            await client.call(tool, **wish)
    assert str(refused.value).startswith(line)
    assert [file.name for file in tmp_path.iterdir()] == ["bot.toml"]


async def test_a_command_that_takes_too_long_is_interrupted_and_a_comparison_goes_on(tmp_path: Path) -> None:
    (tmp_path / "first.py").write_text(FIRST, encoding="utf-8")
    wish = {"game": "greed", "new": "greedy", "old": "first.py", "max_boards": 2}
    tools = AuthorTools(tmp_path, limit_s=0.0)
    async with in_process(tools) as client:
        cut = await client.call("compare", **wish)
        assert cut.splitlines()[-2:] == [
            "(it took too long, and was interrupted)",
            "Next: call `compare` again with the same arguments: it goes on from there.",
        ]
        tools.limit_s = 60.0
        assert "2 boards, gain " in await client.call("compare", **wish)


async def test_a_command_whose_caller_has_gone_has_ended_afterwards(tmp_path: Path) -> None:
    tools = AuthorTools(tmp_path)
    playing = asyncio.create_task(tools.play("greed", ["greedy", "greedy"], matches=1_000_000))
    await until_so(lambda: bool(tools._running))
    (process,) = tools._running
    playing.cancel()
    await asyncio.wait([playing])
    assert process.returncode is not None


async def test_a_long_answer_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    noisy = f"print('begin' + 'x' * {MAX_TEXT} + 'end')\n{FIRST}"
    (tmp_path / "noisy.py").write_text(noisy, encoding="utf-8")
    async with in_process(AuthorTools(tmp_path)) as client:
        answer = await client.call("play", game="greed", bots=["noisy.py", "random"], matches=1)
    assert len(answer) < MAX_TEXT + 300
    assert "1 match of greed" in answer
