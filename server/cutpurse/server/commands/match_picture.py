"""`cutpurse match picture`: a moment of a match as PNG or SVG, a stretch as an animated GIF, or all of it as HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from cutpurse.cli.league_options import Authority, Database, Server
from cutpurse.cli.match_source import FileOrMatch, MatchNumber, match_in, matches_of
from cutpurse.cli.progress import Spinner
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_message
from cutpurse.sdk.matches.match_file import FiledMatch
from cutpurse.sdk.matches.record_league import answer_about
from cutpurse.wire.errors import NotFound, needs

__all__ = ["picture"]

MOMENT: Final = (".png", ".svg")
STRETCH: Final = ".gif"
WHOLE: Final = (".html", ".htm")


def picture(
    file: FileOrMatch,
    into: Annotated[
        Path,
        typer.Option(
            metavar="FILE", help="File to write: .png or .svg for a moment, .gif for a stretch, .html for all."
        ),
    ],
    match: MatchNumber = 0,
    at: Annotated[
        int | None,
        typer.Option(metavar="D", help="Moment to draw, by its decision, counted from 0. [default: the end]"),
    ] = None,
    first: Annotated[int | None, typer.Option("--from", metavar="D", help="First moment of an animation.")] = None,
    last: Annotated[
        int | None, typer.Option("--to", metavar="D", help="Last moment of an animation, at most 60 in all.")
    ] = None,
    seat: Annotated[int | None, typer.Option(metavar="S", help="Draw what this seat saw. [default: all cards]")] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
) -> None:
    """Draw a moment of a finished match, an animation of a stretch, or its whole replay, as the page draws it.

    A replay is one HTML file: it opens in a browser without a server or a network. An existing file is not overwritten.

    Example: cutpurse match picture run.jsonl --at 41 --into table.png

    Example: cutpurse match picture 3f2a9c01 --from 30 --to 41 --into steal.gif

    Example: cutpurse match picture 3f2a9c01 --into match.html
    """
    _check(into, at, first, last)
    filed = match_in(file, matches_of(file, server, ca, db), match)
    with Spinner(f"drawing {into}"):
        content = _drawn(filed, into.suffix, at, (first, last), seat)
    _write_new(into, content)


def _write_new(into: Path, content: bytes) -> None:
    """Write a file that does not exist yet, and say how large it is.

    Raises:
        UsageError: If it exists.
        NotFound: If it cannot be written.
    """
    try:
        with into.open("xb") as opened:
            opened.write(content)
    except FileExistsError:
        raise UsageError(f"{into} already exists; name another file with --into") from None
    except OSError as problem:
        raise NotFound(f"{into} cannot be written: {problem.strerror}") from None
    print_message(f"{into} has {len(content):,} bytes")


def _check(into: Path, at: int | None, first: int | None, last: int | None) -> None:
    """Check that the options fit the kind of file.

    Raises:
        UsageError: If not.
    """
    if into.suffix == STRETCH:
        if at is not None:
            raise UsageError(f"--at is for a moment, and {into} is an animation: name its moments with --from and --to")
        if first is None or last is None:
            raise UsageError(f"{into} is an animation: name its first and last moment with --from and --to")
        return
    if into.suffix not in (*MOMENT, *WHOLE):
        raise UsageError(
            f"--into {into}: the name ends in .png or .svg for a moment, .gif for a stretch, .html for all"
        )
    if into.suffix in WHOLE and at is not None:
        raise UsageError(f"--at is for a moment, and {into} has all of them")
    if first is not None or last is not None:
        raise UsageError(f"--from and --to make an animation: {into} would have to end in .gif")


def _drawn(
    filed: FiledMatch, kind: str, at: int | None, stretch: tuple[int | None, int | None], seat: int | None
) -> bytes:
    """Return the picture or the animation.

    Raises:
        UsageError: If there is no such moment or seat, or the stretch is too long.
        RecordError: If the record does not verify.
        ExtraMissing: If a library is not installed.
    """
    if kind in WHOLE:
        with needs("web"):
            from cutpurse.page.replay_file import replay_file
        return replay_file(filed, answer_about(1, filed), seat).encode()
    with needs("pictures"):
        from cutpurse.page.match_view.filed_replay import replay_of
        from cutpurse.page.match_view.match_pictures import (
            moment_index,
            moment_picture,
            stretch_pictures,
            stretch_range,
        )
        from cutpurse.page.match_view.pixels import to_gif, to_png
    replayed = replay_of(filed)
    if seat is not None and not 0 <= seat < replayed.seats:
        raise UsageError(f"--seat {seat}: the match has seats 0 to {replayed.seats - 1}")
    first, last = stretch
    if first is not None and last is not None:
        return to_gif(stretch_pictures(replayed, seat, stretch_range(replayed, seat, first, last)))
    svg = moment_picture(replayed, seat, moment_index(replayed, seat, at))
    return svg.encode() if kind == ".svg" else to_png(svg)
