"""Options given twice: each with one value is refused in every command; flags and repeatable ones are not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer.main import get_command

from cutpurse.cli.main import app
from cutpurse.engine.errors import UsageError
from tests.typed import typed


def commands(group: Any, path: str = "cutpurse") -> Iterator[tuple[str, Any]]:
    """Yield each command with its words."""
    for name in getattr(group, "commands", ()):
        yield from commands(group.commands[name], f"{path} {name}")
    if not hasattr(group, "commands"):
        yield path, group


def refusal(path: str, command: Any, words: list[str]) -> str:
    """Parse the words of a command; return the error that an option given twice gets."""
    try:
        command.make_context(path, [*words])
    except UsageError as problem:
        return str(problem)
    except typer.BadParameter:  # of a value or a missing argument, which is checked later
        pass
    return ""


OPTIONS = [
    (path, command, param)
    for path, command in commands(get_command(app))
    for param in command.params
    if param.param_type_name == "option"
]


def test_every_option_with_one_value_is_refused_if_it_is_given_twice() -> None:
    single = [(path, command, param.opts) for path, command, param in OPTIONS if not (param.is_flag or param.multiple)]
    assert len(single) > 200
    wrong = {
        f"{path} {names}"
        for path, command, names in single
        for words in ([names[0], "1", names[-1], "1"], [f"{names[0]}=1", f"{names[0]}=2"])
        if refusal(path, command, words) != f"{names[0]} is given twice; give it once"
    }
    assert wrong == set()


def test_flags_and_repeatable_options_may_be_given_again() -> None:
    several = [(path, command, param) for path, command, param in OPTIONS if param.is_flag or param.multiple]
    assert len(several) > 100
    refused = {
        f"{path} {name}"
        for path, command, param in several
        for name in (*param.opts, *param.secondary_opts)
        if "--help" not in param.opts and refusal(path, command, ([name] if param.is_flag else [name, "1"]) * 2)
    }
    assert refused == set()


def test_a_flag_and_its_contrary_are_refused() -> None:
    pairs = [(path, command, param) for path, command, param in OPTIONS if param.opts and param.secondary_opts]
    assert len(pairs) > 1
    for path, command, param in pairs:
        names = [param.opts[0], param.secondary_opts[0]]
        assert refusal(path, command, names) == f"{names[0]} and {names[1]}: name one of them"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("play greed random random --seed 1 --seed 2", "cutpurse: --seed is given twice; give it once\n"),
        ("bot run greedy --server a --tables 1 --server b", "cutpurse: --server is given twice; give it once\n"),
        ("match list --ladder a --ladder b --ladder c", "cutpurse: --ladder is given 3 times; give it once\n"),
        ("ladder change duel --private --public", "cutpurse: --private and --public: name one of them\n"),
    ],
)
def test_the_command_line_says_it_in_a_line(words: str, line: str) -> None:
    run = typed(*words.split())
    assert (run.returncode, run.stdout, run.stderr) == (2, "", line)
