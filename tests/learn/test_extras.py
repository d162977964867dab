"""Without its packages a module says what to install, and nothing else needs them."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(source: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-B", "-c", source], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("package", "module", "extra"),
    [
        ("numpy", "cutpurse.learn", "learn"),
        ("numpy", "cutpurse.learn.batch", "learn"),
        ("gymnasium", "cutpurse.learn.gym", "rl"),
        ("pettingzoo", "cutpurse.learn.pettingzoo", "rl"),
        ("gymnasium", "cutpurse.learn.pettingzoo", "rl"),
        ("pyarrow", "cutpurse.learn.data_sets", "data"),
        ("pyspiel", "cutpurse.learn.spiel", "spiel"),
        ("numpy", "cutpurse.learn.spiel", "learn"),
    ],
)
def test_a_missing_package_is_a_line_that_says_what_to_install(package: str, module: str, extra: str) -> None:
    done = run(f"import sys; sys.modules[{package!r}] = None; import {module}")
    line = f"{package} is not installed; in a checkout of Cutpurse, this does it: pip install '.[{extra}]'"
    assert done.stderr.splitlines()[-1] == f"cutpurse.wire.errors.ExtraMissing: {line}"


@pytest.mark.parametrize("package", ["numpy", "pyarrow"])
def test_an_export_without_its_packages_says_what_to_install(package: str) -> None:
    done = run(
        f"import sys; sys.modules[{package!r}] = None\n"
        "sys.argv = ['cutpurse', 'export', 'run.jsonl', '--to', 'set']\n"
        "from cutpurse.cli.main import main; main()"
    )
    line = f"{package} is not installed; in a checkout of Cutpurse, this does it: pip install '.[data]'"
    assert (done.returncode, done.stderr) == (2, f"cutpurse: {line}\n")


def test_nothing_else_needs_numpy() -> None:
    done = run(
        "import sys\n"
        "import cutpurse.bots.greedy_bot, cutpurse.cli.main, cutpurse.sdk.local, cutpurse.sdk.run\n"
        "names = ('numpy', 'gymnasium', 'pettingzoo', 'pyarrow', 'cutpurse.learn')\n"
        "print([name for name in names if name in sys.modules])"
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_arrays_and_batches_need_no_learning_library() -> None:
    done = run(
        "import sys\n"
        "sys.modules['gymnasium'] = sys.modules['pettingzoo'] = None\n"
        "from cutpurse.learn.batch import Batch\n"
        "print(len(Batch('greed', tables=2).planes))"
    )
    assert (done.stdout, done.stderr) == ("2\n", "")
