"""The command `python -m benchmarks.ladder`: how many games per bot a ladder needs until its order is right."""

from __future__ import annotations

import json
import platform
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from importlib.metadata import version

from benchmarks.ladder.figures import Row, document, lines, row_of
from benchmarks.ladder.schemes import SCHEMES
from benchmarks.ladder.season import BOARDS, Plan, season
from benchmarks.ladder.synthetic_bots import Nature
from benchmarks.machine import machine, machine_line
from cutpurse.leaderboard.parameter_fit import fit, log_loss
from cutpurse.leaderboard.ratings import TrueSkill

__all__ = ["main"]

LIBRARY = TrueSkill(draw_probability=0.10)  # TrueSkill's defaults
# The first two use the pairing skill with these parameters; the third uses the ratings that the server shows, with
# the fitted parameters.
RATINGS = ("library", "fitted", "estimated")


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def some_of(names: Sequence[str]) -> Callable[[str], list[str]]:
    """Return the argument type of an option that takes some of `names`, separated by commas."""

    def read(text: str) -> list[str]:
        given = text.split(",")
        if unknown := [name for name in given if name not in names]:
            raise ArgumentTypeError(f"no {', '.join(unknown)}; there are {', '.join(names)}")
        return given

    return read


def number(text: str) -> int:
    count = int(text)
    if count < 1:
        raise ArgumentTypeError(f"at least 1, not {count}")
    return count


def floats(text: str) -> list[float]:
    return [float(one) for one in text.split(",")]


def parser() -> ArgumentParser:
    nature = Nature()
    made = ArgumentParser(
        prog="python -m benchmarks.ladder",
        description="Bots of known strength play a game of luck on a ladder, and it is measured after how many games a "
        "bot the ladder has their order. Skills have a standard deviation of 1. The same for the same options.",
        epilog="example: python -m benchmarks.ladder --schemes window,ours --ratings library --games 200 --runs 1",
    )
    made.add_argument("--bots", type=number, default=nature.bots, metavar="N")
    made.add_argument("--seats", type=number, default=nature.seats, metavar="N", help="of a table")
    made.add_argument("--luck", type=float, default=nature.luck, metavar="SD", help="standard deviation, of a match")
    made.add_argument("--cards", type=float, default=nature.cards, metavar="SHARE", help="of the luck's variance")
    made.add_argument("--ties", type=float, default=nature.ties, metavar="SHARE", help="how often equal bots tie")
    made.add_argument("--drift", type=float, default=nature.drift, metavar="SD", help="of skill, from match to match")
    made.add_argument("--schemes", type=some_of(SCHEMES), default=list(SCHEMES), help=",".join(SCHEMES))
    made.add_argument(
        "--ratings", type=some_of(RATINGS), default=["library", "fitted", "estimated"], help=",".join(RATINGS)
    )
    made.add_argument("--taus", type=floats, default=[], metavar="TAU,...", help="rows with these besides, else fitted")
    made.add_argument("--boards", type=some_of(BOARDS), default=["plain"], help=f"{','.join(BOARDS)} (plain)")
    made.add_argument("--at-once", type=number, default=1, metavar="N", help="tables that are open at a time (1)")
    made.add_argument("--games", type=number, default=800, metavar="N", help="a bot, at most (800)")
    made.add_argument("--every", type=number, default=20, metavar="N", help="games a bot from look to look (20)")
    made.add_argument("--mark", type=float, default=0.85, metavar="TAU", help="Kendall's tau that is right (0.85)")
    made.add_argument("--stretch", type=number, default=100, metavar="N", help="games a bot that are fitted to (100)")
    made.add_argument("--runs", type=number, default=5, metavar="N", help="of each row, with other bots (5)")
    made.add_argument("--seed", default="1")
    made.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    return made


def fitted(plan: Plan, stretch: int) -> tuple[TrueSkill, float, float]:
    """Fit parameters to some games; return them with the log losses of default and fitted ones on other bots' games."""
    first = season(replace(plan, seed=f"{plan.seed}/fit", games=stretch)).outcomes
    other = season(replace(plan, seed=f"{plan.seed}/held out", games=stretch)).outcomes
    settings = fit(first, LIBRARY)
    return settings, log_loss(other, LIBRARY), log_loss(other, settings)


def run(options: Namespace) -> None:
    """Play and print.  Raises ValueError if a plan cannot be played."""
    nature = Nature(options.bots, options.seats, options.luck, options.cards, options.ties, options.drift)
    rows: list[Row] = []
    fits: dict[str, tuple[TrueSkill, float, float]] = {}
    for boards in options.boards:
        plan = Plan(nature, "ours", LIBRARY, options.seed, options.games, options.every, boards, options.at_once)
        numbers = {"library": LIBRARY} if "library" in options.ratings else {}
        if options.taus or set(options.ratings) - {"library"}:
            began = time.process_time()
            fits[boards] = fitted(plan, options.stretch)
            say(f"{boards} boards: {_in_words(*fits[boards])} ({time.process_time() - began:.0f} s of the CPU)")
            numbers |= {name: fits[boards][0] for name in options.ratings if name != "library"}
            numbers |= {f"tau {tau:g}": replace(fits[boards][0], tau=tau) for tau in options.taus}
        for rating, settings in numbers.items():
            for scheme in options.schemes:
                began = time.process_time()
                row = replace(plan, scheme=scheme, settings=settings, is_estimated=rating == "estimated")
                plans = [replace(row, seed=f"{options.seed}/{run}") for run in range(options.runs)]
                rows.append(row_of(scheme, rating, boards, [season(one) for one in plans], options.mark))
                say(f"{scheme}, {rating}, {boards}: {time.process_time() - began:.0f} s of the CPU")
    versions = {"Python": platform.python_version(), "trueskill": version("trueskill")}
    if options.json:
        found = {
            "schema": 1,
            "machine": machine(),
            "versions": versions,
            "nature": asdict(nature),
            "options": {
                name: getattr(options, name)
                for name in ("seed", "runs", "games", "every", "mark", "stretch", "at_once")
            },
            "fits": {
                boards: {"settings": asdict(settings), "log_loss": {"library": library, "fitted": ours}}
                for boards, (settings, library, ours) in fits.items()
            },
            "rows": document(rows),
        }
        print(json.dumps(found, indent=1))
        return
    print(machine_line(machine()))
    print(", ".join(f"{name} {its}" for name, its in versions.items()))
    print(", ".join(f"{name} {value}" for name, value in asdict(nature).items()), f"seed {options.seed}", sep=", ")
    for boards, found_there in fits.items():
        print(f"{boards} boards: {_in_words(*found_there)}")
    print("", *lines(rows, options.mark, options.games), sep="\n")


def _in_words(settings: TrueSkill, library: float, ours: float) -> str:
    return (
        f"fitted beta {settings.beta:.2f}, tau {settings.tau:.4f}, draw probability {settings.draw_probability:.4f}; "
        f"log-loss held out {ours:.4f} (library {library:.4f})"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 2 for a usage error, or 130 for an interrupt."""
    options = parser().parse_args(arguments)
    try:
        run(options)
    except ValueError as error:
        parser().error(str(error))
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
