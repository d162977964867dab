"""`cutpurse mcp` as a real process: a scripted client plays over stdio, here and on the ladders of a real server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from cutpurse.games import GAMES
from cutpurse.llm.mcp_tools import McpTools
from tests.faults.processes import server
from tests.llm.mcp_client import Refused, in_process, over_stdio
from tests.typed import run

MATCHES = 20  # of each game


async def play_all(matches: int, mode: str) -> None:
    """Play matches of every game in one process, and compare its results with what the client saw."""
    async with over_stdio(mode=mode) as client:
        places = []
        for game in GAMES:
            for number in range(matches):
                state = await client.call("sit_down", game=game, seed=number)
                over = await client.play(state, Random(f"{game}/{number}"), mistakes=0.1)
                places.append((game, over["place"]))
        rows = (await client.call("results"))["matches"]
        assert [(row["game"], row["place"]) for row in rows] == places
        assert [row["safe_options"] for row in rows] == [0] * len(places)
        assert client.refused > len(places)


async def test_a_client_plays_every_game_over_stdio() -> None:
    await play_all(1, "auto")


@pytest.mark.full
async def test_a_client_of_an_older_protocol_plays_every_game(soak: bool) -> None:
    await play_all(MATCHES if soak else 1, "legacy")


async def play_on_ladders(folder: Path, matches: int) -> None:
    """Play matches on a ladder of every game against house bots; look at the notes that the server has kept."""
    clock = "clock = { base_ms = 60000, bank_ms = 60000 }\nhouse = ['random', 'greedy']\n"
    ladders = [f"[[ladder]]\nname = 'slow-{game}'\ngame = '{game}'\nseats = 3\n{clock}" for game in GAMES]
    (folder / "ladders.toml").write_text("".join(ladders), encoding="utf-8")
    with server(folder, "--ladders", str(folder / "ladders.toml"), "--house", "random,greedy") as league:
        async with over_stdio("--server", league.address, "--name", "scripted", "--version", "2") as client:
            for game in GAMES:
                for number in range(matches):
                    state = await client.call("sit_down", ladder=f"slow-{game}")
                    over = await client.play(state, Random(f"{game}/{number}"), mistakes=0.1)
                    assert over["state"] == "over", over
            rows = (await client.call("results"))["matches"]
            assert [row["game"] for row in rows] == [game for game in GAMES for _ in range(matches)]
            assert [row["safe_options"] for row in rows] == [0] * len(rows)
            with pytest.raises(Refused, match="no table is called"):
                await client.call("look", table="t0")
        shown = run("bot", "logs", "scripted:2", "--server", league.address, "--limit", "100", "--json")
        assert shown.exit_code == 0, shown.stderr
        logs = json.loads(shown.stdout)["logs"]
        assert {log["match"]["match"] for log in logs} == {row["match"] for row in rows}
        assert all(log["faults"] == [] for log in logs)
        for log in logs:
            (row,) = [row for row in rows if row["match"] == log["match"]["match"]]
            assert log["notes"][0]["text"] == "why: it is a good move"
            assert {usage["cost_micros"] for usage in log["usages"]} == {3}
            assert sum(usage["input_tokens"] for usage in log["usages"]) == row["input_tokens"]
            assert log["match"]["seats"][log["seat"]]["usage"]["cost_micros"] == row["cost_micros"]


@pytest.mark.full
async def test_a_client_plays_on_a_ladder_of_every_game(tmp_path: Path) -> None:
    await play_on_ladders(tmp_path, 1)


@pytest.mark.soak
async def test_a_client_plays_twenty_matches_on_a_ladder_of_every_game(tmp_path: Path) -> None:
    await play_on_ladders(tmp_path, MATCHES)


async def test_a_match_that_cannot_begin_is_an_error_or_left_and_nobody_is_paired(tmp_path: Path) -> None:
    with server(tmp_path, "--game", "greed") as league:  # without house bots nobody else comes
        async with in_process(McpTools(league.address, wait_s=0.5)) as client:
            sat = await client.call("sit_down", ladder="greed")
            assert sat["state"] == "waiting"
            with pytest.raises(Refused, match="your match on a ladder goes on: end it first"):
                await client.call("sit_down", ladder="greed")
            await client.call("leave", table="t1")
            text = ""
            while text != "you left before a match began":
                state = await client.call("look", table="t1")
                text = state.pop("text")
                assert state == {"table": "t1", "state": "left"}
        async with in_process(McpTools(league.address)) as client:
            with pytest.raises(Refused, match=r"^the server at .* has no ladder .nope. .*; there are: greed$"):
                await client.call("sit_down", ladder="nope")
            assert (await client.call("results")) == {"matches": []}
        assert league.open_matches() == set()


HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "gone", "version": "1"},
    },
}


def test_when_the_client_goes_the_process_ends_at_once() -> None:
    ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    sit = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "sit_down", "arguments": {"game": "greed"}},
    }
    lines = "".join(json.dumps(message) + "\n" for message in (HELLO, ready, sit))
    with subprocess.Popen(
        [sys.executable, "-m", "cutpurse.cli", "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(lines)
        process.stdin.flush()
        answers = [json.loads(process.stdout.readline()) for _ in range(2)]
        process.stdin.close()
        assert process.wait(timeout=240) == 0
    assert [answer["id"] for answer in answers] == [1, 2]
    assert answers[1]["result"]["structuredContent"]["state"] == "decision"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_process_though_the_client_is_there(number: signal.Signals) -> None:
    command = [sys.executable, "-m", "cutpurse.cli", "mcp"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(json.dumps(HELLO) + "\n")
        process.stdin.flush()
        process.stdout.readline()
        process.send_signal(number)
        assert process.wait(timeout=240) == 130
        assert process.stderr.read() == ""


def test_a_wrong_name_is_refused_before_anything_heavy_is_imported() -> None:
    """A process of its own shows what it imported: without the extra, the name is still what is wrong."""
    code = (
        "import sys\n"
        "from cutpurse.cli.commands.mcp import mcp\n"
        "try: mcp(name='Bad Name')\n"
        "except Exception as problem: print(problem)\n"
        "print(sorted({'mcp', 'pydantic', 'grpc', 'asyncio', 'cutpurse.sdk'} & sys.modules.keys()))\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.startswith("'Bad Name' is no name: it has 1 to 32 of a-z")
    assert shown.endswith("\n['asyncio']\n")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--name", "My Model"], "'My Model' is no name: it has 1 to 32 of a-z, 0-9, _, - and ., the first a letter"),
        (["--version", ""], "'' is no version: it has 1 to 32 of a-z, 0-9, _, - and ., the first a letter or digit"),
    ],
)
def test_a_name_that_a_server_would_refuse_is_a_usage_error(words: list[str], line: str) -> None:
    shown = run("mcp", *words)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr.startswith(f"cutpurse: {line}")
