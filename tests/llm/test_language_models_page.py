"""The page on language models: its files and commands run as printed, with a model that is a small HTTP server."""

from __future__ import annotations

import json
import random
import re
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from cutpurse.games import GAMES
from cutpurse.llm import Budget
from cutpurse.llm.mcp_tools import McpTools
from cutpurse.llm.model_answer import FallbackCause
from tests.faults.processes import server
from tests.llm.mcp_client import in_process
from tests.llm.sizes import text_sizes
from tests.roots import CHECKOUT
from tests.typed import run

PAGE = CHECKOUT / "docs" / "how-to" / "play_with_a_language_model.md"
TEXT = PAGE.read_text(encoding="utf-8")
PROGRAMS = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
(LADDERS,) = re.findall(r"^```toml\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS: list[str] = re.findall(r"^\$ cutpurse (.*)$", TEXT, re.MULTILINE)


class Model(BaseHTTPRequestHandler):
    """A model that answers by chance, over the common protocol; its first answer to anything is status 503."""

    requests: list[dict[str, Any]]

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.requests.append(request)
        if len(self.requests) == 1:
            self.send_error(503)
            return
        count = int(request["messages"][1]["content"].rpartition("\n")[2].partition(":")[0]) + 1
        option = random.Random(len(self.requests)).randrange(count)
        answer = {
            "choices": [{"message": {"content": json.dumps({"option": option})}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1_000, "completion_tokens": 10},
            "model": request["model"],
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: Any) -> None:
        """Print nothing."""


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[dict[str, Any]]]:
    """Serve the model where the file of the page looks for it; return its requests."""
    requests: list[dict[str, Any]] = []
    handler = type("Handler", (Model,), {"requests": requests})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        monkeypatch.setenv("MODEL_URL", f"http://127.0.0.1:{http.server_port}/v1/chat/completions")
        yield requests
        http.shutdown()
        thread.join()


def command(start: str) -> list[str]:
    """Return the words of the command of the page that begins so."""
    (line,) = [line for line in COMMANDS if line.startswith(start)]
    return line.split()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, which has the files of the page."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_model.py").write_text(PROGRAMS["my_model.py"], encoding="utf-8")
    (tmp_path / "slow.toml").write_text(LADDERS, encoding="utf-8")
    return tmp_path


def test_the_file_of_the_page_plays_here_with_its_http_client(model: list[dict[str, Any]], folder: Path) -> None:
    played = run(*command("play"))
    assert played.exit_code == 0, played.stderr
    assert model[0]["model"] == "llama3.2"
    assert [message["role"] for message in model[0]["messages"]] == ["system", "user"]
    assert model[0] == model[1], "what the provider could not answer was asked again"
    assert ": 1,000+10 tokens, llama3.2\ndecision 0 (" in played.stderr
    assert "fallback" not in played.stderr


@pytest.mark.full
def test_the_file_of_the_page_plays_on_the_ladder_of_the_page(
    model: list[dict[str, Any]], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(folder, *command("serve")[1:]) as league:
        monkeypatch.setenv("CUTPURSE_SERVER", league.address)
        stay = run(*command("bot run"))
        assert stay.exit_code == 0, stay.stderr
        logs = run(*command("bot logs"))
        assert re.search(r"^  decision 1\n    1,000\+10 tokens, llama3.2\n    model: \d\.\d s$", logs.stdout, re.M)
        rankings = run("ladder", "rankings", "slow")
        assert "  tokens/match  " in rankings.stdout.splitlines()[0]
        assert len(model) > 3


def test_the_command_of_a_chat_program_is_one_that_there_is() -> None:
    (config,) = [json.loads(text) for text in re.findall(r"^```json\n(\{.*?)^```", TEXT, re.MULTILINE | re.DOTALL)]
    entry = config["mcpServers"]["cutpurse"]
    assert entry["command"] == "cutpurse"
    shown = run(*entry["args"], "--help")
    assert (shown.exit_code, shown.stderr) == (0, "")


async def test_the_tools_are_those_of_the_page() -> None:
    async with in_process(McpTools()) as client:
        tools = {tool.name for tool in (await client.client.list_tools()).tools}
    assert set(re.findall(r"^\| `(\w+)\(", TEXT, re.MULTILINE)) == tools


def test_the_limits_of_the_page_are_a_budget() -> None:
    names: dict[str, Any] = {}
    exec(compile(PROGRAMS["limits.py"], "limits.py", "exec"), names)
    assert isinstance(names["BUDGET"], Budget)
    assert sorted(PROGRAMS) == ["limits.py", "my_model.py"]
    assert TEXT.count("```python") == 2


def test_the_causes_of_a_fallback_are_those_of_the_page() -> None:
    (line,) = re.findall(r"^Causes of a fallback: (.*) in MCP", TEXT, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", line)) == {*FallbackCause, "left"}


@pytest.mark.full
def test_the_sizes_of_the_page_are_those_of_the_texts() -> None:
    titles = "rules|a decision, mean|a decision, most|decisions of a seat"
    rows = re.findall(rf"^\| ({titles}) \|(.*)\|$", TEXT, re.MULTILINE)
    names = ("greed", "szmal", "steal_and_plunder", "stolen_treasure", "bag_o_loot")
    assert sorted(names) == sorted(GAMES)
    sizes = [text_sizes(name) for name in names]
    assert {title: [cell.strip() for cell in cells.split("|")] for title, cells in rows} == {
        title: [f"{one[title]:,}" for one in sizes] for title in sizes[0]
    }
