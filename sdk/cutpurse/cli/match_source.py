"""The source of matches for commands: a file, or a match ID in a league."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

from cutpurse.cli.league_options import open_league
from cutpurse.engine.errors import RecordError, UsageError
from cutpurse.engine.record import Record
from cutpurse.sdk.matches.match_file import FiledMatch, read_matches
from cutpurse.wire.errors import NotFound

__all__ = ["FileOrMatch", "MatchNumber", "fetched", "line_count", "match_in", "matches_in", "matches_of", "record_of"]

_SHORTEST: Final = 8  # shortest prefix of a match ID
_NAME: Final = re.compile(r"[0-9a-f]{8,64}")  # a match ID or its prefix
_TOO_SHORT: Final = re.compile(r"[0-9a-f]{1,7}")

FileOrMatch: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE|MATCH",
        help="File of `cutpurse play --record` or `match download`, or a match ID.",
    ),
]
MatchNumber: TypeAlias = Annotated[int, typer.Option("--match", metavar="N", help="Match in the file, counted from 0.")]


def matches_of(what: str, server: str | None, ca: Path | None, db: str | None) -> Iterator[FiledMatch]:
    """Yield the matches of a file, or the match with this ID if a league is given or there is no such file.

    Raises:
        NotFound: If there is no such file or match.
        RecordError: If the file is invalid.
        CutpurseError: Other errors of the league.
    """
    path = Path(what)
    if server is None and ca is None and db is None and (path.exists() or not _NAME.fullmatch(what)):
        matches = matches_in(path)
    else:
        matches = read_matches(fetched(what, server, ca, db))
    try:
        yield from matches
    except RecordError as problem:
        raise RecordError(f"{what}: {problem}") from None


def match_in(what: str, matches: Iterator[FiledMatch], number: int) -> FiledMatch:
    """Return match `number` of those of a file, counted from 0.  Raises UsageError if there are fewer."""
    held = 0
    for held, filed in enumerate(matches, 1):
        if held - 1 == number:
            return filed
    raise UsageError(f"--match {number}: {what} has matches 0 to {held - 1}")


def record_of(what: str, filed: FiledMatch) -> Record:
    """Return the record of a match of a file.  Raises RecordError, with file and line, if it is invalid."""
    try:
        return filed.record()
    except RecordError as problem:
        raise RecordError(f"{what}, line {filed.line}: {problem}") from None


def fetched(match: str, server: str | None, ca: Path | None, db: str | None) -> bytes:
    """Return the file of a match of a league.  Raises what the calls of `League` raise."""
    from cutpurse.v1 import ladder_pb2

    with open_league(server, ca, db) as league:
        return b"".join(message.piece for message in league.GetRecord(ladder_pb2.GetRecordRequest(match=match)))


def matches_in(path: Path) -> Iterator[FiledMatch]:
    """Yield the matches of a file one by one, since it may be larger than memory.

    Raises:
        NotFound: If there is no such file.
        RecordError: If the file is invalid.
    """
    try:
        with path.open("rb") as file:
            yield from read_matches(file)
    except (FileNotFoundError, IsADirectoryError):
        hint = ""
        if _TOO_SHORT.fullmatch(str(path)):
            hint = f"; a match of a league is named by at least the first {_SHORTEST} characters of its name"
        raise NotFound(f"no record {path}: there is no such file{hint}") from None
    except OSError as problem:
        raise RecordError(f"it cannot be read as a record: {problem}") from None


def line_count(path: Path) -> int:
    """Count the lines of a file for its progress; 0 if there is no such file."""
    if not path.is_file():
        return 0
    with path.open("rb") as lines:
        return sum(1 for _ in lines)
