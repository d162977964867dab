"""`cutpurse bot submitted`, `fetch`, `retire` and `rollback`: the owner's submissions, and actions on them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.commands.bot_submit import named, submission_row
from cutpurse.cli.league_options import Authority, Server, local_time
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.wire.errors import ServerRefused
from cutpurse.wire.submission_text import describe_submission
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.v1 import submission_pb2

__all__ = ["fetch", "retire", "rollback", "submitted"]


def submitted(
    bot: Annotated[
        str | None, typer.Argument(metavar="[NAME[:VERSION]]", help="Only this bot or version. [default: all]")
    ] = None,
    log: Annotated[bool, typer.Option("--log", help="Show the log of its build and check.")] = False,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """List what you have submitted, the newest first: which version plays, and why another does not.

    Example: cutpurse bot submitted my_bot:2 --log
    """
    from cutpurse.wire.submission_client import submissions_at, version_named

    name, version = version_named(bot) if bot is not None else ("", "")
    if log and not name:
        raise UsageError("--log is for one bot: name it")
    with submissions_at(server, ca) as submissions:
        if log:
            told = submissions.log(name, version)
            lines = told.check.splitlines()
            if as_json:
                print_json({**submission_row(told.submission), "log": lines})
            else:
                print_lines(
                    [
                        f"{named(told.submission)} {describe_submission(told.submission)}",
                        *[printable(line) for line in lines],
                    ]
                )
            return
        found = submissions.list(name, version)
    if as_json:
        print_json([submission_row(one) for one in found])
        return
    rows = [
        (named(one), one.sha256.hex()[:12], one.size, local_time(one.changed_ms), describe_submission(one))
        for one in found
    ]
    print_lines(table(("bot", "sha256", "bytes", "since", "state"), rows))


def fetch(
    bot: Annotated[
        str, typer.Argument(metavar="NAME[:VERSION]", help="Bot to download. [default version: the newest submission]")
    ],
    output: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write. [default: NAME-VERSION.zip]")
    ] = None,
    server: Server = None,
    ca: Authority = None,
) -> None:
    """Download one of your archives, as it was submitted.

    Example: cutpurse bot fetch my_bot:1
    """
    from cutpurse.wire.manifest import NAME
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


def retire(
    bot: Annotated[
        str, typer.Argument(metavar="NAME[:VERSION]", help="Bot to retire; with a version, only if that version plays.")
    ],
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Take a bot of yours off its ladders; `rollback` puts it there again.

    Example: cutpurse bot retire my_bot
    """
    from cutpurse.wire.submission_client import submissions_at, version_named

    with submissions_at(server, ca) as submissions:
        shown = submissions.retire(*version_named(bot))
    _told(shown, f"{named(shown)} plays no more", as_json)


def rollback(
    bot: Annotated[str, typer.Argument(metavar="NAME:VERSION", help="Version to play from now on.")],
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Let an earlier accepted version play in place of the current one.

    Example: cutpurse bot rollback my_bot:1
    """
    from cutpurse.wire.submission_client import submissions_at, version_named

    with submissions_at(server, ca) as submissions:
        shown = submissions.activate(*version_named(bot, needs_version=True))
    how = f"is to play, and does not run now: {printable(shown.why, 400)}" if shown.why else "plays from now on"
    _told(shown, f"{named(shown)} {how}", as_json)


def _told(shown: submission_pb2.SubmissionShown, text: str, as_json: bool) -> None:
    if as_json:
        print_json(submission_row(shown))
    else:
        print_message(text)
