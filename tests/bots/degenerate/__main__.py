"""Print how often each small bot comes first: python -m tests.bots.degenerate [--game G] [--matches N] [--jobs N]."""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from tests.bots.degenerate.harness import LIMIT, measure_until_clear
from tests.bots.degenerate.lists import WAYS


def write(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Print a line per bot, the strongest first in each game; return 1 if one reaches the limit or a bot faulted."""
    parser = argparse.ArgumentParser(prog="python -m tests.bots.degenerate", description=__doc__)
    parser.add_argument(
        "--game",
        choices=sorted({way.game for way in WAYS.values()}),
        action="append",
        help="one game (repeatable) [default: all]",
    )
    parser.add_argument("--matches", type=int, default=1000, help="matches per bot [default: 1000]")
    parser.add_argument("--jobs", type=int, default=1, help="processes [default: 1]")
    parser.add_argument("--top", type=int, default=0, help="bots to print per game; 0 means all [default: 0]")
    options = parser.parse_args()
    failed = False
    for name, way in WAYS.items():
        if options.game and way.game not in options.game:
            continue
        with ProcessPoolExecutor(options.jobs) as processes:
            play = partial(measure_until_clear, way.game, most=options.matches, settings=way.settings)
            outcomes = list(processes.map(play, way.bots))
        outcomes.sort(key=lambda outcome: (-outcome.share, outcome.bot))
        matches = sum(outcome.matches for outcome in outcomes)
        faults = sum(outcome.faults for outcome in outcomes)
        write(f"{name}: {len(outcomes)} bots, {matches} matches, {faults} faults")
        for outcome in outcomes[: options.top or None]:
            write(f"  {outcome.share:6.1%} of {outcome.matches:4}  {outcome.bot}")
        failed = failed or faults > 0 or outcomes[0].share >= LIMIT
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main())
