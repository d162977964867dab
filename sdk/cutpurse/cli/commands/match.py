"""`cutpurse match`: the commands for matches, and the verification of records."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.lazy import LazyGroup
from cutpurse.cli.league_options import Authority, Database, Server
from cutpurse.cli.match_source import FileOrMatch, line_count, matches_of
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.process.terminal import paint, print_json, print_lines, results
from cutpurse.sdk.matches.match_file import FiledMatch, MatchFileCheck, check
from cutpurse.wire.text import printable

__all__ = ["app", "verify"]

LONGEST: Final = 10_000  # most characters per line of `verify`, whose lines contain foreign text


class MatchCommands(LazyGroup):
    """The commands of the group, by module."""

    places: ClassVar[dict[str, str]] = {
        "replay": "cutpurse.cli.commands.match_replay:replay",
        "list": "cutpurse.cli.commands.match_list:list_matches",
        "show": "cutpurse.cli.commands.match_list:show",
        "request": "cutpurse.cli.commands.match_request:request",
        "download": "cutpurse.cli.commands.match_download:download",
        "watch": "cutpurse.cli.commands.match_watch:watch",
        "picture": "cutpurse.server.commands.match_picture:picture",
    }
    moved: ClassVar[dict[str, str]] = {
        "luck": "match replay FILE|MATCH --luck",
        "page": "match picture MATCH --into FILE.html",
    }


app = typer.Typer(
    cls=MatchCommands,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Watch, list, request, download, replay, draw and verify matches.\n\nExample: cutpurse match verify run.jsonl",
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
    total = 0 if lines_shown else line_count(Path(file))
    with Progress("lines") as progress:
        for filed in matches_of(file, server, ca, db):
            if total:
                progress(filed.line - 1, total)
            try:
                result = check(filed)
            except UsageError as problem:
                raise RecordError(f"{file}, line {filed.line}: {problem}") from None
            held += 1
            if as_json:
                matches.append(_row(filed, result))
                continue
            which = "" if filed.head is None else f"match {filed.head.match} of "
            lines = [*result.checked, *[f"not checked: {name}" for name in result.not_checked]]
            first = f"line {filed.line}: {which}{result.game}, {', '.join(result.seats)}"
            print_lines([printable(first, LONGEST), *[f"  {printable(line, LONGEST)}" for line in lines]])
    if as_json:
        print_json({"file": file, "matches": matches})
    else:
        print_lines([paint(f"{held} of {held} matches are as recorded", "good")])


def _row(filed: FiledMatch, result: MatchFileCheck) -> dict[str, object]:
    """Return a match for the document of --json."""
    head = {} if filed.head is None else {"match": filed.head.match, "not_checked": result.not_checked}
    return {"line": filed.line, "game": result.game, "seats": list(result.seats), "checked": result.checked, **head}
