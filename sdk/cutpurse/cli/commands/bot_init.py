"""`cutpurse bot init`: a folder for a new bot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from cutpurse.cli.completion import complete_games
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_lines
from cutpurse.sdk.starter.languages import LANGUAGES, PYTHON, check_language, write_in

__all__ = ["init"]

USUAL: Final = "greed"


def init(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the bot, its folder and its file; may have a-z, 0-9 and _.")
    ],
    game: Annotated[
        str | None,
        typer.Option(
            metavar="GAME",
            help=f"Game to play, for Python only; bots in other languages play all games. [default: {USUAL}]",
            autocompletion=complete_games,
        ),
    ] = None,
    language: Annotated[
        str,
        typer.Option(
            metavar="LANGUAGE",
            help=f"Programming language: {', '.join(LANGUAGES)}.",
            autocompletion=lambda: list(LANGUAGES),
        ),
    ] = PYTHON,
) -> None:
    """Create a folder with a small working bot, a README and AGENTS.md with the next steps; in Python also tests.

    Example: cutpurse bot init my_bot --language go
    """
    from cutpurse.sdk.starter.folder import write_starter  # imported late, for a quick `cutpurse games`

    if language == PYTHON:
        written = write_starter(name, game or USUAL, Path())
    else:
        check_language(language)
        if game is not None:
            raise UsageError(f"a bot in {language} plays every game, so --game says nothing: leave it out")
        written = write_in(language, name, Path())
    print_lines([*[str(path) for path in written], f"cd {name}, and go on with what README.md says"])
