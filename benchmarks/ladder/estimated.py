"""The command `python -m benchmarks.ladder.estimated`: how accurate estimates from all results are.

It simulates ladders of bots with known strength. The figures are the share of true skills within their 95 % intervals,
and of the true places of placed bots within theirs. Others are the width of both, and the accuracy of the shown order.
The same figures are given for the pairing skill, mu +- 1.96 sigma with TrueSkill's defaults.

A linear function through the mean maps skills to the scale of ratings. Its slope comes from a season of a thousand
games per bot, with other bots.
"""

from __future__ import annotations

import json
import math
import platform
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from random import Random
from statistics import fmean

from benchmarks.ladder.__main__ import LIBRARY, number, say, some_of
from benchmarks.ladder.accuracy import covered, kendall, shown_order
from benchmarks.ladder.schemes import scheme_named
from benchmarks.ladder.season import board_results
from benchmarks.ladder.synthetic_bots import Nature, World
from benchmarks.machine import machine, machine_line
from benchmarks.report import table
from cutpurse.leaderboard.estimates.estimated import Estimated, Field
from cutpurse.leaderboard.estimates.skill_fit import estimate
from cutpurse.leaderboard.ratings import Skill, rate_fast

__all__ = ["CASES", "Case", "Look", "looks_of", "main", "measured"]

LONG = 1_000  # games per bot of the season for the scale
SIZES = (64, 200, 1_000)  # bots
CHANGE = 0.5  # standard deviation of the change of skill by a new version, as in `TrueSkill.widening`


@dataclass(frozen=True, slots=True)
class Case:
    """A ladder to simulate; `games` are the games per bot at which to look, `versions` is the number per bot."""

    nature: Nature
    boards: str = "plain"
    scheme: str = "random"
    games: tuple[int, ...] = (50, 100, 200, 400)
    versions: int = 1


SMALL = (10, 20, 50, 100, 400)
CASES: Mapping[str, Case] = {
    "plain": Case(Nature()),
    "few games": Case(Nature(), games=(5, 10, 20)),
    "the server's pairing": Case(Nature(), scheme="ours"),
    "near": Case(Nature(), scheme="near"),
    "many ties": Case(Nature(ties=0.3)),
    "little luck": Case(Nature(luck=0.5)),
    "rotation": Case(Nature(), "rotation"),
    "duplicate": Case(Nature(), "duplicate"),
    "two seats": Case(Nature(seats=2)),
    "eight seats": Case(Nature(seats=8)),
    "four bots": Case(Nature(4), games=SMALL),
    "eight bots": Case(Nature(8), games=SMALL),
    "four versions": Case(Nature(), versions=4),
    "drift": Case(Nature(drift=0.05)),
}


@dataclass(frozen=True, slots=True)
class Look:
    """A ladder after some games.

    Each version of a bot is a player with its own number. `truth` is the true skill by player, and `ranked` are the
    newest versions.
    """

    games: int
    results: Sequence[Field]
    truth: Mapping[int, float]
    parents: Mapping[int, int]
    ranked: Sequence[int]


def looks_of(case: Case, seed: str) -> Iterator[Look]:
    """Play a season, and yield a look at each of the case's numbers of games; deterministic for the seed."""
    nature = case.nature
    world = World(nature, seed)
    change = Random(f"{seed}/versions")
    tables = nature.seats if case.boards == "duplicate" else 1
    scheme = scheme_named(case.scheme, nature.bots, nature.seats, LIBRARY, seed, tables)
    skills: dict[int, Skill] = {}
    results: list[Field] = []
    old: dict[int, float] = {}  # the skills of replaced versions
    played, version, most = 0, 0, max(case.games)
    for games in case.games:
        while played < games * nature.bots:
            if played >= (version + 1) * most * nature.bots / case.versions:
                old |= {version * nature.bots + bot: skill for bot, skill in enumerate(world.skills)}
                version += 1
                for bot in range(nature.bots):
                    world.skills[bot] += change.gauss(0.0, CHANGE)
            board = [bots for _ in range(tables) if (bots := scheme.next()) is not None]
            for bots, places in board_results(world, case.boards, board):
                players = tuple(version * nature.bots + bot for bot in bots)
                rated = rate_fast(places, [skills.get(player, LIBRARY.newcomer) for player in players], LIBRARY)
                skills.update(zip(players, rated, strict=True))
                results.append((players, tuple(places)))
            for bots in board:
                scheme.ended(bots)
                scheme.rated({bot: skills[version * nature.bots + bot] for bot in bots})
            played += nature.seats ** (1 if case.boards == "plain" else 2)
        now = {version * nature.bots + bot: skill for bot, skill in enumerate(world.skills)}
        ranked = sorted(player for player in now if player in skills)
        parents = {player: player - nature.bots for player in skills if player - nature.bots in skills}
        yield Look(games, tuple(results), old | now, parents, ranked)


def estimated(look: Look) -> dict[int, Estimated]:
    """Estimate the skills of all players."""
    return estimate(look.results, LIBRARY, look.parents, look.ranked)


def live(look: Look) -> list[Skill]:
    """Compute the pairing skills of the ranked players."""
    skills: dict[int, Skill] = {}
    for players, places in look.results:
        before = [skills.get(player, LIBRARY.newcomer) for player in players]
        skills.update(zip(players, rate_fast(places, before, LIBRARY), strict=True))
    return [skills[player] for player in look.ranked]


@dataclass(slots=True)
class Figures:
    """The figures of one look, over all runs: shares within the intervals, widths, and accuracy of the order."""

    skills: list[float] = field(default_factory=list)
    places: list[float] = field(default_factory=list)
    placed: list[float] = field(default_factory=list)  # share of placed bots
    width: list[float] = field(default_factory=list)  # width of intervals, in standard deviations of skill
    places_wide: list[float] = field(default_factory=list)
    tau: list[float] = field(default_factory=list)
    live_skills: list[float] = field(default_factory=list)
    live_tau: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)


def slope_of(case: Case, seed: str) -> float:
    """Return the rating points per standard deviation of skill."""
    long = replace(case, nature=replace(case.nature, drift=0.0, bots=max(case.nature.bots, 16)), versions=1)
    (look,) = looks_of(replace(long, games=(LONG,)), f"{seed}/scale")
    found = estimated(look)
    truth = [look.truth[player] for player in look.ranked]
    middle = fmean(truth)
    square = sum((skill - middle) ** 2 for skill in truth)
    return sum((look.truth[player] - middle) * found[player].mu for player in look.ranked) / square


def measured(case: Case, seed: str, runs: int) -> dict[int, Figures]:
    """Measure all runs of a case; return the figures by games per bot."""
    slope = slope_of(case, seed)
    figures = {games: Figures() for games in case.games}
    for run in range(runs):
        for look in looks_of(case, f"{seed}/{run}"):
            _add(figures[look.games], look, slope)
    return figures


def _add(figures: Figures, look: Look, slope: float) -> None:
    began = time.process_time()
    found = estimated(look)
    figures.cpu_s.append(time.process_time() - began)
    counts = [sum(player in who for who, _ in look.results) for player in look.ranked]
    truth = [look.truth[player] for player in look.ranked]
    mean = sum(count * skill for count, skill in zip(counts, truth, strict=True)) / sum(counts)
    ours = [found[player] for player in look.ranked]
    right = [LIBRARY.mu + slope * (skill - mean) for skill in truth]
    placed = [(one, its) for one, its in zip(ours, truth, strict=True) if one.worst]
    place = {skill: at for at, skill in enumerate(sorted([its for _, its in placed], reverse=True), 1)}
    figures.skills.append(fmean(one.low <= its <= one.high for one, its in zip(ours, right, strict=True)))
    figures.placed.append(len(placed) / len(ours))
    if placed:
        figures.places.append(fmean(one.best <= place[its] <= one.worst for one, its in placed))
        figures.places_wide.append(fmean(one.worst - one.best + 1 for one, _ in placed))
    figures.width.append(fmean(one.high - one.low for one in ours) / slope)
    boards = dict(zip(look.ranked, counts, strict=True))
    figures.tau.append(kendall(truth, shown_order(look.ranked, found, boards, LIBRARY.beta)))
    believed = live(look)
    figures.live_skills.append(covered(truth, believed))
    figures.live_tau.append(kendall(truth, [skill.exposed for skill in believed]))


HEAD = (
    "ladder",
    "games",
    "placed",
    "skills held",
    "places held",
    "width",
    "places wide",
    "tau",
    "mu -+ 1.96 sigma holds",
    "its tau",
)


def lines(found: Mapping[str, Mapping[int, Figures]]) -> list[str]:
    """Format the table."""
    cells = [
        (
            name,
            str(games),
            f"{fmean(one.placed):.2f}",
            f"{fmean(one.skills):.3f}",
            f"{fmean(one.places):.3f}" if one.places else "-",
            f"{fmean(one.width):.2f}",
            f"{fmean(one.places_wide):.1f}" if one.places_wide else "-",
            f"{fmean(one.tau):.3f}",
            f"{fmean(one.live_skills):.3f}",
            f"{fmean(one.live_tau):.3f}",
        )
        for name, looks in found.items()
        for games, one in looks.items()
    ]
    return table(list(HEAD), cells)


def speed(results: int) -> list[str]:
    """Format a table of the time of estimates from `results` matches of four, for ladders of several sizes."""
    cells = []
    for bots in SIZES:
        chance, skills = Random("speed"), [Random(bot).gauss(0.0, 1.0) for bot in range(bots)]
        fields: list[Field] = []
        for _ in range(results):
            who = tuple(chance.sample(range(bots), 4))
            shown = [chance.gauss(skills[bot], 3.0) for bot in who]
            fields.append((who, tuple(1 + sum(other > mine for other in shown) for mine in shown)))
        began = time.process_time()
        estimate(fields, LIBRARY)
        cells.append((f"{bots:,}", f"{results:,}", f"{time.process_time() - began:.1f}"))
    return table(["versions", "results of four", "CPU s"], cells)


def parser() -> ArgumentParser:
    made = ArgumentParser(
        prog="python -m benchmarks.ladder.estimated",
        description="Whether intervals and places that are estimated from all results of a ladder hold the true ones.",
        epilog="example: python -m benchmarks.ladder.estimated --cases plain,drift --runs 2",
    )
    made.add_argument("--cases", type=some_of(tuple(CASES)), default=list(CASES), help=",".join(CASES))
    made.add_argument("--runs", type=number, default=10, metavar="N", help="of each case, with other bots (10)")
    made.add_argument("--seed", default="1")
    made.add_argument("--speed", type=number, metavar="N", help="how long estimates of N results take, no more")
    made.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return 0, 2 for a usage error, or 130 for an interrupt."""
    options = parser().parse_args(arguments)
    found: dict[str, dict[int, Figures]] = {}
    try:
        if options.speed:
            print(machine_line(machine()), f"Python {platform.python_version()}", sep=", ")
            print("", *speed(options.speed), sep="\n")
            return 0
        for name in options.cases:
            began = time.process_time()
            case = CASES[name]
            runs = options.runs * max(1, math.isqrt(64 // case.nature.bots))  # small ladders vary more
            found[name] = measured(case, options.seed, runs)
            say(f"{name}: {runs} runs, {time.process_time() - began:.0f} s of the CPU")
    except KeyboardInterrupt:
        return 130
    if options.json:
        rows = {name: {games: asdict(one) for games, one in looks.items()} for name, looks in found.items()}
        print(json.dumps({"schema": 1, "machine": machine(), "seed": options.seed, "cases": rows}, indent=1))
    else:
        print(machine_line(machine()), f"Python {platform.python_version()}", sep=", ")
        print("", *lines(found), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
