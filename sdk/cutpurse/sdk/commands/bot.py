"""`cutpurse bot`: the commands for one's own bot, each in a module of its own."""

from __future__ import annotations

from typing import ClassVar

import typer

from cutpurse.sdk.commands.lazy import LazyGroup

__all__ = ["app"]


class BotCommands(LazyGroup):
    """The commands of the group, by module, so that a playing bot imports no others."""

    places: ClassVar[dict[str, str]] = {
        "init": "cutpurse.sdk.commands.bot_init:init",
        "check": "cutpurse.sdk.commands.bot_check:check",
        "run": "cutpurse.sdk.commands.bot_run:run",
        "logs": "cutpurse.sdk.commands.bot_logs:logs",
        "list": "cutpurse.sdk.commands.bot_list:list_bots",
        "submit": "cutpurse.sdk.commands.bot_submit:submit",
        "submitted": "cutpurse.sdk.commands.bot_submitted:submitted",
        "fetch": "cutpurse.sdk.commands.bot_submitted:fetch",
        "retire": "cutpurse.sdk.commands.bot_submitted:retire",
        "rollback": "cutpurse.sdk.commands.bot_submitted:rollback",
    }


app = typer.Typer(
    cls=BotCommands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Write, check, run and submit your own bot.\n\nExample: cutpurse bot init my_bot",
)


@app.callback()
def bot() -> None:
    """Work with a bot of your own."""  # without a callback, a group with one command would be that command
