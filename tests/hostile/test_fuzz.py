"""A hundred thousand pieces from seeds, and all that was ever found; and that the fuzz finds what there is to find."""

from __future__ import annotations

import hashlib
import itertools
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.hostile.arena import Harmed
from tests.hostile.cases import LEVELS, case
from tests.hostile.fuzz import Finding, fuzz, replay, saved
from tests.hostile.targets import LinksTarget, Target, target_for
from tests.roots import CHECKOUT

# Cases of each level, in parts that run beside each other; a case has about ten pieces. A part starts its own server.
PARTS = [
    ("frames", 0, 2_000),
    ("calls", 0, 500),
    ("links", 0, 3_000),
]


@pytest.mark.parametrize(("level", "first", "last"), PARTS)
def test_nothing_is_found(level: str, first: int, last: int) -> None:
    sent: list[int] = []
    finding = fuzz(level, 1, iter(range(first, last)), target_for, sent.append)
    assert finding is None, f"seed 1, case {finding.number}: {finding.what}\n{finding.cases}"
    assert sum(sent) > 5 * (last - first)


def test_what_was_once_found_does_no_harm_any_more() -> None:
    found = list(saved())
    assert found
    for level in sorted({level for _, level, _ in found}):
        target = target_for(level)
        try:
            for name, _, cases in [one for one in found if one[1] == level]:
                assert replay(cases, target) == "", name
        finally:
            target.close()


HASHED = """
import hashlib
from tests.hostile.cases import LEVELS, case
told = hashlib.sha256()
for level in LEVELS:
    for number in range(50):
        told.update(b"".join(case(level, 7, number)))
print(told.hexdigest())
"""


def test_the_same_seed_makes_the_same_bytes() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", HASHED], cwd=CHECKOUT, env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        ).stdout
        for seed in ("0", "1", "77")
    }
    assert len(told) == 1
    assert case("frames", 1, 1) != case("frames", 2, 1)
    assert hashlib.sha256(b"").hexdigest().encode() not in told


class Fragile(LinksTarget):
    """Links that take harm from envelopes of give-ups, if another case came before."""

    def __init__(self) -> None:
        super().__init__()
        self.cases = 0

    def send(self, pieces: Sequence[bytes]) -> None:
        super().send(pieces)
        self.cases += 1
        if self.cases > 1 and any(b"KeyError" in piece for piece in pieces):
            raise Harmed("planted")


def test_a_planted_fault_is_found_and_made_short(tmp_path: Path) -> None:
    def make(_level: str) -> Target:
        return Fragile()

    finding = fuzz("links", 3, itertools.count(), make)
    assert finding is not None
    assert finding.what == "Harmed: planted"
    assert len(finding.cases) == 2
    assert sum(b"KeyError" in piece for one in finding.cases for piece in one) == 1
    assert sum(map(len, finding.cases)) <= 4
    finding.save(tmp_path)
    ((_, level, cases),) = saved(tmp_path)
    assert (level, cases) == ("links", finding.cases)
    assert isinstance(finding, Finding)
    assert replay(cases, Fragile()) == "Harmed: planted"
    assert replay(cases, LinksTarget()) == ""
    assert set(LEVELS) == {"frames", "calls", "links"}
