"""Commands that other distributions bring."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from cutpurse.sdk.cli import GROUP, add_other_commands


def test_a_group_that_does_not_load_costs_one_line_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    add_other_commands([EntryPoint("broken", "no_such_module_here:app", GROUP)])
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "cutpurse: the commands 'broken' (no_such_module_here:app) do not load: "
        "ModuleNotFoundError: No module named 'no_such_module_here'\n"
    )
