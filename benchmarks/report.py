"""Medians, ratios with their targets, and tables of samples.  This module knows no clock, process or file.

A round is one sample of every row, taken in turn. A rate counts things done per CPU second. A ratio is the median of
the ratios within each round, so that a slow period of the machine cancels out.

Ratios count every decision on both sides, including forced ones, as the peers do. Our rows also show a stricter count:
only decisions with two or more options, although forced ones take time too.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean, median

from benchmarks.protocol import Sample

__all__ = [
    "BUILDS",
    "COMPILED_TO_PURE",
    "COSTS",
    "PEERS",
    "Ratio",
    "Round",
    "costs",
    "lines",
    "median_rate",
    "ratios",
    "rates",
    "table",
]

Round = Mapping[str, Sample]

HEARTS = "open_spiel/hearts"
HEARTS_WITH_A_LOOK = "open_spiel/hearts/string"
GIN_RUMMY = "open_spiel/gin_rummy"
UNO = "rlcard/uno"
PEERS: Mapping[str, str] = {
    HEARTS: "OpenSpiel hearts",
    HEARTS_WITH_A_LOOK: "OpenSpiel hearts, information state string each time",
    "open_spiel/crazy_eights": "OpenSpiel crazy_eights",
    "open_spiel/hanabi": "OpenSpiel hanabi",
    GIN_RUMMY: "OpenSpiel gin_rummy",
    UNO: "RLCard uno, with the observation it always builds",
}
COSTS = ("fork", "save", "load")
SUFFIXES: Mapping[str, str] = {
    "": "",
    "/inside": ", its own loop",
    "/view": ", a view each time",
    "/seen": ", a view of what was seen each time",
}
COMPILED_TO_PURE = "ours, compiled to pure"
BUILDS: Mapping[str, str] = {"cutpurse": "", "compiled": ", compiled"}  # our builds, by the name of their rows


@dataclass(frozen=True, slots=True)
class Ratio:
    """A ratio of our rate to a peer's; `value` is None if not measured, and `target` is its minimum."""

    what: str
    value: float | None
    target: float | None

    @property
    def verdict(self) -> str:
        if self.value is None:
            return "not measured"
        if self.target is None:
            return ""
        return "met" if self.value >= self.target else "missed"


def rate(sample: Sample) -> float:
    """Return the things done per CPU second, including forced decisions."""
    return sample.done / sample.cpu_s


def strict_rate(sample: Sample) -> float:
    """Return the decisions with two or more options per CPU second, or all if they were not counted separately."""
    return (sample.done if sample.free is None else sample.free) / sample.cpu_s


def median_rate(rounds: Sequence[Round], row: str, of: Callable[[Sample], float] = rate) -> float:
    return median(of(each[row]) for each in rounds)


def mean_ratio(rounds: Sequence[Round], rows: Sequence[str], peer: str) -> float | None:
    """Return the median over the rounds of our rows' geometric mean, relative to a peer; None without the peer."""
    if not all(peer in each for each in rounds):
        return None
    return median(geometric_mean(rate(each[row]) for row in rows) / rate(each[peer]) for each in rounds)


def ratios(rounds: Sequence[Round], games: Sequence[str], all_games: int) -> list[Ratio]:
    """Compute every ratio; only those over all games have targets."""
    all_ratios: list[Ratio] = []
    is_whole = len(games) == all_games
    for build, called in _builds(rounds, games):
        ours = f"ours{called} ({len(games)} of {all_games} games)"
        bare = [f"{build}/{game}" for game in games]
        looked = [f"{build}/{game}/view" for game in games]
        seen = [f"{build}/{game}/seen" for game in games]
        inside = [f"{build}/{game}/inside" for game in games]
        each = {game: mean_ratio(rounds, [row], GIN_RUMMY) for game, row in zip(games, bare, strict=True)}
        known = {game: value for game, value in each.items() if value is not None}
        slowest = min(known, key=lambda game: known[game]) if known else "unknown"
        for what, value, targets in (
            (f"{ours}, to OpenSpiel hearts", mean_ratio(rounds, bare, HEARTS), (0.4, 1.05)),
            (f"{ours} with its own loop, to OpenSpiel hearts", mean_ratio(rounds, inside, HEARTS), (None, 1.2)),
            (f"our slowest{called} ({slowest}), to OpenSpiel gin_rummy", known.get(slowest), (1.0, None)),
            (
                f"{ours} with a view, to hearts with its string",
                mean_ratio(rounds, looked, HEARTS_WITH_A_LOOK),
                (0.3, 0.4),
            ),
            (
                f"{ours} with a view of what was seen, to hearts with its string",
                mean_ratio(rounds, seen, HEARTS_WITH_A_LOOK),
                (None, 0.9),
            ),
            (f"{ours} with a view, to OpenSpiel hearts", mean_ratio(rounds, looked, HEARTS), (None, 0.5)),
            (f"{ours}, to RLCard uno (with its observation)", mean_ratio(rounds, bare, UNO), (3.0, None)),
            (f"{ours} with a view, to RLCard uno", mean_ratio(rounds, looked, UNO), (None, None)),
        ):
            all_ratios.append(Ratio(what, value, targets[bool(called)] if is_whole else None))
    if f"compiled/{games[0]}" in rounds[0]:
        value = median(
            geometric_mean(rate(each[f"compiled/{game}"]) / rate(each[f"cutpurse/{game}"]) for game in games)
            for each in rounds
        )
        all_ratios.append(Ratio(COMPILED_TO_PURE, value, 1.8 if is_whole else None))
    return all_ratios


def _builds(rounds: Sequence[Round], games: Sequence[str]) -> list[tuple[str, str]]:
    """List our measured builds with their labels."""
    return [(build, called) for build, called in BUILDS.items() if f"{build}/{games[0]}" in rounds[0]]


def rates(rounds: Sequence[Round], games: Sequence[str]) -> list[tuple[str, float, float | None]]:
    """List each row of playouts: name, decisions per CPU second, and decisions with two or more options (ours only)."""
    entries: list[tuple[str, float, float | None]] = []
    for build, called in _builds(rounds, games):
        for game in games:
            for suffix, look in SUFFIXES.items():
                row = f"{build}/{game}{suffix}"
                name = f"{game}{called}{look}"
                strict = None if suffix == "/inside" else median_rate(rounds, row, strict_rate)
                entries.append((name, median_rate(rounds, row), strict))
    entries += [(name, median_rate(rounds, row), None) for row, name in PEERS.items() if row in rounds[0]]
    return entries


def costs(rounds: Sequence[Round], games: Sequence[str]) -> list[tuple[str, list[float]]]:
    """List the CPU microseconds of a fork, a save and a load for each game."""
    return [
        (f"{game}{called}", [1e6 / median_rate(rounds, f"{build}/{game}/{cost}") for cost in COSTS])
        for build, called in _builds(rounds, games)
        for game in games
    ]


def table(head: Sequence[str], body: Iterable[Sequence[str]]) -> list[str]:
    """Format aligned lines: the first column to the left, the others to the right."""
    rows = [head, *body]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    return [
        "  ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in range(1, len(head)))]).rstrip()
        for row in rows
    ]


def lines(rounds: Sequence[Round], games: Sequence[str], all_ratios: Sequence[Ratio]) -> list[str]:
    """Format the figures as lines."""
    playouts = [
        (name, f"{every:,.0f}", "-" if free is None else f"{free:,.0f}") for name, every, free in rates(rounds, games)
    ]
    return [
        *table(["random playouts, one core", "decisions / CPU s", "with 2 options or more"], playouts),
        "",
        *table(
            ["CPU microseconds", *COSTS],
            [(game, *(f"{value:.1f}" for value in values)) for game, values in costs(rounds, games)],
        ),
        "",
        *table(
            ["ratio (geometric mean)", "measured", "target", ""],
            [
                (
                    ratio.what,
                    "-" if ratio.value is None else f"{ratio.value:.2f}",
                    "-" if ratio.target is None else f">= {ratio.target}",
                    ratio.verdict,
                )
                for ratio in all_ratios
            ],
        ),
    ]
