"""`cutpurse bot submit`: packs, sends and follows a bot until it is built, checked and on its ladders."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import Authority, Server, iso
from cutpurse.cli.progress import Spinner
from cutpurse.process.terminal import print_json, print_lines, print_message
from cutpurse.sdk.submission_text import submission_state
from cutpurse.wire.errors import BOT_FAILED, FAILED, ServerUnreachable
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.v1 import submission_pb2
    from cutpurse.wire.packing import Packed
    from cutpurse.wire.submission_client import Submissions

__all__ = ["named", "submission_row", "submit"]

LOOK_S: Final = 0.5  # between two polls of its status
AWAY_S: Final = 60.0  # longest time without a server, as during a restart
RUNNING_S: Final = 30.0  # for an accepted bot to be started
TAIL: Final = 12  # lines printed of the log of a refused bot
LARGEST: Final = 5  # files listed of a large archive
LARGE: Final = 1_000_000


def submit(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Folder with a bot.toml; `cutpurse bot init` writes one.")
    ],
    ladder: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LADDER",
            help="Ladder to play on (repeatable). [default: every ladder of its games]",
            autocompletion=complete_ladders,
        ),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until the bot plays or is refused.")] = True,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Submit a bot to a server that runs it, so that your own machine need not stay on.

    The folder is packed without the files in .cutpurseignore. The server builds and checks the bot; it plays if it
    passes, otherwise the exit code is 3. A version never changes: a new submission needs a new version in bot.toml.

    Example: cutpurse bot submit my_bot --ladder greed
    """
    from cutpurse.wire.packing import pack
    from cutpurse.wire.submission_client import submissions_at  # slow, as it imports gRPC

    packed = pack(folder)
    _tell(packed)
    with submissions_at(server, ca) as submissions:
        submission = submissions.submit(packed.content, ladder or ())
        if wait:
            with Spinner() as spinner:
                submission = _waited(submissions, submission, spinner)
        else:
            print_message(
                f"{named(submission)} is received, and will be checked; `cutpurse bot submitted` tells how it goes"
            )
        failed = submission_state(submission) in ("refused", "taken off")
        rests = wait and submission_state(submission) == "accepted" and not submission.is_active
        log = submissions.log(submission.bot, submission.version).check if failed else ""
    if as_json:
        print_json({**submission_row(submission), "log": log.splitlines() if failed else None})
    elif failed:
        for line in log.splitlines()[-TAIL:]:
            print_message(f"  {printable(line, 300)}")
        print_message(f"{named(submission)} is not on the ladder: {printable(submission.why, 600)}")
    elif rests:
        version = f"{printable(submission.bot, 64)}:{printable(submission.version, 64)}"
        print_message(
            f"{named(submission)} was accepted and does not play: it was retired, "
            f"or another version plays in its place; `cutpurse bot change {version} --play` has it play"
        )
    elif wait:
        print_lines([f"on the ladder as {named(submission)}"])
    if failed:
        raise typer.Exit(BOT_FAILED)
    if rests:
        raise typer.Exit(FAILED)


def _tell(packed: Packed) -> None:
    """Print what is sent, and what is left out."""
    manifest = packed.manifest
    print_message(
        f"{manifest.name}:{manifest.version}: {format_count(len(packed.files), 'file')}, {packed.inflated:,} bytes, "
        f"{len(packed.content):,} packed; SHA-256 {packed.digest.hex()[:16]}"
    )
    if packed.inflated > LARGE:
        for name, size in sorted(packed.files, key=lambda file: -file[1])[:LARGEST]:
            print_message(f"  {size:>12,}  {name}")
    if packed.left_out:
        more = f" and {len(packed.left_out) - 8} more" if len(packed.left_out) > 8 else ""
        print_message(f"left out: {', '.join(packed.left_out[:8])}{more}")


def _waited(
    submissions: Submissions, submission: submission_pb2.SubmissionShown, spinner: Spinner
) -> submission_pb2.SubmissionShown:
    """Print each step and return the final status."""
    steps: list[str] = []
    heard_at = time.monotonic()
    accepted_at: float | None = None
    while True:
        step = _step(submission)
        if step not in steps:
            steps.append(step)
            spinner.end()
            print_message(step)
            spinner.show("waiting for the server")
        now = time.monotonic()
        if submission_state(submission) in ("refused", "taken off") or submission.is_running:
            return submission
        if submission_state(submission) == "accepted":
            accepted_at = accepted_at or now
            if not submission.is_active or now - accepted_at > RUNNING_S:
                return submission
        time.sleep(LOOK_S)
        try:
            submission = submissions.one(submission.bot, submission.version)
            heard_at = time.monotonic()
        except ServerUnreachable:  # it still has what it said it stored
            if time.monotonic() - heard_at > AWAY_S:
                raise


def _step(submission: submission_pb2.SubmissionShown) -> str:
    match submission_state(submission):
        case "received" if submission.before:
            return f"received; {submission.before} are checked before it"
        case "received":
            return "received"
        case "unpacked":
            return "unpacked"
        case "built":
            return "built; it is being checked"
        case "accepted" if submission.is_running:
            return "checked; it plays"
        case "accepted":
            return "checked"
        case other:
            return other


def named(submission: submission_pb2.SubmissionShown) -> str:
    """Format the name as in rankings."""
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import format_bot_name as written

    return written(ladder_pb2.BotName(owner=submission.owner, bot=submission.bot, version=submission.version))


def submission_row(submission: submission_pb2.SubmissionShown) -> dict[str, Any]:
    """Return a submission for a JSON document."""
    return {
        "owner": submission.owner,
        "bot": submission.bot,
        "version": submission.version,
        "sha256": submission.sha256.hex(),
        "size": submission.size,
        "state": submission_state(submission),
        "why": submission.why or None,
        "is_active": submission.is_active,
        "is_running": submission.is_running,
        "is_kept": submission.is_kept,
        "ladders": list(submission.ladders),
        "received": iso(submission.received_ms),
        "changed": iso(submission.changed_ms),
        "licence": submission.licence or None,
        "public_from": iso(submission.public_from_ms),
        "public_after": submission.public_after or None,
    }
