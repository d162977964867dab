"""`cutpurse export`: recorded decisions as Parquet files for learning, from record files or from a ladder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson, Jobs, Knowledge
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import Authority, Database, Server, ladder_named, open_league, short
from cutpurse.cli.match_source import line_count, matches_in
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.engine.knowledge_level import PROOF, level_named
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.wire.errors import FAILED, NotFound, needs
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.learn.data_sets.card import DataFile, Exported
    from cutpurse.learn.data_sets.export import Candidate
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import League

__all__ = ["export"]

LONGEST: Final = 1_000  # most characters of a line about a refused match, which contains foreign text


def export(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE...", help="Files of `cutpurse play --record` or `match download`."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="PATH", help="Folder to make; or FILE.parquet, for one game with one number of seats."
        ),
    ] = None,
    ladder: Annotated[
        str | None,
        typer.Option(
            metavar="LADDER",
            help="Export the finished matches of this ladder instead of files.",
            autocompletion=complete_ladders,
        ),
    ] = None,
    test_share: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Share of the deals to write to files for testing, such as 0.1. 0 means no split."
        ),
    ] = 0.0,
    features: Annotated[bool, typer.Option("--features", help="Write the features of every option, too.")] = False,
    history: Annotated[
        int, typer.Option(metavar="N", min=0, help="Write the last N events as the seat heard them, too.")
    ] = 0,
    rows: Annotated[bool, typer.Option("--rows", help="Write a row for each zone in place of planes.")] = False,
    knowledge: Knowledge = PROOF,
    licence: Annotated[str, typer.Option(metavar="TEXT", help="Licence of the data, for its card.")] = "",
    jobs: Jobs = 1,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Export recorded decisions as Parquet files, a row for each decision with a choice.

    Every match is replayed and checked. A false record is named and left out; the exit code is then 1. Needs the extra
    `data`.

    Example: cutpurse export run.jsonl --to greed --test-share 0.1
    """
    if to is None:
        raise UsageError("--to is missing: name the folder to make")
    if bool(files) == (ladder is not None):
        raise UsageError("give files of records, or a ladder with --ladder: one of them")
    level_named(knowledge)
    if files and (server is not None or ca is not None or db is not None):
        raise UsageError("--server, --ca and --db are for --ladder, not for files")
    with needs("data"):
        import numpy  # noqa: F401
        import pyarrow  # noqa: F401
    from cutpurse.learn.data_sets.export import export as export_matches

    refused: list[str] = []
    with Progress("lines" if files else "matches") as progress:

        def refuse(line: str) -> None:
            refused.append(printable(line, LONGEST))
            progress.end()
            print_message(f"left out: {refused[-1]}")

        def make(candidates: Iterator[Candidate], made_from: str) -> Exported:
            return export_matches(
                candidates,
                to,
                made_from=made_from,
                test_share=test_share,
                features=features,
                history=history,
                rows=rows,
                knowledge=knowledge,
                licence=licence,
                jobs=jobs,
                refuse=refuse,
            )

        if files:
            made = make(_of_files(files, progress), _named(files))
        else:
            with open_league(server, ca, db) as league:
                made = make(_of_ladder(league, ladder or "", progress), f"ladder {ladder}")
    if as_json:
        print_json(_row(to, made, refused))
    else:
        print_lines(_lines(made))
    if refused:
        raise typer.Exit(FAILED)


def _of_files(files: Sequence[Path], progress: Progress) -> Iterator[Candidate]:
    """Yield the matches of files."""
    from cutpurse.learn.data_sets.export import Candidate

    for file in files:
        if not file.is_file():
            raise NotFound(f"no record {file}: there is no such file")
    counts = [line_count(file) for file in files]
    before = 0
    for file, count in zip(files, counts, strict=True):
        try:
            for filed in matches_in(file):
                if count:
                    progress(before + filed.line - 1, sum(counts))
                yield Candidate(f"{file}, line {filed.line}", filed)
        except RecordError as problem:
            yield Candidate(str(file), RecordError(f"{problem}; the rest of this file is left out, too"))
        before += count


def _named(files: Sequence[Path]) -> str:
    """Name the files in the card."""
    others = format_count(len(files) - 1, "other file", "other files")
    return files[0].name if len(files) == 1 else f"{files[0].name} and {others}"


def _of_ladder(league: League, ladder: str, progress: Progress) -> Iterator[Candidate]:
    """Yield the finished matches of a ladder, the newest first."""
    from cutpurse.learn.data_sets.export import Candidate
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import match_pages

    ladder_named(league, ladder)
    total = sum(map(len, match_pages(league.ListMatches, ladder)))
    for number, match in enumerate(chain.from_iterable(match_pages(league.ListMatches, ladder))):
        progress(number, max(total, number))
        pieces = league.GetRecord(ladder_pb2.GetRecordRequest(match=match.match))
        content = b"".join([piece.piece for piece in pieces])
        logs = league.GetMatch(ladder_pb2.GetMatchRequest(match=match.match)).courses
        where = f"match {short(match.match)}"
        try:
            for filed in read_matches(content):
                yield Candidate(where, filed, [log.thinking_ms for log in logs], [_usages(log) for log in logs])
        except RecordError as problem:
            yield Candidate(where, problem)


def _usages(log: ladder_pb2.SeatCourse) -> dict[int, tuple[int, int]]:
    """Return the reported tokens and cost by decision of the seat, from 0."""
    return {usage.decision - 1: (usage.input_tokens + usage.output_tokens, usage.cost_micros) for usage in log.usages}


def _lines(made: Exported) -> list[str]:
    """Describe the files, and count what was left out."""
    head = ("file", "game", "seats", "rows", "matches", "deals", "bytes")
    cells = [
        (file.name, file.game, file.seats, file.rows, file.matches, file.deals, file.size_bytes) for file in made.files
    ]
    return [*table(head, cells), *([f"left out: {made.left_out}"] if made.left_out else [])]


def _row(to: Path, made: Exported, refused: list[str]) -> dict[str, Any]:
    """Return the data set for the document of --json."""
    return {
        "to": str(to),
        "matches": made.matches,
        "void": made.void,
        "repeated": made.repeated,
        "refused": refused,
        "files": [_file_row(file) for file in made.files],
    }


def _file_row(file: DataFile) -> dict[str, Any]:
    return {
        "file": file.name,
        **file.stamp,
        "settings": file.settings,
        "part": file.part or None,
        "rows": file.rows,
        "matches": file.matches,
        "deals": file.deals,
        "bytes": file.size_bytes,
    }
