"""The command `cutpurse`: collects all commands, and turns errors into one line and an exit code.

Commands of the server and of other distributions are entry points `cutpurse.commands`: a typer app is a group of
commands, a function is one command. This module does not know what a command does.
"""

from __future__ import annotations

import errno
import gc
import os
import platform
import sys
import traceback
from collections.abc import Iterable
from contextlib import ExitStack
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, ClassVar, Final

import typer

from cutpurse.cli.lazy import LazyGroup
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.process.signals import end_quietly
from cutpurse.process.terminal import escape_unencodable, print_message
from cutpurse.wire.errors import FAILED, INTERRUPTED, exit_code
from cutpurse.wire.version import VERSION

__all__ = ["app", "main"]

GROUP: Final = "cutpurse.commands"
DEBUG: Final = "--debug"
VARIABLE: Final = "_CUTPURSE_COMPLETE"  # set by the scripts that --install-completion installs
OTHER_NAMES: Final = {  # former names, and names that other programs use, by the option's name here
    "--address": ("--listen", "--port", "--host", "--bind"),
    "--server": ("--address", "--host", "--port", "--url"),
    "--matches": ("--games", "--rounds", "-n"),
    "--jobs": ("--threads", "--workers", "--processes", "-j"),
    "--seats": ("--players",),
    "--db": ("--database",),
    "--any-owner": ("--everybody",),
    "--apply": ("--put",),
    "--explain": ("--why",),
    "--faults-only": ("--faulted",),
    "--max-bots": ("--most-bots",),
    "--max-per-owner": ("--most-per-owner",),
    "--output": ("--talk",),
    "--reconnect-timeout": ("--give-up-after",),
    "--send-output": ("--send-prints",),
    "--unpause": ("--lift",),
}
# New objects that start a collection. With Python's 700, what a command imports is scanned again and again, though none
# of it is garbage: 0.80 s of processor time to open a database, and 0.69 s with this.
_NEW_OBJECTS: Final = 10_000
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Commands(LazyGroup):
    """All commands. An error becomes one line on stderr; --debug, in any position, adds the traceback."""

    places: ClassVar[dict[str, str]] = {
        "games": "cutpurse.cli.commands.games:games",
        "rules": "cutpurse.cli.commands.games:rules",
        "play": "cutpurse.cli.commands.play:play",
        "compare": "cutpurse.cli.commands.compare:compare",
        "yardstick": "cutpurse.cli.commands.yardstick:app",
        "bot": "cutpurse.cli.commands.bot:app",
        "ladder": "cutpurse.cli.commands.ladder:app",
        "match": "cutpurse.cli.commands.match:app",
        "export": "cutpurse.cli.commands.export:export",
        "notify": "cutpurse.cli.commands.notify:app",
        "mcp": "cutpurse.cli.commands.mcp:mcp",
        "tournament": "cutpurse.cli.commands.tournament:app",
        "event": "cutpurse.cli.commands.event:app",
        "awards": "cutpurse.cli.commands.awards:awards",
        "train": "cutpurse.cli.commands.train:train",
        "tune": "cutpurse.cli.commands.tune:tune",
        "exploit": "cutpurse.cli.commands.exploit:exploit",
        "status": "cutpurse.cli.commands.status:status",
        "site": "cutpurse.server.commands.site:app",
    }

    moved: ClassVar[dict[str, str]] = {"season": "event"}
    # The first sentence of each command's help; a test compares them. What other distributions add stands under "More".
    panels: ClassVar[dict[str, dict[str, str]]] = {
        "Write a bot": {
            "games": "List the games: name, title, players, settings.",
            "rules": "Print the rules of a game, taken from the engine's own steps, as Markdown.",
            "bot": "Write, check, run and submit your own bot.",
            "play": "Play local matches, without a server.",
            "compare": "Play the same deals with a new and an old version of a bot until it is clear whether the new "
            "one is better.",
            "yardstick": "Measure how strong an agent is, from 0 (random) to 100 (expert), on a set of boards that "
            "never changes.",
            "tune": "Find good values of the numbers that a bot declares, and compare the best with the bot's own.",
            "exploit": "Find how much can be won from a bot by an opponent that knows it.",
            "mcp": "Let a language model play in an MCP client, or a coding agent write bots.",
        },
        "Look": {
            "ladder": "Ladders and their rankings.",
            "match": "Watch, list, request, download, replay, draw and verify matches.",
            "tournament": "Tournaments of a fixed list of bots, with a table at the end.",
            "event": "Tournaments, seasons and version tests, which a server plays by itself.",
            "awards": "Work out awards from the records of finished matches: largest steal, longest comeback and "
            "calmest clock.",
            "notify": "Get word of what happens to your bots, by webhook, mail or chat.",
            "status": "Show how a server is: its matches, bots, queues and disk, and the machines that work for it.",
        },
        "Host": {
            "demo": "Run a server and sample bots, play rated matches of all five games, and print the rankings.",
            "serve": "Run a server on which bots play each other on the database's ladders, until SIGTERM or Ctrl-C.",
            "web": "Serve the page for spectators: ladders, bots, matches, replays and live matches.",
            "site": "Make a site of plain files, where people learn, play and check matches in their browsers.",
            "token": "Create, list and revoke the tokens of a server.",
            "db": "Back up, copy, check and upgrade a server's database.",
            "place": "Run submitted bots of a server on this machine, until SIGTERM or Ctrl-C.",
            "worker": "Play matches of a league's hosted ladders on this machine, until SIGTERM or Ctrl-C.",
        },
        "Research": {
            "train": "Train a net for a game: it knows what a bot would do, and learns to do better.",
            "export": "Export recorded decisions as Parquet files, a row for each decision with a choice.",
        },
    }

    @staticmethod
    def others() -> Iterable[EntryPoint]:
        """Return the commands of the server and of other distributions."""
        return entry_points(group=GROUP)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.obj = DEBUG in args
        return super().parse_args(ctx, [arg for arg in args if arg != DEBUG])

    def invoke(self, ctx: Any) -> Any:
        """Run the command that was named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            from cutpurse.sdk.bot import where_a_bot_was  # imported late, since most commands load no bots

            if ctx.obj:
                traceback.print_exception(interrupt)
            print_message("interrupted" + where_a_bot_was(interrupt))
            raise typer.Exit(INTERRUPTED) from None
        except CutpurseError as error:
            if ctx.obj:
                raise
            print_message(f"{ctx.command_path}: {error}")
            raise typer.Exit(exit_code(error)) from None
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if _is_usage(error):
                _explain(error)
                raise
            if ctx.obj:
                raise
            status, text = _in_a_line(error)
            print_message(f"{ctx.command_path}: {text}")
            raise typer.Exit(status) from None


def _in_a_line(error: Exception) -> tuple[int, str]:
    """Return the exit code and the message for an error that no command handles."""
    if isinstance(error, OSError) and error.errno in _FULL:
        return FAILED, f"cannot write {error.filename or 'what it has to say'}: {error.strerror}"
    if isinstance(error, FileNotFoundError) and error.filename is None and not _is_somewhere():
        return FAILED, "the current folder no longer exists; change to another one"
    if isinstance(error, OSError) and error.filename is not None:
        return FAILED, f"{str(error.filename)[:100]}: {error.strerror}; {DEBUG} shows where"
    if isinstance(error, UnicodeEncodeError) and error.encoding == "utf-8":  # text from the system
        return exit_code(UsageError()), f"{error.object[:100]!a} is no text: it is not in UTF-8"
    return FAILED, f"unexpected {type(error).__name__}: {error}; {DEBUG} shows where"


def _is_somewhere() -> bool:
    """Return whether the current folder exists; another process may have removed it."""
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _is_usage(error: Exception) -> bool:
    """Return whether typer itself reports a wrong command line."""
    return hasattr(error, "exit_code") and hasattr(error, "show")


def _explain(error: Any) -> None:
    """Rewrite typer's message about a wrong option or value in plain words, with the option that was probably meant."""
    cause: Any = error.__cause__
    if isinstance(error, typer.BadParameter) and hasattr(cause, "errors"):  # of pydantic, which typer asks
        problem = cause.errors()[0]
        value, kind = problem["input"], problem["type"]
        if kind in ("int_parsing", "int_from_float"):
            error.message = f"{value!r} is not a whole number"
        elif kind == "float_parsing":
            error.message = f"{value!r} is not a number"
        else:
            error.message = error.message.replace("Input should be", f"{value!r} is given, and it must be")
    wrong = getattr(error, "option_name", None)
    if wrong and error.ctx is not None:
        own = {name for param in error.ctx.command.params for name in param.opts}
        known = [name for name, others in OTHER_NAMES.items() if wrong in others and name in own]
        error.possibilities = known or error.possibilities  # click suggests names that look alike


app = typer.Typer(
    cls=Commands,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _tell_version(is_wanted: bool) -> None:
    if is_wanted:
        from cutpurse.cli.engine_build import is_compiled

        build = "compiled engine" if is_compiled() else "pure Python"
        typer.echo(f"cutpurse {VERSION}, {build}, Python {platform.python_version()}")
        raise typer.Exit


@app.callback()
def cutpurse(
    debug: bool = typer.Option(False, DEBUG, help="Show tracebacks; allowed in any position."),
    show_version: bool = typer.Option(
        False, "--version", callback=_tell_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Bot battles in five card games of hidden information.

    Example: cutpurse play greed my_bot.py random random random --matches 100
    """


def main() -> None:
    """Run the command line."""
    end_quietly()
    gc.set_threshold(_NEW_OBJECTS)
    _open_what_is_closed()
    escape_unencodable()
    with ExitStack() as stack:
        stack.callback(end_quietly)
        if os.environ.get(VARIABLE) == "complete_bash":
            from cutpurse.cli.completion import whole_words_of_bash

            stack.enter_context(whole_words_of_bash(os.environ))
        app(prog_name="cutpurse")


def _open_what_is_closed() -> None:
    """Open the null device for each standard stream that the shell has closed, as by `2>&-`.

    Otherwise no error could be reported. A file opened next, such as a database, would get the stream's number and
    receive its output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nowhere = os.open(os.devnull, os.O_RDWR)  # gets the lowest free number, usually that of the stream
            os.set_inheritable(nowhere, nowhere == number)
            setattr(sys, name, os.fdopen(nowhere, "w" if number else "r", encoding="utf-8", closefd=False))
