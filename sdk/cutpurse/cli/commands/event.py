"""`cutpurse event`: tournaments, seasons and version tests, which a server plays by itself."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_games, complete_ladders
from cutpurse.cli.event_rows import event_row
from cutpurse.cli.event_text import absent_lines, event_lines, list_line, plan_lines, progress
from cutpurse.cli.league_options import Authority, Database, Server, count, ladder_named, open_league
from cutpurse.cli.progress import Spinner
from cutpurse.engine.errors import UsageError
from cutpurse.process.terminal import print_json, print_lines, print_message, table
from cutpurse.wire.text import printable

if TYPE_CHECKING:
    from cutpurse.cli.event_request import DescribedEvent
    from cutpurse.v1 import event_pb2
    from cutpurse.wire.league import League

__all__ = ["app"]

LOOK_S: Final = 5.0  # between two questions for the state of an event
KINDS: Final = ("tournament", "season", "test")  # by number of the enum, from 1

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Tournaments, seasons and version tests, which a server plays by itself.\n\nExample: cutpurse event list",
)

EventId = Annotated[str, typer.Argument(metavar="ID", help="ID of the event.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait for its end, and print the result.")]


@app.callback()
def event() -> None:
    """Plan, start, show and stop events."""


@app.command()
def start(
    what: Annotated[
        str,
        typer.Argument(
            metavar="FILE|LADDER",
            help="TOML file with a tournament or seasons; or the ladder whose rules are played.",
            autocompletion=complete_ladders,
        ),
    ],
    bots: Annotated[
        list[str] | None,
        typer.Argument(metavar="[BOTS]", help="Bots, as owner/name or owner/name:version; for a test NEW OLD."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="elimination, double_elimination, round_robin or test. [default: elimination]",
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option(metavar="N", help="The best N bots of the ranking, instead of named ones.")
    ] = None,
    best_of: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum boards of a duel, an odd number. [default: 1]")
    ] = None,
    max_boards: Annotated[
        int | None, typer.Option(metavar="N", help="End a test undecided after this many boards. [default: 4000]")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Start it. [default: print the plan, and start nothing]")] = False,
    plan: Annotated[
        str | None, typer.Option(metavar="HASH", help="Start it only if this is still the SHA-256 of its plan.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Start it although too few of its bots can play now.")] = False,
    wait: Wait = False,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Plan an event, and with --yes or --plan start it.

    A tournament or seasons need an admin's token, and a file or arguments. A test compares two versions of your own
    bot: on each board both play the same deal in the same seat against bots of the ladder, and it ends by itself. The
    plan says which bots cannot play now. A bot that is away or paused when a board of a tournament is due loses it;
    --top leaves out paused ones.

    Example: cutpurse event start greed --top 8 --best-of 3
    """
    from cutpurse.cli.event_request import described_event, event_of_file

    if what.endswith(".toml"):
        if bots or any(given is not None for given in (form, top, best_of, max_boards)):
            raise UsageError("FILE has the ladder, the bots and the format: name nothing else but --yes or --plan")
        described = event_of_file(Path(what))
    else:
        described = described_event(what, bots or (), top, form, best_of, max_boards)
    is_started = yes or plan is not None
    with open_league(server, ca, None) as league:
        event = _plan_or_start(league, described, plan, is_started=is_started, force=force)
        if wait and is_started:
            event = _waited(league, event)
    if as_json:
        print_json(event_row(event))
    elif not is_started:
        print_lines([*plan_lines(event), f"plan {printable(event.plan, 64)}"])
        print_message("nothing is started; --yes starts it, and --plan HASH only this plan")
    elif wait:
        print_lines(event_lines(event))
    else:
        print_lines([printable(event.event, 64)])
        for line in absent_lines(event):
            print_message(line)
        print_message(f"follow it: cutpurse event show {printable(event.event, 64)}")


@app.command("list")
def list_events(
    kind: Annotated[
        str | None, typer.Option(metavar="KIND", help="Only these: tournament, season or test. [default: all]")
    ] = None,
    ladder: Annotated[
        str | None, typer.Option(metavar="LADDER", help="Only on this ladder.", autocompletion=complete_ladders)
    ] = None,
    game: Annotated[
        str | None, typer.Option(metavar="GAME", help="Only of this game.", autocompletion=complete_games)
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List the events that you may see, the newest first; of version tests your own, and all for a host.

    Example: cutpurse event list --kind test
    """
    from cutpurse.v1 import event_pb2

    if kind is not None and kind not in KINDS:
        raise UsageError(f"--kind {kind!r:.40}: it is one of: {', '.join(KINDS)}")
    number = (
        event_pb2.EVENT_KIND_UNSPECIFIED if kind is None else event_pb2.EventKind.Value(f"EVENT_KIND_{kind.upper()}")
    )
    with open_league(server, ca, db) as league:
        request = event_pb2.ListEventsRequest(kind=number, ladder=ladder or "", game=game or "")
        events = league.ListEvents(request).events
    if as_json:
        print_json([event_row(event) for event in events])
    else:
        head = ("event", "kind", "what", "ladder", "started", "progress", "state")
        print_lines(table(head, [list_line(event) for event in events]))


@app.command()
def show(
    event_id: EventId,
    season: Annotated[
        int | None, typer.Option(metavar="N", help="Of a series: number of the season. [default: the newest]")
    ] = None,
    wait: Wait = False,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Print an event as it is now: its standings and duels, its divisions, or what a test has found.

    Example: cutpurse event show 3f09c2aa81d4
    """
    from cutpurse.v1 import event_pb2

    with open_league(server, ca, db) as league:
        request = event_pb2.GetEventRequest(event=event_id, season=count("--season", season))
        event = league.GetEvent(request).event
        if wait:
            event = _waited(league, event)
    if as_json:
        print_json(event_row(event))
    else:
        print_lines(event_lines(event))


@app.command()
def stop(event_id: EventId, server: Server = None, ca: Authority = None, as_json: AsJson = False) -> None:
    """End an event at once; what was played stays. Needs an admin's token, but for your own tests.

    Example: cutpurse event stop 3f09c2aa81d4
    """
    from cutpurse.v1 import event_pb2

    with open_league(server, ca, None) as league:
        event = league.StopEvent(event_pb2.StopEventRequest(event=event_id)).event
    if as_json:
        print_json(event_row(event))
    else:
        print_message(f"event {printable(event.event, 64)} is stopped")


def _plan_or_start(
    league: League, described: DescribedEvent, plan: str | None, *, is_started: bool, force: bool
) -> event_pb2.EventShown:
    from cutpurse.lab.tournament.tournament_file import check_rules
    from cutpurse.v1 import event_pb2

    request = described.request
    if described.rules:
        check_rules(described.rules, ladder_named(league, request.tournament.ladder).defined)
    if plan is None:
        event = league.PlanEvent(event_pb2.PlanEventRequest(event=request)).event
        if not is_started:
            return event
        plan = event.plan
    return league.StartEvent(event_pb2.StartEventRequest(event=request, plan=plan, force=force)).event


def _waited(league: League, event: event_pb2.EventShown) -> event_pb2.EventShown:
    """Wait for the end of an event, and show how it goes."""
    from cutpurse.v1 import event_pb2

    with Spinner() as spinner:
        while not event.ended_ms:
            spinner.show(f"event {printable(event.event, 64)}: {progress(event)}")
            time.sleep(LOOK_S)
            event = league.GetEvent(event_pb2.GetEventRequest(event=event.event)).event
    return event
