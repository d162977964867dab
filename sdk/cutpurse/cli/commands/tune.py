"""`cutpurse tune`: finds good values of the numbers that a bot declares."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from cutpurse.cli.arguments import AsJson, GameName, Jobs, Seats, Seed, Setting, parse_settings, run_bots_in
from cutpurse.cli.budget import read_budget
from cutpurse.cli.completion import complete_bot_lists, complete_bots
from cutpurse.cli.engine_build import warn_of_slow_bots
from cutpurse.cli.progress import Progress
from cutpurse.cli.published import prepare_published
from cutpurse.engine.errors import UsageError
from cutpurse.process.pool import BatchLost
from cutpurse.process.terminal import paint, print_json, print_lines, print_message
from cutpurse.wire.errors import BOT_FAILED, NotFound, needs
from cutpurse.wire.text import format_count

if TYPE_CHECKING:
    from cutpurse.lab.tuning.parameters import Values
    from cutpurse.lab.tuning.run import Tuned, Tuning

__all__ = ["tune"]

DECIMALS: Final = 6


def tune(
    context: typer.Context,
    game: GameName,
    bot: Annotated[
        str,
        typer.Argument(metavar="BOT", help="File of your bot, as in `cutpurse play`.", autocompletion=complete_bots),
    ],
    param: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=VALUES",
            help="Argument of the bot's __init__ (repeatable), and its values: depth=1..8, greed=0.1..0.9, "
            "style=bold|shy.",
        ),
    ] = None,
    against: Annotated[
        str,
        typer.Option(
            metavar="BOT,BOT,...",
            help="Bots for the other seats, repeated as needed.",
            autocompletion=complete_bot_lists,
        ),
    ] = "greedy",
    budget: Annotated[
        str,
        typer.Option(
            metavar="TIME|BOARDS", help="How much it may take: a time such as 90s, 30m or 2h, or a number of boards."
        ),
    ] = "30m",
    seats: Seats = None,
    seed: Seed = "0",
    setting: Setting = None,
    jobs: Jobs = 1,
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Store the boards in this file, and continue from it. [default: BOT.tuning in the current folder]",
        ),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Draw the points by value to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find good values of the numbers that a bot declares, and compare the best with the bot's own.

    All candidates play the same deals against the same bots. The budget counts a board for each candidate; the last
    part of it goes to a comparison on new deals, as in `cutpurse compare`. The same command continues after an
    interrupt or a crash. Exits with 3 if the bot failed with some values. Needs the extra `tune`.

    Example: cutpurse tune greed my_bot.py --param depth=1..8 --param greed=0.1..0.9 --against greedy --budget 30m
    """
    with needs("tune"):
        import optuna  # noqa: F401
    from cutpurse.lab.tuning.parameters import read_parameters
    from cutpurse.lab.tuning.run import Tuning, TuningBudget
    from cutpurse.lab.tuning.run import tune as run_tuning

    limit = TuningBudget(*read_budget(budget, "boards"))
    if plot is not None and (plot.suffix != ".svg" or not plot.parent.is_dir()):
        raise UsageError(f"--plot {plot}: name a file that ends with .svg, in a folder that exists")
    tuning = Tuning(
        game,
        bot,
        tuple(read_parameters(param or ())),
        tuple(name for name in against.split(",") if name),
        seats,
        seed,
        tuple(parse_settings(setting).items()),
        jobs,
    )
    run_bots_in(context)
    prepare_published([bot, *tuning.against])
    warn_of_slow_bots([bot, *tuning.against])
    kept = journal or Path(f"{Path(bot.rpartition(':')[0] or bot).stem}.tuning")
    with Progress("boards" if limit.seconds is None else "seconds") as bar:

        def progress(boards: int, seconds: float, text: str) -> None:
            bar(*((boards, limit.boards) if limit.boards else (int(seconds), int(limit.seconds or 0))), text)

        try:
            tuned = run_tuning(tuning, limit, kept, progress=progress)
        except (KeyboardInterrupt, BatchLost):
            bar.end()
            print_message(f"the boards are kept in {kept}: the same command goes on from there")
            raise
    if plot is not None:
        _draw(tuned, tuning, plot)
    if as_json:
        print_json(_document(tuned, tuning))
    else:
        print_lines(_lines(tuned, tuning))
    for failure in tuned.failures:
        print_message(paint(failure, "bad"))
    if tuned.failures:
        raise typer.Exit(BOT_FAILED)


def _draw(tuned: Tuned, tuning: Tuning, file: Path) -> None:
    from cutpurse.lab.tuning.plot import plot_svg

    picture = plot_svg(tuning.parameters, tuned.searcher.played, tuned.searcher.start, tuned.best)
    try:
        file.write_text(picture, encoding="utf-8")
    except OSError as problem:
        raise NotFound(f"--plot {file}: cannot be written: {problem.strerror}") from None


def _lines(tuned: Tuned, tuning: Tuning) -> list[str]:
    """Describe what was found: a plot for each parameter, the best values, and how they compare with the start."""
    from cutpurse.lab.tuning.parameters import values_text
    from cutpurse.lab.tuning.plot import plot_lines

    searcher = tuned.searcher
    lines: list[str] = []
    for at, parameter in enumerate(tuning.parameters):
        lines += [*plot_lines(parameter, at, searcher.played), ""]
    for parameter in tuned.idle:
        lines.append(
            paint(
                f"the bot does nothing with {parameter.name}: the first values tried all played the same moves", "bad"
            )
        )
    spent = f"{format_count(tuned.boards, 'board')}, {len(searcher.played):,} candidates"
    start = values_text(tuning.parameters, searcher.start)
    if tuned.compared is None:
        return [*lines, f"no values did better than the start, {start} ({spent})"]
    result = tuned.compared.result
    reason = result.reason if tuned.compared.has_verdict else "no verdict, since the best failed in the comparison"
    return [*lines, f"best: {values_text(tuning.parameters, tuned.best)} ({spent})", f"against {start}: {reason}"]


def _document(tuned: Tuned, tuning: Tuning) -> dict[str, Any]:
    """Return the result as JSON values."""
    searcher, compared = tuned.searcher, tuned.compared

    def named(values: Values) -> dict[str, Any]:
        return dict(zip((parameter.name for parameter in tuning.parameters), values, strict=True))

    result = None if compared is None or not compared.has_verdict else compared.result
    return {
        "game": tuning.game,
        "bot": tuning.bot,
        "against": list(tuning.against),
        "boards": tuned.boards,
        "seconds": round(tuned.seconds, 1),
        "start": named(searcher.start),
        "best": named(tuned.best),
        "verdict": None if result is None else result.verdict.value,
        "gain": None if result is None else round(result.gain, DECIMALS),
        "interval": None if result is None else [round(end, DECIMALS) for end in result.interval],
        "idle": [parameter.name for parameter in tuned.idle],
        "failures": list(tuned.failures),
        "candidates": [
            {"values": named(values), "boards": len(played.points), "points": round(played.mean, DECIMALS)}
            for values, played in searcher.played.items()
        ],
    }
