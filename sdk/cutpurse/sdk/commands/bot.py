"""`cutpurse bot`: the group of what is done with a bot of one's own; each command has a module of its own."""

from __future__ import annotations

import typer

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="A bot of your own.\n\nExample: cutpurse bot init my_bot",
)


@app.callback()
def bot() -> None:
    """A bot of your own."""  # a group of one command would else be that command
