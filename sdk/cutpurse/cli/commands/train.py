"""`cutpurse train`: checks what it is given, and reports the rounds of a training.

numpy and torch are imported when all values are checked, and a missing one is a line. This module knows no game.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cutpurse.cli.arguments import GameName, Knowledge, Seats, Setting, parse_settings
from cutpurse.cli.completion import complete_bot_lists, complete_bots
from cutpurse.engine.errors import UsageError
from cutpurse.engine.knowledge_level import PROOF, level_named
from cutpurse.games import game_named
from cutpurse.process.terminal import print_message
from cutpurse.sdk.bot import load_bot
from cutpurse.wire.errors import INTERRUPTED, needs

if TYPE_CHECKING:
    from cutpurse.lab.training.ppo import Report
    from cutpurse.lab.training.run import TrainingRun

__all__ = ["train"]

MINUTES: Final = 30.0  # by default
REWARDS: Final = ("first", "place", "first+place", "score")  # of `cutpurse.learn.rewards`, which needs numpy


def train(
    game: GameName,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the net, the state and the curve.")],
    seats: Seats = None,
    setting: Setting = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="The same seed gives the same net.")] = 0,
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="Stop after this much processor time of one core, earlier sessions included. "
            f"[default: {MINUTES:g}, or no limit with --rounds]",
        ),
    ] = None,
    rounds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Stop after this many rounds. [default: no limit]")
    ] = None,
    teacher: Annotated[
        str,
        typer.Option(
            metavar="BOT",
            help="Bot that advises the net, and that it learns to beat: a name or file.",
            autocompletion=complete_bots,
        ),
    ] = "greedy",
    others: Annotated[
        str,
        typer.Option(
            metavar="BOT,BOT,...",
            help="More bots that the net meets, in some of the matches. [default: none]",
            autocompletion=complete_bot_lists,
        ),
    ] = "",
    start: Annotated[
        Path | None,
        typer.Option(
            metavar="NET",
            help="Begin as this net, the file of another run with the same teacher; --lead says nothing then. "
            "[default: near the teacher]",
        ),
    ] = None,
    reward: Annotated[
        str, typer.Option(metavar="NAME", help=f"What counts at the end: {', '.join(REWARDS)}.")
    ] = "first",
    round_decisions: Annotated[int, typer.Option(metavar="N", min=1, help="Decisions in a round, at least.")] = 8192,
    watch_rounds: Annotated[int, typer.Option(metavar="N", min=1, help="Rounds of watching.")] = 6,
    knowledge: Knowledge = PROOF,
    lead: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="Lead of the bot's choice at first, larger for games with many options: as log(9 x other options) "
            "it is taken 9 times of 10.",
        ),
    ] = 3.0,
    entropy: Annotated[float, typer.Option(metavar="X", help="Weight of staying undecided, which tries more.")] = 0.002,
) -> None:
    """Train a net for a game: it knows what a bot would do, and learns to do better.

    The same command goes on with a training that was stopped. Needs torch (the CPU build is enough): extra
    `train`.

    Example: cutpurse train szmal --seed 1 --minutes 24 --out runs/szmal
    """
    for option, value in (("--lead", lead), ("--entropy", entropy)):
        if not 0 <= value < math.inf:
            raise UsageError(f"{option} is {value:g}; it must be 0 or more")
    if minutes is None:
        minutes = MINUTES if rounds is None else math.inf
    if not minutes > 0:
        raise UsageError(f"--minutes is {minutes:g}; it must be more than 0")
    if reward not in REWARDS:
        raise UsageError(f"no reward is called {reward!r}; there are: {', '.join(REWARDS)}")
    level_named(knowledge)
    rules = game_named(game)
    seats = rules.usual_seats if seats is None else seats
    settings = parse_settings(setting)
    rules.set_up(seats, settings)
    others_met = tuple([bot for bot in others.split(",") if bot])
    for bot in (teacher, *others_met):
        load_bot(bot)
    if out.exists() and not out.is_dir():
        raise UsageError(f"--out is {out}, which is a file; give a folder")
    with needs("train"):
        import numpy  # noqa: F401  # so that a line names the extra that has both
    from cutpurse.learn.net import load_net

    net = None if start is None else load_net(start)
    with needs("train"):
        import torch  # noqa: F401
    from cutpurse.lab.training.ppo import TrainingPlan
    from cutpurse.lab.training.run import TrainingRun

    plan = TrainingPlan(
        game=game,
        seats=seats,
        seed=seed,
        teacher=teacher,
        reward=reward,
        round_decisions=round_decisions,
        watch_rounds=watch_rounds,
        lead=lead,
        entropy=entropy,
        settings=settings,
        others=others_met,
        knowledge=knowledge,
        start="" if net is None else net.digest(),
    )
    try:
        _learn(TrainingRun(out, plan, net), rounds or math.inf, minutes * 60)
    except KeyboardInterrupt:
        print_message("interrupted; the same command goes on after the last round")
        raise typer.Exit(INTERRUPTED) from None


def _learn(run: TrainingRun, rounds: float, seconds: float) -> None:
    """Learn until the number of rounds or the processor time is reached, with a line for each round."""
    from cutpurse.lab.training.run import NET

    training = run.training
    begun, since = training.round, run.seconds
    if begun:
        print_message(f"going on after round {begun} and {run.seconds / 60:.1f} min")
    while training.round < rounds and run.seconds < seconds:
        report = run.learn_a_round()
        each_s = (run.seconds - since) / (training.round - begun)
        left_s = max(0.0, min(seconds - run.seconds, (rounds - training.round) * each_s))
        print_message(
            f"{run.seconds / 60:5.1f} min, {left_s / 60:.1f} left, {_describe(report, training.plan.teacher)}"
        )
    path = run.folder / NET
    print_message(f"{path}: {path.stat().st_size:,} bytes, {training.round} rounds, {training.matches:,} matches")


def _describe(report: Report, teacher: str) -> str:
    """Describe a round."""
    head = f"round {report.round}"
    if report.phase == "watch":
        return f"{head}: watching {teacher}, error of the expectations {report.value_error:.3f}"
    if report.first_places is None:
        return f"{head}: no match against {teacher}"
    return f"{head}: {report.first_places:.1%} first places in {report.first_places_of} matches against {teacher}"
