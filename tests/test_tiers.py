"""`make test` leaves out what is listed or marked, says how much that is, and `make test-all` leaves out nothing."""

from __future__ import annotations

import re
import subprocess
import sys

from cutpurse.games import GAMES
from tests.conftest import FIRST, LONGEST
from tests.makefile import make
from tests.roots import CHECKOUT
from tests.tiers import FULL


def collected(*words: str) -> tuple[set[str], str]:
    """The tests that a run would have, and all that is said of it."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--collect-only", *words]
    told = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=True).stdout
    return {line for line in told.splitlines() if "::" in line}, told


def recipe(target: str) -> str:
    """Return the command that `make` runs for a target when the environment is there."""
    dry = make("--dry-run", "--always-make", target)
    assert dry.returncode == 0, dry.stderr
    return dry.stdout.splitlines()[-1]


def test_what_is_listed_is_there() -> None:
    assert [name for name in (*FULL, *LONGEST, *FIRST) if not (CHECKOUT / "tests" / name).exists()] == []


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
    assert {name.partition("[")[0] for name in left_out} > {
        name.partition("[")[0] for name in quick if "[greed-4]" in name
    }
    alone = [name for name in left_out if not name.startswith(chosen[1])]
    assert re.search(rf"left out: \d\d+ files, and of others {len(alone)} tests, that ", told)
    assert "`make test-all` runs them" in told


def test_every_number_of_players_is_drawn_for_some_tests_and_not_for_all() -> None:
    every, _ = collected("tests/properties", "--soak")
    drawn, _ = collected("tests/properties")
    tables = [f"[{name}-{seats}]" for name, rules in GAMES.items() for seats in rules.words.seats]
    counts = [[sum(name.endswith(table) for name in names) for table in tables] for names in (drawn, every)]
    assert all(0 < few <= many for few, many in zip(*counts, strict=True)), counts
    assert sum(counts[0]) < sum(counts[1]) * 0.7


def test_a_sample_of_a_product_has_every_value_and_the_long_run_all_of_it() -> None:
    def cases(*words: str) -> set[tuple[str, str]]:
        names, _ = collected("tests/faults/test_every_envelope.py", *words)
        ends = [name.partition("at_any_envelope")[2].partition("[")[2] for name in names if "at_any_envelope" in name]
        return {(game, way) for game, _, way in (end.partition("-") for end in ends)}

    every, drawn = cases("--soak"), cases()
    games, ways = ({case[axis] for case in every} for axis in (0, 1))
    assert len(every) == len(games) * len(ways)
    assert [{case[axis] for case in drawn} for axis in (0, 1)] == [games, ways]
    assert len(drawn) == max(len(games), len(ways))


def test_only_the_quick_run_leaves_out_anything() -> None:
    assert recipe("test") == f"{recipe('test-all')} --quick"
    assert "-m pytest -q -n auto --dist loadfile --no-loadscope-reorder " in recipe("test-all")
    assert "step make test-all\n" in (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")


def test_what_the_compiled_build_skips_runs_on_the_pure_one() -> None:
    assert 'step make test-all "TESTS=-m needs_pure $pure"\n' in (CHECKOUT / ".ci" / "run").read_text(encoding="utf-8")
    planted, mixed = "tests/properties/test_planted_leaks.py", "tests/server/test_table.py"
    every, _ = collected(planted, mixed)
    chosen, _ = collected("-m", "needs_pure", planted, mixed)
    assert {name for name in every if name.startswith(planted)} < chosen < every, "all that is planted, also if full"
