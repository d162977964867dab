"""`cutpurse mcp`: a seat for any MCP client, on stdin and stdout."""

from __future__ import annotations

from typing import Annotated

import typer

from cutpurse.cli.league_options import Authority, Server
from cutpurse.wire.errors import needs

__all__ = ["mcp"]


def mcp(
    server: Server = None,
    ca: Authority = None,
    name: Annotated[str, typer.Option(metavar="NAME", help="Name of the bot in the rankings.")] = "mcp",
    version: Annotated[
        str, typer.Option(metavar="VERSION", help="Version of the bot, such as the model; each has its own ranking.")
    ] = "1",
) -> None:
    """Let an MCP client, such as a chat program with a language model, play by six tools.

    The client starts this command and speaks with it on stdin and stdout. It plays matches here against built-in bots,
    and rated matches on the ladders of the server. A token is read from CUTPURSE_TOKEN, or from
    ~/.config/cutpurse/token.

    Example: cutpurse mcp --server league.example:7777 --name my_model --version 5
    """
    with needs("llm"):
        from cutpurse.llm.mcp_tools import McpTools  # imported late, since it needs the extra
    from cutpurse.sdk.run import check_word

    check_word("name", name)
    check_word("version", version)
    tools = McpTools(server, ca, name, version)
    try:
        tools.mcp_server().run("stdio")
    finally:
        tools.close()
