"""`cutpurse notify`: where a server sends what happens to one's bots, or to its ladders."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.lazy import group_with_former
from cutpurse.cli.league_options import Authority, Server, iso, local_time
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.v1 import notify_pb2

__all__ = ["app"]

STDIN: Final = "-"
MAX_ADDRESS: Final = 2_000  # characters

app = typer.Typer(
    cls=group_with_former({"test": "notify list --test ID"}),
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Get word of what happens to your bots, by webhook, mail or chat.\n\n"
    "Example: cutpurse notify add https://example.org/hook",
)


@app.callback()
def notify() -> None:
    """Get word of what happens to your bots, by webhook, mail or chat."""


@app.command()
def add(
    address: Annotated[
        str,
        typer.Argument(metavar="ADDRESS", help="http:// or https:// for a webhook; - reads any address from stdin."),
    ],
    event: Annotated[
        list[str] | None,
        typer.Option(
            metavar="EVENT",
            help="What to hear of, such as bot_paused (repeatable). [default: all but bot_separated, match_over, "
            "test_over and tournament_begins]",
        ),
    ] = None,
    ladder: Annotated[
        list[str] | None,
        typer.Option(
            metavar="LADDER",
            help="Only what happens on this ladder (repeatable). [default: everywhere]",
            autocompletion=complete_ladders,
        ),
    ] = None,
    every_owner: Annotated[
        bool, typer.Option("--every-owner", help="Hear of the bots of every owner; needs an admin's token.")
    ] = False,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Add a receiver, and print the secret of its signatures once.

    Addresses for mail and chat have passwords, which other users of this machine could see in a command line: put
    them into a file, and read it with -.

    Example: cutpurse notify add https://example.org/hook --event bot_paused --event submission_rejected

    Example: cutpurse notify add - < my_address.txt
    """
    from cutpurse.wire.notify_client import receivers_at

    if address == STDIN:
        address = sys.stdin.read(MAX_ADDRESS + 2).strip()
    elif not address.lower().startswith(("http://", "https://")):
        raise UsageError("ADDRESS: only http:// and https:// may be given here; - reads any other from stdin")
    with receivers_at(server, ca) as receivers:
        entry, secret = receivers.add(address, event or (), ladder or (), every_owner)
    if as_json:
        print_json({**_row(entry), "secret": secret or None})
        return
    print_message(
        f"receiver {entry.id}, {printable(entry.address, 300)}, is added; "
        f"try it: cutpurse notify list --test {entry.id}"
    )
    if secret:
        print_message("the secret of its signatures is not shown again:")
        print_lines([secret])


@app.command("list")
def list_receivers(
    test: Annotated[
        int | None,
        typer.Option("--test", metavar="ID", min=1, help="Send a notice to this receiver now, instead of listing all."),
    ] = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """List your receivers, and how deliveries go; with an admin's token, those of all owners.

    If the notice of --test arrives, a paused receiver goes on.

    Example: cutpurse notify list --test 3
    """
    from cutpurse.wire.notify_client import receivers_at

    with receivers_at(server, ca) as receivers:
        if test is not None:
            _show_test(*receivers.test(test), as_json)
            return
        entries = receivers.list()
    if as_json:
        print_json([_row(entry) for entry in entries])
        return
    cells = [
        (
            entry.id,
            entry.owner,
            printable(entry.address, 60),
            ", ".join(map(printable, entry.events)) or "all",
            ", ".join(map(printable, entry.ladders)) or "all",
            entry.waiting,
            entry.delivered,
            entry.missed,
            _state(entry),
        )
        for entry in entries
    ]
    head = ("receiver", "owner", "address", "events", "ladders", "waiting", "delivered", "missed", "state")
    print_lines(table(head, cells))


def _show_test(entry: notify_pb2.ReceiverShown, problem: str, as_json: bool) -> None:
    """Print what came of a test.  Raises CutpurseError if it did not arrive."""
    if as_json:
        print_json({**_row(entry), "test": "failed" if problem else "delivered", "test_problem": problem or None})
    if problem:
        raise CutpurseError(f"receiver {entry.id}: {printable(problem, 300)}")
    if not as_json:
        print_message(f"receiver {entry.id} got the test")


@app.command()
def remove(
    receiver: Annotated[int, typer.Argument(metavar="ID", min=1, help="ID of the receiver, as in `notify list`.")],
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Remove a receiver, with all that waits for it.

    Example: cutpurse notify remove 3
    """
    from cutpurse.wire.notify_client import receivers_at

    with receivers_at(server, ca) as receivers:
        entry = receivers.remove(receiver)
    if as_json:
        print_json(_row(entry))
    else:
        print_message(f"receiver {entry.id} is removed")


def _state(entry: notify_pb2.ReceiverShown) -> str:
    """Describe how deliveries to a receiver go."""
    problem = printable(entry.problem, 200)
    if entry.paused_ms:
        return f"paused since {local_time(entry.paused_ms)}: {problem}; try `cutpurse notify list --test {entry.id}`"
    if entry.failures:
        return f"failing ({entry.failures} times): {problem}; next try {local_time(entry.retry_ms)}"
    return "good"


def _row(entry: notify_pb2.ReceiverShown) -> dict[str, Any]:
    return {
        "id": entry.id,
        "owner": entry.owner,
        "address": entry.address,
        "events": list(entry.events),
        "ladders": list(entry.ladders),
        "every_owner": entry.every_owner,
        "created": iso(entry.created_ms),
        "waiting": entry.waiting,
        "delivered": entry.delivered,
        "missed": entry.missed,
        "failures": entry.failures,
        "problem": entry.problem or None,
        "retry_at": iso(entry.retry_ms) if entry.retry_ms else None,
        "paused": iso(entry.paused_ms) if entry.paused_ms else None,
    }
