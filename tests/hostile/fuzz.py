"""The fuzzer of the server: random cases from a seed, regular checks, and a file with the shortest harmful input.

    python -m tests.hostile.fuzz --minutes 60 --seed 7

`make fuzz MINUTES=60 SEED=7` does the same. The exit code is 1 if anything was found. Findings are saved in
`tests/hostile/found`, at most `MOST_FOUND` files, and the tests replay all of them.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import SystemRandom
from typing import TypeVar

from tests.hostile.arena import Harmed
from tests.hostile.cases import LEVELS, case
from tests.hostile.targets import Target, target_for

__all__ = ["FOUND", "Finding", "fuzz", "replay", "saved"]

FOUND = Path(__file__).parent / "found"
MOST_FOUND = 20
CHECKED_EVERY = {"frames": 400, "calls": 300, "links": 1_000}  # cases between checks
TRIES = 60  # maximum attempts to shorten an input
ALIKE = 24  # characters by which descriptions of the same harm begin equally, before any number

Case = Sequence[bytes]
Part = TypeVar("Part")


@dataclass(frozen=True)
class Finding:
    """A harmful input."""

    level: str
    seed: int
    number: int  # of the last case sent
    what: str
    cases: list[list[bytes]]

    def save(self, folder: Path = FOUND) -> Path:
        """Save the finding for the tests."""
        if len(list(folder.glob("*.json"))) >= MOST_FOUND:
            raise SystemExit(f"{folder} holds {MOST_FOUND} findings already; mend some first")
        file = folder / f"{self.level}-{self.seed}-{self.number}.json"
        cases = [[piece.hex() for piece in one] for one in self.cases]
        text = {"level": self.level, "what": self.what[:2_000], "cases": cases}
        file.write_text(json.dumps(text, indent=1) + "\n", encoding="utf-8")
        return file


def saved(folder: Path = FOUND) -> Iterator[tuple[str, str, list[list[bytes]]]]:
    """Load saved findings: name, level and cases."""
    for file in sorted(folder.glob("*.json")):
        read = json.loads(file.read_text(encoding="utf-8"))
        yield file.stem, read["level"], [[bytes.fromhex(piece) for piece in one] for one in read["cases"]]


def replay(cases: Sequence[Case], target: Target) -> str:
    """Send cases, and describe the harm; return an empty text if there is none."""
    try:
        for one in cases:
            target.send(one)
        target.check()
    except Exception as problem:  # any exception is a finding
        return f"{type(problem).__name__}: {problem}"
    return ""


def fuzz(
    level: str, seed: int, numbers: Iterator[int], make: Callable[[str], Target], tell: Callable[[int], object] = bool
) -> Finding | None:
    """Send cases until one does harm, or there are no more.

    Args:
        level: Level of the cases.
        seed: Seed of the cases.
        numbers: Numbers of the cases.
        make: Creates the target.
        tell: Called after each check with the number of pieces sent since the last one.
    """
    target = make(level)
    try:
        while batch := list(itertools.islice(numbers, CHECKED_EVERY[level])):
            cases = [case(level, seed, number) for number in batch]
            if what := replay(cases, target):
                break
            tell(sum(map(len, cases)))
        else:
            return None
    finally:
        _close(target)
    return Finding(level, seed, batch[-1], what, _shortest(cases, level, what, make))


def _shortest(cases: list[list[bytes]], level: str, what: str, make: Callable[[str], Target]) -> list[list[bytes]]:
    """Shorten cases and their pieces while they still do the same harm; return all if the harm is not repeatable."""
    left = TRIES

    def does_harm(tried: Sequence[Case]) -> bool:
        nonlocal left
        if left <= 0 or not tried:
            return False
        left -= 1
        target = make(level)
        try:
            return replay(tried, target)[:ALIKE] == what[:ALIKE]
        finally:
            _close(target)

    cases = _without(cases, does_harm)
    for place, one in enumerate(cases):

        def with_pieces(pieces: Case, place: int = place) -> bool:
            return does_harm([*cases[:place], pieces, *cases[place + 1 :]])

        cases[place] = _without(one, with_pieces)
    return cases


def _without(parts: list[Part], does_harm: Callable[[list[Part]], bool]) -> list[Part]:
    """Leave out halves, quarters and so on, as long as the harm remains."""
    size = len(parts) // 2
    while size:
        at = 0
        while at < len(parts):
            fewer = parts[:at] + parts[at + size :]
            if fewer and does_harm(fewer):
                parts = fewer
            else:
                at += size
        size //= 2
    return parts


def _close(target: Target) -> None:
    """Close a target, ignoring harm, which was reported before."""
    try:
        target.close()
    except Harmed:
        pass


def main(minutes: float, seed: int) -> int:
    """Fuzz each level in turn, a few batches each, until the time is over.  Returns the exit code."""
    until = time.monotonic() + 60 * minutes
    sent = dict.fromkeys(LEVELS, 0)
    began = time.monotonic()
    numbers = {level: itertools.count() for level in LEVELS}
    found = 0
    print(f"seed {seed}, {minutes:g} minutes", flush=True)
    while time.monotonic() < until:
        for level in LEVELS:

            def tell(pieces: int, level: str = level) -> None:
                sent[level] += pieces

            few = itertools.islice(numbers[level], 5 * CHECKED_EVERY[level])
            finding = fuzz(level, seed, few, target_for, tell)
            if finding is not None:
                found += 1
                print(f"{level}: {finding.what}\n  seed {seed}, case {finding.number}: {finding.save()}", flush=True)
        told = ", ".join(f"{count:,} {level}" for level, count in sent.items())
        print(f"{time.monotonic() - began:6.0f} s: {told}, {found} found", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Fuzz the server.")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(1 << 31))
    told = parser.parse_args()
    sys.exit(main(told.minutes, told.seed))
