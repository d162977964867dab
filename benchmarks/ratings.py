"""The ratings' part of the bench: the time to rate a match and to check a ledger, compared with package `trueskill`.

For its rows the package replaces `rate`. Everything else is equal, and both must give the same bits. All figures are
CPU time. Matches and ledger are the same each time.
"""

from __future__ import annotations

import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any, Final, TypeAlias
from unittest.mock import patch

import trueskill  # type: ignore[import-untyped]

from benchmarks.queries.build import LADDERS, build
from benchmarks.report import table
from cutpurse.leaderboard import rating_state
from cutpurse.leaderboard.queries import ladder_history
from cutpurse.leaderboard.rating_state import RatingState, standing_of, step
from cutpurse.leaderboard.ratings import Skill, TrueSkill, rate
from cutpurse.leaderboard.reader import LeaderboardReader
from cutpurse.leaderboard.recompute import recompute

__all__ = ["MATCHES", "RatingFigures", "document", "lines", "measure", "versions"]

SEATS: Final = (2, 4, 8)
FIELDS: Final = 100  # comparisons per number of seats and round
SETTINGS: Final = TrueSkill(draw_probability=0.05)
MATCHES: Final = 100_000  # in the ledger
AT_ONCE: Final = 10_000  # changes written at once

Field = tuple[list[int], list[Skill]]
Rate: TypeAlias = Callable[[Sequence[int], Sequence[Skill], TrueSkill], list[Skill]]


@dataclass(frozen=True)
class Figure:
    """The CPU microseconds per match; `package_us` is None if the package was left out."""

    what: str
    ours_us: float
    package_us: float | None
    ratio: float | None


@dataclass(frozen=True)
class RatingFigures:
    """The measured figures; `rounds` is for the first rows, and each implementation checks the ledger once."""

    matches: int  # rated ones in the ledger
    recompute_s: float  # ours
    rounds: int
    figures: Sequence[Figure]


def measure(
    matches: int, rounds: int, with_package: bool, folder: Path | None, say: Callable[[str], None]
) -> RatingFigures:
    """Rate matches, then check a ledger in a temporary folder of `folder`.  Raises ValueError if bits differ."""
    figures = []
    for seats in SEATS:
        say(f"ratings: {seats} seats")
        figures.append(_of_seats(seats, rounds, with_package))
    with tempfile.TemporaryDirectory(dir=folder) as name:
        path = Path(name) / "leaderboard.db"
        build(path, matches, say)
        say("ratings: rating the ledger")
        _rate_all(path)
        say("ratings: computing it again")
        boards, ours = _recompute(path)
        theirs = None
        if with_package:
            say("ratings: computing it again, with the package")
            with patch.object(rating_state, "rate", rate_by_package):
                _, theirs = _recompute(path)
        figures.append(
            Figure(
                "recompute, 4 seats",
                1e6 * ours / boards,
                None if theirs is None else 1e6 * theirs / boards,
                None if theirs is None else theirs / ours,
            )
        )
    return RatingFigures(boards, ours, rounds, figures)


# -- the package
def rate_by_package(places: Sequence[int], skills: Sequence[Skill], settings: TrueSkill) -> list[Skill]:
    """Compute the skills after a match as `rate` does."""
    rated = _model(settings).rate([(trueskill.Rating(*skill),) for skill in skills], ranks=list(places))
    return [Skill(float(rating.mu), float(rating.sigma)) for (rating,) in rated]


@cache
def _model(settings: TrueSkill) -> Any:
    return trueskill.TrueSkill(settings.mu, settings.sigma, settings.beta, settings.tau, settings.draw_probability)


# -- fields
def _of_seats(seats: int, rounds: int, with_package: bool) -> Figure:
    fields = list(_fields(seats))
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(_time(rate, fields))
        if with_package:
            theirs.append(_time(rate_by_package, fields))
    if not with_package:
        return Figure(f"rate, {seats} seats", median(ours), None, None)
    if any(rate(*field, SETTINGS) != rate_by_package(*field, SETTINGS) for field in fields):
        raise ValueError(f"{seats} seats are not rated as the package does")
    ratio = median(their / our for our, their in zip(ours, theirs, strict=True))
    return Figure(f"rate, {seats} seats", median(ours), median(theirs), ratio)


def _fields(seats: int) -> Iterator[Field]:
    """Generate comparisons with scores up to 20, so with some ties, and skills as on an established ladder."""
    rng = random.Random(seats)
    for _ in range(FIELDS):
        scores = [rng.randint(0, 20) for _ in range(seats)]
        places = [1 + sum(other > score for other in scores) for score in scores]
        yield places, [Skill(rng.uniform(15, 35), rng.uniform(0.8, 4)) for _ in range(seats)]


def _time(way: Rate, fields: Sequence[Field]) -> float:
    """Return the CPU microseconds per match."""
    begin = time.process_time()
    for places, skills in fields:
        way(places, skills, SETTINGS)
    return 1e6 * (time.process_time() - begin) / len(fields)


# -- a ledger
def _rate_all(path: Path) -> None:
    """Replace the invented ratings of `build` with those that follow from the results."""
    with LeaderboardReader(path) as reader, reader.reading() as connection, closing(sqlite3.connect(path)) as file:
        parents = dict(file.execute("SELECT id, parent_id FROM versions WHERE parent_id IS NOT NULL"))
        ids = dict(file.execute("SELECT name, id FROM ladders"))
        file.execute("PRAGMA synchronous=OFF")
        for ladder in LADDERS:
            known: dict[int, RatingState] = {}
            changes = []
            for entry in ladder_history(connection, ladder):
                before = [standing_of(of, known, parents, entry.settings) for of in entry.versions]
                after = step(before, entry.places, entry.faults, entry.settings, entry.sequence)
                known.update(zip(entry.versions, after, strict=True))
                changes += [
                    (*old.skill, *new.skill, ids[ladder], entry.sequence, of)
                    for of, old, new in zip(entry.versions, before, after, strict=True)
                ]
                if len(changes) >= AT_ONCE:
                    file.executemany(_CHANGE, changes)
                    changes.clear()
            file.executemany(_CHANGE, changes)
            file.executemany(_RATING, [(*new.skill, bytes(new.form), ids[ladder], of) for of, new in known.items()])
            file.commit()


_CHANGE: Final = (
    "UPDATE rating_changes SET mu_before = ?, sigma_before = ?, mu_after = ?, sigma_after = ? "
    "WHERE ladder_id = ? AND sequence = ? AND version_id = ?"
)
_RATING: Final = "UPDATE ratings SET mu = ?, sigma = ?, form = ? WHERE ladder_id = ? AND version_id = ?"


def _recompute(path: Path) -> tuple[int, float]:
    """Check the ledger; return the number of rated matches, and the CPU seconds."""
    with LeaderboardReader(path) as reader:
        begin = time.process_time()
        checks = recompute(reader)
        took = time.process_time() - begin
    for check in checks:
        if not check.equal:
            raise ValueError(f"{check.ladder} is not the same to the bit: {check.differences[0]}")
    return sum(check.boards for check in checks), took


# -- what is shown
def versions() -> dict[str, str]:
    """Return the version of the package."""
    return {"trueskill": version("trueskill")}


def lines(figures: RatingFigures) -> list[str]:
    """Format the figures as lines."""
    body = [
        (
            figure.what,
            f"{figure.ours_us:,.1f}",
            "-" if figure.package_us is None else f"{figure.package_us:,.1f}",
            "-" if figure.ratio is None else f"{figure.ratio:.1f}",
        )
        for figure in figures.figures
    ]
    return [
        *table(("CPU us a match", "ours", "package", "ratio"), body),
        f"{figures.matches:,} rated matches are computed again in {figures.recompute_s:.0f} CPU s, the same to the bit",
    ]


def document(figures: RatingFigures) -> dict[str, object]:
    """Return the figures as JSON-compatible values."""
    return {
        "matches": figures.matches,
        "recompute_s": figures.recompute_s,
        "rounds": figures.rounds,
        "rows": [asdict(figure) for figure in figures.figures],
    }
