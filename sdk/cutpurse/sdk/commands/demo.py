"""`cutpurse demo`: the sample bots play every game."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from cutpurse.games import GAMES
from cutpurse.sdk import local
from cutpurse.sdk.commands.arguments import AsJson, Jobs, Seed, tell_failures
from cutpurse.sdk.commands.play import result_lines, summary
from cutpurse.sdk.errors import BOT_FAILED
from cutpurse.sdk.terminal import Progress, print_json, print_lines

__all__ = ["demo"]

ONE: Final = "greedy"
OTHERS: Final = "random"


def demo(
    context: typer.Context,
    matches: Annotated[int, typer.Option(metavar="N", help="How many of each game.")] = 100,
    seed: Seed = "0",
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Every game, played by a bot that takes what it can get and others that choose at random.

    Example: cutpurse demo --matches 20
    """
    runs = []
    for name, game in GAMES.items():
        progress = Progress(game.words.title)
        bots = [ONE, *[OTHERS] * (game.usual_seats - 1)]
        played = local.play(name, bots, matches=matches, seed=seed, jobs=jobs, progress=progress)
        progress.end()
        runs.append(played)
        if not as_json:
            print_lines([game.words.title, *result_lines(played), ""])
        tell_failures(played.failures, played.faults, bool(context.obj))
    if as_json:
        print_json([summary(played) for played in runs])
    if any(played.failures for played in runs):
        raise typer.Exit(BOT_FAILED)
