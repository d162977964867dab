"""Arguments and options of several commands, and their conversion."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from cutpurse.cli.completion import complete_games, complete_settings
from cutpurse.engine.errors import UsageError
from cutpurse.process.child_processes import ends_new_children
from cutpurse.process.terminal import ignore_closed_stderr, paint, print_message, reserve_stdout

if TYPE_CHECKING:
    from cutpurse.sdk.local import Failure

__all__ = [
    "AsJson",
    "GameName",
    "Jobs",
    "Knowledge",
    "On",
    "Seats",
    "Seed",
    "Setting",
    "parse_settings",
    "run_bots_in",
    "tell_failures",
]

GameName: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="GAME", help="Name of the game; see `cutpurse games`.", autocompletion=complete_games),
]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Seats: TypeAlias = Annotated[
    int | None, typer.Option("--seats", metavar="N", help="Number of seats. [default: the game's default]")
]
Seed: TypeAlias = Annotated[
    str, typer.Option("--seed", metavar="S", help="Seed of all random numbers; the same seed gives the same run.")
]
Knowledge: TypeAlias = Annotated[
    str,
    typer.Option(
        "--knowledge",
        metavar="LEVEL",
        help="What seats know of hidden cards: proof (all that can be proven), seen (only what they saw, which is "
        "quicker) or none.",
    ),
]
Jobs: TypeAlias = Annotated[
    int, typer.Option("--jobs", metavar="N", help="Number of processes; it does not change the results.")
]
On: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="WHERE",
        help="Where to play: ray, or ray://HOST:PORT for a Ray cluster. [default: processes on this machine]",
    ),
]
Setting: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Game setting (repeatable); see `cutpurse rules`. [default: the game's defaults]",
        autocompletion=complete_settings,
    ),
]


def parse_settings(given: Sequence[str] | None) -> dict[str, object]:
    """Parse a list of NAME=VALUE.  Raises UsageError for one without = and for a repeated name."""
    settings: dict[str, object] = {}
    for setting in given or ():
        name, equals, value = setting.partition("=")
        if not equals or not name:
            raise UsageError(f"--set {setting}: a setting is given as NAME=VALUE")
        if name in settings:
            raise UsageError(f"--set {setting}: {name} was set before")
        settings[name] = value
    return settings


def tell_failures(failures: Sequence[Failure], faults: Sequence[int], traces: bool) -> None:
    """Print a line for each bot that failed, on stderr; with `traces` also the tracebacks."""
    for failure in failures:
        more = faults[failure.bot] - 1 if failure.bot < len(faults) else 0
        print_message(paint(failure.text() + (f" (and {more:,} more faults)" if more else ""), "bad", sys.stderr))
        if traces and failure.trace:
            print_message(failure.trace.rstrip())


def run_bots_in(context: typer.Context) -> None:
    """Prepare a command to run bots; call this before loading one.

    Until the command ends, what bots print does not mix with results, and is discarded if nobody can read it. When the
    command ends, so do the processes that bots have started.
    """
    context.with_resource(ends_new_children())
    context.with_resource(reserve_stdout())
    context.with_resource(ignore_closed_stderr())
