"""`cutpurse tournament`: a fixed list of bots, a format, and a table at the end."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer

from cutpurse.cli.arguments import AsJson, Jobs, On, run_bots_in, tell_failures
from cutpurse.cli.clock_option import Clock, clock_as_json, read_clock, slowest_lines
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.duel_text import round_name
from cutpurse.cli.engine_build import warn_of_slow_bots
from cutpurse.cli.lazy import group_with_former
from cutpurse.cli.league_options import Authority, Server, ladder_named, open_league
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import UsageError
from cutpurse.lab.tournament.knockout import Knockout
from cutpurse.lab.tournament.local_backend import LocalBackend
from cutpurse.lab.tournament.progress_log import Journal
from cutpurse.lab.tournament.runner import Plan, TournamentBackend, plan_of, played_out, standing
from cutpurse.lab.tournament.tournament_file import Tournament, read_tournament
from cutpurse.lab.tournament.tournament_results import PlayedBoard, digest_of_boards
from cutpurse.lab.tournament.tournament_table import AdjustedPoints, TournamentStanding, head_to_head
from cutpurse.process.pool import BatchLost
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.wire.errors import BOT_FAILED, NotFound
from cutpurse.wire.text import format_count

__all__ = ["app"]

DECIMALS: Final = 6

app = typer.Typer(
    cls=group_with_former({"plan": "tournament run FILE --plan"}),
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Tournaments of a fixed list of bots, with a table at the end.\n\nExample: cutpurse tournament run cup.toml",
)

File: TypeAlias = Annotated[Path, typer.Argument(metavar="FILE", help="Tournament in TOML.")]
JournalFile: TypeAlias = Annotated[
    Path | None,
    typer.Option("--journal", metavar="FILE", help="File that stores the progress. [default: FILE.journal]"),
]


@app.callback()
def tournament() -> None:
    """Run tournaments of a fixed list of bots."""


@app.command()
def run(
    context: typer.Context,
    file: File,
    is_plan: Annotated[bool, typer.Option("--plan", help="Print the plan, and play nothing.")] = False,
    ladder: Annotated[
        str | None,
        typer.Option(
            "--ladder",
            metavar="LADDER",
            help="Play unrated matches with online bots of this ladder. [default: that of the file, else this machine]",
            autocompletion=complete_ladders,
        ),
    ] = None,
    journal: JournalFile = None,
    jobs: Jobs = 1,
    on: On = None,
    luck_adjusted: Annotated[
        bool,
        typer.Option(
            "--luck-adjusted", help="Also find each bot's points without the luck of the cards, as luck_adjusted does."
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the final table to this file.")
    ] = None,
    clock: Clock = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Play a tournament to its end and print its table; the plan is printed before the first match.

    The file names the bots and the format: round_robin, gauntlet, swiss, groups, elimination or double_elimination.
    Progress is stored in a journal, so the same command continues after an interrupt or a crash. Exits with 3 if a bot
    failed or was taken over in a match.

    Example: cutpurse tournament run cup.toml --plan

    Example: cutpurse tournament run cup.toml --jobs 4 --csv table.csv
    """
    if out is not None and not out.parent.is_dir():
        raise NotFound(f"--csv {out}: there is no folder {out.parent}")
    run_bots_in(context)
    kept = journal or _journal_of(file)
    tournament_file = read_tournament(file, ladder)
    if luck_adjusted:
        tournament_file = replace(tournament_file, luck_adjusted=True)
    ladder = tournament_file.ladder or None
    if ladder is not None:
        _check_ladder(tournament_file, file, is_plan, on, clock)
    elif server is not None or ca is not None:
        raise UsageError("--server and --ca are for bots on a server: name the ladder too, --ladder LADDER")
    match_clock = read_clock(clock)
    here = LocalBackend(tournament_file, jobs, on, match_clock) if ladder is None else None
    if is_plan and here is not None:
        _print_plan(plan_of(tournament_file, here.plan()), as_json)
        return
    with ExitStack() as stack:
        league = None if ladder is None else stack.enter_context(open_league(server, ca, None))
        diary = stack.enter_context(Journal(kept))
        place: TournamentBackend
        if here is not None:
            place = here
        else:
            from cutpurse.lab.tournament.server_backend import ServerBackend

            assert league is not None
            assert ladder is not None
            place = ServerBackend(tournament_file, league, ladder_named(league, ladder), diary)
        settled = plan_of(tournament_file, place.plan())
        _tell_plan(settled, diary)
        if here is not None:
            warn_of_slow_bots([entrant.bot for entrant in tournament_file.bots])
        try:
            played = played_out(settled, place, diary, stack.enter_context(Progress("boards")))
        except BatchLost:
            print_message(f"{len(diary.played):,} of {settled.boards_text()} were played, and are in {kept}")
            raise
    slowest = here.slowest if here is not None else ()
    names = [bot.name for bot in tournament_file.bots]
    rows = _tell(settled, played, as_json, out, clock_as_json(match_clock, slowest, names))
    if not as_json and slowest:
        print_lines(slowest_lines(match_clock, slowest, names, "board"))
    failures = here.failures if here is not None else {}
    tell_failures([failures[bot] for bot in sorted(failures)], (), bool(context.obj))
    if failures or any(row.taken_over for row in rows):
        raise typer.Exit(BOT_FAILED)


def _check_ladder(tournament: Tournament, file: Path, is_plan: bool, on: str | None, clock: str | None) -> None:
    """Check the options for a tournament on a ladder.  Raises UsageError for one that is only for this machine."""
    if is_plan:
        raise UsageError(f"{file} is for ladder {tournament.ladder!r:.80}: cutpurse event start {file}")
    if on is not None:
        raise UsageError("--on is for bots that play here, and on a ladder they play on a server")
    if clock is not None:
        raise UsageError("--clock is for bots that play here: a ladder has its own clock")
    if tournament.luck_adjusted:
        raise UsageError("the luck of the cards is found in matches that are played here, and not on a ladder")


def _journal_of(file: Path) -> Path:
    return file.parent / f"{file.name}.journal"


@app.command()
def show(
    file: File,
    journal: JournalFile = None,
    as_json: AsJson = False,
) -> None:
    """Print the current table of a tournament from its journal.

    Example: cutpurse tournament show cup.toml
    """
    kept = journal or _journal_of(file)
    if not kept.is_file():
        hint = "" if file.exists() else f"; one that a server plays: cutpurse event show {file}"
        raise NotFound(f"no journal {kept}: this tournament has not begun{hint}")
    with Journal(kept, is_to_be_written=False) as diary:
        if diary.plan is None:
            raise NotFound(f"{kept} is empty: this tournament has not begun")
        tournament_file = read_tournament(file, boards=str(diary.plan["tournament"].get("boards")))
        tournament_file = replace(tournament_file, luck_adjusted=diary.plan["tournament"].get("luck_adjusted") is True)
        settled = plan_of(tournament_file, diary.plan["place"])
        diary.settle(settled.settled)
        played = [diary.played[number] for number in sorted(diary.played)]
    whole = played[: next((at for at, board in enumerate(played) if board.number != at), len(played))]
    print_message(f"{len(played):,} of {settled.boards_text()} are played")
    _tell(settled, whole, as_json, None, {})


def _print_plan(settled: Plan, as_json: bool) -> None:
    if as_json:
        print_json({**settled.settled, "digest": settled.digest, "boards": settled.boards()})
    else:
        print_lines(settled.lines())


def _tell_plan(settled: Plan, diary: Journal) -> None:
    for line in settled.lines():
        print_message(line)
    if diary.plan is not None:
        print_message(f"{len(diary.played):,} of {settled.boards_text()} are in {diary.path}: going on from there")


def _tell(
    settled: Plan, played: Sequence[PlayedBoard], as_json: bool, out: Path | None, more: Mapping[str, object]
) -> list[TournamentStanding]:
    """Print and write the table, and return its rows; `more` is added to the JSON document."""
    rows = standing(settled, played)
    plain = [_plain(row, settled.tournament) for row in rows]
    if out is not None:
        _write(out, plain)
    if as_json:
        names = [bot.name for bot in settled.tournament.bots]
        print_json(
            {
                "tournament": settled.tournament.name,
                "plan": settled.digest,
                "boards": len(played),
                "digest": digest_of_boards(played),
                "table": plain,
                "head_to_head": [
                    {
                        "bot": names[pair.bot],
                        "other": names[pair.other],
                        "matches": pair.matches,
                        "ahead": pair.ahead,
                        "level": pair.level,
                    }
                    for pair in head_to_head(played)
                ],
                **_duels(settled, played),
                **more,
            }
        )
    else:
        print_lines(_lines(rows, settled, played))
    return rows


def _lines(rows: Sequence[TournamentStanding], settled: Plan, played: Sequence[PlayedBoard]) -> list[str]:
    names = [bot.name for bot in settled.tournament.bots]
    has_luck = any(row.adjusted is not None for row in rows)
    without_luck = ("without luck", "95 %") if has_luck else ()
    head = ("rank", "bot", "points", "95 %", *without_luck, "boards", "matches", "wins", "mean score", "faults")
    cells = [
        (
            _range(row.best, row.worst, row.rank),
            names[row.bot],
            f"{row.points:.3f}",
            "" if row.low is None else f"{row.low:.3f}-{row.high:.3f}",
            *(_without_luck(row.adjusted) if has_luck else ()),
            row.boards,
            row.matches,
            row.wins,
            row.mean_score,
            row.faults,
        )
        for row in rows
    ]
    lines = table(head, cells)
    lines[1:] = [paint(line, "leader") if row.rank == 1 else line for line, row in zip(lines[1:], rows, strict=True)]
    if settled.tournament.format.kind == "gauntlet":
        lines += ["", *_against(settled, played)]
    if isinstance(settled.rounds, Knockout):
        lines += ["", *_duel_lines(settled.rounds, names, played)]
    if settled.tournament.format.kind == "groups" and len(played) > settled.rounds.size(0):
        finalists, _ = settled.rounds.stages(played)[0]
        lines.append(f"the first {len(finalists)} are in the final: their rows count it alone, all others their group")
        lines.append("the others' points and intervals are of their group, left by its best: no estimates of strength")
    if settled.tournament.format.kind == "swiss":
        lines.append(
            "bots of equal strength come out apart here: points pick the opponents; intervals are of this table"
        )
    for row in rows:
        if row.taken_over:
            some = format_count(row.matches, "match", "matches")
            text = f"{names[row.bot]} was taken over in {row.taken_over:,} of {some}: it came last there"
            lines.append(paint(text, "bad"))
    byes = sum(row.byes for row in rows)
    resting = ", a round that was rested as the mean" if byes else ""
    ranks = "ranks: by the duels" if isinstance(settled.rounds, Knockout) else "and the ranks that it gives"
    sure = f"95 %, for all bots at once: a bootstrap over {format_count(len(played), 'board')}, {ranks}"
    points = f"points: the mean of a board, 1 for first, 0 for last{resting}; {sure}"
    luck = ["without luck: the points less what the cards gave; they decide no rank"] if has_luck else []
    return [*lines, points, *luck, f"digest {digest_of_boards(played)}"]


def _without_luck(adjusted: AdjustedPoints | None) -> tuple[str, str]:
    """Return the cells of a row: points, and their interval."""
    if adjusted is None:
        return "", ""
    interval = "" if adjusted.low is None else f"{adjusted.low:.3f} to {adjusted.high:.3f}"
    return f"{adjusted.points:.3f}", interval


def _against(settled: Plan, played: Sequence[PlayedBoard]) -> list[str]:
    """Return the challenger's results against each other bot."""
    challenger, names = settled.tournament.format.challenger, [bot.name for bot in settled.tournament.bots]
    cells = []
    for pair in head_to_head(played):
        if challenger in (pair.bot, pair.other):
            other = pair.other if pair.bot == challenger else pair.bot
            ahead = pair.ahead if pair.bot == challenger else pair.matches - pair.ahead - pair.level
            cells.append((names[other], pair.matches, ahead, pair.level, pair.matches - ahead - pair.level))
    return table((f"{names[challenger]} against", "matches", "ahead", "level", "behind"), cells)


def _duel_lines(rounds: Knockout, names: Sequence[str], played: Sequence[PlayedBoard]) -> list[str]:
    """Describe the duels whose bots are known, in lines."""
    lines = []
    for duel in rounds.duels(played):
        in_round = round_name(duel.lane, duel.round + 1)
        first, second = (None if bot is None else names[rounds.bots[bot]] for bot in duel.bots)
        if duel.is_bye and first is not None:
            lines.append(f"{in_round}: {first} has a bye")
        elif first is not None and second is not None:
            state = "" if duel.is_over else ", open"
            lines.append(f"{in_round}: {first} {duel.points[0]:g}, {second} {duel.points[1]:g}{state}")
    return lines


def _duels(settled: Plan, played: Sequence[PlayedBoard]) -> dict[str, Any]:
    """Return the duels for a JSON document; nothing for a format without duels."""
    if not isinstance(settled.rounds, Knockout):
        return {}
    bots = settled.rounds.bots

    def name(bot: int | None) -> str | None:
        return None if bot is None else settled.tournament.bots[bots[bot]].name

    duels = [
        {
            "lane": duel.lane.value,
            "round": duel.round + 1,
            "first": name(duel.bots[0]),
            "second": name(duel.bots[1]),
            "is_bye": duel.is_bye,
            "points": list(duel.points),
            "winner": name(duel.winner),
            "is_over": duel.is_over,
        }
        for duel in settled.rounds.duels(played)
    ]
    return {"duels": duels}


def _range(best: int | None, worst: int | None, rank: int) -> str:
    if best is None or worst is None or best == worst == rank:
        return f"{rank}"
    return f"{rank} ({best}-{worst})"


def _plain(row: TournamentStanding, tournament: Tournament) -> dict[str, Any]:
    def rounded(number: float | None) -> float | None:
        return None if number is None else round(number, DECIMALS)

    without_luck: dict[str, float | None] = {}
    if tournament.luck_adjusted:  # every row has the same columns
        adjusted = row.adjusted
        ends = (
            {"": None, "_low": None, "_high": None}
            if adjusted is None
            else {"": adjusted.points, "_low": adjusted.low, "_high": adjusted.high}
        )
        without_luck = {f"without_luck{end}": rounded(number) for end, number in ends.items()}
    return {
        "rank": row.rank,
        "best": row.best,
        "worst": row.worst,
        "bot": tournament.bots[row.bot].name,
        "points": rounded(row.points),
        "low": rounded(row.low),
        "high": rounded(row.high),
        "boards": row.boards,
        "byes": row.byes,
        "matches": row.matches,
        "wins": row.wins,
        "mean_score": rounded(row.mean_score),
        "faults": row.faults,
        "taken_over": row.taken_over,
        **without_luck,
    }


def _write(out: Path, rows: Sequence[dict[str, Any]]) -> None:
    try:
        with out.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
    except OSError as problem:
        raise NotFound(f"--csv {out}: cannot be written: {problem.strerror}") from None
