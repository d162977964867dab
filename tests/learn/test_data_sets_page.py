"""The section on data sets: its commands and programs run as printed."""

from __future__ import annotations

import contextlib
import io
import re
import shlex

import pytest
from typer.testing import CliRunner

from cutpurse.cli.main import app
from cutpurse.learn import Space
from tests.roots import CHECKOUT

PAGE = (CHECKOUT / "docs" / "how-to" / "train_a_learning_agent.md").read_text(encoding="utf-8")
TEXT = PAGE.partition("## Make a data set\n")[2]
PROGRAMS = dict(re.findall(r"^```python\n# (\w+\.py)\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))


def typed(command: str) -> str:
    """Run a command line of the page, and return what it prints to stdout."""
    done = CliRunner().invoke(app, shlex.split(command)[1:], prog_name="cutpurse")
    assert done.exit_code == 0, done.stderr
    return done.stdout


def without_sizes(table: str) -> list[list[str]]:
    """The cells of a table without the last column, since another version of pyarrow writes other bytes."""
    return [line.split()[:-1] for line in table.strip().splitlines()]


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return what the last command and each program of the page prints."""
    found = {}
    with contextlib.chdir(tmp_path_factory.mktemp("page")):
        for command in re.findall(r"^\$ (cutpurse (?!.*--ladder).*)$", TEXT, re.MULTILINE):
            found["command"] = typed(command)
        for name, program in PROGRAMS.items():
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(program, name, "exec"), {"__name__": "__main__"})
            found[name] = out.getvalue()
    return found


def test_all_programs_of_the_page_are_tested() -> None:
    assert sorted(PROGRAMS) == ["arrow.py", "read.py"]
    assert TEXT.count("```python") == len(PROGRAMS)


def test_the_commands_print_what_the_page_says(printed: dict[str, str]) -> None:
    (shown,) = re.findall(r"^(file  .*?)^```", TEXT, re.MULTILINE | re.DOTALL)
    assert without_sizes(printed["command"]) == without_sizes(shown)


def test_the_programs_read_every_row_without_a_copy(printed: dict[str, str]) -> None:
    space = Space("greed", 4)
    assert printed["arrow.py"] == f"(286, {space.planes}) (286, {space.numbers}) False False\n"
    assert printed["read.py"].startswith(f"1286 (286, {space.planes}) ")
