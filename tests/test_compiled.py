"""The compiled build: the engine in C plays as the Python does, and it is asked for or not there at all."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scripts.compiled import FAILED, INTERPRETED, NO_COMPILER, compile_modules, compiler, sources
from tests.roots import CHECKOUT

KERNEL = ("cutpurse/engine/chance.py", "cutpurse/engine/dealer.py", "cutpurse/engine/zones.py")
AND_A_GAME = "cutpurse/games/greed/rules.py"

# Plays matches of every game at random, and prints a digest of all that was told, shown and saved.
PLAYED = """
import hashlib, pickle, random
from cutpurse.engine import zones
from cutpurse.engine.agenda import Step
from cutpurse.games import GAMES

print(zones.__file__)
for name, rules in GAMES.items():
    digest = hashlib.sha256()
    for match in range(3):
        dice, game = random.Random(match), rules.new(key=match.to_bytes(32, "big"))
        game.log = []
        while seats := game.waiting():
            for seat in seats:
                game.choose(seat, dice.choice(game.options(seat)))
            if not dice.randrange(10):
                ways = game.fork, lambda: rules.load(game.save()), lambda: pickle.loads(pickle.dumps(game))
                log, game = game.log, dice.choice(ways)()
                game.log = log
                digest.update(repr([game.view(seat) for seat in (*range(game.n), None)]).encode())
        digest.update(repr((game.log, game.save(), game.places())).encode())
    said = [(step.rule, step.paragraph, getattr(step, "text", "")) for step in rules.steps().values()]
    digest.update(repr(said).encode())
    print(name, digest.hexdigest())

class Own(Step):  # as a game in plain Python has them
    pass

assert pickle.loads(pickle.dumps(game.view(0))) == game.view(0)
assert (Own.name, repr(Own(1)), Own(1) == Own(1)) == ("own", "Own(seat=1)", True)
"""

needs_a_compiler = pytest.mark.skipif(compiler() is None, reason=NO_COMPILER)


def played(folder: Path | None = None) -> list[str]:
    """What `PLAYED` prints where `folder` has modules of ours before all others."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    if folder is not None:
        environment["PYTHONPATH"] = str(folder)
    run = subprocess.run([sys.executable, "-c", PLAYED], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout.splitlines()


def is_compiled(module: str) -> bool:
    return module.endswith((".so", ".pyd"))


@needs_a_compiler
def test_matches_of_the_compiled_engine_are_the_same(tmp_path: Path) -> None:
    compile_modules(tmp_path, quick=True)
    pure, compiled = played(), played(tmp_path)
    assert (is_compiled(pure[0]), is_compiled(compiled[0])) == (False, True)
    assert len(pure) == 6
    assert compiled[1:] == pure[1:]


def test_every_module_that_is_compiled_is_there_and_the_kernel_is_among_them() -> None:
    paths = [path.as_posix() for path in sources()]
    assert {*KERNEL, AND_A_GAME} <= set(paths)
    assert len(paths) == len(set(paths))
    assert all((CHECKOUT / "games" / name).is_file() for name in INTERPRETED), "a module that is left out is gone"


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


@pytest.mark.soak
@needs_a_compiler
def test_the_compiled_wheel_passes_the_tests_of_the_engine_and_of_every_game(tmp_path: Path) -> None:
    run = build(tmp_path, CUTPURSE_COMPILED="1")
    assert run.returncode == 0, run.stderr
    (wheel,) = tmp_path.glob("*.whl")
    assert "-any" not in wheel.name
    folder = tmp_path / "there"
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    assert sum(is_compiled(str(path)) for path in folder.rglob("*")) == len(sources()) + 1
    assert played(folder)[1:] == played()[1:]
    tests = ["tests/engine", "tests/games", "tests/properties", "tests/test_playthroughs.py"]
    # Those that plant a fault put a method of their own in the place of one that is C now.
    without = ["--deselect", "tests/properties/test_planted_leaks.py", "-k", "not kept_for_another_viewer"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", *without, *tests],
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-4000:]
