"""`cutpurse db`: the database of a server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from cutpurse.engine.errors import CutpurseError
from cutpurse.sdk.commands.arguments import AsJson
from cutpurse.sdk.errors import FAILED, NotFound, needs
from cutpurse.sdk.terminal import print_json, print_lines, say, table

if TYPE_CHECKING:
    from cutpurse.leaderboard.reader import Reader
    from cutpurse.leaderboard.store import Store

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The database of a server.\n\nExample: cutpurse db recompute league.db",
)

Database: TypeAlias = Annotated[Path, typer.Argument(metavar="FILE", help="The database.")]


@app.callback()
def db() -> None:
    """The database of a server."""


@app.command()
def upgrade(database: Database) -> None:
    """Bring a database to the newest schema; `cutpurse serve` does it by itself.

    Example: cutpurse db upgrade league.db
    """
    with _opened(database):
        say(f"{database} has the newest schema")


@app.command()
def recompute(database: Database, as_json: AsJson = False) -> None:
    """Compute all ratings again from the results and compare them with those kept, to the bit.

    Ends with 1 if one differs. Nothing is written, so a server may run meanwhile.

    Example: cutpurse db recompute league.db
    """
    with _read(database) as reader:
        from cutpurse.leaderboard.recompute import recompute as check_all

        checks = check_all(reader)
    if as_json:
        rows = [
            {"ladder": one.ladder, "boards": one.boards, "versions": one.versions, "differences": one.count}
            for one in checks
        ]
        print_json(rows)
    else:
        cells = [(one.ladder, one.boards, one.versions, one.count) for one in checks]
        print_lines(table(("ladder", "boards", "versions", "differences"), cells))
    for one in checks:
        for difference in one.differences:
            say(f"{one.ladder}: {difference}")
    if not all(one.equal for one in checks):
        raise typer.Exit(FAILED)


@contextmanager
def _opened(database: Path) -> Iterator[Store]:
    """The store of a database that is there already."""
    with needs("server"):
        from cutpurse.leaderboard.store import Store
    with _says_why_not(database), Store(database) as store:
        yield store


@contextmanager
def _read(database: Path) -> Iterator[Reader]:
    """A database that is there already, to be read."""
    with needs("server"):
        from cutpurse.leaderboard.reader import Reader
    with _says_why_not(database), Reader(database) as reader:
        yield reader


@contextmanager
def _says_why_not(database: Path) -> Iterator[None]:
    from cutpurse.leaderboard.errors import LeaderboardError

    if not database.is_file():
        raise NotFound(f"no database {database}: it does not exist")
    try:
        yield
    except LeaderboardError as problem:
        raise CutpurseError(str(problem)) from None
