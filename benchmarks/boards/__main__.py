"""The command `python -m benchmarks.boards`: luck of the cards, savings by boards, initial parameters of ladders."""

from __future__ import annotations

import json
import platform
import sys
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version

from benchmarks.boards.initial_parameters import Fit, fit_to
from benchmarks.boards.play import COMPANIES, Board, boards
from benchmarks.boards.tables import lines
from benchmarks.boards.variances import Savings, savings
from benchmarks.ladder.__main__ import some_of
from benchmarks.machine import machine, machine_line
from cutpurse.games import GAMES
from cutpurse.server.ladder_config import default_ladders

__all__ = ["main"]

SAID_EVERY_S = 20.0


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def number(text: str) -> int:
    count = int(text)
    if count and count < 100:
        raise ArgumentTypeError(f"at least 100 matches, or 0 for none, not {count}")
    return count


def parser() -> ArgumentParser:
    made = ArgumentParser(
        prog="python -m benchmarks.boards",
        description="Bots between random and greedy play boards of one deal with each of them in every seat, and it is "
        "measured how much of their luck was in the cards, and how many matches rotation and duplicate boards save; "
        "and the numbers of a rating are fitted to plain matches. The same for the same options, on one core.",
        epilog="example: nice python -m benchmarks.boards --games greed --companies wide --matches 2000 --fit 0",
    )
    made.add_argument("--games", type=some_of(list(GAMES)), default=list(GAMES), help=",".join(GAMES))
    made.add_argument(
        "--companies",
        type=some_of(list(COMPANIES)),
        default=["wide", "near"],
        help=f"{','.join(COMPANIES)} (wide,near): how far apart the bots are; those that search take long",
    )
    made.add_argument("--matches", type=number, default=6_000, metavar="N", help="on boards, of each row (6000)")
    made.add_argument("--fit", type=number, default=2_000, metavar="N", help="matches that are fitted to (2000)")
    made.add_argument("--seed", default="1")
    made.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    return made


def played(game: str, company: str, count: int, seed: str) -> list[Board]:
    """Play boards, and print the progress now and then."""
    found: list[Board] = []
    began = said = time.process_time()
    for board in boards(game, company, count, seed):
        found.append(board)
        if time.process_time() - said > SAID_EVERY_S:
            said = time.process_time()
            say(f"{game}, {company}: {len(found)} of {count} boards, {said - began:.0f} s of the CPU")
    say(f"{game}, {company}: {count} boards, {time.process_time() - began:.0f} s of the CPU")
    return found


def run(options: Namespace) -> None:
    """Play and print.  Raises ValueError if there are too few matches or a bot fails."""
    found: dict[tuple[str, str], Savings] = {}
    fits: dict[str, Fit] = {}
    begins = {ladder.game: ladder.rating for ladder in default_ladders()}
    for game in options.games:
        for company in options.companies if options.matches else []:
            count = options.matches // GAMES[game].usual_seats
            one = savings(played(game, company, count, options.seed), options.seed)
            found[game, company] = one
            say(f"cards {one.cards.value:.2f}, rotation {one.rotation.value:.2f}, duplicate {one.duplicate.value:.2f}")
        if options.fit:
            began = time.process_time()
            fits[game] = fit_to(game, options.fit, begins[game], options.seed)
            say(f"{game}: fitted {fits[game].found} ({time.process_time() - began:.0f} s of the CPU)")
    versions = {"Python": platform.python_version(), "trueskill": version("trueskill")}
    if options.json:
        document = {
            "schema": 1,
            "machine": machine(),
            "versions": versions,
            "seed": options.seed,
            "boards": [{"game": game, "company": company} | asdict(one) for (game, company), one in found.items()],
            "fits": {game: asdict(one) for game, one in fits.items()},
        }
        print(json.dumps(document, indent=1))
        return
    print(machine_line(machine()))
    print(", ".join(f"{name} {its}" for name, its in versions.items()), f"seed {options.seed}", sep=", ")
    print("", *lines(found, fits), sep="\n")


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
