"""Bars with the time left and colour: a terminal gets them, and nothing else does."""

from __future__ import annotations

import asyncio
import re
from functools import partial
from pathlib import Path

import pytest

from cutpurse.cli.progress import PROGRESS_VARIABLE, Progress
from tests.cli.terminals import on_terminal
from tests.sdk.arena import arena
from tests.sdk.bot_files import CRASHES, bot_file
from tests.typed import run_apart

BOLD, RED, GREEN = "\x1b[1m", "\x1b[31m", "\x1b[32m"
BAR = re.compile(r"(\d+) of (\d+)\x1b\[0m .*?(-|\d+):(--|\d\d):(--|\d\d)\x1b\[0m left")
CUP = """
game = "greed"
seats = 2
bots = ["random", "greedy"]
deals = 3
"""
# Thinks for ever in its third match.
THINKS_IN_THIRD_MATCH = """
import os


class Bot:
    matches = 0

    def start(self, match):
        Bot.matches += 1
        if Bot.matches == 3:
            os.write(2, b"thinking")

    def choose(self, view, decision):
        while Bot.matches == 3:
            pass
        return decision.safe
"""


def totals(received: str) -> set[str]:
    """How much the bars on a terminal count up to."""
    return {found[2] for found in BAR.finditer(received)}


@pytest.mark.parametrize(
    ("words", "total"),
    [
        ("play greed random random --matches 7", "7"),
        ("play greed random random --matches 7 --json", "7"),
        ("compare greed greedy random --seats 2 --max-boards 2", "2"),
        ("match verify run.jsonl --json", "3"),
        ("export run.jsonl --to set --json", "3"),
    ],
)
def test_what_takes_long_shows_a_bar_and_wipes_it(words: str, total: str, tmp_path: Path) -> None:
    recorded = run_apart("play", "greed", "random", "random", "--matches", 3, "--record", tmp_path / "run.jsonl")
    assert (recorded.returncode, "\x1b" in recorded.stderr + recorded.stdout) == (0, False)
    with (tmp_path / "out").open("w+", encoding="utf-8") as out:
        code, received = on_terminal(*words.split(), folder=tmp_path, stdout=out.fileno())
        out.seek(0)
        result = out.read()
    assert (code, totals(received)) == (0, {total})
    assert received.endswith("\x1b[?25h\r\x1b[1A\x1b[2K")  # the cursor is shown again, and the line is empty
    assert "\x1b" not in result


def test_off_a_terminal_long_work_prints_lines_ever_more_rarely(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(PROGRESS_VARIABLE, "lines")
    progress = Progress("matches", iter(range(200)).__next__)
    for at in range(200):
        progress(2 + at // 50, 8, "more")  # goes on from a file with two, and a match takes 50 s
    assert capsys.readouterr().err.splitlines() == [
        "2 of 8 matches, after 2 s more",
        "2 of 8 matches, after 4 s more",
        "2 of 8 matches, after 8 s more",
        "2 of 8 matches, after 16 s more",
        "2 of 8 matches, after 32 s more",
        "3 of 8 matches, about 5 min left more",
        "4 of 8 matches, about 4 min left more",
        "5 of 8 matches, about 3 min left more",
    ]
    monkeypatch.setenv(PROGRESS_VARIABLE, "")
    silent = Progress("matches", iter([0, 5]).__next__)
    silent(0, 8)
    silent(1, 8)
    assert capsys.readouterr().err == ""


def test_a_tournament_shows_how_far_it_is(tmp_path: Path) -> None:
    (tmp_path / "cup.toml").write_text(CUP, encoding="utf-8")
    code, received = on_terminal("tournament", "run", "cup.toml", folder=tmp_path)
    assert code == 0
    assert totals(received) == {"3"}
    assert re.search(re.escape(BOLD) + r"1 .*greedy", received)


def test_the_leader_and_verdicts_are_coloured_on_a_terminal(tmp_path: Path) -> None:
    _, received = on_terminal("play", "greed", "random", "greedy", "--matches", 5, folder=tmp_path)
    assert f"{BOLD}greedy " in received
    assert f"{BOLD}random " not in received
    _, received = on_terminal("compare", "greed", "greedy", "random", "--seats", 2, folder=tmp_path)
    assert f"greedy against random: {GREEN}better: " in received
    _, received = on_terminal("compare", "greed", "random", "greedy", "--seats", 2, folder=tmp_path)
    assert f"random against greedy: {RED}not better" in received


def test_faults_are_red_on_a_terminal_and_plain_elsewhere(tmp_path: Path) -> None:
    words = ("play", "greed", bot_file(tmp_path, CRASHES), "random")
    code, received = on_terminal(*words, folder=tmp_path)
    assert (code, f"{RED}bot " in received) == (3, True)
    with (tmp_path / "out").open("w+", encoding="utf-8") as out:
        on_terminal(*words, folder=tmp_path, stdout=out.fileno())
        out.seek(0)
        assert "\x1b" not in out.read()
    apart = run_apart(*words)
    assert (apart.returncode, "\x1b" in apart.stdout + apart.stderr) == (3, False)


@pytest.mark.parametrize("variable", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_none_is_wanted(variable: dict[str, str], tmp_path: Path) -> None:
    words = ("play", "greed", bot_file(tmp_path, CRASHES), "greedy", "--matches", 2)
    code, received = on_terminal(*words, folder=tmp_path, environment=variable)
    assert (code, re.findall(r"\x1b\[[0-9;]*3[0-9][0-9;]*m", received)) == (3, [])
    assert "bot " in received


def test_an_interrupt_wipes_the_bar_and_shows_the_cursor_again(tmp_path: Path) -> None:
    bot = bot_file(tmp_path, THINKS_IN_THIRD_MATCH)
    code, received = on_terminal(
        "play", "greed", bot, "random", "--matches", 9, folder=tmp_path, interrupt_at=b"thinking"
    )
    assert code == 130
    hidden, shown = received.rfind("\x1b[?25l"), received.rfind("\x1b[?25h")
    assert 0 <= hidden < shown < received.rfind("2 of 9 matches were played")


async def test_a_bot_on_a_server_has_its_faults_in_red(tmp_path: Path) -> None:
    bot = bot_file(tmp_path, CRASHES)
    async with arena(games=["greed"], matches=1) as server:
        words = ("bot", "run", bot, "--server", server.address, "--matches", 1)
        code, received = await asyncio.to_thread(partial(on_terminal, *words, folder=tmp_path))
    assert code == 3
    assert f"{RED}bot {bot} in match " in received
