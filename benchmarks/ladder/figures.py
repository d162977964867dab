"""The figures of seasons: medians over runs with their spread, as tables and as a document."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from benchmarks.ladder.accuracy import reached
from benchmarks.ladder.season import Look, Season
from benchmarks.report import table

__all__ = ["AT", "Row", "document", "gained", "lines", "row_of"]

AT = (100, 200, 400, 800)  # games per bot


@dataclass(frozen=True)
class Row:
    """The figures of one way to run a ladder, over all runs.

    Attributes:
        scheme: Pairing scheme.
        rating: Kind of rating.
        boards: Kind of boards.
        to_mark: Games per bot until the order is right, by run; infinite if it never was.
        tau: Median of Kendall's tau, by games per bot.
        taus: Kendall's tau of each run, by games per bot.
        covered: Mean share of true skills within their intervals, by games per bot.
        top: Mean share of the best bots found, by games per bot.
        wait: Matches of others begun between two matches of a bot: median and maximum.
        seats: Difference between a bot's most and least frequent seat: mean and maximum.
        uneven: Games of the bot with the fewest and with the most, relative to the mean.
    """

    scheme: str
    rating: str
    boards: str
    to_mark: tuple[float, ...]
    tau: dict[int, float]
    taus: dict[int, tuple[float, ...]]
    covered: dict[int, float]
    top: dict[int, float]
    wait: tuple[float, int]
    seats: tuple[float, int]
    uneven: tuple[float, float]


def row_of(scheme: str, rating: str, boards: str, seasons: Sequence[Season], mark: float) -> Row:
    """Compute one row of the tables."""
    to_mark = [reached([look.games for look in one.looks], [look.tau for look in one.looks], mark) for one in seasons]
    waits = [wait for one in seasons for wait in one.waits]
    gaps = [max(turns) - min(turns) for one in seasons for turns in one.turns]
    shares = [sum(turns) / fmean(map(sum, one.turns)) for one in seasons for turns in one.turns]
    taus_at = _each(seasons, lambda look: look.tau)
    return Row(
        scheme,
        rating,
        boards,
        tuple(math.inf if games is None else games for games in to_mark),
        {games: median(taus) for games, taus in taus_at.items()},
        taus_at,
        _at(seasons, lambda look: look.covered, fmean),
        _at(seasons, lambda look: look.top, fmean),
        (median(waits), max(waits)),
        (fmean(gaps), max(gaps)),
        (min(shares), max(shares)),
    )


def _at(
    seasons: Sequence[Season], of: Callable[[Look], float], over: Callable[[Iterable[float]], float]
) -> dict[int, float]:
    """Combine a figure over all runs, by games per bot of the looks."""
    return {games: over(each) for games, each in _each(seasons, of).items()}


def _each(seasons: Sequence[Season], of: Callable[[Look], float]) -> dict[int, tuple[float, ...]]:
    """Return a figure of each run at the first look after each number of games in `AT`."""
    found: dict[int, tuple[float, ...]] = {}
    for games in AT:
        looks = [next((look for look in one.looks if look.games >= games), None) for one in seasons]
        there = [of(look) for look in looks if look is not None]
        if len(there) == len(seasons):
            found[games] = tuple(there)
    return found


def gained(row: Row, beside: Row) -> dict[int, tuple[float, float]]:
    """Return the mean gain in tau over another row and half its 95 % interval; runs with the same bots are paired."""
    found: dict[int, tuple[float, float]] = {}
    for games, taus in row.taus.items():
        more = [one - other for one, other in zip(taus, beside.taus[games], strict=True)]
        found[games] = fmean(more), 1.96 * stdev(more) / math.sqrt(len(more)) if len(more) > 1 else math.inf
    return found


def lines(rows: Sequence[Row], mark: float, games: int) -> list[str]:
    """Format the tables."""
    shown = [at for at in AT if at in rows[0].tau]

    def count(value: float) -> str:
        return f"{value:.0f}" if math.isfinite(value) else f"> {games}"

    names = [f"{row.scheme}, {row.rating}, {row.boards}" for row in rows]
    right = [
        (
            name,
            count(median(row.to_mark)),
            f"{count(min(row.to_mark))} - {count(max(row.to_mark))}",
            *(f"{figures[at]:.2f}" for figures in (row.tau, row.covered, row.top) for at in shown),
        )
        for name, row in zip(names, rows, strict=True)
    ]
    fair = [
        (
            name,
            f"{row.wait[0]:g}",
            str(row.wait[1]),
            f"{row.seats[0]:.1f}",
            str(row.seats[1]),
            f"{row.uneven[0]:.2f} - {row.uneven[1]:.2f}",
        )
        for name, row in zip(names, rows, strict=True)
    ]
    beside: list[str] = []
    if shown and len(rows) > 1:
        beside = [
            *table(
                [f"more tau than {names[0]}", *(str(at) for at in shown)],
                [
                    (name, *(f"{mean:+.3f} -+ {within:.3f}" for mean, within in gained(row, rows[0]).values()))
                    for name, row in zip(names[1:], rows[1:], strict=True)
                ],
            ),
            "",
        ]
    return [
        *table(
            [
                "pairing, rating, boards",
                f"games to tau {mark:g}",
                "of runs",
                *(f"{what} {at}" for what in ("tau", "covered", "top") for at in shown),
            ],
            right,
        ),
        "",
        *beside,
        *table(["", "wait", "longest", "seats apart", "most apart", "games / mean"], fair),
    ]


def document(rows: Sequence[Row]) -> list[dict[str, object]]:
    """Return the rows for --json; null if the order was never right."""
    return [
        {
            "pairing": row.scheme,
            "rating": row.rating,
            "boards": row.boards,
            "games_to_mark": [games if math.isfinite(games) else None for games in row.to_mark],
            "tau": row.tau,
            "tau_of_runs": row.taus,
            "covered": row.covered,
            "top": row.top,
            "wait": {"median": row.wait[0], "longest": row.wait[1]},
            "seats_apart": {"mean": row.seats[0], "most": row.seats[1]},
            "games_to_mean": {"least": row.uneven[0], "most": row.uneven[1]},
        }
        for row in rows
    ]
