"""The leaderboard's part of the bench: the latency of queries with a million matches."""

from __future__ import annotations

import gc
import random
import sqlite3
import tempfile
import time
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from benchmarks.queries.build import build, size_of
from benchmarks.queries.questions import Asked, Question, questions
from benchmarks.report import table
from cutpurse.leaderboard.reader import LeaderboardReader

__all__ = ["MATCHES", "QueryFigures", "Row", "add_arguments", "document", "lines", "measure", "verdict", "versions"]

TARGET_MS: Final = 2.0
MATCHES: Final = 1_000_000
ASKED: Final = 300  # runs of each query


@dataclass(frozen=True)
class Row:
    """The CPU milliseconds of a query; `counted_ms` is the time to count the same from all seats, if measured."""

    what: str
    rows: int  # in the last result
    p50_ms: float
    p99_ms: float
    counted_ms: float | None
    is_page: bool

    @property
    def ratio(self) -> float | None:
        """Time of counting relative to the query."""
        return None if self.counted_ms is None else self.counted_ms / self.p50_ms


@dataclass(frozen=True)
class QueryFigures:
    """The measured figures."""

    matches: int
    file_bytes: int
    built_s: float  # wall time
    rows: Sequence[Row]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of this part; ratings use `--matches` too, and this part uses the arena's `--folder`."""
    group = parser.add_argument_group("queries")
    group.add_argument(
        "--matches",
        type=_matches,
        metavar="N",
        help=f"in the leaderboard that is asked ({MATCHES}), or computed again by the part on ratings (100000)",
    )


def _matches(text: str) -> int:
    count = int(text)
    if not 2_000 <= count <= 10_000_000:
        raise ArgumentTypeError(f"from 2000 to 10000000 matches, not {text}")
    return count


def measure(matches: int, folder: Path | None, say: Callable[[str], None]) -> QueryFigures:
    """Build the leaderboard in a temporary folder of `folder`, run the queries, and remove it."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / "leaderboard.db"
        begin = time.perf_counter()
        build(path, matches, say)
        built_s = time.perf_counter() - begin
        with LeaderboardReader(path) as reader, closing(sqlite3.connect(path)) as file, _as_in_a_server():
            names = _names(file, matches)
            rows = []
            for question in questions(matches):
                say(f"queries: {question.what}")
                rows.append(_row(question, reader, file, matches, names))
        return QueryFigures(matches, size_of(path), built_s, rows)


def _row(
    question: Question, reader: LeaderboardReader, file: sqlite3.Connection, matches: int, names: Sequence[str]
) -> Row:
    rng = random.Random(7)
    question.ask(reader, question.asked(rng, matches, names))  # warm up, so that the statement is compiled
    took = []
    for _ in range(ASKED):
        subject = question.asked(rng, matches, names)
        begin = time.process_time()
        answer = question.ask(reader, subject)
        took.append(1000 * (time.process_time() - begin))
    took.sort()
    counted = None if question.counted is None else _count(file, question.counted, subject)
    return Row(
        question.what,
        len(answer),
        took[len(took) // 2],
        took[min(len(took) - 1, len(took) * 99 // 100)],
        counted,
        question.is_page,
    )


def _count(file: sqlite3.Connection, statement: str, subject: Asked) -> float:
    values = {"bot": subject.bot, "before": subject.before}
    begin = time.process_time()
    file.execute(statement, {name: value for name, value in values.items() if f":{name}" in statement}).fetchall()
    return 1000 * (time.process_time() - begin)


def _names(file: sqlite3.Connection, matches: int) -> list[str]:
    rng = random.Random(3)
    rows = (
        file.execute("SELECT id FROM matches WHERE number = ?", (rng.randrange(matches) + 1,)).fetchone()
        for _ in range(ASKED)
    )
    return [name for (name,) in rows]


@contextmanager
def _as_in_a_server() -> Iterator[None]:
    """Set Python's garbage collector as a server does: it ignores objects that exist already."""
    usual = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 500, 10)
    try:
        yield
    finally:
        gc.set_threshold(*usual)
        gc.unfreeze()


def versions() -> dict[str, str]:
    """Return the versions of the packages that the leaderboard uses."""
    return {"SQLite": sqlite3.sqlite_version, "SQLAlchemy": version("SQLAlchemy")}


def verdict(row: Row) -> str:
    """Say whether the query of a page is fast enough."""
    if not row.is_page:
        return ""
    return "met" if row.p50_ms <= TARGET_MS else "missed"


def lines(figures: QueryFigures) -> list[str]:
    """Format the figures as lines."""
    head = (
        f"asked of {figures.matches:,} matches",
        *("rows", "p50 CPU ms", "p99 CPU ms", "counted from seats", "ratio", f"p50 <= {TARGET_MS:g} ms"),
    )
    body = [
        (
            row.what,
            f"{row.rows:,}",
            f"{row.p50_ms:.2f}",
            f"{row.p99_ms:.2f}",
            "-" if row.counted_ms is None else f"{row.counted_ms:,.0f} ms",
            "-" if row.ratio is None else f"{row.ratio:,.0f}",
            verdict(row),
        )
        for row in figures.rows
    ]
    return [
        (
            f"{figures.file_bytes / 2**20:,.0f} MiB, made in {figures.built_s:.0f} s; each question was asked {ASKED} "
            "times"
        ),
        "",
        *table(head, body),
    ]


def document(figures: QueryFigures) -> dict[str, object]:
    """Return the figures as JSON-compatible values."""
    return {
        "matches": figures.matches,
        "file_bytes": figures.file_bytes,
        "target_ms": TARGET_MS,
        "rows": [{**asdict(row), "ratio": row.ratio, "verdict": verdict(row)} for row in figures.rows],
    }
