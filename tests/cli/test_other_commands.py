"""Commands that other distributions bring."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint

import pytest
import typer

from cutpurse.cli import main as cli
from cutpurse.cli.main import GROUP
from cutpurse.wire.errors import ExtraMissing, exit_code, needs
from tests.typed import run, typed


def a_command() -> None:
    """A command of its own."""
    typer.echo("done")


a_group = typer.Typer(help="A group of its own.")


@a_group.command()
def one() -> None:
    """One of a group."""
    typer.echo("one is done")


@a_group.command()
def two() -> None:
    """Two of a group."""


def bring(monkeypatch: pytest.MonkeyPatch, **places: str) -> None:
    """Have these commands installed, and no others."""
    points = [EntryPoint(name, value, GROUP) for name, value in places.items()]
    monkeypatch.setattr(cli, "entry_points", lambda group: points if group == GROUP else [])


BROKEN = (
    "cutpurse: the commands 'broken' (no_such_module_here:app) do not load: "
    "ModuleNotFoundError: No module named 'no_such_module_here'\n"
)


def test_a_group_that_does_not_load_costs_one_line_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    bring(monkeypatch, broken="no_such_module_here:app", ours=f"{__name__}:a_command")
    told = typed("--help")
    assert (told.returncode, told.stderr) == (0, BROKEN)
    assert "\n  ours " in told.stdout
    assert "\n  broken" not in told.stdout
    named = typed("broken", "word")
    assert (named.returncode, named.stderr) == (1, BROKEN)  # and not that there is no such command
    assert typed("ours").stderr == ""  # what is not named is not loaded


def test_a_function_is_a_command_and_an_app_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    bring(monkeypatch, done=f"{__name__}:a_command", many=f"{__name__}:a_group")
    assert typed("done").stdout == "done\n"
    assert typed("many", "one").stdout == "one is done\n"
    told = typed("--help").stdout
    assert "\nMore:\n  done  A command of its own.\n" in told
    assert "\n  many  A group of its own.\n" in told


def test_nobody_takes_the_place_of_a_command_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    bring(monkeypatch, games=f"{__name__}:a_command")
    assert "done" not in typed("games").stdout


def test_a_word_that_is_nearly_a_command_is_told_which() -> None:
    for words, meant in ((["serv"], "serve"), (["bot", "rnu"], "run")):
        assert f"Did you mean '{meant}'?" in run(*words).stderr


def test_a_missing_extra_is_told_with_the_line_that_installs_it() -> None:
    with pytest.raises(ExtraMissing) as told, needs("server"):
        import_module("no_such_module_here")
    assert (
        str(told.value)
        == "no_such_module_here is not installed; in a checkout of Cutpurse, this does it: pip install '.[server]'"
    )
    assert exit_code(told.value) == 2


def test_a_fault_of_our_own_is_not_taken_for_a_missing_extra() -> None:
    with pytest.raises(ModuleNotFoundError), needs("server"):
        import_module("cutpurse.no_such_module_here")
