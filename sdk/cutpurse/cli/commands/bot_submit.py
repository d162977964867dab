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
from cutpurse.wire.errors import BOT_FAILED, FAILED, ServerUnreachable
from cutpurse.wire.submission_text import submission_state
from cutpurse.wire.text import printable

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
        shown = submissions.submit(packed.content, ladder or ())
        if wait:
            with Spinner() as spinner:
                shown = _waited(submissions, shown, spinner)
        else:
            print_message(
                f"{named(shown)} is received, and will be checked; `cutpurse bot submitted` tells how it goes"
            )
        failed = submission_state(shown) in ("refused", "taken off")
        rests = wait and submission_state(shown) == "accepted" and not shown.is_active
        log = submissions.log(shown.bot, shown.version).check if failed else ""
    if as_json:
        print_json({**submission_row(shown), "log": log.splitlines() if failed else None})
    elif failed:
        for line in log.splitlines()[-TAIL:]:
            print_message(f"  {printable(line, 300)}")
        print_message(f"{named(shown)} is not on the ladder: {printable(shown.why, 600)}")
    elif rests:
        print_message(
            f"{named(shown)} was accepted and does not play: it was retired, or another version plays in its place; "
            f"`cutpurse bot rollback {printable(shown.bot, 64)}:{printable(shown.version, 64)}` has it play"
        )
    elif wait:
        print_lines([f"on the ladder as {named(shown)}"])
    if failed:
        raise typer.Exit(BOT_FAILED)
    if rests:
        raise typer.Exit(FAILED)


def _tell(packed: Packed) -> None:
    """Print what is sent, and what is left out."""
    manifest = packed.manifest
    print_message(
        f"{manifest.name}:{manifest.version}: {len(packed.files)} files, {packed.inflated:,} bytes, "
        f"{len(packed.content):,} packed; SHA-256 {packed.digest.hex()[:16]}"
    )
    if packed.inflated > LARGE:
        for name, size in sorted(packed.files, key=lambda file: -file[1])[:LARGEST]:
            print_message(f"  {size:>12,}  {name}")
    if packed.left_out:
        more = f" and {len(packed.left_out) - 8} more" if len(packed.left_out) > 8 else ""
        print_message(f"left out: {', '.join(packed.left_out[:8])}{more}")


def _waited(
    submissions: Submissions, shown: submission_pb2.SubmissionShown, spinner: Spinner
) -> submission_pb2.SubmissionShown:
    """Print each step and return the final status."""
    told: list[str] = []
    heard_at = time.monotonic()
    accepted_at: float | None = None
    while True:
        step = _step(shown)
        if step not in told:
            told.append(step)
            spinner.end()
            print_message(step)
            spinner.show("waiting for the server")
        now = time.monotonic()
        if submission_state(shown) in ("refused", "taken off") or shown.is_running:
            return shown
        if submission_state(shown) == "accepted":
            accepted_at = accepted_at or now
            if not shown.is_active or now - accepted_at > RUNNING_S:
                return shown
        time.sleep(LOOK_S)
        try:
            shown = submissions.one(shown.bot, shown.version)
            heard_at = time.monotonic()
        except ServerUnreachable:  # it still has what it said it stored
            if time.monotonic() - heard_at > AWAY_S:
                raise


def _step(shown: submission_pb2.SubmissionShown) -> str:
    match submission_state(shown):
        case "received" if shown.before:
            return f"received; {shown.before} are checked before it"
        case "received":
            return "received"
        case "unpacked":
            return "unpacked"
        case "built":
            return "built; it is being checked"
        case "accepted" if shown.is_running:
            return "checked; it plays"
        case "accepted":
            return "checked"
        case other:
            return other


def named(shown: submission_pb2.SubmissionShown) -> str:
    """Format the name as in rankings."""
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import format_bot_name as written

    return written(ladder_pb2.BotName(owner=shown.owner, bot=shown.bot, version=shown.version))


def submission_row(shown: submission_pb2.SubmissionShown) -> dict[str, Any]:
    """Return a submission for a JSON document."""
    return {
        "owner": shown.owner,
        "bot": shown.bot,
        "version": shown.version,
        "sha256": shown.sha256.hex(),
        "size": shown.size,
        "state": submission_state(shown),
        "why": shown.why or None,
        "is_active": shown.is_active,
        "is_running": shown.is_running,
        "is_kept": shown.is_kept,
        "ladders": list(shown.ladders),
        "received": iso(shown.received_ms),
        "changed": iso(shown.changed_ms),
    }
