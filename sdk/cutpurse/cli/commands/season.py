"""`cutpurse season`: seasons of divisions that a server plays by itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias

import typer

from cutpurse.cli.arguments import AsJson
from cutpurse.cli.completion import complete_games
from cutpurse.cli.league_options import Authority, Database, Server, asked, bot_row, count, iso, local_time
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.wire.text import format_count, printable

if TYPE_CHECKING:
    from cutpurse.v1 import ladder_pb2

__all__ = ["app"]

PHASES: Final = ("plan", "playing", "ending", "final", "break", "over", "stopped")  # by number of the enum
MOVES: Final = ("", "stays", "up", "down", "leaves")

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Seasons of divisions, which a server plays by itself.\n\nExample: cutpurse season plan cup.toml",
)

File: TypeAlias = Annotated[Path, typer.Argument(metavar="FILE", help="Seasons in TOML.")]
Series: TypeAlias = Annotated[str, typer.Argument(metavar="ID", help="ID of the seasons.")]


@app.callback()
def season() -> None:
    """Plan, start, show and stop seasons of divisions."""


@app.command()
def plan(file: File, server: Server = None, ca: Authority = None, as_json: AsJson = False) -> None:
    """Print the plan of seasons, and start nothing. Needs an admin's token.

    Example: cutpurse season plan cup.toml
    """
    from cutpurse.cli.season_file import read_season
    from cutpurse.v1 import ladder_pb2

    wanted = read_season(file)
    with asked(server, ca, None) as league:
        shown = league.PlanSeason(ladder_pb2.PlanSeasonRequest(wanted=wanted)).season
    if as_json:
        print_json(_row(shown))
        return
    print_lines([*_plan_lines(shown), f"plan {printable(shown.plan, 64)}"])
    print_message(f"nothing is started; this does it: cutpurse season start {file} --plan HASH")


@app.command()
def start(
    file: File,
    plan: Annotated[str, typer.Option(metavar="HASH", help="The SHA-256 of the plan, as `season plan` prints it.")],
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Start seasons as they were planned. Needs an admin's token.

    Example: cutpurse season start cup.toml --plan 77ee021ea4b742b12be4fc2f20bfd65278f9c3687f177ef4c1c93c19b3bf1861
    """
    from cutpurse.cli.season_file import read_season
    from cutpurse.v1 import ladder_pb2

    wanted = read_season(file)
    with asked(server, ca, None) as league:
        shown = league.StartSeason(ladder_pb2.StartSeasonRequest(wanted=wanted, plan=plan)).season
    if as_json:
        print_json(_row(shown))
    else:
        print_lines([printable(shown.series, 64)])
        print_message(f"follow it: cutpurse season show {printable(shown.series, 64)}")


@app.command("list")
def list_seasons(
    game: Annotated[
        str | None, typer.Option(metavar="GAME", help="Only those of this game.", autocompletion=complete_games)
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """List the seasons of a server, the newest first.

    Example: cutpurse season list
    """
    from cutpurse.v1 import ladder_pb2

    with asked(server, ca, db) as league:
        found = league.ListSeasons(ladder_pb2.ListSeasonsRequest(game=game or "")).seasons
    if as_json:
        print_json([_row(one) for one in found])
        return
    rows = [
        (
            printable(one.series, 64),
            printable(one.name, 64),
            printable(one.game, 64),
            f"{one.number} of {one.seasons}" if one.seasons else one.number,
            len(one.divisions),
            local_time(one.began_ms),
            _phase(one),
        )
        for one in found
    ]
    print_lines(table(("seasons", "name", "game", "season", "divisions", "began", "state"), rows))


@app.command()
def show(
    series: Series,
    number: Annotated[
        int | None, typer.Option("--season", metavar="N", help="Number of the season. [default: the newest]")
    ] = None,
    server: Server = None,
    ca: Authority = None,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Print the tables of a season as they are now.

    Example: cutpurse season show 3f09c2aa81d4
    """
    from cutpurse.v1 import ladder_pb2

    wanted = ladder_pb2.GetSeasonRequest(series=series, number=count("--season", number))
    with asked(server, ca, db) as league:
        shown = league.GetSeason(wanted).season
    if as_json:
        print_json(_row(shown))
    else:
        print_lines(_lines(shown))


@app.command()
def stop(series: Series, server: Server = None, ca: Authority = None, as_json: AsJson = False) -> None:
    """End seasons at once, without a final table; what was played stays. Needs an admin's token.

    Example: cutpurse season stop 3f09c2aa81d4
    """
    from cutpurse.v1 import ladder_pb2

    with asked(server, ca, None) as league:
        shown = league.StopSeason(ladder_pb2.StopSeasonRequest(series=series)).season
    if as_json:
        print_json(_row(shown))
    else:
        print_message(f"seasons {printable(shown.series, 64)} are stopped")


def _phase(shown: ladder_pb2.SeasonShown) -> str:
    return PHASES[shown.phase] if shown.phase < len(PHASES) else "unknown"


def _move(one: ladder_pb2.SeasonStanding) -> str:
    return MOVES[one.move] if one.move < len(MOVES) else "unknown"


def _title(shown: ladder_pb2.SeasonShown) -> str:
    seasons = f"{shown.seasons}" if shown.seasons else "an open number"
    return f"season {shown.number} of {seasons}: {printable(shown.name, 64)}, {printable(shown.game, 64)}"


def _end(shown: ladder_pb2.SeasonShown) -> str:
    ends = [f"after {format_count(shown.matches, 'match', 'matches')} of each bot"] if shown.matches else []
    if shown.ends_ms:
        ends.append(f"at {local_time(shown.ends_ms)}")
    elif shown.lasts_ms:
        ends.append(f"after {_duration(shown.lasts_ms)}")
    return " or ".join(ends)


def _duration(ms: int) -> str:
    for unit, unit_ms in (("d", 86_400_000), ("h", 3_600_000), ("m", 60_000)):
        if ms % unit_ms == 0:
            return f"{ms // unit_ms}{unit}"
    return f"{ms / 1_000:g}s"


def _final(shown: ladder_pb2.SeasonShown) -> list[str]:
    return [f"final: the best {shown.final_top}, best of {shown.final_best_of}"] if shown.final_top else []


def _plan_lines(shown: ladder_pb2.SeasonShown) -> list[str]:
    lines = [_title(shown)]
    for number, division in enumerate(shown.divisions, 1):
        size = f"at most {division.size} bots, {_goes(division.down)}" if division.size else "all other bots"
        names = ", ".join(_name(one.bot) for one in division.standings) or "no bot yet"
        lines.append(f"division {number}, ladder {printable(division.ladder, 64)}: {size}: {names}")
    return [*lines, f"it ends {_end(shown)}", *_final(shown)]


def _goes(down: int) -> str:
    return f"{down} goes down" if down == 1 else f"{down} go down"


def _name(bot: ladder_pb2.BotName) -> str:
    from cutpurse.wire.league import format_bot_name

    return format_bot_name(bot)


def _lines(shown: ladder_pb2.SeasonShown) -> list[str]:
    lines = []
    for number, division in enumerate(shown.divisions, 1):
        lines.append(f"division {number}, ladder {printable(division.ladder, 64)}")
        cells = [
            (
                one.place or "-",
                _name(one.bot),
                f"{one.rating:.2f}" if one.HasField("rating") else "-",
                one.matches,
                "has left" if one.has_left and one.move != MOVES.index("leaves") else _move(one),
            )
            for one in division.standings
        ]
        top, *rows = table(("place", "bot", "rating", "matches", "next season"), cells)
        lines += [top, *[paint(row, "leader") if not at else row for at, row in enumerate(rows)], ""]
    lines.append(f"{_title(shown)}: {_phase(shown)}")
    if not shown.ended_ms and (end := _end(shown)):
        lines.append(f"it ends {end}")
    lines += _final(shown)
    if shown.HasField("final"):
        state = printable(shown.final.outcome, 40) or "played"
        lines[-1] += f": {state}; cutpurse tournament show {printable(shown.final.tournament, 64)}"
    if shown.HasField("champion"):
        lines.append(f"champion: {_name(shown.champion)}")
    if shown.next_ms:
        lines.append(f"the next season begins at {local_time(shown.next_ms)}")
    return lines


def _row(shown: ladder_pb2.SeasonShown) -> dict[str, Any]:
    """Return a season for a JSON document."""
    return {
        "series": shown.series or None,
        "name": shown.name,
        "game": shown.game,
        "started_by": shown.started_by,
        "plan": shown.plan,
        "season": shown.number,
        "newest": shown.newest,
        "seasons": shown.seasons or None,
        "phase": _phase(shown),
        "began": iso(shown.began_ms),
        "ends": iso(shown.ends_ms),
        "ends_after_matches": shown.matches or None,
        "ended": iso(shown.ended_ms),
        "next": iso(shown.next_ms),
        "outcome": shown.outcome or None,
        "final": shown.final.tournament or None,
        "champion": bot_row(shown.champion) if shown.HasField("champion") else None,
        "divisions": [
            {
                "ladder": division.ladder,
                "size": division.size or None,
                "down": division.down,
                "standings": [
                    {
                        "place": one.place or None,
                        **bot_row(one.bot),
                        "rating": one.rating if one.HasField("rating") else None,
                        "matches": one.matches,
                        "move": _move(one) or None,
                        "has_left": one.has_left,
                    }
                    for one in division.standings
                ],
            }
            for division in shown.divisions
        ],
    }
