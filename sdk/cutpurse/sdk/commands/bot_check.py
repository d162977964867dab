"""`cutpurse bot check`: is a bot ready for a server?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.sdk.commands.arguments import AsJson
from cutpurse.sdk.errors import BOT_FAILED
from cutpurse.sdk.terminal import print_json, print_lines, say, table

if TYPE_CHECKING:
    from cutpurse.sdk.check.findings import Finding

__all__ = ["check"]


def check(
    bot: Annotated[
        str, typer.Argument(metavar="BOT", help="A name, my_bot.py, my_bot.py:MyBot, or 'exec:COMMAND' for a program.")
    ],
    game: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GAME",
            help="Check it with this game; may be given again. Else all it plays.",
            autocompletion=lambda: list(GAMES),
        ),
    ] = None,
    answer: Annotated[
        float | None,
        typer.Option(metavar="S", help="Seconds an answer is waited for; else 11.15, as clocks have it."),
    ] = None,
    talk: Annotated[bool, typer.Option("--talk", help="Pass on what the bot's program says.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a bot, in a process of its own, into every situation that a server can, and tell how it did.

    Example: cutpurse bot check my_bot.py --game greed
    """
    import asyncio  # neither of these is needed to list the games

    from cutpurse.sdk.check.course import check_bot
    from cutpurse.sdk.check.findings import Verdict

    if answer is not None and not 0 < answer < float("inf"):
        raise UsageError(f"--answer {answer:g}: a number of seconds is more than 0")
    games = list(dict.fromkeys(game or ()))

    def tell(finding: Finding) -> None:
        if talk:
            say(f"{finding.scenario}: {finding.verdict.value}")

    findings = asyncio.run(check_bot(bot, games, answer_s=answer, on_finding=tell, quiet=not talk))
    failed = sum(finding.verdict is Verdict.FAILED for finding in findings)
    rows = [(finding.scenario, finding.verdict.value, finding.seen) for finding in findings]
    if as_json:
        named = [dict(zip(("scenario", "verdict", "seen"), row, strict=True)) for row in rows]
        print_json({"bot": bot, "passed": not failed, "findings": named})
    else:
        verdict = f"{bot} failed {failed} of {len(rows)}" if failed else f"{bot} is ready"
        print_lines([*table(("scenario", "verdict", "seen"), rows), verdict])
    if failed:
        raise typer.Exit(BOT_FAILED)
