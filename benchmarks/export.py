"""Rows a second of `cutpurse export`: `python -m benchmarks.export`.

Matches of `random` are played and recorded; then a process of its own exports the record to Parquet and reads the file
back. A second of its CPU time is counted, and by the clock too. Peak memory is that process's.
"""

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a script finds its neighbours
from benchmarks.machine import machine, machine_line
from cutpurse.games import BUILT_IN, GAMES
from cutpurse.learn.data_sets import DataSet
from cutpurse.learn.data_sets.export import Candidate, export
from cutpurse.sdk.local import play
from cutpurse.wire.match_file import read_matches

__all__ = ["main"]

PAGE = 50  # matches played at a time, until there are enough decisions


@dataclass(frozen=True)
class Figures:
    """The figures of one game."""

    rows: int
    matches: int
    cpu_s: float  # of the export
    seconds: float  # the same by the clock, which other programs make longer
    read_cpu_s: float  # of reading all of it into arrays
    size_bytes: int
    array_bytes: int  # of planes and numbers in memory
    peak_bytes: int


def record(game: str, seats: int | None, rows: int, path: Path) -> None:
    """Play matches until at least this many decisions with a choice are recorded."""
    decisions = seed = 0
    bots = ["random"] * (seats or GAMES[game].usual_seats)
    with path.open("w", encoding="utf-8") as whole:
        while decisions < rows:
            part = path.with_suffix(".part")
            play(game, bots, matches=PAGE, seed=seed, record=part, keep_rows=False)
            text = part.read_text(encoding="utf-8")
            part.unlink()
            whole.write(text)
            decisions += sum(len(filed.record().choices) for filed in read_matches(text.encode()))
            seed += 1


def measure(path: Path, features: bool) -> Figures:
    """Export a record, and read it back."""

    def refuse(line: str) -> None:
        raise AssertionError(line)

    to = path.with_suffix(".parquet")
    began, cpu = time.perf_counter(), time.process_time()
    with path.open("rb") as file:
        candidates = (Candidate(f"line {filed.line}", filed) for filed in read_matches(file))
        made = export(candidates, to, made_from=path.name, features=features, refuse=refuse)
    ended, cpu_ended = time.perf_counter(), time.process_time()
    data, read = DataSet(to), 0
    for batch in data.batches():
        assert len(batch.planes) == len(batch.numbers) == len(batch.choices)
        read += len(batch)
    (of_file,) = made.files
    assert read == of_file.rows
    return Figures(
        of_file.rows,
        of_file.matches,
        cpu_ended - cpu,
        ended - began,
        time.process_time() - cpu_ended,
        of_file.size_bytes,
        data.space.planes + 4 * data.space.numbers,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
    )


def main(argv: Sequence[str] | None = None) -> None:
    """Measure, and print a table in Markdown."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.export", description="Rows a second of `cutpurse export`."
    )
    parser.add_argument("--games", default=",".join(BUILT_IN), help="names, with commas; default: all")
    parser.add_argument("--seats", type=int, help="default: the game's own")
    parser.add_argument("--rows", type=int, default=100_000, help="at least this many; default: 100,000")
    parser.add_argument("--features", action="store_true", help="with the features of every option")
    given = parser.parse_args(argv)
    versions = f"Python {sys.version.split()[0]}, pyarrow {pyarrow.__version__}"
    print(f"Export of {given.rows:,} rows and more of each game; {machine_line(machine())}, {versions}\n")
    heads = "rows | rows/CPU s | CPU s for 10^6 | rows/s | read, rows/CPU s | bytes/row on disk | in memory | peak MB"
    print(f"| | {heads} |")
    print(f"|---|{'---:|' * 8}")
    for game in given.games.split(","):
        with TemporaryDirectory() as folder:
            path = Path(folder) / "run.jsonl"
            record(game, given.seats, given.rows, path)
            with multiprocessing.get_context("spawn").Pool(1) as process:
                found = process.apply(measure, (path, given.features))
        cells = (
            f"{found.rows:,}",
            f"{found.rows / found.cpu_s:,.0f}",
            f"{1e6 * found.cpu_s / found.rows:,.0f}",
            f"{found.rows / found.seconds:,.0f}",
            f"{found.rows / found.read_cpu_s:,.0f}",
            f"{found.size_bytes / found.rows:,.0f}",
            f"{found.array_bytes:,}",
            f"{found.peak_bytes / 1e6:,.0f}",
        )
        print(f"| {GAMES[game].words.title} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
