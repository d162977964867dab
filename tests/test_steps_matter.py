"""The rule tests notice when a rule is not carried out: each step in turn does nothing, and they must fail.

A step whose game passes all its tests without it is a rule that nothing holds to.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from cutpurse.games import GAMES
from tests.roots import CHECKOUT
from tests.without_a_step import VARIABLE

TIME_S = 300  # without a step a game may never end, which is noticed, too
TESTS_FAILED = 1  # pytest's code for that; others would mean that nothing was run


def run_tests(name: str, without: str) -> int:
    """The exit code of the rule tests of a game in which one step (or "", none) does nothing."""
    folder = CHECKOUT / "tests" / "games" / name
    assert list(folder.glob("test_*.py")), f"{name} has no rule tests in {folder.relative_to(CHECKOUT)}"
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "tests.without_a_step", "-p", "no:cacheprovider"]
    run = subprocess.run(
        [*command, "-o", "faulthandler_timeout=60", str(folder)],
        cwd=CHECKOUT,
        env={**os.environ, VARIABLE: f"{name}:{without}" if without else ""},
        capture_output=True,
        check=False,
        timeout=TIME_S,
    )
    return run.returncode


@pytest.mark.soak
@pytest.mark.parametrize("name", GAMES)
def test_the_rule_tests_pass_with_every_step(name: str) -> None:
    assert run_tests(name, "") == 0


@pytest.mark.soak
@pytest.mark.parametrize(("name", "step"), [(name, step) for name in GAMES for step in GAMES[name].steps()])
def test_the_rule_tests_fail_without_a_step(name: str, step: str) -> None:
    assert run_tests(name, step) == TESTS_FAILED, f"no test of {name} fails when {step} does nothing"
