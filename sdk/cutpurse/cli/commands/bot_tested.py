"""`cutpurse bot test` and `bot tests`: version tests on a server, which plays them in its idle time."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import Authority, Server, asked, bot_row, count, iso, local_time
from cutpurse.cli.progress import Spinner
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import League

__all__ = ["list_tests", "start_or_show_test"]

LOOK_S: Final = 5.0  # between two questions for its state
DECIMALS: Final = 6
STYLE: Final = {"better": "good", "not better": "bad"}


def start_or_show_test(
    new: Annotated[
        str, typer.Argument(metavar="NEW|ID", help="Version that may be better, NAME:VERSION; or the ID of a test.")
    ],
    old: Annotated[
        str | None, typer.Argument(metavar="[OLD]", help="Version to compare it with; none to name a test.")
    ] = None,
    ladder: Annotated[
        str | None,
        typer.Option(metavar="LADDER", help="Ladder whose bots are the opponents.", autocompletion=complete_ladders),
    ] = None,
    max_boards: Annotated[
        int | None, typer.Option(metavar="N", help="End undecided after this many boards. [default: 4000]")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the end of the test, and print the result.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="End the test now.")] = False,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Start a test whether a version of your bot is better than another one, or show how a test goes.

    The server plays it in its idle time against the bots of a ladder, unrated, and it ends by itself. On each board
    both versions play the same deal in the same seat against the same opponents.

    Example: cutpurse bot test my_bot:2 my_bot:1 --ladder greed
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name

    _check(old, ladder, max_boards, stop, wait)
    with asked(server, ca, None) as league:
        if old is not None:
            wanted = ladder_pb2.StartTestRequest(
                ladder=ladder or "", new=bot_name(new), old=bot_name(old), max_boards=count("--max-boards", max_boards)
            )
            shown = league.StartTest(wanted).test
        elif stop:
            shown = league.StopTest(ladder_pb2.StopTestRequest(test=new)).test
        else:
            shown = league.GetTest(ladder_pb2.GetTestRequest(test=new)).test
        is_started = old is not None and not wait
        if wait:
            shown = _waited(league, shown)
    if as_json:
        print_json(_test_row(shown))
    elif is_started:
        print_lines([printable(shown.test, 64)])
        print_message(f"follow it: cutpurse bot test {printable(shown.test, 64)} --wait")
    else:
        print_lines(_lines(shown))


def list_tests(
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """List your version tests, the newest first; a host lists those of all owners.

    Example: cutpurse bot tests
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import format_bot_name

    with asked(server, ca, None) as league:
        found = league.ListTests(ladder_pb2.ListTestsRequest()).tests
    if as_json:
        print_json([_test_row(one) for one in found])
        return
    rows = [
        (
            printable(one.test, 64),
            format_bot_name(one.new),
            format_bot_name(one.old),
            printable(one.ladder, 64),
            local_time(one.created_ms),
            f"{one.boards:,}",
            printable(one.outcome, 40) or "runs",
        )
        for one in found
    ]
    print_lines(table(("test", "new", "old", "ladder", "started", "boards", "state"), rows))


def _check(old: str | None, ladder: str | None, max_boards: int | None, stop: bool, wait: bool) -> None:
    """Check that the options belong together.  Raises UsageError."""
    if old is None and (ladder is not None or max_boards is not None):
        raise UsageError("--ladder and --max-boards start a test: name two versions, NEW and OLD")
    if old is not None and ladder is None:
        raise UsageError("against which bots? name their ladder: --ladder LADDER")
    if stop and (old is not None or wait):
        raise UsageError("--stop ends a test that runs: name its ID alone")


def _waited(league: League, shown: ladder_pb2.VersionTestShown) -> ladder_pb2.VersionTestShown:
    """Wait for the end of a test, and show how it goes."""
    from cutpurse.v1 import ladder_pb2

    with Spinner() as spinner:
        while not shown.ended_ms:
            spinner.show(f"test {printable(shown.test, 64)}: {_progress(shown)}")
            time.sleep(LOOK_S)
            shown = league.GetTest(ladder_pb2.GetTestRequest(test=shown.test)).test
    return shown


def _progress(shown: ladder_pb2.VersionTestShown) -> str:
    """Describe how far a test is, in one line."""
    boards = f"{shown.boards:,} of at most {format_count(shown.max_boards, 'board', 'boards')}"
    if not shown.boards:
        return boards
    gain = f"gain {shown.gain:+.3f}, between {shown.low:+.3f} and {shown.high:+.3f}"
    left = f"; about {format_count(shown.boards_left, 'board', 'boards')} left" if shown.boards_left else ""
    minutes = f", {_duration(shown.left_ms)}" if shown.left_ms else ""
    return f"{boards}; {gain}{left}{minutes}"


def _duration(ms: int) -> str:
    minutes = max(1, round(ms / 60_000))
    return f"{minutes} min" if minutes < 120 else f"{round(minutes / 60)} h"


def _lines(shown: ladder_pb2.VersionTestShown) -> list[str]:
    from cutpurse.wire.league import format_bot_name

    head = f"test {printable(shown.test, 64)} on {printable(shown.ladder, 64)}"
    lines = [f"{head}: {format_bot_name(shown.new)} against {format_bot_name(shown.old)}"]
    reason = printable(shown.reason, 400)
    lines.append(paint(reason, STYLE.get(shown.outcome, "open")))
    if not shown.ended_ms:
        lines.append(_progress(shown))
        if shown.waits_for:
            lines.append(f"it waits: {printable(shown.waits_for, 300)}")
    for bot, boards in ((shown.new, shown.new_taken_over), (shown.old, shown.old_taken_over)):
        if boards:
            what = f"was taken over on {format_count(boards, 'board', 'boards')}, and came last there"
            lines.append(paint(f"{format_bot_name(bot)} {what}", "bad"))
    if shown.opponents:
        rows = [
            (
                format_bot_name(one.bot),
                f"{one.boards:,}",
                f"{100 * one.new_ahead:.0f} %",
                f"{100 * one.old_ahead:.0f} %",
                f"{one.gain:+.3f}",
            )
            for one in shown.opponents
        ]
        lines += ["", *table(("opponent", "boards", "new ahead", "old ahead", "gain"), rows)]
    return lines


def _test_row(shown: ladder_pb2.VersionTestShown) -> dict[str, Any]:
    return {
        "test": shown.test,
        "ladder": shown.ladder,
        "new": bot_row(shown.new),
        "old": bot_row(shown.old),
        "created": iso(shown.created_ms),
        "ended": iso(shown.ended_ms),
        "outcome": shown.outcome or None,
        "reason": shown.reason,
        "waits_for": shown.waits_for or None,
        "boards": shown.boards,
        "differing": shown.differing,
        "max_boards": shown.max_boards,
        "gain": round(shown.gain, DECIMALS),
        "interval": [round(shown.low, DECIMALS), round(shown.high, DECIMALS)],
        "boards_left": shown.boards_left or None,
        "left_s": round(shown.left_ms / 1_000) or None,
        "taken_over": {"new": shown.new_taken_over, "old": shown.old_taken_over},
        "opponents": [
            {
                **bot_row(one.bot),
                "boards": one.boards,
                "new_ahead": round(one.new_ahead, DECIMALS),
                "old_ahead": round(one.old_ahead, DECIMALS),
                "gain": round(one.gain, DECIMALS),
            }
            for one in shown.opponents
        ],
    }
