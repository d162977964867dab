"""`cutpurse bot submitted`: the owner's submissions, with logs and archives."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.commands.bot_submit import named, submission_row
from cutpurse.cli.league_options import Authority, Server, local_time
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.sdk.submission_text import describe_submission
from cutpurse.wire.errors import ServerRefused
from cutpurse.wire.text import NAME, printable

__all__ = ["submitted"]


def submitted(
    bot: Annotated[
        str | None,
        typer.Argument(
            metavar="[NAME[:VERSION]]",
            help="Only this bot or version; OWNER/NAME[:VERSION] for what another owner publishes. [default: all]",
        ),
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Show the log of its build and check.")] = False,
    is_fetched: Annotated[
        bool, typer.Option("--fetch", help="Download its archive, as it was submitted. [default version: the newest]")
    ] = False,
    accept_licence: Annotated[
        str | None, typer.Option(metavar="LICENCE", help="With --fetch of OWNER/NAME:VERSION: accept this licence.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --fetch: file to write. [default: NAME-VERSION.zip]")
    ] = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """List what you have submitted, the newest first: which version plays, and why another does not.

    Example: cutpurse bot submitted my_bot:2 --log

    With --fetch, a published version of another owner is stored for `play`, `compare` and `tune`, which know it by its
    name. It runs as a program of yours there, without a sandbox.

    Example: cutpurse bot submitted my_bot:1 --fetch

    Example: cutpurse bot submitted ann/sneak:3 --fetch
    """
    from cutpurse.cli.published import fetch_published
    from cutpurse.wire.published_bots import is_published
    from cutpurse.wire.submission_client import submissions_at, version_named

    if is_fetched:
        if bot is None or log or as_json:
            raise UsageError("--fetch is for one bot, without --log and --json: name it")
        if "/" not in bot:
            _fetch(bot, output, server, ca)
            return
        if not is_published(bot) or output is not None:
            raise UsageError("a published version is OWNER/NAME:VERSION, and has a folder of its own: no --output")
        stored = fetch_published(bot, server, ca, accept_licence or "")
        if stored.manifest.build:
            print_message(f"its build is not run: {shlex.join(stored.manifest.build)} in {stored.folder}")
        print_lines([str(stored.folder)])
        return
    if output is not None or accept_licence is not None:
        raise UsageError("--output and --accept-licence are for --fetch")
    name, version = version_named(bot) if bot is not None else ("", "")
    if log and not name:
        raise UsageError("--log is for one bot: name it")
    with submissions_at(server, ca) as submissions:
        if log:
            answer = submissions.log(name, version)
            lines = answer.check.splitlines()
            if as_json:
                print_json({**submission_row(answer.submission), "log": lines})
            else:
                print_lines(
                    [
                        f"{named(answer.submission)} {describe_submission(answer.submission)}",
                        *[printable(line) for line in lines],
                    ]
                )
            return
        entries = submissions.list(name, version, (bot or "").rpartition("/")[0])
    if as_json:
        print_json([submission_row(entry) for entry in entries])
        return
    rows = [
        (named(entry), entry.sha256.hex()[:12], entry.size, local_time(entry.changed_ms), describe_submission(entry))
        for entry in entries
    ]
    print_lines(table(("bot", "sha256", "bytes", "since", "state"), rows))


def _fetch(bot: str, output: Path | None, server: str | None, ca: Path | None) -> None:
    """Download an archive as it was submitted, and print the name of the file.

    Raises:
        UsageError: If the file exists.
        CutpurseError: If it cannot be written, or the server refuses.
    """
    from cutpurse.wire.submission_client import submissions_at, version_named

    name, version = version_named(bot)
    with submissions_at(server, ca) as submissions:
        version = version or submissions.log(name).submission.version  # fixed before the download
        content = submissions.archive(name, version)
    if not NAME.fullmatch(version):  # it becomes part of a file name
        raise ServerRefused(f"the server sent an invalid version: {printable(version, 40)}")
    path = output or Path(f"{name}-{version}.zip")
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise UsageError(f"{path} already exists; name another file with --output") from None
    except OSError as problem:
        raise CutpurseError(f"{path} cannot be written: {problem.strerror}") from None
    print_lines([str(path)])
