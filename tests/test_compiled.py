"""The compiled build: how it is made, and what it shares with the pure one.

`make test-all BUILD=.compiled` runs every test on it.
"""

import ast
import os
import pickle
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from cutpurse.engine.agenda import Step, steps_of
from cutpurse.engine.chance import Chance
from cutpurse.engine.game import Game
from cutpurse.games import GAMES
from cutpurse.games.greed.rules import Greed
from scripts.compiled import FAILED, INTERPRETED, NO_COMPILER, sources, with_inits
from tests.roots import CHECKOUT

KERNEL = ("cutpurse/engine/chance.py", "cutpurse/engine/dealer.py", "cutpurse/engine/zones.py")
AND_A_GAME = "cutpurse/games/greed/rules.py"


def test_a_step_of_a_game_in_plain_python_works_beside_the_engine() -> None:
    class Own(Step):
        pass

    assert (Own.name, repr(Own(1)), Own(1) == Own(1)) == ("own", "Own(seat=1)", True)


class LastDraw(Chance):
    """Chance in plain Python, which always draws the last of what there is."""

    def below(self, n: int) -> int:
        return n - 1


def test_the_engine_draws_from_a_chance_in_plain_python() -> None:
    cards = [1, 2, 3, 4]
    chance = LastDraw(bytes(32))
    assert chance.pick(cards) == 3
    assert chance.new_key() == b"\xff" * 32


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_every_game_can_be_subclassed_in_plain_python(rules: type[Game]) -> None:
    own: type[Game] = type("Own", (rules,), {"__module__": __name__})
    assert own.new().fork().playout(lambda options: 0) == rules.new().playout(lambda options: 0)


class LeastWins(Greed):
    """A variant of a game in plain Python."""

    def standing(self, seat: int) -> tuple[int, ...]:
        return tuple([-number for number in super().standing(seat)])


def test_a_variant_of_a_game_in_plain_python_is_played_by_its_own_rules() -> None:
    variant = LeastWins.new(2, bytes(32)).fork()
    game = Greed.new(2, bytes(32))
    assert type(variant) is LeastWins
    assert variant.playout(lambda options: 0) == game.playout(lambda options: 0)
    assert variant.scores() == game.scores()
    assert variant.places() == [3 - place for place in game.places()]
    assert variant.view().rules is LeastWins


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_a_game_its_view_and_its_steps_can_be_pickled(rules: type[Game]) -> None:
    game = rules.new()
    copied = pickle.loads(pickle.dumps(game))
    assert copied.save() == game.save()
    assert pickle.loads(pickle.dumps(game.view(0))) == game.view(0)
    assert [pickle.loads(pickle.dumps(step)) for step in game.agenda] == list(game.agenda)


@pytest.mark.parametrize("rules", GAMES.values(), ids=GAMES)
def test_every_step_has_its_rule_and_paragraph_in_each_build(rules: type[Game]) -> None:
    assert all(step.rule and step.paragraph for step in rules.steps().values())


def test_every_module_that_is_compiled_is_there_and_the_kernel_is_among_them() -> None:
    paths = [path.as_posix() for path in sources()]
    assert {*KERNEL, AND_A_GAME} <= set(paths)
    assert len(paths) == len(set(paths))
    assert all((CHECKOUT / "games" / name).is_file() for name in INTERPRETED), "a module that is left out is gone"


@pytest.mark.parametrize("path", [path for path in sources() if path.parts[1] == "games"], ids=str)
def test_the_compiler_is_given_the_steps_that_python_makes(path: Path) -> None:
    """Each `__init__` is written out, and every line keeps its number."""
    plain = (CHECKOUT / "games" / path).read_text(encoding="utf-8")
    written = with_inits(plain)
    assert len(written.splitlines()) == len(plain.splitlines())
    steps = steps_of(".".join(path.with_suffix("").parts))
    tree = ast.parse(written)
    tree.body = [node for node in tree.body if isinstance(node, ast.ClassDef) and node.name in steps]
    names = vars(import_module(".".join(path.with_suffix("").parts))) | {"__name__": f"written_out.{path.stem}"}
    exec(compile(tree, str(path), "exec"), names)
    for name, step in steps.items():
        values = [{int: 3, bool: True, tuple: (1, 2)}[shape] for shape in step.fields.values()]
        assert names[name].fields == step.fields
        assert "__init__" in vars(names[name]) or not step.fields
        assert repr(names[name](0, *values)) == repr(step(0, *values))


def build(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), "."]
    return subprocess.run(
        command, cwd=CHECKOUT, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )


def test_without_a_compiler_it_is_said_in_a_line_that_there_is_none(tmp_path: Path) -> None:
    run = build(tmp_path, CUTPURSE_COMPILED="1", CC="no-such-compiler")
    assert run.returncode != 0
    assert NO_COMPILER in run.stdout + run.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("off", ["", "0"])
def test_nothing_is_compiled_where_it_is_not_asked_for(off: str, tmp_path: Path) -> None:
    run = build(tmp_path, CUTPURSE_COMPILED=off, CC="no-such-compiler")
    assert run.returncode == 0, run.stderr
    (wheel,) = tmp_path.iterdir()
    assert wheel.name.endswith("-py3-none-any.whl")


def test_a_compiler_that_fails_is_told_with_what_it_may_lack(tmp_path: Path) -> None:
    failing = tmp_path / "cc"
    failing.write_text("#!/bin/sh\necho 'Python.h: No such file or directory' >&2\nexit 1\n", encoding="utf-8")
    failing.chmod(0o755)
    environment = {**os.environ, "CC": str(failing)}
    command = [sys.executable, "scripts/compiled.py", str(tmp_path / "there")]
    run = subprocess.run(command, cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "Python.h" in run.stderr
    assert run.stderr.splitlines()[-1] == FAILED
