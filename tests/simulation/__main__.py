"""The command python -m tests.simulation FIRST [COUNT]: run worlds FIRST and following, and report broken ones."""

from __future__ import annotations

import sys
import time

from tests.simulation.world import Broken, World


def main(arguments: list[str]) -> int:
    """Run worlds; return 1 if one is broken, else 0."""
    first, count = int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else 1
    began, broken, decisions = time.process_time(), [], 0
    for seed in range(first, first + count):
        world = World(seed)
        try:
            world.run()
        except Broken as problem:
            broken.append(seed)
            print(problem if count == 1 else str(problem).partition("\n\n")[2], end="\n\n")  # noqa: T201
        decisions += world.watch.decisions
        if count == 1:
            print(f"{world.trace} {world.steps} steps, {len(world.watch.matches)} matches")  # noqa: T201
    seconds = time.process_time() - began
    print(f"{count} worlds, {decisions} decisions in {seconds:.1f} s of CPU; broken: {broken}")  # noqa: T201
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
