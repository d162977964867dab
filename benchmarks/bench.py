"""The command `make bench`: the speed of engine, rows, arena, the leaderboard's queries, and ratings; and the rungs.

The engine is compared with other engines (`engine_bench`), rows for learners with their tensors (`rows_bench`), and the
arena with bare messages over the same library (`arena`). These run in other processes, and this process only sends
requests, waits and prints. Queries of the leaderboard run in this process and are compared with counting all seats
(`queries`). Ratings also run here and are compared with the package `trueskill` (`ratings`). The built-in bots play
each other, a few matches only (`rungs`).
"""

import argparse
import json
import platform
import signal
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a script finds its neighbours
from benchmarks import engine_bench, rows_bench
from benchmarks import ratings as ratings_part
from benchmarks import rungs as rungs_part
from benchmarks.arena import arena_bench as arena_part
from benchmarks.machine import machine, machine_line
from benchmarks.protocol import WorkerFailed
from benchmarks.queries import queries_bench as queries_part
from benchmarks.report import Ratio

__all__ = ["main"]

ENGINE_ROUNDS, ENGINE_SECONDS = 5, 1.0
ARENA_ROUNDS, ARENA_SECONDS = 3, 2.0
RATINGS_ROUNDS = 7
RUNG_MATCHES = 20


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def rounds_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"at least 1, not {number}")
    return number


def row_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"more than 0 and at most 3600 seconds, not {text}")
    return seconds


@dataclass(frozen=True)
class Part:
    """What a part of the bench measured."""

    versions: Mapping[str, str]
    document: object  # for JSON
    lines: Sequence[str]
    missed: Ratio | None = None  # a ratio below its target, for which the bench fails


def engine(options: argparse.Namespace) -> Part:
    rounds, seconds = options.rounds or ENGINE_ROUNDS, options.seconds or ENGINE_SECONDS
    figures = engine_bench.measure(options.games, not options.no_peers, rounds, seconds, say)
    missed = engine_bench.missed_gate(figures)
    return Part(figures.versions, engine_bench.document(figures), engine_bench.lines(figures), missed)


def rows(options: argparse.Namespace) -> Part:
    rounds, seconds = options.rounds or ENGINE_ROUNDS, options.seconds or ENGINE_SECONDS
    figures = rows_bench.measure(options.games, not options.no_peers, rounds, seconds, say)
    return Part(figures.versions, rows_bench.document(figures), rows_bench.lines(figures))


def arena(options: argparse.Namespace) -> Part:
    plan = arena_part.plan(options, options.rounds or ARENA_ROUNDS, options.seconds or ARENA_SECONDS)
    figures = arena_part.measure(plan, say)
    return Part(arena_part.versions(), arena_part.document(figures), arena_part.lines(figures))


def queries(options: argparse.Namespace) -> Part:
    figures = queries_part.measure(options.matches or queries_part.MATCHES, options.folder, say)
    return Part(queries_part.versions(), queries_part.document(figures), queries_part.lines(figures))


def ratings(options: argparse.Namespace) -> Part:
    rounds, matches = options.rounds or RATINGS_ROUNDS, options.matches or ratings_part.MATCHES
    figures = ratings_part.measure(matches, rounds, not options.no_peers, options.folder, say)
    return Part(ratings_part.versions(), ratings_part.document(figures), ratings_part.lines(figures))


def rungs(options: argparse.Namespace) -> Part:
    figures = rungs_part.measure_few(options.rung_matches, say)
    return Part({}, rungs_part.document(figures), rungs_part.lines(figures))


PARTS: Mapping[str, Callable[[argparse.Namespace], Part]] = {
    part.__name__: part for part in (engine, rows, arena, queries, ratings, rungs)
}


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="bench.py",
        description="How fast the engine and rows for learners are, beside other engines, and the arena, beside bare "
        "messages; each is "
        "measured in turn with its peers; what readers of a million matches wait for; and what rating a match costs. "
        "Ends with 1 if the compiled engine is less than 1.8 times as fast as the pure one; of other targets only the "
        "tables say whether they are met.",
        epilog="example: python benchmarks/bench.py --only arena --tables 1,64 --crowd 0 --rounds 1",
    )
    made.add_argument("--only", choices=tuple(PARTS), help="one part; else all")
    made.add_argument(
        "--rounds",
        type=rounds_number,
        metavar="N",
        help=f"of each part ({ENGINE_ROUNDS}, {ARENA_ROUNDS} and {RATINGS_ROUNDS})",
    )
    made.add_argument(
        "--seconds",
        type=row_seconds,
        metavar="S",
        help=f"for a row: the engine's of the CPU ({ENGINE_SECONDS:g}), the arena's by the clock ({ARENA_SECONDS:g})",
    )
    made.add_argument(
        "--rung-matches", type=rounds_number, default=RUNG_MATCHES, metavar="N", help=f"of each rung ({RUNG_MATCHES})"
    )
    made.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    engine_bench.add_arguments(made)
    arena_part.add_arguments(made)
    queries_part.add_arguments(made)
    return made


def run(options: argparse.Namespace) -> int:
    """Measure and print; return 1 if the compiled engine is too slow, else 0.

    Raises:
        UnknownGame: If there is no such game.
        WorkerFailed: If a worker of ours fails.
    """
    parts = {name: part(options) for name, part in PARTS.items() if options.only in (None, name)}
    missed = [part.missed for part in parts.values() if part.missed is not None]
    for ratio in missed:
        say(f"the compiled engine is {ratio.value:.2f} times as fast as the pure one, below {ratio.target}")
    versions = {"Python": platform.python_version()}
    for part in parts.values():
        versions |= part.versions
    if options.json:
        documents = {name: parts[name].document if name in parts else None for name in PARTS}
        print(json.dumps({"schema": 2, "machine": machine(), "versions": versions, **documents}, indent=1))
    else:
        print(machine_line(machine()))
        print(", ".join(f"{name} {version}" for name, version in versions.items()))
        for part in parts.values():
            print("", *part.lines, sep="\n")
    return int(bool(missed))


def interrupted(_number: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench.

    Returns:
        0, 1 if a worker failed or the compiled engine is too slow, 2 for a usage error, or 130 for an interrupt.
    """
    options = parser().parse_args(arguments)
    before = signal.signal(signal.SIGTERM, interrupted)  # so that SIGTERM ends the worker processes too
    try:
        return run(options)
    except engine_bench.UnknownGame as error:
        parser().error(str(error))
    except WorkerFailed as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGTERM, before)


if __name__ == "__main__":
    sys.exit(main())
