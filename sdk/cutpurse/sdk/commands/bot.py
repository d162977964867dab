"""`cutpurse bot`: the group of what is done with a bot of one's own; each command has a module of its own."""

from __future__ import annotations

from typing import ClassVar

import typer

from cutpurse.sdk.commands.lazy import LazyGroup

__all__ = ["app"]


class BotCommands(LazyGroup):
    """Each command by its module: a bot that plays has none of the others in its process."""

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
    help="A bot of your own.\n\nExample: cutpurse bot init my_bot",
)


@app.callback()
def bot() -> None:
    """A bot of your own."""  # a group of one command would else be that command
