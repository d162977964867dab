"""The kill loops: tests that kill a part of a league with SIGKILL, over and over, and then count what is lost.

    python -m tests.kill_loops [--kills 2000] [--seed 34] [--part writer ...]

All loops together kill 60 processes in the tests and 2,000 in `make soak`. Another number, or only some of the parts,
can be run by hand: with another seed each loop kills at other moments. pytest prints the sums at its end.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import pytest

__all__ = ["IN_SOAK", "IN_TESTS", "LOOPS", "PROPERTY", "SHARES", "KillLoop", "format_sums", "kills_of"]

IN_TESTS: Final = 60
IN_SOAK: Final = 2_000
SEED: Final = 34
PROPERTY: Final = "kills"  # of a test's report
# The part whose loop a test is, and how many of ten kills it has: the slow ones have fewer.
SHARES: Final = {"writer": 3, "database": 2, "arena": 3, "place": 1, "worker": 1}
LOOPS: Final = {
    "writer": "leaderboard/test_killed.py::test_no_acknowledged_result_is_lost_and_none_is_rated_twice",
    "database": "leaderboard/test_postgresql.py::test_no_acknowledged_result_is_lost_and_none_is_rated_twice",
    "arena": "leaderboard/test_leases.py::test_arenas_are_killed_and_stopped_and_nothing_is_lost_or_rated_twice",
    "place": "places/test_killed_in_turn.py::test_no_bot_is_faulted_for_a_kill_and_ratings_are_recomputed_equal",
    "worker": "workers/test_real_workers.py"
    "::test_kills_of_worker_server_and_database_lose_no_match_and_deal_none_twice",
}


def kills_of(part: str, total: int) -> int:
    """Return how many of `total` kills the loop of a part has; over all parts they sum to `total`."""
    parts = list(SHARES)
    before = sum(SHARES[one] for one in parts[: parts.index(part)])
    return total * (before + SHARES[part]) // 10 - total * before // 10


@dataclass
class KillLoop:
    """One loop of a run.

    Attributes:
        total: Kills of all loops together.
        seed: Determines the moments.
        counts: What this loop has counted so far, by name, such as "kills of the database".
    """

    total: int = IN_TESTS
    seed: int = SEED
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def rng(self) -> random.Random:
        """A new source of chance."""
        return random.Random(self.seed)

    def kills(self, part: str) -> range:
        """Return the numbers of the kills of a part's loop."""
        return range(kills_of(part, self.total))

    def killed(self, victim: str) -> None:
        """Count a kill."""
        self.count(**{f"kills of {victim}": 1})

    def count(self, **counts: int) -> None:
        """Add counts, such as those of acknowledged results."""
        for name, count in counts.items():
            name = name.replace("_", " ")
            self.counts[name] = self.counts.get(name, 0) + count


def format_sums(loops: Iterable[Mapping[str, int]]) -> str:
    """Return the sums of several loops in one line; empty if there is nothing to sum."""
    sums: dict[str, int] = {}
    for loop in loops:
        for name, count in loop.items():
            sums[name] = sums.get(name, 0) + count
    victims = {name.removeprefix("kills of "): count for name, count in sums.items() if name.startswith("kills of ")}
    others = [f"{name}: {count:,}" for name, count in sums.items() if not name.startswith("kills of ")]
    if not victims:
        return ""
    killed = ", ".join(f"{victim} {count:,}" for victim, count in victims.items())
    return "; ".join([f"killed: {sum(victims.values()):,} ({killed})", *others])


def main(arguments: list[str] | None = None) -> int:
    """Run the loops of some parts."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill_loops", description="kill parts of a league in turn")
    parser.add_argument("--kills", type=int, default=IN_SOAK, help="of all five loops together [default: 2000]")
    parser.add_argument("--seed", type=int, default=SEED, help="[default: 34]")
    parser.add_argument("--part", choices=LOOPS, action="append", help="(repeatable) [default: all]")
    given = parser.parse_args(arguments)
    if given.kills < len(LOOPS):
        parser.error(f"--kills {given.kills}: it is at least {len(LOOPS)}")
    tests = [f"tests/{LOOPS[part]}" for part in given.part or LOOPS]
    return pytest.main(["-q", "-n", "0", "--kills", str(given.kills), "--seed", str(given.seed), *tests])


if __name__ == "__main__":
    sys.exit(main())
