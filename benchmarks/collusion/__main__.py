"""The command `python -m benchmarks.collusion`: how soon planted pairs are found, and how often honest ones named."""

from __future__ import annotations

import json
import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

from benchmarks.collusion.planted_bots import PAIR, PLANTED, makers_of
from benchmarks.collusion.played_ladder import GAMES, bot_of, played_tables
from benchmarks.collusion.simulated_ladder import pact_players, simulated_tables
from benchmarks.machine import machine, machine_line
from cutpurse.experiments.pairs.pair_search import Finding, search_pairs
from cutpurse.experiments.pairs.played_table import PlayedTable, pair_of

__all__ = ["Alarms", "Planted", "count_alarms", "main", "plant"]

EVERY = 25  # matches from look to look
BOTS = 8  # of a played ladder
LOOKS = 3  # at a simulated ladder with a pact, as it grows
PLANTED_PAIR = pair_of(*map(bot_of, PAIR))


@dataclass(frozen=True, slots=True)
class Planted:
    """How soon a planted pair was found on a played ladder.

    Attributes:
        game: The game.
        kind: The agreement, or "honest".
        matches: Matches of the whole ladder.
        found: Matches of the ladder until it was found; None: never.
        together: Matches of both until then.
        by: What it was found by.
        by_places: Matches of the ladder until places alone showed it; None: never.
        others: Other pairs that were found at the end.
        gain: Place points of each of the two with the other, minus without.
    """

    game: str
    kind: str
    matches: int
    found: int | None
    together: int | None
    by: str
    by_places: int | None
    others: int
    gain: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Alarms:
    """What was found on simulated ladders.

    Attributes:
        ladders: Number of ladders.
        bots: Bots of each.
        matches_each: Matches of each bot.
        tests: Tests on an average ladder.
        alarms: Ladders on which a pair was named.
    """

    ladders: int
    bots: int
    matches_each: int
    tests: int
    alarms: int


def plant(game: str, kind: str, matches: int, seed: str) -> Planted:
    """Play a ladder with a planted pair, or an honest one, and look for pairs as it grows."""
    tables = list(played_tables(game, makers_of(kind, BOTS), matches, seed))
    places = [replace(table, aims=()) for table in tables]
    found = by_places = None
    by = ""
    for count in range(EVERY, matches + 1, EVERY):
        if kind != "honest" and found is None and (first := _of_planted(tables[:count])) is not None:
            found, by = count, first.verb or first.kind.value
        if kind != "honest" and by_places is None and _of_planted(places[:count]) is not None:
            by_places = count
    together = None if found is None else sum(_is_together(table) for table in tables[:found])
    others = {pair_of(*finding.pair) for finding in search_pairs(tables).findings} - {PLANTED_PAIR}
    return Planted(game, kind, matches, found, together, by, by_places, len(others), _gain(tables))


def _of_planted(tables: Sequence[PlayedTable]) -> Finding | None:
    """Return the surest finding about the planted pair."""
    return next((one for one in search_pairs(tables).findings if pair_of(*one.pair) == PLANTED_PAIR), None)


def _is_together(table: PlayedTable) -> bool:
    return set(PLANTED_PAIR) <= {player.of for player in table.players}


def _gain(tables: Sequence[PlayedTable]) -> tuple[float, float]:
    """Return what each of the planted pair gets with the other, minus without."""
    gains = []
    for name in PAIR:
        points: dict[bool, list[float]] = {True: [], False: []}
        for table in tables:
            for player, point in zip(table.players, table.points, strict=True):
                if player.bot == name:
                    points[_is_together(table)].append(point)
        means = {both: sum(its) / max(1, len(its)) for both, its in points.items()}
        gains.append(means[True] - means[False])
    return gains[0], gains[1]


def count_alarms(ladders: int, bots: int, matches_each: int, seed: int) -> Alarms:
    """Search simulated honest ladders for pairs."""
    reports = [search_pairs(simulated_tables(bots, matches_each, seed + number)) for number in range(ladders)]
    tests = sum(report.tests for report in reports) // max(1, ladders)
    return Alarms(ladders, bots, matches_each, tests, sum(bool(report.findings) for report in reports))


def find_pacts(ladders: int, bots: int, matches_each: int, seed: int) -> list[tuple[int, int | None]]:
    """Simulate ladders with a pact each.

    Returns:
        For each ladder, the matches of both together, and after how many matches of each bot the pact is found; None if
        it is not.
    """
    found: list[tuple[int, int | None]] = []
    for number in range(ladders):
        tables = simulated_tables(bots, matches_each, seed + number, pact=True)
        partners = {player.of for player in pact_players(bots)}
        together = sum(partners <= {player.of for player in table.players} for table in tables)
        wait = None
        for look in range(1, LOOKS + 1):
            if wait is None and search_pairs(tables[: len(tables) * look // LOOKS]).findings:
                wait = matches_each * look // LOOKS
        found.append((together, wait))
    return found


def parser() -> ArgumentParser:
    made = ArgumentParser(prog="python -m benchmarks.collusion", description=__doc__)
    made.add_argument("--games", default=",".join(GAMES), help=f"of {','.join(GAMES)}; empty: none")
    made.add_argument("--matches", type=int, default=300, metavar="N", help="of a played ladder of 8 bots (300)")
    made.add_argument("--ladders", type=int, default=100, metavar="N", help="simulated honest ladders (100)")
    made.add_argument("--pacts", type=int, default=10, metavar="N", help="simulated ladders with a pact (10)")
    made.add_argument("--bots", type=int, default=64, metavar="N", help="of a simulated ladder (64)")
    made.add_argument("--each", type=int, default=300, metavar="N", help="matches of each bot there (300)")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    return made


def _line(one: Planted) -> str:
    found = "never" if one.found is None else f"{one.found} ({one.together} together), {one.by}"
    places = "-" if one.by_places is None else str(one.by_places)
    gain = f"{one.gain[0]:+.2f} {one.gain[1]:+.2f}"
    if one.kind == "honest":
        found, places, gain = "-", "-", ""
    return f"{one.game:18} {one.kind:7} {found:32} {places:>11} {one.others:>12}  {gain}"


def run(options: Namespace) -> None:
    """Measure and print."""
    began = time.process_time()
    planted = []
    for game in [name for name in options.games.split(",") if name]:
        for kind in (*PLANTED, "honest"):
            planted.append(plant(game, kind, options.matches, str(options.seed)))
            print(_line(planted[-1]), file=sys.stderr, flush=True)
    alarms = count_alarms(options.ladders, options.bots, options.each, options.seed)
    waits = find_pacts(options.pacts, options.bots, options.each, options.seed)
    if options.json:
        document = {
            "schema": 1,
            "machine": machine(),
            "planted": [asdict(one) for one in planted],
            "alarms": asdict(alarms),
            "pacts": [{"together": together, "found": wait} for together, wait in waits],
        }
        print(json.dumps(document, indent=1))
        return
    print(machine_line(machine()), f"{time.process_time() - began:.0f} s of the CPU", sep="; ")
    print(f"{'game':18} {'planted':7} {'found after matches':32} {'places only':>11} {'other pairs':>12}  gain of each")
    print(*map(_line, planted), sep="\n")
    print(
        f"honest ladders (simulated, {alarms.bots} bots, {alarms.matches_each} matches each, about {alarms.tests:,} "
        f"tests): {alarms.alarms} of {alarms.ladders} name a pair"
    )
    found = sum(wait is not None for _, wait in waits)
    each = ", ".join(f"{together} ({wait or 'never'})" for together, wait in sorted(waits))
    print(
        f"ladders with a pact (simulated likewise): found on {found} of {len(waits)}; matches of both together, and in "
        f"brackets matches of each until it was found: {each}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command."""
    options = parser().parse_args(arguments)
    if unknown := set(options.games.split(",")) - {*GAMES, ""}:
        parser().error(f"no game {min(unknown)!r} here; there are {', '.join(GAMES)}")
    run(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
