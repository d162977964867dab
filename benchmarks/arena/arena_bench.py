"""The arena's part of the bench: its options, its order of measurements, and its output."""

import os
import tempfile
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from benchmarks.arena.idle_bots import crowd
from benchmarks.arena.report import crowd_lines, rate_lines
from benchmarks.arena.summary import Aim, Crowd, RateRow, RateSample, Round, Turnarounds, crowd_aims, rate_aims
from benchmarks.arena.throughput import Rates, rows
from cutpurse.engine.errors import CutpurseError
from cutpurse.sdk.bot import bot_makers

__all__ = ["ArenaFigures", "ArenaPlan", "add_arguments", "document", "lines", "measure", "plan", "versions"]

WEIGH_S = 0.5
CROWD_SECONDS = 5  # multiple of the seconds of a row, because there are few decisions per second


@dataclass(frozen=True)
class ArenaPlan:
    """The plan of the measurements."""

    rounds: int
    seconds: float  # wall time per row
    tables: tuple[int, ...]
    bots: tuple[str, ...]
    rated: tuple[int, ...]  # those of `tables` to measure with a database too
    crowd: int  # number of idle bots; 0 means none
    folder: Path | None  # for databases


@dataclass(frozen=True)
class ArenaFigures:
    """The measured figures."""

    plan: ArenaPlan
    rows: Sequence[RateRow]
    bytes: tuple[int, int]  # size of a question and of an answer of the bare exchange
    rounds: Sequence[Round]
    load: Sequence[float]  # load average before each round
    crowd: Crowd | None


def add_arguments(parser: ArgumentParser) -> None:
    """Add the options of this part."""
    group = parser.add_argument_group("arena")
    group.add_argument(
        "--tables", type=_counts, default=(1, 8, 64, 256), metavar="N,...", help="a bot; a row each (1,8,64,256)"
    )
    group.add_argument(
        "--bots",
        type=_bots,
        default=("first_option", "greedy"),
        metavar="A,B",
        help="the bots, of which the first also plays stored and rated (first_option,greedy)",
    )
    group.add_argument(
        "--rated", type=_counts_or_none, default=(64, 256), metavar="N,...", help="of the tables; 0: none (64,256)"
    )
    group.add_argument("--crowd", type=_crowd, default=1_000, metavar="N", help="bots at once; 0: leave out (1000)")
    group.add_argument("--folder", type=_folder, metavar="DIR", help="on whose disk results are stored (the system's)")


def plan(options: Namespace, rounds: int, seconds: float) -> ArenaPlan:
    """Convert options to a plan."""
    return ArenaPlan(rounds, seconds, options.tables, options.bots, options.rated, options.crowd, options.folder)


def _counts(text: str) -> tuple[int, ...]:
    counts = tuple(int(word) for word in text.split(","))
    if not all(1 <= count <= 1_000 for count in counts):
        raise ArgumentTypeError(f"numbers of tables from 1 to 1000, not {text}")
    return counts


def _counts_or_none(text: str) -> tuple[int, ...]:
    return () if text == "0" else _counts(text)


def _bots(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    try:
        bot_makers(names)
    except CutpurseError as error:
        raise ArgumentTypeError(str(error)) from None
    return names


def _folder(text: str) -> Path:
    folder = Path(text)
    if not folder.is_dir():
        raise ArgumentTypeError(f"{text} is no folder")
    return folder


def _crowd(text: str) -> int:
    count = int(text)
    if not (count == 0 or 4 <= count <= 4_000):
        raise ArgumentTypeError(f"0, or from 4 to 4000 bots, not {text}")
    return count


def measure(plan: ArenaPlan, say: Callable[[str], None]) -> ArenaFigures:
    """Measure all parts of the plan.  Raises WorkerFailed if a process fails."""
    chosen = rows(plan.bots, plan.tables, plan.rated)
    rounds: list[Round] = []
    load: list[float] = []
    with tempfile.TemporaryDirectory(dir=plan.folder) as folder, Rates(Path(folder)) as rates:
        say(f"arena: {len(chosen) + 1} rows; warming up")
        rates.weigh(WEIGH_S)
        for number in range(plan.rounds):
            load.append(os.getloadavg()[0])
            say(f"arena: round {number + 1} of {plan.rounds}, load average {load[-1]:.2f}")
            rounds.append(rates.one_round(chosen, plan.seconds, say))
        sizes = rates.bytes
    many = crowd(plan.crowd, CROWD_SECONDS * plan.seconds, sizes, say) if plan.crowd else None
    return ArenaFigures(plan, chosen, sizes, rounds, load, many)


def versions() -> dict[str, str]:
    """Return the versions of the packages that the arena uses."""
    return {name: version(name) for name in ("cutpurse", "grpcio", "protobuf")}


def lines(figures: ArenaFigures) -> list[str]:
    """Format the figures as lines."""
    plan = figures.plan
    loads = " ".join(f"{value:.2f}" for value in figures.load)
    return [
        f"{plan.rounds} rounds, {plan.seconds:g} s a row, medians; load average before each: {loads}",
        (
            f"bare messages: {figures.bytes[0]} bytes and {figures.bytes[1]} back, as a decision and its answer with "
            "one table"
        ),
        "",
        *rate_lines(figures.rounds, figures.rows),
        *(["", *crowd_lines(figures.crowd)] if figures.crowd is not None else []),
    ]


def document(figures: ArenaFigures) -> dict[str, object]:
    """Return the figures as JSON-compatible values."""
    many = figures.crowd
    return {
        "seconds_a_row": figures.plan.seconds,
        "load_average_before_each_round": list(figures.load),
        "bare_bytes": list(figures.bytes),
        "aims": [_aim(aim) for aim in rate_aims(figures.rounds, figures.rows)],
        "rounds": [{row: _sample(sample) for row, sample in each.items()} for each in figures.rounds],
        "crowd": None
        if many is None
        else {
            **{name: value for name, value in asdict(many).items() if name not in ("arena", "bare")},
            "arena": _turnarounds(many.arena),
            "bare": _turnarounds(many.bare),
            "aims": [_aim(aim) for aim in crowd_aims(many)],
        },
    }


def _aim(aim: Aim) -> dict[str, object]:
    return {**asdict(aim), "verdict": aim.verdict}


def _sample(sample: RateSample) -> dict[str, object]:
    return {
        **asdict(sample),
        "decisions_per_s": sample.rate,
        "server_us": sample.server_us,
        "bots_us": sample.bots_us,
    }


def _turnarounds(waits: Turnarounds) -> dict[str, object]:
    percents = {f"p{percent}_ms": waits.ms(percent) for percent in (50, 99, 99.9)}
    return {"count": len(waits.took), "odd": waits.odd, **percents}
