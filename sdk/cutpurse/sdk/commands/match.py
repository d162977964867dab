"""`cutpurse match`: the commands for matches, and the verification of records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import ClassVar, Final

import typer

from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.sdk.commands.arguments import AsJson
from cutpurse.sdk.commands.lazy import LazyGroup
from cutpurse.sdk.commands.league_options import Authority, Database, Server
from cutpurse.sdk.commands.match_source import FileOrMatch, matches_of
from cutpurse.sdk.match_file import FiledMatch, MatchFileCheck, check
from cutpurse.sdk.progress import Progress
from cutpurse.sdk.terminal import paint, print_json, print_lines, printable, results

__all__ = ["app", "verify"]

LONGEST: Final = 10_000  # most characters per line of `verify`, whose lines contain foreign text


class MatchCommands(LazyGroup):
    """The commands of the group, by module."""

    places: ClassVar[dict[str, str]] = {
        "replay": "cutpurse.sdk.commands.match_replay:replay",
        "list": "cutpurse.sdk.commands.match_list:list_matches",
        "show": "cutpurse.sdk.commands.match_list:show",
        "request": "cutpurse.sdk.commands.match_request:request",
        "download": "cutpurse.sdk.commands.match_download:download",
        "watch": "cutpurse.sdk.commands.match_watch:watch",
    }


app = typer.Typer(
    cls=MatchCommands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Watch, list, request, download, replay and verify matches.\n\nExample: cutpurse match verify run.jsonl",
)


@app.command()
def verify(
    file: FileOrMatch, server: Server = None, ca: Authority = None, db: Database = None, as_json: AsJson = False
) -> None:
    """Replay every match of a file and compare the results with the record; needs only the file.

    For a match of a league, this also checks the commitment to the deal, and lists what the file alone cannot prove.

    Example: cutpurse match verify run.jsonl
    """
    matches: list[dict[str, object]] = []
    held = 0
    lines_shown = not as_json and results().isatty()  # the lines show the progress
    total = 0 if lines_shown else _line_count(file)
    with Progress("lines") as progress:
        for filed in matches_of(file, server, ca, db):
            if total:
                progress(filed.line - 1, total)
            try:
                found = check(filed)
            except UsageError as problem:
                raise RecordError(f"{file}, line {filed.line}: {problem}") from None
            held += 1
            if as_json:
                matches.append(_row(filed, found))
                continue
            which = "" if filed.head is None else f"match {filed.head.match} of "
            lines = [*found.checked, *[f"not checked: {one}" for one in found.not_checked]]
            first = f"line {filed.line}: {which}{found.game}, {', '.join(found.seats)}"
            print_lines([printable(first, LONGEST), *[f"  {printable(line, LONGEST)}" for line in lines]])
    if as_json:
        print_json({"file": file, "matches": matches})
    else:
        print_lines([paint(f"{held} of {held} matches are as recorded", "good")])


def _row(filed: FiledMatch, found: MatchFileCheck) -> dict[str, object]:
    """Return a match for the document of --json."""
    head = {} if filed.head is None else {"match": filed.head.match, "not_checked": found.not_checked}
    return {"line": filed.line, "game": found.game, "seats": list(found.seats), "checked": found.checked, **head}


def _line_count(file: str) -> int:
    """Count the lines of a file for a progress bar; 0 if there is no such file or no terminal."""
    if not sys.stderr.isatty() or not Path(file).is_file():
        return 0
    with Path(file).open("rb") as lines:
        return sum(1 for _ in lines)
