"""`cutpurse mcp`: a seat for any MCP client, or tools for a coding agent, on stdin and stdout."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutpurse.cli.league_options import Authority, Server
from cutpurse.process.signals import ends, run_async
from cutpurse.wire.errors import INTERRUPTED, needs
from cutpurse.wire.text import check_word

if TYPE_CHECKING:
    from cutpurse.cli.author_tools import AuthorTools
    from cutpurse.llm.mcp_tools import McpTools

__all__ = ["mcp"]


def mcp(
    server: Server = None,
    ca: Authority = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the bot in the rankings.")] = "mcp",
    version: Annotated[
        str, typer.Option(metavar="VERSION", help="Version of the bot, such as the model; each has its own ranking.")
    ] = "1",
    author: Annotated[
        bool, typer.Option("--author", help="Offer tools to write bots with instead: for a coding agent.")
    ] = False,
) -> None:
    """Let a language model play in an MCP client, or a coding agent write bots.

    The client starts this command and speaks with it on stdin and stdout. It plays matches here against built-in bots,
    and rated matches on the ladders of the server. A token is read from CUTPURSE_TOKEN, or from
    ~/.config/cutpurse/token.

    With --author, a coding agent gets tools to start, check, play, compare and submit bots in the current folder, and
    to read their logs. The tools run the code of these bots.

    Example: cutpurse mcp --server league.example:7777 --name my_model --version 5
    """
    check_word("name", name)
    check_word("version", version)
    with needs("llm"):
        from cutpurse.cli.author_tools import AuthorTools  # imported late, since they need the extra
        from cutpurse.llm.mcp_tools import McpTools
    tools = AuthorTools(Path(), server, ca) if author else McpTools(server, ca, name, version)
    try:
        run_async(lambda: _serve(tools))
    finally:
        tools.close()


async def _serve(tools: McpTools | AuthorTools) -> None:
    """Serve until the client goes, or a signal ends the process."""

    def interrupt() -> None:
        tools.close()
        os._exit(INTERRUPTED)  # a normal exit would wait for the thread that reads standard input

    for number in (signal.SIGINT, *ends()):
        with suppress(NotImplementedError):  # the loop of Windows supports no signal handlers
            asyncio.get_running_loop().add_signal_handler(number, interrupt)
    await tools.mcp_server().run_stdio_async()
