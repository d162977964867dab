"""The command `python -m benchmarks.ladder.placing`: how many rated matches a newcomer needs until it is placed.

Each game uses the initial parameters of its ladder. The ladder has settled bots whose skills have standard deviation
sigma, or half of it, and one newcomer. The command prints the newcomer's matches until `is_placed` holds, and how often
its provisional rating is the highest of all after three matches.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from statistics import fmean, median

from benchmarks.ladder.__main__ import number, say
from benchmarks.ladder.synthetic_bots import places_of
from benchmarks.machine import machine, machine_line
from benchmarks.report import table
from cutpurse.leaderboard.estimates.estimated import Field
from cutpurse.leaderboard.estimates.skill_fit import estimate
from cutpurse.leaderboard.placing import ENOUGH_BOARDS, is_placed
from cutpurse.leaderboard.ratings import TrueSkill
from cutpurse.server.ladder_config import NUMBERS

__all__ = ["SPREADS", "Newcomer", "main", "newcomer"]

SEATS = 4
SPREADS = (1.0, 0.5)  # standard deviations of skill, relative to sigma
SETTLED = 60  # matches of each other bot before the newcomer
EARLY = 3  # matches of the newcomer after which the leader is checked


@dataclass(frozen=True, slots=True)
class Newcomer:
    """The result of one newcomer: its matches until placed, and whether its rating was the highest after three."""

    matches: int
    leads_early: bool


def newcomer(settings: TrueSkill, bots: int, spread: float, seed: str) -> Newcomer:
    """Play one ladder until its newcomer is placed; deterministic for the arguments."""
    chance = Random(seed)
    skills = [chance.gauss(0.0, spread * settings.sigma) for _ in range(bots + 1)]
    results: list[Field] = []

    def play(seated: Sequence[int]) -> None:
        shown = [chance.gauss(skills[bot], settings.beta) for bot in seated]
        results.append((tuple(seated), tuple(places_of(shown, 0.0))))

    for _ in range(SETTLED * bots // SEATS):
        play(chance.sample(range(bots), SEATS))
    leads_early = False
    for matches in range(1, ENOUGH_BOARDS + 1):
        play([bots, *chance.sample(range(bots), SEATS - 1)])
        found = estimate(results, settings)
        if matches == EARLY:
            leads_early = found[bots].mu == max(one.mu for one in found.values())
        if is_placed(found[bots].low, found[bots].high, settings.beta, matches):
            return Newcomer(matches, leads_early)
    raise AssertionError("a bot with so many boards is placed")


def lines(found: Mapping[tuple[str, float], Sequence[Newcomer]]) -> list[str]:
    """Format the table."""
    head = ["game", "beta", "apart", "matches until placed", "least", "most", "highest rating after 3"]
    cells = []
    for (game, spread), newcomers in found.items():
        matches = [one.matches for one in newcomers]
        leading = f"{fmean(one.leads_early for one in newcomers):.2f}"
        beta, apart = f"{NUMBERS[game].beta:g}", f"{spread:g} sigma"
        cells.append((game, beta, apart, f"{median(matches):g}", str(min(matches)), str(max(matches)), leading))
    return table(head, cells)


def parser() -> ArgumentParser:
    made = ArgumentParser(
        prog="python -m benchmarks.ladder.placing",
        description="How many rated matches of four seats a newcomer needs until it has a place, by game.",
        epilog="example: python -m benchmarks.ladder.placing --runs 5",
    )
    made.add_argument("--bots", type=number, default=12, metavar="N", help="settled ones (12)")
    made.add_argument("--runs", type=number, default=20, metavar="N", help="of each row, with other bots (20)")
    made.add_argument("--seed", default="1")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 2 for a usage error, or 130 for an interrupt."""
    options = parser().parse_args(arguments)
    found: dict[tuple[str, float], list[Newcomer]] = {}
    try:
        for game, settings in NUMBERS.items():
            for spread in SPREADS:
                seeds = [f"{options.seed}/{game}/{spread}/{run}" for run in range(options.runs)]
                found[game, spread] = [newcomer(settings, options.bots, spread, seed) for seed in seeds]
            say(f"{game}: done")
    except KeyboardInterrupt:
        return 130
    print(machine_line(machine()), "", *lines(found), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
