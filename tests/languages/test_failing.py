"""A bot in another language whose `choose` fails, in a way that its language makes easy, says so and plays on."""

from __future__ import annotations

import asyncio
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.languages.workshop import IN_HASTE, Made, environment, running
from tests.sdk.arena import arena as small_arena

# What is written at the beginning of `choose`, by language: the file, its line, and what comes after it.
MISTAKES = {
    "cpp": ("bot.cc", "std::uint32_t Choose(", 'throw "my mistake";'),
    "go": ("bot.go", "func choose(", 'panic("my mistake")'),
    "java": ("Bot.java", "  static int choose(", 'if (seat >= 0) throw new AssertionError("my mistake");'),
    "javascript": ("bot.mjs", "function choose(", "return Promise.resolve(1);"),  # as of an async function
    "rust": ("src/main.rs", "fn choose(", 'panic!("my mistake");'),
    "typescript": ("src/bot.ts", "function choose(", 'if (seat >= 0) throw "my mistake";'),
}
END_S = 240.0


def with_its_mistake(made: Made, folder: Path) -> Made:
    """The same bot, built with its mistake."""
    shutil.copytree(made.folder, folder, symlinks=True)
    name, line, mistake = MISTAKES[made.language]
    text = (folder / name).read_text(encoding="utf-8")
    before, begins, after = text.partition(f"\n{line}")
    head, brace, body = after.partition("{\n")
    assert begins
    assert brace
    (folder / name).write_text(f"{before}{begins}{head}{brace}{mistake}\n{body}", encoding="utf-8")
    subprocess.run(["sh", "build.sh"], cwd=folder, env=environment(**IN_HASTE), check=True, capture_output=True)
    return Made(made.language, folder)


@pytest.mark.soak
async def test_a_choose_that_fails_is_told_and_costs_no_more_than_the_decision(made: Made, tmp_path: Path) -> None:
    mistaken = with_its_mistake(made, tmp_path / made.language)
    async with (
        small_arena(games=["greed"]) as server,
        running(mistaken, server.address, CUTPURSE_BOT="me") as process,
        asyncio.timeout(END_S),
    ):
        assert process.stdout is not None
        assert b" place " in await process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        _, errors = await process.communicate()
    assert process.returncode == 0
    assert [hello.HasField("resume") for hello in server.hellos] == [False]
    told = [give_up.reason for request in server.requests for give_up in request.give_ups]
    assert told
    assert not [answer for request in server.requests for answer in request.answers]
    what = {"cpp": "no std::exception", "javascript": "[object Promise]"}.get(made.language, "my mistake")
    assert all(what in reason for reason in told)
    assert what in errors.decode()
