"""The first help lists all commands in panels, in whole sentences, without importing them."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import pytest
from typer.main import get_command

from cutpurse.cli.main import Commands, app
from tests.typed import run

MAX_COMMANDS = 65  # 64, and `site build`: no other command makes pages without a league or a server
MAX_IN_HELP = 240  # 214 in Python 3.11: 142 for typer, 46 for importlib.metadata
MAX_IN_COMPLETION = 340  # 302 to 320; typer reads the words so far with pydantic
MAX_IN_PLAY = 380  # 371: the command with its engine, and no gRPC, numpy or console of rich
COUNTED = """
import sys
sys.argv = ["cutpurse", *sys.argv[1:]]
from cutpurse.cli.__main__ import main
try:
    main()
finally:
    sys.stderr.write(f"{len(sys.modules)} modules\\n")
"""


def test_each_command_stands_in_one_panel_with_the_first_sentence_of_its_help() -> None:
    group = get_command(app)
    panels = [name for panel in Commands.panels.values() for name in panel]
    assert sorted(panels) == sorted(group.commands)  # type: ignore[attr-defined]  # of a group
    for panel in Commands.panels.values():
        for name, summary in panel.items():
            text = " ".join((group.commands[name].help or "").split())  # type: ignore[attr-defined]
            assert re.split(r"(?<=\.) ", text, maxsplit=1)[0] == summary, name


def test_the_first_help_has_every_sentence_whole() -> None:
    text = " ".join(run("--help").stdout.split())
    assert [title for title in Commands.panels if f" {title}: " not in text] == []
    lines = [f"{name} {line}" for panel in Commands.panels.values() for name, line in panel.items()]
    assert [line for line in lines if line not in text] == []


def leaf_commands(group: Any, words: str = "") -> dict[str, Any]:
    """Return each command that is no group, by its words."""
    below = getattr(group, "commands", None)
    if below is None:
        return {words: group}
    return {
        path: command
        for name in below
        for path, command in leaf_commands(below[name], f"{words} {name}".strip()).items()
    }


def test_the_number_of_commands_only_falls() -> None:
    assert len(leaf_commands(get_command(app))) <= MAX_COMMANDS, "merge two, or give one of them an option"


@pytest.mark.parametrize("group", ["ladder", "match", "bot", "tournament", "notify", "token", "db"])
def test_a_former_name_is_answered_with_the_new_one(group: str) -> None:
    root: Any = get_command(app)
    names = leaf_commands(root)
    for former, words in root.commands[group].moved.items():
        answer = run(group, former, "x")
        assert answer.exit_code == 2
        assert f"there is no command '{former}' any more: it is `cutpurse {words}`" in answer.stderr
        assert f"{group} {former}" not in names
        command = names[" ".join(words.split()[:2])]
        options = {option for param in command.params for option in param.opts}
        assert {word for word in words.split() if word.startswith("--")} <= options


@pytest.mark.parametrize(
    ("words", "completed", "printed", "max_modules"),
    [
        ("--help", False, "Usage: cutpurse", MAX_IN_HELP),
        ("cutpurse t", True, "tournament train tune token", MAX_IN_COMPLETION),
        ("cutpurse play gr", True, "greed", MAX_IN_PLAY),
        ("cutpurse play greed --set mode=s", True, "mode=single", MAX_IN_PLAY),
        ("cutpurse bot check --game gr", True, "greed", MAX_IN_COMPLETION),
        ("play greed random random random random", False, "bot first places", MAX_IN_PLAY),
    ],
)
def test_a_help_a_completion_and_a_local_match_import_little(
    words: str, completed: bool, printed: str, max_modules: int
) -> None:
    asked = {"_CUTPURSE_COMPLETE": "complete_bash", "COMP_WORDS": "\n".join(words.split())}
    done = subprocess.run(
        [sys.executable, "-c", COUNTED, *([] if completed else words.split())],
        env=asked | {"COMP_CWORD": str(len(words.split()) - 1)} if completed else {},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0
    assert " ".join(done.stdout.split()).startswith(printed)
    assert int(done.stderr.split()[-2]) < max_modules
