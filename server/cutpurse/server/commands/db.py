"""`cutpurse db`: the database of a server."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import entry_points
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final, TypeAlias

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_databases, complete_ladders
from cutpurse.cli.lazy import group_with_former
from cutpurse.cli.progress import Progress, Spinner
from cutpurse.engine.errors import UsageError
from cutpurse.leaderboard.address import is_postgresql, without_password
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.server.inner_ladders import is_inner
from cutpurse.server.submitted_files import storage_beside
from cutpurse.wire.errors import FAILED, NotFound, needs

if TYPE_CHECKING:
    from cutpurse.leaderboard.reader import LeaderboardReader
    from cutpurse.leaderboard.refit import Refit
    from cutpurse.leaderboard.store import Store

__all__ = ["app"]

MAX_FIT: Final = 10_000  # matches that --fit uses by default

app = typer.Typer(
    cls=group_with_former({"refit": "db estimate FILE LADDER --fit"}),
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Back up, copy, check and upgrade a server's database.\n\n"
    "Example: cutpurse db backup league.db league-monday.db",
)

for entry in entry_points(group="cutpurse.db_commands"):  # of parts
    app.command(entry.name)(entry.load())

Database: TypeAlias = Annotated[
    str,
    typer.Argument(metavar="FILE", autocompletion=complete_databases, help="The database: a file, or postgresql://..."),
]


@app.callback()
def db() -> None:
    """Back up, copy, check and upgrade a server's database."""


@app.command()
def upgrade(database: Database) -> None:
    """Upgrade a database to the newest schema.

    `cutpurse serve` does this by itself. There is no downgrade: make a copy with `cutpurse db backup` first.

    Example: cutpurse db upgrade league.db
    """
    with Spinner(f"upgrading {without_password(database)}") as spinner, _opened(database) as store:
        spinner.end()
        database = store.database.address
        from cutpurse.leaderboard.schema import newest_revision

        newest = newest_revision()
        if store.found == newest:
            print_message(f"{database} has schema {newest} already, the newest")
        elif store.found is None:
            print_message(f"{database} was empty and has schema {newest} now")
        else:
            print_message(f"{database} had schema {store.found} and has schema {newest} now")


@app.command()
def backup(
    database: Database,
    to: Annotated[Path, typer.Argument(metavar="TO", help="The copy, a new file.")],
) -> None:
    """Copy a database, even while a server writes it, and check the copy.

    The copy is one file with a consistent state of the database. It holds all cards of all matches and the hashes of
    all tokens, and has the permissions of the database.

    Example: cutpurse db backup league.db league-monday.db
    """
    with needs("server"):
        from cutpurse.leaderboard.backup import back_up
    if is_postgresql(database):
        raise UsageError(
            "a PostgreSQL database is backed up by its own program: "
            f"pg_dump --format=custom --file={to} {quote(without_password(database))}"
        )
    with _says_why_not(database), Progress("pages copied") as tell:
        copied = back_up(Path(database), to, tell)
    print_message(f"{to} is a checked copy of {database}: schema {copied.revision}, {copied.size:,} bytes")
    if (bots := storage_beside(Path(database))).is_dir():
        print_message(f"the copy does not contain the archives of submitted bots: copy the folder {bots} too")


@app.command()
def restore(
    copy: Annotated[Path, typer.Argument(metavar="BACKUP", help="A copy made by `cutpurse db backup`.")],
    database: Annotated[
        str,
        typer.Argument(metavar="TO", autocompletion=complete_databases, help="The database file to create or replace."),
    ],
    force: Annotated[bool, typer.Option("--force", help="Replace an existing database, which is lost.")] = False,
) -> None:
    """Check a copy and make it the database; no server may have the database open.

    The copy stays as it is. The database is replaced completely or not at all.

    Example: cutpurse db restore league-monday.db league.db --force
    """
    with needs("server"):
        from cutpurse.leaderboard.backup import restore as put_back
    if is_postgresql(database):
        raise UsageError(
            "a PostgreSQL database is restored by its own program: pg_restore; "
            "to move a league there, use cutpurse db copy"
        )
    with _says_why_not(str(copy)), Progress("pages copied") as tell:
        copied = put_back(copy, Path(database), force, tell)
    print_message(f"{database} is what {copy} holds: schema {copied.revision}, {copied.size:,} bytes")
    if (bots := storage_beside(Path(database))).is_dir() or storage_beside(copy).is_dir():
        print_message(f"submitted bots run only if their archives are in {bots}")


@app.command()
def copy(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FROM", autocompletion=complete_databases, help="The database to copy, of the newest schema."
        ),
    ],
    target: Annotated[
        str, typer.Argument(metavar="TO", autocompletion=complete_databases, help="An empty database, or a new file.")
    ],
) -> None:
    """Copy a league into another database, such as from a file to PostgreSQL or back, and check every row.

    A server may write FROM meanwhile: the copy has a consistent state of it. TO is filled completely or not at all.

    Example: cutpurse db copy league.db postgresql://league@db.example/league
    """
    with needs("server"):
        from cutpurse.leaderboard.copying import copy_leaderboard
        from cutpurse.leaderboard.databases import find_database
        from cutpurse.server.installed_parts import hooks_of_parts
    hooks_of_parts()  # declares the tables of the parts, which would not be copied otherwise
    with _says_why_not(source), Progress("rows copied") as tell:
        original, filled = find_database(source), find_database(target)
        copied = copy_leaderboard(original, filled, tell)
    print_message(f"{filled} is a checked copy of {original}: schema {copied.revision}, {copied.rows:,} rows")
    if (bots := storage_beside(original.beside)).is_dir():
        print_message(f"copy the archives of submitted bots, too: {bots} to {storage_beside(filled.beside)}")


@app.command()
def verify(
    database: Annotated[
        str | None,
        typer.Argument(
            metavar="[FILE]", autocompletion=complete_databases, help="The database: a file, or postgresql://..."
        ),
    ] = None,
    db: Annotated[
        str | None,
        typer.Option(
            "--db", metavar="FILE", autocompletion=complete_databases, help="The database, as with other commands."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Recompute ratings and statistics from the results, and compare them with the stored ones.

    Ratings must be equal to the bit. Exits with 1 if anything differs. Nothing is written, so a server may run
    meanwhile.

    Example: cutpurse db verify league.db
    """
    if (database is None) == (db is None):
        raise UsageError("name one database: cutpurse db verify league.db")
    with _read(database or db or "") as reader, Progress("boards") as progress:
        from cutpurse.leaderboard import queries
        from cutpurse.leaderboard.recompute import recompute as check_all

        checks = check_all(reader, progress)
        inner = {entry.name for entry in reader.run(queries.ladders) if is_inner(entry.terms)}
        listed = [checked for checked in checks if checked.ladder not in inner or not checked.equal]
    if as_json:
        rows = [
            {
                "ladder": checked.ladder,
                "boards": checked.boards,
                "versions": checked.versions,
                "differences": checked.count,
            }
            for checked in listed
        ]
        print_json(rows)
    else:
        cells = [(checked.ladder, checked.boards, checked.versions, checked.count) for checked in listed]
        print_lines(table(("ladder", "boards", "versions", "differences"), cells))
    for checked in checks:
        for difference in checked.differences:
            print_message(paint(f"{checked.ladder}: {difference}", "bad", sys.stderr))
    if not all(checked.equal for checked in checks):
        raise typer.Exit(FAILED)


@app.command()
def estimate(
    database: Database,
    ladder: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[LADDER]...", help="Names of the ladders. [default: all]", autocompletion=complete_ladders
        ),
    ] = None,
    is_fit: Annotated[
        bool, typer.Option("--fit", help="Estimate beta, tau and the share of ties of one ladder instead.")
    ] = False,
    matches: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="With --fit: newest matches to use; 1,000 take 3 s. [default: 10,000]"),
    ] = None,
    apply: Annotated[
        bool, typer.Option("--apply", help="With --fit: rate with the values from now on, if they predict better.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Estimate ratings and places from all results of a ladder at once, for `cutpurse ladder rankings`.

    A server does this by itself as its ladders grow. Use this command for a database that no server has open.

    With --fit, the parameters of the rating are fitted to the older three quarters of the matches and tested on the
    newest quarter; nothing is written. With --apply, a new epoch begins: ratings continue from their values, and past
    ratings do not change. No server may have the database open then. Exits with 1 if --apply finds nothing better.

    Example: cutpurse db estimate league.db greed

    Example: cutpurse db estimate league.db greed --fit --apply
    """
    ladders = ladder or []
    if not is_fit and (matches is not None or apply):
        raise UsageError("--matches and --apply are for the parameters of the rating: add --fit")
    if not is_fit:
        _estimate(database, ladders, as_json)
    elif len(ladders) == 1:
        _fit(database, ladders[0], matches or MAX_FIT, apply, as_json)
    else:
        raise UsageError("--fit needs one ladder: cutpurse db estimate league.db greed --fit")


def _estimate(database: str, ladders: Sequence[str], as_json: bool) -> None:
    """Estimate the ratings of the ladders, or of all."""
    rows = []
    with _opened(database) as store, Spinner() as spinner:
        from cutpurse.leaderboard import queries
        from cutpurse.leaderboard.estimates.result_matrix import ladder_results, put_estimates

        for name in ladders or [entry.name for entry in store.run(queries.ladders) if not is_inner(entry.terms)]:
            spinner.show(f"estimating {name}")
            estimates = store.run(ladder_results, name).estimates()
            store.write(put_estimates, estimates, datetime.now(UTC))
            rows.append({"ladder": name, "boards": estimates.boards, "versions": len(estimates.found)})
    if as_json:
        print_json(rows)
    else:
        print_lines(table(("ladder", "boards", "versions"), [tuple(row.values()) for row in rows]))


def _fit(database: str, ladder: str, matches: int, apply: bool, as_json: bool) -> None:
    """Fit the parameters of a ladder's rating, and apply them on request if they predict better."""
    with _read(database) as reader:
        from cutpurse.leaderboard.refit import refit

        with reader.reading() as connection, Progress("settings tried") as progress:
            fitted = refit(connection, ladder, matches, progress)
    epoch = None
    if apply and fitted.is_better:
        with _opened(database) as store:
            from cutpurse.leaderboard.ladders import open_epoch

            epoch = store.write(open_epoch, ladder, fitted.fitted)
    _show_refit(fitted, epoch, as_json)
    if apply and epoch is None:
        raise typer.Exit(FAILED)


def _show_refit(fitted: Refit, epoch: int | None, as_json: bool) -> None:
    numbers = {"now": (fitted.now, fitted.now_loss), "fitted": (fitted.fitted, fitted.fitted_loss)}
    if as_json:
        rows = {name: {**asdict(rating), "log_loss": loss} for name, (rating, loss) in numbers.items()}
        print_json(
            {"ladder": fitted.ladder, "matches": fitted.matches, "judged": fitted.judged, **rows, "epoch": epoch}
        )
        return
    cells = [
        (name, *(f"{value:.4g}" for value in (rating.beta, rating.tau, rating.draw_probability)), f"{loss:.4f}")
        for name, (rating, loss) in numbers.items()
    ]
    print_lines(table(("", "beta", "tau", "ties", "log-loss"), cells))
    older = fitted.matches - fitted.judged
    print_message(f"fitted to {older:,} matches of {fitted.ladder}, judged by the {fitted.judged:,} newer ones")
    if epoch is not None:
        print_message(f"{fitted.ladder} is rated with the fitted parameters from its next match on: epoch {epoch}")
    elif not fitted.is_better:
        print_message("the current parameters predict at least as well; nothing was changed")
    else:
        print_message("the fitted parameters predict better; use --apply to rate with them")


@contextmanager
def _opened(database: str) -> Iterator[Store]:
    """Open the store of an existing database."""
    with needs("server"):
        from cutpurse.leaderboard.store import Store
        from cutpurse.server.installed_parts import hooks_of_parts
    with _says_why_not(database), Store(database, hooks=hooks_of_parts()) as store:
        yield store


@contextmanager
def _read(database: str) -> Iterator[LeaderboardReader]:
    """Open an existing database for reading."""
    with needs("server"):
        from cutpurse.leaderboard.reader import LeaderboardReader
    with _says_why_not(database), LeaderboardReader(database) as reader:
        yield reader


@contextmanager
def _says_why_not(database: str) -> Iterator[None]:
    with needs("server"):
        from cutpurse.server.store_errors import plain_trouble
    if not is_postgresql(database):
        if not Path(database).exists():
            raise NotFound(f"no database {without_password(database)}: it does not exist")
        if not Path(database).is_file():
            raise UsageError(f"{database} is no file, so it is no database: name the file of one")
    with plain_trouble():
        yield
