"""`cutpurse db copies`: near copies among submitted bots, for the host of a server."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_databases, complete_ladders
from cutpurse.cli.progress import Spinner
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.wire.errors import NotFound, needs
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.server.parts.submissions.near_copies import MatchingLines, NearCopy, Program

__all__ = ["common_files", "copies"]

PASSAGES: Final = 3  # matching passages listed for each pair, the longest
NO_PROOF: Final = "Worth a look, and no proof: compare the lines before you say anything."
_PYTHON_BLOCK: Final = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)


def copies(
    database: Annotated[
        str,
        typer.Argument(
            metavar="FILE", autocompletion=complete_databases, help="The database: a file, or postgresql://..."
        ),
    ],
    ladder: Annotated[
        str | None,
        typer.Argument(
            metavar="[LADDER]", autocompletion=complete_ladders, help="Only bots rated on this ladder. [default: all]"
        ),
    ] = None,
    least: Annotated[
        float,
        typer.Option(metavar="SHARE", min=0.05, max=1.0, help="Least shared part of a bot's own code, from 0.05 to 1."),
    ] = 0.3,
    common: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="PATH", help="File or folder that everybody was given, such as the bot of a course (repeatable)."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List submitted bots of different owners that share much of their code.

    Renamed variables, other numbers, comments and another order of the functions change nothing. What the starter bots,
    the built-in bots and the documentation have does not count, nor what bots of more than 8 owners share. For each
    pair the longest matching passages are listed. A server may run meanwhile.

    Example: cutpurse db copies league.db greed --common handout.py
    """
    with needs("server"):
        from cutpurse.leaderboard import queries
        from cutpurse.leaderboard.databases import find_database
        from cutpurse.leaderboard.reader import LeaderboardReader
        from cutpurse.server.parts.submissions import archive_table, submission_queries
        from cutpurse.server.parts.submissions.near_copies import find_near_copies
        from cutpurse.server.parts.submissions.storage import stored_archive
        from cutpurse.server.parts.submissions.submitted_programs import submitted_programs
        from cutpurse.server.store_errors import plain_trouble
        from cutpurse.server.submitted_files import storage_beside

    allowed = dict(common_files(common or []))
    missing: list[str] = []
    with plain_trouble():
        found = find_database(database)
        if not found.exists():
            raise NotFound(f"no database {found}: it does not exist")
        with LeaderboardReader(found) as reader:
            entries = [entry for entry in reader.run(submission_queries.submissions) if entry.is_kept]
            if ladder is not None:
                rated = {(row.owner, row.bot) for row in reader.run(queries.rankings, ladder)}
                entries = [entry for entry in entries if (entry.owner, entry.bot) in rated]

            def archive(digest: bytes) -> bytes:
                try:
                    return stored_archive(storage_beside(found.beside), digest)
                except FileNotFoundError:  # several servers share archives in the database
                    if (shared := reader.run(archive_table.archive, digest)) is None:
                        raise
                    return shared

            programs = list(submitted_programs(archive, entries, lambda entry: missing.append(entry.shown)))
    with Spinner("comparing") as spinner:
        pairs = find_near_copies(programs, allowed, least)
        spinner.end()
    if missing:
        print_message(f"left out, as the archive cannot be read: {printable(', '.join(missing), 1_000)}")
    if as_json:
        print_json({"bots": len(programs), "left_out": missing, "pairs": [_row(pair) for pair in pairs]})
        return
    if pairs:
        head = ("bots", "of the first", "of the second", "lines", "matching")
        print_lines(table(head, [cells for pair in pairs for cells in _cells(pair)]))
        print_message(NO_PROOF)
    compared = format_count(len(programs), "version", "versions")
    print_lines([f"{compared} compared: {format_count(len(pairs), 'pair', 'pairs')}"])


def _cells(pair: NearCopy) -> Iterator[tuple[Any, ...]]:
    """Yield a row for each passage; only the first names the bots."""
    names = f"{_name(pair.program)} and {_name(pair.other)}"
    shares = f"{100 * pair.share:.0f} %", f"{100 * pair.other_share:.0f} %"
    for number, lines in enumerate(pair.lines[:PASSAGES]):
        first = ("", "", "") if number else (names, *shares)
        yield (*first, lines.last - lines.first + 1, _where(lines))


def _where(lines: MatchingLines) -> str:
    return (
        f"{printable(lines.file, 100)}:{lines.first}-{lines.last} and "
        f"{printable(lines.other_file, 100)}:{lines.other_first}"
    )


def _name(program: Program) -> str:
    return printable(f"{program.owner}/{program.bot}:{program.version}", 200)


def _row(pair: NearCopy) -> dict[str, Any]:
    """Return a pair for --json."""
    return {
        "bots": [
            {"owner": one.owner, "bot": one.bot, "version": one.version, "shared": share}
            for one, share in ((pair.program, pair.share), (pair.other, pair.other_share))
        ],
        "tokens": pair.tokens,
        "matching": [lines._asdict() for lines in pair.lines],
    }


# -- what everybody may use
def common_files(paths: Sequence[Path]) -> Iterator[tuple[str, str]]:
    """Yield the files that everybody may use, by path: ours, and those of the host."""
    from cutpurse.sdk.starter.languages import LANGUAGES, PYTHON, source_of
    from cutpurse.server.parts.submissions.submitted_programs import is_source

    for template in files("cutpurse.sdk.starter").iterdir():
        if template.name.endswith(".txt"):
            yield f"starter/{template.name}.py", template.read_text(encoding="utf-8")
    yield from _python_files(files("cutpurse.bots"), "bots")
    with suppress(ModuleNotFoundError, NotFound):  # a server without the page has no documents
        from cutpurse.page.documents import documents_folder

        for page in sorted(documents_folder().rglob("*.md")):
            for number, block in enumerate(_PYTHON_BLOCK.findall(page.read_text(encoding="utf-8"))):
                yield f"{page}/{number}.py", block
    folders = [source_of(language) for language in LANGUAGES if language != PYTHON]
    for path in [*folders, *paths]:
        if not path.exists():
            raise UsageError(f"--common {path}: there is no such file or folder")
        for file in [path] if path.is_file() else sorted(path.rglob("*")):
            inside = PurePosixPath(file.name if file == path else file.relative_to(path).as_posix())
            if is_source(inside) and file.is_file():
                yield str(file), file.read_text(encoding="utf-8", errors="replace")


def _python_files(folder: Traversable, name: str) -> Iterator[tuple[str, str]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _python_files(entry, f"{name}/{entry.name}")
        elif entry.name.endswith(".py"):
            yield f"{name}/{entry.name}", entry.read_text(encoding="utf-8")
