"""Commands that other distributions bring."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint

import pytest
import typer

from cutpurse.sdk import cli
from cutpurse.sdk.cli import GROUP, add_other_commands
from cutpurse.sdk.errors import ExtraMissing, exit_code, needs


def test_a_group_that_does_not_load_costs_one_line_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    add_other_commands([EntryPoint("broken", "no_such_module_here:app", GROUP)])
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "cutpurse: the commands 'broken' (no_such_module_here:app) do not load: "
        "ModuleNotFoundError: No module named 'no_such_module_here'\n"
    )


def a_command() -> None:
    """A command of its own."""


a_group = typer.Typer()


def test_a_function_is_a_command_and_an_app_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "app", typer.Typer())
    add_other_commands(
        [EntryPoint("one", f"{__name__}:a_command", GROUP), EntryPoint("two", f"{__name__}:a_group", GROUP)]
    )
    assert [command.name for command in cli.app.registered_commands] == ["one"]
    assert [group.name for group in cli.app.registered_groups] == ["two"]


def test_a_missing_extra_is_told_with_the_line_that_installs_it() -> None:
    with pytest.raises(ExtraMissing) as told, needs("server"):
        import_module("no_such_module_here")
    assert str(told.value) == "no_such_module_here is not installed; this does it: pip install 'cutpurse[server]'"
    assert exit_code(told.value) == 2


def test_a_fault_of_our_own_is_not_taken_for_a_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError), needs("server"):
        import_module("cutpurse.no_such_module_here")
