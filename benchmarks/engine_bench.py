"""The engine's part of the bench: our playouts beside those of other engines, measured in turn.

Worker processes, ours and the peers', measure in turn, row after row, round after round, so that a slow period of the
machine affects all equally. The peers have their own environment, `.peers/`, which pip installs here from
`benchmarks/peers.lock`. If that fails, only our own rows are measured. Our compiled build has its own environment too,
`.compiled/`, made by `make compiled`.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import venv
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.protocol import ROOT, Sample, Worker, WorkerFailed
from benchmarks.report import COMPILED_TO_PURE, COSTS, Ratio, Round, costs, rates, ratios
from benchmarks.report import PEERS as PEER_ROWS
from benchmarks.report import lines as engine_lines

__all__ = [
    "EngineFigures",
    "Say",
    "UnknownGame",
    "add_arguments",
    "chosen_games",
    "document",
    "lines",
    "measure",
    "measure_rows",
    "missed_gate",
    "start_compiled",
    "start_peers",
]

PEERS = ROOT / ".peers"
LOCK = ROOT / "benchmarks" / "peers.lock"
COMPILED = ROOT / ".compiled" / "bin" / "python"
WARM_UP_S = 0.2
COST_SHARE = 0.25  # share of a row's seconds for rows that repeat one call, which are steady sooner

Say = Callable[[str], None]


class UnknownGame(Exception):
    """The error for an unknown game; it names the known ones."""


@dataclass(frozen=True)
class EngineFigures:
    """The measured figures."""

    rounds: Sequence[Round]
    seconds: float  # CPU seconds per row
    load: Sequence[float]  # load average before each round
    games: Sequence[str]
    all_games: int
    versions: Mapping[str, str]


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of this part."""
    group = parser.add_argument_group("engine")
    group.add_argument("--games", metavar="A,B", help="only these of our games")
    group.add_argument("--no-peers", action="store_true", help="only our own rows")


def peers_python(say: Say) -> Path | None:
    """Return the interpreter of `.peers/`, installing it if missing or outdated; report and return None on failure."""
    python = PEERS / "bin" / "python"
    stamp = PEERS / "made_from"
    origin = f"Python {platform.python_version()}, lock {hashlib.sha256(LOCK.read_bytes()).hexdigest()}"
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == origin:
        return python
    say(f"making {PEERS.name}/ (once)")
    # Only wheels for packages that take an hour to build; rlcard is published as source only.
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install", "--require-hashes"]
    what = ["--only-binary", "open-spiel,numpy,scipy", "-r", str(LOCK)]
    try:
        venv.create(PEERS, clear=True, with_pip=True)
        run = subprocess.run([*pip, *what], capture_output=True, text=True, check=False)
    except (OSError, subprocess.CalledProcessError) as error:
        why = str(error)
    else:
        if run.returncode == 0:
            stamp.write_text(origin, encoding="utf-8")
            return python
        why = next((line for line in reversed(run.stderr.splitlines()) if line.startswith("ERROR")), "pip failed")
    shutil.rmtree(PEERS, ignore_errors=True)
    say(f"the peers could not be installed, only our own rows follow: {why}")
    return None


def start_peers(say: Say) -> Worker | None:
    python = peers_python(say)
    if python is None:
        return None
    try:
        return Worker(python, "benchmarks.peers")
    except WorkerFailed as error:
        say(f"the peers do not run, only our own rows follow: {error}")
        return None


def start_compiled(say: Say, module: str = "benchmarks.engine") -> Worker | None:
    """Start a worker of our compiled build; report and return None if there is none."""
    if not COMPILED.exists():
        say("there is no compiled build to measure; `make compiled` makes one")
        return None
    try:
        worker = Worker(COMPILED, module)
    except WorkerFailed as error:
        say(f"the compiled build does not run, and is not measured: {error}")
        return None
    if not all(row.startswith("compiled/") for row in worker.rows):
        worker.close()
        say("what is in .compiled/ is not compiled; `make compiled` makes it anew")
        return None
    return worker


def measure_rows(rows: Mapping[str, Worker], rounds: int, seconds: float, say: Say) -> tuple[list[Round], list[float]]:
    """Measure all rows in turn for `rounds` rounds after a warm-up; return them with the load average before each."""

    def one_round(seconds: float) -> dict[str, Sample]:
        return {
            row: worker.measure(row, seconds * (COST_SHARE if row.endswith(COSTS) else 1))
            for row, worker in rows.items()
        }

    say(f"{len(rows)} rows; warming up")
    one_round(min(WARM_UP_S, seconds))
    done: list[Round] = []
    load: list[float] = []
    for number in range(rounds):
        load.append(os.getloadavg()[0])
        say(f"round {number + 1} of {rounds}, load average {load[-1]:.2f}")
        done.append(one_round(seconds))
    return done, load


def chosen_games(games: str | None, ours: Worker) -> tuple[list[str], int]:
    """Return the games of these names, and how many there are.  Raises UnknownGame."""
    all_games = [*dict.fromkeys([row.split("/")[1] for row in ours.rows])]
    names = games.split(",") if games else all_games
    if unknown := [game for game in names if game not in all_games]:
        raise UnknownGame(f"no game is called {unknown[0]!r}; there are: {', '.join(all_games)}")
    return [game for game in all_games if game in names], len(all_games)


def measure(games: str | None, with_peers: bool, rounds: int, seconds: float, say: Say) -> EngineFigures:
    """Measure the engine.

    Args:
        games: Names separated by commas, None for all games.
        with_peers: Measure the peers too.
        rounds: Number of rounds.
        seconds: CPU seconds per row.
        say: Prints progress.

    Raises:
        UnknownGame: If there is no such game.
        WorkerFailed: If our own worker fails.
    """
    with ExitStack() as stack:
        ours = stack.enter_context(Worker(Path(sys.executable), "benchmarks.engine"))
        chosen, all_games = chosen_games(games, ours)
        rows = {row: ours for row in ours.rows if row.split("/")[1] in chosen}
        versions = dict(ours.versions)
        compiled = start_compiled(say)
        if compiled is not None:
            stack.enter_context(compiled)
            rows |= {row: compiled for row in compiled.rows if row.split("/")[1] in chosen}
        peers = start_peers(say) if with_peers else None
        if peers is not None:
            stack.enter_context(peers)
            rows |= {row: peers for row in peers.rows if row in PEER_ROWS}
            versions |= peers.versions
        done, load = measure_rows(rows, rounds, seconds, say)
    return EngineFigures(done, seconds, load, chosen, all_games, versions)


def lines(figures: EngineFigures) -> list[str]:
    """Format the figures as lines."""
    loads = " ".join(f"{value:.2f}" for value in figures.load)
    return [
        f"{len(figures.rounds)} rounds, {figures.seconds:g} CPU s a row, medians; load average before each: {loads}",
        "",
        *engine_lines(figures.rounds, figures.games, ratios(figures.rounds, figures.games, figures.all_games)),
    ]


def missed_gate(figures: EngineFigures) -> Ratio | None:
    """Return the ratio of the compiled to the pure build if it is below its target, else None."""
    for ratio in ratios(figures.rounds, figures.games, figures.all_games):
        if ratio.what == COMPILED_TO_PURE and ratio.verdict == "missed":
            return ratio
    return None


def document(figures: EngineFigures) -> dict[str, object]:
    """Return the figures as JSON-compatible values."""
    rounds, games = figures.rounds, figures.games
    return {
        "cpu_seconds_a_row": figures.seconds,
        "load_average_before_each_round": list(figures.load),
        "rates": [
            {"row": name, "decisions_per_cpu_s": every, "free_decisions_per_cpu_s": free}
            for name, every, free in rates(rounds, games)
        ],
        "costs_us": {name: dict(zip(COSTS, values, strict=True)) for name, values in costs(rounds, games)},
        "ratios": [{**asdict(ratio), "verdict": ratio.verdict} for ratio in ratios(rounds, games, figures.all_games)],
        "rounds": [{row: asdict(sample) for row, sample in each.items()} for each in rounds],
    }
