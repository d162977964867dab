"""`cutpurse token`: the tokens of a database, or of a running server."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.sdk.class_file import read_class
from cutpurse.sdk.commands.arguments import AsJson
from cutpurse.sdk.commands.league_options import local_time
from cutpurse.sdk.errors import NotFound, needs
from cutpurse.sdk.online.server_address import SERVER_VARIABLE
from cutpurse.sdk.terminal import print_json, print_lines, print_message, table
from cutpurse.server.hosting.configuration import configured

if TYPE_CHECKING:
    from cutpurse.leaderboard.owner_registry import NewToken
    from cutpurse.leaderboard.queries import TokenEntry
    from cutpurse.server.access.remote_tokens import RemoteTokens
    from cutpurse.server.access.token_service import TokenRegistry

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Create, list and revoke the tokens of a server.\n\nExample: cutpurse token create ann --db league.db",
)

Database: TypeAlias = Annotated[
    Path | None,
    typer.Option("--db", metavar="FILE", help="The server's database; default without --server: that of `serve`."),
]
Server: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="ADDRESS",
        help=f"Ask a running server, with an admin's token; default without --db: ${SERVER_VARIABLE}.",
    ),
]
Authority: TypeAlias = Annotated[
    Path | None,
    typer.Option("--ca", metavar="FILE", help="PEM file with certificates to trust. [default: the system's]"),
]


@app.callback()
def token() -> None:
    """Create, list and revoke the tokens of a server."""


@app.command()
def create(
    owner: Annotated[
        str | None, typer.Argument(metavar="OWNER", help="Owner of the token: 1 to 32 of a-z, 0-9, _, - and .")
    ] = None,
    label: Annotated[str, typer.Option(metavar="TEXT", help="Text shown in lists.")] = "",
    scope: Annotated[
        list[str] | None,
        typer.Option(metavar="SCOPE", help="play, read or admin (repeatable). [default: play and read]"),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(metavar="WHEN", help="90d, 12h or 2027-03-01, in this machine's time zone. [default: never]"),
    ] = None,
    of: Annotated[
        Path | None,
        typer.Option("--from", metavar="FILE", help="CSV of a class, with the column owner and optionally label."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="New file for the tokens of a class, readable only by you.")
    ] = None,
    db: Database = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it once, or create one for each line of a class and write them to a file.

    Once its database has a token, a server requires one from every bot.

    Example: cutpurse token create --from class.csv --out tokens.csv --expires 120d --db league.db
    """
    with needs("server"):
        from cutpurse.leaderboard.owner_registry import NewToken
    now = datetime.now(UTC)
    common: dict[str, Any] = {"scopes": tuple(scope) if scope else ("play", "read"), "expires": _moment(expires, now)}
    if (owner is None) == (of is None):
        raise UsageError("name one OWNER, or a class with --from FILE and --out FILE")
    if (of is None) != (out is None):
        raise UsageError("--from and --out belong together: the tokens of a class are written to a file, not shown")
    place = _place(db, server)
    with _talks_of_trouble():
        if owner is not None:
            wanted = [NewToken(owner, label, **common)]
        else:
            assert of is not None
            if label:
                raise UsageError("--label is for one token; a class has a column label")
            wanted = _class(of, common)
        with _registry(place, ca, is_to_be_made=True) as registry:
            if out is None:
                ((made, entry),) = registry.create_tokens(wanted, now)
            else:
                _write_class(registry, wanted, out, now)
    if out is not None:
        if as_json:
            print_json({"tokens": len(wanted), "file": str(out)})
        else:
            tokens = "1 token for {} is" if len(wanted) == 1 else f"{len(wanted)} tokens for {{}} are"
            print_message(f"{tokens.format(place)} in {out}, which only you can read; give each owner their line")
        return
    row = _row(entry, now)
    if as_json:
        print_json({**row, "token": made.reveal()})
    else:
        good_for = ", ".join(entry.scopes) + (f" until {_local(row['expires'])}" if row["expires"] else "")
        print_message(f"token {made.id} of {entry.owner} for {place}, good for {good_for}; it is not shown again:")
        print_lines([made.reveal()])


@app.command("list")
def list_tokens(
    owner: Annotated[
        str | None, typer.Argument(metavar="OWNER", help="Owner of the tokens. [default: all owners]")
    ] = None,
    db: Database = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """List tokens by ID, without their secrets; also while a server runs.

    Example: cutpurse token list --db league.db
    """
    with needs("server"):
        from cutpurse.leaderboard.reader import LeaderboardReader
    now = datetime.now(UTC)
    place = _place(db, server)
    with (
        _talks_of_trouble(),
        _remote(place, ca) if isinstance(place, str) else LeaderboardReader(_there(place)) as tokens,
    ):
        rows = [_row(entry, now) for entry in tokens.tokens(owner)]
    if as_json:
        print_json(rows)
        return
    head = ("token", "owner", "scopes", "state", "created", "expires", "used", "label")
    cells = [
        (
            row["id"],
            row["owner"],
            " ".join(row["scopes"]),
            row["state"],
            *(_local(row[moment]) for moment in ("created", "expires", "last_used")),
            row["label"],
        )
        for row in rows
    ]
    print_lines(table(head, cells))


@app.command()
def revoke(
    ids: Annotated[list[str], typer.Argument(metavar="TOKEN", help="ID of the token, as in `token list`.")],
    db: Database = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Revoke tokens permanently.

    Their streams end within a second; open matches go on without the bots.

    Example: cutpurse token revoke 3fXq0aZ9 --server https://league.example:7777
    """
    now = datetime.now(UTC)
    with _talks_of_trouble(), _registry(_place(db, server), ca) as registry:
        rows = [_row(registry.revoke_token(one, now), now) for one in ids]
    if as_json:
        print_json(rows)
    else:
        for row in rows:
            print_message(f"token {row['id']} of {row['owner']} is revoked")


# -- a server, or a database
def _place(db: Path | None, server: str | None) -> str | Path:
    """Return the server's address, as for other commands, or else the database's file."""
    if db is not None and server is not None:
        raise UsageError("--db and --server: a database is used here, or a server is asked; name one of them")
    if db is None and (asked := server or os.environ.get(SERVER_VARIABLE)):
        return asked
    path: Path = configured({"db": db}, os.environ)["db"].value
    return path


def _there(path: Path) -> Path:
    if not path.is_file():
        raise NotFound(f"no database {path}: it does not exist")
    return path


def _remote(server: str, ca: Path | None) -> RemoteTokens:
    with needs("server"):
        from cutpurse.sdk.online.connection import dialling
        from cutpurse.server.access.remote_tokens import RemoteTokens
    return RemoteTokens(dialling(server, ca))


@contextmanager
def _registry(place: str | Path, ca: Path | None, is_to_be_made: bool = False) -> Iterator[TokenRegistry]:
    """Open the tokens of a server or a database; create a missing database and report it if `is_to_be_made`."""
    with needs("server"):
        from cutpurse.leaderboard.errors import InUse
        from cutpurse.leaderboard.store import Store
    if isinstance(place, str):
        with _remote(place, ca) as remote:
            yield remote
        return
    path = place if is_to_be_made else _there(place)
    try:
        with Store(path) as store:
            yield store
            if store.found is None:
                print_message(f"database {path} was not there, and is made")
    except InUse as problem:
        which = "a server" if problem.process is None else f"a server (process {problem.process})"
        raise CutpurseError(
            f"{which} has {path} open, and only one process may write it: ask it with --server"
        ) from None


@contextmanager
def _talks_of_trouble() -> Iterator[None]:
    """Turn refusals of the leaderboard into errors of this command."""
    with needs("server"):
        from cutpurse.server.store_errors import plain_trouble
    with plain_trouble():
        yield


def _row(entry: TokenEntry, now: datetime) -> dict[str, Any]:
    if entry.revoked is not None:
        state = "revoked"
    else:
        state = "good" if entry.is_good(now) else "expired"
    moments = {name: getattr(entry, name) for name in ("created", "expires", "revoked", "last_used")}
    return {
        "id": entry.id,
        "owner": entry.owner,
        "scopes": list(entry.scopes),
        "label": entry.label,
        "state": state,
        **{name: None if moment is None else moment.isoformat() for name, moment in moments.items()},
    }


def _local(moment: str | None) -> str:
    """Format a timestamp for a table."""
    return "" if moment is None else local_time(int(datetime.fromisoformat(moment).timestamp() * 1_000))


def _moment(given: str | None, now: datetime) -> datetime | None:
    """Parse when a token expires: after some days or hours, or at a timestamp, in this machine's zone by default."""
    from cutpurse.sdk.ladder_file import moment_ms

    if given is None:
        return None
    if found := re.fullmatch(r"(\d{1,5})([dh])", given, re.ASCII):
        return now + int(found[1]) * timedelta(**{"days" if found[2] == "d" else "hours": 1})
    try:
        # same format as when a ladder freezes
        moment = datetime.fromtimestamp(moment_ms(given, "--expires") / 1_000, UTC)
    except UsageError:
        raise UsageError(f"--expires {given!r:.80}: it is as 90d, 12h, 2027-03-01 or 2027-03-01T18:00+01:00") from None
    if moment <= now:
        raise UsageError(f"--expires {given}: that is in the past; name a later time")
    return moment


# -- a class
def _class(file: Path, common: dict[str, Any]) -> list[NewToken]:
    """Return the tokens of a class file, one for each line."""
    from cutpurse.leaderboard.errors import InvalidEntry
    from cutpurse.leaderboard.owner_registry import NewToken

    wanted = []
    for line in read_class(file):
        try:
            wanted.append(NewToken(line.owner, line.label, **common))
        except InvalidEntry as problem:
            raise UsageError(f"{file}, line {line.number}: {problem}") from None
    return wanted


def _write_class(registry: TokenRegistry, wanted: Sequence[NewToken], out: Path, now: datetime) -> None:
    """Create the tokens and write them to a new file; if that fails, revoke all of them."""
    try:
        file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise UsageError(f"--out {out}: already exists; name another file") from None
    except OSError as problem:
        raise UsageError(f"--out {out}: cannot be written: {problem.strerror}") from None
    made = []
    try:
        with os.fdopen(file, "w", encoding="utf-8", newline="") as opened:
            made = registry.create_tokens(wanted, now)
            lines = csv.writer(opened)
            lines.writerow(("owner", "token", "label"))
            lines.writerows((entry.owner, token.reveal(), entry.label) for token, entry in made)
    except BaseException as problem:
        out.unlink()
        for token, _ in made:
            registry.revoke_token(token.id, now)
        if isinstance(problem, OSError):
            raise CutpurseError(f"--out {out}: cannot be written: {problem.strerror}; no token was given") from None
        raise
