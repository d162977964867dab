"""The kill loops: tests that kill a part of a league with SIGKILL, over and over, and then count what is lost.

    python -m tests.kill_loops [--kills 2000] [--seed 34] [--part writer ...] [--into FILE]

All loops together kill 60 processes in the tests and 2,000 in `make soak`. A loop begins a new league after every 25
kills, once everything in the old one was counted. With another seed it kills at other moments. pytest prints the sums
at its end.

With --into, the outcome of each league is appended to a file. Leagues that have passed are not played again, so the
same command goes on where it was interrupted, and files of several seeds add up.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

import pytest

__all__ = [
    "IN_SOAK",
    "IN_TESTS",
    "LOOPS",
    "PROPERTY",
    "SHARES",
    "KillLoop",
    "LeagueOutcome",
    "OutcomeFile",
    "format_outcomes",
    "format_sums",
    "kills_of",
    "leagues_of",
    "part_of",
]

IN_TESTS: Final = 60
IN_SOAK: Final = 2_000
IN_LEAGUE: Final = 25  # more would take longer each, because all of a league's results are counted
SEED: Final = 34
PROPERTY: Final = "kills"  # of a test's report
# The part whose loop a test is, and how many of ten kills it has: the slow ones have fewer.
SHARES: Final = {"writer": 3, "database": 2, "arena": 3, "place": 1, "worker": 1}
LOOPS: Final = {
    "writer": "leaderboard/test_killed.py::test_no_acknowledged_result_is_lost_and_none_is_rated_twice",
    "database": "leaderboard/test_postgresql.py::test_no_acknowledged_result_is_lost_and_none_is_rated_twice",
    "arena": "leaderboard/test_leases.py::test_arenas_are_killed_and_stopped_and_nothing_is_lost_or_rated_twice",
    "place": "parts/hosts/test_killed_in_turn.py::test_no_bot_is_faulted_for_a_kill_and_ratings_are_recomputed_equal",
    "worker": "parts/workers/test_real_workers.py"
    "::test_kills_of_worker_server_and_database_lose_no_match_and_deal_none_twice",
}


def kills_of(part: str, total: int) -> int:
    """Return how many of `total` kills the loop of a part has; over all parts they sum to `total`."""
    parts = list(SHARES)
    before = sum(SHARES[one] for one in parts[: parts.index(part)])
    return total * (before + SHARES[part]) // 10 - total * before // 10


def leagues_of(part: str, total: int) -> list[int]:
    """Return the kills in each league of a part's loop, when all loops together have `total`."""
    kills = kills_of(part, total)
    return [min(IN_LEAGUE, kills - before) for before in range(0, kills, IN_LEAGUE)]


def part_of(test: str) -> str:
    """Return the part whose loop a test is, by its pytest ID."""
    return next(part for part, loop in LOOPS.items() if test.partition("[")[0].endswith(loop))


@dataclass
class KillLoop:
    """The kills in one league.

    Attributes:
        part: Part whose loop it is.
        league: Number of the league in this loop, from 0.
        size: Kills in this league.
        seed: Determines the moments, together with `league`.
        counts: What was counted so far, by name, such as "kills of the database".
    """

    part: str
    league: int = 0
    size: int = 0
    seed: int = SEED
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def rng(self) -> random.Random:
        """A new source of chance."""
        return random.Random(f"{self.part} {self.seed} {self.league}")

    @property
    def kills(self) -> range:
        """The numbers of the kills."""
        return range(self.size)

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
    sums: Counter[str] = Counter()
    for loop in loops:
        sums.update(loop)
    victims = {name.removeprefix("kills of "): count for name, count in sums.items() if name.startswith("kills of ")}
    others = [f"{name}: {count:,}" for name, count in sums.items() if not name.startswith("kills of ")]
    if not victims:
        return ""
    killed = ", ".join(f"{victim} {count:,}" for victim, count in victims.items())
    return "; ".join([f"killed: {sum(victims.values()):,} ({killed})", *others])


@dataclass(frozen=True, slots=True)
class LeagueOutcome:
    """How one league ended: a line of the file of outcomes.

    Attributes:
        part: Part whose loop it is.
        seed: Seed of the run.
        league: Number of the league.
        kills: Kills that it was to have.
        outcome: Whether all that must hold did.
        seconds: Duration.
        ended_at: Time of the end in UTC.
        counts: What was counted, by name.
    """

    part: str
    seed: int
    league: int
    kills: int
    outcome: Literal["passed", "failed"]
    seconds: float
    ended_at: str
    counts: dict[str, int]

    @property
    def key(self) -> tuple[str, int, int, int]:
        """Which league it was."""
        return self.part, self.seed, self.league, self.kills


class OutcomeFile:
    """A pytest plugin that writes the outcomes of leagues into a file, and leaves out those that have passed."""

    def __init__(self, file: Path, seed: int) -> None:
        """Read the outcomes that the file already has, if it exists."""
        self.file = file
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        self.outcomes = [LeagueOutcome(**json.loads(line)) for line in lines]
        self._seed = seed
        self._left: Counter[str] = Counter()  # kills to do, by part
        self._seconds = 0.0  # of the league that is played
        self._failed = False
        self._screen: Any = None

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Leave out the leagues that have passed."""
        self._screen = config.pluginmanager.get_plugin("terminalreporter")
        passed = {outcome.key for outcome in self.outcomes if outcome.outcome == "passed"}
        loops: dict[pytest.Item, KillLoop] = {item: item.callspec.params["kill_loop"] for item in items}  # type: ignore[attr-defined]
        items[:] = [
            item for item, loop in loops.items() if (loop.part, self._seed, loop.league, loop.size) not in passed
        ]
        for item in items:
            self._left[loops[item].part] += loops[item].size

    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        """Write the outcome of a league, once its last step is over, and how far all are."""
        if call.when == "setup":
            self._seconds, self._failed = 0.0, False
        self._seconds += call.duration
        self._failed |= call.excinfo is not None
        if call.when != "teardown":
            return
        loop: KillLoop = item.callspec.params["kill_loop"]  # type: ignore[attr-defined]
        outcome = LeagueOutcome(
            loop.part,
            self._seed,
            loop.league,
            loop.size,
            "failed" if self._failed else "passed",
            round(self._seconds, 1),
            datetime.now(UTC).isoformat(timespec="seconds"),
            loop.counts,
        )
        with self.file.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(asdict(outcome))}\n")
        self.outcomes.append(outcome)
        self._left[loop.part] -= loop.size
        self._screen.write_line(
            f"  {loop.part} league {loop.league}: {loop.size} kills, {outcome.outcome}, {self._seconds:.0f} s; "
            f"left: {sum(self._left.values()):,} kills, {self._time_left_s() / 60:.0f} min"
        )

    def _time_left_s(self) -> float:
        """Reckon how long the kills that are left take, from those in the file."""
        kills, seconds = Counter[str](), Counter[str]()
        for outcome in self.outcomes:
            kills[outcome.part] += outcome.kills
            seconds[outcome.part] += round(outcome.seconds)
        usual = seconds.total() / kills.total()
        return sum(left * (seconds[part] / kills[part] if kills[part] else usual) for part, left in self._left.items())


def format_outcomes(outcomes: Sequence[LeagueOutcome]) -> str:
    """Return a line for each part, with its kills of all seeds, and one for each failed league."""
    lines = []
    for part in LOOPS:
        passed = {outcome.key: outcome for outcome in outcomes if (outcome.part, outcome.outcome) == (part, "passed")}
        kills = sum(outcome.kills for outcome in passed.values())
        if kills:
            per_kill = sum(outcome.seconds for outcome in passed.values()) / kills
            sums = format_sums(outcome.counts for outcome in passed.values())
            lines.append(f"{part}: {kills:,} kills in {len(passed)} leagues passed, {per_kill:.1f} s a kill; {sums}")
    lines += [
        f"failed: {outcome.part} league {outcome.league} of seed {outcome.seed}, at {outcome.ended_at}"
        for outcome in outcomes
        if outcome.outcome == "failed"
    ]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Run the loops of some parts."""
    parser = argparse.ArgumentParser(prog="python -m tests.kill_loops", description="kill parts of a league in turn")
    parser.add_argument("--kills", type=int, default=IN_SOAK, help="of all five loops together [default: 2000]")
    parser.add_argument("--seed", type=int, default=SEED, help="[default: 34]")
    parser.add_argument("--part", choices=LOOPS, action="append", help="(repeatable) [default: all]")
    parser.add_argument("--league", type=int, help="only this league of each part [default: all]")
    parser.add_argument("--into", type=Path, metavar="FILE", help="append outcomes; leave out what has passed there")
    given = parser.parse_args(arguments)
    if given.kills < len(LOOPS):
        parser.error(f"--kills {given.kills}: it is at least {len(LOOPS)}")
    only = "" if given.league is None else f"[{given.league}]"
    tests = [f"tests/{LOOPS[part]}{only}" for part in given.part or LOOPS]
    plugins = [] if given.into is None else [OutcomeFile(given.into, given.seed)]
    flags = ["--kills", str(given.kills), "--seed", str(given.seed)]
    code = pytest.main(["-q", "-n", "0", *flags, *tests], plugins=plugins)
    for plugin in plugins:
        sys.stdout.write(f"{format_outcomes(plugin.outcomes)}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
