"""`cutpurse tournament start`, `list`, `stop` and `show ID`: tournaments that a server plays by itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import Authority, Server, asked, bot_row, count, iso, local_time
from cutpurse.engine.errors import UsageError
from cutpurse.experiments.brackets import DOUBLE_ELIMINATION, Lane
from cutpurse.experiments.tournament.server_file import FORMATS, ServerTournament, read_server_tournament
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2

__all__ = ["FINALS", "LANES", "is_tournament_id", "list_tournaments", "show_on_server", "start", "stop"]

LANES: Final = {Lane.MAIN: "", Lane.WINNERS: "winners, ", Lane.LOSERS: "losers, ", Lane.FINAL: ""}
FINALS: Final = ("grand final", "reset duel")
_ID: Final = re.compile(r"[0-9a-f]{12}")


def is_tournament_id(text: str) -> bool:
    """Return whether a text has the form of the ID of a tournament on a server."""
    return _ID.fullmatch(text) is not None


def start(
    ladder: Annotated[
        str | None,
        typer.Argument(
            metavar="[LADDER]",
            help="Ladder whose rules are played and whose ranking gives the seeds.",
            autocompletion=complete_ladders,
        ),
    ] = None,
    bots: Annotated[
        list[str] | None, typer.Argument(metavar="[BOTS]", help="Bots, as owner/name or owner/name:version.")
    ] = None,
    top: Annotated[
        int | None, typer.Option(metavar="N", help="The best N bots of the ranking, instead of named ones.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="elimination, double_elimination or round_robin. [default: elimination]"
        ),
    ] = None,
    best_of: Annotated[
        int | None, typer.Option(metavar="N", help="Maximum boards of a duel, an odd number. [default: 1]")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--from", metavar="FILE", help="Read all this from a TOML file instead.")
    ] = None,
    plan: Annotated[
        str | None, typer.Option(metavar="HASH", help="Start this plan. [default: print the plan, and start nothing]")
    ] = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Plan a tournament that a server plays by itself, and with --plan start it. Needs an admin's token.

    Example: cutpurse tournament start greed --top 8 --best-of 3
    """
    from cutpurse.v1 import ladder_pb2
    from cutpurse.wire.league import bot_name

    if file is not None:
        if bots or any(given is not None for given in (ladder, top, form, best_of)):
            raise UsageError("--from FILE has the ladder, the bots and the format: name nothing else but --plan")
        described = read_server_tournament(file)
    else:
        described = _described(ladder, bots, top, form, best_of)
    wanted = ladder_pb2.TournamentWanted(
        ladder=described.ladder,
        format=ladder_pb2.TournamentFormat.Value(f"TOURNAMENT_FORMAT_{described.form.upper()}"),
        best_of=described.best_of,
        bots=[bot_name(bot) for bot in described.bots],
        top=described.top,
    )
    with asked(server, ca, None) as league:
        if plan is None:
            shown = league.PlanTournament(ladder_pb2.PlanTournamentRequest(wanted=wanted)).tournament
        else:
            shown = league.StartTournament(ladder_pb2.StartTournamentRequest(wanted=wanted, plan=plan)).tournament
    if as_json:
        print_json(_row(shown))
    elif plan is None:
        print_lines([*_plan_lines(shown), f"plan {printable(shown.plan, 64)}"])
        print_message("nothing is started; the same command with --plan HASH starts this plan")
    else:
        print_lines([printable(shown.tournament, 64)])
        print_message(f"follow it: cutpurse tournament show {printable(shown.tournament, 64)}")


def _described(
    ladder: str | None, bots: list[str] | None, top: int | None, form: str | None, best_of: int | None
) -> ServerTournament:
    """Return the tournament that arguments describe.  Raises UsageError."""
    if ladder is None:
        raise UsageError("name the ladder, or a file with --from FILE")
    form = form or FORMATS[0]
    if form not in FORMATS:
        raise UsageError(f"--format {form!r:.40}: it is one of: {', '.join(FORMATS)}")
    if bool(bots) == (top is not None):
        raise UsageError("name bots, or how many of the best with --top N: one of them")
    return ServerTournament(ladder, form, count("--best-of", best_of) or 1, tuple(bots or ()), count("--top", top))


def list_tournaments(server: Server = None, ca: Authority = None, as_json: AsJson = False) -> None:
    """List the tournaments of a server, the newest first.

    Example: cutpurse tournament list
    """
    from cutpurse.v1 import ladder_pb2

    with asked(server, ca, None) as league:
        found = league.ListTournaments(ladder_pb2.ListTournamentsRequest()).tournaments
    if as_json:
        print_json([_row(one) for one in found])
        return
    rows = [
        (
            printable(one.tournament, 64),
            printable(one.ladder, 64),
            _format(one),
            len(one.standings),
            local_time(one.created_ms),
            f"{one.duels_over} of {one.duels_planned}",
            printable(one.outcome, 40) or "played",
        )
        for one in found
    ]
    print_lines(table(("tournament", "ladder", "format", "bots", "started", "duels", "state"), rows))


def stop(
    tournament: Annotated[str, typer.Argument(metavar="ID", help="ID of the tournament.")],
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """End a tournament of a server; its table stays. Needs an admin's token.

    Example: cutpurse tournament stop 3f09c2aa81d4
    """
    from cutpurse.v1 import ladder_pb2

    with asked(server, ca, None) as league:
        shown = league.StopTournament(ladder_pb2.StopTournamentRequest(tournament=tournament)).tournament
    if as_json:
        print_json(_row(shown))
    else:
        print_message(f"tournament {printable(shown.tournament, 64)} is stopped")


def show_on_server(tournament: str, server: str | None, ca: Path | None, as_json: bool) -> None:
    """Print a tournament of a server as it is now."""
    from cutpurse.v1 import ladder_pb2

    with asked(server, ca, None) as league:
        shown = league.GetTournament(ladder_pb2.GetTournamentRequest(tournament=tournament)).tournament
    if as_json:
        print_json(_row(shown))
    else:
        print_lines(_lines(shown))


def _format(shown: ladder_pb2.TournamentShown) -> str:
    name = FORMATS[shown.format - 1] if 0 < shown.format <= len(FORMATS) else "unknown"
    return f"{name.replace('_', ' ')}, best of {shown.best_of}"


def _plan_lines(shown: ladder_pb2.TournamentShown) -> list[str]:
    names = _names(shown)
    duels = format_count(shown.duels_planned, "duel", "duels")
    has_reset = shown.format == FORMATS.index(DOUBLE_ELIMINATION) + 1
    reset = ", and a reset duel if the grand final is won from the losers' bracket" if has_reset else ""
    bots = format_count(len(names), "bot", "bots")
    return [
        f"{_format(shown)}, on {printable(shown.ladder, 64)}: {bots}, {duels}{reset}",
        f"by seed: {', '.join(names[seed] for seed in sorted(names))}",
    ]


def _names(shown: ladder_pb2.TournamentShown) -> dict[int, str]:
    from cutpurse.wire.league import format_bot_name

    return {one.seed: format_bot_name(one.bot) for one in shown.standings}


def _lines(shown: ladder_pb2.TournamentShown) -> list[str]:
    names = _names(shown)
    cells = [
        (
            one.rank,
            names[one.seed],
            one.seed,
            f"{one.won:g} of {one.duels}",
            f"{one.points:g} of {one.boards}",
            "out" if one.is_out else "",
        )
        for one in shown.standings
    ]
    top, *rows = table(("rank", "bot", "seed", "duels won", "points", "state"), cells)
    lines = [
        top,
        *[paint(line, "leader") if one.rank == 1 else line for line, one in zip(rows, shown.standings, strict=True)],
    ]
    lines += ["", *[_duel_line(duel, names) for duel in shown.duels if duel.first and (duel.second or duel.is_bye)], ""]
    state = printable(shown.outcome, 40) or "played"
    lines.append(
        f"{_format(shown)}, on {printable(shown.ladder, 64)}: {state}, "
        f"{shown.duels_over} of {format_count(shown.duels_planned, 'duel', 'duels')}"
    )
    if shown.waits_for:
        lines.append(f"it waits: {printable(shown.waits_for, 500)}")
    return lines


def _duel_line(duel: ladder_pb2.TournamentDuel, names: dict[int, str]) -> str:
    first, second = names.get(duel.first, "?"), names.get(duel.second, "?")
    lane = _lane(duel)
    in_round = f"{LANES[lane]}round {duel.round}"
    if lane is Lane.FINAL and 0 < duel.round <= len(FINALS):
        in_round = FINALS[duel.round - 1]
    if duel.is_bye:
        return f"{in_round}: {first} has a bye"
    away = sum(bool(board.result) and not board.match for board in duel.boards)
    lost = f", {format_count(away, 'board', 'boards')} lost by absence" if away else ""
    state = "" if duel.is_over else ", open"
    return f"{in_round}: {first} {duel.first_points:g}, {second} {duel.second_points:g}{lost}{state}"


def _lane(duel: ladder_pb2.TournamentDuel) -> Lane:
    """Return the lane of a duel; the main one for any that this version does not know."""
    lanes = tuple(Lane)
    return lanes[duel.lane - 1] if 0 < duel.lane <= len(lanes) else Lane.MAIN


def _row(shown: ladder_pb2.TournamentShown) -> dict[str, Any]:
    """Return a tournament for a JSON document."""
    return {
        "tournament": shown.tournament or None,
        "ladder": shown.ladder,
        "started_by": shown.started_by,
        "format": FORMATS[shown.format - 1] if 0 < shown.format <= len(FORMATS) else None,
        "best_of": shown.best_of,
        "plan": shown.plan,
        "created": iso(shown.created_ms),
        "ended": iso(shown.ended_ms),
        "outcome": shown.outcome or None,
        "duels_planned": shown.duels_planned,
        "duels_over": shown.duels_over,
        "waits_for": shown.waits_for or None,
        "standings": [
            {
                "rank": one.rank,
                **bot_row(one.bot),
                "seed": one.seed,
                "duels": one.duels,
                "won": one.won,
                "points": one.points,
                "boards": one.boards,
                "is_out": one.is_out,
            }
            for one in shown.standings
        ],
        "duels": [
            {
                "lane": _lane(duel).value,
                "round": duel.round,
                "first": duel.first or None,
                "second": duel.second or None,
                "is_bye": duel.is_bye,
                "points": [duel.first_points, duel.second_points],
                "winner": duel.winner or None,
                "is_over": duel.is_over,
                "boards": [{"match": one.match or None, "result": one.result or None} for one in duel.boards],
            }
            for duel in shown.duels
        ],
    }
