"""`cutpurse match request`: an unrated match of chosen bots on a server."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.commands.match_list import match_row, places_text
from cutpurse.cli.completion import complete_ladders, complete_ranked_bots
from cutpurse.cli.league_options import Authority, Server, open_league
from cutpurse.cli.progress import Spinner
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_json, print_lines, print_message
from cutpurse.wire.errors import NotFound, ServerRefused
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import League

__all__ = ["request"]

LOOK_S: Final = 0.25  # between two polls of its status
STORING_S: Final = 30.0  # for a finished match to appear
SEED_BYTES: Final = 32


def request(
    ladder: Annotated[
        str,
        typer.Argument(
            metavar="LADDER", help="Ladder with the game, settings and clock.", autocompletion=complete_ladders
        ),
    ],
    bots: Annotated[
        list[str],
        typer.Argument(
            metavar="BOT...",
            help="Bots in order of seats: name, owner/name or owner/name:version.",
            autocompletion=complete_ranked_bots,
        ),
    ],
    seed: Annotated[
        str | None,
        typer.Option(
            metavar="HEX", help="Seed of 32 bytes; the same seed and seats give the same cards. [default: random]"
        ),
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the end of the match and print the result.")] = False,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Request an unrated match of bots that are online. House bots take the remaining seats.

    It begins when each of its bots has a free table, and is dropped after a minute. Without --wait its ID is printed.

    Example: cutpurse match request greed my_bot ann/sneak bob/thug:2 cid/fox --wait
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name

    match_request = ladder_pb2.RequestMatchRequest(
        ladder=ladder, bots=[bot_name(bot) for bot in bots], seed=None if seed is None else _seed(seed)
    )
    with open_league(server, ca, None) as league:
        name = league.RequestMatch(match_request).match
        if not wait:
            if as_json:
                print_json({"match": name})
            else:
                print_lines([printable(name, 200)])
            return
        with Spinner() as spinner:
            over = _waited(league, name, spinner)
    if as_json:
        print_json(match_row(over))
    else:
        print_lines([f"match {printable(name, 200)}: {places_text(over)}"])
    if over.void_cause:
        raise ServerRefused(f"match {printable(name, 200)} is void: {printable(over.void_cause, 40)}")


def _waited(league: League, name: str, spinner: Spinner) -> ladder_pb2.MatchShown:
    """Wait for the end of the match and return it.  Raises ServerRefused if it never begins."""
    from cutpurse.sdk.matches.request_status import requested

    last_state, unseen_since = "", None
    while True:
        now = requested(league, name)
        if now.state == "dropped":
            raise ServerRefused(f"match {printable(name, 200)} was not played: {now.why}")
        if now.match is not None:
            return now.match
        if now.state == "unknown":  # it has ended and is being stored
            unseen_since = unseen_since or time.monotonic()
            if time.monotonic() - unseen_since > STORING_S:
                raise NotFound(f"match {printable(name, 200)} is not known to the server any more")
        elif now.state != last_state:
            last_state = now.state
            state = "waits for its bots" if last_state == "waiting" else "is being played"
            spinner.end()
            print_message(f"match {printable(name, 200)} {state}")
            spinner.show("waiting for its end")
        time.sleep(LOOK_S)


def _seed(text: str) -> bytes:
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise UsageError(f"--seed {text!r:.80}: it must be {SEED_BYTES} bytes: {2 * SEED_BYTES} characters 0-9 and a-f")
    return seed
