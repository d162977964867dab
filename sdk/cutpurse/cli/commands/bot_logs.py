"""`cutpurse bot logs`: the faults, usage and notes of a bot by decision, and tests of the faults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.commands.match_list import cause, match_row, usage_rows
from cutpurse.cli.completion import complete_ladders, complete_ranked_bots
from cutpurse.cli.league_options import Authority, Database, Server, count, local_time, open_league, short
from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.process.terminal import paint, print_json, print_lines, print_message
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.sdk.matches.match_file import FiledMatch
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import League

__all__ = ["logs"]

MOST: Final = 100  # most logs per call
USUAL: Final = 10
COMMAND: Final = "cutpurse bot logs --as-test"
_NO_FILE: Final = re.compile(r"[^0-9A-Za-z]")  # characters of a match ID that may not be safe in a file name


def logs(
    bot: Annotated[
        str,
        typer.Argument(
            metavar="BOT",
            help="Bot as in the rankings: name, name:version or owner/name:version.",
            autocompletion=complete_ranked_bots,
        ),
    ],
    ladder: Annotated[
        str | None,
        typer.Option(
            metavar="LADDER",
            help="Only matches on this ladder. [default: every ladder]",
            autocompletion=complete_ladders,
        ),
    ] = None,
    match: Annotated[
        str | None,
        typer.Option(
            metavar="MATCH",
            help="Only this match: its ID, or the first 8 or more characters. [default: recent matches]",
        ),
    ] = None,
    faults_only: Annotated[bool, typer.Option("--faults-only", help="Only matches with a fault of the bot.")] = False,
    limit: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum number of matches, at most 100. [default: 10]")
    ] = None,
    as_test: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write each fault to this folder as a test for pytest.")
    ] = None,
    file: Annotated[
        str | None, typer.Option(metavar="FILE", help="With --as-test: file with the bot's code. [default: NAME.py]")
    ] = None,
    output: Annotated[
        bool,
        typer.Option("--output", help="Print only what a submitted bot printed on the server."),
    ] = False,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Show faults, usage and notes of a bot's decisions, matches with faults first; for its owner alone.

    Example: cutpurse bot logs my_bot --faults-only --as-test tests
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name

    if output:
        if db is not None or any(given is not None for given in (ladder, match, limit, as_test)) or faults_only:
            raise UsageError("--output tells what a bot has printed, and nothing of matches: give the bot alone")
        _print_output(bot, server, ca, as_json)
        return
    if file is not None and as_test is None:
        raise UsageError("--file is for the tests that --as-test writes")
    most = count("--limit", limit, MOST) or USUAL
    request = ladder_pb2.ListLogsRequest(
        bot=bot_name(bot), match=match or "", faulted=faults_only, limit=most if ladder is None else MOST
    )
    with open_league(server, ca, db) as league:
        seat_logs = [log for log in league.ListLogs(request).logs if ladder in (None, log.match.ladder)][:most]
        seat_logs.sort(key=lambda log: not log.course.faults)
        written = {} if as_test is None else _tests(league, seat_logs, as_test, file or "")
    if as_json:
        print_json({"bot": bot, "logs": [_row(log) for log in seat_logs], "tests": [str(path) for path in written]})
        return
    for log in seat_logs:
        print_lines(_log_lines(log, bot, as_test is None))
    for path, is_new in written.items():
        print_message(f"{path}: {'written' if is_new else 'already exists and was not changed'}")
    if seat_logs and as_test is not None and not any(log.course.faults for log in seat_logs):
        print_message(
            f"no decision of {bot} failed in {_matches(len(seat_logs))}, so there is nothing to write a test of"
        )
    if not seat_logs:
        print_message(
            f"no match {'with a fault ' if faults_only else ''}of {bot} is kept{' on that ladder' if ladder else ''}"
        )


def _matches(count: int) -> str:
    return "this match" if count == 1 else f"these {count} matches"


def _print_output(bot: str, server: str | None, ca: Path | None, as_json: bool) -> None:
    """Print the output of a bot that the server runs."""
    from cutpurse.wire.submission_client import submissions_at, version_named

    with submissions_at(server, ca) as submissions:
        said = submissions.log(*version_named(bot)).talk
    if as_json:
        print_json({"bot": bot, "output": said.splitlines()})
    else:
        print_lines(_lines(said.rstrip("\n")))


def _log_lines(log: ladder_pb2.SeatLog, bot: str, tells_how: bool) -> list[str]:
    """Describe a match in lines: the result, then faults, usage and notes by decision."""
    from cutpurse.wire.league import format_reported_usage, format_usage_total

    match, seat = log.match, log.match.seats[log.seat]
    how = f"place {seat.place}, score {seat.score:,}" if seat.place else "result hidden"
    if match.void_cause:
        how = f"void ({printable(match.void_cause, 40)})"
    ended = cause(seat.end_cause)
    lines = [
        f"match {short(match.match)}  {printable(match.ladder, 64)}  {local_time(match.finished_ms)}  "
        f"version {printable(seat.bot.version, 64)}, seat {log.seat}: {how}"
        + (f", {ended}" if ended != "normal" and not match.void_cause else "")
        + _thinking(log)
    ]
    if seat.HasField("usage"):
        lines.append(f"  used {format_usage_total(seat.usage)}")
    faults = {fault.decision: fault for fault in log.course.faults}
    usages = {usage.decision: usage for usage in log.course.usages}
    notes: dict[int, list[str]] = {}
    for note in log.notes:
        notes.setdefault(note.decision, []).append(note.text)
    for decision in sorted(faults.keys() | notes.keys() | usages.keys()):
        lines.append(f"  decision {decision}" if decision else "  before its first decision")
        if (fault := faults.get(decision)) is not None:
            lines[-1] = paint(f"{lines[-1]}, at {fault.at}: {cause(fault.cause)}: {printable(fault.text)}", "bad")
        if (usage := usages.get(decision)) is not None:
            lines.append(f"    {format_reported_usage(usage)}")
        lines += [f"    {line}" for text in notes.get(decision, ()) for line in _lines(text)]
    if log.dropped_bytes:
        lines.append(f"  {log.dropped_bytes:,} bytes more of notes were too many to be kept")
    if faults and tells_how and (seat.place or match.void_cause):
        first = min(fault.at for fault in faults.values())
        lines += [
            f"  to see it: cutpurse match replay {short(match.match)} --at {first}",
            f"  as tests: cutpurse bot logs {printable(bot)} --match {short(match.match)} --as-test tests",
        ]
    return lines


def _thinking(log: ladder_pb2.SeatLog) -> str:
    times = log.course.thinking_ms
    if not times:
        return ""
    slowest = max(range(len(times)), key=times.__getitem__)
    decisions = format_count(len(times), "decision")
    return f"; {decisions} in {sum(times):,} ms, the slowest ({slowest + 1}) in {times[slowest]:,}"


def _lines(text: str) -> list[str]:
    """Return the lines of a bot's text without control characters."""
    return ["".join([sign if sign.isprintable() else " " for sign in line]).rstrip() for line in text.split("\n")]


def _row(log: ladder_pb2.SeatLog) -> dict[str, Any]:
    return {
        "match": match_row(log.match),
        "seat": log.seat,
        "thinking_ms": list(log.course.thinking_ms),
        "faults": [
            {"decision": fault.decision, "at": fault.at, "cause": cause(fault.cause), "text": fault.text}
            for fault in log.course.faults
        ],
        "usages": usage_rows(log.course),
        "notes": [{"decision": note.decision, "text": note.text} for note in log.notes],
        "dropped_bytes": log.dropped_bytes,
    }


# -- tests
def _tests(league: League, seat_logs: list[ladder_pb2.SeatLog], folder: Path, bot: str) -> dict[Path, bool]:
    """Write a file for each fault; return the files, each with whether it is new. Existing files are left alone."""
    from cutpurse.cli.as_test import as_test

    written: dict[Path, bool] = {}
    for log in seat_logs:
        filed = _record(league, log.match.match) if log.course.faults else None
        for fault in log.course.faults if filed is not None else ():
            assert filed is not None
            name = short(log.match.match)
            path = folder / f"test_{_NO_FILE.sub('_', name)}_{fault.at}.py"
            thought = list(log.course.thinking_ms[fault.decision - 1 : fault.decision])
            lines = as_test(filed, fault.at, f"match {name}", COMMAND, bot, fault.text, sum(thought))
            written[path] = _write(path, "\n".join(lines) + "\n")
    return written


def _record(league: League, match: str) -> FiledMatch | None:
    """Return the match if it can be replayed, else print a line."""
    from cutpurse.sdk.matches.match_file import read_matches
    from cutpurse.v1 import ladder_pb2

    content = b"".join(message.piece for message in league.GetRecord(ladder_pb2.GetRecordRequest(match=match)))
    filed = next(read_matches(content))
    if filed.text is None:
        print_message(f"match {short(match)} has no record, so there is no test of it")
        return None
    return filed


def _write(path: Path, text: str) -> bool:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        if path.parent.is_dir():
            return False
        raise NotFound(f"{path.parent} is no folder") from None
    except OSError as problem:
        raise RecordError(f"{path} cannot be written: {problem.strerror}") from None
    return True
