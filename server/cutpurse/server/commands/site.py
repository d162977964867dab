"""`cutpurse site`: the page as plain files, without a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cutpurse.cli.progress import Spinner
from cutpurse.process.terminal import print_lines
from cutpurse.wire.errors import needs

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
    pyodide: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of the npm package pyodide. [default: where `npm ci` puts it]"),
    ] = None,
) -> None:
    """Write the site into a folder, for any file host: rules, guided matches, documents, play, and match files.

    Its games run in the browser, so it needs no server. Nothing comes from another host.

    Example: cutpurse site build --into public
    """
    with needs("web"):
        from cutpurse.page.site.build import PYODIDE, build_site
    with Spinner(f"writing {into}"):
        size = build_site(into, pyodide or PYODIDE)
    megabytes, engine = (f"{count / 1e6:.1f} MB" for count in (size.bytes, size.engine_bytes))
    print_lines([f"{into}: {size.files} files, {megabytes}; a browser loads {engine} of them before its first match"])
