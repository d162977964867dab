"""`cutpurse site`: the page as plain files, without a server."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutpurse.cli.league_options import Authority
from cutpurse.cli.progress import Spinner
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_lines
from cutpurse.wire.errors import needs
from cutpurse.wire.text import format_count

if TYPE_CHECKING:
    from cutpurse.wire.league import League

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Make a site of plain files, where people learn, play and check matches in their browsers.\n\n"
    "Example: cutpurse site build --into public",
)


@app.callback()
def _group() -> None: ...


@app.command()
def build(
    into: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write: a new one, or that of an earlier site.")],
    packages: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the npm packages. [default: where `npm ci` puts them]"),
    ] = None,
    league: Annotated[
        str | None,
        typer.Option(
            metavar="LEAGUE", help="Show this league: HOST:PORT of a server, a database file, or postgresql://."
        ),
    ] = None,
    ca: Authority = None,
    days: Annotated[
        float, typer.Option(metavar="N", min=0.0, max=36_500.0, help="Show matches of the league's last N days.")
    ] = 7.0,
    address: Annotated[
        str, typer.Option(metavar="URL", help="Address of the site; with it, the league's ladders and bots have feeds.")
    ] = "",
) -> None:
    """Write the site into a folder, for any file host: rules, guided matches, documents, play, and match files.

    Its games run in the browser, so it needs no server. Nothing comes from another host. With a league, it also has
    rankings, bots, events, and matches with replays: what is public now. Run it again to bring it up to date; only
    new matches are fetched.

    Example: cutpurse site build --into public

    Example: cutpurse site build --into public --league arena.example.org:7777 --days 7
    """
    with needs("web"):
        from cutpurse.page.site.build import build_site
        from cutpurse.page.site.league_pages import MAX_MATCHES, LeagueSource
        from cutpurse.page.site.packages import PACKAGES
    if address and not re.fullmatch(r"https?://[^/?#\s\"'<>]+[^?#\s\"'<>]*", address):
        raise UsageError(f"--address {address!r:.80} is none of a site: write https://HOST/FOLDER")
    with Spinner(f"writing {into}"), _league(league, ca) as opened:
        source = None if opened is None else LeagueSource(opened, days, address)
        size = build_site(into, packages or PACKAGES, source)
    megabytes, engine = (f"{count / 1e6:.1f} MB" for count in (size.bytes, size.engine_bytes))
    print_lines([f"{into}: {size.files} files, {megabytes}; a browser loads {engine} of them before its first match"])
    if league is not None:
        most = (
            ", the most that a site shows (with fewer --days it shows all of them)"
            if size.matches == MAX_MATCHES
            else ""
        )
        new = format_count(size.new_matches, "new match", "new matches")
        print_lines([f"{into}: {new}, {size.removed_matches} removed, {size.matches} in all{most}"])


def _league(text: str | None, ca: Path | None) -> AbstractContextManager[League | None]:
    """Open the league: what names a file that is there, or has no port, is a database."""
    if text is None:
        return nullcontext()
    from cutpurse.wire.league import league_at  # slow, as it imports gRPC

    is_server = re.match(r"(https?|unix):", text) or (re.search(r":\d+$", text) and not Path(text).exists())
    if is_server and not text.startswith("postgresql"):
        return league_at(text, ca, as_stranger=True)
    return league_at(None, ca, text, as_stranger=True)
