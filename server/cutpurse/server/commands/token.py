"""`cutpurse token`: the tokens of a database, or of a running server."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple, TypeAlias

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.class_file import read_class
from cutpurse.cli.completion import complete_databases
from cutpurse.cli.lazy import group_with_former
from cutpurse.cli.league_options import iso, local_time
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.server.hosting.configuration import configured
from cutpurse.wire.errors import NotFound, needs
from cutpurse.wire.server_address import SERVER_VARIABLE
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.leaderboard import database
    from cutpurse.leaderboard.owner_registry import NewToken
    from cutpurse.leaderboard.queries import TokenEntry
    from cutpurse.leaderboard.store import Store
    from cutpurse.leaderboard.tokens import Token
    from cutpurse.server.access.remote_tokens import RemoteTokens

__all__ = ["app"]

MAX_ACTS: Final = 50  # acts shown by default

app = typer.Typer(
    cls=group_with_former({"acts": "token list --acts"}),
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Create, list and revoke the tokens of a server.\n\nExample: cutpurse token create ann --db league.db",
)

Database: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="FILE",
        autocompletion=complete_databases,
        help="The server's database; default without --server: that of `serve`.",
    ),
]
Server: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--server",
        metavar="ADDRESS",
        help=f"Ask a running server, with an admin's token or your own; default without --db: ${SERVER_VARIABLE}.",
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
        typer.Option(metavar="SCOPE", help="play, read, place or admin (repeatable). [default: play and read]"),
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
    page: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Create links that sign their owners in on this page, once."),
    ] = None,
    db: Database = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it once, or create one for each line of a class and write them to a file.

    Once its database has a token, a server requires one from every bot.

    Example: cutpurse token create --from class.csv --out tokens.csv --expires 120d --db league.db

    Example: cutpurse token create ann --page https://league.example --db league.db
    """
    with needs("server"):
        from cutpurse.leaderboard.owner_registry import NewToken
        from cutpurse.leaderboard.tokens import LINK
    now = datetime.now(UTC)
    scopes = (*(scope or ("play", "read")), *((LINK,) if page else ()))
    common: dict[str, Any] = {"scopes": scopes, "expires": _moment(expires, now)}
    kind, before = ("link", _sign_in(page)) if page else ("token", "")
    if (owner is None) == (of is None):
        raise UsageError("name one OWNER, or a class with --from FILE and --out FILE")
    if (of is None) != (out is None):
        raise UsageError("--from and --out belong together: the tokens of a class are written to a file, not shown")
    place = _place(db, server)
    with _talks_of_trouble():
        if owner is not None:
            new_tokens = [NewToken(owner, label, **common)]
        else:
            assert of is not None
            if label:
                raise UsageError("--label is for one token; a class has a column label")
            new_tokens = _class(of, common)
        with _registry(place, ca, is_to_be_made=True) as registry:
            if out is None:
                ((made, entry),) = registry.create(new_tokens, now)
            else:
                _write_class(registry, new_tokens, out, now, kind, before)
    if out is not None:
        if as_json:
            print_json({f"{kind}s": len(new_tokens), "file": str(out)})
        else:
            count = f"1 {kind} for {place} is" if len(new_tokens) == 1 else f"{len(new_tokens)} {kind}s for {place} are"
            print_message(f"{count} in {out}, which only you can read; give each owner their line")
        return
    row = _row(entry, now)
    if as_json:
        print_json({**row, kind: f"{before}{made.reveal()}"})
    else:
        good_for = ", ".join(name for name in entry.scopes if name != LINK)
        until = f" until {_local(row['expires'])}" if row["expires"] else ""
        last = "it works once, and is" if page else "it is"
        said = f"{kind} {made.id} of {entry.owner} for {place}, good for {good_for}{until}; {last} not shown again:"
        print_message(said)
        print_lines([f"{before}{made.reveal()}"])


@app.command("list")
def list_tokens(
    owner: Annotated[
        str | None, typer.Argument(metavar="OWNER", help="Owner of the tokens. [default: all owners]")
    ] = None,
    is_acts: Annotated[
        bool, typer.Option("--acts", help="Show who changed which tokens, ladders and submitted bots, newest first.")
    ] = False,
    limit: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, max=1_000, help="With --acts: maximum number of acts. [default: 50]"),
    ] = None,
    db: Database = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """List tokens by ID, without their secrets, or who changed what (--acts); also while a server runs.

    Acts on the page and on the command line are shown alike. What was done with --db is not among them.

    Example: cutpurse token list --db league.db

    Example: cutpurse token list --acts --server https://league.example:7777
    """
    if is_acts and owner is not None:
        raise UsageError("--acts shows the acts of all owners: leave out OWNER")
    if limit is not None and not is_acts:
        raise UsageError("--limit is for the acts: add --acts")
    if is_acts:
        _show_acts(_place(db, server), ca, limit or MAX_ACTS, as_json)
    else:
        _show_tokens(_place(db, server), ca, owner, as_json)


def _show_tokens(place: str | database.Database, ca: Path | None, owner: str | None, as_json: bool) -> None:
    with needs("server"):
        from cutpurse.leaderboard import queries
        from cutpurse.leaderboard.reader import LeaderboardReader
    now = datetime.now(UTC)
    with _talks_of_trouble():
        if isinstance(place, str):
            with _remote(place, ca) as remote:
                entries = remote.tokens(owner)
        else:
            with LeaderboardReader(_there(place)) as reader:
                entries = reader.run(queries.tokens, owner)
        rows = [_row(entry, now) for entry in entries]
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


def _show_acts(place: str | database.Database, ca: Path | None, limit: int, as_json: bool) -> None:
    with needs("server"):
        from cutpurse.server.act_log import act_log_beside, acts_in
    with _talks_of_trouble():
        if isinstance(place, str):
            with _remote(place, ca) as remote:
                entries = remote.acts(limit)
        else:
            entries = acts_in(act_log_beside(_there(place).beside), limit)
    if as_json:
        print_json([{"at": iso(act.at_ms), "by": act.by, "what": act.what, "about": act.about} for act in entries])
        return
    cells = [
        (local_time(act.at_ms), *(printable(text, 300) for text in (act.by, act.what, act.about))) for act in entries
    ]
    print_lines(table(("at", "by", "what", "about"), cells))


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
        rows = [_row(registry.revoke(token, now), now) for token in ids]
    if as_json:
        print_json(rows)
    else:
        for row in rows:
            print_message(f"token {row['id']} of {row['owner']} is revoked")


@app.command()
def link(
    owner: Annotated[str, typer.Argument(metavar="OWNER", help="Owner, created if new.")],
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="The account, as the page names it to the person.")],
    issuer: Annotated[
        str, typer.Option(metavar="URL", help="Issuer of the account. [default: the provider of the server]")
    ] = "",
    db: Database = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Link an account at a sign-in provider with an owner, in place of the owner it was linked with.

    The sessions of that owner end.

    Example: cutpurse token link ann 248289761001 --server https://league.example:7777
    """
    with needs("server"):
        from cutpurse.server.installed_parts import call_on_database
        from cutpurse.v1 import sign_in_pb2
    place = _place(db, server)
    if not issuer and not isinstance(place, str):
        raise UsageError("--db: a database knows no provider; name it with --issuer URL")
    with _talks_of_trouble():
        if isinstance(place, str):
            with _remote(place, ca) as remote:
                before = remote.link_account(owner, subject, issuer)
        else:
            answer = call_on_database("LinkAccount")
            with _store(place, is_to_be_made=False) as store:
                request = sign_in_pb2.LinkAccountRequest(owner=owner, subject=subject, issuer=issuer)
                before = answer(store, request).previous_owner
    if as_json:
        print_json({"owner": owner, "subject": subject, "previous_owner": before or None})
    else:
        was = f", before with {before}" if before not in ("", owner) else ""
        print_message(f"{printable(subject, 300)} is linked with {owner}{was}")


# -- a server, or a database
def _place(db: str | None, server: str | None) -> str | database.Database:
    """Return the server's address, as for other commands, or else the database."""
    if db is not None and server is not None:
        raise UsageError("--db and --server: a database is used here, or a server is asked; name one of them")
    if db is None and (asked := server or os.environ.get(SERVER_VARIABLE)):
        return asked
    with needs("server"):
        from cutpurse.leaderboard.databases import find_database
    with _talks_of_trouble():
        return find_database(configured({"db": db}, os.environ)["db"].value)


def _there(place: database.Database) -> database.Database:
    if not place.exists():
        raise NotFound(f"no database {place}: it does not exist")
    return place


def _remote(server: str, ca: Path | None) -> RemoteTokens:
    with needs("server"):
        from cutpurse.server.access.remote_tokens import RemoteTokens
        from cutpurse.wire.connection import dialling
    return RemoteTokens(dialling(server, ca))


class _Registry(NamedTuple):
    """How tokens of a server or a database are created, all or none, and revoked."""

    create: Callable[[Sequence[NewToken], datetime], list[tuple[Token, TokenEntry]]]
    revoke: Callable[[str, datetime], TokenEntry]


@contextmanager
def _registry(place: str | database.Database, ca: Path | None, is_to_be_made: bool = False) -> Iterator[_Registry]:
    """Open the tokens of a server or a database; create a missing database and report it if `is_to_be_made`."""
    if isinstance(place, str):
        with _remote(place, ca) as remote:
            yield _Registry(remote.create_tokens, remote.revoke_token)
    else:
        with _store(place, is_to_be_made) as store:
            from cutpurse.leaderboard.owner_registry import create_tokens, revoke_token

            yield _Registry(
                lambda wanted, created: store.write(create_tokens, wanted, created),
                lambda token_id, revoked: store.write(revoke_token, token_id, revoked),
            )


@contextmanager
def _store(place: database.Database, is_to_be_made: bool) -> Iterator[Store]:
    """Open a database to write it; create a missing one and report it if `is_to_be_made`."""
    with needs("server"):
        from cutpurse.leaderboard.errors import InUse
        from cutpurse.leaderboard.store import Store
        from cutpurse.server.installed_parts import hooks_of_parts
    try:
        with Store(place if is_to_be_made else _there(place), hooks=hooks_of_parts()) as store:
            yield store
            if store.found is None:
                print_message(f"database {place} was not there, and is made")
    except InUse as problem:
        raise CutpurseError(
            f"a server ({problem.holder}) has {place} open, and only one process may write it: ask it with --server"
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
    from cutpurse.cli.ladder_file import moment_ms

    if given is None:
        return None
    if ago := re.fullmatch(r"(\d{1,5})([dh])", given, re.ASCII):
        return now + int(ago[1]) * timedelta(**{"days" if ago[2] == "d" else "hours": 1})
    try:
        # same format as when a ladder freezes
        moment = datetime.fromtimestamp(moment_ms(given, "--expires") / 1_000, UTC)
    except UsageError:
        raise UsageError(f"--expires {given!r:.80}: it is as 90d, 12h, 2027-03-01 or 2027-03-01T18:00+01:00") from None
    if moment <= now:
        raise UsageError(f"--expires {given}: that is in the past; name a later time")
    return moment


def _sign_in(page: str) -> str:
    """Return the part of a link before its code.

    The code is in the fragment, which browsers send to no server, so that no log has it.
    """
    if not re.fullmatch(r"https?://[^\s/?#@]+/?", page, re.ASCII):
        raise UsageError(f"--page {page!r:.100}: it is the address of the page, as https://league.example")
    return f"{page.rstrip('/')}/sign-in#"


# -- a class
def _class(file: Path, common: dict[str, Any]) -> list[NewToken]:
    """Return the tokens of a class file, one for each line."""
    from cutpurse.leaderboard.errors import InvalidEntry
    from cutpurse.leaderboard.owner_registry import NewToken

    new_tokens = []
    for line in read_class(file):
        try:
            new_tokens.append(NewToken(line.owner, line.label, **common))
        except InvalidEntry as problem:
            raise UsageError(f"{file}, line {line.number}: {problem}") from None
    return new_tokens


def _write_class(
    registry: _Registry, new_tokens: Sequence[NewToken], out: Path, now: datetime, kind: str, before: str
) -> None:
    """Create the tokens and write them to a new file, each after the text `before`; if that fails, revoke all."""
    try:
        file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        raise UsageError(f"--out {out}: already exists; name another file") from None
    except OSError as problem:
        raise UsageError(f"--out {out}: cannot be written: {problem.strerror}") from None
    made = []
    try:
        with os.fdopen(file, "w", encoding="utf-8", newline="") as opened:
            made = registry.create(new_tokens, now)
            lines = csv.writer(opened)
            lines.writerow(("owner", kind, "label"))
            lines.writerows((entry.owner, f"{before}{token.reveal()}", entry.label) for token, entry in made)
    except BaseException as problem:
        out.unlink()
        for token, _ in made:
            registry.revoke(token.id, now)
        if isinstance(problem, OSError):
            raise CutpurseError(f"--out {out}: cannot be written: {problem.strerror}; no token was given") from None
        raise
