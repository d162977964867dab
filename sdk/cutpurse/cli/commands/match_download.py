"""`cutpurse match download`: match files to store, which anybody can verify."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import UTC
from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.ladder_file import moment_ms
from cutpurse.cli.league_options import Authority, Database, Server, ladder_named, open_league, short
from cutpurse.cli.match_source import fetched
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_message
from cutpurse.sdk.matches.match_file import read_matches
from cutpurse.wire.errors import NotFound
from cutpurse.wire.text import format_count

__all__ = ["download"]


def download(
    matches: Annotated[
        list[str] | None, typer.Argument(metavar="MATCH...", help="Match IDs, or their first 8 or more characters.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="PATH",
            help="File to write, - means standard output; with --ladder a folder. [default: match-ID.jsonl, or LADDER]",
        ),
    ] = None,
    ladder: Annotated[
        str | None,
        typer.Option(
            metavar="LADDER",
            help="Download all matches of this ladder instead, as files by day.",
            autocompletion=complete_ladders,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(metavar="DATE", help="With --ladder: only from this day on, in UTC. [default: from the first]"),
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
) -> None:
    """Download matches to one file, with everything needed to replay and verify them.

    An existing file is not overwritten. With --ladder, a folder has a file for each day, and manifest.json with their
    SHA-256; the same command again brings what is missing, also after it was cut off.

    Example: cutpurse match download 3f2a9c01 -o final.jsonl
    """
    if bool(matches) == (ladder is not None):
        raise UsageError("name matches, or a ladder with --ladder: one of them")
    if ladder is not None:
        _download_ladder(ladder, since, out or Path(ladder), (server, ca, db))
        return
    if since is not None:
        raise UsageError("--since is for --ladder")
    _download_matches(matches or [], out, (server, ca, db))


_League: TypeAlias = tuple[str | None, Path | None, str | None]


def _download_ladder(ladder: str, since: str | None, folder: Path, at: _League) -> None:
    from cutpurse.cli.day_files import MANIFEST, download_days

    since_ms = moment_ms(since, "--since", UTC) if since else 0
    with open_league(*at) as league, Progress("matches") as progress:
        ladder_named(league, ladder)
        files = download_days(league, ladder, since_ms, folder, progress)
    some = format_count(sum(int(file["matches"]) for file in files), "match", "matches")
    print_message(f"{some} in {format_count(len(files), 'file')} in {folder}; {folder / MANIFEST} lists them")


def _download_matches(matches: Sequence[str], out: Path | None, at: _League) -> None:
    if out is None and len(matches) > 1:
        raise UsageError(f"{len(matches)} matches go into one file: name it with --out")
    files = []
    with Progress("matches") as progress:
        for number, match in enumerate(matches):
            progress(number, len(matches))
            files.append(fetched(match, *at))
    content = b"".join(files)
    if out == Path("-"):
        sys.stdout.write(content.decode())
        return
    heads = [filed.head for filed in read_matches(content)]
    path = out or Path(f"match-{short(heads[0].match if heads and heads[0] else matches[0])}.jsonl")
    _write(path, content)
    some = format_count(len(heads), "match", "matches")
    print_message(f"{some} in {path}; cutpurse match verify {path}")


def _write(path: Path, content: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        if path.is_file() and path.read_bytes() == content:
            return
        raise UsageError(f"{path} already exists with other content; name another file with --out") from None
    except OSError as problem:
        raise NotFound(f"{path} cannot be written: {problem.strerror}") from None
