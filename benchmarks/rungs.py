"""The ladder of strengths: one bot of each rung alone against copies of the rung below.

    .venv/bin/python benchmarks/rungs.py [--matches 1000] [--jobs 2] [--games greed,...]

The seat of the bot moves on with each match, so every seat is played equally often, and its neighbours are always the
same bot. A first place that is shared counts as a part of one. With four seats equal bots have 25 %. A rung holds where
the lower end of the 95 % interval (Wilson) is above 35 %.

The table of all rungs takes hours. With `--into FILE` every 40 matches are a line of that file, and the same command
goes on after the last line. Matches of another version of a bot do not belong there: begin a new file for them.

With `--ends` it prints instead how many rounds of four `greedy` end by a limit of the rules or by stalemate.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

from scipy.stats import binomtest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # so that a script finds its neighbours
from benchmarks.machine import machine, machine_line
from cutpurse.engine.errors import CutpurseError, UsageError
from cutpurse.engine.events import Happened, Scored
from cutpurse.engine.match import Match
from cutpurse.sdk.local import LocalMatch, play

__all__ = ["Rung", "count_ends", "document", "lines", "main", "measure", "measure_few", "split_first_places"]

SEATS: Final = 4
PART: Final = 40  # matches, each seat as often
HOLDS_ABOVE: Final = 0.35
RUNGS: Final = "random,greedy,search,expert"
PLAYOUTS: Final = "CUTPURSE_PLAYOUTS"  # which bots that search obey
FEW_PLAYOUTS: Final = "4"  # in `make bench`
GAMES: Final[Mapping[str, tuple[str, Mapping[str, object]]]] = {
    "steal_and_plunder": ("steal_and_plunder", {}),
    "stolen_treasure": ("stolen_treasure", {}),
    "szmal": ("szmal", {}),
    "greed": ("greed", {}),
    "bag_o_loot": ("bag_o_loot", {}),
    "bag_o_loot-advanced": ("bag_o_loot", {"advanced": True}),
}
TURNS: Final[Mapping[str, str]] = {"greed": "turns", "stolen_treasure": "turn"}  # what `max_rounds` limits, by game


@dataclass(frozen=True, slots=True)
class Rung:
    """What a bot won against copies of the bot below it; shares are from 0 to 1."""

    game: str
    bot: str
    below: str
    matches: int
    first_places: float
    low: float
    high: float
    faults: int

    @property
    def holds(self) -> bool:
        """Whether the bot is clearly better than the one below."""
        return self.low > HOLDS_ABOVE


def split_first_places(rows: Iterable[LocalMatch]) -> float:
    """Return the first places of the first bot; one that n bots share counts 1/n."""
    return sum(1 / row.places.count(1) for row in rows if row.places[0] == 1)


@dataclass(frozen=True, slots=True)
class Part:
    """Some matches of a rung, as a line of a file has them. Shared first places are split."""

    game: str
    bot: str
    below: str
    playouts: str  # CUTPURSE_PLAYOUTS
    seed: str
    matches: int
    first_places: float
    faults: int

    @property
    def of(self) -> tuple[str, str, str, str]:
        """What it is a part of."""
        return self.game, self.bot, self.below, self.playouts


def parts_of(file: Path | None) -> list[Part]:
    """Read the parts of a file that may not exist yet.  Raises UsageError for a line that is no part."""
    if file is None or not file.exists():
        return []
    parts = []
    for number, text in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        try:
            parts.append(Part(**json.loads(text)))
        except (ValueError, TypeError):
            raise UsageError(f"{file}, line {number}, is no part of a rung: give another file") from None
    return parts


def measure(
    game: str,
    bot: str,
    below: str,
    matches: int,
    *,
    seed: str,
    jobs: int,
    progress: Callable[[int, int], None],
    into: Path | None = None,
) -> Rung:
    """Play the matches of one rung in one game, but for those that a file has already.

    Raises:
        CutpurseError: For an unknown bot, or if the run is cut short.
    """
    name, settings = GAMES[game]
    bots, playouts = [bot] + [below] * (SEATS - 1), os.environ.get(PLAYOUTS, "")
    known = {part.seed: part for part in parts_of(into) if part.of == (game, bot, below, playouts)}
    parts: list[Part] = []
    for begun in range(0, matches, PART):
        count, part_seed = min(PART, matches - begun), f"{seed}/{begun}"
        part = known.get(part_seed)
        if part is None or part.matches != count:
            run = play(name, bots, matches=count, seed=part_seed, settings=settings, jobs=jobs)
            part = Part(game, bot, below, playouts, part_seed, count, split_first_places(run.rows), run.faults[0])
            if into is not None:
                with into.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(part)) + "\n")
        parts.append(part)
        progress(begun + count, matches)
    won = sum(part.first_places for part in parts)
    # Shared first places make parts of a win: the interval is that of the whole wins below and above.
    low = binomtest(math.floor(won), matches).proportion_ci(method="wilson").low
    high = binomtest(math.ceil(won), matches).proportion_ci(method="wilson").high
    faults = sum(part.faults for part in parts)
    return Rung(game, bot, below, matches, won / matches, float(low), float(high), faults)


def line(rung: Rung) -> str:
    """Format a rung as a line of the table."""
    interval = f"{100 * rung.low:.1f} to {100 * rung.high:.1f} %"
    faults = f"  {rung.faults} faults" if rung.faults else ""
    return (
        f"{rung.game:20} {rung.bot:>8} against {rung.below:8} {rung.matches:6,} {100 * rung.first_places:6.1f} %  "
        f"{interval:16} {'holds' if rung.holds else 'does not hold'}{faults}"
    )


def measure_few(matches: int, say: Callable[[str], None]) -> list[Rung]:
    """Measure all rungs in all games with few matches and few playouts, unless the environment says how many."""
    before = os.environ.get(PLAYOUTS)
    os.environ.setdefault(PLAYOUTS, FEW_PLAYOUTS)
    try:
        rungs = _listed(RUNGS)
        results = []
        for below, bot in pairwise(rungs):
            for game in GAMES:
                say(f"rungs: {bot} against {below} in {game}")
                results.append(measure(game, bot, below, matches, seed="bench", jobs=1, progress=lambda done, of: None))
        return results
    finally:
        if before is None:
            del os.environ[PLAYOUTS]


def lines(rungs: Sequence[Rung]) -> list[str]:
    """Return the table of some rungs."""
    return [
        f"{'game':20} {'bot':>8}         {'below':8} matches  first  95 % interval",
        *[line(rung) for rung in rungs],
    ]


def document(rungs: Sequence[Rung]) -> list[dict[str, object]]:
    """Return rungs for JSON."""
    return [{**asdict(rung), "holds": rung.holds} for rung in rungs]


def count_ends(game: str, matches: int, bot: str = "greedy") -> tuple[int, int]:
    """Count the rounds in matches of four copies of a bot, and those that end by a limit of the rules or by stalemate.

    Raises:
        CutpurseError: For an unknown bot, or if the run is cut short.
    """
    name, settings = GAMES[game]
    rounds = early = 0

    def count(match: Match) -> None:
        nonlocal rounds, early
        state = match.game
        if state.waiting():
            return
        for event in state.log or ():
            rounds += isinstance(event, Scored)
            early += isinstance(event, Happened) and state.words.verbs[event.act.verb - 1].name == "stalemate"
        if name in TURNS:
            early += getattr(state, TURNS[name]) == int(state.settings.text("max_rounds")) * state.n

    play(name, [bot] * SEATS, matches=matches, seed="ends", settings=settings, watch=count)
    return rounds, early


def _show_progress(what: str, done: int, of: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{what}: {done:,} of {of:,} ", end="" if done < of else "\n", file=sys.stderr, flush=True)


def _listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or 2 for a usage error."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--matches", type=int, default=1000, help="for each rung and game")
    parser.add_argument("--jobs", type=int, default=1, help="number of processes; it changes no result")
    parser.add_argument("--rungs", type=_listed, default=_listed(RUNGS), help=f"weakest first (default: {RUNGS})")
    parser.add_argument("--games", type=_listed, default=list(GAMES), help=f"some of {','.join(GAMES)}")
    parser.add_argument("--seed", default="rungs")
    parser.add_argument("--into", type=Path, metavar="FILE", help="keep what is played there, and go on from it")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument("--ends", action="store_true", help="how rounds of four greedy end, instead of rungs")
    options = parser.parse_args(arguments)
    if unknown := [game for game in options.games if game not in GAMES]:
        parser.error(f"unknown game {unknown[0]!r}; the games are {', '.join(GAMES)}")
    if len(options.rungs) < 2:
        parser.error("at least two rungs: a bot, and one below it")
    if options.matches < 1:
        parser.error(f"{options.matches} matches cannot be played; at least 1 can")
    if options.ends:
        print(f"{'game':20}  rounds  by limit or stalemate")
        for game in options.games:
            rounds, early = count_ends(game, options.matches)
            print(f"{game:20} {rounds:7,} {early:7,} {early / rounds:13.1%}", flush=True)
        return 0
    rungs = []
    if not options.json:
        print(machine_line(machine()))
        print(*lines([]))
    try:
        for below, bot in pairwise(options.rungs):
            for game in options.games:
                progress = partial(_show_progress, f"{game}, {bot}")
                rung = measure(
                    *(game, bot, below, options.matches),
                    seed=options.seed,
                    jobs=options.jobs,
                    progress=progress,
                    into=options.into,
                )
                rungs.append(rung)
                if not options.json:
                    print(line(rung), flush=True)
    except CutpurseError as error:
        parser.error(str(error))
    if options.json:
        print(json.dumps({"schema": 1, "machine": machine(), "rungs": document(rungs)}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
