"""The rows' part of the bench: what a core spends on a row of each kind for learners, beside the tensors of others.

Each kind is measured as playouts with it less playouts without it, in the same round. Workers and peers are those of
the engine's part. PettingZoo's card games are left out: they are RLCard's, and cannot be imported without pygame.
"""

import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from benchmarks.engine_bench import Say, chosen_games, measure_rows, start_compiled, start_peers
from benchmarks.protocol import Worker
from benchmarks.report import BUILDS, Round, table

__all__ = ["RowFigures", "costs", "document", "lines", "measure"]

KINDS: Mapping[str, tuple[str, str]] = {  # what it costs, from the rows with it and without it
    "view, none": ("none", "bare"),
    "view, seen": ("seen", "bare"),
    "view, proof": ("proof", "bare"),
    "planes": ("planes", "proof"),
    "numbers": ("numbers", "planes"),
    "mask": ("mask", "numbers"),
    "16 events": ("history", "logged"),
}
PEERS: Mapping[str, tuple[str, str]] = {
    "OpenSpiel hearts, information state string": ("open_spiel/hearts/string", "open_spiel/hearts"),
    "OpenSpiel hearts, information state tensor": ("open_spiel/hearts/tensor", "open_spiel/hearts"),
    "OpenSpiel crazy_eights, observation tensor": ("open_spiel/crazy_eights/tensor", "open_spiel/crazy_eights"),
    "OpenSpiel hanabi, observation tensor": ("open_spiel/hanabi/tensor", "open_spiel/hanabi"),
    "OpenSpiel gin_rummy, observation tensor": ("open_spiel/gin_rummy/tensor", "open_spiel/gin_rummy"),
    "RLCard uno, state": ("rlcard/uno/state", "rlcard/uno"),
}


@dataclass(frozen=True)
class RowFigures:
    """The measured figures."""

    rounds: Sequence[Round]
    seconds: float  # CPU seconds per row
    load: Sequence[float]  # load average before each round
    games: Sequence[str]
    versions: Mapping[str, str]


def measure(games: str | None, with_peers: bool, rounds: int, seconds: float, say: Say) -> RowFigures:
    """Measure the rows; parameters and errors are those of `engine_bench.measure`."""
    with ExitStack() as stack:
        ours = stack.enter_context(Worker(Path(sys.executable), "benchmarks.rows"))
        chosen, _ = chosen_games(games, ours)
        workers = [ours]
        versions = dict(ours.versions)
        compiled = start_compiled(say, "benchmarks.rows")
        if compiled is not None:
            workers.append(stack.enter_context(compiled))
        rows = {row: worker for worker in workers for row in worker.rows if row.split("/")[1] in chosen}
        peers = start_peers(say) if with_peers else None
        if peers is not None:
            stack.enter_context(peers)
            needed = [row for pair in PEERS.values() for row in pair]
            rows |= {row: peers for row in peers.rows if row in needed}
            versions |= peers.versions
        done, load = measure_rows(rows, rounds, seconds, say)
    return RowFigures(done, seconds, load, chosen, versions)


def cost(rounds: Sequence[Round], with_it: str, without: str) -> float | None:
    """Return the median microseconds of CPU by which a decision takes longer; None if it was not measured."""
    if with_it not in rounds[0] or without not in rounds[0]:
        return None
    samples = [(each[with_it], each[without]) for each in rounds]
    return median(1e6 * (more.cpu_s / more.done - less.cpu_s / less.done) for more, less in samples)


def costs(figures: RowFigures) -> dict[str, dict[str, float | None]]:
    """Return the cost of each kind of row by game and build."""
    return {
        f"{game}{called}": {
            kind: cost(figures.rounds, f"{build}/{game}/{with_it}", f"{build}/{game}/{without}")
            for kind, (with_it, without) in KINDS.items()
        }
        for build, called in BUILDS.items()
        if f"{build}/{figures.games[0]}/bare" in figures.rounds[0]
        for game in figures.games
    }


def peer_costs(figures: RowFigures) -> dict[str, float | None]:
    """Return the cost of a peer's row; None if it was not measured."""
    return {name: cost(figures.rounds, *pair) for name, pair in PEERS.items()}


def lines(figures: RowFigures) -> list[str]:
    """Format the figures as lines."""
    loads = " ".join(f"{value:.2f}" for value in figures.load)
    ours = [(name, *map(_number, by_kind.values())) for name, by_kind in costs(figures).items()]
    return [
        f"{len(figures.rounds)} rounds, {figures.seconds:g} CPU s a row, medians; load average before each: {loads}",
        "",
        *table(["CPU microseconds a row, 4 seats", *KINDS], ours),
        "",
        *table(["CPU microseconds a row", ""], [(name, _number(value)) for name, value in peer_costs(figures).items()]),
    ]


def _number(value: float | None) -> str:
    return "not here" if value is None else f"{value:.1f}"


def document(figures: RowFigures) -> dict[str, object]:
    """Return the figures as JSON-compatible values."""
    return {
        "cpu_seconds_a_row": figures.seconds,
        "load_average_before_each_round": list(figures.load),
        "costs_us": costs(figures),
        "peers_us": peer_costs(figures),
    }
