"""`cutpurse bot check`: checks whether a bot is ready for a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson, run_bots_in
from cutpurse.cli.clock_option import Clock, read_clock
from cutpurse.cli.completion import complete_bots, complete_games
from cutpurse.cli.league_options import Authority, Server, open_league
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import UsageError
from cutpurse.games import GAMES
from cutpurse.process.signals import run_until_signalled
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.wire.errors import BOT_FAILED, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from cutpurse.check.findings import Finding
    from cutpurse.v1 import arena_pb2

__all__ = ["check"]

BEAT_S: Final = 0.5  # between two looks at whether progress is to be shown


def check(
    context: typer.Context,
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT",
            help="Name of a built-in bot, my_bot.py, my_bot.py:MyBot, or 'exec:COMMAND' for a program.",
            autocompletion=complete_bots,
        ),
    ],
    game: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GAME",
            help="Game to check with (repeatable). [default: every game that the bot plays]",
            autocompletion=complete_games,
        ),
    ] = None,
    answer: Annotated[
        float | None,
        typer.Option(metavar="S", help="Seconds to wait for an answer. [default: all time of the clock, 11.15]"),
    ] = None,
    clock: Clock = "1s+10s",
    output: Annotated[bool, typer.Option("--output", help="Show what the bot prints.")] = False,
    unpause: Annotated[bool, typer.Option("--unpause", help="If the bot passes, end its pause on the server.")] = False,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="With --unpause: name in the rankings. [default: the bot's own name]"),
    ] = None,
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="With --unpause: version. [default: the bot's own version]")
    ] = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Test a bot, in its own process, in every situation that a server can cause.

    A server pauses a version that was taken over in too many of its recent rated matches. With --unpause the server is
    informed when the bot has passed.

    Example: cutpurse bot check my_bot.py --game greed
    """
    from cutpurse.check.findings import CheckStatus
    from cutpurse.check.scenarios import SCENARIOS
    from cutpurse.cli.check_bot import check_bot  # imported late, for a quick `cutpurse games`

    if answer is not None and not 0 < answer < float("inf"):
        raise UsageError(f"--answer {answer:g}: a number of seconds is more than 0")
    if not unpause and any(given is not None for given in (name, version, server, ca)):
        raise UsageError("--name, --version, --server and --ca name a paused bot and its server: they need --unpause")
    run_bots_in(context)
    games = list(dict.fromkeys(game or ()))
    match_clock = read_clock(clock)
    assert match_clock is not None
    hellos: list[arena_pb2.Hello] = []

    progress = Progress("scenarios")
    seen: list[Finding] = []

    def tell(finding: Finding) -> None:
        seen.append(finding)
        if output:
            print_message(f"{finding.scenario}: {finding.verdict.value}")
        show()

    def show() -> None:
        if not output:
            plays = games or (hellos[0].games if hellos else ()) or GAMES
            progress(len(seen), len(SCENARIOS) + len(plays), seen[-1].scenario if seen else "")

    with progress:
        findings = run_until_signalled(
            lambda: _beside(
                show,
                check_bot(
                    bot,
                    games,
                    answer_s=answer,
                    control=match_clock.control,
                    on_finding=tell,
                    on_hello=hellos.append,
                    quiet=not output,
                ),
            )
        )
    failed = sum(finding.verdict is CheckStatus.FAILED for finding in findings)
    rows = [(finding.scenario, finding.verdict.value, finding.seen) for finding in findings]
    if not as_json:
        verdict = f"{bot} failed {failed} of {len(rows)}" if failed else f"{bot} is ready"
        head, *lines = table(("scenario", "verdict", "seen"), rows)
        styles = {CheckStatus.PASSED: "", CheckStatus.WARNED: "open", CheckStatus.FAILED: "bad"}
        for number, finding in enumerate(findings):
            if style := styles[finding.verdict]:
                lines[number] = paint(lines[number], style)
        print_lines([head, *lines, paint(verdict, "bad" if failed else "good")])
    unpaused = _unpause(hellos[0], name, version, server, ca) if unpause and not failed else ""
    if as_json:
        named = [dict(zip(("scenario", "verdict", "seen"), row, strict=True)) for row in rows]
        more_fields = {"unpaused": unpaused or None} if unpause else {}
        print_json({"bot": bot, "passed": not failed, "findings": named, **more_fields})
    elif unpaused:
        print_lines([f"{unpaused} is no longer paused"])
    if failed:
        if unpause:
            print_message("the bot stays paused: a bot that fails its check would soon be paused again")
        raise typer.Exit(BOT_FAILED)


async def _beside(show: Callable[[], None], check: Coroutine[Any, Any, list[Finding]]) -> list[Finding]:
    """Call `show` again and again while the check runs."""
    import asyncio

    async def repeat() -> None:
        while True:
            show()
            await asyncio.sleep(BEAT_S)

    beats = asyncio.create_task(repeat())
    try:
        return await check
    finally:
        beats.cancel()


def _unpause(hello: arena_pb2.Hello, name: str | None, version: str | None, server: str | None, ca: Path | None) -> str:
    """Report to the server that the bot has passed; return its name."""
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import format_bot_name

    bot = ladder_pb2.BotName(bot=name or hello.bot, version=version or hello.version or "1")
    try:
        with open_league(server, ca, None) as league:
            return format_bot_name(league.LiftPause(ladder_pb2.LiftPauseRequest(bot=bot)).bot.bot)
    except NotFound as problem:
        if name is not None:
            raise
        raise NotFound(f"{problem}; if it plays under another name than it says here: --name NAME") from None
