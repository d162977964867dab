"""`make install` and `make demo` need a part of the lock, and say in one line why an installation fails."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.makefile import make
from tests.roots import CHECKOUT

WHOLE, DEMO = CHECKOUT / "requirements.lock", CHECKOUT / "scripts" / "demo.lock"


def locked(file: Path) -> dict[str, list[str]]:
    """Return the hashes of each package of a lock file, by its requirement: name, version and marker."""
    text = re.sub(r"^ *#.*\n", "", file.read_text(encoding="utf-8"), flags=re.MULTILINE)
    entries = [entry.partition("\\") for entry in re.split(r"^(?=\w)", text, flags=re.MULTILINE) if entry.strip()]
    return {requirement.strip(): re.findall(r"--hash=(\S+)", rest) for requirement, _, rest in entries}


def installed_here(file: Path) -> int:
    """Count the packages of a lock file that this Python on this system gets."""
    requirements = [Requirement(text) for text in locked(file)]
    return sum(requirement.marker is None or requirement.marker.evaluate() for requirement in requirements)


def install(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `make install` into a folder."""
    return make("install", f"BUILD={folder}", *[f"{name}={value}" for name, value in environment.items()])


def test_the_demo_gets_a_part_of_the_lock_with_the_same_versions_and_hashes() -> None:
    whole, demo = [
        {text.partition(";")[0].strip(): hashes for text, hashes in locked(file).items()} for file in (WHOLE, DEMO)
    ]
    assert 40 < len(demo) < len(whole) / 2
    assert {name: hashes for name, hashes in demo.items() if whole.get(name) != hashes} == {}


def test_the_number_of_packages_is_said_before() -> None:
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    said = [int(number) for number in re.findall(r'"(?:all )?(\d+) packages', makefile)]
    counted = [installed_here(DEMO), installed_here(WHOLE)]
    assert [abs(number - here) <= 3 for number, here in zip(said, counted, strict=True)] == [True, True]


def test_an_old_python_is_a_line(tmp_path: Path) -> None:
    old = tmp_path / "python"
    old.write_text('#!/bin/sh\n[ "$1" = -V ] && echo "Python 3.10.13"\nexit 1\n')
    old.chmod(0o755)
    done = install(tmp_path / "venv", PYTHON=str(old))
    line = f"install: Cutpurse needs Python 3.11 or newer, and {old} is Python 3.10.13; give another one: make PYTHON="
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith(line)
    assert not (tmp_path / "venv").exists()


def test_a_folder_that_is_no_environment_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    done = install(tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith(f"install: {tmp_path} is there and is no environment of Python: move it away, or ")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_without_a_network_it_says_so_and_the_next_try_goes_on(tmp_path: Path) -> None:
    script = [CHECKOUT / "scripts" / "install.sh", tmp_path / "venv", DEMO, "47 packages"]
    for _ in range(2):  # the second finds half an installation
        done = subprocess.run(
            [*map(str, script)],
            cwd=CHECKOUT,
            env={"PATH": "/usr/bin:/bin", "PYTHON": sys.executable, "PIP_NO_INDEX": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stdout) == (1, f"installing into {tmp_path / 'venv'}: 47 packages\n")
        (line,) = done.stderr.splitlines()
        assert line.startswith("install: ERROR: No matching distribution found for ")
        assert line.endswith("(is there a network? the next try goes on from here)")


def fake_python(file: Path, words: str, error: str) -> None:
    """Write a Python that fails with an error when it is called with these words, and else is the real one."""
    file.write_text(
        f'#!/bin/sh\ncase "$*" in *{words}*) echo "{error}" >&2; exit 1;; esac\nexec {sys.executable} "$@"\n'
    )
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            "Error: [Errno 28] No space left on device: '/x'",
            "install: Error: [Errno 28] No space left on device: '/x' (the disk is full: make room, and try again)",
        ),
        (
            "The virtual environment was not created: ensurepip is not available.",
            "install: PYTHON makes no environments (Debian needs the package python3-venv)",
        ),
    ],
)
def test_an_environment_that_cannot_be_made_is_a_line(error: str, line: str, tmp_path: Path) -> None:
    fake_python(tmp_path / "python", "venv", error)
    done = install(tmp_path / "venv", PYTHON=str(tmp_path / "python"))
    line = line.replace("PYTHON", str(tmp_path / "python"))
    assert (done.returncode, done.stderr.splitlines()[0], done.stdout) == (2, line, "")


@pytest.mark.parametrize(
    ("error", "hint", "is_moved"),
    [
        (
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "the disk is",
            False,
        ),
        ("ERROR: HTTPSConnectionPool: Read timed out.", "is there a network? the next try goes on from here", False),
        ("error: metadata-generation-failed", "the next try goes on from here", True),
    ],
)
def test_a_broken_or_foreign_environment_is_made_anew_and_an_error_of_pip_is_a_line(
    error: str, hint: str, is_moved: bool, tmp_path: Path
) -> None:
    folder = tmp_path / "venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").touch()
    if is_moved:  # it works, but its programs are those of the folder where it was made
        fake_python(folder / "bin" / "python", "no words", "")
        (folder / "bin" / "pip").write_text("#!/gone/bin/python\n")
    else:
        (folder / "bin" / "python").symlink_to(tmp_path / "gone")
    python = tmp_path / "python"
    # instead of an environment, which takes seconds to make: a Python that fails
    fake = folder / "bin" / "python"
    python.write_text(
        f'#!/bin/sh\n[ "$2" = venv ] || exec {sys.executable} "$@"\nrm {fake}; cp {tmp_path}/failing {fake}\n',
    )
    python.chmod(0o755)
    fake_python(tmp_path / "failing", "install", error)
    done = install(folder, PYTHON=str(python))
    first, second = done.stdout.splitlines()
    assert first == f"making {folder} anew: it is broken, was moved, or is of another Python than {python}"
    assert second.startswith(f"installing into {folder}: ")
    assert done.returncode == 2
    assert done.stderr.splitlines()[0].startswith(f"install: {error} ({hint}")


def test_without_a_c_compiler_make_compiled_says_so_before_it_fetches_anything() -> None:
    done = make("--always-make", ".compiled/installed", "CC=no-such-compiler")
    line = "compiled: there is no C compiler no-such-compiler; install one (Debian: gcc and python3-dev), or do without"
    assert (done.returncode, done.stdout, done.stderr.splitlines()[0]) == (2, "", line)


def test_a_second_environment_of_the_same_packages_is_a_copy_with_scripts_of_its_own(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", tmp_path / ".venv"], check=True)
    script = tmp_path / ".venv" / "bin" / "where"
    script.write_text(f"#!{tmp_path}/.venv/bin/python\nimport sys\nprint(sys.prefix)\n")
    script.chmod(0o755)
    (tmp_path / "requirements.lock").touch()
    os.utime(tmp_path / "requirements.lock", (0, 0))
    (tmp_path / ".venv" / "installed").touch()
    command = [str(CHECKOUT / "scripts" / "install.sh"), ".second", "requirements.lock", "0 packages"]
    environment = {**os.environ, "PYTHON": sys.executable}
    run = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert run.stderr.startswith("install: "), "there is no project to install"
    where = subprocess.run([tmp_path / ".second" / "bin" / "where"], capture_output=True, text=True, check=True)
    assert where.stdout == f"{tmp_path}/.second\n"
    assert not (tmp_path / ".second" / "installed").exists()
