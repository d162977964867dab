"""`cutpurse match download`: match files to store, which anybody can verify."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from cutpurse.cli.league_options import Authority, Database, Server, short
from cutpurse.cli.match_source import fetched
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_message
from cutpurse.wire.errors import NotFound
from cutpurse.wire.match_file import read_matches
from cutpurse.wire.text import format_count

__all__ = ["download"]


def download(
    matches: Annotated[
        list[str], typer.Argument(metavar="MATCH...", help="Match IDs, or their first 8 or more characters.")
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", metavar="FILE", help="File to write; - means standard output. [default: match-ID.jsonl]"
        ),
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
) -> None:
    """Download matches to one file, with everything needed to replay and verify them.

    An existing file is not overwritten.

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
        raise UsageError(f"{path} already exists with other content; name another file with --out") from None
    except OSError as problem:
        raise NotFound(f"{path} cannot be written: {problem.strerror}") from None
