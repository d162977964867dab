"""`cutpurse serve`: an arena, until it is told to stop."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.games import GAMES, game_named
from cutpurse.sdk.address import DEFAULT_SERVER
from cutpurse.sdk.errors import needs
from cutpurse.sdk.terminal import say

__all__ = ["serve"]


def serve(
    address: Annotated[
        str, typer.Option(metavar="ADDRESS", help="host:port or unix:/path, on this machine.")
    ] = DEFAULT_SERVER,
    db: Annotated[Path, typer.Option(metavar="FILE", help="The database; made if it is not there.")] = Path(
        "cutpurse.db"
    ),
    game: Annotated[
        list[str] | None,
        typer.Option(metavar="GAME", help="May be given again; else all games.", autocompletion=lambda: list(GAMES)),
    ] = None,
    drain: Annotated[float, typer.Option(metavar="S", help="Seconds for open matches after the first signal.")] = 60.0,
    log_level: Annotated[str, typer.Option(metavar="LEVEL", help="debug, info, warning or error.")] = "info",
) -> None:
    """Let bots dial in and play them against each other, a ladder a game, until SIGTERM or Ctrl-C.

    Whoever reaches the address may play, under the name that he says, so it must be one of this machine. A second
    signal does not wait for open matches.

    Example: cutpurse serve --db league.db
    """
    with needs("server"):
        import asyncio

        from cutpurse.leaderboard.errors import LeaderboardError
        from cutpurse.server.host import serve as run
        from cutpurse.server.ladders import default_ladders
        from cutpurse.server.logs import LEVELS, logger, take_others
        from cutpurse.server.open_arena import open_arena
    if log_level not in LEVELS:
        raise UsageError(f"--log-level {log_level}: there are: {', '.join(LEVELS)}")
    if drain < 0:
        raise UsageError(f"--drain {drain:g}: a number of seconds is 0 or more")
    games = [game_named(name).words.game for name in game or GAMES]
    ladders = [ladder for ladder in default_ladders() if ladder.game in games]
    log = logger(sys.stderr, log_level)
    take_others(log)
    try:
        with open_arena(address, db, ladders, log) as opened:
            asyncio.run(
                run(opened.arena, drain, listening=lambda bound: say(f"bots dial in at {bound}; results in {db}"))
            )
    except LeaderboardError as problem:
        raise CutpurseError(str(problem)) from None
