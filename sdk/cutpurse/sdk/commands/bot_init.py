"""`cutpurse bot init`: a folder to begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cutpurse.games import GAMES
from cutpurse.sdk.terminal import print_lines

__all__ = ["init"]


def init(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the bot, its folder and its file: a-z, 0-9 and _.")],
    game: Annotated[
        str, typer.Option(metavar="GAME", help="What it is to play.", autocompletion=lambda: list(GAMES))
    ] = "greed",
) -> None:
    """Write a folder with a small bot that plays, its tests, and what to type next.

    Example: cutpurse bot init my_bot --game greed
    """
    from cutpurse.sdk.starter.folder import write_starter  # not needed to list the games

    written = write_starter(name, game, Path())
    print_lines([*[str(path) for path in written], f"cd {name}, and go on with what README.md says"])
