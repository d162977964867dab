"""`cutpurse match download`: match files to store, which anybody can verify."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cutpurse.engine.errors import UsageError
from cutpurse.sdk.commands.league_options import Authority, Database, Server, short
from cutpurse.sdk.commands.match_source import fetched
from cutpurse.sdk.errors import NotFound
from cutpurse.sdk.match_file import read_matches
from cutpurse.sdk.progress import Progress
from cutpurse.sdk.terminal import format_count, print_message

__all__ = ["download"]


def download(
    matches: Annotated[
        list[str], typer.Argument(metavar="MATCH...", help="Names, or the first eight or more signs of them.")
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Else match-NAME.jsonl; - is standard output."),
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
) -> None:
    """Write the files of matches, one after the other into one: all that is needed to replay and to check them.

    A file that is there already is left alone.

    Example: cutpurse match download 3f2a9c01 -o final.jsonl
    """
    if out is None and len(matches) > 1:
        raise UsageError(f"{len(matches)} matches go into one file: name it with --out")
    files = []
    with Progress("matches") as progress:
        for number, match in enumerate(matches):
            progress(number, len(matches))
            files.append(fetched(match, server, ca, db))
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
        raise UsageError(f"{path} is there already, with something else in it: name another with --out") from None
    except OSError as problem:
        raise NotFound(f"{path} cannot be written: {problem.strerror}") from None
