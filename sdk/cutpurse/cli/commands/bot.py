"""`cutpurse bot`: the commands for one's own bot, each in a module of its own."""

from __future__ import annotations

from typing import ClassVar

import typer

from cutpurse.cli.lazy import LazyGroup

__all__ = ["app"]


class BotCommands(LazyGroup):
    """The commands of the group, by module, so that a playing bot imports no others."""

    places: ClassVar[dict[str, str]] = {
        "init": "cutpurse.cli.commands.bot_init:init",
        "check": "cutpurse.cli.commands.bot_check:check",
        "run": "cutpurse.cli.commands.bot_run:run",
        "logs": "cutpurse.cli.commands.bot_logs:logs",
        "style": "cutpurse.cli.commands.bot_style:style",
        "change": "cutpurse.cli.commands.bot_change:change",
        "list": "cutpurse.cli.commands.bot_list:list_bots",
        "submit": "cutpurse.cli.commands.bot_submit:submit",
        "submitted": "cutpurse.cli.commands.bot_submitted:submitted",
    }
    moved: ClassVar[dict[str, str]] = {
        "fetch": "bot submitted [OWNER/]NAME:VERSION --fetch",
        "retire": "bot change NAME --retire",
        "rollback": "bot change NAME:VERSION --play",
        "test": "event start LADDER NEW OLD --format test",
        "tests": "event list --kind test",
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
