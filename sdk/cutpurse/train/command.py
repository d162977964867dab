"""The command `cutpurse-train`: checks what it is given, and reports the rounds of a training.

numpy and torch are imported when all values are checked, and a missing one is a line. This module knows no game.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

from cutpurse.cli.arguments import parse_settings
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.games import game_named
from cutpurse.sdk.bot import load_bot
from cutpurse.wire.errors import FAILED, INTERRUPTED, exit_code, needs

if TYPE_CHECKING:
    from cutpurse.train.ppo import Report

__all__ = ["main"]

NAME: Final = "cutpurse-train"
MINUTES: Final = 30.0  # by default
REWARDS: Final = ("first", "place", "first+place", "score")  # of `cutpurse.learn.rewards`, which needs numpy


class _Parser(argparse.ArgumentParser):
    """A parser that reports a wrong command line in one line."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; `{NAME} --help` lists the options")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog=NAME,
        description="Train a net for a game: it knows what a bot would do, and learns to do better. "
        "The same command goes on with a training that was stopped.",
        epilog="Needs torch, of which the CPU build is enough: pip install 'cutpurse[train]'.",
    )
    parser.add_argument("--game", required=True, help="Name of the game.")
    parser.add_argument("--out", required=True, type=Path, help="Folder for the net, the state and the curve.")
    parser.add_argument("--seats", type=int, help="Number of seats. [default: the game's own]")
    parser.add_argument(
        "--set",
        dest="settings",
        action="append",
        metavar="NAME=VALUE",
        help="Game setting (repeatable); see `cutpurse rules`. [default: the game's defaults]",
    )
    parser.add_argument("--seed", type=int, default=0, help="The same seed gives the same net. [default: 0]")
    parser.add_argument(
        "--minutes",
        type=float,
        help="Stop after this much processor time of one core, earlier sessions included. "
        f"[default: {MINUTES:g}, or no limit with --rounds]",
    )
    parser.add_argument("--rounds", type=int, help="Stop after this many rounds. [default: no limit]")
    parser.add_argument(
        "--teacher",
        default="greedy",
        help="Bot that advises the net, and that it learns to beat: a name or file. [default: greedy]",
    )
    parser.add_argument(
        "--others",
        nargs="+",
        default=[],
        metavar="BOT",
        help="More bots that the net meets, in some of the matches: names or files. [default: none]",
    )
    parser.add_argument(
        "--start",
        type=Path,
        metavar="NET",
        help="Begin as this net, the file of another run with the same teacher; --lead says nothing then. "
        "[default: near the teacher]",
    )
    parser.add_argument("--reward", default="first", choices=REWARDS, help="What counts at the end. [default: first]")
    parser.add_argument(
        "--round-decisions", type=int, default=8192, help="Decisions in a round, at least. [default: 8192]"
    )
    parser.add_argument("--watch-rounds", type=int, default=6, help="Rounds of watching. [default: 6]")
    parser.add_argument(
        "--lead",
        type=float,
        default=3.0,
        help="Lead of the bot's choice at first, larger for games with many options: as log(9 x other options) it is "
        "taken 9 times of 10. [default: 3]",
    )
    parser.add_argument(
        "--entropy", type=float, default=0.002, help="Weight of staying undecided, which tries more. [default: 0.002]"
    )
    return parser


def _check(given: argparse.Namespace) -> None:
    """Check the values, and fill in the defaults that depend on others.  Raises UsageError."""
    for option, value, least in (
        ("--seed", given.seed, 0),
        ("--rounds", given.rounds, 1),
        ("--round-decisions", given.round_decisions, 1),
        ("--watch-rounds", given.watch_rounds, 1),
    ):
        if value is not None and value < least:
            raise UsageError(f"{option} is {value}; the minimum is {least}")
    for option, value in (("--lead", given.lead), ("--entropy", given.entropy)):
        if not 0 <= value < math.inf:
            raise UsageError(f"{option} is {value:g}; it must be 0 or more")
    if given.minutes is None:
        given.minutes = MINUTES if given.rounds is None else math.inf
    if not given.minutes > 0:
        raise UsageError(f"--minutes is {given.minutes:g}; it must be more than 0")
    rules = game_named(given.game)
    given.seats = rules.usual_seats if given.seats is None else given.seats
    given.settings = parse_settings(given.settings)
    rules.set_up(given.seats, given.settings)
    given.others = tuple(given.others)
    for bot in (given.teacher, *given.others):
        load_bot(bot)
    if given.out.exists() and not given.out.is_dir():
        raise UsageError(f"--out is {given.out}, which is a file; give a folder")


def _train(given: argparse.Namespace) -> None:
    with needs("train"):
        import numpy  # noqa: F401  # so that a line names the extra that has both
    from cutpurse.learn.net import load_net

    start = None if given.start is None else load_net(given.start)
    with needs("train"):
        import torch  # noqa: F401
    from cutpurse.train.ppo import TrainingPlan
    from cutpurse.train.run import NET, TrainingRun

    given.start = "" if start is None else start.digest()
    plan = TrainingPlan(**{one.name: getattr(given, one.name) for one in fields(TrainingPlan)})
    run = TrainingRun(given.out, plan, start)
    training = run.training
    rounds = math.inf if given.rounds is None else given.rounds
    begun, since = training.round, run.seconds
    if begun:
        _say(f"going on after round {begun} and {run.seconds / 60:.1f} min")
    while training.round < rounds and run.seconds < given.minutes * 60:
        report = run.learn_a_round()
        each_s = (run.seconds - since) / (training.round - begun)
        left_s = max(0.0, min(given.minutes * 60 - run.seconds, (rounds - training.round) * each_s))
        _say(f"{run.seconds / 60:5.1f} min, {left_s / 60:.1f} left, {_describe(report, given.teacher)}")
    path = given.out / NET
    _say(f"{path}: {path.stat().st_size:,} bytes, {training.round} rounds, {training.matches:,} matches")


def _describe(report: Report, teacher: str) -> str:
    """Describe a round."""
    head = f"round {report.round}"
    if report.phase == "watch":
        return f"{head}: watching {teacher}, error of the expectations {report.value_error:.3f}"
    if report.first_places is None:
        return f"{head}: no match against {teacher}"
    return f"{head}: {report.first_places:.1%} first places in {report.first_places_of} matches against {teacher}"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code."""
    try:
        given = _parser().parse_args(argv)
        _check(given)
        _train(given)
    except CutpurseError as problem:
        _say(f"{NAME}: {problem}")
        return exit_code(problem)
    except OSError as problem:
        _say(f"{NAME}: {problem.filename}: {problem.strerror}")
        return FAILED
    except KeyboardInterrupt:
        _say(f"{NAME}: interrupted; the same command goes on after the last round")
        return INTERRUPTED
    return 0
