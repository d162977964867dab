"""`cutpurse notify`: where a server sends what happens to one's bots, or to its ladders."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders
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
        typer.Option(metavar="EVENT", help="What to hear of, such as bot_paused (repeatable). [default: everything]"),
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
        shown, secret = receivers.add(address, event or (), ladder or (), every_owner)
    if as_json:
        print_json({**_row(shown), "secret": secret or None})
        return
    print_message(
        f"receiver {shown.id}, {printable(shown.address, 300)}, is added; try it: cutpurse notify test {shown.id}"
    )
    if secret:
        print_message("the secret of its signatures is not shown again:")
        print_lines([secret])


@app.command("list")
def list_receivers(server: Server = None, ca: Authority = None, as_json: AsJson = False) -> None:
    """List your receivers, and how deliveries go; with an admin's token, those of all owners.

    Example: cutpurse notify list
    """
    from cutpurse.wire.notify_client import receivers_at

    with receivers_at(server, ca) as receivers:
        found = receivers.list()
    if as_json:
        print_json([_row(shown) for shown in found])
        return
    cells = [
        (
            shown.id,
            shown.owner,
            printable(shown.address, 60),
            ", ".join(map(printable, shown.events)) or "all",
            ", ".join(map(printable, shown.ladders)) or "all",
            shown.waiting,
            shown.delivered,
            shown.missed,
            _state(shown),
        )
        for shown in found
    ]
    head = ("receiver", "owner", "address", "events", "ladders", "waiting", "delivered", "missed", "state")
    print_lines(table(head, cells))


@app.command("test")
def try_out(
    receiver: Annotated[int, typer.Argument(metavar="ID", min=1, help="ID of the receiver, as in `notify list`.")],
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Send a notice to a receiver now; if it arrives, a paused receiver goes on.

    Example: cutpurse notify test 3
    """
    from cutpurse.wire.notify_client import receivers_at

    with receivers_at(server, ca) as receivers:
        shown, problem = receivers.test(receiver)
    if as_json:
        print_json({**_row(shown), "test": "failed" if problem else "delivered", "test_problem": problem or None})
    if problem:
        raise CutpurseError(f"receiver {shown.id}: {printable(problem, 300)}")
    if not as_json:
        print_message(f"receiver {shown.id} got the test")


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
        shown = receivers.remove(receiver)
    if as_json:
        print_json(_row(shown))
    else:
        print_message(f"receiver {shown.id} is removed")


def _state(shown: notify_pb2.ReceiverShown) -> str:
    """Describe how deliveries to a receiver go."""
    problem = printable(shown.problem, 200)
    if shown.paused_ms:
        return f"paused since {local_time(shown.paused_ms)}: {problem}; try `cutpurse notify test {shown.id}`"
    if shown.failures:
        return f"failing ({shown.failures} times): {problem}; next try {local_time(shown.retry_ms)}"
    return "good"


def _row(shown: notify_pb2.ReceiverShown) -> dict[str, Any]:
    return {
        "id": shown.id,
        "owner": shown.owner,
        "address": shown.address,
        "events": list(shown.events),
        "ladders": list(shown.ladders),
        "every_owner": shown.every_owner,
        "created": iso(shown.created_ms),
        "waiting": shown.waiting,
        "delivered": shown.delivered,
        "missed": shown.missed,
        "failures": shown.failures,
        "problem": shown.problem or None,
        "retry_at": iso(shown.retry_ms) if shown.retry_ms else None,
        "paused": iso(shown.paused_ms) if shown.paused_ms else None,
    }
