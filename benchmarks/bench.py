"""`make bench`: how fast the engine is, beside other engines measured in the same minutes on the same machine.

Two worker processes, ours and the peers', are asked in turn, row after row, round after round, so that a slow spell of
the machine falls on all alike.  The peers live in an environment of their own, `.peers/`, made here by pip from
`benchmarks/peers.lock`; where that fails, only our own rows are measured.
"""

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # run as a script, it finds what lies beside it
from benchmarks.protocol import ROOT, Sample, Worker, WorkerFailed
from benchmarks.report import COSTS, Round, costs, lines, rates, ratios

__all__ = ["main"]

PEERS = ROOT / ".peers"
LOCK = ROOT / "benchmarks" / "peers.lock"
WARM_UP_S = 0.2
COST_SHARE = 0.25  # of a row's seconds, for rows that repeat one call: they are steady sooner


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def peers_python() -> Path | None:
    """The interpreter of `.peers/`, made if it is not there or no longer fits; None, saying why, if that fails."""
    python = PEERS / "bin" / "python"
    stamp = PEERS / "made_from"
    wanted = f"Python {platform.python_version()}, lock {hashlib.sha256(LOCK.read_bytes()).hexdigest()}"
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    say(f"making {PEERS.name}/ (once)")
    # Wheels only for what takes an hour to build; rlcard is published as source only.
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install", "--require-hashes"]
    what = ["--only-binary", "open-spiel,numpy,scipy", "-r", str(LOCK)]
    try:
        venv.create(PEERS, clear=True, with_pip=True)
        run = subprocess.run([*pip, *what], capture_output=True, text=True, check=False)
    except (OSError, subprocess.CalledProcessError) as error:
        why = str(error)
    else:
        if run.returncode == 0:
            stamp.write_text(wanted, encoding="utf-8")
            return python
        why = next((line for line in reversed(run.stderr.splitlines()) if line.startswith("ERROR")), "pip failed")
    shutil.rmtree(PEERS, ignore_errors=True)
    say(f"the peers could not be installed, only our own rows follow: {why}")
    return None


def start_peers() -> Worker | None:
    python = peers_python()
    if python is None:
        return None
    try:
        return Worker(python, "benchmarks.peers")
    except WorkerFailed as error:
        say(f"the peers do not run, only our own rows follow: {error}")
        return None


def measure(rows: Mapping[str, Worker], rounds: int, seconds: float) -> tuple[list[Round], list[float]]:
    """All rows once to warm up, then in turn, `rounds` times; and the machine's load average before each round."""

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


def cpu_model() -> str:
    """What the processor calls itself."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux
    return platform.processor() or platform.machine()


def rounds_number(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"at least 1 round, not {number}")
    return number


def row_seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 3600:
        raise argparse.ArgumentTypeError(f"more than 0 and at most 3600 seconds, not {text}")
    return seconds


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="bench.py",
        description="How fast the engine is, beside other engines measured in turn with it. Ends with 0 even where a "
        "target is missed: the table says so.",
        epilog="example: python benchmarks/bench.py --games greed --rounds 3 --seconds 0.5",
    )
    made.add_argument("--rounds", type=rounds_number, default=5, metavar="N", help="rounds after the warm-up (5)")
    made.add_argument("--seconds", type=row_seconds, default=1.0, metavar="S", help="CPU seconds for a row (1)")
    made.add_argument("--games", metavar="A,B", help="only these of our games")
    made.add_argument("--no-peers", action="store_true", help="only our own rows")
    made.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    return made


def document(
    rounds: Sequence[Round], games: Sequence[str], all_games: int, about: Mapping[str, object]
) -> dict[str, object]:
    """All that was measured, JSON-able."""
    return {
        "schema": 1,
        **about,
        "rates": [
            {"row": name, "decisions_per_cpu_s": every, "free_decisions_per_cpu_s": free}
            for name, every, free in rates(rounds, games)
        ],
        "costs_us": {game: dict(zip(COSTS, values, strict=True)) for game, values in costs(rounds, games)},
        "ratios": [{**asdict(ratio), "verdict": ratio.verdict} for ratio in ratios(rounds, games, all_games)],
        "rounds": [{row: asdict(sample) for row, sample in each.items()} for each in rounds],
    }


def run(options: argparse.Namespace, stack: ExitStack) -> None:
    """Start the workers, measure, print."""
    ours = stack.enter_context(Worker(Path(sys.executable), "benchmarks.engine"))
    all_games = [row.split("/")[1] for row in ours.rows if row.count("/") == 1]
    asked = options.games.split(",") if options.games else all_games
    if unknown := [game for game in asked if game not in all_games]:
        parser().error(f"no game is called {unknown[0]!r}; there are: {', '.join(all_games)}")
    games = [game for game in all_games if game in asked]
    rows = {row: ours for row in ours.rows if row.split("/")[1] in games}
    versions = {"Python": platform.python_version(), **ours.versions}
    peers = None if options.no_peers else start_peers()
    if peers is not None:
        stack.enter_context(peers)
        rows |= dict.fromkeys(peers.rows, peers)
        versions |= peers.versions
    rounds, load = measure(rows, options.rounds, options.seconds)
    if options.json:
        about = {
            "machine": {"cpu": cpu_model(), "cores": os.cpu_count(), "system": platform.platform()},
            "versions": versions,
            "cpu_seconds_a_row": options.seconds,
            "load_average_before_each_round": load,
        }
        print(json.dumps(document(rounds, games, len(all_games), about), indent=1))
        return
    print(f"{cpu_model()}, {os.cpu_count()} cores, {platform.platform()}")
    print(", ".join(f"{name} {version}" for name, version in versions.items()))
    loads = " ".join(f"{value:.2f}" for value in load)
    print(
        f"{len(rounds)} rounds, {options.seconds:g} CPU s a row, medians; load average before each (ours is 1): {loads}"
    )
    print("", *lines(rounds, games, ratios(rounds, games, len(all_games))), sep="\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench: 0 done, 1 a worker of ours failed, 2 usage, 130 interrupted."""
    options = parser().parse_args(arguments)
    try:
        with ExitStack() as stack:
            run(options, stack)
    except WorkerFailed as error:
        say(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
