"""The command `cutpurse`: collects the commands, and turns what goes wrong into one line and an exit code.

The server's commands, and those of other distributions, come by the entry points `cutpurse.commands`: a typer app is a
group of commands, a function is one command. This module knows what no single command does.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final

import typer
from typer.core import TyperGroup

from cutpurse.engine.errors import CutpurseError
from cutpurse.sdk.commands import (
    bot,
    bot_check,
    bot_init,
    bot_list,
    bot_logs,
    bot_run,
    bot_submit,
    bot_submitted,
    compare,
    games,
    ladder,
    ladder_steer,
    match,
    match_download,
    match_list,
    match_request,
    match_watch,
    play,
    tournament,
)
from cutpurse.sdk.errors import FAILED, INTERRUPTED, exit_code
from cutpurse.sdk.terminal import say

__all__ = ["app", "main"]

GROUP: Final = "cutpurse.commands"
DEBUG: Final = "--debug"


class Commands(TyperGroup):
    """All commands; an error ends in one line on stderr, with its trace after --debug, which may stand anywhere."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.obj = DEBUG in args
        return super().parse_args(ctx, [arg for arg in args if arg != DEBUG])

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            say("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except CutpurseError as error:
            if ctx.obj:
                raise
            say(f"{ctx.command_path}: {error}")
            raise typer.Exit(exit_code(error)) from None
        except (typer.Exit, typer.Abort, typer.BadParameter, BrokenPipeError):
            raise
        except Exception as error:
            if ctx.obj or _is_usage(error):
                raise
            say(f"{ctx.command_path}: unexpected {type(error).__name__}: {error}; {DEBUG} shows where")
            raise typer.Exit(FAILED) from None


def _is_usage(error: Exception) -> bool:
    """Whether typer itself says what was wrong with the command line."""
    return hasattr(error, "exit_code") and hasattr(error, "show")


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@app.callback()
def cutpurse(debug: bool = typer.Option(False, DEBUG, help="Show tracebacks; may stand anywhere.")) -> None:
    """Bot battles in five card games of hidden information.

    Example: cutpurse play greed my_bot.py random random random --matches 100
    """


app.command("games")(games.games)
app.command("rules")(games.rules)
app.command("play")(play.play)
app.command("compare")(compare.compare)
bot.app.command("init")(bot_init.init)
bot.app.command("check")(bot_check.check)
bot.app.command("run")(bot_run.run)
bot.app.command("logs")(bot_logs.logs)
ladder.app.command("create")(ladder_steer.create)
ladder.app.command("change")(ladder_steer.change)
ladder.app.command("freeze")(ladder_steer.freeze)
ladder.app.command("open")(ladder_steer.open_again)
match.app.command("list")(match_list.list_matches)
match.app.command("show")(match_list.show)
match.app.command("request")(match_request.request)
match.app.command("download")(match_download.download)
match.app.command("watch")(match_watch.watch)
bot.app.command("list")(bot_list.list_bots)
bot.app.command("submit")(bot_submit.submit)
bot.app.command("submitted")(bot_submitted.submitted)
bot.app.command("fetch")(bot_submitted.fetch)
bot.app.command("retire")(bot_submitted.retire)
bot.app.command("rollback")(bot_submitted.rollback)
app.add_typer(bot.app, name="bot")
app.add_typer(ladder.app, name="ladder")
app.add_typer(match.app, name="match")
app.add_typer(tournament.app, name="tournament")


def add_other_commands(points: Iterable[EntryPoint]) -> None:
    """Add what other parts bring; one that does not load costs a line on stderr and nothing else."""
    for point in points:
        try:
            brought = point.load()
        except Exception as error:  # whatever a stranger's module raises
            say(f"cutpurse: the commands {point.name!r} ({point.value}) do not load: {type(error).__name__}: {error}")
        else:
            if isinstance(brought, typer.Typer):
                app.add_typer(brought, name=point.name)
            else:
                app.command(point.name)(brought)


add_other_commands(entry_points(group=GROUP))


def main() -> None:
    """The console script."""
    app(prog_name="cutpurse")


if __name__ == "__main__":
    sys.exit(main())  # type: ignore[func-returns-value]  # typer exits by itself
