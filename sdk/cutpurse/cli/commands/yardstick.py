"""`cutpurse yardstick`: how strong an agent is, from 0 to 100, on a set of boards that never changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final

import typer
from typer.core import TyperGroup

from cutpurse.cli.arguments import AsJson, Jobs, run_bots_in
from cutpurse.cli.budget import read_time
from cutpurse.cli.completion import complete_bots
from cutpurse.cli.engine_build import warn_of_slow_bots
from cutpurse.cli.progress import Progress
from cutpurse.cli.published import prepare_published
from cutpurse.engine.errors import UsageError
from cutpurse.games import game_named
from cutpurse.process.pool import BatchLost
from cutpurse.process.terminal import paint, print_json, print_lines, print_message, table
from cutpurse.wire.errors import BOT_FAILED
from cutpurse.wire.text import format_count

if TYPE_CHECKING:
    from cutpurse.lab.yardstick.run import Measured
    from cutpurse.lab.yardstick.score import Score

__all__ = ["app"]

DECIMALS: Final = 6
QUICK_BUDGET: Final = "10m"


class _AgentOrCommand(TyperGroup):
    """A group with a command that may be left out."""

    default_command: ClassVar[str] = "measure"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, "--help", "-h"):
            args = [self.default_command, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=_AgentOrCommand,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Measure how strong an agent is, from 0 (random) to 100 (expert), on a set of boards that never changes.\n\n"
    "`cutpurse yardstick AGENT` is `cutpurse yardstick measure AGENT`.\n\n"
    "Example: cutpurse yardstick my_bot.py",
)


@app.callback()
def yardstick() -> None:
    """Measure how strong an agent is."""


@app.command()
def measure(
    context: typer.Context,
    agent: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            help="A bot as in `cutpurse play`, or the file of a net, net.npz.",
            autocompletion=complete_bots,
        ),
    ],
    full: Annotated[bool, typer.Option("--full", help="Play all boards, for a narrower interval.")] = False,
    games: Annotated[
        str,
        typer.Option(
            metavar="GAME,...",
            help="Only these games, as szmal, or boards of a number of seats, as szmal/4; no score in all then.",
        ),
    ] = "",
    set_name: Annotated[
        str | None, typer.Option("--of", metavar="SET", help="Set of boards. [default: the newest]")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Store the boards in this file, for `verify`, and continue from it if it exists."
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Longest time it may take, as 90s, 30m or 2h. [default: 10m, with --full none]"
        ),
    ] = None,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Let an agent play the boards of a set, and print its score in each game and in all.

    0 is what `random` has on the same deals, 100 what `expert` has, with as many playouts as the set names. The luck of
    the cards is taken out. The same agent gets the same score, if it answers alike with the same random numbers. Exits
    with 3 if the agent failed.

    Example: cutpurse yardstick my_bot.py --journal my_bot.yardstick
    """
    from cutpurse.lab.yardstick.run import MeasurePlan
    from cutpurse.lab.yardstick.run import measure as run_measure
    from cutpurse.lab.yardstick.yardstick_set import NEWEST_SET

    max_s = read_time(budget or QUICK_BUDGET) if budget or not full else None
    chosen = tuple(name for name in games.split(",") if name)
    plan = MeasurePlan(agent, set_name or NEWEST_SET, full, chosen, max_s, jobs)
    run_bots_in(context)
    prepare_published([agent])
    warn_of_slow_bots([agent])
    with Progress("boards") as progress:
        try:
            measured = run_measure(plan, journal, progress=progress)
        except (KeyboardInterrupt, BatchLost):
            progress.end()
            hint = f"are kept in {journal}: the same command goes on from there" if journal else "are not kept"
            print_message(f"the boards {hint}{'' if journal else '; with --journal FILE they would be'}")
            raise
    _print(measured, as_json)
    if measured.faults:
        print_message(paint(f"{agent} lost {format_count(measured.faults, 'decision')}: {measured.failure}", "bad"))
        raise typer.Exit(BOT_FAILED)


@app.command()
def verify(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `--journal` has stored.")],
    agent: Annotated[
        str | None,
        typer.Option(
            metavar="AGENT", help="The agent; may be left out for a built-in bot.", autocompletion=complete_bots
        ),
    ] = None,
    sample: Annotated[int, typer.Option(metavar="N", help="Number of boards to play again; 0 means all.")] = 10,
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Check a stored measurement, and play a sample of its boards again.

    An agent that does not repeat itself, such as most language models, cannot be verified. Exits with 1 if the file was
    altered or the agent plays otherwise.

    Example: cutpurse yardstick verify my_bot.yardstick --agent my_bot.py --sample 20
    """
    from cutpurse.lab.yardstick.run import verify as run_verify

    if sample < 0:
        raise UsageError(f"--sample {sample}: a sample has 1 board or more; 0 means all")
    run_bots_in(context)
    prepare_published([agent] if agent else [])
    with Progress("boards") as progress:
        measured, numbers = run_verify(file, sample, agent, jobs, progress)
    if as_json:
        print_json({**_document(measured), "verified": list(numbers)})
        return
    done = f"{len(numbers)} of {format_count(len(measured.boards), 'board')} played again: all as in {file}"
    print_lines([_paper_line(measured), paint(done, "good")])


def _print(measured: Measured, as_json: bool) -> None:
    if as_json:
        print_json(_document(measured))
        return
    rows = [(game_named(game).words.title, *_cells(score)) for game, score in measured.games.items()]
    if measured.score is not None:
        rows.append(("all games", *_cells(measured.score)))
    print_lines(
        [*table(["game", "score", "95 % interval"], rows), "", _paper_line(measured), f"digest {measured.digest}"]
    )


def _cells(score: Score) -> tuple[str, str]:
    low, high = score.interval
    return f"{score.score:.1f}", f"{low:.1f} to {high:.1f}"


def _paper_line(measured: Measured) -> str:
    """Return the result in one line, for a paper."""
    of, score = measured.of, measured.score
    games = ", ".join(f"{game_named(game).words.title} {score.score:.0f}" for game, score in measured.games.items())
    head = f"{measured.agent['bot']} on {of.name} (Cutpurse {of.made_with}, {measured.each} boards of each kind)"
    if score is None:
        return f"{head}: {games}"
    low, high = score.interval
    return f"{head}: {score.score:.1f} (95 % CI {low:.1f} to {high:.1f}); {games}"


def _document(measured: Measured) -> dict[str, Any]:
    """Return the result as JSON values."""
    return {
        "set": measured.of.name,
        "set_digest": measured.of.digest,
        "made_with": measured.of.made_with,
        "agent": dict(measured.agent),
        "boards": len(measured.boards),
        "boards_of_each_kind": measured.each,
        **(_score_as_json(measured.score) if measured.score else {"score": None, "interval": None}),
        "games": {game: _score_as_json(score) for game, score in measured.games.items()},
        "faults": measured.faults,
        "text": _paper_line(measured),
        "digest": measured.digest,
    }


def _score_as_json(score: Score) -> dict[str, object]:
    return {"score": round(score.score, DECIMALS), "interval": [round(end, DECIMALS) for end in score.interval]}
