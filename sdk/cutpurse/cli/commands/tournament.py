"""`cutpurse tournament`: a fixed list of bots, a format, and a table at the end."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer

from cutpurse.cli.arguments import AsJson, Jobs, On, run_bots_in, tell_failures
from cutpurse.cli.commands.tournament_server import (
    FINALS,
    LANES,
    is_tournament_id,
    list_tournaments,
    show_on_server,
    start,
    stop,
)
from cutpurse.cli.completion import complete_ladders
from cutpurse.cli.league_options import Authority, Server, asked, ladder_named
from cutpurse.cli.progress import Progress
from cutpurse.engine.errors import UsageError
from cutpurse.experiments.brackets import Lane
from cutpurse.experiments.tournament.knockout import Knockout
from cutpurse.experiments.tournament.local_backend import LocalBackend
from cutpurse.experiments.tournament.progress_log import Journal
from cutpurse.experiments.tournament.runner import Plan, TournamentBackend, plan_of, played_out, standing
from cutpurse.experiments.tournament.tournament_file import Tournament, read_tournament
from cutpurse.experiments.tournament.tournament_results import PlayedBoard, digest_of_boards
from cutpurse.experiments.tournament.tournament_table import AdjustedPoints, TournamentStanding, head_to_head
from cutpurse.process.pool import BatchLost
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.wire.errors import BOT_FAILED, NotFound
from cutpurse.wire.text import format_count

__all__ = ["app"]

DECIMALS: Final = 6

app = typer.Typer(
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
def plan(context: typer.Context, file: File, as_json: AsJson = False) -> None:
    """Print the plan of a tournament without playing it.

    Example: cutpurse tournament plan cup.toml
    """
    run_bots_in(context)
    wanted = read_tournament(file)
    settled = plan_of(wanted, LocalBackend(wanted).plan())
    if as_json:
        print_json({**settled.settled, "digest": settled.digest, "boards": settled.boards()})
    else:
        print_lines(settled.lines())


@app.command()
def run(
    context: typer.Context,
    file: File,
    ladder: Annotated[
        str | None,
        typer.Option(
            "--ladder",
            metavar="LADDER",
            help="Play unrated matches with online bots of this ladder. [default: play on this machine]",
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
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Play a tournament to its end and print its table; the plan is printed before the first match.

    The file names the bots and the format: round_robin, gauntlet, swiss, groups, elimination or double_elimination.
    Progress is stored in a journal, so the same command continues after an interrupt or a crash. Exits with 3 if a bot
    failed or was taken over in a match.

    Example: cutpurse tournament run cup.toml --jobs 4 --csv table.csv
    """
    if out is not None and not out.parent.is_dir():
        raise NotFound(f"--csv {out}: there is no folder {out.parent}")
    if ladder is None and (server is not None or ca is not None):
        raise UsageError("--server and --ca are for bots on a server: name the ladder too, --ladder LADDER")
    if ladder is not None and on is not None:
        raise UsageError("--on is for bots that play here, and with --ladder they play on a server")
    run_bots_in(context)
    kept = journal or _journal_of(file)
    wanted = read_tournament(file, "rotation" if ladder is None else "plain")
    if luck_adjusted:
        wanted = replace(wanted, luck_adjusted=True)
    if ladder is not None and wanted.luck_adjusted:
        raise UsageError("the luck of the cards is found in matches that are played here, and not with --ladder")
    with ExitStack() as stack:
        here = LocalBackend(wanted, jobs, on) if ladder is None else None
        league = None if ladder is None else stack.enter_context(asked(server, ca, None))
        diary = stack.enter_context(Journal(kept))
        place: TournamentBackend
        if here is not None:
            place = here
        else:
            from cutpurse.experiments.tournament.server_backend import ServerBackend

            assert league is not None
            assert ladder is not None
            place = ServerBackend(wanted, league, ladder_named(league, ladder), diary)
        settled = plan_of(wanted, place.plan())
        _tell_plan(settled, diary)
        try:
            played = played_out(settled, place, diary, stack.enter_context(Progress("boards")))
        except BatchLost:
            print_message(f"{len(diary.played):,} of {settled.boards_text()} were played, and are in {kept}")
            raise
    rows = _tell(settled, played, as_json, out)
    failures = here.failures if here is not None else {}
    tell_failures([failures[bot] for bot in sorted(failures)], (), bool(context.obj))
    if failures or any(row.taken_over for row in rows):
        raise typer.Exit(BOT_FAILED)


def _journal_of(file: Path) -> Path:
    return file.parent / f"{file.name}.journal"


app.command()(start)
app.command("list")(list_tournaments)
app.command()(stop)


@app.command()
def show(
    file: Annotated[Path, typer.Argument(metavar="FILE|ID", help="Tournament in TOML, or the ID of one of a server.")],
    journal: JournalFile = None,
    server: Server = None,
    ca: Authority = None,
    as_json: AsJson = False,
) -> None:
    """Print the current table of a tournament from its journal, or of one that a server plays.

    Example: cutpurse tournament show cup.toml
    """
    if is_tournament_id(str(file)) and not file.exists():
        show_on_server(str(file), server, ca, as_json)
        return
    if server is not None or ca is not None:
        raise UsageError("--server and --ca are for the ID of a tournament that a server plays")
    kept = journal or _journal_of(file)
    if not kept.is_file():
        raise NotFound(f"no journal {kept}: this tournament has not begun")
    with Journal(kept, is_to_be_written=False) as diary:
        if diary.plan is None:
            raise NotFound(f"{kept} is empty: this tournament has not begun")
        wanted = read_tournament(file, str(diary.plan["tournament"].get("boards")))
        wanted = replace(wanted, luck_adjusted=diary.plan["tournament"].get("luck_adjusted") is True)
        settled = plan_of(wanted, diary.plan["place"])
        diary.settle(settled.settled)
        played = [diary.played[number] for number in sorted(diary.played)]
    whole = played[: next((at for at, board in enumerate(played) if board.number != at), len(played))]
    print_message(f"{len(played):,} of {settled.boards_text()} are played")
    _tell(settled, whole, as_json, None)


def _tell_plan(settled: Plan, diary: Journal) -> None:
    for line in settled.lines():
        print_message(line)
    if diary.plan is not None:
        print_message(f"{len(diary.played):,} of {settled.boards_text()} are in {diary.path}: going on from there")


def _tell(settled: Plan, played: Sequence[PlayedBoard], as_json: bool, out: Path | None) -> list[TournamentStanding]:
    """Print and write the table, and return its rows."""
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
                        "bot": names[one.bot],
                        "other": names[one.other],
                        "matches": one.matches,
                        "ahead": one.ahead,
                        "level": one.level,
                    }
                    for one in head_to_head(played)
                ],
                **_duels(settled, played),
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
    for row in rows:
        if row.taken_over:
            some = format_count(row.matches, "match", "matches")
            text = f"{names[row.bot]} was taken over in {row.taken_over:,} of {some}: it came last there"
            lines.append(paint(text, "bad"))
    byes = sum(row.byes for row in rows)
    resting = ", a round that was rested as the mean" if byes else ""
    ranks = "ranks: by the duels" if isinstance(settled.rounds, Knockout) else "and the ranks that it gives"
    sure = f"95 %, for all bots at once: a bootstrap over {len(played):,} boards, {ranks}"
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
    for one in head_to_head(played):
        if challenger in (one.bot, one.other):
            other = one.other if one.bot == challenger else one.bot
            ahead = one.ahead if one.bot == challenger else one.matches - one.ahead - one.level
            cells.append((names[other], one.matches, ahead, one.level, one.matches - ahead - one.level))
    return table((f"{names[challenger]} against", "matches", "ahead", "level", "behind"), cells)


def _duel_lines(rounds: Knockout, names: Sequence[str], played: Sequence[PlayedBoard]) -> list[str]:
    """Describe the duels whose bots are known, in lines."""
    lines = []
    for duel in rounds.duels(played):
        in_round = f"{LANES[duel.lane]}round {duel.round + 1}"
        if duel.lane is Lane.FINAL:
            in_round = FINALS[duel.round]
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
