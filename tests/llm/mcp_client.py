"""An MCP client without a model: it plays by chance, and makes the mistakes that models make."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

from mcp import Client, StdioServerParameters

from cutpurse.cli.author_tools import AuthorTools
from cutpurse.llm.mcp_tools import McpTools

__all__ = ["McpClient", "Refused", "in_process", "over_stdio"]

MOST_LOOKS = 8  # of up to 25 s each


class Refused(Exception):
    """A call that returned an error."""


@dataclass
class McpClient:
    """A connected client; `refused` counts the answers that were refused."""

    client: Client
    refused: int = 0

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Return what a tool returns.  Raises Refused."""
        result = await self.client.call_tool(tool, arguments)
        if result.is_error:
            raise Refused(result.content[0].text)  # type: ignore[union-attr]  # errors are texts
        content = result.structured_content
        assert content is not None
        return content.get("result", content)

    async def open(self, state: dict[str, Any]) -> dict[str, Any]:
        """Return the state of the table when there is a decision, or the match is over."""
        for _ in range(MOST_LOOKS):
            if state["state"] != "waiting":
                break
            state = await self.call("look", table=state["table"])
        return state

    async def play(self, state: dict[str, Any], chance: Random, mistakes: float = 0.1) -> dict[str, Any]:
        """Play a match to its end, from the answer to `sit_down`; return its last state."""
        table = state["table"]
        while (state := await self.open(state))["state"] == "decision":
            number, count, text = state["decision"], state["options"], state["text"]
            assert f"\n{count - 1}: " in text
            if chance.random() < mistakes:  # what is not offered
                await self.refuse(state, decision=number, option=count)
            if chance.random() < mistakes and number:  # an old decision
                await self.refuse(state, decision=number - 1, option=0)
            option = chance.randrange(count)
            tokens = {"input_tokens": len(text) // 4, "output_tokens": 5, "cost_micros": 3}
            state = await self.call(
                "answer", table=table, decision=number, option=option, why="it is a good move", **tokens
            )
            assert "refused" not in state
            if chance.random() < mistakes:  # the same once more
                again = await self.call("answer", table=table, decision=number, option=0)
                assert again["refused"] == f"decision {number} is closed: it is answered"
                self.refused += 1
        return state

    async def refuse(self, state: dict[str, Any], **answer: int) -> None:
        """Give an answer that is refused, and check that the open decision is the same as before."""
        again = await self.call("answer", table=state["table"], **answer)
        assert again.pop("refused")
        for one in (again, state):
            one.pop("seconds_left", None)
        assert again == state
        self.refused += 1


@asynccontextmanager
async def in_process(tools: McpTools | AuthorTools, mode: str = "auto") -> AsyncIterator[McpClient]:
    """Connect a client to tools in this process; at the end, leave the tables."""
    try:
        async with Client(tools.mcp_server(), mode=mode) as client:
            yield McpClient(client)
    finally:
        tools.close()


@asynccontextmanager
async def over_stdio(*words: str, mode: str = "auto") -> AsyncIterator[McpClient]:
    """Start `cutpurse mcp` and connect a client to its stdin and stdout."""
    command = StdioServerParameters(command=sys.executable, args=["-m", "cutpurse.cli", "mcp", *words])
    async with Client(command, mode=mode) as client:
        yield McpClient(client)
