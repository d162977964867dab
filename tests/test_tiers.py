"""`make test` leaves out what is listed or marked, says how much that is, and `make test-all` leaves out nothing."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.roots import CHECKOUT
from tests.tiers import FULL


def collected(*words: str) -> tuple[set[str], str]:
    """The tests that a run would have, and all that is said of it."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", *words]
    told = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    return {line for line in told.splitlines() if "::" in line}, told


def recipe(target: str) -> str:
    """The command that `make` runs for a target when the environment is there, whatever a make around it was told."""
    command = ["make", "--dry-run", "--always-make", target]
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS", "WORKERS"))
    }
    told = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=True).stdout
    return told.splitlines()[-1]


@pytest.mark.parametrize("listed", FULL)
def test_what_is_listed_is_there(listed: str) -> None:
    assert (CHECKOUT / "tests" / listed).exists()


def test_the_quick_run_leaves_out_what_is_full_and_says_how_much() -> None:
    chosen = [
        "tests/properties/test_twin_wire.py",
        "tests/properties/test_planted_leaks.py",
        "tests/server/test_terms.py",
    ]
    every, _ = collected(*chosen)
    quick, told = collected("--quick", *chosen)
    left_out = every - quick
    assert quick < every
    assert {name.partition("::")[0] for name in quick} == {chosen[0], chosen[2]}
    assert "[greed-4]" in "".join(quick)
    assert "[greed-5]" in "".join(left_out)
    assert f"left out: {len(left_out)} tests that " in told
    assert "`make test-all` runs them" in told


def test_only_the_quick_run_leaves_out_anything() -> None:
    assert recipe("test") == f"{recipe('test-all')} --quick"
    assert recipe("test-all").endswith("-m pytest -q -n auto --dist loadfile --no-loadscope-reorder")
    assert "step make test-all\n" in (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")


def test_what_the_compiled_build_skips_runs_on_the_pure_one() -> None:
    assert 'step make test-all "TESTS=-m needs_pure $pure"\n' in (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")
    planted, mixed = "tests/properties/test_planted_leaks.py", "tests/server/test_table.py"
    every, _ = collected(planted, mixed)
    chosen, _ = collected("-m", "needs_pure", planted, mixed)
    assert {name for name in every if name.startswith(planted)} < chosen < every, "all that is planted, also if full"
